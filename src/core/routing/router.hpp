// A router: one action at a time. What it has learned, the rounds that wait for their gains, and the settled ones.
//
// An operation makes all that it needs first, and then changes the router without asking for memory.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <stdexcept>

#include "archive.hpp"
#include "budget.hpp"
#include "learner.hpp"

namespace normalhedge::routing {

// A number in [0, 1) for each ticket: SplitMix64 (Steele, Lea and Flood, 2014), twice, of seed and ticket.
inline std::uint64_t scramble(std::uint64_t z) {
    z += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}
inline double uniform(std::uint64_t seed, int64_t ticket) {
    return static_cast<double>(scramble(scramble(seed) ^ static_cast<std::uint64_t>(ticket)) >> 11) * 0x1p-53;
}

// The place at which the sum of a distribution exceeds u; never one without probability.
inline size_t draw(const double* distribution, size_t n, double u) {
    double sum = 0.0;
    size_t last = 0;
    for (size_t i = 0; i < n; ++i) {
        if (!(distribution[i] > 0.0)) continue;
        last = i;
        sum += distribution[i];
        if (u < sum) break;
    }
    return last;
}

// A change of what was learned: a settled round, or an action that joined, left, or a context that opened.
struct Event {
    enum Kind { settled, joined, left, opened } kind;
    int64_t number;  // of the action or the context
    Round round;
};

class Router {
public:
    Router(Learner learner, int64_t max_pending, int64_t history, std::uint64_t seed)
        : max_pending(max_pending), history(history), seed(seed) {
        chapters_.emplace_back(Chapter{Learner(learner), {}, 0});
        learner_ = std::make_unique<Learner>(std::move(learner));
    }

    const int64_t max_pending;
    const int64_t history;  // how many settled rounds are kept at least
    const std::uint64_t seed;
    int64_t next = 0;       // ticket
    int64_t rounds = 0;     // settled
    int64_t expired = 0;
    double earned = 0.0;    // the sum of the gains of the chosen actions, in [-1, 1]
    bool full = true;       // whether all gains of all settled rounds were known
    bool late = false;      // whether a round was settled after a later choice
    bool changed = false;   // whether actions slept, or joined or left after the first choice
    Budget budget;
    std::vector<std::vector<int64_t>> shown;  // for each action, the others whose gains are known when it is chosen

    Learner& learner() { return *learner_; }
    const Learner& learner() const { return *learner_; }
    const std::map<int64_t, Round>& waiting() const { return pending_; }

    // A choice that has not been made yet.
    struct Draft {
        std::map<int64_t, Round> node;  // with one entry
        Round* round = nullptr;
        size_t place = 0;
    };

    // Prepare a choice; `distribution` gets the probabilities. `awake` and `seen` are places in rising order; `seen` are
    // the actions whose gains will be known in any case.
    Draft prepare(int64_t cell, const std::vector<size_t>* awake, const std::vector<size_t>* seen, double* distribution) {
        const size_t n = learner_->count();
        Draft draft;
        draft.round = &draft.node[next];
        Round& round = *draft.round;
        round.ticket = next;
        round.cell = cell;
        round.pending = static_cast<double>(pending_.size());
        round.price = budget.unit_price();
        round.highest = budget.highest_price();
        limit(round, awake);
        if (!round.all_awake) {
            mask_.assign(n, 0.0);
            for (int64_t action : round.awake) mask_[learner_->place(action)] = 1.0;
        }
        learner_->play(cell, round.all_awake ? nullptr : mask_.data(), distribution);
        draft.place = draw(distribution, n, uniform(seed, next));
        round.action = learner_->ids[draft.place];
        round.probability = distribution[draft.place];
        look(round, seen, distribution, draft.place);
        return draft;
    }

    void commit(Draft draft) {
        changed = changed || !draft.round->all_awake;
        budget.pay(draft.round->action);
        pending_.merge(draft.node);
        ++next;
        while (static_cast<int64_t>(pending_.size()) > max_pending) {
            pending_.erase(pending_.begin());
            ++expired;
        }
    }

    // A settled round that still can be corrected.
    const Round* settled(int64_t ticket) const {
        for (const Chapter& chapter : chapters_)
            for (const Event& event : chapter.events)
                if (event.kind == Event::settled && event.round.ticket == ticket) return &event.round;
        return nullptr;
    }
    const Round* pending(int64_t ticket) const {
        const auto found = pending_.find(ticket);
        return found == pending_.end() ? nullptr : &found->second;
    }

