// Conjugate models of one run of observations: what is known of its parameters, and the predictive
// distribution that follows from it, integrated over them.
//
// A model keeps `numbers()` numbers for a run. `moments()` further numbers, of all observations so far, give the
// prior of a new run: centred where the series has been, and worth one observation.
#pragma once

#include <cmath>
#include <utility>

#include "observations.hpp"

namespace normalhedge::latent {

// Columns that are normal and independent within a run, with unknown means and variances.
//
//     1/variance ~ Gamma(a, b), mean ~ N(m, variance / n)
//     y ~ t(2a) around m with the scale (b (n + 1) / (a n))^1/2
//
// and after y: e = y - m, m += e / (n + 1), b += n e^2 / (2 (n + 1)), n += 1, a += 1/2. Several columns are predicted by
// normal distributions with the variances of these t. A level that wanders, by q variances a round, has
// 1/n += q before each observation: the Kalman filter of a local level whose variance is unknown. With a memory
// below 1 the variance may change as well: a and b shrink together.
//
// Numbers: m, n, a, b of each column. Predictive rows, of one column: location, scale^2, degrees of freedom; of several:
// the means, then the variances.
struct NormalGamma {
    static constexpr double shape = 1.1;  // of the prior: 2.2 degrees of freedom, so that there is a variance
    size_t columns = 1;

    size_t numbers() const { return 4 * columns; }
    size_t moments() const { return 1 + 2 * columns; }  // count; means; sums of squares around them
    size_t rows() const { return columns == 1 ? 3 : 2 * columns; }

    void remember(double* moments, const double* y) const {
        moments[0] += 1.0;
        for (size_t c = 0; c < columns; ++c) {
            const double away = y[c] - moments[1 + c];
            moments[1 + c] += away / moments[0];
            moments[1 + columns + c] += away * (y[c] - moments[1 + c]);
        }
    }
    void prior(const double* moments, double* run) const {
        for (size_t c = 0; c < columns; ++c) {
            const double mean = moments[1 + c];
            const double variance = moments[1 + columns + c] / larger(moments[0], 1.0);
            run[4 * c] = mean;
            run[4 * c + 1] = 1.0;
            run[4 * c + 2] = shape;
            // The rounding of a constant series is no variance.
            run[4 * c + 3] = shape * larger(variance, larger(1e-16 * mean * mean, tiny));
        }
    }
    void wander(double* run, double ratio, double memory) const {
        for (size_t c = 0; c < columns; ++c) {
            double* known = run + 4 * c;
            const double before = known[2];
            known[1] /= 1.0 + ratio * known[1];
            known[2] = shape + memory * (before - shape);
            known[3] *= known[2] / before;
        }
    }
    double log_predictive(const double* run, const double* y) const {
        double sum = 0.0;
        for (size_t c = 0; c < columns; ++c) {
            const double* known = run + 4 * c;
            const double away = y[c] - known[0], a = known[2];
            const double scale = known[3] * (known[1] + 1.0) / (a * known[1]);
            if (columns == 1) {
                sum += log_gamma(a + 0.5) - log_gamma(a) - 0.5 * std::log(2.0 * a * scale) - 0.5 * log_pi -
                       (a + 0.5) * log1p(away * away / (2.0 * a * scale));
            } else {
                const double variance = scale * a / (a - 1.0);
                sum -= 0.5 * (away * away / variance + std::log(variance) + log_two_pi);
            }
        }
        return sum;
    }
    void learn(double* run, const double* y) const {
        for (size_t c = 0; c < columns; ++c) {
            double* known = run + 4 * c;
            const double away = y[c] - known[0], more = known[1] + 1.0;
            known[0] += away / more;
            known[3] += 0.5 * known[1] * away * away / more;
            known[1] = more;
            known[2] += 0.5;
        }
    }
    void predictive(const double* run, double* row, size_t stride) const {
        for (size_t c = 0; c < columns; ++c) {
            const double* known = run + 4 * c;
            const double a = known[2], scale = known[3] * (known[1] + 1.0) / (a * known[1]);
            if (columns == 1) {
                row[0] = known[0];
                row[stride] = scale;
                row[2 * stride] = 2.0 * a;
            } else {
                row[c * stride] = known[0];
                row[(columns + c) * stride] = scale * a / (a - 1.0);
            }
        }
    }
    // The mean and the variance of a column, of predictive rows.
    std::pair<double, double> moments(const double* row, size_t stride, size_t c) const {
        if (columns > 1) return {row[c * stride], row[(columns + c) * stride]};
        const double degrees = row[2 * stride];
        return {row[0], row[stride] * degrees / (degrees - 2.0)};
    }

private:
    static constexpr double log_pi = 1.1447298858494002;
};

// Counts: Poisson with an unknown rate ~ Gamma(a, b), so y is negative binomial with the mean a / b and the size a;
// after y: a += y, b += 1. A rate that wanders has a and b divided by 1 + q before each observation.
//
// Numbers: a, b. Predictive rows: mean, size.
struct GammaPoisson {
    static constexpr double least = 0.1;  // the least mean of the prior

