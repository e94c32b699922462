// interp/plan/DotOps.cpp -- tt.dot.
// Here:      operands with any strides, the precision, accumulation in place.
// Not here:  the product (interp/tile).
// Invariant: the accumulator is overwritten only if this dot is the last thing that reads it.
#include "interp/plan/Builder.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include <climits>

namespace tiletwin::interp {

using mlir::LogicalResult;
using mlir::Operation;
using mlir::success;
using mlir::Value;

/// In the order of the enumeration inputPrecision: tf32, tf32x3, ieee, bf16x3, bf16x6.
static constexpr TwDotPrecision kPrecisions[] = {TwDotPrecision::Tf32, TwDotPrecision::F32, TwDotPrecision::F32, TwDotPrecision::Bf16x3,
                                                 TwDotPrecision::F32};

/// True if c's tile belongs to c alone, was made in this block, and dies here.
static bool diesHere(PlanBuilder& plan, Operation* dot, Value c) {
  Operation* maker = c.getDefiningOp();
  if (!maker || maker->getBlock() != dot->getBlock() || !c.hasOneUse())
    return false;
  llvm::StringRef name = maker->getName().getStringRef();
  static const llvm::StringRef kSharing[] = {"tt.reshape", "tt.trans", "tt.expand_dims", "tt.broadcast", "tt.bitcast", "arith.bitcast",
                                             "tt.split", "tt.load", "arith.constant"};
  return !llvm::is_contained(kSharing, name);
}

LogicalResult planDot(PlanBuilder& plan, Operation* op) {
  Value a = op->getOperand(0), b = op->getOperand(1), c = op->getOperand(2), d = op->getResult(0);
  DType ta = plan.dtypeOf(a.getType()), tb = plan.dtypeOf(b.getType()), tc = plan.dtypeOf(d.getType());
  Shape shape = PlanBuilder::shapeOf(d.getType()), aShape = PlanBuilder::shapeOf(a.getType());
  size_t rank = shape.size();
  TwDotPrecision precision = TwDotPrecision::F32;
  if (plan.options().numerics == Numerics::Ieee)
    precision = TwDotPrecision::Ieee;
  else if (auto attr = op->getAttrOfType<mlir::IntegerAttr>("inputPrecision"); attr && ta == DType::F32)
    precision = kPrecisions[attr.getInt()];
  TwDotFn fn = plan.tiles().dot(ta, tb, tc, precision);
  if (!fn)
    fn = plan.tiles().dot(ta, tb, tc, TwDotPrecision::F32);
  if (!fn || rank < 2 || rank > 3)
    return plan.unsupported(op, std::string("for ") + nameOf(ta) + " times " + nameOf(tb) + " into " + nameOf(tc));

  TileRef refA = plan.tileOf(a), refB = plan.tileOf(b);
  bool hasC = !plan.rep(c).isSplat() || !plan.rep(c).base.is(0);
  Reg regC = kNoReg, regD = kNoReg;
  if (hasC) {
    bool symbolic = plan.rep(c).kind != Rep::Tile;
    regC = plan.denseOf(c);
    if (symbolic || diesHere(plan, op, c))
      regD = regC;
  }
  if (regD == kNoReg || plan.info(plan.root(regD)).persistent || plan.root(regD) == plan.root(refA.base) ||
      plan.root(regD) == plan.root(refB.base))
    regD = plan.newTile(tc, shape);
  int64_t m = shape[rank - 2], n = shape[rank - 1], k = aShape[rank - 1];
  Reg scratch = plan.newReg(std::max<uint64_t>(64, uint64_t(plan.tiles().dotScratchBytes(m, n, k))));

  BuildInstruction& in = plan.emit(execDot, "Dot");
  DotOp& data = plan.newData<DotOp>(in);
  data.batch = rank == 3 ? shape[0] : 1;
  data.m = m;
  data.n = n;
  data.k = k;
  data.fn = fn;
  data.aBytes = int32_t(sizeOf(ta));
  data.bBytes = int32_t(sizeOf(tb));
  data.cBytes = int32_t(sizeOf(tc));
  plan.read(in, data.a, refA);
  plan.read(in, data.b, refB);
  data.hasC = hasC;
  if (hasC) {
    plan.read(in, data.c, regC);
    bool alone = plan.root(regC) != plan.root(refA.base) && plan.root(regC) != plan.root(refB.base);
    plan.lastReader_[{plan.sequence(), plan.root(regC)}] = alone ? 0 : INT_MAX;
  }
  for (Reg r : {refA.base, refB.base})
    plan.lastReader_[{plan.sequence(), plan.root(r)}] = INT_MAX;
  plan.write(in, data.d, regD);
  plan.writerNode_[{plan.sequence(), plan.root(regD)}] = 0;
  plan.write(in, data.scratch, scratch);
  plan.set(d, plan.tileRep(tc, shape, regD));
  return success();
}

} // namespace tiletwin::interp
