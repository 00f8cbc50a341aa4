// `normalhedge._core.Games`: the games of a mixture, as one object that owns their arrays.
#include "python.hpp"

#include <array>
#include <cstring>

#include "automatic.hpp"
#include "gains.hpp"
#include "objects.hpp"
#include "python_hedger.hpp"

namespace normalhedge {

namespace {

// What the object owns: arrays of NumPy's, all replaced at once, never resized.
//
//     weights       games x n                  marks        games x 3 x n, whole numbers
//     ledgers       games x rows x n           pool_ranges  games x 2
//     totals        games x totals             ranges       items x 2
//     expert_sums   6 x n, 7 x n of quantiles  total_sums   9
//     loss_regrets  games x n                  delays       games x 4, see `Delay`
//
// Those with a column for each expert may have more columns, for newcomers.
enum Part {
    weights, ledgers, totals, marks, pool_ranges, ranges, expert_sums, total_sums, loss_regrets, delays, parts
};

static_assert(sizeof(Range) == 2 * sizeof(double), "a range is two numbers of an array");

constexpr const char* part_names[parts] = {"weights",     "ledgers", "totals",      "marks",
                                           "pool_ranges", "ranges",  "expert_sums", "total_sums",
                                           "loss_regrets", "delays"};

// How late the outcomes of a game are. Between a prediction and its own outcome the hedger learns at most
// as many others as were predicted while some round waited; twice as many, where outcomes change places.
struct Delay {
    double waited;      // the largest number of rounds that were predicted while one waited
    double next;        // the number after the last round that was settled
    double disordered;  // 1 if a round was settled after a later one
    double predicted;   // how many rounds were predicted

    // Settle a round after which so many were predicted.
    void see(double late) {
        const double number = predicted - 1.0 - late;
        waited = larger(waited, late);
        if (number < next) disordered = 1.0;
        next = larger(next, number + 1.0);
    }
    double outcomes() const { return waited * (1.0 + disordered); }
};

static_assert(sizeof(Delay) == 4 * sizeof(double), "a delay is four numbers of an array");

// How a single rule allows for late outcomes: with a larger c, the more of them come in between.
struct Patience {
    double c = 0.0;      // 0 of a rule that does not
    double delay = 0.0;  // for which c serves as it is
    std::vector<std::pair<double, double>> ladder;  // longer delays, and the c for each

    // How many times as large c must be.
    double factor(double outcomes) const {
        if (!(c > 0.0) || outcomes <= delay || ladder.empty()) return 1.0;
        for (const auto& [rung, wanted] : ladder)
            if (outcomes <= rung) return larger(wanted / c, 1.0);
        const auto& [last, wanted] = ladder.back();
        return larger(wanted * (outcomes + 1.0) / (last + 1.0) / c, 1.0);
    }
};

// The next version of anything: no two mixtures, nor two states of one, share theirs.
std::int64_t next_version() {
    static std::int64_t last = 0;
    return ++last;
}

// A hedger, which may be owned.
struct Rule {
    const Hedger* hedger;
    std::unique_ptr<Hedger> own;

    const Hedger& operator*() const { return *hedger; }
    const Hedger* operator->() const { return hedger; }
};

struct Content {
    Recipe recipe;
    std::vector<Way> include;
    bool shared = true;
    Reference engine;  // whose hedger is used, or the hedger written in Python
    std::unique_ptr<Hedger> own_hedger;
    std::vector<Reference> components;  // engines
    std::vector<std::unique_ptr<Relative>> relatives;
    std::unique_ptr<Automatic> automatic;
    const Hedger* hedger = nullptr;
    Patience patience;
    Reference own_loss;  // a function (forecasts, values, outcomes) -> losses, slopes; or none
    Reference states;    // a list, of a hedger written in Python
    std::array<Reference, parts> arrays;
    size_t games = 0;
    size_t n = 0;         // experts
    size_t capacity = 0;  // columns
    size_t items = 0;
    size_t weighed = 0;   // how many experts there were when the weights were written
    std::int64_t version = next_version();  // another one after every change
    bool busy = false;         // while functions of the caller's own are called

    bool in_python() const { return own_hedger != nullptr || own_loss; }

    // Whether items have games of their own beside the one they share; and whether these are played.
    bool has_both() const { return automatic && shared && items > 1; }
    bool several() const { return has_both() && automatic->knows_two(data(ranges), items); }
    size_t value_count() const { return automatic ? automatic->value_count() : 1; }
    size_t item_size() const { return automatic ? automatic->item_size() : 2; }

    bool of_levels() const { return recipe.of_levels(); }
    size_t sum_count() const { return Sums::expert_sums + (of_levels() ? 1 : 0); }

    // Whether outcomes are classes of rows with so many numbers, and whether rows may have so many.
    bool has_classes(size_t count) const { return count > 1 && !of_levels(); }
    bool takes(size_t count) const {
        return count > 0 && (!of_levels() || count == recipe.levels.size());
    }

    // Where the steps of rows are those of this mixture.
    void set_steps(Rows& rows) const {
        rows.value_step = rows.classes * value_count();
        rows.own_step = rows.n + value_count() + 1;
        rows.slope_step = value_count();
    }

    double* data(Part part) const { return data_of<double>(arrays[part].array()); }

    Game game(size_t g) const {
        const size_t rows = hedger->rows();
        const size_t count = hedger->totals();
        return {{n, n, capacity, data(weights) + g * capacity,
                 data(ledgers) + g * rows * capacity, data(totals) + g * count, g},
                data_of<std::int64_t>(arrays[marks].array()) + g * Sums::mark_rows * capacity,
                reinterpret_cast<Range*>(data(pool_ranges)) + g, data(loss_regrets) + g * capacity};
    }

    Delay& delay(size_t g) const { return reinterpret_cast<Delay*>(data(delays))[g]; }

    // The hedger of a game: one whose potential is wide enough for the delay of its outcomes.
    Rule rule(size_t g) const {
        const bool late = patience.c > 0.0 && arrays[delays] && g < games;
        const double factor = late ? patience.factor(delay(g).outcomes()) : 1.0;
        if (factor == 1.0) return {hedger, nullptr};
        auto wider = hedger->widened(factor);
        return {wider.get(), std::move(wider)};
    }

    // Take the sizes from the arrays.
    void measure(size_t experts) {
        if (!arrays[weights]) return;
        games = extent(arrays[weights].array(), 0);
        capacity = extent(arrays[weights].array(), 1);
        items = extent(arrays[ranges].array(), 0);
        n = weighed = experts;
    }

    // Write the weights, where experts joined since.
    void refresh() {
        if (weighed == n) return;
        for (size_t g = 0; g < games; ++g) rule(g)->weigh(game(g).columns);
        weighed = n;
    }

