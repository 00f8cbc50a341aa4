// Sorting and medians of many numbers.
//
// The numbers are thrown into buckets between the least and the largest: where they lie alike, few share a bucket, and
// the work grows with n alone. Large buckets are sorted as any numbers are, so that it never exceeds n log n.
#pragma once

#include <algorithm>
#include <cstdint>

#include "columns.hpp"

namespace normalhedge {

// A number and what belongs to it, such as its place; entries with the same number are sorted by the latter.
template <class Label>
struct Labelled {
    double x;
    Label label;

    bool operator<(const Labelled& other) const { return x < other.x || (x == other.x && label < other.label); }
};

// The buckets of numbers.
struct Buckets {
    double low;
    double scale;  // of buckets to numbers; 0 where there are none: all numbers are equal, or too close

    template <class Value>
    Buckets(const Value& value, size_t n, size_t count) {
        double least = -infinity, most = -infinity;  // minus the least
#pragma omp simd reduction(max : least, most)
        for (size_t i = 0; i < n; ++i) {
            least = larger(least, -value(i));
            most = larger(most, value(i));
        }
        low = -least;
        scale = most > low ? static_cast<double>(count - 1) / (most - low) : 0.0;
        if (!(scale < 1e290)) scale = 0.0;
    }

    size_t of(double x) const { return static_cast<size_t>(static_cast<std::int64_t>((x - low) * scale)); }
};

constexpr size_t worth_buckets = 64;

// Sort entries; `room` is for as many.
template <class Label>
void sort_entries(Labelled<Label>* entries, size_t n, Labelled<Label>* room) {
    if (n < worth_buckets) return std::sort(entries, entries + n);
    const Buckets buckets([&](size_t i) { return entries[i].x; }, n, n);
    if (buckets.scale == 0.0) return std::sort(entries, entries + n);
    Scratch memory(n / 2 + 1);
    auto* ends = reinterpret_cast<std::uint32_t*>(memory.data());
    std::fill(ends, ends + n, 0);
    for (size_t i = 0; i < n; ++i) ++ends[buckets.of(entries[i].x)];
    std::uint32_t end = 0;
    for (size_t b = 0; b < n; ++b) ends[b] = end += ends[b];
    for (size_t i = n; i-- > 0;) room[--ends[buckets.of(entries[i].x)]] = entries[i];  // now they are beginnings
    constexpr size_t large = 24;
    for (size_t b = 0; b < n; ++b) {
        const size_t last = b + 1 < n ? ends[b + 1] : n;
        if (last - ends[b] > large) std::sort(room + ends[b], room + last);
    }
    for (size_t i = 0; i < n; ++i) {
        const Labelled<Label> entry = room[i];
        size_t place = i;
        for (; place > 0 && entry < entries[place - 1]; --place) entries[place] = entries[place - 1];
        entries[place] = entry;
    }
}

// The median, whose place among some of the numbers is the `middle`; or midway to the number before it, the largest of
// those before the middle, or else `below`.
inline double median_between(double* first, double* middle, double* last, bool odd, double below) {
    std::nth_element(first, middle, last);
    if (odd) return *middle;
    if (middle != first) below = *std::max_element(first, middle);
    return below + 0.5 * (*middle - below);
}

// The median of n > 0 numbers, which it may reorder.
inline double median_of(double* values, size_t n) {
    const size_t half = n / 2;
    if (n < worth_buckets) return median_between(values, values + half, values + n, n % 2, -infinity);
    const Buckets buckets([=](size_t i) { return values[i]; }, n, worth_buckets);
    if (buckets.scale == 0.0) return median_between(values, values + half, values + n, n % 2, -infinity);
    std::uint32_t sizes[worth_buckets] = {};
    for (size_t i = 0; i < n; ++i) ++sizes[buckets.of(values[i])];
    size_t chosen = 0, before = 0;
    while (before + sizes[chosen] <= half) before += sizes[chosen++];
    Scratch room(n);
    double* last = room.data();
    double below = -infinity;
    for (size_t i = 0; i < n; ++i) {
        const size_t bucket = buckets.of(values[i]);
        *last = values[i];
        last += bucket == chosen ? 1 : 0;
        below = larger(below, bucket < chosen ? values[i] : -infinity);
    }
    return median_between(room.data(), room.data() + (half - before), last, n % 2, below);
}

}  // namespace normalhedge
