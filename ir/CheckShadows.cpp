// ir/CheckShadows.cpp -- see CheckShadows.h: origins, where they reach, shadows of control flow; building shadows.
#include "ir/CheckShadows.h"
#include "ir/ValueFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tiletwin::tt {

static constexpr int kMostOrigins = 255;

Shadows::Shadows(FuncOp function, ShadowCheck& check, Operations& kernelOps)
    : ShadowWalk(function), function_(function), check_(check), kernelOps_(kernelOps) {}

void Shadows::run() {
  if (function_.getBody().empty()) return;
  numberOrigins();
  if (origins_.empty()) return;
  reach();
  shadowRegion(function_.getBody());
}

// ---- origins and where they reach ----

/// Operations whose regions compute single elements, and are followed as a whole.
static bool isWhole(Operation* op) { return isa<ReduceOp, ScanOp, MapElementwiseOp>(op); }

void Shadows::numberOrigins() {
  function_->walk<WalkOrder::PreOrder>([&](Operation* op) {
    if (kernelOps_.contains(op) && check_.begins(op)) origins_.push_back(op);
    return isWhole(op) ? WalkResult::skip() : WalkResult::advance();
  });
  // Later origins beyond the largest number share the last one.
  const int count = std::min<int>(kMostOrigins, int(origins_.size()));
  originTexts_.resize(size_t(count));
  for (size_t i = 0; i < origins_.size(); ++i) {
    const int id = std::max(1, count - int(i));
    ids_[origins_[i]] = id;
    if (originTexts_[size_t(id - 1)]) continue;
    ShadowCheck::OriginText text = check_.textOf(origins_[i]);
    originTexts_[size_t(id - 1)] = getDictionaryAttr(
        {getNamedAttr("id", getI32IntegerAttr(id)), getNamedAttr("where", LocationAttr(origins_[i]->getLoc())),
         getNamedAttr("operation", getStringAttr(origins_[i]->getName().getStringRef())),
         getNamedAttr("text", getStringAttr(text.text)), getNamedAttr("advice", getStringAttr(text.advice))});
  }
}

bool Shadows::flow(Value from, Value to) {
  auto at = reaching_.find(from);
  if (at == reaching_.end()) return false;
  const Origins origins = at->second; // inserting may move it
  auto [entry, isNew] = reaching_.try_emplace(to, originTexts_.size(), false);
  Origins joined = entry->second;
  joined |= origins;
  if (!isNew && joined == entry->second) return false;
  entry->second = joined;
  return true;
}

bool Shadows::flowThrough(Operation* op) {
  bool changed = false;
  if (forEachValueEdge(op, [&](Value from, Value to) { changed |= flow(from, to); })) return changed;
  for (OpResult result : op->getResults()) {
    if (auto id = ids_.find(op); id != ids_.end()) {
      auto [entry, isNew] = reaching_.try_emplace(result, originTexts_.size(), false);
      changed |= isNew || !entry->second.test(unsigned(id->second - 1));
      entry->second.set(unsigned(id->second - 1));
    }
    if (check_.follows(op, result))
      for (Value operand : op->getOperands()) changed |= flow(operand, result);
  }
  return changed;
}

void Shadows::reach() {
  for (bool changed = true; changed;) {
    changed = false;
    function_->walk<WalkOrder::PreOrder>([&](Operation* op) {
      if (kernelOps_.contains(op)) changed |= flowThrough(op);
      return isWhole(op) ? WalkResult::skip() : WalkResult::advance();
    });
  }
}

// ---- building ----

Type Shadows::typeFor(Type like) const { return withShapeOf(like, IntegerType::get(like.getContext(), 8)); }

Value Shadows::combine(Value a, Value b) {
  if (!a || !b || a == b) return a ? a : b;
  return arith::MaxUIOp::create(*this, a, b);
}

Value Shadows::choose(Value condition, Value a, Value b, Type like) {
  if (!a && !b) return {};
  if (!a) a = zero(like);
  if (!b) b = zero(like);
  return arith::SelectOp::create(*this, condition, a, b);
}

