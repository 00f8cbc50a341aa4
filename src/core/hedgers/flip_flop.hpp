// FlipFlop (de Rooij, van Erven, Grünwald and Koolen, 2014).
//
// Follow the leader (flip) while that is cheap, be AdaHedge (flop) while it is not; the totals are
// whether it is flopped, Delta_flip and Delta_flop:
//
//     flip to flop when Delta_flip > (phi / a) Delta_flop
//     flop to flip when Delta_flop > a Delta_flip
#pragma once

#include "../algorithm.hpp"
#include "ada_hedge.hpp"

namespace normalhedge::engine {

struct FlipFlop : Algorithm<FlipFlop, 1, 3, 2> {
    static constexpr bool scale_invariant = true;
    static constexpr bool whole = true;

    double phi;
    double balance;

    explicit FlipFlop(const double* parameters) : Algorithm(parameters), phi(parameters[1]), balance(parameters[2]) {}

    void learn(const Columns& before, const Columns& after, const double* rises, double,
               double*) const {
        const bool flopped = before.totals[0] != 0.0;
        double flip = keep * before.totals[1];
        double flop = keep * before.totals[2];
        double lost;
        if (!flopped || flop <= tiny) {
            lost = leaders_rise(before, rises, keep);
        } else {
            lost = mixability_gap(before, rises, keep, log_experts(before.experts) / flop);
        }
        bool next = flopped;
        if (!flopped) {
            flip += lost;
            if (flip > phi / balance * flop) next = true;
        } else {
            flop += lost;
            if (flop > balance * flip) next = false;
        }
        after.totals[0] = next ? 1.0 : 0.0;
        after.totals[1] = flip;
        after.totals[2] = flop;
    }

    void score(const Columns& now, const double* confidence, double* scores,
               double*) const {
        if (now.totals[0] == 0.0 || now.totals[2] <= tiny) {
            score_leaders(now.regrets(), now.n, scores);
        } else {
            const double eta = log_experts(now.experts) / now.totals[2];
            score_exponential(now.regrets(), confidence, now.n, eta, scores);
        }
    }
};

}  // namespace normalhedge::engine
