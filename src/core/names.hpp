// Names of experts or items, with an index.
#pragma once

#include "python.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace normalhedge::mixtures {

using namespace python;

// Names by their places, and places by their names.
class Names {
public:
    size_t size() const { return list_.size(); }
    PyObject* operator[](size_t place) const { return list_[place].get(); }

    // The place of a name, or -1. An argument that is no string may run foreign code.
    std::int64_t find(PyObject* name) const {
        PyObject* place = index_ ? PyDict_GetItemWithError(index_.get(), name) : nullptr;
        if (place) return PyLong_AsLongLong(place);
        if (PyErr_Occurred()) throw PythonError();
        return -1;
    }

    // A list for Python; it is replaced, never changed.
    Reference shown() const {
        if (!shown_) {
            Reference list = Reference::checked(PyList_New(static_cast<Py_ssize_t>(list_.size())));
            for (size_t k = 0; k < list_.size(); ++k)
                PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(k),
                                Reference::borrowed(list_[k].get()).release());
            shown_ = std::move(list);
        }
        return Reference::borrowed(shown_.get());
    }

    Names() = default;
    Names(Names&&) = default;
    Names& operator=(Names&&) = default;

    // Some of the names of another.
    Names(const Names& other, const std::vector<std::int32_t>& places) {
        Addition all;
        for (std::int32_t place : places)
            all.names.push_back(Reference::borrowed(other[static_cast<size_t>(place)]));
        add(std::move(all));
    }
    Names(const Names& other, size_t count) {
        Addition all;
        for (size_t k = 0; k < count; ++k) all.names.push_back(Reference::borrowed(other[k]));
        add(std::move(all));
    }

    // Names that are added, all or nothing: they are in the index until the end of the operation, and stay
    // there if it commits.
    struct Addition {
        std::vector<Reference> names;
        Names* to = nullptr;

        Addition() = default;
        Addition(Addition&&) = default;
        ~Addition() {
            if (!to) return;
            PyObject *kind, *value, *trace;
            PyErr_Fetch(&kind, &value, &trace);
            for (const Reference& name : names)
                if (PyDict_DelItem(to->index_.get(), name.get()) < 0) PyErr_Clear();
            PyErr_Restore(kind, value, trace);
        }

        // Enter the names into the index: the last step that can fail.
        void enter(Names& target) {
            if (names.empty()) return;
            if (!target.index_) target.index_ = Reference::checked(PyDict_New());
            target.list_.reserve(target.list_.size() + names.size() > target.list_.capacity()
                                     ? 2 * (target.list_.size() + names.size())
                                     : 0);
            to = &target;
            std::int64_t place = static_cast<std::int64_t>(target.size());
            for (const Reference& name : names) {
                Reference number = Reference::checked(PyLong_FromLongLong(place++));
                if (PyDict_SetItem(target.index_.get(), name.get(), number.get()) < 0)
                    throw PythonError();
            }
        }
        Reference commit() noexcept {
            if (!to) return {};
            for (Reference& name : names) to->list_.push_back(std::move(name));
            Reference old = std::move(to->shown_);
            to = nullptr;
            names.clear();
            return old;
        }
    };

    void add(Addition&& addition) {
        addition.enter(*this);
        addition.commit();
    }

    void rename(size_t place, PyObject* name) {
        Reference number = Reference::checked(PyLong_FromSize_t(place));
        if (PyDict_SetItem(index_.get(), name, number.get()) < 0) throw PythonError();
        Reference old = std::exchange(list_[place], Reference::borrowed(name));
        if (PyDict_DelItem(index_.get(), old.get()) < 0) PyErr_Clear();
        shown_ = Reference();
    }

private:
    std::vector<Reference> list_;
    Reference index_;  // a dict
    mutable Reference shown_;
};

}  // namespace normalhedge::mixtures
