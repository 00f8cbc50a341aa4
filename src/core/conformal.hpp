// Intervals with a guaranteed coverage around forecasts: online conformal prediction.
//
// A game forecasts one series. In each round there are a lower and an upper base for each confidence level 1 - alpha:
// the same centre for all, or forecast bounds. The outcome y has a score on each side, how far
// it lies beyond the base, and each side may miss a = alpha / 2 of the outcomes:
//
//     e_u = y - base_u,    e_l = base_l - y
//
// **The ladder.** A member k has a scale s (a mean of |y - middle| over one of several memories, with the
// season of the spread or without; or the width of the bases) and a multiple of it for each side, which
// follows the quantile of e / s:
//
//     b_k = s_k q_k,    q_k <- q_k + eta ([e > s_k q_k] - a)
//
// with a rate eta that falls like 1/n down to a floor, slow or fast. Symmetric members have one multiple for
// both sides, moved by both scores: half as noisy where the spread is symmetric.
//
// **The hedger**, AdaNormalHedge, weighs the members of a confidence level by the pinball losses of both bounds, in
// units of their usual difference: B = sum_k p_k b_k.
//
// **The outer step** adds up the excess misses of each side, E = misses - a n, and moves the bound
//
//     base + B + S g(E),    g(E) = (rate / f) c sinh(E / c),   S = sum_k p_k s_k
//
// (f: about the density of e / S at its quantile). Where both sides together reach E_u + E_l >= h the
// interval is the whole line, where they reach -h it is a point. This rule alone gives
// |E_u + E_l| < h + (1 - alpha)(d + 1) for every sequence whose outcomes come at most d rounds late: see
// docs/intervals.md. The limit h is `patience` + twice the longest delay so far.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "engine.hpp"
#include "hedgers/ada_normal_hedge.hpp"

namespace normalhedge::intervals {

using engine::AdaNormalHedge;
using engine::Gains;

// Chosen on the series to develop on, where their values matter little: see benchmarks/intervals.
constexpr double patience = 48.0;      // misses too many, or too few, until an interval is all or nothing
constexpr double outer_rate = 0.0045;  // times sqrt(a): how fast the outer step repairs coverage
constexpr double late_rate = 10.0;     // 1 / (the same, times how late outcomes are): else it swings
constexpr double slow_memory = 5000.0;  // of multiples, in rounds
constexpr double quick_memory = 70.0;
constexpr double hedge_memory = 5000.0;
constexpr double gain_range = 4.0;     // usual differences of losses that are a gain of 1
constexpr double usual_memory = 64.0;  // of the usual difference, and of how late outcomes are

constexpr double plain_memories[] = {10.0, 50.0, 250.0, 2500.0};  // of scales, in rounds
constexpr size_t plain_scales = 4;
constexpr double seasonal_memories[] = {50.0, 250.0, 2500.0};
constexpr size_t seasonal_scales = 3;
constexpr size_t common_seasonal = 1;  // the one that phases are compared with
constexpr double far = 64.0;           // times the scale: residuals beyond are clipped
constexpr double same = 1e-9;          // losses that differ by less, relatively, differ by rounding
constexpr double most = 1e270;         // the largest scale, so that nothing overflows
constexpr double visits = 64.0;        // memory of a phase, in its own rounds
constexpr double doubt = 4.0;          // rounds by which the ratio of a phase is drawn to 1

constexpr size_t kinds = 3;  // of multiples: slow, symmetric, quick

// A confidence level 1 - alpha, and the multiple of the mean absolute residual that bounds start with.
struct Coverage {
    double alpha;
    double start;

