// Expectation and maximisation online, with forgetting: Cappe (2011), after Mongillo and Deneve
// (2008).
//
// Beside the filter f, the mean statistics given each state the chain may be in now are kept:
//
//     r(i|s) = f(i) A_is / sum_j f(j) A_js                  where s came from
//     rho_ij(s) <- (1 - e) sum_r rho_ij(r) r(r|s) + e [j = s] r(i|s)
//     rho_ia(s) <- (1 - e) sum_r rho_ia(r) r(r|s) + e [i = s] s_a(y)
//
// and with S = sum_s rho(s) f(s) the parameters are solved for in every round. It costs k^4 + k^3 d
// products for k states with d statistics each.
//
// Normal states may drift together: with z_s = (y - m_s) / sd_s, clipped to [-3, 3], and the rate r, all that is
// remembered moves as if the observations so far had been a y + b, so a state that is not visited keeps its place
// beside the others:
//
//     ln a = r/2 sum_s f(s) (z_s^2 - 1)        b = (1 - a) sum_s f(s) m_s + r sum_s f(s) z_s sd_s min sd^2 / sd_s^2
#pragma once

#include "em.hpp"

namespace normalhedge::latent {

// Where it stands; it owns nothing.
struct Online {
    Chain chain;         // `initial` holds the filter f
    double* parameters;
    double* moves;       // k x k x k: rho_ij(s)
    double* sums;        // k x d x k: rho_ia(s)
    double* previous;    // the last observation; NaN if there is none
    double* spread;      // of each column of all observations: mean, mean of squares
};

// rho_a(s) <- keep sum_r rho_a(r) r(r|s), for all rows a.
inline void carry(double* rho, size_t rows, size_t k, const double* kernel, double keep,
                  double* spare) {
    for (size_t a = 0; a < rows; ++a) {
        double* row = rho + a * k;
        for (size_t s = 0; s < k; ++s) {
            double sum = 0.0;
            for (size_t r = 0; r < k; ++r) sum += row[r] * kernel[r * k + s];
            spare[s] = keep * sum;
        }
        for (size_t s = 0; s < k; ++s) row[s] = spare[s];
    }
}

template <class Family>
class OnlineFit {
public:
    OnlineFit(const Family& family, const Online& now)
        : family_(family), now_(now), k_(now.chain.states), d_(family.statistics()), kernel_(k_ * k_),
          predicted_(k_), logs_(k_), counts_(std::max(k_, d_)) {}

    // The expected statistics of a stationary chain with these parameters, from which a fit starts.
    void begin(const double* shares) {
        std::vector<double> sums(d_);
        for (size_t i = 0; i < k_; ++i) {
            for (size_t j = 0; j < k_; ++j)
                for (size_t s = 0; s < k_; ++s)
                    now_.moves[(i * k_ + j) * k_ + s] = shares[i] * now_.chain.transition[i * k_ + j];
            family_.expect({now_.parameters, k_, i}, shares[i], sums.data());
            for (size_t a = 0; a < d_; ++a)
                for (size_t s = 0; s < k_; ++s) now_.sums[(i * d_ + a) * k_ + s] = sums[a];
        }
    }

    // The probabilities of the states before the next observation.
    void predict(double* result) const {
        for (size_t s = 0; s < k_; ++s) result[s] = 0.0;
        for (size_t r = 0; r < k_; ++r)
            for (size_t s = 0; s < k_; ++s)
                result[s] += now_.chain.initial[r] * now_.chain.transition[r * k_ + s];
    }

    // Learn an observation; return its log density, 0 where it is missing. `relative` is the least variance as
    // a share of the variance of all observations, `together` the rate at which all states drift.
    double observe(const double* y, double rate, double together, double relative) {
        const Observation seen{y, now_.previous};
        const bool known = family_.known(seen);
        predict(predicted_.data());
        look_back();
        const double result = known ? condition(seen) : pass();
        const double keep = known ? 1.0 - rate : 1.0;
        if constexpr (Family::drifts)
            if (known && together > 0.0) drift(y[0], together);
        std::vector<double>& spare = logs_;
        carry(now_.moves, k_ * k_, k_, kernel_.data(), keep, spare.data());
        carry(now_.sums, k_ * d_, k_, kernel_.data(), keep, spare.data());
        if (known) learn(seen, rate, relative);
        for (size_t c = 0; c < family_.columns; ++c) now_.previous[c] = y[c];
        return result;
    }

private:
    // r(r|s).
    void look_back() {
        for (size_t s = 0; s < k_; ++s) {
            const bool reached = predicted_[s] > least_predicted;
            for (size_t r = 0; r < k_; ++r)
                kernel_[r * k_ + s] = reached ? now_.chain.initial[r] *
                                                    now_.chain.transition[r * k_ + s] / predicted_[s]
                                              : 1.0 / static_cast<double>(k_);
        }
    }

