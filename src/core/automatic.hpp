// The default blend: a meta level of hedgers over base rules.
//
// A component is a base rule, which makes one forecast of the experts' forecasts: a plain one (mean, median,
// trimmed mean) or a hedged one (an algorithm with a memory, with or without the gradient trick, combined by
// mean or median). Each component plays its own game with the same rows. Above them a meta level with a prior
// and a memory weighs the components by their losses, and the insurance weighs the meta level and the components:
//
//     z_k = combination of the experts by component k,   z_0 = sum_k p_k z_k,
//     y_A = q_0 z_0 + sum_k q_k z_k
//
// Where forecasts are numbers, z_0 is the base of corrections c_k (`corrections.hpp`), which may leave the range
// of the forecasts. A choice between the base and its corrections is followed in place of z_0, and the insurance
// weighs the choice, the base, the corrections and the components.
//
// Where forecasts are class probabilities, z_0 is the base of recalibrations (`recalibrating.hpp`), which take the
// place of corrections. They are shared by all items.
//
// Where several items share a mixture, every component plays two games: one that all items share, and one for
// each item alone. There are two meta levels over all of these components, a common one and one of the item. A
// choice between the two, with a prior of three to one for the common one, gives z_0. In the shared game a round
// with fewer rows than usual counts less: see `usual_rows.hpp`. All this begins when a
// second item is forecast: a table knows all of its items beforehand, and this must not change its numbers. So
//
//     values of a row:  the blend; then, class by class, the two meta levels, the forecast that is followed;
//                       with corrections, z_0 and the corrections that are shared (with recalibrations, z_0 and
//                       these); the plain components, the
//                       hedged ones that are shared, the hedged ones of the item alone; and the corrections of
//                       the item alone
//
// Where a row holds quantiles at several quantile levels, a component may have several strands, one for each
// knot of its weights over the quantile levels (`quantiles.hpp`); the others have one. The forecast of a
// component is sorted, and so is the blend: the loss of a row is convex in the quantiles and sorting never
// raises it, so that the insurance holds as it does for numbers. The guard clips each quantile level by itself,
// with the errors of the quantile level nearest to 1/2. Corrections of quantiles (`quantile_corrections.hpp`) take the
// places of the corrections of numbers; there are none of contexts.
//
// The memory lies in the arrays of the mixture. For each expert in each game: the weights and the ledger of
// every hedged component, one after the other. For each game: their totals and the ranges of their pooled gains,
// then weights, ledger and range of the meta level, of the choice between two, weights and ledger of the
// insurance, the choice of corrections, and the usual number of rows of a round. For each item: the memory of
// the guard; the ranges of every component, shared and alone, of the meta levels, of the choice and of the
// insurance; whether the item was ever forecast; and the usual errors of corrections. All of it is zero at the
// beginning.
#pragma once

#include "cautious.hpp"
#include "correcting.hpp"
#include "guard.hpp"
#include "insurance.hpp"
#include "meta_level.hpp"
#include "quantile_corrections.hpp"
#include "recalibrating.hpp"
#include "relative.hpp"
#include "usual_rows.hpp"
#include "weighted_sum.hpp"

namespace normalhedge::mixtures {

// A base rule; without a hedger all experts have the same weight.
struct Component {
    const Hedger* hedger;
    Recipe recipe;
    double prior;
    size_t knots = 1;
    const Relative* relative = nullptr;  // the hedger, if it is one of these
};

// A component at one of its knots: the hat function scales its weights at each quantile level, and it learns
// from the losses of the quantile levels with the shares of its recipe.
struct Strand {
    Recipe recipe;
    std::vector<double> hat;  // for each quantile level; empty where the component has one knot
    double share = 1.0;       // of the weights, over all quantile levels
};

// The layout of the memory of an item. The usual difference of a meta level takes two numbers, a sum and a count.
struct ItemLayout {
    size_t strands;
    size_t track_size;  // 0 without corrections
    bool recalibrates;

