// sim/isa/Carry.cpp -- arithmetic of more than one word: add.cc, addc, sub.cc, subc, mad.cc, madc.
// Source:    PTX ISA, 9.7.2. Each lane has its carry flag, CC.CF: a bit of Warp::carry.
// Idea:      everything is computed in twice the width; the bit above the result is the carry, or the borrow.
#include "sim/isa/Forms.h"

namespace tiletwin::sim {
namespace {

using ptx::Type;

template <class T> using Double = std::conditional_t<sizeof(T) == 4, uint64_t, unsigned __int128>;

enum class Sum : uint8_t { Add, Subtract, MadLow, MadHigh, MadHighSigned };

/// x and y of lane i, which are added (or subtracted): a and b, or the product's half and c.
template <Sum kSum, class T> T leftOf(T a, T b) {
  using S = std::make_signed_t<T>;
  using SignedDouble = std::conditional_t<sizeof(T) == 4, int64_t, __int128>;
  if constexpr (kSum == Sum::MadLow) return T(a * b);
  if constexpr (kSum == Sum::MadHigh) return T(Double<T>(a) * Double<T>(b) >> (8 * sizeof(T)));
  if constexpr (kSum == Sum::MadHighSigned) return T(SignedDouble(S(a)) * SignedDouble(S(b)) >> (8 * sizeof(T)));
  return a;
}

template <Sum kSum, class T, bool kCarryIn, bool kCarryOut> Step runSum(const Inst& in, Warp& warp, LaneMask active) {
  constexpr bool kProduct = kSum != Sum::Add && kSum != Sum::Subtract;
  const T *a = warp.lanes<T>(in.a), *b = warp.lanes<T>(in.b), *right = kProduct ? warp.lanes<T>(in.c) : b;
  T* d = warp.lanes<T>(in.d);
  const LaneMask carry = warp.carry;
  LaneMask out = 0;
  eachLane(active, [&](int i) {
    const Double<T> x = leftOf<kSum>(a[i], b[i]), y = right[i], c = kCarryIn ? carry >> i & 1 : 0;
    const Double<T> sum = kSum == Sum::Subtract ? x - y - c : x + y + c;
    d[i] = T(sum);
    out |= LaneMask(sum >> (8 * sizeof(T)) & 1) << i;
  });
  if (kCarryOut) assign(warp.carry, active, out);
  return Step::Next;
}

template <Sum kSum> Execute sumOf(Type type, bool carryIn, bool carryOut) {
  return IntegerWords::chooseWidth(type, [&]<class T>(T) -> Execute {
    if (carryIn) return carryOut ? runSum<kSum, T, true, true> : runSum<kSum, T, true, false>;
    return runSum<kSum, T, false, true>;
  });
}

template <Sum kSum, bool kCarryIn>
bool decodeSum(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const bool carryOut = words.take("cc");
  const Type type = words.takeType();
  out.run = sumOf<kSum>(type, kCarryIn, carryOut);
  return out.run ? decoder.alike(in, out, type, 2) : decoder.failType(IntegerWords::names());
}

template <bool kCarryIn> bool decodeProduct(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const bool carryOut = words.take("cc");
  const std::string_view mode = words.takeOneOf({"lo", "hi"});
  if (mode.empty()) return decoder.failMissing(".lo .hi");
  const Type type = words.takeType();
  out.run = mode == "lo"     ? sumOf<Sum::MadLow>(type, kCarryIn, carryOut)
            : isSigned(type) ? sumOf<Sum::MadHighSigned>(type, kCarryIn, carryOut)
                             : sumOf<Sum::MadHigh>(type, kCarryIn, carryOut);
  return out.run ? decoder.alike(in, out, type, 3) : decoder.failType(IntegerWords::names());
}

constexpr OpcodeRow kRows[] = {
    {"add", decodeSum<Sum::Add, false>, Domain::Carry},
    {"addc", decodeSum<Sum::Add, true>},
    {"mad", decodeProduct<false>, Domain::Carry},
    {"madc", decodeProduct<true>},
    {"sub", decodeSum<Sum::Subtract, false>, Domain::Carry},
    {"subc", decodeSum<Sum::Subtract, true>},
};

} // namespace

constinit OpcodeTable kCarryOpcodes = kRows;

} // namespace tiletwin::sim
