// Squint (Koolen and van Erven, 2015).
//
//     p_i ∝ int_0^(1/2) exp(eta S_i - eta^2 V_i) d eta,   V_i = sum rho_i^2,   S = R / 2, rho = r / 2
//
// With a = S / 2 sqrt V and b = (S - V) / 2 sqrt V the integral is
// sqrt(pi) e^(a^2) (erf a - erf b) / (2 sqrt V).
#pragma once

#include "../algorithm.hpp"

namespace normalhedge::engine {

// An integral as factor e^exponent.
struct Integral {
    double factor;
    double exponent;
};

// Up to this regret and these squares the integrand is smooth on [0, 1/2], and the integral is a sum over nodes:
// the closed form is a difference of almost equal numbers there.
constexpr double flat = 4.0;

// Gauss-Legendre nodes on [0, 1/2].
constexpr double rate_node[8] = {0.009927535875615956, 0.05083338064659332, 0.11861689752091775,
                                 0.20414133937608755,  0.2958586606239124,  0.38138310247908225,
                                 0.4491666193534067,   0.49007246412438404};
constexpr double rate_share[8] = {0.025307134072594266, 0.05559525861334361, 0.07842666146947172,
                                  0.09067094584459041,  0.09067094584459041, 0.07842666146947172,
                                  0.05559525861334361,  0.025307134072594266};

// Whether the integrand is smooth on [0, 1/2].
[[gnu::always_inline]] inline bool is_flat(double regret, double squares) {
    return (std::fabs(regret) <= flat) & (squares <= flat);
}

// The integral of the weights of Squint.
struct OfRates {
    [[gnu::always_inline]] static double by_nodes(double regret, double squares) {
        double total = 0.0;
        for (int j = 0; j < 8; ++j)
            total += rate_share[j] * exp2(log2_e * rate_node[j] * (regret - rate_node[j] * squares));
        return total;
    }

    // By the closed form, for regret or squares above `flat`. As a > b, the difference of the error
    // functions is a tail less a thinner one, on the side where both lie, or all but two tails.
    [[gnu::always_inline]] static Integral closed(double regret, double squares) {
        const double root = std::sqrt(squares);
        const double inverse = 1.0 / root;
        const double a = 0.5 * regret * inverse;
        const double b = a - 0.5 * root;
        const double tail_a = erfcx(std::fabs(a));
        const double tail_b = erfcx(std::fabs(b));
        const double slope = 0.5 * regret - 0.25 * squares;  // a^2 - b^2
        const double ratio = exp2(-log2_e * std::fabs(slope));
        const double nearer = exp2(-log2_e * smaller(a * a, b * b));
        const double further = nearer * ratio;
        const double share_a = slope > 0.0 ? further : nearer;
        const double share_b = slope > 0.0 ? nearer : further;
        const double inner = 2.0 - (share_a * tail_a + share_b * tail_b);
        const double thicker = b >= 0.0 ? tail_b : tail_a;
        const double thinner = b >= 0.0 ? tail_a : tail_b;
        const double outer = thicker - ratio * thinner;
        const bool between = (b < 0.0) & (a > 0.0);
        const double value = between ? inner : outer;
        const double exponent = between ? a * a : larger(slope, 0.0);
        return {larger(value, tiny) * 0.8862269254527580 * inverse, exponent};
    }
};

// Write an integral of each expert, S = regret(i) and V = squares(i). In vector registers a branch is
// computed for all, or, as here, for none.
template <class Kind, class Regret, class Squares>
[[gnu::always_inline]] inline void integrate(size_t n, Regret regret, Squares squares,
                                             double* factors, double* exponents) {
    const double level =  // how many are flat
        sum_of(n, [&](size_t i) { return is_flat(regret(i), squares(i)) ? 1.0 : 0.0; });
    if (level < static_cast<double>(n)) {
#pragma omp simd
        for (size_t i = 0; i < n; ++i) {
            const Integral integral = Kind::closed(regret(i), squares(i) + 1e-100);
            factors[i] = integral.factor;
            exponents[i] = integral.exponent;
        }
    }
    if (level > 0.0) {
        const bool all = level == static_cast<double>(n);
#pragma omp simd
        for (size_t i = 0; i < n; ++i) {
            const bool here = all || is_flat(regret(i), squares(i));
            const double integral =
                Kind::by_nodes(here ? regret(i) : 0.0, here ? squares(i) : 0.0);
            factors[i] = here ? integral : factors[i];
            exponents[i] = here ? 0.0 : exponents[i];
        }
    }
}

// Make weights of factors and exponents.
inline void raise_integrals(double* weights, const double* exponents, size_t n) {
    const double top = leading(exponents, n);
#pragma omp simd
    for (size_t i = 0; i < n; ++i) weights[i] *= exp2(log2_e * (exponents[i] - top));
    normalise(weights, n);
}

// Make scores of factors and, in their place, exponents.
inline void score_integrals(const double* factors, double* scores, size_t n) {
#pragma omp simd
    for (size_t i = 0; i < n; ++i) scores[i] = log2_e * (scores[i] + log(factors[i]));
}

struct Squint : Algorithm<Squint, 2, 0> {
    static constexpr bool wants_room = true;

    using Algorithm::Algorithm;

    void learn(const Columns& before, const Columns& after, const double* rises, double,
               double*) const {
        learn_squares(before, after, rises, keep);
    }

    void weigh(const Columns& now, double, double* exponents) const {
        integrate_all(now, now.weights, exponents);
        raise_integrals(now.weights, exponents, now.n);
    }

    void score(const Columns& now, const double*, double* scores,
               double* factors) const {
        integrate_all(now, factors, scores);
        score_integrals(factors, scores, now.n);
    }

private:
    static void integrate_all(const Columns& now, double* factors, double* exponents) {
        const double* regrets = now.regrets();
        const double* squares = now.row(1);
        integrate<OfRates>(
            now.n, [regrets](size_t i) { return 0.5 * regrets[i]; },
            [squares](size_t i) { return squares[i]; }, factors, exponents);
    }
};

}  // namespace normalhedge::engine
