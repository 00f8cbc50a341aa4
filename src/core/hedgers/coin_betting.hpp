// Coin betting with the Krichevsky-Trofimov bettor (Orabona and Pál, 2016).
//
//     beta_i = sum_(s < t) c_(i,s) / (t + delta),   W_i <- W_i (1 + beta_i c_i),   p_i ∝ [beta_i W_i]+
//     c_i = rho_i where beta_i > 0, else [rho_i]+;   rho = r / 2
#pragma once

#include "../algorithm.hpp"

namespace normalhedge::engine {

struct CoinBetting : Algorithm<CoinBetting, 3, 1, 1> {
    double shift;

    explicit CoinBetting(const double* parameters) : Algorithm(parameters), shift(parameters[1]) {}

    void tick(const double* before, double* after) const { after[0] = keep * before[0] + 1.0; }

    void learn(const Columns& before, const Columns& after, const double* rises, double,
               double*) const {
        const double* old_coins = before.row(1);
        const double* old_wealth = before.row(2);
        double* coins = after.row(1);
        double* wealth = after.row(2);
        const double scale = keep / (after.totals[0] + shift);
#pragma omp simd
        for (size_t i = 0; i < after.n; ++i) {
            const double rho = 0.5 * rises[i];
            const double stake = old_coins[i] * scale;
            const double counts = ((stake > 0.0) | (rho > 0.0)) ? 1.0 : 0.0;
            const double coin = rho * counts;  // a choice of two numbers would branch
            const double growth = log1p(stake * coin);
            wealth[i] = keep * old_wealth[i] + growth;
            coins[i] = keep * old_coins[i] + coin;
        }
    }

    void weigh(const Columns& now, double, double*) const {
        double* weights = now.weights;
        const double* coins = now.row(1);
        const double* wealth = now.row(2);
        double top = no_score;
#pragma omp simd reduction(max : top)
        for (size_t i = 0; i < now.n; ++i)
            top = larger(top, coins[i] > tiny ? log2_e * wealth[i] : no_score);
#pragma omp simd
        for (size_t i = 0; i < now.n; ++i) {
            const double bet = coins[i] > tiny ? coins[i] : 0.0;
            weights[i] = bet * exp2(smaller(log2_e * wealth[i] - top, 0.0));
        }
        normalise(now.weights, now.n);
    }

    void score(const Columns& now, const double*, double* scores,
               double*) const {
        const double* coins = now.row(1);
        const double* wealth = now.row(2);
#pragma omp simd
        for (size_t i = 0; i < now.n; ++i) {
            const double score = log2_e * (log(larger(coins[i], tiny)) + wealth[i]);
            scores[i] = coins[i] > tiny ? score : no_score;
        }
    }
};

}  // namespace normalhedge::engine
