// Arithmetic that runs in vector registers, which std::exp and std::log do not.
//
// The functions have no branches and call no library, and are compiled into every loop that calls
// them: so that loop is vectorised.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

// The loops over experts. Sums are taken as in `sums.hpp`, so that all processors with multiply-adds give the same
// bits.
// glibc alone resolves the choice at load time: musl, of Alpine Linux, has no such symbols.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__) && \
    !defined(NORMALHEDGE_PLAIN)
#ifdef NORMALHEDGE_NARROW
#define NORMALHEDGE_PROCESSORS "arch=x86-64-v3", "default"
#else
#define NORMALHEDGE_PROCESSORS "arch=x86-64-v4", "arch=x86-64-v3", "default"
#endif
// Compiled for three generations of processors and chosen when the module is loaded. Its callees are
// inlined. It must not throw, nor call a function that may: GCC assumes that a call of such a function
// returns.
#define NORMALHEDGE_VECTORISED __attribute__((target_clones(NORMALHEDGE_PROCESSORS), flatten))
#else
#define NORMALHEDGE_VECTORISED
#endif

namespace normalhedge {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

constexpr double log2_e = 1.4426950408889634;
constexpr double ln_2 = 0.6931471805599453;

// A leading regret or a sum of weights below this has lost its digits and counts as zero.
constexpr double tiny = 1e-290;

// Exponents below this, 2^-1000, count as no weight: far above the subnormal numbers.
constexpr double negligible = -1000.0;

[[gnu::always_inline]] inline double larger(double a, double b) { return a > b ? a : b; }
[[gnu::always_inline]] inline double smaller(double a, double b) { return a < b ? a : b; }
[[gnu::always_inline]] inline double within(double x, double low, double high) { return smaller(larger(x, low), high); }

[[gnu::always_inline]] inline std::int64_t bits_of(double x) {
    std::int64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}

[[gnu::always_inline]] inline double double_of(std::int64_t bits) {
    double x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

// Adding this rounds a double to the nearest integer and leaves that integer, shifted by a multiple
// of 2^12, in the low bits of the representation.
constexpr double rounding = 0x1.8p52;

// p 2^e for the integer e that `rounding` left in the low bits, where p and the result are normal:
// added to the exponent, which costs less than a product.
[[gnu::always_inline]] inline double times_power_of_two(double p, double shifted) {
    return double_of(static_cast<std::int64_t>(static_cast<std::uint64_t>(bits_of(p)) +
                                               (static_cast<std::uint64_t>(bits_of(shifted)) << 52)));
}

// 2^x / 2^top for x <= top to two ulps, and 0 below 2^-1000. The top is a whole number: the result for another one
// differs by a power of two, to the bit.
//
// 2^f for |f| <= 1/2 by the polynomial of degree 10 with the least relative error, 2.1e-16 (Remez);
// even and odd terms apart, so that two chains of multiply-adds run side by side.
[[gnu::always_inline]] inline double exp2(double x, double top) {
    const double shifted = x + rounding;
    const double f = x - (shifted - rounding);
    const double ff = f * f;
    const double even =
        (((7.037279530582804e-09 * ff + 1.3215662831846104e-06) * ff + 0.00015403529961135955) *
             ff + 0.00961812910803459) * ff + 0.24022650695908768;
    const double odd =
        (((1.0208537904552164e-07 * ff + 1.5252658116561384e-05) * ff + 0.0013333558228561476) *
             ff + 0.05550410866445883) * ff + 0.6931471805599497;
    const double p = even * ff + (odd * f + 1.0);
    return x - top > negligible ? times_power_of_two(p, shifted - top) : 0.0;
}

[[gnu::always_inline]] inline double exp2(double x) { return exp2(x, 0.0); }

// A compiler fuses a product with the sum that follows it, where no branch lies between them: in vectors there are
// none, in the scalars that are left over there are. So that all processors give the same bits, products come after
// branches, as in `const double a = log(x); y = k * b + a`, and no sum here adds two products.

// 2 atanh(t) for |t| < 0.172, as 2t + 2t t^2 (1/3 + t^2/5 + ...).
[[gnu::always_inline]] inline double twice_atanh(double t) {
    const double tt = t * t;
    const double four = tt * tt;
    const double even = (((1.0 / 19 * four + 1.0 / 15) * four + 1.0 / 11) * four + 1.0 / 7) * four + 1.0 / 3;
    const double odd = (((1.0 / 21 * four + 1.0 / 17) * four + 1.0 / 13) * four + 1.0 / 9) * four + 1.0 / 5;
    const double twice = 2.0 * t;
    return twice + twice * tt * (even + odd * tt);
}

constexpr std::uint64_t half_root_bits = 0x3FE6A09E667F3BCD;  // of the square root of 1/2

// e of x = m 2^e with m between the square roots of 1/2 and 2, and m, of the representation of x.
[[gnu::always_inline]] inline std::int64_t binary_exponent(std::int64_t bits) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(bits) - half_root_bits) >> 52;
}
[[gnu::always_inline]] inline double without_exponent(std::int64_t bits, std::int64_t e) {
    return double_of(static_cast<std::int64_t>(static_cast<std::uint64_t>(bits) -
                                               (static_cast<std::uint64_t>(e) << 52)));
}

// A binary exponent as a double.
[[gnu::always_inline]] inline double exponent_of(std::int64_t e) { return double_of(e + bits_of(rounding)) - rounding; }

