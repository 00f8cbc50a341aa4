// What DORM, DORM+ and AdaHedgeD share (Flaspohler et al., 2021): outcomes that come late.
//
// When the outcome of a round comes, D later rounds have been played already. So the round is judged
// by the weights it was played with, those of D outcomes ago. Weights are made of the second row of
// the ledger and of the first total; those of the last D rounds follow, the youngest first, and decay
// as regrets do. The hint is a guess of the D + 1 rounds that are not known when a round is played: as
// many times the rises of the last outcome, times a share.
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

    explicit Late(const double* given)
        : Base(given),
          delay(static_cast<size_t>(given[1])),
          repeats(given[2] * (given[1] + 1.0)) {}

    size_t all_rows() const { return Rows + delay; }
    size_t all_totals() const { return Totals > 0 ? Totals + delay : 0; }

    // The game of D outcomes ago, as far as weights are made of it.
    Columns then(const Columns& now, double* weights) const {
        Columns earlier = now;
        earlier.weights = weights;
        earlier.ledger = now.row(delay);
        if (Totals > 0) earlier.totals = now.totals + delay;
        return earlier;
    }

    // Let what weights are made of be one outcome older.
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
