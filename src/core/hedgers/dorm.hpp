// Delayed optimistic regret matching (Flaspohler et al., 2021).
//
//     p_i ∝ [R_i + h_i]+,   h = the hint (D + 1) r, r of the last outcome
//
// The rows after the regret are R + h, now and before each of the last D outcomes.
#pragma once

#include "late.hpp"

namespace normalhedge::engine {

struct DORM : Late<DORM, 2, 0> {
    using Late::Late;

    void learn(const Columns& before, const Columns& after, const double* rises, double,
               double*) const {
        age(before, after);
        add_hint(before, after, rises);
    }

    void weigh(const Columns& now, double, double*) const {
        spread_positive(now.row(1), now.n, now.weights);
    }

    void score(const Columns& now, const double*, double* scores, double*) const {
        score_positive(now.row(1), now.n, scores);
    }
};

}  // namespace normalhedge::engine
