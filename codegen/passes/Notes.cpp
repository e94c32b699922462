// codegen/passes/Notes.cpp -- see Notes.h.
#include "codegen/passes/Notes.h"
#include "ir/SourcePosition.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include <map>
#include <set>

using namespace mlir;

namespace tiletwin::codegen {
namespace {

/// Whether an operation stands in the body of a reduction, a scan or a map, which is emitted once for each element.
bool isInBody(Operation* op) {
  for (Operation* parent = op->getParentOp(); parent && !isa<tt::FuncOp>(parent); parent = parent->getParentOp())
    if (parent->getName().getDialectNamespace() == "tt") return true;
  return false;
}

bool isInductionVariable(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
  return loop && argument == loop.getInductionVar();
}

/// Whether LLVM takes the code away if nobody needs the value: other code has effects once it is emitted.
bool isOnlyArithmetic(Operation* op) {
  if (isa<tt::SplatOp, tt::MakeRangeOp, tt::ExpandDimsOp, tt::BroadcastOp, tt::AddPtrOp, tt::GetProgramIdOp>(op))
    return true;
  return isa_and_nonnull<arith::ArithDialect>(op->getDialect());
}

/// What only notes look at would have no code without them.
void dropUnneeded(ModuleOp module) {
  SmallVector<Operation*> all;
  module.walk([&](Operation* op) { all.push_back(op); });
  for (Operation* op : llvm::reverse(all)) { // users stand behind; what holds regions in front of these
    if (op->getNumResults() == 0 || !wouldOpBeTriviallyDead(op) || isOnlyArithmetic(op)) continue;
    if (!llvm::all_of(op->getResults(), tt::isUnused)) continue;
    for (Value result : op->getResults()) moveNotes(result, {});
    op->erase();
  }
}

/// Which assignments a statement may find, by its place: the last one of each variable in front of it, in the order of the
/// program. A loop's statement also runs between the rounds.
class Reaching {
public:
  /// By the calls that a variable's function was inlined in, and its name: the number of the assignment.
  using Holds = std::map<std::pair<std::string, std::string>, uint32_t>;

  void walk(tt::FuncOp function) {
    reach(placeOf(function.getLoc()), {}, {});
    walk(function.getBody(), {});
  }

  void walk(Region& region, Holds now) {
    llvm::DenseMap<Block*, Holds> atEnd;
    for (Block& block : region) {
      for (Block* before : block.getPredecessors())
        if (auto found = atEnd.find(before); found != atEnd.end()) now = found->second;
      walk(block, now);
      atEnd[&block] = now;
    }
    if (!region.empty()) last_ = atEnd[&region.back()];
  }
  /// "kernel.py:12 1,2,9" in lines; "-": none.
  std::string text() const {
    std::string all;
    llvm::raw_string_ostream out(all);
    for (const auto& [place, numbers] : found_) {
      out << place << ' ' << (numbers.empty() ? "-" : "");
      llvm::interleave(numbers, out, ",");
      out << '\n';
    }
    return all;
  }

private:
  void walk(Block& block, Holds& now) {
    std::string place, callers;
    for (Operation& op : block) {
      if (isa<tt::DebugLineOp>(op)) {
        place = placeOf(op.getLoc());
        callers = callersOf(op.getLoc());
        reach(place, callers, now);
      }
      if (auto note = dyn_cast<twg::NoteOp>(op)) now[{callersOf(op.getLoc()), note.getName().str()}] = note.getNumber();
      for (Region& region : op.getRegions()) {
        walk(region, now);
        if (isa<LoopLikeOpInterface>(op)) reach(place, callers, last_);
      }
    }
  }
  static std::string placeOf(Location location) {
    FileLineColLoc at = tt::positionOf(location);
    return at ? at.getFilename().str() + ":" + std::to_string(at.getLine()) : "";
  }
  /// The variables of the function that the statement belongs to.
  void reach(const std::string& place, const std::string& callers, const Holds& now) {
    if (place.empty()) return;
    std::set<uint32_t>& numbers = found_[place];
    for (const auto& [variable, number] : now)
      if (variable.first == callers) numbers.insert(number);
  }

