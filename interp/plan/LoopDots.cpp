// interp/plan/LoopDots.cpp -- dots of a loop that leave something for the next round.
// Here:      sums that the loop does nothing with but add to them, operands that are the same in each round.
// Not here:  the dot itself (DotOps.cpp), what is left and how (interp/tile/Dot.h).
// Idea:      products of a few steps of k are added together: each sum then goes through memory less often. Its terms come in the
//            same order, one by one, so its bits stay.
// Invariant: nothing reads a sum of the loop before endLoopDots().
#include "interp/plan/Builder.h"
#include "interp/program/PackedBand.h"
#include "ir/TT.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tiletwin::interp {

using mlir::Value;

/// The position of what the loop carries, if the loop does nothing else with it than to let the dot add to it; else -1.
static int sumOf(scf::ForOp loop, tt::DotOp dot) {
  auto carried = llvm::dyn_cast<mlir::BlockArgument>(dot.getC());
  if (!carried || carried.getOwner() != loop.getBody() || carried.getArgNumber() == 0) return -1;
  const unsigned at = carried.getArgNumber() - 1;
  const bool only = carried.hasOneUse() && dot.getD().hasOneUse() && loop.getYieldedValues()[at] == dot.getD();
  return only ? int(at) : -1;
}

/// Room for packed operands that programs share, if the dot can read them there.
static void makeBand(PlanBuilder& plan, tt::DotOp dot, LoopDot& made) {
  constexpr int64_t kRoom = 544 << 10; // of the second-level cache
  const int64_t n = PlanBuilder::shapeOf(dot.getD().getType())[1], k = PlanBuilder::shapeOf(dot.getA().getType())[1];
  if (plan.dtypeOf(dot.getD().getType()) != DType::F32 || plan.options().numerics == Numerics::Ieee || n > 256 ||
      k > 128)
    return;
  made.batchBytes = twPackedBytes(n, made.sum != kNoReg && k <= kTwHeldDepth / 2 ? kTwHeldDepth : k);
  made.batches = std::min<int64_t>(kRoom / made.batchBytes, PackedBand::kMost);
  made.band = plan.constantTile(std::vector<std::byte>(sizeof(PackedBand)));
  made.packed = plan.newReg(uint64_t(made.batches * made.batchBytes));
  plan.makeOptional(made.packed);
}

void PlanBuilder::beginLoopDots(scf::ForOp loop, llvm::ArrayRef<Reg> carried) {
  if (plan().debug || debug()) return; // a debugger looks at sums
  for (tt::DotOp dot : loop.getBody()->getOps<tt::DotOp>()) {
    loopDots_.erase(dot);
    const Shape shape = shapeOf(dot.getD().getType());
    if (shape.size() != 2 || !dotFnOf(*this, dot)) continue;
    const auto isSame = [&](Value v) { return !loop.getRegion().isAncestor(v.getParentRegion()); };
    const int sum = sumOf(loop, dot);
    LoopDot made;
    if (sum >= 0 && carried[size_t(sum)] != kNoReg) made.sum = carried[size_t(sum)];
    made.keepsA = made.sum == kNoReg && isSame(dot.getA());
    made.keepsB = made.sum == kNoReg && isSame(dot.getB());
    if (!made.keepsB) makeBand(*this, dot, made);
    const bool leaves = made.sum != kNoReg || made.keepsA || made.keepsB;
    if (!leaves && made.band == kNoReg) continue;
    made.state = newReg(8);
    if (leaves) made.scratch = newDotScratch(*this, shape[0], shape[1], shapeOf(dot.getA().getType())[1]);
    BuildInstruction& begin = emit(scalarFn(ScalarOp::Move, 64), "DotBegin");
    read(begin, begin.in.r[1], cell(Uniform::of(0)));
    write(begin, begin.in.r[0], made.state);
    if (leaves) begin.keep.push_back(made.scratch);
    loopDots_.try_emplace(dot, made);
  }
}

void PlanBuilder::endLoopDots(scf::ForOp loop) {
  for (tt::DotOp dot : loop.getBody()->getOps<tt::DotOp>()) {
    const LoopDot* made = loopDot(dot);
    if (!made || made->sum == kNoReg) continue;
    const Shape shape = shapeOf(dot.getD().getType());
    BuildInstruction& in = emit(execDotEnd, "DotEnd");
    DotOp& data = newData<DotOp>(in);
    data.m = shape[0];
    data.n = shape[1];
    data.fn = dotFnOf(*this, dot);
    data.holds = true;
    read(in, data.state, made->state);
    read(in, data.scratch, made->scratch);
    readBand(in, data, *made);
    read(in, data.d, made->sum);
    write(in, data.d, made->sum);
  }
}

void PlanBuilder::readBand(BuildInstruction& in, DotOp& data, const LoopDot& made) {
  if (!made.usesBand) return;
  data.batches = int32_t(made.batches);
  data.batchBytes = made.batchBytes;
  read(in, data.band, made.band);
  read(in, data.packed, made.packed);
  plan().sharesReads = true;
}

LoopDot* PlanBuilder::loopDot(mlir::Operation* dot) {
  auto found = loopDots_.find(dot);
  return found == loopDots_.end() ? nullptr : &found->second;
}

} // namespace tiletwin::interp
