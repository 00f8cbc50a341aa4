// The content of a mixture: rule, state and ledger.
#pragma once

#include "ledger.hpp"
#include "names.hpp"
#include "rule.hpp"

namespace normalhedge::mixtures {

struct Limits {
    std::int64_t pending;
    std::int64_t age;  // -1: none
    std::int64_t history;
};

// All that operations change.
struct Content {
    std::shared_ptr<const Rule> rule;
    Limits limits;
    State state;
    Reference states;  // a list, of a hedger written in Python; or none
    Widened widened;
    Names names;
    Names items;
    Names cells;  // of contexts
    std::vector<size_t> contexts_of_cells;  // the number of the context of each cell, as far as they are known
    Names classes;  // of the forecasts, where these are class probabilities
    std::vector<char> retired;  // of each expert
    std::int64_t rounds = 0;
    std::int64_t next_ticket = 0;
    std::int64_t expired = 0;
    std::int64_t left = 0;
    bool joined_late = false;
    bool seeded = false;
    bool warned = false;
    Pending pending;
    Ids ids;
    History history;
    std::int64_t entries = 0;
    std::vector<std::shared_ptr<const Content>> checkpoints;  // the last two, without history
    std::int64_t next_checkpoint = 0;
    size_t weighed = 0;  // how many experts there were when the weights were written
    Reference attached;  // an object of the caller, which changes together with the rest; or none

    // Memory of the last rounds, for the next ones: malloc takes a quarter of the time of a small round.
    RoundPointer spare_round;
    Pending::node_type spare_node;
    History spare_entry;

    size_t n() const { return state[Axis::experts]; }
    bool has_learned() const { return state.sums().totals[Sums::steps] != 0.0; }
    Board board() { return {*rule, state, widened, states.get()}; }

    // Write the weights, if experts have joined since.
    void refresh() {
        if (weighed == n()) return;
        Reserved room(rule->room(n(), 1, 1));
        board().weigh_all();
        weighed = n();
    }

    // Earlier rounds cannot be played again.
    void forget_checkpoints() noexcept {
        checkpoints.clear();
        next_checkpoint = 0;
    }

    // The bytes of the state and of its checkpoints, if so many experts, items, cells and classes join.
    double bytes_with(size_t experts, size_t more_items, size_t more_cells, size_t more_classes) const {
        const Shape shape = rule->shape(n() + experts, items.size() + more_items, cells.size() + more_cells,
                                        classes.size() + more_classes);
        const double copies = limits.history > 0 ? 3.0 : 1.0;
        return copies * state.bytes_for(shape);
    }

    // The bytes of the rounds that wait or are kept.
    size_t bytes_of_rounds() const {
        size_t bytes = 0;
        for (const auto& [ticket, round] : pending) bytes += round->bytes();
        for (const Entry& entry : history)
            if (entry.round) bytes += entry.round->bytes() + entry.outcomes.size() * sizeof(double);
        return bytes;
    }

    // The number of rounds between checkpoints: two of them cover the history.
    std::int64_t stretch() const { return limits.history > 3 ? limits.history / 2 : 1; }
};

// A copy of a list, where there is one.
inline Reference copy_of_list(const Reference& list) {
    return list ? Reference::checked(PyList_GetSlice(list.get(), 0, PY_SSIZE_T_MAX)) : Reference();
}

// A copy that shares nothing but the rule and the rounds, neither of which changes.
inline std::unique_ptr<Content> copy_of(const Content& from, bool history) {
    auto to = std::make_unique<Content>();
    to->rule = from.rule;
    to->limits = from.limits;
    to->state = State(from.state);
    to->states = copy_of_list(from.states);
    to->names = Names(from.names, from.names.size());
    to->items = Names(from.items, from.items.size());
    to->cells = Names(from.cells, from.cells.size());
    to->classes = Names(from.classes, from.classes.size());
    to->retired = from.retired;
    to->rounds = from.rounds;
    to->next_ticket = from.next_ticket;
    to->expired = from.expired;
    to->left = from.left;
    to->joined_late = from.joined_late;
    to->seeded = from.seeded;
    to->warned = from.warned;
    to->pending = from.pending;
    to->ids = from.ids;
    to->weighed = from.weighed;
    to->entries = from.entries;
    to->attached = Reference::borrowed(from.attached.get());
    if (!history) return to;
    to->history = from.history;
    to->checkpoints = from.checkpoints;
    to->next_checkpoint = from.next_checkpoint;
    return to;
}

}  // namespace normalhedge::mixtures
