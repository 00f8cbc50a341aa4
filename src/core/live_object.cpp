// `normalhedge._core.Live`: a mixture, as one object that owns its state and its ledger.
#include "live.hpp"

#include "core_settings.hpp"
#include "schedule.hpp"

namespace normalhedge::python {

using namespace mixtures;

namespace {

// The next version of anything: no two mixtures, nor two states of one, share theirs.
std::int64_t next_version() {
    static std::int64_t last = 0;
    return ++last;
}

struct LiveObject {
    PyObject_HEAD
    Content* content;  // owned; none while the object is taken down
    PyObject* kept;    // what the rule uses of Python's, a tuple
    PyObject* turn;    // of threads
    PyTypeObject* prediction;
    std::int64_t version;  // another one after every change
    bool busy;             // while functions of the user's own are called
};

LiveObject& self_of(PyObject* object) { return *reinterpret_cast<LiveObject*>(object); }

Content& content_of(PyObject* object) {
    Content* content = self_of(object).content;
    if (!content) raise(PyExc_RuntimeError, "this mixture is being taken down");
    return *content;
}

constexpr const char* used_from_within =
    "a mixture must not be used while it predicts or learns: not from within its own loss, hedger, "
    "forecasts or signal handlers";

// An operation that changes a mixture. It was begun at a version, and ends with another one.
class Operation {
public:
    Operation(PyObject* object, std::int64_t version) : object_(Reference::borrowed(object)), version_(version) {
        content_of(object);
        if (self_of(object).busy) raise(PyExc_RuntimeError, used_from_within);
        check();
        self_of(object).busy = true;
    }
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;
    ~Operation() { self_of(object_.get()).busy = false; }

    // Nothing has changed since the operation began.
    void check() const {
        if (self_of(object_.get()).version != version_) raise(PyExc_RuntimeError, used_from_within);
    }
    void commit() const noexcept { self_of(object_.get()).version = next_version(); }

private:
    Reference object_;
    std::int64_t version_;
};

std::int64_t whole(PyObject* object) { return From<std::int64_t>::get(object); }

// The references of a list or tuple of strings.
std::vector<Reference> strings_of(PyObject* given) {
    Reference list = Reference::checked(PySequence_Fast(given, "names must be a list"));
    std::vector<Reference> names;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list.get()); ++i) {
        PyObject* name = PySequence_Fast_GET_ITEM(list.get(), i);
        if (!PyUnicode_Check(name)) raise(PyExc_TypeError, "names must be strings");
        names.push_back(Reference::borrowed(name));
    }
    return names;
}

// The numbers of a tuple's field, of a size that is known.
void copy_doubles(PyObject* given, int dimensions, size_t size, double* to) {
    PyArrayObject* array = checked_array<const double>(given, dimensions);
    if (static_cast<size_t>(PyArray_SIZE(array)) != size)
        raise(PyExc_ValueError, "the arrays of a round do not fit the mixture");
    if (size) std::memcpy(to, PyArray_DATA(array), size * sizeof(double));
}

PyObject** fields_of(PyObject* tuple, Py_ssize_t count) {
    if (!PyTuple_Check(tuple) || PyTuple_GET_SIZE(tuple) != count)
        raise(PyExc_TypeError, "the core was given a tuple without all its fields");
    return PySequence_Fast_ITEMS(tuple);
}

// A new object; what the rule uses of Python's is kept alive by `kept`.
Reference object_of(PyTypeObject* type, std::unique_ptr<Content> content, PyObject* kept, PyTypeObject* prediction) {
    Reference turn = Reference::checked(PyObject_CallNoArgs(reinterpret_cast<PyObject*>(turn_type)));
    Reference object = Reference::checked(type->tp_alloc(type, 0));
    LiveObject& self = self_of(object.get());
    self.content = content.release();
    self.kept = Reference::borrowed(kept).release();
    self.turn = turn.release();
    self.prediction = prediction;
    self.version = next_version();
    self.busy = false;
    return object;
}

// ---- A round in the plainest form: a number for each name, and a number as its outcome.

// Read forecasts by name; false if they are not numbers of known experts.
bool read_numbers(const Content& content, PyObject* forecasts, double* numbers) {
    const size_t n = content.n();
    std::fill(numbers, numbers + n, not_a_number);
    PyObject *name, *value;
    Py_ssize_t place = 0;
    for (size_t i = 0; PyDict_Next(forecasts, &place, &name, &value); ++i) {
        if (!PyUnicode_CheckExact(name)) return false;
        size_t column = i;
        if (i >= n || content.names[i] != name) {
            const std::int64_t found = content.names.find(name);
            if (found < 0) return false;
            column = static_cast<size_t>(found);
        }
        if (PyFloat_Check(value)) {
            numbers[column] = PyFloat_AS_DOUBLE(value);
        } else if (PyLong_CheckExact(value)) {
            numbers[column] = PyLong_AsDouble(value);
            if (PyErr_Occurred()) {  // it is too large
                PyErr_Clear();
                return false;
            }
        } else if (value != Py_None) {
            return false;
        }
        if (std::fabs(numbers[column]) >= largest_forecast) return false;
    }
    for (size_t i = 0; i < content.retired.size(); ++i)
        if (content.retired[i]) numbers[i] = not_a_number;
    return true;
}

// Whether no thread has its turn, and no function of the user's own is at work.
bool is_open(const LiveObject& self) {
    return self.content && !self.busy && reinterpret_cast<TurnObject*>(self.turn)->depth == 0;
}

bool takes_numbers(const Content& content) {
    const Rule& rule = *content.rule;
    return rule.numbers && rule.hedger && rule.include.empty() && !rule.ladder && content.n() > 0 &&
           content.items.size() > 0 && PyUnicode_GET_LENGTH(content.items[0]) == 0;
}

// predict(forecasts) -> a Prediction; None where the forecasts are not a dict of numbers of known experts.
//
// All that can run Python, an allocation that makes the garbage collector run included, comes before the
// first look at the mixture that counts.
PyObject* predict(PyObject* object, PyObject* forecasts) {
    return guarded([&]() -> PyObject* {
        LiveObject& self = self_of(object);
        if (!is_open(self) || !PyDict_CheckExact(forecasts) || !takes_numbers(*self.content)) Py_RETURN_NONE;
        Content& content = *self.content;
        const std::int64_t version = self.version;
        const Rule& rule = *content.rule;
        content.refresh();
        Reference names = content.names.shown();
        Reference result = Reference::checked(self.prediction->tp_alloc(self.prediction, 6));
        Reference value = Reference::checked(PyFloat_FromDouble(0.0));
        Reference ticket = Reference::checked(PyLong_FromLongLong(content.next_ticket));
        Reference place = new_array({1, content.n()});
        if (!is_open(self) || self.version != version) Py_RETURN_NONE;
        const RowShape shape{1, 1, content.n(), rule.value_count(), 0, false};
        RoundPointer round = std::move(content.spare_round);
        if (!round || !(round->shape == shape) || !round->id.empty()) round = std::make_shared<Round>(shape);
        round->items[0] = 0;
        round->keys = Reference::borrowed(Py_None);
        if (!read_numbers(content, forecasts, round->forecasts)) {
            if (PyErr_Occurred()) throw PythonError();
            Py_RETURN_NONE;
        }
        Predicting predicting(content, std::move(round), std::move(place));
        predicting.commit();
        self.version = next_version();
        const double blend = predicting.round().values[0];
        reinterpret_cast<PyFloatObject*>(value.get())->ob_fval = blend;
        PyObject* parts[] = {blend == blend ? value.release() : Reference::borrowed(Py_None).release(),
                             ticket.release(),
                             names.release(),
                             Reference::borrowed(predicting.played().get()).release(),
                             Reference::borrowed(Py_None).release(),
                             Reference::borrowed(Py_None).release()};
        for (Py_ssize_t i = 0; i < 6; ++i) PyTuple_SET_ITEM(result.get(), i, parts[i]);
        return result.release();
    });
}

