// A round of ways to combine: a hedger that hedges over hedgers.
//
// The components are ways to make one forecast of the experts' own: plain ones (mean, median, trimmed
// mean) and hedged ones (an algorithm at a memory, with or without the gradient trick, combined by mean
// or median). Each plays its own game with the same rows; above them AdaNormalHedge with a prior and a
// memory weighs what they say, by their losses:
//
//     z_k = combination of the experts by component k,    y_A = sum_k p_k z_k
//
// Where several items share a mixture, there are two games of every component: one that all items share,
// and one for each item alone; and two upper levels over all of these, a common one and each item's own.
// A hedger over the two chooses between them. All this begins when a second item is forecast: a table
// knows all of its items beforehand, and must not let that be seen. So
//
//     values of a row:  the blend; then, class by class, the two upper levels, the plain components, the
//                       hedged ones that are shared, the hedged ones of the item alone
//
// What is remembered lies in the arrays of the mixture. Of each expert in each game: the weights and the
// ledger of every hedged component, one after the other. Of each game: their totals and the ranges of
// their pooled gains, then weights, ledger and range of the upper level, and of the choice between two.
// Of each item: what the guard has seen; the ranges of every component, shared and alone, of the upper
// levels and of the choice; and whether it was ever forecast. All of it is zero at the beginning.
#pragma once

#include "guard.hpp"
#include "hedgers/ada_normal_hedge.hpp"
#include "mixture.hpp"

namespace normalhedge {

// One way to combine; without a hedger all experts count alike.
struct Component {
    const Hedger* hedger;
    Recipe recipe;
    double prior;
};

// Half of the range of losses is the range of the upper levels' gains: a way that is far behind counts
// no more than one that is behind.
constexpr double focus = 2.0;

class Automatic final : public Hedger {
public:
    using Upper = AdaNormalHedgeWith<true>;

    // The plain components come first.
    Automatic(std::vector<Component> components, Way way, double alpha, bool guards)
        : components_(std::move(components)),
          way_(way),
          guards_(guards),
          upper_({1.0 - alpha}, {0.5, 0.5, 1.0, 1.0}) {
        for (const Component& component : components_) {
            first_row_.push_back(rows_);
            first_total_.push_back(totals_);
            if (!component.hedger) {
                ++plain_;
                continue;
            }
            rows_ += 1 + component.hedger->rows();
            totals_ += component.hedger->totals() + 2;
        }
        hedged_ = components_.size() - plain_;
        judged_ = components_[0].recipe;
        judged_.focus = focus;
        upper_total_ = totals_;
        totals_ += level_size(most()) + level_size(2);
    }

    size_t rows() const override { return rows_; }
    size_t totals() const override { return totals_; }

    // How many numbers are remembered of an item, and how many values a row has for each class.
    size_t item_size() const { return 4 + 4 * hedged_ + 7; }
    size_t value_count() const { return 3 + most(); }

    // Note that the items of these rows are forecast.
    void note_items(const Rows& rows, double* items) const {
        for (size_t j = 0; j < rows.count; ++j)
            items[(1 + static_cast<size_t>(rows.items[j])) * item_size() - 1] = 1.0;
    }

    // Whether two of so many items were ever forecast.
    bool knows_two(const double* items, size_t count) const {
        size_t found = 0;
        for (size_t k = 0; k < count && found < 2; ++k)
            found += items[(1 + k) * item_size() - 1] > 0.0 ? 1 : 0;
        return found > 1;
    }

    Outcome step(const Columns&, const Columns&, const Gains&, const double*) const override {
        return {not_a_number, 0.0, not_a_number, true};  // it learns from forecasts: see `settle`
    }
    void halve(const Columns&) const override {}

    void play(const Columns& now, const double* confidence, double* played) const override {
        const double total = added(confidence, now.n);
        for (size_t i = 0; i < now.n; ++i)
            played[i] = total > 0.0 ? confidence[i] * now.weights[i] : 0.0;
        const double heard = added(played, now.n);
        if (heard > tiny)
            divide(played, now.n, heard);
        else if (total > 0.0)
            spread_evenly(confidence, now.n, played);
    }

    // Write the weights of every component and of the upper level, and of all together.
    double weigh(const Columns& now) const override {
        const Game game{now, nullptr, nullptr};
        for (size_t c = plain_; c < components_.size(); ++c)
            components_[c].hedger->weigh(columns(game, c));
        weigh_level(upper(game, most()), true);
        weigh_level(choice(game), true);
        write_weights(game);
        return not_a_number;
    }

