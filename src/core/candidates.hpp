// Candidates that observe the same series: hidden Markov models with fixed parameters and with online EM, of all
// families, and models without hidden states.
//
// In round t candidate n predicts with its states, whose probabilities follow from the rounds before,
//
//     p_n(y) = sum_s P_n(S_t = s | y_1..y_{t-1}) b_ns(y)
//
// of which the logarithm at y_t, the mean and the variance are written. Only the numbers change that the caller hands over:
// beliefs, statistics of online EM, and what the other models know.
#pragma once

#include <string>

#include "em_lanes.hpp"
#include "hidden_models.hpp"
#include "series_models.hpp"

namespace normalhedge::python {

// A candidate has a place among all candidates, and a label: the number of its family's name in Python.
struct Place {
    size_t row, label;
};

struct OnlineModel {
    Place place;
    std::array<std::int64_t, shape_numbers> shape;
    std::array<double, setting_numbers> settings;
    std::vector<double> centre, width;  // its units
    double log_width;                   // of the columns that are predicted

    size_t states() const { return static_cast<size_t>(shape[1]); }
    Shape form() const { return {shape.data(), shape.size()}; }
    Row limits() const { return {settings.data(), settings.size()}; }
};

struct OtherModel {
    Place place;
    std::string process, family;
    std::int64_t width;
    std::vector<double> grid;
    double memory;

    template <class Work>
    auto with(Vector<double> numbers, const Work& work) const {
        const Sheet values{grid.data(), 2, grid.size() / 2};
        return with_process({process.c_str()}, {family.c_str()}, width, values, memory, numbers, work);
    }
};

// A part of a mixture: the states of all candidates with a label, side by side.
struct Part {
    size_t label, rows = 0;
    std::vector<double> shares;
    std::vector<std::vector<double>> columns;  // of each state

    void add(double share, const double* first, size_t stride, size_t count) {
        require(columns.empty() || rows == count, sizes);
        rows = count;
        shares.push_back(share);
        columns.emplace_back(count);
        for (size_t i = 0; i < count; ++i) columns.back()[i] = first[i * stride];
    }
};

struct Candidates {
    size_t columns, predicted, width, count;  // predicted: the columns that are no covariates; width: K
    std::vector<std::int64_t> shapes;
    std::vector<double> parameters, initial, moves, packed;  // initial: n x K; moves: K x K x n
    std::vector<Place> fixed;
    std::vector<OnlineModel> online;
    std::vector<OtherModel> others;

    Models models() const {
        return {{shapes.data(), fixed.size(), 4}, {parameters.data(), parameters.size()}, columns};
    }
    size_t beliefs() const { return width * fixed.size(); }

    // Where the results of T rounds go: T x N, T x N x K, and twice T x N x predicted.
    struct Results {
        double *logs, *filtered, *means, *variances;
    };

    // Observe the rounds of a series but the first, which came before. `numbers` are of the models without
    // hidden states; `states`, (T + 1) x K x n, begins with the beliefs, and their next ones are written.
    void run(Series series, double* states, Vector<double> block, const std::vector<Vector<double>>& numbers,
             const Results& to) const {
        if (!fixed.empty()) filter(series, states, to);
        for (const OnlineModel& model : online) learn(model, series, block, to);
        const size_t rounds = series.rounds - 1;
        std::vector<double> own(rounds * predicted);
        for (size_t t = 0; t < rounds; ++t)
            std::copy_n(series.data + (t + 1) * columns, predicted, own.data() + t * predicted);
        for (size_t i = 0; i < others.size(); ++i)
            others[i].with(numbers[i], [&](auto process, const auto& model, size_t d) {
                require(d == predicted, sizes);
                const size_t at = others[i].place.row;
                run_series(process, model, d, {own.data(), rounds, d}, to.logs + at, to.means + at * d,
                           to.variances + at * d, count, count * d);
            });
    }

