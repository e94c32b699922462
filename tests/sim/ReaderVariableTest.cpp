// tests/sim/ReaderVariableTest.cpp -- variables with their sizes and initial values; constant expressions.
// Expected values of expressions and of initialised memory are what ptxas 13.0 puts into an object file.
#define BOOST_TEST_MODULE reader_variable
#include "tests/sim/PtxText.h"
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

using namespace tiletwin::sim::ptx;

namespace {

const Variable& onlyVariable(const Module& module) {
  BOOST_REQUIRE_EQUAL(module.variables.size(), 1u);
  return module.variables[0];
}

/// "01000000": the initial bytes of a variable declared as ".global DECLARATION;".
std::string bytesOfVariable(const std::string& declaration) {
  auto module = moduleOf(".global " + declaration + ";");
  const Variable& v = onlyVariable(*module);
  BOOST_TEST(v.initial.size() == v.bytes);
  std::string out;
  for (std::byte b : v.initial) {
    static const char digits[] = "0123456789abcdef";
    out += {digits[uint8_t(b) >> 4], digits[uint8_t(b) & 15]};
  }
  return out;
}

int64_t valueOf(const std::string& expression) {
  auto module = moduleOf(".global .u64 a = " + expression + ";");
  int64_t value = 0;
  std::memcpy(&value, onlyVariable(*module).initial.data(), sizeof value);
  return value;
}

} // namespace

BOOST_AUTO_TEST_CASE(spaces_types_sizes_alignment) {
  auto module =
      moduleOf(".global .b32 a, b[3]; .const .align 16 .b8 c[5]; .shared .v4 .f32 d[2][3];\n"
               ".extern .shared .align 128 .b8 e[]; .visible .global .align 2 .u64 f; .weak .const .f16x2 g;\n"
               ".common .global .b128 h; .global .attribute(.managed) .s16 i; .global .b8 n<3>;\n"
               ".global .align 8 .attribute(.managed, .unified(0xAB, 12)) .b16 j[0x2][1+1];");
  const auto& v = module->variables;
  BOOST_REQUIRE_EQUAL(v.size(), 13u);
  BOOST_TEST((v[0].name == "a" && v[0].bytes == 4 && v[0].alignment == 4 && v[0].space == Space::Global));
  BOOST_TEST((v[0].at.line == 4 && v[0].at.column == 14));
  BOOST_TEST((v[1].name == "b" && v[1].bytes == 12 && v[1].alignment == 4));
  BOOST_TEST((v[2].space == Space::Const && v[2].bytes == 5 && v[2].alignment == 16 && v[2].type == Type::B8));
  BOOST_TEST((v[3].space == Space::Shared && v[3].bytes == 96 && v[3].alignment == 16 && v[3].vector == 4));
  BOOST_TEST((v[4].unsized && v[4].isExtern && v[4].bytes == 0 && v[4].alignment == 128));
  BOOST_TEST((v[5].isVisible && v[5].alignment == 2 && !v[5].unsized));
  BOOST_TEST((v[6].isWeak && v[6].bytes == 4));
  BOOST_TEST((v[7].isCommon && v[7].bytes == 16 && v[7].alignment == 16));
  BOOST_TEST((v[8].bytes == 2 && v[8].initial.empty()));
  BOOST_TEST((v[9].name == "n0" && v[11].name == "n2" && v[11].bytes == 1));
  BOOST_TEST((v[12].bytes == 8 && v[12].alignment == 8));
}

BOOST_AUTO_TEST_CASE(variables_of_functions) {
  auto module =
      entryOf(".local .align 16 .b8 stack[64]; .shared .b32 s; .global .b32 g = 5; .const .b32 c; .local .b64 l<2>;"
              "mov.u64 %rd1, stack; mov.u64 %rd1, g; mov.u64 %rd1, l1; .extern .shared .b8 dyn[]; mov.u64 %rd1, dyn;");
  const Function& f = module->functions[0];
  BOOST_REQUIRE_EQUAL(f.variables.size(), 6u); // kp, stack, s, l0, l1, dyn
  BOOST_TEST((f.variables[1].space == Space::Local && f.variables[1].bytes == 64 && f.variables[1].alignment == 16));
  BOOST_TEST((f.variables[2].space == Space::Shared));
  BOOST_TEST((f.variables[5].unsized && f.variables[5].isExtern));
  BOOST_REQUIRE_EQUAL(module->variables.size(), 2u); // what lives as long as the module
  BOOST_TEST((f.body[0].operands[1].isLocal && f.body[0].operands[1].index == 1));
  BOOST_TEST((!f.body[1].operands[1].isLocal && f.body[1].operands[1].index == 0));
  BOOST_TEST((f.body[2].operands[1].isLocal && f.body[2].operands[1].index == 4));
}

