// Fitting a hidden Markov model: expectation and maximisation, on a whole series and online.
//
// With log densities l_t(s), initial probabilities and transition A, forward:
//
//     p_1 = initial,  z_t = sum_s p_t(s) b_t(s),  f_t(s) = p_t(s) b_t(s) / z_t,  p_{t+1} = f_t A
//
// and backward, without the likelihoods, so that neither missing nor impossible observations need
// any care:
//
//     g_T = f_T,   g_t(r) = f_t(r) sum_s A_rs g_{t+1}(s) / p_{t+1}(s)
//     expected transitions  A_rs sum_t f_t(r) g_{t+1}(s) / p_{t+1}(s)
//
// g are the smoothed probabilities of the states, ln P(y) = sum_t ln z_t.
#pragma once

#include <vector>

#include "emissions.hpp"
#include "filter.hpp"

namespace normalhedge::latent {

// Below this a predicted probability is no divisor: its state had no share.
constexpr double least_predicted = 1e-290;

// A state with less than this weight of the observations keeps its parameters.
constexpr double least_weight = 1e-8;

// Replace log densities by e^(l_t(s) - max_s l_t(s)), in place; write the maxima.
inline void scale_densities(double* logs, size_t rounds, size_t k, double* highest) {
    for (size_t t = 0; t < rounds; ++t) {
        const double* row = logs + t * k;
        double most = -1e300;
        for (size_t s = 0; s < k; ++s) most = larger(most, row[s]);
        highest[t] = most;
    }
    for (size_t t = 0; t < rounds; ++t)
        for (size_t s = 0; s < k; ++s) logs[t * k + s] = (logs[t * k + s] - highest[t]) * log2_e;
    const size_t n = rounds * k;
#pragma omp simd
    for (size_t i = 0; i < n; ++i) logs[i] = exp2(smaller(logs[i], 0.0));
}

// Replace scaled densities by f, in place; write p and z. An impossible observation has the likelihood
// 1e-280 and leaves the beliefs as they are, as in the filter.
template <size_t fixed>
void forward(double* table, size_t rounds, size_t states, const double* initial,
             const double* transition, double* predicted, double* likelihoods) {
    const size_t k = fixed ? fixed : states;
    for (size_t s = 0; s < k; ++s) predicted[s] = initial[s];
    for (size_t t = 0; t < rounds; ++t) {
        double* f = table + t * k;
        const double* p = predicted + t * k;
        double z = 0.0;
        for (size_t s = 0; s < k; ++s) z += f[s] *= p[s];
        likelihoods[t] = z;
        if (!(z > least_likelihood)) {
            likelihoods[t] = least_likelihood;
            z = 0.0;
            for (size_t s = 0; s < k; ++s) z += f[s] = p[s];
        }
        const double over = 1.0 / z;
        for (size_t s = 0; s < k; ++s) f[s] *= over;
        if (t + 1 == rounds) break;
        double* next = predicted + (t + 1) * k;
        for (size_t s = 0; s < k; ++s) next[s] = 0.0;
        for (size_t r = 0; r < k; ++r)
            for (size_t s = 0; s < k; ++s) next[s] += f[r] * transition[r * k + s];
    }
}

// ln P(y) = sum_t ln z_t + the logarithms of the scales of the densities.
inline double log_likelihood(const double* likelihoods, const double* highest, size_t rounds) {
    return sum_of(rounds, [&](size_t t) {
        return log(likelihoods[t]) + (highest[t] > -1e300 ? highest[t] : 0.0);
    });
}

// 1/p, in place; 0 where p is no divisor.
inline void invert(double* predicted, size_t n) {
#pragma omp simd
    for (size_t i = 0; i < n; ++i) {
        const double over = 1.0 / larger(predicted[i], least_predicted);
        predicted[i] = predicted[i] > least_predicted ? over : 0.0;
    }
}

// Replace f by g, in place; write the expected transitions.
template <size_t fixed>
void backward(double* table, const double* inverse, size_t rounds, size_t states,
              const double* transition, double* moves, double* ratio) {
    const size_t k = fixed ? fixed : states;
    for (size_t i = 0; i < k * k; ++i) moves[i] = 0.0;
    for (size_t t = rounds - 1; t-- > 0;) {
        const double* later = table + (t + 1) * k;
        double* f = table + t * k;
        for (size_t s = 0; s < k; ++s) ratio[s] = later[s] * inverse[(t + 1) * k + s];
        for (size_t r = 0; r < k; ++r) {
            double sum = 0.0;
            for (size_t s = 0; s < k; ++s) {
                sum += transition[r * k + s] * ratio[s];
                moves[r * k + s] += f[r] * ratio[s];
            }
            f[r] *= sum;
        }
    }
    for (size_t i = 0; i < k * k; ++i) moves[i] *= transition[i];
}

// A model without its emission, and its size.
struct Chain {
    size_t states;
    double* initial;
    double* transition;
};

// Room for the expectations of a series.
struct Expected {
    std::vector<double> table;  // rounds x states: log densities, then the smoothed probabilities
    std::vector<double> moves;  // states x states
    std::vector<double> inverse, highest, likelihoods, small;