    // Write P_n(S_{t+1} | y_1..y_t), N x K.
    void predict(const double* states, Vector<double> block, double* result) const {
        for (size_t n = 0; n < fixed.size(); ++n)
            for (size_t s = 0; s < width; ++s) result[fixed[n].row * width + s] = states[s * fixed.size() + n];
        for (const OnlineModel& model : online)
            with_online(model.form(), model.limits(), columns, block, [&](const auto& family, const Online& now) {
                OnlineFit(family, now).predict(result + model.place.row * width);
            });
    }

    // The parameters of all states, in the units of the observations; each state with its probability, N x K.
    std::vector<Part> states_of(Vector<double> block, const double* probabilities) const {
        std::vector<Part> parts;
        const auto part = [&](size_t label) -> Part& {
            for (Part& one : parts)
                if (one.label == label) return one;
            parts.push_back({label, 0, {}, {}});
            return parts.back();
        };
        const Models all = models();
        for (size_t n = 0; n < fixed.size(); ++n) {
            const std::int64_t* shape = all.shapes.row(n);
            const size_t k = all.states(n);
            for (size_t s = 0; s < k; ++s)
                part(fixed[n].label).add(probabilities[fixed[n].row * width + s], all.parameters.data + shape[3] + s, k,
                                         static_cast<size_t>(shape[2]));
        }
        for (const OnlineModel& model : online) {
            const std::vector<double> rows = restored(model, block);
            const size_t k = model.states();
            for (size_t s = 0; s < k; ++s)
                part(model.place.label).add(probabilities[model.place.row * width + s], rows.data() + s, k, rows.size() / k);
        }
        return parts;
    }

    // The mixture of all candidates in the next round.
    std::vector<Part> mix(const double* states, Vector<double> block, const std::vector<Vector<double>>& numbers,
                          Row weights) const {
        std::vector<double> shares(count * width);
        predict(states, block, shares.data());
        for (size_t n = 0; n < count; ++n)
            for (size_t s = 0; s < width; ++s) shares[n * width + s] *= weights[n];
        std::vector<Part> parts = states_of(block, shares.data());
        for (size_t i = 0; i < others.size(); ++i)
            others[i].with(numbers[i], [&](auto process, const auto& model, size_t) {
                const size_t most = process.components(), label = others[i].place.label;
                std::vector<double> own(most), rows(most * model.rows());
                const size_t used = process.ahead(1, {own.data(), rows.data(), most});
                size_t place = 0;
                while (place < parts.size() && parts[place].label != label) ++place;
                if (place == parts.size()) parts.push_back({label, 0, {}, {}});
                for (size_t j = 0; j < used; ++j)
                    parts[place].add(own[j] * weights[others[i].place.row], rows.data() + j, most, model.rows());
            });
        return parts;
    }

    // Write P_n(S_t | y_1..y_T), N x T x K.
    void smooth(Vector<double> block, Sheet series, double* result) const;

private:
    // The parameters of a model with online EM, in the units of the observations.
    std::vector<double> restored(const OnlineModel& model, Vector<double> block) const {
        return with_online(model.form(), model.limits(), columns, block, [&](const auto& family, const Online& now) {
            const size_t k = model.states();
            std::vector<double> rows(now.parameters, now.parameters + family.rows() * k);
            for (size_t s = 0; s < k; ++s) family.rescale({rows.data(), k, s}, model.centre.data(), model.width.data());
            return rows;
        });
    }

    // Write the mean and the variance of a column, in units, of a mixture over states.
    template <class Family>
    static void write_moments(const Family& family, const double* parameters, size_t k, Observation seen,
                              const double* shares, size_t stride, size_t predicted, const double* centre,
                              const double* unit, double* means, double* variances) {
        for (size_t c = 0; c < predicted; ++c) {
            double mean = 0.0, square = 0.0;
            // The parameters are read only: families take both kinds by one type.
            const auto moments = [&](size_t s) {
                return family.moments({const_cast<double*>(parameters), k, s}, seen, c);
            };
            for (size_t s = 0; s < k; ++s) mean += shares[s * stride] * moments(s).mean;
            for (size_t s = 0; s < k; ++s) {
                const auto [centred, variance] = moments(s);
                square += shares[s * stride] * (variance + (centred - mean) * (centred - mean));
            }
            means[c] = centre ? centre[c] + unit[c] * mean : mean;
            variances[c] = unit ? unit[c] * unit[c] * square : square;
        }
    }

