// tests/sim/ReaderOperandTest.cpp -- the reader of PTX: constants, registers, addresses and names as operands.
#define BOOST_TEST_MODULE readeroperand
#include "tests/sim/PtxText.h"

using namespace tiletwin::sim::ptx;
using Kind = Operand::Kind;

BOOST_AUTO_TEST_CASE(constants_as_operands) {
  auto module =
      entryOf("x.y 5, -5, 0x1F, 017, 0b101, 7U, 1.5, -2.5e1, .5, 0f3F800000, 0d4000000000000000, 0F7F800001, (1+2)*3, "
              "WARP_SZ, !0, ~0, 18446744073709551615;");
  const auto& o = operandsOf(*module);
  BOOST_REQUIRE_EQUAL(o.size(), 17u);
  const int64_t integers[] = {5, -5, 31, 15, 5, 7};
  for (size_t i = 0; i < 6; ++i)
    BOOST_TEST((o[i].kind == Kind::Integer && o[i].integer == integers[i]), "operand " << i);
  const double numbers[] = {1.5, -25, 0.5, 1, 2};
  for (size_t i = 0; i < 5; ++i)
    BOOST_TEST((o[6 + i].kind == Kind::Float && o[6 + i].number == numbers[i]), "operand " << 6 + i);
  BOOST_TEST(o[6].floatBits == 0);
  BOOST_TEST((o[9].floatBits == 32 && o[9].integer == 0x3F800000));
  BOOST_TEST((o[10].floatBits == 64 && o[10].integer == 0x4000000000000000));
  BOOST_TEST(o[11].integer == 0x7F800001); // a signalling NaN
  BOOST_TEST(o[12].integer == 9);
  BOOST_TEST(o[13].integer == 32);
  BOOST_TEST(o[14].integer == 1);
  BOOST_TEST(o[15].integer == -1);
  BOOST_TEST(o[16].integer == -1);
}

BOOST_AUTO_TEST_CASE(registers_vectors_pairs_sinks) {
  auto module =
      entryOf("x %r1|%p2, _|%p1, {%r1, _, 0f00000000, %f2}, !%p3, _, %tid.x, %laneid, %envreg31, %pm3_64, %tid;");
  const Function& f = only(*module);
  const auto& o = operandsOf(*module);
  BOOST_REQUIRE(o[0].kind == Kind::Pair);
  BOOST_TEST(registerName(f, o[0].parts[0]) == "%r1");
  BOOST_TEST(registerName(f, o[0].parts[1]) == "%p2");
  BOOST_TEST((o[1].kind == Kind::Pair && o[1].parts[0].kind == Kind::Sink));
  BOOST_REQUIRE(o[2].kind == Kind::Vector);
  BOOST_REQUIRE_EQUAL(o[2].parts.size(), 4u);
  BOOST_TEST((o[2].parts[1].kind == Kind::Sink));
  BOOST_TEST((o[2].parts[2].kind == Kind::Float));
  BOOST_TEST((o[3].kind == Kind::Register && o[3].negated));
  BOOST_TEST((o[4].kind == Kind::Sink));
  BOOST_TEST((o[5].kind == Kind::Special && o[5].name == "%tid" && o[5].component == 0));
  BOOST_TEST((o[6].kind == Kind::Special && o[6].name == "%laneid" && o[6].component == -1));
  BOOST_TEST((o[7].kind == Kind::Special && o[8].kind == Kind::Special));
  BOOST_TEST((o[9].kind == Kind::Special && o[9].component == -1));
}

BOOST_AUTO_TEST_CASE(parts_of_registers) {
  auto module =
      entryOf("vmad.s32.s32.s32.shr7 %r1.h0, %r2.b3, -%r3, -%r4.h1; vadd4.s32.s32.s32 %r1.b3210, %r2.b7654, %r3, %r4;");
  const Function& f = only(*module);
  const auto& mad = f.body[0].operands;
  const std::string_view names[] = {"h0", "b3", "", "h1"};
  for (size_t i = 0; i < 4; ++i) {
    BOOST_REQUIRE(mad[i].kind == Kind::Part);
    BOOST_TEST(mad[i].name == names[i]);
    BOOST_TEST(mad[i].negated == (i >= 2));
    BOOST_TEST(registerName(f, mad[i].parts.at(0)) == "%r" + std::to_string(i + 1));
  }
  BOOST_TEST(mad[2].at.column == 39);
  BOOST_TEST((f.body[1].operands[0].name == "b3210" && f.body[1].operands[1].name == "b7654"));
  BOOST_TEST((f.body[1].operands[2].kind == Kind::Register));
}

