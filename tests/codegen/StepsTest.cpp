// tests/codegen/StepsTest.cpp -- the way from ttir to ttgir: after every step the module is verified, and the error says which
// step broke it.
#define BOOST_TEST_MODULE steps
#include "codegen/passes/Steps.h"
#include "codegen/dialect/TWG.h"
#include "ir/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Diagnostics.h"
#include <boost/test/unit_test.hpp>

using namespace mlir;
using namespace tiletwin;
using namespace tiletwin::codegen;

namespace {

constexpr llvm::StringLiteral kKernel = R"(
tt.func public @kernel(%p: !tt.ptr<i32>) {
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %two = arith.constant dense<2> : tensor<64xi32>
  %x = arith.muli %i, %two : tensor<64xi32>
  %b = tt.splat %p : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %a = tt.addptr %b, %i : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  tt.store %a, %x : tensor<64x!tt.ptr<i32>>
  tt.return
})";

/// A module, and what was said about it.
struct Kernel {
  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
  std::string said;

  Kernel() {
    tt::prepareContext(context);
    context.loadDialect<twg::TWGDialect>();
    module = tt::parseTtir(kKernel, "kernel.ttir", context);
    BOOST_REQUIRE(module);
  }
  bool run(llvm::ArrayRef<Step> steps, bool verify) {
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic& diagnostic) {
      said += (said.empty() ? "" : "\n") + diagnostic.str();
      return success();
    });
    Options options;
    options.verify = verify;
    return succeeded(runSteps(steps, *module, Target(), options));
  }
};

/// Leaves the product with a type that its operands do not have.
LogicalResult breakProduct(ModuleOp module, const Target&, const Options&) {
  module.walk([](arith::MulIOp product) {
    product.getResult().setType(
        RankedTensorType::get({32}, cast<RankedTensorType>(product.getType()).getElementType()));
  });
  return success();
}

int calls = 0;
LogicalResult count(ModuleOp, const Target&, const Options&) {
  ++calls;
  return success();
}

} // namespace

BOOST_AUTO_TEST_CASE(all_steps_leave_valid_modules) {
  Kernel kernel;
  BOOST_TEST(kernel.run(ttgirSteps(), /*verify=*/true), kernel.said);
  BOOST_TEST(kernel.said.empty());
  bool isLaidOut = true;
  kernelOf(*kernel.module).walk([&](Operation* op) {
    for (Value result : op->getResults())
      if (isa<RankedTensorType>(result.getType())) isLaidOut &= twg::hasLayout(result.getType());
  });
  BOOST_TEST(isLaidOut);
}

BOOST_AUTO_TEST_CASE(a_broken_module_is_caught_behind_every_step) {
  for (size_t place = 0; place <= ttgirSteps().size(); ++place) {
    Kernel kernel;
    llvm::SmallVector<Step> steps(ttgirSteps().begin(), ttgirSteps().begin() + place);
    steps.push_back({"break", "", breakProduct});
    steps.push_back({"count", "", count});
    calls = 0;
    BOOST_TEST(!kernel.run(steps, /*verify=*/true));
    BOOST_TEST(kernel.said.starts_with("after break the module is not valid: 'arith.muli' op"), kernel.said);
    BOOST_TEST(calls == 0);
  }
}

BOOST_AUTO_TEST_CASE(without_the_option_nobody_looks) {
  Kernel kernel;
  calls = 0;
  Step steps[] = {{"break", "", breakProduct}, {"count", "", count}};
  BOOST_TEST(kernel.run(steps, /*verify=*/false));
  BOOST_TEST(calls == 1);
}

BOOST_AUTO_TEST_CASE(a_step_that_fails_ends_it) {
  Kernel kernel;
  calls = 0;
  Step steps[] = {
      {"fail", "",
       [](ModuleOp module, const Target&, const Options&) -> LogicalResult { return module.emitError("no"); }},
      {"count", "", count}};
  BOOST_TEST(!kernel.run(steps, /*verify=*/true));
  BOOST_TEST(kernel.said == "no");
  BOOST_TEST(calls == 0);
}
