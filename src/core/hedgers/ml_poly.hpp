// ML-Poly (Gaillard, Stoltz and van Erven, 2014).
//
//     p_i ∝ [R_i]+ / (1 + sum rho_i^2),   rho = r / 2
#pragma once

#include "../algorithm.hpp"

namespace normalhedge {

struct MLPoly : Algorithm<MLPoly, 2, 0> {
    using Algorithm::Algorithm;

    void learn(const Columns& before, const Columns& after, const double* rises, double,
               double*) const {
        learn_squares(before, after, rises, keep);
    }

    void weigh(const Columns& now, double, double*) const {
        double* weights = now.weights;
        const double* regrets = now.regrets();
        const double* squares = now.row(1);
#pragma omp simd
        for (size_t i = 0; i < now.n; ++i)
            weights[i] = larger(regrets[i], 0.0) / (1.0 + squares[i]);
        normalise(now.weights, now.n);
    }

    void score(const Columns& now, const double*, double* scores,
               double*) const {
        const double* regrets = now.regrets();
        const double* squares = now.row(1);
#pragma omp simd
        for (size_t i = 0; i < now.n; ++i) {
            const double score = log(larger(regrets[i], tiny) / (1.0 + squares[i])) * log2_e;
            scores[i] = regrets[i] > tiny ? score : no_score;
        }
    }
};

}  // namespace normalhedge
