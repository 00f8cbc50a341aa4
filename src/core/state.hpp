// The state of a mixture: the numbers that it learned, in one block that one table describes.
#pragma once

#include <array>
#include <cstring>

#include "mixture.hpp"

namespace normalhedge::mixtures {

// The axes of the arrays. Experts, games, items, cells and classes grow, and features with the experts; the rule sets the
// others.
enum class Axis : unsigned char {
    experts, games, items, cells, classes, recalibration_rows, features, equations, equation_rows, cell_rows, ledger_rows, totals, item_numbers, interval_numbers, marks, expert_sums,
    total_sums, pair, delay, one, axes
};

enum class FieldId : unsigned char {
    weights, ledgers, totals, marks, pool_ranges, ranges, expert_sums, total_sums, loss_regrets, delays,
    intervals, interval_rounds, equation_rows, equation_squares, cell_rows, cell_squares, recalibrations, fields
};

constexpr size_t field_count = static_cast<size_t>(FieldId::fields);

struct Field {
    const char* name;
    Axis axes[4];  // experts and features come last; `one` where there are fewer axes
    int dimensions;
    bool whole = false;  // whole numbers
    int fill = 0;        // of new places
};

// The one description of the state. Growth, copies, equality, pickles and files follow from it.
constexpr std::array<Field, field_count> state_fields{{
    {"weights", {Axis::games, Axis::experts, Axis::one, Axis::one}, 2},
    {"ledgers", {Axis::games, Axis::ledger_rows, Axis::experts, Axis::one}, 3},
    {"totals", {Axis::games, Axis::totals, Axis::one, Axis::one}, 2},
    {"marks", {Axis::games, Axis::marks, Axis::experts, Axis::one}, 3, true, -1},
    {"pool_ranges", {Axis::games, Axis::pair, Axis::one, Axis::one}, 2},
    {"ranges", {Axis::items, Axis::item_numbers, Axis::one, Axis::one}, 2},
    {"expert_sums", {Axis::expert_sums, Axis::experts, Axis::one, Axis::one}, 2},
    {"total_sums", {Axis::total_sums, Axis::one, Axis::one, Axis::one}, 1},
    {"loss_regrets", {Axis::games, Axis::experts, Axis::one, Axis::one}, 2},
    {"delays", {Axis::games, Axis::delay, Axis::one, Axis::one}, 2},
    {"intervals", {Axis::items, Axis::interval_numbers, Axis::one, Axis::one}, 2},
    {"interval_rounds", {Axis::items, Axis::one, Axis::one, Axis::one}, 1, true},
    {"equation_rows", {Axis::games, Axis::equation_rows, Axis::features, Axis::one}, 3},
    {"equation_squares", {Axis::games, Axis::equations, Axis::features, Axis::features}, 4},
    {"cell_rows", {Axis::cells, Axis::cell_rows, Axis::features, Axis::one}, 3},
    {"cell_squares", {Axis::cells, Axis::features, Axis::features, Axis::one}, 3},
    {"recalibrations", {Axis::games, Axis::recalibration_rows, Axis::classes, Axis::one}, 3},
}};

// The length of each axis.
struct Shape {
    std::array<size_t, static_cast<size_t>(Axis::axes)> extents{};

    size_t& operator[](Axis axis) { return extents[static_cast<size_t>(axis)]; }
    size_t operator[](Axis axis) const { return extents[static_cast<size_t>(axis)]; }
    bool operator==(const Shape& other) const { return extents == other.extents; }

    size_t size(const Field& field) const {
        size_t size = 1;
        for (const Axis axis : field.axes) size *= (*this)[axis];
        return size;
    }
};

// The delay of the outcomes of a game. Between a prediction and its own outcome the hedger learns at most as many
// others as were predicted while some round was pending; twice as many, where outcomes come out of order.
struct Delay {
    double waited;      // the largest number of rounds predicted while one was pending
    double next;        // the number after the last settled round
    double disordered;  // 1 if a round was settled after a later one
    double predicted;   // how many rounds were predicted