    // Write what is predicted; `game_of(0)` is the game that is shared, or the only one, and
    // `game_of(1 + item)` that of an item alone, where there are `several`.
    template <class GameOf>
    void predict(const GameOf& game_of, bool several, const Rows& rows, std::int64_t number,
                 double* played, const Sums& sums, double* items) const {
        const size_t n = rows.n;
        Scratch room(10 * n + rows.classes * n);
        double* rated = room.data();
        double* seen = rated + n;
        double* own = rated + 2 * n;
        double* heard = rated + 3 * n;
        double* spare = rated + 4 * n;
        double* tamed = rated + 10 * n;
        Scratch above(2 * most());
        const Game shared = game_of(0);
        fill(seen, n, 0.0);
        for (size_t j = 0; j < rows.count; ++j) {
            const Awake awake = rate_experts(rows.row(j), rows.confidence, rated);
            double* weights = played ? played + j * n : own;
            fill(weights, n, 0.0);
            fill(rows.value(j), rows.value_step, not_a_number);
            sums.totals[Sums::rows] += 1.0;
            if (!awake.all) count_infinite(rows.row(j), sums);
            if (awake.count == 0) {
                sums.totals[Sums::silent] += 1.0;
                continue;
            }
            const Forecasts forecasts = guarded(rows, j, rated, items, spare, tamed, &sums);
            const Game alone = several ? game_of(1 + static_cast<size_t>(rows.items[j])) : shared;
            const Say say{rows.value(j) + rows.classes, value_count() - 1, rows.classes};
            say_components(shared, 0, awake, forecasts, rated, heard, spare, say);
            if (several) say_components(alone, hedged_, awake, forecasts, rated, heard, spare, say);
            const Levels levels{*this, shared, alone, several, above.data()};
            say_levels(levels, say, rows.value(j));
            add_played(shared, alone, levels, awake, rated, heard, weights);
            add_weights(rated, weights, n, seen, sums);
        }
        mark_round(shared, number, seen);
    }

    // Learn from the rows whose outcome is known.
    template <class GameOf>
    void settle(const GameOf& game_of, bool several, const Rows& rows, double* items,
                double* totals) const {
        const size_t n = rows.n;
        Scratch room(7 * n);
        std::vector<double> tamed;
        const Rows sane = guards_ ? see_outcomes(rows, items, room.data(), tamed) : rows;
        const Game shared = game_of(0);
        if (!several) {
            learn(shared, 0, sane, items, totals, most() - hedged_);
            return;
        }
        for (size_t j = 0; j < rows.count; ++j)
            if (rows.known(j))
                learn(game_of(1 + static_cast<size_t>(rows.items[j])), hedged_, sane.only(j), items,
                      nullptr, most());
        learn(shared, 0, sane, items, totals, most());
        double none[Sums::total_sums] = {};
        settle_round(judged_, upper_, choice(shared), said(sane, 0, 2),
                     ItemRanges{items + 4 + 4 * hedged_ + 4, item_size()}, none);
    }

private:
    // A table of what is said in a row: classes x values.
    struct Say {
        double* data;
        size_t step;
        size_t classes;

        Forecasts part(size_t first, size_t n) const { return {data + first, classes, n, step}; }
    };

    // The weights of the ways in a row: those of the common level, the item's own, and of the two.
    struct Levels {
        bool several;
        size_t count;
        double* common;
        double* own;
        const double* chosen;

        Levels(const Automatic& rule, const Game& shared, const Game& alone, bool more,
               double* room)
            : several(more),
              count(more ? rule.most() : rule.components_.size()),
              common(room),
              own(room + count),
              chosen(rule.choice(shared).columns.weights) {
            take(rule.upper(shared, count), common);
            if (more) take(rule.upper(alone, count), own);
        }
        double weight(size_t k) const {
            return several ? chosen[0] * common[k] + chosen[1] * own[k] : common[k];
        }

    private:
        void take(const Game& level, double* weights) const {
            std::copy(level.columns.weights, level.columns.weights + count, weights);
            normalise(weights, count);
        }
    };

    size_t most() const { return plain_ + 2 * hedged_; }

    static size_t level_size(size_t k) { return (1 + Upper::rows) * k + 2; }

    Columns columns(const Game& game, size_t c) const {
        const Columns& all = game.columns;
        return {all.n, all.experts, all.stride, all.row(first_row_[c]), all.row(first_row_[c] + 1),
                all.totals + first_total_[c], all.game};
    }

    // The game of one component.
    Game game_of_component(const Game& game, size_t c) const {
        double* totals = game.columns.totals + first_total_[c];
        return {columns(game, c), nullptr,
                reinterpret_cast<Range*>(totals + components_[c].hedger->totals())};
    }

