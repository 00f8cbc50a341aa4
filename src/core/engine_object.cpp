// `normalhedge._core.Engine`: a compiled hedger, as Python sees it.
#include "python.hpp"

#include <limits>

#include "hedger.hpp"
#include "objects.hpp"

namespace normalhedge::python {

using namespace engine;

namespace {

// The fields of a state, in their order.
enum Field { weights_field, ledger_field, totals_field, rounds_field, joined_field, gain_field, fields };

constexpr size_t long_enough = size_t{1} << 14;  // experts x rounds, to let other threads run

// A view of the arrays of a state.
struct StateView {
    PyArrayObject* weights;
    PyArrayObject* ledger;
    PyArrayObject* totals;
    PyObject* rounds;
    PyObject* joined;

    Columns columns() const {
        const size_t n = extent(weights, 0);
        return {n, n, n, data_of<double>(weights), data_of<double>(ledger), data_of<double>(totals)};
    }
};

// `T` is double where the arrays are to be written.
template <class T>
bool view_arrays(const Hedger& hedger, PyObject* weights, PyObject* ledger, PyObject* totals,
                 StateView& view) {
    if (!is_array<T>(weights, 1) || !is_array<T>(ledger, 2) || !is_array<T>(totals, 1)) return false;
    view.weights = reinterpret_cast<PyArrayObject*>(weights);
    view.ledger = reinterpret_cast<PyArrayObject*>(ledger);
    view.totals = reinterpret_cast<PyArrayObject*>(totals);
    const size_t n = extent(view.weights, 0);
    return n > 0 && extent(view.ledger, 0) == hedger.rows() && extent(view.ledger, 1) == n &&
           extent(view.totals, 0) == hedger.totals();
}

template <class T>
bool view_state(const EngineObject* self, PyObject* state, StateView& view) {
    if (reinterpret_cast<PyObject*>(Py_TYPE(state)) != self->state_type ||
        PyTuple_GET_SIZE(state) != fields)
        return false;
    view.rounds = PyTuple_GET_ITEM(state, rounds_field);
    view.joined = PyTuple_GET_ITEM(state, joined_field);
    return PyLong_Check(view.rounds) &&
           view_arrays<T>(*self->hedger, PyTuple_GET_ITEM(state, weights_field),
                          PyTuple_GET_ITEM(state, ledger_field),
                          PyTuple_GET_ITEM(state, totals_field), view);
}

bool kind_of(int type, Gains::Kind& kind) {
    switch (type) {
        case NPY_DOUBLE: kind = Gains::Kind::float64; return true;
        case NPY_FLOAT: kind = Gains::Kind::float32; return true;
        case NPY_INT8: kind = Gains::Kind::int8; return true;
        default: return false;
    }
}

bool view_gains(PyObject* object, int dimensions, Gains::Kind& kind) {
    if (!PyArray_CheckExact(object)) return false;
    auto* array = reinterpret_cast<PyArrayObject*>(object);
    return PyArray_NDIM(array) == dimensions && kind_of(PyArray_TYPE(array), kind) &&
           PyArray_CHKFLAGS(array, NPY_ARRAY_CARRAY_RO) && PyArray_ISNOTSWAPPED(array);
}

bool overlap(PyArrayObject* array, PyArrayObject* other) {
    const char* a = PyArray_BYTES(array);
    const char* b = PyArray_BYTES(other);
    return a < b + PyArray_NBYTES(other) && b < a + PyArray_NBYTES(array);
}

bool overlaps(PyArrayObject* array, const StateView& view) {
    return overlap(array, view.weights) || overlap(array, view.ledger) ||
           overlap(array, view.totals);
}

Reference empty_like(PyArrayObject* array) {
    return Reference::checked(PyArray_SimpleNew(PyArray_NDIM(array), PyArray_DIMS(array), NPY_DOUBLE));
}

template <class Work>
auto maybe_without_lock(size_t cells, const Work& work) {
    if (cells < long_enough) return work();
    WithoutLock free;
    return work();
}

PyObject* make_state(const EngineObject* self, Reference weights, Reference ledger,
                     Reference totals, Reference rounds, PyObject* joined, double gain) {
    auto* type = reinterpret_cast<PyTypeObject*>(self->state_type);
    Reference earned = gain == gain ? Reference::checked(PyFloat_FromDouble(gain))
                                    : Reference::borrowed(Py_None);
    Reference state = Reference::checked(type->tp_alloc(type, fields));
    PyTuple_SET_ITEM(state.get(), weights_field, weights.release());
    PyTuple_SET_ITEM(state.get(), ledger_field, ledger.release());
    PyTuple_SET_ITEM(state.get(), totals_field, totals.release());
    PyTuple_SET_ITEM(state.get(), rounds_field, rounds.release());
    PyTuple_SET_ITEM(state.get(), joined_field, Reference::borrowed(joined).release());
    PyTuple_SET_ITEM(state.get(), gain_field, earned.release());
    return state.release();
}

// step(state, gains, confidence, in_place) -> the state after, or None where an argument is not in
// the form the core reads or is out of range: Python then names the argument, or converts it.
PyObject* step(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 4);
        auto* self = reinterpret_cast<EngineObject*>(object);
        const bool in_place = From<bool>::get(args[3]);
        StateView view;
        Gains::Kind kind;
        if (!(in_place ? view_state<double>(self, args[0], view)
                       : view_state<const double>(self, args[0], view)) ||
            !view_gains(args[1], 1, kind))
            Py_RETURN_NONE;
        const Columns before = view.columns();
        auto* gains = reinterpret_cast<PyArrayObject*>(args[1]);
        PyArrayObject* rated = nullptr;
        if (extent(gains, 0) != before.n || (in_place && overlaps(gains, view))) Py_RETURN_NONE;
        if (args[2] != Py_None) {
            if (!is_array<const double>(args[2], 1)) Py_RETURN_NONE;
            rated = reinterpret_cast<PyArrayObject*>(args[2]);
            if (extent(rated, 0) != before.n || (in_place && overlaps(rated, view)))
                Py_RETURN_NONE;
        }
        const std::int64_t played = From<std::int64_t>::get(view.rounds);
        if (played < 0 || played == std::numeric_limits<std::int64_t>::max()) Py_RETURN_NONE;
        Reference rounds = Reference::checked(to_python(played + 1));
        Reference weights, ledger, totals;
        Columns after = before;
        if (in_place || PyArray_SIZE(view.totals) == 0) {  // an empty array needs no copy
            totals = Reference::borrowed(reinterpret_cast<PyObject*>(view.totals));
        } else {
            totals = empty_like(view.totals);
            after.totals = data_of<double>(totals.array());
        }
        if (in_place) {
            weights = Reference::borrowed(reinterpret_cast<PyObject*>(view.weights));
            ledger = Reference::borrowed(reinterpret_cast<PyObject*>(view.ledger));
        } else {
            weights = empty_like(view.weights);
            ledger = empty_like(view.ledger);
            after.weights = data_of<double>(weights.array());
            after.ledger = data_of<double>(ledger.array());
        }
        const Gains round_gains(PyArray_DATA(gains), kind);
        const double* confidence = rated ? data_of<double>(rated) : nullptr;
        const Outcome outcome = maybe_without_lock(before.n, [&] {
            return self->hedger->step(before, after, round_gains, confidence);
        });
        if (outcome.bad) Py_RETURN_NONE;
        return make_state(self, std::move(weights), std::move(ledger), std::move(totals),
                          std::move(rounds), view.joined, outcome.gain);
    });
}

