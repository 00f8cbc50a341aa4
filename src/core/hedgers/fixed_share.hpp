// Fixed Share (Herbster and Warmuth, 1998).
//
//     v_i ∝ w_i exp(eta r_i),   w_i <- (1 - s) v_i + s / N
#pragma once

#include "../algorithm.hpp"

namespace normalhedge::engine {

// Write v up to a factor, w 2^(slope (r - max r)); return the sum.
inline double grow(const Columns& before, const Columns& after, const double* rises, double slope) {
    const double* old = before.weights;
    double* weights = after.weights;
    const double top = leading(rises, after.n);
    return sum_of(after.n, [&](size_t i) { return weights[i] = old[i] * exp2(slope * (rises[i] - top)); });
}

// The base of Fixed Share and Variable Share: the weights are the memory, and only need to be normalised.
template <class Own>
struct Sharing : Algorithm<Own, 1, 0, 2> {
    static constexpr bool whole = true;

    double eta;

    explicit Sharing(const double* parameters) : Algorithm<Own, 1, 0, 2>(parameters), eta(parameters[1]) {}

    void weigh(const Columns& now, double, double*) const {
        normalise(now.weights, now.n);
    }

    void score(const Columns& now, const double*, double* scores, double*) const {
        score_positive(now.weights, now.n, scores);
    }
};

struct FixedShare : Sharing<FixedShare> {
    double share;

    explicit FixedShare(const double* parameters) : Sharing(parameters), share(parameters[2]) {}

    void learn(const Columns& before, const Columns& after, const double* rises, double,
               double*) const {
        const double total = grow(before, after, rises, log2_e * eta);
        double* weights = after.weights;
        const double kept = total > tiny ? (1.0 - share) / total : 0.0;
        const double even = (total > tiny ? share : 1.0) / static_cast<double>(after.n);
#pragma omp simd
        for (size_t i = 0; i < after.n; ++i) weights[i] = kept * weights[i] + even;
    }
};

}  // namespace normalhedge::engine
