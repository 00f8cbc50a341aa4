// `Live`: rounds as tuples of arrays, for files, pickles and late outcomes.
#include "live.hpp"
#include "core_settings.hpp"

#include <numeric>

namespace normalhedge::python::live {

namespace {

Reference items_array(const Round& round) {
    npy_intp size = static_cast<npy_intp>(round.shape.count);
    Reference array = Reference::checked(PyArray_SimpleNew(1, &size, NPY_INT32));
    std::copy(round.items, round.items + round.shape.count, data_of<std::int32_t>(array.array()));
    return array;
}

Reference cells_array(const Round& round) {
    npy_intp size[] = {static_cast<npy_intp>(round.shape.count), static_cast<npy_intp>(most_contexts)};
    Reference array = Reference::checked(PyArray_SimpleNew(2, size, NPY_INT32));
    std::copy(round.cells, round.cells + size[0] * size[1], data_of<std::int32_t>(array.array()));
    return array;
}

// A round as the fields of a `RoundRecord`: ticket, number, forecasts, confidence, values, items, keys, id,
// tokens, cells.
Reference record_of(const Round& round) {
    const RowShape& shape = round.shape;
    const auto optional = [](bool present, Reference array) {
        return present ? std::move(array) : Reference::borrowed(Py_None);
    };
    Reference fields[] = {
        Reference::checked(PyLong_FromLongLong(round.ticket)),
        Reference::checked(PyLong_FromLongLong(round.number)),
        new_array({shape.count, shape.classes, shape.n}, round.forecasts),
        optional(shape.rated, shape.rated ? new_array({shape.n}, round.confidence) : Reference()),
        new_array({shape.count, shape.values}, round.values),
        items_array(round),
        Reference::borrowed(round.keys.get()),
        round.id.empty() ? Reference::borrowed(Py_None)
                         : Reference::checked(PyUnicode_FromStringAndSize(
                               round.id.data(), static_cast<Py_ssize_t>(round.id.size()))),
        optional(shape.tokens > 0, shape.tokens ? new_array({shape.count, shape.tokens}, round.tokens) : Reference()),
        optional(shape.placed, shape.placed ? cells_array(round) : Reference()),
    };
    constexpr Py_ssize_t size = sizeof(fields) / sizeof(fields[0]);
    Reference record = Reference::checked(PyTuple_New(size));
    for (Py_ssize_t i = 0; i < size; ++i) PyTuple_SET_ITEM(record.get(), i, fields[i].release());
    return record;
}

RoundPointer round_of(const Content& content, PyObject* record) {
    PyObject** field = fields_of(record, 10);
    const auto table = From<Cube<const double>>::get(field[2]);
    const auto values = From<Matrix<const double>>::get(field[4]);
    const auto items = From<Vector<const std::int32_t>>::get(field[5]);
    size_t tokens = 0;
    if (field[8] != Py_None) tokens = From<Matrix<const double>>::get(field[8]).columns;
    const Rule& rule = *content.rule;
    bool fit = table.columns <= content.n() && values.rows == table.layers && items.n == table.layers &&
               values.columns == table.rows * rule.value_count() && rule.takes(table.rows) &&
               (tokens == 0 || tokens == rule.token_size());
    for (size_t j = 0; fit && j < items.n; ++j)
        fit = items[j] >= 0 && static_cast<size_t>(items[j]) < content.items.size();
    if (!fit) raise(PyExc_ValueError, "the arrays of a round do not fit the mixture");
    auto round = std::make_shared<Round>(
        RowShape{table.layers, table.rows, table.columns, values.columns, tokens, field[3] != Py_None,
                 field[9] != Py_None});
    round->ticket = whole(field[0]);
    round->number = whole(field[1]);
    copy_doubles(field[2], 3, table.layers * table.rows * table.columns, round->forecasts);
    if (round->confidence) copy_doubles(field[3], 1, table.columns, round->confidence);
    copy_doubles(field[4], 2, values.rows * values.columns, round->values);
    std::copy(items.data, items.data + items.n, round->items);
    round->keys = Reference::borrowed(field[6]);
    round->id = text_of(field[7]);
    if (tokens) copy_doubles(field[8], 2, table.layers * tokens, round->tokens);
    if (round->cells) copy_cells(field[9], content.cells.size(), *round);
    return round;
}

// tickets() -> the tickets of the pending rounds, in order.
PyObject* tickets(PyObject* object, PyObject*) {
    return guarded([&]() -> PyObject* {
        const Content& content = content_of(object);
        Reference list = Reference::checked(PyList_New(0));
        for (const auto& [ticket, round] : content.pending)
            if (PyList_Append(list.get(), Reference::checked(PyLong_FromLongLong(ticket)).get()) < 0)
                throw PythonError();
        return list.release();
    });
}

// pending_round(ticket) -> its record, or None.
PyObject* pending_record(PyObject* object, PyObject* ticket) {
    return guarded([&]() -> PyObject* {
        const Content& content = content_of(object);
        int overflow = 0;
        const long long number = PyLong_AsLongLongAndOverflow(ticket, &overflow);
        if (number == -1 && PyErr_Occurred()) throw PythonError();
        const auto place = overflow ? content.pending.end() : content.pending.find(number);
        if (place == content.pending.end()) Py_RETURN_NONE;
        const RoundPointer round = place->second;
        return record_of(*round).release();
    });
}

// replace_pending(version, tickets, records, next_ticket, expired): remove rounds, add others, and count.
PyObject* replace_pending(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 5);
        const Operation operation(object, whole(args[0]));
        Content& content = content_of(object);
        Reference gone = Reference::checked(PySequence_Fast(args[1], "tickets must be a list"));
        Reference records = Reference::checked(PySequence_Fast(args[2], "rounds must be a list"));
        Pending pending = content.pending;
        Ids ids = content.ids;
        for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(gone.get()); ++i)
            pending.erase(whole(PySequence_Fast_GET_ITEM(gone.get(), i)));
        for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(records.get()); ++i) {
            RoundPointer round = round_of(content, PySequence_Fast_GET_ITEM(records.get(), i));
            if (!round->id.empty()) ids[round->id] = round->ticket;
            pending[round->ticket] = std::move(round);
        }
        const std::int64_t next = whole(args[3]);
        const std::int64_t expired = whole(args[4]);
        operation.check();
        std::swap(content.pending, pending);
        std::swap(content.ids, ids);
        content.next_ticket = next;
        content.expired = expired;
        operation.commit();
        Py_RETURN_NONE;
    });
}

