// Rounds of forecasts: predict, and settle once the outcomes are known.
//
// A round holds one or more rows, each a thing to be forecast: the forecasts of n experts (of several
// classes each, where there are classes). An expert without a usable forecast in a row sleeps there.
//
// Losses become gains in `gains.hpp`.
//
// Several rows make one gain and one coverage for each expert, relative to the gain of the hedger in each row
// with the experts awake there:
//
//     k_i = mean_j k_ij,    g_i = sum_j k_ij (g_ij - g_Aj) / sum_j k_ij
//
// so that an expert is compared on the rows it forecast only, and sum_i p_i k_i g_i = 0 remains.
#pragma once

#include <cstdint>
#include <vector>

#include "combining.hpp"
#include "corrections.hpp"
#include "hedger.hpp"
#include "losses.hpp"
#include "quantiles.hpp"
#include "range.hpp"

namespace normalhedge::mixtures {

using engine::Gains;
using engine::Hedger;
using engine::Outcome;

constexpr double largest_forecast = 1e100;

// The configuration of a rule.
struct Recipe {
    const Loss* loss = nullptr;  // null for a user's loss
    Way way = Way::mean;
    bool gradient = false;
    double width = 0.0;  // the range of the loss, where it is known; else 0
    double even = 0.0;   // the share of the weight that is spread evenly
    std::vector<double> levels;
    std::vector<double> shares;  // of the levels, where a row has several

    bool of_levels() const { return loss && loss->of_levels(); }
    bool counts_all() const { return loss && loss->counted != Counted::one; }  // numbers of a forecast

    Quantiles quantiles_of(std::int32_t item) const {
        if (of_levels()) return {levels.data(), shares.data()};
        return {levels.data() + static_cast<size_t>(item) % levels.size(), shares.data()};
    }
};

// The memory of the shifts of recalibrations in a game: see `recalibrating.hpp`.
struct Shifts {
    double* data = nullptr;  // recalibration_rows x classes
    size_t classes = 0;
    size_t stride = 0;

    double* row(size_t r) const { return data + r * stride; }
};
constexpr size_t recalibration_count = 2;
constexpr size_t recalibration_rows = 2 * recalibration_count;

// One game of a mixture; it owns nothing.
struct Game {
    Columns columns;
    std::int64_t* marks;  // when each expert was first and last awake, and since when it has weight
    Range* pool;          // the range of pooled gains
    double* losses = nullptr;  // n: the regrets in units of the loss; a component has none
    Stacks stacks = {};        // of corrections; a component has none
    Shifts shifts = {};        // of recalibrations; a component has none
};

// Sums for summaries and reports.
struct Sums {
    enum Expert { weight, awake, loss, blend_loss, scored, absurd, expert_sums, crossed = expert_sums };
    enum Total {
        rows, silent, settled, blend, uniform, steps, wild, regret, log_potential, total_sums
    };
    enum Mark { first, last, since, mark_rows };

    double* experts;  // expert_sums x n; one more where forecasts are quantiles, which may have crossed
    double* totals;   // total_sums
    size_t stride;    // from one row of `experts` to the next

    double* row(Expert sum) const { return experts + sum * stride; }
};

// The experts awake in a row.
struct Awake {
    size_t count;
    bool all;  // with full confidence
};

// The rows of a round.
struct Rows {
    size_t count;
    size_t classes;
    size_t n;
    const double* forecasts;      // count x classes x n
    const double* confidence;     // n, or none
    double* values;               // count x classes: the predictions
    const double* outcomes;       // count; NaN where not known
    const std::int32_t* items;    // count
    const double* own = nullptr;  // count x (n + 2): a user's losses of experts, blend, uniform
    const double* own_slopes = nullptr;  // count
    const double* ratings = nullptr;     // count x n: the confidences of experts awake, if they are known
    const Awake* awake = nullptr;        // count: who is awake, if that is known
    const std::int32_t* cells = nullptr;  // count x most_contexts: the cell of each context, -1 without; or none

