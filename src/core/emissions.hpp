// Emissions of a hidden Markov model: densities, and their parameters from weighted data.
//
// Every family works by statistics, sums over the observations with the weights of a state:
//
//     S_a = sum_t w_t s_a(y_t)        parameters = solve(S)
//
// so a fit to a whole series and one that forgets share their code. Parameters lie in rows with a
// column for each state. An observation has one or several columns; where one of them is NaN, it is
// missing: its log density is 0, and its statistics are not added.
//
// `moments` are the mean and the variance of a column, given the observation before it and its covariates. `rescale`
// writes the parameters of centre + width y; counts and symbols have no units.
#pragma once

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "observations.hpp"

namespace normalhedge::latent {

// Columns that are normal, and independent within a state:
//
//     ln b(y) = -1/2 sum_c ((y_c - mean_c)^2 / variance_c + ln(2 pi variance_c))
//
// Rows: the means, then the variances. Statistics: 1, y_c, y_c^2.
struct Gaussian : ByStatistics {
    static constexpr const char* name = "gaussian";
    static constexpr bool one_column = false;

    struct State {
        std::vector<double> means, halves;  // halves: 1 / (2 variance)
        double log_norm;
    };

    size_t rows() const { return 2 * columns; }
    size_t statistics() const { return 1 + 2 * columns; }

    State state(const Parameters& p) const {
        State result{{}, {}, 0.0};
        for (size_t c = 0; c < columns; ++c) {
            result.means.push_back(p[c]);
            result.halves.push_back(0.5 / p[columns + c]);
            result.log_norm -= 0.5 * (log_two_pi + std::log(p[columns + c]));
        }
        return result;
    }
    double log_density(const State& state, Observation seen) const {
        double sum = state.log_norm;
        for (size_t c = 0; c < columns; ++c) {
            const double away = seen.y[c] - state.means[c];
            sum -= away * away * state.halves[c];
        }
        return sum;
    }
    Moments moments(const Parameters& p, Observation, size_t c) const { return {p[c], p[columns + c]}; }
    void rescale(const Parameters& p, const double* centre, const double* width) const {
        for (size_t c = 0; c < columns; ++c) {
            p[c] = centre[c] + width[c] * p[c];
            p[columns + c] *= width[c] * width[c];
        }
    }
    void add(const State&, Observation seen, double weight, double* sums) const {
        sums[0] += weight;
        for (size_t c = 0; c < columns; ++c) {
            const double first = weight * seen.y[c];
            sums[1 + c] += first;
            sums[1 + columns + c] += first * seen.y[c];
        }
    }
    void expect(const Parameters& p, double weight, double* sums) const {
        sums[0] = weight;
        for (size_t c = 0; c < columns; ++c) {
            sums[1 + c] = weight * p[c];
            sums[1 + columns + c] = weight * (p[columns + c] + p[c] * p[c]);
        }
    }
    void solve(const double* sums, const Parameters& p) const {
        for (size_t c = 0; c < columns; ++c) {
            p[c] = sums[1 + c] / sums[0];
            // A difference of moments may round to less than zero: the floor is above that, too.
            p[columns + c] = larger(sums[1 + columns + c] / sums[0] - p[c] * p[c], guards.floor);
        }
    }
};

// One normal column: the same, without loops over columns.
struct Normal : Gaussian {
    struct State {
        double mean, half, log_norm;
    };

    bool known(Observation seen) const { return seen.y[0] == seen.y[0]; }
    State state(const Parameters& p) const {
        return {p[0], 0.5 / p[1], -0.5 * (log_two_pi + std::log(p[1]))};
    }
    double log_density(const State& state, Observation seen) const {
        const double away = seen.y[0] - state.mean;
        return state.log_norm - away * away * state.half;
    }
    void add(const State&, Observation seen, double weight, double* sums) const {
        const double first = weight * seen.y[0];
        sums[0] += weight;
        sums[1] += first;
        sums[2] += first * seen.y[0];
    }
};

// Columns that are jointly normal in a state. Rows: the means, then the covariance, columns x
// columns. Statistics: 1, y_c, y_c y_d.
struct Covariant : ByStatistics {
    static constexpr const char* name = "full";
    static constexpr bool one_column = false;

