// A series that changes for good, after Adams and MacKay (2007).
//
// The run s began at round s, and with the hazard h a new one begins in any round. With the predictive density
// p_s(y) of a conjugate model that learned the observations since s, and p_new(y) that of its prior,
//
//     P(s, h | y_1..y_t) ∝ (1 - h) P(s, h | y_1..y_{t-1}) p_s(y_t)
//     P(t, h | y_1..y_t) ∝ h P(h | y_1..y_{t-1}) p_new(y_t)
//
// The hazard is unknown: it has a prior on a grid. The numbers of a run do not depend on it, so all hazards share the
// runs. Only `runs_kept` runs are kept; the least probable one goes.
//
// A run knows the most probable breaks before it, given that it began where it did. That is exact: given a break, later
// observations tell nothing about the runs before it.
#pragma once

#include <algorithm>

#include "conjugate.hpp"

namespace normalhedge::latent {

// A grid of an unknown constant, and the prior probability of each value.
struct Grid {
    const double* values;
    const double* prior;
    size_t size;
    double memory;  // of the variance where a level wanders, a factor for each observation
};

// The parts of the distribution of an observation: a share of each, and rows of parameters, `width` apart.
struct Components {
    double* shares;
    double* rows;
    size_t width;
};

inline bool is_known(const double* y, size_t columns) {
    for (size_t c = 0; c < columns; ++c)
        if (y[c] != y[c]) return false;
    return true;
}

constexpr size_t runs_kept = 40;
constexpr size_t breaks_kept = 4;  // before a run, the latest first; -1 where there is none

template <class Model>
class RunLengths {
public:
    size_t components() const { return 1 + runs_kept; }
    static size_t size(const Model& model, const Grid& hazards) {
        return 3 + model.moments() + runs_kept * (1 + model.numbers() + hazards.size + breaks_kept);
    }

    // The numbers: rounds, runs, the first round, the moments of all observations; of each run its first round, what it knows, its
    // probability with each hazard, and the breaks before it.
    RunLengths(const Model& model, const Grid& hazards, double* numbers)
        : model_(model), hazards_(hazards), rounds_(numbers), count_(numbers + 1), first_(numbers + 2), moments_(numbers + 3),
          starts_(moments_ + model.moments()), runs_(starts_ + runs_kept),
          shares_(runs_ + runs_kept * model.numbers()), past_(shares_ + runs_kept * hazards.size),
          size_(model.numbers()), new_run_(size_), new_shares_(hazards.size) {}

    // Begin in this round of a series, whose moments are known.
    void begin(const double* seen, size_t rounds, size_t columns, size_t first) {
        std::fill_n(rounds_, size(model_, hazards_), 0.0);
        *rounds_ = *first_ = starts_[0] = static_cast<double>(first);
        for (size_t t = 0; t < rounds; ++t)
            if (is_known(seen + t * columns, columns)) model_.remember(moments_, seen + t * columns);
        model_.prior(moments_, runs_);
        std::copy_n(hazards_.prior, hazards_.size, shares_);
        std::fill_n(past_, breaks_kept, -1.0);
        *count_ = 1.0;
    }

    // Let an observation count for the priors of runs to come.
    void remember(const double* y) { model_.remember(moments_, y); }

    // Learn an observation; return its log density, 0 where it is missing.
    double observe(const double* y, size_t columns) {
        const double round = (*rounds_)++;
        if (!is_known(y, columns)) return 0.0;
        const size_t live = count();
        model_.prior(moments_, new_run_.data());
        const double now = model_.log_predictive(new_run_.data(), y);
        double most = now;
        for (size_t r = 0; r < live; ++r) most = larger(most, logs_[r] = model_.log_predictive(run(r), y));
        const size_t before = most_probable();
        const bool begins = round == *first_;  // there is nothing to break yet
        double sum = 0.0;
        for (size_t h = 0; h < hazards_.size; ++h) {
            double all = 0.0;
            for (size_t r = 0; r < live; ++r) all += share(r)[h];
            const double hazard = begins ? 0.0 : hazards_.values[h];
            sum += new_shares_[h] = hazard * all * std::exp(now - most);
            for (size_t r = 0; r < live; ++r) sum += share(r)[h] *= (1.0 - hazard) * std::exp(logs_[r] - most);
        }
        for (size_t r = 0; r < live; ++r) model_.learn(run(r), y);
        if (!begins) {
            model_.learn(new_run_.data(), y);
            open(round, before);
        }
        normalise();
        return std::log(larger(sum, tiny)) + most;
    }

