// All numbers of a router as one row, for files and copies.
#pragma once

#include <stdexcept>

#include "learner.hpp"

namespace normalhedge::routing {

class Archive final : public Visitor {
public:
    Archive() = default;
    explicit Archive(std::vector<double> numbers) : row_(std::move(numbers)), reads_(true) {}

    bool reads() const { return reads_; }
    bool finished() const { return place_ == row_.size(); }
    const std::vector<double>& written() const { return row_; }
    [[noreturn]] static void refuse() { throw std::invalid_argument("the numbers of a router do not fit together"); }

    void number(double& value) override {
        if (!reads_)
            row_.push_back(value);
        else if (place_ < row_.size())
            value = row_[place_++];
        else
            refuse();
    }
    void whole(int64_t& value) {
        double number = static_cast<double>(value);
        this->number(number);
        if (!(std::fabs(number) < 0x1p53) || std::floor(number) != number) refuse();
        value = static_cast<int64_t>(number);
    }
    void row(std::vector<double>& values) override {
        for (double& value : values) number(value);
    }

    template <class List, class Work>
    void list(List& values, const Work& work) {
        int64_t count = static_cast<int64_t>(values.size());
        whole(count);
        if (count < 0 || (reads_ && static_cast<size_t>(count) > row_.size() - place_)) refuse();
        if (reads_) values.resize(static_cast<size_t>(count));
        for (auto& value : values) work(value);
    }
    void numbers(std::vector<double>& values) {
        list(values, [&](double& value) { number(value); });
    }
    void wholes(std::vector<int64_t>& values) {
        list(values, [&](int64_t& value) { whole(value); });
    }
    void flag(bool& value) {
        int64_t number = value;
        whole(number);
        value = number != 0;
    }

    void round(Round& round) {
        for (int64_t* number : {&round.ticket, &round.action, &round.cell}) whole(*number);
        for (double* value : {&round.probability, &round.spread, &round.pending, &round.cost, &round.price, &round.highest})
            number(*value);
        flag(round.full);
        flag(round.all_awake);
        wholes(round.awake);
        list(round.known, [&](Known& known) {
            whole(known.action);
            number(known.probability);
            number(known.gain);
        });
        if (round.known.empty()) refuse();
    }

    // A learner that reads has no actions yet.
    void learner(Learner& learner) {
        std::vector<int64_t> ids = learner.ids;
        wholes(ids);
        int64_t cells = static_cast<int64_t>(learner.cells());
        whole(cells);
        if (reads_) {
            if (cells < 0 || cells > learner.most_cells() || learner.count() > 0) refuse();
            for (int64_t id : ids) {
                if (!learner.ids.empty() && id <= learner.ids.back()) refuse();
                learner.join(id);
            }
            learner.open(cells);
        }
        learner.visit(*this);
    }

private:
    std::vector<double> row_;
    size_t place_ = 0;
    bool reads_ = false;
};

}  // namespace normalhedge::routing
