// The best experts in hindsight: leads, the best sequence with switches, tables of losses.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "combining.hpp"
#include "mixture.hpp"

namespace normalhedge::hindsight {

using namespace mixtures;  // losses and combinations

// Write the largest discounted total, sum_s keep^(t - s) g_s, after each round t. `totals` is for n
// doubles.
NORMALHEDGE_VECTORISED inline void write_leads(const double* gains, size_t rounds, size_t n,
                                               double keep, double* leads, double* totals) {
    fill(totals, n, 0.0);
    for (size_t t = 0; t < rounds; ++t) {
        const double* g = gains + t * n;
        double lead = -infinity;
#pragma omp simd reduction(max : lead)
        for (size_t i = 0; i < n; ++i) {
            totals[i] = keep * totals[i] + g[i];
            lead = larger(lead, totals[i]);
        }
        leads[t] = lead;
    }
}

// The first place of the largest number.
inline size_t place_of_largest(const double* values, size_t n) {
    size_t place = 0;
    for (size_t i = 1; i < n; ++i)
        if (values[i] > values[place]) place = i;
    return place;
}

// Write the best sequence of experts with a limited number of switches; return its total.
//
//     B_t(m, i) = g_ti + max(B_(t-1)(m, i), max_j B_(t-1)(m - 1, j))
//
// A byte each keeps whether the first of the two was the larger, to trace the sequence back.
inline double find_best_sequence(const double* gains, size_t rounds, size_t n, size_t switches,
                                 std::int64_t* experts) {
    const size_t rows = switches + 1;
    std::vector<double> best(rows * n, -infinity);
    std::vector<size_t> leaders(rounds * rows);  // at the end of the round before
    const std::unique_ptr<bool[]> stayed(new bool[rounds * rows * n]);
    std::copy(gains, gains + n, best.begin());
    for (size_t t = 1; t < rounds; ++t) {
        const double* g = gains + t * n;
        for (size_t m = 0; m < rows; ++m)
            leaders[t * rows + m] = place_of_largest(&best[m * n], n);
        for (size_t m = rows; m-- > 0;) {
            double* own = &best[m * n];
            bool* stays = &stayed[(t * rows + m) * n];
            const double moved = m > 0 ? best[(m - 1) * n + leaders[t * rows + m - 1]] : -infinity;
            for (size_t i = 0; i < n; ++i) {
                stays[i] = !(own[i] < moved);  // also where it is NaN: without switches all stay
                own[i] = g[i] + (stays[i] ? own[i] : moved);
            }
        }
    }
    size_t m = 0;
    size_t i = place_of_largest(&best[0], n);
    for (size_t k = 1; k < rows; ++k) {
        const size_t j = place_of_largest(&best[k * n], n);
        if (best[k * n + j] > best[m * n + i]) {
            m = k;
            i = j;
        }
    }
    const double total = best[m * n + i];
    for (size_t t = rounds - 1; t > 0; --t) {
        experts[t] = static_cast<std::int64_t>(i);
        if (!stayed[(t * rows + m) * n + i]) {
            --m;
            i = leaders[t * rows + m];
        }
    }
    experts[0] = static_cast<std::int64_t>(i);
    return total;
}

// A table of forecasts and the outcomes of its rows; NaN where missing.
struct Table {
    size_t rows;
    size_t classes;
    size_t n;
    const double* forecasts;  // rows x classes x n
    const double* outcomes;
    const std::int32_t* items;
    const double* levels;  // of the pinball loss, in turns over the items; or of the classes
    size_t level_count;
    const double* shares;  // of the levels
    const Loss* loss;

    Forecasts row(size_t j) const { return {forecasts + j * classes * n, classes, n, n}; }
    bool known(size_t j) const { return outcomes[j] == outcomes[j]; }
    Quantiles quantiles(size_t j) const {
        if (loss->of_levels()) return {levels, shares};
        return {levels + static_cast<size_t>(items[j]) % level_count, shares};
    }
};

// Replace the ones of the experts awake by even weights, and write their combination. `rated` is for 3n
// doubles.
inline void combine_evenly(const Forecasts& forecasts, size_t awake, Way way, double* rated,
                           double* even) {
    const size_t n = forecasts.n;
#pragma omp simd
    for (size_t i = 0; i < n; ++i) rated[i] /= static_cast<double>(awake);
    combine(forecasts, rated, way, rated + n, even);
}

// Write the forecasts of each expert in each row; the even combination where it sleeps. NaN where there is no
// outcome or no expert awake. `rated` is for 3n + classes doubles.
NORMALHEDGE_VECTORISED inline void fill_all_sleepers(const Table& table, Way way, double* filled,
                                                     double* rated) {
    const size_t n = table.n;
    double* even = rated + 3 * n;
    for (size_t j = 0; j < table.rows; ++j) {
        const Forecasts forecasts = table.row(j);
        double* own = filled + j * table.classes * n;
        const size_t awake = rate_experts(forecasts, nullptr, rated).count;
        if (awake == 0 || !table.known(j)) {
            fill(own, table.classes * n, not_a_number);
            continue;
        }
        combine_evenly(forecasts, awake, way, rated, even);
        for (size_t c = 0; c < table.classes; ++c) {
            const double* x = forecasts.of_class(c);
            double* line = own + c * n;
            const double uniform = even[c];
#pragma omp simd
            for (size_t i = 0; i < n; ++i) line[i] = rated[i] > 0.0 ? x[i] : uniform;
        }
    }
}

// Write the loss of each expert in each row, or the loss of even weights where it sleeps. Return how many
// rows have an outcome and an expert awake; the others hold zeros. `rated` is for 3n + classes doubles.
NORMALHEDGE_VECTORISED inline size_t write_all_losses(const Table& table, Way way, double* losses,
                                                      double* rated) {
    const size_t n = table.n;
    double* even = rated + 3 * n;
    size_t known = 0;
    for (size_t j = 0; j < table.rows; ++j) {
        const Forecasts forecasts = table.row(j);
        double* own = losses + j * n;
        const size_t awake = rate_experts(forecasts, nullptr, rated).count;
        if (awake == 0 || !table.known(j)) {
            fill(own, n, 0.0);
            continue;
        }
        ++known;
        table.loss->write(forecasts, table.outcomes[j], table.quantiles(j), own);
        combine_evenly(forecasts, awake, way, rated, even);
        const double uniform =
            table.loss->of(even, table.classes, table.outcomes[j], table.quantiles(j));
#pragma omp simd
        for (size_t i = 0; i < n; ++i) own[i] = rated[i] > 0.0 ? own[i] : uniform;
    }
    return known;
}

// Write the derivative of the loss by each number of each forecast; NaN where there is no outcome.
inline void write_all_slopes(const Table& table, double* slopes) {
    const size_t n = table.n;
    for (size_t j = 0; j < table.rows; ++j) {
        const Forecasts forecasts = table.row(j);
        if (!table.known(j)) {
            fill(slopes + j * table.classes * n, table.classes * n, not_a_number);
            continue;
        }
        const size_t chosen = class_of(table.classes, table.outcomes[j]);
        for (size_t c = 0; c < table.classes; ++c) {
            const bool counts = table.loss->counted != Counted::one || c == chosen;
            double* own = slopes + (j * table.classes + c) * n;
            for (size_t i = 0; i < n; ++i)
                own[i] = counts ? table.loss->slope(forecasts.of_class(c)[i], c, table.outcomes[j],
                                                    table.quantiles(j))
                                : 0.0;
        }
    }
}

}  // namespace normalhedge::hindsight
