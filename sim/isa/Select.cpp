// sim/isa/Select.cpp -- selp and slct: one of two values, by a predicate or by a third value's sign.
// Source:    PTX ISA, 9.7.6.3 and 9.7.6.4.
#include "sim/isa/Forms.h"
#include "sim/numerics/Rounding.h"

namespace tiletwin::sim {
namespace {

using ptx::Type;

template <class T> Step runSelp(const Inst& in, Warp& warp, LaneMask active) {
  const T *a = warp.lanes<T>(in.a), *b = warp.lanes<T>(in.b);
  const LaneMask c = warp.predicate(in.c);
  perLane(warp.lanes<T>(in.d), active, [=](int i) { return c >> i & 1 ? a[i] : b[i]; });
  return Step::Next;
}

/// a where c >= 0. Floats: -0 is, NaN is not; a negative subnormal is if it is flushed.
constexpr auto kChoose = []<class T>(T a, T b, auto c) { return c >= 0 ? a : b; };
constexpr auto kChooseFlushed = []<class T>(T a, T b, float c) { return flushed(c) >= 0 ? a : b; };

using Selectable = TypeSet<Type::B16, Type::B32, Type::B64, Type::U16, Type::U32, Type::U64, Type::S16, Type::S32,
                           Type::S64, Type::F32, Type::F64>;

bool decodeSelp(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const Type type = words.takeType();
  out.run = Selectable::chooseWidth(type, []<class T>(T) { return runSelp<T>; });
  return out.run ? decoder.form(in, out, type, {type, type, Type::Pred}) : decoder.failType(Selectable::names());
}

/// slct(.ftz).dtype.s32 or .f32 d, a, b, c
bool decodeSlct(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const bool flush = words.take("ftz");
  const Type type = words.takeType(), test = words.takeType();
  if (test != Type::F32 && (test != Type::S32 || flush))
    return decoder.failType(flush ? ".f32 for c with .ftz" : ".s32 or .f32 for c");
  out.run = Selectable::chooseWidth(type, [&]<class T>(T) {
    return test == Type::S32 ? runLanes<kChoose, T, T, T, int32_t>
           : flush           ? runLanes<kChooseFlushed, T, T, T, float>
                             : runLanes<kChoose, T, T, T, float>;
  });
  return out.run ? decoder.form(in, out, type, {type, type, test}) : decoder.failType(Selectable::names());
}

constexpr OpcodeRow kRows[] = {
    {"selp", decodeSelp},
    {"slct", decodeSlct},
};

} // namespace

constinit OpcodeTable kSelectOpcodes = kRows;

} // namespace tiletwin::sim
