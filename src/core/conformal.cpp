// Functions of the module for intervals: arrays of games, one call for many rounds.
#include "python.hpp"

#include "conformal.hpp"
#include "objects.hpp"

namespace normalhedge::python {

using namespace intervals;

namespace {

using Settings = Vector<const double>;
using Numbers = Vector<const double>;
using Places = Vector<const std::int64_t>;
using Sheet = Matrix<const double>;

void require(bool fits, const char* words) {
    if (!fits) throw std::invalid_argument(words);
}

Ladder ladder_of(Settings settings) {
    require(settings.n >= 4 && settings.n % 2 == 0, "intervals need settings, and a level");
    return Ladder(settings.data, settings.n);
}

void check_places(Places which, size_t games) {
    for (size_t j = 0; j < which.n; ++j)
        require(which[j] >= 0 && static_cast<size_t>(which[j]) < games, "there is no such game");
}

// The sizes of a game, of a token and of a confidence level of a game, and the place of the confidence levels in
// a token; they come last in games and tokens.
std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t> conformal_sizes(Settings settings) {
    const Ladder ladder = ladder_of(settings);
    return {static_cast<std::int64_t>(ladder.size()), static_cast<std::int64_t>(ladder.token_size()),
            static_cast<std::int64_t>(ladder.level_size()),
            static_cast<std::int64_t>(ladder.token_levels_at())};
}

void conformal_begin(Settings settings, Matrix<double> games) {
    const Ladder ladder = ladder_of(settings);
    require(games.columns == ladder.size(), "a game of intervals is of another size");
    for (size_t g = 0; g < games.rows; ++g) begin_game(ladder, games.row(g));
}

void conformal_predict(Settings settings, Sheet games, Places which, Sheet bases, Places moments,
                       Matrix<double> bounds, Matrix<double> tokens) {
    const Ladder ladder = ladder_of(settings);
    const size_t rounds = which.n;
    require(games.columns == ladder.size() && bases.rows == rounds && bases.columns == ladder.bases() &&
                moments.n == rounds && bounds.rows == rounds &&
                bounds.columns == 2 * ladder.levels.size() && tokens.rows == rounds &&
                tokens.columns == ladder.token_size(),
            "the arrays of intervals must be of one size");
    check_places(which, games.rows);
    for (size_t j = 0; j < rounds; ++j)
        predict_interval(ladder, games.row(static_cast<size_t>(which[j])), bases.row(j),
                         phase_of(ladder, moments[j]), bounds.row(j), tokens.row(j));
}

void check_token(const Ladder& ladder, const double* token) {
    require(token[0] >= 0.0 && token[0] < static_cast<double>(ladder.season ? ladder.season : 1),
            "a token of intervals is damaged");
}

// Tokens may have further columns.
void conformal_observe(Settings settings, Matrix<double> games, Places which, Sheet tokens,
                       Numbers outcomes, Numbers late) {
    const Ladder ladder = ladder_of(settings);
    const size_t rounds = which.n;
    require(games.columns == ladder.size() && tokens.rows == rounds &&
                tokens.columns >= ladder.token_size() && outcomes.n == rounds && late.n == rounds,
            "the arrays of intervals must be of one size");
    check_places(which, games.rows);
    for (size_t j = 0; j < rounds; ++j) check_token(ladder, tokens.row(j));
    Scratch room(room_to_settle(ladder));
    for (size_t j = 0; j < rounds; ++j)
        observe_interval(ladder, games.row(static_cast<size_t>(which[j])), tokens.row(j), outcomes[j],
                         late[j], room.data());
}

// The tokens of pending rounds.
class Waiting {
public:
    Waiting(size_t rounds, size_t size) : size_(size), slots_(rounds) {}

    double* take(size_t round) {
        if (free_.empty()) {
            free_.push_back(tokens_.size());
            tokens_.emplace_back(size_);
        }
        slots_[round] = free_.back();
        free_.pop_back();
        return tokens_[slots_[round]].data();
    }

