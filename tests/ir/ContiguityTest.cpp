// tests/ir/ContiguityTest.cpp -- ir/Contiguity.h: how long what it returns may be held. What it says is tested by accesses.
#define BOOST_TEST_MODULE contiguity
#include "ir/Contiguity.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include <boost/test/unit_test.hpp>
#include <string>

using namespace mlir;
namespace tt = tiletwin::tt;

BOOST_AUTO_TEST_CASE(an_answer_stays_while_others_are_asked_for) {
  MLIRContext context;
  context.loadDialect<tt::TTDialect, arith::ArithDialect>();
  std::string body = "tt.func @f(%n: i32 {tt.divisibility = 16 : i32}) {\n  %v0 = arith.addi %n, %n : i32\n";
  for (int i = 1; i < 1000; ++i) {
    const std::string last = "%v" + std::to_string(i - 1);
    body += "  %v" + std::to_string(i) + " = arith.addi " + last + ", %n : i32\n";
  }
  auto module = parseSourceString<ModuleOp>(body + "  tt.return\n}", &context);
  BOOST_REQUIRE(module);
  auto function = *module->getOps<tt::FuncOp>().begin();
  tt::ContiguityAnalysis analysis;
  const tt::Contiguity& first = analysis.of(function.getArgument(0));
  BOOST_TEST(first.dimensions.front().divisor == 16);
  for (arith::AddIOp sum : function.getBody().front().getOps<arith::AddIOp>()) analysis.of(sum.getResult());
  BOOST_TEST(&first == &analysis.of(function.getArgument(0)));
  BOOST_TEST(first.dimensions.front().divisor == 16);
}