// update(ticket, outcome) -> whether it was done: not where the round or its outcome is not one number.
PyObject* update(PyObject* object, PyObject* const* given, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 2);
        LiveObject& self = self_of(object);
        if (!is_open(self) || !PyLong_CheckExact(given[0]) || !PyFloat_CheckExact(given[1])) Py_RETURN_FALSE;
        Content& content = *self.content;
        const Rule& rule = *content.rule;
        const double outcome = PyFloat_AS_DOUBLE(given[1]);
        if (rule.in_python() || !takes_numbers(content) || !(std::fabs(outcome) < largest_forecast) ||
            !rule.recipe.loss->takes(outcome))
            Py_RETURN_FALSE;
        int overflow = 0;
        const long long ticket = PyLong_AsLongLongAndOverflow(given[0], &overflow);
        const auto found = overflow ? content.pending.end() : content.pending.find(ticket);
        if (found == content.pending.end()) Py_RETURN_FALSE;
        RoundPointer round = found->second;
        if (round->keys.get() != Py_None || round->shape.classes != 1) Py_RETURN_FALSE;
        Settling settling(content, std::move(round), &outcome, true);
        settling.commit();
        self.version = next_version();
        Py_RETURN_TRUE;
    });
}

// ---- Rounds of any form.

// predict_rows(round) -> (ticket, values, distribution, bounds or None); `round` is a `RoundInput`: version,
// forecasts, confidence, keys, items, new names, id. The caller has replaced forecasts of experts asleep by NaN.
PyObject* predict_rows(PyObject* object, PyObject* given) {
    return guarded([&]() -> PyObject* {
        PyObject** field = fields_of(given, 7);
        const Operation operation(object, whole(field[0]));
        Content& content = content_of(object);
        const Rule& rule = *content.rule;
        const auto table = From<Cube<const double>>::get(field[1]);
        Growth growth;
        growth.experts = strings_of(field[5]);
        const std::vector<Reference> items = strings_of(field[4]);
        const size_t n = content.n() + growth.experts.size();
        if (table.columns != n || n == 0 || items.size() != table.layers || !rule.takes(table.rows))
            raise(PyExc_ValueError, "the arrays of a round do not fit the mixture");
        auto round = std::make_shared<Round>(RowShape{table.layers, table.rows, n,
                                                      table.rows * rule.value_count(), rule.token_size(),
                                                      field[2] != Py_None});
        copy_doubles(field[1], 3, table.layers * table.rows * n, round->forecasts);
        if (round->confidence) copy_doubles(field[2], 1, n, round->confidence);
        round->keys = Reference::borrowed(field[3]);
        round->id = text_of(field[6]);
        Predicting predicting(content, std::move(round), std::move(growth), items);
        Reference ticket = Reference::checked(PyLong_FromLongLong(content.next_ticket));
        Reference values = new_array({table.layers, table.rows});
        Reference result = Reference::checked(PyTuple_New(4));
        operation.check();
        predicting.commit();
        operation.commit();
        const Round& made = predicting.round();
        for (size_t j = 0; j < table.layers; ++j)
            std::copy(made.values + j * made.shape.values, made.values + j * made.shape.values + table.rows,
                      data_of<double>(values.array()) + j * table.rows);
        PyObject* bounds = predicting.bounds() ? predicting.bounds().get() : Py_None;
        PyTuple_SET_ITEM(result.get(), 0, ticket.release());
        PyTuple_SET_ITEM(result.get(), 1, values.release());
        PyTuple_SET_ITEM(result.get(), 2, Reference::borrowed(predicting.played().get()).release());
        PyTuple_SET_ITEM(result.get(), 3, Reference::borrowed(bounds).release());
        return result.release();
    });
}

RoundPointer pending_round(const Content& content, std::int64_t ticket) {
    const auto found = content.pending.find(ticket);
    if (found != content.pending.end()) return found->second;
    PyErr_SetObject(PyExc_KeyError, Reference::checked(PyLong_FromLongLong(ticket)).get());
    throw PythonError();
}

// The outcomes of a round; classes must be among those of the forecasts.
const double* outcomes_of(const Rule& rule, const Round& round, PyObject* given) {
    const auto known = From<Vector<const double>>::get(given);
    bool fit = known.n == round.shape.count;
    const double classes = static_cast<double>(round.shape.classes);
    for (size_t j = 0; fit && rule.has_classes(round.shape.classes) && j < known.n; ++j)
        fit = known[j] != known[j] || (known[j] >= 0.0 && known[j] < classes);
    if (!fit) raise(PyExc_ValueError, "the outcomes do not fit the round");
    return known.data;
}

void settle_pending(PyObject* object, PyObject* const* given, bool file) {
    const Operation operation(object, whole(given[0]));
    Content& content = content_of(object);
    RoundPointer round = pending_round(content, whole(given[1]));
    const double* outcomes = outcomes_of(*content.rule, *round, given[2]);
    Settling settling(content, std::move(round), outcomes, file);
    operation.check();
    settling.commit();
    operation.commit();
}

// settle(version, ticket, outcomes): learn from the outcomes of a pending round.
PyObject* settle(PyObject* object, PyObject* const* given, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 3);
        settle_pending(object, given, true);
        Py_RETURN_NONE;
    });
}

// note(version, ticket, outcomes): add the losses of a pending round to the sums.
PyObject* note(PyObject* object, PyObject* const* given, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 3);
        settle_pending(object, given, false);
        Py_RETURN_NONE;
    });
}

// ---- Copies, and rounds that are played again.

// Take the place of the content; what was there goes.
void take(PyObject* object, std::unique_ptr<Content> content) {
    const std::unique_ptr<Content> old(std::exchange(self_of(object).content, content.release()));
}

// A mixture as it was at a checkpoint, with the history before it. Names are those of now.
std::unique_ptr<Content> at_checkpoint(const Content& from, const Content& then) {
    auto to = copy_of(then, false);
    to->names = Names(from.names, then.names.size());
    to->attached = Reference::borrowed(from.attached.get());
    to->warned = from.warned;
    to->history = from.history;
    while (!to->history.empty() && to->history.back().number >= then.entries) to->history.pop_back();
    to->checkpoints = from.checkpoints;
    while (!to->checkpoints.empty() && to->checkpoints.back()->rounds > then.rounds) to->checkpoints.pop_back();
    to->next_checkpoint = then.rounds + from.stretch();
    return to;
}

