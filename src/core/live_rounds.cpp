// `Live`: rounds of any form, and rounds that are played again.
#include "live.hpp"
#include "core_settings.hpp"

namespace normalhedge::python::live {

namespace {

// predict_rows(round) -> (ticket, values, distribution, bounds or None); `round` is a `RoundInput`: version,
// forecasts, confidence, keys, items, new names, id, cells, new cells, new classes. The caller has replaced forecasts of experts
// asleep by NaN.
PyObject* predict_rows(PyObject* object, PyObject* input) {
    return guarded([&]() -> PyObject* {
        PyObject** field = fields_of(input, 10);
        const Operation operation(object, whole(field[0]));
        Content& content = content_of(object);
        const Rule& rule = *content.rule;
        const auto table = From<Cube<const double>>::get(field[1]);
        Growth growth;
        growth.experts = strings_of(field[5]);
        growth.cells = strings_of(field[8]);
        growth.classes = strings_of(field[9]);
        const std::vector<Reference> items = strings_of(field[4]);
        const size_t n = content.n() + growth.experts.size();
        if (table.columns != n || n == 0 || items.size() != table.layers || !rule.takes(table.rows))
            raise(PyExc_ValueError, "the arrays of a round do not fit the mixture");
        auto round = std::make_shared<Round>(RowShape{table.layers, table.rows, n,
                                                      table.rows * rule.value_count(), rule.token_size(),
                                                      field[2] != Py_None, field[7] != Py_None});
        copy_doubles(field[1], 3, table.layers * table.rows * n, round->forecasts);
        if (round->confidence) copy_doubles(field[2], 1, n, round->confidence);
        round->keys = Reference::borrowed(field[3]);
        round->id = text_of(field[6]);
        if (round->cells) copy_cells(field[7], content.cells.size() + growth.cells.size(), *round);
        PredictTransaction transaction(content, std::move(round), std::move(growth), items);
        Reference ticket = Reference::checked(PyLong_FromLongLong(content.next_ticket));
        Reference values = new_array({table.layers, table.rows});
        Reference result = Reference::checked(PyTuple_New(4));
        operation.check();
        transaction.commit();
        operation.commit();
        const Round& made = transaction.round();
        for (size_t j = 0; j < table.layers; ++j)
            std::copy(made.values + j * made.shape.values, made.values + j * made.shape.values + table.rows,
                      data_of<double>(values.array()) + j * table.rows);
        PyObject* bounds = transaction.bounds() ? transaction.bounds().get() : Py_None;
        PyTuple_SET_ITEM(result.get(), 0, ticket.release());
        PyTuple_SET_ITEM(result.get(), 1, values.release());
        PyTuple_SET_ITEM(result.get(), 2, Reference::borrowed(transaction.played().get()).release());
        PyTuple_SET_ITEM(result.get(), 3, Reference::borrowed(bounds).release());
        return result.release();
    });
}

// The outcomes of a round; a class must be one of the classes of the forecasts.
const double* outcomes_of(const Rule& rule, const Round& round, PyObject* array) {
    const auto known = From<Vector<const double>>::get(array);
    bool fit = known.n == round.shape.count;
    const double classes = static_cast<double>(round.shape.classes);
    for (size_t j = 0; fit && rule.has_classes(round.shape.classes) && j < known.n; ++j)
        fit = known[j] != known[j] || (known[j] >= 0.0 && known[j] < classes);
    if (!fit) raise(PyExc_ValueError, "the outcomes do not fit the round");
    return known.data;
}

void settle_pending(PyObject* object, PyObject* const* args, bool file) {
    const Operation operation(object, whole(args[0]));
    Content& content = content_of(object);
    RoundPointer round = pending_round(content, whole(args[1]));
    const double* outcomes = outcomes_of(*content.rule, *round, args[2]);
    SettleTransaction transaction(content, std::move(round), outcomes, file);
    operation.check();
    transaction.commit();
    operation.commit();
}

// settle(version, ticket, outcomes): learn from the outcomes of a pending round.
PyObject* settle(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 3);
        settle_pending(object, args, true);
        Py_RETURN_NONE;
    });
}

// note(version, ticket, outcomes): add the losses of a pending round to the sums.
PyObject* note(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 3);
        settle_pending(object, args, false);
        Py_RETURN_NONE;
    });
}

// Replace the content.
void take(PyObject* object, std::unique_ptr<Content> content) {
    const std::unique_ptr<Content> old(std::exchange(self_of(object).content, content.release()));
}

// A mixture at a checkpoint, with the history before it and the present names.
std::unique_ptr<Content> at_checkpoint(const Content& from, const Content& then) {
    auto to = copy_of(then, false);
    to->names = Names(from.names, then.names.size());
    to->attached = Reference::borrowed(from.attached.get());
    to->warned = from.warned;
    to->history = from.history;
    while (!to->history.empty() && to->history.back().number >= then.entries) to->history.pop_back();
    to->checkpoints = from.checkpoints;
    while (!to->checkpoints.empty() && to->checkpoints.back()->rounds > then.rounds) to->checkpoints.pop_back();
    to->next_checkpoint = then.rounds + from.stretch();
    return to;
}

