// NormalHedge for outcomes that come late.
//
//     w_i = [R_i]+ exp(alpha [R_i]+^2 / 2c),   p_i = w_i / sum_j w_j
//     R_i <- (1 - alpha) R_i + g_i - sum_j p'_j g_j
//
// where p' are the weights of the regrets of D outcomes ago, with which the round was played. The rows
// after the regret are the regrets before each of the last D outcomes, the youngest first. They do not
// decay: NormalHedge is not free of scale, and other regrets would give other weights.
#pragma once

#include "../potential.hpp"

namespace normalhedge::engine {

struct NormalHedgeLate : PotentialAlgorithm<NormalHedgeLate, true, 2, 2> {
    static constexpr bool late = true;

    size_t delay;  // at least 1

    explicit NormalHedgeLate(const double* parameters)
        : PotentialAlgorithm(parameters), delay(static_cast<size_t>(parameters[2])) {}

    size_t all_rows() const { return 1 + delay; }

    // The game of D outcomes ago, as far as weights depend on it.
    Columns then(const Columns& now, double* weights) const {
        Columns earlier = now;
        earlier.weights = weights;
        earlier.ledger = now.row(delay);
        return earlier;
    }

    // Shift the regrets by one outcome; the engine writes the new ones after that.
    void learn(const Columns& before, const Columns& after, const double*, double, double*) const {
        for (size_t ago = delay; ago > 0; --ago) {
            const double* from = before.row(ago - 1);
            double* to = after.row(ago);
#pragma omp simd
            for (size_t i = 0; i < after.n; ++i) to[i] = from[i];
        }
    }
};

}  // namespace normalhedge::engine
