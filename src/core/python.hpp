// Between Python and C++: arrays as views, functions bound by their types.
//
// NumPy's C API and METH_FASTCALL, for a call with three arrays costs 0.1 us so, and 0.6 us through
// nanobind: with ten experts more than the arithmetic.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL normalhedge_array_api
#ifndef NORMALHEDGE_MODULE
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#include <cstdint>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace normalhedge::python {

using std::size_t;

// A Python exception is set already.
struct PythonError : std::exception {};

[[noreturn]] inline void raise(PyObject* kind, const char* words) {
    PyErr_SetString(kind, words);
    throw PythonError();
}

// An owned reference.
class Reference {
public:
    Reference() = default;
    explicit Reference(PyObject* owned) : object_(owned) {}
    Reference(Reference&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    Reference& operator=(Reference&& other) noexcept {
        PyObject* old = std::exchange(object_, std::exchange(other.object_, nullptr));
        Py_XDECREF(old);
        return *this;
    }
    Reference(const Reference&) = delete;
    Reference& operator=(const Reference&) = delete;
    ~Reference() { Py_XDECREF(object_); }

    // The result of a function of Python; throws where it is null.
    static Reference checked(PyObject* owned) {
        if (!owned) throw PythonError();
        return Reference(owned);
    }
    static Reference borrowed(PyObject* object) {
        Py_XINCREF(object);
        return Reference(object);
    }

    PyObject* get() const { return object_; }
    PyObject* release() { return std::exchange(object_, nullptr); }
    PyArrayObject* array() const { return reinterpret_cast<PyArrayObject*>(object_); }
    explicit operator bool() const { return object_ != nullptr; }

private:
    PyObject* object_ = nullptr;
};

// Arrays, in rows without gaps.
template <class T>
struct Vector {
    T* data;
    size_t n;

    T& operator[](size_t i) const { return data[i]; }
};

template <class T>
struct Matrix {
    T* data;
    size_t rows;
    size_t columns;

    T* row(size_t i) const { return data + i * columns; }
};

template <class T>
struct Cube {
    T* data;
    size_t layers;
    size_t rows;
    size_t columns;

