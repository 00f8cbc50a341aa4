// The rule of a mixture, read from the fields of `CoreSettings` in `mixtures/state/_core_settings.py`.
#pragma once

#include "rule.hpp"

namespace normalhedge::mixtures {

inline std::string text_of(PyObject* object) {
    if (object == Py_None) return {};
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(object, &size);
    if (!text) throw PythonError();
    return {text, static_cast<size_t>(size)};
}

// The components of an automatic mixture: a tuple (components, way, alpha, trust, guard, target, recalibrates), each being
// (engine or None, way, gradient, the loss it learns from if that is another one, prior, knots); or
// (1 - alpha, power) in place of an engine, for relative losses.
inline void make_automatic(Rule& rule, PyObject* tuple) {
    PyObject *parts, *way;
    double alpha, trust, target;
    int guard, corrects, recalibrates;
    QuantileStart start;
    if (!PyArg_ParseTuple(tuple, "OOddpd(ddp)p", &parts, &way, &alpha, &trust, &guard, &target, &start.alone,
                          &start.caution, &corrects, &recalibrates))
        throw PythonError();
    start.corrects = corrects != 0;
    Reference list = Reference::checked(PySequence_Fast(parts, "components must be a list"));
    std::vector<Component> components;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list.get()); ++i) {
        PyObject *engine, *own_way;
        const char* slope;
        int gradient;
        double prior;
        Py_ssize_t knots;
        if (!PyArg_ParseTuple(PySequence_Fast_GET_ITEM(list.get(), i), "OOpzdn", &engine, &own_way,
                              &gradient, &slope, &prior, &knots))
            throw PythonError();
        if (knots < 1 || (knots > 1 && (!rule.of_levels() || engine == Py_None ||
                                        static_cast<size_t>(knots) > rule.recipe.levels.size())))
            raise(PyExc_ValueError, "there must be fewer knots than levels");
        Component component{nullptr, rule.recipe, prior, static_cast<size_t>(knots)};
        component.recipe.way = From<Way>::get(own_way);
        component.recipe.gradient = gradient != 0;
        if (slope) {
            component.recipe.loss = find_loss(slope);
            component.recipe.width = 0.0;
        }
        if (PyTuple_CheckExact(engine)) {
            double keep, power;
            if (!rule.recipe.loss) raise(PyExc_ValueError, "relative losses need a loss of the core");
            if (!PyArg_ParseTuple(engine, "dd", &keep, &power)) throw PythonError();
            rule.relatives.push_back(std::make_unique<Relative>(keep, power));
            component.hedger = component.relative = rule.relatives.back().get();
        } else if (engine != Py_None) {
            if (Py_TYPE(engine) != engine_type) raise(PyExc_TypeError, "a component needs an engine");
            component.hedger = reinterpret_cast<EngineObject*>(engine)->hedger;
        } else if (!components.empty() && components.back().hedger) {
            raise(PyExc_ValueError, "the plain components must come first");
        }
        components.push_back(std::move(component));
    }
    if (components.empty() || components[0].hedger)
        raise(PyExc_ValueError, "there must be a plain component");
    rule.automatic = std::make_unique<Automatic>(std::move(components), From<Way>::get(way), alpha, trust, guard != 0,
                                                 target, start, recalibrates != 0);
    rule.hedger = rule.automatic.get();
}

inline Patience patience_of(PyObject* tuple) {
    Patience patience;
    PyObject* ladder;
    if (!PyArg_ParseTuple(tuple, "ddO", &patience.c, &patience.delay, &ladder)) throw PythonError();
    Reference rungs = Reference::checked(PySequence_Fast(ladder, "a ladder must be a list"));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(rungs.get()); ++i) {
        std::pair<double, double> rung;
        if (!PyArg_ParseTuple(PySequence_Fast_GET_ITEM(rungs.get(), i), "dd", &rung.first, &rung.second))
            throw PythonError();
        patience.ladder.push_back(rung);
    }
    return patience;
}

// The fields of `CoreSettings`, in their order.
enum Setting {
    hedger_setting, loss_setting, own_loss_setting, way_setting, gradient_setting, width_setting, even_setting,
    levels_setting, include_setting, shared_setting, patience_setting, begin_setting, numbers_setting,
    intervals_setting, interval_columns_setting, max_pending_setting, max_age_setting, history_setting,
    prediction_setting, settings
};

inline std::shared_ptr<Rule> rule_of(PyObject** fields) {
    auto rule = std::make_shared<Rule>();
    Recipe& recipe = rule->recipe;
    recipe.way = From<Way>::get(fields[way_setting]);
    recipe.gradient = From<bool>::get(fields[gradient_setting]);
    recipe.width = From<double>::get(fields[width_setting]);
    recipe.even = From<double>::get(fields[even_setting]);
    rule->shared = From<bool>::get(fields[shared_setting]);
    rule->numbers = From<bool>::get(fields[numbers_setting]);
    if (fields[loss_setting] != Py_None) {
        recipe.loss = find_loss(text_of(fields[loss_setting]).c_str());
        if (!recipe.loss) raise(PyExc_ValueError, "the core does not know this loss");
    } else {
        rule->own_loss = fields[own_loss_setting];
    }
    if (fields[begin_setting] != Py_None) rule->begin = fields[begin_setting];
    Reference levels = Reference::checked(PySequence_Fast(fields[levels_setting], "levels must be numbers"));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(levels.get()); ++i)
        recipe.levels.push_back(From<double>::get(PySequence_Fast_GET_ITEM(levels.get(), i)));
    if (recipe.levels.empty()) raise(PyExc_ValueError, "there must be a level");
    recipe.shares.assign(recipe.levels.size(), 1.0 / static_cast<double>(recipe.levels.size()));
    Reference ways = Reference::checked(PySequence_Fast(fields[include_setting], "include must be names"));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(ways.get()); ++i)
        rule->include.push_back(From<Way>::get(PySequence_Fast_GET_ITEM(ways.get(), i)));
    PyObject* hedger = fields[hedger_setting];
    if (Py_TYPE(hedger) == engine_type) {
        rule->hedger = reinterpret_cast<EngineObject*>(hedger)->hedger;
        if (rule->hedger->allows_for_delay()) rule->patience = patience_of(fields[patience_setting]);
    } else if (PyTuple_CheckExact(hedger)) {
        make_automatic(*rule, hedger);
    } else {
        rule->own_hedger = hedger;
    }
    if (fields[intervals_setting] != Py_None) {
        const auto numbers = From<Vector<const double>>::get(fields[intervals_setting]);
        const auto columns = From<Vector<const std::int64_t>>::get(fields[interval_columns_setting]);
        if (numbers.n < 4 || numbers.n % 2) raise(PyExc_ValueError, "intervals need settings, and a level");
        rule->ladder = std::make_unique<Ladder>(numbers.data, numbers.n);
        for (size_t k = 0; k < columns.n; ++k) rule->interval_columns.push_back(static_cast<size_t>(columns[k]));
        if (columns.n != rule->ladder->bases()) raise(PyExc_ValueError, "there must be a column for each base");
    }
    return rule;
}

}  // namespace normalhedge::mixtures
