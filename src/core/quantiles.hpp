// Quantiles at rising quantile levels: they must not cross, and weights may differ between quantile levels.
//
// Quantiles that cross are sorted. Sorting never raises the loss, whatever the outcome y: let a < b be quantile
// levels with the forecasts x > x'. Since pinball(x, y; a) = a (y - x) + [x - y]+, an exchange of the two saves
//
//     pinball(x, y; a) + pinball(x', y; b) - pinball(x', y; a) - pinball(x, y; b) = (b - a) (x - x') > 0
//
// and sorting is a sequence of exchanges. (Chernozhukov, Fernandez-Val and Galichon, "Quantile and probability
// curves without crossing", 2010.) The quantile levels must have even shares of the loss.
//
// Weights that differ between quantile levels are interpolated from the weights at a few knots (Berrisch and
// Ziel, "CRPS learning", 2023): with hat functions B_k, which sum to one at every quantile level,
//
//     w_i(level c) = sum_k B_kc w_ik,     knot k learns from the losses of level c with share ∝ B_kc
//
// One knot shares the weights over all quantile levels, a knot for each quantile level separates them.
#pragma once

#include <algorithm>
#include <vector>

#include "losses.hpp"

namespace normalhedge::mixtures {

// Sort numbers; return whether that moved any. Insertion sort: they are few, and nearly in order.
inline bool sort_levels(double* values, size_t count, size_t step) {
    bool moved = false;
    for (size_t c = 1; c < count; ++c) {
        const double x = values[c * step];
        size_t k = c;
        for (; k > 0 && values[(k - 1) * step] > x; --k) values[k * step] = values[(k - 1) * step];
        values[k * step] = x;
        moved = moved || k < c;
    }
    return moved;
}

// The hat functions: knots x quantile levels; the knots are evenly spaced.
inline std::vector<double> hat_functions(size_t knots, size_t levels) {
    std::vector<double> hats(knots * levels, knots == 1 ? 1.0 : 0.0);
    for (size_t c = 0; knots > 1 && c < levels; ++c) {
        const double place = static_cast<double>(c * (knots - 1)) / static_cast<double>(levels - 1);
        const auto left = std::min(static_cast<size_t>(place), knots - 2);
        const double right = place - static_cast<double>(left);
        hats[left * levels + c] = 1.0 - right;
        hats[(left + 1) * levels + c] = right;
    }
    return hats;
}

// Sort the quantiles of one expert, and fill gaps between two of them by linear interpolation over the quantile
// levels; return whether they crossed. Without its first or last quantile an expert sleeps.
inline bool repair_quantiles(double* x, size_t stride, const double* levels, size_t count,
                             double largest, double* room) {
    size_t known = 0;
    for (size_t c = 0; c < count; ++c)
        if (std::fabs(x[c * stride]) < largest) room[known++] = x[c * stride];
    if (known == 0) return false;
    const bool crossed = sort_levels(room, known, 1);
    size_t next = 0;
    for (size_t c = 0; crossed && c < count; ++c)
        if (std::fabs(x[c * stride]) < largest) x[c * stride] = room[next++];
    if (known == count || !(std::fabs(x[0]) < largest) ||
        !(std::fabs(x[(count - 1) * stride]) < largest))
        return crossed;
    for (size_t c = 1, last = 0; c < count; ++c) {
        if (!(std::fabs(x[c * stride]) < largest)) continue;
        const double low = x[last * stride];
        const double high = x[c * stride];
        for (size_t k = last + 1; k < c; ++k) {
            const double share = (levels[k] - levels[last]) / (levels[c] - levels[last]);
            x[k * stride] = within(low + share * (high - low), low, high);
        }
        last = c;
    }
    return crossed;
}

// Flag each expert with a crossing or a missing quantile; return whether there is one.
NORMALHEDGE_VECTORISED inline bool find_crossings(const Forecasts& forecasts, double largest,
                                                  double* flags) {
    const size_t n = forecasts.n;
    const double* first = forecasts.of_class(0);
#pragma omp simd
    for (size_t i = 0; i < n; ++i) flags[i] = std::fabs(first[i]) < largest ? 0.0 : 1.0;
    for (size_t c = 1; c < forecasts.classes; ++c) {
        const double* x = forecasts.of_class(c);
        const double* before = forecasts.of_class(c - 1);
#pragma omp simd
        for (size_t i = 0; i < n; ++i)
            flags[i] = x[i] >= before[i] && std::fabs(x[i]) < largest ? flags[i] : 1.0;
    }
    return sum_of(n, [&](size_t i) { return flags[i]; }) > 0.0;
}

// Repair the quantiles of all experts in a row, and count the experts with crossings.
inline void repair_row(const Forecasts& forecasts, double* data, const double* levels,
                       double largest, double* crossed) {
    Scratch room(forecasts.n + forecasts.classes);
    double* flags = room.data();
    if (!find_crossings(forecasts, largest, flags)) return;
    for (size_t i = 0; i < forecasts.n; ++i)
        if (flags[i] > 0.0 && repair_quantiles(data + i, forecasts.stride, levels, forecasts.classes,
                                               largest, flags + forecasts.n))
            crossed[i] += 1.0;
}

}  // namespace normalhedge::mixtures
