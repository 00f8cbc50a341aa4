// Loss functions, as one table.
//
// Of a forecast x, or of class probabilities p, when the outcome is y:
//
//     square      (x - y)^2
//     absolute    |x - y|
//     pinball     level (y - x) where x < y, else (1 - level) (x - y)
//     huber       (x - y)^2 / 2 where |x - y| < delta, else delta (|x - y| - delta / 2)
//     expectile   level (x - y)^2 where x < y, else (1 - level) (x - y)^2
//     mape        |x - y| / |y|
//     smape       2 |x - y| / (|x| + |y|)
//     log         -ln max(p_y, 1e-6)
//     l1          1 - p_y
//     brier       sum_c (p_c - [c = y])^2
//     log-wealth  -ln max(x / y, 1e-6)
//     zero-one    1 where x, or the most probable class, is not y; else 0
//     crps        sum_c s_c 2 pinball(x_c, y; level_c),   sum_c s_c = 1, of quantiles x_c at several levels
//
// With even shares s_c the last is the weighted interval score, where levels come in pairs a, 1 - a, and
// tends to the CRPS where they become dense.
//
// A loss is a struct and a row of the table at the end. The class of its name in `mixtures/losses` is the same
// loss in Python; the laws of `normalhedge.checks` compare the two.
#pragma once

#include <cstdint>
#include <cstring>

#include "columns.hpp"

namespace normalhedge::mixtures {

// Forecasts of one thing: classes (one where there are none) x experts.
struct Forecasts {
    const double* data;
    size_t classes;
    size_t n;
    size_t stride;  // from one class to the next: n, or more where some experts are left out
    // Where it is known, of one class: the order of the experts awake, by rising forecasts, and how many they are.
    const std::uint32_t* order = nullptr;
    size_t awake = 0;

