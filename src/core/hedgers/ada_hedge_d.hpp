// AdaHedge with delay (Flaspohler et al., 2021).
//
//     p_i ∝ exp(eta (R_i + h_i)),   eta = ln N / Delta,   h = the hint (D + 1) r, r of the last outcome
//     Delta <- (1 - alpha) Delta + [min(gap, drift, both)]+
//
// The round was played with weights of T' = R' + h' at a rate eta', D outcomes ago; R are the regrets
// after it. With the error of the hint e = R - T', and w(y)_i ∝ exp(eta' y_i):
//
//     G(y) = ln(sum_i w(y)_i exp(eta' (R_i - y_i))) / eta' - sum_i w(y)_i (R_i - y_i)
//     gap = G(T'),   drift = w(R) · r,   both = G(y) + w(y) · r at y = R - s e
//     s = (max r - min r) / (max e - min e)                 where that is less than 1
//
// The rows after the regret are R + h, now and before each of the last D outcomes; so are the totals.
#pragma once

#include "ada_hedge.hpp"
#include "late.hpp"

namespace normalhedge::engine {

// max - min
inline double range_of(const double* values, size_t n) {
    double up = -infinity;
    double down = -infinity;
#pragma omp simd reduction(max : up, down)
    for (size_t i = 0; i < n; ++i) {
        up = larger(up, values[i]);
        down = larger(down, -values[i]);
    }
    return up + down;
}

inline double dot(const double* a, const double* b, size_t n) {
    return sum_of(n, [&](size_t i) { return a[i] * b[i]; });
}

struct AdaHedgeD : Late<AdaHedgeD, 2, 1> {
    static constexpr bool whole = true;

    using Late::Late;

    void learn(const Columns& before, const Columns& after, const double* rises, double,
               double* room) const {
        const double rest = keep * before.totals[0];
        const double then_total = keep * before.totals[delay];
        const double eta = then_total > tiny ? log_experts(before.experts) / then_total : 0.0;
        double lost = write_errors(before, after, rises, eta, room);
        age(before, after);
        // Without delay and hint the gap is the least, but for rounding.
        if (delay > 0 || repeats > 0.0) lost = least_of(lost, before, after, rises, eta, room);
        after.totals[0] = rest + lost;
        add_hint(before, after, rises);
    }

    void score(const Columns& now, const double* confidence, double* scores, double*) const {
        const double total = now.totals[0];
        const double eta = total > tiny ? log_experts(now.experts) / total : 0.0;
        score_at(now.row(1), confidence, now.n, eta, scores);
    }

private:
    // A rate of 0 stands for an infinite one: the leader is followed.
    static void score_at(const double* values, const double* confidence, size_t n, double eta,
                         double* scores) {
        if (eta > 0.0)
            score_exponential(values, confidence, n, eta, scores);
        else
            score_leaders(values, n, scores);
    }

    // G(y): y are the regrets of `at`, which shrink by `kept`, and R - y is `errors`. They are changed to
    // have the mean 0.
    static double gap_at(const Columns& at, double* errors, double kept, double eta) {
        const double mean = dot(at.weights, errors, at.n);
#pragma omp simd
        for (size_t i = 0; i < at.n; ++i) errors[i] -= mean;
        return eta > 0.0 ? mixability_gap(at, errors, kept, eta) : leaders_rise(at, errors, kept);
    }

    // Write e, up to a number common to all; return the gap. The weights of `after`, which are not
    // written yet, serve as room.
    double write_errors(const Columns& before, const Columns& after, const double* rises,
                        double eta, double* errors) const {
        Columns played = before;
        if (delay > 0) {
            played = then(before, after.weights);
            weigh(played, 0.0, nullptr);
        }
        played.ledger = played.row(1);  // T' stands for the regrets
        const double* regrets = before.regrets();
        const double* hinted = played.regrets();
        const double kept = keep;
#pragma omp simd
        for (size_t i = 0; i < before.n; ++i)
            errors[i] = rises[i] + kept * (regrets[i] - hinted[i]);
        return gap_at(played, errors, kept, eta);
    }

    // [min(gap, drift, both)]+. The weights and the second row of `after` serve as room.
    double least_of(double gap, const Columns& before, const Columns& after, const double* rises,
                    double eta, double* errors) const {
        const size_t n = before.n;
        const double share = range_of(rises, n) / range_of(errors, n);
        const double drift = earned_at(0.0, before, after, rises, eta, errors);
        double least = smaller(gap, drift);
        if (share < 1.0) {
            const double earned = earned_at(share, before, after, rises, eta, errors);
#pragma omp simd
            for (size_t i = 0; i < n; ++i) errors[i] *= share;
            Columns at = after;
            at.ledger = after.row(1);
            least = smaller(least, earned + gap_at(at, errors, 1.0, eta));
        }
        return larger(least, 0.0);
    }

    // w(y) · r at y = R - share e, which are left in the second row and the weights of `after`.
    double earned_at(double share, const Columns& before, const Columns& after,
                     const double* rises, double eta, const double* errors) const {
        const double* regrets = before.regrets();
        double* point = after.row(1);
        const double kept = keep;
#pragma omp simd
        for (size_t i = 0; i < before.n; ++i)
            point[i] = kept * regrets[i] + rises[i] - share * errors[i];
        score_at(point, nullptr, before.n, eta, after.weights);
        raise_scores(after.weights, before.n);
        return dot(after.weights, rises, before.n);
    }
};

}  // namespace normalhedge::engine
