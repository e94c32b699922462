// tests/sim/ReaderTest.cpp -- the reader of PTX: modules, functions, bodies.
// Not here: operands (ReaderOperandTest.cpp), variables and constants (ReaderVariableTest.cpp), mistakes (ReaderErrorTest.cpp),
//           whole kernels (ReaderCorpusTest.cpp).
#define BOOST_TEST_MODULE reader
#include "tests/sim/PtxText.h"

using namespace tiletwin::sim::ptx;
using Kind = Operand::Kind;

BOOST_AUTO_TEST_CASE(types_have_names_and_sizes) {
  BOOST_TEST(bytesOf(Type::None) == 0);
  BOOST_TEST(bytesOf(Type::Pred) == 0);
  BOOST_TEST(bytesOf(Type::U8) == 1);
  BOOST_TEST(bytesOf(Type::F16) == 2);
  BOOST_TEST(bytesOf(Type::BF16x2) == 4);
  BOOST_TEST(bytesOf(Type::F32x2) == 8);
  BOOST_TEST(bytesOf(Type::B128) == 16);
  for (int i = 0; i <= int(Type::F64); ++i) BOOST_CHECK(typeNamed(nameOf(Type(i))) == Type(i));
  BOOST_TEST(nameOf(Type::F16x2) == "f16x2");
  BOOST_CHECK(typeNamed("") == Type::None);
  BOOST_CHECK(typeNamed("f31") == Type::None);
  BOOST_CHECK(typeNamed(".f32") == Type::None);
}

BOOST_AUTO_TEST_CASE(headers_of_modules) {
  Diagnostic error;
  auto module = read("// text\n.version 9.10 .target sm_100a, debug, texmode_independent\n.address_size 32", error);
  BOOST_REQUIRE(module);
  BOOST_TEST(module->major == 9);
  BOOST_TEST(module->minor == 10);
  BOOST_TEST(module->target == "sm_100a");
  BOOST_REQUIRE_EQUAL(module->targetOptions.size(), 2u);
  BOOST_TEST(module->targetOptions[1] == "texmode_independent");
  BOOST_TEST(module->addressSize == 32);
  auto plain = read(".version 6.0\n.target sm_70", error);
  BOOST_REQUIRE(plain);
  BOOST_TEST(plain->addressSize == 64);
  // A C string with its end, and Windows' ends of lines.
  BOOST_TEST(bool(read(std::string_view(".version 6.0\r\n.target sm_70\r\n\0\0", 30), error)));
}

BOOST_AUTO_TEST_CASE(comments_and_line_markers_are_spaces) {
  auto module = entryOf("/* } \n ; */ add.s32 %r1, // %r2 ;\n# 12 \"x.cu\" {\n /**/ %r2, 3;");
  const Function& f = only(*module);
  BOOST_REQUIRE_EQUAL(f.body.size(), 1u);
  BOOST_TEST(f.body[0].at.line == 7);
  BOOST_TEST(f.body[0].at.column == 7);
  BOOST_TEST(f.body[0].operands[1].at.line == 9);
}

