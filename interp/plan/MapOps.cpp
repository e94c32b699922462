// interp/plan/MapOps.cpp -- tt.map_elementwise: a scalar program for each group of elements.
//
// Two ways. A region of elementwise operations and scf.if alone becomes, before planning, the same operations on whole
// tiles, with both arms computed and joined by selects (liftMaps): it then runs in strips like any other arithmetic. Every
// other region (loops, loads, packs) is planned as a loop over the groups, element by element.
// Here:      both ways.   Not here:  loops (ControlFlow.cpp).
// Invariant: both ways give the same bits: no operation that is lifted traps or touches memory.
#include "interp/plan/Builder.h"
#include "interp/plan/Regions.h"
#include "interp/program/ForeignInstructions.h"
#include "ir/TT.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/IRMapping.h"

namespace tiletwin::interp {

using mlir::LogicalResult;
using mlir::Operation;
using mlir::Value;

// ---- lifting ----

/// Operations that mean the same on tiles, element by element, and have no effect.
static bool isLiftable(Operation& op) {
  if (llvm::isa<scf::IfOp>(op))
    return llvm::all_of(op.getRegions(), [](mlir::Region& region) {
      return region.empty() || (region.hasOneBlock() && llvm::all_of(region.front().without_terminator(), isLiftable));
    });
  if (op.getNumRegions() || llvm::any_of(op.getResultTypes(), [](mlir::Type t) { return !t.isIntOrFloat(); }) ||
      llvm::any_of(op.getOperandTypes(), [](mlir::Type t) { return !t.isIntOrFloat(); }))
    return false;
  return isElementwise(&op);
}

namespace {
class Lifter {
public:
  Lifter(tt::MapElementwiseOp map)
      : builder_(map), shape_(llvm::cast<mlir::RankedTensorType>(map.getSrcs()[0].getType()).getShape()),
        body_(map.getBody().front()) {}

  void run(tt::MapElementwiseOp map) {
    for (auto [argument, source] : llvm::zip(body_.getArguments(), map.getSrcs())) tiles_.map(argument, source);
    liftBlock(body_);
    llvm::SmallVector<Value> results;
    for (Value v : body_.getTerminator()->getOperands()) results.push_back(tileOf(v));
    map->replaceAllUsesWith(results);
    map->erase();
  }

private:
  mlir::OpBuilder builder_;
  llvm::ArrayRef<int64_t> shape_;
  mlir::Block& body_;
  mlir::IRMapping tiles_;

