// tests/sim/ConvertTest.cpp -- cvt: every pair of types in every rounding against exact arithmetic, and against an H200; 16-bit sources
// exhaustively.
#define BOOST_TEST_MODULE sim_convert
#include "sim/numerics/Convert.h"
#include "tests/sim/ConvertReference.h"
#include "tests/sim/Recorded.h"

using namespace tiletwin;
using namespace tiletwin::sim;
namespace {

std::vector<Form> integerForms() {
  std::vector<Form> forms;
  for (const IntegerType& d : kIntegers)
    for (const IntegerType& s : kIntegers)
      for (const bool sat : {false, true}) {
        if (sat && d.least() <= s.least() && d.most() >= s.most()) continue; // has no .sat
        forms.push_back({"cvt" + std::string(sat ? ".sat." : ".") + d.name + "." + s.name + " %d, %a;",
                         reg('d', d.lane()) + " " + reg('a', s.lane()), [=](Lane& v) {
                           Int x = s.value(v.a);
                           if (sat) x = std::min(std::max(x, d.least()), d.most());
                           v.d = d.code(x, d.lane());
                         }});
      }
  return forms;
}

/// Registers may be wider than types: results are extended by their sign. Other registers than in integerForms(): a text has one
/// recorded result.
std::vector<Form> wideForms() {
  std::vector<Form> forms;
  for (const IntegerType& d : kIntegers)
    for (const IntegerType& s : kIntegers) {
      if (d.bits == 64 || s.bits == 64) continue;
      const int wide = d.bits == 32 ? 64 : 32, from = s.bits == 32 ? 64 : 32;
      forms.push_back({"cvt." + d.name + "." + s.name + " %e, %x;", reg('e', wide) + " " + reg('x', from),
                       [=](Lane& v) { v.e = d.code(s.value(v.x), wide); }});
    }
  return forms;
}

/// Bits of an integer's register in a conversion from or to a float: ptxas wants registers of 8 bits beside bf16.
int laneWith(const FloatType& f, const IntegerType& i) { return f.name == "bf16" ? i.bits : i.lane(); }

std::vector<Form> fromIntegerForms() {
  std::vector<Form> forms;
  for (const FloatType& d : kFloats)
    for (const IntegerType& s : kIntegers)
      for (const Rounding& r : kRoundings) {
        forms.push_back({"cvt." + r.word + "." + d.name + "." + s.name + " %d, %a;",
                         reg('d', d.format->bits) + " " + reg('a', laneWith(d, s)),
                         [=](Lane& v) { v.d = ref::encode(*d.format, exactOf(s.value(v.a)), r.mode); }});
      }
  return forms;
}

std::vector<Form> toIntegerForms() {
  std::vector<Form> forms;
  for (const IntegerType& d : kIntegers)
    for (const FloatType& s : kFloats)
      for (const Rounding& r : kIntegral)
        for (const bool ftz : {false, true}) {
          if (ftz && s.name != "f32") continue;
          forms.push_back({"cvt." + r.word + (ftz ? ".ftz." : ".") + d.name + "." + s.name + " %d, %a;",
                           reg('d', laneWith(s, d)) + " " + reg('a', s.format->bits, s.kind), [=](Lane& v) {
                             const uint64_t a = ftz ? flushed(*s.format, v.a) : v.a;
                             v.d = d.code(toInteger(d, s, a, r.mode), d.lane());
                           }});
        }
  return forms;
}

std::vector<Form> floatForms() {
  std::vector<Form> forms;
  const auto add = [&](const std::string& words, const FloatType& d, const FloatType& s, auto convert) {
    forms.push_back({"cvt" + words + "." + d.name + "." + s.name + " %d, %a;",
                     reg('d', d.format->bits) + " " + reg('a', s.format->bits, s.kind),
                     [=](Lane& v) { v.d = convert(v.a); }});
  };
  const auto wider = [](const FloatType& d, const FloatType& s) { return d.format->bits > s.format->bits; };
  for (const FloatType& d : kFloats)
    for (const FloatType& s : kFloats) {
      if (d.name == s.name) continue;
      if (wider(d, s)) {
        add("", d, s, [=](uint64_t a) { return toFloat(d, s, a, Mode::Even); });
        continue;
      }
      for (const Rounding& r : kRoundings)
        add("." + r.word, d, s, [=](uint64_t a) { return toFloat(d, s, a, r.mode); });
    }
  const FloatType &f16 = kFloats[0], &bf16 = kFloats[1], &f32 = kFloats[2], &f64 = kFloats[3];
  add("", bf16, f16, [=](uint64_t a) { return toFloat(bf16, f16, a, Mode::Even); });
  add(".ftz", f64, f32, [=](uint64_t a) {
    return toFloat(f64, f32, ref::decode(ref::kF32, a).nan ? ref::kF32.nan : flushed(ref::kF32, a), Mode::Even);
  });
  add(".rn.ftz", f32, f64, [=](uint64_t a) { return flushed(ref::kF32, toFloat(f32, f64, a, Mode::Even)); });
  add(".rn.ftz", bf16, f32, [=](uint64_t a) { return toFloat(bf16, f32, flushed(ref::kF32, a), Mode::Even); });
  for (const FloatType& d : {f16, bf16})
    for (const Rounding& r : {kRoundings[0], kRoundings[1]})
      for (const bool relu : {false, true})
        for (const bool finite : {false, true})
          if (relu || finite)
            add("." + r.word + (relu ? ".relu" : "") + (finite ? ".satfinite" : ""), d, f32,
                [=](uint64_t a) { return toFloat(d, f32, a, r.mode, finite, relu); });
  // A rounding that changes nothing, or is left out.
  add("", f16, bf16, [=](uint64_t a) { return toFloat(f16, bf16, a, Mode::Even); });
  for (const FloatType& d : {f32, f64})
    for (const Rounding& r : kRoundings)
      add("." + r.word, d, bf16, [=](uint64_t a) { return toFloat(d, bf16, a, r.mode); });
  for (const Rounding& r : kRoundings)
    add("." + r.word + ".ftz", f32, bf16, [=](uint64_t a) { return flushedToF32(bf16, a, r.mode); });
  // To integers of the same type, and to itself.
  for (const FloatType& t : kFloats)
    for (const Rounding& r : kIntegral)
      add("." + r.word, t, t, [=](uint64_t a) {
        const Exact x = ref::decode(*t.format, a);
        if (x.nan && t.format == &ref::kF64) return a | uint64_t(1) << 51;
        return ref::encode(*t.format, ref::integral(x, r.mode), Mode::Even);
      });
  for (const FloatType& t : kFloats)
    add("", t, t, [=](uint64_t a) {
      const bool moves = t.format->bits >= 32;
      return moves ? a : ref::encode(*t.format, ref::decode(*t.format, a), Mode::Even);
    });
  for (const FloatType& t : {f16, f32, f64}) add(".sat", t, t, [=](uint64_t a) { return saturated(t, a); });
  add(".rn.sat", f16, f32, [=](uint64_t a) { return saturated(f16, toFloat(f16, f32, a, Mode::Even)); });
  add(".rn.sat", f32, f64, [=](uint64_t a) { return saturated(f32, toFloat(f32, f64, a, Mode::Even)); });
  add(".sat", f32, f16, [=](uint64_t a) { return saturated(f32, toFloat(f32, f16, a, Mode::Even)); });
  add(".ftz", f32, f32,
      [=](uint64_t a) { return ref::decode(ref::kF32, a).nan ? ref::kF32.nan : flushed(ref::kF32, a); });
  return forms;
}

std::vector<Form> packedForms() {
  std::vector<Form> forms;
  const FloatType f16 = kFloats[0], f32 = kFloats[2];
  const FloatType narrow[] = {
      {"f16x2", &ref::kF16, 'h'}, {"bf16x2", &ref::kBF16, 'g'}, {"e4m3x2", &ref::kE4M3, 0}, {"e5m2x2", &ref::kE5M2, 0}};
  for (const FloatType& d : narrow)
    for (const Rounding& r : {kRoundings[0], kRoundings[1]})
      for (const bool relu : {false, true})
        for (const bool finite : {false, true}) {
          const bool isByte = d.format->bits == 8;
          if (isByte && (!finite || r.word != "rn")) continue;
          const int bits = d.format->bits;
          const std::string words = "cvt." + r.word + (finite ? ".satfinite" : "") + (relu ? ".relu." : ".") + d.name;
          forms.push_back({words + ".f32 %d, %a, %b;", reg('d', 2 * bits) + " a32f b32f", [=](Lane& v) {
                             v.d = toFloat(d, f32, v.a, r.mode, finite, relu) << bits |
                                   toFloat(d, f32, v.b, r.mode, finite, relu);
                           }});
          if (!isByte) continue;
          forms.push_back({words + ".f16x2 %d, %a;", "d16 a32H", [=](Lane& v) {
                             v.d = toFloat(d, f16, v.a >> 16, r.mode, true, relu) << 8 |
                                   toFloat(d, f16, v.a & 0xFFFF, r.mode, true, relu);
                           }});
          forms.push_back({std::string("cvt.rn") + (relu ? ".relu" : "") + ".f16x2." + d.name + " %d, %a;", "d32 a16",
                           [=](Lane& v) {
                             v.d = toFloat(f16, d, v.a >> 8, r.mode, false, relu) << 16 |
                                   toFloat(f16, d, v.a & 0xFF, r.mode, false, relu);
                           }});
        }
  for (const Rounding& r : {kRoundings[0], kRoundings[1]})
    for (const bool relu : {false, true})
      forms.push_back({"cvt." + r.word + (relu ? ".relu" : "") + ".tf32.f32 %d, %a;", "d32 a32f",
                       [=](Lane& v) { v.d = toFloat({"tf32", &ref::kTF32, 0}, f32, v.a, r.mode, false, relu) << 13; }});
  forms.push_back({"cvt.rna.tf32.f32 %d, %a;", "d32 a32f", [=](Lane& v) {
                     const Exact x = ref::decode(ref::kF32, v.a);
                     v.d = x.nan ? v.a & 0xFFFFE000 : ref::encode(ref::kTF32, x, Mode::Away) << 13;
                   }});
  const IntegerType packs[] = {{"u16", 16, false}, {"s16", 16, true}, {"u8", 8, false}, {"s8", 8, true},
                               {"u4", 4, false},   {"s4", 4, true},   {"u2", 2, false}, {"s2", 2, true}};
  for (const IntegerType& t : packs) {
    const auto one = [=](uint64_t v) {
      return t.code(std::min(std::max(kIntegers[5].value(v), t.least()), t.most()), 32) & ((1u << t.bits) - 1);
    };
    const bool whole = t.bits == 16;
    forms.push_back({"cvt.pack.sat." + t.name + ".s32" + (whole ? " %d, %a, %b;" : ".b32 %d, %a, %b, %c;"),
                     whole ? "d32 a32 b32" : "d32 a32 b32 c32",
                     [=](Lane& v) { v.d = (whole ? 0 : v.c << (2 * t.bits)) | one(v.a) << t.bits | one(v.b); }});
  }
  return forms;
}

} // namespace

