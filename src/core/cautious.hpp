// Losses -> gains, for the components of `"auto"`: cautious ones, without a bound on the losses.
//
// In a row with losses l, the best of them l_min and a range s,
//
//     g_i = 1 - 2 min((l_i - l_min) / s, 1)                      without the gradient trick
//     g_i = -(u_i + u_i^2 / 2) / 1.5,                            with it; y_A is the prediction
//     u_i = clip(2 l'(y_A) (x_i - y_A) / s, -1, 1)
//
// The square makes a large gradient costly on either side: a forecast far off lies now on the one side of the
// outcome and then on the other, and would gain half of the time. The range starts at twice the median
// of l_i - l_min. It doubles, and the regrets are halved, when half of the weight lies beyond it; never more
// than once in a row, and losses beyond it are clipped. It is halved when the mean of min(l_i - l_min, s) / s by
// weight, over some 16 rows, falls below 1/16. So a single wild outcome costs at most one doubling. A bound on
// the regret in these gains does not bound the losses: the insurance of `automatic.hpp` does. On real panels of
// quantiles these gains lose 3 % less than the gains of `gains.hpp`.
//
// A round with fewer rows than usual counts as a share w of a round (`usual_rows.hpp`): what its experts lose to the
// best of them, 1 - g for inverse losses, counts w times, and the hedger forgets as much as in w rounds.
#pragma once

#include "mixture.hpp"
#include "usual_rows.hpp"

