// Minimum empirical divergence with restarts: Maillard's weights, on the gains since the last change of the means.
//
//     p_i ∝ exp(-k [N_i kl(m_i, max_j m_j) / phi - (1/5) ln+(n / (K (1 + N_i)))]+),   k = max(3, 1.7 sqrt K) by default
//
// N_i and m_i are the count of the gains of action i and their mean, with one pseudo-gain 1/2, in the n rounds of the
// present segment. As in MOSS (Audibert and Bubeck, 2009), an action is explored in full until N_i kl reaches a share
// of the logarithm of the rounds. The dispersion phi <= 1 is the ratio of the variance of gains to the one of Bernoulli:
//
//     phi = (A + 5) / (D + 5) in [0.01, 1],   A <- A + (g - m)^2 N / (N + 1),   D <- D + m (1 - m)
//
// over the gains of actions seen before, both kept with 0.999 a round after 2000 rounds. Other starts s of the segment
// are kept, two for each octave of age. Each has counts and means of its own. With ln q(g) = g ln m + (1 - g) ln(1 - m),
//
//     E_s <- E_s + (ln q_s(g) - ln q(g)) / phi       for the gain of the action with the largest mean that was seen
//     s becomes the present start where E_s > h = 3 + ln((t + 10) / (1 + restarts))
//
// If the gains have the means that the present segment predicts, exp E_s is a supermartingale for phi = 1, so s is
// chosen in error with probability at most exp(-h) (Ville). The distribution of the leading start has the weight
// min(1/2, exp(E_s - h)) beside the present one. Counts fade: N <- (1 - f / (t + 50)) N with the setting f.
#pragma once

#include "maillard.hpp"

namespace normalhedge::routing {

// Write the weights of a segment; return their sum. A count is `unit` gains; `precision` is 1 / phi, `explored` ln(n / K).
NORMALHEDGE_VECTORISED inline double weigh_segment(const double* counts, const double* means, const double* entropies,
                                                   const double* awake, size_t n, double keenness, double unit,
                                                   double precision, double explored, double* played) {
    return weigh_divergences(means, entropies, awake, n, played, [&](size_t i, double divergence) {
        const double count = unit * counts[i];
        return keenness * larger(precision * count * divergence - 0.2 * larger(explored - log1p(count), 0.0), 0.0);
    });
}

// Add to the evidence of each start; learn the gain g.
NORMALHEDGE_VECTORISED inline void compare_starts(const double* means, size_t starts, double g, double present,
                                                  double scale, double* evidence) {
#pragma omp simd
    for (size_t s = 0; s < starts; ++s)
        evidence[s] += scale * (g * log(means[s]) + (1.0 - g) * log1p(-means[s]) - present);
}
NORMALHEDGE_VECTORISED inline void learn_gain(double* counts, double* means, size_t starts, double g, double unit) {
#pragma omp simd
    for (size_t s = 0; s < starts; ++s) {
        const double before = unit * counts[s];
        means[s] += (g - means[s]) / (before + 2.0);
        counts[s] = (before + 1.0) / unit;
    }
}

class Restarts final : public Rule {
public:
    // The default keenness where it is 0.
    Restarts(double keenness, double fade) : keenness_(keenness), fade_(fade), starts_(most, none), evidence_(most, 0.0) {}

    std::unique_ptr<Rule> clone() const override { return std::make_unique<Restarts>(*this); }

    void play(const double* awake, double* distribution) override {
        const size_t n = counts_.size();
        weigh(counts_.data(), means_.data(), entropies_.data(), time_ - start_, awake, distribution);
        const size_t s = leader();
        const double share = s == most ? 0.0 : std::fmin(0.5, std::exp(evidence_[s] - threshold()));
        if (share < 1e-4) return;
        double* columns = room_.data();
        copy_start(s, columns, columns + n, columns + 2 * n);
        double* played = columns + 3 * n;
        weigh(columns, columns + n, columns + 2 * n, time_ - starts_[s], awake, played);
        for (size_t i = 0; i < n; ++i) distribution[i] += share * (played[i] - distribution[i]);
    }

    void learn(const Feedback& seen) override {
        time_ += 1.0;
        fade();
        const Sight* chief = seen.sights;
        for (size_t k = 1; k < seen.count; ++k)
            if (means_[seen.sights[k].place] > means_[chief->place]) chief = seen.sights + k;
        judge(chief->place, gain_of(*chief));
        for (size_t k = 0; k < seen.count; ++k) {
            const size_t i = seen.sights[k].place;
            const double gain = gain_of(seen.sights[k]);
            learn_gain(all_counts_.data() + i * most, all_means_.data() + i * most, most, gain, unit_);
            learn_gain(counts_.data() + i, means_.data() + i, 1, gain, unit_);
            entropies_[i] = entropy(means_[i]);
        }
        restart();
        if (std::fmod(time_, spacing) == 0.0) begin_start();
    }

    void join() override {
        const size_t n = counts_.size() + 1;
        for (auto* values : {&counts_, &means_, &entropies_}) make_room(*values);
        all_counts_.reserve(n * most);
        all_means_.reserve(n * most);
        room_.resize(4 * n);
        counts_.push_back(0.0);
        means_.push_back(0.5);
        entropies_.push_back(-ln_2);
        all_counts_.resize(n * most, 0.0);
        all_means_.resize(n * most, 0.5);
    }