// ln x for a normal x > 0 to two ulps or 1e-16: ln m = 2 atanh((m - 1) / (m + 1)).
[[gnu::always_inline]] inline double log(double x) {
    const std::int64_t bits = bits_of(x);
    const std::int64_t e = binary_exponent(bits);
    const double m = without_exponent(bits, e);
    return twice_atanh((m - 1.0) / (m + 1.0)) + exponent_of(e) * ln_2;
}

// ln(1 + x) for x > -1, with the digits of a small x kept: m - 1 is x itself while e = 0.
[[gnu::always_inline]] inline double log1p(double x) {
    const std::int64_t bits = bits_of(1.0 + x);
    const std::int64_t e = binary_exponent(bits);
    const double m = without_exponent(bits, e);
    const double above = e == 0 ? x : m - 1.0;
    return twice_atanh(above / (2.0 + above)) + exponent_of(e) * ln_2;
}

// e^x - 1 - x for |x| <= 1 by its series, with the digits of a small x kept.
[[gnu::always_inline]] inline double excess_of_exp(double x) {
    const double xx = x * x;
    double even = 1.0 / 6402373705728000.0;  // 1/18!, then 1/16!, ...
    double odd = 1.0 / 121645100408832000.0;  // 1/19!, then 1/17!, ...
    even = even * xx + 1.0 / 20922789888000.0;
    even = even * xx + 1.0 / 87178291200.0;
    even = even * xx + 1.0 / 479001600.0;
    even = even * xx + 1.0 / 3628800.0;
    even = even * xx + 1.0 / 40320.0;
    even = even * xx + 1.0 / 720.0;
    even = even * xx + 1.0 / 24.0;
    even = even * xx + 1.0 / 2.0;
    odd = odd * xx + 1.0 / 355687428096000.0;
    odd = odd * xx + 1.0 / 1307674368000.0;
    odd = odd * xx + 1.0 / 6227020800.0;
    odd = odd * xx + 1.0 / 39916800.0;
    odd = odd * xx + 1.0 / 362880.0;
    odd = odd * xx + 1.0 / 5040.0;
    odd = odd * xx + 1.0 / 120.0;
    odd = odd * xx + 1.0 / 6.0;
    return xx * (even + odd * x);
}

// 1 - e^-x for x >= 0, with the digits of a small x kept.
//
// With 2^(e + f) for e^-x it is (1 - 2^e) - 2^e (2^f - 1), and 2^f - 1 is a series without a
// constant: its terms are (ln 2)^j / j!.
[[gnu::always_inline]] inline double one_less_exp(double x) {
    const double exponent = -larger(x, 0.0) * log2_e;
    const double shifted = exponent + rounding;
    const double f = exponent - (shifted - rounding);
    const double ff = f * f;
    const double odd =
        (((((1.3691488853904124e-12 * ff + 4.44553827187081e-10) * ff + 1.0178086009239696e-07) *
               ff + 1.5252733804059838e-05) * ff + 0.0013333558146428441) * ff +
         0.055504108664821576) * ff;
    const double even =
        ((((((6.778726354822543e-14 * ff + 2.5678435993488196e-11) * ff +
             7.054911620801121e-09) * ff + 1.3215486790144305e-06) * ff +
           0.00015403530393381606) * ff + 0.009618129107628477) * ff +
         0.2402265069591007);
    const double rise = (even * f + (odd + 0.6931471805599453)) * f;
    const double power = times_power_of_two(1.0, shifted);
    return exponent > negligible ? (1.0 - power) - power * rise : 1.0;
}

// exp(x^2) erfc(x) for 0 <= x < 1e150.
//
// (1 + 2x) erfcx(x) by powers of (x - 3.75) / (x + 3.75), after Shepherd and Laframboise (1981):
// the Chebyshev series of degree 24 from forty digits, in powers. Relative error 9e-16.
[[gnu::always_inline]] inline double erfcx(double x) {
    const double inverse = 1.0 / ((x + 3.75) * (1.0 + 2.0 * x));  // for both divisions
    const double y = (x - 3.75) * (1.0 + 2.0 * x) * inverse;
    const double yy = y * y;
    double even = 4.2514625465327266e-10;
    even = even * yy - 5.173984987667304e-09;
    even = even * yy + 3.867532084683544e-08;
    even = even * yy - 2.586684874921685e-07;
    even = even * yy + 1.7516376305863444e-06;
    even = even * yy - 1.1444146226535542e-05;
    even = even * yy + 5.1649098888144384e-05;
    even = even * yy + 0.0002937136655925545;
    even = even * yy - 0.009746579558029479;
    even = even * yy - 0.05869339858963676;
    even = even * yy - 0.10880393014174886;
    even = even * yy + 0.0035854154854644293;
    even = even * yy + 1.2375126308378275;
    double odd = 3.11143001991097e-10;
    odd = odd * yy - 3.744208176587683e-09;
    odd = odd * yy + 2.3263504032644517e-08;
    odd = odd * yy - 5.721822408015812e-08;
    odd = odd * yy - 9.735599024300036e-07;
    odd = odd * yy + 2.2384239158309724e-05;
    odd = odd * yy - 0.0002901540805420362;
    odd = odd * yy + 0.001755625852895578;
    odd = odd * yy + 0.028362277418956364;
    odd = odd * yy + 0.09230432116037748;
    odd = odd * yy + 0.0822767384901452;
    odd = odd * yy - 0.14024059858554697;
    return (even + odd * y) * (x + 3.75) * inverse;
}

}  // namespace normalhedge
