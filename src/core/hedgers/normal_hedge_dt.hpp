// NormalHedge.DT (Luo and Schapire, 2014): as AdaNormalHedge, with the time played for all clocks.
#pragma once

#include "../algorithm.hpp"
#include "ada_normal_hedge.hpp"

namespace normalhedge::engine {

struct NormalHedgeDT : Algorithm<NormalHedgeDT, 1, 1> {
    using Algorithm::Algorithm;

    void tick(const double* before, double* after) const { after[0] = keep * before[0] + 1.0; }

    void weigh(const Columns& now, double lead, double*) const {
        double* weights = now.weights;
        const double* regrets = now.regrets();
        const double clock = keep * now.totals[0] + 1.0;
        const double top = potential_rise(0.5 * lead, clock).exponent;
#pragma omp simd
        for (size_t i = 0; i < now.n; ++i) {
            const PotentialRise rise = potential_rise(0.5 * regrets[i], clock);
            weights[i] = rise.share * exp2(-log2_e * larger(top - rise.exponent, 0.0));
        }
        normalise(now.weights, now.n);
    }

    void score(const Columns& now, const double*, double* scores,
               double*) const {
        const double* regrets = now.regrets();
        const double clock = keep * now.totals[0] + 1.0;
#pragma omp simd
        for (size_t i = 0; i < now.n; ++i) scores[i] = score_of_rise(0.5 * regrets[i], clock);
    }
};

}  // namespace normalhedge::engine