    void leave(size_t place) override {
        const auto from = static_cast<std::ptrdiff_t>(place);
        const auto width = static_cast<std::ptrdiff_t>(most);
        for (auto* values : {&counts_, &means_, &entropies_}) values->erase(values->begin() + from);
        for (auto* table : {&all_counts_, &all_means_})
            table->erase(table->begin() + from * width, table->begin() + (from + 1) * width);
    }

    void visit(Visitor& visitor) override {
        for (auto* row : {&counts_, &means_, &entropies_, &all_counts_, &all_means_, &starts_, &evidence_})
            visitor.row(*row);
        for (double* number : {&unit_, &time_, &start_, &restarts_, &scatter_, &scale_}) visitor.number(*number);
    }

private:
    static constexpr size_t most = 24;  // starts
    static constexpr double none = -1.0;
    static constexpr double spacing = 16.0;

    static double gain_of(const Sight& sight) { return 0.5 * (1.0 + sight.gain); }

    double keenness() const {
        return keenness_ > 0.0 ? keenness_ : larger(3.0, 1.7 * std::sqrt(static_cast<double>(counts_.size())));
    }
    double dispersion() const { return smaller(1.0, larger(0.01, (scatter_ + 5.0) / (scale_ + 5.0))); }
    double threshold() const { return 3.0 + std::log((time_ + 10.0) / (1.0 + restarts_)); }

    void weigh(const double* counts, const double* means, const double* entropies, double rounds, const double* awake,
               double* distribution) const {
        const size_t n = counts_.size();
        const double explored = std::log(larger(rounds, 1.0) / static_cast<double>(n));
        const double total = weigh_segment(counts, means, entropies, awake, n, keenness(), unit_, 1.0 / dispersion(),
                                           explored, distribution);
        share_out(distribution, n, total);
    }

    void fade() {
        unit_ *= 1.0 - fade_ / (time_ + 50.0);
        if (unit_ > 1e-100) return;
        for (auto* values : {&counts_, &all_counts_})
            for (double& count : *values) count *= unit_;
        unit_ = 1.0;
    }

    // Compare how well the starts have predicted a gain.
    void judge(size_t i, double gain) {
        const double mean = means_[i];
        const double count = unit_ * counts_[i];
        if (count > 0.0) {
            scatter_ += (gain - mean) * (gain - mean) * count / (count + 1.0);
            scale_ += mean * (1.0 - mean);
        }
        if (time_ > 2000.0) {
            scatter_ *= 0.999;
            scale_ *= 0.999;
        }
        const double present = gain * std::log(mean) + (1.0 - gain) * std::log1p(-mean);
        compare_starts(all_means_.data() + i * most, most, gain, present, 1.0 / dispersion(), evidence_.data());
    }

    // The start with the largest evidence, the oldest of several; `most` where there is none.
    size_t leader() const {
        size_t lead = most;
        for (size_t s = 0; s < most; ++s) {
            if (starts_[s] == none) continue;
            if (lead == most || evidence_[s] > evidence_[lead] ||
                (evidence_[s] == evidence_[lead] && starts_[s] < starts_[lead]))
                lead = s;
        }
        return lead;
    }

    void restart() {
        const size_t s = leader();
        if (s == most || !(evidence_[s] > threshold())) return;
        copy_start(s, counts_.data(), means_.data(), entropies_.data());
        start_ = starts_[s];
        restarts_ += 1.0;
        for (size_t other = 0; other < most; ++other) {
            evidence_[other] = 0.0;
            if (starts_[other] <= start_) starts_[other] = none;
        }
    }

    void copy_start(size_t s, double* counts, double* means, double* entropies) const {
        for (size_t i = 0; i < counts_.size(); ++i) {
            counts[i] = all_counts_[i * most + s];
            means[i] = all_means_[i * most + s];
            entropies[i] = entropy(means[i]);
        }
    }

    // Begin a start now, and give up some of the older ones: from the age of 64 rounds on, two remain of an octave.
    void begin_start() {
        size_t empty = 0;
        for (size_t s = 0; s < most; ++s) {
            const double age = time_ - starts_[s];
            const double step = age < 4.0 * spacing ? spacing : 0.5 * spacing * std::exp2(std::floor(std::log2(age / spacing)));
            if (std::fmod(starts_[s], step) != 0.0) starts_[s] = none;
            if (starts_[s] < starts_[empty]) empty = s;
        }
        starts_[empty] = time_;
        evidence_[empty] = 0.0;
        for (size_t i = 0; i < counts_.size(); ++i) {
            all_counts_[i * most + empty] = 0.0;
            all_means_[i * most + empty] = 0.5;
        }
    }

    double keenness_, fade_;
    double unit_ = 1.0;  // a count is so many gains
    double time_ = 0.0;
    double start_ = 0.0;
    double restarts_ = 0.0;
    double scatter_ = 0.0, scale_ = 0.0;              // A and D
    std::vector<double> counts_, means_, entropies_;  // of the present segment
    std::vector<double> all_counts_, all_means_;      // of each other start, for each action
    std::vector<double> starts_, evidence_;
    std::vector<double> room_;
};

}  // namespace normalhedge::routing
