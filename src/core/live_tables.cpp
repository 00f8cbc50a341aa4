// `Live`: tables of rounds.
#include "live.hpp"
#include "schedule.hpp"

namespace normalhedge::python::live {

namespace {

// A view of some rows of an array, for functions in Python.
Reference view_rows(PyObject* array, size_t first, size_t count) {
    Reference slice = Reference::checked(PySlice_New(
        Reference::checked(PyLong_FromSize_t(first)).get(),
        Reference::checked(PyLong_FromSize_t(first + count)).get(), nullptr));
    return Reference::checked(PyObject_GetItem(array, slice.get()));
}

// play(schedule): play a table of rounds. Where it fails the mixture is spoilt: play on a copy. Threads may play
// different games of it at once.
PyObject* play(PyObject* object, PyObject* args) {
    return guarded([&]() -> PyObject* {
        Content& content = content_of(object);
        if (self_of(object).busy) raise(PyExc_RuntimeError, used_from_within);
        const Rule& rule = *content.rule;
        content.refresh();
        const Schedule schedule = Schedule::of(args);
        Widened widened;  // other threads may play other games
        const Board board(rule, content.state, widened, content.states.get());
        PyObject** field = PySequence_Fast_ITEMS(args);
        if (rule.of_levels()) From<Cube<double>>::get(field[10]);  // quantiles are repaired in place
        if (!schedule.fits(board))
            raise(PyExc_ValueError, "the arrays of a table of rounds do not fit the mixture");
        const auto nothing = [](Rows&, size_t) { return 0; };
        const auto own = [&](Rows& rows, size_t round) {
            const auto first = static_cast<size_t>(schedule.edges[round]);
            OwnLosses losses = OwnLosses::call(rule, view_rows(field[10], first, rows.count).get(),
                                              view_rows(field[11], first - static_cast<size_t>(schedule.first_row), rows.count).get(),
                                              view_rows(field[12], first, rows.count).get());
            losses.give_to(rows);
            return losses;
        };
        if (rule.own_loss) {
            play_schedule(board, schedule, own);
        } else if (rule.own_hedger) {
            play_schedule(board, schedule, nothing);
        } else {
            WithoutLock free;
            play_schedule(board, schedule, nothing);
        }
        self_of(object).version = next_version();
        Py_RETURN_NONE;
    });
}

// add_sums(expert_sums, total_sums, rounds): add the sums of a table to the sums of the mixture.
PyObject* add_sums(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 3);
        const Operation operation(object, self_of(object).version);
        Content& content = content_of(object);
        const auto experts = From<Cube<const double>>::get(args[0]);
        const auto totals = From<Matrix<const double>>::get(args[1]);
        const std::int64_t rounds = whole(args[2]);
        const State& state = content.state;
        if (experts.rows != state[Axis::expert_sums] || experts.columns != content.n() ||
            totals.columns != state[Axis::total_sums] || totals.rows != experts.layers)
            raise(PyExc_ValueError, "the sums of a table do not fit the mixture");
        const Sums sums = state.sums();
        for (size_t r = 0; r < experts.rows; ++r)
            for (size_t i = 0; i < experts.columns; ++i) {
                double total = 0.0;
                for (size_t k = 0; k < experts.layers; ++k) total += experts.layer(k).row(r)[i];
                sums.experts[r * sums.stride + i] += total;
            }
        for (size_t s = 0; s < totals.columns; ++s) {
            double total = 0.0;
            for (size_t k = 0; k < totals.rows; ++k) total += totals.row(k)[s];
            if (s < Sums::regret)
                sums.totals[s] += total;
            else
                for (size_t k = 0; k < totals.rows; ++k) sums.totals[s] = larger(sums.totals[s], totals.row(k)[s]);
        }
        content.rounds = rounds;
        operation.commit();
        Py_RETURN_NONE;
    });
}

// fill_plain(table, confidence): write the plain combinations as forecasts of the first experts.
PyObject* fill_plain_columns(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 2);
        const Rule& rule = *content_of(object).rule;
        const auto table = From<Cube<double>>::get(args[0]);
        const auto rated = args[1] == Py_None ? Vector<const double>{nullptr, table.columns}
                                               : From<Vector<const double>>::get(args[1]);
        if (table.columns < rule.include.size() || rated.n != table.columns || !table.rows)
            raise(PyExc_ValueError, "there must be a column for each plain combination");
        if (!rule.takes(table.rows))
            raise(PyExc_ValueError, "the arrays of a round do not fit the mixture");
        fill_plain(table.data, table.layers, table.rows, table.columns, rated.data, rule.include,
                   rule.of_levels() ? rule.recipe.levels.data() : nullptr);
        Py_RETURN_NONE;
    });
}

}  // namespace

void add_table_methods(Methods& methods) {
    methods.insert(methods.end(), {
        {"play", play, METH_O, "Play a table of rounds."},
        fast("add_sums", add_sums, "Add the sums of a table."),
        fast("fill_plain", fill_plain_columns, "Write the plain combinations as forecasts."),
    });
}

}  // namespace normalhedge::python::live
