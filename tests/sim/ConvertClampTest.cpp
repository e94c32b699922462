// tests/sim/ConvertClampTest.cpp -- cvt with .sat and .ftz, alone and together, of integers and floats.
#define BOOST_TEST_MODULE sim_convert_clamp
#include "tests/sim/ConvertReference.h"

using namespace tiletwin;
using namespace tiletwin::sim;

namespace {

std::vector<Form> clampedForms() {
  const FloatType &f16 = kFloats[0], &bf16 = kFloats[1], &f32 = kFloats[2], &f64 = kFloats[3];
  std::vector<Form> forms;
  const auto add = [&](const std::string& words, const FloatType& d, const FloatType& s, auto convert) {
    forms.push_back({"cvt." + words + "." + d.name + "." + s.name + " %d, %a;",
                     reg('d', d.format->bits) + " " + reg('a', s.format->bits, s.kind),
                     [=](Lane& v) { v.d = convert(v.a); }});
  };
  for (const FloatType& f : {f16, f32, f64})
    for (const IntegerType& i : kIntegers) {
      for (const std::string words : {".sat.", ".ftz.", ".ftz.sat."})
        for (const Rounding& r : kRoundings) {
          if (words != ".sat." && (f.name != "f32" || r.word != "rn")) continue;
          forms.push_back({"cvt." + r.word + words + f.name + "." + i.name + " %d, %a;",
                           reg('d', f.format->bits) + " " + reg('a', i.lane()), [=](Lane& v) {
                             const uint64_t d = ref::encode(*f.format, exactOf(i.value(v.a)), r.mode);
                             v.d = words == ".ftz." ? d : saturated(f, d);
                           }});
        }
      for (const std::string words : {".sat.", ".ftz.sat."})
        for (const Rounding& r : kIntegral) {
          if (words != ".sat." && (f.name != "f32" || r.word != "rzi")) continue;
          forms.push_back({"cvt." + r.word + words + i.name + "." + f.name + " %d, %a;",
                           reg('d', i.lane()) + " " + reg('a', f.format->bits, f.kind), [=](Lane& v) {
                             const uint64_t a = words == ".sat." ? v.a : flushed(*f.format, v.a);
                             v.d = i.code(toInteger(i, f, a, r.mode), i.lane());
                           }});
        }
    }
  for (const FloatType& s : {f16, f32})
    add("sat", f64, s, [=](uint64_t a) { return saturated(f64, toFloat(f64, s, a, Mode::Even)); });
  for (const FloatType& s : {f16, bf16}) add("ftz", f32, s, [=](uint64_t a) { return flushedToF32(s, a, Mode::Even); });
  add("ftz.sat", f32, f16, [=](uint64_t a) { return saturated(f32, toFloat(f32, f16, a, Mode::Even)); });
  add("ftz.sat", f32, f32, [=](uint64_t a) { return saturated(f32, flushed(ref::kF32, a)); });
  add("ftz.sat", f64, f32,
      [=](uint64_t a) { return saturated(f64, toFloat(f64, f32, flushed(ref::kF32, a), Mode::Even)); });
  for (const Rounding& r : kRoundings) {
    add(r.word + ".sat", f16, f64, [=](uint64_t a) { return saturated(f16, toFloat(f16, f64, a, r.mode)); });
    add(r.word + ".ftz", f16, f32, [=](uint64_t a) { return toFloat(f16, f32, a, r.mode); });
    add(r.word + ".ftz.sat", f16, f32, [=](uint64_t a) { return saturated(f16, toFloat(f16, f32, a, r.mode)); });
    add(r.word + ".ftz.sat", f32, f64,
        [=](uint64_t a) { return saturated(f32, flushed(ref::kF32, toFloat(f32, f64, a, r.mode))); });
    if (r.word == "rn") continue; // recorded with floatForms()
    add(r.word + ".sat", f16, f32, [=](uint64_t a) { return saturated(f16, toFloat(f16, f32, a, r.mode)); });
    add(r.word + ".sat", f32, f64, [=](uint64_t a) { return saturated(f32, toFloat(f32, f64, a, r.mode)); });
    add(r.word + ".ftz", bf16, f32, [=](uint64_t a) { return toFloat(bf16, f32, flushed(ref::kF32, a), r.mode); });
    add(r.word + ".ftz", f32, f64, [=](uint64_t a) { return flushed(ref::kF32, toFloat(f32, f64, a, r.mode)); });
  }
  for (const FloatType& d : {f16, bf16})
    for (const Rounding& r : {kRoundings[0], kRoundings[1]})
      add(r.word + ".satfinite.relu", d, f32, [=](uint64_t a) { return toFloat(d, f32, a, r.mode, true, true); });
  for (const Rounding& r : kIntegral) {
    const auto whole = [=](const FloatType& t, uint64_t a) {
      return ref::encode(*t.format, ref::integral(ref::decode(*t.format, a), r.mode), Mode::Even);
    };
    for (const FloatType& t : {f16, f32, f64})
      add(r.word + ".sat", t, t, [=](uint64_t a) { return saturated(t, whole(t, a)); });
    add(r.word + ".ftz", f32, f32, [=](uint64_t a) { return whole(f32, flushed(ref::kF32, a)); });
    add(r.word + ".ftz.sat", f32, f32, [=](uint64_t a) { return saturated(f32, whole(f32, flushed(ref::kF32, a))); });
  }
  forms.push_back({"cvt.rna.satfinite.tf32.f32 %d, %a;", "d32 a32f", [=](Lane& v) {
                     const Exact x = ref::decode(ref::kF32, v.a);
                     // An H200 takes one off the code of what is too large, and of NaN, too.
                     v.d = x.nan ? (v.a & 0xFFFFE000) - 0x2000 : ref::encode(ref::kTF32, x, Mode::Away, true) << 13;
                   }});
  return forms;
}
} // namespace

BOOST_AUTO_TEST_CASE(clamped) { checkForms(clampedForms(), "convert_clamped"); }
