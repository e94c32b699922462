// interp/plan/Blocks.cpp -- a function's body: single blocks, and blocks that branch to each other.
// Here:      the order in which operations are planned, branches, returns, what is not supported.
// Not here:  structured loops and branches (ControlFlow.cpp), the forms of what is handed on (Carried.cpp), operations.
#include "interp/plan/Carried.h"
#include "ir/TT.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Region.h"
#include "llvm/ADT/SetVector.h"
#include <algorithm>
#include <optional>

namespace tiletwin::interp {

using mlir::LogicalResult;
using mlir::Operation;
using mlir::success;
using mlir::Value;

LogicalResult PlanBuilder::planBlock(mlir::Block& block) {
  const int32_t scope = debug() ? debug()->scope : -1;
  for (Operation& op : block.without_terminator())
    if (failed(planOp(&op))) return mlir::failure();
  // Names that a loop or branch binds first are its own.
  if (debug() && !llvm::isa<tt::FuncOp>(block.getParentOp())) debug()->scope = scope;
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
  networks_ =
      Networks(options().debug ? func_->getParentOp() : func_, tiles(), [this](Operation* op) { return mayWrite(op); });
  mlir::Region& region = func_->getRegion(0);
  plan().name = llvm::cast<tt::FuncOp>(func_).getSymName().str();
  mlir::Block& entry = region.front();
  for (mlir::BlockArgument arg : entry.getArguments()) {
    PlanArgument a;
    a.type = dtypeOf(arg.getType());
    Shape shape = shapeOf(arg.getType());
    const int root = a.type == DType::Ptr ? int(arg.getArgNumber()) : -1;
    a.isTile = !shape.empty();
    a.elements = elementsOf(shape);
    if (auto name = llvm::dyn_cast<mlir::NameLoc>(arg.getLoc()))
      a.name = name.getName().str();
    else
      a.name = "arg" + std::to_string(arg.getArgNumber());
    Reg reg = newReg(8, 0);
    persist(reg);
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
      Rep r = tileRep(a.type, shape, tile);
      r.root = root;
      set(arg, r);
    } else {
      set(arg, scalarRep(a.type, Uniform::in(reg), root));
    }
    plan().argumentTypes.push_back(a.type);
    plan().arguments.push_back(a);
  }
  for (mlir::BlockArgument arg : entry.getArguments())
    if (llvm::isa<tt::TensorDescType>(arg.getType()) && failed(planDescriptorArgument(arg))) return mlir::failure();
  for (mlir::Type t : llvm::cast<tt::FuncOp>(func_).getResultTypes()) {
    PlanResult r{.type = dtypeOf(t), .isTile = !shapeOf(t).empty(), .elements = elementsOf(shapeOf(t))};
    plan().results.push_back(r);
  }

  if (options().debug) beginDebug();
  return planBlocks(region,
                    [&](Operation* end) { return llvm::isa<tt::ReturnOp>(end) ? planReturn(end) : unsupported(end); });
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
  for (size_t i = 0; i < order.size(); ++i) position[order[i]] = i;
  for (mlir::Block* block : order)
    for (mlir::Block* s : block->getSuccessors())
      if (position[s] <= position[block]) loopHeads.insert(s);
  if (!loopHeads.empty()) repeatScope(mayWrite(owner));
  llvm::DenseMap<mlir::Block*, int> labels;
  llvm::DenseMap<mlir::Block*, std::vector<Carried>> carried;
  for (mlir::Block* block : order) {
    labels[block] = newLabel();
    if (block == &entry) continue;
    for (mlir::BlockArgument arg : block->getArguments()) {
      Carried c = carryUnknown(*this, arg.getType(), Value(arg));
      set(arg, c.rep);
      carried[block].push_back(c);
    }
  }
  llvm::DenseMap<mlir::Block*, WaitLoop> waits;
  for (mlir::Block* head : loopHeads) waits[head] = enterWait(*this, owner, blocksWaitOn(owner), carried[head]);
  auto jump = [&](mlir::Block* from, mlir::Block* to) {
    if (position[to] <= position[from])
      emitBackEdge(labels[to], waits[to]);
    else
      emitJump(execJump, labels[to], "Jump");
  };
  llvm::DenseMap<mlir::Block*, int32_t>
      scopeEnds; // for a native debugger: what the blocks before show, as far as all do
  auto scopeAt = [&](mlir::Block* block) {
    std::optional<int32_t> common;
    for (mlir::Block* before : block->getPredecessors())
      if (auto end = scopeEnds.find(before); end != scopeEnds.end())
        common = common ? debug()->commonScope(*common, end->second) : end->second;
    return common.value_or(-1);
  };
  for (mlir::Block* block : order) {
    forgetScalars();
    placeLabel(labels[block]);
    if (debug() && block != &entry) debug()->scope = scopeAt(block);
    if (failed(planBlock(*block))) return mlir::failure();
    if (debug()) scopeEnds[block] = debug()->scope;
    Operation* end = block->getTerminator();
    setLocation(end->getLoc());
    if (!end->getNumSuccessors()) {
      if (failed(leaveRegion(end))) return mlir::failure();
      continue;
    }
    flushAll();
    if (auto branch = llvm::dyn_cast<mlir::cf::BranchOp>(end)) {
      advance(*this, carried[branch.getDest()], branch.getDestOperands(), UINT64_MAX);
      jump(block, branch.getDest());
    } else if (auto branch = llvm::dyn_cast<mlir::cf::CondBranchOp>(end)) {
      int other = newLabel();
      BuildInstruction& test = emitJump(execBranchIfNot, other, "Branch");
      read(test, test.in.r[0], cell(uniformOf(branch.getCondition())));
      advance(*this, carried[branch.getTrueDest()], branch.getTrueDestOperands(), UINT64_MAX);
      jump(block, branch.getTrueDest());
      placeLabel(other);
      advance(*this, carried[branch.getFalseDest()], branch.getFalseDestOperands(), UINT64_MAX);
      jump(block, branch.getFalseDest());
    } else {
      return unsupported(end);
    }
  }
  for (mlir::Block* head : llvm::reverse(loopHeads)) leaveWaitLoop(waits[head]);
  return success();
}

LogicalResult PlanBuilder::unsupported(Operation* op, llvm::StringRef why) {
  auto diagnostic = op->emitError() << "interpreter: " << op->getName().getStringRef() << (why.empty() ? "" : " ")
                                    << why << " is not supported yet";
  return mlir::failure();
}

LogicalResult PlanBuilder::planOp(Operation* op) {
  setLocation(op->getLoc());
  for (mlir::TypeRange types : {mlir::TypeRange(op->getOperandTypes()), mlir::TypeRange(op->getResultTypes())})
    for (mlir::Type type : types)
      if (auto tile = llvm::dyn_cast<mlir::RankedTensorType>(type); tile && tile.getRank() > kMaxRank)
        return unsupported(op, "with a tile of " + std::to_string(tile.getRank()) + " dimensions (" +
                                   std::to_string(kMaxRank) + " are the most that a tile may have)");
  planned_ = op;
  if (debug() && op->getNumRegions()) debug()->statementOf[op] = debug()->statement;
  if (!networks_.empty() && planNetwork(op)) return success();
  const PlanFn* planFn = findPlanFn(op);
  if (!planFn) return unsupported(op);
  LogicalResult planned = (*planFn)(*this, op);
  if (succeeded(planned) && llvm::is_contained(waitAccesses_, op)) noteWaitAccess(op);
  return planned;
}

} // namespace tiletwin::interp
