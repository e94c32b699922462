// sim/isa/Select.cpp -- selp and slct: one of two values, by a predicate or by a third value's sign.
// Source:    PTX ISA, 9.7.6.3 and 9.7.6.4.
#include "sim/isa/Compare.h"
#include "sim/isa/Forms.h"
#include <bit>

namespace tiletwin::sim {
namespace {

using ptx::Type;

template <class T> Step runSelp(const Inst& in, Warp& warp, LaneMask active) {
  const T *a = warp.lanes<T>(in.a), *b = warp.lanes<T>(in.b);
  const LaneMask c = warp.predicate(in.c);
  perLane(warp.lanes<T>(in.d), active, [=](int i) { return c >> i & 1 ? a[i] : b[i]; });
  return Step::Next;
}

/// c >= 0. Floats: -0 is, NaN is not; a negative subnormal is if it is flushed.
struct NotNegative {
  using Bits = int32_t;
  static bool test(int32_t c) { return c >= 0; }
};
struct NotBelowZero {
  using Bits = uint32_t;
  static bool test(uint32_t c) { return std::bit_cast<float>(c) >= 0; }
};
struct NotBelowZeroFlushed {
  using Bits = uint32_t;
  static bool test(uint32_t c) { return std::bit_cast<float>(c & 0x7F800000u ? c : 0u) >= 0; }
};

template <class Test, class T> Step runSlct(const Inst& in, Warp& warp, LaneMask active) {
  using Bits = typename Test::Bits;
  const T *a = warp.lanes<T>(in.a), *b = warp.lanes<T>(in.b);
  const Bits* c = warp.lanes<Bits>(in.c);
  perLane(warp.lanes<T>(in.d), active, [=](int i) { return Test::test(c[i]) ? a[i] : b[i]; });
  return Step::Next;
}

constexpr std::string_view kTypes = ".b16 .b32 .b64 .u16 .u32 .u64 .s16 .s32 .s64 .f32 .f64";

/// As forWidth, with .f32 and .f64.
template <class Pick> Execute forWord(Type type, Pick&& pick) {
  if (type == Type::F32) return pick(uint32_t());
  if (type == Type::F64) return pick(uint64_t());
  return forWidth(type, pick);
}

bool decodeSelp(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const Type type = words.takeType();
  out.run = forWord(type, [](auto t) -> Execute { return runSelp<decltype(t)>; });
  if (!out.run) return failType(decoder, in, kTypes);
  return decoder.operands(in, 4) && decoder.destination(in.operands[0], type, out.d) &&
         decoder.source(in.operands[1], type, out.a) && decoder.source(in.operands[2], type, out.b) &&
         decoder.predicate(in.operands[3], out.c);
}

/// slct(.ftz).dtype.s32 or .f32 d, a, b, c
bool decodeSlct(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const bool flush = words.take("ftz");
  const Type type = words.takeType(), test = words.takeType();
  if (test != Type::F32 && (test != Type::S32 || flush))
    return failType(decoder, in, flush ? ".f32 for c with .ftz" : ".s32 or .f32 for c");
  out.run = forWord(type, [&](auto t) -> Execute {
    using T = decltype(t);
    return test == Type::S32 ? runSlct<NotNegative, T>
           : flush           ? runSlct<NotBelowZeroFlushed, T>
                             : runSlct<NotBelowZero, T>;
  });
  if (!out.run) return failType(decoder, in, kTypes);
  return decodeTernary(decoder, in, type, type, type, test, out);
}

constexpr OpcodeRow kRows[] = {
    {"selp", decodeSelp},
    {"slct", decodeSlct},
};

} // namespace

constinit const std::span<const OpcodeRow> kSelectOpcodes = kRows;

} // namespace tiletwin::sim
