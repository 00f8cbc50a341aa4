// A hedger on estimated gains.
//
//     loss estimate    l'_i = 1[i seen] l_i / (o_i + gamma),   l = (1 - g) / 2       implicit exploration
//     gain estimate    g'_i = s (1 - 2 l'_i)
//
// o_i is the probability that the gain of i would be seen. Where all gains are seen the hedger gets the gains
// themselves. The estimates are optimistic: E l'_i <= l_i. Their second moment is Q = sum_i p_i / o_i times as large as
// that of losses; s = 1 / sqrt(Q) makes it the same, and the hedger keeps its rate. Hedge with a falling rate has s = 1
// and a clock instead, which a round advances by 4 Q, and by 8 for each round that waits for its gains:
//
//     p_i ∝ exp(-eta L'_i),   eta = sqrt(4 ln K / t),   gamma = eta / 2              EXP3-IX
//
// eta = sqrt(ln K / sum Q) with one gain a round: the rate of Kocák, Neu, Valko and Munos (2014) up to a constant, with
// the delays of Zimmert and Seldin (2020). With all gains at once a round advances it by 1, as the hedger does itself.
#pragma once

#include "../hedger.hpp"
#include "rule.hpp"

namespace normalhedge::routing {

using engine::Gains;
using engine::Hedger;

class HedgerRule final : public Rule {
public:
    HedgerRule(std::shared_ptr<const Hedger> hedger, bool clocked)
        : hedger_(std::move(hedger)), clocked_(clocked), rows_(hedger_->rows()), totals_(hedger_->totals(), 0.0) {}

    std::unique_ptr<Rule> clone() const override { return std::make_unique<HedgerRule>(*this); }

    void play(const double* awake, double* distribution) override {
        if (!awake)
            std::copy(weights_.begin(), weights_.end(), distribution);
        else
            hedger_->play(columns(), awake, distribution);
    }

    void learn(const Feedback& seen) override {
        const size_t n = weights_.size();
        const auto kind = seen.full ? Gains::Kind::float64 : Gains::Kind::estimates;
        if (seen.full) {
            if (seen.awake) std::fill(gains_.begin(), gains_.end(), 0.0);
            for (size_t k = 0; k < seen.count; ++k) gains_[seen.sights[k].place] = seen.sights[k].gain;
        } else {
            const double scale = clocked_ ? 1.0 : 1.0 / std::sqrt(seen.spread);
            const double gamma = implicit_exploration();
            std::fill(gains_.begin(), gains_.end(), scale);
            for (size_t k = 0; k < seen.count; ++k) {
                const Sight& sight = seen.sights[k];
                const double inverse = sight.probability >= 1.0 ? 1.0 : 1.0 / (sight.probability + gamma);
                gains_[sight.place] = scale * (1.0 - 2.0 * inverse * sight.loss());
            }
        }
        rounds_ += 1.0;
        if (n == 0) return;
        hedger_->step(columns(), columns(), Gains(gains_.data(), kind), seen.awake);
        if (!clocked_ || (seen.full && seen.pending == 0.0)) return;
        totals_[0] += (seen.full ? 0.0 : 4.0 * seen.spread - 1.0) + 8.0 * seen.pending;
        hedger_->weigh(columns());
    }

    void join() override {
        const size_t n = weights_.size();
        std::vector<double> ledger(rows_ * (n + 1), 0.0);
        for (size_t r = 0; r < rows_; ++r) std::copy_n(ledger_.data() + r * n, n, ledger.data() + r * (n + 1));
        make_room(weights_);
        make_room(gains_);
        weights_.push_back(1.0 / static_cast<double>(n ? n : 1));
        gains_.push_back(0.0);
        ledger_.swap(ledger);
        weigh();
    }

    void leave(size_t place) override {
        const size_t n = weights_.size();
        for (size_t r = rows_; r-- > 0;) ledger_.erase(ledger_.begin() + static_cast<std::ptrdiff_t>(r * n + place));
        weights_.erase(weights_.begin() + static_cast<std::ptrdiff_t>(place));
        gains_.pop_back();
        weigh();
    }

    void visit(Visitor& visitor) override {
        visitor.row(weights_);
        visitor.row(ledger_);
        visitor.row(totals_);
        visitor.number(rounds_);
    }

private:
    Columns columns() {
        const size_t n = weights_.size();
        return {n, n, n, weights_.data(), ledger_.data(), totals_.data()};
    }

    // Before the first round the weights are even, also where they are the memory.
    void weigh() {
        if (weights_.empty()) return;
        if (rounds_ > 0.0)
            hedger_->weigh(columns());
        else
            fill(weights_.data(), weights_.size(), 1.0 / static_cast<double>(weights_.size()));
    }

    double implicit_exploration() const {
        const double log_n = log_experts(weights_.size());
        if (clocked_) return std::sqrt(log_n / (totals_[0] + 1.0));
        const double memory = 1.0 / (1.0 - hedger_->keep());  // infinite where nothing is forgotten
        return std::sqrt(log_n / (2.0 * static_cast<double>(weights_.size()) * smaller(rounds_ + 1.0, memory)));
    }

    std::shared_ptr<const Hedger> hedger_;
    bool clocked_;
    size_t rows_;
    std::vector<double> weights_, ledger_, totals_;
    double rounds_ = 0.0;
    std::vector<double> gains_;  // room
};

}  // namespace normalhedge::routing