BOOST_AUTO_TEST_CASE(entries_with_parameters_and_directives) {
  auto module =
      moduleOf(".visible .entry e(\n .param .u64 .ptr .global .align 16 a,\n .param .u32 b,\n"
               " .param .align 8 .b8 c[20], .param .u64 .ptr .align 4 d, .param .u64 .ptr e1, .param .v4 .f32 v)\n"
               ".reqntid 128, 2 .maxntid 256 .minnctapersm 2 .maxnreg 64 .maxnctapersm 3\n"
               ".reqnctapercluster 2, 1, 1 .explicitcluster .maxclusterrank 8 .blocksareclusters\n"
               ".pragma \"nounroll\", \"x\";\n{ ret; }");
  const Function& f = only(*module);
  BOOST_TEST(f.name == "e");
  BOOST_TEST(f.at.line == 4);
  BOOST_TEST(f.at.column == 17);
  BOOST_TEST((f.isEntry && f.isVisible && f.hasBody && !f.isExtern && !f.isWeak && !f.isNoReturn));
  BOOST_REQUIRE_EQUAL(f.parameters.size(), 6u);
  BOOST_TEST((f.parameters[0].isPointer && f.parameters[0].pointerSpace == Space::Global));
  BOOST_TEST(f.parameters[0].pointerAlignment == 16u);
  BOOST_TEST(f.parameters[0].bytes == 8u);
  BOOST_TEST(f.parameters[0].alignment == 8u);
  BOOST_TEST(!f.parameters[1].isPointer);
  BOOST_TEST(f.parameters[2].bytes == 20u);
  BOOST_TEST(f.parameters[2].alignment == 8u);
  BOOST_TEST((f.parameters[3].isPointer && f.parameters[3].pointerSpace == Space::None));
  BOOST_TEST(f.parameters[3].pointerAlignment == 4u);
  BOOST_TEST(f.parameters[4].isPointer);
  BOOST_TEST(f.parameters[5].bytes == 16u);
  BOOST_CHECK(f.requiredThreads == (std::array{128, 2, 1}));
  BOOST_CHECK(f.maxThreads == (std::array{256, 1, 1}));
  BOOST_CHECK(f.requiredCluster == (std::array{2, 1, 1}));
  BOOST_TEST(f.minCtasPerSm == 2);
  BOOST_TEST(f.maxRegisters == 64);
  BOOST_TEST(f.maxClusterRank == 8);
  BOOST_TEST((f.explicitCluster && f.blocksAreClusters));
  BOOST_CHECK(f.pragmas == (std::vector<std::string>{"nounroll", "x"}));
  BOOST_REQUIRE_EQUAL(f.variables.size(), 6u);
  BOOST_TEST(f.variables[2].name == "c");
}

BOOST_AUTO_TEST_CASE(functions_with_results_and_parameters) {
  auto module =
      moduleOf(".func (.reg .b32 out, .reg .pred q) f(.reg .b64 in, .param .align 4 .b8 p[]) .abi_preserve 8\n"
               "{ .reg .b32 t; mov.b32 out, t; ld.param.b32 t, [p+4]; ret; }\n"
               ".weak .func g .noreturn { exit; }\n"
               ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);");
  BOOST_REQUIRE_EQUAL(module->functions.size(), 3u);
  const Function& f = module->functions[0];
  BOOST_TEST((!f.isEntry && f.hasBody));
  BOOST_REQUIRE_EQUAL(f.results.size(), 2u);
  BOOST_TEST((f.results[1].type == Type::Pred && f.results[1].space == Space::Reg));
  BOOST_TEST(f.parameters[1].unsized);
  BOOST_REQUIRE_EQUAL(f.registers.size(), 4u); // out, q, in, t
  BOOST_TEST(f.registers[2].name == "in");
  BOOST_TEST((f.registers[2].type == Type::B64));
  BOOST_REQUIRE_EQUAL(f.variables.size(), 1u);
  BOOST_TEST(f.variables[0].name == "p");
  BOOST_TEST(registerName(f, f.body[0].operands[0]) == "out");
  const Operand& address = f.body[1].operands[1];
  BOOST_TEST((address.parts[0].kind == Kind::Variable && address.parts[0].isLocal && address.parts[0].index == 0));
  const Function& g = module->functions[1];
  BOOST_TEST((g.isWeak && g.isNoReturn && g.parameters.empty()));
  const Function& printer = module->functions[2];
  BOOST_TEST((printer.isExtern && !printer.hasBody && printer.variables.empty()));
  BOOST_TEST(printer.parameters.size() == 2u);
  BOOST_TEST(module->findFunction("vprintf") == 2);
  BOOST_TEST(module->findFunction("h") == -1);
}

BOOST_AUTO_TEST_CASE(declarations_and_definitions_are_one_function) {
  auto module = moduleOf(".visible .func (.param .b32 r) f(.param .b32 a);\n"
                         ".entry k() { .param .b32 x, y; call (y), f, (x); ret; }\n"
                         ".func (.param .b32 other) f(.param .b32 name) { ret; }\n"
                         ".func (.param .b32 r) f(.param .b32 a);\n"
                         ".func h(); .func .attribute(.unified(1, 2)) h() { ret; } .entry d; .extern .entry e2();");
  BOOST_REQUIRE_EQUAL(module->functions.size(), 5u);
  const Function& f = module->functions[size_t(module->findFunction("f"))];
  BOOST_TEST((f.hasBody && f.isVisible));
  BOOST_TEST(f.parameters[0].name == "name");
  BOOST_TEST(module->functions[1].body[0].operands[1].index == 0);
  BOOST_TEST(!module->functions[size_t(module->findFunction("d"))].hasBody);
}

