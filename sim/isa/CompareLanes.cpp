// sim/isa/CompareLanes.cpp -- the loops of CompareLanes.h, for each type and operator.
#include "sim/isa/CompareLanes.h"
#include "sim/numerics/Half.h"

namespace tiletwin::sim {
namespace {

using ptx::Type;

/// How a lane's bits are read: Bits is how they are stored, value() what is compared.
template <class T> struct Plain {
  using Bits = T;
  static T value(T v) { return v; }
};
struct F32Flushed {
  using Bits = float;
  static float value(float v) { return flushed(v); }
};
template <class Format, bool kFlush = false> struct Narrow {
  using Bits = uint16_t;
  static float value(uint16_t v) { return Format::wide(kFlush ? Format::flush(v) : v); }
};
using F16 = Narrow<half::F16>;
using F16Flushed = Narrow<half::F16, true>;
using BF16 = Narrow<half::BF16>;
template <class Format, int kShift> struct Half {
  using Bits = uint32_t;
  static float value(uint32_t v) { return Format::value(uint16_t(v >> kShift)); }
};

template <Comparison kIs, class Format> LaneMask compare(Warp& warp, Slot a, Slot b) {
  using Bits = typename Format::Bits;
  const Bits *x = warp.lanes<Bits>(a), *y = warp.lanes<Bits>(b);
  LaneMask r = 0;
  for (int i = 0; i < kLanes; ++i) r |= LaneMask(holds(kIs, Format::value(x[i]), Format::value(y[i]))) << i;
  return r;
}

/// The loop for one of the first kCount comparisons.
template <class Format, size_t kCount> CompareLanes firstOf(Comparison c) {
  static constexpr auto kLoops = []<size_t... I>(std::index_sequence<I...>) {
    return std::array{CompareLanes(compare<Comparison(I), Format>)...};
  }(std::make_index_sequence<kCount>());
  return size_t(c) < kCount ? kLoops[size_t(c)] : nullptr;
}
template <class Format> constexpr auto equality = firstOf<Format, 2>;
template <class Format> constexpr auto ordered = firstOf<Format, 6>;
template <class Format> constexpr auto anyOf = firstOf<Format, 14>;

template <class Format> ComparePair halves(Comparison c) {
  return {anyOf<Half<Format, 0>>(c), anyOf<Half<Format, 16>>(c)};
}

} // namespace

std::optional<Comparison> comparisonNamed(std::string_view word) {
  struct Name {
    std::string_view word;
    Comparison comparison;
  };
  static constexpr Name kNames[] = {
      {"eq", Comparison::Eq},   {"ne", Comparison::Ne},   {"lt", Comparison::Lt},   {"le", Comparison::Le},
      {"gt", Comparison::Gt},   {"ge", Comparison::Ge},   {"lo", Comparison::Lt},   {"ls", Comparison::Le},
      {"hi", Comparison::Gt},   {"hs", Comparison::Ge},   {"equ", Comparison::Equ}, {"neu", Comparison::Neu},
      {"ltu", Comparison::Ltu}, {"leu", Comparison::Leu}, {"gtu", Comparison::Gtu}, {"geu", Comparison::Geu},
      {"num", Comparison::Num}, {"nan", Comparison::Nan},
  };
  for (const Name& name : kNames)
    if (name.word == word) return name.comparison;
  return std::nullopt;
}

ComparePair chooseComparison(Comparison c, Type type, bool flush) {
  switch (type) {
  case Type::B16: return {equality<Plain<uint16_t>>(c)};
  case Type::B32: return {equality<Plain<uint32_t>>(c)};
  case Type::B64: return {equality<Plain<uint64_t>>(c)};
  case Type::U16: return {ordered<Plain<uint16_t>>(c)};
  case Type::U32: return {ordered<Plain<uint32_t>>(c)};
  case Type::U64: return {ordered<Plain<uint64_t>>(c)};
  case Type::S16: return {ordered<Plain<int16_t>>(c)};
  case Type::S32: return {ordered<Plain<int32_t>>(c)};
  case Type::S64: return {ordered<Plain<int64_t>>(c)};
  case Type::F32: return {flush ? anyOf<F32Flushed>(c) : anyOf<Plain<float>>(c)};
  case Type::F64: return {flush ? nullptr : anyOf<Plain<double>>(c)};
  case Type::F16: return {flush ? anyOf<F16Flushed>(c) : anyOf<F16>(c)};
  case Type::BF16: return {flush ? nullptr : anyOf<BF16>(c)};
  case Type::F16x2: return flush ? halves<F16Flushed>(c) : halves<F16>(c);
  case Type::BF16x2: return flush ? ComparePair() : halves<BF16>(c);
  default: return {};
  }
}

} // namespace tiletwin::sim
