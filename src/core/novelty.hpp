// Has something new begun? A test of the surprise of observations, which needs no model of the new.
//
// A predictor gives each observation a place u in (0, 1), the share of its predictive distribution below it. While
// nothing new begins, the ranks of these places among the last ones are uniform whatever their distribution, as long
// as they are exchangeable: the predictor need not be calibrated, nor know the tails. So
//
//     z = Phi^-1((number of last places below u + 1/2) / (number of last places + 1))
//
// is standard normal, and what is left of autocorrelation is taken out: e = (z - phi z') / sqrt(1 - phi^2), with the z'
// before and phi estimated from the last rounds, shrunk towards 0. A change that began in round s gives the e since
// then another mean and variance, which are unknown: with the predictive density p_s of a normal-gamma model,
//
//     L_s = prod_{i >= s} p_s(e_i | e_s..e_{i-1}) / N(e_i; 0, 1)        E[L_s] = 1 if nothing changes
//     R = sum_s L_s                                                    Shiryaev-Roberts
//
// R - t is a martingale, so the mean time until R reaches A is at least A, however often one looks. With 1 / A for the
// chance of a change in a round, Shiryaev's posterior odds that one began within the last `recent` rounds are
//
//     O = sum_s L_s (1 / A) (1 - 1 / A)^(s - t - 1)                     novelty = O / (1 + O)
//
// Only `tests_kept` sums are kept; the least goes, which makes R smaller, and alarms rarer.
#pragma once

#include <algorithm>
#include <cmath>

#include "conjugate.hpp"
#include "normal_quantile.hpp"

namespace normalhedge::latent {

constexpr size_t places_kept = 500;
constexpr size_t tests_kept = 40;
constexpr double fewest_places = 30.0;  // ranks among fewer say too little
constexpr double recent = 100.0;

// The numbers of a test, in one block: rounds, places, tests, the round of the last alarm, z' and the sums of z z' and
// z'^2; the last places; of each test its first round, ln L, and mean, count, shape and rate.
class Novelty {
public:
    static constexpr size_t size = 7 + places_kept + 6 * tests_kept;

    Novelty(double* numbers, double rate) : n_(numbers), rate_(rate) {}

    // Learn a place, which is NaN where there is no observation; return the novelty and R, since the last alarm.
    std::pair<double, double> observe(double u) {
        const double round = n_[0]++;
        if (u == u) {
            const double z = rank(u);
            if (n_[1] > fewest_places) learn(z, round);
            // Sums fade with the memory of the places.
            constexpr double keep = 1.0 - 1.0 / static_cast<double>(places_kept);
            n_[5] = keep * n_[5] + z * n_[4];
            n_[6] = keep * n_[6] + n_[4] * n_[4];
            n_[4] = z;
        }
        return {novelty(n_[0]), detector()};
    }
    // Whether the counts, which may come from a file, lie within the block.
    bool valid() const {
        return n_[1] >= 0.0 && n_[1] < 1e15 && n_[2] >= 0.0 && n_[2] <= static_cast<double>(tests_kept);
    }
    // Begin again after an alarm: what began before it raises no other one.
    void restart() { n_[3] = n_[0]; }

private:
    double* places() { return n_ + 7; }
    double* test(size_t i) { return n_ + 7 + places_kept + 6 * i; }
    size_t tests() const { return static_cast<size_t>(n_[2]); }

    double rank(double u) {
        const auto count = static_cast<size_t>(smaller(n_[1], static_cast<double>(places_kept)));
        double below = 0.0;
        for (size_t i = 0; i < count; ++i) below += (places()[i] < u) + 0.5 * (places()[i] == u);
        places()[static_cast<size_t>(n_[1]) % places_kept] = u;
        n_[1] += 1.0;
        return normal_quantile((below + 0.5) / (static_cast<double>(count) + 1.0));
    }
    void learn(double z, double round) {
        constexpr double shrink = 30.0;  // rounds without autocorrelation
        const double phi = within(n_[5] / (n_[6] + shrink), -0.95, 0.95);
        const double e = (z - phi * n_[4]) / std::sqrt(1.0 - phi * phi);
        const double steady = -0.5 * (e * e + log_two_pi);
        const NormalGamma model{};
        size_t place = tests();
        if (place == tests_kept) {
            place = 0;
            for (size_t i = 1; i < tests_kept; ++i)
                if (test(i)[1] < test(place)[1]) place = i;
        } else {
            n_[2] += 1.0;
        }
        double* fresh = test(place);
        const double prior[] = {round, 0.0, 0.0, prior_count, prior_shape, prior_shape};
        std::copy_n(prior, 6, fresh);
        for (size_t i = 0; i < tests(); ++i) {
            test(i)[1] += model.log_predictive(test(i) + 2, &e) - steady;
            model.learn(test(i) + 2, &e);
        }
    }
    double detector() {
        double sum = 0.0;
        for (size_t i = 0; i < tests(); ++i)
            if (test(i)[0] >= n_[3]) sum += std::exp(smaller(test(i)[1], 600.0));
        return sum;
    }
    double novelty(double now) {
        double odds = 0.0;
        for (size_t i = 0; i < tests(); ++i) {
            const double age = now - test(i)[0];
            if (age <= recent) odds += std::exp(smaller(test(i)[1] - age * std::log1p(-rate_), 600.0)) * rate_;
        }
        return odds / (1.0 + odds);
    }

    static constexpr double prior_count = 0.5, prior_shape = 2.0;
    double* n_;
    double rate_;  // of changes, 1 / A
};

}  // namespace normalhedge::latent