    // A level above: k ways in a game, of at most `room`.
    static Game level(double* data, size_t k, size_t room) {
        return {{k, k, room, data, data + room, data + (1 + Upper::rows) * room}, nullptr,
                reinterpret_cast<Range*>(data + (1 + Upper::rows) * room)};
    }
    Game upper(const Game& game, size_t k) const {
        return level(game.columns.totals + upper_total_, k, most());
    }
    Game choice(const Game& game) const {
        return level(game.columns.totals + upper_total_ + level_size(most()), 2, 2);
    }

    // Write the prior into the ledger of a level, and the weights if wanted.
    void weigh_level(const Game& game, bool weighed) const {
        double* prior = game.columns.row(2);
        for (size_t k = 0; k < game.columns.n; ++k)
            prior[k] = game.columns.n == 2 && most() != 2 ? 0.5 : prior_of(k);
        if (weighed) upper_.weigh(game.columns);
    }
    double prior_of(size_t k) const {
        return components_[k < components_.size() ? k : k - hedged_].prior;
    }


    static void count_infinite(const Forecasts& forecasts, const Sums& sums) {
        const double* x = forecasts.of_class(0);
        for (size_t i = 0; i < forecasts.n; ++i)
            sums.totals[Sums::wild] += std::fabs(x[i]) >= largest_forecast ? 1.0 : 0.0;
    }

    Seen& seen_of(double* items, std::int32_t item) const {
        return *reinterpret_cast<Seen*>(items + static_cast<size_t>(item) * item_size());
    }

    // The forecasts of a row, those that the guard does not let through moved to its edge; `room` is
    // for 4n doubles, `tamed` for the row.
    Forecasts guarded(const Rows& rows, size_t j, const double* rated, double* items, double* room,
                      double* tamed, const Sums* sums) const {
        const Forecasts forecasts = rows.row(j);
        if (!guards_) return forecasts;
        const double* x = forecasts.of_class(0);
        const size_t n = rows.n;
        const Gate gate = gate_of(x, rated, n, seen_of(items, rows.items[j]), room);
        size_t stopped = 0;
        for (size_t i = 0; i < n; ++i) stopped += rated[i] > 0.0 && !gate.lets(x[i]) ? 1 : 0;
        if (stopped == 0) return forecasts;
        for (size_t i = 0; i < n; ++i) {
            tamed[i] = within(x[i], gate.low, gate.high);
            if (sums && rated[i] > 0.0 && !gate.lets(x[i])) sums->row(Sums::absurd)[i] += 1.0;
        }
        return {tamed, 1, n, n};
    }

    // Let the guard see the outcomes; return the rows as it lets them through now.
    Rows see_outcomes(const Rows& rows, double* items, double* room,
                      std::vector<double>& tamed) const {
        const size_t n = rows.n;
        double* rated = room;
        double* line = room + 5 * n;
        Rows sane = rows;
        for (size_t j = 0; j < rows.count; ++j) {
            if (!rows.known(j)) continue;
            rate_experts(rows.row(j), rows.confidence, rated);
            const double* x = rows.row(j).of_class(0);
            Seen& seen = seen_of(items, rows.items[j]);
            const double middle = gate_of(x, rated, n, seen, room + n).middle;
            see(x, rated, n, middle, rows.outcomes[j], seen);
            const Forecasts let = guarded(rows, j, rated, items, room + n, line, nullptr);
            if (let.data == x) continue;
            if (tamed.empty()) {
                tamed.assign(rows.forecasts, rows.forecasts + rows.count * rows.step);
                sane.forecasts = tamed.data();
            }
            for (size_t i = 0; i < n; ++i)
                if (rated[i] > 0.0) tamed[j * rows.step + i] = let.data[i];
        }
        return sane;
    }

    // What is played of a component in a row.
    void write_played(const Game& game, size_t c, const Awake& awake, const double* rated,
                      double* played) const {
        const Hedger* hedger = components_[c].hedger;
        if (!hedger) {
            spread_evenly(rated, game.columns.n, played);
            return;
        }
        const Columns own = columns(game, c);
        if (awake.all)
            std::copy(own.weights, own.weights + own.n, played);
        else
            hedger->play(own, rated, played);
    }

