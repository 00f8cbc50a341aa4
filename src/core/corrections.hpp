// Corrections: forecasts that may leave the range of the experts' forecasts.
//
// The blend of an item shares whatever bias or scale its experts share. A correction of a base forecast b,
// the blend or the plain median, is a linear map of features that are measured in units of past errors:
//
//     c = b + s θ'z,     z = (1, within((b - m) / v, ±3), within(e / s, ±4), within(l / s, ±4),
//                             within((x_i - b) / s, ±5) for each expert i)
//
// With more than 64 experts, three stand for all of them as x_i: the plain mean, the plain median and the best expert so
// far (`debiasing.hpp`). Here s is the discounted mean of |y - b| (from the second outcome on), m and v the discounted mean and deviation of the blend, e the mean error
// of the blend over the last 20 outcomes or so and l its last known error. The feature of an expert that sleeps
// is 0. With fewer than three forecasts there is no correction of the median, and c is the blend. Forgetting least
// squares around θ = 0 learns the map,
//
//     θ = argmin  ρ |θ|^2 + sum_t λ^(T - t) (within((y_t - b_t) / s_t, ±k) - θ'z_t)^2,
//
// by the normal equations (ρ I + A) θ = a with A = sum_t λ^(T - t) z_t z_t'. The ridge ρ is not forgotten.
// A cautious correction is the forecast of Vovk, Azoury and Warmuth: A counts the features of the forecast
// itself, and of the L forecasts whose outcomes are pending, as if they were the same:
//
//     θ'z / (1 + (1 + L) h),   h = z' (ρ I + A)^-1 z.
//
// A non-negative correction solves the equations of another one under the constraint that no expert has a negative
// weight.
//
// The steady correction never forgets. In a game of one item it counts a round s_t^2 / M times, with M the largest
// s^2 so far, and A and a shrink when M grows: its equations are then least squares in the unit of the outcomes,
// and the regret of its forecasts to the best linear combination is measured (docs/two-levels.md, Theorem L).
//
// A context, such as the hour, divides rounds into cells. A correction of a context corrects the forecast c_1 of the
// second correction, which is common to all cells, by equations of the cell alone: with δ = 0 for a new cell,
//
//     c = c_1 + s δ'z / (1 + (1 + L / cells) h).
//
// A choice weighs the base and its corrections by Squint on linearised losses. With f the forecast of the
// choice, l' the slope of the loss at f, and u the discounted mean of half the largest |l' (c_k - b)|,
//
//     r_k = within(l' (f - c_k) / u, ±20),   R_k <- R_k + r_k,   V_k <- V_k + sqrt(1 + d) r_k^2
//     w_k ∝ π_k sum_j η_j exp(η_j R_k - η_j^2 V_k),   η_j = 2^-1, ..., 2^-7.
//
// Where items share a mixture, each correction exists twice, learned from all items and from the item alone;
// corrections of contexts are learned from all items. Of a round with m rows an equation of all items counts
// sqrt(w / m) times, where the round is the share w of a usual one (`usual_rows.hpp`), and λ^w stands for λ; the
// r_k of a round are w times their mean over rows. The choice of an item has 0.9 of the common weights and 0.1
// of π as its prior.
#pragma once

#include <array>
#include <cstdint>

#include "combining.hpp"

