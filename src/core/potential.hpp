// Weights ∝ Phi' of the regrets, for the potentials Phi(R) = 2^(rate R^p).
//
//     normal        p = 2 for R > 0, and Phi = 1 else      NormalHedge
//     exponential   p = 1                                  Hedge
//
// Phi' ∝ R^(p-1) Phi. Exponents are taken relative to the leading regret: none is ever positive, and
// nothing overflows. The difference of two squares is taken as a product: it keeps its digits where
// the exponents are large and close.
#pragma once

#include "ahead.hpp"
#include "algorithm.hpp"

namespace normalhedge::engine {

// Of a block of experts: the largest regret, and the sums of Phi' and of Phi relative to Phi there.
struct Masses {
    double lead;
    double weights;
    double potentials;
    double ratio = 1.0;  // of Phi there to Phi at the largest regret of all
    Ahead ahead;
};

template <bool squared>
class Potential {
public:
    // `rate` is in units of log 2, and no regret exceeds `lead`.
    Potential(double rate, double lead)
        : rate_(rate), top_(squared ? larger(lead, 0.0) : lead), rate_top_(rate * top_) {}

    double exponent(double regret) const {
        if constexpr (!squared) return rate_ * (regret - top_);
        const double r = larger(regret, 0.0);
        return (r - top_) * (rate_ * r + rate_top_);
    }

    // Phi' at a regret, up to a factor, from Phi.
    double slope(double regret, double phi) const {
        return squared ? larger(regret, 0.0) * phi : phi;
    }

    // ln of the mean of n potentials with this sum.
    double log_mean(double sum, size_t n) const {
        return std::log(sum / static_cast<double>(n)) - exponent(0.0) * ln_2;
    }

private:
    double rate_;
    double top_;
    double rate_top_;
};

// Write the weights of a block up to a factor. An expert that is behind has none, and its potential is one: groups of
// such experts are not computed. The bits of the weights are as if they were.
template <bool squared>
[[gnu::always_inline]] inline void raise_weights(double rate, double lead, const double* regrets, size_t n,
                                                 double* weights, Masses& masses) {
    const Potential<squared> potential(rate, lead);
    Ahead& ahead = masses.ahead;
    ahead.all = true;
    if constexpr (squared) {
        find_ahead(regrets, n, ahead);
        if (!ahead.all) fill(weights, n, 0.0);
    }
    const auto [total, mass] = add_ahead(
        ahead, n,
        [&](size_t i, double& slopes, double& potentials) {
            const double phi = exp2(potential.exponent(regrets[i]));
            const double weight = potential.slope(regrets[i], phi);
            weights[i] = weight;
            slopes += weight;
            potentials += phi;
        },
        SumLanes(), SumLanes());
    masses.lead = lead;
    masses.weights = total;
    masses.potentials = mass + static_cast<double>(ahead.left_out(n)) * exp2(potential.exponent(0.0));
}

template <bool squared>
void score_by_potential(const Columns& now, const double* confidence, double rate,
                        double* scores) {
    const double* regrets = now.regrets();
    const Potential<squared> potential(rate, leading(regrets, confidence, now.n));
#pragma omp simd
    for (size_t i = 0; i < now.n; ++i)
        scores[i] = potential.exponent(regrets[i]) + (squared ? score_of(regrets[i]) : 0.0);
}

// An algorithm that plays the derivative of a potential; the engine raises its weights block by block,
// while their regrets are in the nearest cache. The rate is the first of its settings.
template <class Own, bool squared, size_t Rows = 1, size_t OwnSettings = 1>
struct PotentialAlgorithm : Algorithm<Own, Rows, 0, OwnSettings> {
    static constexpr bool has_potential = true;

    double rate;  // in units of log 2

    explicit PotentialAlgorithm(const double* parameters)
        : Algorithm<Own, Rows, 0, OwnSettings>(parameters), rate(parameters[1]) {}

    Potential<squared> potential(double lead) const { return {rate, lead}; }

    [[gnu::always_inline]] void raise(const Columns& now, double lead, Masses& masses) const {
        raise_weights<squared>(rate, lead, now.regrets(), now.n, now.weights, masses);
    }

    void score(const Columns& now, const double* confidence, double* scores, double*) const {
        score_by_potential<squared>(now, confidence, rate, scores);
    }
};

}  // namespace normalhedge::engine
