// tests/sim/FloatTest.cpp -- float arithmetic: every form against exact arithmetic, and against an H200.
#define BOOST_TEST_MODULE sim_float
#include "tests/sim/FloatReference.h"
#include "tests/sim/LaneForms.h"

using namespace tiletwin;
using namespace tiletwin::sim;
using reference::Exact;
using reference::Format;
using reference::Mode;

namespace {

struct FloatType {
  std::string name;
  const Format* format;
  char kind; ///< of values, for LaneForms
  bool isPair = false;
  std::string bits() const {
    return std::to_string(isPair ? 32 : format->bits) + (isPair ? char(kind - 'a' + 'A') : kind);
  }
};
const FloatType kF32{"f32", &reference::kF32, 'f'}, kF64{"f64", &reference::kF64, 'l'};
const FloatType kHalves[] = {{"f16", &reference::kF16, 'h'},
                             {"bf16", &reference::kBF16, 'g'},
                             {"f16x2", &reference::kF16, 'h', true},
                             {"bf16x2", &reference::kBF16, 'g', true}};

struct Rounding {
  std::string word;
  Mode mode;
};
const Rounding kRoundings[] = {{".rn", Mode::Even}, {".rz", Mode::Zero}, {".rm", Mode::Down}, {".rp", Mode::Up}};

/// What modifiers do to operands and results.
struct Around {
  bool ftz = false, sat = false, relu = false;
  std::string words() const { return std::string(ftz ? ".ftz" : "") + (sat ? ".sat" : "") + (relu ? ".relu" : ""); }
};

uint64_t flushed(const Format& f, uint64_t code) { return code & f.infinity() ? code : code & f.sign(); }

/// One operation on codes of a format.
using Codes = std::function<uint64_t(uint64_t, uint64_t, uint64_t)>;
using Operation = std::function<Exact(const Exact&, const Exact&, const Exact&, Mode)>;

Codes codes(const Format& f, Operation operation, Mode mode, Around around) {
  return [=, &f](uint64_t a, uint64_t b, uint64_t c) {
    const auto in = [&](uint64_t x) { return reference::decode(f, around.ftz ? flushed(f, x) : x); };
    Exact r = operation(in(a), in(b), in(c), mode);
    if (around.sat && (r.nan || r.negative || r.zero())) r = Exact{};
    if (around.sat && !r.zero() && (r.infinite || long(msb(r.m)) + r.e >= 0)) r = Exact{false, false, false, 1, 0};
    if (around.relu && !r.nan && (r.negative || r.zero())) r = Exact{};
    const uint64_t code = reference::encode(f, r, mode);
    return around.ftz ? flushed(f, code) : code;
  };
}

/// A form of 1 to 3 sources; pairs are two operations.
Form form(const FloatType& t, const std::string& opcode, int sources, Codes operation) {
  static const char* const kOperands[] = {"", " %d, %a;", " %d, %a, %b;", " %d, %a, %b, %c;"};
  std::string registers = "d" + t.bits();
  for (int i = 0; i < sources; ++i) registers += std::string(" ") + "abc"[i] + t.bits();
  const bool isPair = t.isPair;
  const uint64_t mask = t.format->bits == 64 ? ~uint64_t(0) : (uint64_t(1) << t.format->bits) - 1;
  return {opcode + "." + t.name + kOperands[sources], registers, [=](Lane& v) {
            const auto part = [&](int s) { return operation(v.a >> s & mask, v.b >> s & mask, v.c >> s & mask); };
            v.d = isPair ? part(16) << 16 | part(0) : part(0);
          }};
}

Exact sum(const Exact& a, const Exact& b, const Exact&, Mode m) { return reference::add(a, b, m); }
Exact difference(const Exact& a, const Exact& b, const Exact&, Mode m) {
  return b.nan ? b : reference::add(a, reference::negate(b), m);
}
Exact product(const Exact& a, const Exact& b, const Exact&, Mode) { return reference::multiply(a, b); }
Exact fused(const Exact& a, const Exact& b, const Exact& c, Mode m) {
  return reference::add(reference::multiply(a, b), c, m);
}
Exact quotient(const Exact& a, const Exact& b, const Exact&, Mode) { return reference::divide(a, b); }
Exact reciprocal(const Exact& a, const Exact&, const Exact&, Mode) {
  return reference::divide(Exact{false, false, false, 1, 0}, a);
}
Exact root(const Exact& a, const Exact&, const Exact&, Mode) { return reference::root(a); }

struct Arithmetic {
  std::string opcode;
  int sources;
  Operation operation;
  bool needsRounding, saturates;
};
const Arithmetic kArithmetic[] = {
    {"add", 2, sum, false, true},        {"sub", 2, difference, false, true}, {"mul", 2, product, false, true},
    {"fma", 3, fused, true, true},       {"mad", 3, fused, true, true},       {"div", 2, quotient, true, false},
    {"rcp", 1, reciprocal, true, false}, {"sqrt", 1, root, true, false},
};

/// Quotients with .ftz in a direction are flushed if they are below 2^-126 after rounding to 24 bits, with exponents of f64.
Codes flushedQuotient(Operation operation, Mode mode) {
  return [=, plain = codes(reference::kF32, operation, mode, {true})](uint64_t a, uint64_t b, uint64_t c) {
    const auto in = [](uint64_t x) { return reference::decode(reference::kF32, flushed(reference::kF32, x)); };
    const Exact exact = operation(in(a), in(b), in(c), mode);
    const Format wide{35, 23, 1023, true, 0};
    const uint64_t least = uint64_t(1023 - 126) << 23, code = reference::encode(wide, exact, mode);
    if (!exact.nan && (code & (wide.sign() - 1)) < least) return exact.negative ? uint64_t(0x80000000) : uint64_t(0);
    return plain(a, b, c);
  };
}

std::vector<Form> singleForms() {
  std::vector<Form> forms;
  for (const Arithmetic& op : kArithmetic) {
    for (const Around around : {Around{}, Around{true}, Around{false, true}, Around{true, true}})
      if (!op.needsRounding)
        forms.push_back(
            form(kF32, op.opcode + around.words(), op.sources, codes(*kF32.format, op.operation, Mode::Even, around)));
    for (const Rounding& r : kRoundings)
      for (const bool ftz : {false, true})
        for (const bool sat : {false, true}) {
          if (sat && !op.saturates) continue;
          const Around around{ftz, sat};
          const bool isQuotient = op.opcode == "div" || op.opcode == "rcp";
          forms.push_back(form(kF32, op.opcode + r.word + around.words(), op.sources,
                               ftz && isQuotient && r.mode != Mode::Even
                                   ? flushedQuotient(op.operation, r.mode)
                                   : codes(*kF32.format, op.operation, r.mode, around)));
        }
  }
  return forms;
}

/// A NaN among an f64 operation's operands comes out quiet; of several, the first in `order`.
Codes payloads(Codes operation, const std::vector<int>& order) {
  return [=](uint64_t a, uint64_t b, uint64_t c) {
    const uint64_t in[] = {a, b, c};
    for (const int i : order)
      if (reference::decode(reference::kF64, in[i]).nan) return in[i] | uint64_t(1) << 51;
    return operation(a, b, c);
  };
}

std::vector<Form> doubleForms() {
  std::vector<Form> forms;
  for (const Arithmetic& op : kArithmetic)
    for (const Rounding& r : kRoundings)
      forms.push_back(
          form(kF64, op.opcode + r.word, op.sources,
               payloads(codes(*kF64.format, op.operation, r.mode, {}), op.sources == 1      ? std::vector{0}
                                                                       : op.sources == 3    ? std::vector{1, 2, 0}
                                                                       : op.opcode == "div" ? std::vector{0, 1}
                                                                                            : std::vector{1, 0})));
  const uint64_t sign = kF64.format->sign();
  forms.push_back(form(kF64, "neg", 1, [=](uint64_t a, uint64_t, uint64_t) {
    return reference::decode(reference::kF64, a).nan ? a | uint64_t(1) << 51 : a ^ sign;
  }));
  forms.push_back(form(kF64, "abs", 1, [=](uint64_t a, uint64_t, uint64_t) {
    return reference::decode(reference::kF64, a).nan ? a | uint64_t(1) << 51 : a & ~sign;
  }));
  return forms;
}

std::vector<Form> halfForms() {
  std::vector<Form> forms;
  for (const FloatType& t : kHalves) {
    const bool isF16 = t.format == &reference::kF16;
    const auto add = [&](const std::string& opcode, int sources, const Operation& operation, Around around) {
      forms.push_back(form(t, opcode + around.words(), sources, codes(*t.format, operation, Mode::Even, around)));
    };
    const std::pair<std::string, Operation> plain[] = {{"add", sum}, {"sub", difference}, {"mul", product}};
    for (const auto& [opcode, operation] : plain) {
      for (const std::string rounding : {"", ".rn"})
        for (const Around around : {Around{}, Around{true}, Around{false, true}, Around{true, true}})
          if (isF16 || around.words().empty()) add(opcode + rounding, 2, operation, around);
    }
    add("fma.rn", 3, fused, {});
    add("fma.rn", 3, fused, {false, false, true});
    if (!isF16) continue;
    add("fma.rn", 3, fused, {true});
    add("fma.rn", 3, fused, {false, true});
    add("fma.rn", 3, fused, {true, true});
    add("fma.rn", 3, fused, {true, false, true});
  }
  return forms;
}

/// min and max by the order of codes.
Codes extremum(const Format& f, bool maximum, bool propagates, bool xorsign, bool ftz) {
  return [=, &f](uint64_t a, uint64_t b, uint64_t) -> uint64_t {
    if (ftz) a = flushed(f, a), b = flushed(f, b);
    const uint64_t sign = (a ^ b) & f.sign();
    if (xorsign) a &= ~f.sign(), b &= ~f.sign();
    const bool nanA = reference::decode(f, a).nan, nanB = reference::decode(f, b).nan;
    if ((nanA && nanB) || (propagates && (nanA || nanB))) return f.nan;
    const auto rank = [&](uint64_t x) { return x & f.sign() ? -int64_t(x & ~f.sign()) - 1 : int64_t(x); };
    uint64_t r = nanA ? b : nanB ? a : (rank(a) > rank(b)) == maximum ? a : b;
    return xorsign ? r | sign : r;
  };
}

std::vector<Form> extremumForms() {
  std::vector<Form> forms;
  std::vector<FloatType> types(std::begin(kHalves), std::end(kHalves));
  types.push_back(kF32);
  for (const FloatType& t : types)
    for (const bool maximum : {false, true})
      for (const bool propagates : {false, true})
        for (const bool xorsign : {false, true})
          for (const bool ftz : {false, true}) {
            if (ftz && t.format == &reference::kBF16) continue;
            const std::string opcode = std::string(maximum ? "max" : "min") + (ftz ? ".ftz" : "") +
                                       (propagates ? ".NaN" : "") + (xorsign ? ".xorsign.abs" : "");
            forms.push_back(form(t, opcode, 2, extremum(*t.format, maximum, propagates, xorsign, ftz)));
          }
  for (const bool maximum : {false, true}) {
    const Codes numbers = extremum(reference::kF64, maximum, false, false, false);
    forms.push_back(form(kF64, maximum ? "max" : "min", 2, [=](uint64_t a, uint64_t b, uint64_t c) {
      const bool both = reference::decode(reference::kF64, a).nan && reference::decode(reference::kF64, b).nan;
      return both ? b | uint64_t(1) << 51 : numbers(a, b, c);
    }));
  }
  return forms;
}

std::vector<Form> signForms() {
  std::vector<Form> forms;
  std::vector<FloatType> types(std::begin(kHalves), std::end(kHalves));
  types.push_back(kF32);
  for (const FloatType& t : types)
    for (const bool negates : {false, true})
      for (const bool ftz : {false, true}) {
        if (ftz && t.format == &reference::kBF16) continue;
        const Format& f = *t.format;
        forms.push_back(form(t, std::string(negates ? "neg" : "abs") + (ftz ? ".ftz" : ""), 1,
                             [=, &f](uint64_t a, uint64_t, uint64_t) {
                               if (ftz) a = flushed(f, a);
                               if (reference::decode(f, a).nan) return f.nan;
                               return negates ? a ^ f.sign() : a & ~f.sign();
                             }));
      }
  for (const FloatType& t : {kF32, kF64}) {
    const uint64_t sign = t.format->sign();
    forms.push_back(form(t, "copysign", 2, [=](uint64_t a, uint64_t b, uint64_t) { return (a & sign) | (b & ~sign); }));
  }
  return forms;
}

} // namespace

