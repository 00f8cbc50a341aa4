// `Live`: its content as attributes of Python, and changes of single fields.
#include "live.hpp"

namespace normalhedge::python::live {

namespace {

// find(name) -> the column of an expert, or -1; find_item(name) the place of an item, find_cell(name) of a cell.
PyObject* find(PyObject* object, PyObject* name) {
    return guarded([&]() -> PyObject* { return PyLong_FromLongLong(content_of(object).names.find(name)); });
}
PyObject* find_item(PyObject* object, PyObject* name) {
    return guarded([&]() -> PyObject* { return PyLong_FromLongLong(content_of(object).items.find(name)); });
}
PyObject* find_cell(PyObject* object, PyObject* name) {
    return guarded([&]() -> PyObject* { return PyLong_FromLongLong(content_of(object).cells.find(name)); });
}

PyObject* get_names(PyObject* object, void*) {
    return guarded([&]() -> PyObject* { return copy_of_list(content_of(object).names.shown()).release(); });
}
PyObject* get_items(PyObject* object, void*) {
    return guarded([&]() -> PyObject* { return copy_of_list(content_of(object).items.shown()).release(); });
}
PyObject* get_cells(PyObject* object, void*) {
    return guarded([&]() -> PyObject* { return copy_of_list(content_of(object).cells.shown()).release(); });
}

PyObject* get_classes(PyObject* object, void*) {
    return guarded([&]() -> PyObject* { return copy_of_list(content_of(object).classes.shown()).release(); });
}

PyObject* get_retired(PyObject* object, void*) {
    return guarded([&]() -> PyObject* {
        const Content& content = content_of(object);
        Reference names = Reference::checked(PyFrozenSet_New(nullptr));
        for (size_t i = 0; i < content.retired.size(); ++i)
            if (content.retired[i] && PySet_Add(names.get(), content.names[i]) < 0) throw PythonError();
        return names.release();
    });
}

// The states of a user's hedger, as a list; None otherwise.
PyObject* get_states(PyObject* object, void*) {
    return guarded([&]() -> PyObject* {
        Content& content = content_of(object);
        return content.states ? copy_of_list(content.states).release() : Reference::borrowed(Py_None).release();
    });
}

// A field of the state, without spare places, as an array of its own.
Reference field_of(const State& state, size_t f) {
    const Field& field = state_fields[f];
    npy_intp dims[4];
    for (int d = 0; d < field.dimensions; ++d) dims[d] = static_cast<npy_intp>(state[field.axes[d]]);
    Reference array =
        Reference::checked(PyArray_SimpleNew(field.dimensions, dims, field.whole ? NPY_INT64 : NPY_DOUBLE));
    state.read(f, static_cast<double*>(PyArray_DATA(array.array())));
    return array;
}

PyObject* get_field(PyObject* object, void* which) {
    return guarded([&]() -> PyObject* {
        Content& content = content_of(object);
        content.refresh();
        return field_of(content.state, static_cast<size_t>(reinterpret_cast<std::intptr_t>(which))).release();
    });
}

// assign(version, fields): write some fields of the state, all or nothing; `fields` is a dict of arrays.
PyObject* assign(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 2);
        const Operation operation(object, whole(args[0]));
        Content& content = content_of(object);
        content.refresh();
        if (!PyDict_CheckExact(args[1])) raise(PyExc_TypeError, "fields must be a dict");
        State state(content.state);
        for (size_t f = 0; f < field_count; ++f) {
            const Field& field = state_fields[f];
            PyObject* values = PyDict_GetItemString(args[1], field.name);
            if (!values) continue;
            auto* array = field.whole ? checked_array<const std::int64_t>(values, field.dimensions)
                                      : checked_array<const double>(values, field.dimensions);
            for (int d = 0; d < field.dimensions; ++d)
                if (extent(array, d) != state[field.axes[d]])
                    raise(PyExc_ValueError, "the arrays of a mixture must be of one size");
            state.write(f, static_cast<const double*>(PyArray_DATA(array)));
        }
        std::swap(content.state, state);
        operation.commit();
        Py_RETURN_NONE;
    });
}

