// `normalhedge._core.Live`: the type object.
#include "live.hpp"

#include "core_settings.hpp"

namespace normalhedge::python {

namespace live {

namespace {

// Live(settings): a mixture without experts; `settings` is a `CoreSettings`.
PyObject* create(PyTypeObject* type, PyObject* arguments, PyObject*) {
    return guarded([&]() -> PyObject* {
        if (PyTuple_GET_SIZE(arguments) != 1) raise(PyExc_TypeError, "a mixture needs its settings");
        PyObject* kept = PyTuple_GET_ITEM(arguments, 0);
        PyObject** args = fields_of(kept, settings);
        PyObject* prediction = args[prediction_setting];
        if (!PyType_Check(prediction) ||
            !PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(prediction), &PyTuple_Type))
            raise(PyExc_TypeError, "a prediction must be a kind of tuple");
        auto content = std::make_unique<Content>();
        content->rule = rule_of(args);
        content->limits = {whole(args[max_pending_setting]),
                           args[max_age_setting] == Py_None ? -1 : whole(args[max_age_setting]),
                           whole(args[history_setting])};
        content->state = State(content->rule->shape(0, 0, 0, 0));
        if (content->rule->own_hedger) {
            content->states = Reference::checked(PyList_New(0));
            for (size_t g = 0; g < content->state[Axis::games]; ++g)
                if (PyList_Append(content->states.get(), Py_None) < 0) throw PythonError();
        }
        return object_of(type, std::move(content), kept, reinterpret_cast<PyTypeObject*>(prediction)).release();
    });
}

int traverse(PyObject* object, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self_of(object).kept);
    Py_VISIT(self_of(object).turn);
    const Content* content = self_of(object).content;
    if (content) {
        Py_VISIT(content->states.get());
        Py_VISIT(content->attached.get());
    }
    return 0;
}

int clear(PyObject* object) {
    LiveObject& self = self_of(object);
    const std::unique_ptr<Content> content(std::exchange(self.content, nullptr));
    const Reference kept(std::exchange(self.kept, nullptr));
    return 0;
}

void destroy(PyObject* object) {
    PyObject_GC_UnTrack(object);
    PyTypeObject* type = Py_TYPE(object);
    clear(object);
    Py_CLEAR(self_of(object).turn);
    type->tp_free(object);
    Py_DECREF(type);
}

// scratch_overflows() -> how often a change needed more memory than it had reserved.
PyObject* scratch_overflows(PyObject*, PyObject*) { return PyLong_FromLong(Arena::overflows); }

PyMethodDef functions[] = {
    {"scratch_overflows", scratch_overflows, METH_NOARGS, "Return how often a change had reserved too little."},
    {nullptr, nullptr, 0, nullptr},
};

// The tables of the type.
struct Tables {
    Methods methods;
    Attributes attributes;

    Tables() {
        add_number_methods(methods);
        add_round_methods(methods);
        add_expert_methods(methods);
        add_table_methods(methods);
        add_records(methods, attributes);
        add_views(methods, attributes);
        methods.push_back({nullptr, nullptr, 0, nullptr});
        attributes.push_back({nullptr, nullptr, nullptr, nullptr, nullptr});
    }
};

Reference make_type() {
    static Tables& tables = *new Tables;  // never freed: threads may use the type while the process exits
    PyType_Slot slots[] = {
        {Py_tp_new, reinterpret_cast<void*>(create)},
        {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
        {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
        {Py_tp_clear, reinterpret_cast<void*>(clear)},
        {Py_tp_methods, tables.methods.data()},
        {Py_tp_getset, tables.attributes.data()},
        {0, nullptr},
    };
    PyType_Spec spec = {"normalhedge._core.Live", sizeof(LiveObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                        slots};
    return Reference::checked(PyType_FromSpec(&spec));
}

Reference field_names() {
    Reference names = Reference::checked(PyTuple_New(static_cast<Py_ssize_t>(field_count)));
    for (size_t f = 0; f < field_count; ++f)
        PyTuple_SET_ITEM(names.get(), static_cast<Py_ssize_t>(f),
                         Reference::checked(PyUnicode_FromString(state_fields[f].name)).release());
    return names;
}

}  // namespace

}  // namespace live

void add_live(PyObject* module) {
    const mixtures::Correction& steady = mixtures::corrections[mixtures::steady_correction];
    const std::pair<const char*, double> constants[] = {
        {"CORRECTIONS", mixtures::correction_count}, {"CONTEXTS", mixtures::most_contexts},
        {"CORRECTED_BY_CONTEXTS", mixtures::corrected_by_contexts},
        {"QUANTILE_CORRECTIONS", mixtures::quantile_correction_count},
        {"COMMON_FEATURES", mixtures::common_features}, {"STEADY_CORRECTION", mixtures::steady_correction}, {"STEADY_EQUATIONS", steady.equations},
        {"MOST_STACKED", mixtures::most_stacked}, {"STEADY_RIDGE", steady.ridge},
    };
    for (const auto& [name, value] : constants)
        if (PyModule_AddIntConstant(module, name, static_cast<long>(value)) < 0) throw PythonError();
    const Reference trust = Reference::checked(PyFloat_FromDouble(mixtures::Members::trust_in_base));
    if (PyModule_AddObjectRef(module, "TRUST_IN_BASE", trust.get()) < 0) throw PythonError();
    if (PyModule_AddObjectRef(module, "STATE_FIELDS", live::field_names().get()) < 0 ||
        PyModule_AddObjectRef(module, "Live", live::make_type().get()) < 0 ||
        PyModule_AddFunctions(module, live::functions) < 0)
        throw PythonError();
}

}  // namespace normalhedge::python
