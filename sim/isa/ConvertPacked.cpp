// sim/isa/ConvertPacked.cpp -- cvt to tf32, to and from pairs of f16, bf16, e4m3 and e5m2.
// Source:    PTX ISA, 9.7.9.21. Of two sources the first one becomes the upper half.
// Not here:  pairs and quadruples of e2m1, e2m3, e3m2 and ue8m0, and .rs, which sm_90 does not have: errors when loading.
#include "sim/isa/Convert.h"

namespace tiletwin::sim {
namespace {

using ptx::Type;

enum class Narrow : uint8_t { F16, BF16, E4M3, E5M2 };

constexpr const Format& formatOf(Narrow n) {
  return n == Narrow::F16    ? kFormatF16
         : n == Narrow::BF16 ? kFormatBF16
         : n == Narrow::E4M3 ? kFormatE4M3
                             : kFormatE5M2;
}

/// f32 to a narrow format. 8-bit formats always saturate to finite numbers.
template <Narrow N, Round R, bool Relu, bool Finite> uint32_t narrow(float x) {
  const float y = Relu ? rectified(x) : x;
  constexpr bool isWord = N == Narrow::F16 || N == Narrow::BF16;
  if constexpr (R == Round::NearestEven && !Finite && N == Narrow::F16) return half::F16::narrow(y);
  if constexpr (R == Round::NearestEven && !Finite && N == Narrow::BF16) return half::BF16::narrow(y);
  return uint32_t(narrowed<R>(formatOf(N), double(y), Finite || !isWord));
}

/// Two f32 to a pair.
template <Narrow N, Round R, bool Relu, bool Finite>
constexpr auto kPairFromSingles = [](float a, float b) {
  using D = std::conditional_t<N == Narrow::F16 || N == Narrow::BF16, uint32_t, uint16_t>;
  constexpr int bits = 4 * sizeof(D);
  return D(narrow<N, R, Relu, Finite>(a) << bits | narrow<N, R, Relu, Finite>(b));
};
/// One f32 to f16 or bf16 with .relu or .satfinite.
template <Narrow N, Round R, bool Relu, bool Finite>
constexpr auto kOneFromSingle = [](float a) -> uint16_t { return uint16_t(narrow<N, R, Relu, Finite>(a)); };
/// A pair of f16 to a pair of 8-bit floats.
template <Narrow N, bool Relu>
constexpr auto kBytesFromHalves = [](uint32_t a) -> uint16_t {
  const auto one = [](uint32_t h) { return narrow<N, Round::NearestEven, Relu, true>(half::F16::wide(uint16_t(h))); };
  return uint16_t(one(a >> 16) << 8 | one(a));
};

/// An 8-bit float as f16: exact.
template <Narrow N> uint16_t halfOfByte(uint32_t code) {
  const uint32_t sign = (code & 0x80) << 8, magnitude = code & 0x7F;
  if constexpr (N == Narrow::E5M2) return canonicalF16(uint16_t(sign | magnitude << 8));
  if (magnitude == 0x7F) return kNan16;
  // The same bits one place further left, with an exponent that is 8 too small.
  const float value = float(std::bit_cast<_Float16>(uint16_t(magnitude << 7))) * 256.0f;
  return uint16_t(sign | half::F16::narrow(value));
}
template <Narrow N, bool Relu>
constexpr auto kHalvesFromBytes = [](uint16_t a) -> uint32_t {
  const auto one = [](uint32_t code) -> uint32_t {
    const uint16_t h = halfOfByte<N>(code & 0xFF);
    return Relu && (h & 0x8000) ? 0u : h;
  };
  return one(a >> 8) << 16 | one(a);
};

template <Round R, bool Relu, bool Finite>
constexpr auto kTF32 = [](float x) -> uint32_t {
  return uint32_t(narrowed<R>(kFormatTF32, double(Relu ? rectified(x) : x), Finite)) << 13;
};
template <bool Finite>
constexpr auto kAwayTF32 = [](uint32_t x) -> uint32_t {
  const uint32_t r = awayTF32(x);
  return Finite && (r & ~kSign32) >= kInfinity32 ? r - 0x2000 : r;
};

/// pick(round, relu, finite), each a constant.
template <class Pick> Execute forClamps(const ConvertWords& w, Pick&& pick) {
  return forFlag(w.round == "rz", [&](auto zero) -> Execute {
    return forFlag(w.relu, [&](auto relu) -> Execute {
      return forFlag(w.satfinite, [&](auto finite) -> Execute {
        return pick(RoundConstant<decltype(zero)::value ? Round::TowardZero : Round::NearestEven>(), relu, finite);
      });
    });
  });
}

template <Narrow N> Execute choosePair(const ConvertWords& w) {
  return forClamps(w, [](auto r, auto relu, auto finite) -> Execute {
    constexpr bool isWord = N == Narrow::F16 || N == Narrow::BF16;
    constexpr bool kFinite = decltype(finite)::value;
    if constexpr (!isWord && (!kFinite || decltype(r)::value != Round::NearestEven))
      return nullptr; // .rn.satfinite only
    else
      return runLanes<kPairFromSingles<N, decltype(r)::value, decltype(relu)::value, kFinite>,
                      std::conditional_t<isWord, uint32_t, uint16_t>, float, float>;
  });
}

template <Narrow N> Execute chooseBytesFromHalves(const ConvertWords& w) {
  if (w.round != "rn" || !w.satfinite) return nullptr;
  return forFlag(w.relu, [](auto relu) -> Execute {
    return runLanes<kBytesFromHalves<N, decltype(relu)::value>, uint16_t, uint32_t>;
  });
}
template <Narrow N> Execute chooseHalvesFromBytes(const ConvertWords& w) {
  if (w.round != "rn" || w.satfinite) return nullptr;
  return forFlag(w.relu, [](auto relu) -> Execute {
    return runLanes<kHalvesFromBytes<N, decltype(relu)::value>, uint32_t, uint16_t>;
  });
}

Execute chooseTF32(const ConvertWords& w) {
  if (w.round == "rna")
    return w.relu        ? nullptr
           : w.satfinite ? Execute(runAlike<kAwayTF32<true>, uint32_t, 1>)
                         : runAlike<kAwayTF32<false>, uint32_t, 1>;
  return forClamps(w, [](auto r, auto relu, auto finite) -> Execute {
    return runLanes<kTF32<decltype(r)::value, decltype(relu)::value, decltype(finite)::value>, uint32_t, float>;
  });
}

template <Narrow N> Execute chooseOne(const ConvertWords& w) {
  return forClamps(w, [](auto r, auto relu, auto finite) -> Execute {
    return runLanes<kOneFromSingle<N, decltype(r)::value, decltype(relu)::value, decltype(finite)::value>, uint16_t,
                    float>;
  });
}

struct PackedForm {
  std::string_view d, a;
  Execute (*choose)(const ConvertWords&);
  Type dType, aType;
  bool isPair; ///< two sources
};
constexpr PackedForm kForms[] = {
    {"f16x2", "f32", choosePair<Narrow::F16>, Type::B32, Type::F32, true},
    {"bf16x2", "f32", choosePair<Narrow::BF16>, Type::B32, Type::F32, true},
    {"e4m3x2", "f32", choosePair<Narrow::E4M3>, Type::B16, Type::F32, true},
    {"e5m2x2", "f32", choosePair<Narrow::E5M2>, Type::B16, Type::F32, true},
    {"e4m3x2", "f16x2", chooseBytesFromHalves<Narrow::E4M3>, Type::B16, Type::B32, false},
    {"e5m2x2", "f16x2", chooseBytesFromHalves<Narrow::E5M2>, Type::B16, Type::B32, false},
    {"f16x2", "e4m3x2", chooseHalvesFromBytes<Narrow::E4M3>, Type::B32, Type::B16, false},
    {"f16x2", "e5m2x2", chooseHalvesFromBytes<Narrow::E5M2>, Type::B32, Type::B16, false},
    {"tf32", "f32", chooseTF32, Type::B32, Type::F32, false},
    {"f16", "f32", chooseOne<Narrow::F16>, Type::F16, Type::F32, false},
    {"bf16", "f32", chooseOne<Narrow::BF16>, Type::BF16, Type::F32, false},
};

} // namespace

bool decodePackedConvert(Decoder& decoder, const ptx::Instruction& in, std::string_view d, std::string_view a,
                         const ConvertWords& w, Inst& out, bool& known) {
  known = false;
  for (const PackedForm& form : kForms) {
    if (form.d != d || form.a != a) continue;
    if (!w.hasExtras() && (d == "f16" || d == "bf16")) return false; // an ordinary conversion
    known = true;
    const bool rounds = w.round == "rn" || w.round == "rz" || (w.round == "rna" && d == "tf32");
    out.run = w.ftz || w.sat || !rounds ? nullptr : form.choose(w);
    if (!out.run) return decoder.refuse("modifiers that this conversion does not have");
    return form.isPair ? decoder.form(in, out, form.dType, {form.aType, form.aType})
                       : decoder.form(in, out, form.dType, {form.aType});
  }
  return false;
}

} // namespace tiletwin::sim
