// The range of losses: the difference of losses between the gains -1 and 1. It is learned.
//
// There is one range for each item (a series, a component). It is a power of two, so that changing it loses
// no digits. A row has a demand on its range (`gains.hpp`). A row that demands more is clipped at the
// range so far, and then the range grows to the next power of two that is wide enough. All regrets shrink in
// proportion, which raises no potential. So a gain, or a loss that weighs, is clipped in the round in which it
// first occurs and no longer, and all that takes together is at most the last range. The losses of an expert
// without weight may be clipped for longer: it then seems better than it is, which breaks no promise. If the
// weights do not depend on the unit of the regrets, the range grows first.
//
// The range is halved when a quarter of it has been enough for long, some four times the memory of the
// hedger. The regrets stay as they are, in a smaller unit, and no weight changes.
#pragma once

#include "combining.hpp"

namespace normalhedge::mixtures {

// A range is halved when `filled` has faded to this.
constexpr double emptiest = 0.25;

constexpr double least_range = 1e-250;

// The share of the range that clipping may take in a round without a discount: rounding leaves a hopeless
// expert as much weight.
constexpr double least_share = 1e-6;

struct Range {
    double size;    // 0 until it is known
    double filled;  // 1 when more than a quarter was needed, fading since
};

// The smallest power of two that is at least x > 0.
inline double power_of_two_above(double x) {
    int exponent;
    const double mantissa = std::frexp(x, &exponent);
    return std::ldexp(1.0, exponent - (mantissa == 0.5 ? 1 : 0));
}

// The demand of a row on a range.
struct Demand {
    const double* costs;
    const double* rated;
    const double* weights;
    size_t n;
    double least;  // the range that clips no gain
    double edge;   // the cost at which a range of one clips: 1/2 with the gradient trick, 1 without
    double share;  // of the range, that clipping may take in a round
    double heard;  // the weight awake; 0 if no expert awake has any, and all count alike
    double most;   // the largest cost, and at least 0

    // Whether a range is wide enough.
    NORMALHEDGE_VECTORISED bool met_by(double size) const {
        if (least > size * (1.0 + tie)) return false;
        const double limit = edge * size * (1.0 + tie);
        if (most <= limit) return true;  // nothing is clipped
        const double* cost = costs;
        const double* rate = rated;
        const double* weight = weights;
        const double even = heard > tiny ? 0.0 : 1.0;
        const auto [beyond, mass] = add_up<2>(n, [&](size_t i, double& excess, double& total) {
            const double own = rate[i] * (weight[i] + even);
            total += own;
            excess += own * larger(cost[i] - limit, 0.0);
        });
        return beyond <= share * size * mass;
    }

    // Twice the median cost of the experts awake, or twice the mean if more than half of them have none.
    double usual() const {
        Scratch room(3 * n);
        double* sizes = room.data() + 2 * n;
        double awake = 0.0;
        double total = 0.0;
        for (size_t i = 0; i < n; ++i) {
            sizes[i] = std::fabs(costs[i]) / edge;
            awake += rated[i] > 0.0 ? 1.0 : 0.0;
            total += rated[i] > 0.0 ? sizes[i] : 0.0;
        }
        double middle = SortedForecasts(sizes, rated, n, room.data()).median();
        if (!(middle > tiny)) middle = total / awake;
        return middle > tiny ? power_of_two_above(2.0 * middle) : 0.0;
    }

    // The least power of two that is wide enough, and no less than `size`; 0 if all tie.
    double widest(double size) const {
        double largest = larger(least, size);
        for (size_t i = 0; i < n; ++i)
            largest = larger(largest, rated[i] > 0.0 ? std::fabs(costs[i]) / edge : 0.0);
        if (!(largest > tiny)) return 0.0;
        double wide = power_of_two_above(largest);
        while (0.5 * wide >= larger(size, least_range) && met_by(0.5 * wide)) wide *= 0.5;
        return wide;
    }
};

// A range that is learned, in a round: it grows before the gains are made of it, or after it.
struct RangeUpdate {
    Range& range;
    const Demand& demand;
    bool met;
    int before = 0;  // how many times it doubled before the round

    RangeUpdate(Range& own, const Demand& row, bool first, bool known) : range(own), demand(row), met(known) {
        if (known) return;
        if (own.size == 0.0 && !first) own = {row.usual(), 1.0};
        met = own.size > 0.0 && row.met_by(own.size);
        if (!met && first) before = widen();
    }

    // Grow; return how many times the range doubled.
    int widen() {
        met = true;
        const double size = range.size;
        range = {demand.widest(size), 1.0};
        return size > 0.0 ? std::ilogb(range.size) - std::ilogb(size) : 0;
    }

    // After the round: grow, or halve a range that no row has needed a quarter of for long; return how many
    // times it doubled.
    int finish(double pace) {
        if (range.size == 0.0) return 0;  // all tie
        if (!met) return widen();
        if (!demand.met_by(0.25 * range.size))
            range.filled = 1.0;
        else if (!demand.met_by(0.0))  // where all tie, nothing is learned of the range
            range.filled *= 1.0 - pace;
        if (range.filled < emptiest && range.size > least_range) range = {0.5 * range.size, 0.5};
        return 0;
    }
};

}  // namespace normalhedge::mixtures
