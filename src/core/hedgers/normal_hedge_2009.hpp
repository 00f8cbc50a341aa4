// NormalHedge without a parameter (Chaudhuri, Freund and Hsu, 2009).
//
//     p_i ∝ [R_i]+ exp([R_i]+^2 / 2c),   c such that mean_i exp([R_i]+^2 / 2c) = e
//
// The totals are z, the exponent of the leader, and the leading regret: 2c = lead^2 / z.
#pragma once

#include "../algorithm.hpp"

namespace normalhedge::engine {

// The experts ahead, in their order: their regrets relative to the leading one. The others are counted.
struct RelativeRegrets {
    const double* x;
    size_t count;
    double behind;
};

// The choice is a sum, not a branch that would often be mispredicted. `room` is for n doubles.
inline RelativeRegrets experts_ahead(const double* regrets, size_t n, double lead, double* room) {
    size_t count = 0;
    for (size_t i = 0; i < n; ++i) {
        room[count] = regrets[i];
        count += regrets[i] > 0.0;
    }
#pragma omp simd
    for (size_t i = 0; i < count; ++i) room[i] /= lead;
    return {room, count, static_cast<double>(n - count)};
}

// Sums over the experts of exp(z (x^2 - 1)) and of x^2 times that; x is zero of an expert that is behind.
struct RaisedSums {
    double mass;
    double moment;
};

[[gnu::always_inline]] inline RaisedSums raised_to(const RelativeRegrets& ahead, double z) {
    const double* all = ahead.x;
    const auto [mass, moment] = add_up<2>(ahead.count, [&](size_t i, double& potentials, double& squares) {
        const double x = all[i];
        const double phi = exp2(log2_e * z * (x * x - 1.0));
        potentials += phi;
        squares += x * x * phi;
    });
    return {mass + ahead.behind * exp2(-log2_e * z), moment};
}

// Write the scores of x exp(z x^2); no score where no expert is ahead.
inline void score_raised(const double* regrets, size_t n, double lead, double z, double* scores) {
    if (lead <= tiny) {
        fill(scores, n, no_score);
        return;
    }
#pragma omp simd
    for (size_t i = 0; i < n; ++i) {
        const double x = regrets[i] / lead;
        const double score = log2_e * (z * (x * x - 1.0) + log(larger(x, tiny)));
        scores[i] = x > tiny ? score : no_score;
    }
}

// z with mean exp(z x^2) = e, x the positive regrets relative to the leading one.
//
// The logarithm of the mean is convex and rises in z, so Newton's method comes down to the root from
// its right, and from its left first jumps across; the root is in [1, 1 + ln N].
inline double leaders_exponent(const RelativeRegrets& ahead, size_t n, double start) {
    const double highest = 1.0 + std::log(static_cast<double>(n));
    double z = start == 0.0 ? highest : smaller(start, highest);
    for (int step = 0; step < 100; ++step) {
        const auto [mass, moment] = raised_to(ahead, z);
        const double above = std::log(mass / static_cast<double>(n)) + z - 1.0;
        const double next = within(z - above * mass / moment, 1.0, highest);
        if (std::fabs(next - z) <= 1e-13 * z) return next;
        z = next;
    }
    return z;
}

struct NormalHedge2009 : Algorithm<NormalHedge2009, 1, 2> {
    static constexpr bool scale_invariant = true;
    static constexpr bool wants_room = true;
    using Algorithm::Algorithm;

    void tick(const double* before, double* after) const {
        after[0] = before[0];
        after[1] = before[1];
    }

    void weigh(const Columns& now, double lead, double* room) const {
        now.totals[0] = lead > tiny ? leaders_exponent(experts_ahead(now.regrets(), now.n, lead, room), now.n,
                                                       now.totals[0])
                                    : 0.0;
        now.totals[1] = lead > tiny ? lead : 0.0;
        score(now, nullptr, now.weights, nullptr);
        raise_scores(now.weights, now.n);
    }

    // The scale is the scale of all experts, asleep or not.
    void score(const Columns& now, const double*, double* scores,
               double*) const {
        score_raised(now.regrets(), now.n, now.totals[1], now.totals[0], scores);
    }
};

}  // namespace normalhedge::engine