BOOST_AUTO_TEST_CASE(declarations_and_definitions_are_one_variable) {
  auto module = moduleOf(".extern .global .b32 z; .visible .global .b32 z = 5; .extern .global .b32 z;\n"
                         ".extern .global .b8 open[]; .global .b8 open[2] = {1, 2};\n"
                         ".extern .shared .align 16 .b8 s[]; .extern .shared .align 4 .b8 s[];");
  BOOST_REQUIRE_EQUAL(module->variables.size(), 3u);
  BOOST_TEST((module->variables[2].unsized && module->variables[2].alignment == 16));
  BOOST_TEST((!module->variables[0].isExtern && module->variables[0].isVisible));
  BOOST_TEST(module->variables[0].initial.size() == 4u);
  BOOST_TEST((module->variables[1].bytes == 2 && !module->variables[1].unsized));
}

BOOST_AUTO_TEST_CASE(initial_values_of_integers) {
  BOOST_TEST(bytesOfVariable(".b32 a = 1") == "01000000");
  BOOST_TEST(bytesOfVariable(".b8 a[4] = {256, 257, -1, 300}") == "0001ff2c");
  BOOST_TEST(bytesOfVariable(".b32 a = 0x123456789") == "89674523");
  BOOST_TEST(bytesOfVariable(".s8 a[2] = {5/2, 5>>1}") == "0202");
  BOOST_TEST(bytesOfVariable(".b16 a[3] = {1}") == "010000000000");
  BOOST_TEST(bytesOfVariable(".b16 a[3] = {}") == "000000000000");
  BOOST_TEST(bytesOfVariable(".b8 a[] = {1, 2, 3}") == "010203");
  BOOST_TEST(bytesOfVariable(".v2 .b16 a = {1, 2}") == "01000200");
  BOOST_TEST(bytesOfVariable(".v2 .b8 a[2] = {{1, 2}, {3, 4}}") == "01020304");
  BOOST_TEST(bytesOfVariable(".b8 a[2][2] = {{1, 2}, {3}}") == "01020300");
  BOOST_TEST(bytesOfVariable(".b8 a[2][2][2] = {{{1, 2}, {3, 4}}, {{5}}}") == "0102030405000000");
  BOOST_TEST(bytesOfVariable(".b8 a[][2] = {{1, 2}, {3, 4}, {5}}") == "010203040500");
  BOOST_TEST(bytesOfVariable(".b128 a = -2") == "feffffffffffffffffffffffffffffff");
  BOOST_TEST(bytesOfVariable(".b128 a = 0xFFFFFFFFFFFFFFFF") == "ffffffffffffffff0000000000000000");
}

BOOST_AUTO_TEST_CASE(initial_values_of_floats) {
  BOOST_TEST(bytesOfVariable(".f32 a = 1.0 + 2.0") == "00004040");
  BOOST_TEST(bytesOfVariable(".f32 a = 1.0 / 3.0") == "abaaaa3e");
  BOOST_TEST(bytesOfVariable(".f32 a = -1.5") == "0000c0bf");
  BOOST_TEST(bytesOfVariable(".f32 a = 0d3FF0000000000001") == "0000803f");
  BOOST_TEST(bytesOfVariable(".f32 a = 16777217.0") == "0000804b");
  BOOST_TEST(bytesOfVariable(".f32 a = 16777217.0000001") == "0100804b");
  BOOST_TEST(bytesOfVariable(".f32 a = 0.1") == "cdcccc3d");
  BOOST_TEST(bytesOfVariable(".f32 a = 0f7F800001") == "0100807f"); // a signalling NaN
  BOOST_TEST(bytesOfVariable(".f32 a = 1.") == "0000803f");
  BOOST_TEST(bytesOfVariable(".f32 a = .5") == "0000003f");
  BOOST_TEST(bytesOfVariable(".f32 a = 1.5e+3") == "0080bb44");
  BOOST_TEST(bytesOfVariable(".f32 a = 1e39") == "0000807f");
  BOOST_TEST(bytesOfVariable(".f32 a = -0.0") == "00000080");
  BOOST_TEST(bytesOfVariable(".b32 a = 1.5") == "0000c03f");
  BOOST_TEST(bytesOfVariable(".b64 a = 1.5") == "000000000000f83f");
  BOOST_TEST(bytesOfVariable(".b32 a = 0d3FF0000000000000") == "0000803f");
  BOOST_TEST(bytesOfVariable(".f64 a = 0d7FF0000000000001") == "010000000000f07f");
  BOOST_TEST(bytesOfVariable(".f64 a[2] = {1.0, 0D4000000000000000}") == "000000000000f03f0000000000000040");
  BOOST_TEST(bytesOfVariable(".f64 a = 5e-324") == "0100000000000000");
}

