// ML-Poly (Gaillard, Stoltz and van Erven, 2014).
//
//     p_i ∝ [R_i]+ / (1 + sum rho_i^2),   rho = r / 2
#pragma once

#include "../algorithm.hpp"

namespace normalhedge::engine {

// Match regrets at the rates 1 / (shift + sum rho_i^2).
inline void match_regrets(const Columns& now, double shift) {
    double* weights = now.weights;
    const double* regrets = now.regrets();
    const double* squares = now.row(1);
#pragma omp simd
    for (size_t i = 0; i < now.n; ++i)
        weights[i] = larger(regrets[i], 0.0) / (shift + squares[i]);
    normalise(now.weights, now.n);
}

inline void score_matched(const Columns& now, double shift, double* scores) {
    const double* regrets = now.regrets();
    const double* squares = now.row(1);
#pragma omp simd
    for (size_t i = 0; i < now.n; ++i) {
        const double score = log(larger(regrets[i], tiny) / (shift + squares[i])) * log2_e;
        scores[i] = regrets[i] > tiny ? score : no_score;
    }
}

struct MLPoly : Algorithm<MLPoly, 2, 0> {
    using Algorithm::Algorithm;

    void learn(const Columns& before, const Columns& after, const double* rises, double,
               double*) const {
        learn_squares(before, after, rises, keep);
    }

    void weigh(const Columns& now, double, double*) const { match_regrets(now, 1.0); }

    void score(const Columns& now, const double*, double* scores, double*) const {
        score_matched(now, 1.0, scores);
    }
};

}  // namespace normalhedge::engine