    // Write what the components of a game say; the plain ones only with the first game.
    void say_components(const Game& game, size_t shift, const Awake& awake,
                        const Forecasts& forecasts, const double* rated, double* heard,
                        double* room, const Say& say) const {
        Scratch values(say.classes);
        double* result = values.data();
        for (size_t c = shift ? plain_ : 0; c < components_.size(); ++c) {
            write_played(game, c, awake, rated, heard);
            const Way way = components_[c].recipe.way;
            combine(forecasts, heard, way, room, result);
            if (say.classes > 1 && way != Way::mean) {
                const double total = added(result, say.classes);
                if (total > tiny) divide(result, say.classes, total);
            }
            for (size_t k = 0; k < say.classes; ++k)
                say.data[k * say.step + 2 + c + shift] = result[k];
        }
    }

    // Write what the upper levels say, and the blend.
    void say_levels(const Levels& levels, const Say& say, double* blend) const {
        const size_t k = levels.count;
        Scratch room(2 * k + say.classes);
        double* result = room.data() + 2 * k;
        const Forecasts table = say.part(2, k);
        combine(table, levels.common, way_, room.data(), levels.several ? result : blend);
        if (!levels.several) return;
        for (size_t c = 0; c < say.classes; ++c) say.data[c * say.step] = result[c];
        combine(table, levels.own, way_, room.data(), result);
        for (size_t c = 0; c < say.classes; ++c) say.data[c * say.step + 1] = result[c];
        combine(say.part(0, 2), levels.chosen, way_, room.data(), blend);
    }

    // Add up what is played of the experts by all components together.
    void add_played(const Game& shared, const Game& alone, const Levels& levels,
                    const Awake& awake, const double* rated, double* heard,
                    double* weights) const {
        const size_t n = shared.columns.n;
        for (size_t k = 0; k < levels.count; ++k) {
            const double weight = levels.weight(k);
            if (!(weight > 0.0)) continue;
            const bool second = k >= components_.size();
            write_played(second ? alone : shared, second ? k - hedged_ : k, awake, rated, heard);
#pragma omp simd
            for (size_t i = 0; i < n; ++i) weights[i] += weight * heard[i];
        }
        normalise(weights, n);  // rounding aside they sum to one already
    }

    // What is said in the rows as forecasts of `count` ways, from the first on.
    Rows said(const Rows& rows, size_t first, size_t count) const {
        Rows table = rows;
        table.n = count;
        table.confidence = nullptr;
        table.forecasts = rows.values + rows.classes + first;
        table.step = rows.value_step;
        table.class_step = value_count() - 1;
        if (rows.own) table.own = rows.own + rows.n + 1 + first;
        return table;
    }

    // Let the components of a game and the level above them learn.
    void learn(const Game& game, size_t shift, const Rows& rows, double* items, double* totals,
               size_t count) const {
        double none[Sums::total_sums] = {};
        for (size_t c = plain_; c < components_.size(); ++c) {
            Rows own = rows;
            own.values = rows.values + rows.classes + 2 + c + shift;
            own.value_class_step = value_count() - 1;
            if (rows.own_slopes) own.own_slopes = rows.own_slopes + 3 + c + shift;
            settle_round(components_[c].recipe, *components_[c].hedger, game_of_component(game, c),
                         own, ItemRanges{items + 4 + 2 * (c - plain_ + shift), item_size()}, none);
        }
        const Game above = upper(game, count);
        weigh_level(above, false);
        settle_round(judged_, upper_, above, said(rows, 2, count),
                     ItemRanges{items + 4 + 4 * hedged_ + (shift ? 2 : 0), item_size()},
                     totals ? totals : none);
        write_weights(game);
    }

    // Write the weights of the experts, all components together.
    void write_weights(const Game& game) const {
        const size_t n = game.columns.n;
        double* weights = game.columns.weights;
        const double* above = upper(game, components_.size()).columns.weights;
        const double even = 1.0 / static_cast<double>(n);
        fill(weights, n, 0.0);
        for (size_t c = 0; c < components_.size(); ++c) {
            const double weight = above[c];
            const double* own = components_[c].hedger ? game.columns.row(first_row_[c]) : nullptr;
            if (own) {
#pragma omp simd
                for (size_t i = 0; i < n; ++i) weights[i] += weight * own[i];
            } else {
#pragma omp simd
                for (size_t i = 0; i < n; ++i) weights[i] += weight * even;
            }
        }
        normalise(weights, n);
    }

    std::vector<Component> components_;
    Recipe judged_;  // how the upper levels judge the ways
    Way way_;
    bool guards_;
    HedgerOf<Upper> upper_;
    std::vector<size_t> first_row_;
    std::vector<size_t> first_total_;
    size_t plain_ = 0;
    size_t hedged_ = 0;
    size_t rows_ = 0;
    size_t totals_ = 0;
    size_t upper_total_ = 0;
};

}  // namespace normalhedge
