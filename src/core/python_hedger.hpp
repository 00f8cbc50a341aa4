// A hedger written in Python, behind the same interface: its states are kept as they are.
#pragma once

#include "python.hpp"

#include "hedger.hpp"

namespace normalhedge::python {

using engine::Gains;
using engine::Hedger;
using engine::Outcome;

// It has one row, the regrets: the regrets of its states where they have any, else the sums of the rises.
// Its memory is a list of states, one for each game. The caller holds the interpreter lock; a Python
// exception is thrown as `PythonError`.
class PythonHedger final : public Hedger {
public:
    // The caller keeps both alive.
    PythonHedger(PyObject* hedger, PyObject* states) : hedger_(hedger), states_(states) {
        const Reference alpha = attribute_of(hedger, "alpha");
        const double rate = alpha ? PyFloat_AsDouble(alpha.get()) : 0.0;
        if (PyErr_Occurred()) forgive(PyExc_TypeError);  // an alpha of another meaning
        if (rate > 0.0 && rate < 1.0) keep_ = 1.0 - rate;
    }

    // By its `alpha`, if it has one.
    double keep() const override { return keep_; }

    size_t rows() const override { return 1; }
    size_t totals() const override { return 0; }

    Outcome step(const Columns& before, const Columns& after, const Gains& gains,
                 const double* confidence, const double*) const override {
        Scratch room(before.n);
        Scratch heard(before.n);
        const double* g = gains.part(0, before.n, room.data());
        earned(before, g, confidence, heard.data());
        Reference state = Reference::checked(PyObject_CallMethod(
            hedger_, "step", "OOO", state_of(before.game), array_of(g, before.n).get(),
            rated(confidence, before.n).get()));
        take(state.get(), after, heard.data());
        Py_INCREF(state.get());
        if (PyList_SetItem(states_, static_cast<Py_ssize_t>(before.game), state.get()) < 0)
            throw PythonError();
        return {0.0, leading(after.regrets(), after.n), not_a_number, false};
    }

    void play(const Columns& now, const double* confidence, double* played) const override {
        Reference values = Reference::checked(
            PyObject_CallMethod(hedger_, "play", "OO", state_of(now.game),
                                rated(confidence, now.n).get()));
        copy_shares(values.get(), now.n, "what the hedger plays", played);
        for (size_t i = 0; i < now.n; ++i)
            if (!(confidence[i] > 0.0)) played[i] = 0.0;  // a sleeping expert has no weight
    }

    // The weights of the state.
    double weigh(const Columns& now) const override {
        Reference values =
            Reference::checked(PyObject_GetAttrString(state_of(now.game), "weights"));
        copy_shares(values.get(), now.n, "the weights of the hedger", now.weights);
        return not_a_number;
    }

    // Its memory is opaque: it goes on with gains that count half.
    void rescale(const Columns&, int) const override {}

private:
    // Clear an error of one type. Others go to the caller: a signal handler may have raised them.
    static void forgive(PyObject* type) {
        if (!PyErr_ExceptionMatches(type)) throw PythonError();
        PyErr_Clear();
    }

    // An attribute, or nothing where there is none.
    static Reference attribute_of(PyObject* object, const char* name) {
        Reference attribute(PyObject_GetAttrString(object, name));
        if (!attribute) forgive(PyExc_AttributeError);
        return attribute;
    }

    PyObject* state_of(size_t game) const {
        PyObject* state = PyList_GetItem(states_, static_cast<Py_ssize_t>(game));
        if (!state) throw PythonError();
        return state;
    }

    static Reference array_of(const double* values, size_t n) {
        npy_intp size = static_cast<npy_intp>(n);
        Reference array = Reference::checked(PyArray_SimpleNew(1, &size, NPY_DOUBLE));
        std::copy(values, values + n, data_of<double>(array.array()));
        return array;
    }

    static Reference rated(const double* confidence, size_t n) {
        return confidence ? array_of(confidence, n) : Reference::borrowed(Py_None);
    }

    static void copy(PyObject* values, size_t n, const char* what, double* to) {
        Reference array = Reference::checked(
            PyArray_FROMANY(values, NPY_DOUBLE, 1, 1, NPY_ARRAY_CARRAY_RO));
        if (extent(array.array(), 0) != n) {
            PyErr_Format(PyExc_ValueError, "%s must be %zu numbers, got %zu", what, n,
                         extent(array.array(), 0));
            throw PythonError();
        }
        const double* numbers = data_of<double>(array.array());
        std::copy(numbers, numbers + n, to);
    }

    static void copy_shares(PyObject* values, size_t n, const char* what, double* to) {
        copy(values, n, what, to);
        for (size_t i = 0; i < n; ++i) {
            if (to[i] >= 0.0 && to[i] <= 1.0 + 1e-6) continue;
            PyErr_Format(PyExc_ValueError, "%s must be numbers in [0, 1]", what);
            throw PythonError();
        }
    }

    // Write the rises of a round.
    void earned(const Columns& now, const double* gains, const double* confidence,
                double* rises) const {
        Scratch room(now.n);
        const double* played = now.weights;
        if (confidence) {
            play(now, confidence, room.data());
            played = room.data();
        }
        double gain = 0.0;
        for (size_t i = 0; i < now.n; ++i) gain += played[i] > 0.0 ? played[i] * gains[i] : 0.0;
        engine::rise(gains, confidence, now.n, gain, rises);
    }

    // Take the weights of a state, and its regrets.
    static void take(PyObject* state, const Columns& after, const double* rises) {
        Reference weights = Reference::checked(PyObject_GetAttrString(state, "weights"));
        Scratch room(after.n);
        copy_shares(weights.get(), after.n, "the weights of the hedger", room.data());
        if (const Reference regrets = attribute_of(state, "regrets"))
            copy(regrets.get(), after.n, "the regrets of the hedger", after.regrets());
        else
            engine::enter(after, after, rises, 1.0);
        std::copy(room.data(), room.data() + after.n, after.weights);
    }

    PyObject* hedger_;
    PyObject* states_;
    double keep_ = 1.0;
};

}  // namespace normalhedge::python
