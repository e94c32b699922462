// sim/isa/Carry.cpp -- arithmetic of more than one word: add.cc, addc, sub.cc, subc, mad.cc, madc.
// Source:    PTX ISA, 9.7.2. Each lane has its carry flag, CC.CF: a bit of Warp::carry.
// Idea:      everything is computed in twice the width; the bit above the result is the carry, or the borrow.
#include "sim/isa/Forms.h"
#include "sim/isa/Integer.h"

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
  if (kCarryOut) warp.carry = (carry & ~active) | out;
  return Step::Next;
}

template <Sum kSum, class T> Execute sumOf(bool carryIn, bool carryOut) {
  if (carryIn) return carryOut ? runSum<kSum, T, true, true> : runSum<kSum, T, true, false>;
  return runSum<kSum, T, false, true>;
}

template <Sum kSum> Execute sumOf(Type type, bool carryIn, bool carryOut) {
  switch (type) {
  case Type::U32:
  case Type::S32: return sumOf<kSum, uint32_t>(carryIn, carryOut);
  case Type::U64:
  case Type::S64: return sumOf<kSum, uint64_t>(carryIn, carryOut);
  default: return nullptr;
  }
}

constexpr std::string_view kTypes = ".u32 .s32 .u64 .s64";

template <Sum kSum>
bool decodeSum(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out, bool carryIn, bool carryOut) {
  const Type type = words.takeType();
  out.run = sumOf<kSum>(type, carryIn, carryOut);
  if (!out.run) return failType(decoder, in, kTypes);
  return decodeBinary(decoder, in, type, type, type, out);
}

bool decodeProduct(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out, bool carryIn, bool carryOut) {
  const std::string_view mode = words.takeOneOf({"lo", "hi"});
  if (mode.empty()) return failMissing(decoder, in, ".lo .hi");
  const Type type = words.takeType();
  out.run = mode == "lo"     ? sumOf<Sum::MadLow>(type, carryIn, carryOut)
            : isSigned(type) ? sumOf<Sum::MadHighSigned>(type, carryIn, carryOut)
                             : sumOf<Sum::MadHigh>(type, carryIn, carryOut);
  if (!out.run) return failType(decoder, in, kTypes);
  return decodeTernary(decoder, in, type, type, type, type, out);
}

bool decodeAddc(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  return decodeSum<Sum::Add>(decoder, in, words, out, true, words.take("cc"));
}
bool decodeSubc(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  return decodeSum<Sum::Subtract>(decoder, in, words, out, true, words.take("cc"));
}
bool decodeMadc(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  return decodeProduct(decoder, in, words, out, true, words.take("cc"));
}

constexpr OpcodeRow kRows[] = {
    {"addc", decodeAddc},
    {"madc", decodeMadc},
    {"subc", decodeSubc},
};

} // namespace

bool decodeAddCarry(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  return decodeSum<Sum::Add>(decoder, in, words, out, false, true);
}
bool decodeSubCarry(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  return decodeSum<Sum::Subtract>(decoder, in, words, out, false, true);
}
bool decodeMadCarry(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  return decodeProduct(decoder, in, words, out, false, true);
}

constinit const std::span<const OpcodeRow> kCarryOpcodes = kRows;

} // namespace tiletwin::sim