    double* of(size_t round) { return tokens_[slots_[round]].data(); }
    void give_back(size_t round) { free_.push_back(slots_[round]); }

private:
    size_t size_;
    std::vector<size_t> slots_;
    std::vector<std::vector<double>> tokens_;
    std::vector<size_t> free_;
};

// Predict the rounds of a table in their order. The outcome of round `order[i]` is known before round
// `known_at[order[i]]` is predicted; `order` is sorted by that. The first rounds, with a number in
// their game that is not negative, were predicted before. `predicted` is how many rounds of each game
// were. A round with a slot has its token in that row of `tokens`, where it stays.
void conformal_run(Settings settings, Matrix<double> games, Places which, Sheet bases, Places moments,
                   Numbers outcomes, Places known_at, Places order, Matrix<double> bounds,
                   Vector<std::int64_t> predicted, Vector<std::int64_t> number, Places slots,
                   Matrix<double> tokens) {
    const Ladder ladder = ladder_of(settings);
    const size_t rounds = which.n;
    require(games.columns == ladder.size() && bases.rows == rounds && bases.columns == ladder.bases() &&
                moments.n == rounds && outcomes.n == rounds && known_at.n == rounds &&
                order.n == rounds && bounds.rows == rounds &&
                bounds.columns == 2 * ladder.levels.size() && predicted.n == games.rows &&
                number.n == rounds && slots.n == rounds && tokens.columns == ladder.token_size(),
            "the arrays of intervals must be of one size");
    check_places(which, games.rows);
    check_places(order, rounds);
    for (size_t i = 0; i < rounds; ++i) {
        require(known_at[i] > static_cast<std::int64_t>(i), "an outcome cannot be known before its round");
        require(slots[i] < static_cast<std::int64_t>(tokens.rows) && (number[i] < 0 || slots[i] >= 0),
                "there is no such token");
        if (number[i] >= 0) check_token(ladder, tokens.row(static_cast<size_t>(slots[i])));
    }
    Waiting waiting(rounds, ladder.token_size());
    Scratch room(room_to_settle(ladder));
    size_t settled = 0;
    const auto settle = [&](size_t now) {
        for (; settled < rounds; ++settled) {
            const auto j = static_cast<size_t>(order[settled]);
            if (known_at[j] > static_cast<std::int64_t>(now)) break;
            const auto game = static_cast<size_t>(which[j]);
            const bool kept = slots[j] >= 0;
            const double* token = kept ? tokens.row(static_cast<size_t>(slots[j])) : waiting.of(j);
            observe_interval(ladder, games.row(game), token, outcomes[j],
                             static_cast<double>(predicted[game] - number[j] - 1), room.data());
            if (!kept) waiting.give_back(j);
        }
    };
    for (size_t j = 0; j < rounds; ++j) {
        settle(j);
        const auto game = static_cast<size_t>(which[j]);
        double* token = slots[j] >= 0 ? tokens.row(static_cast<size_t>(slots[j])) : waiting.take(j);
        if (number[j] >= 0) {
            for (size_t l = 0; l < ladder.levels.size(); ++l) {
                const double* interval = token + ladder.token_levels_at() + l * ladder.token_level_size();
                std::copy(interval, interval + 2, bounds.row(j) + 2 * l);
            }
            continue;
        }
        predict_interval(ladder, games.row(game), bases.row(j), phase_of(ladder, moments[j]),
                         bounds.row(j), token);
        number[j] = predicted[game]++;
    }
    settle(rounds);
}

// Whether an array holds games of this ladder, and one with this number.
template <class T>
bool is_game(const Ladder& ladder, PyObject* games, std::int64_t game) {
    if (!is_array<T>(games, 2)) return false;
    auto* array = reinterpret_cast<PyArrayObject*>(games);
    return extent(array, 1) == ladder.size() && game >= 0 &&
           static_cast<size_t>(game) < extent(array, 0);
}

double* row_of(PyObject* games, const Ladder& ladder, std::int64_t game) {
    return data_of<double>(reinterpret_cast<PyArrayObject*>(games)) +
           static_cast<size_t>(game) * ladder.size();
}

Reference row(size_t n) {
    npy_intp size = static_cast<npy_intp>(n);
    return Reference::checked(PyArray_SimpleNew(1, &size, NPY_DOUBLE));
}

// conformal_predict_one(settings, games, center, game, moment, type) -> low, high and token as a tuple of
// the type, or None if the fast path is not applicable: Python then names the bad argument, or converts it.
PyObject* conformal_predict_one(PyObject*, PyObject* const* args, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 6);
        if (!PyFloat_Check(args[2]) || !PyLong_CheckExact(args[3]) ||
            !PyLong_CheckExact(args[4]))
            Py_RETURN_NONE;
        if (!PyType_Check(args[5]) || !PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(args[5]), &PyTuple_Type))
            raise(PyExc_TypeError, "the type of an interval must be a type of tuples");
        const Ladder ladder = ladder_of(From<Settings>::get(args[0]));
        const auto game = From<std::int64_t>::get(args[3]);
        if (ladder.quantiles || !is_game<const double>(ladder, args[1], game)) Py_RETURN_NONE;
        const double center = PyFloat_AS_DOUBLE(args[2]);
        const size_t phase = phase_of(ladder, From<std::int64_t>::get(args[4]));
        const size_t levels = ladder.levels.size();
        Reference parts[] = {row(levels), row(levels), row(ladder.token_size())};
        Scratch bounds(2 * levels);
        predict_interval(ladder, row_of(args[1], ladder, game), &center, phase, bounds.data(),
                         data_of<double>(parts[2].array()));
        for (size_t l = 0; l < levels; ++l)
            for (size_t side = 0; side < 2; ++side)
                data_of<double>(parts[side].array())[l] = bounds.data()[2 * l + side];
        auto* type = reinterpret_cast<PyTypeObject*>(args[5]);
        Reference interval = Reference::checked(type->tp_alloc(type, 3));
        for (Py_ssize_t i = 0; i < 3; ++i) PyTuple_SET_ITEM(interval.get(), i, parts[i].release());
        return interval.release();
    });
}