namespace normalhedge::mixtures {

struct Correction {
    bool of_median;   // the base: the plain median, or the blend
    bool of_experts;  // whether the experts' forecasts are features
    bool of_slope;    // whether the base is a feature
    bool cautious;
    bool steady;
    bool non_negative;
    double keep;  // λ
    double ridge;
    size_t equations;  // the place of its normal equations
};

constexpr std::array<Correction, 5> corrections{{
    {false, false, true, true, false, false, 0.99, 10.0, 0},
    {false, true, false, true, false, false, 0.99, 5.0, 1},
    {false, true, true, true, true, false, 1.0, 5.0, 2},
    {true, true, false, false, false, false, 0.99, 5.0, 3},
    {true, true, false, false, false, true, 0.99, 5.0, 3},
}};
constexpr Correction context_correction{false, true, false, true, false, false, 1.0, 5.0, 0};
constexpr size_t solved_count = corrections.size();  // corrections with equations
constexpr size_t debiased_correction = solved_count;  // see `debiasing.hpp`
constexpr size_t correction_count = solved_count + 1;
constexpr size_t corrected_by_contexts = 1;  // the common correction that contexts start from
constexpr size_t steady_correction = 2;
constexpr size_t equation_count = 4;   // the non-negative correction shares the equations of another
constexpr size_t most_contexts = 3;
constexpr size_t common_features = 4;  // the constant, the base and its two errors; the experts follow
constexpr size_t most_stacked = 64;    // experts; with more, three forecasts stand for all of them
constexpr size_t stand_ins = 3;        // the plain mean, the plain median and the best expert so far

constexpr size_t most_features = common_features + most_stacked;

constexpr size_t feature_count(size_t experts) {
    return common_features + (experts <= most_stacked ? experts : stand_ins);
}

// The normal equations (ρ I + A) θ = a of a correction in a game. The lower triangle of the square is A, which
// does not have the ridge, so that it is zero for a newcomer; above the diagonal is the factor U of
// ρ I + A = U'U, whose own diagonal stands apart.
struct Equations {
    double* theta;
    double* right;
    double* diagonal;
    double* square;
    size_t features;  // of them in use
    size_t stride;
    double ridge;

    double* row(size_t i) const { return square + i * stride; }

    double value(const double* z) const {
        double sum = 0.0;
#pragma omp simd reduction(+ : sum)
        for (size_t i = 0; i < features; ++i) sum += theta[i] * z[i];
        return sum;
    }

    // z' (ρ I + A)^-1 z, by the last factor; `room` is for as many numbers as there are features.
    double leverage(const double* z, double* room) const {
        std::copy(z, z + features, room);
        solve_transposed(room);
        double sum = 0.0;
#pragma omp simd reduction(+ : sum)
        for (size_t i = 0; i < features; ++i) sum += room[i] * room[i];
        return sum;
    }

    // Count an equation θ'z = target so often, after the earlier ones faded.
    NORMALHEDGE_VECTORISED void learn(const double* z, double target, double weight, double keep) const {
        for (size_t i = 0; i < features; ++i) {
            double* mine = row(i);
            const double scaled = weight * z[i];
#pragma omp simd
            for (size_t k = 0; k <= i; ++k) mine[k] = keep * mine[k] + scaled * z[k];
            right[i] = keep * right[i] + scaled * target;
        }
    }

    // Count the equations of a round, after the earlier ones faded.
    NORMALHEDGE_VECTORISED void learn_from(const Equations& round, double keep) const {
        for (size_t i = 0; i < features; ++i) {
            double* mine = row(i);
            const double* other = round.row(i);
#pragma omp simd
            for (size_t k = 0; k <= i; ++k) mine[k] = keep * mine[k] + other[k];
            right[i] = keep * right[i] + round.right[i];
        }
    }

    // Solve the equations under the constraint that no expert has a negative weight, which holds the last solution.
    //
    // Block principal pivoting (Judice and Pires, 1994): the passive features solve their equations, the others are
    // 0. All features that violate a sign change sides, until none does; one at a time where that does not help.
    // The solution is unique, so it does not depend on the order of the experts.
    void solve_non_negative() const {
        std::array<bool, most_features> passive;
        for (size_t i = 0; i < features; ++i) passive[i] = i < common_features || theta[i] > 0.0;
        size_t fewest = features + 1;
        int patience = 3;
        for (size_t step = 0; step < 4 * most_features; ++step) {
            solve_passive(passive);
            size_t wrong = 0;
            size_t last = 0;
            std::array<bool, most_features> violates;
            for (size_t i = common_features; i < features; ++i) {
                violates[i] = passive[i] ? theta[i] < 0.0 : gradient(i) > 1e-12 * (std::fabs(right[i]) + ridge);
                if (violates[i]) last = i;
                wrong += violates[i] ? 1 : 0;
            }
            if (wrong == 0) break;
            patience = wrong < fewest ? 3 : patience - 1;
            fewest = smaller(fewest, wrong);
            for (size_t i = common_features; i < features; ++i)
                if (violates[i] && (patience > 0 || i == last)) passive[i] = !passive[i];
        }
        for (size_t i = common_features; i < features; ++i) theta[i] = larger(theta[i], 0.0);
    }

