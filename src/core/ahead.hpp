// Blocks of experts of whom few have weight.
//
// Experts are taken in groups of eight, one for each lane of a sum. A group without weight adds zeros to the sums over
// weights: without it they are the same to the bit. So loops over weights visit the other groups alone, in their order,
// and the experts after the last whole group. The groups are listed without a branch, which would often be mispredicted.
#pragma once

#include <cstdint>

#include "columns.hpp"

namespace normalhedge::engine {

constexpr size_t block = 1024;  // experts whose rises are held at a time

// The groups of a block that have weight.
struct Ahead {
    std::uint8_t groups[block / SumLanes::count];
    size_t count = 0;  // of the groups listed
    bool all = true;   // whether there are so many that loops visit all experts

    // How many experts loops do not visit.
    size_t left_out(size_t n) const { return all ? 0 : (n / SumLanes::count - count) * SumLanes::count; }
};

// Whether more than an eighth of the numbers are positive, judged by every eighth group.
[[gnu::always_inline]] inline bool mostly_ahead(const double* values, size_t groups) {
    SumLanes positive;
    size_t looks = 0;
    for (size_t g = 0; g < groups; g += SumLanes::count, ++looks) {
        const double* group = values + g * SumLanes::count;
#pragma omp simd
        for (size_t k = 0; k < SumLanes::count; ++k) positive.of[k] += group[k] > 0.0 ? 1.0 : 0.0;
    }
    return positive.folded() > static_cast<double>(looks);
}

// List the groups in which a number is positive, if they are few.
[[gnu::always_inline]] inline void find_ahead(const double* values, size_t n, Ahead& ahead) {
    constexpr size_t few_groups = 8;  // of so few experts all are computed
    const size_t groups = n / SumLanes::count;
    ahead.all = groups < few_groups || mostly_ahead(values, groups);
    if (ahead.all) return;
    std::uint8_t positive[block];
#pragma omp simd
    for (size_t i = 0; i < n; ++i) positive[i] = values[i] > 0.0;
    size_t count = 0;
    for (size_t g = 0; g < groups; ++g) {
        std::uint64_t any;
        std::memcpy(&any, positive + g * SumLanes::count, sizeof any);
        ahead.groups[count] = static_cast<std::uint8_t>(g);
        count += any != 0;
    }
    ahead.count = count;
    ahead.all = 2 * count > groups;
}

// The same as `add_in_lanes` over all experts, where the terms of the groups that are not listed are zero.
template <class Add, class... Some>
[[gnu::always_inline]] inline std::array<double, sizeof...(Some)> add_ahead(const Ahead& ahead, size_t n, Add add,
                                                                            Some... sums) {
    if (ahead.all) return add_in_lanes(n, add, Some()...);  // copies of the sums would stay in memory
    for (size_t j = 0; j < ahead.count; ++j) {
        const size_t first = ahead.groups[j] * SumLanes::count;
#pragma omp simd
        for (size_t k = 0; k < SumLanes::count; ++k) add(first + k, sums.of[k]...);
    }
    const size_t rest = n - n % SumLanes::count;
    for (size_t k = 0; rest + k < n; ++k) add(rest + k, sums.of[k]...);
    return {sums.folded()...};
}

// Divide the weights by a total > 0, as `divide` does.
[[gnu::always_inline]] inline void divide_ahead(const Ahead& ahead, double* weights, size_t n, double total) {
    const double scale = 1.0 / total;
    if (scale * total == 1.0)
        add_ahead(ahead, n, [&](size_t i) { weights[i] *= scale; });
    else
        add_ahead(ahead, n, [&](size_t i) { weights[i] /= total; });
}

}  // namespace normalhedge::engine