    ItemRanges item_ranges() const { return {data(ranges), item_size()}; }
    Sums sums() const { return {data(expert_sums), data(total_sums), capacity}; }
};

struct GamesObject {
    PyObject_HEAD
    Content* content;  // owned
};

Content& content_of(PyObject* object) { return *reinterpret_cast<GamesObject*>(object)->content; }

// Which of the dimensions of an array are the number of games, experts and items.
void check_shapes(const Content& content, const std::array<Reference, parts>& arrays) {
    for (int part = 0; part < parts; ++part) {
        const int dimensions = part == total_sums ? 1 : part == ledgers || part == marks ? 3 : 2;
        if (part == marks)
            checked_array<std::int64_t>(arrays[part].get(), dimensions);
        else
            checked_array<double>(arrays[part].get(), dimensions);
    }
    const size_t games = extent(arrays[weights].array(), 0);
    const size_t n = extent(arrays[weights].array(), 1);
    const size_t items = extent(arrays[ranges].array(), 0);
    const auto has = [&](Part part, std::initializer_list<size_t> shape) {
        int axis = 0;
        for (size_t wanted : shape)
            if (extent(arrays[part].array(), axis++) != wanted) return false;
        return true;
    };
    if (!has(ledgers, {games, content.hedger->rows(), n}) ||
        !has(totals, {games, content.hedger->totals()}) ||
        !has(marks, {games, size_t{Sums::mark_rows}, n}) || !has(pool_ranges, {games, 2}) ||
        !has(ranges, {items, content.item_size()}) || !has(expert_sums, {content.sum_count(), n}) ||
        !has(total_sums, {size_t{Sums::total_sums}}) || !has(loss_regrets, {games, n}) ||
        !has(delays, {games, 4}))
        raise(PyExc_ValueError, "the arrays of a mixture must be of one size");
}

// Refuse arrays that their holder resized.
void check_sizes(const Content& content) {
    check_shapes(content, content.arrays);
    if (extent(content.arrays[weights].array(), 0) != content.games ||
        extent(content.arrays[weights].array(), 1) != content.capacity ||
        extent(content.arrays[ranges].array(), 0) != content.items)
        raise(PyExc_ValueError, "the arrays of a mixture must not be resized");
}

// An attribute of the mixture, by its name.
PyObject* attribute(PyObject* target, PyObject* name) {
    PyObject* found = PyDict_GetItemWithError(target, name);
    if (found) return found;
    if (!PyErr_Occurred()) PyErr_SetObject(PyExc_AttributeError, name);
    throw PythonError();
}

PyObject* interned(const char* name) {
    PyObject* found = PyUnicode_InternFromString(name);
    if (!found) throw PythonError();
    return found;
}

constexpr const char* used_from_within =
    "a mixture must not be used while it predicts or learns: not from within its own loss, hedger, "
    "forecasts or signal handlers";

// Whether these are the games of the mixture whose attributes are given.
bool is_current(PyObject* games, PyObject* target) {
    static PyObject* const name = interned("games");
    return attribute(target, name) == games;
}

// Changes all or nothing: other arrays and states, and what a round does to those that stay.
//
// A mixture is changed by one call of the core and in no other way. No signal handler and no other
// thread of Python's comes in between, but for functions of the caller's own (losses, hedgers): while
// they run the mixture is busy, and what they spoil by an exception is put back.
class Change {
public:
    // `version` is that of the mixture, whose attributes are `target`, when the change was prepared.
    Change(PyObject* games, PyObject* target, std::int64_t version)
        : Change(content_of(games), is_current(games, target) ? version : 0) {}

    Change(Content& content, std::int64_t version) : content_(content) {
        if (!content.hedger) raise(PyExc_RuntimeError, "this mixture is being taken down");
        if (content.arrays[weights]) check_sizes(content);
        if (content.busy || content.version != version)
            raise(PyExc_RuntimeError, used_from_within);
        if (!content.arrays[weights]) return;
        content.refresh();
        if (content.in_python()) {
            keep_copies();
            content.busy = true;
        }
    }
    Change(const Change&) = delete;
    Change& operator=(const Change&) = delete;

    // Take other arrays (a tuple of all of them, or None) and other states (a list, or None).
    void take(PyObject* given, PyObject* states) {
        if (given != Py_None) {
            if (!PyTuple_CheckExact(given) || PyTuple_GET_SIZE(given) != parts + 1)
                raise(PyExc_TypeError, "the arrays of a mixture must be a tuple of all of them");
            const std::int64_t experts = From<std::int64_t>::get(PyTuple_GET_ITEM(given, parts));
            std::array<Reference, parts> arrays;
            for (int part = 0; part < parts; ++part)
                arrays[part] = Reference::borrowed(PyTuple_GET_ITEM(given, part));
            check_shapes(content_, arrays);
            if (experts < 0 || static_cast<size_t>(experts) > extent(arrays[weights].array(), 1))
                raise(PyExc_ValueError, "the arrays of a mixture must have a column for each expert");
            std::swap(content_.arrays, arrays);
            old_arrays_ = std::move(arrays);
            old_n_ = content_.n;
            replaced_ = true;
            content_.measure(static_cast<size_t>(experts));
        }
        if (states != Py_None && content_.states) {
            if (!PyList_CheckExact(states)) raise(PyExc_TypeError, "states must be a list");
            old_states_ = copy_of_states();
            set_states(states);
        }
    }

    // All went well.
    void commit() {
        committed_ = true;
        content_.busy = false;
        content_.version = next_version();
    }

    ~Change() {
        if (committed_) return;
        PyObject *kind, *value, *trace;
        PyErr_Fetch(&kind, &value, &trace);
        if (replaced_) {
            std::swap(content_.arrays, old_arrays_);
            content_.measure(old_n_);
        }
        for (size_t part = 0; part < copies_.size(); ++part)
            if (PyArray_CopyInto(content_.arrays[part].array(), copies_[part].array()) < 0)
                PyErr_WriteUnraisable(copies_[part].get());
        if (old_states_) set_states(old_states_.get());
        content_.busy = false;
        PyErr_Restore(kind, value, trace);
    }

private:
    void keep_copies() {
        for (const Reference& array : content_.arrays)
            copies_.push_back(Reference::checked(PyArray_NewCopy(array.array(), NPY_CORDER)));
        if (content_.states) old_states_ = copy_of_states();
    }
    Reference copy_of_states() const {
        return Reference::checked(PyList_GetSlice(content_.states.get(), 0, PY_SSIZE_T_MAX));
    }
    void set_states(PyObject* states) {
        if (PyList_SetSlice(content_.states.get(), 0, PY_SSIZE_T_MAX, states) < 0)
            PyErr_WriteUnraisable(content_.states.get());
    }

