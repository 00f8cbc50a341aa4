// A game as arrays, scratch memory, and loops over one row of numbers.
//
// A column for each expert: its weight, and a ledger with a row for each number that is remembered of
// it, the regret first. Totals are numbers of the game as a whole.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

#include "numbers.hpp"
#include "sums.hpp"

namespace normalhedge {

using std::size_t;

// A view of the columns of some experts; it owns nothing.
struct Columns {
    size_t n;        // how many columns
    size_t experts;  // how many experts there are in all: n, or more in a part of a game
    size_t stride;   // from one row of the ledger to the next
    double* weights;
    double* ledger;
    double* totals;
    size_t game = 0;  // whose columns they are, where there are several games

    double* row(size_t r) const { return ledger + r * stride; }
    double* regrets() const { return ledger; }

    Columns part(size_t first, size_t width) const {
        return {width, experts, stride, weights + first, ledger + first, totals, game};
    }
};

// Memory of a thread for `Scratch`. A change of a mixture reserves all its memory before it begins, so that no
// allocation can fail in the middle of it. A small block is kept for the next change.
class Arena {
public:
    static Arena& own() {
        thread_local Arena arena;
        return arena;
    }

    // Make room for n doubles; throw std::bad_alloc where there is none.
    void reserve(size_t n) {
        reserved_ = true;
        limit_ = n;
        if (n <= size_ || used_ > 0) return;
        block_.reset();
        size_ = 0;
        block_.reset(static_cast<double*>(std::malloc(n * sizeof(double))));
        if (!block_) throw std::bad_alloc();
        size_ = n;
    }
    void end() {
        reserved_ = false;
        if (size_ <= kept || used_ > 0) return;
        block_.reset();
        size_ = 0;
    }

    double* take(size_t n) {
        if (used_ + n > size_ || (reserved_ && used_ + n > limit_)) {
            overflows += reserved_ ? 1 : 0;
            return nullptr;
        }
        used_ += n;
        return block_.get() + (used_ - n);
    }
    void give_back(size_t n) { used_ -= n; }

