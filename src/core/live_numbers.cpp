// `Live`: the fast path for a round of one or more items, with a number for each name, or a dict of numbers by item, and
// outcomes in the same form.
#include "live.hpp"

namespace normalhedge::python::live {

namespace {

// Read a number, None as NaN; false if it is none that the fast path takes.
bool read_number(PyObject* value, double& number) {
    if (PyFloat_Check(value)) {
        number = PyFloat_AS_DOUBLE(value);
    } else if (PyLong_CheckExact(value)) {
        number = PyLong_AsDouble(value);
        if (PyErr_Occurred()) {  // it is too large
            PyErr_Clear();
            return false;
        }
    } else if (value == Py_None) {
        number = not_a_number;
    } else {
        return false;
    }
    return !(std::fabs(number) >= largest_forecast);
}

bool same_text(PyObject* a, PyObject* b) { return a == b || PyUnicode_Compare(a, b) == 0; }

// Read a dict of numbers by item, in the order of the items; some may be missing. False if the fast path is not
// applicable.
bool read_items(PyObject* items, PyObject* values, size_t step, double* numbers) {
    const Py_ssize_t count = PyTuple_GET_SIZE(items);
    PyObject *name, *value;
    Py_ssize_t place = 0, item = 0;
    for (; PyDict_Next(values, &place, &name, &value); ++item) {
        if (!PyUnicode_CheckExact(name)) return false;
        while (item < count && !same_text(PyTuple_GET_ITEM(items, item), name)) ++item;
        if (item == count || !read_number(value, numbers[static_cast<size_t>(item) * step])) return false;
    }
    return true;
}

// Read forecasts by name, of the items in a tuple or of the only one; false if the fast path is not applicable: names
// are new, or values no numbers.
bool read_forecasts(const Content& content, PyObject* items, PyObject* forecasts, Round& round) {
    const size_t n = content.n();
    std::fill(round.forecasts, round.forecasts + round.shape.count * n, not_a_number);
    PyObject *name, *value;
    Py_ssize_t place = 0;
    for (size_t i = 0; PyDict_Next(forecasts, &place, &name, &value); ++i) {
        if (!PyUnicode_CheckExact(name)) return false;
        size_t column = i;
        if (i >= n || content.names[i] != name) {
            const std::int64_t known_column = content.names.find(name);
            if (known_column < 0) return false;
            column = static_cast<size_t>(known_column);
        }
        double* numbers = round.forecasts + column;
        if (items == Py_None ? !read_number(value, *numbers)
                             : value != Py_None && !(PyDict_CheckExact(value) && read_items(items, value, n, numbers)))
            return false;
    }
    for (size_t i = 0; i < content.retired.size(); ++i)
        for (size_t j = 0; content.retired[i] && j < round.shape.count; ++j) round.forecasts[j * n + i] = not_a_number;
    return true;
}

// Whether no thread holds the lock, and no operation runs.
bool is_open(const LiveObject& self) {
    return self.content && !self.busy && reinterpret_cast<TurnObject*>(self.turn)->depth == 0;
}

bool takes_numbers(const Content& content) {
    const Rule& rule = *content.rule;
    return rule.numbers && rule.hedger && rule.include.empty() && !rule.ladder && content.n() > 0;
}

// The items of a round.
struct Items {
    Reference keys;   // a tuple of their names; None where a number is of the only item, which has none
    Reference shown;  // the same as a list
    std::vector<std::int32_t> places;
};

// Find the items of forecasts: those of the first expert that is awake. None if the fast path is not applicable.
std::optional<Items> find_items(const Content& content, PyObject* forecasts) {
    PyObject *name, *first = Py_None;
    for (Py_ssize_t place = 0; first == Py_None && PyDict_Next(forecasts, &place, &name, &first);) continue;
    if (!PyDict_CheckExact(first)) {
        if (content.items.size() == 0 || PyUnicode_GET_LENGTH(content.items[0]) != 0) return std::nullopt;
        return Items{Reference::borrowed(Py_None), Reference::borrowed(Py_None), {0}};
    }
    const Reference kept = Reference::borrowed(first);
    Items items;
    items.shown = Reference::checked(PyDict_Keys(first));
    items.keys = Reference::checked(PyList_AsTuple(items.shown.get()));
    for (Py_ssize_t j = 0; j < PyTuple_GET_SIZE(items.keys.get()); ++j) {
        PyObject* key = PyTuple_GET_ITEM(items.keys.get(), j);
        const std::int64_t known = PyUnicode_CheckExact(key) ? content.items.find(key) : -1;
        if (known < 0) return std::nullopt;
        items.places.push_back(static_cast<std::int32_t>(known));
    }
    if (items.places.empty()) return std::nullopt;
    return items;
}

// The blend as an object of Python, whose numbers are written later: none of them is shared.
class Blend {
public:
    explicit Blend(PyObject* keys) : keys_(keys) {
        if (keys == Py_None) {
            value_ = Reference::checked(PyFloat_FromDouble(0.0));
            return;
        }
        value_ = Reference::checked(PyDict_New());
        for (Py_ssize_t j = 0; j < PyTuple_GET_SIZE(keys); ++j)
            if (PyDict_SetItem(value_.get(), PyTuple_GET_ITEM(keys, j), Reference::checked(PyFloat_FromDouble(0.0)).get()) < 0)
                throw PythonError();
    }

