// codegen/passes/DotsInFlight.cpp -- see DotsInFlight.h.
#include "codegen/passes/DotsInFlight.h"
#include "codegen/passes/Notes.h"
#include "codegen/passes/SumsInBranches.h"
#include "ir/TT.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

/// True for sums that the instruction holds in the same registers as everybody else: f16 come in pairs.
bool isInRegistersOfItsOwn(Value sum) {
  mlir::Type element = tt::elementTypeOf(sum.getType());
  return element.isIntOrFloat() && element.getIntOrFloatBitWidth() == 32;
}

twg::WarpgroupWaitOp makeWait(OpBuilder& builder, Location where, unsigned pending, ValueRange sums) {
  return twg::WarpgroupWaitOp::create(builder, where, sums.getTypes(), pending, sums);
}

} // namespace

void waitForSums(OpBuilder& builder, Location where, unsigned pending, ValueRange sums) {
  twg::WarpgroupWaitOp wait = makeWait(builder, where, pending, sums);
  for (auto [sum, waited] : llvm::zip_equal(sums, wait.getResults())) {
    moveNotes(sum, waited);
    sum.replaceAllUsesExcept(waited, wait);
  }
}

Operation* firstReader(twg::LocalAllocOp allocation) {
  Operation* first = nullptr;
  for (Operation* user : allocation->getUsers())
    if (Operation* op = allocation->getBlock()->findAncestorOpInBlock(*user); !first || op->isBeforeInBlock(first))
      first = op;
  return first;
}

DotsInFlight::DotsInFlight(scf::ForOp loop, llvm::function_ref<bool(twg::LocalAllocOp)> isBuffered) : loop_(loop) {
  for (unsigned number = 0; number < loop.getNumRegionIterArgs(); ++number)
    if (Sum sum{number, {}}; findAddedUp(sum))
      sums_.push_back(std::move(sum));
    else if (Sum sum{number, {}}; findRead(sum))
      sums_.push_back(std::move(sum));
  auto readsWhatStays = [&](Sum& sum) {
    return llvm::all_of(sum.dots, [&](twg::WarpgroupDotOp dot) {
      return llvm::all_of(ValueRange{dot.getA(), dot.getB()}, [&](Value matrix) {
        const bool isInMemory = isa<twg::MemDescType>(matrix.getType());
        return isInMemory ? isMemoryThatStays(matrix, isBuffered) : areRegistersThatStay(matrix, sum);
      });
    });
  };
  SmallVector<Sum, 2> left;
  for (Sum& sum : sums_)
    if (readsWhatStays(sum)) left.push_back(sum);
  sums_ = std::move(left);
  for (const Sum& sum : sums_)
    for (twg::WarpgroupDotOp dot : sum.dots)
      for (Value memory : {dot.getA(), Value(dot.getB())}) {
        twg::LocalAllocOp allocation =
            isa<twg::MemDescType>(memory.getType()) ? twg::allocationOf(memory) : twg::LocalAllocOp();
        if (allocation && allocation->getBlock() == loop_.getBody() && !isBuffered(allocation))
          single_.insert(allocation);
      }
}

/// The products that add to a carried value and are all that happens to it, but for branches behind them.
bool DotsInFlight::findAddedUp(Sum& sum) {
  Value value = loop_.getRegionIterArg(sum.number);
  if (!isa<RankedTensorType>(value.getType()) || !isInRegistersOfItsOwn(value)) return false;
  while (tt::hasOneUse(value)) {
    auto dot = dyn_cast<twg::WarpgroupDotOp>(*tt::usersOf(value).begin());
    if (!dot) break;
    if (dot->getBlock() != loop_.getBody() || dot.getC() != value) return false;
    sum.dots.push_back(dot);
    value = dot.getD();
  }
  if (sum.dots.empty()) return false;
  std::optional<SumInBranches> branches = SumInBranches::find(loop_, sum.number, value);
  auto isBehind = [&](twg::WarpgroupDotOp dot) { return branches->isBehind(dot); };
  return branches && llvm::all_of(loop_.getBody()->getOps<twg::WarpgroupDotOp>(), isBehind);
}