    struct State {
        std::vector<double> means, root;  // root: of Cholesky, the covariance is root root'
        double log_norm;
    };

    size_t rows() const { return columns + columns * columns; }
    size_t statistics() const { return rows() + 1; }

    State state(const Parameters& p) const {
        const size_t n = columns;
        State result{std::vector<double>(n), std::vector<double>(n * n), 0.0};
        std::vector<double>& root = result.root;
        for (size_t i = 0; i < n; ++i) {
            result.means[i] = p[i];
            for (size_t j = 0; j <= i; ++j) {
                double sum = p[n + i * n + j];
                for (size_t l = 0; l < j; ++l) sum -= root[i * n + l] * root[j * n + l];
                root[i * n + j] = i == j ? std::sqrt(larger(sum, tiny)) : sum / root[j * n + j];
            }
            result.log_norm -= 0.5 * log_two_pi + std::log(root[i * n + i]);
        }
        return result;
    }
    double log_density(const State& state, Observation seen) const {
        constexpr size_t few = 16;
        double room[few];
        std::vector<double> many(columns > few ? columns : 0);
        double* x = columns > few ? many.data() : room;
        double sum = state.log_norm;
        for (size_t i = 0; i < columns; ++i) {
            double left = seen.y[i] - state.means[i];
            for (size_t j = 0; j < i; ++j) left -= state.root[i * columns + j] * x[j];
            x[i] = left / state.root[i * columns + i];
            sum -= 0.5 * x[i] * x[i];
        }
        return sum;
    }
    Moments moments(const Parameters& p, Observation, size_t c) const {
        return {p[c], p[columns + c * columns + c]};
    }
    void rescale(const Parameters& p, const double* centre, const double* width) const {
        for (size_t i = 0; i < columns; ++i) p[i] = centre[i] + width[i] * p[i];
        for (size_t i = 0; i < columns; ++i)
            for (size_t j = 0; j < columns; ++j) p[columns + i * columns + j] *= width[i] * width[j];
    }
    void add(const State&, Observation seen, double weight, double* sums) const {
        sums[0] += weight;
        for (size_t i = 0; i < columns; ++i) {
            const double first = weight * seen.y[i];
            sums[1 + i] += first;
            double* row = sums + 1 + columns + i * columns;
            for (size_t j = 0; j < columns; ++j) row[j] += first * seen.y[j];
        }
    }
    void expect(const Parameters& p, double weight, double* sums) const {
        sums[0] = weight;
        for (size_t i = 0; i < columns; ++i) {
            sums[1 + i] = weight * p[i];
            for (size_t j = 0; j < columns; ++j) {
                const size_t place = columns + i * columns + j;
                sums[1 + place] = weight * (p[place] + p[i] * p[j]);
            }
        }
    }
    void solve(const double* sums, const Parameters& p) const {
        const size_t n = columns;
        std::vector<double> covariance(n * n);
        for (size_t i = 0; i < n; ++i) p[i] = sums[1 + i] / sums[0];
        for (size_t i = 0; i < n; ++i)
            for (size_t j = 0; j < n; ++j)
                covariance[i * n + j] = sums[1 + n + i * n + j] / sums[0] - p[i] * p[j];
        raise_eigenvalues(covariance);
        for (size_t i = 0; i < n * n; ++i) p[n + i] = covariance[i];
    }