Value Shadows::mark(Value condition, Operation* origin) {
  Type type = typeFor(condition.getType());
  return choose(condition, integer(type, idOf(origin)), {}, type);
}

Value Shadows::where(Value a, Value b, bool whereZero) {
  auto predicate = whereZero ? arith::CmpIPredicate::eq : arith::CmpIPredicate::ne;
  return choose(compare(predicate, b, zero(b.getType())), a, {}, a.getType());
}

Value Shadows::ofOperands(Operation* op) {
  Value result;
  for (Value operand : op->getOperands())
    if (shapeOf(operand.getType()) == shapeOf(op->getResult(0).getType())) result = combine(result, of(operand));
  return result;
}

Value Shadows::ofAll(Operation* op) {
  Value result;
  for (Value operand : op->getOperands()) result = combine(result, of(operand));
  return result;
}

/// The parts of a mask that all have to hold.
static void addParts(Value mask, SmallPtrSetImpl<void*>& parts) {
  if (auto both = mask.getDefiningOp<arith::AndIOp>()) {
    addParts(both.getLhs(), parts);
    addParts(both.getRhs(), parts);
  }
  parts.insert(mask.getAsOpaquePointer());
}

/// The shadow where `parts` hold; null: no lane is bad there, as lanes were masked off by the very same mask.
static Value under(const SmallPtrSetImpl<void*>& parts, Value shadow, Shadows& s) {
  if (auto most = shadow.getDefiningOp<arith::MaxUIOp>()) {
    Value a = under(parts, most.getLhs(), s), b = under(parts, most.getRhs(), s);
    return a == most.getLhs() && b == most.getRhs() ? shadow : s.combine(a, b);
  }
  auto select = shadow.getDefiningOp<arith::SelectOp>();
  if (!select || !matchPattern(select.getTrueValue(), m_Zero())) return shadow;
  SmallPtrSet<void*, 8> needed;
  addParts(select.getCondition(), needed);
  if (parts.contains(select.getCondition().getAsOpaquePointer())) return {};
  // a & b is no part of (a & c) & b, but its own parts are.
  for (void* part : needed) {
    Value value = Value::getFromOpaquePointer(part);
    if (!value.getDefiningOp<arith::AndIOp>() && !parts.contains(part)) return shadow;
  }
  return {};
}

void Shadows::probe(Operation* op, Value value, Value shadow, Value mask, StringRef message, StringRef advice,
                    bool atOrigin) {
  if (shadow && mask) {
    SmallPtrSet<void*, 8> parts;
    addParts(mask, parts);
    shadow = under(parts, shadow, *this);
  }
  if (!shadow) return;
  Value bad = mask ? choose(mask, shadow, {}, shadow.getType()) : shadow;
  SmallVector<Attribute> origins;
  if (auto at = reaching_.find(value); at != reaching_.end())
    for (unsigned i : at->second.set_bits()) origins.push_back(originTexts_[i]);
  if (origins.empty()) origins.assign(originTexts_.begin(), originTexts_.end());
  ProbeLanesOp::create(*this, op->getLoc(), bad, check_.name(), op->getName().getStringRef(), message, advice,
                       getArrayAttr(origins), atOrigin);
}

// ---- control flow ----

void Shadows::widened(Operation* op, Operation* wider) {
  for (auto [old, now] : llvm::zip(op->getResults(), wider->getResults()))
    if (auto at = reaching_.find(old); at != reaching_.end()) {
      Origins origins = at->second; // inserting may move it
      reaching_[now] = origins;
    }
  kernelOps_.erase(op);
  kernelOps_.insert(wider);
}

void Shadows::shadowOp(Operation* op) {
  if (!kernelOps_.contains(op)) return;
  check_.look(*this, op);
  if (isa<scf::ForOp, scf::WhileOp, scf::IfOp, scf::ExecuteRegionOp>(op)) return void(shadowThrough(op));
  if (isa<BranchOpInterface>(op)) return shadowBranch(op);
  setInsertionPointAfter(op);
  for (OpResult result : op->getResults())
    if (reached(result))
      if (Value shadow = check_.shadowOf(*this, op, result)) shadows_[result] = shadow;
}

} // namespace tiletwin::tt