    // How often a change needed more than it had reserved: a test watches it.
    static inline std::atomic<long> overflows{0};

private:
    static constexpr size_t kept = size_t{1} << 20;
    struct Free {
        void operator()(double* room) const { std::free(room); }
    };
    std::unique_ptr<double[], Free> block_;
    size_t size_ = 0;
    size_t used_ = 0;
    size_t limit_ = 0;  // of the change that is under way
    bool reserved_ = false;
};

// Reserve memory for the time of a change.
class Reserved {
public:
    explicit Reserved(size_t n) { Arena::own().reserve(n); }
    Reserved(const Reserved&) = delete;
    Reserved& operator=(const Reserved&) = delete;
    ~Reserved() { Arena::own().end(); }
};

// Room for n doubles: on the stack while they are few, else in the reserved memory, else by malloc.
class Scratch {
public:
    explicit Scratch(size_t n) : few_{} {
        if (n <= stack) return;
        many_ = Arena::own().take(n);
        taken_ = many_ ? n : 0;
        if (many_) return;
        many_ = static_cast<double*>(std::malloc(n * sizeof(double)));
        if (!many_) throw std::bad_alloc();
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() {
        if (taken_)
            Arena::own().give_back(taken_);
        else
            std::free(many_);
    }

    double* data() { return many_ ? many_ : few_.room; }

private:
    static constexpr size_t stack = 512;
    struct Few {
        Few() {}  // not zeroed
        double room[stack];
    };
    Few few_;
    double* many_ = nullptr;
    size_t taken_ = 0;
};

inline double leading(const double* values, size_t n) {
    double largest = -infinity;
#pragma omp simd reduction(max : largest)
    for (size_t i = 0; i < n; ++i) largest = larger(largest, values[i]);
    return largest;
}

// The largest value of the experts awake; of all where there are no confidences.
inline double leading(const double* values, const double* confidence, size_t n) {
    if (!confidence) return leading(values, n);
    double largest = -infinity;
#pragma omp simd reduction(max : largest)
    for (size_t i = 0; i < n; ++i)
        largest = larger(largest, confidence[i] > 0.0 ? values[i] : -infinity);
    return largest;
}

inline double added(const double* values, size_t n) {
    return sum_of(n, [&](size_t i) { return values[i]; });
}

inline void fill(double* values, size_t n, double value) {
#pragma omp simd
    for (size_t i = 0; i < n; ++i) values[i] = value;
}

// Divide by a total > 0. A product with 1/total is three times as fast, and serves where it is exact
// for the total itself: so the only expert with weight has exactly 1.
inline void divide(double* weights, size_t n, double total) {
    const double scale = 1.0 / total;
    if (scale * total == 1.0) {  // never where 1/total is infinite
#pragma omp simd
        for (size_t i = 0; i < n; ++i) weights[i] *= scale;
    } else {
#pragma omp simd
        for (size_t i = 0; i < n; ++i) weights[i] /= total;
    }
}

// The same; an even share for all where the total is zero.
inline void share_out(double* weights, size_t n, double total) {
    if (total > tiny)
        divide(weights, n, total);
    else
        fill(weights, n, 1.0 / static_cast<double>(n));
}

// Normalise weights that are not negative; uniform ones where their sum is zero.
inline void normalise(double* weights, size_t n) { share_out(weights, n, added(weights, n)); }

// Scores are log2 of weights, up to a number common to all.
constexpr double no_score = -1e99;  // of an expert without weight
constexpr double some_score = 0.5 * no_score;

// Replace scores by their softmax in base 2; uniform weights where no expert has a score.
inline void raise_scores(double* weights, size_t n) {
    const double top = leading(weights, n);
    if (top <= some_score) {
        fill(weights, n, 1.0 / static_cast<double>(n));
        return;
    }
    divide(weights, n, sum_of(n, [&](size_t i) { return weights[i] = exp2(weights[i] - top); }));
}

// The weight of an expert is its value, none where that is not positive.
inline void spread_positive(const double* values, size_t n, double* weights) {
    share_out(weights, n, sum_of(n, [&](size_t i) { return weights[i] = larger(values[i], 0.0); }));
}

[[gnu::always_inline]] inline double score_of(double weight) {
    const double score = log(larger(weight, tiny)) * log2_e;
    return weight > tiny ? score : no_score;
}

inline void score_positive(const double* values, size_t n, double* scores) {
#pragma omp simd
    for (size_t i = 0; i < n; ++i) scores[i] = score_of(values[i]);
}

// The weight of an expert is exp(rate R).
inline void score_exponential(const double* regrets, const double* confidence, size_t n,
                              double rate, double* scores) {
    const double lead = leading(regrets, confidence, n);
    const double slope = rate * log2_e;
#pragma omp simd
    for (size_t i = 0; i < n; ++i) scores[i] = slope * (regrets[i] - lead);
}

// The least regret of a leader: regrets that differ by rounding are tied.
inline double leaders_from(const double* regrets, size_t n) {
    double lead = -infinity;
    double widest = 0.0;
#pragma omp simd reduction(max : lead, widest)
    for (size_t i = 0; i < n; ++i) {
        lead = larger(lead, regrets[i]);
        widest = larger(widest, std::fabs(regrets[i]));
    }
    return lead - (1e-12 * widest + 1e-15);
}

// Scores of follow the leader. They keep the order of the other experts, who lead when the leaders sleep; their
// slope is a learning rate as good as infinite.
inline void score_leaders(const double* regrets, size_t n, double* scores) {
    constexpr double steep = 1e30;
    const double least = leaders_from(regrets, n);
#pragma omp simd
    for (size_t i = 0; i < n; ++i) scores[i] = -steep * larger(least - regrets[i], 0.0);
}

// ln N; with one expert any rate serves, and ln 2 avoids a rate of zero.
inline double log_experts(size_t n) { return std::log(static_cast<double>(n < 2 ? 2 : n)); }

}  // namespace normalhedge
