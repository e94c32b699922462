// interp/tile/LibraryRounding.cpp -- libdevice's functions that name their rounding: arithmetic and conversions toward
// nearest (_rn), zero (_rz), up (_ru) and down (_rd).
// Here:      the CPU's rounding mode, set around a strip.   Not here:  round-half-even to an integer as a float (rint).
// Invariant: the mode is back to nearest when a strip returns; nothing is computed across the switch, as operands come
// from memory after it and results are in memory before the next one.
#include "interp/tile/Library.h"
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

template <class Function> struct DirectedRowOf;
template <class R, class... A> struct DirectedRowOf<R (*)(A...)> {
  template <auto M, auto G> static void strip(int64_t n, void* dst, const void* const* src, uint32_t splat) {
    RoundingScope scope(M);
    scalarLoop<G, R, A...>(n, dst, src, splat);
  }
};
/// G computed in rounding mode M.
template <Mode M, auto G> constexpr TwLibraryRow directed(const char* symbol) {
  return RowOf<decltype(+G)>::make(symbol, DirectedRowOf<decltype(+G)>::template strip<M, G>);
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
    row<reciprocal<float>>("frcp_rn"),
    row<reciprocal<double>>("drcp_rn"),
    row<[](float x) { return float(1 / std::sqrt((long double)x)); }>("frsqrt_rn"),

    directed<Down, add<double>>("dadd_rd"),
    directed<Up, add<double>>("dadd_ru"),
    directed<Zero, add<double>>("dadd_rz"),
    directed<Down, add<float>>("fadd_rd"),
    directed<Up, add<float>>("fadd_ru"),
    directed<Zero, add<float>>("fadd_rz"),
    directed<Down, subtract<double>>("dsub_rd"),
    directed<Up, subtract<double>>("dsub_ru"),
    directed<Zero, subtract<double>>("dsub_rz"),
    directed<Down, subtract<float>>("fsub_rd"),
    directed<Up, subtract<float>>("fsub_ru"),
    directed<Zero, subtract<float>>("fsub_rz"),
    directed<Down, multiply<double>>("dmul_rd"),
    directed<Up, multiply<double>>("dmul_ru"),
    directed<Zero, multiply<double>>("dmul_rz"),
    directed<Down, multiply<float>>("fmul_rd"),
    directed<Up, multiply<float>>("fmul_ru"),
    directed<Zero, multiply<float>>("fmul_rz"),
    directed<Down, divide<double>>("ddiv_rd"),
    directed<Up, divide<double>>("ddiv_ru"),
    directed<Zero, divide<double>>("ddiv_rz"),
    directed<Down, divide<float>>("fdiv_rd"),
    directed<Up, divide<float>>("fdiv_ru"),
    directed<Zero, divide<float>>("fdiv_rz"),
    directed<Down, reciprocal<double>>("drcp_rd"),
    directed<Up, reciprocal<double>>("drcp_ru"),
    directed<Zero, reciprocal<double>>("drcp_rz"),
    directed<Down, reciprocal<float>>("frcp_rd"),
    directed<Up, reciprocal<float>>("frcp_ru"),
    directed<Zero, reciprocal<float>>("frcp_rz"),
    directed<Down, squareRoot<double>>("dsqrt_rd"),
    directed<Up, squareRoot<double>>("dsqrt_ru"),
    directed<Zero, squareRoot<double>>("dsqrt_rz"),
    directed<Down, squareRoot<float>>("fsqrt_rd"),
    directed<Up, squareRoot<float>>("fsqrt_ru"),
    directed<Zero, squareRoot<float>>("fsqrt_rz"),
    directed<Down, fused<double>>("fma_rd"),
    directed<Up, fused<double>>("fma_ru"),
    directed<Zero, fused<double>>("fma_rz"),
    directed<Down, fused<float>>("fmaf_rd"),
    directed<Up, fused<float>>("fmaf_ru"),
    directed<Zero, fused<float>>("fmaf_rz"),

    directed<Down, narrowed>("double2float_rd"),
    row<narrowed>("double2float_rn"),
    directed<Up, narrowed>("double2float_ru"),
    directed<Zero, narrowed>("double2float_rz"),
    row<fromInt<double, int32_t>>("int2double_rn"),
    row<fromInt<double, uint32_t>>("uint2double_rn"),
    directed<Down, fromInt<float, int32_t>>("int2float_rd"),
    row<fromInt<float, int32_t>>("int2float_rn"),
    directed<Up, fromInt<float, int32_t>>("int2float_ru"),
    directed<Zero, fromInt<float, int32_t>>("int2float_rz"),
    directed<Down, fromInt<float, uint32_t>>("uint2float_rd"),
    row<fromInt<float, uint32_t>>("uint2float_rn"),
    directed<Up, fromInt<float, uint32_t>>("uint2float_ru"),
    directed<Zero, fromInt<float, uint32_t>>("uint2float_rz"),
    directed<Down, fromInt<float, int64_t>>("ll2float_rd"),
    row<fromInt<float, int64_t>>("ll2float_rn"),
    directed<Up, fromInt<float, int64_t>>("ll2float_ru"),
    directed<Zero, fromInt<float, int64_t>>("ll2float_rz"),
    directed<Down, fromInt<float, uint64_t>>("ull2float_rd"),
    row<fromInt<float, uint64_t>>("ull2float_rn"),
    directed<Up, fromInt<float, uint64_t>>("ull2float_ru"),
    directed<Zero, fromInt<float, uint64_t>>("ull2float_rz"),
    directed<Down, fromInt<double, int64_t>>("ll2double_rd"),
    row<fromInt<double, int64_t>>("ll2double_rn"),
    directed<Up, fromInt<double, int64_t>>("ll2double_ru"),
    directed<Zero, fromInt<double, int64_t>>("ll2double_rz"),
    directed<Down, fromInt<double, uint64_t>>("ull2double_rd"),
    row<fromInt<double, uint64_t>>("ull2double_rn"),
    directed<Up, fromInt<double, uint64_t>>("ull2double_ru"),
    directed<Zero, fromInt<double, uint64_t>>("ull2double_rz"),

    row<toInt<int32_t, Down, double>>("double2int_rd"),
    row<toInt<int32_t, Nearest, double>>("double2int_rn"),
    row<toInt<int32_t, Up, double>>("double2int_ru"),
    row<toInt<int32_t, Zero, double>>("double2int_rz"),
    row<toInt<uint32_t, Down, double>>("double2uint_rd"),
    row<toInt<uint32_t, Nearest, double>>("double2uint_rn"),
    row<toInt<uint32_t, Up, double>>("double2uint_ru"),
    row<toInt<uint32_t, Zero, double>>("double2uint_rz"),
    row<toInt<int64_t, Down, double>>("double2ll_rd"),
    row<toInt<int64_t, Nearest, double>>("double2ll_rn"),
    row<toInt<int64_t, Up, double>>("double2ll_ru"),
    row<toInt<int64_t, Zero, double>>("double2ll_rz"),
    row<toInt<uint64_t, Down, double>>("double2ull_rd"),
    row<toInt<uint64_t, Nearest, double>>("double2ull_rn"),
    row<toInt<uint64_t, Up, double>>("double2ull_ru"),
    row<toInt<uint64_t, Zero, double>>("double2ull_rz"),
    row<toInt<int32_t, Down, float>>("float2int_rd"),
    row<toInt<int32_t, Nearest, float>>("float2int_rn"),
    row<toInt<int32_t, Up, float>>("float2int_ru"),
    row<toInt<int32_t, Zero, float>>("float2int_rz"),
    row<toInt<uint32_t, Down, float>>("float2uint_rd"),
    row<toInt<uint32_t, Nearest, float>>("float2uint_rn"),
    row<toInt<uint32_t, Up, float>>("float2uint_ru"),
    row<toInt<uint32_t, Zero, float>>("float2uint_rz"),
    row<toInt<int64_t, Down, float>>("float2ll_rd"),
    row<toInt<int64_t, Nearest, float>>("float2ll_rn"),
    row<toInt<int64_t, Up, float>>("float2ll_ru"),
    row<toInt<int64_t, Zero, float>>("float2ll_rz"),
    row<toInt<uint64_t, Down, float>>("float2ull_rd"),
    row<toInt<uint64_t, Nearest, float>>("float2ull_rn"),
    row<toInt<uint64_t, Up, float>>("float2ull_ru"),
    row<toInt<uint64_t, Zero, float>>("float2ull_rz"),
    row<toInt<int64_t, Nearest, float>>("llrintf"),
    row<toInt<int64_t, Nearest, double>>("llrint"),
    row<[](float x) { return toInt<int64_t, Zero>(std::round(x)); }>("llroundf"),
    row<[](double x) { return toInt<int64_t, Zero>(std::round(x)); }>("llround"),
};

} // namespace

const TwLibraryRow* findLibraryRounding(const char* symbol) { return findSymbol(kRows, symbol); }

} // namespace tiletwin::tile
