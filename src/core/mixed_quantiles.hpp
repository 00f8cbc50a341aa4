// Quantiles of a mixture of normal distributions and of Student's t.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "normal_quantile.hpp"
#include "observations.hpp"

namespace normalhedge::latent {

// Distributions of one family: shares, locations, variances (of Student's t squared scales), and
// degrees of freedom.
struct Located {
    const double* shares;
    const double* locations;
    const double* variances;
    const double* degrees;
    size_t n;
};

// P(y <= x) of normal distributions times their shares.
NORMALHEDGE_VECTORISED inline double normal_share_below(const double* shares,
                                                        const double* locations,
                                                        const double* over, size_t n, double x) {
    constexpr double root_half = 0.7071067811865476;
    return sum_of(n, [&](size_t i) {
        const double z = within((x - locations[i]) * over[i], -1e3, 1e3);
        const double away = std::fabs(z) * root_half;
        const double tail = 0.5 * exp2(-away * away * log2_e) * erfcx(away);
        return shares[i] * (z > 0.0 ? 1.0 - tail : tail);
    });
}

// Student's t: 1 - I(n / (n + t^2); n/2, 1/2) / 2, with the incomplete beta function I by its
// continued fraction, for whichever of I(x; a, b) and 1 - I(1 - x; b, a) converges fast (DLMF 8.17.22).
// Room for n numbers six times.
NORMALHEDGE_VECTORISED inline double student_share_below(const double* shares,
                                                         const double* locations,
                                                         const double* over, const double* degrees,
                                                         const double* constants, size_t n, double x,
                                                         double* room) {
    double *here = room, *a = here + n, *b = a + n, *value = b + n, *logs = value + n;
    double* side = logs + n;
#pragma omp simd
    for (size_t i = 0; i < n; ++i) {
        const double away = within((x - locations[i]) * over[i], -1e100, 1e100);
        const double nu = degrees[i], square = away * away;
        const double near = nu / (nu + square), rest = square / (nu + square);
        const bool fast = near < (0.5 * nu + 1.0) / (0.5 * nu + 2.5);
        a[i] = fast ? 0.5 * nu : 0.5;
        b[i] = fast ? 0.5 : 0.5 * nu;
        here[i] = fast ? near : rest;
        const double there = fast ? rest : near;
        // Without its constant: the fraction times x^a (1 - x)^b / (a B(a, b)).
        logs[i] = a[i] * log(larger(here[i], 1e-300)) + b[i] * log(larger(there, 1e-300)) +
                  constants[i] - log(a[i]);
        value[i] = 1.0;
        side[i] = away > 0.0 ? 1.0 : -1.0;
    }
    for (int step = 30; step > 0; --step) {
        const double m = step;
#pragma omp simd
        for (size_t i = 0; i < n; ++i) {
            const double c = a[i], d = b[i], two = c + 2.0 * m;
            const double even = m * (d - m) * here[i] / ((two - 1.0) * two);
            const double odd = -(c + m - 1.0) * (c + d + m - 1.0) * here[i] / ((two - 2.0) * (two - 1.0));
            value[i] = 1.0 + odd * value[i] / (value[i] + even);
        }
    }
    return sum_of(n, [&](size_t i) {
        const double part = exp2(logs[i] * log2_e) / value[i];
        const double tail = 0.5 * (b[i] == 0.5 ? part : 1.0 - part);
        return shares[i] * (side[i] > 0.0 ? 1.0 - tail : tail);
    });
}

// Their densities times their shares.
NORMALHEDGE_VECTORISED inline double normal_density(const double* shares, const double* locations,
                                                    const double* over, size_t n, double x) {
    constexpr double norm = 0.3989422804014327;  // 1 / sqrt(2 pi)
    return norm * sum_of(n, [&](size_t i) {
        const double z = within((x - locations[i]) * over[i], -1e3, 1e3);
        return shares[i] * over[i] * exp2(-0.5 * z * z * log2_e);
    });
}

NORMALHEDGE_VECTORISED inline double student_density(const double* shares, const double* locations,
                                                     const double* over, const double* degrees,
                                                     const double* constants, size_t n, double x) {
    return sum_of(n, [&](size_t i) {
        const double away = within((x - locations[i]) * over[i], -1e100, 1e100), nu = degrees[i];
        const double logs = constants[i] - 0.5 * log(nu) - 0.5 * (nu + 1.0) * log(1.0 + away * away / nu);
        return shares[i] * over[i] * exp2(logs * log2_e);
    });
}

// Shares below this move no digit of a quantile that counts.
constexpr double least_share = 1e-13;

class MixedDistribution {
public:
    MixedDistribution(const Located& normals, const Located& students) {
        for (size_t i = 0; i < normals.n; ++i) {
            if (!(normals.shares[i] > least_share)) continue;
            normal_[0].push_back(normals.shares[i]);
            normal_[1].push_back(normals.locations[i]);
            normal_[2].push_back(1.0 / std::sqrt(normals.variances[i]));
        }
        for (size_t i = 0; i < students.n; ++i) {
            if (!(students.shares[i] > least_share)) continue;
            const double nu = students.degrees[i];
            student_[0].push_back(students.shares[i]);
            student_[1].push_back(students.locations[i]);
            student_[2].push_back(1.0 / std::sqrt(students.variances[i]));
            student_[3].push_back(nu);
            student_[4].push_back(log_gamma(0.5 * nu + 0.5) - log_gamma(0.5 * nu) -
                                  0.5723649429247001);  // ln Gamma(1/2)
        }
        room_.resize(6 * student_[0].size());
        find_moments(normals, students);
    }

