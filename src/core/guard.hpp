// A guard against absurd forecasts: out of all proportion to the others, and to what was seen.
//
// In a row let m be the median of the forecasts, d the median of |x_i - m|, and e how far outcomes lay
// from their medians lately: e <- max(|y - m|, 0.99 e) when an outcome is known. Then
//
//     x_i -> within(x_i, m - t, m + t),    t = max(10 d, 2 e)
//
// so that a forecast moves the blend no more than one could that lies ten times as far from the others
// as they do, or twice as far as an outcome did. There is no scale to set; a jump of the outcomes opens
// the guard for the jumps that follow. Two forecasts have no median that one of them would not move. Of
// two, one is absurd if it lies outside of the outcomes seen, by more than their width and twice e (here
// the distance of an outcome to the nearer forecast), and the other does not; it is then moved to the
// edge. One forecast, and the first rows of which nothing tells what is absurd, are left alone.
#pragma once

#include "combining.hpp"

namespace normalhedge {

// What the guard remembers of an item.
struct Seen {
    double error;  // e
    double low;    // the least and the largest outcome
    double high;
    double count;  // of outcomes, up to 2
};

constexpr double wide_spread = 10.0;
constexpr double wide_error = 2.0;
constexpr double fading = 0.99;

// Between which values forecasts are let through.
struct Gate {
    double low = -infinity;
    double high = infinity;
    double middle = not_a_number;  // the median; the nearer forecast to be, of two

    bool lets(double x) const { return !(x < low) && !(x > high); }
};

// The gate of a row; `rated` says who is awake, `room` is for 4n doubles.
inline Gate gate_of(const double* forecasts, const double* rated, size_t n, const Seen& seen,
                    double* room) {
    double* even = room;
    double* far = room + n;
    size_t awake = 0;
    for (size_t i = 0; i < n; ++i) {
        even[i] = rated[i] > 0.0 ? 1.0 : 0.0;
        awake += rated[i] > 0.0 ? 1 : 0;
    }
    Gate gate;
    if (awake == 0) return gate;
    const double middle = Heard(forecasts, even, n, room + 2 * n).median();
    gate.middle = middle;
    if (awake > 2) {
        for (size_t i = 0; i < n; ++i) far[i] = std::fabs(forecasts[i] - middle);
        const double spread = Heard(far, even, n, room + 2 * n).median();
        const double limit = larger(wide_spread * spread, wide_error * seen.error);
        if (limit > 0.0) {
            gate.low = middle - limit;
            gate.high = middle + limit;
        }
    } else if (awake == 2 && seen.count > 1.0 && seen.high > seen.low) {
        const double margin = seen.high - seen.low + wide_error * seen.error;
        const double low = seen.low - margin;
        const double high = seen.high + margin;
        size_t outside = 0;
        for (size_t i = 0; i < n; ++i)
            outside += rated[i] > 0.0 && (forecasts[i] < low || forecasts[i] > high) ? 1 : 0;
        if (outside == 1) {
            gate.low = low;
            gate.high = high;
        }
    }
    return gate;
}

// Remember an outcome.
inline void see(const double* forecasts, const double* rated, size_t n, double middle,
                double outcome, Seen& seen) {
    size_t awake = 0;
    double nearest = infinity;
    for (size_t i = 0; i < n; ++i) {
        if (!(rated[i] > 0.0)) continue;
        ++awake;
        nearest = smaller(nearest, std::fabs(forecasts[i] - outcome));
    }
    if (awake == 0) return;
    const double error = awake > 2 ? std::fabs(outcome - middle) : nearest;
    seen.error = larger(error, fading * seen.error);
    seen.low = seen.count > 0.0 ? smaller(seen.low, outcome) : outcome;
    seen.high = seen.count > 0.0 ? larger(seen.high, outcome) : outcome;
    seen.count = smaller(seen.count + 1.0, 2.0);
}

}  // namespace normalhedge
