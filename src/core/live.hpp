// `normalhedge._core.Live`: a mixture as one object of Python, which owns rule, state and ledger.
//
// An operation has four phases. It reads its arguments, which may run foreign code. It prepares: it allocates
// all its memory, and calls a user's loss. It checks that the version has not changed meanwhile. It commits:
// arithmetic and filing, which can neither fail nor run Python. Where Python runs in the middle of the arithmetic
// (a user's hedger), the operation works on a private copy of the state, which replaces the state in the end.
#pragma once

#include "settle.hpp"

namespace normalhedge::python::live {

using namespace mixtures;

// The next version: no two mixtures, nor two states of one, share a version.
inline std::int64_t next_version() {
    static std::int64_t last = 0;
    return ++last;
}

struct LiveObject {
    PyObject_HEAD
    Content* content;  // owned; null once the garbage collector has cleared the object
    PyObject* kept;    // a tuple of the Python objects that the rule uses
    PyObject* turn;    // the lock
    PyTypeObject* prediction;
    std::int64_t version;  // new after every change
    bool busy;             // while an operation runs, which may call functions of a user
};

inline LiveObject& self_of(PyObject* object) { return *reinterpret_cast<LiveObject*>(object); }

inline Content& content_of(PyObject* object) {
    Content* content = self_of(object).content;
    if (!content) raise(PyExc_RuntimeError, "this mixture is being taken down");
    return *content;
}

constexpr const char* used_from_within =
    "a mixture must not be used while it predicts or learns: not from within its own loss, hedger, "
    "forecasts or signal handlers";

// An operation that changes a mixture: it begins at a version, and ends with a new one.
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

    // Raise if the mixture has changed since the operation began.
    void check() const {
        if (self_of(object_.get()).version != version_) raise(PyExc_RuntimeError, used_from_within);
    }
    void commit() const noexcept { self_of(object_.get()).version = next_version(); }

private:
    Reference object_;
    std::int64_t version_;
};

// ---- Arguments.

inline std::int64_t whole(PyObject* object) { return From<std::int64_t>::get(object); }

// The references of a list or tuple of strings.
inline std::vector<Reference> strings_of(PyObject* sequence) {
    Reference list = Reference::checked(PySequence_Fast(sequence, "names must be a list"));
    std::vector<Reference> names;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list.get()); ++i) {
        PyObject* name = PySequence_Fast_GET_ITEM(list.get(), i);
        if (!PyUnicode_Check(name)) raise(PyExc_TypeError, "names must be strings");
        names.push_back(Reference::borrowed(name));
    }
    return names;
}

// Copy an array of a known size.
inline void copy_doubles(PyObject* object, int dimensions, size_t size, double* to) {
    PyArrayObject* array = checked_array<const double>(object, dimensions);
    if (static_cast<size_t>(PyArray_SIZE(array)) != size)
        raise(PyExc_ValueError, "the arrays of a round do not fit the mixture");
    if (size) std::memcpy(to, PyArray_DATA(array), size * sizeof(double));
}

// Copy the cells of the rows of a round.
inline void copy_cells(PyObject* object, size_t count, const Round& round) {
    const auto cells = From<Matrix<const std::int32_t>>::get(object);
    bool fit = cells.rows == round.shape.count && cells.columns == most_contexts;
    for (size_t i = 0; fit && i < cells.rows * cells.columns; ++i)
        fit = cells.data[i] < static_cast<std::int64_t>(count);
    if (!fit) raise(PyExc_ValueError, "the cells of a round do not fit the mixture");
    std::copy(cells.data, cells.data + cells.rows * cells.columns, round.cells);
}

inline PyObject** fields_of(PyObject* tuple, Py_ssize_t count) {
    if (!PyTuple_Check(tuple) || PyTuple_GET_SIZE(tuple) != count)
        raise(PyExc_TypeError, "the core was given a tuple without all its fields");
    return PySequence_Fast_ITEMS(tuple);
}

// A new object; `kept` keeps the Python objects of the rule alive.
inline Reference object_of(PyTypeObject* type, std::unique_ptr<Content> content, PyObject* kept,
                           PyTypeObject* prediction) {
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

inline RoundPointer pending_round(const Content& content, std::int64_t ticket) {
    const auto place = content.pending.find(ticket);
    if (place != content.pending.end()) return place->second;
    PyErr_SetObject(PyExc_KeyError, Reference::checked(PyLong_FromLongLong(ticket)).get());
    throw PythonError();
}

// The methods and attributes of the type; each file adds its own.
using Methods = std::vector<PyMethodDef>;
using Attributes = std::vector<PyGetSetDef>;

void add_number_methods(Methods& methods);
void add_round_methods(Methods& methods);
void add_expert_methods(Methods& methods);
void add_table_methods(Methods& methods);
void add_records(Methods& methods, Attributes& attributes);
void add_views(Methods& methods, Attributes& attributes);

}  // namespace normalhedge::python::live
