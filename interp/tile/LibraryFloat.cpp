// interp/tile/LibraryFloat.cpp -- libdevice's f32 and f64 functions. Results of f32 are within 1 ULP of the true value; the
// fast_ functions are as accurate as the others. What is not a vector function here is computed in a wider type (f64 for
// f32, long double for f64) and rounded once, unless the C library's own function is within 1 ULP.
#include "interp/tile/Library.h"
#include "interp/tile/LibraryInverse.h"
#include "interp/tile/LibrarySpecial.h"
#include <array>

namespace tiletwin::tile {
namespace {

using E = TwElementwise;
using L = long double;
constexpr DType F = DType::F32, D = DType::F64;

// The C library's functions for both wide types.
double bessel(double x, double (*f64)(double), L (*)(L)) { return f64(x); }
L bessel(L x, double (*)(double), L (*wide)(L)) { return wide(x); }
/// Of negative order they are NaN, unlike the C library's.
double besselOrder(int n, double x, double (*f64)(int, double), L (*)(int, L)) {
  return n < 0 ? kNan<double> : f64(n, x);
}
L besselOrder(int n, L x, double (*)(int, double), L (*wide)(int, L)) { return n < 0 ? kNan<L> : wide(n, x); }
double logGamma(double x) {
  int sign;
  return ::lgamma_r(x, &sign);
}
L logGamma(L x) {
  int sign;
  return ::lgammal_r(x, &sign);
}
double norm3F32(float a, float b, float c) { return norm<double>(a, b, c); }
/// The norm of three, in f64: large ones scaled and negated, so that none overflows.
double norm3(double a, double b, double c) {
  const L n = norm<L>(a, b, c);
  return n > 0x1p1000L && n < kInf<L> ? -double(n * 0x1p-20L) : double(n);
}
L wideNorm(double norm3) { return norm3 < 0 ? L(-norm3) * 0x1p20L : L(norm3); }
/// The upper word of 1 / x; the lower is 0.
double reciprocalHigh(double x) {
  const double r = 1 / x;
  return r == r ? std::bit_cast<double>(std::bit_cast<uint64_t>(r) & 0xFFFFFFFF00000000ull) : r;
}

/// One row for f32, one for f64.
using Rows = std::array<TwLibraryRow, 2>;
constexpr Rows both(const char* f32, const char* f64, E op, int32_t arity = 1) {
  return {row(f32, op, F, arity), row(f64, op, D, arity)};
}
/// How a function takes an argument: a float of its type, or a whole number.
struct X {
  template <class T> using Of = T;
};
struct N {
  template <class> using Of = int32_t;
};
template <class T> using Wider = std::conditional_t<std::is_same_v<T, float>, double, L>;
template <auto G, class T, class... A> T inWider(typename A::template Of<T>... x) {
  return T(G(typename A::template Of<Wider<T>>(x)...));
}
template <auto G, class T, class... A> T exactly(typename A::template Of<T>... x) { return G(x...); }
/// G computed in a wider type, and rounded once.
template <auto G, class... A> constexpr Rows wide(const char* f32, const char* f64) {
  return {row<inWider<G, float, A...>>(f32), row<inWider<G, double, A...>>(f64)};
}
/// G, whose results are exact.
template <auto G, class... A> constexpr Rows exact(const char* f32, const char* f64) {
  return {row<exactly<G, float, A...>>(f32), row<exactly<G, double, A...>>(f64)};
}

constexpr Rows kPairs[] = {
    // the module's own elementwise operations
    both("fabsf", "fabs", E::AbsF),
    both("ceilf", "ceil", E::Ceil),
    both("cosf", "cos", E::Cos),
    both("erff", "erf", E::Erf),
    both("exp2f", "exp2", E::Exp2),
    both("expf", "exp", E::Exp),
    both("floorf", "floor", E::Floor),
    both("fmaf", "fma", E::Fma, 3),
    both("fmaxf", "fmax", E::MaxNumF, 2),
    both("fminf", "fmin", E::MinNumF, 2),
    both("fmodf", "fmod", E::RemF, 2),
    both("log2f", "log2", E::Log2),
    both("logf", "log", E::Log),
    both("rsqrtf", "rsqrt", E::Rsqrt),
    both("sinf", "sin", E::Sin),
    both("sqrtf", "sqrt", E::Sqrt),
    wide<[](auto x) { return std::cbrt(x); }, X>("cbrtf", "cbrt"),
    wide<[](auto x) { return sinPi<1>(x); }, X>("cospif", "cospi"),
    wide<[](auto x) { return besselI<0>(x); }, X>("cyl_bessel_i0f", "cyl_bessel_i0"),
    wide<[](auto x) { return besselI<1>(x); }, X>("cyl_bessel_i1f", "cyl_bessel_i1"),
    wide<[](auto x) { return inverseErfc(x); }, X>("erfcinvf", "erfcinv"),
    wide<[](auto x) { return scaledErfc(x); }, X>("erfcxf", "erfcx"),
    wide<[](auto x, auto y) { return norm<decltype(x)>(x, y); }, X, X>("hypotf", "hypot"),
    wide<[](auto x) { return bessel(x, ::j0, ::j0l); }, X>("j0f", "j0"),
    wide<[](auto x) { return bessel(x, ::j1, ::j1l); }, X>("j1f", "j1"),
    wide<[](int32_t n, auto x) { return besselOrder(n, x, ::jn, ::jnl); }, N, X>("jnf", "jn"),
    wide<[](auto x) { return logGamma(x); }, X>("lgammaf", "lgamma"),
    wide<[](auto a, auto b, auto c) { return norm<decltype(a)>(a, b, c); }, X, X, X>("norm3df", "norm3d"),
    wide<[](auto x) { return normalCdf(x); }, X>("normcdff", "normcdf"),
    wide<[](auto x) { return normalCdfInverse(x); }, X>("normcdfinvf", "normcdfinv"),
    wide<[](auto x, int32_t n) { return std::pow(x, decltype(x)(n)); }, X, N>("powif", "powi"),
    wide<[](auto x) { return 1 / std::cbrt(x); }, X>("rcbrtf", "rcbrt"),
    wide<[](auto x, auto y) { return 1 / norm<decltype(x)>(x, y); }, X, X>("rhypotf", "rhypot"),
    wide<[](auto a, auto b, auto c) { return 1 / norm<decltype(a)>(a, b, c); }, X, X, X>("rnorm3df", "rnorm3d"),
    wide<[](auto x) { return sinPi<0>(x); }, X>("sinpif", "sinpi"),
    wide<[](auto x) { return std::tgamma(x); }, X>("tgammaf", "tgamma"),
    wide<[](auto x) { return bessel(x, ::y0, ::y0l); }, X>("y0f", "y0"),
    wide<[](auto x) { return bessel(x, ::y1, ::y1l); }, X>("y1f", "y1"),
    wide<[](int32_t n, auto x) { return besselOrder(n, x, ::yn, ::ynl); }, N, X>("ynf", "yn"),
    exact<[](auto x, auto y) { return std::copysign(x, y); }, X, X>("copysignf", "copysign"),
    exact<[](auto x, auto y) { return x > y    ? x - y
                                      : x <= y ? decltype(x)(0)
                                               : x + y; }, X, X>("fdimf", "fdim"),
    exact<[](auto x, int32_t n) { return std::ldexp(x, n); }, X, N>("ldexpf", "ldexp"),
    exact<[](auto x, int32_t n) { return std::ldexp(x, n); }, X, N>("scalbnf", "scalbn"),
    exact<[](auto x) { return std::logb(x); }, X>("logbf", "logb"),
    exact<[](auto x) { return std::nearbyint(x); }, X>("nearbyintf", "nearbyint"),
    exact<[](auto x) { return std::nearbyint(x); }, X>("rintf", "rint"),
    exact<[](auto x, auto y) { return std::nextafter(x, y); }, X, X>("nextafterf", "nextafter"),
    exact<[](auto x, auto y) { return std::remainder(x, y); }, X, X>("remainderf", "remainder"),
    exact<[](auto x) { return std::round(x); }, X>("roundf", "round"),
    exact<[](auto x) { return std::trunc(x); }, X>("truncf", "trunc"),
};
constexpr TwLibraryRow kRows[] = {
    // f32: the module's own elementwise operations
    row("fast_cosf", E::Cos, F),
    row("fast_expf", E::Exp, F),
    row("fast_fdividef", E::DivF, F, 2),
    row("fast_log2f", E::Log2, F),
    row("fast_logf", E::Log, F),
    row("fast_sinf", E::Sin, F),
    // f32: vectors
    packetRow<Acos>("acosf"),
    packetRow<Acosh>("acoshf"),
    packetRow<Asin>("asinf"),
    packetRow<Asinh>("asinhf"),
    packetRow<Atan2>("atan2f", 2),
    packetRow<Atan>("atanf"),
    packetRow<Atanh>("atanhf"),
    packetRow<Cosh>("coshf"),
    packetRow<Erfc>("erfcf"),
    packetRow<Erfinv>("erfinvf"),
    packetRow<Exp10>("exp10f"),
    packetRow<Expm1>("expm1f"),
    packetRow<Exp10>("fast_exp10f"),
    packetRow<Log10>("fast_log10f"),
    packetRow<Pow>("fast_powf", 2),
    packetRow<Tan>("fast_tanf"),
    packetRow<Log10>("log10f"),
    packetRow<Log1p>("log1pf"),
    packetRow<Pow>("powf", 2),
    packetRow<Sinh>("sinhf"),
    packetRow<Tan>("tanf"),
    packetRow<Tanh>("tanhf"),
    // f32: the rest
    row4<norm3F32, [](double abc, float d) { return float(norm<double>(abc, d)); }>("norm4df"),
    row4<norm3F32, [](double abc, float d) { return float(1 / norm<double>(abc, d)); }>("rnorm4df"),
    row<[](float x) { return !(x > 0) ? 0.f
                             : x > 1  ? 1.f
                                      : x; }>("saturatef"),
    // f64: the C library's
    row<[](double x) { return std::acos(x); }>("acos"),
    row<[](double x) { return std::asin(x); }>("asin"),
    row<[](double y, double x) { return std::atan2(y, x); }>("atan2"),
    row<[](double x) { return std::atan(x); }>("atan"),
    row<[](double x, double y) { return std::pow(x, y); }>("pow"),
    row<[](double x) { return std::tan(x); }>("tan"),
    // f64: through long double
    row<[](double x) { return double(std::acosh(L(x))); }>("acosh"),
    row<[](double x) { return double(std::asinh(L(x))); }>("asinh"),
    row<[](double x) { return double(std::atanh(L(x))); }>("atanh"),
    row<[](double x) { return double(std::cosh(L(x))); }>("cosh"),
    row<[](double x) { return double(std::erfc(L(x))); }>("erfc"),
    row<[](double x) { return double(inverseErf(L(x))); }>("erfinv"),
    row<[](double x) { return double(::exp10l(L(x))); }>("exp10"),
    row<[](double x) { return double(std::expm1(L(x))); }>("expm1"),
    row<[](double x) { return double(std::log10(L(x))); }>("log10"),
    row<[](double x) { return double(std::log1p(L(x))); }>("log1p"),
    row4<norm3, [](double abc, double d) { return double(norm<L>(wideNorm(abc), d)); }>("norm4d"),
    row4<norm3, [](double abc, double d) { return double(1 / norm<L>(wideNorm(abc), d)); }>("rnorm4d"),
    row<[](double x) { return double(std::sinh(L(x))); }>("sinh"),
    row<[](double x) { return double(std::tanh(L(x))); }>("tanh"),
    row<reciprocalHigh>("rcp64h"),
};

} // namespace

const TwLibraryRow* findLibraryFloat(const char* symbol) {
  for (const Rows& pair : kPairs)
    if (const TwLibraryRow* row = findSymbol(pair, symbol)) return row;
  return findSymbol(kRows, symbol);
}

} // namespace tiletwin::tile