    double a() const { return 0.5 * alpha; }
    // About the density of a score at its quantile, in units of the mean absolute residual.
    double density() const { return 1.6 * a() * (1.0 - a()); }
};

// A game has two numbers for each phase of its season: beyond this, sizes would first exhaust the memory and then
// no longer fit their integers.
constexpr double longest_season = 1e6;

inline size_t season_of(double rounds) {
    if (!(rounds >= 0.0 && rounds <= longest_season))
        throw std::invalid_argument("the season of intervals must be at most 1000000 rounds");
    return static_cast<size_t>(rounds);
}

// The sizes of everything.
struct Ladder {
    size_t season;   // 0: none
    bool quantiles;  // whether the bases are bounds
    std::vector<Coverage> levels;

    Ladder(const double* settings, size_t count)
        : season(season_of(settings[0])), quantiles(settings[1] != 0.0) {
        for (size_t i = 2; i + 1 < count; i += 2) levels.push_back({settings[i], settings[i + 1]});
    }

    size_t scales() const { return plain_scales + (season ? seasonal_scales : 0) + (quantiles ? 1 : 0); }
    size_t members() const { return kinds * scales(); }
    size_t bases() const { return quantiles ? 2 * levels.size() : 1; }

    // A game: n, how late, longest delay | plain means | seasonal means | phases: means, counts | levels.
    size_t means_at() const { return 3; }
    size_t phases_at() const { return means_at() + plain_scales + seasonal_scales; }
    size_t levels_at() const { return phases_at() + 2 * season; }
    // A confidence level: n, misses below, misses above, usual difference | lower q | upper q | weights | ledger.
    size_t level_size() const { return 4 + 5 * members(); }
    size_t size() const { return levels_at() + levels.size() * level_size(); }

