// interp/tile/LibraryBits.cpp -- libdevice's functions on integers, on the bits of floats, and its questions about floats;
// and findLibrary(), which asks all families.
#include "interp/tile/Library.h"
#include <cmath>
#include <limits>

namespace tiletwin::tile {
namespace {

using E = TwElementwise;
constexpr DType I = DType::I32, J = DType::I64;

/// Bytes of the 8-byte number y:x. Three bits of the selector name one: libdevice masks the fourth away, with which prmt
/// copies a byte's sign.
uint32_t permuteBytes(uint32_t x, uint32_t y, uint32_t selector) {
  const uint64_t both = uint64_t(y) << 32 | x;
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    const uint32_t place = selector >> (4 * i) & 7;
    result |= (uint32_t(both >> (8 * place)) & 0xFF) << (8 * i);
  }
  return result;
}
uint32_t reverseBits(uint32_t x) { return __builtin_bitreverse32(x); }
uint64_t reverseBits64(uint64_t x) { return __builtin_bitreverse64(x); }
int32_t leadingZeros(uint32_t x) { return x ? __builtin_clz(x) : 32; }
int32_t leadingZeros64(uint64_t x) { return x ? __builtin_clzll(x) : 64; }
int32_t signed24(int32_t x) { return int32_t(uint32_t(x) << 8) >> 8; }
template <class T> int32_t exponentOf(T x) {
  if (x != x || x == 0) return INT32_MIN;
  return std::fabs(x) == std::numeric_limits<T>::infinity() ? INT32_MAX : std::ilogb(x);
}
uint32_t distance(uint32_t a, uint32_t b) { return a - b; }

constexpr TwLibraryRow kRows[] = {
    row("abs", E::AbsI, I),
    row("llabs", E::AbsI, J),
    row("llmax", E::MaxSI, J, 2),
    row("llmin", E::MinSI, J, 2),
    row("max", E::MaxSI, I, 2),
    row("min", E::MinSI, I, 2),
    row("ullmax", E::MaxUI, J, 2),
    row("ullmin", E::MinUI, J, 2),
    row("umax", E::MaxUI, I, 2),
    row("umin", E::MinUI, I, 2),
    row("umul64hi", E::MulHiUI, J, 2),
    row("umulhi", E::MulHiUI, I, 2),
    row<reverseBits>("brev"),
    row<reverseBits64>("brevll"),
    row<permuteBytes>("byte_perm"),
    row<leadingZeros>("clz"),
    row<leadingZeros64>("clzll"),
    row<[](int32_t x) { return int32_t(__builtin_ffs(x)); }>("ffs"),
    row<[](int64_t x) { return int32_t(__builtin_ffsll(x)); }>("ffsll"),
    row<[](uint32_t x) { return int32_t(__builtin_popcount(x)); }>("popc"),
    row<[](uint64_t x) { return int32_t(__builtin_popcountll(x)); }>("popcll"),
    // averages without overflow: rounded down (hadd) and up (rhadd)
    row<[](int32_t a, int32_t b) { return int32_t((int64_t(a) + b) >> 1); }>("hadd"),
    row<[](int32_t a, int32_t b) { return int32_t((int64_t(a) + b + 1) >> 1); }>("rhadd"),
    row<[](uint32_t a, uint32_t b) { return uint32_t((uint64_t(a) + b) >> 1); }>("uhadd"),
    row<[](uint32_t a, uint32_t b) { return uint32_t((uint64_t(a) + b + 1) >> 1); }>("urhadd"),
    row<[](int32_t a, int32_t b) { return int32_t(uint32_t(signed24(a)) * uint32_t(signed24(b))); }>("mul24"),
    row<[](uint32_t a, uint32_t b) { return (a & 0xFFFFFFu) * (b & 0xFFFFFFu); }>("umul24"),
    row<[](int64_t a, int64_t b) { return int64_t((__int128(a) * b) >> 64); }>("mul64hi"),
    row<[](int32_t a, int32_t b) { return int32_t((int64_t(a) * b) >> 32); }>("mulhi"),
    row<[](int32_t a, int32_t b, uint32_t c) {
      return (a > b ? distance(uint32_t(a), uint32_t(b)) : distance(uint32_t(b), uint32_t(a))) + c;
    }>("sad"),
    row<[](uint32_t a, uint32_t b, uint32_t c) { return (a > b ? a - b : b - a) + c; }>("usad"),
    // bits of floats
    row<[](double x) { return int32_t(std::bit_cast<uint64_t>(x) >> 32); }>("double2hiint"),
    row<[](double x) { return int32_t(std::bit_cast<uint64_t>(x)); }>("double2loint"),
    row<[](int32_t high, int32_t low) {
      return std::bit_cast<double>(uint64_t(uint32_t(high)) << 32 | uint32_t(low));
    }>("hiloint2double"),
    row<[](double x) { return std::bit_cast<int64_t>(x); }>("double_as_longlong"),
    row<[](int64_t x) { return std::bit_cast<double>(x); }>("longlong_as_double"),
    row<[](float x) { return std::bit_cast<int32_t>(x); }>("float_as_int"),
    row<[](float x) { return std::bit_cast<uint32_t>(x); }>("float_as_uint"),
    row<[](int32_t x) { return std::bit_cast<float>(x); }>("int_as_float"),
    row<[](uint32_t x) { return std::bit_cast<float>(x); }>("uint_as_float"),
    // questions: 1 or 0
    row<[](float x) { return int32_t(std::fabs(x) < std::numeric_limits<float>::infinity()); }>("finitef"),
    row<[](double x) { return int32_t(std::fabs(x) < std::numeric_limits<double>::infinity()); }>("isfinited"),
    row<[](double x) { return int32_t(std::fabs(x) == std::numeric_limits<double>::infinity()); }>("isinfd"),
    row<[](float x) { return int32_t(std::fabs(x) == std::numeric_limits<float>::infinity()); }>("isinff"),
    row<[](double x) { return int32_t(x != x); }>("isnand"),
    row<[](float x) { return int32_t(x != x); }>("isnanf"),
    row<[](double x) { return int32_t(std::bit_cast<uint64_t>(x) >> 63); }>("signbitd"),
    row<[](float x) { return int32_t(std::bit_cast<uint32_t>(x) >> 31); }>("signbitf"),
    row<exponentOf<double>>("ilogb"),
    row<exponentOf<float>>("ilogbf"),
};

} // namespace

const TwLibraryRow* findLibraryBits(const char* symbol) { return findSymbol(kRows, symbol); }

const TwLibraryRow* findLibrary(const char* symbol) {
  for (auto* find : {findLibraryFloat, findLibraryRounding, findLibraryBits})
    if (const TwLibraryRow* row = find(symbol)) return row;
  return nullptr;
}

} // namespace tiletwin::tile
