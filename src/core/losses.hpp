// Losses: what a forecast costs once the outcome is known, as one table.
//
// Of a forecast x, or of class probabilities p, when the outcome is y:
//
//     square      (x - y)^2
//     absolute    |x - y|
//     pinball     level (y - x) where x < y, else (1 - level) (x - y)
//     log         -ln max(p_y, 1e-6)
//     l1          1 - p_y
//     log-wealth  -ln max(x / y, 1e-6)
//     zero-one    1 where x, or the most probable class, is not y; else 0
//     crps        sum_c s_c 2 pinball(x_c, y; level_c),   sum_c s_c = 1, of quantiles x_c at several levels
//
// With even shares s_c the last is the weighted interval score, where levels come in pairs a, 1 - a, and
// tends to the CRPS where they become dense.
#pragma once

#include <cstring>

#include "columns.hpp"

namespace normalhedge {

// Forecasts of one thing: classes (one where there are none) x experts.
struct Forecasts {
    const double* data;
    size_t classes;
    size_t n;
    size_t stride;  // from one class to the next: n, or more where some experts are left out

    const double* of_class(size_t c) const { return data + c * stride; }
};

// The levels that a loss of quantiles is of, and the share of each; other losses look at the first
// level, or at none.
struct Quantiles {
    const double* levels;
    const double* shares;
};

struct Square {
    static constexpr const char* name = "square";
    static double value(double x, double y, double) { return (x - y) * (x - y); }
    static double slope(double x, double y, double) { return 2.0 * (x - y); }
};

struct Absolute {
    static constexpr const char* name = "absolute";
    static double value(double x, double y, double) { return std::fabs(x - y); }
    static double slope(double x, double y, double) { return x > y ? 1.0 : x < y ? -1.0 : 0.0; }
};

struct Pinball {
    static constexpr const char* name = "pinball";
    static double value(double x, double y, double level) {
        const double over = x - y;
        return over > 0.0 ? (1.0 - level) * over : -level * over;
    }
    static double slope(double x, double y, double level) {
        return x > y ? 1.0 - level : x < y ? -level : 0.0;
    }
};

// A probability below this costs as much as this.
constexpr double least_probability = 1e-6;

struct Log {
    static constexpr const char* name = "log";
    static double value(double p, double, double) { return -log(larger(p, least_probability)); }
    static double slope(double p, double, double) { return -1.0 / larger(p, least_probability); }
};

struct L1 {
    static constexpr const char* name = "l1";
    static double value(double p, double, double) { return 1.0 - p; }
    static double slope(double, double, double) { return -1.0; }
};

// Wealth that becomes less than this times that of the benchmark costs as much as this.
constexpr double least_relative = 1e-6;

struct LogWealth {
    static constexpr const char* name = "log-wealth";
    static double value(double x, double y, double) {
        return -log(larger(x / larger(y, 1e-100), least_relative));  // outcomes are positive
    }
    static double slope(double x, double y, double) { return -1.0 / larger(x, least_relative * y); }
};

struct ZeroOne {
    static constexpr const char* name = "zero-one";
    static double value(double x, double y, double) { return x == y ? 0.0 : 1.0; }
    static double slope(double, double, double) { return 0.0; }
};

// The numbers that a loss is of: those of the outcome's class, where there are classes.
inline size_t class_of(size_t classes, double outcome) {
    return classes > 1 ? static_cast<size_t>(outcome) : 0;
}

// Write the loss of each expert; those of experts that sleep are whatever comes out.
template <class Kind>
NORMALHEDGE_VECTORISED void write_losses(const Forecasts& forecasts, double outcome,
                                         const Quantiles& at, double* losses) {
    const double level = *at.levels;
    const double* x = forecasts.of_class(class_of(forecasts.classes, outcome));
#pragma omp simd
    for (size_t i = 0; i < forecasts.n; ++i) losses[i] = Kind::value(x[i], outcome, level);
}

// The most probable class counts, the first of those that tie.
inline void write_wrong_classes(const Forecasts& forecasts, double outcome, const Quantiles& at,
                                double* losses) {
    if (forecasts.classes == 1) {
        write_losses<ZeroOne>(forecasts, outcome, at, losses);
        return;
    }
    for (size_t i = 0; i < forecasts.n; ++i) {
        size_t best = 0;
        for (size_t c = 1; c < forecasts.classes; ++c)
            if (forecasts.of_class(c)[i] > forecasts.of_class(best)[i]) best = c;
        losses[i] = static_cast<double>(best) == outcome ? 0.0 : 1.0;
    }
}

// Quantiles at several levels; a level without a share is not looked at.
NORMALHEDGE_VECTORISED inline void write_crps(const Forecasts& forecasts, double outcome,
                                              const Quantiles& at, double* losses) {
    fill(losses, forecasts.n, 0.0);
    for (size_t c = 0; c < forecasts.classes; ++c) {
        if (at.shares[c] == 0.0) continue;
        const double* x = forecasts.of_class(c);
        const double above = 2.0 * at.shares[c] * (1.0 - at.levels[c]);
        const double below = -2.0 * at.shares[c] * at.levels[c];
#pragma omp simd
        for (size_t i = 0; i < forecasts.n; ++i) {
            const double over = x[i] - outcome;
            losses[i] += over * (over > 0.0 ? above : below);
        }
    }
}

// A row of the table.
struct Loss {
    const char* name;
    void (*write)(const Forecasts& forecasts, double outcome, const Quantiles& at, double* losses);
    double (*slope)(double prediction, double outcome, double level);
    bool relative;   // whether outcomes must be positive
    bool of_levels;  // whether the classes of a row are levels
    bool monotone;   // whether it falls, or rises, with the forecast, and has no least value among them

    // The loss of one prediction, a number for each class.
    double of(const double* value, size_t classes, double outcome, const Quantiles& at) const {
        double result;
        write({value, classes, 1, 1}, outcome, at, &result);
        return result;
    }
};

template <class Kind>
constexpr Loss loss_row(bool monotone = false, bool relative = false) {
    return {Kind::name, write_losses<Kind>, Kind::slope, relative, false, monotone};
}

inline const Loss losses_table[] = {
    loss_row<Square>(),
    loss_row<Absolute>(),
    loss_row<Pinball>(),
    loss_row<Log>(true),
    loss_row<L1>(true),
    loss_row<LogWealth>(true, true),
    {ZeroOne::name, write_wrong_classes, ZeroOne::slope, false, false, false},
    {"crps", write_crps, Pinball::slope, false, true, false},
};

inline const Loss* find_loss(const char* name) {
    for (const Loss& loss : losses_table)
        if (std::strcmp(loss.name, name) == 0) return &loss;
    return nullptr;
}

}  // namespace normalhedge