    // Settle a round after which `late` rounds were predicted.
    void see(double late) {
        const double number = predicted - 1.0 - late;
        waited = larger(waited, late);
        if (number < next) disordered = 1.0;
        next = larger(next, number + 1.0);
    }
    double outcomes() const { return waited * (1.0 + disordered); }
};

static_assert(sizeof(Range) == 2 * sizeof(double), "a range is two numbers of an array");
static_assert(sizeof(Delay) == 4 * sizeof(double), "a delay is four numbers of an array");
static_assert(sizeof(std::int64_t) == sizeof(double), "whole numbers take as much room as others");

class State {
public:
    State() = default;

    // All places hold the fill of their field.
    explicit State(const Shape& shape, const Shape& room) : shape_(shape), room_(room) {
        size_t total = 0;
        for (size_t f = 0; f < field_count; ++f) {
            offsets_[f] = total;
            total += room.size(state_fields[f]);
        }
        size_ = total;
        block_.reset(static_cast<double*>(std::malloc((total ? total : 1) * sizeof(double))));
        if (!block_) throw std::bad_alloc();
        for (size_t f = 0; f < field_count; ++f)
            fill_words(block_.get() + offsets_[f], room.size(state_fields[f]), state_fields[f]);
    }
    explicit State(const Shape& shape) : State(shape, with_feature_room(shape)) {}

    State(const State& other)
        : shape_(other.shape_), room_(other.room_), offsets_(other.offsets_), size_(other.size_) {
        block_.reset(static_cast<double*>(std::malloc((size_ ? size_ : 1) * sizeof(double))));
        if (!block_) throw std::bad_alloc();
        if (size_) std::memcpy(block_.get(), other.block_.get(), size_ * sizeof(double));
    }
    State(State&&) = default;
    State& operator=(State&&) = default;
    State& operator=(const State&) = delete;

    const Shape& shape() const { return shape_; }
    size_t operator[](Axis axis) const { return shape_[axis]; }
    size_t stride() const { return room_[Axis::experts]; }
    size_t features() const { return room_[Axis::features]; }  // with spare places

    double* at(FieldId field) const { return block_.get() + offsets_[static_cast<size_t>(field)]; }
    std::int64_t* whole_at(FieldId field) const {
        return reinterpret_cast<std::int64_t*>(at(field));
    }

    // Whether there is room for more experts, games, items, cells and classes.
    bool has_room(const Shape& shape) const {
        return shape[Axis::experts] <= room_[Axis::experts] && shape[Axis::games] <= room_[Axis::games] &&
               shape[Axis::items] <= room_[Axis::items] && shape[Axis::cells] <= room_[Axis::cells] &&
               shape[Axis::classes] <= room_[Axis::classes];
    }

    // Use spare room for more experts, games, items, cells and classes; new places hold the fill.
    void extend(const Shape& shape) noexcept {
        Shape before = shape_;
        before[Axis::features] = common_feature_count(shape_, shape);
        shape_ = shape;
        for (const Field& field : state_fields) fill_new(field, before);
    }

    // The room of a larger state. Axes grow by half, so that joining one by one copies each number a few times only.
    Shape room_for(const Shape& shape) const {
        Shape room = shape;
        for (const Axis axis : {Axis::experts, Axis::games, Axis::items, Axis::cells, Axis::classes, Axis::one}) {
            const size_t wanted = shape[axis];
            if (wanted > room_[axis] && wanted >= spacious) room[axis] = wanted + wanted / 2;
            if (wanted <= room_[axis]) room[axis] = room_[axis];
        }
        set_feature_room(room);
        return room;
    }

    // A larger state.
    State extended(const Shape& shape) const {
        State larger_state(shape, room_for(shape));
        for (size_t f = 0; f < field_count; ++f) copy_field(f, larger_state, nullptr);
        return larger_state;
    }