    static constexpr size_t guard = 0;  // see `Seen`
    static constexpr size_t ranges = sizeof(Seen) / sizeof(double);  // of the strands, shared and of the item alone
    size_t usual_shared() const { return ranges + 4 * strands; }
    size_t usual_alone() const { return usual_shared() + 2; }
    size_t usual_choice() const { return usual_alone() + 2; }
    size_t largest_difference() const { return usual_choice() + 2; }
    size_t forecast() const { return largest_difference() + 1; }  // 1 once it was
    size_t track() const { return forecast() + 1; }  // see `Track` and `QuantileTrack`
    size_t usual_recalibration() const { return track() + track_size; }
    size_t size() const { return usual_recalibration() + (recalibrates ? 2 : 0); }
};

// How the default begins and corrects where forecasts are quantiles; without it, as for numbers.
struct QuantileStart {
    double alone = 1.0;    // the prior of a component of an item alone, as a share of the shared component's
    double caution = 1.0;  // of the meta levels
    bool corrects = false;
};

// A named part of the totals of a game, or of the numbers of an item.
struct Part {
    const char* name;
    bool of_item;
    size_t first;
    size_t size;
};

class Automatic final : public Hedger {
public:
    // The plain components come first.
    // `target` limits the errors that corrections learn from, in units of the usual error; 0 for no corrections.
    // Recalibrations need the logarithmic pool among the plain components.
    Automatic(std::vector<Component> components, Way way, double alpha, double trust, bool guards, double target,
              const QuantileStart& start, bool recalibrates)
        : components_(std::move(components)),
          way_(way),
          guards_(guards),
          alpha_(alpha),
          trust_(trust),
          start_(start),
          middle_(middle_level(components_[0].recipe.levels)),
          corrector_(target, components_[0].recipe),
          quantile_corrector_(start.corrects, components_[0].recipe, middle_),
          recalibrator_(recalibrates) {
        for (const Component& component : components_) {
            first_row_.push_back(rows_);
            first_total_.push_back(totals_);
            if (!component.hedger) {
                ++plain_;
                continue;
            }
            first_strand_.resize(first_row_.size(), strands_.size());
            add_strands(component);
            rows_ += component.knots * (1 + component.hedger->rows());
            totals_ += component.knots * (component.hedger->totals() + 2);
        }
        for (size_t c = 0; c < plain_; ++c)
            if (components_[c].recipe.way == Way::mean) mean_ = c;
        for (size_t c = 0; c < plain_; ++c)
            if (components_[c].recipe.way == Way::median) median_ = c;
        hedged_ = components_.size() - plain_;
        upper_total_ = totals_;
        totals_ += Level::size(most()) + Level::size(2) + Insurance::size(most_insured());
        choice_total_ = totals_;
        if (this->recalibrates()) {
            totals_ += Recalibrator::size;
            size_t pool = 0;
            while (pool + 1 < plain_ && components_[pool].recipe.way != Way::logarithmic) ++pool;
            recalibrator_.place(base(), first_way() + pool, choice_total_);
        }
        const size_t alone = first_way() + most();
        const Places places{followed, base(), first_way() + mean_, first_way() + median_, followed + 2,
                            followed + 2 + correction_count, alone,  alone + correction_count,
                            alone + correction_count + 2};
        if (corrector_.on()) {
            totals_ += Corrector::size;
            corrector_.place(places, choice_total_, rows_);
            rows_ += Sources::rows;
        }
        if (quantile_corrector_.on()) {
            totals_ += quantile_corrector_.size();
            quantile_corrector_.place(places, choice_total_);
        }
        for (size_t k = 0; k < most_insured(); ++k) insured_prior_.push_back(share_insured(k));
        usual_total_ = totals_;
        totals_ += sizeof(UsualRows) / sizeof(double);
    }
    Automatic(const Automatic&) = delete;  // the corrector refers to a component
    Automatic& operator=(const Automatic&) = delete;

    bool corrects() const { return corrector_.on() || quantile_corrector_.on(); }
    bool solves() const { return corrector_.on(); }  // whether corrections have equations
    bool recalibrates() const { return recalibrator_.on(); }

    size_t rows() const override { return rows_; }
    size_t totals() const override { return totals_; }

    // The size of the memory of an item, and the number of values of a row for each class.
    size_t item_size() const { return item_layout().size(); }
    size_t value_count() const { return 1 + first_way() + most() + alone_corrections() + (solves() ? 3 : 0); }

    // Note that the items of these rows are forecast.
    void note_items(const Rows& rows, double* items) const {
        for (size_t j = 0; j < rows.count; ++j)
            items[static_cast<size_t>(rows.items[j]) * item_size() + item_layout().forecast()] = 1.0;
    }

    // Whether two of so many items were ever forecast.
    bool knows_two(const double* items, size_t count) const {
        size_t found = 0;
        for (size_t k = 0; k < count && found < 2; ++k)
            found += items[k * item_size() + item_layout().forecast()] > 0.0 ? 1 : 0;
        return found > 1;
    }

    // The named parts of the memory, by which Python reads it.
    std::vector<Part> parts() const {
        const size_t ways = most();
        const size_t choices = upper_total_ + Level::size(ways);
        const size_t insured = choices + Level::size(2);
        const size_t count = most_insured();
        const ItemLayout item = item_layout();
        return {
            {"ways", false, upper_total_, ways},
            {"choice", false, choices, 2},
            {"insurance", false, insured, count},
            {"insured_regrets", false, insured + count, count},
            {"insured_clocks", false, insured + 2 * count, count},
            {"insured_losses", false, insured + 3 * count, count},
            {"insured_excess", false, insured + 4 * count, 1},
            {"corrections", false, choice_total_,
              solves() ? Members::most : corrects() ? QuantileMembers::most : 0},
            {"contexts", false, choice_total_ + Choice<Members>::size + 3, solves() ? size_t{2} : 0},
            {"steady", false, choice_total_ + Choice<Members>::size + 5, solves() ? size_t{3} : 0},
            {"recalibrations", false, choice_total_, recalibrates() ? Recalibrator::members : 0},
            {"usual_rows", false, usual_total_, sizeof(UsualRows) / sizeof(double)},
            {"largest_error", true, item.track() + sizeof(Track) / sizeof(double) - 1, solves() ? size_t{1} : 0},
            {"guard", true, ItemLayout::guard, ItemLayout::ranges},
            {"largest_difference", true, item.largest_difference(), 1},
        };
    }

    Outcome step(const Columns&, const Columns&, const Gains&, const double*,
                 const double*) const override {
        return {not_a_number, 0.0, not_a_number, true};  // it learns from forecasts: see `settle`
    }
    void rescale(const Columns&, int) const override {}

    void play(const Columns& now, const double* confidence, double* played) const override {
        play_by_weights(now, confidence, played);
    }

    // Write the weights of every component and of the meta level, and of all together.
    double weigh(const Columns& now) const override {
        const Game game{now, nullptr, nullptr};
        for (size_t c = plain_; c < components_.size(); ++c)
            for (size_t k = 0; k < components_[c].knots; ++k)
                components_[c].hedger->weigh(columns(game, c, k));
        weigh_upper(upper(game, most()));
        weigh_choice(choice(game));
        weigh_insurance(game);
        weigh_corrections(game);
        if (recalibrates()) recalibrator_.weigh(game);
        write_weights(game, components_.size());
        return not_a_number;
    }

