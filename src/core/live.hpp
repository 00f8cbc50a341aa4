// A mixture as one object: a rule, a state and a ledger.
//
// An operation has four phases. It reads its arguments, which may run code of other people's. It prepares:
// it allocates all that it will need, and calls a loss of the user's own. It checks that nothing has changed
// meanwhile. It commits: arithmetic and filing, which can neither fail nor run any Python. Where Python runs
// in the middle of the arithmetic (a hedger of the user's own), the operation works on a private copy of the
// state, which takes the place of the state in the end.
#pragma once

#include "ledger.hpp"
#include "rule.hpp"

namespace normalhedge::mixtures {

// Names by their places, and places by their names.
class Names {
public:
    size_t size() const { return list_.size(); }
    PyObject* operator[](size_t place) const { return list_[place].get(); }

    // The place of a name, or -1. Names are strings; others may run code of their own.
    std::int64_t find(PyObject* name) const {
        PyObject* place = index_ ? PyDict_GetItemWithError(index_.get(), name) : nullptr;
        if (place) return PyLong_AsLongLong(place);
        if (PyErr_Occurred()) throw PythonError();
        return -1;
    }

    // A list for Python; it is replaced, never changed.
    Reference shown() const {
        if (!shown_) {
            Reference list = Reference::checked(PyList_New(static_cast<Py_ssize_t>(list_.size())));
            for (size_t k = 0; k < list_.size(); ++k)
                PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(k),
                                Reference::borrowed(list_[k].get()).release());
            shown_ = std::move(list);
        }
        return Reference::borrowed(shown_.get());
    }

    Names() = default;
    Names(Names&&) = default;
    Names& operator=(Names&&) = default;

    // Some of the names of another.
    Names(const Names& other, const std::vector<std::int32_t>& places) {
        Addition all;
        for (std::int32_t place : places)
            all.names.push_back(Reference::borrowed(other[static_cast<size_t>(place)]));
        add(std::move(all));
    }
    Names(const Names& other, size_t count) {
        Addition all;
        for (size_t k = 0; k < count; ++k) all.names.push_back(Reference::borrowed(other[k]));
        add(std::move(all));
    }

    // Names that are added, all or nothing: they are in the index until the end of the operation, and stay
    // there if it commits.
    struct Addition {
        std::vector<Reference> names;
        Names* to = nullptr;

        Addition() = default;
        Addition(Addition&&) = default;
        ~Addition() {
            if (!to) return;
            PyObject *kind, *value, *trace;
            PyErr_Fetch(&kind, &value, &trace);
            for (const Reference& name : names)
                if (PyDict_DelItem(to->index_.get(), name.get()) < 0) PyErr_Clear();
            PyErr_Restore(kind, value, trace);
        }

        // Enter the names into the index: the last thing that can fail.
        void enter(Names& target) {
            if (names.empty()) return;
            if (!target.index_) target.index_ = Reference::checked(PyDict_New());
            target.list_.reserve(target.list_.size() + names.size() > target.list_.capacity()
                                     ? 2 * (target.list_.size() + names.size())
                                     : 0);
            to = &target;
            std::int64_t place = static_cast<std::int64_t>(target.size());
            for (const Reference& name : names) {
                Reference number = Reference::checked(PyLong_FromLongLong(place++));
                if (PyDict_SetItem(target.index_.get(), name.get(), number.get()) < 0)
                    throw PythonError();
            }
        }
        Reference commit() noexcept {
            if (!to) return {};
            for (Reference& name : names) to->list_.push_back(std::move(name));
            Reference old = std::move(to->shown_);
            to = nullptr;
            names.clear();
            return old;
        }
    };

    void add(Addition&& addition) {
        addition.enter(*this);
        addition.commit();
    }

    void rename(size_t place, PyObject* name) {
        Reference number = Reference::checked(PyLong_FromSize_t(place));
        if (PyDict_SetItem(index_.get(), name, number.get()) < 0) throw PythonError();
        Reference old = std::exchange(list_[place], Reference::borrowed(name));
        if (PyDict_DelItem(index_.get(), old.get()) < 0) PyErr_Clear();
        shown_ = Reference();
    }

private:
    std::vector<Reference> list_;
    Reference index_;  // a dict
    mutable Reference shown_;
};

struct Limits {
    std::int64_t pending;
    std::int64_t age;  // -1: none
    std::int64_t history;
};

