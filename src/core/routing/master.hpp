// Weights over several distributions, by the estimated losses of what they would have played.
//
//     p = sum_b w_b p_b,   y_b = sum_i p_bi 1[i seen] (l_i - m) / o_i          E y_b = loss of p_b, less m
//     v_b = w_b exp(-eta (y_b - y)) / Z,   y = sum_b w_b y_b,   delta = ln Z / eta
//     w_b <- (1 - s_t) v_b + s_t prior_b,   s_t = 1 / (t + 10)
//     eta = sqrt(ln B / (1 + sum of sum_b w_b (y_b - y)^2)) / 2, for B distributions
//
// Since y - y_b = (ln(v_b / w_b) + ln Z) / eta, w_b after the share is at least (1 - s_t) v_b and at least
// s_t prior_b, and eta never rises,
//
//     sum_t (y_t - y_tb) <= sum_t delta_t + (ln((T + 10) / prior_b) + ln((T + 10) / 10)) / eta_T           the price
//
// for every b, whatever the gains. Where gains are known at once y_b is unbiased, so the expected regret to each
// distribution, as it would have played, is at most the expected price.
#pragma once

#include "../columns.hpp"
#include "rule.hpp"

namespace normalhedge::routing {

class Master {
public:
    explicit Master(std::vector<double> prior) : prior_(std::move(prior)), weights_(prior_), losses_(prior_.size()) {}

    size_t count() const { return prior_.size(); }
    const std::vector<double>& weights() const { return weights_; }
    double baseline() const { return baseline_; }  // m, the discounted mean of the losses seen
    double* losses() { return losses_.data(); }    // room for y

    // Learn the losses in `losses`; `seen` is the mean of the losses of actions that were seen.
    void learn(double seen) {
        baseline_ += 0.001 * (seen - baseline_);
        const size_t n = weights_.size();
        const double rate = this->rate();
        double mean = 0.0;
        for (size_t b = 0; b < n; ++b) mean += weights_[b] * losses_[b];
        double lowest = infinity;
        double variance = 0.0;
        for (size_t b = 0; b < n; ++b) {
            lowest = smaller(lowest, losses_[b]);
            variance += weights_[b] * (losses_[b] - mean) * (losses_[b] - mean);
        }
        double total = 0.0;
        for (size_t b = 0; b < n; ++b) total += weights_[b] *= std::exp(-rate * (losses_[b] - lowest));
        mixed_ += larger(std::log(total) / rate + (mean - lowest), 0.0);
        variance_ += variance;
        time_ += 1.0;
        const double share = 1.0 / (time_ + 10.0);
        for (size_t b = 0; b < n; ++b) weights_[b] = (1.0 - share) * weights_[b] / total + share * prior_[b];
    }

    // The price so far of not having followed distribution b.
    double price(size_t b) const {
        const double time = time_ + 10.0;
        return mixed_ + (std::log(time / prior_[b]) + std::log(time / 10.0)) / rate();
    }

    void visit(Visitor& visitor) {
        visitor.row(weights_);
        visitor.number(mixed_);
        visitor.number(variance_);
        visitor.number(time_);
        visitor.number(baseline_);
    }

private:
    double rate() const { return 0.5 * std::sqrt(log_experts(prior_.size()) / (1.0 + variance_)); }

    std::vector<double> prior_, weights_, losses_;
    double mixed_ = 0.0;     // the sum of delta
    double variance_ = 0.0;  // of the losses, summed
    double time_ = 0.0;
    double baseline_ = 0.5;
};

}  // namespace normalhedge::routing
