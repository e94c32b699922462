// tests/sim/CompareTest.cpp -- setp, set, testp, selp, slct: every operator of every type against references, and an H200.
#define BOOST_TEST_MODULE sim_compare
#include "runtime/FloatFormats.h"
#include "tests/sim/LaneForms.h"
#include <bit>
#include <cmath>
#include <limits>

using namespace tiletwin;
using namespace tiletwin::sim;

namespace {

/// How two values stand to each other.
enum class Order { Less, Equal, Greater, Unordered };

struct CompareType {
  const char* name;
  int bits;
  char kind; ///< of the values, as in LaneForms.h
};
constexpr CompareType kIntegers[] = {{"u16", 16, 0}, {"u32", 32, 0}, {"u64", 64, 0},
                                     {"s16", 16, 0}, {"s32", 32, 0}, {"s64", 64, 0}};
constexpr CompareType kBits[] = {{"b16", 16, 0}, {"b32", 32, 0}, {"b64", 64, 0}};
constexpr CompareType kFloats[] = {{"f32", 32, 'f'}, {"f64", 64, 'l'}, {"f16", 16, 'h'}, {"bf16", 16, 'g'}};
constexpr CompareType kPairs[] = {{"f16x2", 32, 'H'}, {"bf16x2", 32, 'G'}};

/// Floats as sign and magnitude, so that no comparison of the host is used.
Order orderOfFloats(uint64_t x, uint64_t y, int bits, int mantissa, bool flush) {
  const uint64_t sign = uint64_t(1) << (bits - 1), infinity = (sign - 1) >> mantissa << mantissa;
  const auto key = [&](uint64_t v) {
    uint64_t magnitude = v & (sign - 1);
    if (flush && magnitude >> mantissa == 0) magnitude = 0;
    return v & sign ? -int64_t(magnitude) : int64_t(magnitude);
  };
  if ((x & (sign - 1)) > infinity || (y & (sign - 1)) > infinity) return Order::Unordered;
  return key(x) < key(y) ? Order::Less : key(x) > key(y) ? Order::Greater : Order::Equal;
}

Order orderOf(const CompareType& t, uint64_t x, uint64_t y, bool flush) {
  const std::string name = t.name;
  if (name == "f32") return orderOfFloats(x, y, 32, 23, flush);
  if (name == "f64") return orderOfFloats(x, y, 64, 52, flush);
  if (name[0] == 'f') return orderOfFloats(x & 0xFFFF, y & 0xFFFF, 16, 10, flush);
  if (name.starts_with("bf")) return orderOfFloats(x & 0xFFFF, y & 0xFFFF, 16, 7, flush);
  const int unused = 64 - t.bits;
  x <<= unused, y <<= unused;
  if (name[0] == 's') x ^= uint64_t(1) << 63, y ^= uint64_t(1) << 63;
  return x < y ? Order::Less : x > y ? Order::Greater : Order::Equal;
}

bool holds(const std::string& op, Order order) {
  const bool less = order == Order::Less, equal = order == Order::Equal, greater = order == Order::Greater,
             unordered = order == Order::Unordered;
  if (op == "eq") return equal;
  if (op == "ne") return less || greater;
  if (op == "lt" || op == "lo") return less;
  if (op == "le" || op == "ls") return less || equal;
  if (op == "gt" || op == "hi") return greater;
  if (op == "ge" || op == "hs") return greater || equal;
  if (op == "num") return !unordered;
  if (op == "nan") return unordered;
  return unordered || holds(op.substr(0, 2), order);
}

const std::vector<std::string> kOrdered = {"eq", "ne", "lt", "le", "gt", "ge"},
                               kUnsignedOnly = {"lo", "ls", "hi", "hs"},
                               kUnordered = {"equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

std::vector<std::string> operatorsOf(const CompareType& t) {
  std::vector<std::string> r = kOrdered;
  if (t.name[0] == 'b' && t.kind == 0) return {"eq", "ne"};
  if (t.name[0] == 'u') r.insert(r.end(), kUnsignedOnly.begin(), kUnsignedOnly.end());
  if (t.kind != 0) r.insert(r.end(), kUnordered.begin(), kUnordered.end());
  return r;
}

std::string registersFor(const CompareType& t) {
  const std::string one = std::to_string(t.bits) + (t.kind ? std::string(1, t.kind) : std::string());
  return " a" + one + " b" + one;
}

bool combine(const std::string& by, bool t, bool c) { return by == "and" ? t && c : by == "or" ? t || c : t != c; }

bool mayFlush(const CompareType& t) { return std::string(t.name) == "f32" || t.kind == 'h' || t.kind == 'H'; }

std::vector<Form> predicates() {
  std::vector<Form> forms;
  std::vector<CompareType> types(std::begin(kIntegers), std::end(kIntegers));
  types.insert(types.end(), std::begin(kBits), std::end(kBits));
  types.insert(types.end(), std::begin(kFloats), std::end(kFloats));
  const std::string combinations[] = {"and", "or", "xor"};
  size_t next = 0;
  for (const CompareType& t : types)
    for (const bool flush : {false, true}) {
      if (flush && !mayFlush(t)) continue;
      for (const std::string& op : operatorsOf(t)) {
        const std::string suffix = std::string(flush ? ".ftz." : ".") + t.name;
        const auto outcome = [=](const Lane& v) { return holds(op, orderOf(t, v.a, v.b, flush)); };
        forms.push_back(
            {"setp." + op + suffix + " %d, %a, %b;", "d1" + registersFor(t), [=](Lane& v) { v.d = outcome(v); }});
        // Each operator with one of the combinations, and with both destinations but for 16-bit floats, which have one.
        const std::string by = combinations[next++ % 3];
        if (t.bits == 16 && t.kind != 0) {
          forms.push_back({"setp." + op + "." + by + suffix + " %d, %a, %b, !%c;", "d1" + registersFor(t) + " c1",
                           [=](Lane& v) { v.d = combine(by, outcome(v), !v.c); }});
          continue;
        }
        forms.push_back(
            {"setp." + op + "." + by + suffix + " %d|%e, %a, %b, %c;", "d1 e1" + registersFor(t) + " c1", [=](Lane& v) {
               v.d = combine(by, outcome(v), v.c);
               v.e = combine(by, !outcome(v), v.c);
             }});
      }
    }
  forms.push_back({"setp.lt.s32 %d|%e, %a, %b;", "d1 e1 a32 b32", [](Lane& v) {
                     v.d = int32_t(v.a) < int32_t(v.b);
                     v.e = !v.d;
                   }});
  forms.push_back({"setp.ge.or.s32 %d, %a, -1, !%c;", "d1 a32 c1", [](Lane& v) { v.d = int32_t(v.a) >= -1 || !v.c; }});
  forms.push_back(
      {"setp.gt.f32 %d, %a, 0f3F800000;", "d1 a32f", [](Lane& v) { v.d = std::bit_cast<float>(uint32_t(v.a)) > 1; }});
  return forms;
}

std::vector<Form> predicatesOfPairs() {
  std::vector<Form> forms;
  for (const CompareType& t : kPairs)
    for (const bool flush : {false, true}) {
      if (flush && !mayFlush(t)) continue;
      for (const std::string& op : operatorsOf(t)) {
        const std::string suffix = std::string(flush ? ".ftz." : ".") + t.name;
        const auto outcome = [=](const Lane& v, int shift) {
          return holds(op, orderOf(t, v.a >> shift, v.b >> shift, flush));
        };
        forms.push_back({"setp." + op + suffix + " %d|%e, %a, %b;", "d1 e1" + registersFor(t), [=](Lane& v) {
                           v.d = outcome(v, 0);
                           v.e = outcome(v, 16);
                         }});
        forms.push_back(
            {"setp." + op + ".xor" + suffix + " %d|%e, %a, %b, %c;", "d1 e1" + registersFor(t) + " c1", [=](Lane& v) {
               v.d = combine("xor", outcome(v, 0), v.c);
               v.e = combine("xor", outcome(v, 16), v.c);
             }});
      }
    }
  return forms;
}

struct SetTo {
  const char* name;
  int bits;
  uint64_t yes;
};

std::vector<Form> values() {
  std::vector<Form> forms;
  const auto add = [&](const SetTo& to, const CompareType& t, const std::string& op, bool flush) {
    const std::string types = std::string(flush ? ".ftz." : ".") + to.name + "." + t.name,
                      d = "d" + std::to_string(to.bits);
    const uint64_t yes = to.yes;
    const auto outcome = [=](const Lane& v) { return holds(op, orderOf(t, v.a, v.b, flush)); };
    forms.push_back(
        {"set." + op + types + " %d, %a, %b;", d + registersFor(t), [=](Lane& v) { v.d = outcome(v) ? yes : 0; }});
    forms.push_back({"set." + op + ".or" + types + " %d, %a, %b, %c;", d + registersFor(t) + " c1",
                     [=](Lane& v) { v.d = outcome(v) || v.c ? yes : 0; }});
  };
  const SetTo u32{"u32", 32, 0xFFFFFFFF}, s32{"s32", 32, 0xFFFFFFFF}, f32{"f32", 32, 0x3F800000},
      u16{"u16", 16, 0xFFFF}, s16{"s16", 16, 0xFFFF}, f16{"f16", 16, 0x3C00}, bf16{"bf16", 16, 0x3F80};
  for (const CompareType& t : kIntegers)
    for (const SetTo& to : {u32, s32, f32, f16, bf16}) add(to, t, t.name[0] == 'u' ? "hs" : "lt", false);
  for (const CompareType& t : kBits)
    for (const SetTo& to : {u32, f32, f16}) add(to, t, "ne", false);
  for (const CompareType& t : {kFloats[0], kFloats[1]})
    for (const SetTo& to : {u32, s32, f32, f16, bf16}) add(to, t, "geu", false);
  add(f32, kFloats[0], "le", true);
  for (const SetTo& to : {u16, s16, u32, s32, f16}) add(to, kFloats[2], "ltu", false), add(to, kFloats[2], "eq", true);
  for (const SetTo& to : {u16, s16, u32, s32, bf16}) add(to, kFloats[3], "nan", false);
  return forms;
}

std::vector<Form> valuesOfPairs() {
  std::vector<Form> forms;
  for (const CompareType& t : kPairs) {
    const std::string same = t.name;
    for (const auto& [name, yes] :
         {std::pair<std::string, uint64_t>{same, t.kind == 'H' ? 0x3C00 : 0x3F80}, {"u32", 0xFFFF}, {"s32", 0xFFFF}})
      for (const std::string op : {"nan", "gt", "leu"}) {
        const auto half = [=, yes = yes](const Lane& v, int shift, bool c) {
          return holds(op, orderOf(t, v.a >> shift, v.b >> shift, false)) != c ? yes << shift : 0;
        };
        forms.push_back({"set." + op + "." + name + "." + same + " %d, %a, %b;", "d32" + registersFor(t),
                         [=](Lane& v) { v.d = half(v, 0, false) | half(v, 16, false); }});
        forms.push_back({"set." + op + ".xor." + name + "." + same + " %d, %a, %b, %c;",
                         "d32" + registersFor(t) + " c1", [=](Lane& v) { v.d = half(v, 0, v.c) | half(v, 16, v.c); }});
      }
  }
  return forms;
}

std::vector<Form> tests() {
  std::vector<Form> forms;
  for (const bool wide : {false, true}) {
    const std::string suffix = wide ? ".f64 %d, %a;" : ".f32 %d, %a;", registers = wide ? "d1 a64l" : "d1 a32f";
    const auto add = [&](const std::string& name, auto expected) {
      forms.push_back({"testp." + name + suffix, registers, [=](Lane& v) {
                         v.d = wide ? expected(std::fpclassify(std::bit_cast<double>(v.a)))
                                    : expected(std::fpclassify(std::bit_cast<float>(uint32_t(v.a))));
                       }});
    };
    add("finite", [](int c) { return c == FP_NORMAL || c == FP_SUBNORMAL || c == FP_ZERO; });
    add("infinite", [](int c) { return c == FP_INFINITE; });
    add("number", [](int c) { return c != FP_NAN; });
    add("notanumber", [](int c) { return c == FP_NAN; });
    add("normal", [](int c) { return c == FP_NORMAL || c == FP_ZERO; });
    add("subnormal", [](int c) { return c == FP_SUBNORMAL; });
  }
  return forms;
}

std::vector<Form> choices() {
  std::vector<Form> forms;
  for (const auto& [type, bits] : std::initializer_list<std::pair<std::string, int>>{{"b16", 16},
                                                                                     {"b32", 32},
                                                                                     {"b64", 64},
                                                                                     {"u16", 16},
                                                                                     {"u32", 32},
                                                                                     {"u64", 64},
                                                                                     {"s16", 16},
                                                                                     {"s32", 32},
                                                                                     {"s64", 64},
                                                                                     {"f32", 32},
                                                                                     {"f64", 64}}) {
    const std::string b = std::to_string(bits), three = "d" + b + " a" + b + " b" + b;
    forms.push_back({"selp." + type + " %d, %a, %b, %c;", three + " c1", [](Lane& v) { v.d = v.c ? v.a : v.b; }});
    forms.push_back({"slct." + type + ".s32 %d, %a, %b, %c;", three + " c32",
                     [](Lane& v) { v.d = int32_t(v.c) >= 0 ? v.a : v.b; }});
    for (const bool flush : {false, true})
      forms.push_back(
          {std::string(flush ? "slct.ftz." : "slct.") + type + ".f32 %d, %a, %b, %c;", three + " c32f", [=](Lane& v) {
             const bool isNan = (v.c & 0x7FFFFFFF) > 0x7F800000;
             const bool isZero = (v.c & 0x7FFFFFFF) < (flush ? 0x00800000 : 1);
             v.d = !isNan && (isZero || v.c < 0x80000000) ? v.a : v.b;
           }});
  }
  forms.push_back({"selp.b32 %d, 1, 0, !%c;", "d32 c1", [](Lane& v) { v.d = !v.c; }});
  forms.push_back({"selp.f32 %d, 0f3F800000, %b, %c;", "d32 b32f c1", [](Lane& v) { v.d = v.c ? 0x3F800000 : v.b; }});
  return forms;
}

} // namespace

BOOST_AUTO_TEST_CASE(setp_of_scalars) { checkForms(predicates(), "setp"); }
BOOST_AUTO_TEST_CASE(setp_of_pairs) { checkForms(predicatesOfPairs(), "setp_pairs"); }
BOOST_AUTO_TEST_CASE(set_of_scalars) { checkForms(values(), "set"); }
BOOST_AUTO_TEST_CASE(set_of_pairs) { checkForms(valuesOfPairs(), "set_pairs"); }
BOOST_AUTO_TEST_CASE(testp_of_floats) { checkForms(tests(), "testp"); }
BOOST_AUTO_TEST_CASE(choosing) { checkForms(choices(), "choices"); }

BOOST_AUTO_TEST_CASE(what_is_not_there_is_an_error) {
  const auto error = [](const std::string& instruction) { return SimRun::loadError(ptxKernel(1, instruction)); };
  BOOST_TEST(error("setp.lt.b32 %p1, %r2, %r3;").find("no comparison .lt of .b32") != std::string::npos);
  BOOST_TEST(error("setp.ltu.s32 %p1, %r2, %r3;").find("no comparison .ltu of .s32") != std::string::npos);
  BOOST_TEST(error("setp.lo.s32 %p1, %r2, %r3;").find("no comparison .lo of .s32") != std::string::npos);
  BOOST_TEST(error("setp.lt.ftz.f64 %p1, %fd2, %fd3;").find("no comparison .lt.ftz of .f64") != std::string::npos);
  BOOST_TEST(error("setp.s32 %p1, %r2, %r3;").find("wants one of .eq") != std::string::npos);
  BOOST_TEST(error("setp.lt.s32 %r1, %r2, %r3;").find("wanted .pred") != std::string::npos);
  BOOST_TEST(error("set.lt.u16.s32 %h1, %r2, %r3;").find("no such destination") != std::string::npos);
  BOOST_TEST(error("testp.odd.f32 %p1, %f2;").find(".finite") != std::string::npos);
  BOOST_TEST(error("slct.ftz.f32.s32 %f1, %f2, %f3, %r1;").find(".f32 for c with .ftz") != std::string::npos);
  BOOST_TEST(error("selp.f16 %h1, %h2, %h3, %p1;").find("wants a type of") != std::string::npos);
}
