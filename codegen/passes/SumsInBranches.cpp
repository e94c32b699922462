// codegen/passes/SumsInBranches.cpp -- see SumsInBranches.h.
#include "codegen/passes/SumsInBranches.h"
#include "codegen/dialect/TWG.h"
#include "ir/TT.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

/// The result of the loop's body that an operation gives on to the next iteration as the value of that number, and that
/// nothing else uses.
bool isOnlyCarried(Value value, scf::ForOp loop, unsigned number) {
  if (!tt::hasOneUse(value)) return false;
  OpOperand& use = *tt::usesOf(value).begin();
  return use.getOwner() == loop.getBody()->getTerminator() && use.getOperandNumber() == number;
}

/// The one number by which all elements are chosen; null: each has its own.
Value numberThatDecides(arith::SelectOp choice) {
  Value condition = choice.getCondition();
  if (auto splat = condition.getDefiningOp<tt::SplatOp>()) return splat.getSrc();
  return isa<RankedTensorType>(condition.getType()) ? Value() : condition;
}

/// The branch with one more result.
scf::IfOp withResult(scf::IfOp branch, Value ifTrue, Value ifFalse) {
  OpBuilder builder(branch);
  SmallVector<mlir::Type> types(branch.getResultTypes());
  types.push_back(ifTrue.getType());
  auto made = scf::IfOp::create(builder, branch.getLoc(), types, branch.getCondition(), /*addThenBlock=*/false,
                                /*addElseBlock=*/false);
  for (auto [region, old, value] : {std::tuple(&made.getThenRegion(), &branch.getThenRegion(), ifTrue),
                                    std::tuple(&made.getElseRegion(), &branch.getElseRegion(), ifFalse)}) {
    region->takeBody(*old);
    if (region->empty()) {
      builder.createBlock(region);
      scf::YieldOp::create(builder, branch.getLoc());
    }
    Operation* yield = region->front().getTerminator();
    yield->insertOperands(yield->getNumOperands(), value);
  }
  for (auto [before, after] : llvm::zip_first(branch.getResults(), made.getResults())) before.replaceAllUsesWith(after);
  branch.erase();
  return made;
}

} // namespace

bool SumInBranches::add(OpOperand& use) {
  Operation* user = use.getOwner();
  if (user == loop_.getBody()->getTerminator()) return use.getOperandNumber() == number_;
  if (auto choice = dyn_cast<arith::SelectOp>(user); choice && user->getBlock() == loop_.getBody()) {
    if (choice_ || use.getOperandNumber() == 0 || !numberThatDecides(choice) ||
        !isOnlyCarried(choice.getResult(), loop_, number_))
      return false;
    choice_ = choice;
    return true;
  }
  auto branch = dyn_cast<scf::IfOp>(loop_.getBody()->findAncestorOpInBlock(*user));
  if (!branch || branch.getCondition() == use.get()) return false;
  if (user->getParentOp() == branch && isa<scf::YieldOp>(user) &&
      !isOnlyCarried(branch.getResult(use.getOperandNumber()), loop_, number_))
    return false;
  if (!llvm::is_contained(branches_, branch)) branches_.push_back(branch);
  return true;
}

std::optional<SumInBranches> SumInBranches::find(scf::ForOp loop, unsigned number, Value sum) {
  SumInBranches found(loop, number, sum);
  for (OpOperand& use : tt::usesOf(sum))
    if (!found.add(use)) return std::nullopt;
  Value carried = loop.getYieldedValues()[number];
  Operation* last = carried.getDefiningOp();
  const bool isCarried = carried == sum || (found.choice_ && last == found.choice_) ||
                         llvm::any_of(found.branches_, [&](scf::IfOp branch) { return last == branch; });
  return isCarried ? std::optional(found) : std::nullopt;
}

bool SumInBranches::isBehind(Operation* op) const {
  return (!choice_ || op->isBeforeInBlock(choice_)) &&
         llvm::all_of(branches_, [&](scf::IfOp branch) { return op->isBeforeInBlock(branch); });
}

/// The choice as a result of a branch: of one that asks the same, or of a new one.
void SumInBranches::makeBranch() {
  auto* same = llvm::find_if(branches_, [&](scf::IfOp branch) {
    return branch.getCondition() == numberThatDecides(choice_) && choice_->isBeforeInBlock(branch);
  });
  scf::IfOp made;
  if (same == branches_.end()) {
    OpBuilder builder(choice_);
    made = scf::IfOp::create(builder, choice_.getLoc(), TypeRange(), numberThatDecides(choice_), /*addThenBlock=*/false,
                             /*addElseBlock=*/false);
    same = branches_.insert(same, made);
  }
  *same = made = withResult(*same, choice_.getTrueValue(), choice_.getFalseValue());
  choice_.getResult().replaceAllUsesWith(made.getResults().back());
  choice_.erase();
  choice_ = {};
}

/// Waits where a branch begins, if it reads the sum or gives on another value. Behind this wait nothing is in flight, so
/// that the other value may be put into the sum's registers. A second wait, for that value, would be one too many: the
/// assembler takes what is put into registers in front of a wait for writes to sums in flight.
void SumInBranches::waitIn(scf::IfOp branch, Region& region) {
  if (region.empty()) return;
  Operation* yield = region.front().getTerminator();
  auto isInside = [&](OpOperand& use) { return region.isAncestor(use.getOwner()->getParentRegion()); };
  bool isWaitedFor =
      llvm::any_of(sum_.getUses(), [&](OpOperand& use) { return use.getOwner() != yield && isInside(use); });
  for (auto [operand, result] : llvm::zip_equal(yield->getOperands(), branch.getResults()))
    isWaitedFor |= operand != sum_ && isOnlyCarried(result, loop_, number_);
  if (!isWaitedFor) return;
  OpBuilder builder = OpBuilder::atBlockBegin(&region.front());
  auto wait = twg::WarpgroupWaitOp::create(builder, sum_.getLoc(), sum_.getType(), 0, sum_);
  sum_.replaceUsesWithIf(wait.getResult(0), [&](OpOperand& use) { return use.getOwner() != wait && isInside(use); });
}

void SumInBranches::rewrite() {
  if (choice_) makeBranch();
  for (scf::IfOp branch : branches_)
    for (Region* region : {&branch.getThenRegion(), &branch.getElseRegion()}) waitIn(branch, *region);
}

} // namespace tiletwin::codegen