// Predict a round again, as it was forecast.
void predict_again(Content& content, const Content& now, const Round& round) {
    content.rounds = round.number;
    content.next_ticket = round.ticket;
    Growth growth;
    for (size_t k = content.names.size(); k < round.shape.n; ++k)
        growth.experts.push_back(Reference::borrowed(now.names[k]));
    std::vector<Reference> items;
    for (size_t j = 0; j < round.shape.count; ++j)
        items.push_back(Reference::borrowed(now.items[static_cast<size_t>(round.items[j])]));
    Predicting predicting(content, std::make_shared<Round>(round), std::move(growth), items);
    predicting.commit();
}

// The rounds settled since a checkpoint; none if some of them are not kept any more.
std::vector<const Entry*> entries_since(const Content& content, const Content& then) {
    std::vector<const Entry*> found;
    if (content.history.empty() || content.history.front().number > then.entries) return found;
    for (const Entry& entry : content.history)
        if (entry.number >= then.entries && entry.round) found.push_back(&entry);
    return found;
}

// correct(version, ticket, outcomes) -> whether the round was settled after a checkpoint that is kept: then
// the rounds since are played again, with other outcomes of this one.
PyObject* correct(PyObject* object, PyObject* const* given, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 3);
        const Operation operation(object, whole(given[0]));
        Content& content = content_of(object);
        const std::int64_t ticket = whole(given[1]);
        for (auto place = content.checkpoints.rbegin(); place != content.checkpoints.rend(); ++place) {
            const Content& then = **place;
            const std::vector<const Entry*> entries = entries_since(content, then);
            const auto wrong = std::find_if(entries.begin(), entries.end(), [&](const Entry* entry) {
                return entry->round->ticket == ticket;
            });
            if (wrong == entries.end() || content.expired != then.expired) continue;
            const double* right = outcomes_of(*content.rule, *(*wrong)->round, given[2]);
            std::map<std::int64_t, RoundPointer> coming;  // by their numbers
            const auto add = [&](const RoundPointer& round) {
                if (round->number >= then.rounds) coming.emplace(round->number, round);
            };
            for (const Entry* entry : entries) add(entry->round);
            for (const auto& [number, round] : content.pending) add(round);
            std::unique_ptr<Content> again = at_checkpoint(content, then);
            const auto predict_until = [&](std::int64_t rounds) {
                for (; !coming.empty() && coming.begin()->first < rounds; coming.erase(coming.begin()))
                    predict_again(*again, content, *coming.begin()->second);
            };
            for (const Entry* entry : entries) {
                predict_until(entry->rounds);
                again->rounds = entry->rounds;
                const double* outcomes = entry == *wrong ? right : entry->outcomes.data();
                Settling settling(*again, pending_round(*again, entry->round->ticket), outcomes, true);
                settling.commit();
            }
            predict_until(content.rounds);
            again->rounds = content.rounds;
            again->next_ticket = content.next_ticket;
            again->ids = content.ids;
            operation.check();
            take(object, std::move(again));
            operation.commit();
            Py_RETURN_TRUE;
        }
        Py_RETURN_FALSE;
    });
}

// copy(history) -> a mixture that shares nothing with this one but its rule and rounds, which do not change.
PyObject* copy(PyObject* object, PyObject* history) {
    return guarded([&]() -> PyObject* {
        std::unique_ptr<Content> content = copy_of(content_of(object), From<bool>::get(history));
        return object_of(Py_TYPE(object), std::move(content), self_of(object).kept, self_of(object).prediction).release();
    });
}

// take_over(version, other): become what another mixture is, which is emptied.
PyObject* take_over(PyObject* object, PyObject* const* given, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 2);
        if (Py_TYPE(given[1]) != Py_TYPE(object)) raise(PyExc_TypeError, "a mixture takes over a mixture");
        const Operation operation(object, whole(given[0]));
        content_of(given[1]);
        LiveObject& self = self_of(object);
        LiveObject& other = self_of(given[1]);
        std::swap(self.content, other.content);
        std::swap(self.kept, other.kept);
        operation.commit();
        other.version = next_version();
        Py_RETURN_NONE;
    });
}

// ---- Experts and items that come and go.

// join(version, names, items): let experts and items join that are not there yet.
PyObject* join(PyObject* object, PyObject* const* given, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 3);
        const Operation operation(object, whole(given[0]));
        Content& content = content_of(object);
        Growth growth;
        growth.experts = strings_of(given[1]);
        growth.items = strings_of(given[2]);
        growth.lazy = true;
        if (growth.empty()) Py_RETURN_NONE;
        const bool experts = !growth.experts.empty();
        if (!growth.items.empty()) content.refresh();
        growth.lazy = growth.items.empty();
        growth.prepare(content, false);
        operation.check();
        Reserved room(content.rule->room(growth.n(), 1, 1));
        growth.enter(content);
        growth.begin(content);
        growth.commit(content);
        if (experts) content.forget_checkpoints();
        operation.commit();
        Py_RETURN_NONE;
    });
}

// leave(version, places): let the experts at these places leave.
PyObject* leave(PyObject* object, PyObject* const* given, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 2);
        const Operation operation(object, whole(given[0]));
        Content& content = content_of(object);
        const Rule& rule = *content.rule;
        content.refresh();
        const auto places = From<Vector<const std::int64_t>>::get(given[1]);
        std::vector<char> leaves(content.n(), 0);
        for (size_t k = 0; k < places.n; ++k) {
            if (places[k] < 0 || static_cast<size_t>(places[k]) >= content.n())
                raise(PyExc_ValueError, "there is no such expert");
            leaves[static_cast<size_t>(places[k])] = 1;
        }
        auto stay = std::make_shared<std::vector<std::int32_t>>();
        std::vector<char> retired;
        for (size_t i = 0; i < content.n(); ++i) {
            if (leaves[i]) continue;
            stay->push_back(static_cast<std::int32_t>(i));
            retired.push_back(content.retired[i]);
        }
        State state = content.state.only(*stay);
        Reference states = copy_of_list(content.states);
        if (states)
            states = Reference::checked(PyObject_CallMethod(rule.begin, "shrink", "OO", states.get(), given[1]));
        if (!stay->empty()) Board(rule, state, content.widened, states.get()).weigh_all();
        Names names(content.names, *stay);
        Pending pending;
        for (const auto& [ticket, round] : content.pending) pending.emplace(ticket, round->only(*stay));
        History entry;
        entry.emplace_back();
        entry.back().number = content.entries;
        entry.back().stay = stay;
        operation.check();
        std::swap(content.state, state);
        std::swap(content.states, states);
        std::swap(content.names, names);
        std::swap(content.pending, pending);
        std::swap(content.retired, retired);
        content.left += static_cast<std::int64_t>(leaves.size() - stay->size());
        content.weighed = stay->size();
        content.entries += 1;
        content.history.splice(content.history.end(), entry);
        Settling::trim(content, entry);
        content.forget_checkpoints();
        operation.commit();
        Py_RETURN_NONE;
    });
}