    // Learn the gains of a pending round, which is given with them.
    void settle(Round round) {
        if (chapters_.back().settled >= history) {
            chapters_.emplace_back(Chapter{Learner(*learner_), {}, 0});
            if (chapters_.size() > 2) chapters_.pop_front();
        }
        Chapter& chapter = chapters_.back();
        chapter.events.push_back({Event::settled, 0, std::move(round)});
        const Round& kept = chapter.events.back().round;
        ++chapter.settled;
        learn(*learner_, kept);
        if (kept.cost >= 0.0) budget.pay_back(budget.cost(kept.action) - kept.cost);
        pending_.erase(kept.ticket);
        full = full && kept.full;
        late = late || kept.ticket + 1 != next;
        ++rounds;
        earned += kept.known.front().gain;
    }

    // Play all events again that are kept, with other gains of one of them.
    void correct(const Round& corrected) {
        std::deque<Chapter> chapters;
        Learner now(chapters_.front().before);
        double change = 0.0;
        for (const Chapter& chapter : chapters_) {
            chapters.emplace_back(Chapter{Learner(now), chapter.events, chapter.settled});
            for (Event& event : chapters.back().events) {
                if (event.kind == Event::settled && event.round.ticket == corrected.ticket) {
                    change = corrected.known.front().gain - event.round.known.front().gain;
                    event.round = corrected;
                }
                redo(now, event);
            }
        }
        auto learner = std::make_unique<Learner>(std::move(now));
        chapters_.swap(chapters);
        learner_.swap(learner);
        earned += change;
    }

    // An action joins; `others` are seen with it, and it is seen with `by`.
    void join(int64_t action, double cost, std::vector<int64_t> others, const std::vector<int64_t>& by) {
        std::map<int64_t, Round> waiting = offered();
        auto shows = shown;
        shows.resize(static_cast<size_t>(action) + 1);
        for (int64_t other : by) shows[static_cast<size_t>(other)].push_back(action);
        shows.back() = std::move(others);
        auto learner = std::make_unique<Learner>(*learner_);
        learner->join(action);
        budget.costs.reserve(shows.size());
        chapters_.back().events.push_back({Event::joined, action, {}});
        budget.costs.push_back(cost);
        shown.swap(shows);
        learner_.swap(learner);
        pending_.swap(waiting);
        come_or_gone();
    }

    void leave(int64_t action) {
        std::map<int64_t, Round> waiting = offered();
        chapters_.back().events.push_back({Event::left, action, {}});
        learner_->leave(learner_->place(action));
        pending_.swap(waiting);
        come_or_gone();
    }

    void open(int64_t cell) {
        auto learner = std::make_unique<Learner>(*learner_);
        learner->open(cell);
        chapters_.back().events.push_back({Event::opened, cell, {}});
        learner_.swap(learner);
    }

    // The bytes that it takes, about: what was learned, and the rounds that wait or are kept.
    double bytes() {
        struct Counter final : Visitor {
            double count = 0.0;
            void number(double&) override { ++count; }
            void row(std::vector<double>& values) override { count += static_cast<double>(values.size()); }
        } counter;
        learner_->visit(counter);
        double size = 8.0 * counter.count * static_cast<double>(1 + chapters_.size());
        const auto add = [&](const Round& round) {
            size += static_cast<double>(sizeof(Event) + 8 * round.awake.size() + sizeof(Known) * round.known.size());
        };
        for (const auto& [ticket, round] : pending_) add(round);
        for (const Chapter& chapter : chapters_)
            for (const Event& event : chapter.events) add(event.round);
        return size;
    }

    template <class Work>
    void each_settled(const Work& work) const {
        for (const Chapter& chapter : chapters_)
            for (const Event& event : chapter.events)
                if (event.kind == Event::settled) work(event.round);
    }

    // Read or write all numbers. A router that reads has the settings of the one that wrote, and no actions.
    void visit(Archive& archive);

private:
    // The events since a moment, and what had been learned before it.
    struct Chapter {
        Learner before;
        std::deque<Event> events;
        int64_t settled;
    };

    void come_or_gone() {
        changed = changed || next > 0;
        graded_ = false;
        for (const auto& others : shown) graded_ = graded_ || !others.empty();
        budget.range(learner_->ids);
    }

    void learn(Learner& learner, const Round& round) const {
        learner.learn(round, [&](int64_t action, double gain) {
            const bool real = action == round.action && round.cost >= 0.0;
            return Budget::penalised(gain, real ? round.cost : budget.cost(action), round.price, round.highest);
        });
    }

    void redo(Learner& learner, const Event& event) const {
        switch (event.kind) {
            case Event::settled: learn(learner, event.round); break;
            case Event::joined: learner.join(event.number); break;
            case Event::left: learner.leave(learner.place(event.number)); break;
            case Event::opened: learner.open(event.number); break;
        }
    }

