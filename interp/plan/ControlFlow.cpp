// interp/plan/ControlFlow.cpp -- scf.for, scf.if, scf.while, and blocks that branch to each other.
// Here:      what loops carry and in which representation, jumps, copies at back edges.
// Not here:  single operations.
// Idea:      a loop is planned under the assumption that symbolic values stay symbolic (a pointer advanced by a uniform amount
//            is one cell). If its yields break that, everything emitted is undone and the value is carried as a tile.
// Invariant: a carried value's register is written only before the loop and at its back edge.
#include "interp/plan/Builder.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Region.h"
#include <algorithm>

namespace tiletwin::interp {

using mlir::LogicalResult;
using mlir::Operation;
using mlir::success;
using mlir::Value;
using Values = llvm::SmallVector<Value, 8>;

namespace {
/// One value carried by a loop or handed to a block.
struct Carried {
  enum Kind : uint8_t { Cell, Affine, Tile } kind = Cell;
  Reg reg = kNoReg;      ///< the cell, the affine value's base, or the dense tile
  Rep rep;               ///< what the region's argument is
  bool degraded = false; ///< must be a tile
  bool rootless = false; ///< pointers of different arguments meet here
};

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

/// Chooses registers for values that start as `init`. `level` is the level of the region that sees them.
Carried carry(PlanBuilder& plan, Value init, const Carried& wish, int level, bool mayBeAffine) {
  Carried c = wish;
  const Rep& r = plan.rep(init);
  Shape shape = PlanBuilder::shapeOf(init.getType());
  DType type = plan.dtypeOf(init.getType());
  c.rep = Rep();
  if (shape.empty()) {
    c.kind = Carried::Cell;
    c.reg = plan.newReg(8, level);
    c.rep = plan.scalarRep(type, Uniform::in(c.reg), c.rootless ? -1 : r.root);
  } else if (mayBeAffine && !c.degraded && r.kind == Rep::Affine && (isInteger(type) || type == DType::Ptr) && type != DType::I1 &&
             plan.options().symbolic) {
    c.kind = Carried::Affine;
    c.reg = plan.newReg(8, level);
    c.rep = r;
    c.rep.base = Uniform::in(c.reg);
    c.rep.root = c.rootless ? -1 : r.root;
  } else {
    c.kind = Carried::Tile;
    c.reg = plan.newTile(type, shape);
    plan.info(c.reg).claimed = true;
    c.rep = plan.tileRep(type, shape, c.reg);
    c.rep.root = c.rootless ? -1 : r.root;
  }
  return c;
}

/// Writes initial values. No source may be one of the destinations.
void enter(PlanBuilder& plan, llvm::ArrayRef<Carried> carried, mlir::ValueRange inits) {
  for (size_t i = 0; i < carried.size(); ++i) {
    if (carried[i].kind == Carried::Tile)
      plan.writeTo(inits[i], carried[i].reg);
    else
      plan.move(carried[i].reg, plan.rep(inits[i]).base);
  }
}

/// Checks that what comes back still has the assumed representation; marks what has not. False: plan again.
bool matches(PlanBuilder& plan, llvm::MutableArrayRef<Carried> carried, mlir::ValueRange next) {
  bool ok = true;
  for (size_t i = 0; i < carried.size(); ++i) {
    Carried& c = carried[i];
    const Rep& r = plan.rep(next[i]);
    if (c.kind == Carried::Affine) {
      bool same = r.kind == Rep::Affine;
      for (size_t d = 0; same && d < r.strides.size(); ++d)
        same = r.strides[d] == c.rep.strides[d];
      if (!same) {
        c.degraded = true;
        ok = false;
      }
    }
    if (c.rep.root >= 0 && r.root != c.rep.root) {
      c.rootless = true;
      ok = false;
    }
  }
  return ok;
}

/// The back edge's copies: carried[i] takes next[i], all at once.
void advance(PlanBuilder& plan, llvm::ArrayRef<Carried> carried, mlir::ValueRange next, uint64_t bodyStart) {
  plan.flushAll();
  size_t n = carried.size();
  // Whole tiles of their own: settle where they are first, so that copies are known.
  for (size_t i = 0; i < n; ++i)
    if (carried[i].kind == Carried::Tile && plan.rep(next[i]).pending())
      plan.flush(plan.rep(next[i]).group);
  auto usedByOther = [&](size_t i) {
    for (size_t j = 0; j < n; ++j)
      if (j != i && mentions(plan.rep(next[j]), carried[i].reg, plan))
        return true;
    return false;
  };
  std::vector<bool> done(n, false);
  for (size_t i = 0; i < n; ++i) {
    const Rep& r = plan.rep(next[i]);
    const Carried& c = carried[i];
    if (c.kind != Carried::Tile) {
      done[i] = !r.base.constant && r.base.reg == c.reg;
      continue;
    }
    if (r.kind != Rep::Tile || r.tile.view || !PlanBuilder::isDense(r.tile, r.type, r.shape))
      continue;
    if (plan.root(r.tile.base) == plan.root(c.reg)) {
      done[i] = true;
      continue;
    }
    bool isCarried = false;
    for (const Carried& other : carried)
      isCarried |= plan.root(r.tile.base) == plan.root(other.reg);
    bool inBlock = plan.info(plan.root(r.tile.base)).firstWrite > bodyStart;
    if (!isCarried && inBlock && !usedByOther(i) && plan.coalesce(r.tile.base, c.reg, bodyStart))
      done[i] = true;
  }
  // Sources that another copy would overwrite first go through a temporary.
  std::vector<Rep> staged(n);
  std::vector<Reg> stage(n, kNoReg);
  for (size_t i = 0; i < n; ++i) {
    if (done[i])
      continue;
    bool hazard = false;
    for (size_t j = 0; j < n; ++j)
      hazard |= j != i && !done[j] && mentions(plan.rep(next[i]), carried[j].reg, plan);
    // The source may be a strided view of its own destination.
    hazard |= carried[i].kind == Carried::Tile && mentions(plan.rep(next[i]), carried[i].reg, plan);
    if (!hazard)
      continue;
    if (carried[i].kind == Carried::Tile) {
      stage[i] = plan.copyOf(next[i]);
    } else {
      stage[i] = plan.newReg(8);
      plan.move(stage[i], plan.rep(next[i]).base);
    }
  }
  for (size_t i = 0; i < n; ++i) {
    if (done[i])
      continue;
    if (carried[i].kind == Carried::Tile) {
      if (stage[i] == kNoReg) {
        plan.writeTo(next[i], carried[i].reg);
      } else {
        const Rep& r = plan.rep(next[i]);
        plan.copyDense(r.type, r.shape, stage[i], carried[i].reg);
      }
    } else {
      plan.move(carried[i].reg, stage[i] == kNoReg ? plan.rep(next[i]).base : Uniform::in(stage[i]));
    }
  }
}

/// What the operation's results are after the loop.
void leave(PlanBuilder& plan, llvm::ArrayRef<Carried> carried, mlir::ValueRange results) {
  for (size_t i = 0; i < carried.size(); ++i) {
    Rep r = carried[i].rep;
    if (carried[i].kind != Carried::Tile) {
      Reg cell = plan.newReg(8);
      plan.move(cell, Uniform::in(carried[i].reg));
      r.base = Uniform::in(cell);
    }
    plan.set(results[i], r);
  }
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
  int64_t isUnsigned = op->hasAttr("unsignedCmp") ? 1 : 0;

  auto before = plan.snapshot();
  for (;;) {
    int level = plan.level() + 1;
    for (size_t i = 0; i < carried.size(); ++i)
      carried[i] = carry(plan, inits[i], carried[i], level, true);
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
    if (!matches(plan, carried, next)) {
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
  int level = plan.level() + 1;
  std::vector<Carried> first(op->getNumOperands());
  for (size_t i = 0; i < first.size(); ++i) {
    first[i].rootless = true;
    first[i] = carry(plan, op->getOperand(unsigned(i)), first[i], level, false);
  }
  enter(plan, first, op->getOperands());
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
  Operation* condition = before.getTerminator();
  mlir::ValueRange passed = condition->getOperands().drop_front();
  std::vector<Carried> second(passed.size());
  for (size_t i = 0; i < second.size(); ++i) {
    second[i].rootless = true;
    second[i] = carry(plan, passed[i], second[i], level, false);
  }
  enter(plan, second, passed);
  BuildInstruction& test = plan.emitJump(execBranchIfNot, exit, "While");
  plan.read(test, test.in.r[0], plan.cell(plan.uniformOf(condition->getOperand(0))));
  for (size_t i = 0; i < second.size(); ++i)
    plan.set(after.getArgument(unsigned(i)), second[i].rep);
  if (failed(plan.planBlock(after)))
    return mlir::failure();
  plan.setLocation(op->getLoc());
  advance(plan, first, after.getTerminator()->getOperands(), start);
  plan.emitJump(execBackEdge, top, "Next");
  plan.placeLabel(exit);
  plan.append(plan.popScope());
  leave(plan, second, op->getResults());
  return success();
}

LogicalResult planIf(PlanBuilder& plan, Operation* op) {
  plan.flushAll();
  Uniform condition = plan.uniformOf(op->getOperand(0));
  int other = plan.newLabel(), end = plan.newLabel();
  bool hasElse = !op->getRegion(1).empty();
  std::vector<Reg> regs;
  for (Value result : op->getResults()) {
    Shape shape = PlanBuilder::shapeOf(result.getType());
    regs.push_back(shape.empty() ? plan.newReg(8) : plan.newTile(plan.dtypeOf(result.getType()), shape));
    plan.info(regs.back()).claimed = true;
  }
  std::vector<int> roots(regs.size(), -2);
  auto arm = [&](mlir::Region& region, int label, bool isThen) -> LogicalResult {
    plan.pushScope();
    if (isThen) {
      BuildInstruction& test = plan.emitJump(execBranchIfNot, hasElse ? other : end, "If");
      plan.read(test, test.in.r[0], plan.cell(condition));
    } else {
      plan.placeLabel(label);
    }
    uint64_t start = plan.sequence();
    mlir::Block& block = region.front();
    if (failed(plan.planBlock(block)))
      return mlir::failure();
    plan.setLocation(op->getLoc());
    plan.flushAll();
    mlir::ValueRange values = block.getTerminator()->getOperands();
    for (size_t i = 0; i < regs.size(); ++i) {
      Rep& r = plan.rep(values[i]);
      roots[i] = roots[i] == -2 ? r.root : roots[i] == r.root ? r.root : -1;
      if (PlanBuilder::shapeOf(values[i].getType()).empty()) {
        plan.move(regs[i], r.base);
        continue;
      }
      bool shared = false;
      for (size_t j = 0; j < regs.size(); ++j)
        shared |= j != i && values[j] == values[i];
      bool own = r.kind == Rep::Tile && !r.tile.view && PlanBuilder::isDense(r.tile, r.type, r.shape) && !shared &&
                 plan.info(plan.root(r.tile.base)).firstWrite > start;
      if (!own || !plan.coalesceArm(r.tile.base, regs[i], start))
        plan.writeTo(values[i], regs[i]);
    }
    if (isThen && hasElse)
      plan.emitJump(execJump, end, "Jump");
    return success();
  };
  if (failed(arm(op->getRegion(0), other, true)))
    return mlir::failure();
  auto thenCode = plan.popScope();
  std::vector<std::unique_ptr<BuildInstruction>> elseCode;
  if (hasElse) {
    if (failed(arm(op->getRegion(1), other, false)))
      return mlir::failure();
    elseCode = plan.popScope();
  }
  plan.append(std::move(thenCode));
  plan.append(std::move(elseCode));
  plan.placeLabel(end);
  for (size_t i = 0; i < regs.size(); ++i) {
    Value result = op->getResult(unsigned(i));
    DType type = plan.dtypeOf(result.getType());
    Shape shape = PlanBuilder::shapeOf(result.getType());
    Rep r = shape.empty() ? plan.scalarRep(type, Uniform::in(regs[i])) : plan.tileRep(type, shape, regs[i]);
    r.root = roots[i] == -2 ? -1 : roots[i];
    plan.set(result, r);
  }
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
  auto functionType = llvm::cast<mlir::FunctionType>(llvm::cast<mlir::TypeAttr>(func_->getAttr("function_type")).getValue());
  for (mlir::Type t : functionType.getResults()) {
    PlanResult r;
    r.type = dtypeOf(t);
    r.isTile = !shapeOf(t).empty();
    r.elements = elementsOf(shapeOf(t));
    plan_->results.push_back(r);
  }

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
  // A branch back makes the function's code a loop.
  {
    llvm::DenseMap<mlir::Block*, size_t> position;
    for (size_t i = 0; i < order.size(); ++i)
      position[order[i]] = i;
    for (mlir::Block* block : order)
      for (mlir::Block* s : block->getSuccessors())
        if (position[s] <= position[block])
          scopes_[1].repeatsWrites = mayWrite(func_);
  }
  llvm::DenseMap<mlir::Block*, int> labels;
  llvm::DenseMap<mlir::Block*, std::vector<Carried>> carried;
  for (mlir::Block* block : order) {
    labels[block] = newLabel();
    if (block == &entry)
      continue;
    for (mlir::BlockArgument arg : block->getArguments()) {
      Carried c;
      DType type = dtypeOf(arg.getType());
      Shape shape = shapeOf(arg.getType());
      c.kind = shape.empty() ? Carried::Cell : Carried::Tile;
      c.reg = shape.empty() ? newReg(8, 1) : newTile(type, shape);
      c.rep = shape.empty() ? scalarRep(type, Uniform::in(c.reg)) : tileRep(type, shape, c.reg);
      set(arg, c.rep);
      carried[block].push_back(c);
    }
  }
  for (mlir::Block* block : order) {
    scopes_[1].memo.clear();
    placeLabel(labels[block]);
    if (failed(planBlock(*block)))
      return mlir::failure();
    Operation* end = block->getTerminator();
    setLocation(end->getLoc());
    llvm::StringRef name = end->getName().getStringRef();
    if (name == "tt.return") {
      if (failed(planReturn(end)))
        return mlir::failure();
      continue;
    }
    flushAll();
    if (name == "cf.br") {
      advance(*this, carried[end->getSuccessor(0)], end->getOperands(), UINT64_MAX);
      emitJump(execJump, labels[end->getSuccessor(0)], "Jump");
    } else if (name == "cf.cond_br") {
      unsigned n = end->getSuccessor(0)->getNumArguments();
      int other = newLabel();
      BuildInstruction& test = emitJump(execBranchIfNot, other, "Branch");
      read(test, test.in.r[0], cell(uniformOf(end->getOperand(0))));
      advance(*this, carried[end->getSuccessor(0)], end->getOperands().slice(1, n), UINT64_MAX);
      emitJump(execJump, labels[end->getSuccessor(0)], "Jump");
      placeLabel(other);
      advance(*this, carried[end->getSuccessor(1)], end->getOperands().drop_front(1 + n), UINT64_MAX);
      emitJump(execJump, labels[end->getSuccessor(1)], "Jump");
    } else {
      return unsupported(end);
    }
  }
  return success();
}

LogicalResult PlanBuilder::unsupported(Operation* op, llvm::StringRef why) {
  auto diagnostic = op->emitError() << "interpreter: " << op->getName().getStringRef() << (why.empty() ? "" : " ") << why
                                    << " is not supported yet";
  return mlir::failure();
}

LogicalResult PlanBuilder::planOp(Operation* op) {
  setLocation(op->getLoc());
  const PlanRow* row = findPlanRow(op->getName().getStringRef());
  if (!row)
    return unsupported(op);
  return row->plan(*this, op);
}

} // namespace tiletwin::interp
