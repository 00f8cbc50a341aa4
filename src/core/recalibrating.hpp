// Recalibrations: class probabilities that are sharper, flatter or shifted, and may leave the range of the experts'.
//
// The blend of calibrated experts who know different things is too flat, the blend of overconfident experts too
// sharp, and both share whatever base rates their experts have in common. A recalibration of a base b, the blend
// or the logarithmic pool with even weights, is
//
//     p_c ∝ exp(a_c + β log max(b_c, 1e-6)),
//
// with a shift a_c for each class and the inverse β = 1 / T of a temperature. A small Newton step on the log loss of
// each outcome y learns them: with x_c = log max(b_c, 1e-6), and p at the present shifts and temperature,
//
//     slopes      g_c = p_c - [c = y],              g_β = sum_c g_c x_c
//     curvatures  h_c = max(p_c (1 - p_c), g_c^2),  h_β = max(Var_p x, g_β^2)
//     G <- λ G + w (h θ - g),   H <- λ H + w h,     θ = G / (ρ + H)   for θ = a_c and for θ = β - 1.
//
// θ is the least of ρ θ^2 / 2 plus the discounted quadratic models g (θ' - θ) + h (θ' - θ)^2 / 2 of all losses: the
// ridge ρ, which is not forgotten, keeps it near no recalibration, and one outcome moves it by 1 / (2 sqrt ρ) at most.
// The m rows of a round weigh w = 1 / (m (1 + d)) each where d more rounds were predicted before their outcomes were
// known, and λ = 1 - 0.005 / (1 + d): losses of a round, and delayed ones, are correlated. In a round that is the share
// s of a usual one (`usual_rows.hpp`), w is s times that, and λ^s stands for λ. a_c is kept within ±4 and β
// in [0.1, 20].
//
// A meta level weighs the base, that is the blend, and its recalibrations, by the loss of the mixture; where several
// items share a mixture they share all of this.
#pragma once

#include <array>

#include "meta_level.hpp"
#include "mixture.hpp"
#include "usual_rows.hpp"

namespace normalhedge::mixtures {

class Recalibrator {
public:
    explicit Recalibrator(bool on) : on_(on) {}

    bool on() const { return on_; }

    // The size of the memory of a game: the meta level, G and H of each temperature, and the number of rounds.
    static constexpr size_t members = 1 + recalibration_count;
    static constexpr size_t level_size = 3 * members + 1;
    static constexpr size_t size = level_size + 2 * recalibration_count + 1;

    // The forecasts of a row after the blend: `base`, behind which the recalibrations follow, and the `pool`.
    void place(size_t base, size_t pool, size_t first_total) {
        base_ = base;
        sources_ = {base, pool};
        first_ = first_total;
    }

    Level level(const Game& game) const { return {game.columns.totals + first_, members, members}; }
    void weigh(const Game& game) const {
        level(game).weigh([](size_t k) {
            return k == 0 ? trust_in_base : (1.0 - trust_in_base) / static_cast<double>(recalibration_count);
        });
    }

    // Write the recalibrations into the values of a row, which are `step` apart from class to class.
    void say(const Game& game, double* values, size_t step, size_t classes) const {
        Scratch room(2 * classes);
        double* logs = room.data();
        double* p = logs + classes;
        for (size_t r = 0; r < recalibration_count; ++r) {
            const double* source = values + sources_[r];
            double* result = values + base_ + 1 + r;
            const bool learned = *rounds(game) > 0.0;
            if (learned) write(game, r, source, step, classes, logs, p);
            for (size_t c = 0; c < classes; ++c) result[c * step] = learned ? p[c] : source[c * step];
        }
    }

