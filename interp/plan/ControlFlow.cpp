// interp/plan/ControlFlow.cpp -- scf.for, scf.if, scf.while, scf.execute_region, and blocks that branch to each other.
// Here:      what loops carry and in which representation, jumps, copies at back edges.
// Not here:  single operations.
// Idea:      a loop is planned under the assumption that symbolic values stay symbolic (a pointer advanced by a uniform amount
//            is one cell). If its yields break that, everything emitted is undone and the value is carried as a tile.
// Invariant: a carried value's register is written only before the loop and at its back edge.
#include "interp/plan/Builder.h"
#include "ir/TT.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Region.h"
#include "llvm/ADT/SetVector.h"
#include <algorithm>

namespace tiletwin::interp {

using mlir::LogicalResult;
using mlir::Operation;
using mlir::success;
using mlir::Value;
using Values = llvm::SmallVector<Value, 8>;

namespace {
/// One value carried by a loop, or handed on by a branch or to a block.
struct Carried {
  /// How much of the symbolic form is given up, one step after the other.
  enum Form : uint8_t {
    BaseVaries, ///< scalars; affine tiles and descriptors whose base alone changes
    AllVary,    ///< strides and extents have cells too
    Dense,      ///< a tile in the arena
    FormMask = 3,
    Rootless = 4, ///< pointers of different arguments meet here
  };
  bool symbolic = true;
  Reg reg = kNoReg;                  ///< the dense tile
  llvm::SmallVector<Reg, 4> cells;   ///< symbolic: per part of the form, kNoReg where it is the same everywhere
  Rep rep;                           ///< what the region's argument is
};

/// The uniform parts of a symbolic form.
llvm::SmallVector<Uniform*, 8> partsOf(Rep& r) {
  llvm::SmallVector<Uniform*, 8> parts{&r.base};
  for (auto* list : {&r.strides, &r.lo, &r.hi})
    for (Uniform& u : *list)
      parts.push_back(&u);
  return parts;
}

bool mentions(const Rep& r, Reg reg, PlanBuilder& plan) {
  auto same = [&](Reg x) { return x != kNoReg && plan.root(x) == plan.root(reg); };
  if (!r.base.constant && same(r.base.reg))
    return true;
  for (auto* list : {&r.strides, &r.lo, &r.hi})
    for (const Uniform& u : *list)
      if (!u.constant && same(u.reg))
        return true;
  return r.kind == Rep::Tile && !r.pending() && (same(r.tile.base) || same(r.tile.viewTile));
}

/// Whether `r` can be handed on as cells.
bool isSymbolic(const PlanBuilder& plan, const Rep& r) {
  if (r.kind == Rep::Scalar || r.kind == Rep::Descriptor)
    return true;
  bool address = (isInteger(r.type) && r.type != DType::I1) || r.type == DType::Ptr;
  return (r.kind == Rep::Affine || r.kind == Rep::Rows) && address && plan.options().symbolic;
}

/// Chooses registers for values that start as `init`. `level` is the level of the region that sees them.
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
      if (varies)
        *part = Uniform::in(c.cells.back());
    }
  } else {
    int root = r.root;
    c.reg = plan.newReg(uint64_t(elementsOf(shape)) * sizeOf(type), level);
    plan.info(c.reg).claimed = true;
    c.rep = plan.tileRep(type, shape, c.reg);
    c.rep.root = root;
  }
  if (form & Carried::Rootless)
    c.rep.root = -1;
  return c;
}

/// Registers for a value of which only the type is known.
Carried carryType(PlanBuilder& plan, mlir::Type type) {
  Carried c;
  Shape shape = PlanBuilder::shapeOf(type);
  DType element = plan.dtypeOf(type);
  c.symbolic = shape.empty();
  if (!c.symbolic) {
    c.reg = plan.newTile(element, shape);
    c.rep = plan.tileRep(element, shape, c.reg);
    return c;
  }
  c.rep = plan.formOfType(type);
  for (Uniform* part : partsOf(c.rep)) {
    c.cells.push_back(plan.newReg(8));
    *part = Uniform::in(c.cells.back());
  }
  return c;
}