    // Write the predictions; `game_of(0)` is the shared game, or the only one, and `game_of(1 + item)` the game
    // of an item alone, where there are `several`.
    template <class GameOf>
    void predict(const GameOf& game_of, bool several, const Rows& rows, std::int64_t number,
                 double* played, const Sums& sums, double* items, const Cells& cells) const {
        const size_t n = rows.n;
        Scratch room(11 * n + rows.classes * n + SourceMemory::plain_count);
        double* rated = room.data();
        double* seen = rated + n;
        double* own = rated + 2 * n;
        double* heard = rated + 3 * n;
        double* spare = rated + 4 * n;
        double* tamed = rated + 10 * n;
        auto* order = reinterpret_cast<std::uint32_t*>(tamed + rows.classes * n);
        Scratch above(2 * most() + most_insured());
        const Game shared = game_of(0);
        if (solves()) corrector_.note_contexts(shared, several, rows);
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
            Forecasts given = rows.row(j);
            if (rows.classes == 1 && n >= worth_sorting) {  // the guard keeps the order
                given.awake = write_order(given.of_class(0), rated, n, order);
                for (std::uint32_t k = 0; k < SourceMemory::plain_count; ++k)
                    order[n + k] = static_cast<std::uint32_t>(n) + k;
                given.order = order;
            }
            const Forecasts forecasts = guarded(given, rows.items[j], rated, items, spare, tamed, sums);
            const Game alone = several ? game_of(1 + static_cast<size_t>(rows.items[j])) : shared;
            const Say say{rows.value(j) + rows.classes, value_count() - 1, rows.classes};
            say_components(shared, 0, awake, forecasts, rated, heard, spare, say);
            if (several) say_components(alone, hedged_, awake, forecasts, rated, heard, spare, say);
            const Levels levels{*this, shared, alone, several, above.data()};
            make_alike(forecasts, rated, first_way(), levels.count, say);
            say_levels(levels, say);
            if (several) make_alike(forecasts, rated, 0, 2, say);
            say_base(levels, say);
            make_like_ways(forecasts, rated, levels.count, say);
            if (recalibrates()) say_recalibrated(shared, say);
            if (quantile_corrector_.on())
                quantile_corrector_.say(shared, alone, several, forecasts, rated,
                                        track_of<QuantileTrack>(items, rows.items[j]), seen_of(items, rows.items[j]),
                                        {say.data, say.step, say.classes});
            if (solves())
                corrector_.say(shared, alone, several, forecasts, rated, track_of<Track>(items, rows.items[j]),
                               seen_of(items, rows.items[j]), rows.cells ? rows.cells + j * most_contexts : nullptr,
                               cells, say.data);
            say_blend(levels, say, rows.value(j));
            if (of_levels()) sort_levels(rows.value(j), rows.classes, 1);
            add_played(shared, alone, levels, awake, rated, heard, weights);
            add_weights(rated, weights, n, seen, sums);
        }
        mark_round(shared, number, seen);
    }

    // Learn from the rows whose outcome is known.
    template <class GameOf>
    void settle(const GameOf& game_of, bool several, const Rows& rows, double rounds_late, double* items,
                const Cells& cells, double* totals) const {
        const size_t n = rows.n;
        Scratch room(2 * n + rows.classes * n);
        Scratch tamed(guards_ ? rows.count * rows.step : 0);
        Scratch ratings(rows.count * n);  // else each component would rate the experts again
        Scratch awake(rows.count * sizeof(Awake) / sizeof(double));
        auto* counts = reinterpret_cast<Awake*>(awake.data());
        Rows rated = rows;
        rated.ratings = ratings.data();
        rated.awake = counts;
        for (size_t j = 0; j < rows.count; ++j)
            counts[j] = rate_experts(rows.row(j), rows.confidence, ratings.data() + j * n);
        const Rows sane = guards_ || corrects() ? see_outcomes(rated, items, room.data(), tamed.data()) : rated;
        const Game shared = game_of(0);
        const Portion seen = usual_rows(shared).see(known_rows(rows));
        const Portion portion = several ? seen : Portion{};
        const double late = portion.mean_share * rounds_late;
        const auto correct = [&](bool both) {
            const auto track = [&](std::int32_t item) -> Track& { return track_of<Track>(items, item); };
            const auto quantile_track = [&](std::int32_t item) -> QuantileTrack& {
                return track_of<QuantileTrack>(items, item);
            };
            if (solves()) corrector_.learn(shared, game_of, both, sane, late, portion, track, cells);
            if (quantile_corrector_.on())
                quantile_corrector_.learn(shared, game_of, both, sane, late, portion, quantile_track);
        };
        if (!several || !said_alone(rows)) {
            learn(shared, 0, sane, late, portion, items, components_.size());
            correct(false);
            recalibrate(shared, sane, late, portion, items);
            insure(shared, sane, late, portion, items, components_.size());
            if (several) weigh_upper(upper(shared, most()));  // the ways of items alone, too
            if (several) weigh_corrections(shared);
            totals[Sums::steps] += 1.0;
            return;
        }
        for (size_t j = 0; j < rows.count; ++j)
            if (rows.known(j))
                learn(game_of(1 + static_cast<size_t>(rows.items[j])), hedged_, sane.only(j), late, {},
                      items, most());
        learn(shared, 0, sane, late, portion, items, most());
        const Level two = choice(shared);
        judge(two, sane, 0, base(), late, portion, items + item_layout().usual_choice());
        weigh_choice(two);
        correct(true);
        recalibrate(shared, sane, late, portion, items);
        insure(shared, sane, late, portion, items, most());
        totals[Sums::steps] += 1.0;
    }

private:
    UsualRows& usual_rows(const Game& game) const {
        return *reinterpret_cast<UsualRows*>(game.columns.totals + usual_total_);
    }

    // The number of rows with an outcome and a prediction.
    static double known_rows(const Rows& rows) {
        double known = 0.0;
        for (size_t j = 0; j < rows.count; ++j)
            known += rows.known(j) && rows.value(j)[0] == rows.value(j)[0] ? 1.0 : 0.0;
        return known;
    }