/// True for a sum that is made of another carried tile alone: it moves to other registers on the way around the loop, while its
/// product writes them.
bool DotsInFlight::comesFromAnother(Sum& sum) {
  const BlockArgument carried = loop_.getRegionIterArg(sum.number);
  bool isOfAnother = false;
  llvm::SmallDenseSet<Value> seen;
  SmallVector<Value> sources{sum.dots.front().getC()};
  while (!sources.empty()) {
    Value value = sources.pop_back_val();
    if (value == carried) return false;
    if (!seen.insert(value).second) continue;
    auto argument = dyn_cast<BlockArgument>(value);
    isOfAnother |= argument && argument.getOwner() == loop_.getBody() && value.getType() == carried.getType();
    Operation* op = value.getDefiningOp();
    if (op && op->getBlock() == loop_.getBody()) llvm::append_range(sources, op->getOperands());
  }
  return isOfAnother;
}

/// The products that make a carried value, which the next iteration reads.
bool DotsInFlight::findRead(Sum& sum) {
  Value value = loop_.getYieldedValues()[sum.number], carried = loop_.getRegionIterArg(sum.number);
  if (!isa<RankedTensorType>(value.getType()) || !isInRegistersOfItsOwn(value)) return false;
  for (auto dot = value.getDefiningOp<twg::WarpgroupDotOp>();
       dot && dot->getBlock() == loop_.getBody() && tt::hasOneUse(value);
       value = dot.getC(), dot = value.getDefiningOp<twg::WarpgroupDotOp>())
    sum.dots.insert(sum.dots.begin(), dot);
  if (sum.dots.empty()) return false;
  if (comesFromAnother(sum)) return false;
  sum.reader = sum.dots.front();
  bool isRead = false;
  for (Operation* user : tt::usersOf(carried)) {
    Operation* here = loop_.getBody()->findAncestorOpInBlock(*user);
    isRead |= here != loop_.getBody()->getTerminator();
    if (here->isBeforeInBlock(sum.reader)) sum.reader = here;
  }
  return isRead;
}

/// True for memory that the loop does not write, or only where a wait can stand before.
bool DotsInFlight::isMemoryThatStays(Value memory, llvm::function_ref<bool(twg::LocalAllocOp)> isBuffered) {
  if (!loop_.getBodyRegion().isAncestor(memory.getParentRegion())) return true;
  twg::LocalAllocOp allocation = twg::allocationOf(memory);
  if (!allocation || allocation->getBlock() != loop_.getBody()) return false;
  return isBuffered(allocation) || allocation.getSrc();
}

/// True for registers that the loop does not write, or only with what comes out of a wait for all products: of the sum, or
/// of a product that is waited for at once. Where the writes stand does not say that: instructions may change places. The
/// sum is waited for there at the latest.
bool DotsInFlight::areRegistersThatStay(Value matrix, Sum& sum) {
  if (!loop_.getBodyRegion().isAncestor(matrix.getParentRegion())) return true;
  Operation* waited = nullptr;
  llvm::SmallDenseSet<Value> seen;
  SmallVector<Value> sources{matrix};
  while (!sources.empty()) {
    Value value = sources.pop_back_val();
    if (!seen.insert(value).second) continue;
    if (sum.reader && value == loop_.getRegionIterArg(sum.number)) return true;
    Operation* op = value.getDefiningOp();
    if (!op || op->getBlock() != loop_.getBody()) continue;
    auto isOfSum = [&](const Sum& other) { return llvm::is_contained(other.dots, op); };
    if (isa<twg::WarpgroupDotOp>(op) && llvm::none_of(sums_, isOfSum))
      if (!waited || op->isBeforeInBlock(waited)) waited = op;
    llvm::append_range(sources, op->getOperands());
  }
  if (!waited) return false;
  Operation* behind = waited->getNextNode();
  if (!sum.reader || behind->isBeforeInBlock(sum.reader)) sum.reader = behind;
  return true;
}

