// The insurance of the blend against every component and against the meta level: AdaNormalHedge itself, whose
// theorem therefore holds of the blend. In a row, S is the range of the loss, or where that is not
// known the largest |l - l_k| of the item so far, this row included; over the rows of a round that is the share v
// of a usual one (`usual_rows.hpp`; 1 with one item)
//
//     r_k = v mean_j (l - l_k) / S,  R_k <- R_k + r_k,    C_k <- C_k + (1 + d) |r_k|
//     q_k ∝ rho_k [Phi(R_k + 1, C_k + 1) - Phi(R_k - 1, C_k + 1)],    Phi(R, C) = exp([R]+^2 / 3C)
//
// Nearly all of the prior rho belongs to the meta level, so that this changes hardly anything until a component
// has been ahead of the blend for long. The theorem: with w_k half the bracket above,
//
//     sum_k rho_k Phi(R_k, C_k) <= B = sum_k rho_k + sum_t ( sum_k rho_k |r_k| / 2(C_k + 1) + [sum_k rho_k w_k r_k]+ )
//
// so that R_k <= sqrt(3 C_k ln(B / rho_k)). A convex loss whose outcome is known at once has no last term.
// `excess` is B less the sum of the priors.
//
// Where there is one item, R_k and C_k are taken over into the new unit when S grows, after the round: this
// raises no Phi, and then the losses themselves obey sum_t (l - l_k) <= S (1 + sqrt(3 C_k ln(B / rho_k))).
#pragma once

#include <cmath>

#include "columns.hpp"

namespace normalhedge::mixtures {

struct Insurance {
    size_t count;     // of components, and one for the meta level, which comes first
    double* weights;  // and all that follows
    double* regrets;
    double* clocks;
    double* losses;  // the regrets in units of the loss
    double* excess;
    double* log_total;  // of sum_k rho_k w_k

    static size_t size(size_t count) { return 4 * count + 2; }

    Insurance(double* data, size_t ways, size_t room)
        : count(ways),
          weights(data),
          regrets(data + room),
          clocks(data + 2 * room),
          losses(data + 3 * room),
          excess(data + 4 * room),
          log_total(data + 4 * room + 1) {}

    // `ratio` is the unit before the round over the unit after it, `share` the prior.
    template <class Share>
    void learn(const double* rises, double late, double ratio, const Share& share) const {
        double sum = 0.0;
        for (size_t k = 0; k < count; ++k) {
            sum += weights[k] * rises[k];
            *excess += 0.5 * share(k) * std::fabs(rises[k]) / (clocks[k] + 1.0);
            regrets[k] = ratio * (regrets[k] + rises[k]);
            clocks[k] = ratio * (clocks[k] + (1.0 + late) * std::fabs(rises[k]));
        }
        if (sum > 0.0) *excess += std::exp(*log_total) * sum;
    }

    template <class Share>
    void weigh(const Share& share) const {
        double top = 0.0;
        for (size_t k = 0; k < count; ++k) {
            const double up = larger(regrets[k] + 1.0, 0.0);
            top = larger(top, up * up / (3.0 * (clocks[k] + 1.0)));
        }
        const double none = std::exp(-top);  // the same for all that are not ahead
        for (size_t k = 0; k < count; ++k) {
            const double prior = share(k);
            if (prior == 0.0) {
                weights[k] = 0.0;
                continue;
            }
            const double width = 1.0 / (3.0 * (clocks[k] + 1.0));
            const double up = larger(regrets[k] + 1.0, 0.0);
            const double down = larger(regrets[k] - 1.0, 0.0);
            const double least = down > 0.0 ? std::exp(down * down * width - top) : none;
            weights[k] = up > 0.0 ? 0.5 * prior * (std::exp(up * up * width - top) - least) : 0.0;
        }
        const double total = added(weights, count);
        if (total > tiny) {
            divide(weights, count, total);
            *log_total = top + std::log(total);
        } else {  // the blend is ahead of all of them: every bracket is zero
            for (size_t k = 0; k < count; ++k) weights[k] = share(k);
            normalise(weights, count);
            *log_total = -1e9;  // its exponential is 0
        }
    }
};

}  // namespace normalhedge::mixtures
