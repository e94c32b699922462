// interp/plan/Networks.cpp -- see Networks.h; and the instructions for what was found.
#include "interp/plan/Networks.h"
#include "interp/plan/Builder.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Region.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <bit>

namespace tiletwin::interp {

using mlir::LogicalResult;
using mlir::Operation;
using mlir::success;
using mlir::Value;

void emitSort(PlanBuilder& plan, TwSortFn fn, std::vector<TwSortStep> steps, int64_t elements, Reg tile);

namespace {

using CmpI = arith::CmpIPredicate;

/// What the value was before such operations, which leave the bits of elements alone, or repeat them.
template <class... Op> Value without(Value v) {
  while (Operation* op = v.getDefiningOp()) {
    if (!llvm::isa<Op...>(op)) break;
    v = op->getOperand(0);
  }
  return v;
}
Value withoutBitcasts(Value v) { return without<tt::BitcastOp, arith::BitcastOp>(v); }

/// The exchange `x ^ broadcast(x reduced by xor along an axis of size 2)`, `x` being the integer tile.
bool exchanged(arith::XOrIOp op, Value& source, int64_t& axis) {
  Shape shape = PlanBuilder::shapeOf(op.getType());
  for (int i = 0; i < 2 && !shape.empty(); ++i) {
    Value x = op->getOperand(unsigned(i)), both = without<tt::BroadcastOp>(op->getOperand(unsigned(1 - i)));
    Operation* expand = both.getDefiningOp();
    if (!llvm::isa_and_present<tt::ExpandDimsOp, tt::ReshapeOp>(expand)) continue;
    auto reduce = expand->getOperand(0).getDefiningOp<tt::ReduceOp>();
    if (!reduce || reduce->getNumOperands() != 1 || reduce->getOperand(0) != x) continue;
    mlir::Block& region = reduce.getCombineBlock();
    auto combine = llvm::dyn_cast<arith::XOrIOp>(region.front());
    if (region.getOperations().size() != 2 || !combine || combine.getLhs() == combine.getRhs() ||
        region.back().getOperand(0) != combine.getResult() || combine.getLhs().getParentBlock() != &region ||
        combine.getRhs().getParentBlock() != &region)
      continue;
    axis = int32_t(reduce.getAxis());
    Shape wanted = shape;
    if (axis < 0 || axis >= int64_t(shape.size()) || shape[size_t(axis)] != 2) continue;
    wanted[size_t(axis)] = 1;
    if (PlanBuilder::shapeOf(both.getType()) != wanted) continue;
    source = x;
    return true;
  }
  return false;
}

constexpr int64_t kMostMask = 64; ///< elements of a mask before it is broadcast

/// The elements of a small integer tile that does not depend on the program; false if they are not known here.
bool evaluate(Value v, llvm::SmallVectorImpl<int64_t>& out) {
  Operation* op = v.getDefiningOp();
  Shape shape = PlanBuilder::shapeOf(v.getType());
  int64_t n = elementsOf(shape);
  if (!op || n > kMostMask) return false;
  auto type = llvm::dyn_cast<mlir::IntegerType>(mlir::getElementTypeOrSelf(v.getType()));
  if (!type) return false;
  int64_t keep = type.getWidth() == 1 ? 1 : -1; // only bits of small numbers occur
  out.clear();
  if (auto constant = llvm::dyn_cast<arith::ConstantOp>(op)) {
    mlir::Attribute value = constant.getValue();
    if (auto one = llvm::dyn_cast<mlir::IntegerAttr>(value)) {
      out.push_back(one.getValue().getSExtValue() & keep);
      return true;
    }
    auto dense = llvm::dyn_cast<mlir::DenseIntElementsAttr>(value);
    if (!dense) return false;
    for (const llvm::APInt& element : dense.getValues<llvm::APInt>()) out.push_back(element.getSExtValue() & keep);
    return true;
  }
  if (auto range = llvm::dyn_cast<tt::MakeRangeOp>(op)) {
    for (int64_t i = 0; i < n; ++i) out.push_back(int32_t(range.getStart()) + i);
    return true;
  }
  llvm::SmallVector<int64_t, 8> a, b;
  if (llvm::isa<tt::ReshapeOp, tt::ExpandDimsOp, tt::BitcastOp, arith::TruncIOp, arith::ExtUIOp>(op)) {
    if (!evaluate(op->getOperand(0), a)) return false;
    for (int64_t x : a) out.push_back(x & keep);
    return true;
  }
  if (llvm::isa<tt::SplatOp>(op)) {
    if (!evaluate(op->getOperand(0), a)) return false;
    out.assign(size_t(n), a[0]);
    return true;
  }
  if (llvm::isa<tt::BroadcastOp>(op)) {
    Shape from = PlanBuilder::shapeOf(op->getOperand(0).getType());
    if (!evaluate(op->getOperand(0), a)) return false;
    for (int64_t i = 0; i < n; ++i) {
      int64_t at = 0, scale = 1, rest = i;
      for (size_t d = shape.size(); d-- > 0;) {
        at += (from[d] == 1 ? 0 : rest % shape[d]) * scale;
        scale *= from[d];
        rest /= shape[d];
      }
      out.push_back(a[size_t(at)]);
    }
    return true;
  }
  auto compare = llvm::dyn_cast<arith::CmpIOp>(op);
  const bool isXor = llvm::isa<arith::XOrIOp>(op), wantsEqual = compare && compare.getPredicate() == CmpI::eq;
  if (!isXor && !wantsEqual && !(compare && compare.getPredicate() == CmpI::ne)) return false;
  if (!evaluate(op->getOperand(0), a) || !evaluate(op->getOperand(1), b)) return false;
  for (auto [x, y] : llvm::zip(a, b)) out.push_back(isXor ? x ^ y : int64_t((x == y) == wantsEqual));
  return true;
}

/// The step whose mask `flip ^ right` is `mask`, an i1 tile of the hypercube's shape that may repeat a smaller one.
bool readMask(Value mask, int64_t axis, TwSortStep& step) {
  mask = without<tt::BroadcastOp>(mask);
  Shape shape = PlanBuilder::shapeOf(mask.getType());
  llvm::SmallVector<int64_t, 8> values;
  if (shape.empty() || shape[size_t(axis)] != 2 || !evaluate(mask, values)) return false;
  int64_t flip = -1, flipStride = 0, stride = 1, axisStride = 0;
  for (size_t d = shape.size(); d-- > 0;) {
    if (int64_t(d) == axis) {
      axisStride = stride;
    } else if (shape[d] != 1) {
      if (shape[d] != 2 || flip >= 0) return false;
      flip = int64_t(d);
      flipStride = stride;
    }
    stride *= shape[d];
  }
  auto at = [&](int64_t right, int64_t turned) { return values[size_t(right * axisStride + turned * flipStride)]; };
  if (at(0, 0) == at(1, 0)) return false;
  if (flip < 0) {
    step.flip = at(0, 0) ? kTwSortDescending : kTwSortAscending;
    return true;
  }
  if (flip > axis || at(0, 0) || at(0, 1) == at(1, 1) || at(0, 1) == at(0, 0)) return false;
  step.flip = int8_t(int64_t(shape.size()) - 1 - flip);
  return true;
}

/// select((x > y) != mask, y, x), y being x with halves exchanged.
bool readStep(arith::SelectOp select, const TwTileOps& tiles, DType type, NetworkStep& out) {
  Value y = select.getTrueValue(), x = select.getFalseValue();
  Shape shape = PlanBuilder::shapeOf(x.getType());
  Operation* condition = select.getCondition().getDefiningOp();
  if (shape.empty() || shape.size() > 24 || PlanBuilder::shapeOf(select.getCondition().getType()) != shape ||
      !condition)
    return false;
  for (int64_t size : shape)
    if (size != 2) return false;
  auto unlike = llvm::dyn_cast<arith::CmpIOp>(condition);
  bool differs = (unlike && unlike.getPredicate() == CmpI::ne) || llvm::isa<arith::XOrIOp>(condition);
  Value source;
  int64_t axis = 0;
  auto exchange = withoutBitcasts(y).getDefiningOp<arith::XOrIOp>();
  if (!differs || !exchange || !exchanged(exchange, source, axis) || withoutBitcasts(source) != withoutBitcasts(x))
    return false;
  out.step.bit = uint8_t(int64_t(shape.size()) - 1 - axis);
  for (unsigned i = 0; i < 2; ++i) {
    Operation* compare = condition->getOperand(i).getDefiningOp();
    if (!compare || compare->getNumOperands() != 2 || compare->getOperand(0) != x || compare->getOperand(1) != y)
      continue;
    auto floats = llvm::dyn_cast<arith::CmpFOp>(compare);
    auto integers = llvm::dyn_cast<arith::CmpIOp>(compare);
    const bool isSigned = integers && integers.getPredicate() == CmpI::sgt;
    if (!(floats && floats.getPredicate() == arith::CmpFPredicate::OGT) && !isSigned &&
        !(integers && integers.getPredicate() == CmpI::ugt))
      continue;
    out.fn = tiles.sort(type, isSigned);
    out.source = x;
    return out.fn && readMask(condition->getOperand(1 - i), axis, out.step);
  }
  return false;
}

DType elementType(Value v) {
  mlir::Type t = mlir::getElementTypeOrSelf(v.getType());
  if (auto i = llvm::dyn_cast<mlir::IntegerType>(t))
    return i.getWidth() == 8    ? DType::I8
           : i.getWidth() == 16 ? DType::I16
           : i.getWidth() == 32 ? DType::I32
           : i.getWidth() == 64 ? DType::I64
                                : DType::I1;
  return t.isF16()    ? DType::F16
         : t.isBF16() ? DType::BF16
         : t.isF32()  ? DType::F32
         : t.isF64()  ? DType::F64
                      : DType::Ptr;
}

} // namespace

void Networks::find(Operation* function, const TwTileOps& tiles) {
  function->walk([&](Operation* op) {
    if (auto exchange = llvm::dyn_cast<arith::XOrIOp>(op)) {
      ExchangedHalves h;
      if (exchanged(exchange, h.source, h.axis)) halves_[op] = h;
    } else if (auto select = llvm::dyn_cast<arith::SelectOp>(op)) {
      NetworkStep s;
      if (readStep(select, tiles, elementType(op->getResult(0)), s)) steps_[op] = s;
    }
  });
}

void Networks::findUnneeded(Operation* function) {
  llvm::SmallVector<Operation*, 64> order;
  function->walk<mlir::WalkOrder::PreOrder>([&](Operation* op) { order.push_back(op); });
  for (Operation* op : llvm::reverse(order)) {
    if (op->getNumResults() == 0 || !mlir::isMemoryEffectFree(op) || op->getBlock()->getTerminator() == op) continue;
    bool needed = false;
    for (mlir::OpOperand& use : op->getUses()) {
      Operation* user = use.getOwner();
      if (unneeded_.contains(user)) continue;
      if (auto s = steps_.find(user); s != steps_.end())
        needed |= use.get() == s->second.source;
      else if (auto h = halves_.find(user); h != halves_.end())
        needed |= use.get() == h->second.source;
      else
        needed = true;
    }
    if (!needed && !op->use_empty()) unneeded_.insert(op);
  }
}

void Networks::link(Operation* op, NetworkStep& step, llvm::function_ref<bool(Operation*)> mayWrite) {
  Operation* before = step.source.getDefiningOp();
  auto it = before ? steps_.find(before) : steps_.end();
  if (it == steps_.end() || before->getBlock() != op->getBlock() || it->second.fn != step.fn) return;
  for (Operation* user : step.source.getUsers())
    if (user != op && !unneeded_.contains(user)) return;
  for (Operation* between = before; between != op; between = between->getNextNode())
    if (mayWrite(between)) return; // the first step's source is read where the last step stands
  step.before = before;
  it->second.continues = true;
}

void emitSort(PlanBuilder& plan, TwSortFn fn, std::vector<TwSortStep> steps, int64_t elements, Reg tile) {
  BuildInstruction& in = plan.emit(execSort, "Sort (" + std::to_string(steps.size()) + " steps)");
  SortOp& data = plan.newData<SortOp>(in);
  data.fn = fn;
  data.steps = std::move(steps);
  data.elements = elements;
  plan.read(in, data.tile, tile);
  plan.write(in, data.tile, tile);
}

/// True if `source` is a dense tile in the arena that nothing reads any more after the network that runs at `op` and whose
/// first step is `first`; groups that read it still are flushed then.
bool PlanBuilder::diesIn(Value source, Operation* op, Operation* first) {
  const Rep& r = rep(source);
  if (r.kind != Rep::Tile || r.pending() || !isDense(r.tile, r.type, r.shape)) return false;
  const Reg tile = root(r.tile.base);
  if (info(tile).persistent || info(tile).claimed) return false;
  auto isHere = [&](const TileRef& ref) { return ref.base != kNoReg && root(ref.base) == tile; };
  auto isFree = [&](Value value) {
    if (!has(value)) return true;
    const Rep& other = rep(value);
    if (other.kind != Rep::Tile || other.pending() || !isHere(other.tile)) return true;
    if (!value.getDefiningOp() || value.getParentBlock() != op->getBlock()) return false;
    return llvm::all_of(value.getUsers(), [&](Operation* user) {
      const bool isDone = user->getBlock() == op->getBlock() && user->isBeforeInBlock(op) && !networks_.step(user);
      return user == first || isDone || networks_.isUnneeded(user);
    });
  };
  for (mlir::Region* region = op->getParentRegion(); region; region = region->getParentRegion())
    for (mlir::Block& block : *region) {
      if (!llvm::all_of(block.getArguments(), isFree)) return false;
      for (Operation& other : block)
        if (!llvm::all_of(other.getResults(), isFree)) return false;
    }
  flushReaders(isHere);
  return true;
}

/// Plans an operation that Networks found; false: it is an ordinary one.
bool PlanBuilder::planNetwork(Operation* op) {
  if (networks_.isUnneeded(op)) return true;
  if (const NetworkStep* last = networks_.step(op)) {
    if (last->continues) return true;
    std::vector<TwSortStep> steps;
    const NetworkStep* s = last;
    Operation* first = op;
    for (;; s = networks_.step(first)) {
      steps.insert(steps.begin(), s->step);
      if (!s->before) break;
      first = s->before;
    }
    Value source = s->source, result = op->getResult(0);
    DType type = dtypeOf(result.getType());
    Shape shape = shapeOf(result.getType());
    Reg tile = diesIn(source, op, first) ? rep(source).tile.base : copyOf(source);
    emitSort(*this, last->fn, std::move(steps), elementsOf(shape), tile);
    set(result, tileRep(type, shape, tile));
    return true;
  }
  if (const ExchangedHalves* h = networks_.halves(op)) {
    Value result = op->getResult(0);
    Rep r;
    r.kind = Rep::Tile;
    r.type = dtypeOf(result.getType());
    r.shape = shapeOf(result.getType());
    r.tile = tileOf(h->source);
    DimStride* stride = &r.tile.strides[size_t(h->axis)];
    if (stride->cell >= 0) {
      r.tile = denseRef(denseOf(h->source), r.type, r.shape);
      stride = &r.tile.strides[size_t(h->axis)];
    }
    r.tile.offset += stride->value;
    stride->value = -stride->value;
    set(result, r);
    return true;
  }
  return false;
}

} // namespace tiletwin::interp