// conformal_observe_one(settings, games, token, outcome, game, late) -> update the game in
// place: fast path, False if not applicable.
PyObject* conformal_observe_one(PyObject*, PyObject* const* args, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        check_count(count, 6);
        if (!is_array<const double>(args[2], 1) || !PyFloat_Check(args[3]) ||
            !PyLong_CheckExact(args[4]) || !PyLong_CheckExact(args[5]))
            Py_RETURN_FALSE;
        const Ladder ladder = ladder_of(From<Settings>::get(args[0]));
        const auto game = From<std::int64_t>::get(args[4]);
        const auto late = From<std::int64_t>::get(args[5]);
        auto* token = reinterpret_cast<PyArrayObject*>(args[2]);
        if (!is_game<double>(ladder, args[1], game) || extent(token, 0) != ladder.token_size() ||
            late < 0)
            Py_RETURN_FALSE;
        check_token(ladder, data_of<double>(token));
        Scratch room(room_to_settle(ladder));
        observe_interval(ladder, row_of(args[1], ladder, game), data_of<double>(token),
                         PyFloat_AS_DOUBLE(args[3]), static_cast<double>(late), room.data());
        Py_RETURN_TRUE;
    });
}

PyMethodDef functions[] = {
    fast("conformal_predict_one", conformal_predict_one, "Return the interval of a round, or None."),
    fast("conformal_observe_one", conformal_observe_one,
         "Update a game with an outcome: fast path, False if not applicable."),
    bind<conformal_sizes>("conformal_sizes",
                          "Return the sizes of a game, a token and a confidence level, and its place in a token."),
    bind<conformal_begin>("conformal_begin", "Write games before their first round."),
    bind<conformal_predict>("conformal_predict", "Write the intervals and the tokens of rounds."),
    bind<conformal_observe>("conformal_observe", "Update games with outcomes, in place."),
    bind<conformal_run>("conformal_run", "Play a table of rounds in place; write the intervals."),
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

void add_conformal(PyObject* module) {
    if (PyModule_AddFunctions(module, functions) < 0) throw PythonError();
}

}  // namespace normalhedge::python
