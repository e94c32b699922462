// interp/tile/LibraryF32.cpp -- libdevice's f32 functions. Results are within 1 ULP of the true value; the fast_ functions
// are as accurate as the others. What is not a vector function here is computed in f64 and rounded once.
#include "interp/tile/Library.h"
#include "interp/tile/LibraryInverse.h"

namespace tiletwin::tile {
namespace {

using E = TwElementwise;
constexpr DType F = DType::F32;

float lgammaOf(float x) {
  int sign;
  return float(::lgamma_r(double(x), &sign));
}
/// Bessel functions of negative order are NaN, unlike the C library's.
float besselOrder(int n, double (*function)(int, double), float x) {
  return n < 0 ? kNan<float> : float(function(n, double(x)));
}
double norm3(float a, float b, float c) { return norm<double>(a, b, c); }
float inverse(double norm) { return float(1 / norm); }

constexpr TwLibraryRow kRows[] = {
    // the module's own elementwise operations
    row("fabsf", E::AbsF, F),
    row("ceilf", E::Ceil, F),
    row("cosf", E::Cos, F),
    row("erff", E::Erf, F),
    row("exp2f", E::Exp2, F),
    row("expf", E::Exp, F),
    row("fast_cosf", E::Cos, F),
    row("fast_expf", E::Exp, F),
    row("fast_fdividef", E::DivF, F, 2),
    row("fast_log2f", E::Log2, F),
    row("fast_logf", E::Log, F),
    row("fast_sinf", E::Sin, F),
    row("floorf", E::Floor, F),
    row("fmaf", E::Fma, F, 3),
    row("fmaxf", E::MaxNumF, F, 2),
    row("fminf", E::MinNumF, F, 2),
    row("fmodf", E::RemF, F, 2),
    row("log2f", E::Log2, F),
    row("logf", E::Log, F),
    row("rsqrtf", E::Rsqrt, F),
    row("sinf", E::Sin, F),
    row("sqrtf", E::Sqrt, F),
    // vectors
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
    // through f64
    row<[](float x) { return float(std::cbrt(double(x))); }>("cbrtf"),
    row<[](float x) { return float(sinPi<1>(double(x))); }>("cospif"),
    row<[](float x) { return float(besselI<0>(double(x))); }>("cyl_bessel_i0f"),
    row<[](float x) { return float(besselI<1>(double(x))); }>("cyl_bessel_i1f"),
    row<[](float x) { return float(inverseErfc(double(x))); }>("erfcinvf"),
    row<[](float x) { return float(scaledErfc(double(x))); }>("erfcxf"),
    row<[](float x, float y) { return float(norm<double>(x, y)); }>("hypotf"),
    row<[](float x) { return float(::j0(double(x))); }>("j0f"),
    row<[](float x) { return float(::j1(double(x))); }>("j1f"),
    row<[](int32_t n, float x) { return besselOrder(n, ::jn, x); }>("jnf"),
    row<lgammaOf>("lgammaf"),
    row<[](float a, float b, float c) { return float(norm<double>(a, b, c)); }>("norm3df"),
    row4<norm3, [](double abc, float d) { return float(norm<double>(abc, d)); }>("norm4df"),
    row<[](float x) { return float(normalCdf(double(x))); }>("normcdff"),
    row<[](float x) { return float(normalCdfInverse(double(x))); }>("normcdfinvf"),
    row<[](float x, int32_t n) { return float(std::pow(double(x), double(n))); }>("powif"),
    row<[](float x) { return float(1 / std::cbrt(double(x))); }>("rcbrtf"),
    row<[](float x, float y) { return inverse(norm<double>(x, y)); }>("rhypotf"),
    row<[](float a, float b, float c) { return inverse(norm<double>(a, b, c)); }>("rnorm3df"),
    row4<norm3, [](double abc, float d) { return inverse(norm<double>(abc, d)); }>("rnorm4df"),
    row<[](float x) { return float(sinPi<0>(double(x))); }>("sinpif"),
    row<[](float x) { return float(std::tgamma(double(x))); }>("tgammaf"),
    row<[](float x) { return float(::y0(double(x))); }>("y0f"),
    row<[](float x) { return float(::y1(double(x))); }>("y1f"),
    row<[](int32_t n, float x) { return besselOrder(n, ::yn, x); }>("ynf"),
    // exact
    row<[](float x, float y) { return std::copysign(x, y); }>("copysignf"),
    row<[](float x, float y) { return x > y    ? x - y
                                      : x <= y ? 0.f
                                               : x + y; }>("fdimf"),
    row<[](float x, int32_t n) { return std::ldexp(x, n); }>("ldexpf"),
    row<[](float x) { return std::logb(x); }>("logbf"),
    row<[](float x) { return std::nearbyint(x); }>("nearbyintf"),
    row<[](float x, float y) { return std::nextafter(x, y); }>("nextafterf"),
    row<[](float x, float y) { return std::remainder(x, y); }>("remainderf"),
    row<[](float x) { return std::nearbyint(x); }>("rintf"),
    row<[](float x) { return std::round(x); }>("roundf"),
    row<[](float x) { return !(x > 0) ? 0.f
                             : x > 1  ? 1.f
                                      : x; }>("saturatef"),
    row<[](float x, int32_t n) { return std::ldexp(x, n); }>("scalbnf"),
    row<[](float x) { return std::trunc(x); }>("truncf"),
};

} // namespace

const TwLibraryRow* findLibraryF32(const char* symbol) { return findSymbol(kRows, symbol); }

} // namespace tiletwin::tile
