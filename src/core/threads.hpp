// Long arrays in slices, on all cores.
//
// The slices depend on the length alone, so the same input gives the same bits on any number of
// cores. Threads are started for each piece of work: beside millions of experts that costs nothing,
// and there is no pool to survive a fork or to shut down.
#pragma once

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

#include "numbers.hpp"

namespace normalhedge {

using std::size_t;

struct Largest {
    double value = -infinity;

    void add(const Largest& other) { value = larger(value, other.value); }
};

// How arrays are cut; tests make both small.
struct Slicing {
    size_t slice = size_t{1} << 17;  // long beside the cost of a call, short beside the cache
    size_t large = size_t{1} << 21;  // from here on a thread costs less than it saves
    size_t cores = 1;
};

inline Slicing slicing;

// Return the sum of the results of `work` over slices [first, last).
template <class Sum, class Work>
Sum in_slices(size_t n, const Work& work) {
    if (n < slicing.large) return work(0, n);
    const size_t slices = (n + slicing.slice - 1) / slicing.slice;
    std::vector<Sum> results(slices);
    std::atomic<size_t> next{0};
    const auto worker = [&] {
        for (size_t s = next++; s < slices; s = next++)
            results[s] = work(s * slicing.slice, std::min(n, (s + 1) * slicing.slice));
    };
    std::vector<std::thread> others;
    others.reserve(slicing.cores);  // nothing may be thrown while they run
    for (size_t w = 1; w < std::min(slicing.cores, slices); ++w) {
        try {
            others.emplace_back(worker);
        } catch (const std::system_error&) {
            break;  // no thread to be had: this one does the rest
        }
    }
    worker();
    for (std::thread& other : others) other.join();
    Sum total;
    for (const Sum& result : results) total.add(result);
    return total;
}

}  // namespace normalhedge
