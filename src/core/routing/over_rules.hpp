// The default: a trusted rule and others beside it, which all learn from what the mixture of them sees.
#pragma once

#include "master.hpp"

namespace normalhedge::routing {

// Add the estimated losses of a distribution less the baseline.
inline double estimated_loss(const Feedback& seen, const double* distribution, double baseline) {
    double sum = 0.0;
    for (size_t k = 0; k < seen.count; ++k) {
        const Sight& sight = seen.sights[k];
        sum += distribution[sight.place] * (sight.loss() - baseline) / sight.probability;
    }
    return sum;
}

inline double mean_loss(const Feedback& seen) {
    double sum = 0.0;
    for (size_t k = 0; k < seen.count; ++k) sum += seen.sights[k].loss();
    return sum / static_cast<double>(seen.count);
}

NORMALHEDGE_VECTORISED inline void mix(const double* rows, const double* weights, size_t count, size_t n,
                                       double* mixed) {
    fill(mixed, n, 0.0);
    for (size_t b = 0; b < count; ++b) {
        const double weight = weights[b];
        const double* row = rows + b * n;
#pragma omp simd
        for (size_t i = 0; i < n; ++i) mixed[i] += weight * row[i];
    }
}

// sum_i (p_1i - p_bi)^2 / p_i, for the distribution p that was played.
NORMALHEDGE_VECTORISED inline double distance(const double* first, const double* row, const double* played, size_t n) {
    return sum_of(n, [&](size_t i) {
        const double apart = first[i] - row[i];
        return apart * apart / larger(played[i], tiny);
    });
}

class OverRules final : public Rule {
public:
    OverRules(std::vector<std::unique_ptr<Rule>> rules, std::vector<double> prior)
        : rules_(std::move(rules)), guard_(std::move(prior)) {}

    std::unique_ptr<Rule> clone() const override {
        std::vector<std::unique_ptr<Rule>> rules;
        for (const auto& rule : rules_) rules.push_back(rule->clone());
        auto copy = std::make_unique<OverRules>(std::move(rules), std::vector<double>(rules_.size(), 1.0));
        copy->guard_ = guard_;
        copy->rows_ = rows_;
        copy->mixed_ = mixed_;
        copy->n_ = n_;
        copy->written_ = written_;
        return copy;
    }

    void play(const double* awake, double* distribution) override {
        write(awake);
        mix(rows_.data(), guard_.weights().data(), rules_.size(), n_, distribution);
        normalise(distribution, n_);  // the weights sum to one up to rounding
    }

    void learn(const Feedback& seen) override {
        write(seen.awake);
        mix(rows_.data(), guard_.weights().data(), rules_.size(), n_, mixed_.data());
        for (size_t b = 0; b < rules_.size(); ++b) {
            const double* row = rows_.data() + b * n_;
            double* losses = guard_.losses();
            losses[b] = estimated_loss(seen, row, guard_.baseline());
            const double apart = losses[0] - losses[b];
            guard_.moments()[b] = seen.full ? apart * apart : distance(rows_.data(), row, mixed_.data(), n_);
        }
        guard_.learn(mean_loss(seen));
        for (auto& rule : rules_) rule->learn(seen);
        written_ = false;
    }

    void join() override {
        for (auto& rule : rules_) rule->join();
        mixed_.resize(n_ + 1);
        rows_.resize(rules_.size() * ++n_);
        written_ = false;
    }

    void leave(size_t place) override {
        for (auto& rule : rules_) rule->leave(place);
        rows_.resize(rules_.size() * --n_);
        written_ = false;
    }

    void visit(Visitor& visitor) override {
        for (auto& rule : rules_) rule->visit(visitor);
        guard_.visit(visitor);
    }

    std::vector<double> weights() const override { return guard_.weights(); }
    std::vector<double> prices() const override {
        std::vector<double> all;
        for (size_t b = 0; b < rules_.size(); ++b) all.push_back(guard_.price(b));
        return all;
    }

private:
    // Write the distributions of the rules, unless they are still those of the last round.
    void write(const double* awake) {
        if (written_ && !awake) return;
        for (size_t b = 0; b < rules_.size(); ++b) rules_[b]->play(awake, rows_.data() + b * n_);
        written_ = !awake;
    }

    std::vector<std::unique_ptr<Rule>> rules_;
    Guard guard_;
    std::vector<double> rows_;  // a row for each rule
    std::vector<double> mixed_; // room
    size_t n_ = 0;
    bool written_ = false;
};

}  // namespace normalhedge::routing
