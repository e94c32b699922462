// tests/sim/VideoTest.cpp -- video instructions on whole registers: forms against references, and against an H200.
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
                       [=](Lane& v) { v.d = uint64_t(limited(primary(v), 32, d)); }});
      forms.push_back({name + typesOf(d, a, b) + ".sat.add %d, %a, %b, %c;", "d32 a32 b32 c32",
                       [=](Lane& v) { v.d = uint64_t(limited(primary(v), 32, d) + I(v.c)); }});
      forms.push_back({name + typesOf(d, a, b) + ".sat.max %d, %a, %b, %c;", "d32 a32 b32 c32",
                       [=](Lane& v) { v.d = uint64_t(std::max(limited(primary(v), 32, d), numberOf(v.c, 32, d))); }});
      forms.push_back({name + typesOf(d, a, b) + ".sat.min %d, %a, %b, %c;", "d32 a32 b32 c32",
                       [=](Lane& v) { v.d = uint64_t(std::min(limited(primary(v), 32, d), numberOf(v.c, 32, d))); }});
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
                             const I sum =
                                 numberOf(v.a, 32, a) * numberOf(v.b, 32, b) + numberOf(v.c, 32, any) + plusOne;
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

} // namespace

BOOST_AUTO_TEST_CASE(scalars_of_32_bits) { checkForms(scalars(), "video_scalars"); }
BOOST_AUTO_TEST_CASE(pairs_and_quads) { checkForms(vectors(), "video_vectors"); }

BOOST_AUTO_TEST_CASE(what_is_not_there_is_an_error) {
  const auto error = [](const std::string& instruction) { return SimRun::loadError(ptxKernel(1, instruction)); };
  BOOST_TEST(error("vadd4.u32.u32.u32 %r1.b10, %r2, %r3, %r4;").find("b10") != std::string::npos);
  BOOST_TEST(error("vadd.u32.u32.f32 %r1, %r2, %r3;").find("wants a type of .u32 .s32") != std::string::npos);
  BOOST_TEST(error("vshl.u32.u32.u32 %r1, %r2, %r3;").find(".clamp .wrap") != std::string::npos);
  BOOST_TEST(error("vshl.u32.u32.s32.wrap %r1, %r2, %r3;").find("for the amount") != std::string::npos);
  BOOST_TEST(error("vset.u32.u32.lo %r1, %r2, %r3;").find(".eq .ne") != std::string::npos);
  BOOST_TEST(error("vadd2.u32.u32.u32.sat.add %r1, %r2, %r3, %r4;").find("does not saturate") != std::string::npos);
}