    // Whether the rows were predicted when items had games of their own; true if no expert was awake.
    bool said_alone(const Rows& rows) const {
        for (size_t j = 0; j < rows.count; ++j) {
            const double* row = rows.value(j);
            if (row[0] == row[0]) return row[rows.classes + 1] == row[rows.classes + 1];
        }
        return true;
    }

    // Places of the forecasts of a row, after the blend: the two meta levels, the forecast that is followed,
    // its base, the corrections of the base, the corrections of contexts, the ways, the corrections of the item
    // alone, and the base plus its mean and its last error.
    // Recalibrations stand in the place of corrections. Without either the base itself is followed.
    static constexpr size_t common_level = 0;
    static constexpr size_t own_level = 1;
    static constexpr size_t followed = 2;
    size_t base() const { return corrects() || recalibrates() ? followed + 1 : followed; }
    size_t alone_corrections() const {
        return solves() ? correction_count : corrects() ? quantile_correction_count : 0;
    }
    size_t between() const {  // followed and the ways
        if (recalibrates()) return 1 + recalibration_count;
        return corrects() ? 1 + alone_corrections() + (solves() ? most_contexts : 0) : 0;
    }
    size_t first_way() const { return followed + 1 + between(); }
    static constexpr size_t blend_value = static_cast<size_t>(-1);
    static constexpr size_t worth_sorting = 8;  // experts, before several rules sort them
    static constexpr double widest = 8.0;
    static constexpr double most_unusual = 100.0;  // times the usual difference, at most

    // The rises of rows are of order one; where they cancel, the rest is rounding.
    static constexpr double negligible_rise = 1e-9;

    // The values of a row after the blend: classes x values.
    struct Say {
        double* data;
        size_t step;
        size_t classes;

        Forecasts part(size_t first, size_t n) const { return {data + first, classes, n, step}; }
    };

    // The weights in a row: of the components by the common meta level and by the one of the item, of the choice
    // between the two, and of the insurance.
    struct Levels {
        bool several;
        size_t count;
        size_t insured_count;
        size_t between;
        double* common;
        double* own;
        double* insured;
        const double* chosen;

        Levels(const Automatic& rule, const Game& shared, const Game& alone, bool more,
               double* room)
            : several(more),
              count(more ? rule.most() : rule.components_.size()),
              insured_count(rule.insured_count(count)),
              between(rule.between()),
              common(room),
              own(room + count),
              insured(room + 2 * count),
              chosen(rule.choice(shared).weights) {
            take(rule.upper(shared, count).weights, count, common);
            if (more) take(rule.upper(alone, count).weights, count, own);
            take(rule.insurance(shared, more).weights, insured_count, insured);
        }
        // Corrections count as the base that they correct.
        double weight(size_t k) const {
            const double mine = several ? chosen[0] * common[k] + chosen[1] * own[k] : common[k];
            double rest = 1.0;
            for (size_t way = 0; way < count; ++way) rest -= insured[1 + between + way];
            return larger(rest, 0.0) * mine + insured[1 + between + k];
        }

    private:
        static void take(const double* all, size_t count, double* weights) {
            std::copy(all, all + count, weights);
            normalise(weights, count);
        }
    };

    size_t most() const { return plain_ + 2 * hedged_; }

    // How many forecasts the insurance weighs, where there are so many ways; and at most.
    size_t insured_count(size_t ways) const {
        return 1 + between() + ways + (ways > components_.size() ? alone_corrections() : 0);
    }
    size_t most_insured() const { return insured_count(most()); }
    template <class AnyTrack>
    AnyTrack& track_of(double* items, std::int32_t item) const {
        return *reinterpret_cast<AnyTrack*>(items + static_cast<size_t>(item) * item_size() + item_layout().track());
    }
    bool of_levels() const { return components_[0].recipe.of_levels(); }

    ItemLayout item_layout() const {
        const size_t track = solves() ? sizeof(Track) : corrects() ? sizeof(QuantileTrack) : 0;
        return {strands_.size(), track / sizeof(double), recalibrates()};
    }

    static size_t middle_level(const std::vector<double>& levels) {
        size_t middle = 0;
        for (size_t c = 0; c < levels.size(); ++c)
            if (std::fabs(levels[c] - 0.5) < std::fabs(levels[middle] - 0.5)) middle = c;
        return middle;
    }

    void add_strands(const Component& component) {
        if (component.knots == 1) {
            strands_.push_back({component.recipe, {}, 1.0});
            return;
        }
        const size_t levels = component.recipe.levels.size();
        const std::vector<double> hats = hat_functions(component.knots, levels);
        for (size_t k = 0; k < component.knots; ++k) {
            const double* hat = hats.data() + k * levels;
            Strand strand{component.recipe, {hat, hat + levels}, 0.0};
            const double total = added(hat, levels);
            for (size_t c = 0; c < levels; ++c) strand.recipe.shares[c] = hat[c] / total;
            strand.share = total / static_cast<double>(levels);
            strands_.push_back(std::move(strand));
        }
    }
    const Strand& strand(size_t c, size_t k) const { return strands_[first_strand_[c] + k]; }

    // The columns of a component at one of its knots.
    Columns columns(const Game& game, size_t c, size_t k) const {
        const Columns& all = game.columns;
        const Hedger& hedger = *components_[c].hedger;
        const size_t row = first_row_[c] + k * (1 + hedger.rows());
        return {all.n, all.experts, all.stride, all.row(row), all.row(row + 1),
                all.totals + first_total_[c] + k * (hedger.totals() + 2), all.game};
    }

    // The game of one component at one of its knots.
    Game game_of_component(const Game& game, size_t c, size_t k) const {
        const Columns own = columns(game, c, k);
        return {own, nullptr,
                reinterpret_cast<Range*>(own.totals + components_[c].hedger->totals())};
    }

