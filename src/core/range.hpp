// How the range of losses is learned.
//
// There is one range for each item (a series, a component). It is a power of two, so that changing
// it loses no digits. It starts at twice the median of l_i - l_min in the first row whose experts
// differ. When half of the weight lies beyond it, it doubles, and the regrets are halved, so that
// what was learned keeps its meaning (all that the hedger remembers follows); never more than once
// in a row, and what lies beyond is clipped. So a single wild outcome costs at most one doubling, and
// a wild expert without weight none. When the mean of min(l_i - l_min, s) / s by weight, over some 16
// rows, falls below 1/16 it is halved; the regrets stay, so no weight changes. The first row is
// believed whatever it is: a range that is 10^6 too large is halved away in some 300 rows. Both keep
// what is promised of the regrets, in units of gain, where the hedger goes by a potential of its
// regrets or is free of scale: halving regrets raises no potential, and halving the range leaves
// them alone. Losses at the edge of the range, where pooled gains often lie, and weights of a half are
// what they are up to `tie`: rounding decides nothing.
#pragma once

#include "combining.hpp"

namespace normalhedge {

constexpr double fullest = 2.0;
constexpr double emptiest = 1.0 / 16.0;
constexpr double speed = 1.0 / 16.0;

struct Range {
    double size;    // 0 until it is known
    double filled;  // how far it was filled lately
};

// The smallest power of two that is at least x > 0.
inline double power_of_two_above(double x) {
    int exponent;
    const double mantissa = std::frexp(x, &exponent);
    return std::ldexp(1.0, exponent - (mantissa == 0.5 ? 1 : 0));
}

// Twice the median excess loss of those awake, as a power of two; 0 if all tie. Twice their mean, if
// more than half of them tie with the best.
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
    double middle = Heard(excess, alike.data(), n, room.data()).median();
    if (!(middle > tiny)) middle = total / awake;
    return middle > tiny ? power_of_two_above(fullest * middle) : 0.0;
}

// How the excess losses of a row lie in a range, by weight and by head.
struct Filling {
    double heard;   // the weight awake
    double beyond;  // that of losses beyond the range
    double awake;   // how many are awake
    double far;     // whose losses lie beyond
    double inside;  // the sum of the losses within, by weight
};

NORMALHEDGE_VECTORISED inline Filling filling_of(const double* excess, const double* rated,
                                                 const double* weights, size_t n, double size) {
    double heard = 0.0;
    double beyond = 0.0;
    double awake = 0.0;
    double far = 0.0;
    double inside = 0.0;
    const double edge = size * (1.0 + tie);
#pragma omp simd reduction(+ : heard, beyond, awake, far, inside)
    for (size_t i = 0; i < n; ++i) {
        const double mass = weights[i] * rated[i];
        const double spread = rated[i] > 0.0 ? excess[i] : 0.0;
        heard += mass;
        awake += rated[i] > 0.0 ? 1.0 : 0.0;
        inside += mass * smaller(spread, size);
        far += spread > edge ? 1.0 : 0.0;
        beyond += spread > edge ? mass : 0.0;
    }
    return {heard, beyond, awake, far, inside};
}

// Adapt a range to the excess losses of a row; return whether it doubled.
inline bool learn_range(const double* excess, const double* rated, const double* weights, size_t n,
                        Range& range) {
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
        range.filled += speed * (inside / (heard * size) - range.filled);
        if (range.filled < emptiest && size > 1e-250) range = {0.5 * size, 2.0 * range.filled};
    }
    return false;
}

}  // namespace normalhedge