    Content& content_;
    std::vector<Reference> copies_;  // of the arrays, where functions of the caller's own may fail
    std::array<Reference, parts> old_arrays_;
    Reference old_states_;
    size_t old_n_ = 0;
    bool replaced_ = false;
    bool committed_ = false;
};

// Arrays of a round as they come from Python; refused where they do not belong together.
Rows rows_of(const Content& content, PyObject* table, PyObject* confidence, PyObject* values,
             PyObject* outcomes, PyObject* items) {
    const auto forecasts = From<Cube<const double>>::get(table);
    const auto predicted = From<Matrix<double>>::get(values);
    const auto places = From<Vector<const std::int32_t>>::get(items);
    Rows rows{forecasts.layers, forecasts.rows, forecasts.columns, forecasts.data, nullptr,
              predicted.data,   nullptr,        places.data};
    content.set_steps(rows);
    bool fit = content.arrays[weights] && (content.games > 0 || rows.count == 0) &&
               forecasts.columns == content.n && predicted.rows == rows.count &&
               predicted.columns == rows.value_step && places.n == rows.count &&
               content.takes(rows.classes);
    if (confidence != Py_None) {
        const auto rated = From<Vector<const double>>::get(confidence);
        rows.confidence = rated.data;
        fit = fit && rated.n == content.n;
    }
    if (outcomes != Py_None) {
        const auto known = From<Vector<const double>>::get(outcomes);
        rows.outcomes = known.data;
        fit = fit && known.n == rows.count;
        for (size_t j = 0; fit && content.has_classes(rows.classes) && j < rows.count; ++j)
            fit = !rows.known(j) || (known[j] >= 0.0 && known[j] < static_cast<double>(rows.classes));
    }
    for (size_t j = 0; fit && j < rows.count; ++j) {
        const auto item = static_cast<size_t>(places[j]);
        fit = places[j] >= 0 && item < content.items && (content.shared || item < content.games) &&
              (!content.has_both() || 1 + item < content.games);
    }
    if (!fit) raise(PyExc_ValueError, "the arrays of a round do not fit the mixture");
    return rows;
}

// Refuse forecasts that cannot be repaired in place, where they are quantiles.
void check_writeable(const Content& content, PyObject* table) {
    if (content.of_levels()) From<Cube<double>>::get(table);
}

// The rows of a round that belong to one game: all of them, or each by itself.
template <class Work>
void game_by_game(const Content& content, const Rows& rows, const Work& work) {
    if (content.shared) {
        work(size_t{0}, rows, size_t{0});
        return;
    }
    for (size_t j = 0; j < rows.count; ++j)
        work(static_cast<size_t>(rows.items[j]), rows.only(j), j);
}

// Predict the rows of a game.
void predict_game(const Content& content, size_t g, const Rows& rows, std::int64_t number,
                  double* played, const Sums& sums) {
    // The arrays are writeable: see `check_writeable`.
    if (content.of_levels())
        repair_rows(content.recipe, rows, const_cast<double*>(rows.forecasts), sums);
    if (!content.automatic) {
        predict_round(content.recipe, *content.rule(g), content.game(g), rows, number, played, sums);
        content.delay(g).predicted += 1.0;
        return;
    }
    const bool before = content.several();
    content.automatic->note_items(rows, content.data(ranges));
    const bool several = content.several();
    if (several && !before) content.hedger->weigh(content.game(0).columns);
    const auto game_of = [&](size_t other) { return content.game(several ? other : g); };
    content.automatic->predict(game_of, several, rows, number, played, sums, content.data(ranges));
}

// Settle the rows of a game, after which so many rounds were predicted.
void settle_game(const Content& content, size_t g, const Rows& rows, double late, double* totals) {
    if (!content.automatic) {
        if (!rows.any_known()) return;
        Delay& delay = content.delay(g);
        const double before = content.patience.factor(delay.outcomes());
        delay.see(late);
        const Rule rule = content.rule(g);
        if (content.patience.factor(delay.outcomes()) != before) rule->weigh(content.game(g).columns);
        learn_round(content.recipe, *rule, content.game(g), rows, content.item_ranges(),
                    delay.waited > 0.0, totals);
        return;
    }
    const bool several = content.several();
    const auto game_of = [&](size_t other) { return content.game(several ? other : g); };
    content.automatic->settle(game_of, several, rows, late, content.data(ranges), totals);
}

Reference new_array(std::initializer_list<size_t> shape) {
    npy_intp dims[3];
    int axes = 0;
    for (size_t extent : shape) dims[axes++] = static_cast<npy_intp>(extent);
    return Reference::checked(PyArray_SimpleNew(axes, dims, NPY_DOUBLE));
}

// Change attributes of the mixture: those of `changes`, and entries of dicts among them. `merges` is a
// tuple of a dict and its new entries, of another, and so on.
void change_attributes(PyObject* target, PyObject* changes, PyObject* merges) {
    for (Py_ssize_t k = 0; k + 1 < PyTuple_GET_SIZE(merges); k += 2)
        if (PyDict_Update(PyTuple_GET_ITEM(merges, k), PyTuple_GET_ITEM(merges, k + 1)) < 0)
            throw PythonError();
    if (PyDict_Update(target, changes) < 0) throw PythonError();
}

void check_attributes(PyObject* target, PyObject* changes, PyObject* merges) {
    bool fit = PyDict_Check(target) && PyDict_CheckExact(changes) && PyTuple_CheckExact(merges) &&
               PyTuple_GET_SIZE(merges) % 2 == 0;
    for (Py_ssize_t k = 0; fit && k < PyTuple_GET_SIZE(merges); ++k)
        fit = PyDict_CheckExact(PyTuple_GET_ITEM(merges, k));
    if (!fit) raise(PyExc_TypeError, "a mixture keeps its attributes in dicts");
}

// What a round that was predicted does to the mixture in Python.
struct Filing {
    PyObject* pending;  // a dict: it gets the round by its ticket
    PyObject* ticket;
    PyObject* expired;  // the ticket of a round that is given up, or None
    PyObject* target;   // the attributes of the mixture, a dict
    PyObject* changes;  // and those that change
    PyObject* merges;

    void check() const {
        check_attributes(target, changes, merges);
        if (!PyDict_CheckExact(pending))
            raise(PyExc_TypeError, "a mixture keeps its rounds in a dict");
    }

    void file(PyObject* round) const {
        if (PyDict_SetItem(pending, ticket, round) < 0) throw PythonError();
        if (expired != Py_None && PyDict_DelItem(pending, expired) < 0) PyErr_Clear();
        change_attributes(target, changes, merges);
    }
};

// predict(version, arrays, states, number, table, confidence, values, played, items, round, pending,
// ticket, expired, target, changes, merges, intervals): take other arrays and states, if they are not None;
// write the values, what was played and, if asked for, the intervals; file the round.
PyObject* predict(PyObject* object, PyObject* const* given, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 17);
        Content& content = content_of(object);
        const Filing filing{given[10], given[11], given[12], given[13], given[14], given[15]};
        filing.check();
        Change change(object, filing.target, From<std::int64_t>::get(given[0]));
        change.take(given[1], given[2]);
        const std::int64_t number = From<std::int64_t>::get(given[3]);
        check_writeable(content, given[4]);
        const Rows rows = rows_of(content, given[4], given[5], given[6], Py_None, given[8]);
        const auto played = From<Matrix<double>>::get(given[7]);
        if (played.rows != rows.count || played.columns != rows.n)
            raise(PyExc_ValueError, "the arrays of a round do not fit the mixture");
        RoundIntervals intervals(given[16], rows.items, rows.count, rows.classes);
        game_by_game(content, rows, [&](size_t g, const Rows& part, size_t j) {
            predict_game(content, g, part, number, played.row(j), content.sums());
        });
        intervals.write(rows.values, rows.value_step, number);
        filing.file(given[9]);
        change.commit();
        Py_RETURN_NONE;
    });
}

// Read a number for each expert, in the order of their names; false if that is not what is given.
bool read_by_name(PyObject* forecasts, PyObject* names, double* numbers) {
    if (!PyDict_CheckExact(forecasts) || PyDict_GET_SIZE(forecasts) != PyList_GET_SIZE(names))
        return false;
    PyObject *name, *value;
    Py_ssize_t place = 0;
    for (Py_ssize_t i = 0; PyDict_Next(forecasts, &place, &name, &value); ++i) {
        PyObject* expected = PyList_GET_ITEM(names, i);
        if (name != expected && !(PyUnicode_CheckExact(name) && PyUnicode_Compare(name, expected) == 0))
            return false;
        if (!PyFloat_Check(value) || std::isinf(PyFloat_AS_DOUBLE(value))) return false;
        numbers[i] = PyFloat_AS_DOUBLE(value);
    }
    return true;
}

