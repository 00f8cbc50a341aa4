// Losses -> gains, for a single rule: the regret in gains bounds the regret in losses.
//
// In a row let l_i be the loss of expert i, l_A the loss of the blend y_A, l_min the least loss of the experts
// awake, and s the range of the losses. The gains lie in [-1, 1]:
//
//     g_i = 1 - 2 min((l_i - l_min) / s, 1)                                  without the gradient trick
//     g_i = -within(2 x_i / s, -1, 1),   x_i = l'(y_A) (f_i - y_A)           with it
//
// A convex loss lies above its tangent, x_i <= l_i - l_A, and the mean of the x_i by the weights that made
// y_A is zero. So in both cases l_A - l_i <= (s/2) (g_i - g_A) while nothing is clipped, and
//
//     sum_t (l_A - l_i) <= (s/2) R_i
//
// discounted as the regret R_i is. This is true of any x_i between the tangent and l_i - l_A. So an expert
// without weight gets x_i >= -max(l_A, l_A - l_i), where the loss has its least value, 0, at the outcome: it never
// gains more than the blend lost. (A forecast far from all others lies now on the one side of the outcome and
// then on the other; by the tangent alone it would gain half of the time. Opera's ML-Poly gets the tangents as
// they are, and a range that clips none of them and never shrinks, so that its numbers are opera's.)
//
// `range.hpp` learns the range. A row demands
//
//     s >= l_A - l_min    and    sum_j p_j [l_j - l_min - s]+ <= alpha s         without the gradient trick
//     s >= 2 max_i (-x_i)    and    sum_j p_j [x_j - s/2]+ <= alpha s            with it
//
// so that no gain is clipped, and clipping hides at most a share alpha of the range from the loss of the hedger
// in a round. A discounted sum of such shares is at most the range.
//
// A hedger with `by_losses` gets g_i = 1 - 2 min(l_i / s, 1).
//
// The effect of clipping and of changes of the range is measured: the regrets in units of the loss are added up
// beside the regrets in gains (`Game::losses`), and the difference of the two is part of `Mixture.bound`.
#pragma once

#include "mixture.hpp"

