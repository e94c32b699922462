// interp/asm/LanesBits.cpp -- integer and bit instructions that are not elementwise operations of the tile module.
// Definitions are those of the PTX ISA; shift amounts beyond the width give 0 (arithmetic right shifts: the sign).
#include "interp/asm/Lanes.h"
#include <cstring>
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
uint64_t mulAdd64(uint64_t a, uint64_t b, uint64_t c) { return a * b + c; }
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

uint32_t count32(uint32_t a) { return uint32_t(__builtin_popcount(a)); }
uint32_t count64(uint64_t a) { return uint32_t(__builtin_popcountll(a)); }
uint32_t leading32(uint32_t a) { return a ? uint32_t(__builtin_clz(a)) : 32; }
uint32_t leading64(uint64_t a) { return a ? uint32_t(__builtin_clzll(a)) : 64; }
uint32_t reverse32(uint32_t a) { return __builtin_bitreverse32(a); }
uint64_t reverse64(uint64_t a) { return __builtin_bitreverse64(a); }
/// Place of the highest bit that differs from the sign; all ones if there is none.
uint32_t highest32(uint32_t a) { return a ? 31 - uint32_t(__builtin_clz(a)) : ~0u; }
uint32_t highest64(uint64_t a) { return a ? 63 - uint32_t(__builtin_clzll(a)) : ~0u; }
uint32_t highestSigned32(int32_t a) { return highest32(uint32_t(a < 0 ? ~a : a)); }
uint32_t highestSigned64(int64_t a) { return highest64(uint64_t(a < 0 ? ~a : a)); }
uint32_t shiftToTop32(uint32_t a) { return a ? uint32_t(__builtin_clz(a)) : ~0u; }
uint32_t shiftToTopSigned32(int32_t a) { return shiftToTop32(uint32_t(a < 0 ? ~a : a)); }

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
template <class T> T whole(uint8_t p) { return p ? T(~T(0)) : T(0); }
float one(uint8_t p) { return p ? 1.f : 0.f; }

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

