// interp/plan/DebugPlan.cpp -- functions with notes for a native debugger: statements, variables, calls that stay calls.
// Here:      tt.debug_line, tt.debug_bind, tt.debug_constant, tt.call; whether what reads a note may read the variable.
// Not here:  native code (interp/debug). Control flow and operations are planned as always, but nothing is hoisted out of
//            its statement, remembered, or kept symbolic (PlanOptions::debug).
// Invariant: a variable's slot changes by a Copy only. A value may live in a slot if no other value is copied there while
//            it is needed; else it has a place of its own.
#include "interp/plan/DebugPlan.h"
#include "interp/plan/Builder.h"
#include "interp/plan/Carried.h"
#include "ir/TT.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>

namespace tiletwin::interp {

using mlir::LogicalResult;
using mlir::Operation;
using mlir::success;
using mlir::Value;

// ---- statements ----

namespace {

/// An operation's text without its regions, on one line.
std::string textOf(Operation* op, mlir::AsmState& names) {
  std::string text;
  llvm::raw_string_ostream out(text);
  op->print(out, names);
  size_t end = text.find('\n');
  return end == std::string::npos ? text : text.substr(0, end) + (op->getNumRegions() ? " ..." : "");
}

bool isNote(Operation* op) { return llvm::isa<tt::DebugLineOp, tt::DebugBindOp, tt::DebugConstantOp>(op); }

} // namespace

template <> LogicalResult plan(PlanBuilder& plan, tt::DebugLineOp op) {
  if (!plan.debug()) return success();
  plan.flushAll();
  DebugPlan& debug = *plan.debug();
  DebugInfo& info = *debug.info;
  if (!debug.begun) {
    debug.begun = true;
    BuildInstruction& in = plan.emit(execNothing, "Enter " + info.functions[size_t(debug.function)].name);
    in.debug = {DebugStep::Enter, debug.statement, debug.function, 0, 0, 0};
  }
  const SourceLocation where = plan.placeAt(op->getLoc());
  DebugStatement statement;
  statement.file = debug.fileOf(where.file);
  statement.line = where.line;
  statement.column = where.column;
  statement.function = debug.function;
  statement.scope = debug.scope;
  Operation* function = op->getParentOfType<tt::FuncOp>();
  std::unique_ptr<mlir::AsmState>& names = debug.names[function];
  if (!names) names = std::make_unique<mlir::AsmState>(function, mlir::OpPrintingFlags().skipRegions());
  for (Operation* next = op->getNextNode(); next && !llvm::isa<tt::DebugLineOp>(next); next = next->getNextNode())
    if (!isNote(next) && !next->hasTrait<mlir::OpTrait::IsTerminator>()) statement.ttir.push_back(textOf(next, *names));
  debug.statement = int32_t(info.statements.size());
  info.statements.push_back(std::move(statement));
  plan.emit(execNothing, "Line " + std::to_string(where.line));
  return success();
}

// ---- variables ----

namespace {

void number(DebugPlan& debug, mlir::Operation* op, int32_t& next) {
  const int32_t first = next++;
  for (mlir::Region& region : op->getRegions())
    for (mlir::Block& block : region)
      for (Operation& inner : block) number(debug, &inner, next);
  debug.order[op] = {first, next - 1};
}

/// Whether another value may be copied to the variable while `bind`'s is still to be read. Blocks stand in an order in
/// which branches only lead forward (frontend/WalkerBranches.cpp), so positions tell what runs before what.
bool isOverwritten(DebugPlan& debug, tt::DebugBindOp bind) {
  auto function = bind->getParentOfType<tt::FuncOp>();
  if (!debug.order.count(function)) {
    int32_t next = 0;
    number(debug, function, next);
  }
  bool found = false;
  function.walk([&](tt::DebugBindOp other) {
    if (other == bind || other.getName() != bind.getName() || other.getLanguageType() != bind.getLanguageType() ||
        other.getValue().getType() != bind.getValue().getType())
      return;
    const int32_t at = debug.order[other].first, defined = debug.order[bind].first;
    for (mlir::OpOperand& use : bind.getResult().getUses()) {
      Operation* user = use.getOwner();
      const auto [begin, end] = debug.order[user];
      const bool isBound = llvm::isa<scf::ForOp>(user) && use.getOperandNumber() < 3; // read every round
      found |= at > defined && at < (isBound ? end + 1 : begin);
      for (Operation* loop = user->getParentOp(); loop && loop != function; loop = loop->getParentOp())
        if (!llvm::isa<scf::IfOp>(loop)) found |= !loop->isProperAncestor(bind) && loop->isProperAncestor(other);
    }
  });
  return found;
}

} // namespace

/// The variable's number; it is visible from here on.
static int32_t declare(PlanBuilder& plan, const std::string& name, const std::string& type, const Shape& shape,
                       uint64_t bytes) {
  DebugPlan& debug = *plan.debug();
  DebugInfo& info = *debug.info;
  const std::vector<int64_t> extents(shape.begin(), shape.end());
  auto [it, isNew] = debug.variables.try_emplace({debug.function, name, type, extents}, int32_t(info.variables.size()));
  if (isNew) {
    DebugVariable variable;
    variable.name = name;
    variable.type = type;
    variable.shape = extents;
    variable.bytes = uint32_t(bytes);
    variable.function = debug.function;
    if (!debug.begun) {
      variable.argument = 1;
      for (const DebugVariable& other : info.variables)
        variable.argument += other.function == debug.function && other.argument;
    }
    info.variables.push_back(std::move(variable));
    const Reg slot = plan.newReg(std::max<uint64_t>(8, bytes));
    plan.persist(slot);
    plan.claim(slot);
    debug.slots.push_back(slot);
  }
  if (debug.visible(name) != it->second) {
    info.scopes.push_back({debug.scope, it->second});
    debug.scope = int32_t(info.scopes.size() - 1);
  }
  return it->second;
}

static void copyInto(PlanBuilder& plan, Reg to, Reg from, uint64_t bytes) {
  BuildInstruction& in = plan.emit(execDebugCopy, "Copy");
  plan.read(in, in.in.r[1], from);
  plan.write(in, in.in.r[0], to);
  in.in.imm = int64_t(bytes);
  in.debug.kind = DebugStep::Copy;
}

template <> LogicalResult plan(PlanBuilder& plan, tt::DebugBindOp bind) {
  Value value = bind.getValue();
  plan.flushAll();
  if (!plan.debug()) return plan.bind(bind.getResult(), Rep(plan.rep(value)));
  const Shape shape = PlanBuilder::shapeOf(value.getType());
  const DType type = plan.dtypeOf(value.getType());
  const int root = plan.rep(value).root;
  const Reg from = shape.empty() ? plan.cell(plan.uniformOf(value)) : plan.denseOf(value);
  const uint64_t bytes = shape.empty() ? 8 : uint64_t(elementsOf(shape)) * sizeOf(type);
  const int32_t variable = declare(plan, bind.getName().str(), bind.getLanguageType().str(), shape, bytes);
  const Reg slot = plan.debug()->slots[size_t(variable)];
  copyInto(plan, slot, from, bytes);
  Reg place = slot;
  if (isOverwritten(*plan.debug(), bind)) {
    place = plan.newReg(std::max<uint64_t>(8, bytes));
    plan.claim(place);
    BuildInstruction& in = plan.emit(execDebugCopy, "Keep");
    plan.read(in, in.in.r[1], slot);
    plan.write(in, in.in.r[0], place);
    in.in.imm = int64_t(bytes);
  }
  Rep result = shape.empty() ? plan.scalarRep(type, Uniform::in(place), root) : plan.tileRep(type, shape, place);
  result.root = root;
  return plan.bind(bind.getResult(), result);
}

template <> LogicalResult plan(PlanBuilder& plan, tt::DebugConstantOp constant) {
  if (!plan.debug()) return success();
  plan.flushAll();
  std::vector<std::byte> bytes(8);
  Shape shape;
  if (auto text = llvm::dyn_cast<mlir::StringAttr>(constant.getValue())) {
    bytes.assign((text.size() + 8) / 8 * 8, std::byte{0});
    std::memcpy(bytes.data(), text.data(), text.size());
    shape.push_back(int64_t(text.size() + 1));
  } else if (auto number = llvm::dyn_cast<mlir::FloatAttr>(constant.getValue())) {
    const double value = number.getValueAsDouble();
    std::memcpy(bytes.data(), &value, 8);
  } else {
    const int64_t value = llvm::cast<mlir::IntegerAttr>(constant.getValue()).getInt();
    std::memcpy(bytes.data(), &value, 8);
  }
  const uint64_t size = bytes.size();
  const int32_t variable =
      declare(plan, constant.getName().str(), constant.getLanguageType().str(), shape, shape.empty() ? 8 : size);
  copyInto(plan, plan.debug()->slots[size_t(variable)], plan.constantTile(std::move(bytes)), size);
  return success();
}

void PlanBuilder::beginDebug() {
  DebugPlan& debug = startDebug();
  const SourceLocation where = placeAt(func_->getLoc());
  debug.info->functions.push_back({plan().name, debug.fileOf(where.file), where.line, -1, 0, 0});
  static constexpr const char* kNames[] = {"pid0", "pid1", "pid2", "grid0", "grid1", "grid2"};
  for (int i = 0; i < 6; ++i) {
    const int32_t variable = int32_t(debug.info->variables.size());
    DebugVariable made;
    made.name = kNames[i];
    made.type = "int32";
    made.bytes = 8;
    made.function = -1;
    debug.info->variables.push_back(made);
    debug.info->launchVariables.push_back(uint32_t(variable));
    const Reg slot = newReg(8);
    persist(slot);
    debug.slots.push_back(slot);
    BuildInstruction& in = emit(i < 3 ? execProgramId : execNumPrograms, kNames[i]);
    in.in.imm = i % 3;
    write(in, in.in.r[0], slot);
  }
}

// ---- calls ----

template <> LogicalResult plan(PlanBuilder& plan, tt::CallOp call) {
  auto callee = mlir::SymbolTable::lookupNearestSymbolFrom<tt::FuncOp>(call, call.getCalleeAttr());
  if (!plan.debug() || !callee) return plan.unsupported(call);
  plan.flushAll();
  DebugPlan& debug = *plan.debug();
  const SourceLocation where = plan.placeAt(callee.getLoc());
  DebugFunction function;
  auto name = callee->getAttrOfType<mlir::StringAttr>("tt.python_name");
  function.name = name ? name.getValue().str() : callee.getSymName().str();
  function.file = debug.fileOf(where.file);
  function.line = where.line;
  function.caller = debug.statement;
  const auto outside = std::tuple(debug.statement, debug.function, debug.scope, debug.begun);
  debug.function = int32_t(debug.info->functions.size());
  debug.scope = -1;
  debug.begun = false;
  debug.info->functions.push_back(std::move(function));

  mlir::Region& body = callee.getBody();
  for (auto [argument, operand] : llvm::zip(body.front().getArguments(), call.getOperands()))
    plan.set(argument, Rep(plan.rep(operand)));
  auto returned = [&](mlir::OpResult result) {
    llvm::SmallVector<Value> values;
    for (mlir::Block& block : body)
      if (auto end = llvm::dyn_cast<tt::ReturnOp>(block.getTerminator()))
        values.push_back(end->getOperand(result.getResultNumber()));
    return values;
  };
  if (failed(planInPlace(plan, call, body, returned))) return mlir::failure();
  if (debug.begun) {
    BuildInstruction& in = plan.emit(execNothing, "Leave");
    in.debug = {DebugStep::Leave, debug.statement, debug.function, 0, 0, 0};
  }
  std::tie(debug.statement, debug.function, debug.scope, debug.begun) = outside;
  return success();
}

// ---- finishing ----

void PlanBuilder::finishDebug() {
  if (!debug()->begun) return; // a kernel without statements: nothing to stop at
  DebugInfo& info = *debug()->info;
  for (size_t v = 0; v < info.variables.size(); ++v) info.variables[v].offset = offsetOf(debug()->slots[v]);
  for (size_t i = 0; i < info.steps.size(); ++i) {
    DebugStep& step = info.steps[i];
    const Instruction& in = plan().code[i];
    if (step.kind == DebugStep::Copy) {
      step.to = in.r[0];
      step.from = in.r[1];
      step.bytes = uint32_t(in.imm);
    } else if (in.fn == execReturn) {
      step.kind = DebugStep::Return;
    } else if (step.kind == DebugStep::Jump) {
      step.target = int32_t(int64_t(i) + in.imm);
      if (in.fn == execJump) step.kind = DebugStep::Goto;
    } else if (step.kind == DebugStep::Enter) {
      info.functions[size_t(step.target)].begin = uint32_t(i);
    } else if (step.kind == DebugStep::Leave) {
      info.functions[size_t(step.target)].end = uint32_t(i);
    }
  }
  info.functions[0].end = uint32_t(plan().code.size());
  plan().mayWait = false; // its programs run one after another
  plan().debug = std::move(debug()->info);
}

} // namespace tiletwin::interp
