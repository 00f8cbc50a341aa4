// What a round of a router has shown.
#pragma once

#include <cstddef>

namespace normalhedge::routing {

using std::size_t;

// An action whose gain is known.
struct Sight {
    size_t place;        // of the action
    double probability;  // o, that its gain would be known
    double gain;         // in [-1, 1]

    double loss() const { return 0.5 * (1.0 - gain); }
};

struct Feedback {
    const Sight* sights;
    size_t count;
    bool full;            // whether the gains of all actions awake are known, whichever was chosen
    double spread;        // Q = sum_i p_i / o_i over the actions awake: how much larger the estimates are than losses
    double pending;       // how many other rounds wait for their gains
    const double* awake;  // 1 or 0 for each action; none where all are awake
};

}  // namespace normalhedge::routing
