// NormalHedge.BH (Freund, Harvey, Portella, Qi and Wang, 2026).
//
//     p_i ∝ [S_i]+ exp([S_i]+^2 / 2t),   t such that mean_i exp([S_i]+^2 / 2t) / sqrt t = 1 / sqrt t_0
//
// with S = R / 2. The potential exp(S^2 / 2t) / sqrt t obeys the backwards heat equation, and its sum
// stays as it was at the start, where t = t_0. The totals are t - t_0 and the leading regret.
#pragma once

#include "normal_hedge_2009.hpp"

namespace normalhedge::engine {

// u with mean exp(u x^2) sqrt u = sqrt u_0, x the positive regrets relative to the leading one: u is the
// exponent of the leader, lead^2 / 2t, and u_0 = `most` its value at t = t_0.
//
// The logarithm of the left side is convex in ln u and rises by 1/2 at least, so Newton's method comes
// down to the root from its right, and from its left first jumps across. From u_0 = e^27 it would come
// down by 1 a step; but either u <= 1 or, as the leader alone is 1/N of the mean, u <= ln N + ln(u_0) / 2.
inline double exponent_of_leader(const RelativeRegrets& ahead, size_t n, double most, double guess) {
    const double above_one = std::log(static_cast<double>(n)) + 0.5 * std::log(most);
    const double highest = smaller(most, larger(above_one, 1.0));
    double u = smaller(guess, highest);
    for (int step = 0; step < 100; ++step) {
        const auto [mass, moment] = raised_to(ahead, u);
        const double above = std::log(mass / static_cast<double>(n)) + u + 0.5 * std::log(u / most);
        const double slope = u * moment / mass + 0.5;
        const double next = smaller(u * std::exp(-above / slope), highest);
        if (std::fabs(next - u) <= 1e-14 * u) return next;
        u = next;
    }
    return u;
}

// t / t_0 - 1, which is mean exp(u x^2)^2 - 1, with the digits of a small u kept.
inline double growth_of_time(const RelativeRegrets& ahead, size_t n, double most, double u) {
    if (u > 1.0) return most / u - 1.0;
    const double* all = ahead.x;
    const double rise = sum_of(ahead.count, [&](size_t i) {
        const double x = all[i];
        const double exponent = u * x * x;
        return exponent + excess_of_exp(exponent);
    });
    const double mean = rise / static_cast<double>(n);
    return mean * (2.0 + mean);
}

struct NormalHedgeBH : Algorithm<NormalHedgeBH, 1, 2, 1> {
    static constexpr bool wants_room = true;

    double start;  // t_0

    explicit NormalHedgeBH(const double* parameters) : Algorithm(parameters), start(parameters[1]) {}

    void tick(const double* before, double* after) const {
        after[0] = before[0];
        after[1] = before[1];
    }

    void weigh(const Columns& now, double lead, double* room) const {
        const double exponent = 0.125 * lead * lead;      // of the leader at t = 1
        const double most = exponent / start;             // and at t_0
        const double guess = exponent / (start + now.totals[0]);
        double growth = 0.0;
        if (lead > tiny) {
            const RelativeRegrets ahead = experts_ahead(now.regrets(), now.n, lead, room);
            const double u = most > 1e-17 ? exponent_of_leader(ahead, now.n, most, guess) : most;
            growth = growth_of_time(ahead, now.n, most, u);
        }
        now.totals[0] = start * growth;
        now.totals[1] = lead > tiny ? lead : 0.0;
        score(now, nullptr, now.weights, nullptr);
        raise_scores(now.weights, now.n);
    }

    // The time is the time of all experts, asleep or not.
    void score(const Columns& now, const double*, double* scores, double*) const {
        const double lead = now.totals[1];
        const double u = 0.125 * lead * lead / (start + now.totals[0]);
        score_raised(now.regrets(), now.n, lead, u, scores);
    }
};

}  // namespace normalhedge::engine
