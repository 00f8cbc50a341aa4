// A guard against absurd forecasts: it clips a forecast to within 10 median deviations of the median.
//
// In a row let m be the median of the forecasts, d the median of |x_i - m|, and e the recent error of the
// median: e <- max(|y - m|, 0.99 e) when an outcome is known. Then
//
//     x_i -> clip(x_i, m - t, m + t),    t = max(10 d, 6 e)
//
// so that a forecast moves the blend no more than one could that lies ten times as far from the others as they
// do, or six times as far as an outcome did. There is no scale to set; a jump of the outcomes opens the guard
// for the jumps that follow. Before the first outcome 10 d is 100 d: three forecasts are easily ten times as
// near to each other by chance.
//
// With two forecasts the median is not robust: either of them moves it. Of two, one is absurd if it lies outside
// the range of past outcomes by more than the width of this range and 6 e (here the distance of an outcome to the
// nearer forecast), and the other does not. After ten outcomes it is clipped to within 6 e of the other. A single
// forecast is not clipped.
#pragma once

#include <algorithm>

#include "combining.hpp"

namespace normalhedge::mixtures {

// The memory of the guard for an item.
struct Seen {
    double error;  // e
    double low;    // the least and the largest outcome
    double high;
    double count;  // of outcomes, up to `enough`
};

// Forecasts that differ by less than this, relative to the largest of the experts, tie.
constexpr double alike = 1e-13;

constexpr double wide_spread = 10.0;
constexpr double unseen_spread = 100.0;  // before the first outcome
constexpr double wide_error = 6.0;
constexpr double fading = 0.99;
constexpr double enough = 10.0;

// Location and spread of the forecasts of the experts awake.
struct Spread {
    size_t awake;
    double middle;  // the median
    double spread;  // the median absolute deviation
};

// `rated` is positive for experts awake, `room` is for n doubles.
inline Spread spread_of(const double* forecasts, const double* rated, size_t n, double* room) {
    size_t awake = 0;
    for (size_t i = 0; i < n; ++i)
        if (rated[i] > 0.0) room[awake++] = forecasts[i];
    if (awake == 0) return {0, not_a_number, 0.0};
    const double middle = median_of(room, awake);
    if (awake < 3) return {awake, middle, 0.0};
    for (size_t i = 0; i < awake; ++i) room[i] = std::fabs(room[i] - middle);
    return {awake, middle, median_of(room, awake)};
}

// The same where the order of the experts awake is known: the deviations rise on either side of the median.
inline Spread spread_in_order(const double* x, const std::uint32_t* order, size_t awake) {
    if (awake == 0) return {0, not_a_number, 0.0};
    const size_t half = awake / 2;
    const double above = x[order[half]];
    const double below = awake % 2 ? above : x[order[half - 1]];
    const double middle = awake % 2 ? above : below + 0.5 * (above - below);
    if (awake < 3) return {awake, middle, 0.0};
    size_t left = half;  // from here on downwards, and from `right` on upwards, deviations are not counted yet
    size_t right = half;
    double deviation = 0.0;
    double before = 0.0;
    for (size_t counted = 0; counted <= half; ++counted) {
        const double down = left > 0 ? std::fabs(x[order[left - 1]] - middle) : infinity;
        const double up = right < awake ? std::fabs(x[order[right]] - middle) : infinity;
        before = deviation;
        deviation = smaller(down, up);
        left -= down < up ? 1 : 0;
        right += down < up ? 0 : 1;
    }
    return {awake, middle, awake % 2 ? deviation : before + 0.5 * (deviation - before)};
}

// The limits between which forecasts are not clipped.
struct Gate {
    double low = -infinity;
    double high = infinity;

    bool lets(double x) const { return !(x < low) && !(x > high); }

    // Whether a forecast of an expert awake is beyond the limits.
    bool stops(const double* x, const double* rated, size_t n) const {
        size_t stopped = 0;
        for (size_t i = 0; i < n; ++i) stopped += (rated[i] > 0.0) & ((x[i] < low) | (x[i] > high)) ? 1 : 0;
        return stopped > 0;
    }
};

inline Gate gate_of(const double* forecasts, const double* rated, size_t n, const Spread& spread,
                    const Seen& seen) {
    Gate gate;
    if (spread.awake > 2) {
        const double wide = seen.count > 0.0 ? wide_spread : unseen_spread;
        const double limit = larger(wide * spread.spread, wide_error * seen.error);
        if (limit > 0.0)
            gate = {spread.middle - limit, spread.middle + limit};
        else if (seen.count >= enough)  // all agreed so far, and were right: no spread to scale by
            gate = {smaller(seen.low, spread.middle), larger(seen.high, spread.middle)};
    } else if (spread.awake == 2 && seen.count >= enough && seen.high > seen.low) {
        const double margin = seen.high - seen.low + wide_error * seen.error;
        const Gate wide{seen.low - margin, seen.high + margin};
        size_t outside = 0;
        double sane = not_a_number;
        for (size_t i = 0; i < n; ++i) {
            if (!(rated[i] > 0.0)) continue;
            if (wide.lets(forecasts[i]))
                sane = forecasts[i];
            else
                ++outside;
        }
        const double limit = wide_error * seen.error;
        if (outside == 1) gate = {sane - limit, sane + limit};
    }
    return gate;
}

// The least that a forecast may be corrected to: targets that were never negative stay so, unless a forecast is
// negative.
inline double least_of(const Forecasts& forecasts, const double* rated, const Seen& seen) {
    if (seen.count > 0.0 && seen.low < 0.0) return -infinity;
    const double* x = forecasts.of_class(0);
    for (size_t i = 0; i < forecasts.n; ++i)
        if (rated[i] > 0.0 && x[i] < 0.0) return -infinity;
    return 0.0;
}

// Update the memory with an outcome.
inline void see(const double* forecasts, const double* rated, size_t n, const Spread& spread,
                double outcome, Seen& seen) {
    if (spread.awake == 0) return;
    double error = spread.awake < 3 ? infinity : std::fabs(outcome - spread.middle);
    for (size_t i = 0; spread.awake < 3 && i < n; ++i)
        if (rated[i] > 0.0) error = smaller(error, std::fabs(forecasts[i] - outcome));
    seen.error = larger(error, fading * seen.error);
    seen.low = seen.count > 0.0 ? smaller(seen.low, outcome) : outcome;
    seen.high = seen.count > 0.0 ? larger(seen.high, outcome) : outcome;
    seen.count = smaller(seen.count + 1.0, enough);
}

}  // namespace normalhedge::mixtures
