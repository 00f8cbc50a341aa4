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
    double deviation;
    bool smooth;  // whether p is 2
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

    static double loss_of(double error, bool smooth) {
        const double size = smaller(std::fabs(error), 20.0);
        return size * (smooth ? size : 1.0);
    }
    // q^(-2/p).
    static double lead(double losses, double others, double usual, bool smooth) {
        const double per = within((others + usual + least) / (losses + usual + least), 1e-15, 1e15);
        return per * (smooth ? 1.0 : per);
    }
    static double eighth(double x) {
        const double four = (x * x) * (x * x);
        return four * four;
    }
    static constexpr double least = 1e-200;  // keeps a ratio of zero losses finite

    static double place_of(const SourceRow& row, double x) {
        return row.deviation > tiny ? within((x - row.mean) / row.deviation, -3.0, 3.0) : 0.0;
    }

    struct Fit {
        double bias;
        double moved;  // with a scale
        double scale;

        double scaled(double z) const { return within(moved + scale * z, -widest, widest); }
    };
    static Fit fit_around(const double* const* sums, size_t i, const Fit& start) {
        const double count = sums[0][i] + ridge;
        const double places = sums[2][i];
        const double squares = sums[3][i] + steep;
        const double errors = sums[1][i] + ridge * start.moved;
        const double products = sums[4][i] + steep * start.scale;
        const double per = 1.0 / (count * squares - places * places);
        return {within((sums[1][i] + ridge * start.bias) / count, -widest, widest),
                (squares * errors - places * products) * per, (count * products - places * errors) * per};
    }

    // The rows of a memory, and the rows that items share.
    struct Fits {
        const double* own[Sources::sums];
        const double* others[Sources::sums];

        Fits(const Sources& some, const Sources& shared, size_t a) {
            for (size_t k = 0; k < Sources::sums; ++k) {
                own[k] = some.sum(a, k);
                others[k] = shared.sum(a, k);
            }
        }
        template <bool has_shared>
        Fit of(size_t i) const {
            const Fit none{0.0, 0.0, 0.0};
            return fit_around(own, i, has_shared ? fit_around(others, i, none) : none);
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
    NORMALHEDGE_VECTORISED static void add_memory(const Sources& own, const Sources& shared, size_t a, const SourceRow& row,
                                                  const double* x, const double* rated, double usual, double* total,
                                                  double* moved, double* best) {
        const Fits fits(own, shared, a);
        const double* biased = own.losses(1 + 2 * a);
        const double* scaled = own.losses(2 + 2 * a);
        const double* others = own.usual_losses();
#pragma omp simd
        for (size_t i = 0; i < own.n; ++i) {
            const Fit fit = fits.of<has_shared>(i);
            const double z = rated[i] > 0.0 ? place_of(row, x[i]) : 0.0;
            const double first = lead(biased[i], others[i], usual, row.smooth);
            const double second = lead(scaled[i], others[i], usual, row.smooth);
            total[i] += eighth(first) + eighth(second);
            moved[i] += eighth(first) * fit.bias + eighth(second) * fit.scaled(z);
            best[i] = larger(best[i], larger(first, second));
        }
    }

    template <bool has_shared>
    NORMALHEDGE_VECTORISED static void judge_memory(const Sources& own, const Sources& shared, size_t a, const SourceRow& row,
                                                    const double* x, const double* rated, double outcome, double weight,
                                                    double keep) {
        const Fits fits(own, shared, a);
        double* biased = own.losses(1 + 2 * a);
        double* scaled = own.losses(2 + 2 * a);
        const double per = 1.0 / row.error;
#pragma omp simd
        for (size_t i = 0; i < own.n; ++i) {
            const Fit fit = fits.of<has_shared>(i);
            const double heard = rated[i] > 0.0 ? rated[i] * weight : 0.0;
            const double source = heard > 0.0 ? x[i] : outcome;
            const double error = (outcome - source) * per;
            biased[i] = keep * biased[i] + heard * loss_of(error - fit.bias, row.smooth);
            scaled[i] = keep * scaled[i] + heard * loss_of(error - fit.scaled(place_of(row, source)), row.smooth);
        }
    }

    NORMALHEDGE_VECTORISED static void learn_memory(Sources own, size_t a, const SourceRow& row, const double* x,
                                                    const double* rated, double outcome, double target, double weight,
                                                    double keep) {
        double* counts = own.sum(a, 0);
        double* errors = own.sum(a, 1);
        double* places = own.sum(a, 2);
        double* squares = own.sum(a, 3);
        double* products = own.sum(a, 4);
        const double per = 1.0 / row.error;
#pragma omp simd
        for (size_t i = 0; i < own.n; ++i) {
            const double heard = rated[i] > 0.0 ? rated[i] * weight : 0.0;
            const double source = heard > 0.0 ? x[i] : outcome;
            const double error = within((outcome - source) * per, -target, target);
            const double z = place_of(row, source);
            counts[i] = keep * counts[i] + heard;
            errors[i] = keep * errors[i] + heard * error;
            places[i] = keep * places[i] + heard * z;
            squares[i] = keep * squares[i] + heard * z * z;
            products[i] = keep * products[i] + heard * z * error;
        }
    }
};

}  // namespace normalhedge::mixtures
