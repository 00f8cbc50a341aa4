// NormalHedge on groups of experts that always share their gains.
//
// Experts with the same gains keep the same regret, so a million of them in three groups are three
// numbers. With n_k experts in group k, N = sum_k n_k and x_k = sqrt(alpha) R_k:
//
//     p_k ∝ n_k Phi'(x_k)                           the weight of a group; ∝ n_k when no group is ahead
//     m   = sum_k p_k g_k                           the hedger's gain
//     x_k <- (1 - alpha) x_k + sqrt(alpha) (g_k - m)
//     Psi = sum_k (n_k / N) Phi(x_k),   Phi(x) = exp([x]+^2 / 2c)
//
// The few groups fill no vector registers. Functions are compiled for several processors for the sake of the
// fused multiply-add alone: which plan is best may depend on the last digit.
#pragma once

#include <algorithm>
#include <cstdint>

#include "columns.hpp"

namespace normalhedge::attacks {

struct Groups {
    size_t count;
    const double* sizes;
    double alpha;
    double root;  // sqrt(alpha)
    double c;

    Groups(const double* sizes, size_t count, double alpha, double c)
        : count(count), sizes(sizes), alpha(alpha), root(std::sqrt(alpha)), c(c) {}

    // Write the weights of the groups; return ln Psi.
    double weigh(const double* x, double* weights) const {
        const double top = larger(leading(x, count), 0.0);
        double total = 0.0;
        double mass = 0.0;
        double n = 0.0;
        for (size_t k = 0; k < count; ++k) {
            const double ahead = larger(x[k], 0.0);
            const double phi = sizes[k] * std::exp((ahead - top) * (ahead + top) / (2.0 * c));
            weights[k] = ahead * phi;
            total += ahead * phi;
            mass += phi;
            n += sizes[k];
        }
        for (size_t k = 0; k < count; ++k)
            weights[k] = total > tiny ? weights[k] / total : sizes[k] / n;
        return std::log(mass / n) + top * top / (2.0 * c);
    }

    // Write the next scaled regrets; return the largest. `after` may be `x`.
    //
    // Gains count as differences from one of them: where all are equal, every regret stays exactly
    // as it is.
    template <class Gain>
    double step(const double* x, const double* weights, const Gain* gains, double* after) const {
        const double first = static_cast<double>(gains[0]);
        double mean = 0.0;
        for (size_t k = 0; k < count; ++k)
            mean += weights[k] * (static_cast<double>(gains[k]) - first);
        for (size_t k = 0; k < count; ++k)
            after[k] = (1.0 - alpha) * x[k] + root * ((static_cast<double>(gains[k]) - first) - mean);
        return leading(after, count);
    }
};

// Play rows of gains from the beginning; write the largest x and ln Psi after each. `x` is for two
// doubles a group.
NORMALHEDGE_VECTORISED inline void follow_gains(const Groups& groups, const double* gains,
                                                size_t rounds, double* leads, double* logs, double* x) {
    double* weights = x + groups.count;
    fill(x, groups.count, 0.0);
    groups.weigh(x, weights);
    for (size_t t = 0; t < rounds; ++t) {
        leads[t] = groups.step(x, weights, gains + t * groups.count, x);
        logs[t] = groups.weigh(x, weights);
    }
}

// All groups but the last are held at a share of the weight; then the first breaks away.
struct Holding {
    double share;
    double climb;     // while one that breaks away has less weight than this, the others are held
    size_t patience;  // holding ends when ln Psi has not risen for this many rounds
    size_t longest;   // and after this many rounds at the latest

    // Write the gains that bring all groups but the last to their share of the weight that is not apart.
    void balance(const double* weights, size_t count, double apart, std::int8_t* gains) const {
        const size_t rest = count - 1;
        const bool low = 1.0 - apart - weights[rest] < share * (1.0 - apart);
        const std::int8_t up = low ? 1 : -1;
        std::fill(gains, gains + rest, up);
        gains[rest] = low ? -1 : 1;
    }
};

// The result.
struct Held {
    size_t rounds;
    double log_potential;  // the highest ln Psi
    double regret;         // the largest x
};

// Hold until the potential rests, and go on from where it was highest. Writes the gains into `table`,
// `rounds` x groups; `x` is for three doubles a group.
NORMALHEDGE_VECTORISED inline Held hold_and_break_away(const Groups& groups, const Holding& holding,
                                                       std::int8_t* table, size_t rounds, double* x) {
    const size_t n = groups.count;
    double* weights = x + n;
    double* best = x + 2 * n;
    fill(x, n, 0.0);
    fill(best, n, 0.0);
    Held held{0, 0.0, 0.0};
    groups.weigh(x, weights);
    for (size_t t = 0; t < std::min(holding.longest, rounds) && t - held.rounds < holding.patience;) {
        std::int8_t* gains = table + t * n;
        holding.balance(weights, n, 0.0, gains);
        held.regret = larger(held.regret, groups.step(x, weights, gains, x));
        const double log_potential = groups.weigh(x, weights);
        ++t;
        if (log_potential > held.log_potential) {
            held.log_potential = log_potential;
            held.rounds = t;
            std::copy(x, x + n, best);
        }
    }
    double lead = -infinity;
    groups.weigh(best, weights);
    for (; held.rounds < rounds && best[0] > lead; ++held.rounds) {
        lead = best[0];
        std::int8_t* gains = table + held.rounds * n;
        if (weights[0] < holding.climb)
            holding.balance(weights, n, weights[0], gains);
        else
            std::fill(gains, gains + n, std::int8_t{-1});
        gains[0] = 1;
        held.regret = larger(held.regret, groups.step(best, weights, gains, best));
        held.log_potential = larger(held.log_potential, groups.weigh(best, weights));
    }
    return held;
}

}  // namespace normalhedge::attacks
