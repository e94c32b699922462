// tests/interp/PlanTest.cpp -- the shape of plans: what is hoisted, fused, accumulated in place, kept symbolic.
// Results of running them are tested by tests/interp/ops and tests/interp/plan.
#define BOOST_TEST_MODULE plan
#include "interp/program/Plan.h"
#include "interp/plan/Builder.h"
#include "interp/program/Instructions.h"
#include "interp/program/TileModule.h"
#include "ir/Passes.h"
#include "ir/TT.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include <boost/test/unit_test.hpp>

using namespace tiletwin;
using namespace tiletwin::interp;

namespace {

struct Planner {
  Planner() {
    mlir::DialectRegistry registry;
    tt::registerDialects(registry);
    context = std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
    tt::prepareContext(*context);
    context->getDiagEngine().registerHandler([this](mlir::Diagnostic& d) { diagnostics += d.str() + "\n"; });
  }
  std::shared_ptr<const Program> plan(const std::string& body, bool symbolic = true) {
    auto module = tt::parseTtir("module {\n" + body + "\n}\n", "plan.mlir", *context);
    if (!module || failed(tt::makeTtir(*module, true))) return nullptr;
    PlanOptions options;
    options.symbolic = symbolic;
    return planModule(*module, "f", options);
  }
  std::unique_ptr<mlir::MLIRContext> context;
  std::string diagnostics;
};

size_t count(const std::vector<std::string>& lines, const std::string& prefix) {
  size_t n = 0;
  for (const std::string& line : lines) n += line.rfind(prefix, 0) == 0;
  return n;
}

const char* const kVectorAdd = R"(
tt.func public @f(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %o: !tt.ptr<f32>, %n: i32) {
  %c = arith.constant 1024 : i32
  %pid = tt.get_program_id x : i32
  %b = arith.muli %pid, %c : i32
  %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %bs = tt.splat %b : i32 -> tensor<1024xi32>
  %k = arith.addi %bs, %i : tensor<1024xi32>
  %ns = tt.splat %n : i32 -> tensor<1024xi32>
  %m = arith.cmpi slt, %k, %ns : tensor<1024xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %k : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %xv = tt.load %xp, %m : tensor<1024x!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %yp = tt.addptr %ys, %k : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %yv = tt.load %yp, %m : tensor<1024x!tt.ptr<f32>>
  %s = arith.addf %xv, %yv : tensor<1024xf32>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %op = tt.addptr %os, %k : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  tt.store %op, %s, %m : tensor<1024x!tt.ptr<f32>>
  tt.return
})";

const char* const kMatmul = R"(
tt.func public @f(%a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %c: !tt.ptr<f32>, %K: i32, %s: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %r = tt.expand_dims %i {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %k = tt.expand_dims %i {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %ss = tt.splat %s : i32 -> tensor<16x1xi32>
  %rs = arith.muli %r, %ss : tensor<16x1xi32>
  %rb = tt.broadcast %rs : tensor<16x1xi32> -> tensor<16x16xi32>
  %kb = tt.broadcast %k : tensor<1x16xi32> -> tensor<16x16xi32>
  %o = arith.addi %rb, %kb : tensor<16x16xi32>
  %as = tt.splat %a : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %ap0 = tt.addptr %as, %o : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
  %bs = tt.splat %b : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %bp0 = tt.addptr %bs, %o : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
  %step = arith.muli %s, %c16 : i32
  %steps = tt.splat %step : i32 -> tensor<16x16xi32>
  %c16s = arith.constant dense<16> : tensor<16x16xi32>
  %acc:3 = scf.for %j = %c0 to %K step %c1 iter_args(%ap = %ap0, %bp = %bp0, %d = %zero)
      -> (tensor<16x16x!tt.ptr<f32>>, tensor<16x16x!tt.ptr<f32>>, tensor<16x16xf32>) : i32 {
    %av = tt.load %ap : tensor<16x16x!tt.ptr<f32>>
    %bv = tt.load %bp : tensor<16x16x!tt.ptr<f32>>
    %e = tt.dot %av, %bv, %d : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
    %an = tt.addptr %ap, %c16s : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
    %bn = tt.addptr %bp, %steps : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
    scf.yield %an, %bn, %e : tensor<16x16x!tt.ptr<f32>>, tensor<16x16x!tt.ptr<f32>>, tensor<16x16xf32>
  }
  %cs = tt.splat %c : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %cp = tt.addptr %cs, %o : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
  tt.store %cp, %acc#2 : tensor<16x16x!tt.ptr<f32>>
  tt.return
})";

} // namespace

