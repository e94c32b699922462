// codegen/passes/LeastStep.cpp -- see LeastStep.h.
#include "codegen/passes/LeastStep.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

using Steps = SmallVector<int64_t, 5>;

constexpr unsigned kDepth = 64; ///< operations that are looked through, one inside the other

class Estimate {
public:
  explicit Estimate(tt::ContiguityAnalysis& contiguity) : contiguity_(contiguity) {}

  Steps of(Value value, unsigned depth = 0) {
    if (auto found = known_.find(value); found != known_.end()) return found->second;
    Steps steps = compute(value, depth);
    known_[value] = steps;
    return steps;
  }

private:
  Steps compute(Value value, unsigned depth) {
    const size_t rank = tt::shapeOf(value.getType()).size();
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      // What a loop moves on keeps its shape.
      auto loop = dyn_cast_or_null<scf::ForOp>(argument.getOwner()->getParentOp());
      if (loop && argument != loop.getInductionVar() && depth < kDepth)
        return of(loop.getTiedLoopInit(argument)->get(), depth + 1);
      return Steps(rank, kFarApart);
    }
    if (depth == kDepth) return Steps(rank, kFarApart);
    Operation* op = value.getDefiningOp();
    auto operand = [&](unsigned i) { return of(op->getOperand(i), depth + 1); };
    return llvm::TypeSwitch<Operation*, Steps>(op)
        .Case<tt::SplatOp, arith::ConstantOp>([&](Operation*) { return Steps(rank, 0); })
        .Case<tt::MakeRangeOp>([&](Operation*) { return Steps(rank, 1); })
        .Case([&](tt::ExpandDimsOp expand) {
          Steps steps = operand(0);
          steps.insert(steps.begin() + expand.getAxis(), 0);
          return steps;
        })
        .Case([&](tt::BroadcastOp broadcast) {
          Steps steps = operand(0);
          ArrayRef<int64_t> before = tt::shapeOf(broadcast.getSrc().getType()), after = tt::shapeOf(value.getType());
          for (size_t d = 0; d < rank; ++d)
            if (before[d] != after[d]) steps[d] = 0;
          return steps;
        })
        .Case([&](tt::TransOp trans) {
          const Steps source = operand(0);
          Steps steps;
          for (int32_t from : trans.getOrder()) steps.push_back(source[from]);
          return steps;
        })
        .Case<arith::AddIOp, arith::SubIOp, tt::AddPtrOp>([&](Operation*) {
          Steps steps = operand(0);
          for (auto [one, other] : llvm::zip_equal(steps, operand(1)))
            one = one == 0 || other == 0 ? std::max(one, other) : std::min(one, other);
          return steps;
        })
        .Case([&](arith::MulIOp) {
          Steps steps = operand(0);
          for (auto [d, other] : llvm::enumerate(operand(1)))
            steps[d] = steps[d] == 0 ? times(other, op->getOperand(0), d)
                       : other == 0  ? times(steps[d], op->getOperand(1), d)
                                     : kFarApart; // a square
          return steps;
        })
        .Case([&](scf::ForOp loop) {
          return operand(loop.getNumControlOperands() + cast<OpResult>(value).getResultNumber());
        })
        // Neighbours mostly lie between the same two multiples of a divisor.
        .Case<arith::RemSIOp, arith::RemUIOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(
            [&](Operation*) { return operand(0); })
        .Case<arith::DivSIOp, arith::DivUIOp>([&](Operation*) {
          Steps steps = operand(0);
          for (int64_t& step : steps)
            if (step == 1) step = 0;
          return steps;
        })
        .Default([&](Operation*) { return Steps(rank, kFarApart); });
  }

  /// A step times a number that is the same for all neighbours: at least what divides it.
  int64_t times(int64_t step, Value number, size_t dimension) {
    if (step == 0 || step == kFarApart) return step;
    const tt::Contiguity& known = contiguity_.of(number);
    if (known.value == 0) return 0;
    const int64_t least = known.value ? std::abs(*known.value) : known.dimensions[dimension].divisor;
    return step < kFarApart / least ? step * least : kFarApart;
  }

  tt::ContiguityAnalysis& contiguity_;
  llvm::DenseMap<Value, Steps> known_;
};

} // namespace

SmallVector<int64_t, 5> leastSteps(Value tile, tt::ContiguityAnalysis& contiguity) {
  return Estimate(contiguity).of(tile);
}

} // namespace tiletwin::codegen