BOOST_AUTO_TEST_CASE(single_precision) { checkForms(singleForms(), "float_single"); }
BOOST_AUTO_TEST_CASE(double_precision) { checkForms(doubleForms(), "float_double"); }
BOOST_AUTO_TEST_CASE(half_precision) { checkForms(halfForms(), "float_half"); }
BOOST_AUTO_TEST_CASE(minimum_and_maximum) { checkForms(extremumForms(), "float_extremum"); }
BOOST_AUTO_TEST_CASE(signs) { checkForms(signForms(), "float_sign"); }

/// fma.oob: zero where a factor is what tensor copies fill with.
BOOST_AUTO_TEST_CASE(out_of_bounds) {
  std::vector<Form> forms;
  for (const FloatType& t : kHalves)
    for (const bool relu : {false, true}) {
      const Codes plain = codes(*t.format, fused, Mode::Even, {false, false, relu});
      forms.push_back(
          form(t, std::string("fma.rn.oob") + (relu ? ".relu" : ""), 3,
               [=](uint64_t a, uint64_t b, uint64_t c) { return a == 0x7FF7 || b == 0x7FF7 ? 0 : plain(a, b, c); }));
    }
  checkForms(forms, "float_oob");
}

/// What sm_90 does not have, or nobody: an error that names the instruction.
BOOST_AUTO_TEST_CASE(errors) {
  const auto error = [](const std::string& instruction, std::string_view target = "sm_90a") {
    return SimRun::loadError(ptxKernel(0, instruction, "", target));
  };
  for (const char* wrong :
       {"fma.f32 %f0, %f1, %f2, %f3;", "div.f32 %f0, %f1, %f2;", "add.sat.f64 %fd0, %fd1, %fd2;",
        "add.ftz.bf16 %h0, %h1, %h2;", "mul.rz.f16 %h0, %h1, %h2;", "min.rn.f32 %f0, %f1, %f2;",
        "max.NaN.f64 %fd0, %fd1, %fd2;", "neg.relu.f32 %f0, %f1;", "div.rn.sat.f32 %f0, %f1, %f2;",
        "min.f32 %f0, %f1, %f2, %f3;", "add.f32x2 %rd0, %rd1, %rd2;", "min.xorsign.f32 %f0, %f1, %f2;",
        "sqrt.approx.f64 %fd0, %fd1;", "add.rn.f32.f16 %f0, %h1, %f2;", "copysign.f16 %h0, %h1, %h2;"})
    BOOST_TEST(error(wrong).find(std::string(wrong).substr(0, std::string(wrong).find(' '))) != std::string::npos,
               wrong << ": " << error(wrong));
  BOOST_TEST(error("add.f32x2 %rd0, %rd1, %rd2;", "sm_100a") == "");
}

