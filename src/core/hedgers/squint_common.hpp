// Squint with one clock for all experts (Luo, 2026).
//
//     p_i ∝ int_0^(1/2) exp(eta S_i - eta^2 V) d eta,   S = R / 2, rho = r / 2
//     V <- (1 - alpha) V + v,   v = sum_i q_i rho_i^2,
//     q_i ∝ int_0^(1/2) eta exp(eta S_i - eta^2 V) d eta   with S and V after the round
//
// The total is V. With a = S / 2 sqrt V, b = (S - V) / 2 sqrt V and G(x) = 1 - sqrt(pi) x erfcx(x) the
// second integral is e^(a^2 - b^2) / 2V times
//
//     sqrt(pi V / 4) erfcx(b) - G(b) + e^(b^2 - a^2) G(a)                                 for b > 0,
//     e^(b^2 - a^2) (G(-a)) - sqrt(pi V / 4) erfcx(-b) - G(-b)                            for a < 0,
//
// and between them e^(a^2) / 2V times 2 sqrt(pi) a + e^(-a^2) G(a) - e^(-b^2) (sqrt(pi V / 4) erfcx(-b) + G(-b)).
#pragma once

#include "squint.hpp"

namespace normalhedge::engine {

constexpr double root_pi = 1.7724538509055160;

// 1 - sqrt(pi) x erfcx(x), twice the integral of u exp(-u^2 - 2xu) over u > 0; for large x the difference
// has no digits left, and the series of the integral has them all.
[[gnu::always_inline]] inline double tail_moment(double x) {
    const double y = 0.5 / (larger(x, 1.0) * larger(x, 1.0));
    const double series = y * (1.0 - y * (3.0 - y * (15.0 - y * (105.0 - y * (945.0 - y * 10395.0)))));
    return x > 30.0 ? series : 1.0 - root_pi * x * erfcx(x);
}

// The integral of eta exp(eta S - eta^2 V), which is the derivative of the other by S.
struct OfSlopes {
    // For regret or squares above `flat`.
    [[gnu::always_inline]] static Integral closed(double regret, double squares) {
        const double root = std::sqrt(squares);
        const double a = 0.5 * regret / root;
        const double b = a - 0.5 * root;
        const double slope = 0.5 * regret - 0.25 * squares;  // a^2 - b^2
        const double ratio = exp2(-log2_e * std::fabs(slope));
        const double moment_a = tail_moment(std::fabs(a));
        const double moment_b = tail_moment(std::fabs(b));
        const double edge = 0.5 * root_pi * root * erfcx(std::fabs(b));
        const double rising = edge - moment_b + ratio * moment_a;
        const double falling = moment_a - ratio * (edge + moment_b);
        const double nearer = exp2(-log2_e * smaller(a * a, b * b));
        const double share_a = slope > 0.0 ? nearer * ratio : nearer;
        const double share_b = slope > 0.0 ? nearer : nearer * ratio;
        const double inner = 2.0 * root_pi * a + share_a * moment_a - share_b * (edge + moment_b);
        const bool between = (b < 0.0) & (a > 0.0);
        const double outer = b >= 0.0 ? rising : falling;
        const double value = between ? inner : outer;
        const double exponent = between ? a * a : larger(slope, 0.0);
        return {larger(value, tiny) * (0.5 / squares), exponent};
    }

    [[gnu::always_inline]] static double by_nodes(double regret, double squares) {
        double total = 0.0;
        for (int j = 0; j < 8; ++j)
            total += rate_share[j] * rate_node[j] *
                     exp2(log2_e * rate_node[j] * (regret - rate_node[j] * squares));
        return total;
    }
};

struct SquintCommon : Algorithm<SquintCommon, 1, 1> {
    static constexpr bool whole = true;
    static constexpr bool wants_room = true;

    using Algorithm::Algorithm;

    // v is on both sides of its equation. The right side falls or rises with v by less than 1/16 of it
    // (the covariance of rho^2, in [0, 1], with a mean of eta^2, in [0, 1/4]), so that there is one v,
    // and a fixed-point iteration gains that factor each time.
    void learn(const Columns& before, const Columns& after, const double* rises, double,
               double* room) const {
        const double clock = keep * before.totals[0];
        double v = 0.0;
        for (int step = 0; step < 30; ++step) {
            const double next = second_moment(before, after, rises, clock + v, room);
            const bool near = std::fabs(next - v) <= 1e-15 * (clock + next);
            v = next;
            if (near) break;
        }
        after.totals[0] = clock + v;
    }

    void weigh(const Columns& now, double, double* exponents) const {
        integrate_all(now, now.weights, exponents);
        raise_integrals(now.weights, exponents, now.n);
    }

    void score(const Columns& now, const double*, double* scores, double* factors) const {
        integrate_all(now, factors, scores);
        score_integrals(factors, scores, now.n);
    }

private:
    // sum_i q_i rho_i^2, q with this V and the regrets after the round. The weights are still to be
    // written, and serve as room.
    double second_moment(const Columns& before, const Columns& after, const double* rises,
                         double squares, double* exponents) const {
        const double* old = before.regrets();
        const double kept = keep;
        double* q = after.weights;
        integrate<OfSlopes>(
            after.n, [=](size_t i) { return 0.5 * (kept * old[i] + rises[i]); },
            [=](size_t) { return squares; }, q, exponents);
        raise_integrals(q, exponents, after.n);
        return sum_of(after.n, [&](size_t i) {
            const double rho = 0.5 * rises[i];
            return q[i] * rho * rho;
        });
    }

    static void integrate_all(const Columns& now, double* factors, double* exponents) {
        const double* regrets = now.regrets();
        const double squares = now.totals[0];
        integrate<OfRates>(
            now.n, [=](size_t i) { return 0.5 * regrets[i]; }, [=](size_t) { return squares; },
            factors, exponents);
    }
};

}  // namespace normalhedge::engine
