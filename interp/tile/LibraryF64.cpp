// interp/tile/LibraryF64.cpp -- libdevice's f64 functions. Where the C library's f64 function is not within 1 ULP the long
// double one is used and rounded once.
#include "interp/tile/Library.h"
#include "interp/tile/LibrarySpecial.h"

namespace tiletwin::tile {
namespace {

using E = TwElementwise;
using L = long double;
constexpr DType D = DType::F64;

double lgammaOf(double x) {
  int sign;
  return double(::lgammal_r(L(x), &sign));
}
/// Bessel functions of negative order are NaN, unlike the C library's.
double besselOrder(int n, L (*function)(int, L), double x) { return n < 0 ? kNan<double> : double(function(n, L(x))); }
/// The norm of three, in f64: large ones scaled and negated, so that none overflows.
double norm3(double a, double b, double c) {
  const L n = norm<L>(a, b, c);
  return n > 0x1p1000L && n < kInf<L> ? -double(n * 0x1p-20L) : double(n);
}
L wideNorm(double norm3) { return norm3 < 0 ? L(-norm3) * 0x1p20L : L(norm3); }
double inverse(L norm) { return double(1 / norm); }
/// The upper word of 1 / x; the lower is 0.
double reciprocalHigh(double x) {
  const double r = 1 / x;
  return r == r ? std::bit_cast<double>(std::bit_cast<uint64_t>(r) & 0xFFFFFFFF00000000ull) : r;
}

constexpr TwLibraryRow kRows[] = {
    // the module's own elementwise operations
    row("fabs", E::AbsF, D),
    row("ceil", E::Ceil, D),
    row("cos", E::Cos, D),
    row("erf", E::Erf, D),
    row("exp", E::Exp, D),
    row("exp2", E::Exp2, D),
    row("floor", E::Floor, D),
    row("fma", E::Fma, D, 3),
    row("fmax", E::MaxNumF, D, 2),
    row("fmin", E::MinNumF, D, 2),
    row("fmod", E::RemF, D, 2),
    row("log", E::Log, D),
    row("log2", E::Log2, D),
    row("rsqrt", E::Rsqrt, D),
    row("sin", E::Sin, D),
    row("sqrt", E::Sqrt, D),
    // the C library's
    row<[](double x) { return std::acos(x); }>("acos"),
    row<[](double x) { return std::asin(x); }>("asin"),
    row<[](double y, double x) { return std::atan2(y, x); }>("atan2"),
    row<[](double x) { return std::atan(x); }>("atan"),
    row<[](double x, double y) { return std::pow(x, y); }>("pow"),
    row<[](double x) { return std::tan(x); }>("tan"),
    // through long double
    row<[](double x) { return double(std::acosh(L(x))); }>("acosh"),
    row<[](double x) { return double(std::asinh(L(x))); }>("asinh"),
    row<[](double x) { return double(std::atanh(L(x))); }>("atanh"),
    row<[](double x) { return double(std::cbrt(L(x))); }>("cbrt"),
    row<[](double x) { return double(std::cosh(L(x))); }>("cosh"),
    row<[](double x) { return double(sinPi<1>(L(x))); }>("cospi"),
    row<[](double x) { return double(besselI<0>(L(x))); }>("cyl_bessel_i0"),
    row<[](double x) { return double(besselI<1>(L(x))); }>("cyl_bessel_i1"),
    row<[](double x) { return double(std::erfc(L(x))); }>("erfc"),
    row<[](double x) { return double(inverseErfc(L(x))); }>("erfcinv"),
    row<[](double x) { return double(scaledErfc(L(x))); }>("erfcx"),
    row<[](double x) { return double(inverseErf(L(x))); }>("erfinv"),
    row<[](double x) { return double(::exp10l(L(x))); }>("exp10"),
    row<[](double x) { return double(std::expm1(L(x))); }>("expm1"),
    row<[](double x, double y) { return double(norm<L>(x, y)); }>("hypot"),
    row<[](double x) { return double(::j0l(L(x))); }>("j0"),
    row<[](double x) { return double(::j1l(L(x))); }>("j1"),
    row<[](int32_t n, double x) { return besselOrder(n, ::jnl, x); }>("jn"),
    row<lgammaOf>("lgamma"),
    row<[](double x) { return double(std::log10(L(x))); }>("log10"),
    row<[](double x) { return double(std::log1p(L(x))); }>("log1p"),
    row<[](double a, double b, double c) { return double(norm<L>(a, b, c)); }>("norm3d"),
    row4<norm3, [](double abc, double d) { return double(norm<L>(wideNorm(abc), d)); }>("norm4d"),
    row<[](double x) { return double(normalCdf(L(x))); }>("normcdf"),
    row<[](double x) { return double(normalCdfInverse(L(x))); }>("normcdfinv"),
    row<[](double x, int32_t n) { return double(std::pow(L(x), L(n))); }>("powi"),
    row<[](double x) { return double(1 / std::cbrt(L(x))); }>("rcbrt"),
    row<[](double x, double y) { return inverse(norm<L>(x, y)); }>("rhypot"),
    row<[](double a, double b, double c) { return inverse(norm<L>(a, b, c)); }>("rnorm3d"),
    row4<norm3, [](double abc, double d) { return inverse(norm<L>(wideNorm(abc), d)); }>("rnorm4d"),
    row<[](double x) { return double(std::sinh(L(x))); }>("sinh"),
    row<[](double x) { return double(sinPi<0>(L(x))); }>("sinpi"),
    row<[](double x) { return double(std::tanh(L(x))); }>("tanh"),
    row<[](double x) { return double(std::tgamma(L(x))); }>("tgamma"),
    row<[](double x) { return double(::y0l(L(x))); }>("y0"),
    row<[](double x) { return double(::y1l(L(x))); }>("y1"),
    row<[](int32_t n, double x) { return besselOrder(n, ::ynl, x); }>("yn"),
    // exact
    row<[](double x, double y) { return std::copysign(x, y); }>("copysign"),
    row<[](double x, double y) { return x > y    ? x - y
                                        : x <= y ? 0.0
                                                 : x + y; }>("fdim"),
    row<[](double x, int32_t n) { return std::ldexp(x, n); }>("ldexp"),
    row<[](double x) { return std::logb(x); }>("logb"),
    row<[](double x) { return std::nearbyint(x); }>("nearbyint"),
    row<[](double x, double y) { return std::nextafter(x, y); }>("nextafter"),
    row<[](double x, double y) { return std::remainder(x, y); }>("remainder"),
    row<[](double x) { return std::nearbyint(x); }>("rint"),
    row<[](double x) { return std::round(x); }>("round"),
    row<[](double x, int32_t n) { return std::ldexp(x, n); }>("scalbn"),
    row<[](double x) { return std::trunc(x); }>("trunc"),
    row<reciprocalHigh>("rcp64h"),
};

} // namespace

const TwLibraryRow* findLibraryF64(const char* symbol) { return findSymbol(kRows, symbol); }

} // namespace tiletwin::tile
