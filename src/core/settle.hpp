// The outcomes of a round, as a transaction.
#pragma once

#include "predict.hpp"

namespace normalhedge::mixtures {

// The losses of a round by a user's function, as arrays.
struct OwnLosses {
    Reference losses;
    Reference slopes;

    // Call the user's function; the arrays are rows x 1 x n, rows x values and rows.
    static OwnLosses call(const Rule& rule, PyObject* table, PyObject* values, PyObject* outcomes) {
        Reference pair = Reference::checked(
            PyObject_CallFunctionObjArgs(rule.own_loss, table, values, outcomes, nullptr));
        if (!PyTuple_CheckExact(pair.get()) || PyTuple_GET_SIZE(pair.get()) != 2)
            raise(PyExc_TypeError, "a loss of your own must give losses and slopes");
        return {Reference::borrowed(PyTuple_GET_ITEM(pair.get(), 0)),
                Reference::borrowed(PyTuple_GET_ITEM(pair.get(), 1))};
    }

    void give_to(Rows& rows) const {
        const auto table = From<Matrix<const double>>::get(losses.get());
        const auto slope = From<Vector<const double>>::get(slopes.get());
        if (table.rows != rows.count || table.columns != rows.own_step ||
            slope.n != rows.count * rows.slope_step)
            raise(PyExc_ValueError, "a loss of your own must give a number for each forecast");
        rows.own = table.data;
        rows.own_slopes = slope.data;
    }
};

// The settlement of a round.
class SettleTransaction {
public:
    SettleTransaction(Content& content, RoundPointer round, const double* outcomes, bool file)
        : content_(content), round_(std::move(round)), files_(file) {
        const Rule& rule = *content.rule;
        const RowShape& shape = round_->shape;
        content.refresh();
        late_ = static_cast<double>(content.rounds > round_->number ? content.rounds - round_->number - 1 : 0);
        rows_ = PredictTransaction::rows_of(rule, *round_, nullptr);
        if (shape.n < content.n()) widen();
        if (content.spare_entry.empty())
            entry_.emplace_back();
        else
            entry_.splice(entry_.end(), content.spare_entry);
        Entry& entry = entry_.back();
        entry.outcomes = Outcomes(outcomes, shape.count);
        entry.round = round_;
        entry.rounds = content.rounds;
        rows_.outcomes = entry.outcomes.data();
        if (rule.own_loss) {
            Reference table = new_array({shape.count, shape.classes, rows_.n}, rows_.forecasts);
            Reference values = new_array({shape.count, shape.values}, round_->values);
            Reference known = new_array({shape.count}, outcomes);
            own_ = OwnLosses::call(rule, table.get(), values.get(), known.get());
            own_.give_to(rows_);
        }
        if (files_) prepare_checkpoint();
        Board board = content.board();
        board.game_by_game(rows_, [&](size_t g, const Rows&, size_t) { board.prepare(g, late_); });
        if (rule.own_hedger && files_) {
            state_ = std::make_unique<State>(content.state);
            states_ = copy_of_list(content.states);
        }
    }