    size_t numbers() const { return 2; }
    size_t moments() const { return 2; }  // count, sum
    size_t rows() const { return 2; }

    void remember(double* moments, const double* y) const {
        moments[0] += 1.0;
        moments[1] += y[0];
    }
    void prior(const double* moments, double* run) const {
        run[0] = larger(moments[1] / larger(moments[0], 1.0), least);
        run[1] = 1.0;
    }
    void wander(double* run, double ratio, double) const {
        const double keep = 1.0 / (1.0 + ratio);
        run[0] = larger(keep * run[0], 0.01);
        run[1] *= keep;
    }
    double log_predictive(const double* run, const double* y) const {
        const double a = run[0], b = run[1];
        return log_gamma(a + y[0]) - log_gamma(a) - log_gamma(y[0] + 1.0) - a * std::log1p(1.0 / b) -
               y[0] * std::log1p(b);
    }
    void learn(double* run, const double* y) const {
        run[0] += y[0];
        run[1] += 1.0;
    }
    void predictive(const double* run, double* row, size_t stride) const {
        row[0] = run[0] / run[1];
        row[stride] = run[0];
    }
    std::pair<double, double> moments(const double* row, size_t stride, size_t) const {
        return {row[0], row[0] + row[0] * row[0] / row[stride]};
    }
};

// Symbols with unknown probabilities ~ Dirichlet(a): P(y) = a_y / sum a; after y: a_y += 1. Probabilities that
// wander have a divided by 1 + q before each observation.
//
// Numbers: a of each symbol. Predictive rows: the probabilities.
struct Dirichlet {
    size_t symbols;

    size_t numbers() const { return symbols; }
    size_t moments() const { return symbols; }
    size_t rows() const { return symbols; }

    void remember(double* moments, const double* y) const { moments[static_cast<size_t>(y[0])] += 1.0; }
    // The shares so far, shrunk towards even ones, and worth two observations.
    void prior(const double* moments, double* run) const {
        double count = 0.0;
        for (size_t x = 0; x < symbols; ++x) count += moments[x];
        const double m = static_cast<double>(symbols);
        for (size_t x = 0; x < symbols; ++x) run[x] = 2.0 * (moments[x] + 1.0) / (count + m);
    }
    void wander(double* run, double ratio, double) const {
        const double keep = 1.0 / (1.0 + ratio);
        for (size_t x = 0; x < symbols; ++x) run[x] = larger(keep * run[x], 1e-3);
    }
    double log_predictive(const double* run, const double* y) const {
        return std::log(run[static_cast<size_t>(y[0])] / total(run));
    }
    void learn(double* run, const double* y) const { run[static_cast<size_t>(y[0])] += 1.0; }
    void predictive(const double* run, double* row, size_t stride) const {
        const double sum = total(run);
        for (size_t x = 0; x < symbols; ++x) row[x * stride] = run[x] / sum;
    }
    std::pair<double, double> moments(const double* row, size_t stride, size_t) const {
        double mean = 0.0, square = 0.0;
        for (size_t x = 0; x < symbols; ++x) {
            const double value = static_cast<double>(x), p = row[x * stride];
            mean += p * value;
            square += p * value * value;
        }
        return {mean, square - mean * mean};
    }

private:
    double total(const double* run) const {
        double sum = 0.0;
        for (size_t x = 0; x < symbols; ++x) sum += run[x];
        return sum;
    }
};

}  // namespace normalhedge::latent