    // A token: phase, whether a scale was known | bases | scales | levels: low, high, excused, b lower, upper.
    size_t token_scales_at() const { return 2 + bases(); }
    size_t token_levels_at() const { return token_scales_at() + scales(); }
    size_t token_level_size() const { return 3 + 2 * members(); }
    size_t token_size() const { return token_levels_at() + levels.size() * token_level_size(); }
};

struct LevelView {
    double* counts;
    double* lower;
    double* upper;
    double* weights;
    double* ledger;
};

inline LevelView level_view(const Ladder& ladder, double* game, size_t l) {
    const size_t k = ladder.members();
    double* data = game + ladder.levels_at() + l * ladder.level_size();
    return {data, data + 4, data + 4 + k, data + 4 + 2 * k, data + 4 + 3 * k};
}

inline void begin_game(const Ladder& ladder, double* game) {
    std::fill(game, game + ladder.size(), 0.0);
    const size_t k = ladder.members();
    for (size_t l = 0; l < ladder.levels.size(); ++l) {
        const LevelView level = level_view(ladder, game, l);
        const double start = ladder.quantiles ? 0.0 : ladder.levels[l].start;
        std::fill(level.lower, level.lower + 2 * k, start);
        std::fill(level.weights, level.weights + k, 1.0 / static_cast<double>(k));
    }
}

// How much larger the spread is in a phase than usual.
inline double phase_ratio(const Ladder& ladder, const double* game, size_t phase) {
    const double mean = game[ladder.phases_at() + phase];
    const double count = game[ladder.phases_at() + ladder.season + phase];
    const double ratio = (count * mean + doubt) / (count + doubt);
    return within(ratio, 1.0 / far, far);
}

inline double lower_base(const Ladder& ladder, const double* bases, size_t l) {
    return ladder.quantiles ? bases[2 * l] : bases[0];
}
inline double upper_base(const Ladder& ladder, const double* bases, size_t l) {
    return ladder.quantiles ? bases[2 * l + 1] : bases[0];
}
// Residuals are taken from the middle of the narrowest bounds.
inline double middle_of(double low, double high) { return low + 0.5 * (high - low); }
inline double middle_base(const Ladder& ladder, const double* bases) {
    return ladder.quantiles ? middle_of(bases[0], bases[1]) : bases[0];
}

inline void write_scales(const Ladder& ladder, const double* game, const double* bases, size_t phase,
                         double* scales) {
    const double* means = game + ladder.means_at();
    for (size_t m = 0; m < plain_scales; ++m) *scales++ = means[m];
    if (ladder.season) {
        const double ratio = phase_ratio(ladder, game, phase);
        for (size_t m = 0; m < seasonal_scales; ++m)
            *scales++ = smaller(ratio * means[plain_scales + m], most);
    }
    if (ladder.quantiles) {
        const size_t widest = 2 * (ladder.levels.size() - 1);
        *scales++ = smaller(0.5 * std::fabs(bases[widest + 1] - bases[widest]), most);
    }
}

inline double limit_of(const double* game) { return patience + 2.0 * game[2]; }

// How far the outer step moves a bound, in units of S.
inline double outer_shift(const double* game, const Coverage& level, double excess) {
    const double c = limit_of(game) / 16.0;
    const double calm = outer_rate * std::sqrt(level.a());
    const double rate = calm / (1.0 + late_rate * calm * game[1]);
    return rate / level.density() * c * std::sinh(within(excess / c, -20.0, 20.0));
}

// The bounds of the members of a confidence level, their mean by weight, and the mean scale S.
struct MeanBounds {
    double below;
    double above;
    double scale;
};

NORMALHEDGE_VECTORISED inline MeanBounds write_bounds(const LevelView& level, const double* scales, size_t count,
                                                double wider, double* lower, double* upper) {
    MeanBounds mean{0.0, 0.0, 0.0};
    for (size_t kind = 0; kind < kinds; ++kind) {
        const size_t first = kind * count;
        const double* weights = level.weights + first;
        const double* down = level.lower + first;
        const double* up = level.upper + first;
        const auto [below, above, scale] = add_up<3>(count, [&](size_t m, double& b, double& a, double& s) {
            const double low = scales[m] * down[m] * wider;
            const double high = scales[m] * up[m] * wider;
            lower[first + m] = low;
            upper[first + m] = high;
            b += weights[m] * low;
            a += weights[m] * high;
            s += weights[m] * scales[m];
        });
        mean.below += below;
        mean.above += above;
        mean.scale += scale;
    }
    return mean;
}

// Write the intervals of a round, low and high by confidence level, and the token that settles it.
inline void predict_interval(const Ladder& ladder, const double* game, const double* bases, size_t phase,
                             double* bounds, double* token) {
    const size_t count = ladder.levels.size();
    const size_t k = ladder.members();
    const double seen = game[0];
    double* scales = token + ladder.token_scales_at();
    token[0] = static_cast<double>(phase);
    token[1] = seen > 0.0 ? 1.0 : 0.0;
    std::copy(bases, bases + ladder.bases(), token + 2);
    write_scales(ladder, game, bases, phase, scales);
    // Few residuals underestimate the spread.
    const double wider = ladder.quantiles || seen == 0.0 ? 1.0 : 1.0 + 2.0 / seen;
    for (size_t l = 0; l < count; ++l) {
        const LevelView level = level_view(ladder, const_cast<double*>(game), l);
        double* interval = token + ladder.token_levels_at() + l * ladder.token_level_size();
        const Coverage& coverage = ladder.levels[l];
        const auto [below, above, scale] =
            write_bounds(level, scales, ladder.scales(), wider, interval + 3, interval + 3 + k);
        const double under = level.counts[1] - coverage.a() * level.counts[0];
        const double over = level.counts[2] - coverage.a() * level.counts[0];
        const double base_low = lower_base(ladder, bases, l);
        const double base_high = upper_base(ladder, bases, l);
        double low = base_low - (below + scale * outer_shift(game, coverage, under));
        double high = base_high + (above + scale * outer_shift(game, coverage, over));
        if (!(low <= high)) low = high = middle_of(low, high);
        const double limit = limit_of(game);
        if (under + over <= -limit) {
            low = high = middle_of(low, high);
        } else if (under + over >= limit || (seen == 0.0 && !ladder.quantiles)) {
            low = -infinity;
            high = infinity;
        }
        if (base_low != base_low || base_high != base_high) low = high = base_low + base_high;
        interval[2] = 0.0;
        if (l > 0) {  // intervals are nested
            const double inner_low = bounds[2 * l - 2];
            const double inner_high = bounds[2 * l - 1];
            if (inner_low < low || inner_high > high) {
                low = smaller(low, inner_low);
                high = larger(high, inner_high);
                interval[2] = 1.0;
            }
        }
        interval[0] = bounds[2 * l] = low;
        interval[1] = bounds[2 * l + 1] = high;
    }
}

// Count a round of a confidence level: misses on either side. An interval without width that was hit, or one that
// was widened for the sake of a narrower confidence level, is no evidence of covering too much.
inline void count_round(const double* interval, double y, double* counts) {
    const double low = interval[0];
    const double high = interval[1];
    const bool under = y < low;
    const bool over = y > high;
    if (!under && !over && (low == high || interval[2] != 0.0)) return;
    counts[0] += 1.0;
    counts[1] += under ? 1.0 : 0.0;
    counts[2] += over ? 1.0 : 0.0;
}

// The pinball loss of a bound that is this far below a score.
[[gnu::always_inline]] inline double pinball(double beyond, double a) {
    return larger((1.0 - a) * beyond, -a * beyond);
}

// Write the gains of the members of a confidence level; return whether they differ.
NORMALHEDGE_VECTORISED inline bool write_member_gains(const LevelView& level, size_t k, const double* lower,
                                                      const double* upper, double below, double above,
                                                      double a, double* gains) {
    const double* weights = level.weights;
    const double mean = sum_of(k, [&](size_t i) {
        gains[i] = pinball(below - lower[i], a) + pinball(above - upper[i], a);
        return weights[i] * gains[i];
    });
    const double difference =
        sum_of(k, [&](size_t i) { return std::fabs(gains[i] - mean); }) / static_cast<double>(k);
    if (!(difference > same * mean && difference < infinity)) return false;
    double& usual = level.counts[3];
    usual = usual > 0.0 ? usual + (smaller(difference, far * usual) - usual) / usual_memory : difference;
    const double unit = 1.0 / (gain_range * larger(usual, tiny));
#pragma omp simd
    for (size_t i = 0; i < k; ++i) gains[i] = within((mean - gains[i]) * unit, -1.0, 1.0);
    return true;
}

// Move multiples of the scales towards the quantile of the scores.
[[gnu::always_inline]] inline void follow(double* multiples, const double* scales, size_t count,
                                          double score, double a, double rate) {
#pragma omp simd
    for (size_t m = 0; m < count; ++m)
        multiples[m] += rate * ((score > scales[m] * multiples[m] ? 1.0 : 0.0) - a);
}

// The same with the scores of both sides.
[[gnu::always_inline]] inline void follow_both(double* multiples, const double* scales, size_t count,
                                               double below, double above, double a, double rate) {
#pragma omp simd
    for (size_t m = 0; m < count; ++m) {
        const double bound = scales[m] * multiples[m];
        const double misses = (below > bound ? 1.0 : 0.0) + (above > bound ? 1.0 : 0.0);
        multiples[m] += 0.5 * rate * (misses - 2.0 * a);
    }
}

NORMALHEDGE_VECTORISED inline void follow_quantiles(const LevelView& level, const double* scales,
                                                    size_t count, double below, double above,
                                                    const Coverage& coverage, double seen) {
    const double a = coverage.a();
    const double slope = 1.0 / coverage.density();
    // Stochastic approximation of a quantile: the best rate is 1 / (density n), until n reaches the memory. A
    // memory is at least long enough for some misses.
    const double first = slope / (seen + 1.0 / a);
    const double calm = larger(first, slope / larger(slow_memory, 25.0 / a));
    const double hasty = larger(first, slope / larger(quick_memory, 3.5 / a));
    double* lower = level.lower;
    double* upper = level.upper;
    follow(lower, scales, count, below, a, calm);
    follow(upper, scales, count, above, a, calm);
    follow_both(lower + count, scales, count, below, above, a, calm);
    std::copy(lower + count, lower + 2 * count, upper + count);
    follow(lower + 2 * count, scales, count, below, a, hasty);
    follow(upper + 2 * count, scales, count, above, a, hasty);
}

// A running mean, exponential once the memory is full. Values are clipped: a single wild outcome must not set the
// scale for a whole memory.
inline void learn_mean(double& mean, double value, double memory, double seen) {
    if (mean > 0.0) value = smaller(value, far * mean);
    if (!(value < infinity)) return;
    mean = smaller(mean + (value - mean) * larger(1.0 / memory, 1.0 / (seen + 1.0)), most);
}

inline void learn_scales(const Ladder& ladder, double* game, size_t phase, double residual) {
    const double seen = game[0];
    double* means = game + ladder.means_at();
    for (size_t m = 0; m < plain_scales; ++m) learn_mean(means[m], residual, plain_memories[m], seen);
    if (!ladder.season) return;
    const double ratio = phase_ratio(ladder, game, phase);
    double& mean = game[ladder.phases_at() + phase];
    double& count = game[ladder.phases_at() + ladder.season + phase];
    const double common = means[plain_scales + common_seasonal];
    if (common > 0.0) {
        mean += (smaller(residual / common, far) - mean) / (count + 1.0);
        count = smaller(count + 1.0, visits);
    }
    for (size_t m = 0; m < seasonal_scales; ++m)
        learn_mean(means[plain_scales + m], residual / ratio, seasonal_memories[m], seen);
}

// Learn from the outcome of a round, `late` rounds after the next one was predicted.
inline void observe_interval(const Ladder& ladder, double* game, const double* token, double y, double late,
                             double* room) {
    const double* bases = token + 2;
    const size_t phase = static_cast<size_t>(token[0]);
    const double middle = middle_base(ladder, bases);
    if (!(std::fabs(middle) < infinity) || y != y) return;
    const double residual = std::fabs(y - middle);
    const bool known = token[1] != 0.0;
    double* now = room;
    const double* scales = token + ladder.token_scales_at();
    if (!known && game[0] > 0.0) {
        write_scales(ladder, game, bases, phase, now);
        scales = now;
    }
    const bool spread = leading(scales, ladder.scales()) > 0.0;
    double* gains = room + ladder.scales();
    const size_t k = ladder.members();
    const double keep = 1.0 - 1.0 / hedge_memory;
    for (size_t l = 0; l < ladder.levels.size(); ++l) {
        const LevelView level = level_view(ladder, game, l);
        const Coverage& coverage = ladder.levels[l];
        const double* interval = token + ladder.token_levels_at() + l * ladder.token_level_size();
        if (known || ladder.quantiles) count_round(interval, y, level.counts);
        if (!spread) continue;
        const double below = lower_base(ladder, bases, l) - y;
        const double above = y - upper_base(ladder, bases, l);
        if (known && write_member_gains(level, k, interval + 3, interval + 3 + k, below, above, coverage.a(), gains)) {
            const Columns members{k, k, k, level.weights, level.ledger, nullptr};
            play_round(AdaNormalHedge(&keep), members, members, Gains(gains, Gains::Kind::float64), nullptr);
        }
        follow_quantiles(level, scales, ladder.scales(), below, above, coverage, game[0]);
    }
    learn_scales(ladder, game, phase, residual);
    game[0] += 1.0;
    game[1] += (late - game[1]) / smaller(game[0], usual_memory);
    game[2] = larger(game[2], late);
}

// The phase of a moment in the season.
inline size_t phase_of(const Ladder& ladder, std::int64_t moment) {
    if (ladder.season == 0) return 0;
    const auto season = static_cast<std::int64_t>(ladder.season);
    const std::int64_t phase = moment % season;
    return static_cast<size_t>(phase < 0 ? phase + season : phase);
}

inline size_t room_to_settle(const Ladder& ladder) { return ladder.scales() + ladder.members(); }

}  // namespace normalhedge::intervals