/// The first write to memory that has one buffer; null: all of it has several. Writes go down to the first product that
/// reads them, so that loads of one operand are not behind the wait for the other's memory.
Operation* DotsInFlight::firstWrite() {
  Operation* first = nullptr;
  for (twg::LocalAllocOp allocation : single_) {
    allocation->moveBefore(firstReader(allocation));
    if (!first || allocation->isBeforeInBlock(first)) first = allocation;
  }
  return first;
}

/// Where the first sum is read that more than products need; null: there is none.
Operation* DotsInFlight::firstRead() {
  Operation* first = nullptr;
  for (const Sum& sum : sums_)
    if (sum.reader && (!first || sum.reader->isBeforeInBlock(first))) first = sum.reader;
  return first;
}

/// The first product in front of `end` that is waited for at once, and so are those of the iteration before: one wait does
/// for all. Null: there is none.
twg::WarpgroupDotOp DotsInFlight::waitedInFrontOf(Operation* end) {
  for (auto dot : loop_.getBody()->getOps<twg::WarpgroupDotOp>())
    if (end && dot->isBeforeInBlock(end) && !dot.getInFlight() && isInRegistersOfItsOwn(dot.getD())) return dot;
  return {};
}

/// Nothing is in flight in front of the loop, but what came through a wait is in registers there. Constants would be put
/// into them once more on the way around a loop without iterations, and then the assembler keeps nothing in flight.
void DotsInFlight::fixRegisters() {
  OpBuilder builder(loop_);
  SmallVector<Value> inits;
  for (const Sum& sum : sums_) inits.push_back(loop_.getInitArgs()[sum.number]);
  twg::WarpgroupWaitOp wait = makeWait(builder, loop_.getLoc(), 0, inits);
  for (auto [sum, init] : llvm::zip_equal(sums_, wait.getResults())) loop_.getInitArgsMutable()[sum.number].set(init);
}

/// The wait in the loop's body.
Operation* DotsInFlight::wait() {
  Operation *last = nullptr, *end = firstWrite(), *read = firstRead(); // end: all of them are waited for in front of it
  if (read && (!end || read->isBeforeInBlock(end))) end = read;
  unsigned dots = 0;
  for (const Sum& sum : sums_) {
    dots += sum.dots.size();
    if (!last || last->isBeforeInBlock(sum.dots.back())) last = sum.dots.back();
  }
  twg::WarpgroupDotOp before = read == end ? waitedInFrontOf(end) : twg::WarpgroupDotOp();
  if (before) end = before->getNextNode();
  OpBuilder builder(last);
  if (end)
    builder.setInsertionPoint(end);
  else
    builder.setInsertionPointAfter(last);
  SmallVector<Value> now;
  for (const Sum& sum : sums_) {
    Value value = loop_.getRegionIterArg(sum.number);
    for (twg::WarpgroupDotOp dot : sum.dots)
      if (!end || dot->isBeforeInBlock(end)) value = dot.getD();
    now.push_back(value);
  }
  if (before) {
    before.setInFlight(true);
    now.push_back(before.getD());
  }
  waitForSums(builder, loop_.getLoc(), end ? 0 : dots, now);
  return ttg::BarrierOp::create(builder, loop_.getLoc(), ttg::BarrierScope::Local);
}

Operation* DotsInFlight::barrierIn(scf::ForOp loop) {
  for (auto barrier : loop.getBody()->getOps<ttg::BarrierOp>())
    if (isa_and_nonnull<twg::WarpgroupWaitOp>(barrier->getPrevNode())) return barrier;
  return nullptr;
}

Operation* DotsInFlight::rewrite() {
  for (Sum& sum : sums_) {
    for (twg::WarpgroupDotOp dot : sum.dots) dot.setInFlight(true);
    std::optional<SumInBranches> branches = SumInBranches::find(loop_, sum.number, sum.dots.back().getD());
    if (branches) branches->rewrite(); // found anew, since sums may share branches
  }
  fixRegisters();
  Operation* barrier = wait();
  OpBuilder builder(loop_.getContext());
  builder.setInsertionPointAfter(loop_);
  SmallVector<Value> results;
  for (const Sum& sum : sums_) results.push_back(loop_.getResult(sum.number));
  waitForSums(builder, loop_.getLoc(), 0, results);
  return barrier;
}

} // namespace tiletwin::codegen
