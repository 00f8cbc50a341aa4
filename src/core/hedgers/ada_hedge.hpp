// AdaHedge (de Rooij, van Erven, Grünwald and Koolen, 2014).
//
//     p_i ∝ exp(eta R_i),   eta = ln N / Delta
//     Delta <- (1 - alpha) Delta + delta,   delta = ln(sum_i p_i exp(eta r_i)) / eta
//
// The total is Delta. While it is zero the leader is followed.
#pragma once

#include "../algorithm.hpp"

namespace normalhedge::engine {

// The mixability gap delta of a round, at the rate eta.
//
// `before` holds the regrets before the round; p are the weights of these, decayed, at the rate eta.
inline double mixability_gap(const Columns& before, const double* rises, double keep, double eta) {
    const size_t n = before.n;
    const double* regrets = before.regrets();
    const double* weights = before.weights;
    double widest = 0.0;
#pragma omp simd reduction(max : widest)
    for (size_t i = 0; i < n; ++i) widest = larger(widest, std::fabs(rises[i]));
    if (eta * widest <= 1.0) {
        // As sum_i p_i r_i = 0, only the excess over the tangent counts.
        const double above = sum_of(n, [&](size_t i) { return weights[i] * excess_of_exp(eta * rises[i]); });
        return std::log1p(above) / eta;
    }
    const double slope = eta * log2_e;
    const double lead = leading(regrets, n);
    double after = -infinity;
#pragma omp simd reduction(max : after)
    for (size_t i = 0; i < n; ++i)
        after = larger(after, slope * (keep * (regrets[i] - lead) + rises[i]));
    const auto [old_mass, new_mass] = add_up<2>(n, [&](size_t i, double& old, double& new_) {
        const double decayed = keep * (regrets[i] - lead);
        old += exp2(slope * decayed);
        // Fused, the same sum may come out an ulp above `after` or below it, and an ulp of 1e40 is
        // not nothing: who is ahead counts as one, whatever the rounding.
        new_ += exp2(-larger(after - slope * (decayed + rises[i]), 0.0));
    });
    return larger((after / log2_e + std::log(larger(new_mass, 1.0) / old_mass)) / eta, 0.0);
}

// How much the leading regret rises in a round: the gap at an infinite rate.
inline double leaders_rise(const Columns& before, const double* rises, double keep) {
    const double* regrets = before.regrets();
    double after = -infinity;
#pragma omp simd reduction(max : after)
    for (size_t i = 0; i < before.n; ++i) after = larger(after, keep * regrets[i] + rises[i]);
    return larger(after - keep * leading(regrets, before.n), 0.0);
}

struct AdaHedge : Algorithm<AdaHedge, 1, 1> {
    static constexpr bool scale_invariant = true;
    static constexpr bool whole = true;

    using Algorithm::Algorithm;

    void learn(const Columns& before, const Columns& after, const double* rises, double,
               double*) const {
        const double gap = keep * before.totals[0];
        if (gap <= tiny) {
            after.totals[0] = leaders_rise(before, rises, keep);
        } else {
            const double eta = log_experts(before.experts) / gap;
            after.totals[0] = gap + mixability_gap(before, rises, keep, eta);
        }
    }

    void score(const Columns& now, const double* confidence, double* scores,
               double*) const {
        if (now.totals[0] <= tiny) {
            score_leaders(now.regrets(), now.n, scores);
        } else {
            const double eta = log_experts(now.experts) / now.totals[0];
            score_exponential(now.regrets(), confidence, now.n, eta, scores);
        }
    }
};

}  // namespace normalhedge::engine