    Level upper(const Game& game, size_t k) const {
        return {game.columns.totals + upper_total_, k, most()};
    }
    Level choice(const Game& game) const {
        return {game.columns.totals + upper_total_ + Level::size(most()), 2, 2};
    }
    static void weigh_choice(const Level& level) {
        level.weigh([](size_t k) { return k == 0 ? 0.75 : 0.25; });
    }
    Insurance insurance(const Game& game, bool several) const {
        return {game.columns.totals + upper_total_ + Level::size(most()) + Level::size(2),
                insured_count(several ? most() : components_.size()), most_insured()};
    }
    double prior(size_t k) const {
        return k < components_.size() ? components_[k].prior : start_.alone * components_[k - hedged_].prior;
    }
    void weigh_upper(const Level& level) const {
        level.weigh([&](size_t k) { return prior(k); }, start_.caution);
    }
    void weigh_corrections(const Game& game) const {
        if (solves()) corrector_.weigh(game, true);
        if (quantile_corrector_.on()) quantile_corrector_.weigh(game, true);
    }
    // The prior of the insurance: of the meta level, of corrections, and of each component. A context that was never
    // seen has no correction.
    double share_insured(size_t k) const {
        if (k == 0) return trust_;
        if (k <= between() || k > between() + most()) return (1.0 - trust_) * prior_of_correction;
        return (1.0 - trust_) * prior(k - 1 - between());
    }
    struct InsuredPrior {
        const double* shares;
        size_t unseen;  // the first correction of a context that was never seen, and the end of them
        size_t end;

        double operator()(size_t k) const { return k >= unseen && k < end ? 0.0 : shares[k]; }
    };
    InsuredPrior insured_prior(const Game& game) const {
        const size_t end = 1 + between();
        const size_t unseen = solves() ? most_contexts - corrector_.members(game, true).contexts : 0;
        return {insured_prior_.data(), end - unseen, end};
    }
    static constexpr double prior_of_correction = 0.05;  // of the base, too
    void weigh_insurance(const Game& game) const { insurance(game, true).weigh(insured_prior(game)); }

    static void count_infinite(const Forecasts& forecasts, const Sums& sums) {
        const double* x = forecasts.of_class(0);
        for (size_t i = 0; i < forecasts.n; ++i)
            sums.totals[Sums::wild] += std::fabs(x[i]) >= largest_forecast ? 1.0 : 0.0;
    }

    Seen& seen_of(double* items, std::int32_t item) const {
        return *reinterpret_cast<Seen*>(items + static_cast<size_t>(item) * item_size());
    }

    // The forecasts of a row, clipped by the guard; `room` is for 4n doubles, `tamed` for the row.
    Forecasts guarded(const Forecasts& forecasts, std::int32_t item, const double* rated, double* items, double* room,
                      double* tamed, const Sums& sums) const {
        if (!guards_) return forecasts;
        const size_t n = forecasts.n;
        double* moved = room + n;
        const Spread middle = spread_of_level(forecasts, middle_of(forecasts), rated, room);
        if (!tame_row(forecasts, rated, seen_of(items, item), middle, room, moved, tamed)) return forecasts;
        for (size_t i = 0; i < n; ++i) sums.row(Sums::absurd)[i] += moved[i];
        return {tamed, forecasts.classes, n, n, forecasts.order, forecasts.awake};
    }

    size_t middle_of(const Forecasts& forecasts) const { return forecasts.classes > 1 ? middle_ : 0; }

    static Spread spread_of_level(const Forecasts& forecasts, size_t c, const double* rated, double* room) {
        const double* x = forecasts.of_class(c);
        return forecasts.order ? spread_in_order(x, forecasts.order, forecasts.awake)
                               : spread_of(x, rated, forecasts.n, room);
    }

    // Write a row with the forecasts clipped by the guard, and for each expert whether one of its forecasts was
    // clipped; false if none was. Each quantile level is clipped by itself, and the quantiles of a clipped expert
    // are sorted again. `middle` is the spread of the middle level; `room` is for n doubles, `moved` for n.
    bool tame_row(const Forecasts& forecasts, const double* rated, const Seen& seen, const Spread& middle,
                  double* room, double* moved, double* tamed) const {
        const size_t n = forecasts.n;
        bool any = false;
        fill(moved, n, 0.0);
        for (size_t c = 0; c < forecasts.classes; ++c) {
            const double* x = forecasts.of_class(c);
            const bool at_middle = c == middle_of(forecasts);
            const Gate gate =
                gate_of(x, rated, n, at_middle ? middle : spread_of_level(forecasts, c, rated, room), seen);
            if (!gate.stops(x, rated, n)) {
                if (any) std::copy(x, x + n, tamed + c * n);
                continue;
            }
            for (size_t k = 0; !any && k < c; ++k)
                std::copy(forecasts.of_class(k), forecasts.of_class(k) + n, tamed + k * n);
            any = true;
            for (size_t i = 0; i < n; ++i) {
                const bool here = rated[i] > 0.0 && !gate.lets(x[i]);
                tamed[c * n + i] = here ? within(x[i], gate.low, gate.high) : x[i];
                moved[i] = here ? 1.0 : moved[i];
            }
        }
        for (size_t i = 0; any && i < n; ++i)
            if (moved[i] > 0.0) sort_levels(tamed + i, forecasts.classes, n);
        return any;
    }

