// Corrections of quantile forecasts: of location and spread, and of each quantile level by itself.
//
// The blend of an item shares whatever bias its experts share, and whatever is wrong with their spread. With b_c the
// base, the blend at quantile level q_c, m its quantile nearest to the median and w = mean_c |b_c - m| its own spread,
// two corrections are learned online:
//
//     moved:    m + w δ + e^λ (b_c - m)          location in units of the forecast's own spread, and spread
//     tracked:  b_c + s θ_c                      a quantile level that is missed moves
//
// with s the discounted mean loss of the base. Both are sorted, and not negative unless an outcome or a forecast was.
// They follow the slopes of the loss, which are bounded, so that a wild outcome moves them no further than any other.
// With v_c = 2 (1[y < c_c] - q_c) at the present correction of an old base, so that late outcomes do not overshoot, and
// σ_c the share of a quantile level in the loss,
//
//     δ <- δ - 0.6 a mean_j sum_c σ_c v_c,           θ_c <- θ_c - a' mean_j v_c
//     λ <- λ - 2 a mean_j sum_c σ_c v_c e^λ (b_c - m) / w
//     a = max(1 / (8 (1 + d) + T), 1 / (50 (1 + d))),      a' = max(1 / (24 (1 + d) + T), 1 / (50 (1 + d)))
//
// over the rows j of round T, d rounds late: 8 and 24 rounds without an error come before the first one. The mean over
// few rows counts by the share of the round in a usual one (`usual_rows.hpp`). A correction is within 4 of its units,
// and the spread within a factor of 4.
//
// Where items share a mixture, each correction exists twice, learned from all items and from the item alone. The choice
// of `corrections.hpp` weighs the base and its corrections, by the slopes of the loss at all quantile levels; the prior
// of the base is 0.8. Losses of a season are correlated: squares count 1 + d times there, not its root.
#pragma once

#include "correcting.hpp"

namespace normalhedge::mixtures {

constexpr size_t quantile_correction_count = 2;

// The members of the choice: the base, the corrections that items share, and the corrections of the item alone.
struct QuantileMembers {
    bool several;

    static constexpr size_t shared = 1;
    static constexpr size_t alone = shared + quantile_correction_count;
    static constexpr size_t most = alone + quantile_correction_count;

    size_t end() const { return several ? most : alone; }
    bool has(size_t k) const { return k < end(); }
    double prior(size_t k) const {
        return k == 0 ? trust_in_base : (1.0 - trust_in_base) / static_cast<double>(end() - 1);
    }
    static constexpr double trust_in_base = 0.8;
};

// The usual loss of the base of an item, and the usual difference of its corrections: discounted sums.
struct QuantileTrack {
    double losses;
    double count;
    double difference;
    double differences;

    double unit() const { return count > 1.5 ? losses / count : 0.0; }

    void see(double loss) {
        Track::add_error(losses, count, loss);
        count = Track::tracked * count + 1.0;
    }
};

// The values of a row at all quantile levels.
struct QuantileValues {
    double* data;
    size_t step;  // from one quantile level to the next
    size_t levels;

    double& at(size_t place, size_t c) const { return data[c * step + place]; }
};

class QuantileCorrector {
public:
    QuantileCorrector(bool on, const Recipe& recipe, size_t middle)
        : levels_(on ? recipe.levels.size() : 0), middle_(middle), recipe_(recipe) {}

    bool on() const { return levels_ > 0; }

    // The size of the memory of a game: the choice, and its learned numbers.
    size_t size() const { return Choice<QuantileMembers>::size + 3 + levels_; }
    void place(const Places& places, size_t first_total) {
        at_ = places;
        first_ = first_total;
    }

    void weigh(const Game& shared, bool several) const { choice(shared).weigh({several}); }