BOOST_AUTO_TEST_CASE(functions_may_follow_their_use) {
  auto module = moduleOf(".entry k() { .reg .b64 %rd1; mov.u64 %rd1, late; call late, (%rd1);"
                         " st.global.u64 [v], %rd1; ret; }\n"
                         ".func late(.reg .b64 x) { ret; } .global .b64 v;");
  const Function& k = module->functions[0];
  BOOST_TEST((k.body[0].operands[1].kind == Kind::Function && k.body[0].operands[1].index == 1));
  BOOST_TEST((k.body[1].operands[0].kind == Kind::Function && k.body[1].operands[0].index == 1));
  BOOST_TEST((k.body[2].operands[0].parts[0].kind == Kind::Variable && !k.body[2].operands[0].parts[0].isLocal));
}

BOOST_AUTO_TEST_CASE(aliases_stand_for_their_function) {
  auto module =
      moduleOf(".func f() { ret; } .func g(); .alias g, f; .entry k() { .reg .b64 %rd1; call g; mov.b64 %rd1, g;"
               " t: .calltargets g; call %rd1, t; }");
  BOOST_TEST(module->findFunction("g") == 0);
  const Function& k = module->functions[2];
  BOOST_TEST(k.body[0].operands[0].index == 0);
  BOOST_TEST(k.body[1].operands[1].index == 0);
  BOOST_REQUIRE_EQUAL(k.tables.size(), 1u);
  BOOST_TEST(k.tables[0].targets[0] == 0);
}

BOOST_AUTO_TEST_CASE(every_form_of_call) {
  auto module =
      entryOf("call f; call.uni f, (); call (%r1), g, (%r2); call.uni (_), g, (1);\n"
              "p0 : .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 8 .b8 _[16]);\n"
              "p1: .callprototype _ (.reg .f32 x) .noreturn .abi_preserve 2; p2: .callprototype ()_ ();\n"
              "t0: .calltargets g, h;\n"
              "call (%r1), %rd1, (%r2, %r3), p0; call %rd1, p1; call (%r1), %rd1, (1.5), t0; call %rd1, (), p2;",
              ".func f() { ret; } .func (.reg .b32 o) g(.reg .b32 i) { ret; } .func (.reg .b32 o) h(.reg .b32 i) "
              "{ ret; }\n");
  const Function& k = module->functions[3];
  BOOST_REQUIRE_EQUAL(k.body.size(), 8u);
  BOOST_TEST(k.body[0].operands.size() == 1u);
  BOOST_TEST((k.body[0].operands[0].kind == Kind::Function && k.body[0].operands[0].index == 0));
  BOOST_TEST((k.body[1].operands[1].kind == Kind::List && k.body[1].operands[1].parts.empty()));
  BOOST_TEST((k.body[2].operands[0].kind == Kind::List));
  BOOST_TEST(registerName(k, k.body[2].operands[0].parts[0]) == "%r1");
  BOOST_TEST((k.body[3].operands[0].parts[0].kind == Kind::Sink));
  BOOST_TEST(k.body[3].operands[2].parts[0].integer == 1);
  BOOST_TEST((k.body[4].operands[3].kind == Kind::Prototype && k.body[4].operands[3].index == 0));
  BOOST_TEST((k.body[5].operands[1].kind == Kind::Prototype && k.body[5].operands[1].index == 1));
  BOOST_TEST((k.body[6].operands[3].kind == Kind::Table && k.body[6].operands[3].index == 0));
  BOOST_TEST(k.body[6].operands[2].parts[0].number == 1.5);
  BOOST_REQUIRE_EQUAL(k.prototypes.size(), 3u);
  BOOST_TEST(k.prototypes[0].name == "p0");
  BOOST_TEST(k.prototypes[0].parameters[1].bytes == 16u);
  BOOST_TEST((k.prototypes[1].results.empty() && k.prototypes[1].parameters[0].name == "x"));
  BOOST_TEST(k.tables[0].isCalls);
  BOOST_CHECK(k.tables[0].targets == (std::vector<int32_t>{1, 2}));
}