// The fields of a round that waits for its outcome, in their order.
enum Field {
    table_field,
    confidence_field,
    values_field,
    items_field,
    number_field,
    keys_field,
    tokens_field,
    fields
};

// Whether these are still the games of the mixture, and nobody has it to himself.
bool is_open(PyObject* games, PyObject* target) {
    static PyObject* const lock_name = interned("_lock");
    PyObject* turn = attribute(target, lock_name);
    return is_current(games, target) && Py_TYPE(turn) == turn_type &&
           reinterpret_cast<TurnObject*>(turn)->depth == 0;
}

// A whole number and the next one.
struct Counted {
    PyObject* now;
    Reference next;

    explicit Counted(PyObject* number) : now(number) {
        next = Reference::checked(to_python(From<std::int64_t>::get(number) + 1));
    }
};

// predict_numbers(forecasts, items, kind, target) -> the prediction, None where nobody is awake; its
// ticket; and what was played. None where `forecasts` is not a dict of a float, none of them infinite,
// for each name in their order, or where a round may be given up for this one. The common
// case of `predict`, without a detour through Python: the names, rounds, tickets and pending rounds are
// those of `target`, the attributes of the mixture, and the round is filed as a tuple of this kind.
PyObject* predict_numbers(PyObject* object, PyObject* const* given, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 4);
        static PyObject* const names_name = interned("names");
        static PyObject* const rounds_name = interned("rounds");
        static PyObject* const next_name = interned("next_ticket");
        static PyObject* const pending_name = interned("pending");
        static PyObject* const most_name = interned("max_pending");
        static PyObject* const age_name = interned("max_age");
        Content& content = content_of(object);
        const size_t n = content.n;
        PyObject* target = given[3];
        if (!PyDict_Check(target) || !PyType_Check(given[2]) ||
            !PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(given[2]), &PyTuple_Type))
            raise(PyExc_TypeError, "a round must be a kind of tuple, and attributes a dict");
        PyObject* names = attribute(target, names_name);
        PyObject* pending = attribute(target, pending_name);
        if (!is_open(object, target) || attribute(target, age_name) != Py_None ||
            !PyDict_CheckExact(pending) ||
            PyDict_GET_SIZE(pending) >= From<std::int64_t>::get(attribute(target, most_name)))
            Py_RETURN_NONE;
        if (!PyList_CheckExact(names) || static_cast<size_t>(PyList_GET_SIZE(names)) != n)
            raise(PyExc_ValueError, "there must be a name for each expert");
        const Counted rounds(attribute(target, rounds_name));
        const Counted tickets(attribute(target, next_name));
        Reference ticket = Reference::borrowed(tickets.now);
        Reference number = Reference::borrowed(rounds.now);
        Reference table = new_array({1, 1, n});
        if (!read_by_name(given[0], names, data_of<double>(table.array()))) {
            if (PyErr_Occurred()) throw PythonError();
            Py_RETURN_NONE;
        }
        Change change(content, content.version);
        Reference values = new_array({1, content.value_count()});
        Reference played = new_array({1, n});
        const Rows rows = rows_of(content, table.get(), Py_None, values.get(), Py_None, given[1]);
        const auto item = static_cast<size_t>(rows.items[0]);
        auto* kind = reinterpret_cast<PyTypeObject*>(given[2]);
        Reference round = Reference::checked(kind->tp_alloc(kind, fields));
        PyTuple_SET_ITEM(round.get(), table_field, table.release());
        PyTuple_SET_ITEM(round.get(), confidence_field, Reference::borrowed(Py_None).release());
        PyTuple_SET_ITEM(round.get(), values_field, values.release());
        PyTuple_SET_ITEM(round.get(), items_field, Reference::borrowed(given[1]).release());
        PyTuple_SET_ITEM(round.get(), keys_field, Reference::borrowed(Py_None).release());
        PyTuple_SET_ITEM(round.get(), tokens_field, Reference::borrowed(Py_None).release());
        Reference result = Reference::checked(PyTuple_New(3));
        predict_game(content, content.shared ? 0 : item, rows,
                     From<std::int64_t>::get(number.get()), data_of<double>(played.array()),
                     content.sums());
        const double value = rows.values[0];
        Reference said = value == value ? Reference::checked(PyFloat_FromDouble(value))
                                        : Reference::borrowed(Py_None);
        PyTuple_SET_ITEM(round.get(), number_field, number.release());
        if (PyDict_SetItem(pending, ticket.get(), round.get()) < 0 ||
            PyDict_SetItem(target, rounds_name, rounds.next.get()) < 0 ||
            PyDict_SetItem(target, next_name, tickets.next.get()) < 0)
            throw PythonError();
        PyTuple_SET_ITEM(result.get(), 0, said.release());
        PyTuple_SET_ITEM(result.get(), 1, ticket.release());
        PyTuple_SET_ITEM(result.get(), 2, played.release());
        change.commit();
        return result.release();
    });
}

// The losses of your own in a round, as arrays.
struct OwnLosses {
    Reference losses;
    Reference slopes;

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

OwnLosses own_losses(const Content& content, PyObject* table, PyObject* values,
                     PyObject* outcomes) {
    Reference found = Reference::checked(
        PyObject_CallFunctionObjArgs(content.own_loss.get(), table, values, outcomes, nullptr));
    if (!PyTuple_CheckExact(found.get()) || PyTuple_GET_SIZE(found.get()) != 2)
        raise(PyExc_TypeError, "a loss of your own must give losses and slopes");
    return {Reference::borrowed(PyTuple_GET_ITEM(found.get(), 0)),
            Reference::borrowed(PyTuple_GET_ITEM(found.get(), 1))};
}

// How many rounds were predicted after a round of the mixture whose attributes are `target`.
double lateness(PyObject* round, PyObject* target) {
    static PyObject* const rounds_name = interned("rounds");
    if (!PyTuple_Check(round) || PyTuple_GET_SIZE(round) != fields) return 0.0;
    const std::int64_t now = From<std::int64_t>::get(attribute(target, rounds_name));
    const std::int64_t then = From<std::int64_t>::get(PyTuple_GET_ITEM(round, number_field));
    return static_cast<double>(now > then ? now - then - 1 : 0);
}

// Add the losses of a round to the sums and, where it is `learned`, play it. `given` are the table,
// confidence, values, outcomes and items.
void settle(const Content& content, PyObject* const* given, bool learned, double late = 0.0) {
    OwnLosses own;
    if (content.own_loss) own = own_losses(content, given[0], given[2], given[3]);
    Rows rows = rows_of(content, given[0], given[1], given[2], given[3], given[4]);
    if (!rows.outcomes) raise(PyExc_ValueError, "outcomes must be given");
    if (content.own_loss) own.give_to(rows);
    note_round(content.recipe, rows, content.sums());
    if (!learned) return;
    game_by_game(content, rows, [&](size_t g, const Rows& part, size_t) {
        settle_game(content, g, part, late, content.sums().totals);
    });
}

// note(version, table, confidence, values, outcomes, items): add the losses of a round to the sums.
PyObject* note(PyObject* object, PyObject* const* given, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 6);
        Content& content = content_of(object);
        Change change(content, From<std::int64_t>::get(given[0]));
        settle(content, given + 1, false);
        change.commit();
        Py_RETURN_NONE;
    });
}