    // Write the numbers, None for NaN. The dict has its keys: neither memory nor Python is needed.
    Reference write(const Round& round) {
        if (keys_ == Py_None) {
            if (!write_number(value_.get(), round.values[0])) return Reference::borrowed(Py_None);
        } else {
            PyObject *name, *number;
            Py_ssize_t place = 0;
            for (const double* value = round.values; PyDict_Next(value_.get(), &place, &name, &number);
                 value += round.shape.values)
                if (!write_number(number, *value) && PyDict_SetItem(value_.get(), name, Py_None) < 0) PyErr_Clear();
        }
        return std::move(value_);
    }

private:
    static bool write_number(PyObject* object, double number) {
        reinterpret_cast<PyFloatObject*>(object)->ob_fval = number;
        return number == number;
    }

    PyObject* keys_;  // borrowed
    Reference value_;
};

// Number the contexts of the cells, `name=value`, in the order of their first cells.
void number_contexts(Content& content) {
    std::vector<size_t>& numbers = content.contexts_of_cells;
    if (numbers.size() == content.cells.size()) return;
    std::vector<Reference> names;
    numbers.clear();
    for (size_t k = 0; k < content.cells.size(); ++k) {
        PyObject* cell = content.cells[k];
        const Py_ssize_t end = PyUnicode_FindChar(cell, '=', 0, PyUnicode_GET_LENGTH(cell), 1);
        Reference name = Reference::checked(PyUnicode_Substring(cell, 0, end));
        size_t number = 0;
        while (number < names.size() && PyUnicode_Compare(names[number].get(), name.get()) != 0) ++number;
        if (number == names.size()) names.push_back(std::move(name));
        numbers.push_back(number);
    }
}

// Find the cells of a context; false if the fast path is not applicable: a cell is new, or a value neither text nor a
// whole number.
bool read_cells(Content& content, PyObject* context, std::int32_t* cells) {
    if (!PyDict_CheckExact(context) || PyDict_GET_SIZE(context) == 0) return false;
    number_contexts(content);
    std::fill(cells, cells + most_contexts, -1);
    PyObject *name, *value;
    Py_ssize_t place = 0;
    while (PyDict_Next(context, &place, &name, &value)) {
        if (!PyUnicode_CheckExact(name) || !(PyUnicode_CheckExact(value) || PyLong_CheckExact(value)) ||
            PyUnicode_FindChar(name, '=', 0, PyUnicode_GET_LENGTH(name), 1) >= 0)
            return false;
        int overflow = 0;
        if (PyLong_CheckExact(value) && PyLong_AsLongLongAndOverflow(value, &overflow) == -1 && overflow) return false;
        Reference cell = Reference::checked(PyUnicode_FromFormat("%U=%S", name, value));
        const std::int64_t known = content.cells.find(cell.get());
        if (known < 0) return false;
        const size_t number = content.contexts_of_cells[static_cast<size_t>(known)];
        if (number >= most_contexts) return false;
        cells[number] = static_cast<std::int32_t>(known);
    }
    return true;
}

// predict(forecasts, context or None) -> a Prediction; None if the fast path is not applicable.
//
// All calls that can run Python, allocations that start the garbage collector included, come before the check of
// the version.
PyObject* predict(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 2);
        PyObject* const forecasts = args[0];
        const bool placed = args[1] != Py_None;
        LiveObject& self = self_of(object);
        if (!is_open(self) || !PyDict_CheckExact(forecasts) || !takes_numbers(*self.content)) Py_RETURN_NONE;
        Content& content = *self.content;
        const std::int64_t version = self.version;
        const Rule& rule = *content.rule;
        content.refresh();
        std::int32_t cells[most_contexts];
        if (placed && !read_cells(content, args[1], cells)) Py_RETURN_NONE;
        std::optional<Items> items = find_items(content, forecasts);
        if (!items) Py_RETURN_NONE;
        PyObject* const keys = items->keys.get();
        if (keys != Py_None && placed) Py_RETURN_NONE;
        const size_t rows = items->places.size();
        Reference names = content.names.shown();
        Reference result = Reference::checked(self.prediction->tp_alloc(self.prediction, 6));
        Blend blend(keys);
        Reference ticket = Reference::checked(PyLong_FromLongLong(content.next_ticket));
        Reference distribution = new_array({rows, content.n()});
        if (!is_open(self) || self.version != version) Py_RETURN_NONE;
        const RowShape shape{rows, 1, content.n(), rule.value_count(), 0, false, placed};
        RoundPointer round = std::move(content.spare_round);
        if (!round || !(round->shape == shape) || !round->id.empty()) round = std::make_shared<Round>(shape);
        std::copy(items->places.begin(), items->places.end(), round->items);
        if (placed) std::copy(cells, cells + most_contexts, round->cells);
        round->keys = Reference::borrowed(keys);
        if (!read_forecasts(content, keys, forecasts, *round)) {
            if (PyErr_Occurred()) throw PythonError();
            Py_RETURN_NONE;
        }
        PredictTransaction transaction(content, std::move(round), std::move(distribution));
        transaction.commit();
        self.version = next_version();
        PyObject* parts[] = {blend.write(transaction.round()).release(),
                             ticket.release(),
                             names.release(),
                             Reference::borrowed(transaction.played().get()).release(),
                             items->shown.release(),
                             Reference::borrowed(Py_None).release()};
        for (Py_ssize_t i = 0; i < 6; ++i) PyTuple_SET_ITEM(result.get(), i, parts[i]);
        return result.release();
    });
}

