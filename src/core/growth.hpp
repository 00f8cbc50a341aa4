// Experts, items, cells and classes that join a mixture.
#pragma once

#include "content.hpp"

namespace normalhedge::mixtures {

// Write the columns of new experts in a state that has room for them; `before` is the number of the others.
inline void begin_columns(const Rule& rule, State& state, size_t before, size_t weighed, bool learned,
                          const double* ledger) {
    const size_t n = state[Axis::experts];
    if (rule.own_hedger || n == before) return;
    const size_t first = learned || rule.automatic ? before : 0;
    const double even = 1.0 / static_cast<double>(learned && weighed ? weighed : n);
    for (size_t g = 0; g < state[Axis::games]; ++g) {
        const Game game = state.game(g);
        if (!rule.automatic) fill(game.columns.weights + first, n - first, even);
        if (!ledger) continue;
        for (size_t r = 0; r < state[Axis::ledger_rows]; ++r)
            std::copy(ledger + r * (n - first), ledger + (r + 1) * (n - first), game.columns.row(r) + first);
    }
}

// More experts, items, cells and classes in a state, all or nothing.
class Growth {
public:
    std::vector<Reference> experts;
    std::vector<Reference> items;
    std::vector<Reference> cells;
    std::vector<Reference> classes;

    bool lazy = false;  // whether weights are written at their next use

    bool empty() const { return experts.empty() && items.empty() && cells.empty() && classes.empty(); }

    // Prepare: make room where there is none, and call functions of Python. `privately` asks for a copy.
    void prepare(const Content& content, bool privately) {
        const Rule& rule = *content.rule;
        before_ = content.n();
        games_before_ = content.state[Axis::games];
        learned_ = content.has_learned();
        shape_ = rule.shape(before_ + experts.size(), content.items.size() + items.size(),
                            content.cells.size() + cells.size(), content.classes.size() + classes.size());
        const size_t n = shape_[Axis::experts];
        lazy = lazy && !rule.in_python() && !rule.begin && before_ > 0;
        if (rule.begin && !rule.own_hedger && n > 0) {
            const size_t first = learned_ ? before_ : 0;
            newcomers_ = columns(rule, n - first, learned_ ? before_ : n);
            if (shape_[Axis::games] > games_before_) whole_ = columns(rule, n, n);
        }
        if (content.states) {
            states_ = copy_of_list(content.states);
            if (!empty() || PyList_GET_SIZE(states_.get()) == 0)
                states_ = Reference::checked(PyObject_CallMethod(
                    rule.begin, "grow", "OnnO", states_.get(), static_cast<Py_ssize_t>(shape_[Axis::games]),
                    static_cast<Py_ssize_t>(n), learned_ ? Py_True : Py_False));
            if (!PyList_CheckExact(states_.get())) raise(PyExc_TypeError, "states must be a list");
        }
        const bool cramped = !empty() && !content.state.has_room(shape_);
        private_ = privately || cramped;
        if (private_) state_ = cramped ? content.state.extended(shape_) : State(content.state);
        additions_[0].names = std::move(experts);
        additions_[1].names = std::move(items);
        additions_[2].names = std::move(cells);
        additions_[3].names = std::move(classes);
    }

    size_t n() const { return shape_[Axis::experts]; }
    size_t item_count() const { return shape_[Axis::items]; }

    // The last step that can fail.
    void enter(Content& content) {
        content.retired.reserve(n());
        additions_[0].enter(content.names);
        additions_[1].enter(content.items);
        additions_[2].enter(content.cells);
        additions_[3].enter(content.classes);
    }

    // The state and the states to work on, with the newcomers in them.
    State& begin(Content& content) {
        State& state = private_ ? state_ : content.state;
        const Rule& rule = *content.rule;
        if (!(state.shape() == shape_)) state.extend(shape_);
        if (n() > before_)
            begin_columns(rule, state, before_, content.weighed, learned_ || lazy,
                          newcomers_ ? data_of<double>(newcomers_.array()) : nullptr);
        for (size_t g = games_before_; g < shape_[Axis::games] && n() > 0; ++g) begin_game(rule, state, g);
        if (rule.ladder)
            for (size_t k = content.items.size(); k < shape_[Axis::items]; ++k)
                intervals::begin_game(*rule.ladder, state.interval(k));
        Board board(rule, state, content.widened, states_ ? states_.get() : content.states.get());
        if (lazy) return state;
        if (rule.own_hedger && n() > 0 && grown())
            board.weigh_all();
        else if (n() > before_ && (learned_ || rule.automatic))
            board.weigh_all();
        else if (rule.automatic && n() > 0)
            for (size_t g = games_before_; g < shape_[Axis::games]; ++g) board.weigh(g);
        return state;
    }
    PyObject* states(const Content& content) const {
        return states_ ? states_.get() : content.states.get();
    }

    // Replaced objects live until this one is destroyed: freeing them may run Python.
    void commit(Content& content) noexcept {
        if (private_) std::swap(content.state, state_);
        if (states_) std::swap(content.states, states_);
        if (n() > before_) {
            content.joined_late = content.joined_late || learned_;
            content.retired.resize(n(), 0);
        }
        for (size_t k = 0; k < 4; ++k) old_[k] = additions_[k].commit();
        if (!lazy) content.weighed = n();
    }

private:
    bool grown() const { return n() > before_ || shape_[Axis::games] > games_before_; }

    static Reference columns(const Rule& rule, size_t count, size_t experts) {
        Reference made = Reference::checked(PyObject_CallFunction(
            rule.begin, "nn", static_cast<Py_ssize_t>(count), static_cast<Py_ssize_t>(experts)));
        PyArrayObject* array = checked_array<const double>(made.get(), 2);
        if (extent(array, 0) != rule.hedger->rows() || extent(array, 1) != count)
            raise(PyExc_ValueError, "there must be a column for each newcomer");
        return made;
    }

    void begin_game(const Rule& rule, State& state, size_t g) const {
        const Game game = state.game(g);
        if (rule.own_hedger) return;
        fill(game.columns.weights, n(), 1.0 / static_cast<double>(n()));
        if (!whole_) return;
        const double* ledger = data_of<double>(whole_.array());
        for (size_t r = 0; r < state[Axis::ledger_rows]; ++r)
            std::copy(ledger + r * n(), ledger + (r + 1) * n(), game.columns.row(r));
    }

    Shape shape_;
    State state_;
    Reference states_;
    Reference newcomers_;
    Reference whole_;
    Names::Addition additions_[4];
    Reference old_[4];
    size_t before_ = 0;
    size_t games_before_ = 0;
    bool learned_ = false;
    bool private_ = false;
};

}  // namespace normalhedge::mixtures