namespace normalhedge::mixtures {

// An expert with less than this share of the weight awake counts as one without weight.
constexpr double least_weight = 1e-6;

// The losses of a row.
struct RowCosts {
    double* costs;  // x_i, l_i - l_min or l_i; 0 of an expert asleep
    double* leads;  // l_A - l_i; 0 of an expert asleep
    double own;     // the cost of the blend: 0, l_A - l_min or l_A
};

// Write the loss linearised at the blend.
NORMALHEDGE_VECTORISED inline void linearise(const double* forecasts, const double* rated, size_t n,
                                             double value, double slope, double* costs) {
#pragma omp simd
    for (size_t i = 0; i < n; ++i) costs[i] += rated[i] > 0.0 ? slope * (forecasts[i] - value) : 0.0;
}

// The same, summed over the numbers of a row that the loss depends on.
inline void linearise_row(const Recipe& recipe, const Rows& rows, size_t j, const Quantiles& at,
                          const double* rated, double* costs) {
    const Forecasts forecasts = rows.row(j);
    const double outcome = rows.outcomes[j];
    fill(costs, rows.n, 0.0);
    if (!recipe.counts_all()) {
        const size_t c = class_of(rows.classes, outcome);
        const double value = rows.value(j, c);
        const double slope = recipe.loss ? recipe.loss->slope(value, c, outcome, at)
                                         : rows.own_slopes[j * rows.slope_step];
        linearise(forecasts.of_class(c), rated, rows.n, value, slope, costs);
        return;
    }
    for (size_t c = 0; c < rows.classes; ++c) {
        const double value = rows.value(j, c);
        linearise(forecasts.of_class(c), rated, rows.n, value, recipe.loss->slope(value, c, outcome, at),
                  costs);
    }
}

NORMALHEDGE_VECTORISED inline double weight_awake(const double* rated, const double* weights, size_t n) {
    return sum_of(n, [&](size_t i) { return weights[i] * rated[i]; });
}

// Minus the least loss of the experts awake.
NORMALHEDGE_VECTORISED inline double best_of(const double* losses, const double* rated, size_t n) {
    double best = -infinity;
#pragma omp simd reduction(max : best)
    for (size_t i = 0; i < n; ++i) best = larger(best, rated[i] > 0.0 ? -losses[i] : -infinity);
    return best;
}

// Replace losses by their leads, the loss of the blend less each. Write their excess over an origin as costs.
NORMALHEDGE_VECTORISED inline void compare_losses(const double* rated, size_t n, double blend,
                                                  double origin, double* losses, double* costs) {
#pragma omp simd
    for (size_t i = 0; i < n; ++i) {
        const double loss = losses[i];
        costs[i] = rated[i] > 0.0 ? larger(loss - origin, 0.0) : 0.0;
        losses[i] = rated[i] > 0.0 ? blend - loss : 0.0;
    }
}

// Replace losses by leads. An expert with less than some weight gains at most the loss of the blend.
NORMALHEDGE_VECTORISED inline void limit_tangents(const double* rated, const double* weights, size_t n,
                                                  double blend, double least, double* losses,
                                                  double* costs) {
#pragma omp simd
    for (size_t i = 0; i < n; ++i) {
        const double lead = rated[i] > 0.0 ? blend - losses[i] : 0.0;
        const double limit = weights[i] < least ? larger(lead, blend) : infinity;
        costs[i] = larger(costs[i], -limit);
        losses[i] = lead;
    }
}

// Judge a row; `costs` and `leads` are for n doubles each.
inline RowCosts judge_row(const Recipe& recipe, const Hedger& hedger, const Rows& rows, size_t j,
                        const double* rated, const double* weights, double heard, double* costs,
                        double* leads) {
    const size_t n = rows.n;
    const Quantiles at = recipe.quantiles_of(rows.items[j]);
    double blend;
    if (recipe.loss) {
        recipe.loss->write(rows.row(j), rows.outcomes[j], at, leads);
        recipe.loss->write({rows.value(j), rows.classes, 1, rows.value_class_step}, rows.outcomes[j], at,
                           &blend);
    } else {
        std::copy(rows.own_losses(j), rows.own_losses(j) + n, leads);
        blend = rows.own_losses(j)[n];
    }
    if (recipe.gradient) {
        linearise_row(recipe, rows, j, at, rated, costs);
        const bool plain = (recipe.loss && recipe.loss->monotone) || hedger.plain_tangents();
        const double least = plain ? 0.0 : least_weight * heard;
        limit_tangents(rated, weights, n, blend, least, leads, costs);
        return {costs, leads, 0.0};
    }
    const double origin = hedger.by_losses() ? 0.0 : -best_of(leads, rated, n);
    compare_losses(rated, n, blend, origin, leads, costs);
    return {costs, leads, larger(blend - origin, 0.0)};
}

// Write the gains; `size` is a power of two or 0, where all tie.
NORMALHEDGE_VECTORISED inline void write_gains(const RowCosts& row, double size, bool gradient,
                                               size_t n, double* gains) {
    const double per = size > 0.0 ? 2.0 / size : 0.0;
    const double* costs = row.costs;
    if (gradient) {
#pragma omp simd
        for (size_t i = 0; i < n; ++i) {
            gains[i] = -within(costs[i] * per, -1.0, 1.0);
        }
    } else {
#pragma omp simd
        for (size_t i = 0; i < n; ++i) gains[i] = 1.0 - smaller(costs[i] * per, 2.0);
    }
}

// The gain of the blend itself.
inline double gain_of_blend(double own, double size, bool gradient) {
    if (gradient || !(size > 0.0)) return gradient ? 0.0 : 1.0;
    return within(1.0 - 2.0 * own / size, -1.0, 1.0);
}

// The largest distances of costs below and above zero; a sleeping expert has the cost zero.
struct Extremes {
    double below;
    double above;
};

NORMALHEDGE_VECTORISED inline Extremes extremes_of(const double* costs, size_t n) {
    double below = 0.0;
    double above = 0.0;
#pragma omp simd reduction(max : below, above)
    for (size_t i = 0; i < n; ++i) {
        below = larger(below, -costs[i]);
        above = larger(above, costs[i]);
    }
    return {below, above};
}

// The demand of a row on its range, if clipping may take this share of it in a round. A hedger with plain
// tangents has nothing clipped, not even the losses of an expert without weight.
inline Demand demand_of(const RowCosts& row, const Hedger& hedger, bool gradient, const double* rated,
                      const double* weights, size_t n, double share, double heard) {
    const double edge = gradient ? 0.5 : 1.0;
    const Extremes costs = extremes_of(row.costs, n);
    double least = gradient ? costs.below / edge : row.own;
    if (hedger.plain_tangents()) least = larger(least, larger(costs.below, costs.above) / edge);
    return {row.costs, rated, weights, n, least, edge, share, heard, costs.above};
}

// The forgetting rate of a range: a quarter of the rate of its hedger; zero for plain tangents, whose regrets
// must keep their unit.
inline double pace_of(const Hedger& hedger) {
    if (hedger.plain_tangents()) return 0.0;
    return within(0.25 * (1.0 - hedger.keep()), 1.0 / 4000.0, 1.0 / 16.0);
}

// Add a row to the pooled gains and the coverage, relative to the gain of the hedger in it.
NORMALHEDGE_VECTORISED inline void pool_row(const double* gains, const double* rated, double earned,
                                            size_t n, double* pooled, double* covered) {
#pragma omp simd
    for (size_t i = 0; i < n; ++i) {
        pooled[i] += rated[i] * (gains[i] - earned);
        covered[i] += rated[i];
    }
}

// Write the coverage, and the distance of each expert to the best; return the distance of the hedger, and in
// `full` whether every expert covers every row.
inline double finish_pool(double known, const double* pooled, const double* covered, size_t n,
                          double* rated, double* costs, bool& full) {
    full = true;
    double best = -infinity;
    for (size_t i = 0; i < n; ++i) {
        rated[i] = covered[i] / known;
        full = full && rated[i] == 1.0;
        if (covered[i] > 0.0) best = larger(best, pooled[i] / covered[i]);
    }
    for (size_t i = 0; i < n; ++i)
        costs[i] = covered[i] > 0.0 ? best - pooled[i] / covered[i] : 0.0;
    return best;
}

// The gain of a distribution.
NORMALHEDGE_VECTORISED inline double earned_by(const double* played, const double* gains, size_t n) {
    return sum_of(n, [&](size_t i) { return played[i] * gains[i]; });
}

// Discount the regrets in units of the loss, and add the leads of the rows of a round; return the largest.
NORMALHEDGE_VECTORISED inline double add_leads(double* losses, const double* added_leads, double share,
                                               double keep, size_t n) {
    double largest = -infinity;
#pragma omp simd reduction(max : largest)
    for (size_t i = 0; i < n; ++i) {
        const double regret = keep * losses[i] + share * added_leads[i];
        losses[i] = regret;
        largest = larger(largest, regret);
    }
    return largest;
}

// Play a round of a single rule without the rows whose outcome is NaN; nothing happens if all of them are. A
// `late` round was played with earlier weights: a hedger that allows for delay gets the gain of the blend.
inline void learn_round(const Recipe& recipe, const Hedger& hedger, const Game& game,
                        const Rows& rows, const ItemRanges& ranges, bool late, double* totals) {
    const size_t n = rows.n;
    Scratch room(8 * n);
    double* rated = room.data();
    double* costs = rated + n;
    double* leads = rated + 2 * n;
    double* gains = rated + 3 * n;
    double* pooled = rated + 4 * n;
    double* covered = rated + 5 * n;
    double* played = rated + 6 * n;
    double* regrets = rated + 7 * n;  // of the round, in units of the loss
    const double* weights = game.columns.weights;
    const bool several = rows.count > 1;
    const bool invariant = hedger.scale_invariant();
    const bool by_losses = hedger.by_losses();
    const double pace = pace_of(hedger);
    const double share = larger(1.0 - hedger.keep(), least_share);
    const bool delayed = late && hedger.allows_for_delay();
    if (several) {
        fill(pooled, n, 0.0);
        fill(covered, n, 0.0);
    }
    const double width = recipe.gradient ? 2.0 * recipe.width : recipe.width;
    size_t known = 0;
    bool full = false;
    double own = 0.0;
    int grown = 0;
    for (size_t j = 0; j < rows.count; ++j) {
        if (!rows.known(j)) continue;
        ++known;
        const Awake awake = rate_row(rows, j, rated);
        full = awake.all;
        if (known == 1 && (several || !full)) fill(regrets, n, 0.0);
        if (awake.count == 0) {
            if (!several) fill(gains, n, 0.0);
            continue;
        }
        const double heard = weight_awake(rated, weights, n);
        const RowCosts row = judge_row(recipe, hedger, rows, j, rated, weights, heard, costs, leads);
        Range& range = ranges.of(rows.items[j]);
        if (width > 0.0) range.size = width;
        const Demand demand = demand_of(row, hedger, recipe.gradient, rated, weights, n, share, heard);
        RangeUpdate update(range, demand, invariant, width > 0.0);
        if (!several && update.before) hedger.rescale(game.columns, update.before);
        write_gains(row, range.size, recipe.gradient, n, gains);
        own = gain_of_blend(row.own, range.size, recipe.gradient);
        if (several) {
            if (awake.all)
                std::copy(weights, weights + n, played);
            else
                hedger.play(game.columns, rated, played);
            const double earned = by_losses ? 0.0 : delayed ? own : earned_by(played, gains, n);
            pool_row(gains, rated, earned, n, pooled, covered);
        }
        if (width == 0.0) grown = update.finish(pace);
        if (several || !awake.all)
            for (size_t i = 0; i < n; ++i) regrets[i] += rated[i] * leads[i];
    }
    if (known == 0) return;
    if (several) {
        const double behind = finish_pool(static_cast<double>(known), pooled, covered, n, rated, costs, full);
        if (by_losses) {
            grown = 0;
            for (size_t i = 0; i < n; ++i)
                gains[i] = covered[i] > 0.0 ? within(pooled[i] / covered[i], -1.0, 1.0) : 0.0;
        } else {
            const RowCosts row{costs, costs, larger(behind, 0.0)};
            const Demand demand = demand_of(row, hedger, false, rated, weights, n, share,
                                         weight_awake(rated, weights, n));
            RangeUpdate update(*game.pool, demand, invariant, false);
            if (update.before) hedger.rescale(game.columns, update.before);
            write_gains(row, game.pool->size, false, n, gains);
            own = gain_of_blend(behind, game.pool->size, false);
            grown = update.finish(pace);
        }
    }
    const Outcome outcome = hedger.step(game.columns, game.columns, {gains, Gains::Kind::float64},
                                        full ? nullptr : rated, delayed ? &own : nullptr);
    if (grown) hedger.rescale(game.columns, grown);
    const double each = 1.0 / static_cast<double>(known);
    totals[Sums::steps] += 1.0;
    if (game.losses) {
        const double* added = several || !full ? regrets : leads;
        totals[Sums::regret] =
            larger(totals[Sums::regret], add_leads(game.losses, added, each, hedger.keep(), n));
    }
    if (outcome.log_potential == outcome.log_potential)
        totals[Sums::log_potential] = larger(totals[Sums::log_potential], outcome.log_potential);
}

}  // namespace normalhedge::mixtures