// What the operations change.
struct Content {
    std::shared_ptr<const Rule> rule;
    Limits limits;
    State state;
    Reference states;  // a list, of a hedger written in Python; or none
    Widened widened;
    Names names;
    Names items;
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
    Reference attached;  // an object of the caller's, which changes with all the rest; or none

    // What the last rounds left, for the next ones: a quarter of the time of a small round is malloc's.
    RoundPointer spare_round;
    Pending::node_type spare_node;
    History spare_entry;

    size_t n() const { return state[Axis::experts]; }
    bool has_learned() const { return state.sums().totals[Sums::steps] != 0.0; }
    Board board() { return {*rule, state, widened, states.get()}; }

    // Write the weights, where experts joined since.
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

    // After how many rounds the next checkpoint is due.
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

// The columns of newcomers in a state that has room for them: `before` experts were there.
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

// More experts and items in a state, all or nothing.
class Growth {
public:
    std::vector<Reference> experts;
    std::vector<Reference> items;

    bool lazy = false;  // whether weights are written when they are next wanted

    bool empty() const { return experts.empty() && items.empty(); }

    // Prepare: make room where there is none, and call functions of Python's. `privately` asks for a copy.
    void prepare(const Content& content, bool privately) {
        const Rule& rule = *content.rule;
        before_ = content.n();
        games_before_ = content.state[Axis::games];
        learned_ = content.has_learned();
        shape_ = rule.shape(before_ + experts.size(), content.items.size() + items.size());
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
    }

    size_t n() const { return shape_[Axis::experts]; }
    size_t item_count() const { return shape_[Axis::items]; }

