// sim/isa/Convert.h -- cvt: between all scalar types, to and from packed narrow floats, and cvt.pack.
// Here:      ConvertWords, and what its three files call of each other.
// Not here:  rounding (numerics/Convert.h), cvta (Move.cpp).
// Idea:      operands may be wider than their types: a move in front or behind brings them to the type's size, so that a
//            conversion is written for its own types only.
#pragma once
#include "sim/isa/Float.h"
#include "sim/isa/Forms.h"
#include "sim/numerics/Convert.h"

namespace tiletwin::sim {

/// The words of a cvt, without its types.
struct ConvertWords {
  std::string_view round; ///< "rn", "rzi", ...; empty: none
  bool ftz = false, sat = false, satfinite = false, relu = false;
  bool isIntegral() const { return round.size() == 3 && round != "rna"; }
  bool isDirected() const { return round == "rn" || round == "rz" || round == "rm" || round == "rp"; }
  bool hasExtras() const { return satfinite || relu; }
  /// .rn .rz .rm .rp, or the same of .rni to .rpi.
  Round mode() const;
};

/// What converts between two scalar types, one of them an integer; null: they do not have these words.
Execute chooseInteger(ptx::Type d, ptx::Type a, const ConvertWords& words);
/// The same for two floats.
Execute chooseFloat(ptx::Type d, ptx::Type a, const ConvertWords& words);
/// [0, 1] in place, for .sat of what chooseInteger or chooseFloat has given.
Execute chooseSaturate(ptx::Type d);
/// Packed and tf32 forms: all of the instruction. `known` is false if the types are none of them.
bool decodePackedConvert(Decoder& decoder, const ptx::Instruction& in, std::string_view d, std::string_view a,
                         const ConvertWords& words, Inst& out, bool& known);
/// cvt.pack: "pack" is taken.
bool decodePack(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out);

inline bool isFloatType(ptx::Type t) {
  return t == ptx::Type::F16 || t == ptx::Type::BF16 || t == ptx::Type::F32 || t == ptx::Type::F64;
}
inline bool isIntegerType(ptx::Type t) { return t >= ptx::Type::U8 && t <= ptx::Type::S64; }

/// A float type as a source: its lanes, and their values as f64.
struct FromF64 {
  using Lane = double;
  static double wide(double x) { return x; }
};
struct FromF32 {
  using Lane = float;
  static double wide(float x) { return widened(x); }
};
struct FromFlushedF32 {
  using Lane = float;
  static double wide(float x) { return widened(canonical(flushed(x))); }
};
struct FromF16 {
  using Lane = uint16_t;
  static double wide(uint16_t h) { return widenedF16(h); }
};
struct FromBF16 {
  using Lane = uint16_t;
  static double wide(uint16_t h) { return widenedBF16(h); }
};

/// pick(Source()) for a float type; .ftz is f32's alone.
template <class Pick> Execute forSource(ptx::Type type, bool ftz, Pick&& pick) {
  switch (type) {
  case ptx::Type::F64: return ftz ? nullptr : pick(FromF64());
  case ptx::Type::F32: return ftz ? pick(FromFlushedF32()) : pick(FromF32());
  case ptx::Type::F16: return ftz ? nullptr : pick(FromF16());
  case ptx::Type::BF16: return ftz ? nullptr : pick(FromBF16());
  default: return nullptr;
  }
}

} // namespace tiletwin::sim
