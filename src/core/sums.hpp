// Sums over experts whose bits do not depend on the processor.
//
// Term i goes to lane i mod 8, and the lanes are added in a fixed order: one vector of AVX-512, two of AVX2 and eight
// scalars give the same sum. An `omp simd reduction` would take as many lanes as the vectors have.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

namespace normalhedge {

struct Lanes {
    static constexpr std::size_t count = 8;

    double of[count] = {};

    [[gnu::always_inline]] double folded() const {
        return ((of[0] + of[4]) + (of[2] + of[6])) + ((of[1] + of[5]) + (of[3] + of[7]));
    }
};

// The lanes of each sum are a variable of their own, so that compilers keep them in registers.
template <class Add, class... SomeLanes>
[[gnu::always_inline]] inline std::array<double, sizeof...(SomeLanes)> add_in_lanes(std::size_t n, Add add,
                                                                                   SomeLanes... sums) {
    std::size_t first = 0;
    for (; first + Lanes::count <= n; first += Lanes::count) {
#pragma omp simd
        for (std::size_t k = 0; k < Lanes::count; ++k) add(first + k, sums.of[k]...);
    }
    for (std::size_t k = 0; first + k < n; ++k) add(first + k, sums.of[k]...);
    return {sums.folded()...};
}

template <class Add, std::size_t... sum>
[[gnu::always_inline]] inline auto add_up(std::size_t n, Add add, std::index_sequence<sum...>) {
    return add_in_lanes(n, add, (static_cast<void>(sum), Lanes())...);
}

// Some sums over i < n: `add(i, a, b, ...)` adds the terms of i to them.
template <std::size_t count, class Add>
[[gnu::always_inline]] inline std::array<double, count> add_up(std::size_t n, Add add) {
    return add_up(n, add, std::make_index_sequence<count>());
}

// The sum of term(i) over i < n.
template <class Term>
[[gnu::always_inline]] inline double sum_of(std::size_t n, Term term) {
    return add_in_lanes(n, [&](std::size_t i, double& sum) { sum += term(i); }, Lanes())[0];
}

}  // namespace normalhedge
