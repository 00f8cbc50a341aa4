// The corrections of the default blend at work: what they forecast in a row, and what they learn from its outcome.
// `corrections.hpp` has the equations.
#pragma once

#include <utility>

#include "corrections.hpp"
#include "debiasing.hpp"
#include "guard.hpp"
#include "mixture.hpp"
#include "usual_rows.hpp"

namespace normalhedge::mixtures {

// The places of forecasts among the values of a row, after the blend.
struct Places {
    size_t followed;  // the forecast of the choice
    size_t base;
    size_t mean;      // the plain ones
    size_t median;
    size_t shared;    // the corrections that items share
    size_t contexts;  // the corrections of contexts
    size_t alone;     // the corrections of the item alone
    size_t errors;    // the base plus its mean error, and plus its last error
    size_t best;      // the best expert so far, where there are many
};

class Corrector {
public:
    // `target` limits the errors to learn from, in units of the usual error; 0 for no corrections.
    Corrector(double target, const Recipe& recipe) : target_(target), recipe_(recipe) {}

    bool on() const { return target_ > 0.0; }

    // The size of the memory of a game: the choice; the usual number of pending rounds, and its weight; the number
    // of rounds; the numbers of contexts and of cells so far; and the losses of the steady correction.
    static constexpr size_t size = Choice<Members>::size + 8 + SourceMemory::totals;
    void place(const Places& places, size_t first_total, size_t first_row) {
        at_ = places;
        first_ = first_total;
        first_row_ = first_row;
    }

    Choice<Members> choice(const Game& game) const { return Choice<Members>(game.columns.totals + first_); }
    Members members(const Game& shared, bool several) const {
        return {several, static_cast<size_t>(within(memory(shared).contexts, 0.0, most_contexts))};  // of a file
    }
    void weigh(const Game& shared, bool several) const { choice(shared).weigh(members(shared, several)); }

    // Note which contexts and cells there are: the cells of a whole table join before its first round.
    void note_contexts(const Game& shared, bool several, const Rows& rows) const {
        Memory& noted = memory(shared);
        const double before = noted.contexts;
        for (size_t j = 0; rows.cells && j < rows.count; ++j)
            for (size_t s = 0; s < most_contexts; ++s) {
                const std::int32_t cell = rows.cells[j * most_contexts + s];
                if (cell < 0) continue;
                noted.contexts = larger(noted.contexts, static_cast<double>(s + 1));
                noted.cells = larger(noted.cells, static_cast<double>(cell + 1));
            }
        if (noted.contexts > before) weigh(shared, several);
    }

    // Write the corrections of the base, and their mean by the choice, which is followed. `values` are the values
    // of the row after the blend, `cells` its cells or none.
    void say(const Game& shared, const Game& alone, bool several, const Forecasts& forecasts, const double* rated,
             const Track& track, const Seen& seen, const std::int32_t* row_cells, const Cells& cells,
             double* values) const {
        const size_t features = shared.stacks.features;
        Scratch room(2 * features + 2 * Members::most);
        double* z = room.data();
        double* projected = z + features;
        double* weights = projected + features;
        double* chosen = weights + Members::most;
        const double start = values[at_.base];
        const double low = least_of(forecasts, rated, seen);
        const double errors[2] = {track.mean_error, track.last_error};
        for (size_t e = 0; e < 2; ++e) values[at_.errors + e] = start + errors[e];
        const SourceRow row = source_row(forecasts, rated, values, track);
        values[at_.best] = start;
        if (forecasts.n > most_stacked && row.error > tiny)
            values[at_.best] = Debiaser::best(sources(shared), row, Scratch(forecasts.n).data());
        const double all[stand_ins] = {values[at_.mean], values[at_.median], values[at_.best]};
        const Members present = members(shared, several);
        std::fill(chosen, chosen + Members::most, start);
        for (size_t k = 0; k < solved_count; ++k) {
            const Correction& correction = corrections[k];
            const bool usable = has_base(correction, rated, forecasts.n);
            const double from = correction.of_median && usable ? values[at_.median] : start;
            const double error = track.error(correction.of_median);
            const bool ready = usable && error > tiny;
            if (ready && !correction.non_negative)  // it shares the features of the one before
                write_features(correction, forecasts, rated, from, track, errors, all, features, z);
            for (size_t g = 0; g < (several ? 2 : 1); ++g) {
                const Game& game = g ? alone : shared;
                double value = from;
                if (ready) {
                    const Equations equations = game.stacks.of(k);
                    double shift = equations.value(z);
                    if (correction.cautious)
                        shift /= 1.0 + (1.0 + memory(game).late) * equations.leverage(z, projected);
                    value = larger(from + error * within(shift, -widest, widest), low);
                }
                chosen[(g ? Members::alone : Members::shared) + k] = near(value, start);
            }
            if (k == corrected_by_contexts)
                say_contexts(present, row_cells, cells, memory(shared), ready ? error : 0.0, low, start, z, projected,
                             chosen);
        }
        say_debiased(shared, alone, several, row, low, start, chosen);
        for (size_t k = 0; k < correction_count; ++k) {
            values[at_.shared + k] = chosen[Members::shared + k];
            if (several) values[at_.alone + k] = chosen[Members::alone + k];
        }
        for (size_t s = 0; s < present.contexts; ++s) values[at_.contexts + s] = chosen[Members::of_contexts + s];
        write_choice(choice(shared), choice(alone), present, weights);
        double shift = 0.0;
        for (size_t k = 0; k < present.end(); ++k) shift += weights[k] * (chosen[k] - start);
        values[at_.followed] = start + shift;
    }