    // P(y <= x).
    double share_below(double x) const {
        double total = normal_share_below(normal_[0].data(), normal_[1].data(), normal_[2].data(),
                                          normal_[0].size(), x);
        if (!room_.empty())
            total += student_share_below(student_[0].data(), student_[1].data(), student_[2].data(),
                                         student_[3].data(), student_[4].data(),
                                         student_[0].size(), x, room_.data());
        return total;
    }

    double density(double x) const {
        return normal_density(normal_[0].data(), normal_[1].data(), normal_[2].data(), normal_[0].size(), x) +
               student_density(student_[0].data(), student_[1].data(), student_[2].data(), student_[3].data(),
                               student_[4].data(), student_[0].size(), x);
    }

    // The x with P(y <= x) = level, by Newton's method between bounds of Chebyshev's inequality, which each step narrows. Where a step leaves them, or the last one did not halve the error, they are
    // halved instead.
    double quantile(double level) const {
        const double centre = centre_, width = width_;
        const double far = width * (std::sqrt(1.0 / smaller(level, 1.0 - level)) + 1.0);
        double low = centre - far, high = centre + far, before = 1.0;
        double x = within(centre + width * normal_quantile(level), low, high);
        for (int i = 0; i < 100; ++i) {
            const double error = share_below(x) - level;
            if (error == 0.0) return x;
            (error > 0.0 ? high : low) = x;
            const double close = 2e-15 * std::fabs(x) + 1e-9 * width;
            double next = x - error / density(x);
            const bool steps = next > low && next < high && std::fabs(error) <= 0.5 * before;
            if (!steps) next = 0.5 * (low + high);
            if ((steps && std::fabs(next - x) < close) || high - low < close) return next;
            before = std::fabs(error);
            x = next;
        }
        return x;
    }

private:
    // Mean and deviation.
    void find_moments(const Located& normals, const Located& students) {
        double total = 0.0, mean = 0.0, square = 0.0;
        const auto all = [&](const auto& work) {
            for (size_t i = 0; i < normals.n; ++i) work(normals.shares[i], normals.locations[i], normals.variances[i]);
            for (size_t i = 0; i < students.n; ++i) {
                const double nu = students.degrees[i];
                work(students.shares[i], students.locations[i], students.variances[i] * nu / (nu - 2.0));
            }
        };
        all([&](double share, double location, double) { total += share, mean += share * location; });
        centre_ = mean / total;
        all([&](double share, double location, double variance) {
            square += share * (variance + (location - centre_) * (location - centre_));
        });
        width_ = std::sqrt(square / total);
    }

    double centre_ = 0.0, width_ = 0.0;
    std::vector<double> normal_[3], student_[5];
    mutable std::vector<double> room_;
};

}  // namespace normalhedge::latent