    // The matrix, with no eigenvalue below the floor: among such it has the largest likelihood.
    // By Jacobi's rotations.
    void raise_eigenvalues(std::vector<double>& matrix) const {
        const size_t n = columns;
        std::vector<double> a = matrix, v(n * n, 0.0);
        for (size_t i = 0; i < n; ++i) v[i * n + i] = 1.0;
        for (int sweep = 0; sweep < 30; ++sweep) {
            double off = 0.0, on = 0.0;
            for (size_t i = 0; i < n; ++i)
                for (size_t j = 0; j < n; ++j) (i == j ? on : off) += a[i * n + j] * a[i * n + j];
            if (!(off > 1e-30 * on)) break;
            for (size_t i = 0; i < n; ++i)
                for (size_t j = i + 1; j < n; ++j) rotate(a, v, i, j);
        }
        bool low = false;
        for (size_t i = 0; i < n; ++i) low = low || a[i * n + i] < guards.floor;
        if (!low) return;
        for (size_t i = 0; i < n; ++i)
            for (size_t j = 0; j < n; ++j) {
                double sum = 0.0;
                for (size_t l = 0; l < n; ++l)
                    sum += v[i * n + l] * larger(a[l * n + l], guards.floor) * v[j * n + l];
                matrix[i * n + j] = sum;
            }
    }
    void rotate(std::vector<double>& a, std::vector<double>& v, size_t i, size_t j) const {
        const size_t n = columns;
        if (a[i * n + j] == 0.0) return;
        const double theta = (a[j * n + j] - a[i * n + i]) / (2.0 * a[i * n + j]);
        const double t = (theta < 0.0 ? -1.0 : 1.0) / (std::abs(theta) + std::hypot(theta, 1.0));
        const double c = 1.0 / std::sqrt(t * t + 1.0), s = t * c;
        const auto turn = [c, s](double& x, double& y) {
            const double old = x;
            x = c * old - s * y;
            y = s * old + c * y;
        };
        for (size_t l = 0; l < n; ++l) turn(a[l * n + i], a[l * n + j]);
        for (size_t l = 0; l < n; ++l) turn(a[i * n + l], a[j * n + l]);
        for (size_t l = 0; l < n; ++l) turn(v[l * n + i], v[l * n + j]);
    }
};

// sum_i w_i ln(1 + d_i / nu).
NORMALHEDGE_VECTORISED inline double weighted_logs(const double* weights, const double* squares,
                                                   size_t n, double inverse) {
    return sum_of(n, [&](size_t i) { return weights[i] * log(1.0 + squares[i] * inverse); });
}

// Student's t, with d = (y - location) / scale and nu degrees of freedom:
//
//     ln b(y) = c(nu) - ln scale - (nu + 1) / 2 ln(1 + d^2 / nu)
//     u = (nu + 1) / (nu + d^2)           the latent precision that is expected
//
// Rows: location, scale^2, nu. Statistics: 1, u, u y, u y^2. Then nu by its likelihood.
struct Student : ByStatistics {
    static constexpr const char* name = "student";
    static constexpr bool searches = true;
    static constexpr double fewest = 2.05, most = 200.0;  // above 2 there is a variance; at 200 it is all but normal

    struct State {
        double location, inverse, degrees, log_norm;
    };

    size_t rows() const { return 3; }
    size_t statistics() const { return 4; }