    // From one row to the next, and from one class to the next.
    size_t step = classes * n;
    size_t class_step = n;
    size_t value_step = classes;
    size_t value_class_step = 1;
    size_t own_step = n + 2;
    size_t slope_step = 1;

    Forecasts row(size_t j) const { return {forecasts + j * step, classes, n, class_step}; }
    double* value(size_t j) const { return values + j * value_step; }
    double value(size_t j, size_t c) const { return values[j * value_step + c * value_class_step]; }
    const double* own_losses(size_t j) const { return own + j * own_step; }
    bool known(size_t j) const { return outcomes[j] == outcomes[j]; }
    bool any_known() const {
        for (size_t j = 0; j < count; ++j)
            if (known(j)) return true;
        return false;
    }

    // One of them alone.
    Rows only(size_t j) const {
        Rows single = *this;
        single.count = 1;
        single.forecasts += j * step;
        single.values += j * value_step;
        single.items += j;
        if (outcomes) single.outcomes += j;
        if (own) single.own += j * own_step;
        if (own_slopes) single.own_slopes += j * slope_step;
        if (ratings) single.ratings += j * n;
        if (awake) single.awake += j;
        if (cells) single.cells += j * most_contexts;
        return single;
    }
};

// The ranges of the items, one after the other.
struct ItemRanges {
    double* data;
    size_t step;  // from one item to the next

