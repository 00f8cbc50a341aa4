// A level that wanders: conjugate models that forget, each at its own ratio q of the variances of level and noise, and
// Bayes' rule over the ratios:
//
//     P(q | y_1..y_t) ∝ P(q | y_1..y_{t-1}) p_q(y_t | y_1..y_{t-1})
//
// For normal numbers p_q is the Kalman filter of a local level, integrated over the unknown variance.
#pragma once

#include "run_lengths.hpp"

namespace normalhedge::latent {

template <class Model>
class Wandering {
public:
    size_t components() const { return ratios_.size; }
    static size_t size(const Model& model, const Grid& ratios) { return ratios.size * (1 + model.numbers()); }

    // The numbers: the probability of each ratio, and what its model knows.
    Wandering(const Model& model, const Grid& ratios, double* numbers)
        : model_(model), ratios_(ratios), shares_(numbers), levels_(numbers + ratios.size),
          size_(model.numbers()), spare_(size_) {}

    void begin(const double* seen, size_t rounds, size_t columns, size_t) {
        std::vector<double> moments(model_.moments());
        for (size_t t = 0; t < rounds; ++t)
            if (is_known(seen + t * columns, columns)) model_.remember(moments.data(), seen + t * columns);
        for (size_t q = 0; q < ratios_.size; ++q) model_.prior(moments.data(), level(q));
        std::copy_n(ratios_.prior, ratios_.size, shares_);
    }

    void remember(const double*) {}

    double observe(const double* y, size_t columns) {
        if (!is_known(y, columns)) {
            for (size_t q = 0; q < ratios_.size; ++q) model_.wander(level(q), ratios_.values[q], 1.0);
            return 0.0;
        }
        double most = -infinity, sum = 0.0;
        for (size_t q = 0; q < ratios_.size; ++q) {
            shares_[q] = std::log(larger(shares_[q], tiny)) + model_.log_predictive(level(q), y);
            most = larger(most, shares_[q]);
            model_.learn(level(q), y);
            model_.wander(level(q), ratios_.values[q], ratios_.memory);
        }
        for (size_t q = 0; q < ratios_.size; ++q) sum += shares_[q] = std::exp(shares_[q] - most);
        for (size_t q = 0; q < ratios_.size; ++q) shares_[q] /= sum;
        return std::log(sum) + most;
    }

    size_t ahead(size_t steps, const Components& result) {
        for (size_t q = 0; q < ratios_.size; ++q) {
            std::copy_n(level(q), size_, spare_.data());
            for (size_t step = 1; step < steps; ++step) model_.wander(spare_.data(), ratios_.values[q], 1.0);
            model_.predictive(spare_.data(), result.rows + q, result.width);
            result.shares[q] = shares_[q];
        }
        return ratios_.size;
    }

private:
    double* level(size_t q) { return levels_ + q * size_; }

    const Model& model_;
    const Grid& ratios_;
    double *shares_, *levels_;
    size_t size_;
    std::vector<double> spare_;
};

}  // namespace normalhedge::latent
