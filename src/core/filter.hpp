// Many hidden Markov models, filtered at once, one observation at a time.
//
// For a candidate with transition A and beliefs p over its k states, before an observation that its
// states score with b:
//
//     likelihood    z = sum_s b_s p_s
//     condition     f_s = b_s p_s / z
//     predict       p_s <- sum_r f_r A_rs
//
// Arrays end with the candidates, k x N, so that the inner loops run over them in vector registers.
#pragma once

#include <algorithm>

#include "columns.hpp"

namespace normalhedge::latent {

// A likelihood below this is impossible: the observation counts as missing for that candidate.
constexpr double least_likelihood = 1e-280;

// Candidates of a block: their numbers stay in the nearest cache.
constexpr size_t candidates_at_once = 128;

// How the candidates move; it owns nothing.
struct Bank {
    size_t states;
    size_t candidates;
    const double* transition;  // states (from) x states (to) x candidates

    size_t size() const { return states * candidates; }
    const double* moves(size_t from, size_t to) const {
        return transition + from * size() + to * candidates;
    }
};

// Some of the candidates, and room for their filter.
struct FilterBlock {
    size_t first;
    size_t width;
    double* filtered;    // states x width: z f
    double* likelihood;  // z
    double* inverse;     // 1/z

    double* state(size_t s) const { return filtered + s * width; }
};

// Write z f and z. Where the observation is missing, z f is p: time passes, and nothing is learned.
inline void condition(const Bank& bank, const double* beliefs, const double* scores,
                      const FilterBlock& block) {
    double* z = block.likelihood;
    for (size_t s = 0; s < bank.states; ++s) {
        const double* p = beliefs + s * bank.candidates + block.first;
        const double* b = scores ? scores + s * bank.candidates + block.first : nullptr;
        double* f = block.state(s);
        const bool fresh = s == 0;
#pragma omp simd
        for (size_t i = 0; i < block.width; ++i) {
            f[i] = b ? p[i] * b[i] : p[i];
            z[i] = (fresh ? 0.0 : z[i]) + f[i];
        }
    }
}

// Keep the beliefs of candidates for which the observation is impossible; return how many they are.
inline size_t pass_over(const Bank& bank, const double* beliefs, const FilterBlock& block) {
    size_t impossible = 0;
    for (size_t i = 0; i < block.width; ++i) {
        if (block.likelihood[i] > least_likelihood) continue;
        ++impossible;
        double total = 0.0;
        for (size_t s = 0; s < bank.states; ++s) {
            block.state(s)[i] = beliefs[s * bank.candidates + block.first + i];
            total += block.state(s)[i];
        }
        block.inverse[i] = 1.0 / total;
    }
    return impossible;
}

// Write 1/z; return how many found the observation impossible. z is the actual sum in every round, so
// rounding errors do not add up.
inline size_t invert(const Bank& bank, const double* beliefs, const FilterBlock& block) {
    double most = 0.0;
#pragma omp simd reduction(max : most)
    for (size_t i = 0; i < block.width; ++i) {
        block.inverse[i] = 1.0 / larger(block.likelihood[i], least_likelihood);
        most = larger(most, block.inverse[i]);
    }
    return most < 1.0 / least_likelihood ? 0 : pass_over(bank, beliefs, block);
}

// Add the transitions from some states to some states: p_s <- p_s + sum_r f_r A_rs. No belief exceeds one,
// not even by rounding. f is divided by z before it is multiplied by A: later the product might be
// too small for a double.
template <size_t from_count, size_t to_count>
void add_moves(const Bank& bank, const FilterBlock& block, size_t from, size_t to, double* beliefs) {
    const size_t n = bank.candidates;
    const double* filtered = block.state(from);
    const double* moves = bank.moves(from, to) + block.first;
    double* p = beliefs + to * n + block.first;
    const bool fresh = from == 0;
#pragma omp simd
    for (size_t i = 0; i < block.width; ++i) {
        double f[from_count];
        for (size_t r = 0; r < from_count; ++r)
            f[r] = filtered[r * block.width + i] * block.inverse[i];
        for (size_t s = 0; s < to_count; ++s) {
            double sum = fresh ? 0.0 : p[s * n + i];
            for (size_t r = 0; r < from_count; ++r) sum += f[r] * moves[r * bank.size() + s * n + i];
            p[s * n + i] = smaller(sum, 1.0);
        }
    }
}

template <size_t from_count>
void add_moves(const Bank& bank, const FilterBlock& block, size_t from, double* beliefs) {
    size_t to = bank.states % 2;
    if (to == 1) add_moves<from_count, 1>(bank, block, from, 0, beliefs);
    for (; to < bank.states; to += 2) add_moves<from_count, 2>(bank, block, from, to, beliefs);
}

// Write the beliefs of the next round: from four states at a time to two, because memory traffic costs
// most. To four would be faster, but not with, for instance, 1024 candidates, where the rows of A compete for the
// same lines of the cache.
inline void advance(const Bank& bank, const FilterBlock& block, double* beliefs) {
    size_t from = bank.states % 4;
    if (from == 1) add_moves<1>(bank, block, 0, beliefs);
    if (from == 2) add_moves<2>(bank, block, 0, beliefs);
    if (from == 3) add_moves<3>(bank, block, 0, beliefs);
    for (; from < bank.states; from += 4) add_moves<4>(bank, block, from, beliefs);
}

// Where the candidates stand: beliefs are states x candidates, `logs` ln P(x_1..x_t).
template <class T>
struct Standing {
    T* beliefs;
    T* logs;
};

inline size_t room_to_observe(const Bank& bank) {
    return (bank.states + 2) * std::min(bank.candidates, candidates_at_once);
}

// Condition and predict; return whether all candidates found the observation impossible.
//
// `logs` become keep logs + ln z, with 1e-280 for a z that is impossible. They stay where the
// observation is missing (`scores` is none), and where all found it impossible: there is no reason to
// prefer one of them. `room` is for `room_to_observe` doubles.
NORMALHEDGE_VECTORISED inline bool observe(const Bank& bank, const Standing<const double>& before,
                                           const double* scores, double keep,
                                           const Standing<double>& after, double* room) {
    const size_t n = bank.candidates;
    const size_t most = std::min(n, candidates_at_once);
    size_t impossible = 0;
    for (size_t first = 0; first < n; first += most) {
        const size_t width = std::min(most, n - first);
        double* z = room + bank.states * most;
        const FilterBlock block{first, width, room, z, z + most};
        condition(bank, before.beliefs, scores, block);
        impossible += invert(bank, before.beliefs, block);
        const double* old = before.logs + first;
        double* logs = after.logs + first;
        if (scores) {
#pragma omp simd
            for (size_t i = 0; i < width; ++i) {
                const double seen = log(larger(z[i], least_likelihood));
                logs[i] = keep * old[i] + seen;
            }
        } else {
            std::copy(old, old + width, logs);
        }
        advance(bank, block, after.beliefs);
    }
    if (!scores || impossible < n) return false;
    std::copy(before.logs, before.logs + n, after.logs);
    return true;
}

}  // namespace normalhedge::latent