size_t expert_at(const Content& content, PyObject* place) {
    const std::int64_t column = whole(place);
    if (column < 0 || static_cast<size_t>(column) >= content.n())
        raise(PyExc_ValueError, "there is no such expert");
    return static_cast<size_t>(column);
}

// rename(version, place, name): give an expert another name.
PyObject* rename(PyObject* object, PyObject* const* given, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 3);
        const Operation operation(object, whole(given[0]));
        Content& content = content_of(object);
        if (!PyUnicode_Check(given[2])) raise(PyExc_TypeError, "names must be strings");
        content.names.rename(expert_at(content, given[1]), given[2]);
        operation.commit();
        Py_RETURN_NONE;
    });
}

// inherit(version, target, source): give an expert the record of another.
PyObject* inherit(PyObject* object, PyObject* const* given, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 3);
        const Operation operation(object, whole(given[0]));
        Content& content = content_of(object);
        const size_t target = expert_at(content, given[1]);
        const size_t source = expert_at(content, given[2]);
        State state(content.state);
        for (size_t g = 0; g < state[Axis::games]; ++g) {
            const Game game = state.game(g);
            game.columns.weights[target] = game.columns.weights[source];
            game.losses[target] = game.losses[source];
            for (size_t r = 0; r < state[Axis::ledger_rows]; ++r)
                game.columns.row(r)[target] = game.columns.row(r)[source];
        }
        Board(*content.rule, state, content.widened, content.states.get()).weigh_all();
        std::swap(content.state, state);
        content.weighed = content.n();
        content.joined_late = content.seeded = true;
        content.forget_checkpoints();
        operation.commit();
        Py_RETURN_NONE;
    });
}

// retire(version, place): let an expert sleep for good.
PyObject* retire(PyObject* object, PyObject* const* given, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 2);
        const Operation operation(object, whole(given[0]));
        Content& content = content_of(object);
        content.retired[expert_at(content, given[1])] = 1;
        content.forget_checkpoints();
        operation.commit();
        Py_RETURN_NONE;
    });
}

// start_game(game, others): let a game begin with the mean of what others have learned.
PyObject* start_game(PyObject* object, PyObject* const* given, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 2);
        const Operation operation(object, self_of(object).version);
        Content& content = content_of(object);
        content.refresh();
        State& state = content.state;
        const auto others = From<Vector<const std::int64_t>>::get(given[1]);
        const auto is_game = [&](std::int64_t g) { return g >= 0 && static_cast<size_t>(g) < state[Axis::games]; };
        bool fit = is_game(whole(given[0])) && others.n > 0;
        for (size_t k = 0; k < others.n; ++k) fit = fit && is_game(others[k]);
        if (!fit) raise(PyExc_ValueError, "there is no such game");
        const auto g = static_cast<size_t>(whole(given[0]));
        const auto average = [&](FieldId field, size_t lines, size_t width, size_t step) {
            for (size_t line = 0; line < lines; ++line)
                for (size_t i = 0; i < width; ++i) {
                    const auto at = [&](size_t game) { return state.at(field) + (game * lines + line) * step + i; };
                    double total = 0.0;
                    for (size_t k = 0; k < others.n; ++k) total += *at(static_cast<size_t>(others[k]));
                    *at(g) = total / static_cast<double>(others.n);
                }
        };
        average(FieldId::ledgers, state[Axis::ledger_rows], content.n(), state.stride());
        average(FieldId::totals, 1, state[Axis::totals], state[Axis::totals]);
        average(FieldId::weights, 1, content.n(), state.stride());
        content.board().weigh(g);
        content.seeded = true;
        operation.commit();
        Py_RETURN_NONE;
    });
}

// ---- Tables.

// A view of some rows of an array, for functions in Python.
Reference view_rows(PyObject* array, size_t first, size_t count) {
    Reference slice = Reference::checked(PySlice_New(
        Reference::checked(PyLong_FromSize_t(first)).get(),
        Reference::checked(PyLong_FromSize_t(first + count)).get(), nullptr));
    return Reference::checked(PyObject_GetItem(array, slice.get()));
}

// play(schedule): play a table of rounds. Where it fails the mixture is spoilt: play on a copy. Threads may play
// different games of it at once.
PyObject* play(PyObject* object, PyObject* given) {
    return guarded([&]() -> PyObject* {
        Content& content = content_of(object);
        if (self_of(object).busy) raise(PyExc_RuntimeError, used_from_within);
        const Rule& rule = *content.rule;
        content.refresh();
        const Schedule schedule = Schedule::of(given);
        Widened widened;  // other threads may play other games
        const Board board(rule, content.state, widened, content.states.get());
        PyObject** field = PySequence_Fast_ITEMS(given);
        if (rule.of_levels()) From<Cube<double>>::get(field[10]);  // quantiles are repaired in place
        if (!schedule.fits(board))
            raise(PyExc_ValueError, "the arrays of a table of rounds do not fit the mixture");
        const auto nothing = [](Rows&, size_t) { return 0; };
        const auto own = [&](Rows& rows, size_t round) {
            const auto first = static_cast<size_t>(schedule.edges[round]);
            OwnLosses losses = OwnLosses::ask(rule, view_rows(field[10], first, rows.count).get(),
                                              view_rows(field[11], first, rows.count).get(),
                                              view_rows(field[12], first, rows.count).get());
            losses.give_to(rows);
            return losses;
        };
        if (rule.own_loss) {
            play_schedule(board, schedule, own);
        } else if (rule.own_hedger) {
            play_schedule(board, schedule, nothing);
        } else {
            WithoutLock free;
            play_schedule(board, schedule, nothing);
        }
        self_of(object).version = next_version();
        Py_RETURN_NONE;
    });
}

// add_sums(expert_sums, total_sums, rounds): add the sums of a table to those of the mixture.
PyObject* add_sums(PyObject* object, PyObject* const* given, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 3);
        const Operation operation(object, self_of(object).version);
        Content& content = content_of(object);
        const auto experts = From<Cube<const double>>::get(given[0]);
        const auto totals = From<Matrix<const double>>::get(given[1]);
        const std::int64_t rounds = whole(given[2]);
        const State& state = content.state;
        if (experts.rows != state[Axis::expert_sums] || experts.columns != content.n() ||
            totals.columns != state[Axis::total_sums] || totals.rows != experts.layers)
            raise(PyExc_ValueError, "the sums of a table do not fit the mixture");
        const Sums sums = state.sums();
        for (size_t r = 0; r < experts.rows; ++r)
            for (size_t i = 0; i < experts.columns; ++i) {
                double total = 0.0;
                for (size_t k = 0; k < experts.layers; ++k) total += experts.layer(k).row(r)[i];
                sums.experts[r * sums.stride + i] += total;
            }
        for (size_t s = 0; s < totals.columns; ++s) {
            double total = 0.0;
            for (size_t k = 0; k < totals.rows; ++k) total += totals.row(k)[s];
            if (s < Sums::regret)
                sums.totals[s] += total;
            else
                for (size_t k = 0; k < totals.rows; ++k) sums.totals[s] = larger(sums.totals[s], totals.row(k)[s]);
        }
        content.rounds = rounds;
        operation.commit();
        Py_RETURN_NONE;
    });
}