// ids() -> the tickets of the pending rounds by their ids.
PyObject* get_ids(PyObject* object, void*) {
    return guarded([&]() -> PyObject* {
        Reference tickets = Reference::checked(PyDict_New());
        for (const auto& [text, ticket] : content_of(object).ids) {
            Reference name = Reference::checked(
                PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
            Reference number = Reference::checked(PyLong_FromLongLong(ticket));
            if (PyDict_SetItem(tickets.get(), name.get(), number.get()) < 0) throw PythonError();
        }
        return tickets.release();
    });
}

// An entry of the history, with the columns of now: (record, outcomes, rounds).
Reference entry_of(const Entry& entry, const std::vector<std::int32_t>* places) {
    Reference record = record_of(places ? *entry.round->only(*places) : *entry.round);
    Reference outcomes = new_array({entry.outcomes.size()}, entry.outcomes.data());
    return Reference::checked(Py_BuildValue("(NNL)", record.release(), outcomes.release(),
                                            static_cast<long long>(entry.rounds)));
}

// history() -> (record, outcomes, rounds) of each settled round, with the columns of the present experts; None
// where experts left, which counts as an entry.
PyObject* get_history(PyObject* object, void*) {
    return guarded([&]() -> PyObject* {
        const Content& content = content_of(object);
        Reference list = Reference::checked(PyList_New(0));
        std::vector<std::int32_t> places;
        bool departed = false;
        const History entries = content.history;  // a copy: the loop may run Python
        for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
            if (entry->round) {
                if (PyList_Append(list.get(), entry_of(*entry, departed ? &places : nullptr).get()) < 0)
                    throw PythonError();
                continue;
            }
            if (PyList_Append(list.get(), Py_None) < 0) throw PythonError();
            if (!departed) {
                places.resize(content.n());
                for (size_t i = 0; i < places.size(); ++i) places[i] = static_cast<std::int32_t>(i);
            }
            std::vector<std::int32_t> before;
            for (std::int32_t place : places)
                if (static_cast<size_t>(place) < entry->stay->size())
                    before.push_back((*entry->stay)[static_cast<size_t>(place)]);
            places = std::move(before);
            departed = true;
        }
        if (PyList_Reverse(list.get()) < 0) throw PythonError();
        return list.release();
    });
}

// find_id(text) -> the ticket of the pending round with this id, or -1.
PyObject* find_id(PyObject* object, PyObject* text) {
    return guarded([&]() -> PyObject* {
        const Ids& ids = content_of(object).ids;
        const auto place = ids.find(text_of(text));
        return PyLong_FromLongLong(place == ids.end() ? -1 : place->second);
    });
}

// forget_checkpoints(): rounds so far cannot be played again.
PyObject* forget_checkpoints(PyObject* object, PyObject*) {
    return guarded([&]() -> PyObject* {
        content_of(object).forget_checkpoints();
        Py_RETURN_NONE;
    });
}

