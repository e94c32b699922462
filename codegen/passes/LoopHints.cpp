// codegen/passes/LoopHints.cpp -- see LoopHints.h.
// Idea: the new loops count rounds from 0 by 1, and the loop's variable is computed from a round's number, so that nothing
//       passes the largest integer that did not pass it before, and a loop without rounds stays one.
#include "codegen/passes/LoopHints.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

constexpr llvm::StringLiteral kFactor = "tt.loop_unroll_factor", kStages = "tt.num_stages";

class Unroll {
public:
  Unroll(scf::ForOp loop, int64_t factor)
      : loop_(loop), factor_(factor), builder_(loop), type_(loop.getInductionVar().getType()) {}
  void run();

private:
  Value constant(int64_t number) {
    return arith::ConstantOp::create(builder_, loop_.getLoc(), builder_.getIntegerAttr(type_, number));
  }
  template <class Op> Value make(Value a, Value b) { return builder_.createOrFold<Op>(loop_.getLoc(), a, b); }
  Value rounds();
  scf::ForOp repeat(Value first, Value end, ValueRange carried, int64_t bodies);

  scf::ForOp loop_;
  int64_t factor_;
  OpBuilder builder_;
  Type type_;
};

/// How often the body runs: (upper - lower) / step, rounded up, without a sign, since the difference may not fit one.
Value Unroll::rounds() {
  Value lower = loop_.getLowerBound(), upper = loop_.getUpperBound(), step = loop_.getStep();
  auto less = loop_.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  Value runs = builder_.createOrFold<arith::CmpIOp>(loop_.getLoc(), less, lower, upper);
  Value last = make<arith::SubIOp>(make<arith::SubIOp>(upper, lower), constant(1));
  Value by = make<arith::MaxUIOp>(step, constant(1)); // a loop without rounds may have a step of 0
  Value many = make<arith::AddIOp>(make<arith::DivUIOp>(last, by), constant(1));
  return builder_.createOrFold<arith::SelectOp>(loop_.getLoc(), runs, many, constant(0));
}

/// A loop over rounds `first` to `end`, each of which runs the body `bodies` times.
scf::ForOp Unroll::repeat(Value first, Value end, ValueRange carried, int64_t bodies) {
  auto made = scf::ForOp::create(
      builder_, loop_.getLoc(), first, end, constant(1), carried, [](OpBuilder&, Location, Value, ValueRange) {},
      /*unsignedCmp=*/true);
  made->setDiscardableAttrs(loop_->getDiscardableAttrDictionary());
  made->removeAttr(kFactor);
  OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToStart(made.getBody());
  Value round = make<arith::MulIOp>(made.getInductionVar(), constant(bodies));
  SmallVector<Value> values(made.getRegionIterArgs());
  for (int64_t i = 0; i < bodies; ++i) {
    IRMapping mapping;
    Value number = make<arith::AddIOp>(round, constant(i));
    mapping.map(loop_.getInductionVar(),
                make<arith::AddIOp>(loop_.getLowerBound(), make<arith::MulIOp>(number, loop_.getStep())));
    mapping.map(loop_.getRegionIterArgs(), values);
    for (Operation& op : loop_.getBody()->without_terminator()) builder_.clone(op, mapping);
    for (auto [value, next] : llvm::zip(values, loop_.getYieldedValues())) value = mapping.lookupOrDefault(next);
  }
  scf::YieldOp::create(builder_, loop_.getLoc(), values);
  return made;
}

void Unroll::run() {
  Value all = rounds(), factor = constant(factor_);
  Value whole = make<arith::DivUIOp>(all, factor);
  scf::ForOp main = repeat(constant(0), whole, loop_.getInitArgs(), factor_);
  Value done = make<arith::MulIOp>(whole, factor);
  ValueRange results = main.getResults();
  APInt have, want;
  const bool isWhole =
      matchPattern(all, m_ConstantInt(&want)) && matchPattern(done, m_ConstantInt(&have)) && have == want;
  if (!isWhole) {
    scf::ForOp rest = repeat(done, all, results, 1);
    rest->setAttr(kStages, builder_.getI32IntegerAttr(1));
    results = rest.getResults();
  }
  loop_.replaceAllUsesWith(results);
  loop_.erase();
}

} // namespace

void unrollLoops(tt::FuncOp kernel) {
  SmallVector<scf::ForOp> loops; // inner ones first
  kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  for (scf::ForOp loop : loops)
    if (auto factor = loop->getAttrOfType<IntegerAttr>(kFactor); factor && factor.getInt() > 1)
      Unroll(loop, factor.getInt()).run();
}

void warnOfHints(tt::FuncOp kernel, const Target& target) {
  if (target.features().warpRoles) return; // a producer flattens loops, or says why it does not
  kernel.walk([&](scf::ForOp loop) {
    const bool isNest = loop.getBody()->walk([](scf::ForOp) { return WalkResult::interrupt(); }).wasInterrupted();
    if (loop->hasAttr("tt.flatten") && isNest)
      loop.emitWarning("tl.range(flatten=True) changes nothing: tiletwin's code keeps nested loops as they are. Write "
                       "one loop over both counts where rounds of the outer loop shall overlap");
  });
}

} // namespace tiletwin::codegen