    const double* of_class(size_t c) const { return data + c * stride; }
};

// The quantile levels of a loss, and the share of each. The first also holds the setting of losses with one
// setting of another name (delta).
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

struct Huber {
    static constexpr const char* name = "huber";
    static double value(double x, double y, double delta) {
        const double far = std::fabs(x - y);
        return far < delta ? 0.5 * far * far : delta * (far - 0.5 * delta);
    }
    static double slope(double x, double y, double delta) { return within(x - y, -delta, delta); }
};

// Its best constant forecast is the expectile of the level.
struct Expectile {
    static constexpr const char* name = "expectile";
    static double value(double x, double y, double level) {
        const double over = x - y;
        return (over > 0.0 ? 1.0 - level : level) * over * over;
    }
    static double slope(double x, double y, double level) {
        const double over = x - y;
        return 2.0 * (over > 0.0 ? 1.0 - level : level) * over;
    }
};

struct Mape {
    static constexpr const char* name = "mape";
    static constexpr double least = 1e-100;  // outcomes are not 0
    static double value(double x, double y, double) {
        return std::fabs(x - y) / larger(std::fabs(y), least);
    }
    static double slope(double x, double y, double) {
        const double steep = 1.0 / larger(std::fabs(y), least);
        return x > y ? steep : x < y ? -steep : 0.0;
    }
};

// Where both are 0, the forecast is right.
struct Smape {
    static constexpr const char* name = "smape";
    static double value(double x, double y, double) {
        return 2.0 * std::fabs(x - y) / larger(std::fabs(x) + std::fabs(y), 1e-300);
    }
    // A forecast on the other side of 0 costs 2, however far it is.
    static double slope(double x, double y, double) {
        const double size = larger(std::fabs(x) + std::fabs(y), 1e-100);
        const bool same_side = (x > 0.0 && y > 0.0) || (x < 0.0 && y < 0.0);
        const double steep = same_side ? 4.0 * (std::fabs(y) / size) / size : 0.0;
        return x > y ? steep : x < y ? -steep : 0.0;
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

// Wealth below this share of the benchmark's wealth costs as much as this share.
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

// The index of the number that a loss depends on: the class of the outcome, where there are classes.
inline size_t class_of(size_t classes, double outcome) {
    return classes > 1 ? static_cast<size_t>(outcome) : 0;
}

// Write the loss of each expert; the losses of sleeping experts are undefined.
template <class Kind>
NORMALHEDGE_VECTORISED void write_losses(const Forecasts& forecasts, double outcome,
                                         const Quantiles& at, double* losses) {
    const double level = *at.levels;
    const double* x = forecasts.of_class(class_of(forecasts.classes, outcome));
#pragma omp simd
    for (size_t i = 0; i < forecasts.n; ++i) losses[i] = Kind::value(x[i], outcome, level);
}

// The most probable class counts; the first where several tie.
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

// Quantiles at several quantile levels; one without a share is skipped.
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

// All class probabilities count.
NORMALHEDGE_VECTORISED inline void write_brier(const Forecasts& forecasts, double outcome,
                                               const Quantiles&, double* losses) {
    fill(losses, forecasts.n, 0.0);
    for (size_t c = 0; c < forecasts.classes; ++c) {
        const double* p = forecasts.of_class(c);
        const double happened = static_cast<double>(c) == outcome ? 1.0 : 0.0;
#pragma omp simd
        for (size_t i = 0; i < forecasts.n; ++i) losses[i] += (p[i] - happened) * (p[i] - happened);
    }
}

// The derivative by the number c of a forecast, where this number counts.
template <class Kind>
double slope_of(double x, size_t, double outcome, const Quantiles& at) {
    return Kind::slope(x, outcome, *at.levels);
}
inline double crps_slope(double x, size_t c, double outcome, const Quantiles& at) {
    return 2.0 * at.shares[c] * Pinball::slope(x, outcome, at.levels[c]);
}
inline double brier_slope(double p, size_t c, double outcome, const Quantiles&) {
    return 2.0 * (p - (static_cast<double>(c) == outcome ? 1.0 : 0.0));
}

// Which outcomes a loss is defined for.
inline bool any_outcome(double) { return true; }
inline bool positive_outcome(double y) { return y > 0.0; }
inline bool outcome_but_zero(double y) { return y != 0.0; }

// The numbers of a forecast that count.
enum class Counted { one, classes, levels };  // the outcome's class, or the only number; all classes; all levels

// A row of the table.
struct Loss {
    const char* name;
    void (*write)(const Forecasts& forecasts, double outcome, const Quantiles& at, double* losses);
    double (*slope)(double prediction, size_t c, double outcome, const Quantiles& at);
    Counted counted;
    bool monotone;  // whether it falls, or rises, with the forecast, and has no least value among them
    bool (*takes)(double outcome);

    bool of_levels() const { return counted == Counted::levels; }

    // The loss of one prediction, a number for each class.
    double of(const double* value, size_t classes, double outcome, const Quantiles& at) const {
        double result;
        write({value, classes, 1, 1}, outcome, at, &result);
        return result;
    }
};

template <class Kind>
constexpr Loss loss_row(bool monotone = false, bool (*takes)(double) = any_outcome) {
    return {Kind::name, write_losses<Kind>, slope_of<Kind>, Counted::one, monotone, takes};
}

inline const Loss losses_table[] = {
    loss_row<Square>(),
    loss_row<Absolute>(),
    loss_row<Pinball>(),
    loss_row<Huber>(),
    loss_row<Expectile>(),
    loss_row<Mape>(false, outcome_but_zero),
    loss_row<Smape>(),
    loss_row<Log>(true),
    loss_row<L1>(true),
    loss_row<LogWealth>(true, positive_outcome),
    {ZeroOne::name, write_wrong_classes, slope_of<ZeroOne>, Counted::one, false, any_outcome},
    {"brier", write_brier, brier_slope, Counted::classes, false, any_outcome},
    {"crps", write_crps, crps_slope, Counted::levels, false, any_outcome},
};

inline const Loss* find_loss(const char* name) {
    for (const Loss& loss : losses_table)
        if (std::strcmp(loss.name, name) == 0) return &loss;
    return nullptr;
}

}  // namespace normalhedge::mixtures
