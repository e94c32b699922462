// tests/sim/IntegerTest.cpp -- integer arithmetic: every form against references in 128 bits, and against an H200.
#define BOOST_TEST_MODULE sim_integer
#include "tests/sim/LaneForms.h"
#include <algorithm>

using namespace tiletwin;
using namespace tiletwin::sim;

namespace {

using I = __int128;
using U = unsigned __int128;

struct IntegerType {
  const char* name;
  int bits;
  bool isSigned;
  /// The mathematical value of a register's bits.
  I value(uint64_t v) const {
    const uint64_t low = bits == 64 ? v : v & ((uint64_t(1) << bits) - 1);
    return isSigned && low >> (bits - 1) & 1 ? I(low) - (I(1) << bits) : I(low);
  }
  I least() const { return isSigned ? -(I(1) << (bits - 1)) : 0; }
  I most() const { return isSigned ? (I(1) << (bits - 1)) - 1 : (I(1) << bits) - 1; }
};
constexpr IntegerType kTypes[] = {{"u16", 16, false}, {"u32", 32, false}, {"u64", 64, false},
                                  {"s16", 16, true},  {"s32", 32, true},  {"s64", 64, true}};

/// "add.s32 %d, %a, %b;" from "add.", "s32".
std::string binary(const std::string& opcode, const std::string& type) { return opcode + type + " %d, %a, %b;"; }
std::string ternary(const std::string& opcode, const std::string& type) { return opcode + type + " %d, %a, %b, %c;"; }
std::string sizes(std::initializer_list<std::pair<char, int>> list) {
  std::string r;
  for (const auto& [name, bits] : list) r += std::string(1, name) + std::to_string(bits) + " ";
  return r;
}

/// Quotients as GPUs give them: all ones for division by zero.
I quotient(I a, I b) { return b == 0 ? I(-1) : a / b; }
I remainder(I a, I b) { return b == 0 ? I(-1) : a % b; }

I magnitude(I v) { return v < 0 ? -v : v; }

std::vector<Form> sums() {
  std::vector<Form> forms;
  for (const IntegerType& t : kTypes) {
    const std::string three = sizes({{'d', t.bits}, {'a', t.bits}, {'b', t.bits}});
    const auto add = [&](const std::string& opcode, auto f) {
      forms.push_back({binary(opcode, t.name), three, [=](Lane& v) { v.d = uint64_t(f(t.value(v.a), t.value(v.b))); }});
    };
    add("add.", [](I a, I b) { return a + b; });
    add("sub.", [](I a, I b) { return a - b; });
    add("min.", [](I a, I b) { return std::min(a, b); });
    add("max.", [](I a, I b) { return std::max(a, b); });
    add("div.", quotient);
    add("rem.", remainder);
    forms.push_back({ternary("sad.", t.name), sizes({{'d', t.bits}, {'a', t.bits}, {'b', t.bits}, {'c', t.bits}}),
                     [=](Lane& v) { v.d = uint64_t(t.value(v.c) + magnitude(t.value(v.a) - t.value(v.b))); }});
    if (!t.isSigned) continue;
    const std::string two = sizes({{'d', t.bits}, {'a', t.bits}});
    forms.push_back(
        {std::string("abs.") + t.name + " %d, %a;", two, [=](Lane& v) { v.d = uint64_t(magnitude(t.value(v.a))); }});
    forms.push_back({std::string("neg.") + t.name + " %d, %a;", two, [=](Lane& v) { v.d = uint64_t(-t.value(v.a)); }});
  }
  const IntegerType s32 = kTypes[4];
  const auto clamped = [=](I v) { return uint64_t(std::clamp(v, s32.least(), s32.most())); };
  forms.push_back(
      {"add.sat.s32 %d, %a, %b;", "d32 a32 b32", [=](Lane& v) { v.d = clamped(s32.value(v.a) + s32.value(v.b)); }});
  forms.push_back(
      {"sub.sat.s32 %d, %a, %b;", "d32 a32 b32", [=](Lane& v) { v.d = clamped(s32.value(v.a) - s32.value(v.b)); }});
  forms.push_back({"min.relu.s32 %d, %a, %b;", "d32 a32 b32",
                   [=](Lane& v) { v.d = uint64_t(std::max<I>(0, std::min(s32.value(v.a), s32.value(v.b)))); }});
  forms.push_back({"max.relu.s32 %d, %a, %b;", "d32 a32 b32",
                   [=](Lane& v) { v.d = uint64_t(std::max<I>(0, std::max(s32.value(v.a), s32.value(v.b)))); }});
  forms.push_back({"add.s32 %d, %a, -7;", "d32 a32", [](Lane& v) { v.d = v.a - 7; }});
  forms.push_back({"sub.u64 %d, 5, %a;", "d64 a64", [](Lane& v) { v.d = 5 - v.a; }});
  return forms;
}

std::vector<Form> pairs() {
  std::vector<Form> forms;
  const auto each = [&](const std::string& text, bool isSigned, auto f) {
    forms.push_back({text, "d32 a32H b32H", [=](Lane& v) {
                       const IntegerType half{"", 16, isSigned};
                       v.d = 0;
                       for (int i = 0; i < 32; i += 16)
                         v.d |= (uint64_t(f(half.value(v.a >> i), half.value(v.b >> i))) & 0xFFFF) << i;
                     }});
  };
  for (const bool isSigned : {false, true}) {
    const std::string type = isSigned ? "s16x2" : "u16x2";
    each(binary("add.", type), isSigned, [](I a, I b) { return a + b; });
    each(binary("min.", type), isSigned, [](I a, I b) { return std::min(a, b); });
    each(binary("max.", type), isSigned, [](I a, I b) { return std::max(a, b); });
  }
  each(binary("min.relu.", "s16x2"), true, [](I a, I b) { return std::max<I>(0, std::min(a, b)); });
  each(binary("max.relu.", "s16x2"), true, [](I a, I b) { return std::max<I>(0, std::max(a, b)); });
  return forms;
}

/// The product as 128 bits, of which those above the operands' width are what .hi takes.
U product(const IntegerType& t, uint64_t a, uint64_t b) { return U(t.value(a)) * U(t.value(b)); }

std::vector<Form> products() {
  std::vector<Form> forms;
  for (const IntegerType& t : kTypes) {
    const std::string three = sizes({{'d', t.bits}, {'a', t.bits}, {'b', t.bits}}),
                      four = sizes({{'d', t.bits}, {'a', t.bits}, {'b', t.bits}, {'c', t.bits}});
    forms.push_back({binary("mul.lo.", t.name), three, [=](Lane& v) { v.d = uint64_t(product(t, v.a, v.b)); }});
    forms.push_back(
        {binary("mul.hi.", t.name), three, [=](Lane& v) { v.d = uint64_t(product(t, v.a, v.b) >> t.bits); }});
    forms.push_back({ternary("mad.lo.", t.name), four, [=](Lane& v) { v.d = uint64_t(product(t, v.a, v.b)) + v.c; }});
    forms.push_back(
        {ternary("mad.hi.", t.name), four, [=](Lane& v) { v.d = uint64_t(product(t, v.a, v.b) >> t.bits) + v.c; }});
    if (t.bits == 64) continue;
    const int wide = 2 * t.bits;
    forms.push_back({binary("mul.wide.", t.name), sizes({{'d', wide}, {'a', t.bits}, {'b', t.bits}}),
                     [=](Lane& v) { v.d = uint64_t(product(t, v.a, v.b)); }});
    forms.push_back({ternary("mad.wide.", t.name), sizes({{'d', wide}, {'a', t.bits}, {'b', t.bits}, {'c', wide}}),
                     [=](Lane& v) { v.d = uint64_t(product(t, v.a, v.b)) + v.c; }});
  }
  const IntegerType s32 = kTypes[4];
  const auto clamped = [=](I v) { return uint64_t(std::clamp(v, s32.least(), s32.most())); };
  forms.push_back({"mad.hi.sat.s32 %d, %a, %b, %c;", "d32 a32 b32 c32",
                   [=](Lane& v) { v.d = clamped((s32.value(v.a) * s32.value(v.b) >> 32) + s32.value(v.c)); }});
  for (const bool isSigned : {false, true}) {
    const IntegerType low{"", 24, isSigned};
    const std::string type = isSigned ? "s32" : "u32";
    const auto product24 = [=](Lane& v) { return low.value(v.a) * low.value(v.b); };
    forms.push_back({binary("mul24.lo.", type), "d32 a32 b32", [=](Lane& v) { v.d = uint64_t(product24(v)); }});
    forms.push_back({binary("mul24.hi.", type), "d32 a32 b32", [=](Lane& v) { v.d = uint64_t(product24(v) >> 16); }});
    forms.push_back(
        {ternary("mad24.lo.", type), "d32 a32 b32 c32", [=](Lane& v) { v.d = uint64_t(product24(v)) + v.c; }});
    forms.push_back(
        {ternary("mad24.hi.", type), "d32 a32 b32 c32", [=](Lane& v) { v.d = uint64_t(product24(v) >> 16) + v.c; }});
    if (isSigned)
      forms.push_back({"mad24.hi.sat.s32 %d, %a, %b, %c;", "d32 a32 b32 c32",
                       [=](Lane& v) { v.d = clamped((product24(v) >> 16) + s32.value(v.c)); }});
  }
  return forms;
}

std::vector<Form> dots() {
  std::vector<Form> forms;
  for (const bool aSigned : {false, true})
    for (const bool bSigned : {false, true}) {
      const std::string types = std::string(aSigned ? "s32" : "u32") + (bSigned ? ".s32" : ".u32");
      const IntegerType aByte{"", 8, aSigned}, bByte{"", 8, bSigned}, aHalf{"", 16, aSigned};
      forms.push_back({ternary("dp4a.", types), "d32 a32 b32 c32", [=](Lane& v) {
                         I sum = I(v.c);
                         for (int i = 0; i < 4; ++i) sum += aByte.value(v.a >> 8 * i) * bByte.value(v.b >> 8 * i);
                         v.d = uint64_t(sum);
                       }});
      for (const bool high : {false, true})
        forms.push_back({ternary(high ? "dp2a.hi." : "dp2a.lo.", types), "d32 a32 b32 c32", [=](Lane& v) {
                           I sum = I(v.c);
                           for (int i = 0; i < 2; ++i)
                             sum += aHalf.value(v.a >> 16 * i) * bByte.value(v.b >> (8 * i + 16 * high));
                           v.d = uint64_t(sum);
                         }});
    }
  return forms;
}

/// Two words of arithmetic: the second takes the first one's carry. a:b and c:x are the operands, e:d the result.
std::vector<Form> carries() {
  std::vector<Form> forms;
  for (const int bits : {32, 64})
    for (const char* sign : {"u", "s"}) {
      const std::string t = sign + std::to_string(bits);
      const auto all = sizes({{'d', bits}, {'e', bits}, {'a', bits}, {'b', bits}, {'c', bits}, {'x', bits}});
      const IntegerType word{"", bits, false}, type{"", bits, sign[0] == 's'};
      const auto carryOf = [=](U sum) { return uint64_t(sum >> bits & 1); };
      forms.push_back({"add.cc." + t + " %d, %b, %x; addc." + t + " %e, %a, %c;", all, [=](Lane& v) {
                         const U sum = U(word.value(v.b)) + U(word.value(v.x));
                         v.d = uint64_t(sum);
                         v.e = v.a + v.c + carryOf(sum);
                       }});
      forms.push_back({"sub.cc." + t + " %d, %b, %x; subc." + t + " %e, %a, %c;", all, [=](Lane& v) {
                         v.d = v.b - v.x;
                         v.e = v.a - v.c - (word.value(v.b) < word.value(v.x));
                       }});
      // A chain of three: the carry out of addc.cc, with a carry coming in, is what e shows.
      forms.push_back(
          {"add.cc." + t + " %d, %b, %x; addc.cc." + t + " %d, %a, %c; addc." + t + " %e, 0, 0;", all, [=](Lane& v) {
             const uint64_t first = carryOf(U(word.value(v.b)) + U(word.value(v.x)));
             const U sum = U(word.value(v.a)) + U(word.value(v.c)) + first;
             v.d = uint64_t(sum);
             v.e = carryOf(sum);
           }});
      forms.push_back(
          {"sub.cc." + t + " %d, %b, %x; subc.cc." + t + " %d, %a, %c; subc." + t + " %e, 0, 0;", all, [=](Lane& v) {
             const I first = word.value(v.b) < word.value(v.x);
             const I difference = word.value(v.a) - word.value(v.c) - first;
             v.d = uint64_t(difference);
             v.e = difference < 0 ? ~uint64_t(0) : 0;
           }});
      for (const bool high : {false, true}) {
        const std::string mode = high ? "hi" : "lo";
        const auto half = [=](Lane& v) {
          const uint64_t p = uint64_t(product(type, v.a, v.b) >> (high ? bits : 0));
          return U(word.value(p));
        };
        forms.push_back({"mad." + mode + ".cc." + t + " %d, %a, %b, %c; addc." + t + " %e, %x, 0;", all, [=](Lane& v) {
                           const U sum = half(v) + U(word.value(v.c));
                           v.d = uint64_t(sum);
                           v.e = v.x + carryOf(sum);
                         }});
        forms.push_back(
            {"add.cc." + t + " %e, %x, %x; madc." + mode + ".cc." + t + " %d, %a, %b, %c; addc." + t + " %e, 0, 0;",
             all, [=](Lane& v) {
               const U sum = half(v) + U(word.value(v.c)) + carryOf(U(word.value(v.x)) * 2);
               v.d = uint64_t(sum);
               v.e = carryOf(sum);
             }});
        forms.push_back({"add.cc." + t + " %e, %x, %x; madc." + mode + "." + t + " %d, %a, %b, %c;", all, [=](Lane& v) {
                           v.e = 2 * v.x;
                           v.d = uint64_t(half(v) + U(word.value(v.c)) + carryOf(U(word.value(v.x)) * 2));
                         }});
      }
    }
  return forms;
}

} // namespace

