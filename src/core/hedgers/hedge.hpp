// Hedge (Freund and Schapire, 1997) on discounted gains.
//
//     p_i ∝ exp(eta R_i)
#pragma once

#include "../potential.hpp"

namespace normalhedge::engine {

struct Hedge : PotentialAlgorithm<Hedge, false> {  // whose rate is eta
    using PotentialAlgorithm::PotentialAlgorithm;
};

}  // namespace normalhedge::engine
