// Defaults of an algorithm: most are tuned by the discount alone, and weigh by their scores.
#pragma once

#include "columns.hpp"

namespace normalhedge::engine {

// The base class of an algorithm `Own` (CRTP); an algorithm hides the defaults that it replaces.
template <class Own, size_t Rows, size_t Totals, size_t OwnSettings = 0>
struct Algorithm {
    static constexpr size_t rows = Rows;
    static constexpr size_t totals = Totals;
    static constexpr size_t settings = 1 + OwnSettings;
    static constexpr bool whole = false;
    static constexpr bool has_potential = false;
    static constexpr bool wants_room = false;
    static constexpr bool by_losses = false;
    static constexpr bool scale_invariant = false;
    static constexpr bool plain_tangents = false;
    static constexpr bool allows_for_delay = false;
    static constexpr bool late = false;

    double keep;  // 1 - alpha

    explicit Algorithm(const double* parameters) : keep(parameters[0]) {}

    // Their numbers where a setting decides them, such as a delay.
    size_t all_rows() const { return rows; }
    size_t all_totals() const { return totals; }

    void tick(const double*, double*) const {}
    void learn(const Columns&, const Columns&, const double*, double, double*) const {}

    // The softmax of the scores.
    void weigh(const Columns& now, double, double* room) const {
        static_cast<const Own*>(this)->score(now, nullptr, now.weights, room);
        raise_scores(now.weights, now.n);
    }
};

// Keep sum rho^2, rho = r / 2, in the row after the regret.
inline void learn_squares(const Columns& before, const Columns& after, const double* rises,
                          double keep) {
    const double* old = before.row(1);
    double* squares = after.row(1);
#pragma omp simd
    for (size_t i = 0; i < after.n; ++i) {
        const double rho = 0.5 * rises[i];
        squares[i] = keep * old[i] + rho * rho;
    }
}

}  // namespace normalhedge::engine