    // Learn shifts and temperatures from the rows whose outcome is known.
    void learn(const Game& game, const Rows& rows, size_t step, double late, const Portion& portion) const {
        double known = 0.0;
        for (size_t j = 0; j < rows.count; ++j) known += is_known(rows, j) ? 1.0 : 0.0;
        if (known == 0.0) return;
        const double weight = portion.share / (known * (1.0 + late));
        const double keep = portion.keep(1.0 - alpha / (1.0 + late));
        const size_t shifted = smaller_count(rows.classes, game.shifts.classes);
        Scratch room(4 * rows.classes);
        double* logs = room.data();
        double* p = logs + rows.classes;
        double* lines = p + rows.classes;  // what is added to G and H of the shifts
        for (size_t r = 0; r < recalibration_count; ++r) {
            fill(lines, 2 * rows.classes, 0.0);
            double line[2] = {0.0, 0.0};
            const double tilt = inverse(game, r) - 1.0;
            for (size_t j = 0; j < rows.count; ++j) {
                if (!is_known(rows, j)) continue;
                const auto outcome = static_cast<size_t>(rows.outcomes[j]);
                write(game, r, rows.value(j) + rows.classes + sources_[r], step, rows.classes, logs, p);
                double mean = 0.0;
                double square = 0.0;
                for (size_t c = 0; c < rows.classes; ++c) mean += p[c] * logs[c];
                for (size_t c = 0; c < rows.classes; ++c) square += p[c] * (logs[c] - mean) * (logs[c] - mean);
                const double slope = mean - logs[outcome];
                const double curvature = larger(square, slope * slope);
                line[0] += curvature * tilt - slope;
                line[1] += curvature;
                for (size_t c = 0; c < shifted; ++c) {
                    const double rise = p[c] - (c == outcome ? 1.0 : 0.0);
                    const double curve = larger(p[c] * (1.0 - p[c]), rise * rise);
                    lines[2 * c] += curve * shift(game, r, c) - rise;
                    lines[2 * c + 1] += curve;
                }
            }
            for (size_t k = 0; k < 2; ++k) {
                double& total = game.columns.totals[first_ + level_size + 2 * r + k];
                total = keep * total + weight * line[k];
                double* sums = game.shifts.row(2 * r + k);
                for (size_t c = 0; c < game.shifts.classes; ++c)
                    sums[c] = keep * sums[c] + (c < shifted ? weight * lines[2 * c + k] : 0.0);
            }
        }
        *rounds(game) += 1.0;
    }

private:
    static constexpr double alpha = 0.005;
    static constexpr double trust_in_base = 0.95;
    static constexpr double widest_shift = 4.0;
    static constexpr double flattest = 0.1;
    static constexpr double sharpest = 20.0;

    // Experts who know different things make a pool that is much too flat, so that its recalibration is bolder.
    static constexpr std::array<double, recalibration_count> ridges{10.0, 3.0};

    static bool is_known(const Rows& rows, size_t j) { return rows.known(j) && rows.value(j)[0] == rows.value(j)[0]; }
    static size_t smaller_count(size_t a, size_t b) { return a < b ? a : b; }
    double* rounds(const Game& game) const { return game.columns.totals + first_ + size - 1; }

    double inverse(const Game& game, size_t r) const {
        const double* sums = game.columns.totals + first_ + level_size + 2 * r;
        return within(1.0 + sums[0] / (ridges[r] + sums[1]), flattest, sharpest);
    }
    static double shift(const Game& game, size_t r, size_t c) {
        if (c >= game.shifts.classes) return 0.0;
        return within(game.shifts.row(2 * r)[c] / (ridges[r] + game.shifts.row(2 * r + 1)[c]), -widest_shift,
                      widest_shift);
    }

    // Write the recalibration of a forecast, and its logarithms.
    void write(const Game& game, size_t r, const double* source, size_t step, size_t classes, double* logs,
               double* p) const {
        const double beta = inverse(game, r);
        double top = -infinity;
        for (size_t c = 0; c < classes; ++c) {
            logs[c] = log(larger(source[c * step], least_probability));
            p[c] = shift(game, r, c) + beta * logs[c];
            top = larger(top, p[c]);
        }
        for (size_t c = 0; c < classes; ++c) p[c] = std::exp(p[c] - top);
        divide(p, classes, added(p, classes));
    }

    bool on_;
    size_t base_ = 0;
    size_t first_ = 0;
    std::array<size_t, recalibration_count> sources_{};
};

}  // namespace normalhedge::mixtures
