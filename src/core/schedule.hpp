// A table of rounds, played game by game.
#pragma once

#include "rule.hpp"

namespace normalhedge::mixtures {

// Rounds sorted by game and time; the fields of `Schedule` in `mixtures/state/_core_settings.py`, in their order.
struct Schedule {
    Vector<const std::int64_t> games;   // whose rounds
    Vector<const std::int64_t> start;   // the first round to predict
    Vector<const std::int64_t> stop;    // and the end
    Vector<std::int64_t> settled;       // how far in `order` the game is settled; brought up to date
    Vector<const std::int32_t> edges;   // the first row of each round, and one more at the end
    Vector<const std::int32_t> offsets; // the number of the round, counted from `base`
    Vector<const std::int32_t> ready;   // the round from which on its outcomes may be used
    Vector<const std::int32_t> order;   // the rounds of each game as they are settled: by `ready`
    Vector<const std::int32_t> places;  // the number of the round in its game, negative before these
    Vector<const std::int32_t> bins;    // the sums it is added to
    Cube<const double> forecasts;
    Matrix<double> values;  // of the rows from `first_row` on, as far as they are played now
    Vector<const double> outcomes;
    Vector<const std::int32_t> items;
    Matrix<double> played;  // no rows, or the distribution of each row
    Cube<double> expert_sums;
    Matrix<double> total_sums;
    std::int64_t base;
    Matrix<const std::int32_t> cells;  // no rows, or the cells of each row
    std::int64_t first_row;

    static constexpr Py_ssize_t fields = 20;

    // Of a tuple.
    static Schedule of(PyObject* tuple) {
        if (!PyTuple_Check(tuple) || PyTuple_GET_SIZE(tuple) != fields)
            raise(PyExc_TypeError, "a schedule must be a tuple of all its fields");
        PyObject** field = PySequence_Fast_ITEMS(tuple);
        return {
            From<Vector<const std::int64_t>>::get(field[0]),
            From<Vector<const std::int64_t>>::get(field[1]),
            From<Vector<const std::int64_t>>::get(field[2]),
            From<Vector<std::int64_t>>::get(field[3]),
            From<Vector<const std::int32_t>>::get(field[4]),
            From<Vector<const std::int32_t>>::get(field[5]),
            From<Vector<const std::int32_t>>::get(field[6]),
            From<Vector<const std::int32_t>>::get(field[7]),
            From<Vector<const std::int32_t>>::get(field[8]),
            From<Vector<const std::int32_t>>::get(field[9]),
            From<Cube<const double>>::get(field[10]),
            From<Matrix<double>>::get(field[11]),
            From<Vector<const double>>::get(field[12]),
            From<Vector<const std::int32_t>>::get(field[13]),
            From<Matrix<double>>::get(field[14]),
            From<Cube<double>>::get(field[15]),
            From<Matrix<double>>::get(field[16]),
            From<std::int64_t>::get(field[17]),
            From<Matrix<const std::int32_t>>::get(field[18]),
            From<std::int64_t>::get(field[19]),
        };
    }

    bool fits(const Board& board) const {
        const Rule& rule = board.rule;
        const State& state = board.state;
        const size_t n = state[Axis::experts];
        const size_t rounds = offsets.n;
        const size_t count = forecasts.layers;
        const size_t bin_count = total_sums.rows;
        const auto first = static_cast<size_t>(first_row);
        bool fit = start.n == games.n && stop.n == games.n && settled.n == games.n &&
                   edges.n == rounds + 1 && ready.n == rounds && bins.n == rounds &&
                   order.n == rounds && places.n == rounds && first_row >= 0 && first <= count &&
                   values.rows <= count - first &&
                   values.columns == forecasts.rows * rule.value_count() && outcomes.n == count &&
                   items.n == count && forecasts.columns == n &&
                   (played.rows == 0 || (played.rows == count && played.columns == n)) &&
                   expert_sums.layers == bin_count && expert_sums.rows == state[Axis::expert_sums] &&
                   expert_sums.columns == n && total_sums.columns == Sums::total_sums &&
                   (cells.rows == 0 || (cells.rows == count && cells.columns == most_contexts && rule.shared)) &&
                   rule.takes(forecasts.rows);
        for (size_t k = 0; fit && k < games.n; ++k)
            fit = games[k] >= 0 && static_cast<size_t>(games[k]) < state[Axis::games] &&
                  settled[k] >= 0 && settled[k] <= start[k] && start[k] <= stop[k] &&
                  static_cast<size_t>(stop[k]) <= rounds && has_values(k);
        const double classes = static_cast<double>(forecasts.rows);
        for (size_t j = first; fit && j < first + values.rows; ++j)
            fit = items[j] >= 0 && static_cast<size_t>(items[j]) < state[Axis::items] &&
                  (!rule.has_classes(forecasts.rows) || outcomes[j] != outcomes[j] ||
                   (outcomes[j] >= 0.0 && outcomes[j] < classes));
        const size_t held = cells.rows ? values.rows * cells.columns : 0;
        for (size_t i = 0; fit && i < held; ++i)
            fit = cells.row(first)[i] < static_cast<std::int64_t>(state[Axis::cells]);
        return fit;
    }