// What an outcome does to the mixture in Python: the round is not pending any more, and is kept for a
// while, as a `SettledRound`.
struct Settling {
    PyObject* round;
    PyObject* ticket;
    Reference pending;  // a dict of rounds by their tickets
    Reference deferred;  // a dict of what tables know of them
    Reference history;  // what has `append`
    Reference rounds;   // the number of rounds that were predicted

    // Of the mixture whose attributes are `target`.
    Settling(PyObject* made, PyObject* number, PyObject* target) : round(made), ticket(number) {
        static PyObject* const pending_name = interned("pending");
        static PyObject* const deferred_name = interned("deferred");
        static PyObject* const history_name = interned("history");
        static PyObject* const rounds_name = interned("rounds");
        pending = Reference::borrowed(attribute(target, pending_name));
        deferred = Reference::borrowed(attribute(target, deferred_name));
        history = Reference::borrowed(attribute(target, history_name));
        rounds = Reference::borrowed(attribute(target, rounds_name));
        if (!PyDict_CheckExact(pending.get()) || !PyDict_CheckExact(deferred.get()))
            raise(PyExc_TypeError, "a mixture keeps its rounds in dicts");
        if (PyDict_GetItemWithError(pending.get(), ticket) != round) {
            if (PyErr_Occurred()) throw PythonError();
            raise(PyExc_RuntimeError, used_from_within);
        }
    }

    void settle(PyObject* outcomes) const {
        Reference kept = Reference::checked(PyTuple_Pack(4, round, outcomes, ticket, rounds.get()));
        if (PyDict_DelItem(pending.get(), ticket) < 0) throw PythonError();
        if (PyDict_GET_SIZE(deferred.get()) && PyDict_DelItem(deferred.get(), ticket) < 0)
            PyErr_Clear();
        static PyObject* const append = PyUnicode_InternFromString("append");
        Reference done(PyObject_CallMethodOneArg(history.get(), append, kept.get()));
        if (!done) PyErr_Clear();  // it only serves summaries
    }
};

// update(version, table, confidence, values, outcomes, items, round, ticket, target, changes): add up the
// losses of a round, learn from it, file it, and change these attributes of the mixture.
PyObject* update(PyObject* object, PyObject* const* given, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 10);
        Content& content = content_of(object);
        if (!PyDict_Check(given[8]) || !PyDict_CheckExact(given[9]))
            raise(PyExc_TypeError, "attributes must be in a dict");
        const Settling settling(given[6], given[7], given[8]);
        Change change(object, given[8], From<std::int64_t>::get(given[0]));
        settle(content, given + 1, true, lateness(given[6], given[8]));
        settling.settle(given[4]);
        if (PyDict_Update(given[8], given[9]) < 0) throw PythonError();
        change.commit();
        Py_RETURN_NONE;
    });
}

// update_number(ticket, outcome, target) -> whether it was done: the same for a round of one number that
// is pending in `target`, the attributes of the mixture. Not where it is not one, where experts joined
// since, where a checkpoint is due, or where the outcome is not a finite float that the loss knows.
PyObject* update_number(PyObject* object, PyObject* const* given, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 3);
        static PyObject* const pending_name = interned("pending");
        static PyObject* const rounds_name = interned("rounds");
        static PyObject* const due_name = interned("next_checkpoint");
        Content& content = content_of(object);
        PyObject* target = given[2];
        if (!PyDict_Check(target)) raise(PyExc_TypeError, "attributes must be in a dict");
        if (!is_open(object, target)) Py_RETURN_FALSE;
        if (From<std::int64_t>::get(attribute(target, rounds_name)) >=
            From<std::int64_t>::get(attribute(target, due_name)))
            Py_RETURN_FALSE;
        PyObject* pending = attribute(target, pending_name);
        PyObject* found = PyLong_CheckExact(given[0]) && PyDict_CheckExact(pending)
                              ? PyDict_GetItemWithError(pending, given[0])
                              : nullptr;
        if (!found || !PyTuple_Check(found) || PyTuple_GET_SIZE(found) != fields) Py_RETURN_FALSE;
        Reference kept = Reference::borrowed(found);  // pending gives it up on the way
        PyObject* round = kept.get();
        const Settling settling(round, given[0], target);
        if (!PyFloat_CheckExact(given[1]) ||
            !(std::fabs(PyFloat_AS_DOUBLE(given[1])) < largest_forecast) ||
            (content.recipe.loss && content.recipe.loss->relative &&
             !(PyFloat_AS_DOUBLE(given[1]) > 0.0)) ||
            PyTuple_GET_ITEM(round, keys_field) != Py_None)
            Py_RETURN_FALSE;
        auto* table = checked_array<const double>(PyTuple_GET_ITEM(round, table_field), 3);
        if (extent(table, 1) != 1 || extent(table, 2) != content.n) Py_RETURN_FALSE;
        Change change(content, content.version);
        Reference outcomes = new_array({1});
        data_of<double>(outcomes.array())[0] = PyFloat_AS_DOUBLE(given[1]);
        PyObject* const arguments[] = {
            PyTuple_GET_ITEM(round, table_field), PyTuple_GET_ITEM(round, confidence_field),
            PyTuple_GET_ITEM(round, values_field), outcomes.get(),
            PyTuple_GET_ITEM(round, items_field)};
        settle(content, arguments, true, lateness(round, target));
        settling.settle(outcomes.get());
        change.commit();
        Py_RETURN_TRUE;
    });
}

// A table of rounds, sorted by game and time.
struct Schedule {
    Vector<const std::int64_t> games;   // whose rounds
    Vector<const std::int64_t> start;   // the first round to predict
    Vector<const std::int64_t> stop;    // and the end
    Vector<std::int64_t> settled;       // how far in `order` the game is settled; brought up to date
    Vector<const std::int32_t> edges;   // the first row of each round, and one more at the end
    Vector<const std::int32_t> offsets; // the number of the round, counted from `base`
    Vector<const std::int32_t> ready;   // the round from which on its outcomes may be used
    Vector<const std::int32_t> order;   // the rounds of each game as they are settled: by `ready`
    Vector<const std::int32_t> places;  // the number of the round in its game, negative before these
    Vector<const std::int32_t> bins;    // the sums it is added to
    Cube<const double> forecasts;
    Matrix<double> values;
    Vector<const double> outcomes;
    Vector<const std::int32_t> items;
    Matrix<double> played;  // no rows, or what was played for each row
    Cube<double> expert_sums;
    Matrix<double> total_sums;
    std::int64_t base;

