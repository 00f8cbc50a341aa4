// Weights by inverse mean losses (Bates and Granger, 1969).
//
//     p_i ∝ (S_i + m)^-power,   S_i = sum (1 - g_i) = L - R_i,   L = sum (1 - g_A),   m = L / T
//
// sums are discounted, T counts the rounds. A sleeping expert has the loss of the hedger; m is a one-round
// prior at the mean loss.
#pragma once

#include "../algorithm.hpp"

namespace normalhedge::engine {

struct BatesGranger : Algorithm<BatesGranger, 1, 2, 1> {
    static constexpr bool scale_invariant = true;
    static constexpr bool whole = true;  // its totals change with the gain
    static constexpr bool by_losses = true;

    double power;

    explicit BatesGranger(const double* parameters) : Algorithm(parameters), power(parameters[1]) {}

    void learn(const Columns& before, const Columns& after, const double*, double gain,
               double*) const {
        const bool played = gain == gain;
        after.totals[0] = keep * before.totals[0] + (played ? 1.0 : 0.0);
        after.totals[1] = keep * before.totals[1] + (played ? 1.0 - gain : 0.0);
    }

    void score(const Columns& now, const double*, double* scores, double*) const {
        const double* regrets = now.regrets();
        const double lost = now.totals[1];
        const double usual = now.totals[0] > 0.0 ? lost / now.totals[0] : 0.0;
        const double least = 1e-9 * lost + tiny;
#pragma omp simd
        for (size_t i = 0; i < now.n; ++i)
            scores[i] = -power * log2_e * log(larger(lost - regrets[i] + usual, least));
    }
};

}  // namespace normalhedge::engine