  mlir::Type tileType(mlir::Type scalar) { return mlir::RankedTensorType::get(shape_, scalar); }
  /// The tile that stands for a scalar; one from outside is the same for all elements.
  Value tileOf(Value v) {
    if (Value known = tiles_.lookupOrNull(v)) return known;
    Value splat = tt::SplatOp::create(builder_, v.getLoc(), tileType(v.getType()), v);
    tiles_.map(v, splat);
    return splat;
  }
  void liftBlock(mlir::Block& block) {
    for (Operation& op : block.without_terminator()) lift(op);
  }
  void lift(Operation& op) {
    if (auto branch = llvm::dyn_cast<scf::IfOp>(op)) {
      for (mlir::Region& region : op.getRegions())
        if (!region.empty()) liftBlock(region.front());
      if (op.getNumResults() == 0) return;
      Value condition = tileOf(branch.getCondition());
      auto then = branch.thenYield().getOperands(), other = branch.elseYield().getOperands();
      for (unsigned i = 0; i < op.getNumResults(); ++i) {
        Value a = tileOf(then[i]), b = tileOf(other[i]);
        tiles_.map(op.getResult(i), arith::SelectOp::create(builder_, op.getLoc(), condition, a, b));
      }
      return;
    }
    if (auto constant = llvm::dyn_cast<arith::ConstantOp>(op)) {
      auto type = llvm::cast<mlir::ShapedType>(tileType(constant.getType()));
      auto value = mlir::DenseElementsAttr::get(type, mlir::Attribute(constant.getValue()));
      tiles_.map(constant.getResult(), Value(arith::ConstantOp::create(builder_, op.getLoc(), value)));
      return;
    }
    llvm::SmallVector<Value> operands;
    llvm::SmallVector<mlir::Type> types;
    for (mlir::Type t : op.getResultTypes()) types.push_back(tileType(t));
    for (Value v : op.getOperands()) operands.push_back(tileOf(v));
    mlir::OperationState state(op.getLoc(), op.getName());
    state.addOperands(operands);
    state.addTypes(types);
    state.addAttributes(op.getDiscardableAttrDictionary().getValue());
    state.propertiesAttr = op.getPropertiesAsAttribute();
    Operation* lifted = builder_.create(state);
    for (auto [from, to] : llvm::zip(op.getResults(), lifted->getResults())) tiles_.map(from, to);
  }
};
} // namespace

bool hasLiftableMaps(Operation* func) {
  bool found = false;
  func->walk([&](tt::MapElementwiseOp map) {
    found |= map.getPack() == 1 && llvm::all_of(map.getBody().front().without_terminator(), isLiftable);
  });
  return found;
}

void liftMaps(Operation* func) {
  llvm::SmallVector<tt::MapElementwiseOp> maps;
  func->walk([&](tt::MapElementwiseOp map) {
    if (map.getPack() == 1 && llvm::all_of(map.getBody().front().without_terminator(), isLiftable)) maps.push_back(map);
  });
  for (tt::MapElementwiseOp map : maps) Lifter(map).run(map);
}

// ---- element by element ----

template <> LogicalResult plan(PlanBuilder& plan, tt::MapElementwiseOp op) {
  const int64_t pack = op.getPack();
  const Shape shape = PlanBuilder::shapeOf(op->getResult(0).getType());
  mlir::Block& body = op.getBody().front();
  std::vector<Reg> sources, results;
  for (Value v : op->getOperands()) sources.push_back(plan.denseOf(v));
  plan.flushAll();
  for (Value v : op->getResults()) {
    results.push_back(plan.newTile(plan.dtypeOf(v.getType()), shape));
    plan.claim(results.back());
  }
  const Reg group = plan.newReg(8, plan.level() + 1);
  plan.pushScope(op);
  const int top = plan.newLabel(), exit = plan.newLabel();
  const Reg zero = plan.constantCell(0), one = plan.constantCell(1),
            count = plan.constantCell(elementsOf(shape) / pack);
  BuildInstruction& head = plan.emitJump(execForEnter, exit, "Map");
  plan.read(head, head.in.r[1], zero);
  plan.read(head, head.in.r[2], count);
  plan.write(head, head.in.r[0], group);
  head.in.r[3] = 0;
  for (Reg r : results) // written piece by piece: nothing else may use their place from here on
    head.keep.push_back(r);
  plan.placeLabel(top);
  for (size_t i = 0; i < sources.size(); ++i) {
    const DType type = plan.dtypeOf(op->getOperand(unsigned(i)).getType());
    BuildInstruction& in = plan.emit(execLoadElements, "Elements");
    ElementsOp& data = plan.newData<ElementsOp>(in);
    data.bytes = int32_t(sizeOf(type));
    data.type = type;
    data.to.resize(size_t(pack));
    plan.read(in, data.group, group);
    plan.read(in, data.tile, sources[i]);
    for (int64_t k = 0; k < pack; ++k) {
      const Reg cell = plan.newReg(8);
      plan.write(in, data.to[size_t(k)], cell);
      plan.set(body.getArgument(unsigned(int64_t(i) * pack + k)), plan.scalarRep(type, Uniform::in(cell)));
    }
  }
  if (failed(plan.planBlock(body))) return mlir::failure();
  plan.setLocation(op->getLoc());
  plan.flushAll();
  mlir::ValueRange values = body.getTerminator()->getOperands();
  for (size_t i = 0; i < results.size(); ++i) {
    const DType type = plan.dtypeOf(op->getResult(unsigned(i)).getType());
    BuildInstruction& in = plan.emit(execStoreElements, "SetElements");
    ElementsOp& data = plan.newData<ElementsOp>(in);
    data.bytes = int32_t(sizeOf(type));
    data.type = type;
    data.from.resize(size_t(pack));
    plan.read(in, data.group, group);
    for (int64_t k = 0; k < pack; ++k)
      plan.read(in, data.from[size_t(k)], plan.uniformOf(values[unsigned(int64_t(i) * pack + k)]));
    plan.write(in, data.tile, results[i]);
  }
  BuildInstruction& tail = plan.emitJump(execForNext, top, "Next");
  plan.read(tail, tail.in.r[0], group);
  plan.read(tail, tail.in.r[1], one);
  plan.read(tail, tail.in.r[2], count);
  tail.in.r[3] = 64u << 1;
  plan.placeLabel(exit);
  plan.append(plan.popScope());
  for (size_t i = 0; i < results.size(); ++i)
    plan.set(op->getResult(unsigned(i)),
             plan.tileRep(plan.dtypeOf(op->getResult(unsigned(i)).getType()), shape, results[i]));
  return mlir::success();
}

} // namespace tiletwin::interp