// play(state, confidence) -> the distribution, or None as for `step`. Ranges are not checked.
PyObject* play(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 2);
        auto* self = reinterpret_cast<EngineObject*>(object);
        StateView view;
        if (!view_state<const double>(self, args[0], view) || !is_array<const double>(args[1], 1))
            Py_RETURN_NONE;
        auto* rated = reinterpret_cast<PyArrayObject*>(args[1]);
        const Columns now = view.columns();
        if (extent(rated, 0) != now.n) Py_RETURN_NONE;
        Reference played = empty_like(view.weights);
        self->hedger->play(now, data_of<double>(rated), data_of<double>(played.array()));
        return played.release();
    });
}

// The columns of a state, of its arrays weights, ledger and totals.
Columns arrays_of_state(const Hedger& hedger, PyObject* const* args) {
    StateView view;
    if (!view_arrays<double>(hedger, args[0], args[1], args[2], view))
        raise(PyExc_ValueError, "these are not the arrays of a state of this hedger");
    return view.columns();
}

// weigh(weights, ledger, totals) -> ln mean Phi; writes the weights that belong to the ledger.
PyObject* weigh(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 3);
        const Hedger& hedger = *reinterpret_cast<EngineObject*>(object)->hedger;
        return PyFloat_FromDouble(hedger.weigh(arrays_of_state(hedger, args)));
    });
}

// halve(weights, ledger, totals): let all gains so far count half.
PyObject* halve(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 3);
        const Hedger& hedger = *reinterpret_cast<EngineObject*>(object)->hedger;
        hedger.rescale(arrays_of_state(hedger, args), 1);
        Py_RETURN_NONE;
    });
}

