// The debiased correction: experts without their own bias and scale, recombined.
//
// A source x is an expert, the plain mean or the plain median. In units of the usual error s of the median, with
// z = within((x - m) / v, ±3) for the discounted mean m and deviation v of the blend, a source has seven versions,
//
//     x,    x + s α_a,    x + s (α'_a + β_a z)      for memories a of 20, 100 and all rounds,
//
// with shifts of at most 4 s. Ridges learn them from the errors t = within((y - x) / s, ±k) of the source:
//
//     α_a = argmin  (α - α_0)^2 + sum_t a^(T - t) (t - α)^2
//     (α'_a, β_a) = argmin  (α' - α'_0)^2 + 2 (β' - β_0)^2 + sum_t a^(T - t) (t - α' - β' z)^2
//
// around 0, or in the game of an item alone around the solution for all items. Losses are relative to the losses of
// the plain median in the same rows, as in `relative.hpp`, with a memory of 100 rounds:
//
//     q = (A + M / T) / (B + M / T),    A: of a version, min(|y - x| / s - shift, 20)^p,    B: of the median
//
// with p = 2, or 1 for losses with a kink. The shift is the present one when the outcome is known, before it is
// learned from. A source becomes the mean of its versions with weights q^(-16/p); the correction is the mean of the
// middle half of the sources, with the weights min q^(-4/p) over the versions. It costs O(N log N).
//
// With many experts, their best so far is the mean of the experts with weights q^(-16/p) of the first version.
#pragma once

#include "corrections.hpp"
#include "mixture.hpp"

namespace normalhedge::mixtures {

// The memory of some sources: a row for each number, a column for each source.
struct Sources {
    double* data;
    size_t stride;
    size_t n;

    static constexpr size_t memories = 3;
    static constexpr size_t sums = 5;  // of each memory: how many errors, errors, places, their squares and products
    static constexpr size_t versions = 1 + 2 * memories;
    static constexpr size_t rows = sums * memories + versions + 1;

    const double* sum(size_t a, size_t k) const { return data + (sums * a + k) * stride; }
    double* sum(size_t a, size_t k) { return data + (sums * a + k) * stride; }
    double* losses(size_t version) const { return data + (sums * memories + version) * stride; }
    double* usual_losses() const { return losses(versions); }
};

// The memory of all sources of a game.
struct SourceMemory {
    Sources experts;
    Sources plain;  // the mean and the median
    double* usual;  // M and T

    static constexpr size_t plain_count = 2;
    static constexpr size_t totals = plain_count * Sources::rows + 2;

    SourceMemory(double* rows, size_t stride, size_t n, double* totals_of_game)
        : experts{rows, stride, n},
          plain{totals_of_game, plain_count, plain_count},
          usual(totals_of_game + plain_count * Sources::rows) {}

    double usual_loss() const { return usual[1] > 0.0 ? usual[0] / usual[1] : 0.0; }
};

// A row, as its sources see it.
struct SourceRow {
    const double* x;  // of the experts
    const double* rated;
    const std::uint32_t* order;  // of the experts by x, and two places more for the plain ones; or none
    double plain[2];  // the mean and the median
    double error;     // s
    double mean;
    double deviation;  // infinite if it is zero
    double smooth;     // 1 if p is 2, else 0
};

class Debiaser {
public:
    static size_t room(size_t n) { return 8 * (n + SourceMemory::plain_count); }

    // The correction. `shared` is the memory that items share, or none; the room is for `room(n)` doubles.
    static double say(const SourceMemory& own, const SourceMemory* shared, const SourceRow& row, double* room) {
        const size_t n = own.experts.n;
        const size_t count = n + SourceMemory::plain_count;
        double* values = room;
        double* weights = values + count;
        double* spare = weights + count;
        const double usual = own.usual_loss();
        recombine(own.experts, shared ? &shared->experts : nullptr, row, row.x, row.rated, usual, spare, values, weights);
        recombine(own.plain, shared ? &shared->plain : nullptr, row, row.plain, both, usual, spare, values + n,
                  weights + n);
        return SortedForecasts(values, weights, count, spare, row.order, true).trimmed();
    }

    // The best expert so far, or the mean of several that are about as good; `weights` is for n doubles.
    static double best(const SourceMemory& own, const SourceRow& row, double* weights) {
        const Sources& all = own.experts;
        const double usual = own.usual_loss();
        const double* losses = all.losses(0);
        const double* others = all.usual_losses();
        for (size_t i = 0; i < all.n; ++i)
            weights[i] = row.rated[i] > 0.0 ? row.rated[i] * eighth(lead(losses[i], others[i], usual, row.smooth)) : 0.0;
        normalise(weights, all.n);
        return weighted_mean(row.x, weights, all.n);
    }