// weigh(): write the weights that belong to the ledgers of all games.
PyObject* weigh(PyObject* object, PyObject*) {
    return guarded([&]() -> PyObject* {
        const Operation operation(object, self_of(object).version);
        Content& content = content_of(object);
        State state(content.state);
        Board(*content.rule, state, content.widened, content.states.get()).renew_all();
        std::swap(content.state, state);
        operation.commit();
        Py_RETURN_NONE;
    });
}

// The counters, by name.
struct Counter {
    const char* name;
    std::int64_t Content::*number;
};
constexpr Counter counters[] = {
    {"rounds", &Content::rounds},
    {"next_ticket", &Content::next_ticket},
    {"expired", &Content::expired},
    {"left", &Content::left},
};
struct Mark {
    const char* name;
    bool Content::*flag;
};
constexpr Mark marks[] = {
    {"joined_late", &Content::joined_late},
    {"seeded", &Content::seeded},
    {"warned", &Content::warned},
};

PyObject* get_counter(PyObject* object, void* which) {
    return guarded([&]() -> PyObject* {
        return PyLong_FromLongLong(content_of(object).*static_cast<const Counter*>(which)->number);
    });
}
int set_counter(PyObject* object, PyObject* value, void* which) {
    const Reference done(guarded([&]() -> PyObject* {
        if (!value) raise(PyExc_AttributeError, "a counter cannot be deleted");
        content_of(object).*static_cast<const Counter*>(which)->number = whole(value);
        Py_RETURN_NONE;
    }));
    return done ? 0 : -1;
}

PyObject* get_mark(PyObject* object, void* which) {
    return guarded([&]() -> PyObject* {
        return PyBool_FromLong(content_of(object).*static_cast<const Mark*>(which)->flag);
    });
}
int set_mark(PyObject* object, PyObject* value, void* which) {
    const Reference done(guarded([&]() -> PyObject* {
        if (!value) raise(PyExc_AttributeError, "a mark cannot be deleted");
        content_of(object).*static_cast<const Mark*>(which)->flag = From<bool>::get(value);
        Py_RETURN_NONE;
    }));
    return done ? 0 : -1;
}

PyObject* get_attached(PyObject* object, void*) {
    return guarded([&]() -> PyObject* {
        const Content& content = content_of(object);
        return Reference::borrowed(content.attached ? content.attached.get() : Py_None).release();
    });
}
int set_attached(PyObject* object, PyObject* value, void*) {
    const Reference done(guarded([&]() -> PyObject* {
        if (!value) raise(PyExc_AttributeError, "the attached object cannot be deleted");
        const Reference old = std::exchange(content_of(object).attached, Reference::borrowed(value));
        Py_RETURN_NONE;
    }));
    return done ? 0 : -1;
}

PyObject* get_waiting(PyObject* object, void*) {
    return guarded([&]() -> PyObject* { return PyLong_FromSize_t(content_of(object).pending.size()); });
}

// bytes_with(experts, items, cells, classes) -> the bytes of the state and its checkpoints, if so many join.
PyObject* bytes_with(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 4);
        size_t more[4];
        for (size_t k = 0; k < 4; ++k) {
            const std::int64_t number = whole(args[k]);
            if (number < 0) raise(PyExc_ValueError, "a mixture cannot have fewer than no newcomers");
            more[k] = static_cast<size_t>(number);
        }
        return PyFloat_FromDouble(content_of(object).bytes_with(more[0], more[1], more[2], more[3]));
    });
}

PyObject* get_bytes_of_rounds(PyObject* object, void*) {
    return guarded([&]() -> PyObject* { return PyLong_FromSize_t(content_of(object).bytes_of_rounds()); });
}

