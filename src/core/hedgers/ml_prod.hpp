// ML-Prod (Gaillard, Stoltz and van Erven, 2014).
//
//     eta_i = sqrt(ln N / max(1 + V_i, 4 ln N)),   V_i = sum rho_i^2,   rho = r / 2
//     ln w_i <- (eta_i' / eta_i) (ln w_i + ln(1 + eta_i rho_i)),   p_i ∝ eta_i w_i
//
// where eta_i' is the rate after the round.
#pragma once

#include "../algorithm.hpp"

namespace normalhedge::engine {

// The divisor of ln N in the square of the learning rate.
[[gnu::always_inline]] inline double span(double log_n, double squares) { return larger(1.0 + squares, 4.0 * log_n); }

struct MLProd : Algorithm<MLProd, 3, 0> {
    using Algorithm::Algorithm;

    void learn(const Columns& before, const Columns& after, const double* rises, double,
               double*) const {
        const double* old_squares = before.row(1);
        const double* old_logs = before.row(2);
        double* squares = after.row(1);
        double* logs = after.row(2);
        const double log_n = log_experts(after.experts);
#pragma omp simd
        for (size_t i = 0; i < after.n; ++i) {
            const double rho = 0.5 * rises[i];
            const double wide = span(log_n, old_squares[i]);
            const double sum = keep * old_squares[i] + rho * rho;
            const double growth = log1p(std::sqrt(log_n / wide) * rho);
            const double grown = keep * old_logs[i] + growth;
            squares[i] = sum;
            logs[i] = std::sqrt(wide / span(log_n, sum)) * grown;
        }
    }

    void score(const Columns& now, const double*, double* scores,
               double*) const {
        const double* squares = now.row(1);
        const double* logs = now.row(2);
        const double log_n = log_experts(now.experts);
#pragma omp simd
        for (size_t i = 0; i < now.n; ++i)
            scores[i] = log2_e * (logs[i] - 0.5 * log(span(log_n, squares[i])));
    }
};

}  // namespace normalhedge::engine
