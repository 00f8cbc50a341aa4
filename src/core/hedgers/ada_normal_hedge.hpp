// AdaNormalHedge (Luo and Schapire, 2015).
//
//     p_i ∝ Phi(S_i + 1, C_i + 1) - Phi(S_i - 1, C_i + 1),   Phi(R, C) = exp([R]+^2 / 3C)
//     C_i = sum |rho_i|,   S = R / 2,   rho = r / 2
#pragma once

#include "../algorithm.hpp"

namespace normalhedge::engine {

// The rise from Phi(R - 1, C) to Phi(R + 1, C), as exp(exponent) times a share.
struct PotentialRise {
    double exponent;
    double share;
};

[[gnu::always_inline]] inline PotentialRise potential_rise(double regret, double clock) {
    const double up = larger(regret + 1.0, 0.0);
    const double width = 1.0 / (3.0 * clock);
    const double drop = (regret > 1.0 ? 4.0 * regret : up * up) * width;
    const double share = one_less_exp(drop);
    return {up * up * width, share};
}

[[gnu::always_inline]] inline double score_of_rise(double regret, double clock) {
    const PotentialRise rise = potential_rise(regret, clock);
    const double score = log2_e * (rise.exponent + log(larger(rise.share, tiny)));
    return rise.share > tiny ? score : no_score;
}

struct AdaNormalHedge : Algorithm<AdaNormalHedge, 2, 0> {
    using Algorithm::Algorithm;

    void learn(const Columns& before, const Columns& after, const double* rises, double,
               double*) const {
        const double* old = before.row(1);
        double* clocks = after.row(1);
#pragma omp simd
        for (size_t i = 0; i < after.n; ++i)
            clocks[i] = keep * old[i] + 0.5 * std::fabs(rises[i]);
    }

    void weigh(const Columns& now, double, double*) const {
        double* weights = now.weights;
        const double* regrets = now.regrets();
        const double* clocks = now.row(1);
        double top = -infinity;
#pragma omp simd reduction(max : top)
        for (size_t i = 0; i < now.n; ++i) {
            const double up = larger(0.5 * regrets[i] + 1.0, 0.0);
            top = larger(top, up * up * (1.0 / (3.0 * (clocks[i] + 1.0))));
        }
#pragma omp simd
        for (size_t i = 0; i < now.n; ++i) {
            const PotentialRise rise = potential_rise(0.5 * regrets[i], clocks[i] + 1.0);
            weights[i] = rise.share * exp2(-log2_e * larger(top - rise.exponent, 0.0));
        }
        normalise(now.weights, now.n);
    }

    void score(const Columns& now, const double*, double* scores,
               double*) const {
        const double* regrets = now.regrets();
        const double* clocks = now.row(1);
#pragma omp simd
        for (size_t i = 0; i < now.n; ++i)
            scores[i] = score_of_rise(0.5 * regrets[i], clocks[i] + 1.0);
    }
};

}  // namespace normalhedge::engine