    Expected(size_t rounds, size_t k)
        : table(rounds * k), moves(k * k), inverse(rounds * k), highest(rounds), likelihoods(rounds),
          small(k) {}
};

template <size_t fixed>
double expect(const Chain& chain, size_t rounds, Expected& room) {
    double* table = room.table.data();
    double small[fixed ? fixed : 1];
    double* spare = fixed ? small : room.small.data();
    forward<fixed>(table, rounds, chain.states, chain.initial, chain.transition,
                   room.inverse.data(), room.likelihoods.data());
    invert(room.inverse.data(), rounds * chain.states);
    backward<fixed>(table, room.inverse.data(), rounds, chain.states, chain.transition,
                    room.moves.data(), spare);
    return log_likelihood(room.likelihoods.data(), room.highest.data(), rounds);
}

// Replace log densities by smoothed probabilities, write the expected transitions, return ln P(y).
inline double expect(const Chain& chain, size_t rounds, Expected& room) {
    if (!rounds) return 0.0;
    scale_densities(room.table.data(), rounds, chain.states, room.highest.data());
    switch (chain.states) {
        case 1: return expect<1>(chain, rounds, room);
        case 2: return expect<2>(chain, rounds, room);
        case 3: return expect<3>(chain, rounds, room);
        case 4: return expect<4>(chain, rounds, room);
        default: return expect<0>(chain, rounds, room);
    }
}

template <class Family>
void write_log_densities(const Family& family, const Series& series, double* parameters, size_t k,
                         double* result) {
    for (size_t s = 0; s < k; ++s) {
        const auto state = family.state({parameters, k, s});
        for (size_t t = 0; t < series.rounds; ++t) {
            const Observation seen = series[t];
            result[t * k + s] = family.known(seen) ? family.log_density(state, seen) : 0.0;
        }
    }
}

// Distinct counts are few: each log density is computed once.
inline void write_log_densities(const NegativeBinomial& family, const Series& series,
                                double* parameters, size_t k, double* result) {
    constexpr size_t most = 512;
    size_t n = 0;
    for (size_t t = 0; t < series.rounds; ++t) {
        const double y = series.data[t];
        if (y < most && y + 1.0 > static_cast<double>(n)) n = static_cast<size_t>(y) + 1;
    }
    std::vector<double> table(n < series.rounds ? n : 0);
    for (size_t s = 0; s < k; ++s) {
        const auto state = family.state({parameters, k, s});
        for (size_t y = 0; y < table.size(); ++y) {
            const double count = static_cast<double>(y);
            table[y] = family.log_density(state, {&count, nullptr});
        }
        for (size_t t = 0; t < series.rounds; ++t) {
            const Observation seen = series[t];
            if (!family.known(seen))
                result[t * k + s] = 0.0;
            else if (seen.y[0] < static_cast<double>(table.size()))
                result[t * k + s] = table[static_cast<size_t>(seen.y[0])];
            else
                result[t * k + s] = family.log_density(state, seen);
        }
    }
}

// The M step: raise the expected log likelihood, to its maximum where there is a closed form. Parameters that
// need a search (degrees of freedom, sizes) change only where `thorough`.
template <class Family>
void maximise(const Family& family, const Series& series, const double* shares, size_t k,
              double* parameters, bool thorough = true) {
    std::vector<double> sums(family.statistics());
    for (size_t s = 0; s < k; ++s) {
        const Parameters mine{parameters, k, s};
        const Shares weights{shares, k, s};
        const auto state = family.state(mine);
        std::fill(sums.begin(), sums.end(), 0.0);
        for (size_t t = 0; t < series.rounds; ++t)
            if (family.known(series[t])) family.add(state, series[t], weights[t], sums.data());
        if (!(weight_of(family, sums.data()) > least_weight)) continue;
        family.solve(sums.data(), mine);
        if (thorough) family.refine(series, weights, mine);
    }
}

// Write probabilities in proportion to counts and pseudo counts; leave them where all counts are zero.
inline void normalise(const double* counts, double pseudo_count, size_t k, double* result) {
    double total = 0.0;
    for (size_t s = 0; s < k; ++s) total += counts[s] + pseudo_count;
    if (!(total > tiny)) return;
    for (size_t s = 0; s < k; ++s) result[s] = (counts[s] + pseudo_count) / total;
}

// c sum ln p: the log prior that belongs to pseudo counts c.
inline double log_prior(const double* probabilities, size_t n, double pseudo_count) {
    if (!(pseudo_count > 0.0)) return 0.0;
    double sum = 0.0;
    for (size_t i = 0; i < n; ++i) sum += std::log(probabilities[i]);
    return pseudo_count * sum;
}

inline double log_prior(const Categorical& family, const double* parameters, size_t k) {
    return log_prior(parameters, family.symbols * k, family.guards.pseudo_count);
}
template <class Family>
double log_prior(const Family&, const double*, size_t) {
    return 0.0;
}

// Iterations from one search for degrees of freedom or sizes to the next: a search costs as much as
// several iterations.
constexpr size_t thorough_every = 4;

struct Stopping {
    size_t iterations;
    double tolerance;
};

struct Ended {
    double log_likelihood;
    size_t iterations;
};

// Expectation and maximisation until the objective, ln P(y) and the log prior, gains less than
// `tolerance`. Writes the objective before each iteration and at the end.
//
// With `start`, rounds x states, an M step with these shares comes first.
template <class Family>
Ended fit(const Family& family, const Series& series, const Chain& chain, double* parameters,
          const double* start, const Stopping& stopping, double* trace) {
    const size_t k = chain.states;
    const double pseudo_count = family.guards.pseudo_count;
    Expected room(series.rounds, k);
    if (start) maximise(family, series, start, k, parameters);
    bool thorough = true;
    for (size_t i = 0;; ++i) {
        write_log_densities(family, series, parameters, k, room.table.data());
        const double total = expect(chain, series.rounds, room);
        trace[i] = total + log_prior(family, parameters, k) +
                   log_prior(chain.initial, k, pseudo_count) +
                   log_prior(chain.transition, k * k, pseudo_count);
        const bool settled = i && trace[i] - trace[i - 1] < stopping.tolerance;
        if ((settled && thorough) || i == stopping.iterations) return {total, i};
        thorough = !Family::searches || settled || i % thorough_every == 0;
        if (series.rounds) normalise(room.table.data(), pseudo_count, k, chain.initial);
        for (size_t r = 0; r < k; ++r)
            normalise(room.moves.data() + r * k, pseudo_count, k, chain.transition + r * k);
        maximise(family, series, room.table.data(), k, parameters, thorough);
    }
}

}  // namespace normalhedge::latent
