// frontend/WalkerBranches.cpp -- if and the ternary.
// Compile-time conditions choose a branch while walking. Run-time ones become scf.if, or branches between blocks where
// a branch returns (rules 50, 51).
// Invariant: after a region is filled, locals_ is what it was before, but for the names the new operation defines.
#include "frontend/Walker.h"

namespace tiletwin::frontend {
namespace {

bool sameLeaves(llvm::ArrayRef<Value> a, llvm::ArrayRef<Value> b) {
  return a.size() == b.size() &&
         llvm::all_of(llvm::zip(a, b), [](auto pair) { return std::get<0>(pair).ir == std::get<1>(pair).ir; });
}

std::string valueGone(long line) {
  return "one branch of the `if` of line " + std::to_string(line) + " leaves it without a value; give it one in both";
}

} // namespace

bool Walker::containsReturn(Ast statements) {
  for (Ast statement : itemsOf(statements)) {
    if (statement.isReturn()) return true;
    if (!statement.isFor() && !statement.isWhile() && !statement.isIf()) continue;
    if (containsReturn(statement.body()) || containsReturn(statement.orelse())) return true;
  }
  return false;
}

bool Walker::compileTimeTruth(PyObject* value, Ast node, bool& truth) {
  if (isTensor(value))
    return refuse(node, "this condition must be known at compile time, but it is a run-time value of type " +
                            tensorValue(value).type.str());
  int is = PyObject_IsTrue(unwrap(value));
  truth = is == 1;
  return is >= 0;
}

bool Walker::visitIf(Ast node) {
  Ast test = node.test();
  PyRef condition = evaluate(test);
  if (!condition) return false;
  if (!isTensor(condition.get())) {
    bool isTrue = false;
    return compileTimeTruth(condition.get(), test, isTrue) && executeAll(isTrue ? node.body() : node.orelse());
  }
  mlir::Location here = builder_.location();
  builder_.setLocation(locationOf(test));
  Value i1 = truth(builder_, condition.get());
  builder_.setLocation(here);
  if (!i1) return locateError(place(test)), false;
  if (!containsReturn(node.body()) && !containsReturn(node.orelse())) return ifAsRegion(node, i1);
  if (regionDepth_ > 0) return refuse(node, statementAdvice("Return"));
  return ifAsBlocks(node, i1);
}

bool Walker::Merged::operator<(const Merged& other) const { return stringOf(name) < stringOf(other.name); }

bool Walker::mergeBranches(Ast node, const Locals& before, const Locals& thenLocals, const Locals& elseLocals,
                           std::vector<Merged>& merged) {
  const char* const kBranch[] = {"the branch taken if the condition holds", "the `else` branch"};
  long line = place(node).line;
  // Names that were live before: an arm may give them a new value of the same type.
  for (size_t i = 0; i < before.entries.size(); ++i) {
    PyObject* name = before.entries[i].first;
    PyObject* old = before.entries[i].second.get();
    PyObject* values[2] = {thenLocals.entries[i].second.get(), elseLocals.entries[i].second.get()};
    if (values[0] == old && values[1] == old) continue;
    auto lose = [&](const std::string& why) {
      locals_.set(name, PyRef());
      lost_.emplace_back(name, why);
    };
    if (!values[0] || !values[1]) {
      lose(valueGone(line));
      continue;
    }
    Structure was, structures[2];
    Merged entry{name, {}, {}, {}};
    if ((old && !takeApart(old, was, nullptr)) || !takeApart(values[0], structures[0], &entry.thenLeaves) ||
        !takeApart(values[1], structures[1], &entry.elseLeaves))
      return false;
    if (structures[0] == structures[1] && sameLeaves(entry.thenLeaves, entry.elseLeaves)) {
      // Not different at run time: an equal compile-time value, or x = x. The name keeps that value.
      locals_.set(name, PyRef::borrow(values[0]));
      continue;
    }
    if (!was.hasTensor() && structures[0] == structures[1] && structures[0].hasTensor()) {
      was = structures[0]; // both branches give it a run-time value
    } else if (!was.hasTensor()) {
      // Fine as long as nobody asks afterwards: `x = None`, and a branch that needs x gives it a value.
      lose(!old ? valueGone(line)
                : "it is " + was.describe() + " before the `if` of line " + std::to_string(line) +
                      ", and a branch of that gives it another value" + assignedAt(name) +
                      ", so that it cannot be known while compiling. Start from a run-time value (x = 0 makes an "
                      "int32), or use another name");
      continue;
    }
    for (int arm = 0; arm < 2; ++arm)
      if (!(structures[arm] == was))
        return raiseType("Mismatched type for " + stringOf(name) + ": it is " + was.describe() +
                         " before the `if`, but " + kBranch[arm] + " makes it " + structures[arm].describe() +
                         (arm ? "" : assignedAt(name)) +
                         ": a variable must keep its type where branches depend on run-time values. Convert with "
                         ".to(...), or use another name");
    entry.structure = std::move(was);
    merged.push_back(std::move(entry));
  }
  // Names new in both arms; new in one only, they are undefined afterwards.
  std::vector<Merged> fresh;
  auto afterwards = [&](PyObject* name, const char* why) {
    lost_.emplace_back(name, why + (" (line " + std::to_string(line) + ")"));
  };
  for (size_t i = before.entries.size(); i < thenLocals.entries.size(); ++i) {
    PyObject* name = thenLocals.entries[i].first;
    PyObject* other = elseLocals.find(name);
    if (!other || !thenLocals.entries[i].second) {
      afterwards(name,
                 "it gets a value in one branch of an `if` only; give it one before the `if` or in both branches");
      continue;
    }
    Structure structures[2];
    Merged entry{name, {}, {}, {}};
    if (!takeApart(thenLocals.entries[i].second.get(), structures[0], &entry.thenLeaves) ||
        !takeApart(other, structures[1], &entry.elseLeaves))
      return false;
    if (structures[0] == structures[1] && sameLeaves(entry.thenLeaves, entry.elseLeaves)) {
      locals_.set(name, thenLocals.entries[i].second);
      continue;
    }
    if (!(structures[0] == structures[1])) {
      if (!structures[0].hasTensor() && !structures[1].hasTensor()) {
        afterwards(name, "the two branches of an `if` on a run-time value give it different compile-time values");
        continue;
      }
      return raiseType("Mismatched type for " + stringOf(name) + ": it is " + structures[0].describe() +
                       " after one branch of this `if` and " + structures[1].describe() +
                       " after the other: both must give it the same type. Convert with .to(...)");
    }
    entry.structure = std::move(structures[0]);
    fresh.push_back(std::move(entry));
  }
  for (size_t i = before.entries.size(); i < elseLocals.entries.size(); ++i)
    if (!thenLocals.find(elseLocals.entries[i].first))
      afterwards(elseLocals.entries[i].first,
                 "it gets a value in one branch of an `if` only; give it one before the `if` or in both branches");
  llvm::sort(fresh);
  for (Merged& entry : fresh) merged.push_back(std::move(entry));
  return true;
}

bool Walker::executeBranch(Ast statements, const Locals& before, Locals& after, mlir::Block*& end) {
  locals_ = before;
  if (!executeAll(statements)) return false;
  end = builder_.op().getInsertionBlock();
  after = std::move(locals_);
  return true;
}

namespace {

/// The tensors that a branch gives to what is merged.
template <class Merged> llvm::SmallVector<mlir::Value> given(const std::vector<Merged>& merged, bool isElse) {
  llvm::SmallVector<mlir::Value> values;
  for (const Merged& entry : merged) values.append(irOf(isElse ? entry.elseLeaves : entry.thenLeaves));
  return values;
}

} // namespace

bool Walker::ifAsRegion(Ast node, const Value& condition) {
  const Ast bodies[2] = {node.body(), node.orelse()};
  mlir::Location here = builder_.location();
  Locals before = locals_, after[2];
  const auto pending = pendingConstexpr_;
  std::unique_ptr<mlir::Region> regions[2];
  mlir::Block* ends[2];
  std::vector<Merged> merged;
  {
    RegionGuard guard(*this);
    for (int arm = 0; arm < 2; ++arm) {
      mlir::Block* block = nullptr;
      pendingConstexpr_ = pending;
      regions[arm] = regionWithBlock(block);
      builder_.op().setInsertionPointToEnd(block);
      if (!executeBranch(bodies[arm], before, after[arm], ends[arm])) return false;
    }
    locals_ = before;
    builder_.setLocation(here);
    if (!mergeBranches(node, before, after[0], after[1], merged)) return false;
    for (int arm = 0; arm < 2; ++arm) {
      builder_.op().setInsertionPointToEnd(ends[arm]);
      builder_.createRaw("scf.yield", given(merged, arm), {});
    }
  }
  // One variable: the operation is named after it.
  if (merged.size() == 1) builder_.setLocation(namedPlace(stringOf(merged[0].name), here));
  llvm::SmallVector<mlir::Type> types(mlir::ValueRange(given(merged, false)).getTypes());
  mlir::Operation* made = builder_.createRaw("scf.if", {condition.ir}, types, {}, regions);
  builder_.setLocation(here);
  return bind(merged, made->getResults());
}

bool Walker::ifAsBlocks(Ast node, const Value& condition) {
  const Ast bodies[2] = {node.body(), node.orelse()};
  mlir::Location here = builder_.location();
  mlir::Block *starts[2], *ends[2];
  for (mlir::Block*& block : starts) {
    block = new mlir::Block;
    functionRegion_->push_back(block);
  }
  builder_.createRaw("cf.cond_br", {condition.ir}, {},
                     builder_.op().getNamedAttr("operandSegmentSizes", builder_.op().getDenseI32ArrayAttr({1, 0, 0})),
                     {}, starts);
  Locals before = locals_, after[2];
  const auto pending = pendingConstexpr_;
  for (int arm = 0; arm < 2; ++arm) {
    pendingConstexpr_ = pending;
    builder_.op().setInsertionPointToEnd(starts[arm]);
    if (!executeBranch(bodies[arm], before, after[arm], ends[arm])) return false;
  }
  locals_ = before;
  builder_.setLocation(here);
  std::vector<Merged> merged;
  if (!mergeBranches(node, before, after[0], after[1], merged)) return false;
  auto* join = new mlir::Block;
  functionRegion_->push_back(join);
  for (const Merged& entry : merged)
    for (const Value& leaf : entry.thenLeaves)
      join->addArgument(leaf.ir.getType(), namedPlace(stringOf(entry.name), here));
  for (int arm = 0; arm < 2; ++arm) {
    builder_.op().setInsertionPointToEnd(ends[arm]);
    builder_.createRaw("cf.br", given(merged, arm), {}, {}, {}, {join});
  }
  builder_.op().setInsertionPointToEnd(join);
  return bind(merged, join->getArguments());
}

PyRef Walker::visitIfExp(Ast node) {
  const Ast bodies[2] = {node.body(), node.orelse()};
  PyRef condition = evaluate(node.test());
  if (!condition) return {};
  if (!isTensor(condition.get())) {
    bool isTrue = false;
    return compileTimeTruth(condition.get(), node.test(), isTrue) ? evaluate(bodies[isTrue ? 0 : 1]) : PyRef();
  }
  Value i1 = truth(builder_, condition.get());
  if (!i1) return {};
  mlir::Location here = builder_.location();
  std::unique_ptr<mlir::Region> regions[2];
  Value values[2];
  bool isVoid[2] = {false, false};
  {
    RegionGuard guard(*this);
    for (int arm = 0; arm < 2; ++arm) {
      mlir::Block* block = nullptr;
      regions[arm] = regionWithBlock(block);
      builder_.op().setInsertionPointToEnd(block);
      PyRef value = evaluate(bodies[arm]);
      if (!value) return {};
      isVoid[arm] = unwrap(value.get()) == Py_None; // a call for its effect, such as tl.store
      if (!isVoid[arm] && !(values[arm] = toTensor(builder_, value.get()))) return {};
      llvm::SmallVector<mlir::Value, 1> yielded;
      if (!isVoid[arm]) yielded.push_back(values[arm].ir);
      builder_.createRaw("scf.yield", yielded, {});
    }
  }
  builder_.setLocation(here);
  if (isVoid[0] != isVoid[1])
    return raiseType("Ternary expression with dynamic condition has inconsistent types: only the value " +
                     llvm::Twine(isVoid[0] ? "after `else`" : "before `if`") + " is one, the other is a call without");
  if (isVoid[0]) {
    builder_.createRaw("scf.if", {i1.ir}, {}, {}, regions);
    return makeConstexpr(Py_None);
  }
  if (!(values[0].type == values[1].type))
    return raiseType("Ternary expression with dynamic condition has inconsistent types " + values[0].type.str() +
                     " and " + values[1].type.str() + ": convert one of the values with .to(...), or use tl.where");
  mlir::Operation* made = builder_.createRaw("scf.if", {i1.ir}, {values[0].ir.getType()}, {}, regions);
  return makeTensor(runTimeValue(values[0].type, made->getResult(0)));
}

} // namespace tiletwin::frontend