    // Solve the equations.
    void solve() const {
        factorise();
        std::copy(right, right + features, theta);
        solve_transposed(theta);
        for (size_t i = features; i-- > 0;) {
            const double* mine = row(i);
            double sum = theta[i];
#pragma omp simd reduction(- : sum)
            for (size_t k = i + 1; k < features; ++k) sum -= mine[k] * theta[k];
            theta[i] = sum / diagonal[i];
        }
    }

private:
    // How steeply the solution would improve with a larger weight of a feature.
    double gradient(size_t i) const {
        double sum = right[i] - ridge * theta[i];
        for (size_t k = 0; k <= i; ++k) sum -= row(i)[k] * theta[k];
        for (size_t k = i + 1; k < features; ++k) sum -= row(k)[i] * theta[k];
        return sum;
    }

    // Solve the equations of the passive features alone; the others are 0.
    void solve_passive(const std::array<bool, most_features>& passive) const {
        std::array<size_t, most_features> place;
        size_t count = 0;
        for (size_t i = 0; i < features; ++i)
            if (passive[i]) place[count++] = i;
        Scratch room(count * (count + 3));
        const Equations part{room.data(), room.data() + count, room.data() + 2 * count, room.data() + 3 * count,
                             count, count, ridge};
        for (size_t i = 0; i < count; ++i) {
            part.right[i] = right[place[i]];
            for (size_t k = 0; k <= i; ++k) part.row(i)[k] = row(place[i])[place[k]];
        }
        part.solve();
        fill(theta, features, 0.0);
        for (size_t i = 0; i < count; ++i) theta[place[i]] = part.theta[i];
    }

    NORMALHEDGE_VECTORISED void factorise() const {
        const size_t p = features;
        for (size_t i = 0; i < p; ++i) {
            double* mine = row(i);
            for (size_t j = i + 1; j < p; ++j) mine[j] = square[j * stride + i];
            double pivot = mine[i] + ridge;
            size_t k = 0;
            for (; k + 4 <= i; k += 4) {  // four rows in one pass over this one, in the same order
                const double* above = square + k * stride;
                const double* second = above + stride;
                const double* third = second + stride;
                const double* fourth = third + stride;
                const double a = above[i], b = second[i], c = third[i], d = fourth[i];
                pivot = pivot - a * a - b * b - c * c - d * d;
#pragma omp simd
                for (size_t j = i + 1; j < p; ++j)
                    mine[j] = mine[j] - a * above[j] - b * second[j] - c * third[j] - d * fourth[j];
            }
            for (; k < i; ++k) {
                const double* above = square + k * stride;
                const double factor = above[i];
                pivot -= factor * factor;
#pragma omp simd
                for (size_t j = i + 1; j < p; ++j) mine[j] -= factor * above[j];
            }
            // In exact arithmetic a pivot is never below the ridge.
            diagonal[i] = std::sqrt(larger(pivot, 0.5 * ridge));
            const double per = 1.0 / diagonal[i];
#pragma omp simd
            for (size_t j = i + 1; j < p; ++j) mine[j] *= per;
        }
    }

    // Replace b by the solution of U'x = b. A feature that came after the factor has the ridge alone.
    NORMALHEDGE_VECTORISED void solve_transposed(double* b) const {
        const size_t p = features;
        const auto solve_one = [&](size_t k, size_t end) {  // for the places before the end
            const double* mine = square + k * stride;
            const double x = b[k] / (diagonal[k] > 0.0 ? diagonal[k] : std::sqrt(ridge));
            b[k] = x;
#pragma omp simd
            for (size_t j = k + 1; j < end; ++j) b[j] -= mine[j] * x;
            return x;
        };
        size_t k = 0;
        for (; k + 4 <= p; k += 4) {  // four rows in one pass, in the same order
            const double x = solve_one(k, k + 4), y = solve_one(k + 1, k + 4), z = solve_one(k + 2, k + 4),
                         w = solve_one(k + 3, k + 4);
            const double* first = square + k * stride;
            const double* second = first + stride;
            const double* third = second + stride;
            const double* fourth = third + stride;
#pragma omp simd
            for (size_t j = k + 4; j < p; ++j)
                b[j] = b[j] - first[j] * x - second[j] * y - third[j] * z - fourth[j] * w;
        }
        for (; k < p; ++k) solve_one(k, p);
    }
};

constexpr size_t rows_of_equations = 3;  // θ, a and the diagonal of U
constexpr size_t equation_rows = rows_of_equations * equation_count + 1;  // and θ of the non-negative correction

// Whether equations are to be solved anew when the number of rounds that they count has grown: not after every round,
// the more seldom the more features there are, except in the beginning.
inline bool is_solution_due(double before, double rounds, size_t features) {
    const double per = 1.0 + std::floor(smaller(rounds / 16.0, 1.0 + static_cast<double>(features * features) / 160.0));
    return std::floor(rounds / per) > std::floor(before / per);
}

// The memory of all corrections in a game.
struct Stacks {
    double* rows = nullptr;
    double* squares = nullptr;
    size_t features = 0;
    size_t stride = 0;