    // Let the corrections and the choice between them learn; in the game that items share, the round is a portion of
    // a usual one.
    template <class GameOf, class TrackOf>
    void learn(const Game& shared, const GameOf& game_of, bool several, const Rows& rows, double late,
               const Portion& portion, const TrackOf& track_of, const Cells& cells) const {
        const size_t n = rows.n;
        const size_t features = shared.stacks.features;
        Scratch room(n + features * (features + 2) + 2 * Members::most);
        double* rated = room.data();
        double* z = rated + n;
        double* round = z + features;
        double* rises = round + features * (features + 1);
        double* row_rises = rises + Members::most;
        double known = 0.0;
        double judged = 0.0;
        const auto is_known = [&](size_t j) { return rows.known(j) && rows.value(j)[0] == rows.value(j)[0]; };
        for (size_t j = 0; j < rows.count; ++j) known += is_known(j) ? 1.0 : 0.0;
        if (known == 0.0) return;
        const Members present = members(shared, several);
        fill(rises, Members::most, 0.0);
        note_lateness(shared, late);
        for (size_t j = 0; j < rows.count; ++j) {
            if (!is_known(j)) continue;
            Track& track = track_of(rows.items[j]);
            rate_row(rows, j, rated);
            const Game own_game = several ? game_of(1 + static_cast<size_t>(rows.items[j])) : shared;
            if (several) note_lateness(own_game, late);
            if (write_rises(rows, j, present, track, row_rises)) {
                judged += 1.0;
                for (size_t k = 0; k < present.end(); ++k) rises[k] += row_rises[k];
                if (several) choice(own_game).learn(present, row_rises, late);
            }
            const double* said = rows.value(j) + rows.classes;
            track.see(said[at_.base], said[at_.median], rows.outcomes[j]);
            const double before = std::exchange(track.largest, larger(track.largest, square_of(track.error(false))));
            if (!several && known > 1.0) continue;
            for (size_t k = 0; k < solved_count; ++k) {
                if (corrections[k].non_negative) continue;
                const double target = write_equation(k, rows, j, rated, track, features, z);
                if (!(target == target)) continue;
                if (corrections[k].steady)
                    learn_steady(own_game, k, said, rows.outcomes[j], several, track, before, target, z);
                else
                    own_game.stacks.of(k).learn(z, target, 1.0, corrections[k].keep);
            }
            solve(own_game);
        }
        learn_debiased(shared, game_of, several, rows, known, portion, track_of, is_known, rated);
        if (several || known > 1.0) learn_shared(shared, rows, known, portion, track_of, is_known, rated, z, round);
        learn_cells(rows, known, portion, track_of, is_known, cells, rated, z);
        if (judged > 0.0) {
            for (size_t k = 0; k < present.end(); ++k) rises[k] = portion.share * (rises[k] / judged);
            choice(shared).learn(present, rises, late);
        }
    }

