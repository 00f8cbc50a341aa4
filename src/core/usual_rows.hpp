// How much of a usual round a round is, in a game that several items share.
//
// A round with m rows whose outcomes are known counts as the share w of a round,
//
//     w = min(1, m / M),     M = sum_t b^(T - t) m_t^2 / sum_t b^(T - t) m_t,     b = 0.99,
//
// over the rounds so far, this one included. M, the usual number of rows, is the mean size of a round over rows: half
// of the rounds may have one row without moving it. Gains, regrets and equations of the round are multiplied by w, and
// a memory a of a round becomes a^w. So a row counts alike in all rounds up to the usual size, as in the total loss,
// and a round of one row out of hundreds adds little noise and lets little be forgotten. Where all rounds have the same
// number of rows, w = 1 and nothing changes, to the bit.
//
// A delay is counted in usual rounds, too: d rounds are d times the mean share,
//
//     min(1, m' / M),     m' = sum_t b^(T - t) m_t / sum_t b^(T - t).
#pragma once

#include <cmath>

#include "numbers.hpp"

namespace normalhedge::mixtures {

// How much of a usual round a round is.
struct Portion {
    double share = 1.0;
    double mean_share = 1.0;  // of the rounds so far

    bool whole() const { return share == 1.0; }

    // The part of the past that is kept, where a usual round keeps this one.
    double keep(double usual) const { return whole() ? usual : std::pow(usual, share); }
};

// The memory of the sizes of rounds: discounted totals of a game.
struct UsualRows {
    double squares;
    double rows;
    double rounds;

    static constexpr double fading = 0.99;
    static constexpr double same = 1e-9;  // sizes that differ by less differ by rounding

    double count() const { return rows > 0.0 ? squares / rows : 0.0; }

    // Note a round with so many known rows.
    Portion see(double known) {
        if (!(known > 0.0)) return {};
        squares = fading * squares + known * known;
        rows = fading * rows + known;
        rounds = fading * rounds + 1.0;
        const double now = count();
        const double mean = rows / rounds;
        const double least = now * (1.0 - same);
        Portion portion;
        if (known < least) portion.share = known / now;
        if (mean < least) portion.mean_share = mean / now;
        return portion;
    }
};

}  // namespace normalhedge::mixtures
