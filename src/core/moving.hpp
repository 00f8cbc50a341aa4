// Hidden Markov models whose parameters move: each block of rounds has emissions and transitions of its own.
//
// Fitted in hindsight. The statistics of a block come from all rounds, near ones first,
//
//     S_a(b) = sum_c keep^|b - c| sum_{t in c} g_t(s) s_a(y_t)        parameters(b) = solve(S(b))
//
// where g are the smoothed probabilities, and expected transitions are counted in the same manner. One chain of
// states runs through all blocks, so a state keeps its name while it drifts.
#pragma once

#include <vector>

#include "em.hpp"

namespace normalhedge::latent {

struct Blocks {
    size_t rounds, length;

    size_t count() const { return rounds ? (rounds - 1) / length + 1 : 0; }
    size_t of(size_t t) const { return t / length; }
    size_t begin(size_t b) const { return b * length; }
    size_t end(size_t b) const { return smaller_of(rounds, (b + 1) * length); }
    static size_t smaller_of(size_t a, size_t b) { return a < b ? a : b; }
};

// Transitions are blocks x k x k; the step into a round is made by the transitions of its block.
struct MovingChain {
    size_t states;
    double* initial;
    double* transitions;
    Blocks blocks;

    double* into(size_t t) const { return transitions + blocks.of(t) * states * states; }
};

// Replace log densities by smoothed probabilities, write the expected transitions of each block, return ln P(y).
inline double expect_moving(const MovingChain& chain, double* table, double* moves) {
    const size_t k = chain.states, rounds = chain.blocks.rounds;
    std::fill(moves, moves + chain.blocks.count() * k * k, 0.0);
    if (!rounds) return 0.0;
    std::vector<double> inverse(rounds * k), highest(rounds), likelihoods(rounds), ratio(k);
    scale_densities(table, rounds, k, highest.data());
    const double* start = chain.initial;
    for (size_t b = 0; b < chain.blocks.count(); ++b) {
        const size_t first = chain.blocks.begin(b), n = chain.blocks.end(b) - first;
        double* p = inverse.data() + first * k;
        forward<0>(table + first * k, n, k, start, chain.into(first), p, likelihoods.data() + first);
        if (first + n == rounds) break;
        double* next = p + n * k;  // the beliefs that the next block begins with
        const double *f = table + (first + n - 1) * k, *step = chain.into(first + n);
        std::fill(next, next + k, 0.0);
        for (size_t r = 0; r < k; ++r)
            for (size_t s = 0; s < k; ++s) next[s] += f[r] * step[r * k + s];
        start = next;
    }
    invert(inverse.data(), rounds * k);
    for (size_t t = rounds - 1; t-- > 0;) {
        const double *later = table + (t + 1) * k, *step = chain.into(t + 1);
        double *f = table + t * k, *counts = moves + chain.blocks.of(t + 1) * k * k;
        for (size_t s = 0; s < k; ++s) ratio[s] = later[s] * inverse[(t + 1) * k + s];
        for (size_t r = 0; r < k; ++r) {
            double sum = 0.0;
            for (size_t s = 0; s < k; ++s) {
                const double share = step[r * k + s] * ratio[s];
                counts[r * k + s] += f[r] * share;
                sum += share;
            }
            f[r] *= sum;
        }
    }
    return log_likelihood(likelihoods.data(), highest.data(), rounds);
}

// Write the most probable sequence of states (Viterbi); return the logarithm of its joint density with y.
// Of equals, the lowest state.
inline double most_probable_path(const MovingChain& chain, const double* logs, std::int64_t* path) {
    const size_t k = chain.states, rounds = chain.blocks.rounds;
    if (!rounds) return 0.0;
    std::vector<std::uint32_t> from(rounds * k);
    std::vector<double> best(k), next(k), steps(k * k);
    for (size_t s = 0; s < k; ++s) best[s] = std::log(chain.initial[s]) + logs[s];
    for (size_t t = 1; t < rounds; ++t) {
        if (t == 1 || chain.blocks.begin(chain.blocks.of(t)) == t)
            for (size_t i = 0; i < k * k; ++i) steps[i] = std::log(chain.into(t)[i]);
        for (size_t s = 0; s < k; ++s) {
            size_t chosen = 0;
            for (size_t r = 1; r < k; ++r)
                if (best[r] + steps[r * k + s] > best[chosen] + steps[chosen * k + s]) chosen = r;
            from[t * k + s] = static_cast<std::uint32_t>(chosen);
            next[s] = best[chosen] + steps[chosen * k + s] + logs[t * k + s];
        }
        best.swap(next);
    }
    const size_t last = static_cast<size_t>(std::max_element(best.begin(), best.end()) - best.begin());
    size_t state = last;
    for (size_t t = rounds; t-- > 0;) {
        path[t] = static_cast<std::int64_t>(state);
        state = from[t * k + state];
    }
    return best[last];
}

// Replace the sums of each block by sums over all blocks with weights keep^distance.
inline void spread(double* sums, size_t blocks, size_t width, double keep) {
    if (keep == 0.0) return;
    std::vector<double> later(width, 0.0);
    std::vector<double> own(sums, sums + blocks * width);
    for (size_t b = 1; b < blocks; ++b)
        for (size_t i = 0; i < width; ++i) sums[b * width + i] += keep * sums[(b - 1) * width + i];
    for (size_t b = blocks; b-- > 0;)
        for (size_t i = 0; i < width; ++i) {
            sums[b * width + i] += later[i];
            later[i] = keep * (later[i] + own[b * width + i]);
        }
}

// The weights of near rounds: of emissions and of transitions.
struct Keeping {
    double emissions, transitions;
};

// Parameters are blocks x rows x k. Degrees of freedom and sizes stay as they are.
template <class Family>
void write_moving_densities(const Family& family, const Series& series, const Blocks& blocks,
                            double* parameters, size_t k, double* logs) {
    for (size_t b = 0; b < blocks.count(); ++b) {
        double* mine = parameters + b * family.rows() * k;
        for (size_t s = 0; s < k; ++s) {
            const auto state = family.state({mine, k, s});
            for (size_t t = blocks.begin(b); t < blocks.end(b); ++t) {
                const Observation seen = series[t];
                logs[t * k + s] = family.known(seen) ? family.log_density(state, seen) : 0.0;
            }
        }
    }
}

template <class Family>
void maximise_moving(const Family& family, const Series& series, const Blocks& blocks,
                     const double* shares, size_t k, double keep, double* parameters) {
    const size_t width = family.statistics(), count = blocks.count();
    std::vector<double> sums(count * width);
    for (size_t s = 0; s < k; ++s) {
        std::fill(sums.begin(), sums.end(), 0.0);
        for (size_t b = 0; b < count; ++b) {
            const auto state = family.state({parameters + b * family.rows() * k, k, s});
            for (size_t t = blocks.begin(b); t < blocks.end(b); ++t)
                if (family.known(series[t]))
                    family.add(state, series[t], shares[t * k + s], sums.data() + b * width);
        }
        spread(sums.data(), count, width, keep);
        for (size_t b = 0; b < count; ++b)
            if (weight_of(family, sums.data() + b * width) > least_weight)
                family.solve(sums.data() + b * width, {parameters + b * family.rows() * k, k, s});
    }
}

// Expectation and maximisation until ln P(y) changes by less than `tolerance`; leaves the log densities in `logs`.
// An iteration need not raise ln P(y): the sums of neighbouring blocks overlap.
template <class Family>
Ended fit_moving(const Family& family, const Series& series, const MovingChain& chain,
                 double* parameters, const double* start, const Keeping& keep,
                 const Stopping& stopping, double* logs) {
    const size_t k = chain.states, count = chain.blocks.count();
    std::vector<double> table(series.rounds * k), moves(count * k * k);
    if (start)
        maximise_moving(family, series, chain.blocks, start, k, keep.emissions, parameters);
    double before = 0.0;
    for (size_t i = 0;; ++i) {
        write_moving_densities(family, series, chain.blocks, parameters, k, logs);
        std::copy(logs, logs + series.rounds * k, table.begin());
        const double total = expect_moving(chain, table.data(), moves.data());
        if ((i && std::fabs(total - before) < stopping.tolerance) || i == stopping.iterations)
            return {total, i};
        before = total;
        if (series.rounds) normalise(table.data(), family.guards.pseudo_count, k, chain.initial);
        spread(moves.data(), count, k * k, keep.transitions);
        for (size_t r = 0; r < count * k; ++r)
            normalise(moves.data() + r * k, family.guards.pseudo_count, k, chain.transitions + r * k);
        maximise_moving(family, series, chain.blocks, table.data(), k, keep.emissions, parameters);
    }
}

}  // namespace normalhedge::latent
