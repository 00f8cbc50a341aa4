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

    double prior(size_t b) const { return prior_[b]; }
    void watch(double seen) { baseline_ += 0.001 * (seen - baseline_); }

    // Learn the losses in `losses`; `seen` is the mean of the losses of actions that were seen.
    void learn(double seen) {
        watch(seen);
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

// A rule that is trusted, and others that are heard a little, until one of them is better beyond chance.
//
//     w_1 = 1 - e_t,   w_b = e_t prior_b / (1 - prior_1),   e_t = min(1/4, 1 / (10 sqrt(t + 10)))
//     L_b <- L_b + (y_1 - y_b),   W_b <- W_b + ((y_1 - y_b)^2 + 2 V_b) / 3,   V_b = sum_i (p_1i - p_bi)^2 / p_i
//     alarm where L_b > r(W_b) for some b,   r(W) = sqrt((W + 25) (ln((W + 25) / 25) + 2 ln(100 B)))
//
// From then on the weights are those of a `Master`. V_b bounds the second moment of y_1 - y_b. For every lambda
// exp(lambda X - lambda^2 (X^2 + 2 E X^2) / 6) has a mean of at most one if X has a mean of at most zero (Delyon, 2009),
// and a normal mixture over lambda gives r. So where rule 1 is never worse than another one, given the past, the
// probability of an alarm is at most 1/100, at all times together.
class Guard {
public:
    explicit Guard(const std::vector<double>& prior)
        : master_(prior), weights_(prior), leads_(prior.size(), 0.0), widths_(prior.size(), 0.0), moments_(prior.size(), 0.0) {
        share_out_trust();
    }

    const std::vector<double>& weights() const { return alarmed() ? master_.weights() : weights_; }
    double baseline() const { return master_.baseline(); }
    double* losses() { return master_.losses(); }
    double* moments() { return moments_.data(); }  // room for V

    void learn(double seen) {
        if (alarmed()) return master_.learn(seen);
        const double* losses = master_.losses();
        spent_ += 1.0 - weights_[0];
        time_ += 1.0;
        for (size_t b = 1; b < leads_.size(); ++b) {
            const double ahead = losses[0] - losses[b];
            leads_[b] += ahead;
            widths_[b] += (ahead * ahead + 2.0 * moments_[b]) / 3.0;
            if (leads_[b] > radius(b)) alarm_ = 1.0;
        }
        master_.watch(seen);
        share_out_trust();
    }

    double price(size_t b) const {
        if (alarmed()) return spent_ + leads_[b] + master_.price(b);
        return spent_ + (b == 0 ? 0.0 : radius(b));
    }

    void visit(Visitor& visitor) {
        master_.visit(visitor);
        visitor.row(weights_);
        visitor.row(leads_);
        visitor.row(widths_);
        for (double* number : {&spent_, &time_, &alarm_}) visitor.number(*number);
    }

private:
    bool alarmed() const { return alarm_ > 0.0; }

    double radius(size_t b) const {
        const double width = widths_[b] + 25.0;
        return std::sqrt(width * (std::log(width / 25.0) + 2.0 * std::log(100.0 * static_cast<double>(leads_.size()))));
    }

    void share_out_trust() {
        const double share = smaller(0.25, 0.1 / std::sqrt(time_ + 10.0));
        for (size_t b = 1; b < weights_.size(); ++b) weights_[b] = share * master_.prior(b) / (1.0 - master_.prior(0));
        weights_[0] = 1.0 - share;
    }

    Master master_;
    std::vector<double> weights_, leads_, widths_, moments_;
    double spent_ = 0.0;  // the sum of e
    double time_ = 0.0;
    double alarm_ = 0.0;  // 1 after it
};

}  // namespace normalhedge::routing
