// Delayed outcomes: the base of DORM, DORM+ and AdaHedgeD (Flaspohler et al., 2021).
//
// When the outcome of a round comes, D later rounds have been played already. So the regret of a round is
// relative to the weights of D outcomes ago, with which it was played. Weights follow from the second row of
// the ledger and the first total; the same of the last D rounds follow, the youngest first, and decay as
// regrets do. The hint predicts the D + 1 unknown rounds: the rises of the last outcome, D + 1 times, times a
// share.
#pragma once

#include "../algorithm.hpp"

namespace normalhedge::engine {

template <class Own, size_t Rows, size_t Totals>
struct Late : Algorithm<Own, Rows, Totals, 2> {
    using Base = Algorithm<Own, Rows, Totals, 2>;
    using Base::keep;

    static constexpr bool late = true;
    static constexpr bool scale_invariant = true;

    size_t delay;
    double repeats;  // of the last rises

    explicit Late(const double* parameters)
        : Base(parameters),
          delay(static_cast<size_t>(parameters[1])),
          repeats(parameters[2] * (parameters[1] + 1.0)) {}

    size_t all_rows() const { return Rows + delay; }
    size_t all_totals() const { return Totals > 0 ? Totals + delay : 0; }

    // The game of D outcomes ago, as far as weights depend on it.
    Columns then(const Columns& now, double* weights) const {
        Columns earlier = now;
        earlier.weights = weights;
        earlier.ledger = now.row(delay);
        if (Totals > 0) earlier.totals = now.totals + delay;
        return earlier;
    }

    // Shift the rows and totals of weights by one outcome.
    void age(const Columns& before, const Columns& after) const {
        const double kept = keep;
        for (size_t ago = delay; ago > 0; --ago) {
            const double* from = before.row(ago);
            double* to = after.row(ago + 1);
#pragma omp simd
            for (size_t i = 0; i < after.n; ++i) to[i] = kept * from[i];
            if (Totals > 0) after.totals[ago] = kept * before.totals[ago - 1];
        }
    }

    // Write the regrets after the round with the hint, as the second row.
    void add_hint(const Columns& before, const Columns& after, const double* rises) const {
        const double* regrets = before.regrets();
        double* hinted = after.row(1);
        const double kept = keep;
        const double more = repeats;
#pragma omp simd
        for (size_t i = 0; i < after.n; ++i)
            hinted[i] = kept * regrets[i] + rises[i] + more * rises[i];
    }
};

}  // namespace normalhedge::engine
