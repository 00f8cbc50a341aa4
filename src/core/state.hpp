// The state of a mixture: the numbers that it learned, in one block that one table describes.
#pragma once

#include <array>
#include <cstring>

#include "mixture.hpp"

namespace normalhedge::mixtures {

// The axes of the arrays. The first three grow; the others are set by the rule.
enum class Axis : unsigned char {
    experts, games, items, ledger_rows, totals, item_numbers, interval_numbers, marks, expert_sums,
    total_sums, pair, delay, one, axes
};

enum class FieldId : unsigned char {
    weights, ledgers, totals, marks, pool_ranges, ranges, expert_sums, total_sums, loss_regrets, delays,
    intervals, interval_rounds, fields
};

constexpr size_t field_count = static_cast<size_t>(FieldId::fields);

struct Field {
    const char* name;
    Axis axes[3];  // experts come last; `one` where there are fewer axes
    int dimensions;
    bool whole = false;  // whole numbers
    int fill = 0;        // of new places
};

// The one description of the state. Growth, copies, equality, pickles and files follow from it.
constexpr std::array<Field, field_count> state_fields{{
    {"weights", {Axis::games, Axis::experts, Axis::one}, 2},
    {"ledgers", {Axis::games, Axis::ledger_rows, Axis::experts}, 3},
    {"totals", {Axis::games, Axis::totals, Axis::one}, 2},
    {"marks", {Axis::games, Axis::marks, Axis::experts}, 3, true, -1},
    {"pool_ranges", {Axis::games, Axis::pair, Axis::one}, 2},
    {"ranges", {Axis::items, Axis::item_numbers, Axis::one}, 2},
    {"expert_sums", {Axis::expert_sums, Axis::experts, Axis::one}, 2},
    {"total_sums", {Axis::total_sums, Axis::one, Axis::one}, 1},
    {"loss_regrets", {Axis::games, Axis::experts, Axis::one}, 2},
    {"delays", {Axis::games, Axis::delay, Axis::one}, 2},
    {"intervals", {Axis::items, Axis::interval_numbers, Axis::one}, 2},
    {"interval_rounds", {Axis::items, Axis::one, Axis::one}, 1, true},
}};

// The length of each axis.
struct Shape {
    std::array<size_t, static_cast<size_t>(Axis::axes)> extents{};

    size_t& operator[](Axis axis) { return extents[static_cast<size_t>(axis)]; }
    size_t operator[](Axis axis) const { return extents[static_cast<size_t>(axis)]; }
    bool operator==(const Shape& other) const { return extents == other.extents; }

    size_t size(const Field& field) const {
        return (*this)[field.axes[0]] * (*this)[field.axes[1]] * (*this)[field.axes[2]];
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
    explicit State(const Shape& shape) : State(shape, shape) {}

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

    double* at(FieldId field) const { return block_.get() + offsets_[static_cast<size_t>(field)]; }
    std::int64_t* whole_at(FieldId field) const {
        return reinterpret_cast<std::int64_t*>(at(field));
    }

    // Whether there is room for more experts, games and items.
    bool has_room(const Shape& shape) const {
        return shape[Axis::experts] <= room_[Axis::experts] && shape[Axis::games] <= room_[Axis::games] &&
               shape[Axis::items] <= room_[Axis::items];
    }

    // Use spare room for more experts, games and items; new places hold the fill.
    void extend(const Shape& shape) noexcept {
        const Shape before = shape_;
        shape_ = shape;
        for (const Field& field : state_fields) fill_new(field, before);
    }

    // A larger state. Axes grow by half, so that joining one by one copies each number a few times only.
    State extended(const Shape& shape) const {
        Shape room = shape;
        for (const Axis axis : {Axis::experts, Axis::games, Axis::items}) {
            const size_t wanted = shape[axis];
            if (wanted > room_[axis] && wanted >= spacious) room[axis] = wanted + wanted / 2;
            if (wanted <= room_[axis]) room[axis] = room_[axis];
        }
        State larger_state(shape, room);
        for (size_t f = 0; f < field_count; ++f) copy_field(f, larger_state, nullptr, 0);
        return larger_state;
    }

    // The state of some experts only, at these places in order.
    State only(const std::vector<std::int32_t>& places) const {
        Shape shape = shape_;
        shape[Axis::experts] = places.size();
        Shape room = room_;
        room[Axis::experts] = places.size() >= spacious ? places.size() + places.size() / 2 : places.size();
        State fewer(shape, room);
        for (size_t f = 0; f < field_count; ++f)
            copy_field(f, fewer, places.data(), places.size());
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
                at(FieldId::loss_regrets) + g * capacity};
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

    static bool of_experts(const Field& field) {
        return field.axes[field.dimensions - 1] == Axis::experts;
    }
    static void fill_words(double* place, size_t n, const Field& field) {
        if (field.whole)
            std::fill(reinterpret_cast<std::int64_t*>(place), reinterpret_cast<std::int64_t*>(place) + n,
                      field.fill);
        else
            std::fill(place, place + n, static_cast<double>(field.fill));
    }

    // A line is the last axis of a field, if this is the axis of experts; else the numbers of one index of its
    // first axis.
    struct Lines {
        size_t count;
        size_t used;
        size_t room;
    };
    static Lines lines(const Field& field, const Shape& shape, const Shape& room) {
        if (!of_experts(field)) {
            const size_t width = shape[field.axes[1]] * shape[field.axes[2]];
            return {shape[field.axes[0]], width, width};
        }
        size_t count = 1;
        for (int d = 0; d + 1 < field.dimensions; ++d) count *= shape[field.axes[d]];
        return {count, shape[Axis::experts], room[Axis::experts]};
    }

    template <class Work>
    void each_row(size_t f, const Work& work) const {
        const Lines own = lines(state_fields[f], shape_, room_);
        for (size_t k = 0; k < own.count; ++k)
            work(block_.get() + offsets_[f] + k * own.room, k, own.used);
    }

    void copy_field(size_t f, State& to, const std::int32_t* places, size_t count) const {
        const Lines from = lines(state_fields[f], shape_, room_);
        const Lines other = lines(state_fields[f], to.shape_, to.room_);
        const bool some = places && of_experts(state_fields[f]);
        for (size_t k = 0; k < from.count; ++k) {
            const double* source = block_.get() + offsets_[f] + k * from.room;
            double* target = to.block_.get() + to.offsets_[f] + k * other.room;
            if (some)
                for (size_t i = 0; i < count; ++i)
                    std::memcpy(target + i, source + places[i], sizeof(double));
            else
                std::memcpy(target, source, from.used * sizeof(double));
        }
    }

    void fill_new(const Field& field, const Shape& before) noexcept {
        const size_t f = static_cast<size_t>(&field - state_fields.data());
        const Lines old = lines(field, before, room_);
        const Lines now = lines(field, shape_, room_);
        for (size_t k = 0; k < now.count; ++k) {
            const size_t kept = k < old.count ? old.used : 0;
            fill_words(block_.get() + offsets_[f] + k * now.room + kept, now.used - kept, field);
        }
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
