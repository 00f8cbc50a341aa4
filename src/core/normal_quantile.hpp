// The quantiles of the standard normal distribution.
#pragma once

#include <cmath>

namespace normalhedge::latent {

// Phi^-1(p) for 0 < p < 1 to 1e-9: Acklam's rational approximations, refined by a step of Halley's method.
inline double normal_quantile(double p) {
    const auto tail = [](double q) {
        return (((((-7.784894002430293e-03 * q - 3.223964580411365e-01) * q - 2.400758277161838e+00) * q -
                  2.549732539343734e+00) * q + 4.374664141464968e+00) * q + 2.938163982698783e+00) /
               ((((7.784695709041462e-03 * q + 3.224671290700398e-01) * q + 2.445134137142996e+00) * q +
                 3.754408661907416e+00) * q + 1.0);
    };
    double x;
    if (p < 0.02425) {
        x = tail(std::sqrt(-2.0 * std::log(p)));
    } else if (p > 1.0 - 0.02425) {
        x = -tail(std::sqrt(-2.0 * std::log1p(-p)));
    } else {
        const double q = p - 0.5, r = q * q;
        x = (((((-3.969683028665376e+01 * r + 2.209460984245205e+02) * r - 2.759285104469687e+02) * r +
               1.383577518672690e+02) * r - 3.066479806614716e+01) * r + 2.506628277459239e+00) * q /
            (((((-5.447609879822406e+01 * r + 1.615858368580409e+02) * r - 1.556989798598866e+02) * r +
               6.680131188771972e+01) * r - 1.328068155288572e+01) * r + 1.0);
    }
    const double error = 0.5 * std::erfc(-x * 0.7071067811865476) - p;
    const double step = error * 2.5066282746310002 * std::exp(0.5 * x * x);
    return x - step / (1.0 + 0.5 * x * step);
}

}  // namespace normalhedge::latent
