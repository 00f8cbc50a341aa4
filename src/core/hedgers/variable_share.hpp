// Variable Share (Herbster and Warmuth, 1998).
//
//     v_i ∝ w_i exp(eta r_i),   s_i = 1 - (1 - s)^l_i
//     w_i <- (1 - s_i) v_i + sum_(j != i) s_j v_j / (N - 1)
//
// with the losses l = (1 - g) / 2, or k l + (1 - k) l_A with confidences.
#pragma once

#include "fixed_share.hpp"

namespace normalhedge::engine {

struct VariableShare : Sharing<VariableShare> {
    double log2_kept;  // log2(1 - s)

    explicit VariableShare(const double* parameters) : Sharing(parameters), log2_kept(parameters[2]) {}

    void learn(const Columns& before, const Columns& after, const double* rises, double gain,
               double* room) const {
        share_out(after.weights, after.n, grow(before, after, rises, log2_e * eta));
        if (gain != gain) return;  // no expert was awake
        const size_t n = after.n;
        double* taken = room;
        double* weights = after.weights;
        const double pool = sum_of(n, [&](size_t i) {
            const double loss = 0.5 * (1.0 - gain - rises[i]);  // in [0, 1], up to rounding
            return taken[i] = weights[i] * (1.0 - exp2(log2_kept * loss));
        });
        // A single expert keeps all its weight.
        const double part = n > 1 ? 1.0 / static_cast<double>(n - 1) : 0.0;
#pragma omp simd
        for (size_t i = 0; i < n; ++i) {
            const double received = larger(pool - taken[i], 0.0) * part;
            weights[i] = larger(weights[i] - taken[i] + received, tiny);
        }
    }
};

}  // namespace normalhedge::engine
