// The meta level weighs components by their losses.
//
// In a row let l_k be the loss of component k, l the loss of the meta level itself, and s the usual difference:
// the discounted mean of mean_k |l - l_k|, in which this row counts as at most 100 s. Over the rows of a round,
// after which d more were predicted before its outcome was known,
//
//     r_k = mean_j within((l - l_k) / s, -8, 8)
//     R_k <- a R_k + r_k,     V_k <- a V_k + sqrt(1 + d) r_k^2,     a = 1 - alpha / (1 + d)
//     p_k ∝ pi_k [Phi(R_k + u, V_k + u^2) - Phi(R_k - u, V_k + u^2)],    Phi(R, V) = exp([R]+^2 / 2V)
//
// with u the largest |r| so far, discounted. It is AdaNormalHedge with squares as its clock. R / sqrt V is a t
// statistic: a component must be ahead by more than chance explains, the more so the smaller its prior pi.
// Quantiles multiply u by a caution c: a component that is behind keeps weight for some c rounds, and c^2 rounds pass
// before evidence outweighs the prior. The items of a hub err together, and a season has few rounds.
// Delayed losses are correlated, so that they count as fewer: their squares count sqrt(1 + d) times, and the memory
// is d + 1 times as long. Where items share a game, a round with fewer rows than usual counts as a share w of a round
// (`usual_rows.hpp`): r_k is w times the mean, and a^w stands for a.
#pragma once

#include <cmath>

#include "columns.hpp"
#include "usual_rows.hpp"

namespace normalhedge::mixtures {

struct Level {
    size_t count;     // of components
    double* weights;  // and all that follows
    double* regrets;
    double* squares;
    double* unit;

    static size_t size(size_t count) { return 3 * count + 1; }

    Level(double* data, size_t ways, size_t room)
        : count(ways),
          weights(data),
          regrets(data + room),
          squares(data + 2 * room),
          unit(data + 3 * room) {}

    // `rises` are those of the round, times its share.
    void learn(const double* rises, double alpha, double late, const Portion& portion) const {
        const double keep = portion.keep(1.0 - alpha / (1.0 + late));
        const double correlated = std::sqrt(1.0 + late);
        double largest = keep * *unit;
        for (size_t k = 0; k < count; ++k) {
            regrets[k] = keep * regrets[k] + rises[k];
            squares[k] = keep * squares[k] + correlated * rises[k] * rises[k];
            largest = larger(largest, std::fabs(rises[k]));
        }
        *unit = largest;
    }

    // `caution` is 1 for the formula above.
    template <class Prior>
    void weigh(const Prior& prior, double caution = 1.0) const {
        const double u = caution * (*unit > tiny ? *unit : 1.0);
        double top = 0.0;
        for (size_t k = 0; k < count; ++k) {
            const double up = larger(regrets[k] + u, 0.0);
            top = larger(top, up * up / (2.0 * (squares[k] + u * u)));
        }
        const double none = std::exp(-top);  // the same for all that are not ahead
        for (size_t k = 0; k < count; ++k) {
            const double width = 0.5 / (squares[k] + u * u);
            const double up = larger(regrets[k] + u, 0.0);
            const double down = larger(regrets[k] - u, 0.0);
            const double least = down > 0.0 ? std::exp(down * down * width - top) : none;
            weights[k] = up > 0.0 ? prior(k) * (std::exp(up * up * width - top) - least) : 0.0;
        }
        normalise(weights, count);
    }
};

}  // namespace normalhedge::mixtures