// run(weights, ledger, totals, gains, confidence, records, played) -> how many rounds were played,
// fewer than were given where one had bad input. The arrays of the state are changed; `records` gets
// the hedger's gain, the largest regret and ln mean Phi of each round, and `played`, if it is not
// None, the distributions.
PyObject* run(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 7);
        auto* self = reinterpret_cast<EngineObject*>(object);
        const Hedger& hedger = *self->hedger;
        StateView view;
        Gains::Kind kind;
        if (!view_arrays<double>(hedger, args[0], args[1], args[2], view) ||
            !view_gains(args[3], 2, kind))
            raise(PyExc_ValueError, "these are not the arrays of a game of this hedger");
        const Columns now = view.columns();
        auto* table = reinterpret_cast<PyArrayObject*>(args[3]);
        const size_t rounds = extent(table, 0);
        const auto rated = args[4] == Py_None ? Matrix<const double>{nullptr, rounds, now.n}
                                               : From<Matrix<const double>>::get(args[4]);
        const auto records = From<Matrix<double>>::get(args[5]);
        const auto played = args[6] == Py_None ? Matrix<double>{nullptr, rounds, now.n}
                                                : From<Matrix<double>>::get(args[6]);
        if (extent(table, 1) != now.n || rated.rows != rounds || rated.columns != now.n ||
            records.rows != 3 || records.columns != rounds || played.rows != rounds ||
            played.columns != now.n)
            raise(PyExc_ValueError, "the arrays of a game must be of one size");
        const Gains gains(PyArray_DATA(table), kind);
        const Records notes{records.row(0), records.row(1), records.row(2), played.data};
        const auto rounds_played = maybe_without_lock(rounds * now.n, [&] {
            return hedger.run(now, gains, rated.data, rounds, notes);
        });
        return PyLong_FromSize_t(rounds_played);
    });
}

PyObject* reduce(PyObject* object, PyObject*) {
    auto* self = reinterpret_cast<EngineObject*>(object);
    return Py_BuildValue("OO", Py_TYPE(object), self->arguments);
}

std::vector<double> doubles_of(PyObject* sequence) {
    Reference items = Reference::checked(PySequence_Fast(sequence, "settings must be a sequence"));
    std::vector<double> result;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i)
        result.push_back(From<double>::get(PySequence_Fast_GET_ITEM(items.get(), i)));
    return result;
}

// Engine(name, settings, halving, state_type)
PyObject* create(PyTypeObject* type, PyObject* arguments, PyObject*) {
    return guarded([&]() -> PyObject* {
        const char* name;
        PyObject *settings, *halving, *state_type;
        if (!PyArg_ParseTuple(arguments, "sOOO!", &name, &settings, &halving, &PyType_Type,
                              &state_type))
            throw PythonError();
        if (!PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(state_type), &PyTuple_Type))
            raise(PyExc_TypeError, "a state must be a tuple");
        std::unique_ptr<Hedger> hedger =
            make_hedger(name, doubles_of(settings), doubles_of(halving));
        if (!hedger) {
            PyErr_Format(PyExc_ValueError, "the core has no hedger %s", name);
            throw PythonError();
        }
        Reference object = Reference::checked(type->tp_alloc(type, 0));
        auto* self = reinterpret_cast<EngineObject*>(object.get());
        self->hedger = hedger.release();
        self->state_type = Reference::borrowed(state_type).release();
        self->arguments = Reference::borrowed(arguments).release();
        return object.release();
    });
}

void destroy(PyObject* object) {
    auto* self = reinterpret_cast<EngineObject*>(object);
    PyTypeObject* type = Py_TYPE(object);
    std::unique_ptr<const Hedger> hedger(self->hedger);
    Py_XDECREF(self->state_type);
    Py_XDECREF(self->arguments);
    type->tp_free(object);
    Py_DECREF(type);
}

PyObject* rows(PyObject* object, void*) {
    return PyLong_FromSize_t(reinterpret_cast<EngineObject*>(object)->hedger->rows());
}

PyObject* totals(PyObject* object, void*) {
    return PyLong_FromSize_t(reinterpret_cast<EngineObject*>(object)->hedger->totals());
}

PyMethodDef methods[] = {
    fast("step", step, "Return the state after a round, or None where an argument is not readable."),
    fast("play", play, "Return the distribution with confidences."),
    fast("weigh", weigh, "Write the weights that belong to a ledger; return ln mean Phi."),
    fast("halve", halve, "Let all gains so far count half, in place."),
    fast("run", run, "Play many rounds in place; return how many."),
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef attributes[] = {
    {"rows", rows, nullptr, "How many rows a ledger has.", nullptr},
    {"totals", totals, nullptr, "How many totals there are.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(create)},
    {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {0, nullptr},
};

PyType_Spec spec = {"normalhedge._core.Engine", sizeof(EngineObject), 0, Py_TPFLAGS_DEFAULT, slots};

}  // namespace

PyTypeObject* engine_type = nullptr;

void add_engine(PyObject* module) {
    Reference type = Reference::checked(PyType_FromSpec(&spec));
    engine_type = reinterpret_cast<PyTypeObject*>(type.get());
    if (PyModule_AddObjectRef(module, "Engine", type.get()) < 0) throw PythonError();
    type.release();  // it lives as long as the process
}

}  // namespace normalhedge::python