// fill_plain(table, confidence): write the plain combinations as forecasts of the first experts.
PyObject* fill_plain_columns(PyObject* object, PyObject* const* given, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 2);
        const Rule& rule = *content_of(object).rule;
        const auto table = From<Cube<double>>::get(given[0]);
        const auto rated = given[1] == Py_None ? Vector<const double>{nullptr, table.columns}
                                               : From<Vector<const double>>::get(given[1]);
        if (table.columns < rule.include.size() || rated.n != table.columns || !table.rows)
            raise(PyExc_ValueError, "there must be a column for each plain combination");
        if (!rule.takes(table.rows))
            raise(PyExc_ValueError, "the arrays of a round do not fit the mixture");
        fill_plain(table.data, table.layers, table.rows, table.columns, rated.data, rule.include,
                   rule.of_levels() ? rule.recipe.levels.data() : nullptr);
        Py_RETURN_NONE;
    });
}

// ---- What Python sees.

Reference items_array(const Round& round) {
    npy_intp size = static_cast<npy_intp>(round.shape.count);
    Reference array = Reference::checked(PyArray_SimpleNew(1, &size, NPY_INT32));
    std::copy(round.items, round.items + round.shape.count, data_of<std::int32_t>(array.array()));
    return array;
}

// A round as the fields of a `RoundRecord`: ticket, number, forecasts, confidence, values, items, keys, id,
// tokens.
Reference record_of(const Round& round) {
    const RowShape& shape = round.shape;
    const auto optional = [](bool given, Reference array) {
        return given ? std::move(array) : Reference::borrowed(Py_None);
    };
    Reference fields[] = {
        Reference::checked(PyLong_FromLongLong(round.ticket)),
        Reference::checked(PyLong_FromLongLong(round.number)),
        new_array({shape.count, shape.classes, shape.n}, round.forecasts),
        optional(shape.rated, shape.rated ? new_array({shape.n}, round.confidence) : Reference()),
        new_array({shape.count, shape.values}, round.values),
        items_array(round),
        Reference::borrowed(round.keys.get()),
        round.id.empty() ? Reference::borrowed(Py_None)
                         : Reference::checked(PyUnicode_FromStringAndSize(
                               round.id.data(), static_cast<Py_ssize_t>(round.id.size()))),
        optional(shape.tokens > 0, shape.tokens ? new_array({shape.count, shape.tokens}, round.tokens) : Reference()),
    };
    constexpr Py_ssize_t size = sizeof(fields) / sizeof(fields[0]);
    Reference record = Reference::checked(PyTuple_New(size));
    for (Py_ssize_t i = 0; i < size; ++i) PyTuple_SET_ITEM(record.get(), i, fields[i].release());
    return record;
}

RoundPointer round_of(const Content& content, PyObject* record) {
    PyObject** field = fields_of(record, 9);
    const auto table = From<Cube<const double>>::get(field[2]);
    const auto values = From<Matrix<const double>>::get(field[4]);
    const auto items = From<Vector<const std::int32_t>>::get(field[5]);
    size_t tokens = 0;
    if (field[8] != Py_None) tokens = From<Matrix<const double>>::get(field[8]).columns;
    const Rule& rule = *content.rule;
    bool fit = table.columns <= content.n() && values.rows == table.layers && items.n == table.layers &&
               values.columns == table.rows * rule.value_count() && rule.takes(table.rows) &&
               (tokens == 0 || tokens == rule.token_size());
    for (size_t j = 0; fit && j < items.n; ++j)
        fit = items[j] >= 0 && static_cast<size_t>(items[j]) < content.items.size();
    if (!fit) raise(PyExc_ValueError, "the arrays of a round do not fit the mixture");
    auto round = std::make_shared<Round>(
        RowShape{table.layers, table.rows, table.columns, values.columns, tokens, field[3] != Py_None});
    round->ticket = whole(field[0]);
    round->number = whole(field[1]);
    copy_doubles(field[2], 3, table.layers * table.rows * table.columns, round->forecasts);
    if (round->confidence) copy_doubles(field[3], 1, table.columns, round->confidence);
    copy_doubles(field[4], 2, values.rows * values.columns, round->values);
    std::copy(items.data, items.data + items.n, round->items);
    round->keys = Reference::borrowed(field[6]);
    round->id = text_of(field[7]);
    if (tokens) copy_doubles(field[8], 2, table.layers * tokens, round->tokens);
    return round;
}

// tickets() -> the tickets of the pending rounds, in order.
PyObject* tickets(PyObject* object, PyObject*) {
    return guarded([&]() -> PyObject* {
        const Content& content = content_of(object);
        Reference list = Reference::checked(PyList_New(0));
        for (const auto& [ticket, round] : content.pending)
            if (PyList_Append(list.get(), Reference::checked(PyLong_FromLongLong(ticket)).get()) < 0)
                throw PythonError();
        return list.release();
    });
}

// pending_round(ticket) -> its record, or None.
PyObject* pending_record(PyObject* object, PyObject* ticket) {
    return guarded([&]() -> PyObject* {
        const Content& content = content_of(object);
        int overflow = 0;
        const long long number = PyLong_AsLongLongAndOverflow(ticket, &overflow);
        if (number == -1 && PyErr_Occurred()) throw PythonError();
        const auto found = overflow ? content.pending.end() : content.pending.find(number);
        if (found == content.pending.end()) Py_RETURN_NONE;
        const RoundPointer round = found->second;
        return record_of(*round).release();
    });
}

// replace_pending(version, tickets, records, next_ticket, expired): remove rounds, add others, and count.
PyObject* replace_pending(PyObject* object, PyObject* const* given, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 5);
        const Operation operation(object, whole(given[0]));
        Content& content = content_of(object);
        Reference gone = Reference::checked(PySequence_Fast(given[1], "tickets must be a list"));
        Reference records = Reference::checked(PySequence_Fast(given[2], "rounds must be a list"));
        Pending pending = content.pending;
        Ids ids = content.ids;
        for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(gone.get()); ++i)
            pending.erase(whole(PySequence_Fast_GET_ITEM(gone.get(), i)));
        for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(records.get()); ++i) {
            RoundPointer round = round_of(content, PySequence_Fast_GET_ITEM(records.get(), i));
            if (!round->id.empty()) ids[round->id] = round->ticket;
            pending[round->ticket] = std::move(round);
        }
        const std::int64_t next = whole(given[3]);
        const std::int64_t expired = whole(given[4]);
        operation.check();
        std::swap(content.pending, pending);
        std::swap(content.ids, ids);
        content.next_ticket = next;
        content.expired = expired;
        operation.commit();
        Py_RETURN_NONE;
    });
}