// The named parts of the totals and of the numbers of an item, of an automatic mixture: a dict of
// (field, first, end).
PyObject* get_parts(PyObject* object, void*) {
    return guarded([&]() -> PyObject* {
        const Rule& rule = *content_of(object).rule;
        Reference places = Reference::checked(PyDict_New());
        if (!rule.automatic) return places.release();
        for (const Part& part : rule.automatic->parts()) {
            Reference place = Reference::checked(
                Py_BuildValue("(snn)", part.of_item ? "ranges" : "totals", static_cast<Py_ssize_t>(part.first),
                              static_cast<Py_ssize_t>(part.first + part.size)));
            if (PyDict_SetItemString(places.get(), part.name, place.get()) < 0) throw PythonError();
        }
        return places.release();
    });
}

PyObject* get_version(PyObject* object, void*) { return PyLong_FromLongLong(self_of(object).version); }
PyObject* get_turn(PyObject* object, void*) { return Reference::borrowed(self_of(object).turn).release(); }
PyObject* get_value_count(PyObject* object, void*) {
    return guarded([&]() -> PyObject* { return PyLong_FromSize_t(content_of(object).rule->value_count()); });
}

// free_turn(): give a forked process a lock that no thread of its parent holds.
PyObject* free_turn(PyObject* object, PyObject*) {
    return guarded([&]() -> PyObject* {
        Reference fresh = Reference::checked(PyObject_CallNoArgs(reinterpret_cast<PyObject*>(turn_type)));
        const Reference old(std::exchange(self_of(object).turn, fresh.release()));
        self_of(object).busy = false;
        Py_RETURN_NONE;
    });
}

}  // namespace

void add_views(Methods& methods, Attributes& attributes) {
    methods.insert(methods.end(), {
        {"find", find, METH_O, "Return the column of an expert, or -1."},
        {"find_item", find_item, METH_O, "Return the place of an item, or -1."},
        {"find_cell", find_cell, METH_O, "Return the place of a cell of a context, or -1."},
        fast("assign", assign, "Write fields of the state."),
        fast("bytes_with", bytes_with, "Return the bytes of the state if some experts, items, cells and classes join."),
        {"weigh", weigh, METH_NOARGS, "Write the weights that belong to the ledgers."},
        {"free_turn", free_turn, METH_NOARGS, "Take a lock that no thread holds."},
    });
    attributes.insert(attributes.end(), {
        {"names", get_names, nullptr, nullptr, nullptr},
        {"items", get_items, nullptr, nullptr, nullptr},
        {"cells", get_cells, nullptr, nullptr, nullptr},
        {"classes", get_classes, nullptr, nullptr, nullptr},
        {"retired", get_retired, nullptr, nullptr, nullptr},
        {"states", get_states, nullptr, nullptr, nullptr},
        {"parts", get_parts, nullptr, nullptr, nullptr},
        {"version", get_version, nullptr, nullptr, nullptr},
        {"waiting", get_waiting, nullptr, nullptr, nullptr},
        {"bytes_of_rounds", get_bytes_of_rounds, nullptr, nullptr, nullptr},
        {"attached", get_attached, set_attached, nullptr, nullptr},
        {"turn", get_turn, nullptr, nullptr, nullptr},
        {"value_count", get_value_count, nullptr, nullptr, nullptr},
    });
    for (size_t f = 0; f < field_count; ++f)
        attributes.push_back({state_fields[f].name, get_field, nullptr, nullptr,
                              reinterpret_cast<void*>(static_cast<std::intptr_t>(f))});
    for (const Counter& counter : counters)
        attributes.push_back({counter.name, get_counter, set_counter, nullptr, const_cast<Counter*>(&counter)});
    for (const Mark& mark : marks)
        attributes.push_back({mark.name, get_mark, set_mark, nullptr, const_cast<Mark*>(&mark)});
}

}  // namespace normalhedge::python::live
