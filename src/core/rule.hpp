// The rule of a mixture: how it predicts and learns. It owns no numbers that change.
#pragma once

#include "python.hpp"

#include <map>
#include <optional>

#include "automatic.hpp"
#include "conformal.hpp"
#include "gains.hpp"
#include "objects.hpp"
#include "python_hedger.hpp"
#include "state.hpp"

namespace normalhedge::mixtures {

using namespace python;
using intervals::Ladder;

// How a single rule allows for delayed outcomes: its c grows with the delay.
struct Patience {
    double c = 0.0;      // 0 for a rule that does not
    double delay = 0.0;  // up to which c stays as it is
    std::vector<std::pair<double, double>> ladder;  // longer delays, and the c for each

    // The factor of c.
    double factor(double outcomes) const {
        if (!(c > 0.0) || outcomes <= delay || ladder.empty()) return 1.0;
        for (const auto& [rung, wanted] : ladder)
            if (outcomes <= rung) return larger(wanted / c, 1.0);
        const auto& [last, wanted] = ladder.back();
        return larger(wanted * (outcomes + 1.0) / (last + 1.0) / c, 1.0);
    }
};

struct Rule {
    Recipe recipe;
    std::vector<Way> include;
    bool shared = true;
    bool numbers = true;  // whether a forecast is a number, and not several

    // Borrowed: the owner of the rule keeps them alive.
    PyObject* own_hedger = nullptr;  // written in Python; or none
    PyObject* own_loss = nullptr;    // a function (forecasts, values, outcomes) -> losses, slopes; or none
    PyObject* begin = nullptr;       // a function for the first columns of new experts; none if these are zero

    std::vector<std::unique_ptr<Relative>> relatives;
    std::unique_ptr<Automatic> automatic;
    const Hedger* hedger = nullptr;  // compiled; none where it is written in Python
    Patience patience;
    std::unique_ptr<Ladder> ladder;          // of intervals; or none
    std::vector<std::size_t> interval_columns;  // of a prediction: the bases of the intervals

    bool in_python() const { return own_hedger || own_loss; }
    size_t value_count() const { return automatic ? automatic->value_count() : 1; }
    bool of_levels() const { return recipe.of_levels(); }

    // Whether outcomes are classes where rows have `count` numbers, and whether rows may have as many.
    bool has_classes(size_t count) const { return count > 1 && !of_levels(); }
    bool takes(size_t count) const {
        return count > 0 && (!of_levels() || count == recipe.levels.size());
    }
    size_t token_size() const { return ladder ? ladder->token_size() + 1 : 0; }

    // The number of games: items share one, or have one each; an automatic mixture has both
    // from two items on.
    size_t game_count(size_t items) const {
        if (!shared) return items;
        return automatic && items > 1 ? 1 + items : 1;
    }

    Shape shape(size_t experts, size_t items, size_t cells, size_t classes) const {
        Shape shape;
        shape[Axis::experts] = experts;
        shape[Axis::items] = items;
        shape[Axis::games] = game_count(items);
        shape[Axis::ledger_rows] = hedger ? hedger->rows() : 1;
        shape[Axis::totals] = hedger ? hedger->totals() : 0;
        shape[Axis::item_numbers] = automatic ? automatic->item_size() : 2;
        shape[Axis::interval_numbers] = ladder ? ladder->size() : 0;
        shape[Axis::marks] = Sums::mark_rows;
        shape[Axis::expert_sums] = Sums::expert_sums + (of_levels() ? 1 : 0);
        shape[Axis::total_sums] = Sums::total_sums;
        shape[Axis::pair] = 2;
        shape[Axis::delay] = 4;
        shape[Axis::one] = 1;
        shape[Axis::classes] = classes;
        shape[Axis::recalibration_rows] = automatic && automatic->recalibrates() ? recalibration_rows : 0;
        if (automatic && automatic->solves()) {
            shape[Axis::equations] = equation_count;
            shape[Axis::equation_rows] = equation_rows;
            shape[Axis::features] = feature_count(experts);
            shape[Axis::cells] = cells;
            shape[Axis::cell_rows] = rows_of_equations;
        }
        return shape;
    }

    // Set the strides of rows to the strides of this mixture.
    void set_steps(Rows& rows) const {
        rows.value_step = rows.classes * value_count();
        rows.own_step = rows.n + value_count() + 1;
        rows.slope_step = value_count();
    }