    // How far the steady correction of a game is behind the best linear combination: the numbers of Theorem L.
    struct Steady {
        double losses;   // of its forecasts, in units of the largest s^2
        double squares;  // of the errors that it learns from
        double clipped;  // what the errors that were clipped may have cost
    };

private:
    static constexpr double widest = 4.0;  // in usual errors
    static constexpr double smooth_target = 4.0;  // the target of losses without a kink

    struct Memory {
        double late;
        double lates;
        double rounds;
        double contexts;
        double cells;
        Steady steady;
    };
    Memory& memory(const Game& game) const {
        return *reinterpret_cast<Memory*>(game.columns.totals + first_ + Choice<Members>::size);
    }
    static_assert(Choice<Members>::size + sizeof(Memory) / sizeof(double) + SourceMemory::totals == size, "a game has room for its memory");

    static double near(double value, double start) {
        return std::fabs(value - start) <= alike * std::fabs(start) ? start : value;
    }

    // With two forecasts the median is not robust: it jumps when one of three experts sleeps.
    static bool has_base(const Correction& correction, const double* rated, size_t n) {
        size_t awake = 0;
        for (size_t i = 0; correction.of_median && i < n; ++i) awake += rated[i] > 0.0 ? 1 : 0;
        return !correction.of_median || awake > 2;
    }

    // Write the corrections of the contexts of a row; `z` are the features of the common one, `error` is 0 before
    // the first error.
    static void say_contexts(const Members& present, const std::int32_t* row_cells, const Cells& cells,
                             const Memory& noted, double error, double low, double start, const double* z,
                             double* projected, double* chosen) {
        const double pending = noted.late * noted.contexts / larger(noted.cells, 1.0);
        const double common = chosen[Members::shared + corrected_by_contexts];
        for (size_t s = 0; s < present.contexts; ++s) {
            double value = common;
            if (row_cells && row_cells[s] >= 0 && error > 0.0) {
                const Equations equations = cells.of(row_cells[s]);
                const double shift = equations.value(z) / (1.0 + (1.0 + pending) * equations.leverage(z, projected));
                value = larger(common + error * within(shift, -widest, widest), low);
            }
            chosen[Members::of_contexts + s] = near(value, start);
        }
    }

    SourceMemory sources(const Game& game) const {
        return {game.columns.row(first_row_), game.columns.stride, game.columns.n,
                game.columns.totals + first_ + size - SourceMemory::totals};
    }
    SourceRow source_row(const Forecasts& forecasts, const double* rated, const double* said, const Track& track) const {
        const double deviation = track.deviation();
        return {forecasts.of_class(0), rated, forecasts.order, {said[at_.mean], said[at_.median]}, track.error(true),
                track.mean(), deviation > tiny ? deviation : infinity, target_ == smooth_target ? 1.0 : 0.0};
    }

    // Write the debiased corrections.
    void say_debiased(const Game& shared, const Game& alone, bool several, const SourceRow& row, double low,
                      double start, double* chosen) const {
        Scratch room(Debiaser::room(shared.columns.n));
        const SourceMemory common = sources(shared);
        for (size_t g = 0; g < (several ? 2 : 1); ++g) {
            double value = start;
            if (row.error > tiny)
                value = larger(Debiaser::say(g ? sources(alone) : common, g ? &common : nullptr, row, room.data()), low);
            chosen[(g ? Members::alone : Members::shared) + debiased_correction] = near(value, start);
        }
    }