    bool fits(const Content& content) const {
        const size_t rounds = offsets.n;
        const size_t count = forecasts.layers;
        const size_t bin_count = total_sums.rows;
        bool fit = start.n == games.n && stop.n == games.n && settled.n == games.n &&
                   edges.n == rounds + 1 && ready.n == rounds && bins.n == rounds &&
                   order.n == rounds && places.n == rounds &&
                   values.rows == count &&
                   values.columns == forecasts.rows * content.value_count() &&
                   (!content.has_both() || content.games > content.items) &&
                   outcomes.n == count && items.n == count && forecasts.columns == content.n &&
                   (played.rows == 0 || (played.rows == count && played.columns == content.n)) &&
                   expert_sums.layers == bin_count && expert_sums.rows == content.sum_count() &&
                   expert_sums.columns == content.n && total_sums.columns == Sums::total_sums &&
                   content.takes(forecasts.rows) && edges[0] >= 0;
        for (size_t r = 0; fit && r < rounds; ++r)
            fit = edges[r] <= edges[r + 1] && bins[r] >= 0 &&
                  static_cast<size_t>(bins[r]) < bin_count && order[r] >= 0 &&
                  static_cast<size_t>(order[r]) < rounds && ready[order[r]] > order[r];
        fit = fit && static_cast<size_t>(edges[rounds]) <= count;
        for (size_t k = 0; fit && k < games.n; ++k)
            fit = games[k] >= 0 && static_cast<size_t>(games[k]) < content.games &&
                  settled[k] >= 0 && settled[k] <= start[k] && start[k] <= stop[k] &&
                  static_cast<size_t>(stop[k]) <= rounds;
        const double classes = static_cast<double>(forecasts.rows);
        for (size_t j = 0; fit && j < count; ++j)
            fit = items[j] >= 0 && static_cast<size_t>(items[j]) < content.items &&
                  (!content.has_classes(forecasts.rows) || outcomes[j] != outcomes[j] ||
                   (outcomes[j] >= 0.0 && outcomes[j] < classes));
        return fit;
    }

    Rows rows(const Content& content, size_t round) const {
        const auto a = static_cast<size_t>(edges[round]);
        const auto b = static_cast<size_t>(edges[round + 1]);
        const size_t cells = forecasts.rows * forecasts.columns;
        Rows rows{b - a,
                  forecasts.rows,
                  forecasts.columns,
                  forecasts.data + a * cells,
                  nullptr,
                  values.data + a * values.columns,
                  outcomes.data + a,
                  items.data + a};
        content.set_steps(rows);
        return rows;
    }

    Sums sums(size_t round) const {
        const auto bin = static_cast<size_t>(bins[round]);
        return {expert_sums.layer(bin).data, total_sums.row(bin), expert_sums.columns};
    }
};

// A view of some rows of an array, for functions in Python.
Reference view_rows(PyObject* array, size_t first, size_t count) {
    Reference slice = Reference::checked(PySlice_New(
        Reference::checked(PyLong_FromSize_t(first)).get(),
        Reference::checked(PyLong_FromSize_t(first + count)).get(), nullptr));
    return Reference::checked(PyObject_GetItem(array, slice.get()));
}

// Play games one after the other: predict each round of a game, having settled those before it whose
// outcomes may be used.
template <class Losses>
void play_schedule(const Content& content, const Schedule& schedule, const Losses& add_losses) {
    const Recipe& recipe = content.recipe;
    for (size_t k = 0; k < schedule.games.n; ++k) {
        const auto g = static_cast<size_t>(schedule.games[k]);
        auto oldest = static_cast<size_t>(schedule.settled[k]);
        const auto stop = static_cast<size_t>(schedule.stop[k]);
        for (auto r = static_cast<size_t>(schedule.start[k]); r <= stop; ++r) {
            for (; oldest < r; ++oldest) {
                const auto due = static_cast<size_t>(schedule.order[oldest]);
                if (static_cast<size_t>(schedule.ready[due]) > r) break;
                Rows rows = schedule.rows(content, due);
                [[maybe_unused]] const auto kept = add_losses(rows, due);
                const std::int32_t now = r < stop ? schedule.places[r] : schedule.places[r - 1] + 1;
                const auto late = static_cast<double>(now - schedule.places[due] - 1);
                settle_game(content, g, rows, late, schedule.sums(due).totals);
            }
            if (r == stop) break;
            Rows rows = schedule.rows(content, r);
            double* played = schedule.played.rows
                                 ? schedule.played.row(static_cast<size_t>(schedule.edges[r]))
                                 : nullptr;
            predict_game(content, g, rows, schedule.base + schedule.offsets[r], played,
                         schedule.sums(r));
            [[maybe_unused]] const auto kept = add_losses(rows, r);
            note_round(recipe, rows, schedule.sums(r));
        }
        schedule.settled[k] = static_cast<std::int64_t>(oldest);
    }
}

// play(games, start, stop, settled, edges, offsets, ready, order, places, bins, forecasts, values,
// outcomes, items, played, expert_sums, total_sums, base): see `Schedule`.
PyObject* play(PyObject* object, PyObject* const* given, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 18);
        const Content& content = content_of(object);
        check_writeable(content, given[10]);
        const Schedule schedule{
            From<Vector<const std::int64_t>>::get(given[0]),
            From<Vector<const std::int64_t>>::get(given[1]),
            From<Vector<const std::int64_t>>::get(given[2]),
            From<Vector<std::int64_t>>::get(given[3]),
            From<Vector<const std::int32_t>>::get(given[4]),
            From<Vector<const std::int32_t>>::get(given[5]),
            From<Vector<const std::int32_t>>::get(given[6]),
            From<Vector<const std::int32_t>>::get(given[7]),
            From<Vector<const std::int32_t>>::get(given[8]),
            From<Vector<const std::int32_t>>::get(given[9]),
            From<Cube<const double>>::get(given[10]),
            From<Matrix<double>>::get(given[11]),
            From<Vector<const double>>::get(given[12]),
            From<Vector<const std::int32_t>>::get(given[13]),
            From<Matrix<double>>::get(given[14]),
            From<Cube<double>>::get(given[15]),
            From<Matrix<double>>::get(given[16]),
            From<std::int64_t>::get(given[17]),
        };
        if (!content.arrays[weights] || !schedule.fits(content))
            raise(PyExc_ValueError, "the arrays of a table of rounds do not fit the mixture");
        Change change(content_of(object), content.version);
        const auto nothing = [](Rows&, size_t) { return 0; };
        const auto own = [&](Rows& rows, size_t round) {
            const auto first = static_cast<size_t>(schedule.edges[round]);
            OwnLosses found = own_losses(content, view_rows(given[10], first, rows.count).get(),
                                         view_rows(given[11], first, rows.count).get(),
                                         view_rows(given[12], first, rows.count).get());
            found.give_to(rows);
            return found;
        };
        if (content.own_loss) {
            play_schedule(content, schedule, own);
        } else if (content.in_python()) {
            play_schedule(content, schedule, nothing);
        } else {
            WithoutLock free;
            play_schedule(content, schedule, nothing);
        }
        change.commit();
        Py_RETURN_NONE;
    });
}

