// Regret matching plus (Tammelin, 2014).
//
//     p_i ∝ Q_i,   Q_i <- [(1 - alpha) Q_i + r_i]+
#pragma once

#include "../algorithm.hpp"

namespace normalhedge::engine {

struct RegretMatchingPlus : Algorithm<RegretMatchingPlus, 2, 0> {
    static constexpr bool scale_invariant = true;
    using Algorithm::Algorithm;

    void learn(const Columns& before, const Columns& after, const double* rises, double,
               double*) const {
        const double* old = before.row(1);
        double* clipped = after.row(1);
#pragma omp simd
        for (size_t i = 0; i < after.n; ++i) clipped[i] = larger(keep * old[i] + rises[i], 0.0);
    }

    void weigh(const Columns& now, double, double*) const {
        spread_positive(now.row(1), now.n, now.weights);
    }

    void score(const Columns& now, const double*, double* scores,
               double*) const {
        score_positive(now.row(1), now.n, scores);
    }
};

}  // namespace normalhedge::engine