// ids() -> the tickets of the pending rounds by their ids.
PyObject* get_ids(PyObject* object, void*) {
    return guarded([&]() -> PyObject* {
        Reference found = Reference::checked(PyDict_New());
        for (const auto& [text, ticket] : content_of(object).ids) {
            Reference name = Reference::checked(
                PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
            Reference number = Reference::checked(PyLong_FromLongLong(ticket));
            if (PyDict_SetItem(found.get(), name.get(), number.get()) < 0) throw PythonError();
        }
        return found.release();
    });
}

// An entry of the history, with the columns of now: (record, outcomes, rounds).
Reference entry_of(const Entry& entry, const std::vector<std::int32_t>* places) {
    Reference record = record_of(places ? *entry.round->only(*places) : *entry.round);
    Reference outcomes = new_array({entry.outcomes.size()}, entry.outcomes.data());
    return Reference::checked(Py_BuildValue("(NNL)", record.release(), outcomes.release(),
                                            static_cast<long long>(entry.rounds)));
}

// history() -> (record, outcomes, rounds) of each settled round, with the columns of the present experts.
PyObject* get_history(PyObject* object, void*) {
    return guarded([&]() -> PyObject* {
        const Content& content = content_of(object);
        Reference list = Reference::checked(PyList_New(0));
        std::vector<std::int32_t> places;
        bool departed = false;
        const History entries = content.history;  // what follows may run Python
        for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
            if (entry->round) {
                if (PyList_Append(list.get(), entry_of(*entry, departed ? &places : nullptr).get()) < 0)
                    throw PythonError();
                continue;
            }
            if (!departed) {
                places.resize(content.n());
                for (size_t i = 0; i < places.size(); ++i) places[i] = static_cast<std::int32_t>(i);
            }
            std::vector<std::int32_t> before;
            for (std::int32_t place : places)
                if (static_cast<size_t>(place) < entry->stay->size())
                    before.push_back((*entry->stay)[static_cast<size_t>(place)]);
            places = std::move(before);
            departed = true;
        }
        if (PyList_Reverse(list.get()) < 0) throw PythonError();
        return list.release();
    });
}

// find_id(text) -> the ticket of the pending round with this id, or -1.
PyObject* find_id(PyObject* object, PyObject* text) {
    return guarded([&]() -> PyObject* {
        const Ids& ids = content_of(object).ids;
        const auto found = ids.find(text_of(text));
        return PyLong_FromLongLong(found == ids.end() ? -1 : found->second);
    });
}

// find(name) -> the column of an expert, or -1; find_item(name) the place of an item.
PyObject* find(PyObject* object, PyObject* name) {
    return guarded([&]() -> PyObject* { return PyLong_FromLongLong(content_of(object).names.find(name)); });
}
PyObject* find_item(PyObject* object, PyObject* name) {
    return guarded([&]() -> PyObject* { return PyLong_FromLongLong(content_of(object).items.find(name)); });
}

PyObject* get_names(PyObject* object, void*) {
    return guarded([&]() -> PyObject* { return copy_of_list(content_of(object).names.shown()).release(); });
}
PyObject* get_items(PyObject* object, void*) {
    return guarded([&]() -> PyObject* { return copy_of_list(content_of(object).items.shown()).release(); });
}
PyObject* get_retired(PyObject* object, void*) {
    return guarded([&]() -> PyObject* {
        const Content& content = content_of(object);
        Reference found = Reference::checked(PyFrozenSet_New(nullptr));
        for (size_t i = 0; i < content.retired.size(); ++i)
            if (content.retired[i] && PySet_Add(found.get(), content.names[i]) < 0) throw PythonError();
        return found.release();
    });
}

// The states of a hedger of the user's own, as a list; None otherwise.
PyObject* get_states(PyObject* object, void*) {
    return guarded([&]() -> PyObject* {
        Content& content = content_of(object);
        return content.states ? copy_of_list(content.states).release() : Reference::borrowed(Py_None).release();
    });
}

// A field of the state, without spare places, as an array of its own.
Reference field_of(const State& state, size_t f) {
    const Field& field = state_fields[f];
    npy_intp dims[3];
    for (int d = 0; d < field.dimensions; ++d) dims[d] = static_cast<npy_intp>(state[field.axes[d]]);
    Reference array =
        Reference::checked(PyArray_SimpleNew(field.dimensions, dims, field.whole ? NPY_INT64 : NPY_DOUBLE));
    state.read(f, static_cast<double*>(PyArray_DATA(array.array())));
    return array;
}

PyObject* get_field(PyObject* object, void* which) {
    return guarded([&]() -> PyObject* {
        Content& content = content_of(object);
        content.refresh();
        return field_of(content.state, static_cast<size_t>(reinterpret_cast<std::intptr_t>(which))).release();
    });
}

// assign(version, fields): write some fields of the state, all or nothing; `fields` is a dict of arrays.
PyObject* assign(PyObject* object, PyObject* const* given, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 2);
        const Operation operation(object, whole(given[0]));
        Content& content = content_of(object);
        content.refresh();
        if (!PyDict_CheckExact(given[1])) raise(PyExc_TypeError, "fields must be a dict");
        State state(content.state);
        for (size_t f = 0; f < field_count; ++f) {
            const Field& field = state_fields[f];
            PyObject* values = PyDict_GetItemString(given[1], field.name);
            if (!values) continue;
            auto* array = field.whole ? checked_array<const std::int64_t>(values, field.dimensions)
                                      : checked_array<const double>(values, field.dimensions);
            for (int d = 0; d < field.dimensions; ++d)
                if (extent(array, d) != state[field.axes[d]])
                    raise(PyExc_ValueError, "the arrays of a mixture must be of one size");
            state.write(f, static_cast<const double*>(PyArray_DATA(array)));
        }
        std::swap(content.state, state);
        operation.commit();
        Py_RETURN_NONE;
    });
}

// weigh(): write the weights that belong to the ledgers of all games.
PyObject* weigh(PyObject* object, PyObject*) {
    return guarded([&]() -> PyObject* {
        const Operation operation(object, self_of(object).version);
        Content& content = content_of(object);
        State state(content.state);
        Board(*content.rule, state, content.widened, content.states.get()).weigh_all();
        std::swap(content.state, state);
        operation.commit();
        Py_RETURN_NONE;
    });
}

// The counters, by name.
struct Counter {
    const char* name;
    std::int64_t Content::*number;
};
constexpr Counter counters[] = {
    {"rounds", &Content::rounds},
    {"next_ticket", &Content::next_ticket},
    {"expired", &Content::expired},
    {"left", &Content::left},
};
struct Mark {
    const char* name;
    bool Content::*flag;
};
constexpr Mark marks[] = {
    {"joined_late", &Content::joined_late},
    {"seeded", &Content::seeded},
    {"warned", &Content::warned},
};