BOOST_AUTO_TEST_CASE(extremum_of_three) {
  constexpr uint32_t edges[] = {0,          0x80000000, 1,          0x80000001, 0x3F800000, 0xBF800000,
                                0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0x00400000};
  std::vector<uint32_t> in;
  for (const uint32_t a : edges)
    for (const uint32_t b : edges)
      for (const uint32_t c : edges) in.insert(in.end(), {a, b, c});
  const auto threads = uint32_t(in.size() / 3);
  for (const bool maximum : {false, true})
    for (const bool propagates : {false, true})
      for (const bool absolute : {false, true})
        for (const bool ftz : {false, true}) {
          const std::string text = std::string(maximum ? "max" : "min") + (ftz ? ".ftz" : "") +
                                   (propagates ? ".NaN" : "") + (absolute ? ".abs" : "") + ".f32 %f3, %f0, %f1, %f2;\n";
          SimRun run(ptxKernel(2,
                               "mov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\nmad.lo.u32 %r0, %r1, 121, %r0;\n"
                               "mad.wide.u32 %rd2, %r0, 12, %rd0;\nmad.wide.u32 %rd3, %r0, 4, %rd1;\n"
                               "ld.global.f32 %f0, [%rd2];\nld.global.f32 %f1, [%rd2+4];\nld.global.f32 %f2, "
                               "[%rd2+8];\n" +
                                   text + "st.global.f32 [%rd3], %f3;",
                               "", "sm_100a"));
          std::vector<uint32_t> out(threads);
          run.buffer(in).buffer(out);
          BOOST_REQUIRE(!run.launch(threads / 121, 121).trap);
          const Codes two = extremum(reference::kF32, maximum, propagates, false, ftz);
          int wrong = 0;
          for (size_t i = 0; i < threads; ++i) {
            const uint32_t mask = absolute ? 0x7FFFFFFF : ~0u;
            const uint64_t first = two(in[3 * i] & mask, in[3 * i + 1] & mask, 0);
            wrong += two(first, in[3 * i + 2] & mask, 0) != out[i];
          }
          BOOST_TEST(wrong == 0, text);
        }
  BOOST_TEST(SimRun::loadError(ptxKernel(0, "max.xorsign.abs.f32 %f0, %f1, %f2, %f3;", "", "sm_100a"))
                 .find("of three operands is for .f32, with .ftz, .NaN and .abs") != std::string::npos);
  BOOST_TEST(SimRun::loadError(ptxKernel(0, "max.f32 %f0, %f1, %f2, %f3;")).find("needs a target of sm_100") !=
             std::string::npos);
}

