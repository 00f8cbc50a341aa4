// Observations of a hidden Markov model, and the parts that all families of emissions share.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "numbers.hpp"
#include "sums.hpp"

namespace normalhedge::latent {

using std::size_t;

// An observation, and the one before it (none at the start).
struct Observation {
    const double* y;
    const double* previous;
};

// Limits that keep parameters from degenerating.
struct Guards {
    double floor;         // the least variance, or the least rate of counts
    double pseudo_count;  // added to the expected number of each symbol
    double degrees;       // of freedom, of Student's t; 0 where they are estimated
};

// One state's parameters: every row's entry for it.
struct Parameters {
    double* data;
    size_t states;
    size_t state;

    double& operator[](size_t row) const { return data[row * states + state]; }
};

struct Moments {
    double mean, variance;
};

// One state's share in each observation.
struct Shares {
    const double* data;
    size_t states;
    size_t state;

    double operator[](size_t t) const { return data[t * states + state]; }
};

struct Series {
    const double* data;
    size_t rounds;
    size_t columns;

    Observation operator[](size_t t) const {
        return {data + t * columns, t ? data + (t - 1) * columns : nullptr};
    }
};

constexpr double log_two_pi = 1.8378770664093453;

// ln Gamma(x) for x >= 0: Stirling's series above 10, and below by x Gamma(x) = Gamma(x + 1). Of numbers below zero
// it is NaN: the recurrence would take as many steps as they are large.
// std::lgamma writes the global signgam: not thread safe.
inline double log_gamma(double x) {
    if (x < 0.0) return not_a_number;
    double product = 1.0;
    for (; x < 10.0; x += 1.0) product *= x;
    const double i = 1.0 / x;
    const double ii = i * i;
    const double series =
        i * (1.0 / 12 - ii * (1.0 / 360 - ii * (1.0 / 1260 - ii * (1.0 / 1680 -
            ii * (1.0 / 1188 - ii * 691.0 / 360360)))));
    return (x - 0.5) * std::log(x) - x + 0.5 * log_two_pi + series - std::log(product);
}

// ln y! of a whole number, from a table while it is small.
inline double log_factorial(double y) {
    static const std::vector<double> table = [] {
        std::vector<double> logs(512);
        for (size_t n = 0; n < logs.size(); ++n) logs[n] = log_gamma(static_cast<double>(n) + 1.0);
        return logs;
    }();
    return y < 512.0 ? table[static_cast<size_t>(y)] : log_gamma(y + 1.0);
}

// A better point within `width` of x, or x itself, so that a step of EM never lowers the likelihood: Brent's
// method, by parabolas through the best three points, and by golden sections where they fail.
template <class Value>
double best_near(double x, double width, double low, double high, const Value& value) {
    constexpr double golden = 0.3819660112501051, close = 2e-3;
    double a = larger(low, x - width), b = smaller(high, x + width);
    double best = x, second = x, third = x;
    double at_best = value(x), at_second = at_best, at_third = at_best;
    double step = 0.0, before = 0.0;
    for (int i = 0; i < 14; ++i) {
        const double middle = 0.5 * (a + b);
        if (std::abs(best - middle) <= 2.0 * close - 0.5 * (b - a)) break;
        bool parabola = false;
        if (std::abs(before) > close) {
            const double r = (best - second) * (at_best - at_third);
            double q = (best - third) * (at_best - at_second);
            double p = (best - third) * q - (best - second) * r;
            q = 2.0 * (q - r);
            if (q > 0.0) p = -p;
            q = std::abs(q);
            parabola = std::abs(p) < std::abs(0.5 * q * before) && p > q * (a - best) &&
                       p < q * (b - best);
            before = step;
            if (parabola) step = p / q;
        }
        if (!parabola) {
            before = (best < middle ? b : a) - best;
            step = golden * before;
        }
        const double least = step < 0.0 ? -close : close;
        const double next =
            within(best + (std::abs(step) >= close ? step : least), a, b);
        const double at_next = value(next);
        if (at_next >= at_best) {
            (next < best ? b : a) = best;
            third = second, at_third = at_second;
            second = best, at_second = at_best;
            best = next, at_best = at_next;
        } else {
            (next < best ? a : b) = next;
            if (at_next >= at_second || second == best) {
                third = second, at_third = at_second;
                second = next, at_second = at_next;
            } else if (at_next >= at_third || third == best || third == second) {
                third = next, at_third = at_next;
            }
        }
    }
    return best;
}

inline bool all_known(const double* y, size_t columns) {
    for (size_t c = 0; c < columns; ++c)
        if (y[c] != y[c]) return false;
    return true;
}

// Families with sufficient statistics: there is nothing to refine.
struct ByStatistics {
    static constexpr bool searches = false;
    static constexpr bool one_column = true;  // whether an observation is a single number

    size_t columns;
    Guards guards;

    bool known(Observation seen) const { return all_known(seen.y, columns); }
    void refine(const Series&, const Shares&, const Parameters&) const {}
};

}  // namespace normalhedge::latent