BOOST_AUTO_TEST_CASE(vector_add_is_one_group) {
  Planner planner;
  auto program = planner.plan(kVectorAdd);
  BOOST_REQUIRE_MESSAGE(program, planner.diagnostics);
  const Plan& plan = program->plan();
  BOOST_TEST(count(plan.codeText, "Group [arith.addf, store]") == 1u);
  BOOST_TEST(count(plan.codeText, "Group") == 1u);
  BOOST_TEST(count(plan.codeText, "Load") == 2u);
  BOOST_TEST(count(plan.codeText, "Gather") == 0u);
  BOOST_TEST(plan.code.size() <= 14u);
  BOOST_TEST(plan.storesMemory);
  BOOST_REQUIRE(plan.fallback); // pid * 1024 + i may wrap around
  BOOST_TEST(count(plan.fallback->codeText, "Gather") == 2u);
  BOOST_TEST(count(plan.fallback->codeText, "Scatter") == 1u);
  BOOST_TEST(plan.adjacent.group); // its programs may run side by side
  BOOST_TEST(!plan.fallback->adjacent.group);
}

// A program may run with its neighbours if its numbers grow evenly, and its loads and its store do.
BOOST_AUTO_TEST_CASE(neighbours_are_found_by_their_numbers) {
  const auto isFound = [](const std::string& from, const std::string& to) {
    std::string text = kVectorAdd;
    const size_t at = text.find(from);
    BOOST_REQUIRE(at != std::string::npos);
    Planner planner;
    auto program = planner.plan(text.replace(at, from.size(), to));
    BOOST_REQUIRE_MESSAGE(program, planner.diagnostics);
    return program->plan().adjacent.group != nullptr;
  };
  BOOST_TEST(isFound("%pid, %c", "%pid, %n"));
  BOOST_TEST(isFound("%pid, %c", "%c, %pid"));
  BOOST_TEST(!isFound("%pid, %c", "%pid, %pid"));
  BOOST_TEST(!isFound("arith.muli %pid", "arith.shli %pid"));
  BOOST_TEST(!isFound("get_program_id x", "get_program_id y"));
  BOOST_TEST(!isFound("tt.addptr %ys, %k", "tt.addptr %ys, %i")); // all programs read the same
}

// Blocks of a range, one a round, loaded, stored and loaded by an index modulo %m: only the last is no box.
BOOST_AUTO_TEST_CASE(loop_with_a_store_keeps_boxes_but_not_remainders) {
  Planner planner;
  auto program = planner.plan(R"(
tt.func public @f(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %n: i32, %m: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  %ms = tt.splat %m : i32 -> tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %qs = tt.splat %q : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  scf.for %k = %c0 to %n step %c64 : i32 {
    %s = tt.splat %k : i32 -> tensor<64xi32>
    %x = arith.addi %s, %i : tensor<64xi32>
    %inside = arith.cmpi slt, %x, %ns : tensor<64xi32>
    %a = tt.addptr %ps, %x : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %v = tt.load %a, %inside : tensor<64x!tt.ptr<f32>>
    %r = arith.remsi %x, %ms : tensor<64xi32>
    %b = tt.addptr %ps, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %w = tt.load %b : tensor<64x!tt.ptr<f32>>
    %y = arith.addf %v, %w : tensor<64xf32>
    %c = tt.addptr %qs, %x : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    tt.store %c, %y, %inside : tensor<64x!tt.ptr<f32>>
  }
  tt.return
})");
  BOOST_REQUIRE_MESSAGE(program, planner.diagnostics);
  const std::vector<std::string>& text = program->plan().codeText;
  BOOST_TEST(count(text, "Load") == 1u);
  BOOST_TEST(count(text, "Gather") == 1u);
  BOOST_TEST(count(text, "Scatter") == 0u);
  BOOST_TEST(count(text, "UniformQuotient") == 0u);
}

BOOST_AUTO_TEST_CASE(matmul_loop_is_loads_dot_and_two_additions) {
  Planner planner;
  auto program = planner.plan(kMatmul);
  BOOST_REQUIRE_MESSAGE(program, planner.diagnostics);
  const std::vector<std::string>& text = program->plan().codeText;
  size_t begin = 0, end = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i].rfind("For", 0) == 0) begin = i;
    if (text[i].rfind("Next", 0) == 0) end = i;
  }
  std::vector<std::string> loop(text.begin() + long(begin) + 1, text.begin() + long(end));
  BOOST_TEST(count(loop, "Load") == 2u);
  BOOST_TEST(count(loop, "Dot") == 1u);
  BOOST_TEST(count(loop, "Add64") == 2u);
  BOOST_TEST(count(loop, "Move") == 2u); // the pointers' bases; the accumulator stays where it is
  BOOST_TEST(count(loop, "Group") == 0u);
  BOOST_TEST(loop.size() == 7u);
  BOOST_TEST(count(text, "DotEnd") == 1u); // products wait
}

