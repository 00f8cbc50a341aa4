// Optimistic Hedge (Rakhlin and Sridharan, 2013).
//
//     p_i ∝ exp(eta ((1 - alpha) R_i + r_i))      r of the last round, as a guess of the next
//
// The total is the discounted sum of max_ij ((r_i - r_i') - (r_j - r_j'))^2, r' of the round before.
#pragma once

#include "../algorithm.hpp"

namespace normalhedge::engine {

struct OptimisticHedge : Algorithm<OptimisticHedge, 2, 1, 1> {
    static constexpr bool whole = true;

    double eta;

    explicit OptimisticHedge(const double* parameters) : Algorithm(parameters), eta(parameters[1]) {}

    void learn(const Columns& before, const Columns& after, const double* rises, double,
               double*) const {
        const double* old = before.row(1);
        double* last = after.row(1);
        double up = -infinity;
        double down = -infinity;
#pragma omp simd reduction(max : up, down)
        for (size_t i = 0; i < after.n; ++i) {
            up = larger(up, rises[i] - old[i]);
            down = larger(down, old[i] - rises[i]);
            last[i] = rises[i];
        }
        after.totals[0] = keep * keep * before.totals[0] + (up + down) * (up + down);
    }

    void score(const Columns& now, const double* confidence, double* scores,
               double*) const {
        const double* regrets = now.regrets();
        const double* last = now.row(1);
        const double kept = keep;
#pragma omp simd
        for (size_t i = 0; i < now.n; ++i) scores[i] = kept * regrets[i] + last[i];
        const double top = leading(scores, confidence, now.n);
        const double slope = log2_e * eta;
#pragma omp simd
        for (size_t i = 0; i < now.n; ++i) scores[i] = slope * (scores[i] - top);
    }
};

}  // namespace normalhedge::engine
