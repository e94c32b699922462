// interp/plan/Carried.cpp -- see Carried.h.
#include "interp/plan/Carried.h"
#include "ir/TT.h"
#include "ir/ValueFlow.h"
#include "llvm/ADT/SetVector.h"
#include <algorithm>
#include <optional>

namespace tiletwin::interp {

using mlir::Operation;
using mlir::Value;

namespace {
bool mentions(const Rep& r, Reg reg, PlanBuilder& plan) {
  auto same = [&](Reg x) { return x != kNoReg && plan.root(x) == plan.root(reg); };
  if (!r.base.constant && same(r.base.reg)) return true;
  for (auto* list : {&r.strides, &r.lo, &r.hi})
    for (const Uniform& u : *list)
      if (!u.constant && same(u.reg)) return true;
  return r.kind == Rep::Tile && !r.pending() && (same(r.tile.base) || same(r.tile.viewTile));
}

/// Whether `r` can be handed on as cells.
bool isSymbolic(const PlanBuilder& plan, const Rep& r) {
  if (r.kind == Rep::Scalar || r.kind == Rep::Descriptor) return true;
  bool address = (isInteger(r.type) && r.type != DType::I1) || r.type == DType::Ptr;
  return (r.kind == Rep::Affine || r.kind == Rep::Rows) && address && plan.options().symbolic;
}

bool isPointer(mlir::Type type) {
  return llvm::isa<tt::PointerType>(tt::elementTypeOf(type)) || llvm::isa<tt::TensorDescType>(type);
}

/// Whether pointers that an operation gives have nothing to do with those it takes.
bool makesAnew(Operation* op) { return llvm::isa<tt::MemoryAccess, tt::CallOp>(op); }

/// The argument that every value which reaches one of `pointers` comes from; -1: several, or none. Values that are not
/// planned yet count, too, so this asks the IR and no form.
int pointerRoot(PlanBuilder& plan, llvm::ArrayRef<Value> pointers) {
  llvm::DenseMap<Value, llvm::SmallVector<Value, 2>> incoming;
  mlir::Region* region = Value(pointers.front()).getParentRegion();
  region->getParentOfType<tt::FuncOp>()->walk(
      [&](Operation* op) { tt::forEachValueEdge(op, [&](Value from, Value to) { incoming[to].push_back(from); }); });
  llvm::SetVector<Value> reaching(pointers.begin(), pointers.end());
  std::optional<int> root;
  for (size_t i = 0; i < reaching.size(); ++i) {
    const Value v = reaching[i];
    if (auto from = incoming.find(v); from != incoming.end()) {
      reaching.insert(from->second.begin(), from->second.end());
      continue;
    }
    Operation* made = v.getDefiningOp();
    llvm::SmallVector<Value, 2> sources;
    if (made && !makesAnew(made))
      llvm::copy_if(made->getOperands(), std::back_inserter(sources), [](Value o) { return isPointer(o.getType()); });
    reaching.insert(sources.begin(), sources.end());
    if (!sources.empty()) continue;
    const int own = !made && plan.has(v) ? plan.rep(v).root : -1; // a function's argument
    if (root.value_or(own) != own) return -1;
    root = own;
  }
  return root.value_or(-1);
}
} // namespace

llvm::SmallVector<Uniform*, 8> partsOf(Rep& r) {
  llvm::SmallVector<Uniform*, 8> parts{&r.base};
  for (auto* list : {&r.strides, &r.lo, &r.hi})
    for (Uniform& u : *list) parts.push_back(&u);
  return parts;
}

Carried carry(PlanBuilder& plan, Value init, uint8_t form, int level) {
  Carried c;
  const Rep& r = plan.rep(init);
  Shape shape = PlanBuilder::shapeOf(init.getType());
  DType type = plan.dtypeOf(init.getType());
  uint8_t step = form & Carried::FormMask;
  c.symbolic = isSymbolic(plan, r) && (step != Carried::Dense || shape.empty());
  if (c.symbolic) {
    c.rep = r;
    for (Uniform* part : partsOf(c.rep)) {
      bool varies = c.cells.empty() || step != Carried::BaseVaries;
      c.cells.push_back(varies ? plan.newReg(8, level) : kNoReg);
      if (varies) *part = Uniform::in(c.cells.back());
    }
  } else {
    int root = r.root;
    c.reg = plan.newReg(uint64_t(elementsOf(shape)) * sizeOf(type), level);
    plan.claim(c.reg);
    c.rep = plan.tileRep(type, shape, c.reg);
    c.rep.root = root;
  }
  if (form & Carried::Rootless) c.rep.root = -1;
  return c;
}

Carried carryUnknown(PlanBuilder& plan, mlir::Type type, llvm::ArrayRef<Value> sources) {
  Carried c;
  Shape shape = PlanBuilder::shapeOf(type);
  DType element = plan.dtypeOf(type);
  const int root = isPointer(type) && !sources.empty() ? pointerRoot(plan, sources) : -1;
  c.symbolic = shape.empty();
  if (!c.symbolic) {
    c.reg = plan.newTile(element, shape);
    c.rep = plan.tileRep(element, shape, c.reg);
    c.rep.root = root;
    return c;
  }
  c.rep = plan.formOfType(type);
  c.rep.root = root;
  for (Uniform* part : partsOf(c.rep)) {
    c.cells.push_back(plan.newReg(8));
    *part = Uniform::in(c.cells.back());
  }
  return c;
}

WaitLoop enterWait(PlanBuilder& plan, Operation* loop, const WaitCause& cause, llvm::ArrayRef<Carried> carried) {
  llvm::SmallVector<Reg, 8> cells, tiles;
  for (size_t i = 0; i < carried.size(); ++i) {
    if (!cause.matters.empty() && !cause.matters[i]) continue;
    if (!carried[i].symbolic) tiles.push_back(carried[i].reg);
    for (Reg cell : carried[i].cells)
      if (cell != kNoReg) cells.push_back(cell);
  }
  return plan.enterWaitLoop(loop, cause, cells, tiles);
}

void enter(PlanBuilder& plan, llvm::ArrayRef<Carried> carried, mlir::ValueRange inits) {
  for (size_t i = 0; i < carried.size(); ++i) {
    if (!carried[i].symbolic) {
      plan.writeTo(inits[i], carried[i].reg);
      continue;
    }
    Rep r = plan.rep(inits[i]);
    auto parts = partsOf(r);
    for (size_t p = 0; p < parts.size(); ++p)
      if (carried[i].cells[p] != kNoReg) plan.move(carried[i].cells[p], *parts[p]);
  }
}

bool matches(PlanBuilder& plan, Carried& c, Value next, uint8_t& form) {
  Rep r = plan.rep(next);
  bool ok = true;
  if (c.symbolic) {
    auto parts = partsOf(r), assumed = partsOf(c.rep);
    bool sameKind = r.kind == c.rep.kind && isSymbolic(plan, r) && parts.size() == assumed.size() &&
                    r.table == c.rep.table && r.tableDim == c.rep.tableDim,
         same = sameKind;
    for (size_t p = 0; same && p < parts.size(); ++p) same = c.cells[p] != kNoReg || *parts[p] == *assumed[p];
    if (!same) {
      form = (form & Carried::Rootless) | (sameKind ? Carried::AllVary : Carried::Dense);
      ok = false;
    }
  }
  if (c.rep.root >= 0 && r.root != c.rep.root) {
    form |= Carried::Rootless;
    ok = false;
  }
  return ok;
}

bool matches(PlanBuilder& plan, llvm::MutableArrayRef<Carried> carried, mlir::ValueRange next,
             llvm::MutableArrayRef<uint8_t> forms) {
  bool ok = true;
  for (size_t i = 0; i < carried.size(); ++i) ok &= matches(plan, carried[i], next[i], forms[i]);
  return ok;
}

void advance(PlanBuilder& plan, llvm::ArrayRef<Carried> carried, mlir::ValueRange next, uint64_t bodyStart) {
  plan.flushAll();
  size_t n = carried.size();
  // Whole tiles of their own: settle where they are first, so that copies are known.
  for (size_t i = 0; i < n; ++i)
    if (!carried[i].symbolic && plan.rep(next[i]).pending()) plan.flush(plan.rep(next[i]).group);
  struct Copy {
    size_t from; ///< next[from]
    Reg to;
    bool isTile;
    Uniform cell; ///< unless isTile
    Reg stage = kNoReg;
  };
  std::vector<Copy> copies;
  auto mentionedBy = [&](const Copy& copy, Reg reg) {
    return copy.isTile ? mentions(plan.rep(next[copy.from]), reg, plan)
                       : !copy.cell.constant && plan.root(copy.cell.reg) == plan.root(reg);
  };
  auto usedByOther = [&](size_t i) {
    for (size_t j = 0; j < n; ++j)
      if (j != i && mentions(plan.rep(next[j]), carried[i].reg, plan)) return true;
    return false;
  };
  for (size_t i = 0; i < n; ++i) {
    const Carried& c = carried[i];
    if (c.symbolic) {
      Rep r = plan.rep(next[i]);
      auto parts = partsOf(r);
      for (size_t p = 0; p < parts.size(); ++p)
        if (c.cells[p] != kNoReg && (parts[p]->constant || parts[p]->reg != c.cells[p]))
          copies.push_back({i, c.cells[p], false, *parts[p]});
      continue;
    }
    const Rep& r = plan.rep(next[i]);
    bool done = false;
    if (r.kind == Rep::Tile && !r.tile.view && PlanBuilder::isDense(r.tile, r.type, r.shape)) {
      if (plan.root(r.tile.base) == plan.root(c.reg)) {
        done = true;
      } else {
        bool isCarried = false;
        for (const Carried& other : carried)
          isCarried |= !other.symbolic && plan.root(r.tile.base) == plan.root(other.reg);
        bool inBlock = plan.info(plan.root(r.tile.base)).firstWrite > bodyStart;
        done = !isCarried && inBlock && !usedByOther(i) && plan.coalesce(r.tile.base, c.reg, bodyStart);
      }
    }
    if (!done) copies.push_back({i, c.reg, true, {}});
  }
  // Sources that another copy would overwrite first go through a temporary. So does a strided view of its own destination.
  for (Copy& copy : copies) {
    bool hazard = copy.isTile && mentionedBy(copy, copy.to);
    for (const Copy& other : copies) hazard |= &other != &copy && mentionedBy(copy, other.to);
    if (!hazard) continue;
    if (copy.isTile) {
      copy.stage = plan.copyOf(next[copy.from]);
    } else {
      copy.stage = plan.newReg(8);
      plan.move(copy.stage, copy.cell);
    }
  }
  for (const Copy& copy : copies) {
    if (!copy.isTile)
      plan.move(copy.to, copy.stage == kNoReg ? copy.cell : Uniform::in(copy.stage));
    else if (copy.stage == kNoReg)
      plan.writeTo(next[copy.from], copy.to);
    else
      plan.copyDense(plan.rep(next[copy.from]).type, plan.rep(next[copy.from]).shape, copy.stage, copy.to);
  }
}

void leave(PlanBuilder& plan, llvm::ArrayRef<Carried> carried, mlir::ValueRange results) {
  for (size_t i = 0; i < carried.size(); ++i) {
    Rep r = carried[i].rep;
    if (carried[i].symbolic) {
      auto parts = partsOf(r);
      for (size_t p = 0; p < parts.size(); ++p) {
        if (carried[i].cells[p] == kNoReg) continue;
        Reg cell = plan.newReg(8);
        plan.move(cell, Uniform::in(carried[i].cells[p]));
        *parts[p] = Uniform::in(cell);
      }
    }
    plan.set(results[i], r);
  }
}

std::vector<uint8_t>& formsOf(PlanBuilder& plan, Operation* op, size_t count) {
  std::vector<uint8_t>& forms = plan.carriedForms(op);
  forms.resize(count, Carried::BaseVaries);
  return forms;
}

} // namespace tiletwin::interp
