// One round of the game, for every algorithm.
//
// Weights p, gains g in [-1, 1], confidences k in [0, 1] (all ones when not given), regrets R:
//
//     q_i = p_i k_i / Z,   Z = sum_i p_i k_i        the distribution
//     g_A = sum_i q_i g_i                           the hedger's gain
//     r_i = k_i (g_i - g_A)                         the rises
//     R_i <- (1 - alpha) R_i + r_i                  discounted regrets, the first row of the ledger
//
// With confidences this is the game without them in which expert i gains k_i g_i + (1 - k_i) g_A:
// those gains lie in [-1, 1], and p earns g_A on them. So every bound that holds without confidences
// bounds sum_t k_i (g_i - g_A) with them. Where no expert awake has any weight, the scores of the
// experts awake decide, or q ∝ k; any distribution keeps the bounds. Where no expert is awake all gains
// count as equal and r = 0.
//
// An algorithm is a struct with a memory, its update, and the weights that belong to it:
//
//     rows, totals                   how many rows its ledger has, the regret included; and totals
//     whole                          whether `learn` must see all experts at once
//     keep                           1 - alpha
//     tick(before, after)            its totals, at the beginning of a round (if not whole)
//     learn(before, after, rises, gain, room)    its own rows; `after` may be `before`
//     weigh(now, lead, room)         the weights
//     score(now, confidence, scores, room)       log2 of the weights, up to a number common to all
//                                    that are awake
//     wants_room                     whether `weigh` needs room for n doubles; `learn`, if whole, and
//                                    `score` always have it
//     by_losses                      whether gains must measure losses from zero, and not from the least
//                                    of them
//     scale_invariant                whether weights do not depend on the unit of the gains
//     plain_tangents                 whether it gets tangents as they are: see `gains.hpp`
//     allows_for_delay               whether regrets may move by the gain of other weights; it has a `rate`
//     late                           whether a round may have been played before the last ones were
//                                    learned, see `late.hpp`; then it has a `delay` and a `then`
//     has_potential                  whether the weights are the derivative of a potential; then it
//                                    has no weigh, but raise(now, lead, masses): see `potential.hpp`
#pragma once

#include <algorithm>
#include <cstdint>

#include "columns.hpp"
#include "potential.hpp"
#include "threads.hpp"

namespace normalhedge::engine {

// Numbers as doubles, converted into `room` where they are not: 64 at a time, as many bytes as a vector holds. The last
// ones are converted twice where 64 do not divide them.
inline const double* as_doubles(const double* from, size_t, double*) { return from; }

template <class Number>
[[gnu::always_inline]] inline const double* as_doubles(const Number* from, size_t n, double* room) {
    constexpr size_t many = 64;
    for (size_t first = 0; first < n && n >= many; first += many) {
        const size_t start = first + many <= n ? first : n - many;
#pragma omp simd
        for (size_t i = start; i < start + many; ++i) room[i] = static_cast<double>(from[i]);
    }
    for (size_t i = 0; i < n && n < many; ++i) room[i] = static_cast<double>(from[i]);
    return room;
}

// Gains in the form in which they were given.
class Gains {
public:
    enum class Kind { float64, float32, int8, estimates };  // estimates are float64 of any size

    Gains(const void* data, Kind kind) : data_(data), kind_(kind) {}

    // The largest gain that is accepted.
    double limit() const { return kind_ == Kind::estimates ? infinity : 1.0; }

    // Call a function with a pointer to the numbers.
    template <class Function>
    auto visit(const Function& function) const {
        switch (kind_) {
            case Kind::float32: return function(static_cast<const float*>(data_));
            case Kind::int8: return function(static_cast<const std::int8_t*>(data_));
            default: return function(static_cast<const double*>(data_));
        }
    }

    // The gains of some experts as doubles, converted into `room` where they are not.
    const double* part(size_t first, size_t width, double* room) const {
        return visit([&](const auto* numbers) { return as_doubles(numbers + first, width, room); });
    }

