// tests/ir/CarryValuesTest.cpp -- ir/CarryValues.h: further values through loops and branches, and shadows through functions.
#define BOOST_TEST_MODULE carry_values
#include "ir/CarryValues.h"
#include "ir/TT.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include <boost/test/unit_test.hpp>
#include <string>

using namespace mlir;
namespace tt = tiletwin::tt;

namespace {

MLIRContext& context() {
  static MLIRContext* made = [] {
    auto* fresh = new MLIRContext;
    fresh->loadDialect<tt::TTDialect, arith::ArithDialect, scf::SCFDialect, cf::ControlFlowDialect>();
    return fresh;
  }();
  return *made;
}

/// A function of x: f32, n: i32 and c: i1 with this body.
OwningOpRef<ModuleOp> parse(const std::string& body) {
  auto module = parseSourceString<ModuleOp>("tt.func @f(%x: f32, %n: i32, %c: i1) -> f32 {\n"
                                            "  %zero = arith.constant 0 : i32\n"
                                            "  %one = arith.constant 1 : i32\n" +
                                                body + "\n}",
                                            &context());
  BOOST_REQUIRE(module);
  return module;
}

const char* const kFor = R"(
  %r = scf.for %i = %zero to %n step %one iter_args(%a = %x) -> (f32) : i32 {
    %s = arith.addf %a, %x : f32
    scf.yield %s : f32
  } {tt.num_stages = 3 : i32}
  tt.return %r : f32)";
const char* const kWhile = R"(
  %r:2 = scf.while (%a = %x, %k = %zero) : (f32, i32) -> (i32, f32) {
    %go = arith.cmpi slt, %k, %n : i32
    scf.condition(%go) %k, %a : i32, f32
  } do {
  ^bb0(%k: i32, %a: f32):
    %s = arith.addf %a, %x : f32
    %next = arith.addi %k, %one : i32
    scf.yield %s, %next : f32, i32
  }
  tt.return %r#1 : f32)";
const char* const kIf = R"(
  %r = scf.if %c -> (f32) {
    %s = arith.addf %x, %x : f32
    scf.yield %s : f32
  } else {
    scf.yield %x : f32
  }
  tt.return %r : f32)";
const char* const kIfWithoutElse = R"(
  scf.if %c {
    %s = arith.addf %x, %x : f32
  }
  tt.return %x : f32)";
const char* const kExecuteRegion = R"(
  %r = scf.execute_region -> f32 {
    cf.cond_br %c, ^early(%x : f32), ^late(%x : f32)
  ^early(%a: f32):
    scf.yield %a : f32
  ^late(%b: f32):
    %s = arith.addf %b, %x : f32
    cf.br ^end(%s : f32)
  ^end(%e: f32):
    scf.yield %e : f32
  }
  tt.return %r : f32)";

Operation* onlyControl(ModuleOp module) {
  Operation* found = nullptr;
  module.walk([&](Operation* op) {
    if (isa<scf::ForOp, scf::WhileOp, scf::IfOp, scf::ExecuteRegionOp>(op)) found = op;
  });
  return found;
}

/// Carries the function's `n` through the only operation with regions. Every region is entered with it and hands it on.
struct Carried {
  explicit Carried(const char* body) : module(parse(body)) {
    Operation* op = onlyControl(*module);
    own = op->getNumResults();
    attributes = op->getDiscardableAttrDictionary();
    op->walk([&](Operation* inner) {
      if (inner != op) inside.push_back(inner);
    });
    Value n = op->getParentRegion()->getArgument(1);
    OpBuilder builder(&context());
    tt::CarriedValues carried{{}, {n.getType()}, {}, {}};
    if (isa<LoopLikeOpInterface>(op)) carried.inits = {n};
    Value last;
    auto enter = [&](Region&, ValueRange further) {
      entered.push_back(unsigned(further.size()));
      last = further.empty() ? n : further.front();
    };
    auto leave = [&](Operation* end) {
      BOOST_TEST((builder.getInsertionPoint() == Block::iterator(end)));
      ++left;
      return SmallVector<Value>{last};
    };
    carried.enter = enter;
    carried.leave = leave;
    made = tt::carryValues(builder, op, carried);
    BOOST_TEST((builder.getInsertionPoint() == std::next(Block::iterator(made))));
    tt::replaceByWider(op, made);
  }
  OwningOpRef<ModuleOp> module;
  Operation* made = nullptr;
  unsigned own = 0, left = 0;
  DictionaryAttr attributes;
  std::vector<Operation*> inside;
  std::vector<unsigned> entered; ///< how many values further, by region
};