PyObject* get_counter(PyObject* object, void* which) {
    return guarded([&]() -> PyObject* {
        return PyLong_FromLongLong(content_of(object).*static_cast<const Counter*>(which)->number);
    });
}
int set_counter(PyObject* object, PyObject* value, void* which) {
    const Reference done(guarded([&]() -> PyObject* {
        if (!value) raise(PyExc_AttributeError, "a counter cannot be deleted");
        content_of(object).*static_cast<const Counter*>(which)->number = whole(value);
        Py_RETURN_NONE;
    }));
    return done ? 0 : -1;
}
PyObject* get_mark(PyObject* object, void* which) {
    return guarded([&]() -> PyObject* {
        return PyBool_FromLong(content_of(object).*static_cast<const Mark*>(which)->flag);
    });
}
int set_mark(PyObject* object, PyObject* value, void* which) {
    const Reference done(guarded([&]() -> PyObject* {
        if (!value) raise(PyExc_AttributeError, "a mark cannot be deleted");
        content_of(object).*static_cast<const Mark*>(which)->flag = From<bool>::get(value);
        Py_RETURN_NONE;
    }));
    return done ? 0 : -1;
}

PyObject* get_attached(PyObject* object, void*) {
    return guarded([&]() -> PyObject* {
        const Content& content = content_of(object);
        return Reference::borrowed(content.attached ? content.attached.get() : Py_None).release();
    });
}
int set_attached(PyObject* object, PyObject* value, void*) {
    const Reference done(guarded([&]() -> PyObject* {
        if (!value) raise(PyExc_AttributeError, "what is attached cannot be deleted");
        const Reference old = std::exchange(content_of(object).attached, Reference::borrowed(value));
        Py_RETURN_NONE;
    }));
    return done ? 0 : -1;
}
PyObject* get_waiting(PyObject* object, void*) {
    return guarded([&]() -> PyObject* { return PyLong_FromSize_t(content_of(object).pending.size()); });
}
// The named parts of the totals and of the numbers of an item, of an automatic mixture: a dict of
// (field, first, end).
PyObject* get_parts(PyObject* object, void*) {
    return guarded([&]() -> PyObject* {
        const Rule& rule = *content_of(object).rule;
        Reference found = Reference::checked(PyDict_New());
        if (!rule.automatic) return found.release();
        for (const Part& part : rule.automatic->parts()) {
            Reference place = Reference::checked(
                Py_BuildValue("(snn)", part.of_item ? "ranges" : "totals", static_cast<Py_ssize_t>(part.first),
                              static_cast<Py_ssize_t>(part.first + part.size)));
            if (PyDict_SetItemString(found.get(), part.name, place.get()) < 0) throw PythonError();
        }
        return found.release();
    });
}
PyObject* get_version(PyObject* object, void*) { return PyLong_FromLongLong(self_of(object).version); }
PyObject* get_turn(PyObject* object, void*) { return Reference::borrowed(self_of(object).turn).release(); }
PyObject* get_value_count(PyObject* object, void*) {
    return guarded([&]() -> PyObject* { return PyLong_FromSize_t(content_of(object).rule->value_count()); });
}

// forget_checkpoints(): rounds so far cannot be played again.
PyObject* forget_checkpoints(PyObject* object, PyObject*) {
    return guarded([&]() -> PyObject* {
        content_of(object).forget_checkpoints();
        Py_RETURN_NONE;
    });
}

// free_turn(): give a forked process a lock that no thread of its parent holds.
PyObject* free_turn(PyObject* object, PyObject*) {
    return guarded([&]() -> PyObject* {
        Reference fresh = Reference::checked(PyObject_CallNoArgs(reinterpret_cast<PyObject*>(turn_type)));
        const Reference old(std::exchange(self_of(object).turn, fresh.release()));
        self_of(object).busy = false;
        Py_RETURN_NONE;
    });
}

// restore(states, retired, entries, checkpoints): what a file or a pickle holds beside fields and pending rounds.
// `entries` are (record, outcomes, rounds); `checkpoints` are (mixture, entries since).
PyObject* restore(PyObject* object, PyObject* const* given, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 4);
        const Operation operation(object, self_of(object).version);
        Content& content = content_of(object);
        Reference states;
        if (given[0] != Py_None) {
            if (!PyList_CheckExact(given[0]) || !content.states ||
                PyList_GET_SIZE(given[0]) != static_cast<Py_ssize_t>(content.state[Axis::games]))
                raise(PyExc_ValueError, "there must be a state for each game");
            states = Reference::checked(PyList_GetSlice(given[0], 0, PY_SSIZE_T_MAX));
        }
        std::vector<char> retired(content.n(), 0);
        for (const Reference& name : strings_of(given[1])) {
            const std::int64_t place = content.names.find(name.get());
            if (place < 0) raise(PyExc_ValueError, "retired experts must be among the names");
            retired[static_cast<size_t>(place)] = 1;
        }
        History history;
        std::int64_t entries = 0;
        Reference list = Reference::checked(PySequence_Fast(given[2], "entries must be a list"));
        for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list.get()); ++i) {
            PyObject** field = fields_of(PySequence_Fast_GET_ITEM(list.get(), i), 3);
            history.emplace_back();
            Entry& entry = history.back();
            entry.round = round_of(content, field[0]);
            const auto known = From<Vector<const double>>::get(field[1]);
            if (known.n != entry.round->shape.count) raise(PyExc_ValueError, "the outcomes do not fit the round");
            entry.outcomes = Outcomes(known.data, known.n);
            entry.rounds = whole(field[2]);
            entry.number = entries++;
        }
        std::vector<std::shared_ptr<const Content>> checkpoints;
        Reference moments = Reference::checked(PySequence_Fast(given[3], "checkpoints must be a list"));
        for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(moments.get()); ++i) {
            PyObject** field = fields_of(PySequence_Fast_GET_ITEM(moments.get(), i), 2);
            if (Py_TYPE(field[0]) != Py_TYPE(object)) raise(PyExc_TypeError, "a checkpoint must be a mixture");
            std::unique_ptr<Content> then = copy_of(content_of(field[0]), false);
            then->rule = content.rule;
            then->entries = entries - whole(field[1]);
            checkpoints.push_back(std::move(then));
        }
        if (states) std::swap(content.states, states);
        std::swap(content.retired, retired);
        std::swap(content.history, history);
        content.entries = entries;
        content.next_checkpoint = checkpoints.empty() ? 0 : checkpoints.back()->rounds + content.stretch();
        std::swap(content.checkpoints, checkpoints);
        operation.commit();
        Py_RETURN_NONE;
    });
}

// The checkpoints, as (mixture, entries since).
PyObject* get_checkpoints(PyObject* object, void*) {
    return guarded([&]() -> PyObject* {
        const auto checkpoints = content_of(object).checkpoints;
        const std::int64_t entries = content_of(object).entries;
        Reference list = Reference::checked(PyList_New(0));
        for (const auto& then : checkpoints) {
            Reference other = object_of(Py_TYPE(object), copy_of(*then, false), self_of(object).kept,
                                        self_of(object).prediction);
            Reference pair = Reference::checked(Py_BuildValue(
                "(NL)", other.release(), static_cast<long long>(entries - then->entries)));
            if (PyList_Append(list.get(), pair.get()) < 0) throw PythonError();
        }
        return list.release();
    });
}