BOOST_AUTO_TEST_CASE(integer_to_integer) { checkForms(integerForms(), "convert_integer"); }
BOOST_AUTO_TEST_CASE(registers_wider_than_types) { checkForms(wideForms(), "convert_wide"); }
BOOST_AUTO_TEST_CASE(integer_to_float) { checkForms(fromIntegerForms(), "convert_from_integer"); }
BOOST_AUTO_TEST_CASE(float_to_integer) { checkForms(toIntegerForms(), "convert_to_integer"); }
BOOST_AUTO_TEST_CASE(float_to_float) { checkForms(floatForms(), "convert_float"); }
BOOST_AUTO_TEST_CASE(packed) { checkForms(packedForms(), "convert_packed"); }

/// All 65,536 codes of both 16-bit formats.
BOOST_AUTO_TEST_CASE(every_half) {
  const FloatType &f16 = kFloats[0], &bf16 = kFloats[1], &f32 = kFloats[2], &f64 = kFloats[3];
  size_t wrong = 0;
  for (uint32_t code = 0; code < 0x10000; ++code) {
    const auto h = uint16_t(code);
    wrong += bitsOf(canonical(half::F16::wide(h))) != toFloat(f32, f16, h, Mode::Even);
    wrong += bitsOf(widenedF16(h)) != toFloat(f64, f16, h, Mode::Even);
    wrong += bitsOf(widenedBF16(h)) != toFloat(f64, bf16, h, Mode::Even);
    wrong += narrowedBF16<Round::NearestEven>(widenedF16(h)) != toFloat(bf16, f16, h, Mode::Even);
    wrong += narrowedBF16<Round::Up>(widenedF16(h)) != toFloat(bf16, f16, h, Mode::Up);
    wrong += narrowedF16<Round::NearestEven>(widenedBF16(h)) != toFloat(f16, bf16, h, Mode::Even);
    wrong += narrowedF16<Round::Down>(widenedBF16(h)) != toFloat(f16, bf16, h, Mode::Down);
    for (const ref::Format* f : {&ref::kE4M3, &ref::kE5M2}) {
      const Format& mine = f == &ref::kE4M3 ? kFormatE4M3 : kFormatE5M2;
      const FloatType byte{"", f, 0};
      wrong += narrowed<Round::NearestEven>(mine, widenedF16(h), true) != toFloat(byte, f16, h, Mode::Even, true);
      wrong += narrowed<Round::NearestEven>(mine, widenedBF16(h), true) != toFloat(byte, bf16, h, Mode::Even, true);
    }
  }
  BOOST_TEST(wrong == 0u);
}