    // The last thing that can fail.
    void enter(Content& content) {
        content.retired.reserve(n());
        additions_[0].enter(content.names);
        additions_[1].enter(content.items);
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

    // What is replaced lives until this is destroyed.
    void commit(Content& content) noexcept {
        if (private_) std::swap(content.state, state_);
        if (states_) std::swap(content.states, states_);
        if (n() > before_) {
            content.joined_late = content.joined_late || learned_;
            content.retired.resize(n(), 0);
        }
        for (size_t k = 0; k < 2; ++k) old_[k] = additions_[k].commit();
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
    Names::Addition additions_[2];
    Reference old_[2];
    size_t before_ = 0;
    size_t games_before_ = 0;
    bool learned_ = false;
    bool private_ = false;
};

// The losses of your own in a round, as arrays.
struct OwnLosses {
    Reference losses;
    Reference slopes;

    // Ask the user's function; the arrays are rows x 1 x n, rows x values and rows.
    static OwnLosses ask(const Rule& rule, PyObject* table, PyObject* values, PyObject* outcomes) {
        Reference found = Reference::checked(
            PyObject_CallFunctionObjArgs(rule.own_loss, table, values, outcomes, nullptr));
        if (!PyTuple_CheckExact(found.get()) || PyTuple_GET_SIZE(found.get()) != 2)
            raise(PyExc_TypeError, "a loss of your own must give losses and slopes");
        return {Reference::borrowed(PyTuple_GET_ITEM(found.get(), 0)),
                Reference::borrowed(PyTuple_GET_ITEM(found.get(), 1))};
    }

    void give_to(Rows& rows) const {
        const auto table = From<Matrix<const double>>::get(losses.get());
        const auto slope = From<Vector<const double>>::get(slopes.get());
        if (table.rows != rows.count || table.columns != rows.own_step ||
            slope.n != rows.count * rows.slope_step)
            raise(PyExc_ValueError, "a loss of your own must give a number for each forecast");
        rows.own = table.data;
        rows.own_slopes = slope.data;
    }
};

// A new array of doubles with these numbers; without any, they are to be written.
inline Reference new_array(std::initializer_list<size_t> shape, const double* numbers = nullptr) {
    npy_intp dims[3];
    int axes = 0;
    size_t size = 1;
    for (size_t extent : shape) {
        size *= extent;
        dims[axes++] = static_cast<npy_intp>(extent);
    }
    Reference array = Reference::checked(PyArray_SimpleNew(axes, dims, NPY_DOUBLE));
    if (numbers && size) std::memcpy(data_of<double>(array.array()), numbers, size * sizeof(double));
    return array;
}

// A prediction on its way. Its round has forecasts, confidences, keys and an id; the rest is written here.
class Predicting {
public:
    Predicting(Content& content, RoundPointer round, Growth growth, const std::vector<Reference>& items)
        : content_(content), round_(std::move(round)), growth_(std::make_unique<Growth>(std::move(growth))) {
        const Rule& rule = *content.rule;
        content.refresh();
        find_items(items);
        growth_->prepare(content, rule.own_hedger);
        if (!rule.include.empty())
            fill_plain(round_->forecasts, round_->shape.count, round_->shape.classes, round_->shape.n,
                       round_->confidence, rule.include, rule.of_levels() ? rule.recipe.levels.data() : nullptr);
        Board board = content.board();
        if (rule.shared)
            board.prepare(0, -1.0);
        else
            for (size_t j = 0; j < round_->shape.count; ++j)
                board.prepare(static_cast<size_t>(round_->items[j]), -1.0);
        played_ = new_array({round_->shape.count, round_->shape.n});
        if (rule.ladder) bounds_ = new_array({round_->shape.count, 2 * rule.ladder->levels.size()});
        make_node();
        if (!round_->id.empty()) id_.emplace(round_->id, std::int64_t{0});
    }

    // Of a round whose items are known, and of known experts; `played` is for what is played.
    Predicting(Content& content, RoundPointer round, Reference played)
        : content_(content), round_(std::move(round)), played_(std::move(played)) {
        content.board().prepare(0, -1.0);
        make_node();
    }

    const Reference& played() const { return played_; }
    const Reference& bounds() const { return bounds_; }
    const Round& round() const { return *round_; }

    // All that can fail comes before this; `content` has not changed meanwhile.
    void commit() {
        const Rule& rule = *content_.rule;
        const RowShape& shape = round_->shape;
        const auto expiring = expiring_round();
        Reserved room(rule.room(shape.n, shape.count, shape.classes));
        if (growth_) growth_->enter(content_);
        round_->ticket = content_.next_ticket;
        round_->number = content_.rounds;
        State& state = growth_ ? growth_->begin(content_) : content_.state;
        Board board(rule, state, content_.widened, growth_ ? growth_->states(content_) : nullptr);
        const Rows rows = rows_of(rule, *round_, nullptr);
        board.game_by_game(rows, [&](size_t g, const Rows& part, size_t j) {
            board.predict(g, part, round_->number, data_of<double>(played_.array()) + j * shape.n, state.sums());
        });
        if (rule.ladder) write_intervals(state);
        if (growth_) growth_->commit(content_);
        content_.rounds += 1;
        content_.next_ticket += 1;
        file(expiring);
    }

    static Rows rows_of(const Rule& rule, const Round& round, const double* outcomes) {
        Rows rows{round.shape.count, round.shape.classes, round.shape.n, round.forecasts,
                  round.confidence,  round.values,        outcomes,      round.items};
        rule.set_steps(rows);
        return rows;
    }

private:
    void make_node() {
        node_ = std::move(content_.spare_node);
        if (!node_) {
            Pending fresh;
            fresh.emplace(std::int64_t{0}, nullptr);
            node_ = fresh.extract(fresh.begin());
        }
        node_.mapped() = round_;
    }

    // Write the items of the rows; those not seen before are added.
    void find_items(const std::vector<Reference>& items) {
        Reference fresh = Reference::checked(PyDict_New());
        for (size_t j = 0; j < items.size(); ++j) {
            std::int64_t place = content_.items.find(items[j].get());
            if (place < 0) {
                PyObject* known = PyDict_GetItemWithError(fresh.get(), items[j].get());
                if (!known && PyErr_Occurred()) throw PythonError();
                place = known ? PyLong_AsLongLong(known)
                              : static_cast<std::int64_t>(content_.items.size() + growth_->items.size());
                if (!known) {
                    Reference number = Reference::checked(PyLong_FromLongLong(place));
                    if (PyDict_SetItem(fresh.get(), items[j].get(), number.get()) < 0) throw PythonError();
                    growth_->items.push_back(Reference::borrowed(items[j].get()));
                }
            }
            round_->items[j] = static_cast<std::int32_t>(place);
        }
    }

    // The ticket of the round that this one pushes out; or none.
    std::optional<std::int64_t> expiring_round() const {
        if (content_.pending.empty()) return std::nullopt;
        const auto& [ticket, oldest] = *content_.pending.begin();
        const Limits& limits = content_.limits;
        const bool late = limits.age >= 0 && oldest->number < content_.rounds + 1 - limits.age;
        const bool full = static_cast<std::int64_t>(content_.pending.size()) >= limits.pending;
        return late || full ? std::optional<std::int64_t>(ticket) : std::nullopt;
    }

    void write_intervals(State& state) {
        const Rule& rule = *content_.rule;
        const Ladder& ladder = *rule.ladder;
        const RowShape& shape = round_->shape;
        Scratch bases(ladder.bases());
        for (size_t j = 0; j < shape.count; ++j) {
            const auto item = static_cast<size_t>(round_->items[j]);
            const double* values = round_->values + j * shape.values;
            double* base = bases.data();
            for (size_t k = 0; k < ladder.bases(); ++k) base[k] = values[rule.interval_columns[k]];
            for (size_t k = 0; k + 1 < ladder.bases(); k += 2)
                if (base[k] > base[k + 1]) std::swap(base[k], base[k + 1]);
            double* token = round_->tokens + j * shape.tokens;
            predict_interval(ladder, state.interval(item), base, phase_of(ladder, round_->number),
                             data_of<double>(bounds_.array()) + 2 * j * ladder.levels.size(), token);
        }
        for (size_t j = 0; j < shape.count; ++j) {
            double* token = round_->tokens + j * shape.tokens;
            token[shape.tokens - 1] =
                static_cast<double>(state.interval_rounds(static_cast<size_t>(round_->items[j]))++);
        }
    }

    void file(std::optional<std::int64_t> expiring) noexcept {
        if (expiring) {
            trash_ = content_.pending.extract(*expiring);
            content_.expired += 1;
            if (trash_ && !trash_.mapped()->id.empty()) {
                const auto own = content_.ids.find(trash_.mapped()->id);
                if (own != content_.ids.end() && own->second == *expiring)
                    id_trash_ = content_.ids.extract(own);
            }
        }
        node_.key() = round_->ticket;
        content_.pending.insert(content_.pending.end(), std::move(node_));
        if (!id_.empty()) {
            auto named = id_.extract(id_.begin());
            named.mapped() = round_->ticket;
            const auto known = content_.ids.find(named.key());
            if (known != content_.ids.end())
                known->second = round_->ticket;
            else
                content_.ids.insert(std::move(named));
        }
    }

    Content& content_;
    RoundPointer round_;
    std::unique_ptr<Growth> growth_;  // none where experts and items are known
    Reference played_;
    Reference bounds_;
    Pending::node_type node_;
    Ids id_;
    Pending::node_type trash_;
    Ids::node_type id_trash_;
};

// An outcome on its way.
class Settling {
public:
    Settling(Content& content, RoundPointer round, const double* outcomes, bool file)
        : content_(content), round_(std::move(round)), files_(file) {
        const Rule& rule = *content.rule;
        const RowShape& shape = round_->shape;
        content.refresh();
        late_ = static_cast<double>(content.rounds > round_->number ? content.rounds - round_->number - 1 : 0);
        rows_ = Predicting::rows_of(rule, *round_, nullptr);
        if (shape.n < content.n()) widen();
        if (content.spare_entry.empty())
            entry_.emplace_back();
        else
            entry_.splice(entry_.end(), content.spare_entry);
        Entry& entry = entry_.back();
        entry.outcomes = Outcomes(outcomes, shape.count);
        entry.round = round_;
        entry.rounds = content.rounds;
        rows_.outcomes = entry.outcomes.data();
        if (rule.own_loss) {
            Reference table = new_array({shape.count, shape.classes, rows_.n}, rows_.forecasts);
            Reference values = new_array({shape.count, shape.values}, round_->values);
            Reference known = new_array({shape.count}, outcomes);
            own_ = OwnLosses::ask(rule, table.get(), values.get(), known.get());
            own_.give_to(rows_);
        }
        if (files_) prepare_checkpoint();
        Board board = content.board();
        board.game_by_game(rows_, [&](size_t g, const Rows&, size_t) { board.prepare(g, late_); });
        if (rule.own_hedger && files_) {
            state_ = std::make_unique<State>(content.state);
            states_ = copy_of_list(content.states);
        }
    }

    void commit() {
        const Rule& rule = *content_.rule;
        const RowShape& shape = round_->shape;
        Reserved room(rule.room(rows_.n, shape.count, shape.classes));
        State& state = state_ ? *state_ : content_.state;
        Board board(rule, state, content_.widened, state_ ? states_.get() : content_.states.get());
        note_round(rule.recipe, rows_, state.sums());
        if (!files_) return;
        board.game_by_game(rows_, [&](size_t g, const Rows& part, size_t) {
            board.settle(g, part, late_, state.sums().totals);
        });
        if (rule.ladder && shape.tokens) learn_intervals(state);
        if (state_) {
            std::swap(content_.state, *state_);
            std::swap(content_.states, states_);
        }
        file();
    }

private:
    // Columns for the experts that joined since: they slept.
    void widen() {
        const RowShape& shape = round_->shape;
        const size_t n = content_.n();
        const size_t lines = shape.count * shape.classes;
        wider_.assign(lines * n + (shape.rated ? n : 0), not_a_number);
        for (size_t line = 0; line < lines; ++line)
            std::copy(round_->forecasts + line * shape.n, round_->forecasts + (line + 1) * shape.n,
                      wider_.begin() + static_cast<std::ptrdiff_t>(line * n));
        if (shape.rated) {
            double* rated = wider_.data() + lines * n;
            std::copy(round_->confidence, round_->confidence + shape.n, rated);
            std::fill(rated + shape.n, rated + n, 0.0);
        }
        rows_ = {shape.count, shape.classes, n, wider_.data(), shape.rated ? wider_.data() + lines * n : nullptr,
                 round_->values, nullptr, round_->items};
        content_.rule->set_steps(rows_);
    }

    // A checkpoint, if the last one is half the length of the history ago.
    void prepare_checkpoint() {
        const std::int64_t size = content_.limits.history;
        if (size == 0 || content_.rounds < content_.next_checkpoint) return;
        std::shared_ptr<const Content> made = copy_of(content_, false);
        if (!content_.checkpoints.empty()) checkpoints_.push_back(content_.checkpoints.back());
        checkpoints_.push_back(std::move(made));
    }

    void learn_intervals(State& state) {
        const Ladder& ladder = *content_.rule->ladder;
        const RowShape& shape = round_->shape;
        Scratch room(room_to_settle(ladder));
        for (size_t j = 0; j < shape.count; ++j) {
            const auto item = static_cast<size_t>(round_->items[j]);
            const double* token = round_->tokens + j * shape.tokens;
            const double late = static_cast<double>(state.interval_rounds(item)) - 1.0 - token[shape.tokens - 1];
            observe_interval(ladder, state.interval(item), token, rows_.outcomes[j], late, room.data());
        }
    }

    void file() noexcept {
        trash_ = content_.pending.extract(round_->ticket);
        if (!round_->id.empty()) {
            const auto own = content_.ids.find(round_->id);
            if (own != content_.ids.end() && own->second == round_->ticket) id_trash_ = content_.ids.extract(own);
        }
        if (!checkpoints_.empty()) {
            std::swap(content_.checkpoints, checkpoints_);
            content_.next_checkpoint = content_.rounds + content_.stretch();
        }
        entry_.back().number = content_.entries++;
        content_.history.splice(content_.history.end(), entry_);
        trim(content_, entry_);
        keep_spares();
    }

    // Keep what this round leaves for the next ones.
    void keep_spares() noexcept {
        if (trash_) {
            trash_.mapped().reset();
            content_.spare_node = std::move(trash_);
        }
        if (entry_.empty() || !entry_.front().round) return;
        if (entry_.front().round.use_count() == 1) content_.spare_round = std::move(entry_.front().round);
        entry_.front().round.reset();
        content_.spare_entry.splice(content_.spare_entry.end(), entry_, entry_.begin());
    }

public:
    // Let the oldest entries go.
    static void trim(Content& content, History& trash) noexcept {
        while (static_cast<std::int64_t>(content.history.size()) > content.limits.history)
            trash.splice(trash.end(), content.history, content.history.begin());
    }

private:
    Content& content_;
    RoundPointer round_;
    bool files_;  // and not only adds up losses
    double late_ = 0.0;
    Rows rows_{};
    std::vector<double> wider_;
    History entry_;
    OwnLosses own_;
    std::vector<std::shared_ptr<const Content>> checkpoints_;
    std::unique_ptr<State> state_;  // a private copy, where a hedger is written in Python
    Reference states_;
    Pending::node_type trash_;
    Ids::node_type id_trash_;
};

}  // namespace normalhedge::mixtures
