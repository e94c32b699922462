// tests/sim/VideoTest.cpp -- video instructions: forms against references, and against an H200, which differs from the ISA in places.
#define BOOST_TEST_MODULE sim_video
#include "tests/sim/LaneForms.h"
#include <algorithm>

using namespace tiletwin;
using namespace tiletwin::sim;

namespace {

using I = __int128;

I numberOf(uint64_t v, int bits, bool isSigned) {
  v &= (uint64_t(1) << bits) - 1;
  return isSigned && v >> (bits - 1) ? I(v) - (I(1) << bits) : I(v);
}
const char* typeOf(bool isSigned) { return isSigned ? "s32" : "u32"; }

I limited(I v, int bits, bool isSigned) {
  const I most = isSigned ? (I(1) << (bits - 1)) - 1 : (I(1) << bits) - 1;
  return std::min(std::max(v, most - ((I(1) << bits) - 1)), most);
}

/// .sat of scalars: unsigned registers are clamped at 0 only, and parts compared as unsigned unless both sources are signed.
I saturatedScalar(I v, int bits, bool d, bool a, bool b) {
  if (bits == 32 && !d) return std::max(v, I(0));
  if (bits == 32 || (a && b)) return limited(v, bits, d);
  const I most = (I(1) << (bits - d)) - 1;
  return v < 0 || v > most ? most : v;
}
/// min or max of a saturated result and c: of two unsigned numbers from 2^31 on, that of a sum or difference counts as greater,
/// and absolute differences from 2^32 on are greater than all.
uint64_t secondScalar(const std::string& name, I v, uint64_t c, bool d, bool isMax) {
  const I x = numberOf(uint64_t(v), 32, d), y = numberOf(c, 32, d), top = I(1) << 31;
  const bool isSum = name == "vadd" || name == "vsub", isHuge = name == "vabsdiff" && v >> 32 != 0;
  const bool outranks = !d && ((isSum && x >= top && y >= top) || isHuge);
  return uint64_t((x > y || outranks) == isMax ? x : y);
}

using Operation = std::function<I(I, I)>;
I half(I sum) { return sum >= 0 ? (sum + 1) / 2 : (sum - (sum % 2 != 0)) / 2; }
const std::vector<std::pair<std::string, Operation>> kOperations = {
    {"vadd", [](I a, I b) { return a + b; }},
    {"vsub", [](I a, I b) { return a - b; }},
    {"vabsdiff", [](I a, I b) { return a < b ? b - a : a - b; }},
    {"vmin", [](I a, I b) { return std::min(a, b); }},
    {"vmax", [](I a, I b) { return std::max(a, b); }}};

std::string typesOf(bool d, bool a, bool b) { return std::string(".") + typeOf(d) + "." + typeOf(a) + "." + typeOf(b); }

std::vector<Form> scalars() {
  std::vector<Form> forms;
  for (const auto& [name, operation] : kOperations)
    for (int signs = 0; signs < 8; ++signs) {
      const bool d = signs & 4, a = signs & 2, b = signs & 1;
      const auto primary = [=, operation = operation](const Lane& v) {
        return operation(numberOf(v.a, 32, a), numberOf(v.b, 32, b));
      };
      forms.push_back(
          {name + typesOf(d, a, b) + " %d, %a, %b;", "d32 a32 b32", [=](Lane& v) { v.d = uint64_t(primary(v)); }});
      forms.push_back({name + typesOf(d, a, b) + ".sat %d, %a, %b;", "d32 a32 b32",
                       [=](Lane& v) { v.d = uint64_t(saturatedScalar(primary(v), 32, d, a, b)); }});
      forms.push_back({name + typesOf(d, a, b) + ".sat.add %d, %a, %b, %c;", "d32 a32 b32 c32",
                       [=](Lane& v) { v.d = uint64_t(saturatedScalar(primary(v), 32, d, a, b) + I(v.c)); }});
      for (const bool isMax : {true, false})
        forms.push_back({name + typesOf(d, a, b) + ".sat." + (isMax ? "max" : "min") + " %d, %a, %b, %c;",
                         "d32 a32 b32 c32", [=, name = name](Lane& v) {
                           v.d = secondScalar(name, saturatedScalar(primary(v), 32, d, a, b), v.c, d, isMax);
                         }});
    }
  for (const bool d : {false, true})
    for (const bool a : {false, true})
      for (const bool clamp : {false, true}) {
        const std::string mode = clamp ? ".clamp" : ".wrap";
        const auto amount = [=](const Lane& v) { return int(clamp ? std::min<uint64_t>(v.b, 32) : v.b & 31); };
        forms.push_back({"vshl" + typesOf(d, a, false) + mode + " %d, %a, %b;", "d32 a32 b32s",
                         [=](Lane& v) { v.d = uint64_t(numberOf(v.a, 32, a) * (I(1) << amount(v))); }});
        forms.push_back({"vshr" + typesOf(d, a, false) + mode + " %d, %a, %b;", "d32 a32 b32s", [=](Lane& v) {
                           const I value = numberOf(v.a, 32, a), by = I(1) << amount(v);
                           v.d = uint64_t((value - ((value % by) + by) % by) / by);
                         }});
      }
  const std::vector<std::pair<std::string, std::function<bool(I, I)>>> comparisons = {
      {"eq", [](I x, I y) { return x == y; }}, {"ne", [](I x, I y) { return x != y; }},
      {"lt", [](I x, I y) { return x < y; }},  {"le", [](I x, I y) { return x <= y; }},
      {"gt", [](I x, I y) { return x > y; }},  {"ge", [](I x, I y) { return x >= y; }}};
  for (const auto& [name, compare] : comparisons)
    for (int signs = 0; signs < 4; ++signs) {
      const bool a = signs & 2, b = signs & 1;
      const std::string types = std::string(".") + typeOf(a) + "." + typeOf(b) + "." + name;
      const auto outcome = [=, compare = compare](const Lane& v) {
        return uint64_t(compare(numberOf(v.a, 32, a), numberOf(v.b, 32, b)));
      };
      forms.push_back({"vset" + types + " %d, %a, %b;", "d32 a32 b32", [=](Lane& v) { v.d = outcome(v); }});
      forms.push_back(
          {"vset" + types + ".add %d, %a, %b, %c;", "d32 a32 b32 c32", [=](Lane& v) { v.d = v.c + outcome(v); }});
    }
  for (int signs = 0; signs < 4; ++signs)
    for (const std::string scale : {"", ".shr7", ".shr15"})
      for (const bool saturates : {false, true})
        for (const bool plusOne : {false, true}) {
          const bool a = signs & 2, b = signs & 1, any = a || b;
          forms.push_back({"vmad" + typesOf(any, a, b) + (plusOne ? ".po" : "") + (saturates ? ".sat" : "") + scale +
                               " %d, %a, %b, %c;",
                           "d32 a32 b32 c32", [=](Lane& v) {
                             // Registers are signed whatever the types are; .sat of unsigned ones shifts zeros in.
                             I sum =
                                 numberOf(v.a, 32, true) * numberOf(v.b, 32, true) + numberOf(v.c, 32, true) + plusOne;
                             if (sum < 0 && saturates && !any && !scale.empty()) sum += I(1) << 64;
                             const I by = I(1) << (scale.empty() ? 0 : scale == ".shr7" ? 7 : 15);
                             const I scaled = (sum - ((sum % by) + by) % by) / by;
                             v.d = uint64_t(saturates ? limited(scaled, 32, any) : scaled);
                           }});
        }
  return forms;
}

std::vector<Form> vectors() {
  std::vector<Form> forms;
  auto operations = kOperations;
  operations.push_back({"vavrg", [](I a, I b) { return half(a + b); }});
  for (const int parts : {2, 4})
    for (const auto& [name, operation] : operations)
      for (int signs = 0; signs < 8; ++signs) {
        const bool d = signs & 4, a = signs & 2, b = signs & 1;
        const int bits = 32 / parts;
        const std::string text = name + std::to_string(parts) + typesOf(d, a, b);
        const auto each = [=, operation = operation](const Lane& v, int i) {
          return operation(numberOf(v.a >> i * bits, bits, a), numberOf(v.b >> i * bits, bits, b));
        };
        for (const bool saturates : {false, true})
          forms.push_back({text + (saturates ? ".sat" : "") + " %d, %a, %b, %c;", "d32 a32H b32H c32", [=](Lane& v) {
                             v.d = 0;
                             for (int i = 0; i < parts; ++i) {
                               const I value = saturates ? limited(each(v, i), bits, d) : each(v, i);
                               v.d |= uint64_t(numberOf(uint64_t(value), bits, false)) << i * bits;
                             }
                           }});
        forms.push_back({text + ".add %d, %a, %b, %c;", "d32 a32H b32H c32", [=](Lane& v) {
                           I sum = I(v.c);
                           for (int i = 0; i < parts; ++i) sum += each(v, i);
                           v.d = uint64_t(sum);
                         }});
      }
  for (const int parts : {2, 4})
    for (const bool isSigned : {false, true}) {
      const int bits = 32 / parts;
      const std::string text = "vset" + std::to_string(parts) + "." + typeOf(isSigned) + "." + typeOf(isSigned) + ".lt";
      const auto less = [=](const Lane& v, int i) {
        return uint64_t(numberOf(v.a >> i * bits, bits, isSigned) < numberOf(v.b >> i * bits, bits, isSigned));
      };
      forms.push_back({text + " %d, %a, %b, %c;", "d32 a32H b32H c32", [=](Lane& v) {
                         v.d = 0;
                         for (int i = 0; i < parts; ++i) v.d |= less(v, i) << i * bits;
                       }});
      forms.push_back({text + ".add %d, %a, %b, %c;", "d32 a32H b32H c32", [=](Lane& v) {
                         v.d = v.c;
                         for (int i = 0; i < parts; ++i) v.d += less(v, i);
                       }});
    }
  return forms;
}

/// Parts of registers that operands name.
std::vector<Form> selections() {
  std::vector<Form> forms;
  struct Selector {
    std::string word;
    int from, bits;
  };
  const std::vector<Selector> selectors = {{".b0", 0, 8},  {".b1", 8, 8},  {".b2", 16, 8},
                                           {".b3", 24, 8}, {".h0", 0, 16}, {".h1", 16, 16}};
  for (size_t i = 0; i < selectors.size(); ++i) {
    const Selector x = selectors[i], y = selectors[(i + 2) % 6], to = selectors[(i + 5) % 6];
    const bool d = i % 2, a = i % 3 == 0, b = i % 4 < 2;
    const auto sum = [=](const Lane& v) {
      return numberOf(v.a >> x.from, x.bits, a) + numberOf(v.b >> y.from, y.bits, b);
    };
    forms.push_back({"vadd" + typesOf(d, a, b) + " %d, %a" + x.word + ", %b" + y.word + ";", "d32 a32H b32H",
                     [=](Lane& v) { v.d = uint64_t(sum(v)); }});
    for (const bool saturates : {false, true})
      forms.push_back({"vadd" + typesOf(d, a, b) + (saturates ? ".sat" : "") + " %d" + to.word + ", %a" + x.word +
                           ", %b" + y.word + ", %c;",
                       "d32 a32H b32H c32", [=](Lane& v) {
                         I value = saturates ? saturatedScalar(sum(v), to.bits, d, a, b) : sum(v);
                         if (to.word == ".h1") value = numberOf(uint64_t(value) >> 16, 16, false); // its upper half
                         const uint64_t mask = ((uint64_t(1) << to.bits) - 1) << to.from;
                         v.d = (v.c & ~mask) | (uint64_t(value) << to.from & mask);
                       }});
    forms.push_back({"vmad" + typesOf(a || b, a, b) + ".shr7 %d, %a" + x.word + ", %b" + y.word + ", %c;",
                     "d32 a32H b32H c32", [=](Lane& v) {
                       const I all = numberOf(v.a >> x.from, x.bits, a) * numberOf(v.b >> y.from, y.bits, b) +
                                     numberOf(v.c, 32, true);
                       v.d = uint64_t((all - ((all % 128) + 128) % 128) / 128);
                     }});
  }
  for (const bool saturates : {false, true}) {
    const std::string sat = saturates ? ".sat" : "";
    const auto last = [=](I v) { return uint64_t(saturates ? limited(v, 32, true) : v); };
    forms.push_back({"vmad.s32.u32.u32" + sat + " %d, -%a, %b, %c;", "d32 a32 b32 c32", [=](Lane& v) {
                       v.d = last(numberOf(v.c, 32, true) - numberOf(v.a, 32, true) * numberOf(v.b, 32, true));
                     }});
    forms.push_back({"vmad.s32.s32.u32" + sat + " %d, %a, -%b, %c;", "d32 a32 b32 c32", [=](Lane& v) {
                       v.d = last(numberOf(v.c, 32, true) - numberOf(v.a, 32, true) * numberOf(v.b, 32, true));
                     }});
    forms.push_back({"vmad.s32.s32.s32" + sat + " %d, %a, %b, -%c;", "d32 a32 b32 c32", [=](Lane& v) {
                       v.d = last(numberOf(v.a, 32, true) * numberOf(v.b, 32, true) - numberOf(v.c, 32, true));
                     }});
    forms.push_back({"vmad.s32.u32.u32" + sat + " %d, %a, %b, -%c;", "d32 a32 b32 c32", [=](Lane& v) {
                       v.d = last(numberOf(v.a, 32, true) * numberOf(v.b, 32, true) - numberOf(v.c, 32, true));
                     }});
  }
  // Elements of b:a by number, the highest of the result first; what the mask leaves out is c's, or is not added.
  const auto vector = [&](int parts, const std::string& mask, const std::string& aSel, const std::string& bSel,
                          bool adds) {
    const int bits = 32 / parts;
    const std::string letter = parts == 2 ? "h" : "b";
    forms.push_back({"vsub" + std::to_string(parts) + (adds ? ".s32.u32.s32.add %d." : ".s32.u32.s32.sat %d.") +
                         letter + mask + ", %a." + letter + aSel + ", %b." + letter + bSel + ", %c;",
                     "d32 a32H b32H c32", [=](Lane& v) {
                       const uint64_t both = v.b << 32 | v.a;
                       I sum = I(v.c);
                       v.d = v.c;
                       for (int k = 0; k < parts; ++k) {
                         if (mask.find(char('0' + k)) == std::string::npos) continue;
                         const auto pick = [&](const std::string& digits, bool isSigned) {
                           return numberOf(both >> (digits[size_t(parts - 1 - k)] - '0') * bits, bits, isSigned);
                         };
                         const I value = pick(aSel, false) - pick(bSel, true);
                         sum += value;
                         const uint64_t ones = ((uint64_t(1) << bits) - 1) << k * bits;
                         v.d = (v.d & ~ones) | (uint64_t(limited(value, bits, true)) << k * bits & ones);
                       }
                       if (adds) v.d = uint64_t(sum);
                     }});
  };
  for (const bool adds : {false, true}) {
    vector(2, "10", "01", "32", adds);
    vector(2, "1", "30", "12", adds);
    vector(2, "0", "22", "10", adds);
    vector(4, "3210", "0123", "7654", adds);
    vector(4, "20", "7531", "0246", adds);
    vector(4, "3", "4444", "3210", adds);
    vector(4, "310", "6543", "1111", adds);
  }
  return forms;
}

} // namespace