/// Plans the way into a loop that may wait, if there is a cause.
WaitLoop enterWait(PlanBuilder& plan, Operation* loop, const WaitCause& cause, llvm::ArrayRef<Carried> carried) {
  llvm::SmallVector<Reg, 8> cells, tiles;
  for (size_t i = 0; i < carried.size(); ++i) {
    if (!cause.matters.empty() && !cause.matters[i])
      continue;
    if (!carried[i].symbolic)
      tiles.push_back(carried[i].reg);
    for (Reg cell : carried[i].cells)
      if (cell != kNoReg)
        cells.push_back(cell);
  }
  return plan.enterWaitLoop(loop, cause, cells, tiles);
}

/// Writes initial values. No source may be one of the destinations.
void enter(PlanBuilder& plan, llvm::ArrayRef<Carried> carried, mlir::ValueRange inits) {
  for (size_t i = 0; i < carried.size(); ++i) {
    if (!carried[i].symbolic) {
      plan.writeTo(inits[i], carried[i].reg);
      continue;
    }
    Rep r = plan.rep(inits[i]);
    auto parts = partsOf(r);
    for (size_t p = 0; p < parts.size(); ++p)
      if (carried[i].cells[p] != kNoReg)
        plan.move(carried[i].cells[p], *parts[p]);
  }
}

