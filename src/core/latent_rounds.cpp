// Functions of the module that follow regimes: rounds of many hidden Markov models of several families.
//
// Candidates have up to K states; arrays end with the states, and are zero where a candidate has
// fewer.
#include "fitting.hpp"

#include <vector>

#include "em_lanes.hpp"
#include "mixed_quantiles.hpp"
#include "objects.hpp"

namespace normalhedge::python {

namespace {

// Hidden Markov models with fixed parameters. A model has a row of `shapes`: the place of its
// family, its states, the rows of its parameters and where these begin in `parameters`.
struct Models {
    Matrix<const std::int64_t> shapes;
    Row parameters;
    size_t columns;

    size_t states(size_t n) const { return static_cast<size_t>(shapes.row(n)[1]); }

    void check(size_t most) const {
        require(shapes.columns == 4 && columns > 0, sizes);
        for (size_t n = 0; n < shapes.rows; ++n) {
            const std::int64_t* shape = shapes.row(n);
            const auto size = static_cast<std::int64_t>(parameters.n);
            require(shape[1] > 0 && shape[1] <= static_cast<std::int64_t>(most) && shape[2] > 0 &&
                        shape[2] <= size && shape[3] >= 0 && shape[3] <= size &&
                        shape[1] * shape[2] <= size - shape[3],
                    sizes);
        }
    }

