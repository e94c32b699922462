// sim/isa/Convert.cpp -- cvt: its words and operands, and conversions from float to float.
// Not here:  integers (ConvertInteger.cpp), pairs and tf32 (ConvertPacked.cpp).
// Source:    PTX ISA, 9.7.9.21. A conversion that changes nothing and has no words is a move for f32 and f64, and a sum with -0
//            for f16 and bf16, which shows in what becomes of a NaN.
#include "sim/isa/Convert.h"
#include "sim/numerics/Double.h"

namespace tiletwin::sim {

using ptx::Type;

Round ConvertWords::mode() const {
  return round.size() < 2  ? Round::NearestEven
         : round[1] == 'z' ? Round::TowardZero
         : round[1] == 'm' ? Round::Down
         : round[1] == 'p' ? Round::Up
                           : Round::NearestEven;
}

namespace {

// ---- To a smaller format, or a larger one ------------------------------------------------------------------------------------

template <class S> bool isNanOf64(typename S::Lane x) {
  if constexpr (std::is_same_v<S, FromF64>)
    return isNan(x);
  else
    return false;
}

constexpr auto kToF32 = []<class S, Round R>(S, RoundConstant<R>, typename S::Lane x) -> float {
  if (isNanOf64<S>(x)) return floatOf(uint32_t(nanOf64(kFormatF32, S::wide(x))));
  if constexpr (std::is_same_v<S, FromF16>)
    return canonical(half::F16::wide(x));
  else if constexpr (std::is_same_v<S, FromBF16>)
    return half::BF16::wide(x);
  else
    return narrowedSingle<R>(S::wide(x));
};
constexpr auto kToFlushedF32 = []<class S, Round R>(S, RoundConstant<R>, typename S::Lane x) -> float {
  const float wide = flushed(kToF32(S(), RoundConstant<R>(), x));
  return std::is_same_v<S, FromBF16> ? canonical(wide) : wide; // without .ftz it is a shift
};
constexpr auto kToF64 = []<class S, class R>(S, R, typename S::Lane x) -> double { return S::wide(x); };
constexpr auto kToF16 = []<class S, Round R>(S, RoundConstant<R>, typename S::Lane x) -> uint16_t {
  if (isNanOf64<S>(x)) return uint16_t(nanOf64(kFormatF16, S::wide(x)));
  if constexpr (R == Round::NearestEven && std::is_same_v<typename S::Lane, float>)
    return half::F16::narrow(x);
  else
    return narrowedF16<R>(S::wide(x));
};
constexpr auto kToBF16 = []<class S, Round R>(S, RoundConstant<R>, typename S::Lane x) -> uint16_t {
  if (isNanOf64<S>(x)) return uint16_t(nanOf64(kFormatBF16, S::wide(x)));
  if constexpr (R == Round::NearestEven && std::is_same_v<S, FromF32>)
    return half::BF16::narrow(x);
  else
    return narrowedBF16<R>(S::wide(x));
};

template <auto kOp, class D> Execute chooseTo(Type a, bool ftz, Round round) {
  return forSource(a, ftz, [&](auto source) -> Execute {
    using S = decltype(source);
    return forRound(round,
                    [](auto r) -> Execute { return runLanes<kBound<kOp, S{}, decltype(r){}>, D, typename S::Lane>; });
  });
}

// ---- To the same format ------------------------------------------------------------------------------------------------------

constexpr auto kCanonicalBF16 = [](uint16_t x) -> uint16_t { return half::BF16::narrow(half::BF16::wide(x)); };
template <Round R>
constexpr auto kIntegral = []<class T>(T x) -> T {
  const T r = integral<R>(x);
  if constexpr (sizeof(T) == 8) return binary64::withNan(r, x);
  return r;
};
template <class F, Round R>
constexpr auto kIntegralHalf = [](uint16_t x) -> uint16_t { return F::narrow(integral<R>(F::wide(x))); };

Execute chooseIntegral(Type type, const ConvertWords& w) {
  return forRound(w.mode(), [&](auto r) -> Execute {
    constexpr Round R = decltype(r)::value;
    if (type == Type::F32)
      return w.ftz ? runAlike<single::kShaped<kIntegral<R>, true>, float, 1>
                   : runAlike<single::kShaped<kIntegral<R>, false>, float, 1>;
    if (w.ftz) return nullptr;
    return type == Type::F64    ? Execute(runAlike<kIntegral<R>, double, 1>)
           : type == Type::F16  ? runAlike<kIntegralHalf<half::F16, R>, uint16_t, 1>
           : type == Type::BF16 ? runAlike<kIntegralHalf<half::BF16, R>, uint16_t, 1>
                                : nullptr;
  });
}

Execute chooseSame(Type type, const ConvertWords& w) {
  if (w.isIntegral()) return chooseIntegral(type, w);
  if (!w.round.empty() || (w.ftz && type != Type::F32)) return nullptr;
  switch (type) {
  case Type::F32:
    return w.ftz ? Execute(runAlike<single::kShaped<canonical, true>, float, 1>) : runAlike<kSame, float, 1>;
  case Type::F64: return runAlike<kSame, double, 1>;
  case Type::F16: return runAlike<canonicalF16, uint16_t, 1>;
  case Type::BF16: return runAlike<kCanonicalBF16, uint16_t, 1>;
  default: return nullptr;
  }
}

// ---- .sat --------------------------------------------------------------------------------------------------------------------

constexpr auto kSaturateF16 = [](uint16_t x) -> uint16_t { return half::F16::narrow(saturated(half::F16::wide(x))); };

/// f64, f32: 64 and 32 bits; bf16 has the upper half of f32's range. False: a conversion that loses nothing.
bool mustRound(Type d, Type a) {
  const auto rank = [](Type t) { return t == Type::F64 ? 2 : t == Type::F32 ? 1 : 0; };
  return rank(d) < rank(a) || (rank(d) == 0 && rank(a) == 0);
}

} // namespace

Execute chooseSaturate(Type d) {
  switch (d) {
  // f64: two selections by max and min, as the GPU's compiler writes it: NaN becomes 0 here, too.
  case Type::F64: return runAlike<saturated<double>, double, 1>;
  case Type::F32: return runAlike<saturated<float>, float, 1>;
  case Type::F16: return runAlike<kSaturateF16, uint16_t, 1>;
  default: return nullptr;
  }
}

Execute chooseFloat(Type d, Type a, const ConvertWords& w) {
  if (w.hasExtras()) return nullptr;
  if (d == a) return chooseSame(d, w);
  // Between f16 and bf16, and from bf16 to what is wider, a rounding may stand or be left out.
  const bool isOptional = a == Type::BF16 || (d == Type::BF16 && a == Type::F16);
  if (!isOptional && mustRound(d, a) != w.isDirected()) return nullptr;
  if (isOptional && !w.round.empty() && !w.isDirected()) return nullptr;
  const bool flushesSource = w.ftz && a == Type::F32;
  if (w.ftz && a != Type::F32 && d != Type::F32) return nullptr;
  switch (d) {
  case Type::F64: return chooseTo<kToF64, double>(a, flushesSource, Round::NearestEven);
  case Type::F32:
    return w.ftz ? chooseTo<kToFlushedF32, float>(a, false, w.mode()) : chooseTo<kToF32, float>(a, false, w.mode());
  case Type::F16: return chooseTo<kToF16, uint16_t>(a, false, w.mode()); // .ftz changes nothing
  case Type::BF16: return chooseTo<kToBF16, uint16_t>(a, flushesSource, w.mode());
  default: return nullptr;
  }
}

namespace {

size_t laneSize(Type type) { return size_t(std::max(2, ptx::bytesOf(type))); }

Type integerOf(size_t bytes, bool isSigned) {
  switch (bytes) {
  case 2: return isSigned ? Type::S16 : Type::U16;
  case 4: return isSigned ? Type::S32 : Type::U32;
  case 8: return isSigned ? Type::S64 : Type::U64;
  default: return Type::None;
  }
}
/// Copies lanes of one size to another, extended by their sign or zeros.
Execute chooseResize(size_t to, size_t from, bool isSigned) {
  return Integers::chooseWidth(integerOf(to, false), [&]<class To>(To) {
    return Integers::choose(integerOf(from, isSigned), []<class From>(From) { return runLanes<kSame, To, From>; });
  });
}

bool decodeSource(Decoder& decoder, const ptx::Operand& operand, Type type, Slot& slot) {
  if (!decoder.source(operand, type, slot, true)) return false;
  const size_t has = size_t(decoder.registerBytes(operand)), wants = laneSize(type);
  if (has == 0 || has == wants) return true;
  const Execute run = chooseResize(wants, has, false);
  if (!run) return decoder.fail(operand, "a register of this size cannot be converted");
  Inst& move = decoder.emitBefore();
  move.run = run;
  move.kind = InstClass::Move;
  move.a = slot;
  slot = move.d = decoder.temporary(wants);
  return true;
}

/// The result, of `bytes` a lane, goes through another instruction behind this one on its way to `slot`.
void passThrough(Decoder& decoder, Execute run, InstClass kind, size_t bytes, Slot slot, Inst& out) {
  out.d = decoder.temporary(bytes);
  Inst& behind = decoder.emitAfter();
  behind.run = run;
  behind.kind = kind;
  behind.a = out.d;
  behind.d = slot;
}

bool decodeDestination(Decoder& decoder, const ptx::Operand& operand, Type type, Inst& out) {
  Slot slot;
  if (!decoder.destination(operand, type, slot, true)) return false;
  const size_t has = size_t(decoder.registerBytes(operand)), is = laneSize(type);
  out.d = slot;
  if (has == is) return true;
  const Execute run = chooseResize(has, is, isSigned(type));
  if (!run) return decoder.fail(operand, "a register of this size cannot be converted to");
  passThrough(decoder, run, InstClass::Move, is, slot, out);
  return true;
}

bool decodeConvert(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  out.kind = InstClass::Convert;
  if (words.take("pack")) return decodePack(decoder, in, words, out);
  ConvertWords w;
  w.round = words.takeOneOf({"rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi"});
  w.ftz = words.take("ftz");
  w.sat = words.take("sat");
  w.satfinite = words.take("satfinite");
  w.relu = words.take("relu");
  const std::string_view dName = words.takeNext(), aName = words.takeNext();
  bool known = false;
  if (decodePackedConvert(decoder, in, dName, aName, w, out, known)) return true;
  if (known) return false;
  const Type d = ptx::typeNamed(dName), a = ptx::typeNamed(aName);
  const bool isScalar = (isFloatType(d) || isIntegerType(d)) && (isFloatType(a) || isIntegerType(a));
  if (!isScalar)
    return decoder.refuse("conversion from ." + std::string(aName) + " to ." + std::string(dName) +
                          " is not implemented");
  out.run = isIntegerType(d) || isIntegerType(a) ? chooseInteger(d, a, w) : chooseFloat(d, a, w);
  const Execute saturate = w.sat && isFloatType(d) ? chooseSaturate(d) : nullptr;
  if (!out.run || (w.sat && isFloatType(d) && !saturate))
    return decoder.refuse("modifiers that this conversion does not have, or a rounding that it needs");
  if (!decoder.operands(in, 2) || !decodeSource(decoder, in.operands[1], a, out.a)) return false;
  if (!saturate) return decodeDestination(decoder, in.operands[0], d, out);
  Slot slot;
  if (!decoder.destination(in.operands[0], d, slot)) return false;
  passThrough(decoder, saturate, InstClass::Convert, laneSize(d), slot, out);
  return true;
}

constexpr OpcodeRow kRows[] = {{"cvt", decodeConvert}};

} // namespace

constinit OpcodeTable kConvertOpcodes = kRows;

} // namespace tiletwin::sim