    // The largest scratch memory of a round, in doubles.
    size_t room(size_t n, size_t rows, size_t classes) const {
        const size_t columns = automatic ? 40 + 2 * classes + rows * (classes + 1) + recipe.levels.size()
                                         : 20 + classes;
        const size_t features = automatic && automatic->solves() ? 2 * (feature_count(n) + 8) * (feature_count(n) + 8) : 0;
        const size_t awake = rows * sizeof(Awake) / sizeof(double);
        return columns * n + awake + 64 * (value_count() + 8) * (1 + classes) + features;
    }
};

// Hedgers with a wider potential, for delayed outcomes; each is made once.
class Widened {
public:
    const Hedger& of(const Hedger& hedger, double factor) {
        if (factor == 1.0) return hedger;
        if (made_.size() > 64) made_.clear();
        std::unique_ptr<Hedger>& wide = made_[factor];
        if (!wide) wide = hedger.widened(factor);
        return *wide;
    }

private:
    std::map<double, std::unique_ptr<Hedger>> made_;
};

// A rule together with the state it changes.
class Board {
public:
    // `states` is the list of the states of a hedger written in Python, one for each game; or none.
    Board(const Rule& rule, State& state, Widened& widened, PyObject* states)
        : rule(rule), state(state), widened_(widened) {
        if (rule.own_hedger) own_.emplace(rule.own_hedger, states);
    }

    const Rule& rule;
    State& state;

    // Whether items have games of their own beside the one they share; and whether these are played.
    bool has_both() const { return rule.automatic && rule.shared && state[Axis::items] > 1; }
    bool several() const {
        return has_both() && rule.automatic->knows_two(state.at(FieldId::ranges), state[Axis::items]);
    }

    // The hedger of a game: one whose potential is wide enough for the delay of its outcomes.
    const Hedger& hedger(size_t g) const {
        if (own_) return *own_;
        return widened_.of(*rule.hedger, factor(g, -1.0));
    }

    // Make the hedger of a game beforehand, for now or after an outcome with this delay: a commit must not allocate.
    void prepare(size_t g, double late) const {
        if (rule.hedger) widened_.of(*rule.hedger, factor(g, late));
    }

    // Predict the rows of a game; quantiles are repaired in place.
    void predict(size_t g, const Rows& rows, std::int64_t number, double* played, const Sums& sums) const {
        if (rule.of_levels())
            repair_rows(rule.recipe, rows, const_cast<double*>(rows.forecasts), sums);
        if (!rule.automatic) {
            predict_round(rule.recipe, hedger(g), state.game(g), rows, number, played, sums);
            state.delay(g).predicted += 1.0;
            return;
        }
        const bool before = several();
        rule.automatic->note_items(rows, state.at(FieldId::ranges));
        const bool now = several();
        if (now && !before) rule.automatic->weigh(state.game(0).columns);
        const auto game_of = [&](size_t other) { return state.game(now ? other : g); };
        rule.automatic->predict(game_of, now, rows, number, played, sums, state.at(FieldId::ranges), state.cells());
    }

    // Settle the rows of a game, after which `late` rounds were predicted.
    void settle(size_t g, const Rows& rows, double late, double* totals) const {
        if (!rule.automatic) {
            if (!rows.any_known()) return;
            const double before = factor(g, -1.0);
            state.delay(g).see(late);
            const Hedger& wide = hedger(g);
            if (factor(g, -1.0) != before) wide.weigh(state.game(g).columns);
            learn_round(rule.recipe, wide, state.game(g), rows, state.item_ranges(),
                        state.delay(g).waited > 0.0, totals);
            return;
        }
        const bool both = several();
        const auto game_of = [&](size_t other) { return state.game(both ? other : g); };
        rule.automatic->settle(game_of, both, rows, late, state.at(FieldId::ranges), state.cells(), totals);
    }

    // Write the weights that belong to the ledgers. A newcomer does not change the solutions of equations.
    void weigh(size_t g) const {
        if (state[Axis::experts] > 0) hedger(g).weigh(state.game(g).columns);
    }
    void weigh_all() const {
        for (size_t g = 0; g < state[Axis::games]; ++g) weigh(g);
    }

    // Write the weights, and solve all equations, after the memory of experts has changed.
    void renew(size_t g) const {
        weigh(g);
        if (solves() && state[Axis::experts] > 0) state.stacks(g).solve();
    }
    void renew_all() const {
        for (size_t g = 0; g < state[Axis::games]; ++g) renew(g);
        if (solves()) state.cells().solve_all();
    }

    // Call `work` with the rows of each game: all of them, or each by itself.
    template <class Work>
    void game_by_game(const Rows& rows, const Work& work) const {
        if (rule.shared) {
            work(size_t{0}, rows, size_t{0});
            return;
        }
        for (size_t j = 0; j < rows.count; ++j)
            work(static_cast<size_t>(rows.items[j]), rows.only(j), j);
    }

private:
    bool solves() const { return rule.automatic && rule.automatic->solves(); }

    // The factor of c, now or after an outcome with this delay.
    double factor(size_t g, double late) const {
        if (!(rule.patience.c > 0.0) || g >= state[Axis::games]) return 1.0;
        Delay delay = state.delay(g);
        if (late >= 0.0) delay.see(late);
        return rule.patience.factor(delay.outcomes());
    }

    Widened& widened_;
    std::optional<PythonHedger> own_;
};

}  // namespace normalhedge::mixtures
