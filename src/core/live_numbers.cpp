// `Live`: the fast path for a round of one item, with a number for each name and a number as its outcome.
#include "live.hpp"

namespace normalhedge::python::live {

namespace {

// Read forecasts by name; false if the fast path is not applicable: names are new, or values no numbers.
bool read_numbers(const Content& content, PyObject* forecasts, double* numbers) {
    const size_t n = content.n();
    std::fill(numbers, numbers + n, not_a_number);
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

// Whether no thread holds the lock, and no operation runs.
bool is_open(const LiveObject& self) {
    return self.content && !self.busy && reinterpret_cast<TurnObject*>(self.turn)->depth == 0;
}

bool takes_numbers(const Content& content) {
    const Rule& rule = *content.rule;
    return rule.numbers && rule.hedger && rule.include.empty() && !rule.ladder && content.n() > 0 &&
           content.items.size() > 0 && PyUnicode_GET_LENGTH(content.items[0]) == 0;
}

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
        Reference names = content.names.shown();
        Reference result = Reference::checked(self.prediction->tp_alloc(self.prediction, 6));
        Reference value = Reference::checked(PyFloat_FromDouble(0.0));
        Reference ticket = Reference::checked(PyLong_FromLongLong(content.next_ticket));
        Reference distribution = new_array({1, content.n()});
        if (!is_open(self) || self.version != version) Py_RETURN_NONE;
        const RowShape shape{1, 1, content.n(), rule.value_count(), 0, false, placed};
        RoundPointer round = std::move(content.spare_round);
        if (!round || !(round->shape == shape) || !round->id.empty()) round = std::make_shared<Round>(shape);
        round->items[0] = 0;
        if (placed) std::copy(cells, cells + most_contexts, round->cells);
        round->keys = Reference::borrowed(Py_None);
        if (!read_numbers(content, forecasts, round->forecasts)) {
            if (PyErr_Occurred()) throw PythonError();
            Py_RETURN_NONE;
        }
        PredictTransaction transaction(content, std::move(round), std::move(distribution));
        transaction.commit();
        self.version = next_version();
        const double blend = transaction.round().values[0];
        reinterpret_cast<PyFloatObject*>(value.get())->ob_fval = blend;
        PyObject* parts[] = {blend == blend ? value.release() : Reference::borrowed(Py_None).release(),
                             ticket.release(),
                             names.release(),
                             Reference::borrowed(transaction.played().get()).release(),
                             Reference::borrowed(Py_None).release(),
                             Reference::borrowed(Py_None).release()};
        for (Py_ssize_t i = 0; i < 6; ++i) PyTuple_SET_ITEM(result.get(), i, parts[i]);
        return result.release();
    });
}

// update(ticket, outcome): fast path for one number; False if not applicable.
PyObject* update(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 2);
        LiveObject& self = self_of(object);
        if (!is_open(self) || !PyLong_CheckExact(args[0]) || !PyFloat_CheckExact(args[1])) Py_RETURN_FALSE;
        Content& content = *self.content;
        const Rule& rule = *content.rule;
        const double outcome = PyFloat_AS_DOUBLE(args[1]);
        if (rule.in_python() || !takes_numbers(content) || !(std::fabs(outcome) < largest_forecast) ||
            !rule.recipe.loss->takes(outcome))
            Py_RETURN_FALSE;
        int overflow = 0;
        const long long ticket = PyLong_AsLongLongAndOverflow(args[0], &overflow);
        const auto place = overflow ? content.pending.end() : content.pending.find(ticket);
        if (place == content.pending.end()) Py_RETURN_FALSE;
        RoundPointer round = place->second;
        if (round->keys.get() != Py_None || round->shape.classes != 1) Py_RETURN_FALSE;
        SettleTransaction transaction(content, std::move(round), &outcome, true);
        transaction.commit();
        self.version = next_version();
        Py_RETURN_TRUE;
    });
}

}  // namespace

void add_number_methods(Methods& methods) {
    methods.insert(methods.end(), {
        fast("predict", predict, "Predict from a dict of numbers by name: fast path, None if not applicable."),
        fast("update", update, "Learn from a number: fast path, False if not applicable."),
    });
}

}  // namespace normalhedge::python::live