BOOST_AUTO_TEST_CASE(labels_tables_and_indirect_branches) {
  auto module =
      entryOf("A: bra B; ts: .branchtargets A, B, C;\n@%p1 brx.idx %r1, ts; B: C: ret; late: exit; brx.idx %r1, u;\n"
              "u: .branchtargets end; end:");
  const Function& f = only(*module);
  BOOST_REQUIRE_EQUAL(f.labels.size(), 5u);
  BOOST_TEST(f.labels[0].instruction == 0);
  BOOST_TEST(f.labels[1].instruction == 2);
  BOOST_TEST(f.labels[2].instruction == 2);
  BOOST_TEST(f.labels[4].instruction == int32_t(f.body.size()));
  BOOST_TEST((f.body[0].operands[0].kind == Kind::Label && f.body[0].operands[0].index == 1));
  BOOST_TEST((f.body[1].operands[1].kind == Kind::Table && f.body[1].operands[1].index == 0));
  BOOST_CHECK(f.tables[0].targets == (std::vector<int32_t>{0, 1, 2}));
  BOOST_TEST(f.tables[1].targets[0] == 4);
  BOOST_TEST((!f.tables[0].isCalls && f.tables[0].name == "ts"));
}

BOOST_AUTO_TEST_CASE(labels_belong_to_their_block) {
  auto module = entryOf("L: { bra L; L: bra M; } { L: { bra L; } } M: bra L;");
  const Function& f = only(*module); // labels: L, inner L, second inner L, M
  BOOST_REQUIRE_EQUAL(f.labels.size(), 4u);
  BOOST_TEST(f.body[0].operands[0].index == 1);
  BOOST_TEST(f.body[1].operands[0].index == 3);
  BOOST_TEST(f.body[2].operands[0].index == 2);
  BOOST_TEST(f.body[3].operands[0].index == 0);
}

BOOST_AUTO_TEST_CASE(blocks_have_registers_and_variables_of_their_own) {
  auto module =
      entryOf("{ .reg .f32 %r1; .param .b32 x; st.param.b32 [x], %r1; } { .param .b64 x; ld.param.b64 %rd1, [x+4]; }\n"
              "mov.b32 %r1, %r2; { .reg .pred p, q; .reg .b16 h<3>; { @!q mov.b16 h0, h2; } }");
  const Function& f = only(*module);
  BOOST_TEST((f.registers[size_t(f.body[0].operands[1].index)].type == Type::F32));
  BOOST_TEST((f.registers[size_t(f.body[2].operands[0].index)].type == Type::B32));
  BOOST_REQUIRE_EQUAL(f.variables.size(), 3u); // kp, x, x
  BOOST_TEST(f.body[0].operands[0].parts[0].index == 1);
  BOOST_TEST(f.body[1].operands[1].parts[0].index == 2);
  BOOST_TEST(f.body[1].operands[1].integer == 4);
  BOOST_TEST(f.registers[size_t(f.body[3].guard)].name == "q");
  BOOST_TEST(f.body[3].guardNegated);
  BOOST_TEST(registerName(f, f.body[3].operands[1]) == "h2");
}

BOOST_AUTO_TEST_CASE(numbered_registers) {
  auto module =
      entryOf(".reg .b32 %a1<3>; .reg .v2 .f32 v<2>; .reg .b64 z, w<12>; mov.b32 %a10, %a12; mov.b32 %r007, %r7;"
              "mov.b64 w11, z; mov.b32 v1.y, v0.x;");
  const Function& f = only(*module);
  BOOST_TEST(registerName(f, f.body[0].operands[0]) == "%a10");
  BOOST_TEST(registerName(f, f.body[0].operands[1]) == "%a12");
  BOOST_TEST(f.body[1].operands[0].index == f.body[1].operands[1].index); // as ptxas reads it
  BOOST_TEST(registerName(f, f.body[2].operands[0]) == "w11");
  BOOST_TEST(registerName(f, f.body[3].operands[0]) == "v1");
  BOOST_TEST(f.body[3].operands[0].component == 1);
  BOOST_TEST(f.body[3].operands[1].component == 0);
  BOOST_TEST(f.registers[size_t(f.body[3].operands[0].index)].vector == 2);
}