BOOST_AUTO_TEST_CASE(addresses) {
  auto module =
      entryOf(".shared .b32 s[4]; x [%rd1], [%rd1+8], [ %rd1 + -8 ], [%rd1-8], [s], [s+4], [4096], [s+4*2-1], "
              "[%rd1, {%r1, %r2}], [%rd1+16, %r3], [%rd1, {%r1}, %r2], [g+8];",
              ".global .b64 g[2];\n");
  const auto& o = operandsOf(*module);
  for (const Operand& operand : o) BOOST_TEST((operand.kind == Kind::Address && !operand.parts.empty()));
  const int64_t offsets[] = {0, 8, -8, -8, 0, 4, 0, 7, 0, 16, 0, 8};
  BOOST_REQUIRE_EQUAL(o.size(), std::size(offsets));
  for (size_t i = 0; i < o.size(); ++i) BOOST_TEST(o[i].integer == offsets[i], "operand " << i);
  BOOST_TEST((o[0].parts[0].kind == Kind::Register));
  BOOST_TEST((o[5].parts[0].kind == Kind::Variable && o[5].parts[0].isLocal && o[5].parts[0].integer == 0));
  BOOST_TEST((o[6].parts[0].kind == Kind::Integer && o[6].parts[0].integer == 4096));
  BOOST_TEST((o[8].parts[1].kind == Kind::Vector && o[8].parts[1].parts.size() == 2));
  BOOST_TEST((o[9].parts[1].kind == Kind::Register));
  BOOST_TEST(o[10].parts.size() == 3u);
  BOOST_TEST((o[11].parts[0].kind == Kind::Variable && !o[11].parts[0].isLocal && o[11].parts[0].index == 0));
}

BOOST_AUTO_TEST_CASE(variables_and_elements_as_operands) {
  auto module =
      entryOf("mov.u64 %rd1, g; mov.u64 %rd1, g+4; mov.u64 %rd1, g[1]; ld.global.b64 %rd1, g[1];"
              ".shared .b16 s[8]; mov.u32 %r1, s[3]; ld.shared.b16 %r1, s[2+1]; mov.u64 %rd1, k; mov.b32 %r1, g-4;",
              ".global .b64 g[2];\n");
  const Function& f = module->functions[0];
  auto second = [&](size_t i) -> const Operand& { return f.body[i].operands[1]; };
  BOOST_TEST((second(0).kind == Kind::Variable && second(0).integer == 0 && !second(0).isLocal));
  BOOST_TEST(second(1).integer == 4);
  BOOST_TEST((second(2).kind == Kind::Variable && second(2).integer == 8));
  BOOST_TEST((second(3).kind == Kind::Address && second(3).integer == 8));
  BOOST_TEST((second(3).parts[0].kind == Kind::Variable && second(3).parts[0].index == 0));
  BOOST_TEST((second(4).kind == Kind::Variable && second(4).isLocal && second(4).integer == 6));
  BOOST_TEST((second(5).kind == Kind::Address && second(5).integer == 6));
  BOOST_TEST((second(6).kind == Kind::Function && second(6).index == 0));
  BOOST_TEST(second(7).integer == -4);
}

BOOST_AUTO_TEST_CASE(names_may_be_those_of_instructions) {
  auto module = entryOf(".reg .b32 bra, add; bra: bra bra; add.s32 add, bra, 1;");
  const Function& f = only(*module);
  BOOST_TEST(registerName(f, f.body[1].operands[0]) == "add");
  BOOST_TEST(f.labels[0].name == "bra");
}