    // The gains of a later round, in a table of n columns.
    Gains row(size_t t, size_t n) const {
        return visit([&](const auto* numbers) { return Gains(numbers + t * n, kind_); });
    }

private:
    const void* data_;
    Kind kind_;
};

// How a round ended.
struct Outcome {
    double gain;           // the hedger's; NaN where no expert was awake
    double lead;           // the largest regret
    double log_potential;  // ln mean Phi; NaN without a potential
    bool bad;              // a gain or a confidence is out of range: nothing was written
};

// The gain of a distribution, as sums over some experts; gains relative to `origin`.
struct Tally {
    double above = 0.0;  // sum p k (g - origin)
    double mass = 0.0;   // sum p k
    double awake = 0.0;  // sum k
    double bad = 0.0;    // how many entries are out of range

    void add(const Tally& other) {
        above += other.above;
        mass += other.mass;
        awake += other.awake;
        bad += other.bad;
    }
};

inline Tally tally(const double* weights, const double* gains, size_t n, double origin, double limit) {
    const auto [above, bad] = add_up<2>(n, [&](size_t i, double& earned, double& wrong) {
        earned += weights[i] * (gains[i] - origin);
        wrong += std::fabs(gains[i]) <= limit ? 0.0 : 1.0;
    });
    return {above, 0.0, 0.0, bad};
}

// The gain of a sleeping expert is ignored: it may be anything.
inline Tally tally(const double* weights, const double* gains, const double* confidence, size_t n,
                   double origin, double limit) {
    const auto [above, mass, awake, bad] =
        add_up<4>(n, [&](size_t i, double& earned, double& heard, double& confident, double& wrong) {
            const double k = confidence[i];
            const double g = k > 0.0 ? gains[i] : origin;
            const double weight = weights[i] * k;
            earned += weight * (g - origin);
            heard += weight;
            confident += k;
            wrong += ((k >= 0.0) & (k <= 1.0) & (std::fabs(g) <= limit)) ? 0.0 : 1.0;
        });
    return {above, mass, awake, bad};
}

// The sums over the experts in [first, last).
NORMALHEDGE_VECTORISED inline Tally tally_part(const double* weights, const Gains& gains,
                                               const double* confidence, size_t first, size_t last,
                                               double origin) {
    double room[block];
    Tally sums;
    for (; first < last; first += block) {
        const size_t width = std::min(block, last - first);
        const double* g = gains.part(first, width, room);
        sums.add(confidence ? tally(weights + first, g, confidence + first, width, origin, gains.limit())
                            : tally(weights + first, g, width, origin, gains.limit()));
    }
    return sums;
}

// The gain of the first expert awake, 0 where there is none. Gains are averaged as differences from it,
// so that tied experts give exactly their common gain: an error of one ulp would make a regret of
// 1e-16 out of none, and weights out of that.
inline double origin_of(const Gains& gains, const double* confidence, size_t n) {
    double room;
    if (!confidence) return *gains.part(0, 1, &room);
    for (size_t i = 0; i < n; ++i)
        if (confidence[i] > 0.0) return *gains.part(i, 1, &room);
    return 0.0;
}

// Write the distribution by scores: the experts awake keep the right proportions although a sleeper's
// weight is e^1000 times theirs. All zeros where no expert is awake.
NORMALHEDGE_VECTORISED inline void share_by_scores(const double* scores, const double* confidence,
                                                   size_t n, double* played) {
    const bool some = leading(scores, confidence, n) > some_score;
#pragma omp simd
    for (size_t i = 0; i < n; ++i) {
        const double k = confidence[i];
        const double heard = log(larger(k, tiny)) * log2_e + (some ? scores[i] : 0.0);
        played[i] = k > 0.0 ? heard : no_score;
    }
    const double top = leading(played, n);
    if (top <= some_score) {
        fill(played, n, 0.0);
        return;
    }
#pragma omp simd
    for (size_t i = 0; i < n; ++i) played[i] = confidence[i] > 0.0 ? exp2(played[i] - top) : 0.0;
    normalise(played, n);
}

// Write the distribution, ∝ weight times confidence; false where no expert awake has any weight.
NORMALHEDGE_VECTORISED inline bool share_by_weights(const double* weights, const double* confidence,
                                                    size_t n, double* played) {
    const double mass = sum_of(n, [&](size_t i) { return played[i] = weights[i] * confidence[i]; });
    if (!(mass > tiny)) return false;
    divide(played, n, mass);
    return true;
}

// Write the scores; `room` is for n doubles.
template <class Algorithm>
NORMALHEDGE_VECTORISED void score_all(const Algorithm& algorithm, const Columns& now,
                                      const double* confidence, double* scores, double* room) {
    algorithm.score(now, confidence, scores, room);
}

// Write the distribution.
template <class Algorithm>
void share(const Algorithm& algorithm, const Columns& now, const double* confidence,
           double* played) {
    if (share_by_weights(now.weights, confidence, now.n, played)) return;
    Scratch room(2 * now.n);
    score_all(algorithm, now, confidence, room.data(), room.data() + now.n);
    share_by_scores(room.data(), confidence, now.n, played);
}

// The gain of the distribution beyond `origin`, where all experts with weight sleep.
template <class Algorithm>
double earn_by_scores(const Algorithm& algorithm, const Columns& now, const Gains& gains,
                      const double* confidence, double origin) {
    Scratch played(now.n);
    Scratch room(block);
    share(algorithm, now, confidence, played.data());
    double above = 0.0;
    for (size_t first = 0; first < now.n; first += block) {
        const size_t width = std::min(block, now.n - first);
        const double* g = gains.part(first, width, room.data());
        const double* q = played.data() + first;
        above += sum_of(width, [&](size_t i) { return q[i] * ((q[i] > 0.0 ? g[i] : origin) - origin); });
    }
    return above;
}

// Write the rises of some experts.
inline void rise(const double* gains, const double* confidence, size_t n, double gain,
                 double* rises) {
    if (!confidence) {
#pragma omp simd
        for (size_t i = 0; i < n; ++i) rises[i] = gains[i] - gain;
    } else if (gain != gain) {
        fill(rises, n, 0.0);
    } else {
#pragma omp simd
        for (size_t i = 0; i < n; ++i)
            rises[i] = confidence[i] > 0.0 ? confidence[i] * (gains[i] - gain) : 0.0;
    }
}

// Write the regrets of some experts; return the largest.
inline double enter(const Columns& before, const Columns& after, const double* rises, double keep) {
    const double* old = before.regrets();
    double* regrets = after.regrets();
    double lead = -infinity;
#pragma omp simd reduction(max : lead)
    for (size_t i = 0; i < after.n; ++i) {
        const double r = keep * old[i] + rises[i];
        regrets[i] = r;
        lead = larger(lead, r);
    }
    return lead;
}

// The same where all are awake, and nothing but the regrets is remembered: without an array of rises.
inline double enter(const Columns& before, const Columns& after, const double* gains, double gain,
                    double keep) {
    const double* old = before.regrets();
    double* regrets = after.regrets();
    double lead = -infinity;
#pragma omp simd reduction(max : lead)
    for (size_t i = 0; i < after.n; ++i) {
        const double r = keep * old[i] + (gains[i] - gain);
        regrets[i] = r;
        lead = larger(lead, r);
    }
    return lead;
}

// The input of a round to the ledger.
struct Rises {
    const Gains& gains;
    const double* confidence;  // or none
    double gain;               // the hedger's
};

// Update the ledger of a block; return the largest regret.
template <class Algorithm>
double learn_block(const Algorithm& algorithm, const Columns& before, const Columns& after,
                   const Rises& round, size_t first) {
    double room[block];
    const size_t n = after.n;
    const double* gains = round.gains.part(first, n, room);
    if constexpr (Algorithm::rows == 1)
        if (!round.confidence) return enter(before, after, gains, round.gain, algorithm.keep);
    double rises[block];
    const double* confidence = round.confidence ? round.confidence + first : nullptr;
    rise(gains, confidence, n, round.gain, rises);
    algorithm.learn(before, after, rises, round.gain, nullptr);
    return enter(before, after, rises, algorithm.keep);
}

// Update the ledger of the experts in [first, last), block by block; return the largest regret.
template <class Algorithm>
NORMALHEDGE_VECTORISED Largest learn_part(const Algorithm& algorithm, const Columns& before,
                                          const Columns& after, const Rises& round, size_t first,
                                          size_t last) {
    Largest lead;
    for (; first < last; first += block) {
        const size_t width = std::min(block, last - first);
        lead.add({learn_block(algorithm, before.part(first, width), after.part(first, width), round,
                              first)});
    }
    return lead;
}

// Update the ledger where an algorithm must see all experts at once; return the largest regret. `room`
// is for 2n doubles.
template <class Algorithm>
NORMALHEDGE_VECTORISED Largest learn_whole(const Algorithm& algorithm, const Columns& before,
                                           const Columns& after, const Rises& round, double* room) {
    const size_t n = after.n;
    double* rises = room + n;
    rise(round.gains.part(0, n, room), round.confidence, n, round.gain, rises);
    algorithm.learn(before, after, rises, round.gain, room);
    return {enter(before, after, rises, algorithm.keep)};
}

// Write the weights of the experts in [first, last) up to a factor, block by block, after a round or,
// where there was none, as the regrets are.
template <class Algorithm>
NORMALHEDGE_VECTORISED Largest raise_part(const Algorithm& algorithm, const Columns& before,
                                          const Columns& after, const Rises* round, size_t first,
                                          size_t last, Masses* masses) {
    Largest largest;
    for (; first < last; first += block) {
        const size_t width = std::min(block, last - first);
        const Columns now = after.part(first, width);
        const double lead = round ? learn_block(algorithm, before.part(first, width), now, *round, first)
                                  : leading(now.regrets(), width);
        algorithm.raise(now, lead, masses[first / block]);
        largest.add({lead});
    }
    return largest;
}

// Bring the weights of the experts in [first, last) to a common scale.
NORMALHEDGE_VECTORISED inline Largest scale_part(double* weights, size_t first, size_t last,
                                                 const Masses* masses, double total) {
    for (; first < last; first += block) {
        const Masses& part = masses[first / block];
        if (part.weights == 0.0) continue;
        divide_ahead(part.ahead, weights + first, std::min(block, last - first),
                     part.ratio == 1.0 ? total : total / part.ratio);
    }
    return {};
}

// Update the regrets, if there was a round, and write the weights ∝ Phi'; return the largest regret
// and ln mean Phi. Each block is weighed relative to its own leader, and then brought to the common
// scale: the arrays are read once and written once and a half.
template <class Algorithm>
Outcome weigh_by_potential(const Algorithm& algorithm, const Columns& before, const Columns& after,
                           const Rises* round) {
    const size_t n = after.n;
    const size_t blocks = (n + block - 1) / block;
    Scratch room(blocks * (sizeof(Masses) / sizeof(double)));
    auto* masses = reinterpret_cast<Masses*>(room.data());
    const double lead = in_slices<Largest>(n, [&](size_t first, size_t last) {
        return raise_part(algorithm, before, after, round, first, last, masses);
    }).value;
    const auto potential = algorithm.potential(lead);
    double total = masses[0].weights;
    double mass = masses[0].potentials;
    masses[0].ratio = 1.0;
    if (blocks > 1) {
        total = mass = 0.0;
        for (size_t b = 0; b < blocks; ++b) {
            const double ratio = exp2(potential.exponent(masses[b].lead));
            total += ratio * masses[b].weights;
            mass += ratio * masses[b].potentials;
            masses[b].ratio = ratio;
        }
    }
    if (total > tiny) {
        in_slices<Largest>(n, [&](size_t first, size_t last) {
            return scale_part(after.weights, first, last, masses, total);
        });
    } else {
        fill(after.weights, n, 1.0 / static_cast<double>(n));
    }
    return {round ? round->gain : 0.0, lead, potential.log_mean(mass, n), false};
}

// Write the weights; `room` is for n doubles, where the algorithm wants it.
template <class Algorithm>
NORMALHEDGE_VECTORISED void weigh_all(const Algorithm& algorithm, const Columns& now, double lead,
                                      double* room) {
    algorithm.weigh(now, lead, room);
}

// Write the weights; return ln mean Phi, NaN without a potential.
template <class Algorithm>
double weigh(const Algorithm& algorithm, const Columns& now, double lead) {
    if constexpr (Algorithm::has_potential) {
        return weigh_by_potential(algorithm, now, now, nullptr).log_potential;
    } else {
        Scratch room(Algorithm::wants_room ? now.n : 0);
        weigh_all(algorithm, now, lead, room.data());
        return not_a_number;
    }
}

// How many doubles `as_played` needs.
template <class Algorithm>
size_t room_to_recall(const Algorithm& algorithm, size_t n) {
    if constexpr (Algorithm::late)
        return algorithm.delay > 0 ? n : 0;
    else
        return 0;
}

// The game as it was when the round was played: as it is now, unless outcomes are late.
template <class Algorithm>
Columns as_played(const Algorithm& algorithm, const Columns& now, double* room) {
    if constexpr (Algorithm::late) {
        if (algorithm.delay > 0) {
            const Columns then = algorithm.then(now, room);
            weigh(algorithm, then, 0.0);
            return then;
        }
    }
    return now;
}

// Play a round. `after` may be `before`; input is checked before any number is written. The hedger's gain is
// `blend_gain`, where the round was played with other weights.
template <class Algorithm>
Outcome play_round(const Algorithm& algorithm, const Columns& before, const Columns& after,
                   const Gains& gains, const double* confidence, const double* blend_gain = nullptr) {
    const size_t n = before.n;
    const double origin = origin_of(gains, confidence, n);
    Scratch recalled(room_to_recall(algorithm, n));
    const Columns played = as_played(algorithm, before, recalled.data());
    const Tally all = in_slices<Tally>(n, [&](size_t first, size_t last) {
        return tally_part(played.weights, gains, confidence, first, last, origin);
    });
    if (all.bad > 0.0) return {not_a_number, 0.0, 0.0, true};
    double gain = not_a_number;
    if (!confidence) {
        gain = within(origin + all.above, -gains.limit(), gains.limit());
    } else if (all.mass > tiny) {
        gain = within(origin + all.above / all.mass, -gains.limit(), gains.limit());
    } else if (all.awake > 0.0) {
        gain = within(origin + earn_by_scores(algorithm, played, gains, confidence, origin),
                      -gains.limit(), gains.limit());
    }
    if (blend_gain && gain == gain) gain = *blend_gain;
    const Rises round{gains, confidence, gain};
    if constexpr (Algorithm::has_potential) {
        return weigh_by_potential(algorithm, before, after, &round);
    } else {
        Largest lead;
        if constexpr (Algorithm::whole) {
            Scratch room(2 * n);
            lead = learn_whole(algorithm, before, after, round, room.data());
        } else {
            algorithm.tick(before.totals, after.totals);
            lead = in_slices<Largest>(n, [&](size_t first, size_t last) {
                return learn_part(algorithm, before, after, round, first, last);
            });
        }
        return {gain, lead.value, weigh(algorithm, after, lead.value), false};
    }
}

// Let all gains so far count half, so many times: each row and total shrinks by its factor, and the
// logarithm of the weights by the last factor, where the weights are the memory.
template <class Algorithm>
void rescale_gains(const Algorithm& algorithm, const Columns& now, const double* factors, int times) {
    const size_t rows = algorithm.all_rows();
    const size_t totals = algorithm.all_totals();
    const auto power = [&](size_t k) { return std::pow(factors[k], times); };
    for (size_t r = 0; r < rows; ++r) {
        double* row = now.row(r);
        const double factor = power(r);
#pragma omp simd
        for (size_t i = 0; i < now.n; ++i) row[i] *= factor;
    }
    for (size_t k = 0; k < totals; ++k) now.totals[k] *= power(rows + k);
    const double of_weights = power(rows + totals);
    if (of_weights == 1.0) {
        weigh(algorithm, now, leading(now.regrets(), now.n));
        return;
    }
    Scratch room(now.n);
    double* weights = now.weights;
    score_all(algorithm, now, nullptr, weights, room.data());
#pragma omp simd
    for (size_t i = 0; i < now.n; ++i) weights[i] *= of_weights;
    raise_scores(now.weights, now.n);
}

}  // namespace normalhedge::engine
