// A search through the states that two or three groups of experts can be driven to.
//
// Breadth first from x = 0 and from a path: every move from every state. States are
// real, never rounded; but of the states in one cell of a grid (groups of equal size in any order) only
// the one with the larger potential is followed.
#pragma once

#include <cstdint>
#include <utility>

#include "groups.hpp"

namespace normalhedge::attacks {

// A state replaces another in its cell where its ln Psi is larger by more than this.
constexpr double least_rise = 1e-9;

// The cells, and the state that each of them keeps: -1 while there is none.
struct Grid {
    double floor;  // scaled regrets below this share a cell
    double width;
    std::int64_t cells;  // along each axis
    std::int32_t* keeper;

    // The cell of a state; groups of equal size may change places. `place` has room for a number of
    // each group.
    size_t cell(const double* x, const Groups& groups, double* place) const {
        const double last = static_cast<double>(cells - 1);
        for (size_t k = 0; k < groups.count; ++k)
            place[k] = within(std::floor((x[k] - floor) / width), 0.0, last);
        for (size_t i = 0; i < groups.count; ++i)
            for (size_t j = i + 1; j < groups.count; ++j)
                if (groups.sizes[i] == groups.sizes[j] && place[i] < place[j])
                    std::swap(place[i], place[j]);
        std::int64_t cell = 0;
        for (size_t k = 0; k < groups.count; ++k)
            cell = cell * cells + static_cast<std::int64_t>(place[k]);
        return static_cast<size_t>(cell);
    }
};

// The states that were reached: each with its ln Psi, the state before it, and the move from there.
struct Tree {
    size_t room;
    double* states;  // room x groups
    double* logs;
    std::int32_t* parents;
    std::int16_t* moves;
    size_t count = 0;
};

// The moves that there are, count x groups.
struct Moves {
    size_t count;
    const double* gains;
};

// Write the states along a path of moves. `weights` is for two doubles a group.
NORMALHEDGE_VECTORISED inline void walk(const Groups& groups, const Moves& moves, const Grid& grid,
                                        const std::int16_t* path, size_t length, Tree& tree,
                                        double* weights) {
    const size_t n = groups.count;
    double* place = weights + n;
    fill(tree.states, n, 0.0);
    for (size_t t = 0; t <= length; ++t) {
        double* x = tree.states + t * n;
        if (t > 0) {
            const auto move = static_cast<size_t>(path[t - 1]);
            groups.step(x - n, weights, moves.gains + move * n, x);
            tree.parents[t] = static_cast<std::int32_t>(t - 1);
            tree.moves[t] = path[t - 1];
        }
        tree.logs[t] = groups.weigh(x, weights);
        std::int32_t& keeper = grid.keeper[grid.cell(x, groups, place)];
        if (keeper < 0 || tree.logs[t] > tree.logs[keeper]) keeper = static_cast<std::int32_t>(t);
    }
    tree.count = length + 1;
}

// Follow every move from the state that each cell keeps, in the order of arrival, for a
// number of rounds; return whether there was room for all. `weights` is for three doubles a group.
NORMALHEDGE_VECTORISED inline bool search_breadth_first(const Groups& groups, const Moves& moves,
                                                        const Grid& grid, std::int64_t rounds,
                                                        Tree& tree, double* weights) {
    const size_t n = groups.count;
    double* scratch = weights + n;
    double* place = weights + 2 * n;
    std::int64_t layer = 0;
    size_t layer_end = tree.count;
    size_t now = 0;
    while (now < tree.count && tree.count + moves.count < tree.room && layer < rounds) {
        const double* x = tree.states + now * n;
        if (grid.keeper[grid.cell(x, groups, place)] == static_cast<std::int32_t>(now)) {
            groups.weigh(x, weights);
            for (size_t move = 0; move < moves.count; ++move) {
                double* next = tree.states + tree.count * n;
                groups.step(x, weights, moves.gains + move * n, next);
                const double log_potential = groups.weigh(next, scratch);
                std::int32_t& keeper = grid.keeper[grid.cell(next, groups, place)];
                if (keeper >= 0 && !(log_potential > tree.logs[keeper] + least_rise)) continue;
                tree.logs[tree.count] = log_potential;
                tree.parents[tree.count] = static_cast<std::int32_t>(now);
                tree.moves[tree.count] = static_cast<std::int16_t>(move);
                keeper = static_cast<std::int32_t>(tree.count);
                ++tree.count;
            }
        }
        if (++now == layer_end) {
            ++layer;
            layer_end = tree.count;
        }
    }
    return now >= tree.count || layer >= rounds;
}

}  // namespace normalhedge::attacks
