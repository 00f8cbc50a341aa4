// NormalHedge (Freund and Hsu, 2008).
//
//     w_i = [R_i]+ exp(alpha [R_i]+^2 / 2c),   p_i = w_i / sum_j w_j
#pragma once

#include "../potential.hpp"

namespace normalhedge::engine {

struct NormalHedge : PotentialAlgorithm<NormalHedge, true> {  // whose rate is alpha / 2c
    using PotentialAlgorithm::PotentialAlgorithm;

    static constexpr bool allows_for_delay = true;
};

}  // namespace normalhedge::engine