    // The bytes of a state that is large enough for a shape; a double, as they may be more than there are numbers.
    double bytes_for(const Shape& shape) const {
        const Shape room = has_room(shape) ? room_ : room_for(shape);
        double bytes = 0.0;
        for (const Field& field : state_fields) {
            double size = sizeof(double);
            for (const Axis axis : field.axes) size *= static_cast<double>(room[axis]);
            bytes += size;
        }
        return bytes;
    }

    // The state of some experts only, at these places in order.
    State only(const std::vector<std::int32_t>& places) const {
        Shape shape = shape_;
        shape[Axis::experts] = places.size();
        Shape room = room_;
        room[Axis::experts] = places.size() >= spacious ? places.size() + places.size() / 2 : places.size();
        set_features(shape);
        set_feature_room(room);
        State fewer(shape, room);
        for (size_t f = 0; f < field_count; ++f)
            copy_field(f, fewer, places.data());
        return fewer;
    }

    // Copy a field to or from an array without spare places.
    void read(size_t f, double* to) const { each_row(f, [&](double* row, size_t k, size_t n) {
        std::memcpy(to + k * n, row, n * sizeof(double));
    }); }
    void write(size_t f, const double* from) { each_row(f, [&](double* row, size_t k, size_t n) {
        std::memcpy(row, from + k * n, n * sizeof(double));
    }); }

    Game game(size_t g) const {
        const size_t n = shape_[Axis::experts];
        const size_t capacity = stride();
        return {{n, n, capacity, at(FieldId::weights) + g * capacity,
                 at(FieldId::ledgers) + g * shape_[Axis::ledger_rows] * capacity,
                 at(FieldId::totals) + g * shape_[Axis::totals], g},
                whole_at(FieldId::marks) + g * Sums::mark_rows * capacity,
                reinterpret_cast<Range*>(at(FieldId::pool_ranges)) + g,
                at(FieldId::loss_regrets) + g * capacity, stacks(g), shifts(g)};
    }
    Stacks stacks(size_t g) const {
        const size_t room = features();
        return {at(FieldId::equation_rows) + g * shape_[Axis::equation_rows] * room,
                at(FieldId::equation_squares) + g * shape_[Axis::equations] * room * room,
                shape_[Axis::features], room};
    }
    Shifts shifts(size_t g) const {
        const size_t room = room_[Axis::classes];
        return {at(FieldId::recalibrations) + g * shape_[Axis::recalibration_rows] * room, shape_[Axis::classes], room};
    }
    Cells cells() const {
        return {at(FieldId::cell_rows), at(FieldId::cell_squares), shape_[Axis::cells], shape_[Axis::features],
                features()};
    }
    Delay& delay(size_t g) const { return reinterpret_cast<Delay*>(at(FieldId::delays))[g]; }
    ItemRanges item_ranges() const { return {at(FieldId::ranges), shape_[Axis::item_numbers]}; }
    Sums sums() const { return {at(FieldId::expert_sums), at(FieldId::total_sums), stride()}; }
    double* interval(size_t item) const {
        return at(FieldId::intervals) + item * shape_[Axis::interval_numbers];
    }
    std::int64_t& interval_rounds(size_t item) const { return whole_at(FieldId::interval_rounds)[item]; }

private:
    static constexpr size_t spacious = 16;  // from here on there is spare room

    static void fill_words(double* place, size_t n, const Field& field) {
        if (field.whole)
            std::fill(reinterpret_cast<std::int64_t*>(place), reinterpret_cast<std::int64_t*>(place) + n,
                      field.fill);
        else
            std::fill(place, place + n, static_cast<double>(field.fill));
    }

    // A field is divided into lines along its last axis. An axis of features or experts may have spare places.
    template <class Work>
    void each_line(size_t f, const Shape& shape, const Work& work) const {
        const Field& field = state_fields[f];
        const int last = field.dimensions - 1;
        size_t count = 1;
        for (int d = 0; d < last; ++d) count *= shape[field.axes[d]];
        std::array<size_t, 4> index{};
        for (size_t k = 0; k < count; ++k) {
            work(index, k, shape[field.axes[last]]);
            for (int d = last - 1; d >= 0; --d) {
                if (++index[static_cast<size_t>(d)] < shape[field.axes[d]]) break;
                index[static_cast<size_t>(d)] = 0;
            }
        }
    }
    double* line(size_t f, const std::array<size_t, 4>& index) const {
        const Field& field = state_fields[f];
        size_t place = 0;
        for (int d = 0; d + 1 < field.dimensions; ++d)
            place = place * room_[field.axes[d]] + index[static_cast<size_t>(d)];
        return block_.get() + offsets_[f] + place * room_[field.axes[field.dimensions - 1]];
    }