// Live(settings): a mixture without experts; `settings` is a `CoreSettings`.
PyObject* create(PyTypeObject* type, PyObject* arguments, PyObject*) {
    return guarded([&]() -> PyObject* {
        if (PyTuple_GET_SIZE(arguments) != 1) raise(PyExc_TypeError, "a mixture needs its settings");
        PyObject* kept = PyTuple_GET_ITEM(arguments, 0);
        PyObject** given = fields_of(kept, settings);
        PyObject* prediction = given[prediction_setting];
        if (!PyType_Check(prediction) ||
            !PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(prediction), &PyTuple_Type))
            raise(PyExc_TypeError, "a prediction must be a kind of tuple");
        auto content = std::make_unique<Content>();
        content->rule = rule_of(given);
        content->limits = {whole(given[max_pending_setting]),
                           given[max_age_setting] == Py_None ? -1 : whole(given[max_age_setting]),
                           whole(given[history_setting])};
        content->state = State(content->rule->shape(0, 0));
        if (content->rule->own_hedger) {
            content->states = Reference::checked(PyList_New(0));
            for (size_t g = 0; g < content->state[Axis::games]; ++g)
                if (PyList_Append(content->states.get(), Py_None) < 0) throw PythonError();
        }
        return object_of(type, std::move(content), kept, reinterpret_cast<PyTypeObject*>(prediction)).release();
    });
}

int traverse(PyObject* object, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self_of(object).kept);
    Py_VISIT(self_of(object).turn);
    const Content* content = self_of(object).content;
    if (content) {
        Py_VISIT(content->states.get());
        Py_VISIT(content->attached.get());
    }
    return 0;
}

int clear(PyObject* object) {
    LiveObject& self = self_of(object);
    const std::unique_ptr<Content> content(std::exchange(self.content, nullptr));
    const Reference kept(std::exchange(self.kept, nullptr));
    return 0;
}

void destroy(PyObject* object) {
    PyObject_GC_UnTrack(object);
    PyTypeObject* type = Py_TYPE(object);
    clear(object);
    Py_CLEAR(self_of(object).turn);
    type->tp_free(object);
    Py_DECREF(type);
}

PyMethodDef methods[] = {
    {"predict", predict, METH_O, "Predict from a dict of numbers by name, or return None."},
    fast("update", update, "Learn from a number; return whether it was done."),
    {"predict_rows", predict_rows, METH_O, "Predict a round of any form."},
    fast("settle", settle, "Learn from the outcomes of a pending round."),
    fast("note", note, "Add the losses of a pending round to the sums."),
    fast("correct", correct, "Play rounds again with other outcomes of one; return whether it was done."),
    {"copy", copy, METH_O, "Return a copy, with or without the history."},
    fast("take_over", take_over, "Become what another mixture is."),
    fast("join", join, "Let experts and items join."),
    fast("leave", leave, "Let experts leave."),
    fast("rename", rename, "Give an expert another name."),
    fast("inherit", inherit, "Give an expert the record of another."),
    fast("retire", retire, "Let an expert sleep for good."),
    fast("start_game", start_game, "Let a game begin with the mean of others."),
    {"play", play, METH_O, "Play a table of rounds."},
    fast("add_sums", add_sums, "Add the sums of a table."),
    fast("fill_plain", fill_plain_columns, "Write the plain combinations as forecasts."),
    {"tickets", tickets, METH_NOARGS, "Return the tickets of the pending rounds."},
    {"pending_round", pending_record, METH_O, "Return the record of a pending round, or None."},
    fast("replace_pending", replace_pending, "Remove pending rounds, and add others."),
    {"find_id", find_id, METH_O, "Return the ticket of a pending round by its id, or -1."},
    {"find", find, METH_O, "Return the column of an expert, or -1."},
    {"find_item", find_item, METH_O, "Return the place of an item, or -1."},
    fast("assign", assign, "Write fields of the state."),
    {"weigh", weigh, METH_NOARGS, "Write the weights that belong to the ledgers."},
    {"forget_checkpoints", forget_checkpoints, METH_NOARGS, "Rounds so far cannot be played again."},
    fast("restore", restore, "Take what a file holds beside fields and pending rounds."),
    {"free_turn", free_turn, METH_NOARGS, "Take a lock that no thread holds."},
    {nullptr, nullptr, 0, nullptr},
};

constexpr size_t counter_count = sizeof(counters) / sizeof(counters[0]);
constexpr size_t mark_count = sizeof(marks) / sizeof(marks[0]);

PyGetSetDef attributes[field_count + counter_count + mark_count + 13 + 1];

PyType_Slot slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(create)},
    {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(clear)},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {0, nullptr},
};

PyType_Spec spec = {"normalhedge._core.Live", sizeof(LiveObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};

// scratch_overflows() -> how often a change needed more memory than it had reserved.
PyObject* scratch_overflows(PyObject*, PyObject*) { return PyLong_FromLong(Arena::overflows); }

PyMethodDef functions[] = {
    {"scratch_overflows", scratch_overflows, METH_NOARGS, "Return how often a change had reserved too little."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

void add_live(PyObject* module) {
    size_t next = 0;
    for (size_t f = 0; f < field_count; ++f)
        attributes[next++] = {state_fields[f].name, get_field, nullptr, nullptr,
                              reinterpret_cast<void*>(static_cast<std::intptr_t>(f))};
    for (const Counter& counter : counters)
        attributes[next++] = {counter.name, get_counter, set_counter, nullptr, const_cast<Counter*>(&counter)};
    for (const Mark& mark : marks)
        attributes[next++] = {mark.name, get_mark, set_mark, nullptr, const_cast<Mark*>(&mark)};
    const PyGetSetDef others[] = {
        {"names", get_names, nullptr, nullptr, nullptr},
        {"items", get_items, nullptr, nullptr, nullptr},
        {"retired", get_retired, nullptr, nullptr, nullptr},
        {"states", get_states, nullptr, nullptr, nullptr},
        {"ids", get_ids, nullptr, nullptr, nullptr},
        {"history", get_history, nullptr, nullptr, nullptr},
        {"checkpoints", get_checkpoints, nullptr, nullptr, nullptr},
        {"parts", get_parts, nullptr, nullptr, nullptr},
        {"version", get_version, nullptr, nullptr, nullptr},
        {"waiting", get_waiting, nullptr, nullptr, nullptr},
        {"attached", get_attached, set_attached, nullptr, nullptr},
        {"turn", get_turn, nullptr, nullptr, nullptr},
        {"value_count", get_value_count, nullptr, nullptr, nullptr},
    };
    for (const PyGetSetDef& other : others) attributes[next++] = other;
    Reference fields = Reference::checked(PyTuple_New(static_cast<Py_ssize_t>(field_count)));
    for (size_t f = 0; f < field_count; ++f)
        PyTuple_SET_ITEM(fields.get(), static_cast<Py_ssize_t>(f),
                         Reference::checked(PyUnicode_FromString(state_fields[f].name)).release());
    if (PyModule_AddObjectRef(module, "STATE_FIELDS", fields.get()) < 0) throw PythonError();
    Reference type = Reference::checked(PyType_FromSpec(&spec));
    if (PyModule_AddObjectRef(module, "Live", type.get()) < 0 || PyModule_AddFunctions(module, functions) < 0)
        throw PythonError();
}

}  // namespace normalhedge::python