    Equations of(size_t k) const {
        const Correction& correction = corrections[k];
        const size_t place = correction.equations;
        double* first = rows + place * rows_of_equations * stride;
        double* theta = correction.non_negative ? rows + equation_count * rows_of_equations * stride : first;
        return {theta, first + stride, first + 2 * stride, squares + place * stride * stride,
                correction.of_experts ? features : common_features, stride, correction.ridge};
    }

    void solve() const {
        for (size_t k = 0; k < solved_count; ++k) {
            const Equations equations = of(k);
            if (corrections[k].non_negative)
                equations.solve_non_negative();
            else
                equations.solve();
        }
    }
};

// The memory of the cells of all contexts.
struct Cells {
    double* rows = nullptr;
    double* squares = nullptr;
    size_t count = 0;
    size_t features = 0;
    size_t stride = 0;

    Equations of(std::int32_t cell) const {
        double* first = rows + static_cast<size_t>(cell) * rows_of_equations * stride;
        return {first, first + stride, first + 2 * stride,
                squares + static_cast<size_t>(cell) * stride * stride, features, stride, context_correction.ridge};
    }

    // Solve the equations of a cell where that is due, after rows with this total weight.
    void solve(std::int32_t cell, double added) const {
        const Equations equations = of(cell);
        const double rounds = equations.square[0];  // the constant is a feature
        if (is_solution_due(rounds - added, rounds, features)) equations.solve();
    }

    void solve_all() const {
        for (size_t cell = 0; cell < count; ++cell) of(static_cast<std::int32_t>(cell)).solve();
    }
};

// The errors of an item, and the usual place of its base: discounted sums.
struct Track {
    double blend_errors;
    double median_errors;
    double errors;  // how many
    double places;
    double squares;
    double placed;
    double difference;
    double differences;
    double mean_error;  // of the blend
    double last_error;
    double largest;  // the largest square of the usual error of the blend

    // The mean error; 0 before the second error, as one alone may be wild.
    double error(bool of_median) const {
        return errors > 1.5 ? (of_median ? median_errors : blend_errors) / errors : 0.0;
    }
    double mean() const { return placed > 0.0 ? places / placed : 0.0; }
    double deviation() const {
        const double at = mean();
        return placed > 0.0 ? std::sqrt(larger(squares / placed - at * at, 0.0)) : 0.0;
    }
    double unit() const { return differences > 0.0 ? difference / differences : 0.0; }

    void see(double base, double median, double outcome) {
        const double usual_error = error(false);
        if (usual_error > tiny) {
            last_error = within(outcome - base, -4.0 * usual_error, 4.0 * usual_error);
            mean_error += recent * (last_error - mean_error);
        }
        add_error(blend_errors, errors, std::fabs(outcome - base));
        add_error(median_errors, errors, std::fabs(outcome - median));
        errors = tracked * errors + 1.0;
        places = tracked * places + base;
        squares = tracked * squares + base * base;
        placed = tracked * placed + 1.0;
    }

    static constexpr double tracked = 0.99;
    static constexpr double recent = 0.05;

