// interp/asm/LanesBits.cpp -- integer and bit instructions that are not elementwise operations of the tile module.
// Definitions are those of the PTX ISA; shift amounts beyond the width give 0 (arithmetic right shifts: the sign).
#include "interp/asm/Lanes.h"
#include <array>
#include <bit>
#include <type_traits>

namespace tiletwin::interp {
namespace {

template <class T> inline constexpr int kBits = int(sizeof(T) * 8);
template <class T>
using Wide = std::conditional_t<sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>,
                                std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;
template <class T> using Huge = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;

template <class T> T invert(T a) { return T(~a); }
uint8_t invertPredicate(uint8_t a) { return uint8_t(a ^ 1); }
template <class T> T isZero(T a) { return T(a == 0); }
template <class T> T negate(T a) { return T(0 - a); }
template <class T> T shiftLeft(T a, uint32_t n) { return n < uint32_t(kBits<T>) ? T(uint64_t(a) << n) : T(0); }
template <class T> T shiftRight(T a, uint32_t n) {
  const int most = kBits<T> - 1;
  if constexpr (std::is_signed_v<T>)
    return T(a >> (n < uint32_t(most) ? int(n) : most));
  else
    return n <= uint32_t(most) ? T(a >> n) : T(0);
}
uint32_t funnelLeft(uint32_t a, uint32_t b, uint32_t n) { return uint32_t((uint64_t(b) << 32 | a) << n >> 32); }
uint32_t funnelRight(uint32_t a, uint32_t b, uint32_t n) { return uint32_t((uint64_t(b) << 32 | a) >> n); }
uint32_t atMost32(uint32_t n) { return n < 32 ? n : 32; }

template <class T> T mulHigh(T a, T b) { return T(Huge<T>(a) * b >> kBits<T>); }
template <class T> Wide<T> mulWide(T a, T b) { return Wide<T>(Wide<T>(a) * Wide<T>(b)); }
template <class T> T mulAdd(T a, T b, T c) {
  return T(std::make_unsigned_t<Wide<T>>(a) * std::make_unsigned_t<Wide<T>>(b) + std::make_unsigned_t<Wide<T>>(c));
}
template <class T> T mulHighAdd(T a, T b, T c) { return T(uint64_t(mulHigh(a, b)) + uint64_t(c)); }
template <class T> Wide<T> mulWideAdd(T a, T b, Wide<T> c) {
  using U = std::make_unsigned_t<Wide<T>>;
  return Wide<T>(U(mulWide(a, b)) + U(c));
}
template <class T> T low24(T a) { return std::is_signed_v<T> ? T(T(uint32_t(a) << 8) >> 8) : T(a & 0xFFFFFF); }
template <class T> T mul24(T a, T b) { return T(uint32_t(low24(a)) * uint32_t(low24(b))); }
template <class T> T mul24High(T a, T b) { return T(Wide<T>(low24(a)) * low24(b) >> 16); }
template <class T> T mad24(T a, T b, T c) { return T(uint32_t(mul24(a, b)) + uint32_t(c)); }
template <class T> T difference(T a, T b, T c) {
  return T((a < b ? uint64_t(b) - uint64_t(a) : uint64_t(a) - uint64_t(b)) + uint64_t(c));
}
/// The ISA leaves division by zero open. GPUs set all bits of the remainder, as of the quotient.
template <class T> T remainder(T a, T b) {
  if (b == 0) return T(-1);
  if constexpr (std::is_signed_v<T>)
    if (b == T(-1)) return 0; // the least number's quotient would overflow
  return T(a % b);
}
int32_t clampTo32(int64_t x) { return x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : int32_t(x); }
int32_t addClamped(int32_t a, int32_t b) { return clampTo32(int64_t(a) + b); }
int32_t subClamped(int32_t a, int32_t b) { return clampTo32(int64_t(a) - b); }

template <class T> uint32_t countOnes(T a) { return uint32_t(std::popcount(a)); }
template <class T> uint32_t leadingZeros(T a) { return uint32_t(std::countl_zero(a)); }
template <class T> T reverse(T a) {
  if constexpr (sizeof(T) == 4)
    return __builtin_bitreverse32(a);
  else
    return __builtin_bitreverse64(a);
}
/// Place of the highest bit that differs from the sign; all ones if there is none. `shiftToTop` counts from the other end.
template <class T> uint32_t shiftToTop(T a) {
  const auto bits = std::make_unsigned_t<T>(std::is_signed_v<T> && a < 0 ? ~a : a);
  return bits ? leadingZeros(bits) : ~0u;
}
template <class T> uint32_t highest(T a) {
  const uint32_t shift = shiftToTop(a);
  return shift == ~0u ? shift : uint32_t(kBits<T>) - 1 - shift;
}

/// A position or length of a field. Instructions on 32 bits read its low byte. GPUs make others of those on 64, which read
/// all of the number, whatever the ISA says of its byte.
template <class T> uint32_t fieldNumber(uint32_t n) { return kBits<T> == 32 || n < 0xFF ? n & 0xFF : 0xFF; }

template <class T> T extract(T a, uint32_t position, uint32_t length) {
  using U = std::make_unsigned_t<T>;
  const uint32_t pos = fieldNumber<T>(position), len = fieldNumber<T>(length), bits = uint32_t(kBits<T>);
  const uint32_t kept = len < bits ? len : bits;
  const U shifted = pos < bits ? U(U(a) >> pos) : U(0);
  const U mask = kept >= bits ? ~U(0) : U((U(1) << kept) - 1);
  if constexpr (!std::is_signed_v<T>) return shifted & mask;
  const uint32_t top = pos + len - 1 < bits - 1 ? pos + len - 1 : bits - 1; // the sign: the field's last bit, or a's
  const bool negative = len != 0 && (U(a) >> top & 1);
  const U have = pos < bits ? (kept < bits - pos ? mask : U(~U(0) >> pos)) : U(0);
  return T(len == 0 ? U(0) : (shifted & have) | (negative ? U(~have) : U(0)));
}
template <class T> T insert(T a, T b, uint32_t position, uint32_t length) {
  const uint32_t pos = fieldNumber<T>(position), len = fieldNumber<T>(length), bits = uint32_t(kBits<T>);
  if (pos >= bits) return b;
  const T mask = T((len >= bits ? ~T(0) : T((T(1) << len) - 1)) << pos);
  return T((b & ~mask) | ((a << pos) & mask));
}
uint32_t truthTable(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t r = 0;
  for (uint32_t i = 0; i < 8; ++i) {
    const uint32_t row = (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    r |= row & (0u - (table >> i & 1));
  }
  return r;
}
uint32_t byteOf(uint64_t both, uint32_t i) { return uint32_t(both >> (8 * (i & 7))) & 0xFF; }
uint32_t permute(uint32_t a, uint32_t b, uint32_t selector) {
  const uint64_t both = uint64_t(b) << 32 | a;
  uint32_t r = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t s = selector >> (4 * i), byte = byteOf(both, s);
    r |= (s & 8 ? 0u - (byte >> 7) : byte) << (8 * i) & 0xFFu << (8 * i);
  }
  return r;
}
/// The special modes of prmt: which byte goes to place i for control c.
template <uint32_t (*Pick)(uint32_t i, uint32_t c)> uint32_t permuteBy(uint32_t a, uint32_t b, uint32_t control) {
  const uint64_t both = uint64_t(b) << 32 | a;
  uint32_t r = 0;
  for (uint32_t i = 0; i < 4; ++i) r |= byteOf(both, Pick(i, control & 3)) << (8 * i);
  return r;
}
uint32_t forward(uint32_t i, uint32_t c) { return c + i; }
uint32_t backward(uint32_t i, uint32_t c) { return c + 8 - i; }
uint32_t replicate(uint32_t, uint32_t c) { return c; }
uint32_t edgeLeft(uint32_t i, uint32_t c) { return i < c ? c : i; }
uint32_t edgeRight(uint32_t i, uint32_t c) { return i > c ? c : i; }
uint32_t replicate16(uint32_t i, uint32_t c) { return (c & 1) * 2 + (i & 1); }

/// Sums of products of bytes.
template <class A, class B, class R> R dotBytes(uint32_t a, uint32_t b, R c) {
  int64_t sum = c;
  for (int i = 0; i < 4; ++i) sum += int64_t(A(a >> (8 * i))) * B(b >> (8 * i));
  return R(sum);
}
template <class A, class B, class R, int High> R dotHalves(uint32_t a, uint32_t b, R c) {
  using H = std::conditional_t<std::is_signed_v<A>, int16_t, uint16_t>;
  int64_t sum = c;
  for (int i = 0; i < 2; ++i) sum += int64_t(H(a >> (16 * i))) * B(b >> (8 * (i + 2 * High)));
  return R(sum);
}

/// `length` ones from bit `position` on; beyond 32 bits: none, or (Wrap) the low 5 bits count.
template <bool Wrap> uint32_t mask(uint32_t position, uint32_t length) {
  if (Wrap) position &= 31, length &= 31;
  const uint64_t ones = length < 32 ? (uint64_t(1) << length) - 1 : 0xFFFFFFFFull;
  return position < 32 ? uint32_t(ones << position) : 0;
}
/// The low `bits` of a, extended.
template <class T, bool Wrap> T extendLow(T a, uint32_t bits) {
  if (Wrap) bits &= 31;
  if (bits >= 32) return a;
  if (bits == 0) return 0;
  return T(uint32_t(a) << (32 - bits)) >> (32 - bits);
}

template <class T> T choose(T a, T b, uint8_t p) { return p ? a : b; }
template <class T, class C> T chooseBySign(T a, T b, C c) { return c >= 0 ? a : b; }
template <class T, uint64_t Bits> T truth(uint8_t p) { return p ? T(Bits) : T(0); }

template <class T, int Count, int Index> void take(int64_t n, void* dst, const void* const* src, uint32_t) {
  const T* from = static_cast<const T*>(src[0]) + Index;
  for (int64_t i = 0; i < n; ++i) static_cast<T*>(dst)[i] = from[i * Count];
}
template <class T, int Count> void join(int64_t n, void* dst, const void* const* src, uint32_t) {
  for (int64_t i = 0; i < n; ++i)
    for (int c = 0; c < Count; ++c) static_cast<T*>(dst)[i * Count + c] = static_cast<const T*>(src[c])[i];
}
template <class T> T blend(uint8_t p, T fresh, T old) { return p ? fresh : old; }
template <class T> T copy(T a) { return a; }

constexpr LaneTypes<uint32_t, int32_t> kWord{"u32|s32"};
constexpr LaneTypes<uint16_t, int16_t, uint32_t, int32_t> kUpTo32{"u16|s16|u32|s32"};
constexpr LaneTypes<uint32_t, int32_t, uint64_t, int64_t> kFrom32{"u32|s32|u64|s64"};
constexpr LaneTypes<uint16_t, int16_t, uint32_t, int32_t, uint64_t, int64_t> kIntegers{"u16|s16|u32|s32|u64|s64"};
constexpr LaneTypes<uint16_t, uint32_t, uint64_t> kBits16{"b16|b32|b64"}, kNegated{"s16|s32|s64"};
constexpr LaneTypes<uint32_t, uint64_t> kBits32{"b32|b64"};

constexpr LaneRow kRows[] = {
    // arithmetic
    {"add.sat", "s32", {kStep<addClamped>}},
    {"sub.sat", "s32", {kStep<subClamped>}},
    family("mul.hi", kIntegers, []<class T>(Of<T>) { return kStep<mulHigh<T>>; }),
    family("mul.wide", kUpTo32, []<class T>(Of<T>) { return kStep<mulWide<T>>; }),
    family("mul24.lo", kWord, []<class T>(Of<T>) { return kStep<mul24<T>>; }),
    family("mul24.hi", kWord, []<class T>(Of<T>) { return kStep<mul24High<T>>; }),
    family("mad.lo", kIntegers, []<class T>(Of<T>) { return kStep<mulAdd<T>>; }),
    family("mad.hi", kFrom32, []<class T>(Of<T>) { return kStep<mulHighAdd<T>>; }),
    family("mad.wide", kUpTo32, []<class T>(Of<T>) { return kStep<mulWideAdd<T>>; }),
    family("mad24.lo", kWord, []<class T>(Of<T>) { return kStep<mad24<T>>; }),
    family("rem", kIntegers, []<class T>(Of<T>) { return kStep<remainder<T>>; }),
    family("neg", kNegated, []<class T>(Of<T>) { return kStep<negate<T>>; }),
    family("sad", kIntegers, []<class T>(Of<T>) { return kStep<difference<T>>; }),
    {"dp4a",
     "u32.u32|u32.s32|s32.u32|s32.s32",
     {kStep<dotBytes<uint8_t, uint8_t, uint32_t>>, kStep<dotBytes<uint8_t, int8_t, int32_t>>,
      kStep<dotBytes<int8_t, uint8_t, int32_t>>, kStep<dotBytes<int8_t, int8_t, int32_t>>}},
    {"dp2a.lo",
     "u32.u32|u32.s32|s32.u32|s32.s32",
     {kStep<dotHalves<uint8_t, uint8_t, uint32_t, 0>>, kStep<dotHalves<uint8_t, int8_t, int32_t, 0>>,
      kStep<dotHalves<int8_t, uint8_t, int32_t, 0>>, kStep<dotHalves<int8_t, int8_t, int32_t, 0>>}},
    {"dp2a.hi",
     "u32.u32|u32.s32|s32.u32|s32.s32",
     {kStep<dotHalves<uint8_t, uint8_t, uint32_t, 1>>, kStep<dotHalves<uint8_t, int8_t, int32_t, 1>>,
      kStep<dotHalves<int8_t, uint8_t, int32_t, 1>>, kStep<dotHalves<int8_t, int8_t, int32_t, 1>>}},
    // bits
    {"not", "pred", {kStep<invertPredicate>}},
    family("not", kBits16, []<class T>(Of<T>) { return kStep<invert<T>>; }),
    family("cnot", kBits16, []<class T>(Of<T>) { return kStep<isZero<T>>; }),
    family("shl", kBits16, []<class T>(Of<T>) { return kStep<shiftLeft<T>>; }),
    family("shr", kIntegers, []<class T>(Of<T>) { return kStep<shiftRight<T>>; }),
    family("shr", kBits16, []<class T>(Of<T>) { return kStep<shiftRight<T>>; }),
    {"shf.l.wrap", "b32", {kStep<[](uint32_t a, uint32_t b, uint32_t n) { return funnelLeft(a, b, n & 31); }>}},
    {"shf.r.wrap", "b32", {kStep<[](uint32_t a, uint32_t b, uint32_t n) { return funnelRight(a, b, n & 31); }>}},
    {"shf.l.clamp", "b32", {kStep<[](uint32_t a, uint32_t b, uint32_t n) { return funnelLeft(a, b, atMost32(n)); }>}},
    {"shf.r.clamp", "b32", {kStep<[](uint32_t a, uint32_t b, uint32_t n) { return funnelRight(a, b, atMost32(n)); }>}},
    family("popc", kBits32, []<class T>(Of<T>) { return kStep<countOnes<T>>; }),
    family("clz", kBits32, []<class T>(Of<T>) { return kStep<leadingZeros<T>>; }),
    family("brev", kBits32, []<class T>(Of<T>) { return kStep<reverse<T>>; }),
    family("bfind", kFrom32, []<class T>(Of<T>) { return kStep<highest<T>>; }),
    family("bfind.shiftamt", kWord, []<class T>(Of<T>) { return kStep<shiftToTop<T>>; }),
    family("bfe", kFrom32, []<class T>(Of<T>) { return kStep<extract<T>>; }),
    family("bfi", kBits32, []<class T>(Of<T>) { return kStep<insert<T>>; }),
    {"lop3", "b32", {kStep<truthTable>}},
    {"prmt",
     "b32|b32.f4e|b32.b4e|b32.rc8|b32.ecl|b32.ecr|b32.rc16",
     {kStep<permute>, kStep<permuteBy<forward>>, kStep<permuteBy<backward>>, kStep<permuteBy<replicate>>,
      kStep<permuteBy<edgeLeft>>, kStep<permuteBy<edgeRight>>, kStep<permuteBy<replicate16>>}},
    {"bmsk.clamp", "b32", {kStep<mask<false>>}},
    {"bmsk.wrap", "b32", {kStep<mask<true>>}},
    family("szext.clamp", kWord, []<class T>(Of<T>) { return kStep<extendLow<T, false>>; }),
    family("szext.wrap", kWord, []<class T>(Of<T>) { return kStep<extendLow<T, true>>; }),
    // choice
    {"selp", "b16|u16|s16", {kStep<choose<uint16_t>>}},
    {"selp", "b32|u32|s32|f32", {kStep<choose<uint32_t>>}},
    {"selp", "b64|u64|s64|f64", {kStep<choose<uint64_t>>}},
    {"slct", "b32.s32|u32.s32|s32.s32|f32.s32", {kStep<chooseBySign<uint32_t, int32_t>>}},
    {"slct", "b64.s32|u64.s32|s64.s32|f64.s32", {kStep<chooseBySign<uint64_t, int32_t>>}},
    {"slct", "b32.f32|u32.f32|s32.f32|f32.f32", {kStep<chooseBySign<uint32_t, float>>}},
};

/// What `make` gives for registers of so many bytes.
template <class Make> constexpr TwStripFn bySize(int bytes, Make make) {
  const std::array<TwStripFn, 4> all{make(Of<uint8_t>()), make(Of<uint16_t>()), make(Of<uint32_t>()),
                                     make(Of<uint64_t>())};
  return all[size_t(std::countr_zero(unsigned(bytes)))];
}

} // namespace

std::span<const LaneRow> laneBitRows() { return kRows; }
TwStripFn laneNot() { return kLanes<invertPredicate>; }
TwStripFn laneTruth(const AsmType& type) {
  switch (type.type) {
  case DType::I16: return kLanes<truth<uint16_t, ~0ull>>;
  case DType::I32: return kLanes<truth<uint32_t, ~0ull>>;
  case DType::F16: return kLanes<truth<uint16_t, 0x3C00>>;
  case DType::BF16: return kLanes<truth<uint16_t, 0x3F80>>;
  case DType::F32: return kLanes<truth<uint32_t, 0x3F800000>>;
  default: return nullptr;
  }
}
TwStripFn laneTake(int bytes, int count, int index) {
  return bySize(bytes, [&]<class T>(Of<T>) -> TwStripFn {
    constexpr TwStripFn all[] = {take<T, 1, 0>, take<T, 2, 0>, take<T, 2, 1>, take<T, 4, 0>,
                                 take<T, 4, 1>, take<T, 4, 2>, take<T, 4, 3>};
    return all[count - 1 + index]; // count is 1, 2 or 4
  });
}
TwStripFn laneJoin(int bytes, int count) {
  return bySize(bytes, [&]<class T>(Of<T>) -> TwStripFn {
    return count == 1 ? join<T, 1> : count == 2 ? join<T, 2> : join<T, 4>;
  });
}
TwStripFn laneBlend(int bytes) {
  return bySize(bytes, []<class T>(Of<T>) { return kLanes<blend<T>>; });
}
TwStripFn laneCopy(int bytes) {
  return bySize(bytes, []<class T>(Of<T>) { return kLanes<copy<T>>; });
}

} // namespace tiletwin::interp
