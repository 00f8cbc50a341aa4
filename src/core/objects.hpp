// The types that the module offers.
#pragma once

#include "python.hpp"

#include <cstring>
#include <memory>
#include <vector>

#include "combining.hpp"
#include "hedger.hpp"

namespace normalhedge::python {

using engine::Hedger;
using mixtures::Way;

// A compiled hedger.
struct EngineObject {
    PyObject_HEAD
    const Hedger* hedger;  // owned
    PyObject* state_type;
    PyObject* arguments;  // of its constructor, for pickle
};

template <>
struct From<Way> {
    static Way get(PyObject* object) {
        const char* name = PyUnicode_AsUTF8(object);
        if (!name) throw PythonError();
        if (std::strcmp(name, "mean") == 0) return Way::mean;
        if (std::strcmp(name, "median") == 0) return Way::median;
        if (std::strcmp(name, "trimmed") == 0) return Way::trimmed;
        if (std::strcmp(name, "vote") == 0) return Way::vote;
        if (std::strcmp(name, "logarithmic") == 0) return Way::logarithmic;
        raise(PyExc_ValueError, "the core combines by mean, median, trimmed mean, vote or logarithmic pool");
    }
};

// The lock of a mixture.
struct TurnObject {
    PyObject_HEAD
    PyObject* lock;
    Py_ssize_t depth;  // of recursion; 0 if no thread holds the lock
};

extern PyTypeObject* engine_type;
extern PyTypeObject* turn_type;

void add_engine(PyObject* module);
void add_live(PyObject* module);
void add_turn(PyObject* module);
void add_functions(PyObject* module);
void add_candidates(PyObject* module);
void add_fitting(PyObject* module);
void add_latent_rounds(PyObject* module);
void add_series_models(PyObject* module);
void add_conformal(PyObject* module);
void add_routing(PyObject* module);

}  // namespace normalhedge::python
