// Costs within a budget a round, by a price that is learned.
//
//     gain of action i at price u:   ((g_i + 1) / 2 - u c_i / c_max) with its range [-U, 1] mapped to [-1, 1]
//     u <- min([u + (c - b) / (c_max sqrt(t))]+, U),   U = min(c_max / (b - c_min), 20)
//
// Where a cost turns out to be smaller than c_i, the difference is paid back when it is known, and u falls by it.
// c_i are the costs, b the budget of a round, c the cost of the action that was chosen. Where the costs so far exceed
// b t by more than c_max sqrt(t), only actions that cost at most b are awake. So, as long as one of them is awake,
//
//     sum of costs <= b T + c_max (sqrt(T) + 1)       after every round T
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "rule.hpp"

namespace normalhedge::routing {

using std::int64_t;

class Budget {
public:
    double limit = 0.0;         // b; none where it is 0
    std::vector<double> costs;  // of each action that ever joined, by its number
    double spent = 0.0;
    double time = 0.0;
    double price = 0.0;  // u
    double least = 0.0;  // the lowest cost of the actions that there are
    double most = 0.0;   // the highest cost of all that ever joined

    bool active() const { return limit > 0.0; }

    double highest_price() const {
        return limit > least && most > limit ? std::fmin(most / (limit - least), 20.0) : 0.0;
    }

    double allowance() const { return most * std::sqrt(time); }
    bool strict() const { return active() && spent - limit * time > allowance(); }

    // The price of a unit of cost.
    double unit_price() const { return most > 0.0 ? price / most : 0.0; }

    double cost(int64_t action) const { return costs[static_cast<size_t>(action)]; }

    // A gain with a cost at a price of a unit of cost, in [-1, 1].
    static double penalised(double gain, double cost, double at, double highest) {
        if (highest == 0.0) return gain;
        const double net = 0.5 * (gain + 1.0) - at * cost;
        return 2.0 * (net + highest) / (1.0 + highest) - 1.0;
    }

    void pay(int64_t action) {
        if (!active()) return;
        const double cost = costs[static_cast<size_t>(action)];
        spent += cost;
        time += 1.0;
        const double step = most > 0.0 ? (cost - limit) / (most * std::sqrt(time)) : 0.0;
        price = std::fmin(std::fmax(price + step, 0.0), highest_price());
    }

    // An action has cost less than it might have.
    void pay_back(double cost) {
        if (!active() || cost == 0.0) return;
        spent -= cost;
        price = std::fmax(price - cost / (most * std::sqrt(time)), 0.0);
    }

    void range(const std::vector<int64_t>& actions) {
        least = most = 0.0;
        for (size_t i = 0; i < actions.size(); ++i) {
            const double cost = costs[static_cast<size_t>(actions[i])];
            least = i ? std::fmin(least, cost) : cost;
        }
        for (double cost : costs) most = std::fmax(most, cost);
    }
};

}  // namespace normalhedge::routing
