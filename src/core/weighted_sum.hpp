// Weights of experts as a weighted sum of the weights of components.
#pragma once

#include <array>

#include "columns.hpp"

namespace normalhedge {

// start + sum_k share_k row_k, row by row in the order in which they are added; four rows in one pass.
class WeightedSum {
public:
    WeightedSum(double* sums, size_t n, double start) : sums_(sums), n_(n) { fill(sums, n, start); }

    // A row is read when four have come, or at the end.
    void add(const double* row, double share) {
        if (share == 0.0) return;
        rows_[count_] = row;
        shares_[count_] = share;
        if (++count_ == 4) finish();
    }
    void finish() {
        double* sums = sums_;
        // Plain variables, as clang does not let a loop of OpenMP read structured bindings.
        const double *const a = rows_[0], *const b = rows_[1], *const c = rows_[2], *const d = rows_[3];
        const double p = shares_[0], q = shares_[1], r = shares_[2], s = shares_[3];
        if (count_ == 4) {
#pragma omp simd
            for (size_t i = 0; i < n_; ++i) sums[i] = sums[i] + p * a[i] + q * b[i] + r * c[i] + s * d[i];
        } else {
            for (size_t k = 0; k < count_; ++k) {
                const double* row = rows_[k];
                const double share = shares_[k];
#pragma omp simd
                for (size_t i = 0; i < n_; ++i) sums[i] += share * row[i];
            }
        }
        count_ = 0;
    }

private:
    double* sums_;
    size_t n_;
    size_t count_ = 0;
    std::array<const double*, 4> rows_{};
    std::array<double, 4> shares_{};
};

}  // namespace normalhedge