    // Whether there are values of all rounds of a game that are predicted or settled now.
    bool has_values(size_t k) const {
        bool fit = true;
        for (std::int64_t r = start[k]; fit && r < stop[k]; ++r) fit = has_values_of(r);
        for (std::int64_t i = settled[k]; fit && i < stop[k]; ++i) {
            const std::int64_t due = order[i];
            fit = due >= 0 && static_cast<size_t>(due) < offsets.n && ready[due] > due &&
                  (due >= start[k] || has_values_of(due));
        }
        return fit;
    }

    bool has_values_of(std::int64_t round) const {
        const std::int64_t end = first_row + static_cast<std::int64_t>(values.rows);
        return first_row <= edges[round] && edges[round] <= edges[round + 1] && edges[round + 1] <= end &&
               bins[round] >= 0 && static_cast<size_t>(bins[round]) < total_sums.rows;
    }

    Rows rows(const Rule& rule, size_t round) const {
        const auto a = static_cast<size_t>(edges[round]);
        const auto b = static_cast<size_t>(edges[round + 1]);
        const size_t size = forecasts.rows * forecasts.columns;
        Rows rows{b - a,
                  forecasts.rows,
                  forecasts.columns,
                  forecasts.data + a * size,
                  nullptr,
                  values.data + (a - static_cast<size_t>(first_row)) * values.columns,
                  outcomes.data + a,
                  items.data + a};
        if (cells.rows) rows.cells = cells.data + a * most_contexts;
        rule.set_steps(rows);
        return rows;
    }

    Sums sums(size_t round) const {
        const auto bin = static_cast<size_t>(bins[round]);
        return {expert_sums.layer(bin).data, total_sums.row(bin), expert_sums.columns};
    }
};

// Play games one after the other: predict each round of a game after settling the earlier rounds whose outcomes
// may be used. `add_losses` gives rows the losses of a user's function, and returns their owner.
template <class Losses>
void play_schedule(const Board& board, const Schedule& schedule, const Losses& add_losses) {
    for (size_t k = 0; k < schedule.games.n; ++k) {
        const auto g = static_cast<size_t>(schedule.games[k]);
        auto oldest = static_cast<size_t>(schedule.settled[k]);
        const auto stop = static_cast<size_t>(schedule.stop[k]);
        for (auto r = static_cast<size_t>(schedule.start[k]); r <= stop; ++r) {
            for (; oldest < r; ++oldest) {
                const auto due = static_cast<size_t>(schedule.order[oldest]);
                if (static_cast<size_t>(schedule.ready[due]) > r) break;
                Rows rows = schedule.rows(board.rule, due);
                [[maybe_unused]] const auto kept = add_losses(rows, due);
                const std::int32_t now = r < stop ? schedule.places[r] : schedule.places[r - 1] + 1;
                const auto late = static_cast<double>(now - schedule.places[due] - 1);
                board.settle(g, rows, late, schedule.sums(due).totals);
            }
            if (r == stop) break;
            Rows rows = schedule.rows(board.rule, r);
            double* played = schedule.played.rows
                                 ? schedule.played.row(static_cast<size_t>(schedule.edges[r]))
                                 : nullptr;
            board.predict(g, rows, schedule.base + schedule.offsets[r], played, schedule.sums(r));
            [[maybe_unused]] const auto kept = add_losses(rows, r);
            note_round(board.rule.recipe, rows, schedule.sums(r));
        }
        schedule.settled[k] = static_cast<std::int64_t>(oldest);
    }
}

}  // namespace normalhedge::mixtures
