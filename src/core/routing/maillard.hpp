// Maillard sampling with the divergence of Bernoulli (Qin, Jun and Zhang, 2023), discounted.
//
//     p_i ∝ exp(-k N_i kl(m_i, max_j m_j)),   kl(a, b) = a ln(a / b) + (1 - a) ln((1 - a) / (1 - b))
//
// N_i is the discounted number of gains seen, m_i their mean with one pseudo-gain, 1/2 at first:
//
//     m_i <- m_i + (g_i - m_i) / (N_i + 2),   N_i <- N_i + 1      for the gains g in [0, 1] that were seen
//
// The constant k is at least 300 K / M for K actions and a memory of M gains: with k = 1 each action would be tried so
// often that all of the memory is spent on it. Nothing is divided by a probability: the gains of an action are taken to have one mean for as long as they are
// remembered. The divergence is linear in the logarithms of the best mean:
//
//     kl(a, b) = h(a) - a ln b - (1 - a) ln(1 - b),   h(a) = a ln a + (1 - a) ln(1 - a)
#pragma once

#include <algorithm>
#include <cmath>

#include "../columns.hpp"
#include "rule.hpp"

namespace normalhedge::routing {

// h of a mean, of which divergences are made.
inline double entropy(double mean) { return mean * std::log(mean) + (1.0 - mean) * std::log1p(-mean); }

// Write the weights e^-x, with x of an action and its divergence from the best mean; return their sum.
template <class Exponent>
[[gnu::always_inline]] inline double weigh_divergences(const double* means, const double* entropies,
                                                       const double* awake, size_t n, double* played,
                                                       const Exponent& exponent) {
    const double best = leading(means, awake, n);
    const double of_gain = std::log(best);
    const double of_loss = std::log1p(-best);
    const double total = sum_of(n, [&](size_t i) {
        const double divergence = entropies[i] - means[i] * of_gain - (1.0 - means[i]) * of_loss;
        return played[i] = exp2(-log2_e * exponent(i, larger(divergence, 0.0)));
    });
    return awake ? sum_of(n, [&](size_t i) { return played[i] *= awake[i]; }) : total;
}

NORMALHEDGE_VECTORISED inline double weigh_means(const double* counts, const double* means, const double* entropies,
                                                 const double* awake, size_t n, double keenness, double* played) {
    return weigh_divergences(means, entropies, awake, n, played, [&](size_t i, double divergence) {
        return keenness * counts[i] * divergence;
    });
}

class Maillard final : public Rule {
public:
    Maillard(double keep, double keenness) : keep_(keep), keenness_(keenness) {}

    std::unique_ptr<Rule> clone() const override { return std::make_unique<Maillard>(*this); }

    void play(const double* awake, double* distribution) override {
        const size_t n = counts_.size();
        const double total = weigh_means(counts_.data(), means_.data(), entropies_.data(), awake, n,
                                         keenness() * unit_, distribution);
        share_out(distribution, n, total);
    }

    void learn(const Feedback& seen) override {
        unit_ *= keep_;
        if (unit_ < 1e-100) {
            for (double& count : counts_) count *= unit_;
            unit_ = 1.0;
        }
        for (size_t k = 0; k < seen.count; ++k) {
            const size_t i = seen.sights[k].place;
            const double before = unit_ * counts_[i];
            const double gain = 0.5 * (1.0 + seen.sights[k].gain);
            const double mean = means_[i] + (gain - means_[i]) / (before + 2.0);
            counts_[i] = (before + 1.0) / unit_;
            means_[i] = mean;
            entropies_[i] = entropy(mean);
        }
    }

    void join() override {
        for (auto* values : {&counts_, &means_, &entropies_}) make_room(*values);
        counts_.push_back(0.0);
        means_.push_back(0.5);
        entropies_.push_back(-ln_2);
    }

    void leave(size_t place) override {
        for (auto* values : {&counts_, &means_, &entropies_})
            values->erase(values->begin() + static_cast<std::ptrdiff_t>(place));
    }

    void visit(Visitor& visitor) override {
        visitor.row(counts_);
        visitor.row(means_);
        visitor.row(entropies_);
        visitor.number(unit_);
    }

private:
    double keenness() const {
        return larger(keenness_, 300.0 * static_cast<double>(counts_.size()) * (1.0 - keep_));
    }

    double keep_;
    double keenness_;
    double unit_ = 1.0;  // a count is so many gains
    std::vector<double> counts_, means_, entropies_;
};

}  // namespace normalhedge::routing