// Predict a round again, as it was forecast.
void predict_again(Content& content, const Content& now, const Round& round) {
    content.rounds = round.number;
    content.next_ticket = round.ticket;
    Growth growth;
    for (size_t k = content.names.size(); k < round.shape.n; ++k)
        growth.experts.push_back(Reference::borrowed(now.names[k]));
    std::int32_t cells = 0;
    for (size_t i = 0; round.cells && i < round.shape.count * most_contexts; ++i)
        cells = std::max(cells, round.cells[i] + 1);
    for (auto k = content.cells.size(); k < static_cast<size_t>(cells); ++k)
        growth.cells.push_back(Reference::borrowed(now.cells[k]));
    const size_t classes = std::min(round.shape.classes, now.classes.size());
    for (size_t k = content.classes.size(); content.rule->has_classes(classes) && k < classes; ++k)
        growth.classes.push_back(Reference::borrowed(now.classes[k]));
    std::vector<Reference> items;
    for (size_t j = 0; j < round.shape.count; ++j)
        items.push_back(Reference::borrowed(now.items[static_cast<size_t>(round.items[j])]));
    PredictTransaction transaction(content, std::make_shared<Round>(round), std::move(growth), items);
    transaction.commit();
}

// The rounds settled since a checkpoint; none if the history lacks some of them.
std::vector<const Entry*> entries_since(const Content& content, const Content& then) {
    std::vector<const Entry*> entries;
    if (content.history.empty() || content.history.front().number > then.entries) return entries;
    for (const Entry& entry : content.history)
        if (entry.number >= then.entries && entry.round) entries.push_back(&entry);
    return entries;
}

// Let other threads run after a round of many forecasts: replaying a history of these takes long, and the mixture is
// busy meanwhile.
void pause_after(const Round& round) {
    constexpr size_t many = 500;
    if (round.shape.n * round.shape.count >= many) const WithoutLock others;
}

// correct(version, ticket, outcomes) -> whether the round was settled after a checkpoint that is kept: then
// the rounds since are played again, with other outcomes of this one.
PyObject* correct(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 3);
        const Operation operation(object, whole(args[0]));
        Content& content = content_of(object);
        const std::int64_t ticket = whole(args[1]);
        for (auto place = content.checkpoints.rbegin(); place != content.checkpoints.rend(); ++place) {
            const auto checkpoint = *place;
            const Content& then = *checkpoint;
            const std::vector<const Entry*> entries = entries_since(content, then);
            const auto wrong = std::find_if(entries.begin(), entries.end(), [&](const Entry* entry) {
                return entry->round->ticket == ticket;
            });
            if (wrong == entries.end() || content.expired != then.expired) continue;
            const double* right = outcomes_of(*content.rule, *(*wrong)->round, args[2]);
            std::map<std::int64_t, RoundPointer> coming;  // by their numbers
            const auto add = [&](const RoundPointer& round) {
                if (round->number >= then.rounds) coming.emplace(round->number, round);
            };
            for (const Entry* entry : entries) add(entry->round);
            for (const auto& [number, round] : content.pending) add(round);
            std::unique_ptr<Content> again = at_checkpoint(content, then);
            const auto predict_until = [&](std::int64_t rounds) {
                for (; !coming.empty() && coming.begin()->first < rounds; coming.erase(coming.begin())) {
                    predict_again(*again, content, *coming.begin()->second);
                    pause_after(*coming.begin()->second);
                }
            };
            for (const Entry* entry : entries) {
                predict_until(entry->rounds);
                again->rounds = entry->rounds;
                const double* outcomes = entry == *wrong ? right : entry->outcomes.data();
                SettleTransaction transaction(*again, pending_round(*again, entry->round->ticket), outcomes, true);
                transaction.commit();
                pause_after(*entry->round);
            }
            predict_until(content.rounds);
            again->rounds = content.rounds;
            again->next_ticket = content.next_ticket;
            again->ids = content.ids;
            operation.check();
            take(object, std::move(again));
            operation.commit();
            Py_RETURN_TRUE;
        }
        Py_RETURN_FALSE;
    });
}

// copy(history) -> a mixture that shares its rule and rounds with this one, which do not change, and nothing else.
PyObject* copy(PyObject* object, PyObject* history) {
    return guarded([&]() -> PyObject* {
        std::unique_ptr<Content> content = copy_of(content_of(object), From<bool>::get(history));
        return object_of(Py_TYPE(object), std::move(content), self_of(object).kept, self_of(object).prediction)
            .release();
    });
}

// take_over(version, other): exchange contents with another mixture, which is thrown away.
PyObject* take_over(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 2);
        if (Py_TYPE(args[1]) != Py_TYPE(object)) raise(PyExc_TypeError, "a mixture takes over a mixture");
        const Operation operation(object, whole(args[0]));
        content_of(args[1]);
        LiveObject& self = self_of(object);
        LiveObject& other = self_of(args[1]);
        std::swap(self.content, other.content);
        std::swap(self.kept, other.kept);
        operation.commit();
        other.version = next_version();
        Py_RETURN_NONE;
    });
}

}  // namespace

void add_round_methods(Methods& methods) {
    methods.insert(methods.end(), {
        {"predict_rows", predict_rows, METH_O, "Predict a round of any form."},
        fast("settle", settle, "Learn from the outcomes of a pending round."),
        fast("note", note, "Add the losses of a pending round to the sums."),
        fast("correct", correct, "Correct the outcomes of a round and replay the rounds since; False if not possible."),
        {"copy", copy, METH_O, "Return a copy, with or without the history."},
        fast("take_over", take_over, "Exchange contents with another mixture."),
    });
}

}  // namespace normalhedge::python::live
