// Delayed optimistic regret matching plus (Flaspohler et al., 2021).
//
//     p_i ∝ Q_i,   Q_i <- [(1 - alpha) (Q_i - h_i) + r_i + h_i']+,   h' = the hint (D + 1) r, h that before
//
// The rows after the regret are Q, now and before each of the last D outcomes, and the last r.
#pragma once

#include "late.hpp"

namespace normalhedge::engine {

struct DORMPlus : Late<DORMPlus, 3, 0> {
    using Late::Late;

    void learn(const Columns& before, const Columns& after, const double* rises, double,
               double*) const {
        age(before, after);
        const double* old = before.row(1);
        double* clipped = after.row(1);
        const double* before_that = before.row(delay + 2);
        double* last = after.row(delay + 2);
        const double kept = keep;
        const double more = repeats;
#pragma omp simd
        for (size_t i = 0; i < after.n; ++i) {
            const double hint = more * (rises[i] - kept * before_that[i]);
            clipped[i] = larger(kept * old[i] + rises[i] + hint, 0.0);
            last[i] = rises[i];
        }
    }

    void weigh(const Columns& now, double, double*) const {
        spread_positive(now.row(1), now.n, now.weights);
    }

    void score(const Columns& now, const double*, double* scores, double*) const {
        score_positive(now.row(1), now.n, scores);
    }
};

}  // namespace normalhedge::engine