  std::map<std::string, std::set<uint32_t>> found_;
  Holds last_; ///< at the end of the region that was walked last
};

} // namespace

void takeNotes(ModuleOp module) {
  SmallVector<Operation*> taken;
  uint32_t number = 0;
  module.walk([&](Operation* op) {
    if (!isa<tt::DebugLineOp, tt::DebugBindOp, tt::DebugConstantOp>(op)) return;
    taken.push_back(op);
    auto bind = dyn_cast<tt::DebugBindOp>(op);
    if (bind) bind.getResult().replaceAllUsesWith(bind.getValue());
    if (isInBody(op)) return;
    OpBuilder builder(op);
    if (bind) {
      auto note = twg::NoteOp::create(builder, op->getLoc(), number++, bind.getName(), bind.getLanguageType(),
                                      bind.getValue(), {});
      if (isInductionVariable(bind.getValue())) note->setAttr(kRound, builder.getUnitAttr());
    }
    if (auto constant = dyn_cast<tt::DebugConstantOp>(op))
      twg::NoteOp::create(builder, op->getLoc(), number++, constant.getName(), constant.getLanguageType(), Value(),
                          constant.getValue());
  });
  if (taken.empty()) return;
  Reaching reaching;
  for (tt::FuncOp function : module.getOps<tt::FuncOp>()) reaching.walk(function);
  module->setAttr(kReaching, StringAttr::get(module.getContext(), reaching.text()));
  for (Operation* op : taken) op->erase();
  dropUnneeded(module);
}

void moveNotes(Value from, Value to) {
  Operation* made = to ? to.getDefiningOp() : nullptr;
  for (OpOperand& use : llvm::make_early_inc_range(from.getUses())) {
    auto note = dyn_cast<twg::NoteOp>(use.getOwner());
    if (!note) continue;
    if (!made || made->getBlock() != note->getBlock()) {
      note.getValueMutable().clear();
      continue;
    }
    note.getValueMutable().assign(to);
    if (note->isBeforeInBlock(made)) note->moveAfter(made);
  }
}

void moveNotesToCopies(tt::FuncOp kernel, const llvm::DenseMap<Value, Value>& copies, ArrayRef<Operation*> replaced) {
  SmallVector<Value> gone;
  kernel.walk([&](twg::NoteOp note) {
    Value value = note.getValue();
    if (value && isa<RankedTensorType>(value.getType()) && !twg::hasLayout(value.getType())) gone.push_back(value);
  });
  for (Operation* op : replaced)
    for (Value result : op->getResults())
      if (tt::isUnused(result)) gone.push_back(result);
  for (Value value : gone) moveNotes(value, copies.lookup(value));
}

void moveNotesBehindWaits(tt::FuncOp kernel) {
  auto settle = [](Value sum) {
    Value finished;
    for (OpOperand& use : sum.getUses())
      if (auto wait = dyn_cast<twg::WarpgroupWaitOp>(use.getOwner()); wait && wait.getPending() == 0 && !finished)
        finished = wait.getResult(use.getOperandNumber());
    moveNotes(sum, finished);
  };
  kernel.walk([&](twg::WarpgroupWaitOp wait) {
    if (wait.getPending()) // they may be in flight
      for (Value sum : wait.getResults()) moveNotes(sum, {});
  });
  SmallVector<twg::WarpgroupDotOp> dots;
  kernel.walk([&](twg::WarpgroupDotOp dot) {
    if (dot.getInFlight()) dots.push_back(dot);
  });
  for (twg::WarpgroupDotOp dot : dots) {
    settle(dot.getD());
    settle(dot.getC());
    for (OpOperand& use : dot.getD().getUses())
      if (auto loop = dyn_cast<scf::ForOp>(use.getOwner()->getParentOp()); loop && isa<scf::YieldOp>(use.getOwner())) {
        settle(loop.getRegionIterArg(use.getOperandNumber()));
        settle(loop.getResult(use.getOperandNumber()));
      }
  }
}

Value readFrom(twg::LocalAllocOp memory) {
  for (Operation* user : memory->getUsers())
    if (auto load = dyn_cast<twg::LocalLoadOp>(user)) return load.getResult();
  return {};
}

std::string callersOf(Location location) {
  while (auto name = dyn_cast<NameLoc>(location)) location = name.getChildLoc();
  auto call = dyn_cast<CallSiteLoc>(location);
  if (!call) return {};
  // Of calls in calls the callee may be a call site, too: its caller is further in.
  FileLineColLoc at = tt::positionOf(call.getCaller());
  const std::string own = at ? std::to_string(at.getLine()) + ":" + std::to_string(at.getColumn()) : "0:0";
  std::string text;
  for (const std::string& part : {callersOf(call.getCallee()), own, callersOf(call.getCaller())})
    if (!part.empty()) text += (text.empty() ? "" : " ") + part;
  return text;
}

} // namespace tiletwin::codegen