    static double log_norm(double nu) {
        return log_gamma(0.5 * (nu + 1.0)) - log_gamma(0.5 * nu) -
               0.5 * (std::log(nu) + 1.1447298858494002);  // ln pi
    }
    // The degrees of freedom near `now` with the largest likelihood, given weights and their total, and squares d^2.
    static double best_degrees(const double* weights, const double* squares, size_t n, double total,
                               double now) {
        const auto likelihood = [&](double log_nu) {
            const double nu = std::exp(log_nu);
            return total * log_norm(nu) -
                   0.5 * (nu + 1.0) * weighted_logs(weights, squares, n, 1.0 / nu);
        };
        return std::exp(best_near(std::log(now), 0.7, std::log(fewest), std::log(most), likelihood));
    }
    State state(const Parameters& p) const {
        return {p[0], 1.0 / p[1], p[2], log_norm(p[2]) - 0.5 * std::log(p[1])};
    }
    static double square(const State& state, Observation seen) {
        const double away = seen.y[0] - state.location;
        return away * away * state.inverse;
    }
    double log_density(const State& state, Observation seen) const {
        const double ratio = square(state, seen) / state.degrees;
        return state.log_norm - 0.5 * (state.degrees + 1.0) * log(1.0 + ratio);
    }
    Moments moments(const Parameters& p, Observation, size_t) const {
        return {p[0], p[1] * p[2] / (p[2] - 2.0)};
    }
    void rescale(const Parameters& p, const double* centre, const double* width) const {
        p[0] = centre[0] + width[0] * p[0];
        p[1] *= width[0] * width[0];
    }
    void add(const State& state, Observation seen, double weight, double* sums) const {
        const double u = (state.degrees + 1.0) / (state.degrees + square(state, seen));
        sums[0] += weight;
        sums[1] += weight * u;
        sums[2] += weight * u * seen.y[0];
        sums[3] += weight * u * seen.y[0] * seen.y[0];
    }
    void expect(const Parameters& p, double weight, double* sums) const {
        sums[0] = sums[1] = weight;
        sums[2] = weight * p[0];
        sums[3] = weight * (p[1] + p[0] * p[0]);
    }
    void solve(const double* sums, const Parameters& p) const {
        if (!(sums[1] > tiny)) return;
        p[0] = sums[2] / sums[1];
        p[1] = larger((sums[3] - p[0] * sums[2]) / sums[0], guards.floor);
    }
    void refine(const Series& series, const Shares& shares, const Parameters& p) const {
        if (guards.degrees > 0.0) return;
        const State now = state(p);
        std::vector<double> weights, squares;
        double total = 0.0;
        for (size_t t = 0; t < series.rounds; ++t) {
            if (!known(series[t]) || shares[t] < 1e-9) continue;
            weights.push_back(shares[t]);
            squares.push_back(square(now, series[t]));
            total += shares[t];
        }
        p[2] = best_degrees(weights.data(), squares.data(), weights.size(), total, p[2]);
    }
};

// An autoregression within a state, given the observation before:
//
//     y_t = intercept + phi y_{t-1} + e,   e normal with the variance of the state, |phi| <= 0.999
//
// An observation without one before it has the log density 0: it is given. Rows: intercept, phi,
// variance. Statistics: 1, x, y, x^2, x y, y^2 with x = y_{t-1}.
struct Autoregressive : ByStatistics {
    static constexpr const char* name = "autoregressive";
    static constexpr double steepest = 0.999;  // the process stays stationary, with a variance

    struct State {
        double intercept, phi, half, log_norm;
    };

    size_t rows() const { return 3; }
    size_t statistics() const { return 6; }
    bool known(Observation seen) const {
        return seen.previous && all_known(seen.y, 1) && all_known(seen.previous, 1);
    }
    State state(const Parameters& p) const {
        return {p[0], p[1], 0.5 / p[2], -0.5 * (log_two_pi + std::log(p[2]))};
    }
    double log_density(const State& state, Observation seen) const {
        const double away = seen.y[0] - state.intercept - state.phi * seen.previous[0];
        return state.log_norm - away * away * state.half;
    }
    // After a gap, of the stationary process.
    Moments moments(const Parameters& p, Observation seen, size_t) const {
        if (seen.previous && all_known(seen.previous, 1)) return {p[0] + p[1] * seen.previous[0], p[2]};
        return {p[0] / (1.0 - p[1]), p[2] / (1.0 - p[1] * p[1])};
    }
    void rescale(const Parameters& p, const double* centre, const double* width) const {
        p[0] = centre[0] * (1.0 - p[1]) + width[0] * p[0];
        p[2] *= width[0] * width[0];
    }
    void add(const State&, Observation seen, double weight, double* sums) const {
        const double x = seen.previous[0], y = seen.y[0];
        sums[0] += weight;
        sums[1] += weight * x;
        sums[2] += weight * y;
        sums[3] += weight * x * x;
        sums[4] += weight * x * y;
        sums[5] += weight * y * y;
    }
    void expect(const Parameters& p, double weight, double* sums) const {
        const double mean = p[0] / (1.0 - p[1]);
        const double variance = p[2] / (1.0 - p[1] * p[1]);
        sums[0] = weight;
        sums[1] = sums[2] = weight * mean;
        sums[3] = sums[5] = weight * (variance + mean * mean);
        sums[4] = weight * (p[1] * variance + mean * mean);
    }
    void solve(const double* sums, const Parameters& p) const {
        const double x = sums[1] / sums[0], y = sums[2] / sums[0];
        const double xx = sums[3] / sums[0] - x * x, yy = sums[5] / sums[0] - y * y;
        const double xy = sums[4] / sums[0] - x * y;
        p[1] = xx > 1e-12 ? within(xy / xx, -steepest, steepest) : 0.0;
        p[0] = y - p[1] * x;
        p[2] = larger(yy - 2.0 * p[1] * xy + p[1] * p[1] * xx, guards.floor);
    }
};

// A regression within a state, given covariates x, which are the other columns of the observation:
//
//     y = intercept + sum_i slope_i x_i + e,   e normal with the variance of the state
//
// Rows: intercept, slopes, variance. Statistics: 1, z_c, z_c z_d with z = (y, x). A direction in which the covariates
// do not vary has the slope 0.
struct Regression : ByStatistics {
    static constexpr const char* name = "regression";
    static constexpr bool one_column = false;
    static constexpr double flat = 1e-9;  // the least share of a covariate's variance that is its own