// restore(states, retired, entries, checkpoints): all of a file or a pickle but fields and pending rounds.
// `entries` are (record, outcomes, rounds), or None where experts left; `checkpoints` are (mixture, entries since).
PyObject* restore(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 4);
        const Operation operation(object, self_of(object).version);
        Content& content = content_of(object);
        Reference states;
        if (args[0] != Py_None) {
            if (!PyList_CheckExact(args[0]) || !content.states ||
                PyList_GET_SIZE(args[0]) != static_cast<Py_ssize_t>(content.state[Axis::games]))
                raise(PyExc_ValueError, "there must be a state for each game");
            states = Reference::checked(PyList_GetSlice(args[0], 0, PY_SSIZE_T_MAX));
        }
        std::vector<char> retired(content.n(), 0);
        for (const Reference& name : strings_of(args[1])) {
            const std::int64_t place = content.names.find(name.get());
            if (place < 0) raise(PyExc_ValueError, "retired experts must be among the names");
            retired[static_cast<size_t>(place)] = 1;
        }
        History history;
        std::int64_t entries = 0;
        Reference list = Reference::checked(PySequence_Fast(args[2], "entries must be a list"));
        auto everybody = std::make_shared<std::vector<std::int32_t>>(content.n());  // rounds have the columns of now
        std::iota(everybody->begin(), everybody->end(), 0);
        for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list.get()); ++i) {
            history.emplace_back();
            Entry& entry = history.back();
            PyObject* item = PySequence_Fast_GET_ITEM(list.get(), i);
            if (item == Py_None) {
                entry.stay = everybody;
                entry.number = entries++;
                continue;
            }
            PyObject** field = fields_of(item, 3);
            entry.round = round_of(content, field[0]);
            const auto known = From<Vector<const double>>::get(field[1]);
            if (known.n != entry.round->shape.count) raise(PyExc_ValueError, "the outcomes do not fit the round");
            entry.outcomes = Outcomes(known.data, known.n);
            entry.rounds = whole(field[2]);
            entry.number = entries++;
        }
        std::vector<std::shared_ptr<const Content>> checkpoints;
        Reference moments = Reference::checked(PySequence_Fast(args[3], "checkpoints must be a list"));
        for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(moments.get()); ++i) {
            PyObject** field = fields_of(PySequence_Fast_GET_ITEM(moments.get(), i), 2);
            if (Py_TYPE(field[0]) != Py_TYPE(object)) raise(PyExc_TypeError, "a checkpoint must be a mixture");
            std::unique_ptr<Content> then = copy_of(content_of(field[0]), false);
            then->rule = content.rule;
            then->entries = entries - whole(field[1]);
            checkpoints.push_back(std::move(then));
        }
        if (states) std::swap(content.states, states);
        std::swap(content.retired, retired);
        std::swap(content.history, history);
        content.entries = entries;
        content.next_checkpoint = checkpoints.empty() ? 0 : checkpoints.back()->rounds + content.stretch();
        std::swap(content.checkpoints, checkpoints);
        operation.commit();
        Py_RETURN_NONE;
    });
}

// The checkpoints, as (mixture, entries since).
PyObject* get_checkpoints(PyObject* object, void*) {
    return guarded([&]() -> PyObject* {
        const auto checkpoints = content_of(object).checkpoints;
        const std::int64_t entries = content_of(object).entries;
        Reference list = Reference::checked(PyList_New(0));
        for (const auto& then : checkpoints) {
            Reference other = object_of(Py_TYPE(object), copy_of(*then, false), self_of(object).kept,
                                        self_of(object).prediction);
            Reference pair = Reference::checked(Py_BuildValue(
                "(NL)", other.release(), static_cast<long long>(entries - then->entries)));
            if (PyList_Append(list.get(), pair.get()) < 0) throw PythonError();
        }
        return list.release();
    });
}

}  // namespace

void add_records(Methods& methods, Attributes& attributes) {
    methods.insert(methods.end(), {
        {"tickets", tickets, METH_NOARGS, "Return the tickets of the pending rounds."},
        {"pending_round", pending_record, METH_O, "Return the record of a pending round, or None."},
        fast("replace_pending", replace_pending, "Remove pending rounds, and add others."),
        {"find_id", find_id, METH_O, "Return the ticket of a pending round by its id, or -1."},
        {"forget_checkpoints", forget_checkpoints, METH_NOARGS, "Rounds so far cannot be played again."},
        fast("restore", restore, "Restore all of a file but fields and pending rounds."),
    });
    attributes.insert(attributes.end(), {
        {"ids", get_ids, nullptr, nullptr, nullptr},
        {"history", get_history, nullptr, nullptr, nullptr},
        {"checkpoints", get_checkpoints, nullptr, nullptr, nullptr},
    });
}

}  // namespace normalhedge::python::live