/// Of f32, with one operand of f16 or bf16, or with two that are multiplied.
BOOST_AUTO_TEST_CASE(narrower_operands) {
  constexpr uint16_t halves[] = {0, 0x8000, 1, 0x8001, 0x3C00, 0x3F80, 0xBF81, 0x7BFF, 0x7F7F, 0x7C00, 0xFF80, 0x7FC1};
  constexpr uint32_t singles[] = {0,          0x80000000, 1,          0x807FFFFF, 0x3F800001,
                                  0xBF800000, 0x7F7FFFFF, 0xFF800000, 0x7FC00000, 0x33000001};
  std::vector<uint32_t> in;
  for (const uint16_t a : halves)
    for (const uint16_t b : halves)
      for (const uint32_t c : singles) in.insert(in.end(), {uint32_t(b) << 16 | a, c});
  const auto threads = uint32_t(in.size() / 2);
  for (const FloatType& t : {kHalves[0], kHalves[1]})
    for (const Arithmetic& op : {kArithmetic[0], kArithmetic[1], kArithmetic[3]})
      for (const Rounding& r : kRoundings)
        for (const bool sat : {false, true}) {
          const std::string text = op.opcode + r.word + (sat ? ".sat" : "") + ".f32." + t.name +
                                   (op.sources == 3 ? " %f3, %h0, %h1, %f0;\n" : " %f3, %h0, %f0;\n");
          SimRun run(ptxKernel(2,
                               "mov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\nmad.lo.u32 %r0, %r1, 120, %r0;\n"
                               "mad.wide.u32 %rd2, %r0, 8, %rd0;\nmad.wide.u32 %rd3, %r0, 4, %rd1;\n"
                               "ld.global.b16 %h0, [%rd2];\nld.global.b16 %h1, [%rd2+2];\nld.global.f32 %f0, "
                               "[%rd2+4];\n" +
                                   text + "st.global.f32 [%rd3], %f3;",
                               "", "sm_100a"));
          std::vector<uint32_t> out(threads);
          run.buffer(in).buffer(out);
          BOOST_REQUIRE(!run.launch(threads / 120, 120).trap);
          const Codes wide = codes(reference::kF32, op.operation, r.mode, {false, sat});
          const auto widened = [&](uint32_t code) {
            return reference::encode(reference::kF32, reference::decode(*t.format, code), Mode::Even);
          };
          int wrong = 0;
          for (size_t i = 0; i < threads; ++i) {
            const uint64_t a = widened(in[2 * i] & 0xFFFF), b = widened(in[2 * i] >> 16), c = in[2 * i + 1];
            wrong += (op.sources == 3 ? wide(a, b, c) : wide(a, c, 0)) != out[i];
          }
          BOOST_TEST(wrong == 0, text << wrong);
        }
  const auto error = [](const std::string& instruction) {
    return SimRun::loadError(ptxKernel(0, instruction, "", "sm_100a"));
  };
  for (const char* wrong : {"mul.rn.f32.f16 %f0, %h1, %f2;", "add.rn.ftz.f32.f16 %f0, %h1, %f2;",
                            "fma.rn.relu.f32.bf16 %f0, %h1, %h2, %f3;", "add.rn.f32.f64 %f0, %fd1, %f2;"})
    BOOST_TEST(error(wrong).find("of f32 and narrower operands is") != std::string::npos, wrong << error(wrong));
}

BOOST_AUTO_TEST_CASE(two_singles_in_64_bits) {
  SimRun run(ptxKernel(2,
                       "ld.global.b64 %rd2, [%rd0];\nfma.rn.f32x2 %rd3, %rd2, %rd2, %rd2;\nst.global.b64 [%rd1], %rd3;",
                       "", "sm_100a"));
  std::vector<float> in{3, -0.5f}, out{0, 0};
  run.buffer(in).buffer(out);
  BOOST_REQUIRE(!run.launch(1, 1).trap);
  BOOST_TEST(out[0] == 12);
  BOOST_TEST(out[1] == -0.25f);
}
