// The plain average: a yardstick.
#pragma once

#include "../algorithm.hpp"

namespace normalhedge::engine {

struct Uniform : Algorithm<Uniform, 1, 0> {
    static constexpr bool scale_invariant = true;
    using Algorithm::Algorithm;

    void weigh(const Columns& now, double, double*) const {
        fill(now.weights, now.n, 1.0 / static_cast<double>(now.n));
    }

    void score(const Columns& now, const double*, double* scores,
               double*) const {
        fill(scores, now.n, 0.0);
    }
};

}  // namespace normalhedge::engine
