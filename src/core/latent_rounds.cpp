// Functions of the module that follow regimes: rounds of many hidden Markov models of several families.
//
// Candidates have up to K states; arrays end with the states, and are zero where a candidate has
// fewer.
#include "fitting.hpp"

#include <vector>

#include "mixed_quantiles.hpp"
#include "objects.hpp"

namespace normalhedge::python {

namespace {

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

// Write the share of the prediction below each observation, T x d, NaN where it is missing. The prediction of each
// candidate, of which mean and variance are given, is taken for normal: novelty looks at ranks only. Of counts and
// symbols, which come in steps, a half of the step is below.
void places_below(Sheet observations, Sheet weights, Cube<const double> means, Cube<const double> variances,
                  bool steps, Matrix<double> places) {
    const size_t count = weights.columns, d = places.columns, rounds = places.rows;
    require(observations.rows == rounds && observations.columns >= d && weights.rows == rounds &&
                means.layers == rounds && means.rows == count && means.columns == d &&
                variances.layers == rounds && variances.rows == count && variances.columns == d,
            sizes);
    std::vector<double> centres(count), over(count);
    for (size_t t = 0; t < rounds; ++t)
        for (size_t c = 0; c < d; ++c) {
            const double y = observations.row(t)[c];
            for (size_t n = 0; n < count; ++n) {
                const double variance = variances.layer(t).row(n)[c] + (steps ? 1.0 / 12.0 : 0.0);
                centres[n] = means.layer(t).row(n)[c];
                over[n] = 1.0 / std::sqrt(larger(variance, tiny));
            }
            places.row(t)[c] =
                y == y ? normal_share_below(weights.row(t), centres.data(), over.data(), count, y) : not_a_number;
        }
}

// Write quantiles of a mixture of normal distributions and Student's; see mixed_quantiles.hpp.
void mixed_quantiles(Sheet normals, Sheet students, Row levels, Vector<double> result) {
    require((normals.rows == 3 || normals.columns == 0) &&
                (students.rows == 4 || students.columns == 0) && result.n == levels.n,
            sizes);
    const MixedDistribution distribution(
        {normals.data, normals.row(1), normals.row(2), nullptr, normals.columns},
        {students.data, students.row(1), students.row(2), students.row(3), students.columns});
    for (size_t i = 0; i < levels.n; ++i)
        result[i] = distribution.quantile(levels[i]);
}

PyMethodDef functions[] = {
    bind<log_gains>("log_gains", "Write the gains of candidates, given their log densities."),
    bind<mixed_quantiles>("mixed_quantiles",
                          "Write quantiles of a mixture of normal distributions and Student's."),
    bind<places_below>("places_below", "Write the share of the prediction below each observation."),
    bind<regime_shares>("regime_shares", "Write the probability of each regime and of a switch."),
    bind<remember_logs>("remember_logs",
                        "Write log densities of a mixture, update leads over it; return rounds."),
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

void add_latent_rounds(PyObject* module) {
    if (PyModule_AddFunctions(module, functions) < 0) throw PythonError();
}

}  // namespace normalhedge::python