    struct State {
        std::vector<double> slopes;
        double intercept, half, log_norm;
    };

    size_t rows() const { return columns + 1; }
    size_t statistics() const { return 1 + columns + columns * columns; }
    State state(const Parameters& p) const {
        State result{{}, p[0], 0.5 / p[columns], -0.5 * (log_two_pi + std::log(p[columns]))};
        for (size_t c = 1; c < columns; ++c) result.slopes.push_back(p[c]);
        return result;
    }
    double log_density(const State& state, Observation seen) const {
        double away = seen.y[0] - state.intercept;
        for (size_t c = 1; c < columns; ++c) away -= state.slopes[c - 1] * seen.y[c];
        return state.log_norm - away * away * state.half;
    }
    Moments moments(const Parameters& p, Observation seen, size_t) const {
        double mean = p[0];
        for (size_t c = 1; c < columns; ++c) mean += p[c] * seen.y[c];
        return {mean, p[columns]};
    }
    void rescale(const Parameters& p, const double* centre, const double* width) const {
        p[0] = centre[0] + width[0] * p[0];
        for (size_t c = 1; c < columns; ++c) {
            p[c] *= width[0] / width[c];
            p[0] -= p[c] * centre[c];
        }
        p[columns] *= width[0] * width[0];
    }
    void add(const State&, Observation seen, double weight, double* sums) const {
        sums[0] += weight;
        for (size_t c = 0; c < columns; ++c) {
            const double first = weight * seen.y[c];
            sums[1 + c] += first;
            double* row = sums + 1 + columns + c * columns;
            for (size_t d = 0; d < columns; ++d) row[d] += first * seen.y[d];
        }
    }
    // For covariates of mean 0 and variance 1, independent of each other.
    void expect(const Parameters& p, double weight, double* sums) const {
        std::fill(sums, sums + statistics(), 0.0);
        double* table = sums + 1 + columns;
        double square = p[0] * p[0] + p[columns];
        for (size_t c = 1; c < columns; ++c) {
            square += p[c] * p[c];
            table[c * columns + c] = weight;
            table[c] = table[c * columns] = weight * p[c];
        }
        sums[0] = weight;
        sums[1] = weight * p[0];
        table[0] = weight * square;
    }
    // By Cholesky's method, in the covariances of the covariates.
    void solve(const double* sums, const Parameters& p) const {
        const size_t n = columns - 1;
        const double* table = sums + 1 + columns;
        const auto mean = [&](size_t c) { return sums[1 + c] / sums[0]; };
        const auto covariance = [&](size_t c, size_t d) {
            return table[c * columns + d] / sums[0] - mean(c) * mean(d);
        };
        std::vector<double> root(n * n, 0.0), x(n, 0.0);
        for (size_t i = 0; i < n; ++i) {
            double sum = covariance(1 + i, 0);
            for (size_t j = 0; j < i; ++j) {
                double cross = covariance(1 + i, 1 + j);
                for (size_t l = 0; l < j; ++l) cross -= root[i * n + l] * root[j * n + l];
                root[i * n + j] = root[j * n + j] > 0.0 ? cross / root[j * n + j] : 0.0;
                sum -= root[i * n + j] * x[j];
            }
            double own = covariance(1 + i, 1 + i);
            const double least = flat * own;
            for (size_t l = 0; l < i; ++l) own -= root[i * n + l] * root[i * n + l];
            root[i * n + i] = own > larger(least, tiny) ? std::sqrt(own) : 0.0;
            x[i] = root[i * n + i] > 0.0 ? sum / root[i * n + i] : 0.0;
        }
        double variance = covariance(0, 0);
        for (size_t i = 0; i < n; ++i) variance -= x[i] * x[i];
        for (size_t i = n; i-- > 0;) {
            double sum = x[i];
            for (size_t j = i + 1; j < n; ++j) sum -= root[j * n + i] * p[1 + j];
            p[1 + i] = root[i * n + i] > 0.0 ? sum / root[i * n + i] : 0.0;
        }
        p[0] = mean(0);
        for (size_t c = 1; c < columns; ++c) p[0] -= p[c] * mean(c);
        p[columns] = larger(variance, guards.floor);
    }
};

// Counts: ln b(y) = y ln rate - rate - ln y!. Rows: rate. Statistics: 1, y.
struct Poisson : ByStatistics {
    static constexpr const char* name = "poisson";