BOOST_AUTO_TEST_CASE(sums_and_quotients) { checkForms(sums(), "sums"); }
BOOST_AUTO_TEST_CASE(pairs_of_16_bits) { checkForms(pairs(), "pairs"); }
BOOST_AUTO_TEST_CASE(products_of_integers) { checkForms(products(), "products"); }
BOOST_AUTO_TEST_CASE(dot_products_of_bytes) { checkForms(dots(), "dots"); }
BOOST_AUTO_TEST_CASE(carries_between_words) { checkForms(carries(), "carries"); }

BOOST_AUTO_TEST_CASE(destination_may_be_a_source) {
  checkForms({{"mov.b32 %d, %a; add.s32 %d, %d, %d;", "d32 a32", [](Lane& v) { v.d = 2 * v.a; }},
              {"mov.b32 %d, %a; mad.lo.s32 %d, %b, %d, %d;", "d32 a32 b32", [](Lane& v) { v.d = v.a * v.b + v.a; }}},
             "in_place");
}

BOOST_AUTO_TEST_CASE(what_is_not_there_is_an_error_with_its_place) {
  const auto error = [](const std::string& instruction) { return SimRun::loadError(ptxKernel(1, instruction)); };
  BOOST_TEST(error("mul.s32 %r1, %r2, %r3;").find("wants one of .lo .hi .wide") != std::string::npos);
  BOOST_TEST(error("add.b32 %r1, %r2, %r3;").find("add.b32: wants a type of .u16") != std::string::npos);
  BOOST_TEST(error("add.sat.u32 %r1, %r2, %r3;").find("wants a type of .s32 where it saturates") != std::string::npos);
  BOOST_TEST(error("min.relu.u32 %r1, %r2, %r3;").find(".s16x2 or .s32") != std::string::npos);
  BOOST_TEST(error("min.s32.foo %r1, %r2, %r3;").find("foo") != std::string::npos);
  BOOST_TEST(error("add.s32 %r1, %r2;").find("wants 3 operands, got 2") != std::string::npos);
  BOOST_TEST(error("add.s32 %r1, %rd2, %r3;").find("does not fit .s32") != std::string::npos);
  BOOST_TEST(error("mul.wide.s64 %rd1, %rd2, %rd3;").find("with .wide") != std::string::npos);
  BOOST_TEST(error("abs.u32 %r1, %r2;").find(".s16 .s32 .s64") != std::string::npos);
  // "kernel.ptx:16:1: ..." names the line of the instruction.
  BOOST_TEST(error("add.b32 %r1, %r2, %r3;").find("kernel.ptx:") == 0u);
}