// join(version, names, more, target, changes, merges) -> whether there was room for experts of these names, whose
// ledger is zero: their columns are written, and the weights when they are next wanted.
PyObject* join(PyObject* object, PyObject* const* given, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 6);
        Content& content = content_of(object);
        check_attributes(given[3], given[4], given[5]);
        if (!PyList_CheckExact(given[1]) || !PyList_CheckExact(given[2]))
            raise(PyExc_TypeError, "names must be lists");
        const auto more = static_cast<size_t>(PyList_GET_SIZE(given[2]));
        if (!content.arrays[weights] || content.in_python() || content.n == 0 ||
            content.n + more > content.capacity ||
            static_cast<size_t>(PyList_GET_SIZE(given[1])) != content.n)
            Py_RETURN_FALSE;
        check_sizes(content);
        if (content.busy || !is_current(object, given[3]) ||
            content.version != From<std::int64_t>::get(given[0]))
            raise(PyExc_RuntimeError, used_from_within);
        const double even = 1.0 / static_cast<double>(content.weighed);  // beside those that are there
        for (size_t g = 0; g < content.games; ++g) {
            const Game game = content.game(g);
            fill(game.columns.weights + content.n, more, even);
            fill(game.losses + content.n, more, 0.0);
            for (size_t r = 0; r < content.hedger->rows(); ++r)
                fill(game.columns.row(r) + content.n, more, 0.0);
            for (size_t m = 0; m < Sums::mark_rows; ++m) {
                std::int64_t* row = game.marks + m * content.capacity + content.n;
                std::fill(row, row + more, -1);
            }
        }
        for (size_t r = 0; r < content.sum_count(); ++r)
            fill(content.data(expert_sums) + r * content.capacity + content.n, more, 0.0);
        const auto end = static_cast<Py_ssize_t>(content.n);
        if (PyList_SetSlice(given[1], end, end, given[2]) < 0) throw PythonError();
        change_attributes(given[3], given[4], given[5]);
        content.n += more;
        content.version = next_version();
        Py_RETURN_TRUE;
    });
}

// weigh(game): write the weights that belong to its ledger.
PyObject* weigh(PyObject* object, PyObject* const* given, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 1);
        const Content& content = content_of(object);
        const std::int64_t game = From<std::int64_t>::get(given[0]);
        if (!content.hedger || !content.arrays[weights] || game < 0 ||
            static_cast<size_t>(game) >= content.games || content.n == 0)
            raise(PyExc_ValueError, "there is no such game");
        const auto g = static_cast<size_t>(game);
        content.rule(g)->weigh(content.game(g).columns);
        Py_RETURN_NONE;
    });
}

// weigh_arrays(weights, ledgers, totals): write the weights of all games in arrays built aside.
PyObject* weigh_arrays(PyObject* object, PyObject* const* given, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 3);
        const Content& content = content_of(object);
        const auto all = From<Matrix<double>>::get(given[0]);
        const auto ledger = From<Cube<double>>::get(given[1]);
        const auto total = From<Matrix<double>>::get(given[2]);
        if (!content.hedger || ledger.layers != all.rows || total.rows != all.rows ||
            ledger.columns != all.columns || ledger.rows != content.hedger->rows() ||
            total.columns != content.hedger->totals())
            raise(PyExc_ValueError, "the arrays of a mixture must be of one size");
        const size_t n = all.columns;
        for (size_t g = 0; n > 0 && g < all.rows; ++g)
            content.rule(g)->weigh({n, n, n, all.row(g), ledger.layer(g).data, total.row(g), g});
        Py_RETURN_NONE;
    });
}

// fill_plain(table, confidence): write the plain combinations as forecasts of the first experts.
PyObject* fill_plain_columns(PyObject* object, PyObject* const* given, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 2);
        const Content& content = content_of(object);
        const auto table = From<Cube<double>>::get(given[0]);
        const auto rated = given[1] == Py_None ? Vector<const double>{nullptr, table.columns}
                                               : From<Vector<const double>>::get(given[1]);
        if (table.columns < content.include.size() || rated.n != table.columns || !table.rows)
            raise(PyExc_ValueError, "there must be a column for each plain combination");
        if (!content.takes(table.rows))
            raise(PyExc_ValueError, "the arrays of a round do not fit the mixture");
        fill_plain(table.data, table.layers, table.rows, table.columns, rated.data,
                   content.include,
                   content.of_levels() ? content.recipe.levels.data() : nullptr);
        Py_RETURN_NONE;
    });
}

// replace(version, arrays, states, target, changes, merges): take other arrays, states and attributes.
PyObject* replace(PyObject* object, PyObject* const* given, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 6);
        check_attributes(given[3], given[4], given[5]);
        Change change(object, given[3], From<std::int64_t>::get(given[0]));
        change.take(given[1], given[2]);
        change_attributes(given[3], given[4], given[5]);
        change.commit();
        Py_RETURN_NONE;
    });
}

// (rows, totals, numbers of an item, values of a row for each class).
PyObject* get_shape(PyObject* object, void*) {
    const Content& content = content_of(object);
    if (!content.hedger) Py_RETURN_NONE;
    return Py_BuildValue("(nnnn)", static_cast<Py_ssize_t>(content.hedger->rows()),
                         static_cast<Py_ssize_t>(content.hedger->totals()),
                         static_cast<Py_ssize_t>(content.item_size()),
                         static_cast<Py_ssize_t>(content.value_count()));
}

PyObject* get_version(PyObject* object, void*) {
    return PyLong_FromLongLong(content_of(object).version);
}

// An array, without the columns that nobody has.
PyObject* get_array(PyObject* object, void* which) {
    return guarded([&]() -> PyObject* {
        Content& content = content_of(object);
        const auto part = reinterpret_cast<std::intptr_t>(which);
        const Reference& array = content.arrays[part];
        if (!array) Py_RETURN_NONE;
        const bool of_experts =
            part == weights || part == ledgers || part == marks || part == expert_sums ||
            part == loss_regrets;
        if (!content.hedger) raise(PyExc_RuntimeError, "this mixture is being taken down");
        check_sizes(content);
        if (part == weights || part == totals) content.refresh();
        if (!of_experts || content.n == content.capacity)
            return Reference::borrowed(array.get()).release();
        npy_intp dims[3];
        const int axes = PyArray_NDIM(array.array());
        std::copy(PyArray_DIMS(array.array()), PyArray_DIMS(array.array()) + axes, dims);
        dims[axes - 1] = static_cast<npy_intp>(content.n);
        Reference view = Reference::checked(PyArray_New(
            &PyArray_Type, axes, dims, PyArray_TYPE(array.array()), PyArray_STRIDES(array.array()),
            PyArray_DATA(array.array()), 0, NPY_ARRAY_WRITEABLE, nullptr));
        if (PyArray_SetBaseObject(view.array(), Reference::borrowed(array.get()).release()) < 0)
            throw PythonError();
        return view.release();
    });
}

PyObject* get_states(PyObject* object, void*) {
    const Reference& states = content_of(object).states;
    if (!states) Py_RETURN_NONE;
    return Reference::borrowed(states.get()).release();
}

