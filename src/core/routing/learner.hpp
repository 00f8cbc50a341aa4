// All that a router has learned: a rule for all rounds, and one for each context, which the distribution is mixed of.
#pragma once

#include <cstdint>
#include <functional>

#include "over_rules.hpp"

namespace normalhedge::routing {

using std::int64_t;

// The gain of an action, by the number that the action got when it joined, and the probability that it would be known.
struct Known {
    int64_t action;
    double probability;
    double gain;  // in [-1, 1]; NaN while it is not known
};

// A round from its choice on.
struct Round {
    int64_t ticket = 0;
    int64_t action = 0;
    int64_t cell = 0;             // 0: no context
    double probability = 1.0;     // of the action that was chosen
    double spread = 1.0;          // see `Feedback`
    double pending = 0.0;
    double cost = -1.0;           // of the chosen action, if it became known; else negative
    double price = 0.0;           // of a unit of cost, and the highest of the dearest action: see `budget.hpp`
    double highest = 0.0;
    bool full = false;            // whether the gains of all actions awake are known
    bool all_awake = true;        // among the actions there were
    std::vector<int64_t> awake;   // the others
    std::vector<Known> known;     // the actions whose gains are to be known, the chosen one first
};

class Learner {
public:
    using Make = std::function<std::unique_ptr<Rule>(size_t)>;  // a rule for so many actions, which join later

    explicit Learner(std::shared_ptr<const Make> make, int64_t most_cells) : make_(std::move(make)), most_cells_(most_cells) {
        rules_.push_back((*make_)(0));
    }
    Learner(const Learner& other)
        : make_(other.make_), most_cells_(other.most_cells_), ids(other.ids), shares_(other.shares_),
          own_(other.own_), mask_(other.mask_) {
        for (const auto& rule : other.rules_) rules_.push_back(rule->clone());
    }
    Learner& operator=(const Learner&) = delete;

    size_t count() const { return ids.size(); }
    size_t cells() const { return rules_.size() - 1; }
    const Rule& rule(size_t cell) const { return *rules_[cell]; }

    // The weight of the rule of a context beside the rule of all rounds.
    double share(size_t cell) const { return shares_[cell - 1].weights()[1]; }

    // The place of an action; the number of actions if it has left.
    size_t place(int64_t action) const {
        const auto found = std::lower_bound(ids.begin(), ids.end(), action);
        return found != ids.end() && *found == action ? static_cast<size_t>(found - ids.begin()) : ids.size();
    }

    void play(int64_t cell, const double* awake, double* distribution) {
        rules_[0]->play(awake, distribution);
        if (cell <= 0 || static_cast<size_t>(cell) > cells()) return;
        const double share = this->share(static_cast<size_t>(cell));
        rules_[static_cast<size_t>(cell)]->play(awake, own_.data());
        for (size_t i = 0; i < ids.size(); ++i) distribution[i] += share * (own_[i] - distribution[i]);
    }

    void join(int64_t action) {
        make_room(ids);
        own_.reserve(ids.size() + 1);
        mask_.reserve(ids.size() + 1);
        sights_.reserve(ids.size() + 1);
        common_.reserve(ids.size() + 1);
        for (auto& rule : rules_) rule->join();
        ids.push_back(action);
        resize();
    }

    void leave(size_t place) {
        for (auto& rule : rules_) rule->leave(place);
        ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(place));
        resize();
    }

    // Begin rules of their own for the contexts up to this one.
    void open(int64_t cell) {
        while (static_cast<int64_t>(cells()) < cell) {
            std::unique_ptr<Rule> rule = (*make_)(ids.size());
            for (size_t i = 0; i < ids.size(); ++i) rule->join();
            make_room(rules_);
            shares_.emplace_back(std::vector<double>{0.5, 0.5});
            rules_.push_back(std::move(rule));
        }
    }

    // Learn the gains of a round; actions that have left are passed over. `change` takes the costs into account.
    template <class Change>
    void learn(const Round& round, const Change& change) {
        const double* awake = mask(round);
        sights_.clear();
        for (const Known& known : round.known) {
            const size_t where = place(known.action);
            if (where == ids.size() || known.gain != known.gain) continue;
            const double probability = round.full ? 1.0 : known.probability;
            sights_.push_back({where, probability, change(known.action, known.gain)});
        }
        if (sights_.empty()) return;
        const Feedback seen{sights_.data(), sights_.size(), round.full, round.full ? 1.0 : round.spread, round.pending, awake};
        const bool own = round.cell > 0 && static_cast<size_t>(round.cell) <= cells();
        if (own) {
            const size_t cell = static_cast<size_t>(round.cell);
            Master& master = shares_[cell - 1];
            common_.resize(ids.size());
            rules_[0]->play(awake, common_.data());
            rules_[cell]->play(awake, own_.data());
            master.losses()[0] = estimated_loss(seen, common_.data(), master.baseline());
            master.losses()[1] = estimated_loss(seen, own_.data(), master.baseline());
            master.learn(mean_loss(seen));
            rules_[cell]->learn(seen);
        }
        rules_[0]->learn(seen);
    }

    void visit(Visitor& visitor) {
        for (auto& rule : rules_) rule->visit(visitor);
        for (Master& master : shares_) master.visit(visitor);
    }

    int64_t most_cells() const { return most_cells_; }

private:
    std::shared_ptr<const Make> make_;
    int64_t most_cells_;

public:
    std::vector<int64_t> ids;  // of the actions, in rising order

private:
    void resize() {
        own_.resize(ids.size());
        mask_.resize(ids.size());
    }

    // Which actions were awake; none where all that there are now were.
    const double* mask(const Round& round) {
        if (round.all_awake) return nullptr;
        bool all = true;
        for (size_t i = 0, k = 0; i < ids.size(); ++i) {
            while (k < round.awake.size() && round.awake[k] < ids[i]) ++k;
            const bool here = k < round.awake.size() && round.awake[k] == ids[i];
            mask_[i] = here ? 1.0 : 0.0;
            all = all && here;
        }
        return all ? nullptr : mask_.data();
    }

    std::vector<std::unique_ptr<Rule>> rules_;  // of all rounds, and of each context
    std::vector<Master> shares_;                // of the two, for each context
    std::vector<double> own_, mask_, common_;   // room
    std::vector<Sight> sights_;
};

}  // namespace normalhedge::routing