    // Write the corrections of the base, and their mean by the choice, which is followed.
    void say(const Game& shared, const Game& alone, bool several, const Forecasts& forecasts, const double* rated,
             const QuantileTrack& track, const Seen& seen, const QuantileValues& values) const {
        Scratch room(levels_);
        const double low = least_of(forecasts, rated, seen);
        const QuantileMembers present{several};
        for (size_t g = 0; g < (several ? 2 : 1); ++g) {
            const Learned learned = learned_of(g ? alone : shared);
            for (size_t k = 0; k < quantile_correction_count; ++k) {
                double* corrected = room.data();
                write_correction(k, learned, track, values, corrected);
                for (size_t c = 0; c < levels_; ++c) {
                    const double start = values.at(at_.base, c);
                    const bool same = std::fabs(corrected[c] - start) <= alike * std::fabs(start);
                    corrected[c] = same ? start : larger(corrected[c], smaller(low, start));
                }
                sort_levels(corrected, levels_, 1);
                for (size_t c = 0; c < levels_; ++c) values.at((g ? at_.alone : at_.shared) + k, c) = corrected[c];
            }
        }
        double weights[QuantileMembers::most];
        write_choice(choice(shared), choice(alone), present, weights);
        for (size_t c = 0; c < levels_; ++c) {
            const double start = values.at(at_.base, c);
            double shift = 0.0;
            for (size_t k = 0; k < present.end(); ++k) shift += weights[k] * (values.at(place_of(k), c) - start);
            values.at(at_.followed, c) = start + shift;
        }
        sort_levels(&values.at(at_.followed, 0), levels_, values.step);
    }

    // Let the corrections and the choice between them learn.
    template <class GameOf, class TrackOf>
    void learn(const Game& shared, const GameOf& game_of, bool several, const Rows& rows, double late,
               const Portion& portion, const TrackOf& track_of) const {
        Scratch room(2 * (2 + levels_) + levels_);
        double* slopes = room.data();
        double* row_slopes = slopes + 2 + levels_;
        double* corrected = row_slopes + 2 + levels_;
        double rises[QuantileMembers::most] = {};
        double row_rises[QuantileMembers::most];
        const QuantileMembers present{several};
        const double correlated = late * (2.0 + late);  // the choice takes the root of 1 + this
        double known = 0.0;
        double judged = 0.0;
        fill(slopes, 2 + levels_, 0.0);
        for (size_t j = 0; j < rows.count; ++j) {
            if (!rows.known(j) || !(rows.value(j)[0] == rows.value(j)[0])) continue;
            known += 1.0;
            QuantileTrack& track = track_of(rows.items[j]);
            const size_t step = rows.value_step / rows.classes - 1;
            const QuantileValues values{rows.value(j) + rows.classes, step, levels_};
            const Game own = several ? game_of(1 + static_cast<size_t>(rows.items[j])) : shared;
            if (write_rises(values, rows, j, present, track, row_rises)) {
                judged += 1.0;
                for (size_t k = 0; k < present.end(); ++k) rises[k] += row_rises[k];
                if (several) choice(own).learn(present, row_rises, correlated);
            }
            double loss;
            recipe_.loss->write({&values.at(at_.base, 0), levels_, 1, step}, rows.outcomes[j], quantiles(), &loss);
            track.see(loss);
            write_slopes(learned_of(shared), track, values, rows.outcomes[j], corrected, row_slopes);
            for (size_t i = 0; i < 2 + levels_; ++i) slopes[i] += row_slopes[i];
            if (!several) continue;
            write_slopes(learned_of(own), track, values, rows.outcomes[j], corrected, row_slopes);
            follow(learned_of(own), row_slopes, late);
        }
        if (known == 0.0) return;
        divide(slopes, 2 + levels_, known / portion.share);
        follow(learned_of(shared), slopes, late);
        if (judged == 0.0) return;
        for (size_t k = 0; k < present.end(); ++k) rises[k] = portion.share * (rises[k] / judged);
        choice(shared).learn(present, rises, correlated);
    }

private:
    static constexpr double widest = 4.0;  // in units
    static constexpr double widest_spread = 1.3862943611198906;  // the logarithm of 4
    static constexpr double slowest = 0.02;

    // The learned numbers of a game.
    struct Learned {
        double& rounds;
        double& location;
        double& spread;
        double* tracked;
    };
    Learned learned_of(const Game& game) const {
        double* first = game.columns.totals + first_ + Choice<QuantileMembers>::size;
        return {first[0], first[1], first[2], first + 3};
    }
    Choice<QuantileMembers> choice(const Game& game) const {
        return Choice<QuantileMembers>(game.columns.totals + first_);
    }
    Quantiles quantiles() const { return {recipe_.levels.data(), recipe_.shares.data()}; }