    // Add an error to the sum of so many. A wild outcome, which may be among the first ones, must neither make the
    // corrections wild nor silence them for long.
    static void add_error(double& sum, double count, double error) {
        if (count <= 5.0) sum = smaller(sum, 20.0 * error * count);
        if (sum > 0.0) error = smaller(error, 20.0 * sum / count);
        sum = tracked * sum + error;
    }
};

// Write the features of a row; `rated` says who is awake, `errors` has the mean and the last error of the blend, and
// `all` has the forecasts that stand for all experts where these are many.
inline void write_features(const Correction& correction, const Forecasts& forecasts, const double* rated,
                           double base, const Track& track, const double* errors, const double* all, size_t features,
                           double* z) {
    const double per = 1.0 / track.error(correction.of_median);
    const double deviation = track.deviation();
    z[0] = 1.0;
    z[1] = correction.of_slope && deviation > tiny ? within((base - track.mean()) / deviation, -3.0, 3.0) : 0.0;
    z[2] = within(errors[0] * per, -4.0, 4.0);
    z[3] = within(errors[1] * per, -4.0, 4.0);
    if (!correction.of_experts) return;
    if (forecasts.n > most_stacked) {
        for (size_t i = 0; i < stand_ins; ++i) z[common_features + i] = within((all[i] - base) * per, -5.0, 5.0);
        return;
    }
    const double* x = forecasts.of_class(0);
    for (size_t i = 0; i + common_features < features; ++i)
        z[common_features + i] = rated[i] > 0.0 ? within((x[i] - base) * per, -5.0, 5.0) : 0.0;
}

// The members of the choice that exist: the base, the corrections that items share, the corrections of contexts,
// and the corrections of the item alone.
struct Members {
    bool several;
    size_t contexts;

    static constexpr size_t shared = 1;
    static constexpr size_t of_contexts = shared + correction_count;
    static constexpr size_t alone = of_contexts + most_contexts;
    static constexpr size_t most = alone + correction_count;

    size_t end() const { return several ? most : of_contexts + contexts; }
    bool has(size_t k) const { return k < of_contexts + contexts || (k >= alone && several); }
    double prior(size_t k) const {
        const size_t others = (several ? 2 : 1) * correction_count + contexts;
        return k == 0 ? trust_in_base : (1.0 - trust_in_base) / static_cast<double>(others);
    }
    static constexpr double trust_in_base = 0.58;
};

// The choice between the base and its corrections.
template <class Members>
struct Choice {
    double* evidence;  // of each member, up to a factor
    double* regrets;
    double* squares;

    static constexpr size_t size = 3 * Members::most;

    explicit Choice(double* data)
        : evidence(data), regrets(data + Members::most), squares(data + 2 * Members::most) {}

    // Delayed losses are correlated: after d rounds more, they count as fewer.
    void learn(const Members& members, const double* rises, double late) const {
        const double correlated = std::sqrt(1.0 + late);
        for (size_t k = 0; k < members.end(); ++k) {
            if (!members.has(k)) continue;
            regrets[k] += rises[k];
            squares[k] += correlated * rises[k] * rises[k];
        }
        weigh(members);
    }

    // Scaled by a power of two, so that the weights do not depend on how many there are beside them.
    void weigh(const Members& members) const {
        constexpr size_t rates = 7;
        double powers[Members::most * rates];
        double top = -infinity;
        for (size_t k = 0; k < members.end(); ++k)
            for (size_t j = 0; members.has(k) && j < rates; ++j) {
                powers[k * rates + j] = exponent(k, 0.5 / static_cast<double>(1 << j));
                top = larger(top, powers[k * rates + j]);
            }
        top = std::floor(top);
        for (size_t k = 0; k < members.end(); ++k) {
            double sum = 0.0;
            double rate = 0.5;
            for (size_t j = 0; members.has(k) && j < rates; ++j, rate *= 0.5)
                sum += rate * exp2(powers[k * rates + j], top);
            evidence[k] = sum;
        }
    }

    // Weigh members whose weights before this choice are `weights`; nothing was learned where there is no evidence.
    void multiply(const Members& members, double* weights) const {
        for (size_t k = 0; k < members.end(); ++k)
            weights[k] *= !members.has(k) ? 0.0 : evidence[0] > 0.0 ? evidence[k] : 1.0;
        normalise(weights, members.end());
    }

private:
    double exponent(size_t k, double rate) const {
        return log2_e * rate * (regrets[k] - rate * squares[k]);
    }
};

// Write the weights of the base and of its corrections for an item.
template <class Members>
void write_choice(const Choice<Members>& shared, const Choice<Members>& alone, const Members& present,
                  double* weights) {
    for (size_t k = 0; k < present.end(); ++k) weights[k] = present.prior(k);
    shared.multiply(present, weights);
    if (!present.several) return;
    for (size_t k = 0; k < present.end(); ++k) weights[k] = 0.9 * weights[k] + 0.1 * present.prior(k);
    alone.multiply(present, weights);
}

}  // namespace normalhedge::mixtures