    // Judge and count the sources of a round; all rows are judged before any is learned from.
    template <class GameOf, class TrackOf, class Known>
    void learn_debiased(const Game& shared, const GameOf& game_of, bool several, const Rows& rows, double known,
                        const Portion& portion, const TrackOf& track_of, const Known& is_known, double* rated) const {
        const SourceMemory common = sources(shared);
        double faded[Sources::memories];
        for (size_t a = 0; a < Sources::memories; ++a) faded[a] = portion.keep(Debiaser::keeps[a]);
        static constexpr double unfaded[Sources::memories] = {1.0, 1.0, 1.0};
        const auto each_row = [&](const auto& work) {
            bool first = true;
            for (size_t j = 0; j < rows.count; ++j) {
                if (!is_known(j)) continue;
                const Track& track = track_of(rows.items[j]);
                if (!(track.error(true) > tiny)) continue;
                rate_row(rows, j, rated);
                const Game own = several ? game_of(1 + static_cast<size_t>(rows.items[j])) : shared;
                work(source_row(rows.row(j), rated, rows.value(j) + rows.classes, track), sources(own), rows.outcomes[j],
                     first);
                first = false;
            }
        };
        each_row([&](const SourceRow& row, const SourceMemory& own, double outcome, bool first) {
            if (several) Debiaser::judge(own, &common, row, outcome, 1.0, Debiaser::judged);
            Debiaser::judge(common, nullptr, row, outcome, portion.share / known,
                            first ? portion.keep(Debiaser::judged) : 1.0);
        });
        each_row([&](const SourceRow& row, const SourceMemory& own, double outcome, bool first) {
            if (several) Debiaser::learn(own, row, outcome, target_, 1.0, Debiaser::keeps);
            Debiaser::learn(common, row, outcome, target_, std::sqrt(portion.share / known), first ? faded : unfaded);
        });
    }

    // Count the equations of a round in the game that items share.
    template <class TrackOf, class Known>
    void learn_shared(const Game& shared, const Rows& rows, double known, const Portion& portion,
                      const TrackOf& track_of, const Known& is_known, double* rated, double* z, double* round) const {
        const size_t features = shared.stacks.features;
        const double weight = std::sqrt(portion.share) / std::sqrt(known);
        for (size_t k = 0; k < solved_count; ++k) {
            if (corrections[k].non_negative) continue;
            // The rows of a round are added up first: two of them count the same in either order.
            const double keep = portion.keep(corrections[k].keep);
            const Equations common = shared.stacks.of(k);
            Equations sum = common;
            if (known > 1.0) {
                sum.square = round;
                sum.right = round + features * features;
                sum.stride = features;
                fill(round, features * (features + 1), 0.0);
            }
            bool any = false;
            for (size_t j = 0; j < rows.count; ++j) {
                if (!is_known(j)) continue;
                rate_row(rows, j, rated);
                const Track& track = track_of(rows.items[j]);
                const double target = write_equation(k, rows, j, rated, track, features, z);
                if (!(target == target)) continue;
                any = true;
                sum.learn(z, target, weight, known > 1.0 ? 1.0 : keep);
            }
            if (any && known > 1.0) common.learn_from(sum, keep);
        }
        solve(shared);
    }

    static double square_of(double x) { return x * x; }

    // Count an equation of the steady correction in the unit of the outcomes, and measure the correction;
    // `before` is the largest s^2 before the round.
    void learn_steady(const Game& game, size_t k, const double* said, double outcome, bool several, const Track& track,
                      double before, double target, const double* z) const {
        const double error = track.error(false);
        const bool squares_vanish = !(track.largest > tiny);  // no double holds the square of so small an error
        const double weight = squares_vanish ? 1.0 : square_of(error) / track.largest;
        const double shrunk = squares_vanish ? 1.0 : before / track.largest;
        game.stacks.of(k).learn(z, target, weight, shrunk);
        const double shift = (said[(several ? at_.alone : at_.shared) + k] - said[at_.base]) / error;
        const double beyond = std::fabs((outcome - said[at_.base]) / error - target);
        Steady& steady = memory(game).steady;
        steady.losses = shrunk * steady.losses + weight * square_of(target - shift);
        steady.squares = shrunk * steady.squares + weight * square_of(target);
        steady.clipped = shrunk * steady.clipped + weight * 2.0 * (std::fabs(shift) + target_) * beyond;
    }

