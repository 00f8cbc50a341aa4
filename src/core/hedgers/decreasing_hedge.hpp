// Hedge with a decreasing learning rate (Auer, Cesa-Bianchi and Gentile, 2002).
//
//     p_i ∝ exp(eta R_i),   eta = (1 - alpha) sqrt(ln N / (1 + (1 - alpha)^2 t))
//
// where t, the only total, is the discounted time.
#pragma once

#include "../algorithm.hpp"

namespace normalhedge::engine {

struct DecreasingHedge : Algorithm<DecreasingHedge, 1, 1> {
    using Algorithm::Algorithm;

    void tick(const double* before, double* after) const {
        after[0] = keep * keep * before[0] + 1.0;
    }

    void score(const Columns& now, const double* confidence, double* scores,
               double*) const {
        const double time = keep * keep * now.totals[0] + 1.0;
        const double rate = keep * std::sqrt(log_experts(now.experts) / time);
        score_exponential(now.regrets(), confidence, now.n, rate, scores);
    }
};

}  // namespace normalhedge::engine