    template <class Work>
    void each_row(size_t f, const Work& work) const {
        each_line(f, shape_, [&](const std::array<size_t, 4>& index, size_t k, size_t n) {
            work(line(f, index), k, n);
        });
    }

    // The place of an expert, or of a feature, where only some experts stay.
    size_t source(Axis axis, const std::int32_t* places, size_t i) const {
        if (!places) return i;
        if (axis == Axis::experts) return static_cast<size_t>(places[i]);
        if (axis != Axis::features || i < common_features || shape_[Axis::experts] > most_stacked) return i;
        return common_features + static_cast<size_t>(places[i - common_features]);
    }

    // Copy the lines that both states have.
    void copy_field(size_t f, State& to, const std::int32_t* places) const {
        const Field& field = state_fields[f];
        Shape both = to.shape_;
        for (size_t axis = 0; axis < both.extents.size(); ++axis)
            both.extents[axis] = std::min(both.extents[axis], shape_.extents[axis]);
        both[Axis::features] = std::min(both[Axis::features], common_feature_count(shape_, to.shape_));
        const Axis last = field.axes[field.dimensions - 1];
        to.each_line(f, both, [&](const std::array<size_t, 4>& index, size_t, size_t n) {
            std::array<size_t, 4> from = index;
            for (int d = 0; d + 1 < field.dimensions; ++d)
                from[static_cast<size_t>(d)] = source(field.axes[d], places, index[static_cast<size_t>(d)]);
            const double* old = line(f, from);
            double* target = to.line(f, index);
            if (!places || (last != Axis::experts && last != Axis::features)) {
                std::memcpy(target, old, n * sizeof(double));
                return;
            }
            for (size_t i = 0; i < n; ++i) std::memcpy(target + i, old + source(last, places, i), sizeof(double));
        });
    }

    // Fill the places that were not there before.
    void fill_new(const Field& field, const Shape& before) noexcept {
        const size_t f = static_cast<size_t>(&field - state_fields.data());
        each_line(f, shape_, [&](const std::array<size_t, 4>& index, size_t, size_t n) {
            bool old = true;
            for (int d = 0; d + 1 < field.dimensions; ++d)
                old = old && index[static_cast<size_t>(d)] < before[field.axes[d]];
            const size_t kept = old ? std::min(n, before[field.axes[field.dimensions - 1]]) : 0;
            fill_words(line(f, index) + kept, n - kept, field);
        });
    }

    // How many features of a state another one goes on with: others stand for the experts where these are many.
    static size_t common_feature_count(const Shape& before, const Shape& after) {
        const bool same = (before[Axis::experts] > most_stacked) == (after[Axis::experts] > most_stacked);
        return same ? before[Axis::features] : std::min(before[Axis::features], common_features);
    }
    static void set_features(Shape& shape) {
        if (shape[Axis::equations] > 0) shape[Axis::features] = feature_count(shape[Axis::experts]);
    }
    static Shape with_feature_room(Shape shape) {
        set_feature_room(shape);
        return shape;
    }
    // Room for the features of all experts that there is room for, as far as they are used.
    static void set_feature_room(Shape& room) {
        if (room[Axis::equations] > 0)
            room[Axis::features] = feature_count(std::min(room[Axis::experts], most_stacked));
    }

    struct Free {
        void operator()(double* block) const { std::free(block); }
    };
    Shape shape_;
    Shape room_;
    std::array<size_t, field_count> offsets_{};
    size_t size_ = 0;
    std::unique_ptr<double[], Free> block_;
};

}  // namespace normalhedge::mixtures