    // Count the equations of the cells of a round.
    template <class TrackOf, class Known>
    void learn_cells(const Rows& rows, double known, const Portion& portion, const TrackOf& track_of,
                     const Known& is_known, const Cells& cells, double* rated, double* z) const {
        if (!rows.cells) return;
        const double weight = std::sqrt(portion.share) / std::sqrt(known);
        const auto cell_of = [&](size_t j, size_t s) { return rows.cells[j * most_contexts + s]; };
        for (size_t j = 0; j < rows.count; ++j) {
            if (!is_known(j)) continue;
            const Track& track = track_of(rows.items[j]);
            const double* said = rows.value(j) + rows.classes;
            rate_row(rows, j, rated);
            const double error = track.error(false);
            const double common = write_equation(corrected_by_contexts, rows, j, rated, track, cells.features, z);
            if (!(common == common)) continue;
            const double target = within((rows.outcomes[j] - said[at_.shared + corrected_by_contexts]) / error,
                                         -target_, target_);
            for (size_t s = 0; s < most_contexts; ++s)
                if (cell_of(j, s) >= 0) cells.of(cell_of(j, s)).learn(z, target, weight, context_correction.keep);
        }
        for (size_t s = 0; s < most_contexts; ++s)
            for (size_t j = 0; j < rows.count; ++j)  // the rows of a round have few cells, mostly one
                if (cell_of(j, s) >= 0 && (j == 0 || cell_of(j, s) != cell_of(j - 1, s)))
                    cells.solve(cell_of(j, s), known * weight);
    }

    // Write the features of a row, and return the error to explain, in usual errors; NaN before the first error.
    double write_equation(size_t k, const Rows& rows, size_t j, const double* rated, const Track& track,
                          size_t features, double* z) const {
        const Correction& correction = corrections[k];
        const double* said = rows.value(j) + rows.classes;
        const double start = said[at_.base];
        const double from = correction.of_median ? said[at_.median] : start;
        const double error = track.error(correction.of_median);
        if (!(error > tiny) || !has_base(correction, rated, rows.n)) return not_a_number;
        const double errors[2] = {said[at_.errors] - start, said[at_.errors + 1] - start};
        const double all[stand_ins] = {said[at_.mean], said[at_.median], said[at_.best]};
        write_features(correction, rows.row(j), rated, from, track, errors, all, features, z);
        return within((rows.outcomes[j] - from) / error, -target_, target_);
    }

    // Solve the equations of all corrections of a game, where that is due.
    void solve(const Game& game) const {
        double& rounds = memory(game).rounds;
        rounds += 1.0;
        if (is_solution_due(rounds - 1.0, rounds, game.stacks.features)) game.stacks.solve();
    }

    void note_lateness(const Game& game, double late) const {
        Memory& mine = memory(game);
        mine.lates = 0.95 * mine.lates + 1.0;
        mine.late += (late - mine.late) / mine.lates;
    }

    // Write by how much the base and its corrections did better than the choice, in usual differences; false if
    // all of them agreed.
    bool write_rises(const Rows& rows, size_t j, const Members& present, Track& track, double* rises) const {
        const double* said = rows.value(j) + rows.classes;
        const double mine = said[at_.followed];
        const double start = said[at_.base];
        const double slope =
            recipe_.loss ? recipe_.loss->slope(mine, 0, rows.outcomes[j], recipe_.quantiles_of(rows.items[j]))
                         : rows.own_slopes[j * rows.slope_step + 1 + at_.followed];
        double farthest = 0.0;
        for (size_t k = 0; k < present.end(); ++k) {
            rises[k] = k == 0                      ? start
                       : k < Members::of_contexts ? said[at_.shared + k - Members::shared]
                       : k < Members::alone       ? said[at_.contexts + k - Members::of_contexts]
                                                  : said[at_.alone + k - Members::alone];
            if (present.has(k)) farthest = larger(farthest, std::fabs(rises[k] - start));
        }
        if (!(farthest > 1e-12 * std::fabs(start))) return false;
        track.difference = Track::tracked * track.difference + 0.5 * std::fabs(slope) * farthest;
        track.differences = Track::tracked * track.differences + 1.0;
        const double per = track.unit() > tiny ? 1.0 / track.unit() : 0.0;
        for (size_t k = 0; k < present.end(); ++k)
            rises[k] = present.has(k) ? within(slope * (mine - rises[k]) * per, -20.0, 20.0) : 0.0;
        return true;
    }

    double target_;
    const Recipe& recipe_;
    Places at_{};
    size_t first_ = 0;
    size_t first_row_ = 0;
};

}  // namespace normalhedge::mixtures