namespace normalhedge::mixtures::cautious {

constexpr double fullest = 2.0;
constexpr double emptiest = 1.0 / 16.0;
constexpr double speed = 1.0 / 16.0;

// Twice the median excess loss of the experts awake, as a power of two; 0 if all tie. Twice their mean, if more
// than half of them tie with the best.
inline double first_range(const double* excess, const double* rated, size_t n) {
    Scratch alike(n);
    Scratch room(2 * n);
    double awake = 0.0;
    double total = 0.0;
    for (size_t i = 0; i < n; ++i) {
        alike.data()[i] = rated[i] > 0.0 ? 1.0 : 0.0;
        awake += alike.data()[i];
        total += rated[i] > 0.0 ? excess[i] : 0.0;
    }
    double middle = SortedForecasts(excess, alike.data(), n, room.data()).median();
    if (!(middle > tiny)) middle = total / awake;
    return middle > tiny ? power_of_two_above(fullest * middle) : 0.0;
}

// The excess losses of a row relative to a range, by weight and by number.
struct Filling {
    double heard;   // the weight awake
    double beyond;  // the weight of losses beyond the range
    double awake;   // how many are awake
    double far;     // how many have losses beyond
    double inside;  // the sum of the losses within, by weight
};

NORMALHEDGE_VECTORISED inline Filling filling_of(const double* excess, const double* rated,
                                                 const double* weights, size_t n, double size) {
    const double edge = size * (1.0 + tie);
    const auto [heard, beyond, awake, far, inside] =
        add_up<5>(n, [&](size_t i, double& all, double& outer, double& some, double& distant, double& inner) {
            const double mass = weights[i] * rated[i];
            const double spread = rated[i] > 0.0 ? excess[i] : 0.0;
            all += mass;
            some += rated[i] > 0.0 ? 1.0 : 0.0;
            inner += mass * smaller(spread, size);
            distant += spread > edge ? 1.0 : 0.0;
            outer += spread > edge ? mass : 0.0;
        });
    return {heard, beyond, awake, far, inside};
}

// Adapt a range to the excess losses of a row, or of a round that is a share of a usual one; return whether it doubled.
inline bool learn_range(const double* excess, const double* rated, const double* weights, size_t n,
                        Range& range, double share = 1.0) {
    const double size = range.size;
    const auto [heard, beyond, awake, far, inside] = filling_of(excess, rated, weights, n, size);
    if (awake == 0.0) return false;
    if (size == 0.0) {
        range = {first_range(excess, rated, n), 1.0};
        return false;
    }
    if (heard > tiny ? beyond >= (0.5 - tie) * heard : 2.0 * far >= awake) {
        range = {2.0 * size, 0.5 * range.filled};
        return true;
    }
    if (inside > 0.0) {
        range.filled += share * speed * (inside / (heard * size) - range.filled);
        if (range.filled < emptiest && size > 1e-250) range = {0.5 * size, 2.0 * range.filled};
    }
    return false;
}

// Write the loss linearised at the prediction, and twice its size, which the range must hold.
NORMALHEDGE_VECTORISED inline void linearise(const double* forecasts, const double* rated, size_t n,
                                             double value, double slope, double* costs,
                                             double* excess) {
#pragma omp simd
    for (size_t i = 0; i < n; ++i) {
        costs[i] = rated[i] > 0.0 ? slope * (forecasts[i] - value) : 0.0;
        excess[i] = fullest * std::fabs(costs[i]);
    }
}

// The same where all numbers of a forecast count: the sum of their linearised losses.
NORMALHEDGE_VECTORISED inline void linearise_all(const Loss& loss, const Rows& rows, size_t j,
                                                 const Quantiles& at, const double* rated,
                                                 double* costs, double* excess) {
    const size_t n = rows.n;
    const Forecasts forecasts = rows.row(j);
    fill(costs, n, 0.0);
    for (size_t c = 0; c < rows.classes; ++c) {
        const double* x = forecasts.of_class(c);
        const double value = rows.value(j, c);
        const double slope = loss.slope(value, c, rows.outcomes[j], at);
        if (slope == 0.0) continue;
#pragma omp simd
        for (size_t i = 0; i < n; ++i) costs[i] += rated[i] > 0.0 ? slope * (x[i] - value) : 0.0;
    }
#pragma omp simd
    for (size_t i = 0; i < n; ++i) excess[i] = fullest * std::fabs(costs[i]);
}

// Replace losses by their excess over the least loss of the experts awake.
NORMALHEDGE_VECTORISED inline void compare_with_best(const double* rated, size_t n, double* costs,
                                                     double* excess) {
    double best = -infinity;  // minus the least loss
#pragma omp simd reduction(max : best)
    for (size_t i = 0; i < n; ++i) best = larger(best, rated[i] > 0.0 ? -costs[i] : -infinity);
#pragma omp simd
    for (size_t i = 0; i < n; ++i) {
        costs[i] = rated[i] > 0.0 ? costs[i] + best : 0.0;
        excess[i] = costs[i];
    }
}

// Keep losses; negative losses and the losses of sleeping experts become 0.
NORMALHEDGE_VECTORISED inline void take_losses(const double* rated, size_t n, double* costs,
                                               double* excess) {
#pragma omp simd
    for (size_t i = 0; i < n; ++i) {
        costs[i] = rated[i] > 0.0 ? larger(costs[i], 0.0) : 0.0;
        excess[i] = costs[i];
    }
}

// Write the costs of a row, linear with the gradient trick, and their excess.
inline void measure_row(const Recipe& recipe, bool by_losses, const Rows& rows, size_t j,
                        const double* rated, double* costs, double* excess) {
    const size_t n = rows.n;
    const Forecasts forecasts = rows.row(j);
    const double outcome = rows.outcomes[j];
    const Quantiles at = recipe.quantiles_of(rows.items[j]);
    if (recipe.gradient && recipe.counts_all()) {
        linearise_all(*recipe.loss, rows, j, at, rated, costs, excess);
        return;
    }
    if (recipe.gradient) {
        const size_t c = class_of(rows.classes, outcome);
        const double* x = forecasts.of_class(c);
        const double value = rows.value(j, c);
        const double slope = recipe.loss ? recipe.loss->slope(value, c, outcome, at)
                                         : rows.own_slopes[j * rows.slope_step];
        linearise(x, rated, n, value, slope, costs, excess);
        return;
    }
    if (recipe.loss)
        recipe.loss->write(forecasts, outcome, at, costs);
    else
        std::copy(rows.own_losses(j), rows.own_losses(j) + n, costs);
    if (by_losses)
        take_losses(rated, n, costs, excess);
    else
        compare_with_best(rated, n, costs, excess);
}

// Write gains in [-1, 1]; see the top of the file. The range is a power of two, so 1/size is exact.
NORMALHEDGE_VECTORISED inline void write_gains(const double* costs, double size, bool gradient,
                                               size_t n, double* gains) {
    const double per = size > 0.0 ? 2.0 / size : 0.0;
    if (gradient) {
#pragma omp simd
        for (size_t i = 0; i < n; ++i) {
            const double u = within(costs[i] * per, -1.0, 1.0);
            gains[i] = -(u + 0.5 * u * u) * (1.0 / 1.5);
        }
    } else {
#pragma omp simd
        for (size_t i = 0; i < n; ++i) gains[i] = 1.0 - smaller(costs[i] * per, 2.0);
    }
}

// Add a row to the pooled gains and the coverage.
NORMALHEDGE_VECTORISED inline void pool_row(const double* gains, const double* rated,
                                            const double* played, size_t n, double* pooled,
                                            double* covered) {
    const double earned = sum_of(n, [&](size_t i) { return played[i] * gains[i]; });
#pragma omp simd
    for (size_t i = 0; i < n; ++i) {
        pooled[i] += rated[i] * (gains[i] - earned);
        covered[i] += rated[i];
    }
}

// Write the coverage, and how far each expert is behind the best; return whether all is covered.
inline bool finish_pool(double known, const double* pooled, const double* covered, size_t n,
                        double* rated, double* costs) {
    bool full = true;
    double best = -infinity;
    for (size_t i = 0; i < n; ++i) {
        rated[i] = covered[i] / known;
        full = full && rated[i] == 1.0;
        if (covered[i] > 0.0) best = larger(best, pooled[i] / covered[i]);
    }
    for (size_t i = 0; i < n; ++i)
        costs[i] = covered[i] > 0.0 ? best - pooled[i] / covered[i] : 0.0;
    return full;
}

// Take back the part of a hedger's forgetting that a round of few rows should not cause.
inline void remember(const Hedger& hedger, const Columns& columns, const Portion& portion) {
    if (portion.whole() || hedger.keep() == 1.0) return;
    const double factor = portion.keep(hedger.keep()) / hedger.keep();
    for (size_t r = 0; r < hedger.rows(); ++r) {
        double* row = columns.row(r);
        for (size_t i = 0; i < columns.n; ++i) row[i] *= factor;
    }
    for (size_t k = 0; k < hedger.totals(); ++k) columns.totals[k] *= factor;
}

// Play a round: rows whose outcome is NaN are left out; nothing happens if all of them are.
inline void learn_round(const Recipe& recipe, const Hedger& hedger, const Game& game, const Rows& rows,
                        const ItemRanges& ranges, const Portion& portion, double* totals) {
    const size_t n = rows.n;
    Scratch room(7 * n);
    double* rated = room.data();
    double* costs = rated + n;
    double* excess = rated + 2 * n;
    double* gains = rated + 3 * n;
    double* pooled = rated + 4 * n;
    double* covered = rated + 5 * n;
    double* played = rated + 6 * n;
    const double* weights = game.columns.weights;
    const bool several = rows.count > 1 || !portion.whole();
    const bool by_losses = hedger.by_losses();
    if (several) {
        fill(pooled, n, 0.0);
        fill(covered, n, 0.0);
    }
    size_t known = 0;
    bool doubled = false;
    bool full = false;
    for (size_t j = 0; j < rows.count; ++j) {
        if (!rows.known(j)) continue;
        ++known;
        const Awake awake = rate_row(rows, j, rated);
        full = awake.all;
        if (awake.count == 0) {
            if (!several) fill(gains, n, 0.0);
            continue;
        }
        measure_row(recipe, by_losses, rows, j, rated, costs, excess);
        Range& range = ranges.of(rows.items[j]);
        if (recipe.width > 0.0)
            range.size = recipe.width;
        else
            doubled = learn_range(excess, rated, weights, n, range);
        write_gains(costs, range.size, recipe.gradient, n, gains);
        if (several) {
            if (by_losses)
                fill(played, n, 0.0);
            else if (awake.all)
                std::copy(weights, weights + n, played);
            else
                hedger.play(game.columns, rated, played);
            pool_row(gains, rated, played, n, pooled, covered);
        }
    }
    if (known == 0) return;
    if (several) {
        full = finish_pool(static_cast<double>(known), pooled, covered, n, rated, costs);
        if (by_losses) {
            doubled = false;
            for (size_t i = 0; i < n; ++i)
                gains[i] = covered[i] > 0.0 ? within(pooled[i] / covered[i], -1.0, 1.0) : 0.0;
            if (!portion.whole())
                for (size_t i = 0; i < n; ++i) gains[i] = 1.0 - portion.share * (1.0 - gains[i]);
        } else {
            for (size_t i = 0; i < n; ++i) costs[i] *= portion.share;
            doubled = learn_range(costs, rated, weights, n, *game.pool, portion.share);
            write_gains(costs, game.pool->size, false, n, gains);
        }
    }
    if (doubled) hedger.rescale(game.columns, 1);
    remember(hedger, game.columns, portion);
    const Outcome outcome = hedger.step(game.columns, game.columns, {gains, Gains::Kind::float64},
                                        full ? nullptr : rated);
    totals[Sums::steps] += 1.0;
    totals[Sums::regret] = larger(totals[Sums::regret], outcome.lead);
    if (outcome.log_potential == outcome.log_potential)
        totals[Sums::log_potential] = larger(totals[Sums::log_potential], outcome.log_potential);
}

}  // namespace normalhedge::mixtures::cautious