BOOST_AUTO_TEST_CASE(scalars_of_32_bits) { checkForms(scalars(), "video_scalars"); }
BOOST_AUTO_TEST_CASE(pairs_and_quads) { checkForms(vectors(), "video_vectors"); }

BOOST_AUTO_TEST_CASE(parts_of_operands) { checkForms(selections(), "video_parts"); }

BOOST_AUTO_TEST_CASE(what_is_not_there_is_an_error) {
  const auto error = [](const std::string& instruction) { return SimRun::loadError(ptxKernel(1, instruction)); };
  BOOST_TEST(error("vadd4.u32.u32.u32 %r1.b01, %r2, %r3, %r4;").find("wants a mask") != std::string::npos);
  BOOST_TEST(error("vadd4.u32.u32.u32 %r1, %r2.b10, %r3, %r4;").find("digits from 0 to 7") != std::string::npos);
  BOOST_TEST(error("vadd2.u32.u32.u32 %r1, %r2.h14, %r3, %r4;").find("from 0 to 3") != std::string::npos);
  BOOST_TEST(error("vadd.u32.u32.u32 %r1, %r2.b10, %r3;").find(".b0 to .b3") != std::string::npos);
  BOOST_TEST(error("vadd.u32.u32.u32 %r1, -%r2, %r3;").find("cannot be negated") != std::string::npos);
  BOOST_TEST(error("vadd.u32.u32.u32.add %r1.b0, %r2, %r3, %r4;").find("whole register") != std::string::npos);
  BOOST_TEST(error("vmad.u32.u32.u32.po %r1, -%r2, %r3, %r4;").find("cannot be negated") != std::string::npos);
  BOOST_TEST(error("vmad.s32.u32.u32 %r1, -%r2, %r3, -%r4;").find("either the product") != std::string::npos);
  BOOST_TEST(error("add.s32 %r1, %r2.b0, %r3;").find("register") != std::string::npos);
  BOOST_TEST(error("vadd.u32.u32.f32 %r1, %r2, %r3;").find("wants a type of .u32 .s32") != std::string::npos);
  BOOST_TEST(error("vshl.u32.u32.u32 %r1, %r2, %r3;").find(".clamp .wrap") != std::string::npos);
  BOOST_TEST(error("vshl.u32.u32.s32.wrap %r1, %r2, %r3;").find("for the amount") != std::string::npos);
  BOOST_TEST(error("vset.u32.u32.lo %r1, %r2, %r3;").find(".eq .ne") != std::string::npos);
  BOOST_TEST(error("vadd2.u32.u32.u32.sat.add %r1, %r2, %r3, %r4;").find("does not saturate") != std::string::npos);
}
