// Follow the leader: a yardstick.
#pragma once

#include "../algorithm.hpp"

namespace normalhedge::engine {

struct FollowTheLeader : Algorithm<FollowTheLeader, 1, 0> {
    static constexpr bool scale_invariant = true;
    using Algorithm::Algorithm;

    void weigh(const Columns& now, double, double*) const {
        double* weights = now.weights;
        const double* regrets = now.regrets();
        const double least = leaders_from(regrets, now.n);
#pragma omp simd
        for (size_t i = 0; i < now.n; ++i) weights[i] = regrets[i] >= least ? 1.0 : 0.0;
        normalise(now.weights, now.n);
    }

    void score(const Columns& now, const double*, double* scores,
               double*) const {
        score_leaders(now.regrets(), now.n, scores);
    }
};

}  // namespace normalhedge::engine
