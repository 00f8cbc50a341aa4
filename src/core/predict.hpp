// The prediction of a round, as a transaction.
#pragma once

#include "growth.hpp"

namespace normalhedge::mixtures {

// A prediction. Its round has forecasts, confidences, keys and an id; the rest is written here.
class PredictTransaction {
public:
    PredictTransaction(Content& content, RoundPointer round, Growth growth, const std::vector<Reference>& items)
        : content_(content), round_(std::move(round)), growth_(std::make_unique<Growth>(std::move(growth))) {
        const Rule& rule = *content.rule;
        content.refresh();
        find_items(items);
        growth_->prepare(content, rule.own_hedger);
        if (!rule.include.empty())
            fill_plain(round_->forecasts, round_->shape.count, round_->shape.classes, round_->shape.n,
                       round_->confidence, rule.include, rule.of_levels() ? rule.recipe.levels.data() : nullptr);
        prepare_games();
        played_ = new_array({round_->shape.count, round_->shape.n});
        if (rule.ladder) bounds_ = new_array({round_->shape.count, 2 * rule.ladder->levels.size()});
        make_node();
        if (!round_->id.empty()) id_.emplace(round_->id, std::int64_t{0});
    }

    // Of a round with known items and experts; `played` is for the distribution.
    PredictTransaction(Content& content, RoundPointer round, Reference played)
        : content_(content), round_(std::move(round)), played_(std::move(played)) {
        prepare_games();
        make_node();
    }

    const Reference& played() const { return played_; }
    const Reference& bounds() const { return bounds_; }
    const Round& round() const { return *round_; }

    // All that can fail comes before this; `content` has not changed meanwhile.
    void commit() {
        const Rule& rule = *content_.rule;
        const RowShape& shape = round_->shape;
        const auto expiring = expiring_round();
        Reserved room(rule.room(shape.n, shape.count, shape.classes));
        if (growth_) growth_->enter(content_);
        round_->ticket = content_.next_ticket;
        round_->number = content_.rounds;
        State& state = growth_ ? growth_->begin(content_) : content_.state;
        Board board(rule, state, content_.widened, growth_ ? growth_->states(content_) : nullptr);
        const Rows rows = rows_of(rule, *round_, nullptr);
        board.game_by_game(rows, [&](size_t g, const Rows& part, size_t j) {
            board.predict(g, part, round_->number, data_of<double>(played_.array()) + j * shape.n, state.sums());
        });
        if (rule.ladder) write_intervals(state);
        if (growth_) growth_->commit(content_);
        content_.rounds += 1;
        content_.next_ticket += 1;
        file(expiring);
    }

    static Rows rows_of(const Rule& rule, const Round& round, const double* outcomes) {
        Rows rows{round.shape.count, round.shape.classes, round.shape.n, round.forecasts,
                  round.confidence,  round.values,        outcomes,      round.items};
        rows.cells = round.cells;
        rule.set_steps(rows);
        return rows;
    }

private:
    void prepare_games() {
        const Board board = content_.board();
        if (content_.rule->shared)
            board.prepare(0, -1.0);
        else
            for (size_t j = 0; j < round_->shape.count; ++j)
                board.prepare(static_cast<size_t>(round_->items[j]), -1.0);
    }

    void make_node() {
        node_ = std::move(content_.spare_node);
        if (!node_) {
            Pending fresh;
            fresh.emplace(std::int64_t{0}, nullptr);
            node_ = fresh.extract(fresh.begin());
        }
        node_.mapped() = round_;
    }

    // Write the items of the rows; new items are added.
    void find_items(const std::vector<Reference>& items) {
        Reference fresh = Reference::checked(PyDict_New());
        for (size_t j = 0; j < items.size(); ++j) {
            std::int64_t place = content_.items.find(items[j].get());
            if (place < 0) {
                PyObject* known = PyDict_GetItemWithError(fresh.get(), items[j].get());
                if (!known && PyErr_Occurred()) throw PythonError();
                place = known ? PyLong_AsLongLong(known)
                              : static_cast<std::int64_t>(content_.items.size() + growth_->items.size());
                if (!known) {
                    Reference number = Reference::checked(PyLong_FromLongLong(place));
                    if (PyDict_SetItem(fresh.get(), items[j].get(), number.get()) < 0) throw PythonError();
                    growth_->items.push_back(Reference::borrowed(items[j].get()));
                }
            }
            round_->items[j] = static_cast<std::int32_t>(place);
        }
    }

    // The ticket of the round that expires with this one; or none.
    std::optional<std::int64_t> expiring_round() const {
        if (content_.pending.empty()) return std::nullopt;
        const auto& [ticket, oldest] = *content_.pending.begin();
        const Limits& limits = content_.limits;
        const bool late = limits.age >= 0 && oldest->number < content_.rounds + 1 - limits.age;
        const bool full = static_cast<std::int64_t>(content_.pending.size()) >= limits.pending;
        return late || full ? std::optional<std::int64_t>(ticket) : std::nullopt;
    }

    void write_intervals(State& state) {
        const Rule& rule = *content_.rule;
        const Ladder& ladder = *rule.ladder;
        const RowShape& shape = round_->shape;
        Scratch bases(ladder.bases());
        for (size_t j = 0; j < shape.count; ++j) {
            const auto item = static_cast<size_t>(round_->items[j]);
            const double* values = round_->values + j * shape.values;
            double* base = bases.data();
            for (size_t k = 0; k < ladder.bases(); ++k) base[k] = values[rule.interval_columns[k]];
            for (size_t k = 0; k + 1 < ladder.bases(); k += 2)
                if (base[k] > base[k + 1]) std::swap(base[k], base[k + 1]);
            double* token = round_->tokens + j * shape.tokens;
            predict_interval(ladder, state.interval(item), base, phase_of(ladder, round_->number),
                             data_of<double>(bounds_.array()) + 2 * j * ladder.levels.size(), token);
        }
        for (size_t j = 0; j < shape.count; ++j) {
            double* token = round_->tokens + j * shape.tokens;
            token[shape.tokens - 1] =
                static_cast<double>(state.interval_rounds(static_cast<size_t>(round_->items[j]))++);
        }
    }

    void file(std::optional<std::int64_t> expiring) noexcept {
        if (expiring) {
            trash_ = content_.pending.extract(*expiring);
            content_.expired += 1;
            if (trash_ && !trash_.mapped()->id.empty()) {
                const auto own = content_.ids.find(trash_.mapped()->id);
                if (own != content_.ids.end() && own->second == *expiring)
                    id_trash_ = content_.ids.extract(own);
            }
        }
        node_.key() = round_->ticket;
        content_.pending.insert(content_.pending.end(), std::move(node_));
        if (!id_.empty()) {
            auto named = id_.extract(id_.begin());
            named.mapped() = round_->ticket;
            const auto known = content_.ids.find(named.key());
            if (known != content_.ids.end())
                known->second = round_->ticket;
            else
                content_.ids.insert(std::move(named));
        }
    }

    Content& content_;
    RoundPointer round_;
    std::unique_ptr<Growth> growth_;  // none where experts and items are known
    Reference played_;
    Reference bounds_;
    Pending::node_type node_;
    Ids id_;
    Pending::node_type trash_;
    Ids::node_type id_trash_;
};

}  // namespace normalhedge::mixtures