    // Update the guard with the outcomes, which corrections need, too; return the rows as it clips them then.
    Rows see_outcomes(const Rows& rows, double* items, double* room, double* tamed) const {
        const size_t n = rows.n;
        double* spare = room;
        double* moved = room + n;
        double* line = room + 2 * n;
        Rows sane = rows;
        for (size_t j = 0; j < rows.count; ++j) {
            if (!rows.known(j)) continue;
            const double* rated = rows.ratings + j * n;
            const Forecasts forecasts = rows.row(j);
            const size_t c = middle_of(forecasts);
            const Spread middle = spread_of_level(forecasts, c, rated, spare);
            Seen& seen = seen_of(items, rows.items[j]);
            see(forecasts.of_class(c), rated, n, middle, rows.outcomes[j], seen);
            if (!guards_ || !tame_row(forecasts, rated, seen, middle, spare, moved, line)) continue;
            if (sane.forecasts != tamed) {
                std::copy(rows.forecasts, rows.forecasts + rows.count * rows.step, tamed);
                sane.forecasts = tamed;
            }
            std::copy(line, line + rows.classes * n, tamed + j * rows.step);
        }
        return sane;
    }

    // The distribution of a component in a row, at one of its knots: its weights where all experts are awake, else
    // written to `room`.
    const double* played_by(const Game& game, size_t c, size_t k, const Awake& awake, const double* rated,
                            double* room) const {
        const Hedger* hedger = components_[c].hedger;
        if (!hedger) {
            spread_evenly(rated, game.columns.n, room);
            return room;
        }
        const Columns own = columns(game, c, k);
        if (awake.all) return own.weights;
        hedger->play(own, rated, room);
        return room;
    }

    // Write the forecasts of the components of a game; the plain ones only with the first game.
    void say_components(const Game& game, size_t shift, const Awake& awake,
                        const Forecasts& forecasts, const double* rated, double* heard,
                        double* room, const Say& say) const {
        Scratch values(say.classes);
        double* result = values.data();
        for (size_t c = shift ? plain_ : 0; c < components_.size(); ++c) {
            const Way way = components_[c].recipe.way;
            const double* played = heard;
            if (components_[c].knots > 1) {
                say_by_level(game, c, awake, forecasts, rated, room, result);
            } else {
                played = played_by(game, c, 0, awake, rated, heard);
                combine(forecasts, played, way, room, result);
            }
            if (of_levels()) {
                sort_levels(result, say.classes, 1);
            } else if (say.classes > 1 && way != Way::mean) {
                const double total = added(result, say.classes);
                if (total > tiny)
                    divide(result, say.classes, total);
                else if (recalibrates())  // the medians of contrary certainties are zero
                    combine(forecasts, played, Way::mean, room, result);
            }
            for (size_t k = 0; k < say.classes; ++k)
                say.data[k * say.step + first_way() + c + shift] = result[k];
        }
    }

    // Write the forecast of a component whose weights differ between quantile levels.
    void say_by_level(const Game& game, size_t c, const Awake& awake, const Forecasts& forecasts,
                      const double* rated, double* room, double* result) const {
        const size_t n = forecasts.n;
        const size_t knots = components_[c].knots;
        Scratch spare((1 + knots) * n);
        double* mixed = spare.data();
        double* played = mixed + n;
        for (size_t k = 0; k < knots; ++k) {
            const double* own = played_by(game, c, k, awake, rated, played + k * n);
            if (own != played + k * n) std::copy(own, own + n, played + k * n);
        }
        for (size_t level = 0; level < forecasts.classes; ++level) {
            WeightedSum sum(mixed, n, 0.0);
            for (size_t k = 0; k < knots; ++k) sum.add(played + k * n, strand(c, k).hat[level]);
            sum.finish();
            combine({forecasts.of_class(level), 1, n, n}, mixed, components_[c].recipe.way, room,
                    result + level);
        }
    }

    // Make forecasts of components equal where they differ by rounding alone: their losses must tie, or rounding
    // would decide which of them is ahead.
    static void make_alike(const Forecasts& forecasts, const double* rated, size_t first,
                           size_t count, const Say& say) {
        for (size_t c = 0; c < say.classes; ++c) {
            const double near = alike * largest_of(forecasts.of_class(c), rated, forecasts.n);
            double* ways = say.data + c * say.step + first;
            for (size_t k = 1; k < count; ++k) {
                const double* same = std::find_if(
                    ways, ways + k, [&](double way) { return std::fabs(way - ways[k]) <= near; });
                ways[k] = *same;  // itself, where no other is near
            }
        }
    }

    // Let what is followed say the same as a way from which it differs by rounding alone.
    void make_like_ways(const Forecasts& forecasts, const double* rated, size_t count,
                        const Say& say) const {
        for (size_t c = 0; c < say.classes; ++c) {
            const double near = alike * largest_of(forecasts.of_class(c), rated, forecasts.n);
            double& mine = say.data[c * say.step + base()];
            const double* ways = say.data + c * say.step + first_way();
            const double* same = std::find_if(
                ways, ways + count, [&](double way) { return std::fabs(way - mine) <= near; });
            if (same != ways + count) mine = *same;
        }
    }

    static double largest_of(const double* x, const double* rated, size_t n) {
        double largest = 0.0;
        for (size_t i = 0; i < n; ++i)
            largest = larger(largest, rated[i] > 0.0 ? std::fabs(x[i]) : 0.0);
        return largest;
    }

    // Write the forecasts of the meta levels: the common one and the one of the item, where there are several.
    void say_levels(const Levels& levels, const Say& say) const {
        if (!levels.several) return;
        const size_t k = levels.count;
        Scratch room(2 * k + say.classes);
        double* result = room.data() + 2 * k;
        for (size_t level = 0; level < 2; ++level) {
            combine(say.part(first_way(), k), level ? levels.own : levels.common, way_, room.data(), result);
            for (size_t c = 0; c < say.classes; ++c) say.data[c * say.step + level] = result[c];
        }
    }