    // Call a function with a model's family and its parameters.
    template <class Work>
    auto with(size_t n, const Work& work) const {
        const double none[] = {0.0, 0.0, 0.0};
        const std::int64_t* shape = shapes.row(n);
        const auto rows = static_cast<size_t>(shape[2]);
        // The parameters are read only: families take both kinds by one type.
        auto* numbers = const_cast<double*>(parameters.data) + shape[3];
        return with_family(static_cast<size_t>(shape[0]), columns, rows, {none, 3},
                           [&](const auto& family) {
                               require(rows == family.rows(), sizes);
                               return work(family, numbers);
                           });
    }
};

// Doubles for each state that hold the constants of its density, where they are plain numbers.
constexpr size_t packed_numbers = 4;

template <class Family>
constexpr bool packs = std::is_trivially_copyable_v<typename Family::State> &&
                       sizeof(typename Family::State) <= packed_numbers * sizeof(double);

void pack_states(Matrix<const std::int64_t> shapes, Row parameters, std::int64_t columns,
                 Cube<double> packed) {
    require(columns > 0, sizes);
    const Models models{shapes, parameters, static_cast<size_t>(columns)};
    models.check(packed.rows);
    require(packed.layers == shapes.rows && packed.columns == packed_numbers, sizes);
    for (size_t n = 0; n < shapes.rows; ++n)
        models.with(n, [&](const auto& family, double* numbers) {
            using Family = std::decay_t<decltype(family)>;
            const size_t k = models.states(n);
            for (size_t s = 0; s < k; ++s) {
                if constexpr (packs<Family>) {
                    const auto state = family.state({numbers, k, s});
                    std::memcpy(packed.layer(n).row(s), &state, sizeof state);
                }
            }
        });
}

// Filter models of all families through T rounds: `series` begins with the round before. `places` are their rows
// in `logs`, T x N, and `filtered`, T x N x K; `predicted` is (T + 1) x K x models, of which the first is given.
void filter_candidates(Matrix<const std::int64_t> shapes, Row parameters,
                       Cube<const double> packed, Vector<const std::int64_t> places,
                       Cube<const double> transition, Sheet series, Cube<double> predicted,
                       Matrix<double> logs, Cube<double> filtered) {
    const size_t count = shapes.rows, K = packed.rows, rounds = logs.rows;
    const Models models{shapes, parameters, series.columns};
    models.check(K);
    require(count > 0 && packed.layers == count && packed.columns == packed_numbers &&
                places.n == count && transition.layers == K && transition.rows == K &&
                transition.columns == count && series.rows == rounds + 1 &&
                predicted.layers == rounds + 1 && predicted.rows == K &&
                predicted.columns == count && filtered.layers == rounds &&
                filtered.rows == logs.columns && filtered.columns == K,
            sizes);
    for (size_t n = 0; n < count; ++n)
        require(places[n] >= 0 && places[n] < static_cast<std::int64_t>(logs.columns), sizes);
    const Bank bank{K, count, transition.data};
    std::vector<double> scores(rounds * K * count, 0.0), highest(rounds * count, -1e300);
    for (size_t n = 0; n < count; ++n)
        models.with(n, [&](const auto& family, double* numbers) {
            using Family = std::decay_t<decltype(family)>;
            const size_t k = models.states(n);
            check_values(family, series_of(series));
            for (size_t s = 0; s < k; ++s) {
                const auto state = [&] {
                    if constexpr (packs<Family>) {
                        typename Family::State kept;
                        std::memcpy(&kept, packed.layer(n).row(s), sizeof kept);
                        return kept;
                    } else {
                        return family.state({numbers, k, s});
                    }
                }();
                for (size_t t = 0; t < rounds; ++t) {
                    const Observation seen{series.row(t + 1), series.row(t)};
                    const double density = family.known(seen) ? family.log_density(state, seen) : 0.0;
                    scores[(t * K + s) * count + n] = density;
                    highest[t * count + n] = larger(highest[t * count + n], density);
                }
            }
            for (size_t t = 0; t < rounds; ++t)
                for (size_t s = 0; s < k; ++s) {
                    double& score = scores[(t * K + s) * count + n];
                    score = exp2(smaller(score - highest[t * count + n], 0.0) * log2_e);
                }
        });
    std::vector<double> zeros(count, 0.0), totals(count), room(room_to_observe(bank));
    for (size_t t = 0; t < rounds; ++t) {
        const double* before = predicted.layer(t).data;
        const double* now = scores.data() + t * K * count;
        observe(bank, {before, zeros.data()}, now, 0.0,
                {predicted.layer(t + 1).data, totals.data()}, room.data());
        for (size_t n = 0; n < count; ++n) {
            const auto place = static_cast<size_t>(places[n]);
            logs.row(t)[place] = totals[n] + highest[t * count + n];
            double sum = 0.0;
            for (size_t s = 0; s < K; ++s) sum += before[s * count + n] * now[s * count + n];
            double* f = filtered.layer(t).row(place);
            for (size_t s = 0; s < K; ++s)
                f[s] = sum > least_likelihood ? before[s * count + n] * now[s * count + n] / sum
                                              : before[s * count + n];
        }
    }
}

// The gains of candidates, 1 + (l - max l) / nats, at least -1.
void log_gains(Sheet logs, double nats, Matrix<double> gains) {
    require(gains.rows == logs.rows && gains.columns == logs.columns, sizes);
    for (size_t t = 0; t < logs.rows; ++t) {
        double most = -infinity;
        for (size_t n = 0; n < logs.columns; ++n) most = larger(most, logs.row(t)[n]);
        for (size_t n = 0; n < logs.columns; ++n)
            gains.row(t)[n] = larger(1.0 + (logs.row(t)[n] - most) / nats, -1.0);
    }
}

// Write the log densities of the mixture, and update the discounted leads over the hidden Markov models
// together: of the candidates with each number of states, `ahead`, and of each candidate, `standing`; and the
// leads of each kind of models, N x kinds, over the first kind, `evidence`, which has no discount. Rounds that
// teach nothing leave them. Returns the discounted number of rounds.
double remember_logs(Sheet logs, Sheet weights, Vector<const std::int64_t> states,
                     Vector<const bool> known, double keep, double counted, Vector<double> ahead,
                     Vector<double> standing, Sheet kinds, Vector<double> evidence,
                     Vector<double> mixed) {
    const size_t count = logs.columns, m = evidence.n;
    require(weights.rows == logs.rows && weights.columns == count && states.n == count &&
                known.n == logs.rows && standing.n == count && mixed.n == logs.rows && count > 0 &&
                ahead.n > 0 && (kinds.rows == 0 || (kinds.rows == count && kinds.columns == m)),
            sizes);
    for (size_t n = 0; n < count; ++n)
        require(states[n] >= 0 && states[n] < static_cast<std::int64_t>(ahead.n), sizes);
    std::vector<double> shares(ahead.n), sums(ahead.n), weight(count), density(count);
    for (size_t t = 0; t < logs.rows; ++t) {
        const double *l = logs.row(t), *w = weights.row(t);
        double most = -infinity, total = 0.0;
        for (size_t n = 0; n < count; ++n) most = larger(most, l[n]);
        for (size_t n = 0; n < count; ++n) total += w[n] * std::exp(l[n] - most);
        mixed[t] = std::log(larger(total, 1e-300)) + most;
        if (!known[t]) continue;
        std::fill(shares.begin(), shares.end(), 0.0);
        std::fill(sums.begin(), sums.end(), 0.0);
        for (size_t n = 0; n < count; ++n) {
            const auto k = static_cast<size_t>(states[n]);
            weight[n] = w[n] + 1e-9;
            density[n] = weight[n] * std::exp(within(l[n] - mixed[t], -600.0, 600.0));
            shares[k] += weight[n];
            sums[k] += density[n];
        }
        double together = 0.0, share = 0.0;
        for (size_t k = 1; k < ahead.n; ++k) together += sums[k], share += shares[k];
        const double hidden = std::log(together) - std::log(share);
        for (size_t k = 0; k < ahead.n; ++k)
            ahead[k] = keep * ahead[k] + std::log(sums[k] + 1e-290) - std::log(shares[k] + 1e-290) -
                       (shares[k] > 0.0 ? hidden : 0.0);
        for (size_t n = 0; n < count; ++n)
            standing[n] = keep * standing[n] + within(l[n] - mixed[t] - hidden, -20.0, 20.0);
        double first = 0.0;
        for (size_t k = 0; k < m && kinds.rows; ++k) {
            double sum = 0.0, total_share = 0.0;
            for (size_t n = 0; n < count; ++n) {
                sum += density[n] * kinds.row(n)[k];
                total_share += weight[n] * kinds.row(n)[k];
            }
            const double log_density =
                total_share > 0.0 ? std::log(sum + 1e-290) - std::log(total_share) : 0.0;
            if (k == 0) first = log_density;
            if (total_share > 0.0) evidence[k] += log_density - first;
        }
        counted = keep * counted + 1.0;
    }
    return counted;
}

// Write the probability of each regime, T x regimes, and of a switch, T: see `RegimeLabels`. `hidden`
// is 1 for hidden Markov models, `alike` for the models with as many states as there are regimes.
void regime_shares(Sheet weights, Cube<const double> filtered, Cube<const double> maps, Sheet leave,
                   Row hidden, Row alike, Matrix<double> regimes, Vector<double> switching) {
    const size_t count = weights.columns, K = filtered.columns, most = regimes.columns;
    require(filtered.layers == weights.rows && filtered.rows == count && maps.layers == count &&
                maps.rows == K && maps.columns == most && leave.rows == count &&
                leave.columns == K && hidden.n == count && alike.n == count &&
                regimes.rows == weights.rows && switching.n == weights.rows,
            sizes);
    for (size_t t = 0; t < weights.rows; ++t) {
        double* shares = regimes.row(t);
        std::fill(shares, shares + most, 0.0);
        double total = 0.0, same = 0.0, leaving = 0.0;
        for (size_t n = 0; n < count; ++n) {
            const double weight = weights.row(t)[n];
            total += weight * hidden[n];
            same += weight * alike[n];
            for (size_t s = 0; s < K; ++s) {
                const double share = weight * filtered.layer(t).row(n)[s];
                leaving += share * leave.row(n)[s];
                const double* map = maps.layer(n).row(s);
                for (size_t r = 0; r < most; ++r) shares[r] += share * map[r];
            }
        }
        for (size_t r = 0; r < most; ++r) shares[r] /= larger(total, 1e-300);
        switching[t] = leaving / larger(same, 1e-300);
    }
}

// Write the predicted states of models that learn online, one after the other, and their parameters in the same
// order, rows x states, models of as many rows; see `online_observe`.
void online_components(Matrix<const std::int64_t> shapes, std::int64_t columns, Row block,
                       Vector<double> beliefs, Vector<double> parameters) {
    require(columns > 0, sizes);
    const double none[] = {0.0, 0.0, 0.0};
    size_t state = 0, number = 0;
    for (size_t m = 0; m < shapes.rows; ++m)
        with_online({shapes.row(m), shapes.columns}, {none, 3}, static_cast<size_t>(columns),
                    [&](const auto& family, const auto& places) {
                        const auto k = static_cast<size_t>(shapes.row(m)[1]);
                        const size_t numbers = family.rows() * k;
                        require(places[online_fields] <= block.n && state + k <= beliefs.n &&
                                    number + numbers <= parameters.n,
                                sizes);
                        const double* f = block.data + places[0];
                        const double* moves = block.data + places[1];
                        for (size_t s = 0; s < k; ++s) {
                            double sum = 0.0;
                            for (size_t r = 0; r < k; ++r) sum += f[r] * moves[r * k + s];
                            beliefs[state + s] = sum;
                        }
                        std::copy(block.data + places[2], block.data + places[2] + numbers,
                                  parameters.data + number);
                        state += k;
                        number += numbers;
                    });
}

// Write the smoothed states of models of all families, models x T x K; see `Models`.
void smooth_candidates(Matrix<const std::int64_t> shapes, Row parameters, Sheet initial,
                       Cube<const double> transition, Sheet series, Cube<double> smoothed) {
    const size_t count = shapes.rows, K = initial.columns, rounds = series.rows;
    const Models models{shapes, parameters, series.columns};
    models.check(K);
    require(rounds > 0 && initial.rows == count && transition.layers == count &&
                transition.rows == K && transition.columns == K && smoothed.layers == count &&
                smoothed.rows == rounds && smoothed.columns == K,
            sizes);
    const Guards guards{0.0, 0.0, 0.0};
    LaneFits fits(series.data, rounds, guards, 0.0);
    std::vector<Laned> laned;
    std::vector<size_t> places;
    std::vector<std::vector<double>> chains;
    laned.reserve(count);
    chains.reserve(2 * count);
    for (size_t n = 0; n < count; ++n) {
        const size_t k = models.states(n);
        std::vector<double> first(initial.row(n), initial.row(n) + k), moves(k * k);
        for (size_t r = 0; r < k; ++r)
            std::copy(transition.layer(n).row(r), transition.layer(n).row(r) + k,
                      moves.begin() + static_cast<std::ptrdiff_t>(r * k));
        models.with(n, [&](const auto& family, double* numbers) {
            using Family = std::decay_t<decltype(family)>;
            check_values(family, series_of(series));
            if constexpr (std::is_same_v<Family, Normal> || std::is_same_v<Family, Student>) {
                chains.push_back(first);
                double* start = chains.back().data();
                chains.push_back(moves);
                laned.push_back({std::is_same_v<Family, Student>, 0, 0.0, 1.0,
                                 Chain{k, start, chains.back().data()}, numbers, 0, nullptr, 0, 0.0,
                                 true, false});
                places.push_back(n);
                return;
            }
            Expected room(rounds, k);
            write_log_densities(family, series_of(series), numbers, k, room.table.data());
            expect({k, first.data(), moves.data()}, rounds, room);
            for (size_t t = 0; t < rounds; ++t)
                std::copy(room.table.data() + t * k, room.table.data() + (t + 1) * k,
                          smoothed.layer(n).row(t));
        });
    }
    for (size_t k = 1; k <= K; ++k) {
        std::vector<Laned*> alike;
        std::vector<size_t> rows;
        for (size_t i = 0; i < laned.size(); ++i)
            if (laned[i].chain.states == k) alike.push_back(&laned[i]), rows.push_back(places[i]);
        for (size_t begin = 0; begin < alike.size(); begin += lanes_for(k)) {
            const size_t width = std::min(lanes_for(k), alike.size() - begin);
            const latent::Lanes& lanes = fits.smooth(alike.data() + begin, width);
            for (size_t l = 0; l < width; ++l) {
                const Matrix<double> layer = smoothed.layer(rows[begin + l]);
                for (size_t t = 0; t < rounds; ++t)
                    for (size_t s = 0; s < k; ++s)
                        layer.row(t)[s] = lanes.table[(t * k + s) * lanes.lanes + l];
            }
        }
    }
}

// Write quantiles of a mixture of normal distributions and Student's; see mixed_quantiles.hpp.
void mixed_quantiles(Sheet normals, Sheet students, Row levels, double centre, double width,
                     Vector<double> result) {
    require((normals.rows == 3 || normals.columns == 0) &&
                (students.rows == 4 || students.columns == 0) && result.n == levels.n,
            sizes);
    const MixedDistribution distribution(
        {normals.data, normals.row(1), normals.row(2), nullptr, normals.columns},
        {students.data, students.row(1), students.row(2), students.row(3), students.columns});
    for (size_t i = 0; i < levels.n; ++i)
        result[i] = distribution.quantile(levels[i], centre, width);
}

PyMethodDef functions[] = {
    bind<filter_candidates>("filter_candidates",
                            "Filter hidden Markov models of all families; write log densities."),
    bind<log_gains>("log_gains", "Write the gains of candidates, given their log densities."),
    bind<mixed_quantiles>("mixed_quantiles",
                          "Write quantiles of a mixture of normal distributions and Student's."),
    bind<online_components>("online_components",
                            "Write predicted states and parameters of models that learn online."),
    bind<pack_states>("pack_states", "Write the constants of densities in each state."),
    bind<regime_shares>("regime_shares", "Write the probability of each regime and of a switch."),
    bind<remember_logs>("remember_logs",
                        "Write log densities of a mixture, update leads over it; return rounds."),
    bind<smooth_candidates>("smooth_candidates",
                            "Write smoothed states of hidden Markov models of all families."),
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

void add_latent_rounds(PyObject* module) {
    if (PyModule_AddFunctions(module, functions) < 0) throw PythonError();
}

}  // namespace normalhedge::python
