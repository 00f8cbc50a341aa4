// `normalhedge._core.Turn`: the lock of a mixture.
//
// A recursive lock of Python, acquired and released without a line of Python in between: an interrupt of the
// thread never leaves the lock held.
#include "python.hpp"

#include "objects.hpp"

namespace normalhedge::python {

namespace {

PyObject* enter(PyObject* object, PyObject*) {
    auto* self = reinterpret_cast<TurnObject*>(object);
    PyObject* done = PyObject_CallMethod(self->lock, "acquire", nullptr);
    if (!done) return nullptr;
    Py_DECREF(done);
    ++self->depth;
    Py_RETURN_NONE;
}

PyObject* leave(PyObject* object, PyObject*) {
    auto* self = reinterpret_cast<TurnObject*>(object);
    --self->depth;
    PyObject* done = PyObject_CallMethod(self->lock, "release", nullptr);
    if (!done) return nullptr;
    Py_DECREF(done);
    Py_RETURN_NONE;
}

PyObject* create(PyTypeObject* type, PyObject*, PyObject*) {
    return guarded([&]() -> PyObject* {
        Reference threading = Reference::checked(PyImport_ImportModule("threading"));
        Reference lock = Reference::checked(PyObject_CallMethod(threading.get(), "RLock", nullptr));
        Reference object = Reference::checked(type->tp_alloc(type, 0));
        auto* self = reinterpret_cast<TurnObject*>(object.get());
        self->lock = lock.release();
        self->depth = 0;
        return object.release();
    });
}

void destroy(PyObject* object) {
    PyTypeObject* type = Py_TYPE(object);
    Py_XDECREF(reinterpret_cast<TurnObject*>(object)->lock);
    type->tp_free(object);
    Py_DECREF(type);
}

PyMethodDef methods[] = {
    {"__enter__", enter, METH_NOARGS, "Acquire the lock."},
    {"__exit__", leave, METH_VARARGS, "Release the lock."},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(create)},
    {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
    {Py_tp_methods, methods},
    {0, nullptr},
};

PyType_Spec spec = {"normalhedge._core.Turn", sizeof(TurnObject), 0, Py_TPFLAGS_DEFAULT, slots};

}  // namespace

PyTypeObject* turn_type = nullptr;

void add_turn(PyObject* module) {
    Reference type = Reference::checked(PyType_FromSpec(&spec));
    turn_type = reinterpret_cast<PyTypeObject*>(type.get());
    if (PyModule_AddObjectRef(module, "Turn", type.get()) < 0) throw PythonError();
    type.release();  // it lives as long as the process
}

}  // namespace normalhedge::python