    // Write what is followed: the level above the ways, or the choice between two of them.
    void say_base(const Levels& levels, const Say& say) const {
        Scratch room(2 * levels.count + say.classes);
        double* result = room.data() + 2 * levels.count;
        if (levels.several)
            combine(say.part(common_level, 2), levels.chosen, way_, room.data(), result);
        else
            combine(say.part(first_way(), levels.count), levels.common, way_, room.data(), result);
        for (size_t c = 0; c < say.classes; ++c) say.data[c * say.step + base()] = result[c];
    }

    // Write the recalibrations of the base, and their mean with it, which is followed.
    void say_recalibrated(const Game& game, const Say& say) const {
        recalibrator_.say(game, say.data, say.step, say.classes);
        Scratch room(2 * Recalibrator::members + say.classes);
        double* result = room.data() + 2 * Recalibrator::members;
        combine(say.part(base(), Recalibrator::members), recalibrator_.level(game).weights, way_, room.data(), result);
        for (size_t c = 0; c < say.classes; ++c) say.data[c * say.step + followed] = result[c];
    }

    // Let the recalibrations, and the meta level above them, learn.
    void recalibrate(const Game& game, const Rows& rows, double late, const Portion& portion, double* items) const {
        if (!recalibrates()) return;
        judge(recalibrator_.level(game), rows, base(), followed, late, portion,
              items + item_layout().usual_recalibration());
        recalibrator_.weigh(game);
        recalibrator_.learn(game, rows, value_count() - 1, late, portion);
    }

    // Write the blend: z_0 and the components, as the insurance weighs them.
    void say_blend(const Levels& levels, const Say& say, double* blend) const {
        Scratch room(2 * levels.insured_count);
        combine(say.part(followed, levels.insured_count), levels.insured, way_, room.data(), blend);
    }

    // Add up the distributions of all components over the experts.
    void add_played(const Game& shared, const Game& alone, const Levels& levels,
                    const Awake& awake, const double* rated, double* heard,
                    double* weights) const {
        const size_t n = shared.columns.n;
        const double even = 1.0 / static_cast<double>(n);
        double start = 0.0;  // the plain components, where all experts are awake
        for (size_t k = 0; awake.all && k < plain_; ++k) start += larger(levels.weight(k), 0.0) * even;
        WeightedSum sum(weights, n, start);
        for (size_t k = awake.all ? plain_ : 0; k < levels.count; ++k) {
            const double weight = levels.weight(k);
            if (!(weight > 0.0)) continue;
            const bool second = k >= components_.size();
            const size_t c = second ? k - hedged_ : k;
            for (size_t knot = 0; knot < components_[c].knots; ++knot) {
                sum.add(played_by(second ? alone : shared, c, knot, awake, rated, heard), weight * share_of(c, knot));
                if (!awake.all) sum.finish();  // the next one is written to the same place
            }
        }
        sum.finish();
        normalise(weights, n);  // they sum to one up to rounding
    }

    // The share of a knot in the weights of a component, over all quantile levels.
    double share_of(size_t c, size_t k) const {
        return components_[c].hedger ? strand(c, k).share : 1.0;
    }

    // Update the components of a game and their meta level.
    void learn(const Game& game, size_t shift, const Rows& rows, double late, const Portion& portion,
               double* items, size_t count) const {
        double none[Sums::total_sums] = {};
        Rows own = rows;
        own.value_class_step = value_count() - 1;
        for (size_t c = plain_; c < components_.size(); ++c) {
            own.values = rows.values + rows.classes + first_way() + c + shift;
            if (rows.own_slopes) own.own_slopes = rows.own_slopes + 1 + first_way() + c + shift;
            for (size_t k = 0; k < components_[c].knots; ++k) {
                const Recipe& recipe = strand(c, k).recipe;
                if (components_[c].relative) {
                    const auto mean = [&](size_t j) {
                        return rows.value(j) + rows.classes + first_way() + mean_;
                    };
                    components_[c].relative->learn(recipe, columns(game, c, k), rows, mean,
                                                   value_count() - 1, portion);
                    continue;
                }
                const size_t place = first_strand_[c] + k + (shift ? strands_.size() : 0);
                cautious::learn_round(recipe, *components_[c].hedger, game_of_component(game, c, k), own,
                                      ItemRanges{items + ItemLayout::ranges + 2 * place, item_size()}, portion, none);
            }
        }
        const Level above = upper(game, count);
        const bool only = count == components_.size();
        const size_t own_value = only ? base() : shift ? own_level : common_level;
        judge(above, rows, first_way(), own_value, late, portion,
              items + (shift ? item_layout().usual_alone() : item_layout().usual_shared()));
        weigh_upper(above);
        if (shift) write_weights(game, count);  // of the game that items share: see `insure`
    }

    // Update the insurance, and write the weights of the experts anew.
    void insure(const Game& game, const Rows& rows, double late, const Portion& portion, double* items,
                size_t count) const {
        const Insurance insured = insurance(game, count > components_.size());
        const InsuredPrior prior_of = insured_prior(game);
        Scratch room(3 * insured.count);
        double* leads = room.data();
        double* rises = leads + insured.count;
        double* losses = rises + insured.count;
        fill(rises, 2 * insured.count, 0.0);
        double known = 0.0;
        double ratio = 1.0;
        for (size_t j = 0; j < rows.count; ++j) {
            if (!write_leads(rows, j, followed, insured.count, blend_value, leads)) continue;
            double& largest =
                items[static_cast<size_t>(rows.items[j]) * item_size() + item_layout().largest_difference()];
            largest = larger(largest, components_[0].recipe.width);
            const double before = largest;
            for (size_t k = 0; k < insured.count; ++k) largest = larger(largest, std::fabs(leads[k]));
            known += 1.0;
            if (!(largest > tiny)) continue;
            if (count == components_.size()) ratio = before / largest;
            for (size_t k = 0; k < insured.count; ++k) {
                rises[k] += leads[k] / largest;
                losses[k] += leads[k];
            }
        }
        if (known > 0.0) {
            for (size_t k = 0; k < insured.count; ++k) {
                rises[k] /= known;
                insured.losses[k] += portion.share * (losses[k] / known);
                const bool counts = std::fabs(rises[k]) >= negligible_rise && prior_of(k) > 0.0;
                rises[k] = counts ? portion.share * rises[k] : 0.0;
            }
            insured.learn(rises, late, ratio, prior_of);
            weigh_insurance(game);
        }
        write_weights(game, count);
    }