struct NamedLanes {
  const char* name;
  TwStripFn fn;
};
constexpr NamedLanes kTable[] = {
    {"not1", kLanes<invertPredicate>},
    {"not16", kLanes<invert<uint16_t>>},
    {"not32", kLanes<invert<uint32_t>>},
    {"not64", kLanes<invert<uint64_t>>},
    {"cnot16", kLanes<isZero<uint16_t>>},
    {"cnot32", kLanes<isZero<uint32_t>>},
    {"cnot64", kLanes<isZero<uint64_t>>},
    {"neg16", kLanes<negate<uint16_t>>},
    {"neg32", kLanes<negate<uint32_t>>},
    {"neg64", kLanes<negate<uint64_t>>},
    {"shl16", kLanes<shiftLeft<uint16_t>>},
    {"shl32", kLanes<shiftLeft<uint32_t>>},
    {"shl64", kLanes<shiftLeft<uint64_t>>},
    {"shr_u16", kLanes<shiftRight<uint16_t>>},
    {"shr_u32", kLanes<shiftRight<uint32_t>>},
    {"shr_u64", kLanes<shiftRight<uint64_t>>},
    {"shr_s16", kLanes<shiftRight<int16_t>>},
    {"shr_s32", kLanes<shiftRight<int32_t>>},
    {"shr_s64", kLanes<shiftRight<int64_t>>},
    {"shf_l_wrap", kLanes<[](uint32_t a, uint32_t b, uint32_t n) { return funnelLeft(a, b, n & 31); }>},
    {"shf_r_wrap", kLanes<[](uint32_t a, uint32_t b, uint32_t n) { return funnelRight(a, b, n & 31); }>},
    {"shf_l_clamp", kLanes<[](uint32_t a, uint32_t b, uint32_t n) { return funnelLeft(a, b, atMost32(n)); }>},
    {"shf_r_clamp", kLanes<[](uint32_t a, uint32_t b, uint32_t n) { return funnelRight(a, b, atMost32(n)); }>},
    {"mulhi_u16", kLanes<mulHigh<uint16_t>>},
    {"mulhi_s16", kLanes<mulHigh<int16_t>>},
    {"mulhi_u32", kLanes<mulHigh<uint32_t>>},
    {"mulhi_s32", kLanes<mulHigh<int32_t>>},
    {"mulhi_u64", kLanes<mulHigh<uint64_t>>},
    {"mulhi_s64", kLanes<mulHigh<int64_t>>},
    {"mulwide_u16", kLanes<mulWide<uint16_t>>},
    {"mulwide_s16", kLanes<mulWide<int16_t>>},
    {"mulwide_u32", kLanes<mulWide<uint32_t>>},
    {"mulwide_s32", kLanes<mulWide<int32_t>>},
    {"mad16", kLanes<mulAdd<uint16_t>>},
    {"mad32", kLanes<mulAdd<uint32_t>>},
    {"mad64", kLanes<mulAdd64>},
    {"madhi_u32", kLanes<mulHighAdd<uint32_t>>},
    {"madhi_s32", kLanes<mulHighAdd<int32_t>>},
    {"madhi_u64", kLanes<mulHighAdd<uint64_t>>},
    {"madhi_s64", kLanes<mulHighAdd<int64_t>>},
    {"madwide_u16", kLanes<mulWideAdd<uint16_t>>},
    {"madwide_s16", kLanes<mulWideAdd<int16_t>>},
    {"madwide_u32", kLanes<mulWideAdd<uint32_t>>},
    {"madwide_s32", kLanes<mulWideAdd<int32_t>>},
    {"mul24_u32", kLanes<mul24<uint32_t>>},
    {"mul24_s32", kLanes<mul24<int32_t>>},
    {"mul24hi_u32", kLanes<mul24High<uint32_t>>},
    {"mul24hi_s32", kLanes<mul24High<int32_t>>},
    {"mad24_u32", kLanes<mad24<uint32_t>>},
    {"mad24_s32", kLanes<mad24<int32_t>>},
    {"sad_u16", kLanes<difference<uint16_t>>},
    {"sad_s16", kLanes<difference<int16_t>>},
    {"sad_u32", kLanes<difference<uint32_t>>},
    {"sad_s32", kLanes<difference<int32_t>>},
    {"sad_u64", kLanes<difference<uint64_t>>},
    {"sad_s64", kLanes<difference<int64_t>>},
    {"rem_u16", kLanes<remainder<uint16_t>>},
    {"rem_s16", kLanes<remainder<int16_t>>},
    {"rem_u32", kLanes<remainder<uint32_t>>},
    {"rem_s32", kLanes<remainder<int32_t>>},
    {"rem_u64", kLanes<remainder<uint64_t>>},
    {"rem_s64", kLanes<remainder<int64_t>>},
    {"addsat", kLanes<addClamped>},
    {"subsat", kLanes<subClamped>},
    {"popc32", kLanes<count32>},
    {"popc64", kLanes<count64>},
    {"clz32", kLanes<leading32>},
    {"clz64", kLanes<leading64>},
    {"brev32", kLanes<reverse32>},
    {"brev64", kLanes<reverse64>},
    {"bfind_u32", kLanes<highest32>},
    {"bfind_s32", kLanes<highestSigned32>},
    {"bfind_u64", kLanes<highest64>},
    {"bfind_s64", kLanes<highestSigned64>},
    {"bfindshift_u32", kLanes<shiftToTop32>},
    {"bfindshift_s32", kLanes<shiftToTopSigned32>},
    {"bfe_u32", kLanes<extract<uint32_t>>},
    {"bfe_s32", kLanes<extract<int32_t>>},
    {"bfe_u64", kLanes<extract<uint64_t>>},
    {"bfe_s64", kLanes<extract<int64_t>>},
    {"bfi32", kLanes<insert<uint32_t>>},
    {"bfi64", kLanes<insert<uint64_t>>},
    {"lop3", kLanes<truthTable>},
    {"prmt", kLanes<permute>},
    {"prmt_f4e", kLanes<permuteBy<forward>>},
    {"prmt_b4e", kLanes<permuteBy<backward>>},
    {"prmt_rc8", kLanes<permuteBy<replicate>>},
    {"prmt_ecl", kLanes<permuteBy<edgeLeft>>},
    {"prmt_ecr", kLanes<permuteBy<edgeRight>>},
    {"prmt_rc16", kLanes<permuteBy<replicate16>>},
    {"dp4a_uu", kLanes<dotBytes<uint8_t, uint8_t, uint32_t>>},
    {"dp4a_us", kLanes<dotBytes<uint8_t, int8_t, int32_t>>},
    {"dp4a_su", kLanes<dotBytes<int8_t, uint8_t, int32_t>>},
    {"dp4a_ss", kLanes<dotBytes<int8_t, int8_t, int32_t>>},
    {"dp2alo_uu", kLanes<dotHalves<uint8_t, uint8_t, uint32_t, 0>>},
    {"dp2ahi_uu", kLanes<dotHalves<uint8_t, uint8_t, uint32_t, 1>>},
    {"dp2alo_ss", kLanes<dotHalves<int8_t, int8_t, int32_t, 0>>},
    {"dp2ahi_ss", kLanes<dotHalves<int8_t, int8_t, int32_t, 1>>},
    {"dp2alo_us", kLanes<dotHalves<uint8_t, int8_t, int32_t, 0>>},
    {"dp2ahi_us", kLanes<dotHalves<uint8_t, int8_t, int32_t, 1>>},
    {"dp2alo_su", kLanes<dotHalves<int8_t, uint8_t, int32_t, 0>>},
    {"dp2ahi_su", kLanes<dotHalves<int8_t, uint8_t, int32_t, 1>>},
    {"bmsk_clamp", kLanes<mask<false>>},
    {"bmsk_wrap", kLanes<mask<true>>},
    {"szext_clamp_u32", kLanes<extendLow<uint32_t, false>>},
    {"szext_clamp_s32", kLanes<extendLow<int32_t, false>>},
    {"szext_wrap_u32", kLanes<extendLow<uint32_t, true>>},
    {"szext_wrap_s32", kLanes<extendLow<int32_t, true>>},
    {"selp1", kLanes<choose<uint8_t>>},
    {"selp16", kLanes<choose<uint16_t>>},
    {"selp32", kLanes<choose<uint32_t>>},
    {"selp64", kLanes<choose<uint64_t>>},
    {"slct32_s32", kLanes<chooseBySign<uint32_t, int32_t>>},
    {"slct64_s32", kLanes<chooseBySign<uint64_t, int32_t>>},
    {"slct32_f32", kLanes<chooseBySign<uint32_t, float>>},
    {"set32", kLanes<whole<uint32_t>>},
    {"set16", kLanes<whole<uint16_t>>},
    {"set_f32", kLanes<one>},
    {"set_f16", kLanes<[](uint8_t p) { return uint16_t(p ? 0x3C00 : 0); }>},
    {"set_bf16", kLanes<[](uint8_t p) { return uint16_t(p ? 0x3F80 : 0); }>},
};

