// interp/tile/LibraryRounding.cpp -- libdevice's functions that name their rounding: arithmetic and conversions toward
// nearest (_rn), zero (_rz), up (_ru) and down (_rd).
// Here:      the CPU's rounding mode, set around a strip.   Not here:  round-half-even to an integer as a float (rint).
// Invariant: the mode is back to nearest when a strip returns; nothing is computed across the switch, as operands come
// from memory after it and results are in memory before the next one.
#include "interp/tile/Library.h"
#include <array>
#include <cmath>
#include <limits>

namespace tiletwin::tile {
namespace {

using E = TwElementwise;
constexpr DType F = DType::F32, D = DType::F64;

/// Bits 13 and 14 of MXCSR.
enum Mode : uint32_t { Nearest = 0, Down = 0x2000, Up = 0x4000, Zero = 0x6000 };

struct RoundingScope {
  uint32_t saved;
  explicit TILETWIN_INLINE RoundingScope(Mode mode) {
    uint32_t wanted;
    asm volatile("vstmxcsr %0" : "=m"(saved)::"memory");
    wanted = (saved & ~uint32_t(Zero)) | mode;
    asm volatile("vldmxcsr %0" ::"m"(wanted) : "memory");
  }
  TILETWIN_INLINE ~RoundingScope() { asm volatile("vldmxcsr %0" ::"m"(saved) : "memory"); }
};

/// G computed in rounding mode M.
template <Mode M, auto G> constexpr TwLibraryRow directed(const char* symbol) {
  using Row = RowOf<decltype(+G)>;
  return Row::make(symbol, [](int64_t n, void* dst, const void* const* src, uint32_t splat) {
    RoundingScope scope(M);
    Row::template strip<G>(n, dst, src, splat);
  });
}

template <class T> T add(T a, T b) { return a + b; }
template <class T> T subtract(T a, T b) { return a - b; }
template <class T> T multiply(T a, T b) { return a * b; }
template <class T> T divide(T a, T b) { return a / b; }
template <class T> T reciprocal(T a) { return T(1) / a; }
template <class T> T squareRoot(T a) { return __builtin_elementwise_sqrt(a); }
template <class T> T fused(T a, T b, T c) { return __builtin_elementwise_fma(a, b, c); }
/// Integers to floats. Compilers add halves for unsigned ones, which would make -0 of 0 when rounding down.
template <class To, class From> To fromInt(From x) {
  if (x == 0) return To(0);
  if constexpr (std::is_same_v<From, uint64_t>) {
    if (x >> 63) {
      const To half = To(int64_t(x >> 1 | (x & 1)));
      return half + half;
    }
  }
  return To(int64_t(x));
}
float narrowed(double x) { return float(x); }

/// The integer nearest in direction M, kept within To's range. NaN: 0, or the pattern of the sign bit if either side has
/// 64 bits.
template <class To, Mode M, class From> To toInt(From x) {
  using Limits = std::numeric_limits<To>;
  if (x != x) return sizeof(To) == 8 || sizeof(From) == 8 ? To(To(1) << (sizeof(To) * 8 - 1)) : To(0);
  const From r = M == Nearest ? std::nearbyint(x) : M == Down ? std::floor(x) : M == Up ? std::ceil(x) : std::trunc(x);
  // The limits as floats: the lower is exact, the upper is one above the largest integer.
  constexpr From kBelow = From(Limits::min()), kAbove = From(uint64_t(1) << (Limits::digits - 1)) * 2;
  return r < kBelow ? Limits::min() : r >= kAbove ? Limits::max() : To(r);
}

/// One row for each way to round. A null symbol: another row has that one.
using Family = std::array<TwLibraryRow, 4>;
template <auto G> constexpr Family rounding(const char* down, const char* nearest, const char* up, const char* zero) {
  return {directed<Down, G>(down), row<G>(nearest), directed<Up, G>(up), directed<Zero, G>(zero)};
}
template <class To, class From>
constexpr Family toInts(const char* down, const char* nearest, const char* up, const char* zero) {
  return {row<toInt<To, Down, From>>(down), row<toInt<To, Nearest, From>>(nearest), row<toInt<To, Up, From>>(up),
          row<toInt<To, Zero, From>>(zero)};
}

constexpr TwLibraryRow kRows[] = {
    row("dadd_rn", E::AddF, D, 2),
    row("dsub_rn", E::SubF, D, 2),
    row("dmul_rn", E::MulF, D, 2),
    row("ddiv_rn", E::DivF, D, 2),
    row("dsqrt_rn", E::Sqrt, D),
    row("fma_rn", E::Fma, D, 3),
    row("fadd_rn", E::AddF, F, 2),
    row("fsub_rn", E::SubF, F, 2),
    row("fmul_rn", E::MulF, F, 2),
    row("fdiv_rn", E::DivF, F, 2),
    row("fsqrt_rn", E::Sqrt, F),
    row("fmaf_rn", E::Fma, F, 3),
    row<[](float x) { return float(1 / std::sqrt((long double)x)); }>("frsqrt_rn"),
    row<fromInt<double, int32_t>>("int2double_rn"),
    row<fromInt<double, uint32_t>>("uint2double_rn"),
    row<toInt<int64_t, Nearest, float>>("llrintf"),
    row<toInt<int64_t, Nearest, double>>("llrint"),
    row<[](float x) { return toInt<int64_t, Zero>(std::round(x)); }>("llroundf"),
    row<[](double x) { return toInt<int64_t, Zero>(std::round(x)); }>("llround"),
};
constexpr Family kFamilies[] = {
    rounding<add<double>>("dadd_rd", nullptr, "dadd_ru", "dadd_rz"),
    rounding<add<float>>("fadd_rd", nullptr, "fadd_ru", "fadd_rz"),
    rounding<subtract<double>>("dsub_rd", nullptr, "dsub_ru", "dsub_rz"),
    rounding<subtract<float>>("fsub_rd", nullptr, "fsub_ru", "fsub_rz"),
    rounding<multiply<double>>("dmul_rd", nullptr, "dmul_ru", "dmul_rz"),
    rounding<multiply<float>>("fmul_rd", nullptr, "fmul_ru", "fmul_rz"),
    rounding<divide<double>>("ddiv_rd", nullptr, "ddiv_ru", "ddiv_rz"),
    rounding<divide<float>>("fdiv_rd", nullptr, "fdiv_ru", "fdiv_rz"),
    rounding<reciprocal<double>>("drcp_rd", "drcp_rn", "drcp_ru", "drcp_rz"),
    rounding<reciprocal<float>>("frcp_rd", "frcp_rn", "frcp_ru", "frcp_rz"),
    rounding<squareRoot<double>>("dsqrt_rd", nullptr, "dsqrt_ru", "dsqrt_rz"),
    rounding<squareRoot<float>>("fsqrt_rd", nullptr, "fsqrt_ru", "fsqrt_rz"),
    rounding<fused<double>>("fma_rd", nullptr, "fma_ru", "fma_rz"),
    rounding<fused<float>>("fmaf_rd", nullptr, "fmaf_ru", "fmaf_rz"),
    rounding<narrowed>("double2float_rd", "double2float_rn", "double2float_ru", "double2float_rz"),
    rounding<fromInt<float, int32_t>>("int2float_rd", "int2float_rn", "int2float_ru", "int2float_rz"),
    rounding<fromInt<float, uint32_t>>("uint2float_rd", "uint2float_rn", "uint2float_ru", "uint2float_rz"),
    rounding<fromInt<float, int64_t>>("ll2float_rd", "ll2float_rn", "ll2float_ru", "ll2float_rz"),
    rounding<fromInt<float, uint64_t>>("ull2float_rd", "ull2float_rn", "ull2float_ru", "ull2float_rz"),
    rounding<fromInt<double, int64_t>>("ll2double_rd", "ll2double_rn", "ll2double_ru", "ll2double_rz"),
    rounding<fromInt<double, uint64_t>>("ull2double_rd", "ull2double_rn", "ull2double_ru", "ull2double_rz"),
    toInts<int32_t, double>("double2int_rd", "double2int_rn", "double2int_ru", "double2int_rz"),
    toInts<uint32_t, double>("double2uint_rd", "double2uint_rn", "double2uint_ru", "double2uint_rz"),
    toInts<int64_t, double>("double2ll_rd", "double2ll_rn", "double2ll_ru", "double2ll_rz"),
    toInts<uint64_t, double>("double2ull_rd", "double2ull_rn", "double2ull_ru", "double2ull_rz"),
    toInts<int32_t, float>("float2int_rd", "float2int_rn", "float2int_ru", "float2int_rz"),
    toInts<uint32_t, float>("float2uint_rd", "float2uint_rn", "float2uint_ru", "float2uint_rz"),
    toInts<int64_t, float>("float2ll_rd", "float2ll_rn", "float2ll_ru", "float2ll_rz"),
    toInts<uint64_t, float>("float2ull_rd", "float2ull_rn", "float2ull_ru", "float2ull_rz"),
};

} // namespace

const TwLibraryRow* findLibraryRounding(const char* symbol) {
  const TwLibraryRow* found = findSymbol(kRows, symbol);
  for (const Family& family : kFamilies)
    if (!found) found = findSymbol(family, symbol);
  return found;
}

} // namespace tiletwin::tile