    // Judge the versions by an outcome, which counts so often, after earlier ones faded.
    static void judge(const SourceMemory& own, const SourceMemory* shared, const SourceRow& row, double outcome,
                      double weight, double keep) {
        const double usual = weight * loss_of((row.plain[1] - outcome) / row.error, row.smooth);
        const auto judge_some = [&](const Sources& some, const Sources* others, const double* x, const double* rated) {
            for (size_t a = 0; a < Sources::memories; ++a)
                others ? judge_memory<true>(some, *others, a, row, x, rated, outcome, weight, keep)
                       : judge_memory<false>(some, some, a, row, x, rated, outcome, weight, keep);
            double* raw = some.losses(0);
            double* compared = some.usual_losses();
            for (size_t i = 0; i < some.n; ++i) {
                const double heard = rated[i] > 0.0 ? rated[i] : 0.0;
                const double error = heard > 0.0 ? (outcome - x[i]) / row.error : 0.0;
                raw[i] = keep * raw[i] + heard * weight * loss_of(error, row.smooth);
                compared[i] = keep * compared[i] + heard * usual;
            }
        };
        judge_some(own.experts, shared ? &shared->experts : nullptr, row.x, row.rated);
        judge_some(own.plain, shared ? &shared->plain : nullptr, row.plain, both);
        own.usual[0] = keep * own.usual[0] + usual;
        own.usual[1] = keep * own.usual[1] + weight;
    }

    // Learn from the errors, which are at most the target and count so often, after earlier ones faded in so many
    // rounds.
    static void learn(const SourceMemory& own, const SourceRow& row, double outcome, double target, double weight,
                      const double* keeps) {
        for (size_t a = 0; a < Sources::memories; ++a) {
            learn_memory(own.experts, a, row, row.x, row.rated, outcome, target, weight, keeps[a]);
            learn_memory(own.plain, a, row, row.plain, both, outcome, target, weight, keeps[a]);
        }
    }

    static constexpr double keeps[Sources::memories] = {0.95, 0.99, 1.0};
    static constexpr double judged = 0.99;

private:
    static constexpr double both[SourceMemory::plain_count] = {1.0, 1.0};
    static constexpr double ridge = 1.0;
    static constexpr double steep = 2.0;  // the ridge of the scale
    static constexpr double widest = 4.0;

    // The loops below name each product that is fused with a sum: the vectors of a processor must not decide it.
    //
    // A choice by the row as a sum, of which one term is zero: a loop that chooses would not be vectorised.
    [[gnu::always_inline]] static double loss_of(double error, double smooth) {
        const double size = smaller(std::fabs(error), 20.0);
        return size * (smooth * size + (1.0 - smooth));
    }
    // q^(-2/p).
    [[gnu::always_inline]] static double lead(double losses, double others, double usual, double smooth) {
        const double per = within((others + usual + least) / (losses + usual + least), 1e-15, 1e15);
        return per * ((1.0 - smooth) * per + smooth);
    }
    [[gnu::always_inline]] static double eighth(double x) {
        const double four = (x * x) * (x * x);
        return four * four;
    }
    static constexpr double least = 1e-200;  // keeps a ratio of zero losses finite

    [[gnu::always_inline]] static double place_of(const SourceRow& row, double x) {
        return within((x - row.mean) / row.deviation, -3.0, 3.0);
    }

    struct Fit {
        double bias;
        double moved;  // with a scale
        double scale;

        [[gnu::always_inline]] double scaled(double z) const { return within(std::fma(scale, z, moved), -widest, widest); }
    };
    // The rows of a memory.
    struct Rows {
        const double* counts;
        const double* errors;
        const double* places;
        const double* squares;
        const double* products;

        Rows(const Sources& some, size_t a)
            : counts(some.sum(a, 0)), errors(some.sum(a, 1)), places(some.sum(a, 2)), squares(some.sum(a, 3)),
              products(some.sum(a, 4)) {}

        [[gnu::always_inline]] Fit fit(size_t i, const Fit& start) const {
            const double count = counts[i] + ridge;
            const double place = places[i];
            const double square = squares[i] + steep;
            const double error = errors[i] + ridge * start.moved;
            const double product = products[i] + steep * start.scale;
            const double per = 1.0 / std::fma(count, square, -(place * place));
            return {within((errors[i] + ridge * start.bias) / count, -widest, widest),
                    std::fma(square, error, -(place * product)) * per, std::fma(count, product, -(place * error)) * per};
        }
    };

    // The fit of an item, around the fit that items share.
    struct Fits {
        Rows own;
        Rows others;

        template <bool has_shared>
        [[gnu::always_inline]] Fit of(size_t i) const {
            const Fit none{0.0, 0.0, 0.0};
            return own.fit(i, has_shared ? others.fit(i, none) : none);
        }
    };

