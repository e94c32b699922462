// interp/plan/ReduceOps.cpp -- tt.reduce and tt.scan.
// Here:      recognition of the regions that have a tile function of their own; bodies for all others.
// Not here:  how a body is run over a tile (run/ExecuteReduce.cpp).
// Invariant: whatever is not recognised runs its region: recognition only makes things faster.
#include "interp/plan/Builder.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Region.h"

namespace tiletwin::interp {

using mlir::LogicalResult;
using mlir::Operation;
using mlir::success;
using mlir::Value;

Uniform firstElement(PlanBuilder& plan, Reg tile, DType type);

namespace {
struct Row {
  const char* name;
  TwReduce kind;
};
constexpr Row kRows[] = {
    {"arith.addf", TwReduce::AddF},       {"arith.addi", TwReduce::AddI},
    {"arith.andi", TwReduce::AndI},       {"arith.maximumf", TwReduce::MaximumF},
    {"arith.maxnumf", TwReduce::MaxNumF}, {"arith.maxsi", TwReduce::MaxSI},
    {"arith.maxui", TwReduce::MaxUI},     {"arith.minimumf", TwReduce::MinimumF},
    {"arith.minnumf", TwReduce::MinNumF}, {"arith.minsi", TwReduce::MinSI},
    {"arith.minui", TwReduce::MinUI},     {"arith.mulf", TwReduce::MulF},
    {"arith.muli", TwReduce::MulI},       {"arith.ori", TwReduce::OrI},
    {"arith.xori", TwReduce::XorI},
};

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
  for (const Row& row : kRows)
    if (op.getName().getStringRef() == row.name) return row.kind;
  return TwReduce::Count;
}

int64_t predicate(Operation* op) {
  auto attr = op->getAttrOfType<mlir::IntegerAttr>("predicate");
  return attr ? attr.getInt() : -1;
}

/// select(cmp(v0, v1) [or (v0 == v1 and i0 < i1)], v0, v1) and the same for the index.
TwReduce argKind(mlir::Region& region, TwArgTie& tie) {
  if (!region.hasOneBlock() || region.front().getNumArguments() != 4) return TwReduce::Count;
  mlir::Block& block = region.front();
  Value v0 = argument(block, 0), i0 = argument(block, 1), v1 = argument(block, 2), i1 = argument(block, 3);
  Operation* ret = block.getTerminator();
  Operation* s0 = ret->getOperand(0).getDefiningOp();
  Operation* s1 = ret->getOperand(1).getDefiningOp();
  auto isSelect = [](Operation* s, Value a, Value b) {
    return s && s->getName().getStringRef() == "arith.select" && s->getOperand(1) == a && s->getOperand(2) == b;
  };
  if (!isSelect(s0, v0, v1) || !isSelect(s1, i0, i1) || s0->getOperand(0) != s1->getOperand(0)) return TwReduce::Count;
  Operation* condition = s0->getOperand(0).getDefiningOp();
  if (!condition) return TwReduce::Count;
  auto isTie = [&](Operation* both) {
    if (!both || both->getName().getStringRef() != "arith.andi") return false;
    bool equal = false, lower = false;
    for (Value v : both->getOperands()) {
      Operation* c = v.getDefiningOp();
      if (!c || c->getNumOperands() != 2) return false;
      bool values =
          (c->getOperand(0) == v0 && c->getOperand(1) == v1) || (c->getOperand(0) == v1 && c->getOperand(1) == v0);
      if (values && ((c->getName().getStringRef() == "arith.cmpf" && predicate(c) == 1) ||
                     (c->getName().getStringRef() == "arith.cmpi" && predicate(c) == 0)))
        equal = true;
      if (c->getName().getStringRef() == "arith.cmpi" &&
          ((c->getOperand(0) == i0 && c->getOperand(1) == i1 && predicate(c) == 2) ||
           (c->getOperand(0) == i1 && c->getOperand(1) == i0 && predicate(c) == 4)))
        lower = true;
    }
    return equal && lower;
  };
  tie = kTwRight;
  if (condition->getName().getStringRef() == "arith.ori") {
    tie = kTwLowestIndex;
    Operation *x = condition->getOperand(0).getDefiningOp(), *y = condition->getOperand(1).getDefiningOp();
    if (isTie(y))
      condition = x;
    else if (isTie(x))
      condition = y;
    else
      return TwReduce::Count;
  }
  if (!condition || condition->getNumOperands() != 2 || condition->getOperand(0) != v0 ||
      condition->getOperand(1) != v1)
    return TwReduce::Count;
  llvm::StringRef name = condition->getName().getStringRef();
  int64_t p = predicate(condition);
  if (name == "arith.cmpf") return p == 2 ? TwReduce::ArgMaxF : p == 4 ? TwReduce::ArgMinF : TwReduce::Count;
  if (name == "arith.cmpi") switch (p) {
    case 4: return TwReduce::ArgMaxSI;
    case 2: return TwReduce::ArgMinSI;
    case 8: return TwReduce::ArgMaxUI;
    case 6: return TwReduce::ArgMinUI;
    default: break;
    }
  return TwReduce::Count;
}

struct Axes {
  int64_t outer = 1, axis = 1, inner = 1;
};
Axes axesOf(llvm::ArrayRef<int64_t> shape, int64_t axis) {
  Axes a;
  for (size_t d = 0; d < shape.size(); ++d)
    (int64_t(d) < axis ? a.outer : int64_t(d) == axis ? a.axis : a.inner) *= shape[d];
  return a;
}

/// The source as rows of contiguous [axis][inner] blocks: strides are those of rows and of elements. False if it must be copied
/// first. A view's element stride is known at run time only and checked there.
bool asRows(const TileRef& ref, DType type, llvm::ArrayRef<int64_t> shape, int64_t axis, TileRef& out) {
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
} // namespace

/// The operations of a block inside the region of `op`. Both arms of a branch are computed, and their results selected: nothing in
/// a region traps or has an effect.
LogicalResult PlanBuilder::planBodyBlock(Operation* op, mlir::Block& block) {
  const int group = bodyGroup();
  static const llvm::StringRef kElementwise[] = {"tt.approx_divf",        "tt.bitcast",     "tt.clampf",
                                                 "tt.extern_elementwise", "tt.fp_to_fp",    "tt.mulhiui",
                                                 "tt.precise_divf",       "tt.precise_sqrt"};
  for (Operation& inner : block.without_terminator()) {
    setLocation(inner.getLoc());
    llvm::StringRef name = inner.getName().getStringRef();
    if (name == "scf.if") {
      for (mlir::Region& arm : inner.getRegions())
        if (!arm.empty() && failed(planBodyBlock(op, arm.front()))) return mlir::failure();
      for (unsigned i = 0; i < inner.getNumResults(); ++i) {
        DType type = dtypeOf(inner.getResult(i).getType());
        int srcs[3] = {streamFor(group, inner.getOperand(0)),
                       streamFor(group, inner.getRegion(0).front().getTerminator()->getOperand(i)),
                       streamFor(group, inner.getRegion(1).front().getTerminator()->getOperand(i))};
        bindValue(group, addStrip(group, tiles().elementwise(TwElementwise::Select, type), srcs, type, "scf.if"),
                  inner.getResult(i), type);
      }
      continue;
    }
    bool elementwise = inner.getNumRegions() == 0 && inner.getNumResults() == 1 &&
                       (name.starts_with("arith.") || name.starts_with("math.") || name.starts_with("ub.") ||
                        llvm::is_contained(kElementwise, name));
    if (failed(elementwise ? planOp(&inner)
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

static LogicalResult planGeneric(PlanBuilder& plan, Operation* op, bool isScan) {
  int64_t axis = op->getAttrOfType<mlir::IntegerAttr>("axis").getValue().getSExtValue();
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
  if (auto reverse = op->getAttrOfType<mlir::BoolAttr>("reverse")) data.reverse = reverse.getValue();
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
  for (size_t i = 0; i < n; ++i) {
    Value result = op->getResult(unsigned(i));
    DType type = plan.dtypeOf(result.getType());
    Shape resultShape = PlanBuilder::shapeOf(result.getType());
    plan.set(result, resultShape.empty() ? plan.scalarRep(type, firstElement(plan, results[i], type))
                                         : plan.tileRep(type, resultShape, results[i]));
  }
  return success();
}

LogicalResult planReduce(PlanBuilder& plan, Operation* op) {
  int64_t axis = op->getAttrOfType<mlir::IntegerAttr>("axis").getValue().getSExtValue();
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
    fn = kind == TwReduce::Count ? nullptr : plan.tiles().reduce(kind, type);
  } else if (n == 2 && plan.dtypeOf(op->getOperand(1).getType()) == DType::I32) {
    TwReduce kind = argKind(op->getRegion(0), tie);
    argFn = kind == TwReduce::Count ? nullptr : plan.tiles().argReduce(kind, type);
  }
  if (!fn && !argFn) return planGeneric(plan, op, false);

  TileRef src;
  if (fn) {
    TileRef any = plan.tileOf(source);
    if (!asRows(any, type, shape, axis, src)) {
      any = plan.denseRef(plan.denseOf(source), type, shape);
      asRows(any, type, shape, axis, src);
    }
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
  if (index != kNoReg) {
    data.hasIndex = true;
    plan.read(in, data.srcIndex, index);
  }
  plan.write(in, data.dst, dst);
  if (argFn) plan.write(in, data.dstIndex, dstIndex);
  auto give = [&](unsigned i, DType t, Reg reg) {
    Value result = op->getResult(i);
    plan.set(result,
             resultShape.empty() ? plan.scalarRep(t, firstElement(plan, reg, t)) : plan.tileRep(t, resultShape, reg));
  };
  give(0, type, dst);
  if (argFn) give(1, DType::I32, dstIndex);
  return success();
}

LogicalResult planScan(PlanBuilder& plan, Operation* op) {
  Value source = op->getOperand(0);
  DType type = plan.dtypeOf(source.getType());
  TwReduce kind = op->getNumOperands() == 1 ? singleKind(op->getRegion(0)) : TwReduce::Count;
  TwScanFn fn = kind == TwReduce::Count ? nullptr : plan.tiles().scan(kind, type);
  if (!fn) return planGeneric(plan, op, true);
  int64_t axis = op->getAttrOfType<mlir::IntegerAttr>("axis").getValue().getSExtValue();
  Shape shape = PlanBuilder::shapeOf(source.getType());
  Axes axes = axesOf(shape, axis);
  TileRef src, any = plan.tileOf(source);
  if (!asRows(any, type, shape, axis, src)) {
    any = plan.denseRef(plan.denseOf(source), type, shape);
    asRows(any, type, shape, axis, src);
  }
  Reg dst = plan.newTile(type, shape);
  BuildInstruction& in = plan.emit(execScan, "Scan");
  ReduceOp& data = plan.newData<ReduceOp>(in);
  data.outer = axes.outer;
  data.axis = axes.axis;
  data.inner = axes.inner;
  data.scanFn = fn;
  data.reverse = op->getAttrOfType<mlir::BoolAttr>("reverse").getValue();
  data.bytes.push_back(int32_t(sizeOf(type)));
  plan.read(in, data.src, src);
  plan.write(in, data.dst, dst);
  plan.set(op->getResult(0), plan.tileRep(type, shape, dst));
  return success();
}

} // namespace tiletwin::interp