/// Checks that `next` has the form that `c` assumes; gives up a step of it in `form` if not. False: plan again.
bool matches(PlanBuilder& plan, Carried& c, Value next, uint8_t& form) {
  Rep r = plan.rep(next);
  bool ok = true;
  if (c.symbolic) {
    auto parts = partsOf(r), assumed = partsOf(c.rep);
    bool sameKind = r.kind == c.rep.kind && isSymbolic(plan, r) && parts.size() == assumed.size() &&
                    r.table == c.rep.table && r.tableDim == c.rep.tableDim,
         same = sameKind;
    for (size_t p = 0; same && p < parts.size(); ++p)
      same = c.cells[p] != kNoReg || *parts[p] == *assumed[p];
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
  for (size_t i = 0; i < carried.size(); ++i)
    ok &= matches(plan, carried[i], next[i], forms[i]);
  return ok;
}

/// The back edge's copies: carried[i] takes next[i], all at once.
void advance(PlanBuilder& plan, llvm::ArrayRef<Carried> carried, mlir::ValueRange next, uint64_t bodyStart) {
  plan.flushAll();
  size_t n = carried.size();
  // Whole tiles of their own: settle where they are first, so that copies are known.
  for (size_t i = 0; i < n; ++i)
    if (!carried[i].symbolic && plan.rep(next[i]).pending())
      plan.flush(plan.rep(next[i]).group);
  struct Copy {
    size_t from;           ///< next[from]
    Reg to;
    bool isTile;
    Uniform cell;          ///< unless isTile
    Reg stage = kNoReg;
  };
  std::vector<Copy> copies;
  auto mentionedBy = [&](const Copy& copy, Reg reg) {
    return copy.isTile ? mentions(plan.rep(next[copy.from]), reg, plan)
                       : !copy.cell.constant && plan.root(copy.cell.reg) == plan.root(reg);
  };
  auto usedByOther = [&](size_t i) {
    for (size_t j = 0; j < n; ++j)
      if (j != i && mentions(plan.rep(next[j]), carried[i].reg, plan))
        return true;
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
    if (!done)
      copies.push_back({i, c.reg, true, {}});
  }
  // Sources that another copy would overwrite first go through a temporary. So does a strided view of its own destination.
  for (Copy& copy : copies) {
    bool hazard = copy.isTile && mentionedBy(copy, copy.to);
    for (const Copy& other : copies)
      hazard |= &other != &copy && mentionedBy(copy, other.to);
    if (!hazard)
      continue;
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

/// What the operation's results are after the loop.
void leave(PlanBuilder& plan, llvm::ArrayRef<Carried> carried, mlir::ValueRange results) {
  for (size_t i = 0; i < carried.size(); ++i) {
    Rep r = carried[i].rep;
    if (carried[i].symbolic) {
      auto parts = partsOf(r);
      for (size_t p = 0; p < parts.size(); ++p) {
        if (carried[i].cells[p] == kNoReg)
          continue;
        Reg cell = plan.newReg(8);
        plan.move(cell, Uniform::in(carried[i].cells[p]));
        *parts[p] = Uniform::in(cell);
      }
    }
    plan.set(results[i], r);
  }
}

/// The forms that an operation's values begin with: what is known from the last time it was planned.
std::vector<uint8_t>& formsOf(PlanBuilder& plan, Operation* op, size_t count) {
  std::vector<uint8_t>& forms = plan.carriedForms_[op];
  forms.resize(count, Carried::BaseVaries);
  return forms;
}
} // namespace

void PlanBuilder::copyDense(DType type, llvm::ArrayRef<int64_t> shape, Reg from, Reg to) {
  int index = newGroup(shape, true);
  OpenGroup& g = *groups_[index];
  GroupStream s;
  s.kind = GroupStream::Operand;
  s.elementBytes = int32_t(sizeOf(type));
  g.op->streams.push_back(s);
  g.sources.emplace_back();
  g.sources.back().ref = denseRef(from, type, shape);
  g.values.emplace_back();
  g.types.push_back(type);
  int stream = addStrip(index, tiles_.elementwise(TwElementwise::Copy, type == DType::Ptr ? DType::I64 : type), {0}, type, "copy");
  g.forced[stream] = to;
  flush(index);
}

LogicalResult planFor(PlanBuilder& plan, Operation* op) {
  plan.flushAll();
  mlir::Block& body = op->getRegion(0).front();
  Value iv = body.getArgument(0);
  DType type = plan.dtypeOf(iv.getType());
  mlir::ValueRange inits = op->getOperands().drop_front(3);
  mlir::ValueRange next = body.getTerminator()->getOperands();
  mlir::Location location = op->getLoc();
  Uniform lower = plan.uniformOf(op->getOperand(0)), upper = plan.uniformOf(op->getOperand(1)), step = plan.uniformOf(op->getOperand(2));
  std::vector<Carried> carried(inits.size());
  std::vector<uint8_t>& forms = formsOf(plan, op, inits.size());
  int64_t isUnsigned = op->hasAttr("unsignedCmp") ? 1 : 0;

  auto before = plan.snapshot();
  for (;;) {
    int level = plan.level() + 1;
    for (size_t i = 0; i < carried.size(); ++i)
      carried[i] = carry(plan, inits[i], forms[i], level);
    enter(plan, carried, inits);
    Reg ivCell = plan.newReg(8, level);
    plan.pushScope(op);
    int top = plan.newLabel(), exit = plan.newLabel();
    BuildInstruction& head = plan.emitJump(execForEnter, exit, "For");
    plan.read(head, head.in.r[1], plan.cell(lower));
    plan.read(head, head.in.r[2], plan.cell(upper));
    plan.write(head, head.in.r[0], ivCell);
    head.in.r[3] = uint32_t(isUnsigned);
    plan.placeLabel(top);
    uint64_t start = plan.sequence();
    plan.set(iv, plan.scalarRep(type, Uniform::in(ivCell)));
    for (size_t i = 0; i < carried.size(); ++i)
      plan.set(body.getArgument(unsigned(i + 1)), carried[i].rep);
    if (failed(plan.planBlock(body)))
      return mlir::failure();
    plan.setLocation(location);
    plan.flushAll();
    if (!matches(plan, carried, next, forms)) {
      plan.rollback(before);
      continue;
    }
    advance(plan, carried, next, start);
    BuildInstruction& tail = plan.emitJump(execForNext, top, "Next");
    plan.read(tail, tail.in.r[0], ivCell);
    plan.read(tail, tail.in.r[1], plan.cell(step));
    plan.read(tail, tail.in.r[2], plan.cell(upper));
    tail.in.r[3] = uint32_t(isUnsigned) | uint32_t(PlanBuilder::widthOf(type)) << 1;
    plan.placeLabel(exit);
    plan.append(plan.popScope());
    break;
  }
  leave(plan, carried, op->getResults());
  return success();
}

LogicalResult planWhile(PlanBuilder& plan, Operation* op) {
  plan.flushAll();
  mlir::Block &before = op->getRegion(0).front(), &after = op->getRegion(1).front();
  mlir::ValueRange inits = op->getOperands(), next = after.getTerminator()->getOperands();
  Operation* condition = before.getTerminator();
  mlir::ValueRange passed = condition->getOperands().drop_front();
  std::vector<uint8_t>& forms = formsOf(plan, op, inits.size());
  std::vector<Carried> first(inits.size()), second(passed.size());
  const WaitCause cause = whileWaitsOn(op);
  auto undo = plan.snapshot();
  for (;;) {
    int level = plan.level() + 1;
    for (size_t i = 0; i < first.size(); ++i)
      first[i] = carry(plan, inits[i], forms[i], level);
    enter(plan, first, inits);
    WaitLoop wait = enterWait(plan, op, cause, first);
    plan.pushScope(op);
    int top = plan.newLabel(), exit = plan.newLabel();
    plan.placeLabel(top);
    uint64_t start = plan.sequence();
    for (size_t i = 0; i < first.size(); ++i)
      plan.set(before.getArgument(unsigned(i)), first[i].rep);
    if (failed(plan.planBlock(before)))
      return mlir::failure();
    plan.setLocation(op->getLoc());
    plan.flushAll();
    for (size_t i = 0; i < second.size(); ++i)
      second[i] = carry(plan, passed[i], Carried::BaseVaries, level);
    enter(plan, second, passed);
    BuildInstruction& test = plan.emitJump(execBranchIfNot, exit, "While");
    plan.read(test, test.in.r[0], plan.cell(plan.uniformOf(condition->getOperand(0))));
    for (size_t i = 0; i < second.size(); ++i)
      plan.set(after.getArgument(unsigned(i)), second[i].rep);
    if (failed(plan.planBlock(after)))
      return mlir::failure();
    plan.setLocation(op->getLoc());
    plan.flushAll();
    plan.leaveWaitLoop(wait);
    if (!matches(plan, first, next, forms)) {
      plan.rollback(undo);
      continue;
    }
    advance(plan, first, next, start);
    plan.emitBackEdge(top, wait);
    plan.placeLabel(exit);
    plan.append(plan.popScope());
    break;
  }
  leave(plan, second, op->getResults());
  return success();
}

LogicalResult planIf(PlanBuilder& plan, Operation* op) {
  plan.flushAll();
  Uniform condition = plan.uniformOf(op->getOperand(0));
  bool hasElse = !op->getRegion(1).empty();
  size_t count = op->getNumResults();
  std::vector<uint8_t>& forms = formsOf(plan, op, count);
  auto undo = plan.snapshot();
  const int outside = plan.level();
  for (;;) {
    int other = plan.newLabel(), end = plan.newLabel();
    std::vector<Carried> results;
    std::vector<int> roots(count, -1);
    bool fits = true;
    auto arm = [&](mlir::Region& region, bool isThen) -> LogicalResult {
      plan.pushScope();
      if (isThen) {
        BuildInstruction& test = plan.emitJump(execBranchIfNot, hasElse ? other : end, "If");
        plan.read(test, test.in.r[0], plan.cell(condition));
      } else {
        plan.placeLabel(other);
      }
      uint64_t start = plan.sequence();
      mlir::Block& block = region.front();
      if (failed(plan.planBlock(block)))
        return mlir::failure();
      plan.setLocation(op->getLoc());
      plan.flushAll();
      mlir::ValueRange values = block.getTerminator()->getOperands();
      for (size_t i = 0; i < count; ++i) {
        int root = plan.rep(values[i]).root;
        if (isThen) {
          roots[i] = root;
          results.push_back(carry(plan, values[i], forms[i] | Carried::Rootless, outside));
        } else {
          roots[i] = roots[i] == root ? root : -1;
          fits &= matches(plan, results[i], values[i], forms[i]);
        }
      }
      for (size_t i = 0; i < count && fits; ++i) {
        Rep r = plan.rep(values[i]);
        Carried& c = results[i];
        if (c.symbolic) {
          auto parts = partsOf(r);
          for (size_t p = 0; p < parts.size(); ++p)
            if (c.cells[p] != kNoReg)
              plan.move(c.cells[p], *parts[p]);
          continue;
        }
        bool shared = false;
        for (size_t j = 0; j < count; ++j)
          shared |= j != i && values[j] == values[i];
        bool own = r.kind == Rep::Tile && !r.tile.view && PlanBuilder::isDense(r.tile, r.type, r.shape) && !shared &&
                   plan.info(plan.root(r.tile.base)).firstWrite > start;
        if (!own || !plan.coalesceArm(r.tile.base, c.reg, start))
          plan.writeTo(values[i], c.reg);
      }
      if (isThen && hasElse)
        plan.emitJump(execJump, end, "Jump");
      return success();
    };
    if (failed(arm(op->getRegion(0), true)))
      return mlir::failure();
    auto thenCode = plan.popScope();
    std::vector<std::unique_ptr<BuildInstruction>> elseCode;
    if (hasElse) {
      if (failed(arm(op->getRegion(1), false)))
        return mlir::failure();
      elseCode = plan.popScope();
    }
    if (!fits) {
      plan.rollback(undo);
      continue;
    }
    plan.append(std::move(thenCode));
    plan.append(std::move(elseCode));
    plan.placeLabel(end);
    for (size_t i = 0; i < count; ++i) {
      results[i].rep.root = roots[i];
      plan.set(op->getResult(unsigned(i)), results[i].rep);
    }
    return success();
  }
}

// A callee that returns early, inside a loop or branch: its blocks follow each other, each way out writes the results.
LogicalResult planExecuteRegion(PlanBuilder& plan, Operation* op) {
  plan.flushAll();
  std::vector<Carried> results;
  for (mlir::Type type : op->getResultTypes()) {
    results.push_back(carryType(plan, type));
    if (!results.back().symbolic)
      plan.info(results.back().reg).claimed = true;
  }
  int end = plan.newLabel();
  plan.pushScope();
  auto leaveRegion = [&](Operation* yield) {
    plan.flushAll();
    advance(plan, results, yield->getOperands(), UINT64_MAX);
    plan.emitJump(execJump, end, "Jump");
    return success();
  };
  if (failed(plan.planBlocks(op->getRegion(0), leaveRegion)))
    return mlir::failure();
  plan.append(plan.popScope());
  plan.placeLabel(end);
  for (size_t i = 0; i < results.size(); ++i)
    plan.set(op->getResult(unsigned(i)), results[i].rep);
  return success();
}

bool PlanBuilder::coalesceArm(Reg from, Reg into, uint64_t armStart) {
  // The result's register may have been claimed by a tile of the other arm: their lives cannot meet.
  from = root(from);
  into = root(into);
  RegInfo& f = regs_[from];
  RegInfo& t = regs_[into];
  if (from == into || f.persistent || f.bytes != t.bytes || f.firstWrite <= armStart || f.claimed)
    return false;
  f.alias = into;
  t.lastRead = std::max(t.lastRead, f.lastRead);
  t.firstWrite = t.firstWrite ? std::min(t.firstWrite, f.firstWrite) : f.firstWrite;
  return true;
}

// ---- the function and its blocks ----

LogicalResult PlanBuilder::planBlock(mlir::Block& block) {
  for (Operation& op : block.without_terminator())
    if (failed(planOp(&op)))
      return mlir::failure();
  return success();
}

LogicalResult PlanBuilder::planReturn(Operation* op) {
  setLocation(op->getLoc());
  flushAll();
  for (mlir::OpOperand& operand : op->getOpOperands()) {
    Value v = operand.get();
    Shape shape = shapeOf(v.getType());
    Reg reg = shape.empty() ? cell(uniformOf(v)) : denseOf(v);
    BuildInstruction& in = emit(execResult, "Result");
    ResultOp& data = newData<ResultOp>(in);
    data.index = int32_t(operand.getOperandNumber());
    data.bytes = elementsOf(shape) * int64_t(sizeOf(dtypeOf(v.getType())));
    read(in, data.at, reg);
  }
  emit(execReturn, "Return");
  return success();
}

LogicalResult PlanBuilder::planFunction() {
  networks_ = Networks(func_, tiles_, [this](Operation* op) { return mayWrite(op); });
  mlir::Region& region = func_->getRegion(0);
  plan_->name = llvm::cast<mlir::StringAttr>(func_->getAttr("sym_name")).getValue().str();
  mlir::Block& entry = region.front();
  for (mlir::BlockArgument arg : entry.getArguments()) {
    PlanArgument a;
    a.type = dtypeOf(arg.getType());
    Shape shape = shapeOf(arg.getType());
    a.isTile = !shape.empty();
    a.elements = elementsOf(shape);
    if (auto name = llvm::dyn_cast<mlir::NameLoc>(arg.getLoc()))
      a.name = name.getName().str();
    else
      a.name = "arg" + std::to_string(arg.getArgNumber());
    Reg reg = newReg(8, 0);
    regs_[reg].persistent = true;
    BuildInstruction& in = emitAt(0, execLoadArgument, "Argument");
    in.in.imm = int64_t(arg.getArgNumber());
    write(in, in.in.r[0], reg);
    in.in.r[1] = a.isTile || a.type == DType::Ptr || isFloat(a.type) ? 64 : uint32_t(widthOf(a.type));
    if (a.isTile) {
      Reg tile = newTile(a.type, shape);
      BuildInstruction& copy = emit(execLoadTileArgument, "TileArgument");
      copy.in.imm = a.elements * int64_t(sizeOf(a.type));
      read(copy, copy.in.r[1], reg);
      write(copy, copy.in.r[0], tile);
      set(arg, tileRep(a.type, shape, tile));
    } else {
      set(arg, scalarRep(a.type, Uniform::in(reg), a.type == DType::Ptr ? int(arg.getArgNumber()) : -1));
    }
    plan_->argumentTypes.push_back(a.type);
    plan_->arguments.push_back(a);
  }
  for (mlir::BlockArgument arg : entry.getArguments())
    if (llvm::isa<tt::TensorDescType>(arg.getType()) && failed(planDescriptorArgument(arg)))
      return mlir::failure();
  auto functionType = llvm::cast<mlir::FunctionType>(llvm::cast<mlir::TypeAttr>(func_->getAttr("function_type")).getValue());
  for (mlir::Type t : functionType.getResults()) {
    PlanResult r;
    r.type = dtypeOf(t);
    r.isTile = !shapeOf(t).empty();
    r.elements = elementsOf(shapeOf(t));
    plan_->results.push_back(r);
  }

  return planBlocks(region, [&](Operation* end) {
    return llvm::isa<tt::ReturnOp>(end) ? planReturn(end) : unsupported(end);
  });
}

LogicalResult PlanBuilder::planBlocks(mlir::Region& region, llvm::function_ref<LogicalResult(Operation*)> leaveRegion) {
  mlir::Block& entry = region.front();
  Operation* owner = region.getParentOp();
  // Blocks in reverse post-order; arguments have registers from the start.
  llvm::SmallVector<mlir::Block*> order, stack;
  {
    llvm::DenseMap<mlir::Block*, int> state;
    std::vector<std::pair<mlir::Block*, unsigned>> work{{&entry, 0}};
    state[&entry] = 1;
    while (!work.empty()) {
      auto& [block, i] = work.back();
      if (i < block->getNumSuccessors()) {
        mlir::Block* s = block->getSuccessor(i++);
        if (!state.count(s)) {
          state[s] = 1;
          work.push_back({s, 0});
        }
      } else {
        order.push_back(block);
        work.pop_back();
      }
    }
    std::reverse(order.begin(), order.end());
  }
  // A branch back makes the region's code a loop.
  llvm::DenseMap<mlir::Block*, size_t> position;
  llvm::SetVector<mlir::Block*> loopHeads;
  for (size_t i = 0; i < order.size(); ++i)
    position[order[i]] = i;
  for (mlir::Block* block : order)
    for (mlir::Block* s : block->getSuccessors())
      if (position[s] <= position[block])
        loopHeads.insert(s);
  scopes_.back().repeatsWrites = !loopHeads.empty() && mayWrite(owner);
  llvm::DenseMap<mlir::Block*, int> labels;
  llvm::DenseMap<mlir::Block*, std::vector<Carried>> carried;
  for (mlir::Block* block : order) {
    labels[block] = newLabel();
    if (block == &entry)
      continue;
    for (mlir::BlockArgument arg : block->getArguments()) {
      Carried c = carryType(*this, arg.getType());
      set(arg, c.rep);
      carried[block].push_back(c);
    }
  }
  llvm::DenseMap<mlir::Block*, WaitLoop> waits;
  for (mlir::Block* head : loopHeads)
    waits[head] = enterWait(*this, owner, blocksWaitOn(owner), carried[head]);
  auto jump = [&](mlir::Block* from, mlir::Block* to) {
    if (position[to] <= position[from])
      emitBackEdge(labels[to], waits[to]);
    else
      emitJump(execJump, labels[to], "Jump");
  };
  for (mlir::Block* block : order) {
    scopes_.back().memo.clear();
    placeLabel(labels[block]);
    if (failed(planBlock(*block)))
      return mlir::failure();
    Operation* end = block->getTerminator();
    setLocation(end->getLoc());
    llvm::StringRef name = end->getName().getStringRef();
    if (!end->getNumSuccessors()) {
      if (failed(leaveRegion(end)))
        return mlir::failure();
      continue;
    }
    flushAll();
    if (name == "cf.br") {
      advance(*this, carried[end->getSuccessor(0)], end->getOperands(), UINT64_MAX);
      jump(block, end->getSuccessor(0));
    } else if (name == "cf.cond_br") {
      unsigned n = end->getSuccessor(0)->getNumArguments();
      int other = newLabel();
      BuildInstruction& test = emitJump(execBranchIfNot, other, "Branch");
      read(test, test.in.r[0], cell(uniformOf(end->getOperand(0))));
      advance(*this, carried[end->getSuccessor(0)], end->getOperands().slice(1, n), UINT64_MAX);
      jump(block, end->getSuccessor(0));
      placeLabel(other);
      advance(*this, carried[end->getSuccessor(1)], end->getOperands().drop_front(1 + n), UINT64_MAX);
      jump(block, end->getSuccessor(1));
    } else {
      return unsupported(end);
    }
  }
  for (mlir::Block* head : llvm::reverse(loopHeads))
    leaveWaitLoop(waits[head]);
  return success();
}

LogicalResult PlanBuilder::unsupported(Operation* op, llvm::StringRef why) {
  auto diagnostic = op->emitError() << "interpreter: " << op->getName().getStringRef() << (why.empty() ? "" : " ") << why
                                    << " is not supported yet";
  return mlir::failure();
}

LogicalResult PlanBuilder::planOp(Operation* op) {
  setLocation(op->getLoc());
  if (!networks_.empty() && planNetwork(op))
    return success();
  const PlanRow* row = findPlanRow(op->getName().getStringRef());
  if (!row)
    return unsupported(op);
  LogicalResult planned = row->plan(*this, op);
  if (succeeded(planned) && llvm::is_contained(waitAccesses_, op))
    noteWaitAccess(op);
  return planned;
}

} // namespace tiletwin::interp