    void filter(Series series, double* states, const Results& to) const;
    void learn(const OnlineModel& model, Series series, Vector<double> block, const Results& to) const;
};

inline void Candidates::filter(Series series, double* states, const Results& to) const {
    const size_t n_fixed = fixed.size(), K = width, rounds = series.rounds - 1;
    const Models all = models();
    const Bank bank{K, n_fixed, moves.data()};
    std::vector<double> scores(rounds * K * n_fixed, 0.0), highest(rounds * n_fixed, -1e300);
    for (size_t n = 0; n < n_fixed; ++n)
        all.with(n, [&](const auto& family, double* numbers) {
            using Family = std::decay_t<decltype(family)>;
            const size_t k = all.states(n);
            check_values(family, series);
            for (size_t s = 0; s < k; ++s) {
                const auto state = [&] {
                    if constexpr (packs<Family>) {
                        typename Family::State kept;
                        std::memcpy(&kept, packed.data() + (n * K + s) * packed_numbers, sizeof kept);
                        return kept;
                    } else {
                        return family.state({numbers, k, s});
                    }
                }();
                for (size_t t = 0; t < rounds; ++t) {
                    const Observation seen = series[t + 1];
                    const double density = family.known(seen) ? family.log_density(state, seen) : 0.0;
                    scores[(t * K + s) * n_fixed + n] = density;
                    highest[t * n_fixed + n] = larger(highest[t * n_fixed + n], density);
                }
            }
            for (size_t t = 0; t < rounds; ++t)
                for (size_t s = 0; s < k; ++s) {
                    double& score = scores[(t * K + s) * n_fixed + n];
                    score = exp2(smaller(score - highest[t * n_fixed + n], 0.0) * log2_e);
                }
        });
    std::vector<double> zeros(n_fixed, 0.0), totals(n_fixed), room(room_to_observe(bank));
    for (size_t t = 0; t < rounds; ++t) {
        const double* before = states + t * beliefs();
        const double* now = scores.data() + t * K * n_fixed;
        observe(bank, {before, zeros.data()}, now, 0.0, {states + (t + 1) * beliefs(), totals.data()}, room.data());
        for (size_t n = 0; n < n_fixed; ++n) {
            const size_t at = t * count + fixed[n].row;
            to.logs[at] = totals[n] + highest[t * n_fixed + n];
            double sum = 0.0;
            for (size_t s = 0; s < K; ++s) sum += before[s * n_fixed + n] * now[s * n_fixed + n];
            double* f = to.filtered + at * K;
            for (size_t s = 0; s < K; ++s)
                f[s] = sum > least_likelihood ? before[s * n_fixed + n] * now[s * n_fixed + n] / sum
                                              : before[s * n_fixed + n];
        }
    }
    for (size_t n = 0; n < n_fixed; ++n)
        all.with(n, [&](const auto& family, double* numbers) {
            for (size_t t = 0; t < rounds; ++t) {
                const size_t at = (t * count + fixed[n].row) * predicted;
                write_moments(family, numbers, all.states(n), series[t + 1], states + t * beliefs() + n, n_fixed,
                              predicted, nullptr, nullptr, to.means + at, to.variances + at);
            }
        });
}

inline void Candidates::learn(const OnlineModel& model, Series series, Vector<double> block, const Results& to) const {
    with_online(model.form(), model.limits(), columns, block, [&](const auto& family, const Online& now) {
        const size_t k = model.states();
        OnlineFit fit(family, now);
        std::vector<double> row(columns), states(k);
        for (size_t t = 0; t + 1 < series.rounds; ++t) {
            for (size_t c = 0; c < columns; ++c)
                row[c] = (series[t + 1].y[c] - model.centre[c]) / model.width[c];
            check_values(family, Series{row.data(), 1, columns});
            const size_t at = t * count + model.place.row;
            fit.predict(states.data());
            write_moments(family, now.parameters, k, {row.data(), now.previous}, states.data(), 1, predicted,
                          model.centre.data(), model.width.data(), to.means + at * predicted,
                          to.variances + at * predicted);
            const double density = fit.observe(row.data(), model.settings[0], model.settings[1]);
            to.logs[at] = density == 0.0 ? 0.0 : density - model.log_width;
            std::copy_n(now.chain.initial, k, to.filtered + at * width);
        }
    });
}

inline void Candidates::smooth(Vector<double> block, Sheet series, double* result) const {
    const size_t rounds = series.rows, hidden = fixed.size() + online.size();
    const Guards guards{0.0, 0.0, 0.0};
    LaneFits fits(series.data, rounds, guards, 0.0);
    std::vector<Laned> laned;
    std::vector<size_t> places;
    std::vector<std::vector<double>> kept;  // what the lanes point at
    laned.reserve(hidden);
    kept.reserve(3 * hidden);
    const auto keep = [&](std::vector<double> numbers) { return kept.emplace_back(std::move(numbers)).data(); };
    const auto add = [&](const auto& family, const Place& place, size_t k, double* numbers, double* first, double* steps) {
        using Family = std::decay_t<decltype(family)>;
        check_values(family, series_of(series));
        if constexpr (std::is_same_v<Family, Normal> || std::is_same_v<Family, Student>) {
            laned.push_back({std::is_same_v<Family, Student>, 0, 0.0, 1.0, Chain{k, first, steps}, numbers, 0, nullptr,
                             0, 0.0, true, false});
            places.push_back(place.row);
            return;
        }
        Expected room(rounds, k);
        write_log_densities(family, series_of(series), numbers, k, room.table.data());
        expect({k, first, steps}, rounds, room);
        for (size_t t = 0; t < rounds; ++t)
            std::copy_n(room.table.data() + t * k, k, result + (place.row * rounds + t) * width);
    };
    const Models all = models();
    for (size_t n = 0; n < fixed.size(); ++n) {
        const size_t k = all.states(n);
        const double* start = initial.data() + n * width;
        std::vector<double> steps(k * k);
        for (size_t r = 0; r < k; ++r)
            for (size_t s = 0; s < k; ++s) steps[r * k + s] = moves[(r * width + s) * fixed.size() + n];
        double* first = keep({start, start + k});
        double* chain = keep(std::move(steps));
        all.with(n, [&](const auto& family, double* numbers) { add(family, fixed[n], k, numbers, first, chain); });
    }
    for (const OnlineModel& model : online) {
        const size_t k = model.states();
        double* numbers = keep(restored(model, block));
        double* first = keep(std::vector<double>(k, 1.0 / static_cast<double>(k)));
        with_online(model.form(), model.limits(), columns, block, [&](const auto& family, const Online& now) {
            double* chain = keep({now.chain.transition, now.chain.transition + k * k});
            add(family, model.place, k, numbers, first, chain);
        });
    }
    for (size_t k = 1; k <= width; ++k) {
        std::vector<Laned*> alike;
        std::vector<size_t> rows;
        for (size_t i = 0; i < laned.size(); ++i)
            if (laned[i].chain.states == k) alike.push_back(&laned[i]), rows.push_back(places[i]);
        for (size_t begin = 0; begin < alike.size(); begin += lanes_for(k)) {
            const size_t used = std::min(lanes_for(k), alike.size() - begin);
            const latent::Lanes& lanes = fits.smooth(alike.data() + begin, used);
            for (size_t l = 0; l < used; ++l)
                for (size_t t = 0; t < rounds; ++t)
                    for (size_t s = 0; s < k; ++s)
                        result[(rows[begin + l] * rounds + t) * width + s] = lanes.table[(t * k + s) * lanes.lanes + l];
        }
    }
}

}  // namespace normalhedge::python