    Matrix<T> layer(size_t i) const { return {data + i * rows * columns, rows, columns}; }
};

template <class T>
constexpr int type_number() {
    using Plain = std::remove_const_t<T>;
    if constexpr (std::is_same_v<Plain, double>) return NPY_DOUBLE;
    if constexpr (std::is_same_v<Plain, std::int64_t>) return NPY_INT64;
    if constexpr (std::is_same_v<Plain, std::int32_t>) return NPY_INT32;
    if constexpr (std::is_same_v<Plain, std::int16_t>) return NPY_INT16;
    if constexpr (std::is_same_v<Plain, std::int8_t>) return NPY_INT8;
    if constexpr (std::is_same_v<Plain, bool>) return NPY_BOOL;
}

// Whether an object is an array of these dimensions that can be read, or written, as it lies.
template <class T>
bool is_array(PyObject* object, int dimensions) {
    if (!PyArray_CheckExact(object)) return false;
    auto* array = reinterpret_cast<PyArrayObject*>(object);
    constexpr int needed = std::is_const_v<T> ? NPY_ARRAY_CARRAY_RO : NPY_ARRAY_CARRAY;
    return PyArray_NDIM(array) == dimensions && PyArray_TYPE(array) == type_number<T>() &&
           PyArray_CHKFLAGS(array, needed) && PyArray_ISNOTSWAPPED(array);
}

template <class T>
PyArrayObject* checked_array(PyObject* object, int dimensions) {
    if (!is_array<T>(object, dimensions))
        raise(PyExc_TypeError, "the core was given an array of another kind than it reads");
    return reinterpret_cast<PyArrayObject*>(object);
}

template <class T>
T* data_of(PyArrayObject* array) {
    return static_cast<T*>(PyArray_DATA(array));
}

inline size_t extent(PyArrayObject* array, int axis) {
    return static_cast<size_t>(PyArray_DIM(array, axis));
}

// A new array of doubles with these numbers; uninitialised without any.
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

// Conversions from Python, by the type of the result.
template <class T>
struct From;

template <>
struct From<double> {
    // It runs no foreign code, which might change the arrays that were converted already.
    static double get(PyObject* object) {
        if (!PyFloat_Check(object) && !PyLong_Check(object) && !PyArray_IsScalar(object, Number))
            raise(PyExc_TypeError, "the core was given something else than a number");
        const double value = PyFloat_Check(object) ? PyFloat_AS_DOUBLE(object) : PyFloat_AsDouble(object);
        if (value == -1.0 && PyErr_Occurred()) throw PythonError();
        return value;
    }
};

template <>
struct From<std::int64_t> {
    static std::int64_t get(PyObject* object) {
        if (!PyLong_Check(object) && !PyArray_IsScalar(object, Integer))
            raise(PyExc_TypeError, "the core was given something else than a whole number");
        const long long value = PyLong_AsLongLong(object);
        if (value == -1 && PyErr_Occurred()) throw PythonError();
        return value;
    }
};

template <>
struct From<bool> {
    static bool get(PyObject* object) {
        const int value = PyObject_IsTrue(object);
        if (value < 0) throw PythonError();
        return value != 0;
    }
};

template <class T>
struct From<Vector<T>> {
    static Vector<T> get(PyObject* object) {
        PyArrayObject* array = checked_array<T>(object, 1);
        return {data_of<T>(array), extent(array, 0)};
    }
};

template <class T>
struct From<Matrix<T>> {
    static Matrix<T> get(PyObject* object) {
        PyArrayObject* array = checked_array<T>(object, 2);
        return {data_of<T>(array), extent(array, 0), extent(array, 1)};
    }
};

template <class T>
struct From<Cube<T>> {
    static Cube<T> get(PyObject* object) {
        PyArrayObject* array = checked_array<T>(object, 3);
        return {data_of<T>(array), extent(array, 0), extent(array, 1), extent(array, 2)};
    }
};

// None, or something.
template <class T>
struct From<std::optional<T>> {
    static std::optional<T> get(PyObject* object) {
        if (object == Py_None) return std::nullopt;
        return From<T>::get(object);
    }
};

// To Python.
inline PyObject* to_python(double value) { return PyFloat_FromDouble(value); }
inline PyObject* to_python(std::int64_t value) { return PyLong_FromLongLong(value); }
inline PyObject* to_python(bool value) { return PyBool_FromLong(value); }

template <class... Parts>
PyObject* to_python(const std::tuple<Parts...>& parts) {
    Reference result = Reference::checked(PyTuple_New(sizeof...(Parts)));
    Py_ssize_t place = 0;
    std::apply(
        [&](const auto&... part) {
            (PyTuple_SET_ITEM(result.get(), place++,
                              Reference::checked(to_python(part)).release()), ...);
        },
        parts);
    return result.release();
}

// Run a function that may throw, as the body of a method of Python.
template <class Work>
PyObject* guarded(const Work& work) noexcept {
    try {
        return work();
    } catch (const PythonError&) {
    } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
    } catch (const std::exception& error) {
        PyErr_SetString(PyExc_ValueError, error.what());
    }
    return nullptr;
}

// Releases the interpreter lock: other threads may run while this one computes.
class WithoutLock {
public:
    WithoutLock() : kept_(PyEval_SaveThread()) {}
    WithoutLock(const WithoutLock&) = delete;
    WithoutLock& operator=(const WithoutLock&) = delete;
    ~WithoutLock() { PyEval_RestoreThread(kept_); }

private:
    PyThreadState* kept_;
};

inline void check_count(Py_ssize_t count, Py_ssize_t wanted) {
    if (count == wanted) return;
    PyErr_Format(PyExc_TypeError, "this function of the core takes %zd arguments, got %zd", wanted,
                 count);
    throw PythonError();
}

template <class Function>
struct Bound;

template <class Result, class... Arguments>
struct Bound<Result (*)(Arguments...)> {
    template <Result (*function)(Arguments...), size_t... I>
    static PyObject* call(PyObject* const* args, std::index_sequence<I...>) {
        std::tuple<std::decay_t<Arguments>...> converted{
            From<std::decay_t<Arguments>>::get(args[I])...};
        if constexpr (std::is_void_v<Result>) {
            {
                WithoutLock free;
                function(std::get<I>(converted)...);
            }
            Py_RETURN_NONE;
        } else {
            const Result result = [&] {
                WithoutLock free;
                return function(std::get<I>(converted)...);
            }();
            return to_python(result);
        }
    }

    template <Result (*function)(Arguments...)>
    static PyObject* method(PyObject*, PyObject* const* args, Py_ssize_t count) {
        return guarded([&] {
            check_count(count, sizeof...(Arguments));
            return call<function>(args, std::index_sequence_for<Arguments...>{});
        });
    }
};

// A method that is given its arguments as an array.
using FastMethod = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t);

inline PyMethodDef fast(const char* name, FastMethod method, const char* words) {
    return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(method)), METH_FASTCALL,
            words};
}

// A function of C++ as a method of the module; the lock of the interpreter is released.
template <auto function>
PyMethodDef bind(const char* name, const char* words) {
    return fast(name, Bound<decltype(function)>::template method<function>, words);
}

}  // namespace normalhedge::python