    // How much less one loss is than another; those that differ by rounding tie.
    static double lead(double mine, double other) {
        const double difference = mine - other;
        return std::fabs(difference) > 1e-12 * (std::fabs(mine) + std::fabs(other)) ? difference : 0.0;
    }

    // Write the leads of the values from `first` on over the value `own`: its loss less each of theirs; false if
    // the row has no outcome or no prediction.
    bool write_leads(const Rows& rows, size_t j, size_t first, size_t count, size_t own,
                     double* leads) const {
        if (!rows.known(j)) return false;
        const double* row = rows.value(j);
        if (!(row[0] == row[0])) return false;
        const Recipe& recipe = components_[0].recipe;
        double mine;
        if (recipe.loss) {
            const Quantiles at = recipe.quantiles_of(rows.items[j]);
            const size_t step = value_count() - 1;
            const double* said = row + rows.classes;
            recipe.loss->write({said + first, rows.classes, count, step}, rows.outcomes[j], at, leads);
            const Forecasts self = own == blend_value
                                       ? Forecasts{row, rows.classes, 1, 1}
                                       : Forecasts{said + own, rows.classes, 1, step};
            recipe.loss->write(self, rows.outcomes[j], at, &mine);
        } else {
            const double* given = rows.own_losses(j) + rows.n;
            std::copy(given + 1 + first, given + 1 + first + count, leads);
            mine = given[own == blend_value ? 0 : 1 + own];
        }
        for (size_t k = 0; k < count; ++k) leads[k] = lead(mine, leads[k]);
        return true;
    }

    // Update a meta level with the losses of its components, the values from `first` on; `own` is its own value.
    // `items` are the usual differences of the items: a sum and a count.
    void judge(const Level& level, const Rows& rows, size_t first, size_t own, double late, const Portion& portion,
               double* items) const {
        const size_t count = level.count;
        Scratch room(2 * count);
        double* leads = room.data();
        double* rises = leads + count;
        fill(rises, count, 0.0);
        double known = 0.0;
        for (size_t j = 0; j < rows.count; ++j) {
            if (!write_leads(rows, j, first, count, own, leads)) continue;
            double* usual = items + static_cast<size_t>(rows.items[j]) * item_size();
            double difference = 0.0;
            for (size_t k = 0; k < count; ++k) difference += std::fabs(leads[k]);
            difference /= static_cast<double>(count);
            if (usual[0] > tiny && usual[1] >= enough)
                difference = smaller(difference, most_unusual * usual[0] / usual[1]);
            usual[0] = fading * usual[0] + difference;
            usual[1] = fading * usual[1] + 1.0;
            known += 1.0;
            const double per = usual[0] > tiny ? usual[1] / usual[0] : 0.0;
            for (size_t k = 0; k < count; ++k) rises[k] += within(leads[k] * per, -widest, widest);
        }
        if (known == 0.0) return;
        for (size_t k = 0; k < count; ++k) {
            rises[k] /= known;
            rises[k] = std::fabs(rises[k]) < negligible_rise ? 0.0 : portion.share * rises[k];
        }
        level.learn(rises, alpha_, late, portion);
    }

    // Write the weights of the experts over all components together; components of items alone have the weights of
    // the shared ones in this game.
    void write_weights(const Game& game, size_t count) const {
        const size_t n = game.columns.n;
        double* weights = game.columns.weights;
        const double* above = upper(game, count).weights;
        const double* insured = insurance(game, true).weights;
        const double* ways = insured + 1 + between();
        const double total = added(above, count);
        const double base = insured[0] + added(insured + 1, between());
        const double share = total > tiny ? base / total : 0.0;
        const auto weight_of = [&](size_t k) { return share * above[k] + ways[k]; };
        const double even = 1.0 / static_cast<double>(n);
        double start = 0.0;
        for (size_t c = 0; c < plain_; ++c) start += weight_of(c) * even;
        WeightedSum sum(weights, n, start);
        for (size_t c = plain_; c < components_.size(); ++c) {
            const double weight = weight_of(c) + (c + hedged_ < count ? weight_of(c + hedged_) : 0.0);
            for (size_t k = 0; k < components_[c].knots; ++k)
                sum.add(columns(game, c, k).weights, weight * share_of(c, k));
        }
        sum.finish();
        normalise(weights, n);
    }

    std::vector<Component> components_;
    Way way_;
    bool guards_;
    double alpha_;
    double trust_;
    QuantileStart start_;
    std::vector<double> insured_prior_;
    size_t middle_;  // the quantile level nearest to 1/2
    std::vector<size_t> first_row_;
    std::vector<size_t> first_total_;
    std::vector<size_t> first_strand_;  // of each component; the plain ones have none
    std::vector<Strand> strands_;
    size_t mean_ = 0;    // the place of the plain mean
    size_t median_ = 0;  // the place of the plain median
    size_t plain_ = 0;
    size_t hedged_ = 0;
    size_t rows_ = 0;
    size_t totals_ = 0;
    size_t upper_total_ = 0;
    size_t choice_total_ = 0;
    size_t usual_total_ = 0;
    Corrector corrector_;
    QuantileCorrector quantile_corrector_;
    Recalibrator recalibrator_;
};

}  // namespace normalhedge::mixtures
