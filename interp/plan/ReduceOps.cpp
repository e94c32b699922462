// interp/plan/ReduceOps.cpp -- tt.reduce and tt.scan.
// Here:      recognition of the regions that have a tile function of their own; bodies for all others.
// Not here:  how a body is run over a tile (run/ExecuteReduce.cpp).
// Invariant: whatever is not recognised runs its region: recognition only makes things faster.
#include "interp/plan/Reduced.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Region.h"

namespace tiletwin::interp {

using mlir::LogicalResult;
using mlir::Operation;
using mlir::success;
using mlir::Value;

namespace {
// clang-format off: a list
#define TILETWIN_COMBINATIONS(X)                                                                                       \
  X(AddF) X(AddI) X(AndI) X(MaximumF) X(MaxNumF) X(MaxSI) X(MaxUI) X(MinimumF) X(MinNumF) X(MinSI) X(MinUI) X(MulF)    \
  X(MulI) X(OrI)
// clang-format on
/// The combination of the operation's name; Count: none.
TwReduce kindOf(Operation* op) {
#define X(Name)                                                                                                        \
  if (llvm::isa<arith::Name##Op>(op)) return TwReduce::Name;
  TILETWIN_COMBINATIONS(X)
#undef X
  return llvm::isa<arith::XOrIOp>(op) ? TwReduce::XorI : TwReduce::Count;
}

Value argument(mlir::Block& block, unsigned i) { return block.getArgument(i); }

/// A region of one commutative operation on its two arguments.
TwReduce singleKind(mlir::Region& region) {
  if (!region.hasOneBlock()) return TwReduce::Count;
  mlir::Block& block = region.front();
  if (block.getNumArguments() != 2 || block.getOperations().size() != 2) return TwReduce::Count;
  Operation& op = block.front();
  if (op.getNumOperands() != 2 || op.getNumResults() != 1 || block.back().getOperand(0) != op.getResult(0))
    return TwReduce::Count;
  Value a = argument(block, 0), b = argument(block, 1), x = op.getOperand(0), y = op.getOperand(1);
  if (!((x == a && y == b) || (x == b && y == a))) return TwReduce::Count;
  return kindOf(&op);
}

/// select(cmp(v0, v1) [or (v0 == v1 and i0 < i1)], v0, v1) and the same for the index.
TwReduce argKind(mlir::Region& region, TwArgTie& tie) {
  if (!region.hasOneBlock() || region.front().getNumArguments() != 4) return TwReduce::Count;
  mlir::Block& block = region.front();
  Value v0 = argument(block, 0), i0 = argument(block, 1), v1 = argument(block, 2), i1 = argument(block, 3);
  Operation* ret = block.getTerminator();
  auto s0 = ret->getOperand(0).getDefiningOp<arith::SelectOp>(),
       s1 = ret->getOperand(1).getDefiningOp<arith::SelectOp>();
  auto chooses = [](arith::SelectOp s, Value a, Value b) {
    return s && s.getTrueValue() == a && s.getFalseValue() == b;
  };
  if (!chooses(s0, v0, v1) || !chooses(s1, i0, i1) || s0.getCondition() != s1.getCondition()) return TwReduce::Count;
  /// Whether `v` is `a predicate b`.
  auto comparesF = [](Value v, arith::CmpFPredicate predicate, Value a, Value b) {
    auto c = v.getDefiningOp<arith::CmpFOp>();
    return c && c.getPredicate() == predicate && c.getLhs() == a && c.getRhs() == b;
  };
  auto comparesI = [](Value v, arith::CmpIPredicate predicate, Value a, Value b) {
    auto c = v.getDefiningOp<arith::CmpIOp>();
    return c && c.getPredicate() == predicate && c.getLhs() == a && c.getRhs() == b;
  };
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  auto isEqual = [&](Value v) {
    return comparesF(v, F::OEQ, v0, v1) || comparesF(v, F::OEQ, v1, v0) || comparesI(v, I::eq, v0, v1) ||
           comparesI(v, I::eq, v1, v0);
  };
  auto isLower = [&](Value v) { return comparesI(v, I::slt, i0, i1) || comparesI(v, I::sgt, i1, i0); };
  auto isTie = [&](Value v) {
    auto both = v.getDefiningOp<arith::AndIOp>();
    return both &&
           ((isEqual(both.getLhs()) && isLower(both.getRhs())) || (isLower(both.getLhs()) && isEqual(both.getRhs())));
  };
  Value condition = s0.getCondition();
  tie = kTwRight;
  if (auto either = condition.getDefiningOp<arith::OrIOp>()) {
    tie = kTwLowestIndex;
    if (!isTie(either.getRhs()) && !isTie(either.getLhs())) return TwReduce::Count;
    condition = isTie(either.getRhs()) ? either.getLhs() : either.getRhs();
  }
  if (comparesF(condition, F::OGT, v0, v1)) return TwReduce::ArgMaxF;
  if (comparesF(condition, F::OLT, v0, v1)) return TwReduce::ArgMinF;
  if (comparesI(condition, I::sgt, v0, v1)) return TwReduce::ArgMaxSI;
  if (comparesI(condition, I::slt, v0, v1)) return TwReduce::ArgMinSI;
  if (comparesI(condition, I::ugt, v0, v1)) return TwReduce::ArgMaxUI;
  if (comparesI(condition, I::ult, v0, v1)) return TwReduce::ArgMinUI;
  return TwReduce::Count;
}

} // namespace

static bool asRows(const TileRef& ref, DType type, llvm::ArrayRef<int64_t> shape, int64_t axis, TileRef& out) {
  int64_t bytes = int64_t(sizeOf(type));
  out = ref;
  out.strides.clear();
  int outerDim = -1;
  int64_t stride = bytes;
  DimStride element{bytes, -1};
  bool dynamic = false;
  for (size_t d = shape.size(); d-- > 0;) {
    if (shape[d] == 1) continue;
    if (int64_t(d) >= axis) {
      if (dynamic || (ref.strides[d].cell >= 0 ? stride != bytes : ref.strides[d].value != stride)) return false;
      if (ref.strides[d].cell >= 0) {
        // Neighbours once the view is copied, too: its own last dimension, not a transposed one.
        const std::vector<int64_t>& own = ref.view->access.shape;
        for (size_t e = size_t(ref.strides[d].cell) + 1; e < own.size(); ++e)
          if (own[e] != 1) return false;
        element = ref.strides[d];
        dynamic = true;
      }
      stride *= shape[d];
    } else if (outerDim < 0) {
      outerDim = int(d);
    } else {
      const DimStride &o = ref.strides[d], &i = ref.strides[outerDim];
      if (o.cell >= 0 || i.cell >= 0) return false;
      int64_t expected = i.value;
      for (int k = int(d) + 1; k <= outerDim; ++k) expected *= shape[k];
      if (o.value != expected) return false;
    }
  }
  out.strides.push_back(outerDim < 0 ? DimStride{stride, -1} : ref.strides[outerDim]);
  out.strides.push_back(element);
  return true;
}

TileRef rowsOf(PlanBuilder& plan, Value v, DType type, llvm::ArrayRef<int64_t> shape, int64_t axis) {
  TileRef rows, any = plan.tileOf(v);
  if (!asRows(any, type, shape, axis, rows)) {
    any = plan.denseRef(plan.denseOf(v), type, shape);
    asRows(any, type, shape, axis, rows);
  }
  return rows;
}

/// The operations of a block inside the region of `op`. Both arms of a branch are computed, and their results selected: nothing in
/// a region traps or has an effect.
LogicalResult PlanBuilder::planBodyBlock(Operation* op, mlir::Block& block) {
  const int group = bodyGroup();
  for (Operation& inner : block.without_terminator()) {
    setLocation(inner.getLoc());
    if (auto branch = llvm::dyn_cast<scf::IfOp>(inner)) {
      for (mlir::Region& arm : inner.getRegions())
        if (!arm.empty() && failed(planBodyBlock(op, arm.front()))) return mlir::failure();
      for (mlir::OpResult result : inner.getResults()) {
        const unsigned i = result.getResultNumber();
        DType type = dtypeOf(result.getType());
        int srcs[3] = {streamFor(group, branch.getCondition()), streamFor(group, branch.thenYield().getOperand(i)),
                       streamFor(group, branch.elseYield().getOperand(i))};
        bindValue(group, addStrip(group, tiles().elementwise(TwElementwise::Select, type), srcs, type, "scf.if"),
                  result, type);
      }
      continue;
    }
    if (failed(isElementwise(&inner)
                   ? planOp(&inner)
                   : unsupported(&inner, ("inside the region of " + op->getName().getStringRef()).str())))
      return mlir::failure();
  }
  return success();
}

BodyOp* PlanBuilder::planBody(Operation* op, mlir::Region& region) {
  if (!region.hasOneBlock()) {
    (void)unsupported(op, "with control flow in its region");
    return nullptr;
  }
  mlir::Block& block = region.front();
  openBody(block.getArguments());
  if (failed(planBodyBlock(op, block))) return nullptr;
  BodyOp* body = closeBody(block.getTerminator()->getOperands());
  setLocation(op->getLoc());
  if (!body) (void)unsupported(op, "whose region takes more than " + std::to_string(GroupOp::kMostNodes) + " steps");
  return body;
}

static LogicalResult planGeneric(PlanBuilder& plan, Operation* op, int64_t axis, bool isScan, bool reverse = false) {
  Shape shape = PlanBuilder::shapeOf(op->getOperand(0).getType());
  Axes axes = axesOf(shape, axis);
  std::vector<Reg> sources;
  for (Value v : op->getOperands()) sources.push_back(plan.denseOf(v));
  BodyOp* body = plan.planBody(op, op->getRegion(0));
  if (!body) return mlir::failure();
  BuildInstruction& in = plan.emit(isScan ? execGenericScan : execGenericReduce, isScan ? "Scan" : "Reduce");
  ReduceOp& data = plan.newData<ReduceOp>(in);
  data.outer = axes.outer;
  data.axis = axes.axis;
  data.inner = axes.inner;
  data.body = body;
  data.reverse = reverse;
  size_t n = op->getNumOperands();
  data.sources.resize(n);
  data.results.resize(n);
  data.scratch.resize(3 * n);
  std::vector<Reg> results;
  for (size_t i = 0; i < n; ++i) {
    DType type = plan.dtypeOf(op->getOperand(unsigned(i)).getType());
    Shape resultShape = PlanBuilder::shapeOf(op->getResult(unsigned(i)).getType());
    data.bytes.push_back(int32_t(sizeOf(type)));
    plan.read(in, data.sources[i], sources[i]);
    results.push_back(plan.newReg(std::max<uint64_t>(8, uint64_t(elementsOf(resultShape)) * sizeOf(type))));
    plan.write(in, data.results[i], results[i]);
    for (int k = 0; k < 3; ++k) plan.write(in, data.scratch[3 * i + size_t(k)], plan.newTile(type, shape));
  }
  plan.bindBody(*body, in);
  for (size_t i = 0; i < n; ++i) bindElements(plan, op->getResult(unsigned(i)), results[i]);
  return success();
}

template <> LogicalResult plan(PlanBuilder& plan, tt::ReduceOp op) {
  int64_t axis = int32_t(op.getAxis());
  Value source = op->getOperand(0);
  DType type = plan.dtypeOf(source.getType());
  Shape shape = PlanBuilder::shapeOf(source.getType());
  Shape resultShape = PlanBuilder::shapeOf(op->getResult(0).getType());
  Axes axes = axesOf(shape, axis);
  size_t n = op->getNumOperands();
  TwReduceFn fn = nullptr;
  TwArgReduceFn argFn = nullptr;
  TwArgTie tie = kTwLowestIndex;
  if (n == 1) {
    TwReduce kind = singleKind(op->getRegion(0));
    if (kind == TwReduce::AddF && planSum(plan, op)) return success();
    fn = kind == TwReduce::Count ? nullptr : plan.tiles().reduce(kind, type);
  } else if (n == 2 && plan.dtypeOf(op->getOperand(1).getType()) == DType::I32) {
    TwReduce kind = argKind(op->getRegion(0), tie);
    argFn = kind == TwReduce::Count ? nullptr : plan.tiles().argReduce(kind, type);
  }
  if (!fn && !argFn) return planGeneric(plan, op, axis, false);

  TileRef src;
  if (fn) {
    src = rowsOf(plan, source, type, shape, axis);
  } else {
    src = plan.denseRef(plan.denseOf(source), type, shape);
    src.strides = {DimStride{axes.axis * axes.inner * int64_t(sizeOf(type)), -1}, DimStride{int64_t(sizeOf(type)), -1}};
  }
  Reg index = kNoReg;
  if (argFn) {
    Rep& r = plan.rep(op->getOperand(1));
    bool plainRange = r.kind == Rep::Affine && r.base.is(0);
    for (size_t d = 0; plainRange && d < shape.size(); ++d)
      plainRange = shape[d] == 1 || r.strides[d].is(int64_t(d) == axis ? 1 : 0);
    if (!plainRange) index = plan.denseOf(op->getOperand(1));
  }
  Reg dst = plan.newReg(std::max<uint64_t>(8, uint64_t(elementsOf(resultShape)) * sizeOf(type)));
  Reg dstIndex = argFn ? plan.newReg(std::max<uint64_t>(8, uint64_t(elementsOf(resultShape)) * 4)) : kNoReg;
  BuildInstruction& in = plan.emit(execReduce, "Reduce");
  ReduceOp& data = plan.newData<ReduceOp>(in);
  data.outer = axes.outer;
  data.axis = axes.axis;
  data.inner = axes.inner;
  data.fn = fn;
  data.argFn = argFn;
  data.argTie = tie;
  data.bytes.push_back(int32_t(sizeOf(type)));
  plan.read(in, data.src, src);
  data.hasIndex = plan.readIfAny(in, data.srcIndex, index);
  plan.write(in, data.dst, dst);
  if (argFn) plan.write(in, data.dstIndex, dstIndex);
  bindElements(plan, op->getResult(0), dst);
  if (argFn) bindElements(plan, op->getResult(1), dstIndex);
  return success();
}

template <> LogicalResult plan(PlanBuilder& plan, tt::ScanOp op) {
  Value source = op->getOperand(0);
  DType type = plan.dtypeOf(source.getType());
  TwReduce kind = op->getNumOperands() == 1 ? singleKind(op->getRegion(0)) : TwReduce::Count;
  TwScanFn fn = kind == TwReduce::Count ? nullptr : plan.tiles().scan(kind, type);
  int64_t axis = int32_t(op.getAxis());
  if (!fn) return planGeneric(plan, op, axis, true, op.getReverse());
  Shape shape = PlanBuilder::shapeOf(source.getType());
  Axes axes = axesOf(shape, axis);
  const TileRef src = rowsOf(plan, source, type, shape, axis);
  Reg dst = plan.newTile(type, shape);
  BuildInstruction& in = plan.emit(execScan, "Scan");
  ReduceOp& data = plan.newData<ReduceOp>(in);
  data.outer = axes.outer;
  data.axis = axes.axis;
  data.inner = axes.inner;
  data.scanFn = fn;
  data.reverse = op.getReverse();
  data.bytes.push_back(int32_t(sizeOf(type)));
  plan.read(in, data.src, src);
  plan.write(in, data.dst, dst);
  return plan.bindTile(op->getResult(0), dst);
}

} // namespace tiletwin::interp