    struct State {
        double rate, log_rate;
    };

    size_t rows() const { return 1; }
    size_t statistics() const { return 2; }
    State state(const Parameters& p) const { return {p[0], std::log(p[0])}; }
    double log_density(const State& state, Observation seen) const {
        return seen.y[0] * state.log_rate - state.rate - log_factorial(seen.y[0]);
    }
    Moments moments(const Parameters& p, Observation, size_t) const { return {p[0], p[0]}; }
    void rescale(const Parameters&, const double*, const double*) const {}
    void add(const State&, Observation seen, double weight, double* sums) const {
        sums[0] += weight;
        sums[1] += weight * seen.y[0];
    }
    void expect(const Parameters& p, double weight, double* sums) const {
        sums[0] = weight;
        sums[1] = weight * p[0];
    }
    void solve(const double* sums, const Parameters& p) const {
        p[0] = larger(sums[1] / sums[0], guards.floor);
    }
};

// Counts that vary more than Poisson's, mean + mean^2 / size:
//
//     b(y) = Gamma(y + size) / (Gamma(size) y!) (size / (size + mean))^size (mean / (size + mean))^y
//
// Rows: mean, size. Statistics: 1, y, y^2, which give the mean, and the size by its likelihood from
// a whole series; where that is not at hand, by the variance.
struct NegativeBinomial : ByStatistics {
    static constexpr const char* name = "negative_binomial";
    static constexpr bool searches = true;
    static constexpr double smallest = 0.01, largest = 1e4;
    bool by_moments = false;

    struct State {
        double size, log_mean_share, log_norm;
    };

