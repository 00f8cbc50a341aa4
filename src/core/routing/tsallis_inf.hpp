// Tsallis-INF (Zimmert and Seldin, 2021): optimal where gains are adversarial and where they are stochastic.
//
//     p_i = 4 / (eta (L'_i - x))^2,   eta = 4 / sqrt(t),   x < min L' so that sum p = 1
//     l'_i = 1[i seen] (l_i - b_i) / o_i + b_i,   b_i = 1[p_i >= eta^2] / 2       reduced variance
//
// The clock t advances by 1, and by 2 for each round that waits for its gains (eta falls as in Zimmert and Seldin, 2020). The estimates
// of sleeping actions move by the estimated loss of the distribution.
#pragma once

#include <algorithm>

#include "../columns.hpp"
#include "rule.hpp"

namespace normalhedge::routing {

// The distribution; `x` is where Newton's method begins and ends. The sum of the weights is convex and rises with x, so
// that the method descends to the root once it is above it.
NORMALHEDGE_VECTORISED inline void solve_tsallis(const double* losses, const double* awake, size_t n, double rate,
                                                 double& x, double* played) {
    double least = infinity;
    if (awake) {
#pragma omp simd reduction(min : least)
        for (size_t i = 0; i < n; ++i) least = smaller(least, awake[i] > 0.0 ? losses[i] : infinity);
    } else {
#pragma omp simd reduction(min : least)
        for (size_t i = 0; i < n; ++i) least = smaller(least, losses[i]);
    }
    const double low = least - 2.0 * std::sqrt(static_cast<double>(n)) / rate;  // the sum is at most 1 there
    const double high = least - 2.0 / rate;                                     // and at least 1 here
    x = within(x, low, high);
    double total = 0.0;
    for (int step = 0; step < 60; ++step) {
        const auto weigh = [&](auto heard) {
            return add_up<2>(n, [&](size_t i, double& all, double& rise) {
                const double root = heard(i) * 2.0 / (rate * (losses[i] - x));
                const double p = root * root;
                played[i] = p;
                all += p;
                rise += p * root;
            });
        };
        const auto [sum, slope] = awake ? weigh([&](size_t i) { return awake[i]; }) : weigh([](size_t) { return 1.0; });
        total = sum;
        if (std::fabs(sum - 1.0) < 1e-9) break;
        x = within(x - (sum - 1.0) / (rate * slope), low, high);
    }
    share_out(played, n, total);
}

class TsallisINF final : public Rule {
public:
    std::unique_ptr<Rule> clone() const override { return std::make_unique<TsallisINF>(*this); }

    void play(const double* awake, double* distribution) override {
        write(awake);
        std::copy(played_.begin(), played_.end(), distribution);
    }

    void learn(const Feedback& seen) override {
        const size_t n = losses_.size();
        const double least = rate() * rate();
        write(seen.awake);
        written_ = false;
        if (seen.full) {
            std::fill(estimates_.begin(), estimates_.end(), 0.0);
            for (size_t k = 0; k < seen.count; ++k) estimates_[seen.sights[k].place] = seen.sights[k].loss();
        } else {
            for (size_t i = 0; i < n; ++i) estimates_[i] = played_[i] >= least ? 0.5 : 0.0;
            for (size_t k = 0; k < seen.count; ++k) {
                const Sight& sight = seen.sights[k];
                double& estimate = estimates_[sight.place];
                estimate += (sight.loss() - estimate) / sight.probability;
            }
        }
        if (seen.awake) {
            const double own = sum_of(n, [&](size_t i) { return played_[i] * estimates_[i]; });
            for (size_t i = 0; i < n; ++i) estimates_[i] = seen.awake[i] * (estimates_[i] - own);
        }
        double lowest = infinity;
        for (size_t i = 0; i < n; ++i) lowest = smaller(lowest, losses_[i] += estimates_[i]);
        for (size_t i = 0; i < n; ++i) losses_[i] -= lowest;  // only differences count
        x_ = solved_ - lowest;
        time_ += 1.0 + 2.0 * seen.pending;
    }

    // A newcomer is as good as the distribution has been on average: it begins at the mean estimate.
    void join() override {
        const double n = static_cast<double>(losses_.size());
        for (auto* values : {&losses_, &played_, &estimates_}) make_room(*values);
        const double mean = losses_.empty() ? 0.0 : added(losses_.data(), losses_.size()) / n;
        losses_.push_back(mean);
        played_.push_back(0.0);
        estimates_.push_back(0.0);
        written_ = false;
    }

    void leave(size_t place) override {
        losses_.erase(losses_.begin() + static_cast<std::ptrdiff_t>(place));
        played_.pop_back();
        estimates_.pop_back();
        written_ = false;
    }

    void visit(Visitor& visitor) override {
        visitor.row(losses_);
        visitor.number(time_);
        visitor.number(x_);
    }

private:
    double rate() const { return 4.0 / std::sqrt(time_ + 1.0); }

    // Write the distribution, unless it is there.
    void write(const double* awake) {
        if (written_ && !awake) return;
        solved_ = x_;
        solve_tsallis(losses_.data(), awake, losses_.size(), rate(), solved_, played_.data());
        written_ = !awake;
    }

    std::vector<double> losses_;
    double time_ = 0.0;
    double x_ = 0.0;       // where Newton's method begins
    double solved_ = 0.0;  // and where it ended
    std::vector<double> played_, estimates_;  // room
    bool written_ = false;                    // whether `played_` is the distribution without a mask
};

}  // namespace normalhedge::routing
