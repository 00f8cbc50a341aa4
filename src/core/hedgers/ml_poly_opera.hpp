// ML-Poly as the package opera has it (Gaillard and Goude).
//
//     p_i ∝ [R_i]+ / (B + sum rho_i^2),   B = max_(t, j) rho_(j,t)^2,   rho = r / 2
//
// The total is B. The discount applies to gains, so squares decay twice as fast as regrets.
#pragma once

#include "ml_poly.hpp"

namespace normalhedge::engine {

struct MLPolyOpera : Algorithm<MLPolyOpera, 2, 1> {
    static constexpr bool scale_invariant = true;
    static constexpr bool plain_tangents = true;  // opera's own
    static constexpr bool whole = true;

    using Algorithm::Algorithm;

    void learn(const Columns& before, const Columns& after, const double* rises, double,
               double*) const {
        double widest = 0.0;
#pragma omp simd reduction(max : widest)
        for (size_t i = 0; i < after.n; ++i) widest = larger(widest, std::fabs(rises[i]));
        const double rho = 0.5 * widest;
        learn_squares(before, after, rises, keep * keep);
        after.totals[0] = larger(keep * keep * before.totals[0], rho * rho);
    }

    void weigh(const Columns& now, double, double*) const { match_regrets(now, shift(now)); }

    void score(const Columns& now, const double*, double* scores, double*) const {
        score_matched(now, shift(now), scores);
    }

private:
    // Before the first difference it is zero, and so is every regret: any number serves.
    static double shift(const Columns& now) { return larger(now.totals[0], tiny); }
};

}  // namespace normalhedge::engine