BOOST_AUTO_TEST_CASE(values_share_the_arena_by_liveness) {
  Planner planner;
  // Each reduction needs its whole operand, which is dead afterwards: a chain of them takes little more than two tiles.
  std::string text = "tt.func public @f(%x: !tt.ptr<f32>) {\n"
                     "  %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>\n"
                     "  %v0 = arith.sitofp %i : tensor<1024xi32> to tensor<1024xf32>\n";
  for (int k = 0; k < 8; ++k) {
    std::string a = std::to_string(k), b = std::to_string(k + 1);
    text += "  %s" + a + " = \"tt.reduce\"(%v" + a +
            ") <{axis = 0 : i32}> ({\n  ^bb0(%p: f32, %q: f32):\n    %r = arith.addf %p, %q : f32\n"
            "    tt.reduce.return %r : f32\n  }) : (tensor<1024xf32>) -> f32\n"
            "  %t" +
            a + " = tt.splat %s" + a +
            " : f32 -> tensor<1024xf32>\n"
            "  %v" +
            b + " = arith.subf %v" + a + ", %t" + a + " : tensor<1024xf32>\n";
  }
  text += "  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>\n"
          "  %xp = tt.addptr %xs, %i : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>\n"
          "  tt.store %xp, %v8 : tensor<1024x!tt.ptr<f32>>\n  tt.return\n}";
  auto program = planner.plan(text);
  BOOST_REQUIRE_MESSAGE(program, planner.diagnostics);
  BOOST_TEST(program->plan().frameBytes <= 4u * 4096u);
}

BOOST_AUTO_TEST_CASE(unsupported_operation_is_named) {
  Planner planner;
  auto program = planner.plan(R"(
tt.func public @f(%o: !tt.ptr<f32>, %x: f32, %n: i32) {
  %y = math.cbrt %x : f32
  tt.store %o, %y : !tt.ptr<f32>
  tt.return
})");
  BOOST_TEST(!program);
  BOOST_TEST(planner.diagnostics.find("interpreter: math.cbrt is not supported yet") != std::string::npos,
             planner.diagnostics);
}

BOOST_AUTO_TEST_CASE(approximations_of_a_target_are_refused) {
  for (const char* op : {"tw.ex2_approx %x", "tw.sqrt_approx %x ftz", "tw.rsqrt_approx %x", "tw.div_full %x, %x",
                         "tw.div_approx %x, %x"}) {
    Planner planner;
    BOOST_TEST(!planner.plan("tt.func public @f(%o: !tt.ptr<f32>, %x: f32) {\n  %y = " + std::string(op) +
                             " : f32\n  tt.store %o, %y : !tt.ptr<f32>\n  tt.return\n}"));
    BOOST_TEST(planner.diagnostics.find("which the simulator has (TILETWIN_BACKEND=sim)") != std::string::npos,
               planner.diagnostics);
  }
}

BOOST_AUTO_TEST_CASE(missing_function_is_an_error) {
  Planner planner;
  BOOST_TEST(!planner.plan("tt.func public @g() {\n  tt.return\n}"));
  BOOST_TEST(planner.diagnostics.find("no function f") != std::string::npos, planner.diagnostics);
}

BOOST_AUTO_TEST_CASE(operations_outside_the_language_are_refused) {
  Planner planner;
  BOOST_TEST(!planner.plan("tt.func public @f(%o: !tt.ptr<i32>, %x: i32, %y: i32) {\n"
                           "  %z = arith.floordivsi %x, %y : i32\n"
                           "  tt.store %o, %z : !tt.ptr<i32>\n  tt.return\n}"));
  BOOST_TEST(planner.diagnostics.find("arith.floordivsi is not supported yet") != std::string::npos,
             planner.diagnostics);
}

BOOST_AUTO_TEST_CASE(quotients_of_scalars_are_those_of_tiles) {
  const std::pair<ScalarOp, TwElementwise> kOps[] = {{ScalarOp::DivS, TwElementwise::DivSI},
                                                     {ScalarOp::DivU, TwElementwise::DivUI},
                                                     {ScalarOp::RemS, TwElementwise::RemSI},
                                                     {ScalarOp::RemU, TwElementwise::RemUI}};
  for (DType type : {DType::I8, DType::I16, DType::I32, DType::I64}) {
    const int width = int(sizeOf(type)) * 8;
    const int64_t least = INT64_MIN >> (64 - width);
    const int64_t values[] = {0, 1, -1, 2, 3, -7, 100, least, least + 1, ~least, ~least - 1};
    for (const auto& [op, strip] : kOps)
      for (const int64_t a : values)
        for (const int64_t b : values) {
          int64_t expected = 0;
          const void* src[3] = {&a, &b};
          tileOps().elementwise(strip, type)(1, &expected, src, 0);
          expected = int64_t(uint64_t(expected) << (64 - width)) >> (64 - width);
          BOOST_TEST(foldScalar(op, width, a, b, 0) == expected, nameOf(op) << width << " of " << a << " and " << b);
        }
  }
}
