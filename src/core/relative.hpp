// Weights by relative losses: the loss of an expert over the loss of the plain mean, in the same rows.
//
//     A_i <- a^w A_i + sum_j k_ij l_ij,   B_i <- a^w B_i + sum_j k_ij m_j    over the rows j of a round
//     M <- a^w M + sum_j m_j,             T <- a^w T + w
//     p_i ∝ ((A_i + M / T) / (B_i + M / T))^-power
//
// with l_ij the loss of expert i in row j, m_j the loss of the plain mean of the experts awake, k_ij the
// confidence, and w the share of a usual round that the round is (`usual_rows.hpp`). Losses are not normalised:
// a large item, and a time of large losses, count as much as they do in the total loss, and the weights do not
// depend on the unit. M / T is a one-round prior at the mean's loss: an expert starts with the weight of the
// plain mean, and moves away from it slowly. An expert that forecasts easy rows only is compared with the mean
// in these.
#pragma once

#include "hedger.hpp"
#include "mixture.hpp"
#include "usual_rows.hpp"

namespace normalhedge::mixtures {

class Relative final : public Hedger {
public:
    Relative(double keep, double power) : keep_(keep), power_(power) {}

    size_t rows() const override { return 2; }
    size_t totals() const override { return 2; }

    // It learns from rows, not gains: see `learn`.
    Outcome step(const Columns&, const Columns&, const Gains&, const double*,
                 const double*) const override {
        return {not_a_number, 0.0, not_a_number, true};
    }
    void rescale(const Columns&, int) const override {}

    void play(const Columns& now, const double* confidence, double* played) const override {
        play_by_weights(now, confidence, played);
    }

    double weigh(const Columns& now) const override {
        const double* losses = now.row(0);
        const double* usual = now.row(1);
        const double round = now.totals[1] > 0.0 ? now.totals[0] / now.totals[1] : 0.0;
        for (size_t i = 0; i < now.n; ++i) {
            const double ratio = (losses[i] + round + least) / (usual[i] + round + least);
            now.weights[i] = -power_ * log2_e * log(ratio);
        }
        raise_scores(now.weights, now.n);
        return not_a_number;
    }

    // Learn from the rows whose outcome is known; the forecast of the plain mean for row j begins at `mean(j)`,
    // with the numbers of its classes `mean_step` apart.
    template <class Mean>
    void learn(const Recipe& recipe, const Columns& now, const Rows& rows, const Mean& mean,
               size_t mean_step, const Portion& portion) const {
        const size_t n = rows.n;
        Scratch room(2 * n);
        double* rated = room.data();
        double* losses = rated + n;
        double* own = now.row(0);
        double* usual = now.row(1);
        const double keep = portion.keep(keep_);
        double round = 0.0;
        bool first = true;
        for (size_t j = 0; j < rows.count; ++j) {
            if (!rows.known(j) || rate_row(rows, j, rated).count == 0)
                continue;
            if (first) {
                for (size_t i = 0; i < n; ++i) own[i] *= keep;
                for (size_t i = 0; i < n; ++i) usual[i] *= keep;
                first = false;
            }
            const Quantiles at = recipe.quantiles_of(rows.items[j]);
            double plain;
            recipe.loss->write(rows.row(j), rows.outcomes[j], at, losses);
            recipe.loss->write({mean(j), rows.classes, 1, mean_step}, rows.outcomes[j], at, &plain);
            plain = smaller(plain, most);
            round += plain;
#pragma omp simd
            for (size_t i = 0; i < n; ++i) {
                own[i] += rated[i] > 0.0 ? rated[i] * smaller(losses[i], most) : 0.0;
                usual[i] += rated[i] * plain;
            }
        }
        if (first) return;
        now.totals[0] = keep * now.totals[0] + round;
        now.totals[1] = keep * now.totals[1] + portion.share;
        weigh(now);
    }

private:
    static constexpr double least = 1e-200;  // keeps a ratio of zero losses finite
    static constexpr double most = 1e90;  // of a loss: sums stay below the largest number of a file

    double keep_;
    double power_;
};

}  // namespace normalhedge::mixtures