void checkWider(const Carried& carried, const std::vector<unsigned>& entered, unsigned left) {
  BOOST_TEST(succeeded(verify(*carried.module)));
  BOOST_TEST(carried.made->getNumResults() == carried.own + 1);
  BOOST_TEST(carried.made->getResults().back().getType().isInteger(32));
  BOOST_TEST((carried.made->getDiscardableAttrDictionary() == carried.attributes));
  BOOST_TEST(carried.entered == entered);
  BOOST_TEST(carried.left == left);
  for (Operation* op : carried.inside) BOOST_TEST(carried.made->isProperAncestor(op)); // moved, not made anew
}

/// Every f32 has a shadow, an i8: a sum's is the maximum of its operands' shadows.
class Sums : public tt::ShadowWalk {
public:
  explicit Sums(tt::FuncOp function) : ShadowWalk(function) {
    setInsertionPointToStart(&function.getBody().front());
    Value x = function.getBody().getArgument(0);
    shadows_[x] = integer(getI8Type(), 1);
    shadowRegion(function.getBody());
    end = function.getBody().front().getTerminator();
  }
  Operation* end;
  unsigned wider = 0;

private:
  bool needsShadow(Value value) const override { return value.getType().isF32(); }
  Type shadowTypeOf(Type type) const override { return IntegerType::get(type.getContext(), 8); }
  Value noShadow(Type) override { return integer(getI8Type(), 0); }
  void widened(Operation*, Operation*) override { ++wider; }
  void shadowOp(Operation* op) override {
    if (isa<scf::ForOp, scf::WhileOp, scf::IfOp, scf::ExecuteRegionOp>(op)) {
      shadowThrough(op);
    } else if (isa<BranchOpInterface>(op)) {
      shadowBranch(op);
    } else if (auto sum = dyn_cast<arith::AddFOp>(op)) {
      shadows_[sum] = arith::MaxUIOp::create(*this, of(sum.getLhs()), of(sum.getRhs()));
    }
  }
};

} // namespace

BOOST_AUTO_TEST_CASE(a_loop_takes_a_value_along) { checkWider(Carried(kFor), {1}, 1); }
BOOST_AUTO_TEST_CASE(both_regions_of_a_while_hand_a_value_on) { checkWider(Carried(kWhile), {1, 1}, 2); }
BOOST_AUTO_TEST_CASE(both_arms_of_a_branch_hand_a_value_on) { checkWider(Carried(kIf), {0, 0}, 2); }
BOOST_AUTO_TEST_CASE(a_branch_gets_the_arm_that_it_lacks) { checkWider(Carried(kIfWithoutElse), {0, 0}, 2); }
BOOST_AUTO_TEST_CASE(every_way_out_of_a_region_hands_a_value_on) { checkWider(Carried(kExecuteRegion), {0}, 2); }

BOOST_AUTO_TEST_CASE(without_further_values_an_operation_stays) {
  auto module = parse(kIfWithoutElse);
  Operation* op = onlyControl(*module);
  OpBuilder builder(&context());
  unsigned entered = 0;
  auto enter = [&](Region&, ValueRange further) { entered += further.empty(); };
  auto leave = [&](Operation*) { return SmallVector<Value>(); };
  BOOST_TEST(tt::carryValues(builder, op, {{}, {}, enter, leave}) == op);
  BOOST_TEST(entered == 1u); // there is no other arm
  BOOST_TEST(succeeded(verify(*module)));
}

BOOST_AUTO_TEST_CASE(shadows_go_wherever_their_values_go) {
  for (const char* body : {kFor, kWhile, kIf, kIfWithoutElse, kExecuteRegion}) {
    auto module = parse(body);
    Sums sums(*module->getOps<tt::FuncOp>().begin());
    BOOST_TEST(succeeded(verify(*module)));
    Value returned = sums.end->getOperand(0), shadow = sums.of(returned);
    BOOST_REQUIRE(shadow);
    BOOST_TEST(shadow.getType().isInteger(8));
    BOOST_TEST(sums.wider == (body == kIfWithoutElse ? 0u : 1u));
    // Behind an operation with regions the shadow is its result.
    if (Operation* op = returned.getDefiningOp()) BOOST_TEST(shadow.getDefiningOp() == op);
  }
}
