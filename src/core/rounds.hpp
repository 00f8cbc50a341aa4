// Many rounds in one call, where all experts are awake, of an algorithm that remembers regrets alone and plays the
// derivative of a potential: NormalHedge and Hedge. The equations are in engine.hpp and potential.hpp.
//
// The numbers are those of single rounds, to the bit. Up to 16 experts stay in registers: the last group of eight is filled
// up with experts that are behind for ever. Up to a block of experts stay in the nearest cache, and their gains are
// checked while the regrets change: a round with a bad gain is found too late, and spoils the game.
#pragma once

#include "engine.hpp"

namespace normalhedge::engine {

// What `run` records of each round: the hedger's gain, the largest regret and ln mean Phi; and the weights with which it
// was played, if `played` is not null.
struct Records {
    double* gains;
    double* leads;
    double* log_potentials;
    double* played;
};

// Whether the rounds of an algorithm can be played so.
template <class Algorithm>
constexpr bool plays_rounds() {
    return Algorithm::has_potential && Algorithm::rows == 1;
}

// Play the rounds of up to `groups` * 8 experts; return how many were good. The sums of potentials are recorded.
template <size_t groups, class Algorithm, class Number>
[[gnu::always_inline]] inline size_t rounds_of_few(const Algorithm& algorithm, const Columns& now, const Number* gains,
                                                   size_t rounds, const Records& records) {
    constexpr size_t lanes = SumLanes::count, most = groups * lanes;
    const size_t n = now.n;
    const double keep = algorithm.keep, share = 1.0 / static_cast<double>(n);
    double weights[most], regrets[most], g[most], phi[most];
    for (size_t i = 0; i < most; ++i) {
        weights[i] = i < n ? now.weights[i] : 0.0;
        regrets[i] = i < n ? now.regrets()[i] : -infinity;
    }
    size_t t = 0;
    for (; t < rounds; ++t, gains += n) {
        const double origin = static_cast<double>(gains[0]);
        SumLanes above;
        double wrong = 0.0;
        for (size_t first = 0; first < most; first += lanes) {
#pragma omp simd reduction(+ : wrong)
            for (size_t k = 0; k < lanes; ++k) {
                const size_t i = first + k;
                g[i] = i < n ? static_cast<double>(gains[i]) : 0.0;
                above.of[k] += weights[i] * (g[i] - origin);
                wrong += std::fabs(g[i]) <= 1.0 ? 0.0 : 1.0;
            }
        }
        if (wrong > 0.0) break;
        if (records.played)
            for (size_t i = 0; i < n; ++i) records.played[t * n + i] = weights[i];
        const double gain = within(origin + above.folded(), -1.0, 1.0);
        double lead = -infinity;
        for (size_t first = 0; first < most; first += lanes) {
#pragma omp simd reduction(max : lead)
            for (size_t i = first; i < first + lanes; ++i) {
                const double r = keep * regrets[i] + (g[i] - gain);
                regrets[i] = r;
                lead = larger(lead, r);
            }
        }
        const auto potential = algorithm.potential(lead);
        SumLanes slopes, potentials;
        for (size_t first = 0; first < most; first += lanes) {
#pragma omp simd
            for (size_t k = 0; k < lanes; ++k) {
                const size_t i = first + k;
                phi[i] = exp2(potential.exponent(regrets[i]));
                const double weight = potential.slope(regrets[i], phi[i]);
                weights[i] = weight;
                slopes.of[k] += weight;
                potentials.of[k] += i < n ? phi[i] : 0.0;
            }
        }
        const double total = slopes.folded(), scale = 1.0 / total;
        const bool some = total > tiny, exact = scale * total == 1.0;
        for (size_t first = 0; first < most; first += lanes) {
#pragma omp simd
            for (size_t i = first; i < first + lanes; ++i) {
                const double part = exact ? weights[i] * scale : weights[i] / total;
                weights[i] = some ? part : i < n ? share : 0.0;
            }
        }
        records.gains[t] = gain;
        records.leads[t] = lead;
        records.log_potentials[t] = potentials.folded();
    }
    for (size_t i = 0; i < n; ++i) {
        now.weights[i] = weights[i];
        now.regrets()[i] = regrets[i];
    }
    return t;
}

// The same for up to a block of experts.
template <class Algorithm, class Number>
[[gnu::always_inline]] inline size_t rounds_of_block(const Algorithm& algorithm, const Columns& now, const Number* gains,
                                                     size_t rounds, const Records& records) {
    const size_t n = now.n;
    const double keep = algorithm.keep;
    double *weights = now.weights, *regrets = now.regrets();
    double room[block];
    Masses masses;
    find_ahead(weights, n, masses.ahead);
    for (size_t t = 0; t < rounds; ++t, gains += n) {
        const double* g = as_doubles(gains, n, room);
        const double origin = g[0];
        const auto [above] = add_ahead(
            masses.ahead, n, [&](size_t i, double& sum) { sum += weights[i] * (g[i] - origin); }, SumLanes());
        const double gain = within(origin + above, -1.0, 1.0);
        if (records.played) std::copy(weights, weights + n, records.played + t * n);
        double lead = -infinity, wrong = 0.0;
#pragma omp simd reduction(max : lead) reduction(+ : wrong)
        for (size_t i = 0; i < n; ++i) {
            const double r = keep * regrets[i] + (g[i] - gain);
            regrets[i] = r;
            lead = larger(lead, r);
            wrong += std::fabs(g[i]) <= 1.0 ? 0.0 : 1.0;
        }
        if (wrong > 0.0) return t;
        algorithm.raise(now, lead, masses);
        if (masses.weights > tiny) {
            divide_ahead(masses.ahead, weights, n, masses.weights);
        } else {
            fill(weights, n, 1.0 / static_cast<double>(n));
            masses.ahead.all = true;
        }
        records.gains[t] = gain;
        records.leads[t] = lead;
        records.log_potentials[t] = masses.potentials;
    }
    return rounds;
}

template <class Algorithm, class Number>
NORMALHEDGE_VECTORISED size_t rounds_of(const Algorithm& algorithm, const Columns& now, const Number* gains,
                                        size_t rounds, const Records& records) {
    constexpr size_t lanes = SumLanes::count;
    if (now.n <= lanes) return rounds_of_few<1>(algorithm, now, gains, rounds, records);
    if (now.n <= 2 * lanes) return rounds_of_few<2>(algorithm, now, gains, rounds, records);
    return rounds_of_block(algorithm, now, gains, rounds, records);
}

// Play the rounds of a table of gains, in place; return how many were good. The logarithms are taken in the end: nothing
// waits for them.
template <class Algorithm>
size_t play_rounds(const Algorithm& algorithm, const Columns& now, const Gains& gains, size_t rounds,
                   const Records& records) {
    const size_t good =
        gains.visit([&](const auto* table) { return rounds_of(algorithm, now, table, rounds, records); });
    for (size_t t = 0; t < good; ++t) {
        double& mass = records.log_potentials[t];
        mass = algorithm.potential(records.leads[t]).log_mean(mass, now.n);
    }
    return good;
}

}  // namespace normalhedge::engine