    void commit() {
        const Rule& rule = *content_.rule;
        const RowShape& shape = round_->shape;
        Reserved room(rule.room(rows_.n, shape.count, shape.classes));
        State& state = state_ ? *state_ : content_.state;
        Board board(rule, state, content_.widened, state_ ? states_.get() : content_.states.get());
        note_round(rule.recipe, rows_, state.sums());
        if (!files_) return;
        board.game_by_game(rows_, [&](size_t g, const Rows& part, size_t) {
            board.settle(g, part, late_, state.sums().totals);
        });
        if (rule.ladder && shape.tokens) learn_intervals(state);
        if (state_) {
            std::swap(content_.state, *state_);
            std::swap(content_.states, states_);
        }
        file();
    }

private:
    // Add columns for the experts that joined since: they slept.
    void widen() {
        const RowShape& shape = round_->shape;
        const size_t n = content_.n();
        const size_t lines = shape.count * shape.classes;
        wider_.assign(lines * n + (shape.rated ? n : 0), not_a_number);
        for (size_t line = 0; line < lines; ++line)
            std::copy(round_->forecasts + line * shape.n, round_->forecasts + (line + 1) * shape.n,
                      wider_.begin() + static_cast<std::ptrdiff_t>(line * n));
        if (shape.rated) {
            double* rated = wider_.data() + lines * n;
            std::copy(round_->confidence, round_->confidence + shape.n, rated);
            std::fill(rated + shape.n, rated + n, 0.0);
        }
        rows_ = {shape.count, shape.classes, n, wider_.data(), shape.rated ? wider_.data() + lines * n : nullptr,
                 round_->values, nullptr, round_->items};
        rows_.cells = round_->cells;
        content_.rule->set_steps(rows_);
    }

    // Copy the content as a checkpoint, if the last one is half a history ago.
    void prepare_checkpoint() {
        const std::int64_t size = content_.limits.history;
        if (size == 0 || content_.rounds < content_.next_checkpoint) return;
        std::shared_ptr<const Content> made = copy_of(content_, false);
        if (!content_.checkpoints.empty()) checkpoints_.push_back(content_.checkpoints.back());
        checkpoints_.push_back(std::move(made));
    }

    void learn_intervals(State& state) {
        const Ladder& ladder = *content_.rule->ladder;
        const RowShape& shape = round_->shape;
        Scratch room(room_to_settle(ladder));
        for (size_t j = 0; j < shape.count; ++j) {
            const auto item = static_cast<size_t>(round_->items[j]);
            const double* token = round_->tokens + j * shape.tokens;
            const double late = static_cast<double>(state.interval_rounds(item)) - 1.0 - token[shape.tokens - 1];
            observe_interval(ladder, state.interval(item), token, rows_.outcomes[j], late, room.data());
        }
    }

    void file() noexcept {
        trash_ = content_.pending.extract(round_->ticket);
        if (!round_->id.empty()) {
            const auto own = content_.ids.find(round_->id);
            if (own != content_.ids.end() && own->second == round_->ticket) id_trash_ = content_.ids.extract(own);
        }
        if (!checkpoints_.empty()) {
            std::swap(content_.checkpoints, checkpoints_);
            content_.next_checkpoint = content_.rounds + content_.stretch();
        }
        entry_.back().number = content_.entries++;
        content_.history.splice(content_.history.end(), entry_);
        trim(content_, entry_);
        keep_spares();
    }

    // Keep the memory of this round for the next ones.
    void keep_spares() noexcept {
        if (trash_) {
            trash_.mapped().reset();
            content_.spare_node = std::move(trash_);
        }
        if (entry_.empty() || !entry_.front().round) return;
        if (entry_.front().round.use_count() == 1) content_.spare_round = std::move(entry_.front().round);
        entry_.front().round.reset();
        content_.spare_entry.splice(content_.spare_entry.end(), entry_, entry_.begin());
    }

public:
    // Move the oldest entries to the trash, to be freed after the change.
    static void trim(Content& content, History& trash) noexcept {
        while (static_cast<std::int64_t>(content.history.size()) > content.limits.history)
            trash.splice(trash.end(), content.history, content.history.begin());
    }

private:
    Content& content_;
    RoundPointer round_;
    bool files_;  // false: only add up losses
    double late_ = 0.0;
    Rows rows_{};
    std::vector<double> wider_;
    History entry_;
    OwnLosses own_;
    std::vector<std::shared_ptr<const Content>> checkpoints_;
    std::unique_ptr<State> state_;  // a private copy, where a hedger is written in Python
    Reference states_;
    Pending::node_type trash_;
    Ids::node_type id_trash_;
};

}  // namespace normalhedge::mixtures