    double pass() {
        double total = 0.0;
        for (size_t s = 0; s < k_; ++s) total += predicted_[s];
        for (size_t s = 0; s < k_; ++s) now_.chain.initial[s] = predicted_[s] / total;
        return 0.0;
    }

    double condition(Observation seen) {
        double most = -1e300, z = 0.0;
        for (size_t s = 0; s < k_; ++s) {
            logs_[s] = family_.log_density(family_.state({now_.parameters, k_, s}), seen);
            most = larger(most, logs_[s]);
        }
        double* f = now_.chain.initial;
        for (size_t s = 0; s < k_; ++s) {
            f[s] = predicted_[s] * exp2(smaller(logs_[s] - most, 0.0) * log2_e);
            z += f[s];
        }
        if (!(z > least_likelihood)) return pass() + most + log(least_likelihood);
        for (size_t s = 0; s < k_; ++s) f[s] /= z;
        return most + log(z);
    }

    void learn(Observation seen, double rate, double relative) {
        const double* f = now_.chain.initial;
        for (size_t i = 0; i < k_; ++i)
            for (size_t s = 0; s < k_; ++s)
                now_.moves[(i * k_ + s) * k_ + s] += rate * kernel_[i * k_ + s];
        for (size_t i = 0; i < k_; ++i) {
            for (size_t j = 0; j < k_; ++j) counts_[j] = mean(now_.moves + (i * k_ + j) * k_, f);
            normalise(counts_.data(), rate * family_.guards.pseudo_count, k_,
                      now_.chain.transition + i * k_);
        }
        Family guarded = family_;
        guarded.guards.floor = larger(family_.guards.floor, relative * variance(seen, rate));
        guarded.guards.pseudo_count *= rate;
        for (size_t i = 0; i < k_; ++i) {
            const Parameters mine{now_.parameters, k_, i};
            std::fill(counts_.begin(), counts_.end(), 0.0);
            family_.add(family_.state(mine), seen, rate, counts_.data());
            for (size_t a = 0; a < d_; ++a) now_.sums[(i * d_ + a) * k_ + i] += counts_[a];
            for (size_t a = 0; a < d_; ++a) counts_[a] = mean(now_.sums + (i * d_ + a) * k_, f);
            if (weight_of(family_, counts_.data()) > least_weight) guarded.solve(counts_.data(), mine);
        }
    }

    void drift(double y, double rate) {
        const double *f = now_.chain.initial, *means = now_.parameters, *variances = means + k_;
        const double least = *std::min_element(variances, variances + k_);
        double centre = 0.0, shift = 0.0, growth = 0.0;
        for (size_t s = 0; s < k_; ++s) {
            const double deviation = std::sqrt(variances[s]), z = within((y - means[s]) / deviation, -3.0, 3.0);
            centre += f[s] * means[s];
            shift += f[s] * z * least / deviation;
            growth += f[s] * 0.5 * (z * z - 1.0);
        }
        const double a = std::exp(rate * growth), b = (1.0 - a) * centre + rate * shift;
        for (size_t i = 0; i < k_; ++i) {
            double *zero = now_.sums + i * d_ * k_, *one = zero + k_, *two = one + k_;
            for (size_t s = 0; s < k_; ++s) {
                two[s] = a * a * two[s] + 2.0 * a * b * one[s] + b * b * zero[s];
                one[s] = a * one[s] + b * zero[s];
            }
            now_.parameters[i] = a * now_.parameters[i] + b;
            now_.parameters[k_ + i] *= a * a;
        }
    }

    double mean(const double* rho, const double* f) const {
        double sum = 0.0;
        for (size_t s = 0; s < k_; ++s) sum += rho[s] * f[s];
        return sum;
    }

    // Of all observations, with the same forgetting: of several columns, which are standardised
    // together, the mean variance.
    double variance(Observation seen, double rate) {
        double total = 0.0;
        for (size_t c = 0; c < family_.columns; ++c) {
            double* moments = now_.spread + 2 * c;
            moments[0] += rate * (seen.y[c] - moments[0]);
            moments[1] += rate * (seen.y[c] * seen.y[c] - moments[1]);
            total += larger(moments[1] - moments[0] * moments[0], 0.0);
        }
        return total / static_cast<double>(family_.columns);
    }

    const Family& family_;
    Online now_;
    size_t k_, d_;
    std::vector<double> kernel_, predicted_, logs_, counts_;
};

}  // namespace normalhedge::latent