    Range& of(std::int32_t item) const {
        return *reinterpret_cast<Range*>(data + static_cast<size_t>(item) * step);
    }
};

// Write the confidences, 0 where a forecast is not usable.
NORMALHEDGE_VECTORISED inline Awake rate_experts(const Forecasts& forecasts, const double* confidence, double* rated) {
    const size_t n = forecasts.n;
    const double* x = forecasts.of_class(0);
    const double usable = sum_of(n, [&](size_t i) {
        return rated[i] = std::fabs(x[i]) < largest_forecast ? 1.0 : 0.0;
    });
    if (forecasts.classes == 1 && !confidence)
        return {static_cast<size_t>(usable), usable == static_cast<double>(n)};
    for (size_t c = 1; c < forecasts.classes; ++c) {
        x = forecasts.of_class(c);
#pragma omp simd
        for (size_t i = 0; i < n; ++i)
            rated[i] = std::fabs(x[i]) < largest_forecast ? rated[i] : 0.0;
    }
    const auto [awake, whole] = add_up<2>(n, [&](size_t i, double& some, double& full) {
        rated[i] *= confidence ? confidence[i] : 1.0;
        some += rated[i] > 0.0 ? 1.0 : 0.0;
        full += rated[i] == 1.0 ? 1.0 : 0.0;
    });
    return {static_cast<size_t>(awake), whole == static_cast<double>(n)};
}

// Write the confidences in a row.
inline Awake rate_row(const Rows& rows, size_t j, double* rated) {
    if (!rows.ratings) return rate_experts(rows.row(j), rows.confidence, rated);
    std::copy(rows.ratings + j * rows.n, rows.ratings + (j + 1) * rows.n, rated);
    return rows.awake[j];
}

// Write even weights over the experts awake.
NORMALHEDGE_VECTORISED inline void spread_evenly(const double* rated, size_t n, double* weights) {
    const double total = added(rated, n);
#pragma omp simd
    for (size_t i = 0; i < n; ++i) weights[i] = rated[i];
    divide(weights, n, total);
}

// Write weights times confidences, summing to one; even ones where no expert awake has any weight.
inline void play_by_weights(const Columns& now, const double* confidence, double* played) {
    const double total = added(confidence, now.n);
    for (size_t i = 0; i < now.n; ++i)
        played[i] = total > 0.0 ? confidence[i] * now.weights[i] : 0.0;
    const double heard = added(played, now.n);
    if (heard > tiny)
        divide(played, now.n, heard);
    else if (total > 0.0)
        spread_evenly(confidence, now.n, played);
}

// Repair the quantiles of the experts in all rows, in place: see `quantiles.hpp`.
inline void repair_rows(const Recipe& recipe, const Rows& rows, double* forecasts,
                        const Sums& sums) {
    for (size_t j = 0; j < rows.count; ++j)
        repair_row(rows.row(j), forecasts + j * rows.step, recipe.levels.data(), largest_forecast,
                   sums.row(static_cast<Sums::Expert>(Sums::crossed)));
}

// Mark the experts awake in a round: first and last time awake, and since when they have weight.
NORMALHEDGE_VECTORISED inline void mark_round(const Game& game, std::int64_t number, const double* seen) {
    const size_t n = game.columns.n;
    const double* weights = game.columns.weights;
    const size_t stride = game.columns.stride;
    std::int64_t* first = game.marks + Sums::first * stride;
    std::int64_t* last = game.marks + Sums::last * stride;
    std::int64_t* since = game.marks + Sums::since * stride;
    const double share = (1.0 - 1e-9) / static_cast<double>(n);  // an even share counts, rounded down or not
#pragma omp simd
    for (size_t i = 0; i < n; ++i) {
        const bool here = seen[i] > 0.0;
        const std::int64_t carries = since[i] >= 0 ? since[i] : number;
        last[i] = here ? number : last[i];
        first[i] = here && first[i] < 0 ? number : first[i];
        since[i] = here ? (weights[i] >= share ? carries : -1) : since[i];
    }
}

// Spread a share of the weight evenly over the experts awake.
NORMALHEDGE_VECTORISED inline void mix_evenly(const double* rated, size_t n, double share,
                                              double* played) {
    const double total = added(rated, n);
#pragma omp simd
    for (size_t i = 0; i < n; ++i)
        played[i] = (1.0 - share) * played[i] + share * (rated[i] / total);
}

// Add a distribution to the sums, and count the experts awake in `seen`.
NORMALHEDGE_VECTORISED inline void add_weights(const double* rated, const double* played, size_t n,
                                               double* seen, const Sums& sums) {
    double* awake = sums.row(Sums::awake);
    double* weight = sums.row(Sums::weight);
#pragma omp simd
    for (size_t i = 0; i < n; ++i) {
        const double here = rated[i] > 0.0 ? 1.0 : 0.0;
        seen[i] += here;
        awake[i] += here;
        weight[i] += played[i];
    }
}

// Add the losses of the experts awake to the sums, with the loss of the blend beside each.
NORMALHEDGE_VECTORISED inline void add_losses(const double* rated, const double* losses,
                                              double blend, size_t n, const Sums& sums) {
    double* loss = sums.row(Sums::loss);
    double* beside = sums.row(Sums::blend_loss);
    double* scored = sums.row(Sums::scored);
#pragma omp simd
    for (size_t i = 0; i < n; ++i) {
        const bool here = rated[i] > 0.0;
        loss[i] += here ? losses[i] : 0.0;
        beside[i] += here ? blend : 0.0;
        scored[i] += here ? 1.0 : 0.0;
    }
}

// Write the prediction of each row, NaN where no expert is awake, and its distribution: `played` is count x n, or
// none.
inline void predict_round(const Recipe& recipe, const Hedger& hedger, const Game& game,
                          const Rows& rows, std::int64_t number, double* played,
                          const Sums& sums) {
    const size_t n = rows.n;
    Scratch room(5 * n);
    double* rated = room.data();
    double* seen = rated + n;
    double* heard = rated + 2 * n;
    fill(seen, n, 0.0);
    for (size_t j = 0; j < rows.count; ++j) {
        const Forecasts forecasts = rows.row(j);
        const Awake awake = rate_experts(forecasts, rows.confidence, rated);
        sums.totals[Sums::rows] += 1.0;
        if (!awake.all) {
            const double* x = forecasts.of_class(0);
            for (size_t i = 0; i < n; ++i)
                sums.totals[Sums::wild] += std::fabs(x[i]) >= largest_forecast ? 1.0 : 0.0;
        }
        double* own = played ? played + j * n : heard;
        if (awake.count == 0) {
            fill(rows.value(j), rows.classes, not_a_number);
            fill(own, n, 0.0);
            sums.totals[Sums::silent] += 1.0;
            continue;
        }
        if (awake.all)
            std::copy(game.columns.weights, game.columns.weights + n, own);
        else
            hedger.play(game.columns, rated, own);
        if (recipe.even > 0.0) mix_evenly(rated, n, recipe.even, own);
        combine(forecasts, own, recipe.way, rated + 3 * n, rows.value(j));
        if (recipe.of_levels()) sort_levels(rows.value(j), rows.classes, 1);
        add_weights(rated, own, n, seen, sums);
    }
    mark_round(game, number, seen);
}

// Add the losses of the rows whose outcome is known to the sums: of each expert awake, of the blend
// and of even weights.
inline void note_round(const Recipe& recipe, const Rows& rows, const Sums& sums) {
    const size_t n = rows.n;
    Scratch room(5 * n + rows.classes);
    double* rated = room.data();
    double* buffer = rated + n;
    double* alike = rated + 2 * n;
    double* plain = rated + 5 * n;
    for (size_t j = 0; j < rows.count; ++j) {
        if (!rows.known(j)) continue;
        const Forecasts forecasts = rows.row(j);
        if (rate_experts(forecasts, rows.confidence, rated).count == 0) continue;
        const double* losses = buffer;
        double blend;
        double uniform;
        if (recipe.loss) {
            const Quantiles at = recipe.quantiles_of(rows.items[j]);
            recipe.loss->write(forecasts, rows.outcomes[j], at, buffer);
            spread_evenly(rated, n, alike);
            combine(forecasts, alike, recipe.way, rated + 3 * n, plain);
            blend = recipe.loss->of(rows.value(j), rows.classes, rows.outcomes[j], at);
            uniform = recipe.loss->of(plain, rows.classes, rows.outcomes[j], at);
        } else {
            losses = rows.own_losses(j);
            blend = losses[n];
            uniform = losses[rows.own_step - 1];
        }
        sums.totals[Sums::settled] += 1.0;
        sums.totals[Sums::blend] += blend;
        sums.totals[Sums::uniform] += uniform;
        add_losses(rated, losses, blend, n, sums);
    }
}

// Write the plain mean or median of the experts awake as the forecasts of the first experts. Where
// classes are `levels`, quantiles are repaired first, in a copy.
inline void fill_plain(double* table, size_t rows, size_t classes, size_t n,
                       const double* confidence, const std::vector<Way>& ways,
                       const double* levels) {
    const size_t m = ways.size();
    const size_t others = n - m;
    Scratch room(4 * others + classes + (levels ? classes * n : 0));
    double* rated = room.data();
    double* result = rated + 3 * others;
    double* counts = result + classes;  // they are counted when the round is predicted
    double* copy = counts + others;
    fill(counts, others, 0.0);
    for (size_t j = 0; j < rows; ++j) {
        double* row = table + j * classes * n;
        Forecasts forecasts{row + m, classes, others, n};
        if (levels) {
            std::copy(row, row + classes * n, copy);
            forecasts.data = copy + m;
            repair_row(forecasts, copy + m, levels, largest_forecast, counts);
        }
        const Awake awake = rate_experts(forecasts, confidence ? confidence + m : nullptr, rated);
        for (size_t i = 0; i < others; ++i)
            rated[i] = rated[i] > 0.0 ? 1.0 / static_cast<double>(awake.count) : 0.0;
        for (size_t w = 0; w < m; ++w) {
            fill(result, classes, not_a_number);
            if (awake.count > 0) combine(forecasts, rated, ways[w], rated + others, result);
            for (size_t c = 0; c < classes; ++c) row[c * n + w] = result[c];
        }
    }
}

}  // namespace normalhedge::mixtures