// Read the outcomes of a round, NaN where one is missing; false if the fast path is not applicable.
bool read_outcomes(const Loss& loss, PyObject* keys, PyObject* outcome, std::vector<double>& outcomes) {
    if (PyTuple_CheckExact(keys)) {
        if (!PyDict_CheckExact(outcome) || !read_items(keys, outcome, 1, outcomes.data())) return false;
    } else if (keys != Py_None || !PyFloat_CheckExact(outcome) || !read_number(outcome, outcomes[0])) {
        return false;
    }
    bool known = false;
    for (const double y : outcomes) {
        if (y != y) continue;
        known = true;
        if (!loss.takes(y)) return false;
    }
    return known;
}

// update(ticket, outcome): fast path for numbers; False if not applicable.
PyObject* update(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 2);
        LiveObject& self = self_of(object);
        if (!is_open(self) || !PyLong_CheckExact(args[0])) Py_RETURN_FALSE;
        Content& content = *self.content;
        const Rule& rule = *content.rule;
        if (rule.in_python() || !takes_numbers(content)) Py_RETURN_FALSE;
        int overflow = 0;
        const long long ticket = PyLong_AsLongLongAndOverflow(args[0], &overflow);
        const auto place = overflow ? content.pending.end() : content.pending.find(ticket);
        if (place == content.pending.end()) Py_RETURN_FALSE;
        RoundPointer round = place->second;
        std::vector<double> outcomes(round->shape.count, not_a_number);
        if (round->shape.classes != 1 || !read_outcomes(*rule.recipe.loss, round->keys.get(), args[1], outcomes))
            Py_RETURN_FALSE;
        SettleTransaction transaction(content, std::move(round), outcomes.data(), true);
        transaction.commit();
        self.version = next_version();
        Py_RETURN_TRUE;
    });
}

}  // namespace

void add_number_methods(Methods& methods) {
    methods.insert(methods.end(), {
        fast("predict", predict, "Predict from a dict of numbers, or of dicts of them: fast path, None if not applicable."),
        fast("update", update, "Learn from a number, or a dict of them: fast path, False if not applicable."),
    });
}

}  // namespace normalhedge::python::live
