// Regret matching (Hart and Mas-Colell, 2000).
//
//     p_i ∝ [R_i]+
#pragma once

#include "../algorithm.hpp"

namespace normalhedge::engine {

struct RegretMatching : Algorithm<RegretMatching, 1, 0> {
    static constexpr bool scale_invariant = true;
    using Algorithm::Algorithm;

    void weigh(const Columns& now, double, double*) const {
        spread_positive(now.regrets(), now.n, now.weights);
    }

    void score(const Columns& now, const double*, double* scores,
               double*) const {
        score_positive(now.regrets(), now.n, scores);
    }
};

}  // namespace normalhedge::engine