    size_t rows() const { return 2; }
    size_t statistics() const { return 3; }
    State state(const Parameters& p) const {
        const double log_sum = std::log(p[0] + p[1]);
        return {p[1], std::log(p[0]) - log_sum, p[1] * (std::log(p[1]) - log_sum) - log_gamma(p[1])};
    }
    double log_density(const State& state, Observation seen) const {
        const double y = seen.y[0];
        return state.log_norm + log_gamma(y + state.size) - log_factorial(y) +
               y * state.log_mean_share;
    }
    Moments moments(const Parameters& p, Observation, size_t) const {
        return {p[0], p[0] + p[0] * p[0] / p[1]};
    }
    void rescale(const Parameters&, const double*, const double*) const {}
    void add(const State&, Observation seen, double weight, double* sums) const {
        sums[0] += weight;
        sums[1] += weight * seen.y[0];
        sums[2] += weight * seen.y[0] * seen.y[0];
    }
    void expect(const Parameters& p, double weight, double* sums) const {
        sums[0] = weight;
        sums[1] = weight * p[0];
        sums[2] = weight * (p[0] + p[0] * p[0] / p[1] + p[0] * p[0]);
    }
    void solve(const double* sums, const Parameters& p) const {
        p[0] = larger(sums[1] / sums[0], guards.floor);
        if (!by_moments) return;
        const double more = sums[2] / sums[0] - p[0] * p[0] - p[0];
        p[1] = more > 0.0 ? within(p[0] * p[0] / more, smallest, largest) : largest;
    }
    void refine(const Series& series, const Shares& shares, const Parameters& p) const {
        std::vector<std::pair<double, double>> counts;  // each count, and its weight
        for (size_t t = 0; t < series.rounds; ++t)
            if (known(series[t]) && shares[t] >= 1e-9)
                counts.emplace_back(series[t].y[0], shares[t]);
        std::sort(counts.begin(), counts.end());
        size_t distinct = 0;
        for (size_t i = 0; i < counts.size(); ++i) {
            if (i && counts[i].first == counts[distinct - 1].first)
                counts[distinct - 1].second += counts[i].second;
            else
                counts[distinct++] = counts[i];
        }
        counts.resize(distinct);
        const double mean = p[0];
        const auto likelihood = [&](double log_size) {
            const double r = std::exp(log_size), log_sum = std::log(r + mean);
            const double norm = r * (log_size - log_sum) - log_gamma(r);
            double sum = 0.0;
            for (const auto& [y, weight] : counts)
                sum += weight * (norm + log_gamma(y + r) - y * log_sum);
            return sum;
        };
        p[1] = std::exp(best_near(std::log(p[1]), 1.0, std::log(smallest), std::log(largest),
                                  likelihood));
    }
};

// Symbols 0, 1, ..., each with a probability. Rows: the symbols. Statistics: indicators of the symbols.
struct Categorical : ByStatistics {
    static constexpr const char* name = "categorical";

    size_t symbols;

    using State = std::vector<double>;  // the logarithms

    size_t rows() const { return symbols; }
    size_t statistics() const { return symbols; }
    State state(const Parameters& p) const {
        State logs(symbols);
        for (size_t i = 0; i < symbols; ++i) logs[i] = std::log(p[i]);
        return logs;
    }
    double log_density(const State& state, Observation seen) const {
        return state[static_cast<size_t>(seen.y[0])];
    }
    Moments moments(const Parameters& p, Observation, size_t) const {
        double mean = 0.0, square = 0.0;
        for (size_t i = 0; i < symbols; ++i) {
            const double x = static_cast<double>(i);
            mean += p[i] * x;
            square += p[i] * x * x;
        }
        return {mean, larger(square - mean * mean, 0.0)};
    }
    void rescale(const Parameters&, const double*, const double*) const {}
    void add(const State&, Observation seen, double weight, double* sums) const {
        sums[static_cast<size_t>(seen.y[0])] += weight;
    }
    void expect(const Parameters& p, double weight, double* sums) const {
        for (size_t i = 0; i < symbols; ++i) sums[i] = weight * p[i];
    }
    void solve(const double* sums, const Parameters& p) const {
        double total = 0.0;
        for (size_t i = 0; i < symbols; ++i) total += sums[i] + guards.pseudo_count;
        for (size_t i = 0; i < symbols; ++i) p[i] = (sums[i] + guards.pseudo_count) / total;
    }
};

// The total weight of a state: the first statistic, but for symbols their sum.
template <class Family>
double weight_of(const Family&, const double* sums) {
    return sums[0];
}
inline double weight_of(const Categorical& family, const double* sums) {
    double total = 0.0;
    for (size_t i = 0; i < family.symbols; ++i) total += sums[i];
    return total;
}

// All families. A family is a struct and a place in this list; the class of its name in
// `latent/models/emissions` is the same family in Python. Models that learn online hold the place as a number.
using Families =
    std::tuple<Gaussian, Covariant, Student, Autoregressive, Poisson, NegativeBinomial, Categorical,
               Regression>;

}  // namespace normalhedge::latent