    static void recombine(const Sources& own, const Sources* shared, const SourceRow& row, const double* x,
                          const double* rated, double usual, double* room, double* values, double* weights) {
        const size_t n = own.n;
        double* total = room;
        double* moved = total + n;
        double* best = moved + n;
        const double* raw = own.losses(0);
        const double* others = own.usual_losses();
        for (size_t i = 0; i < n; ++i) {
            best[i] = lead(raw[i], others[i], usual, row.smooth);
            total[i] = eighth(best[i]);
            moved[i] = 0.0;
        }
        for (size_t a = 0; a < Sources::memories; ++a)
            shared ? add_memory<true>(own, *shared, a, row, x, rated, usual, total, moved, best)
                   : add_memory<false>(own, own, a, row, x, rated, usual, total, moved, best);
        for (size_t i = 0; i < n; ++i) {
            const bool awake = rated[i] > 0.0;
            values[i] = awake ? x[i] + row.error * (moved[i] / total[i]) : 0.0;
            weights[i] = awake ? rated[i] * best[i] * best[i] : 0.0;
        }
    }

    template <bool has_shared>
    NORMALHEDGE_VECTORISED static void add_memory(const Sources& own, const Sources& shared, size_t a, const SourceRow row,
                                                  const double* x, const double* rated, double usual, double* total,
                                                  double* moved, double* best) {
        const Fits fits{{own, a}, {shared, a}};
        const double* biased = own.losses(1 + 2 * a);
        const double* scaled = own.losses(2 + 2 * a);
        const double* others = own.usual_losses();
        const size_t n = own.n;
#pragma omp simd
        for (size_t i = 0; i < n; ++i) {
            const Fit fit = fits.of<has_shared>(i);
            const double source = x[i];
            const double place = place_of(row, source);
            const double z = rated[i] > 0.0 ? place : 0.0;
            const double first = lead(biased[i], others[i], usual, row.smooth);
            const double second = lead(scaled[i], others[i], usual, row.smooth);
            const double one = eighth(first);
            const double other = eighth(second);
            const double start = std::fma(one, fit.bias, moved[i]);
            total[i] += one + other;
            moved[i] = std::fma(other, fit.scaled(z), start);
            best[i] = larger(best[i], larger(first, second));
        }
    }

    template <bool has_shared>
    NORMALHEDGE_VECTORISED static void judge_memory(const Sources& own, const Sources& shared, size_t a, const SourceRow row,
                                                    const double* x, const double* rated, double outcome, double weight,
                                                    double keep) {
        const Fits fits{{own, a}, {shared, a}};
        double* biased = own.losses(1 + 2 * a);
        double* scaled = own.losses(2 + 2 * a);
        const double per = 1.0 / row.error;
        const size_t n = own.n;
#pragma omp simd
        for (size_t i = 0; i < n; ++i) {
            const Fit fit = fits.of<has_shared>(i);
            const double forecast = x[i];
            const double heard = larger(rated[i], 0.0) * weight;
            const double source = heard > 0.0 ? forecast : outcome;
            const double error = outcome - source;
            const double place = place_of(row, source);
            biased[i] = std::fma(heard, loss_of(std::fma(error, per, -fit.bias), row.smooth), keep * biased[i]);
            scaled[i] = std::fma(heard, loss_of(std::fma(error, per, -fit.scaled(place)), row.smooth), keep * scaled[i]);
        }
    }

    NORMALHEDGE_VECTORISED static void learn_memory(Sources own, size_t a, const SourceRow row, const double* x,
                                                    const double* rated, double outcome, double target, double weight,
                                                    double keep) {
        double* counts = own.sum(a, 0);
        double* errors = own.sum(a, 1);
        double* places = own.sum(a, 2);
        double* squares = own.sum(a, 3);
        double* products = own.sum(a, 4);
        const double per = 1.0 / row.error;
        const size_t n = own.n;
#pragma omp simd
        for (size_t i = 0; i < n; ++i) {
            const double forecast = x[i];
            const double heard = larger(rated[i], 0.0) * weight;
            const double source = heard > 0.0 ? forecast : outcome;
            const double error = within((outcome - source) * per, -target, target);
            const double z = place_of(row, source);
            const double weighted = heard * z;
            counts[i] = std::fma(keep, counts[i], heard);
            errors[i] = std::fma(heard, error, keep * errors[i]);
            places[i] = std::fma(keep, places[i], weighted);
            squares[i] = std::fma(weighted, z, keep * squares[i]);
            products[i] = std::fma(weighted, error, keep * products[i]);
        }
    }
};

}  // namespace normalhedge::mixtures