// The components of an automatic mixture: a tuple (components, way, alpha, guard), each component being
// (engine or None, way, gradient, the loss it learns from if that is another one, prior, knots); or (1 - alpha, power) in place of an
// engine, for relative losses.
void make_automatic(Content& content, PyObject* given) {
    PyObject *parts_given, *way;
    double alpha, trust;
    int guard;
    if (!PyArg_ParseTuple(given, "OOddp", &parts_given, &way, &alpha, &trust, &guard))
        throw PythonError();
    Reference list = Reference::checked(PySequence_Fast(parts_given, "components must be a list"));
    std::vector<Component> components;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list.get()); ++i) {
        PyObject *engine, *own_way;
        const char* slope;
        int gradient;
        double prior;
        Py_ssize_t knots;
        if (!PyArg_ParseTuple(PySequence_Fast_GET_ITEM(list.get(), i), "OOpzdn", &engine, &own_way,
                              &gradient, &slope, &prior, &knots))
            throw PythonError();
        if (knots < 1 || (knots > 1 && (!content.of_levels() || engine == Py_None ||
                                        static_cast<size_t>(knots) > content.recipe.levels.size())))
            raise(PyExc_ValueError, "there must be fewer knots than levels");
        Component component{nullptr, content.recipe, prior, static_cast<size_t>(knots)};
        component.recipe.way = From<Way>::get(own_way);
        component.recipe.gradient = gradient != 0;
        if (slope) {
            component.recipe.loss = find_loss(slope);
            component.recipe.width = 0.0;
        }
        if (PyTuple_CheckExact(engine)) {
            double keep, power;
            if (!content.recipe.loss) raise(PyExc_ValueError, "relative losses need a loss of the core");
            if (!PyArg_ParseTuple(engine, "dd", &keep, &power)) throw PythonError();
            content.relatives.push_back(std::make_unique<Relative>(keep, power));
            component.hedger = component.relative = content.relatives.back().get();
        } else if (engine != Py_None) {
            if (Py_TYPE(engine) != engine_type) raise(PyExc_TypeError, "a component needs an engine");
            component.hedger = reinterpret_cast<EngineObject*>(engine)->hedger;
            content.components.push_back(Reference::borrowed(engine));
        } else if (!components.empty() && components.back().hedger) {
            raise(PyExc_ValueError, "the plain components must come first");
        }
        components.push_back(std::move(component));
    }
    if (components.empty() || components[0].hedger)
        raise(PyExc_ValueError, "there must be a plain component");
    content.automatic =
        std::make_unique<Automatic>(std::move(components), From<Way>::get(way), alpha, trust, guard != 0);
    content.hedger = content.automatic.get();
}

// Games(hedger, loss, own_loss, way, gradient, width, even, levels, include, shared, patience): the hedger is
// an Engine, a tuple (see `make_automatic`), or whatever has `play` and `step`; the loss a name, or None with a
// function of your own; `patience` as in `Patience`.
PyObject* create(PyTypeObject* type, PyObject* arguments, PyObject*) {
    return guarded([&]() -> PyObject* {
        auto content = std::make_unique<Content>();
        PyObject *hedger, *own, *levels, *include;
        const char* loss;
        PyObject* way;
        int gradient, shared;
        Patience& patience = content->patience;
        PyObject* ladder;
        if (!PyArg_ParseTuple(arguments, "OzOOpddOOp(ddO)", &hedger, &loss, &own, &way, &gradient,
                              &content->recipe.width, &content->recipe.even, &levels, &include,
                              &shared, &patience.c, &patience.delay, &ladder))
            throw PythonError();
        Reference rungs = Reference::checked(PySequence_Fast(ladder, "a ladder must be a list"));
        for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(rungs.get()); ++i) {
            std::pair<double, double> rung;
            if (!PyArg_ParseTuple(PySequence_Fast_GET_ITEM(rungs.get(), i), "dd", &rung.first, &rung.second))
                throw PythonError();
            patience.ladder.push_back(rung);
        }
        content->recipe.way = From<Way>::get(way);
        content->recipe.gradient = gradient != 0;
        content->shared = shared != 0;
        if (loss) {
            content->recipe.loss = find_loss(loss);
            if (!content->recipe.loss) raise(PyExc_ValueError, "the core does not know this loss");
        } else {
            content->own_loss = Reference::borrowed(own);
        }
        Reference numbers = Reference::checked(PySequence_Fast(levels, "levels must be numbers"));
        for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(numbers.get()); ++i)
            content->recipe.levels.push_back(
                From<double>::get(PySequence_Fast_GET_ITEM(numbers.get(), i)));
        if (content->recipe.levels.empty()) raise(PyExc_ValueError, "there must be a level");
        content->recipe.shares.assign(content->recipe.levels.size(),
                                      1.0 / static_cast<double>(content->recipe.levels.size()));
        Reference ways = Reference::checked(PySequence_Fast(include, "include must be names"));
        for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(ways.get()); ++i)
            content->include.push_back(From<Way>::get(PySequence_Fast_GET_ITEM(ways.get(), i)));
        content->engine = Reference::borrowed(hedger);
        if (Py_TYPE(hedger) == engine_type) {
            content->hedger = reinterpret_cast<EngineObject*>(hedger)->hedger;
            if (!content->hedger->allows_for_delay()) patience = {};
        } else if (PyTuple_CheckExact(hedger)) {
            make_automatic(*content, hedger);
        } else {
            content->states = Reference::checked(PyList_New(0));
            content->own_hedger = std::make_unique<PythonHedger>(hedger, content->states.get());
            content->hedger = content->own_hedger.get();
        }
        Reference object = Reference::checked(type->tp_alloc(type, 0));
        reinterpret_cast<GamesObject*>(object.get())->content = content.release();
        return object.release();
    });
}

int traverse(PyObject* object, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(object));
    const Content* content = reinterpret_cast<GamesObject*>(object)->content;
    if (content) {
        Py_VISIT(content->engine.get());
        Py_VISIT(content->own_loss.get());
        Py_VISIT(content->states.get());
    }
    return 0;
}

int clear(PyObject* object) {
    Content* content = reinterpret_cast<GamesObject*>(object)->content;
    if (content) {
        content->hedger = nullptr;
        content->own_hedger.reset();
        content->automatic.reset();
        const Reference engine = std::move(content->engine);
        const Reference loss = std::move(content->own_loss);
        const Reference states = std::move(content->states);
    }
    return 0;
}

void destroy(PyObject* object) {
    PyObject_GC_UnTrack(object);
    PyTypeObject* type = Py_TYPE(object);
    std::unique_ptr<Content> content(reinterpret_cast<GamesObject*>(object)->content);
    content.reset();
    type->tp_free(object);
    Py_DECREF(type);
}

PyMethodDef methods[] = {
    fast("predict", predict, "Predict the rows of a round; return values, what was played, wild."),
    fast("predict_numbers", predict_numbers, "Predict from a dict of floats by name, or None."),
    fast("note", note, "Add up the losses of a round."),
    fast("update", update, "Add up the losses of a round, and learn from it."),
    fast("update_number", update_number, "Do so for a round of one number; return whether it was one."),
    fast("play", play, "Play a table of rounds."),
    fast("join", join, "Let experts join where there is room."),
    fast("weigh", weigh, "Write the weights that belong to the ledger of a game."),
    fast("weigh_arrays", weigh_arrays, "Write the weights of games in arrays built aside."),
    fast("fill_plain", fill_plain_columns, "Write the plain combinations as forecasts."),
    fast("replace", replace, "Take other arrays, all at once."),
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef attributes[parts + 4];

PyType_Slot slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(create)},
    {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(clear)},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {0, nullptr},
};

PyType_Spec spec = {"normalhedge._core.Games", sizeof(GamesObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};

}  // namespace

void add_games(PyObject* module) {
    for (std::intptr_t part = 0; part < parts; ++part)
        attributes[part] = {part_names[part], get_array, nullptr, nullptr,
                            reinterpret_cast<void*>(part)};
    attributes[parts] = {"states", get_states, nullptr, nullptr, nullptr};
    attributes[parts + 1] = {"version", get_version, nullptr, nullptr, nullptr};
    attributes[parts + 2] = {"shape", get_shape, nullptr, nullptr, nullptr};
    Reference type = Reference::checked(PyType_FromSpec(&spec));
    if (PyModule_AddObjectRef(module, "Games", type.get()) < 0) throw PythonError();
}

}  // namespace normalhedge