    // The actions awake: those that are offered, and within the budget where that is nearly spent.
    void limit(Round& round, const std::vector<size_t>* awake) const {
        const std::vector<int64_t>& ids = learner_->ids;
        const bool strict = budget.strict();
        round.all_awake = !awake && !strict;
        if (round.all_awake) return;
        const auto offer = [&](bool cheap) {
            const auto one = [&](int64_t action) {
                if (!cheap || budget.costs[static_cast<size_t>(action)] <= budget.limit) round.awake.push_back(action);
            };
            if (awake)
                for (size_t place : *awake) one(ids[place]);
            else
                for (int64_t action : ids) one(action);
        };
        offer(strict);
        if (round.awake.empty()) offer(false);  // only dear ones are awake
        round.all_awake = round.awake.size() == ids.size();
        if (round.all_awake) round.awake.clear();
    }

    // Enter the actions whose gains will be known, each with the probability of that:
    //
    //     o_i = 1 if i is seen in any case, else sum of p_j over the actions j with whose choice i is seen
    void look(Round& round, const std::vector<size_t>* seen, const double* distribution, size_t chosen) {
        const std::vector<int64_t>& ids = learner_->ids;
        const size_t n = ids.size();
        const double offered = static_cast<double>(round.all_awake ? n : round.awake.size());
        round.known.push_back({round.action, round.probability, not_a_number});
        round.spread = offered;
        round.full = offered == 1.0;
        if (!seen && !graded_) return;
        std::vector<double> sight(distribution, distribution + n);
        if (graded_)
            for (size_t j = 0; j < n; ++j)
                for (int64_t action : shown[static_cast<size_t>(ids[j])]) {
                    const size_t place = learner_->place(action);
                    if (place < n) sight[place] += distribution[j];
                }
        if (seen)
            for (size_t place : *seen) sight[place] = 1.0;
        for (double& probability : sight)
            if (probability > 1.0 - 1e-12) probability = 1.0;  // a sum of ones and rounding
        round.known.front().probability = sight[chosen];
        const auto add = [&](size_t place) {
            const int64_t action = ids[place];
            if (!round.all_awake && !std::binary_search(round.awake.begin(), round.awake.end(), action)) return;
            for (const Known& known : round.known)
                if (known.action == action) return;
            round.known.push_back({action, sight[place], not_a_number});
        };
        if (seen)
            for (size_t place : *seen) add(place);
        if (graded_)
            for (int64_t action : shown[static_cast<size_t>(round.action)])
                if (learner_->place(action) < n) add(learner_->place(action));
        round.spread = 0.0;
        for (size_t i = 0; i < n; ++i)
            if (distribution[i] > 0.0) round.spread += distribution[i] / sight[i];
        round.spread = larger(round.spread, 1.0);
        bool all = static_cast<double>(round.known.size()) == offered;
        for (const Known& known : round.known) all = all && known.probability >= 1.0;
        round.full = all;
    }

    // The pending rounds, each with a list of the actions that were awake: before actions come or go.
    std::map<int64_t, Round> offered() const {
        std::map<int64_t, Round> rounds = pending_;
        for (auto& [ticket, round] : rounds)
            if (round.all_awake) {
                round.all_awake = false;
                round.awake = learner_->ids;
            }
        return rounds;
    }

    std::unique_ptr<Learner> learner_;
    std::map<int64_t, Round> pending_;
    std::deque<Chapter> chapters_;  // one or two
    std::vector<double> mask_;      // room

    bool graded_ = false;  // whether some actions show others
};

inline void Router::visit(Archive& archive) {
    for (int64_t* count : {&next, &rounds, &expired}) archive.whole(*count);
    for (double* number : {&earned, &budget.spent, &budget.time, &budget.price}) archive.number(*number);
    for (bool* fact : {&full, &late, &changed}) archive.flag(*fact);
    archive.numbers(budget.costs);
    archive.list(shown, [&](std::vector<int64_t>& others) { archive.wholes(others); });
    archive.learner(*learner_);
    std::vector<Round> waiting;
    for (const auto& [ticket, round] : pending_) waiting.push_back(round);
    archive.list(waiting, [&](Round& round) { archive.round(round); });
    const auto write_chapter = [&](Chapter& chapter) {
        archive.learner(chapter.before);
        archive.whole(chapter.settled);
        archive.list(chapter.events, [&](Event& event) {
            int64_t kind = event.kind;
            archive.whole(kind);
            event.kind = static_cast<Event::Kind>(kind);
            archive.whole(event.number);
            if (event.kind == Event::settled) archive.round(event.round);
        });
    };
    int64_t count = static_cast<int64_t>(chapters_.size());
    archive.whole(count);
    if (archive.reads() && count == 2) chapters_.emplace_back(Chapter{Learner(chapters_.front().before), {}, 0});
    if (static_cast<int64_t>(chapters_.size()) != count) archive.refuse();
    for (Chapter& chapter : chapters_) write_chapter(chapter);
    if (!archive.reads()) return;
    for (Round& round : waiting) pending_.emplace(round.ticket, std::move(round));
    const bool before = changed;
    come_or_gone();
    changed = before;
}

}  // namespace normalhedge::routing