    // Write the distribution of the observation `steps` rounds from now.
    size_t ahead(size_t steps, const Components& result) {
        const size_t live = count();
        model_.prior(moments_, new_run_.data());
        model_.predictive(new_run_.data(), result.rows, result.width);
        std::fill_n(result.shares, 1 + live, 0.0);
        for (size_t h = 0; h < hazards_.size; ++h) {
            const double lasts = std::pow(1.0 - hazards_.values[h], static_cast<double>(steps));
            for (size_t r = 0; r < live; ++r) {
                result.shares[0] += (1.0 - lasts) * share(r)[h];
                result.shares[1 + r] += lasts * share(r)[h];
            }
        }
        for (size_t r = 0; r < live; ++r) model_.predictive(run(r), result.rows + 1 + r, result.width);
        return 1 + live;
    }

    // Write each run: how many rounds ago it began, its probability, and how many rounds ago there was a break: where it
    // began, and before that, the latest first; NaN where there was none.
    size_t write_runs(double* result) {
        constexpr size_t width = 3 + breaks_kept;
        for (size_t r = 0; r < count(); ++r, result += width) {
            result[0] = *rounds_ - starts_[r];
            result[1] = total(share(r));
            result[2] = starts_[r] > *first_ ? result[0] : not_a_number;
            for (size_t b = 0; b < breaks_kept; ++b)
                result[3 + b] = past(r)[b] < 0.0 ? not_a_number : *rounds_ - past(r)[b];
        }
        return count();
    }

private:
    size_t count() const { return static_cast<size_t>(*count_); }
    double* run(size_t r) { return runs_ + r * size_; }
    double* share(size_t r) { return shares_ + r * hazards_.size; }
    double* past(size_t r) { return past_ + r * breaks_kept; }

    double total(const double* shares) const {
        double sum = 0.0;
        for (size_t h = 0; h < hazards_.size; ++h) sum += shares[h];
        return sum;
    }
    size_t most_probable() {
        size_t best = 0;
        for (size_t r = 1; r < count(); ++r)
            if (total(share(r)) > total(share(best))) best = r;
        return best;
    }
    // Let a run begin in this round, after the run `before`; the least probable run makes room for it.
    void open(double round, size_t before) {
        double breaks[breaks_kept];
        std::fill_n(breaks, breaks_kept, -1.0);
        if (starts_[before] > *first_) {
            breaks[0] = starts_[before];
            std::copy_n(past(before), breaks_kept - 1, breaks + 1);
        }
        size_t place = count();
        if (place == runs_kept) {
            place = 0;
            for (size_t r = 1; r < runs_kept; ++r)
                if (total(share(r)) < total(share(place))) place = r;
            if (total(new_shares_.data()) < total(share(place))) return;
            close(place);
            place = runs_kept - 1;
        }
        starts_[place] = round;
        std::copy_n(new_run_.data(), size_, run(place));
        std::copy_n(new_shares_.data(), hazards_.size, share(place));
        std::copy_n(breaks, breaks_kept, past(place));
        *count_ = static_cast<double>(place + 1);
    }
    void close(size_t r) {
        const auto shift = [&](double* data, size_t width) {
            std::copy(data + (r + 1) * width, data + runs_kept * width, data + r * width);
        };
        shift(starts_, 1);
        shift(runs_, size_);
        shift(shares_, hazards_.size);
        shift(past_, breaks_kept);
    }
    void normalise() {
        double sum = 0.0;
        for (size_t r = 0; r < count(); ++r) sum += total(share(r));
        for (size_t i = 0; i < count() * hazards_.size; ++i) shares_[i] /= larger(sum, tiny);
    }

    const Model& model_;
    const Grid& hazards_;
    double *rounds_, *count_, *first_, *moments_, *starts_, *runs_, *shares_, *past_;
    size_t size_;
    double logs_[runs_kept];
    std::vector<double> new_run_, new_shares_;
};

}  // namespace normalhedge::latent