/// What an H200 gave for f32 sources, NaNs included.
BOOST_AUTO_TEST_CASE(recorded_casts) {
  const Recorded t("cast_f32_h200.bin");
  BOOST_REQUIRE(t.columns() == 11u);
  size_t wrong[10] = {};
  for (size_t i = 0; i < t.rows(); ++i) {
    const float x = floatOf(t(i, 0));
    const uint64_t got[10] = {narrowedF16<Round::NearestEven>(widened(x)),
                              narrowedBF16<Round::NearestEven>(widened(x)),
                              narrowedF16<Round::TowardZero>(widened(x)),
                              narrowedBF16<Round::TowardZero>(widened(x)),
                              narrowed<Round::NearestEven>(kFormatE4M3, widened(x), true),
                              narrowed<Round::NearestEven>(kFormatE5M2, widened(x), true),
                              uint32_t(toInteger<int32_t, Round::TowardZero>(widened(x))),
                              toInteger<uint32_t, Round::TowardZero>(widened(x)),
                              uint16_t(toInteger<int16_t, Round::TowardZero>(widened(x))),
                              toInteger<uint16_t, Round::TowardZero>(widened(x))};
    for (size_t c = 0; c < 10; ++c) wrong[c] += got[c] != t(i, c + 1);
  }
  for (const size_t w : wrong) BOOST_TEST(w == 0u);
}

