// The ledger of a mixture: pending rounds and settled rounds.
#pragma once

#include "python.hpp"

#include <algorithm>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "state.hpp"

namespace normalhedge::mixtures {

using python::Reference;

// The size of a round.
struct RowShape {
    size_t count;    // rows
    size_t classes;
    size_t n;        // experts
    size_t values;   // numbers of a row that are predicted
    size_t tokens;   // numbers of a row that settle its intervals
    bool rated;      // whether there are confidences
    bool placed = false;  // whether rows have cells of contexts

    bool operator==(const RowShape& other) const {
        return count == other.count && classes == other.classes && n == other.n && values == other.values &&
               tokens == other.tokens && rated == other.rated && placed == other.placed;
    }
    size_t whole_numbers() const { return count * (placed ? 1 + most_contexts : 1); }
    size_t doubles() const {
        return count * (classes * n + values + tokens) + (rated ? n : 0);
    }
};

// A round. It owns its numbers, which do not change once it is predicted.
class Round {
public:
    std::int64_t ticket = 0;
    std::int64_t number = 0;  // of rounds that were predicted before it
    RowShape shape;
    Reference keys;  // None, a range, or a tuple of names
    std::string id;  // as JSON; empty if it has none
    double* forecasts;   // count x classes x n
    double* values;      // count x values
    double* tokens;      // count x tokens
    double* confidence;  // n, or none
    std::int32_t* items; // count
    std::int32_t* cells; // count x most_contexts, or none

    explicit Round(const RowShape& extents) : shape(extents) {
        if (size() > few) block_.reset(new double[size()]);
        forecasts = block_ ? block_.get() : room_;
        values = forecasts + extents.count * extents.classes * extents.n;
        tokens = values + extents.count * extents.values;
        confidence = extents.rated ? tokens + extents.count * extents.tokens : nullptr;
        items = reinterpret_cast<std::int32_t*>(forecasts + extents.doubles());
        cells = extents.placed ? items + extents.count : nullptr;
    }
    Round(const Round& other) : Round(other.shape) {
        ticket = other.ticket;
        number = other.number;
        keys = Reference::borrowed(other.keys.get());
        id = other.id;
        std::memcpy(forecasts, other.forecasts, size() * sizeof(double));
    }
    Round& operator=(const Round&) = delete;

    // The round with the experts at these places only, which are in order.
    std::shared_ptr<Round> only(const std::vector<std::int32_t>& places) const {
        RowShape fewer = shape;
        fewer.n = static_cast<size_t>(
            std::lower_bound(places.begin(), places.end(), static_cast<std::int32_t>(shape.n)) - places.begin());
        auto other = std::make_shared<Round>(fewer);
        other->ticket = ticket;
        other->number = number;
        other->keys = Reference::borrowed(keys.get());
        other->id = id;
        for (size_t line = 0; line < shape.count * shape.classes; ++line)
            for (size_t i = 0; i < fewer.n; ++i)
                other->forecasts[line * fewer.n + i] = forecasts[line * shape.n + static_cast<size_t>(places[i])];
        if (confidence)
            for (size_t i = 0; i < fewer.n; ++i) other->confidence[i] = confidence[places[i]];
        std::copy(values, values + shape.count * (shape.values + shape.tokens), other->values);
        std::copy(items, items + shape.whole_numbers(), other->items);
        return other;
    }

    size_t bytes() const {
        return sizeof(Round) + id.capacity() + (block_ ? size() * sizeof(double) : 0) + of_a_node;
    }

private:
    static constexpr size_t few = 16;
    static constexpr size_t of_a_node = 96;  // in a map or a list, and of the counts of a shared pointer

    size_t size() const { return shape.doubles() + (shape.whole_numbers() + 1) / 2; }

    double room_[few];  // of a small round
    std::unique_ptr<double[]> block_;
};

using RoundPointer = std::shared_ptr<Round>;

// The pending rounds, by ticket. Nodes of maps and lists are made before a change, and moved in the change
// itself, which cannot fail.
using Pending = std::map<std::int64_t, RoundPointer>;
using Ids = std::map<std::string, std::int64_t>;

// The outcomes of the rows of a round; NaN where they are not known.
class Outcomes {
public:
    Outcomes() = default;
    Outcomes(const double* values, size_t count) : count_(count) {
        if (count > 1) many_.reset(new double[count], std::default_delete<double[]>());
        std::copy(values, values + count, data());
    }

    size_t size() const { return count_; }
    double* data() { return many_ ? many_.get() : &one_; }
    const double* data() const { return many_ ? many_.get() : &one_; }

private:
    size_t count_ = 0;
    double one_ = 0.0;
    std::shared_ptr<double> many_;  // copies share it: outcomes do not change
};

// A settled round; or a departure of experts, before which rounds have more columns.
struct Entry {
    std::int64_t number = 0;  // entries are counted
    std::int64_t rounds = 0;  // how many were predicted when the outcome came
    RoundPointer round;
    Outcomes outcomes;
    std::shared_ptr<const std::vector<std::int32_t>> stay;  // the columns of the experts that stayed
};

using History = std::list<Entry>;

}  // namespace normalhedge::mixtures
