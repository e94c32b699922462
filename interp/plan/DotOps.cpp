// interp/plan/DotOps.cpp -- tt.dot and tt.dot_scaled.
// Here:      operands with any strides, the precision, the type of scaled operands, accumulation in place.
// Not here:  the product (interp/tile).
// Invariant: the accumulator is overwritten only if this dot is the last thing that reads it.
#include "interp/plan/Builder.h"
#include "ir/TT.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include <climits>

namespace tiletwin::interp {

using mlir::LogicalResult;
using mlir::Operation;
using mlir::success;
using mlir::Value;

Reg newDotScratch(PlanBuilder& plan, int64_t m, int64_t n, int64_t k) {
  return plan.newReg(std::max<uint64_t>(64, uint64_t(plan.tiles().dotScratchBytes(m, n, k))));
}

static TwDotPrecision precisionOf(tt::InputPrecision precision) {
  if (precision == tt::InputPrecision::TF32) return TwDotPrecision::Tf32;
  return precision == tt::InputPrecision::BF16x3 ? TwDotPrecision::Bf16x3 : TwDotPrecision::F32;
}

/// True if c's tile belongs to c alone, was made in this block, and dies here.
static bool diesHere(PlanBuilder& plan, Operation* dot, Value c) {
  Operation* maker = c.getDefiningOp();
  if (!maker || maker->getBlock() != dot->getBlock() || !c.hasOneUse()) return false;
  return !isAnyOf(maker, Renamings{}) && !llvm::isa<tt::LoadOp, arith::ConstantOp>(maker);
}

/// Where the accumulator is (kNoReg: it is zero) and where the result goes. Operands are taken already.
struct Accumulator {
  Reg c = kNoReg, d = kNoReg;
};
static Accumulator takeAccumulator(PlanBuilder& plan, Operation* op, Value c, llvm::ArrayRef<TileRef> operands) {
  Value d = op->getResult(0);
  DType type = plan.dtypeOf(d.getType());
  Accumulator out;
  if (!plan.rep(c).isSplat() || !plan.rep(c).base.is(0)) {
    bool symbolic = plan.rep(c).kind != Rep::Tile;
    out.c = plan.denseOf(c);
    if (symbolic || diesHere(plan, op, c)) out.d = out.c;
  }
  bool shared = out.d == kNoReg || plan.info(plan.root(out.d)).persistent;
  for (const TileRef& operand : operands) shared |= !shared && plan.root(out.d) == plan.root(operand.base);
  if (shared) out.d = plan.newTile(type, PlanBuilder::shapeOf(d.getType()));
  return out;
}
/// The accumulator in an instruction, and what is known of its and the operands' lives.
static void placeAccumulator(PlanBuilder& plan, BuildInstruction& in, const Accumulator& at,
                             llvm::ArrayRef<TileRef> operands, bool& hasC, Off& c, Off& d) {
  hasC = at.c != kNoReg;
  if (hasC) {
    plan.read(in, c, at.c);
    bool alone = true;
    for (const TileRef& operand : operands) alone &= plan.root(at.c) != plan.root(operand.base);
    plan.noteReader(at.c, alone ? 0 : INT_MAX);
  }
  for (const TileRef& operand : operands) plan.noteReader(operand.base, INT_MAX);
  plan.write(in, d, at.d);
  plan.noteWriter(at.d, 0);
}

TwDotFn dotFnOf(PlanBuilder& plan, tt::DotOp op) {
  DType a = plan.dtypeOf(op.getA().getType()), b = plan.dtypeOf(op.getB().getType()),
        sum = plan.dtypeOf(op.getD().getType());
  TwDotPrecision precision = TwDotPrecision::F32;
  if (plan.options().numerics == Numerics::Ieee)
    precision = TwDotPrecision::Ieee;
  else if (a == DType::F32)
    precision = precisionOf(op.getInputPrecision());
  TwDotFn fn = plan.tiles().dot(a, b, sum, precision);
  return fn ? fn : plan.tiles().dot(a, b, sum, TwDotPrecision::F32);
}

template <> LogicalResult plan(PlanBuilder& plan, tt::DotOp op) {
  Value a = op.getA(), b = op.getB(), c = op.getC(), d = op.getD();
  DType ta = plan.dtypeOf(a.getType()), tb = plan.dtypeOf(b.getType()), tc = plan.dtypeOf(d.getType());
  Shape shape = PlanBuilder::shapeOf(d.getType()), aShape = PlanBuilder::shapeOf(a.getType());
  size_t rank = shape.size();
  TwDotFn fn = dotFnOf(plan, op);
  if (!fn || rank < 2 || rank > 3)
    return plan.unsupported(op, std::string("for ") + nameOf(ta) + " times " + nameOf(tb) + " into " + nameOf(tc));

  TileRef operands[] = {plan.tileOf(a), plan.tileOf(b)};
  LoopDot* inLoop = plan.loopDot(op);
  const bool holds = inLoop && inLoop->sum != kNoReg;
  Accumulator accumulator = holds ? Accumulator{inLoop->sum, inLoop->sum} : takeAccumulator(plan, op, c, operands);
  int64_t m = shape[rank - 2], n = shape[rank - 1], k = aShape[rank - 1];
  Reg scratch = inLoop && inLoop->scratch != kNoReg ? inLoop->scratch : newDotScratch(plan, m, n, k);

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
  plan.read(in, data.a, operands[0]);
  plan.read(in, data.b, operands[1]);
  placeAccumulator(plan, in, accumulator, operands, data.hasC, data.c, data.d);
  plan.write(in, data.scratch, scratch);
  if (inLoop) {
    data.holds = holds;
    data.keepsA = inLoop->keepsA;
    data.keepsB = inLoop->keepsB;
    inLoop->usesBand = inLoop->band != kNoReg && operands[1].view;
    plan.readBand(in, data, *inLoop);
    plan.read(in, data.state, inLoop->state);
    plan.write(in, data.state, inLoop->state);
  }
  return plan.bindTile(d, accumulator.d);
}

namespace {
/// In the order of ScaleDotElemType. The interpreter has no 6-bit formats; nor does the language.
constexpr TwScaledFormat kFormats[] = {TwScaledFormat::E4M3,  TwScaledFormat::E5M2, TwScaledFormat::Count,
                                       TwScaledFormat::Count, TwScaledFormat::E2M1, TwScaledFormat::BF16,
                                       TwScaledFormat::F16};

/// One operand while it is planned.
struct ScaledSide {
  Value x, scale; ///< scale may be null
  TwScaledFormat format;
  DType stored; ///< of an element of x
  bool outerPacked;
  int64_t outer;
  TileRef tile, scaleTile;
  Reg expanded = kNoReg; ///< kNoReg: read as it is
};

/// Fills `data` from `side`; the scale's layout gives the group.
void placeSide(PlanBuilder& plan, BuildInstruction& in, ScaledDotOp::Side& data, const ScaledSide& side, int64_t k,
               DType type, bool fast) {
  data.outer = side.outer;
  data.storedBytes = int32_t(sizeOf(side.stored));
  data.outerPacked = side.outerPacked;
  plan.read(in, data.x, side.tile);
  if (side.expanded == kNoReg) return;
  data.expand = plan.tiles().scaledOperand(side.format, type);
  plan.write(in, data.expanded, side.expanded);
  if (!side.scale) return;
  data.group = k / PlanBuilder::shapeOf(side.scale.getType()).back();
  data.kind = isFloat(plan.dtypeOf(side.scale.getType())) ? TwScaleKind::E4M3
              : fast                                      ? TwScaleKind::E8M0Fast
                                                          : TwScaleKind::E8M0;
  plan.read(in, data.scale, side.scaleTile);
}
} // namespace

template <> LogicalResult plan(PlanBuilder& plan, tt::DotScaledOp op) {
  Value d = op.getD();
  Shape shape = PlanBuilder::shapeOf(d.getType());
  size_t rank = shape.size();
  auto side = [&](Value x, Value scale, tt::ScaleDotElemType format, bool kPack, int64_t outer) {
    ScaledSide out{};
    out.x = x;
    out.scale = scale;
    out.format = kFormats[int(format)];
    out.stored = plan.dtypeOf(x.getType());
    out.outerPacked = !kPack && out.format == TwScaledFormat::E2M1;
    out.outer = outer;
    return out;
  };
  ScaledSide sides[] = {side(op.getA(), op.getAScale(), op.getAElemType(), op.getLhsKPack(), shape[rank - 2]),
                        side(op.getB(), op.getBScale(), op.getBElemType(), op.getRhsKPack(), shape[rank - 1])};
  for (const ScaledSide& s : sides)
    if (s.format == TwScaledFormat::Count) return plan.unsupported(op, "for 6-bit formats");
  if (plan.dtypeOf(d.getType()) != DType::F32)
    return plan.unsupported(op, std::string("into ") + nameOf(plan.dtypeOf(d.getType())) + "; results are f32");
  // What the products are made of: f16 if an operand is, else bf16; exact for ieee.
  bool ieee = plan.options().numerics == Numerics::Ieee;
  bool half = sides[0].format == TwScaledFormat::F16 || sides[1].format == TwScaledFormat::F16;
  DType type = ieee ? DType::F64 : half ? DType::F16 : DType::BF16;
  int64_t m = shape[rank - 2], n = shape[rank - 1], k = PlanBuilder::shapeOf(op.getA().getType())[rank - 1];
  if (sides[0].format == TwScaledFormat::E2M1 && !sides[0].outerPacked) k *= 2;

  llvm::SmallVector<TileRef, 4> operands;
  for (ScaledSide& s : sides) {
    operands.push_back(s.tile = plan.tileOf(s.x));
    if (s.scale) operands.push_back(s.scaleTile = plan.tileOf(s.scale));
  }
  Accumulator accumulator = takeAccumulator(plan, op, op.getC(), operands);
  for (ScaledSide& s : sides)
    if (s.scale || s.stored != type) s.expanded = plan.newTile(type, {s.outer, k});
  Reg scratch = newDotScratch(plan, m, n, k);

  BuildInstruction& in = plan.emit(execScaledDot, "DotScaled");
  ScaledDotOp& data = plan.newData<ScaledDotOp>(in);
  data.batch = rank == 3 ? shape[0] : 1;
  data.k = k;
  data.fn = plan.tiles().dot(type, type, DType::F32, ieee ? TwDotPrecision::Ieee : TwDotPrecision::F32);
  placeSide(plan, in, data.a, sides[0], k, type, op.getFastMath());
  placeSide(plan, in, data.b, sides[1], k, type, op.getFastMath());
  placeAccumulator(plan, in, accumulator, operands, data.hasC, data.c, data.d);
  plan.write(in, data.scratch, scratch);
  return plan.bindTile(d, accumulator.d);
}

} // namespace tiletwin::interp