template <class T> TwStripFn takeFrom(int count, int index) {
  if (count == 1) return take<T, 1, 0>;
  if (count == 2) return index ? take<T, 2, 1> : take<T, 2, 0>;
  constexpr TwStripFn four[] = {take<T, 4, 0>, take<T, 4, 1>, take<T, 4, 2>, take<T, 4, 3>};
  return count == 4 ? four[index] : nullptr;
}
template <class T> TwStripFn joinTo(int count) {
  return count == 1 ? join<T, 1> : count == 2 ? join<T, 2> : count == 4 ? join<T, 4> : nullptr;
}

} // namespace

TwStripFn laneBits(const char* name) {
  for (const NamedLanes& row : kTable)
    if (std::strcmp(row.name, name) == 0) return row.fn;
  return nullptr;
}
TwStripFn laneTake(int bytes, int count, int index) {
  return bytes == 1   ? takeFrom<uint8_t>(count, index)
         : bytes == 2 ? takeFrom<uint16_t>(count, index)
         : bytes == 4 ? takeFrom<uint32_t>(count, index)
                      : nullptr;
}
TwStripFn laneJoin(int bytes, int count) {
  return bytes == 1   ? joinTo<uint8_t>(count)
         : bytes == 2 ? joinTo<uint16_t>(count)
         : bytes == 4 ? joinTo<uint32_t>(count)
                      : nullptr;
}
TwStripFn laneBlend(int bytes) {
  return bytes == 1   ? kLanes<blend<uint8_t>>
         : bytes == 2 ? kLanes<blend<uint16_t>>
         : bytes == 4 ? kLanes<blend<uint32_t>>
                      : kLanes<blend<uint64_t>>;
}
TwStripFn laneCopy(int bytes) {
  return bytes == 1   ? kLanes<copy<uint8_t>>
         : bytes == 2 ? kLanes<copy<uint16_t>>
         : bytes == 4 ? kLanes<copy<uint32_t>>
                      : kLanes<copy<uint64_t>>;
}

} // namespace tiletwin::interp
