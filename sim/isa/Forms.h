// sim/isa/Forms.h -- what many instructions have in common: operands of the forms d, a / d, a, b / d, a, b, c, and loops over
// lanes for a functor.
// Here:      decodeUnary, decodeBinary, decodeTernary; runUnary, runBinary, runTernary; a type named by PTX to one of C++.
// Not here:  what an instruction computes (Integer.cpp and its neighbours).
// Idea:      a functor has a static apply() over values; the decode function picks the instantiation once.
// Invariant: apply() is total: it also runs on whatever lanes that are not active hold.
#pragma once
#include "sim/isa/Decode.h"
#include "sim/machine/Warp.h"
#include <type_traits>

namespace tiletwin::sim {

/// d, a with these types.
inline bool decodeUnary(Decoder& decoder, const ptx::Instruction& in, ptx::Type d, ptx::Type a, Inst& out) {
  return decoder.operands(in, 2) && decoder.destination(in.operands[0], d, out.d) &&
         decoder.source(in.operands[1], a, out.a);
}

/// d, a, b with these types.
inline bool decodeBinary(Decoder& decoder, const ptx::Instruction& in, ptx::Type d, ptx::Type a, ptx::Type b,
                         Inst& out) {
  return decoder.operands(in, 3) && decoder.destination(in.operands[0], d, out.d) &&
         decoder.source(in.operands[1], a, out.a) && decoder.source(in.operands[2], b, out.b);
}

/// d, a, b, c with these types.
inline bool decodeTernary(Decoder& decoder, const ptx::Instruction& in, ptx::Type d, ptx::Type a, ptx::Type b,
                          ptx::Type c, Inst& out) {
  return decoder.operands(in, 4) && decoder.destination(in.operands[0], d, out.d) &&
         decoder.source(in.operands[1], a, out.a) && decoder.source(in.operands[2], b, out.b) &&
         decoder.source(in.operands[3], c, out.c);
}

/// The message for a type that an instruction does not have; `wanted` lists those it has.
inline bool failType(Decoder& decoder, const ptx::Instruction& in, std::string_view wanted) {
  return decoder.fail(std::string(in.text) + ": wants a type of " + std::string(wanted));
}

/// The message for a modifier that must be there.
inline bool failMissing(Decoder& decoder, const ptx::Instruction& in, std::string_view wanted) {
  return decoder.fail(std::string(in.text) + ": wants one of " + std::string(wanted));
}

template <class Op, class D, class A> Step runUnary(const Inst& in, Warp& warp, LaneMask active) {
  const A* a = warp.lanes<A>(in.a);
  perLane(warp.lanes<D>(in.d), active, [=](int i) { return D(Op::apply(a[i])); });
  return Step::Next;
}

template <class Op, class D, class A, class B> Step runBinary(const Inst& in, Warp& warp, LaneMask active) {
  const A* a = warp.lanes<A>(in.a);
  const B* b = warp.lanes<B>(in.b);
  perLane(warp.lanes<D>(in.d), active, [=](int i) { return D(Op::apply(a[i], b[i])); });
  return Step::Next;
}

template <class Op, class D, class A, class B, class C> Step runTernary(const Inst& in, Warp& warp, LaneMask active) {
  const A* a = warp.lanes<A>(in.a);
  const B* b = warp.lanes<B>(in.b);
  const C* c = warp.lanes<C>(in.c);
  perLane(warp.lanes<D>(in.d), active, [=](int i) { return D(Op::apply(a[i], b[i], c[i])); });
  return Step::Next;
}

/// pick(T()) for the integer type that PTX calls .u16 to .s64; null for another type.
template <class Pick> Execute forInteger(ptx::Type type, Pick&& pick) {
  switch (type) {
  case ptx::Type::U16: return pick(uint16_t());
  case ptx::Type::U32: return pick(uint32_t());
  case ptx::Type::U64: return pick(uint64_t());
  case ptx::Type::S16: return pick(int16_t());
  case ptx::Type::S32: return pick(int32_t());
  case ptx::Type::S64: return pick(int64_t());
  default: return nullptr;
  }
}

/// pick(T()) for .s16, .s32, .s64; null for another type.
template <class Pick> Execute forSigned(ptx::Type type, Pick&& pick) {
  switch (type) {
  case ptx::Type::S16: return pick(int16_t());
  case ptx::Type::S32: return pick(int32_t());
  case ptx::Type::S64: return pick(int64_t());
  default: return nullptr;
  }
}

/// pick(T()) for .b16, .b32, .b64; null for another type.
template <class Pick> Execute forBits(ptx::Type type, Pick&& pick) {
  switch (type) {
  case ptx::Type::B16: return pick(uint16_t());
  case ptx::Type::B32: return pick(uint32_t());
  case ptx::Type::B64: return pick(uint64_t());
  default: return nullptr;
  }
}

/// pick(T()) with the unsigned type as large as an integer or bit type of 16 to 64 bits: for what does not look at the sign.
template <class Pick> Execute forWidth(ptx::Type type, Pick&& pick) {
  switch (type) {
  case ptx::Type::B16:
  case ptx::Type::U16:
  case ptx::Type::S16: return pick(uint16_t());
  case ptx::Type::B32:
  case ptx::Type::U32:
  case ptx::Type::S32: return pick(uint32_t());
  case ptx::Type::B64:
  case ptx::Type::U64:
  case ptx::Type::S64: return pick(uint64_t());
  default: return nullptr;
  }
}

inline bool isSigned(ptx::Type type) { return type >= ptx::Type::S8 && type <= ptx::Type::S64; }
inline bool isInteger(ptx::Type type) {
  return type >= ptx::Type::U16 && type <= ptx::Type::S64 && type != ptx::Type::S8;
}
inline bool isBits(ptx::Type type) { return type >= ptx::Type::B16 && type <= ptx::Type::B64; }

} // namespace tiletwin::sim
