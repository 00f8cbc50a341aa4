// `Live`: experts, items and games that come and go.
#include "live.hpp"

namespace normalhedge::python::live {

namespace {

// join(version, names, items, cells, classes): let experts, items, cells and classes join that are not there yet.
PyObject* join(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 5);
        const Operation operation(object, whole(args[0]));
        Content& content = content_of(object);
        Growth growth;
        growth.experts = strings_of(args[1]);
        growth.items = strings_of(args[2]);
        growth.cells = strings_of(args[3]);
        growth.classes = strings_of(args[4]);
        growth.lazy = true;
        if (growth.empty()) Py_RETURN_NONE;
        const bool experts = !growth.experts.empty();
        if (!growth.items.empty()) content.refresh();
        growth.lazy = growth.items.empty();
        growth.prepare(content, false);
        operation.check();
        Reserved room(content.rule->room(growth.n(), 1, 1));
        growth.enter(content);
        growth.begin(content);
        growth.commit(content);
        if (experts) content.forget_checkpoints();
        operation.commit();
        Py_RETURN_NONE;
    });
}

// leave(version, places): let the experts at these places leave.
PyObject* leave(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 2);
        const Operation operation(object, whole(args[0]));
        Content& content = content_of(object);
        const Rule& rule = *content.rule;
        content.refresh();
        const auto places = From<Vector<const std::int64_t>>::get(args[1]);
        std::vector<char> leaves(content.n(), 0);
        for (size_t k = 0; k < places.n; ++k) {
            if (places[k] < 0 || static_cast<size_t>(places[k]) >= content.n())
                raise(PyExc_ValueError, "there is no such expert");
            leaves[static_cast<size_t>(places[k])] = 1;
        }
        auto stay = std::make_shared<std::vector<std::int32_t>>();
        std::vector<char> retired;
        for (size_t i = 0; i < content.n(); ++i) {
            if (leaves[i]) continue;
            stay->push_back(static_cast<std::int32_t>(i));
            retired.push_back(content.retired[i]);
        }
        State state = content.state.only(*stay);
        Reference states = copy_of_list(content.states);
        if (states)
            states = Reference::checked(PyObject_CallMethod(rule.begin, "shrink", "OO", states.get(), args[1]));
        if (!stay->empty()) Board(rule, state, content.widened, states.get()).renew_all();
        Names names(content.names, *stay);
        Pending pending;
        for (const auto& [ticket, round] : content.pending) pending.emplace(ticket, round->only(*stay));
        History entry;
        entry.emplace_back();
        entry.back().number = content.entries;
        entry.back().stay = stay;
        operation.check();
        std::swap(content.state, state);
        std::swap(content.states, states);
        std::swap(content.names, names);
        std::swap(content.pending, pending);
        std::swap(content.retired, retired);
        content.left += static_cast<std::int64_t>(leaves.size() - stay->size());
        content.weighed = stay->size();
        content.entries += 1;
        content.history.splice(content.history.end(), entry);
        SettleTransaction::trim(content, entry);
        content.forget_checkpoints();
        operation.commit();
        Py_RETURN_NONE;
    });
}

size_t expert_at(const Content& content, PyObject* place) {
    const std::int64_t column = whole(place);
    if (column < 0 || static_cast<size_t>(column) >= content.n())
        raise(PyExc_ValueError, "there is no such expert");
    return static_cast<size_t>(column);
}

// rename(version, place, name): give an expert another name.
PyObject* rename(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 3);
        const Operation operation(object, whole(args[0]));
        Content& content = content_of(object);
        if (!PyUnicode_Check(args[2])) raise(PyExc_TypeError, "names must be strings");
        content.names.rename(expert_at(content, args[1]), args[2]);
        operation.commit();
        Py_RETURN_NONE;
    });
}

// inherit(version, target, source): give an expert the record of another.
PyObject* inherit(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 3);
        const Operation operation(object, whole(args[0]));
        Content& content = content_of(object);
        const size_t target = expert_at(content, args[1]);
        const size_t source = expert_at(content, args[2]);
        State state(content.state);
        for (size_t g = 0; g < state[Axis::games]; ++g) {
            const Game game = state.game(g);
            game.columns.weights[target] = game.columns.weights[source];
            game.losses[target] = game.losses[source];
            for (size_t r = 0; r < state[Axis::ledger_rows]; ++r)
                game.columns.row(r)[target] = game.columns.row(r)[source];
        }
        Board(*content.rule, state, content.widened, content.states.get()).renew_all();
        std::swap(content.state, state);
        content.weighed = content.n();
        content.joined_late = content.seeded = true;
        content.forget_checkpoints();
        operation.commit();
        Py_RETURN_NONE;
    });
}

// retire(version, place): let an expert sleep for good.
PyObject* retire(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 2);
        const Operation operation(object, whole(args[0]));
        Content& content = content_of(object);
        content.retired[expert_at(content, args[1])] = 1;
        content.forget_checkpoints();
        operation.commit();
        Py_RETURN_NONE;
    });
}

// start_game(game, others): let a game begin with the mean of the ledgers, totals and weights of others.
PyObject* start_game(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 2);
        const Operation operation(object, self_of(object).version);
        Content& content = content_of(object);
        content.refresh();
        State& state = content.state;
        const auto others = From<Vector<const std::int64_t>>::get(args[1]);
        const auto is_game = [&](std::int64_t g) { return g >= 0 && static_cast<size_t>(g) < state[Axis::games]; };
        bool fit = is_game(whole(args[0])) && others.n > 0;
        for (size_t k = 0; k < others.n; ++k) fit = fit && is_game(others[k]);
        if (!fit) raise(PyExc_ValueError, "there is no such game");
        const auto g = static_cast<size_t>(whole(args[0]));
        const auto average = [&](FieldId field, size_t lines, size_t width, size_t step) {
            for (size_t line = 0; line < lines; ++line)
                for (size_t i = 0; i < width; ++i) {
                    const auto at = [&](size_t game) { return state.at(field) + (game * lines + line) * step + i; };
                    double total = 0.0;
                    for (size_t k = 0; k < others.n; ++k) total += *at(static_cast<size_t>(others[k]));
                    *at(g) = total / static_cast<double>(others.n);
                }
        };
        average(FieldId::ledgers, state[Axis::ledger_rows], content.n(), state.stride());
        average(FieldId::totals, 1, state[Axis::totals], state[Axis::totals]);
        average(FieldId::weights, 1, content.n(), state.stride());
        average(FieldId::recalibrations, state[Axis::recalibration_rows], state[Axis::classes], state.shifts(0).stride);
        const size_t features = state.features();
        average(FieldId::equation_rows, state[Axis::equation_rows], features, features);
        average(FieldId::equation_squares, state[Axis::equations] * features, features, features);
        content.board().renew(g);
        content.seeded = true;
        operation.commit();
        Py_RETURN_NONE;
    });
}

}  // namespace

void add_expert_methods(Methods& methods) {
    methods.insert(methods.end(), {
        fast("join", join, "Add experts, items, cells of contexts and classes."),
        fast("leave", leave, "Remove experts."),
        fast("rename", rename, "Give an expert another name."),
        fast("inherit", inherit, "Give an expert the record of another."),
        fast("retire", retire, "Put an expert to sleep for good."),
        fast("start_game", start_game, "Begin a game with the mean of others."),
    });
}

}  // namespace normalhedge::python::live
