// interp/asm/Lanes.h -- loops over lanes: the steps of instructions that the tile module has no strip function for.
// Here:      the loop, the look-ups.   Not here:  which instruction takes which step (Instructions.cpp).
// Invariant: these functions read runs only, never splats; dst may be one of the sources.
#pragma once
#include "interp/asm/Types.h"
#include "interp/tile/TileOps.h"
#include <bit>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

namespace tiletwin::interp {

/// dst[i] = F(src[0][i], src[1][i], ...).
template <class Function> struct LaneLoop;
template <class R, class... A> struct LaneLoop<R (*)(A...)> {
  template <auto F> static void run(int64_t n, void* dst, const void* const* src, uint32_t) {
    loop<F>(n, static_cast<R*>(dst), src, std::index_sequence_for<A...>());
  }

private:
  template <auto F, size_t... I>
  static void loop(int64_t n, R* dst, const void* const* src, std::index_sequence<I...>) {
    for (int64_t i = 0; i < n; ++i) dst[i] = F(static_cast<const A*>(src[I])[i]...);
  }
};
template <auto F> inline constexpr TwStripFn kLanes = LaneLoop<decltype(+F)>::template run<F>;

/// A step and the widths of what it computes with, result first: bytes, or p for a predicate.
struct LaneStep {
  TwStripFn fn = nullptr;
  char shape[6] = {};
};
template <class T> inline constexpr char kWidth = sizeof(T) == 1 ? 'p' : char('0' + sizeof(T));
template <class R, class... A> constexpr LaneStep stepOf(TwStripFn fn, R (*)(A...)) {
  return {fn, {kWidth<R>, kWidth<A>...}};
}
template <auto F> inline constexpr LaneStep kStep = stepOf(kLanes<F>, +F);

/// An instruction whose forms are one step each.
struct LaneRow {
  const char* op;     ///< with the modifiers it must have: "mul.hi"
  const char* types;  ///< the end of the opcode, alternatives separated by |: "u32|s32"
  LaneStep steps[12]; ///< one for each alternative, or one for all
};
template <class T> using Of = std::type_identity<T>;
/// Types as opcodes name them, and as functions do.
template <class... T> struct LaneTypes {
  const char* names;
};
/// One row for a family of functions: step(Of<T>()) for each type.
template <class... T, class Step> constexpr LaneRow family(const char* op, LaneTypes<T...> types, Step step) {
  return {op, types.names, {step(Of<T>())...}};
}
std::span<const LaneRow> laneBitRows();   ///< LanesBits.cpp
std::span<const LaneRow> laneFloatRows(); ///< LanesFloat.cpp

/// Integer types as instructions name them.
enum class AsmInt : uint8_t { U8, U16, U32, U64, S8, S16, S32, S64 };
inline AsmInt asmInt(int bytes, bool isSigned) {
  return AsmInt(std::countr_zero(unsigned(bytes)) + (isSigned ? int(AsmInt::S8) : 0));
}
/// How a float becomes an integer.
enum class AsmRound : uint8_t { Nearest, Down, Up, Zero };

/// From one integer type to another; `saturate` keeps the value within the destination's range, else low bits are
/// taken.
TwStripFn laneIntToInt(AsmInt from, AsmInt to, bool saturate);
/// From an integer type to f32 (or f64), in the rounding mode that is set.
TwStripFn laneIntToFloat(AsmInt from, bool f64);
/// To f64 rounded to odd, so that a second rounding is right.
TwStripFn laneIntToOddF64(AsmInt from);
/// From f32 (or f64), within the destination's range; NaN gives 0, or the sign bit's pattern where a side has 64 bits.
TwStripFn laneFloatToInt(bool f64, AsmInt to, AsmRound round);
/// f32 (or f64) to an integer as a float.
TwStripFn laneRound(bool f64, AsmRound round);
/// f32 to tf32: nearest with ties away (or to even), low 13 bits 0; or truncated.
enum class AsmTf32 : uint8_t { Away, Even, Zero };
TwStripFn laneTf32(AsmTf32 how);

/// `bytes`-wide parts of a register to the lanes of one: part `index` of `count`; and back, from up to four.
TwStripFn laneTake(int bytes, int count, int index);
TwStripFn laneJoin(int bytes, int count);
/// new where the predicate (src[0]) holds (src[1]), old elsewhere (src[2]).
TwStripFn laneBlend(int bytes);
/// A copy of whole registers.
TwStripFn laneCopy(int bytes);

/// The other truth value.
TwStripFn laneNot();
/// What an instruction writes where a predicate holds, 0 elsewhere: 1.0 of a float type, all ones of an integer.
TwStripFn laneTruth(const AsmType& type);
/// Subnormal f32 or f16 to zeros. Null: other types have no such modifier.
TwStripFn laneFlush(DType type);
/// f32 or f64 into [0, 1]; NaN gives 0.
TwStripFn laneSaturate(DType type);
/// A video instruction, named without the number of its parts ("vadd"). LanesVideo.cpp.
TwStripFn laneVideo(std::string_view name);

/// Two f32 (the first is the upper one) to a pair of a narrow format ("e2m1x2", "ue8m0x2.rp.satfinite"), and one of a
/// pair to f32. Null: no such format. LanesNarrow.cpp.
TwStripFn laneNarrowPack(std::string_view format);
TwStripFn laneNarrowUnpack(std::string_view format, bool high);

} // namespace tiletwin::interp
