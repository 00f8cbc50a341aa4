// BOA, Bernstein online aggregation (Wintenberger, 2017).
//
//     p_i ∝ eta_i exp(eta_i sum (rho_i - eta_i rho_i^2)),   eta_i as for ML-Prod,   rho = r / 2
#pragma once

#include "../algorithm.hpp"
#include "ml_prod.hpp"

namespace normalhedge::engine {

struct BOA : Algorithm<BOA, 3, 0> {
    using Algorithm::Algorithm;

    void learn(const Columns& before, const Columns& after, const double* rises, double,
               double*) const {
        const double* old_squares = before.row(1);
        const double* old_priced = before.row(2);
        double* squares = after.row(1);
        double* priced = after.row(2);
        const double log_n = log_experts(after.experts);
#pragma omp simd
        for (size_t i = 0; i < after.n; ++i) {
            const double rho = 0.5 * rises[i];
            const double eta = std::sqrt(log_n / span(log_n, old_squares[i]));
            squares[i] = keep * old_squares[i] + rho * rho;
            priced[i] = keep * old_priced[i] + rho * (1.0 - eta * rho);
        }
    }

    void score(const Columns& now, const double*, double* scores,
               double*) const {
        const double* squares = now.row(1);
        const double* priced = now.row(2);
        const double log_n = log_experts(now.experts);
#pragma omp simd
        for (size_t i = 0; i < now.n; ++i) {
            const double divisor = span(log_n, squares[i]);
            scores[i] = log2_e * (std::sqrt(log_n / divisor) * priced[i] - 0.5 * log(divisor));
        }
    }
};

}  // namespace normalhedge::engine
