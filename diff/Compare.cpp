// diff/Compare.cpp -- see Compare.h.
#include "diff/Compare.h"
#include "runtime/FloatFormats.h"
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <type_traits>
#include <vector>

namespace tiletwin::diff {
namespace {

constexpr double kMargin = 1.01;
/// Elements that are looked at together: first whether their bytes are equal at all.
constexpr int64_t kBlock = 2048;

/// Values of all codes of a format of at most 16 bits.
const float* smallTable(DType type) {
  static std::array<std::unique_ptr<const std::vector<float>>, kNumDTypes> tables;
  static std::array<std::once_flag, kNumDTypes> made;
  std::call_once(made[size_t(type)], [&] {
    const SmallFloat format = smallFloat(type);
    std::vector<float> table(size_t(1) << format.bits);
    for (size_t code = 0; code < table.size(); ++code) table[code] = decodeSmallFloat(format, uint32_t(code));
    tables[size_t(type)] = std::make_unique<const std::vector<float>>(std::move(table));
  });
  return tables[size_t(type)]->data();
}

// ---- formats: Bits is the unsigned integer of an element ----

struct F32Format {
  using Bits = uint32_t;
  static constexpr bool isFloat = true;
  float value(Bits x) const { return std::bit_cast<float>(x); }
  double largest() const { return std::numeric_limits<float>::max(); }
  Bits sign() const { return 1u << 31; }
};
struct F64Format {
  using Bits = uint64_t;
  static constexpr bool isFloat = true;
  double value(Bits x) const { return std::bit_cast<double>(x); }
  double largest() const { return std::numeric_limits<double>::max(); }
  Bits sign() const { return uint64_t(1) << 63; }
};
template <class Unsigned> struct SmallFormat {
  using Bits = Unsigned;
  static constexpr bool isFloat = true;
  const float* table;
  SmallFloat format;
  explicit SmallFormat(DType type) : table(smallTable(type)), format(smallFloat(type)) {}
  float value(Bits x) const { return table[x]; }
  double largest() const { return table[format.maxFinite]; }
  Bits sign() const { return Bits(1u << (format.bits - 1)); }
};
template <class Integer> struct IntegerFormat {
  using Bits = std::make_unsigned_t<Integer>;
  static constexpr bool isFloat = false;
  Integer value(Bits x) const { return Integer(x); }
};

/// |a - b|, exact as an integer.
template <class Format> uint64_t distance(const Format& format, typename Format::Bits a, typename Format::Bits b) {
  using Bits = typename Format::Bits;
  if constexpr (Format::isFloat) {
    // Sign and magnitude as a number that grows with the value; both zeros give the same one.
    const Bits sign = format.sign();
    auto key = [&](Bits x) { return x & sign ? Bits(sign - (x & Bits(sign - 1))) : Bits(x | sign); };
    const Bits x = key(a), y = key(b);
    return x > y ? Bits(x - y) : Bits(y - x);
  } else {
    const auto x = format.value(a), y = format.value(b);
    return x > y ? Bits(a - b) : Bits(b - a);
  }
}

template <class Format> class Comparer {
  using Bits = typename Format::Bits;

public:
  Comparer(const Compared& arrays, const Format& format, uint8_t* verdicts)
      : format_(format), a_(static_cast<const char*>(arrays.a)), b_(static_cast<const char*>(arrays.b)),
        bounds_(arrays.bounds), verdicts_(verdicts), count_(arrays.count) {}

  Comparison run() {
    result_.elements = count_;
    for (int64_t at = 0; at < count_; at += kBlock) {
      const int64_t n = std::min(kBlock, count_ - at);
      const size_t bytes = size_t(n) * sizeof(Bits), offset = size_t(at) * sizeof(Bits);
      if (std::memcmp(a_ + offset, b_ + offset, bytes) == 0) {
        result_.same += n;
        if (verdicts_) std::memset(verdicts_ + at, int(Verdict::Same), size_t(n));
      } else {
        if (bounds_ == nullptr || !allWithin(at, n))
          for (int64_t i = at; i < at + n; ++i) element(i);
      }
    }
    return result_;
  }

private:
  template <class T> static T read(const char* from, int64_t i) {
    T value;
    std::memcpy(&value, from + size_t(i) * sizeof(T), sizeof(T));
    return value;
  }

  /// The common case, a block that differs by roundings: one pass without branches, which the compiler vectorises. False,
  /// and nothing is counted, if an element is a NaN or outside of its bound.
  bool allWithin(int64_t at, int64_t n) {
    if constexpr (!Format::isFloat || sizeof(Bits) > 4) {
      return false;
    } else {
      alignas(64) Bits x[kBlock], y[kBlock];
      std::memcpy(x, a_ + size_t(at) * sizeof(Bits), size_t(n) * sizeof(Bits));
      std::memcpy(y, b_ + size_t(at) * sizeof(Bits), size_t(n) * sizeof(Bits));
      const float* bounds = bounds_ + at;
      uint32_t good = 0, equal = 0, equalBits = 0, furthest = 0;
      for (int64_t i = 0; i < n; ++i) {
        const float u = format_.value(x[i]), v = format_.value(y[i]);
        good += std::abs(u - v) <= bounds[i] * float(kMargin) && bounds[i] < std::numeric_limits<float>::infinity();
        equal += u == v;
        equalBits += x[i] == y[i];
        furthest = std::max(furthest, uint32_t(distance(format_, x[i], y[i])));
      }
      if (good != uint32_t(n)) return false;
      result_.same += equal;
      result_.zeroSigns += equal - equalBits;
      result_.within += n - equal;
      if (verdicts_)
        for (int64_t i = 0; i < n; ++i)
          verdicts_[at + i] = uint8_t(format_.value(x[i]) == format_.value(y[i]) ? Verdict::Same : Verdict::Within);
      if (furthest > result_.worstUlp)
        for (int64_t i = 0; i < n && furthest > result_.worstUlp; ++i)
          if (distance(format_, x[i], y[i]) == furthest) note(at + i, furthest);
      return true;
    }
  }

  void element(int64_t i) {
    const Bits x = read<Bits>(a_, i), y = read<Bits>(b_, i);
    const Verdict verdict = x == y ? Verdict::Same : unequal(i, x, y);
    if (verdicts_) verdicts_[i] = uint8_t(verdict);
    result_.same += verdict == Verdict::Same;
    result_.within += verdict == Verdict::Within;
    if (verdict == Verdict::Different && result_.different++ == 0) result_.first = i;
    if (verdict == Verdict::NotComparable && result_.notComparable++ == 0) result_.firstNotComparable = i;
  }

  Verdict unequal(int64_t i, Bits x, Bits y) {
    const float bound = bounds_ ? bounds_[i] : 0.0f;
    if constexpr (Format::isFloat) {
      const auto u = format_.value(x), v = format_.value(y);
      const bool noNumber = u != u || v != v;
      if (u != u && v != v) return Verdict::Same;
      if (u == v) {
        ++result_.zeroSigns; // of equal numbers only zeros have two codes
        return Verdict::Same;
      }
      if (!noNumber) note(i, distance(format_, x, y));
      if (!(bound < std::numeric_limits<float>::infinity())) return Verdict::NotComparable;
      if (noNumber) return Verdict::Different;
      return std::abs(finite(u) - finite(v)) <= double(bound) * kMargin ? Verdict::Within : Verdict::Different;
    } else {
      const uint64_t apart = std::min(Bits(x - y), Bits(y - x)); // modulo the range
      const bool isKnown = bound < std::numeric_limits<float>::infinity();
      const bool isWithin = isKnown && double(apart) <= double(bound) * kMargin;
      note(i, isWithin ? apart : distance(format_, x, y));
      if (!isKnown) return Verdict::NotComparable;
      return isWithin ? Verdict::Within : Verdict::Different;
    }
  }

  /// Infinities as the largest finite number; two different ones of them stay far apart.
  double finite(double x) const { return std::clamp(x, -format_.largest(), format_.largest()); }

  void note(int64_t i, uint64_t apart) {
    if (apart <= result_.worstUlp && result_.worst >= 0) return;
    result_.worstUlp = apart;
    result_.worst = i;
  }

  const Format& format_;
  const char *a_, *b_;
  const float* bounds_;
  uint8_t* verdicts_;
  int64_t count_;
  Comparison result_;
};

/// Calls `function` with the format of a type.
template <class Function> auto withFormat(DType type, bool isUnsigned, Function function) {
  switch (type) {
  case DType::F32: return function(F32Format{});
  case DType::F64: return function(F64Format{});
  case DType::F16:
  case DType::BF16: return function(SmallFormat<uint16_t>(type));
  case DType::F8E5M2:
  case DType::F8E4M3FN:
  case DType::F8E4M3B11FNUZ:
  case DType::F8E5M2FNUZ:
  case DType::F8E4M3FNUZ: return function(SmallFormat<uint8_t>(type));
  case DType::I16: return isUnsigned ? function(IntegerFormat<uint16_t>{}) : function(IntegerFormat<int16_t>{});
  case DType::I32: return isUnsigned ? function(IntegerFormat<uint32_t>{}) : function(IntegerFormat<int32_t>{});
  case DType::I64: return isUnsigned ? function(IntegerFormat<uint64_t>{}) : function(IntegerFormat<int64_t>{});
  case DType::Ptr: return function(IntegerFormat<uint64_t>{});
  case DType::I1:
  case DType::I8: break;
  }
  return isUnsigned ? function(IntegerFormat<uint8_t>{}) : function(IntegerFormat<int8_t>{});
}

} // namespace

Comparison compare(const Compared& arrays, uint8_t* verdicts) {
  return withFormat(arrays.type, arrays.isUnsigned,
                    [&](const auto& format) { return Comparer(arrays, format, verdicts).run(); });
}

uint64_t ulpDistance(DType type, uint64_t a, uint64_t b) {
  return withFormat(type, false, [&](const auto& format) -> uint64_t {
    using Format = std::decay_t<decltype(format)>;
    using Bits = typename Format::Bits;
    if constexpr (Format::isFloat) {
      const auto u = format.value(Bits(a)), v = format.value(Bits(b));
      if (u != u || v != v) return std::numeric_limits<uint64_t>::max();
    }
    return distance(format, Bits(a), Bits(b));
  });
}

} // namespace tiletwin::diff