    size_t place_of(size_t member) const {
        return member == 0                        ? at_.base
               : member < QuantileMembers::alone ? at_.shared + member - QuantileMembers::shared
                                                 : at_.alone + member - QuantileMembers::alone;
    }

    double own_spread(const QuantileValues& values) const {
        const double middle = values.at(at_.base, middle_);
        double sum = 0.0;
        for (size_t c = 0; c < levels_; ++c) sum += std::fabs(values.at(at_.base, c) - middle);
        return sum / static_cast<double>(levels_);
    }

    void write_correction(size_t k, const Learned& learned, const QuantileTrack& track, const QuantileValues& values,
                          double* corrected) const {
        const double middle = values.at(at_.base, middle_);
        const double factor = std::exp(learned.spread);
        const double shift = k == 0 ? own_spread(values) * learned.location : 0.0;
        for (size_t c = 0; c < levels_; ++c) {
            const double start = values.at(at_.base, c);
            corrected[c] = k == 0 ? middle + shift + factor * (start - middle)
                                  : start + track.unit() * learned.tracked[c];
        }
    }

    // Write the slopes of the loss at the present corrections, by location, by spread and by each quantile level.
    void write_slopes(const Learned& learned, const QuantileTrack& track, const QuantileValues& values, double outcome,
                      double* corrected, double* slopes) const {
        const double spread = own_spread(values);
        const double middle = values.at(at_.base, middle_);
        const double factor = std::exp(learned.spread);
        slopes[0] = slopes[1] = 0.0;
        write_correction(0, learned, track, values, corrected);
        for (size_t c = 0; spread > 0.0 && c < levels_; ++c) {
            const double slope = recipe_.loss->slope(corrected[c], c, outcome, quantiles());
            slopes[0] += slope;
            slopes[1] += slope * factor * ((values.at(at_.base, c) - middle) / spread);
        }
        write_correction(1, learned, track, values, corrected);
        for (size_t c = 0; c < levels_; ++c)
            slopes[2 + c] = recipe_.loss->slope(corrected[c], c, outcome, quantiles()) / recipe_.shares[c];
    }

    // Follow the slopes of a round.
    void follow(const Learned& learned, const double* slopes, double late) const {
        learned.rounds += 1.0;
        const double delays = 1.0 + late;
        const double rate = larger(1.0 / (8.0 * delays + learned.rounds), slowest / delays);
        const double careful_rate = larger(1.0 / (24.0 * delays + learned.rounds), slowest / delays);
        learned.location = within(learned.location - 0.6 * rate * slopes[0], -widest, widest);
        learned.spread = within(learned.spread - 2.0 * rate * slopes[1], -widest_spread, widest_spread);
        for (size_t c = 0; c < levels_; ++c)
            learned.tracked[c] = within(learned.tracked[c] - careful_rate * slopes[2 + c], -widest, widest);
    }

    // Write by how much the base and its corrections did better than the choice, in usual differences; false if
    // all of them agreed.
    bool write_rises(const QuantileValues& values, const Rows& rows, size_t j, const QuantileMembers& present,
                     QuantileTrack& track, double* rises) const {
        double farthest = 0.0;
        double size = 0.0;
        for (size_t k = 0; k < present.end(); ++k) {
            double apart = 0.0;
            rises[k] = size = 0.0;
            for (size_t c = 0; c < levels_; ++c) {
                const double mine = values.at(at_.followed, c);
                const double start = values.at(at_.base, c);
                const double other = values.at(place_of(k), c);
                const double slope = recipe_.loss->slope(mine, c, rows.outcomes[j], quantiles());
                rises[k] += slope * (mine - other);
                apart += std::fabs(slope * (other - start));
                size += std::fabs(slope * start);
            }
            farthest = larger(farthest, apart);
        }
        if (!(farthest > 1e-12 * size)) return false;
        track.difference = Track::tracked * track.difference + 0.5 * farthest;
        track.differences = Track::tracked * track.differences + 1.0;
        const double per = track.difference > tiny ? track.differences / track.difference : 0.0;
        for (size_t k = 0; k < present.end(); ++k) rises[k] = within(rises[k] * per, -20.0, 20.0);
        return true;
    }

    size_t levels_;
    size_t middle_;
    const Recipe& recipe_;
    Places at_{};
    size_t first_ = 0;
};

}  // namespace normalhedge::mixtures
