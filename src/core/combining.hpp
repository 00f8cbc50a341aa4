// Forecasts and weights -> one prediction, inside the hull of the forecasts heard, except for the logarithmic pool.
//
//     mean      sum_i q_i x_i
//     median    the weighted median: half of the weight on either side; midway where it is a tie
//     trimmed   the mean of the middle half of the weight
//     vote      the forecast with the largest weight: for labels, which have no middle
//     logarithmic  prod_i max(p_i, 1e-6)^q_i, up to a factor common to all classes: for class probabilities. The floor
//               lets no expert rule a class out alone
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "columns.hpp"
#include "losses.hpp"
#include "sorting.hpp"

namespace normalhedge::mixtures {

enum class Way { mean, median, trimmed, vote, logarithmic };

// Weights that differ from a half by less than this are a half: sums of doubles are not exact.
constexpr double tie = 1e-12;

// The mean of the forecasts with weight; NaN where there are none. It averages differences from one of them, so
// that equal forecasts give exactly their common value.
NORMALHEDGE_VECTORISED inline double weighted_mean(const double* forecasts, const double* played,
                                                   size_t n) {
    size_t first = 0;
    while (first < n && !(played[first] > 0.0)) ++first;
    if (first == n) return not_a_number;
    const double origin = forecasts[first];
    const double excess = sum_of(n, [&](size_t i) {
        return played[i] * ((played[i] > 0.0 ? forecasts[i] : origin) - origin);
    });
    double low = -origin;
    double high = origin;
#pragma omp simd reduction(max : low, high)
    for (size_t i = 0; i < n; ++i) {
        const double x = played[i] > 0.0 ? forecasts[i] : origin;
        high = larger(high, x);
        low = larger(low, -x);
    }
    return within(origin + excess, -low, high);
}

// The weighted geometric mean of probabilities; NaN where there are none.
NORMALHEDGE_VECTORISED inline double geometric_mean(const double* forecasts, const double* played, size_t n) {
    const auto [total, heard] = add_up<2>(n, [&](size_t i, double& logs, double& weights) {
        const double p = played[i] > 0.0 ? forecasts[i] : 1.0;
        logs += played[i] * log(larger(p, least_probability));
        weights += played[i];
    });
    return heard > 0.0 ? std::exp(total / heard) : not_a_number;
}

// The forecasts with weight in rising order, and their weights.
class SortedForecasts {
public:
    // `room` is for 2n doubles. An order saves time in which the forecasts rise, or nearly so: then they are sorted.
    SortedForecasts(const double* forecasts, const double* played, size_t n, double* room,
                    const std::uint32_t* order = nullptr, bool nearly = false)
        : size_(0), values_(room), masses_(room + n) {
        for (size_t k = 0; k < n; ++k) {
            const size_t i = order ? order[k] : k;
            values_[size_] = forecasts[i];
            masses_[size_] = played[i];
            size_ += played[i] > 0.0 ? 1 : 0;
        }
        if (!order || nearly) sort();
    }

    double median() const {
        if (size_ == 0) return not_a_number;
        double half = 0.0;
        for (size_t i = 0; i < size_; ++i) half += 0.5 * masses_[i];
        double below = 0.0;
        for (size_t i = 0; i + 1 < size_; ++i) {
            below += masses_[i];
            if (below > half * (1.0 + tie)) return values_[i];
            if (below >= half * (1.0 - tie))
                return values_[i] + 0.5 * (values_[i + 1] - values_[i]);
        }
        return values_[size_ - 1];
    }

    // The mean between the quartiles.
    double trimmed() const {
        if (size_ == 0) return not_a_number;
        double total = 0.0;
        for (size_t i = 0; i < size_; ++i) total += masses_[i];
        const double low = 0.25 * total;
        const double high = 0.75 * total;
        const double origin = median();
        double below = 0.0;
        double mass = 0.0;
        double excess = 0.0;
        for (size_t i = 0; i < size_; ++i) {
            const double above = below + masses_[i];
            const double inside = smaller(above, high) - larger(below, low);
            if (inside > 0.0) {
                mass += inside;
                excess += inside * (values_[i] - origin);
            }
            below = above;
        }
        return mass > 0.0 ? origin + excess / mass : origin;
    }

    // The forecast with the largest weight; the smallest one where several tie.
    double vote() const {
        double chosen = not_a_number;
        double most = 0.0;
        for (size_t i = 0, j; i < size_; i = j) {
            double mass = masses_[i];
            for (j = i + 1; j < size_ && values_[j] == values_[i]; ++j) mass += masses_[j];
            if (mass > most * (1.0 + tie)) {
                most = mass;
                chosen = values_[i];
            }
        }
        return chosen;
    }

private:
    // Shell's sort while few experts have weight: for few it is as fast as any.
    void sort() {
        if (size_ >= worth_buckets) return sort_many();
        size_t gap = 1;
        while (gap < size_ / 3) gap = 3 * gap + 1;
        for (; gap > 0; gap /= 3) {
            for (size_t i = gap; i < size_; ++i) {
                const double x = values_[i];
                const double q = masses_[i];
                size_t j = i;
                for (; j >= gap && values_[j - gap] > x; j -= gap) {
                    values_[j] = values_[j - gap];
                    masses_[j] = masses_[j - gap];
                }
                values_[j] = x;
                masses_[j] = q;
            }
        }
    }

    void sort_many() {
        Scratch memory(4 * size_);
        auto* entries = reinterpret_cast<Labelled<double>*>(memory.data());
        for (size_t i = 0; i < size_; ++i) entries[i] = {values_[i], masses_[i]};
        sort_entries(entries, size_, entries + size_);
        for (size_t i = 0; i < size_; ++i) {
            values_[i] = entries[i].x;
            masses_[i] = entries[i].label;
        }
    }

    size_t size_;
    double* values_;
    double* masses_;
};

// Write the order of n forecasts: of the ones that are `rated`, rising, then the others. Return how many are rated.
inline size_t write_order(const double* forecasts, const double* rated, size_t n, std::uint32_t* order) {
    Scratch memory(4 * n);
    auto* entries = reinterpret_cast<Labelled<std::uint64_t>*>(memory.data());
    size_t first = 0;
    size_t last = n;
    for (size_t i = 0; i < n; ++i) {
        if (rated[i] > 0.0)
            entries[first++] = {forecasts[i], i};
        else
            order[--last] = static_cast<std::uint32_t>(i);
    }
    sort_entries(entries, first, entries + n);
    for (size_t i = 0; i < first; ++i) order[i] = static_cast<std::uint32_t>(entries[i].label);
    return first;
}

// Write the combined forecast, for each class where there are classes; `room` is for 2n doubles.
inline void combine(const Forecasts& forecasts, const double* played, Way way, double* room,
                    double* result) {
    for (size_t c = 0; c < forecasts.classes; ++c) {
        const double* x = forecasts.of_class(c);
        if (way == Way::mean) {
            result[c] = weighted_mean(x, played, forecasts.n);
        } else if (way == Way::logarithmic) {
            result[c] = geometric_mean(x, played, forecasts.n);
        } else {
            const SortedForecasts heard(x, played, forecasts.n, room, forecasts.order);
            result[c] = way == Way::median    ? heard.median()
                        : way == Way::trimmed ? heard.trimmed()
                                              : heard.vote();
        }
    }
}

}  // namespace normalhedge::mixtures