BOOST_AUTO_TEST_CASE(instructions_keep_opcode_modifiers_and_place) {
  auto module = entryOf(
      "  cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r3}], "
      "[%r4];\n\tadd .s32 %r1, %r2, %r3; ret;");
  const Function& f = only(*module);
  const Instruction& copy = f.body[0];
  BOOST_TEST(copy.opcode == "cp");
  BOOST_TEST(copy.text == "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes");
  const std::vector<std::string_view> words{
      "async", "bulk", "tensor", "2d", "shared::cluster", "global", "mbarrier::complete_tx::bytes"};
  BOOST_CHECK(copy.modifiers == words);
  BOOST_TEST(copy.at.line == 6);
  BOOST_TEST(copy.at.column == 3);
  BOOST_TEST(copy.guard == -1);
  BOOST_TEST(copy.source == -1);
  BOOST_CHECK(f.body[1].modifiers == (std::vector<std::string_view>{"s32"}));
  BOOST_TEST((f.body[1].at.line == 7 && f.body[1].at.column == 2));
  BOOST_TEST((f.body[2].opcode == "ret" && f.body[2].operands.empty()));
}

BOOST_AUTO_TEST_CASE(source_lines_and_inlined_functions) {
  auto module =
      entryOf("ret; .loc 1 10 3\nret;\n.loc 2 20 5, function_name $L__info_string1, inlined_at 1 10 3\n"
              "ret; .loc 1 30 7, function_name $L__info_string0+2, inlined_at 2 20 5\nret; .loc 7 1 1\nret;",
              ".file 1 \"a\\\"b.py\"\n.file 2 \"dir/c.py\", 123, 456\n.file 0 \"zero\"\n.section .debug_str\n{\n"
              "$L__info_string0:\n.b8 120 // x } \n.b8 121\n.b8 102\n.b8 0\n$L__info_string1:\n.b8 103, 104\n.b8 0\n"
              ".b32 .debug_info\n.b64 $L1-$L2\n}\n.section .debug_macinfo\t{\t}\n");
  const Function& f = only(*module);
  BOOST_CHECK(module->files == (std::vector<std::string>{"zero", "a\"b.py", "dir/c.py"}));
  const auto& lines = module->sourceLines;
  BOOST_REQUIRE_EQUAL(lines.size(), 4u);
  BOOST_TEST(f.body[0].source == -1);
  BOOST_TEST(f.body[1].source == 0);
  BOOST_TEST((lines[0].file == 1 && lines[0].line == 10 && lines[0].column == 3 && lines[0].inlinedAt == -1));
  BOOST_TEST(f.body[2].source == 1);
  BOOST_TEST(lines[1].inlinedAt == 0);
  BOOST_TEST(lines[1].inlinedFrom == "gh");
  BOOST_TEST(lines[2].inlinedAt == 1);
  BOOST_TEST(lines[2].inlinedFrom == "f");
  BOOST_TEST((lines[3].file == -1 && lines[3].line == 1));
  BOOST_REQUIRE_EQUAL(module->sections.size(), 2u);
  BOOST_TEST(module->sections[0].name == ".debug_str");
  BOOST_TEST(module->sections[0].body.starts_with("\n$L__info_string0:"));
  BOOST_TEST(module->sections[0].body.ends_with("$L1-$L2\n"));
  BOOST_TEST(module->sections[1].body == "\t");
}

BOOST_AUTO_TEST_CASE(the_last_loc_does_not_reach_into_the_next_function) {
  auto module = moduleOf(".func f() { .loc 1 2 3\nret; } .func g() { ret; } .file 1 \"x\" .pragma \"a\";");
  BOOST_TEST(module->functions[0].body[0].source == 0);
  BOOST_TEST(module->functions[1].body[0].source == -1);
  BOOST_TEST(module->pragmas.at(0) == "a");
}

BOOST_AUTO_TEST_CASE(names_point_into_the_modules_own_text) {
  std::unique_ptr<const Module> module;
  {
    std::string text = kHeader + kEntry + "add.s32 %r1, %r2, 3; }";
    Diagnostic error;
    module = read(text, error);
    std::fill(text.begin(), text.end(), '?');
  }
  const Instruction& add = only(*module).body[0];
  BOOST_TEST(add.text == "add.s32");
  BOOST_TEST(add.operands[0].name == "%r1");
  BOOST_TEST((add.text.data() >= module->text.data() && add.text.data() < module->text.data() + module->text.size()));
}
