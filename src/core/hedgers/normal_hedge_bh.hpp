// NormalHedge.BH (Freund, Harvey, Portella, Qi and Wang, 2026).
//
//     p_i ∝ [S_i]+ exp([S_i]+^2 / 2t),   t such that mean_i exp([S_i]+^2 / 2t) / sqrt t = 1 / sqrt t_0
//
// with S = R / 2. The potential exp(S^2 / 2t) / sqrt t obeys the backwards heat equation, and its sum
// stays as it was at the start, where t = t_0. The totals are t and the leading regret.
#pragma once

#include "../algorithm.hpp"

namespace normalhedge {

// u with mean exp(u x^2) sqrt u = sqrt u_0, x the positive regrets relative to the leading one: u is the
// exponent of the leader, lead^2 / 2t, and u_0 what it is at t = t_0. `start` is a guess.
//
// The logarithm of the left side is convex in ln u and rises by 1/2 at least, so Newton's method comes
// down to the root from its right, and from its left first jumps across. From u_0 = e^27 it would come
// down by 1 a step; but either u <= 1 or, as the leader alone is 1/N of the mean, u <= ln N + ln(u_0) / 2.
inline double exponent_of_leader(const double* regrets, size_t n, double lead, double most,
                                 double start) {
    const double above_one = std::log(static_cast<double>(n)) + 0.5 * std::log(most);
    const double highest = smaller(most, larger(above_one, 1.0));
    double u = smaller(start > 0.0 ? start : highest, highest);
    for (int step = 0; step < 100; ++step) {
        double mass = 0.0;
        double moment = 0.0;
#pragma omp simd reduction(+ : mass, moment)
        for (size_t i = 0; i < n; ++i) {
            const double x = larger(regrets[i], 0.0) / lead;
            const double phi = exp2(log2_e * u * (x * x - 1.0));
            mass += phi;
            moment += x * x * phi;
        }
        const double above = std::log(mass / static_cast<double>(n)) + u + 0.5 * std::log(u / most);
        const double slope = u * moment / mass + 0.5;
        const double next = smaller(u * std::exp(-above / slope), highest);
        if (std::fabs(next - u) <= 1e-14 * u) return next;
        u = next;
    }
    return u;
}

struct NormalHedgeBH : Algorithm<NormalHedgeBH, 1, 2, 1> {
    double start;  // t_0

    explicit NormalHedgeBH(const double* given) : Algorithm(given), start(given[1]) {}

    void tick(const double* before, double* after) const {
        after[0] = before[0];
        after[1] = before[1];
    }

    void weigh(const Columns& now, double lead, double*) const {
        const double half = 0.5 * lead;
        const double most = 0.5 * half * half / start;  // the exponent of the leader at t_0
        const double guess = now.totals[0] > 0.0 ? 0.5 * half * half / now.totals[0] : 0.0;
        now.totals[1] = lead > tiny ? lead : 0.0;
        // Where the leader is so near that no potential has risen, the time is that at the start.
        const bool risen = lead > tiny && most > 1e-17;
        now.totals[0] =
            risen ? 0.5 * half * half / exponent_of_leader(now.regrets(), now.n, lead, most, guess)
                  : start;
        score(now, nullptr, now.weights, nullptr);
        raise_scores(now.weights, now.n);
    }

    // The time is that of all experts, asleep or not.
    void score(const Columns& now, const double*, double* scores, double*) const {
        const double lead = now.totals[1];
        if (lead <= tiny) {
            fill(scores, now.n, no_score);
            return;
        }
        const double u = 0.125 * lead * lead / now.totals[0];
        const double* regrets = now.regrets();
#pragma omp simd
        for (size_t i = 0; i < now.n; ++i) {
            const double x = regrets[i] / lead;
            const double score = log2_e * (u * (x * x - 1.0) + log(larger(x, tiny)));
            scores[i] = x > tiny ? score : no_score;
        }
    }
};

}  // namespace normalhedge