BOOST_AUTO_TEST_CASE(initial_values_of_addresses) {
  auto module = moduleOf(
      ".global .b32 x[4]; .func f();\n"
      ".global .u64 p[6] = {x, x+4, generic(x), generic(x)+8, f, 7}; .global .b32 q = x-4;\n"
      ".global .align 8 .u8 m[9] = {0xFF(x), 0xFF00(x+4), 0xFF0000(generic(x)+4), 1, 0xFF00000000000000(late)};\n"
      ".global .b32 late; .func f() { .global .u64 local = x; ret; }");
  const auto& p = module->variables[1].relocations;
  BOOST_REQUIRE_EQUAL(p.size(), 5u);
  BOOST_TEST((p[0].offset == 0 && p[0].variable == 0 && p[0].function == -1 && p[0].addend == 0 && !p[0].generic));
  BOOST_TEST((p[0].bytes == 8 && p[0].shift == 0));
  BOOST_TEST((p[1].offset == 8 && p[1].addend == 4));
  BOOST_TEST((p[2].generic && p[2].addend == 0));
  BOOST_TEST((p[3].generic && p[3].addend == 8));
  BOOST_TEST((p[4].offset == 32 && p[4].variable == -1 && p[4].function == 0));
  BOOST_TEST(std::to_integer<int>(module->variables[1].initial[40]) == 7);
  BOOST_TEST((module->variables[2].relocations[0].bytes == 4 && module->variables[2].relocations[0].addend == -4));
  const auto& m = module->variables[3].relocations;
  BOOST_REQUIRE_EQUAL(m.size(), 4u);
  BOOST_TEST((m[0].bytes == 1 && m[0].shift == 0));
  BOOST_TEST((m[1].offset == 1 && m[1].shift == 8 && m[1].addend == 4));
  BOOST_TEST((m[2].shift == 16 && m[2].generic));
  BOOST_TEST((m[3].offset == 4 && m[3].shift == 56 && m[3].variable == 4));
  BOOST_TEST(module->variables[5].relocations[0].variable == 0);
}

BOOST_AUTO_TEST_CASE(integer_expressions) {
  const std::pair<const char*, int64_t> cases[] = {
      {"-7 % 2", 1},
      {"-7 / 2", -3},
      {"(~7) / 2", 9223372036854775804},
      {"(-8 & -1) / 2", -4},
      {"(-8 | 0) / 2", -4},
      {"-8 >> 1", -4},
      {"(-8 ^ 0) >> 1", -4},
      {"-1 < 0U", 0},
      {"-1 < 1", 1},
      {"-1 / 2U", 9223372036854775807},
      {"1 << 63", INT64_MIN},
      {"1 << 64", 1},
      {"1 << 65", 2},
      {"-1 >> 70", -1},
      {"0xFFFFFFFFFFFFFFFF / 2", 9223372036854775807},
      {"0xFFFFFFFFFFFFFFFF < 0", 0},
      {"!0", 1},
      {"!5", 0},
      {"1 ? 2 : 3", 2},
      {"1 ? -1 : 3U", -1},
      {"(1 ? -2 : 3U) / 2", -1},
      {"0 ? 1 : 0 ? 3 : 4", 4},
      {"2 + 3 * 4 - 1", 13},
      {"7 & 3 == 3", 1},
      {"1 || 0 && 0", 1},
      {"0 || 2", 1},
      {"1.5 < 2.5", 1},
      {"2.5 == 2.5", 1},
      {"2.5 != 2.5", 0},
      {"1.5 >= 2.5", 0},
      {"(.u64)-8 / 2", 9223372036854775804},
      {"(.s64)0xFFFFFFFFFFFFFFF8 / 2", -4},
      {"-(-5)", 5},
      {"--5", 5},
      {"+-+5", -5},
      {"~~5", 5},
      {"017", 15},
      {"00", 0},
      {"0B11", 3},
      {"0X1f", 31},
      {"-9223372036854775808 / -1", 0},
      {"-9223372036854775808 % -1", INT64_MIN},
      {"5 % -3", 5},
      {"3 - 5U", -2},
      {"(3 - 5U) / 2", 9223372036854775807},
      {"WARP_SZ * 2", 64},
      {"18446744073709551615", -1},
      {"10 > 9 == 1", 1},
      {"1 <= 1", 1},
      {"6 ^ 3 | 8", 13},
      {"100 / 10 / 5", 2},
      {"1 << 2 + 1", 8},
  };
  for (const auto& [text, value] : cases) BOOST_TEST(valueOf(text) == value, text << " is " << valueOf(text));
}

BOOST_AUTO_TEST_CASE(large_variables_cost_nothing) {
  auto module = moduleOf(".global .b8 big[1099511627776]; .global .b64 rows[65536][1024];");
  BOOST_TEST(module->variables[0].bytes == uint64_t(1) << 40);
  BOOST_TEST(module->variables[1].bytes == uint64_t(1) << 29);
  BOOST_TEST(module->variables[0].initial.empty());
}