BOOST_AUTO_TEST_CASE(errors) {
  for (const char* wrong :
       {"cvt.f16.f32 %h0, %f0;", "cvt.rn.f64.f32 %fd0, %f0;", "cvt.rn.s32.f32 %r0, %f0;", "cvt.s32.f32 %r0, %f0;",
        "cvt.f32.s32 %f0, %r0;", "cvt.rni.f16.f32 %h0, %f0;", "cvt.rn.satfinite.e2m1x2.f32 %h0, %f0, %f1;",
        "cvt.rs.f16x2.f32 %r0, %f0, %f1, %r1;", "cvt.rn.bf16x2.ue8m0x2 %r0, %h0;", "cvt.rn.e4m3x2.f32 %h0, %f0, %f1;",
        "cvt.rz.satfinite.e5m2x2.f32 %h0, %f0, %f1;", "cvt.rn.sat.bf16.f32 %h0, %f0;",
        "cvt.rna.relu.tf32.f32 %r0, %f0;", "cvt.u64.u32 %r0, %r1;", "cvt.pack.sat.s8.s32 %r0, %r1, %r2;",
        "cvt.rzi.u32.u32 %r0, %r1;", "cvt.sat.s32.s16 %r0, %h0;", "cvt.rn.satfinite.e3m2x2.f32 %h0, %f0, %f1;",
        "cvt.rn.satfinite.scaled::n2::ue8m0.e4m3x2.f32 %h0, %f0, %f1, %h1;"}) {
    const std::string error = SimRun::loadError(ptxKernel(0, wrong));
    BOOST_TEST(error.find("cvt.") != std::string::npos, wrong << ": " << error);
  }
}
