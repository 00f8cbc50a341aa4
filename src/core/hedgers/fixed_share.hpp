// Fixed Share (Herbster and Warmuth, 1998).
//
//     v_i ∝ w_i exp(eta r_i),   w_i <- (1 - s) v_i + s / N
//
// Weights are what is remembered.
#pragma once

#include "../algorithm.hpp"

namespace normalhedge {

// Write v, ∝ w 2^(slope r).
inline void grow(const Columns& before, const Columns& after, const double* rises, double slope) {
    const double top = leading(rises, after.n);
#pragma omp simd
    for (size_t i = 0; i < after.n; ++i)
        after.weights[i] = before.weights[i] * exp2(slope * (rises[i] - top));
    normalise(after.weights, after.n);
}

struct FixedShare : Algorithm<FixedShare, 1, 0, 2> {
    static constexpr bool whole = true;

    double eta;
    double share;

    explicit FixedShare(const double* given) : Algorithm(given), eta(given[1]), share(given[2]) {}

    void learn(const Columns& before, const Columns& after, const double* rises, double,
               double*) const {
        grow(before, after, rises, log2_e * eta);
        const double even = share / static_cast<double>(after.n);
#pragma omp simd
        for (size_t i = 0; i < after.n; ++i)
            after.weights[i] = (1.0 - share) * after.weights[i] + even;
    }

    void weigh(const Columns& now, double, double*) const {
        normalise(now.weights, now.n);
    }

    void score(const Columns& now, const double*, double* scores,
               double*) const {
        score_positive(now.weights, now.n, scores);
    }
};

}  // namespace normalhedge
