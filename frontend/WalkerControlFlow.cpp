// frontend/WalkerControlFlow.cpp -- if, ternary, for and while.
// Compile-time conditions choose a branch while walking. Run-time ones become scf.if, or branches between blocks where a
// branch returns (rules 50, 51). Loops carry what is live before them, holds tensors and is assigned in their body (rule 52).
// Invariant: after a region is filled, locals_ is what it was before, but for the names the new operation defines.
#include "frontend/Raise.h"
#include "frontend/Walker.h"
#include "mlir/AsmParser/AsmParser.h"
#include "llvm/ADT/ScopeExit.h"

namespace tiletwin::frontend {
namespace {

PyObject* astClass(const char* name) {
  PyRef ast = PyRef::steal(PyImport_ImportModule("ast"));
  return ast ? PyObject_GetAttrString(ast.get(), name) : nullptr;
}
PyObject* classOf(PyObject* node) { return reinterpret_cast<PyObject*>(Py_TYPE(node)); }

/// Classes of statements that bind names or hold statements.
struct StatementClasses {
  PyObject *assign = astClass("Assign"), *annAssign = astClass("AnnAssign"), *augAssign = astClass("AugAssign"),
           *forLoop = astClass("For"), *whileLoop = astClass("While"), *ifStatement = astClass("If"),
           *withStatement = astClass("With"), *returnStatement = astClass("Return"), *name = astClass("Name"),
           *tuple = astClass("Tuple"), *list = astClass("List"), *call = astClass("Call"), *namedExpr = astClass("NamedExpr");
};
const StatementClasses& classes() {
  static const StatementClasses made;
  return made;
}

void addTarget(PyObject* target, llvm::SmallVectorImpl<PyObject*>& names) {
  const AstNames& n = astNames();
  PyObject* kind = classOf(target);
  if (kind == classes().name) {
    if (PyRef id = attribute(target, n.id); id && !llvm::is_contained(names, id.get()))
      names.push_back(id.get()); // the ast keeps it alive
  } else if (kind == classes().tuple || kind == classes().list) {
    PyRef elements = attribute(target, n.elts);
    for (Py_ssize_t i = 0; elements && i < PyList_Size(elements.get()); ++i)
      addTarget(PyList_GetItem(elements.get(), i), names);
  }
}

Value valueOf(const Type& type, mlir::Value ir) {
  Value value;
  value.type = type;
  value.ir = ir;
  return value;
}

bool sameLeaves(llvm::ArrayRef<Value> a, llvm::ArrayRef<Value> b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [](auto pair) { return std::get<0>(pair).ir == std::get<1>(pair).ir; });
}

std::unique_ptr<mlir::Region> regionWithBlock(mlir::Block*& block) {
  auto region = std::make_unique<mlir::Region>();
  block = new mlir::Block;
  region->push_back(block);
  return region;
}

} // namespace

bool Walker::assignedNames(PyObject* statements, llvm::SmallVectorImpl<PyObject*>& names) {
  const AstNames& n = astNames();
  for (Py_ssize_t i = 0; i < PyList_Size(statements); ++i) {
    PyObject* statement = PyList_GetItem(statements, i);
    PyObject* kind = classOf(statement);
    if (kind == classes().assign) {
      PyRef targets = attribute(statement, n.targets);
      if (!targets)
        return false;
      for (Py_ssize_t j = 0; j < PyList_Size(targets.get()); ++j)
        addTarget(PyList_GetItem(targets.get(), j), names);
    } else if (kind == classes().annAssign || kind == classes().augAssign || kind == classes().forLoop) {
      PyRef target = attribute(statement, n.target);
      if (!target)
        return false;
      addTarget(target.get(), names);
    }
    if (kind == classes().forLoop || kind == classes().whileLoop || kind == classes().ifStatement ||
        kind == classes().withStatement) {
      PyRef body = attribute(statement, n.body);
      PyRef orelse = kind == classes().withStatement ? PyRef() : attribute(statement, n.orelse);
      PyErr_Clear();
      if (!body || !assignedNames(body.get(), names) || (orelse && !assignedNames(orelse.get(), names)))
        return false;
    }
  }
  return true;
}

bool Walker::containsReturn(PyObject* statements) {
  const AstNames& n = astNames();
  for (Py_ssize_t i = 0; i < PyList_Size(statements); ++i) {
    PyObject* statement = PyList_GetItem(statements, i);
    PyObject* kind = classOf(statement);
    if (kind == classes().returnStatement)
      return true;
    if (kind != classes().forLoop && kind != classes().whileLoop && kind != classes().ifStatement)
      continue;
    PyRef body = attribute(statement, n.body), orelse = attribute(statement, n.orelse);
    if (body && orelse && (containsReturn(body.get()) || containsReturn(orelse.get())))
      return true;
  }
  return false;
}

bool Walker::compileTimeTruth(PyObject* value, PyObject* node, bool& truth) {
  if (isTensor(value))
    return refuse(node, "this condition must be known at compile time, but it is a run-time value of type " +
                            tensorValue(value).type.str());
  int is = PyObject_IsTrue(unwrap(value));
  truth = is == 1;
  return is >= 0;
}

bool Walker::visitIf(PyObject* node) {
  const AstNames& n = astNames();
  PyRef test = attribute(node, n.test), body = attribute(node, n.body), orelse = attribute(node, n.orelse);
  PyRef condition = test && body && orelse ? evaluate(test.get()) : PyRef();
  if (!condition)
    return false;
  if (!isTensor(condition.get())) {
    bool isTrue = false;
    return compileTimeTruth(condition.get(), test.get(), isTrue) && executeAll(isTrue ? body.get() : orelse.get());
  }
  mlir::Location here = builder_.location();
  builder_.setLocation(locationOf(test.get()));
  Value i1 = truth(builder_, condition.get());
  builder_.setLocation(here);
  if (!i1) {
    locateError(place(test.get()));
    return false;
  }
  if (!containsReturn(body.get()) && !containsReturn(orelse.get()))
    return ifAsRegion(node, i1);
  if (regionDepth_ > 0)
    return refuse(node, "`return` inside a `for` or `while` loop of a kernel is not supported: keep a flag, guard the rest of the "
                        "body with `if`, and return after the loop");
  return ifAsBlocks(node, i1);
}

bool Walker::Merged::operator<(const Merged& other) const { return stringOf(name) < stringOf(other.name); }

bool Walker::mergeBranches(PyObject* node, const Locals& before, const Locals& thenLocals, const Locals& elseLocals,
                           std::vector<Merged>& merged) {
  const char* const kBranch[] = {"the branch taken if the condition holds", "the `else` branch"};
  long line = place(node).line;
  // Names that were live before: an arm may give them a new value of the same type.
  for (size_t i = 0; i < before.entries.size(); ++i) {
    PyObject* name = before.entries[i].first;
    PyObject* old = before.entries[i].second.get();
    PyObject* values[2] = {thenLocals.entries[i].second.get(), elseLocals.entries[i].second.get()};
    if (values[0] == old && values[1] == old)
      continue;
    Structure was, structures[2];
    Merged entry{name, {}, {}, {}};
    if (!takeApart(old, was, nullptr) || !takeApart(values[0], structures[0], &entry.thenLeaves) ||
        !takeApart(values[1], structures[1], &entry.elseLeaves))
      return false;
    if (structures[0] == structures[1] && sameLeaves(entry.thenLeaves, entry.elseLeaves)) {
      // Not different at run time: an equal compile-time value, or x = x. The name keeps that value.
      locals_.set(name, PyRef::borrow(values[0]));
      continue;
    }
    for (int arm = 0; arm < 2; ++arm)
      if (!(structures[arm] == was))
        return raiseType("`" + stringOf(name) + "` is " + was.describe() + " before the `if`, but " + kBranch[arm] + " makes it " +
                         structures[arm].describe() + ": a variable must keep its type where branches depend on run-time values. " +
                         (was.hasTensor() ? "Convert with .to(...), or use another name"
                                          : "Start from a run-time value (x = 0 makes an int32), or use another name"));
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
    if (!other) {
      afterwards(name, "it gets a value in one branch of an `if` only; give it one before the `if` or in both branches");
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
      return raiseType("`" + stringOf(name) + "` is " + structures[0].describe() + " after one branch of this `if` and " +
                       structures[1].describe() + " after the other: both must give it the same type. Convert with .to(...)");
    }
    entry.structure = std::move(structures[0]);
    fresh.push_back(std::move(entry));
  }
  for (size_t i = before.entries.size(); i < elseLocals.entries.size(); ++i)
    if (!thenLocals.find(elseLocals.entries[i].first))
      afterwards(elseLocals.entries[i].first,
                 "it gets a value in one branch of an `if` only; give it one before the `if` or in both branches");
  llvm::sort(fresh);
  for (Merged& entry : fresh)
    merged.push_back(std::move(entry));
  return true;
}

bool Walker::bindMerged(const std::vector<Merged>& merged, const Locals&, llvm::ArrayRef<mlir::Value> results) {
  for (const Merged& entry : merged) {
    llvm::SmallVector<Value, 2> leaves;
    for (const Value& leaf : entry.thenLeaves)
      leaves.push_back(valueOf(leaf.type, results[leaves.size()]));
    results = results.drop_front(leaves.size());
    llvm::ArrayRef<Value> rest = leaves;
    PyRef value = putTogether(entry.structure, rest);
    if (!value)
      return false;
    locals_.set(entry.name, std::move(value));
  }
  return true;
}

bool Walker::ifAsRegion(PyObject* node, const Value& condition) {
  const AstNames& n = astNames();
  PyRef bodies[2] = {attribute(node, n.body), attribute(node, n.orelse)};
  mlir::Location here = builder_.location();
  Locals before = locals_, after[2];
  auto pending = pendingConstexpr_;
  std::unique_ptr<mlir::Region> regions[2];
  mlir::Block* ends[2];
  std::vector<Merged> merged;
  llvm::SmallVector<mlir::Type> types;
  {
    mlir::OpBuilder::InsertionGuard guard(builder_.op());
    ++regionDepth_;
    auto leave = llvm::scope_exit([&] { --regionDepth_; });
    for (int arm = 0; arm < 2; ++arm) {
      mlir::Block* block = nullptr;
      regions[arm] = regionWithBlock(block);
      builder_.op().setInsertionPointToEnd(block);
      locals_ = before;
      pendingConstexpr_ = pending;
      if (!executeAll(bodies[arm].get()))
        return false;
      ends[arm] = builder_.op().getInsertionBlock();
      after[arm] = std::move(locals_);
    }
    locals_ = before;
    builder_.setLocation(here);
    if (!mergeBranches(node, before, after[0], after[1], merged))
      return false;
    for (int arm = 0; arm < 2; ++arm) {
      llvm::SmallVector<mlir::Value> yielded;
      for (const Merged& entry : merged)
        for (const Value& leaf : arm == 0 ? entry.thenLeaves : entry.elseLeaves) {
          yielded.push_back(leaf.ir);
          if (arm == 0)
            types.push_back(leaf.ir.getType());
        }
      builder_.op().setInsertionPointToEnd(ends[arm]);
      builder_.createRaw("scf.yield", yielded, {});
    }
  }
  if (merged.size() == 1) // one variable: the operation is named after it
    builder_.setLocation(mlir::NameLoc::get(mlir::StringAttr::get(builder_.context(), stringOf(merged[0].name)), here));
  mlir::Operation* made = builder_.createRaw("scf.if", {condition.ir}, types, {}, regions);
  builder_.setLocation(here);
  llvm::SmallVector<mlir::Value> results(made->getResults());
  return bindMerged(merged, before, results);
}

bool Walker::ifAsBlocks(PyObject* node, const Value& condition) {
  const AstNames& n = astNames();
  PyRef bodies[2] = {attribute(node, n.body), attribute(node, n.orelse)};
  mlir::Location here = builder_.location();
  mlir::Block *starts[2], *ends[2];
  for (mlir::Block*& block : starts) {
    block = new mlir::Block;
    functionRegion_->push_back(block);
  }
  {
    mlir::OperationState state(here, "cf.cond_br");
    state.addOperands({condition.ir});
    state.addSuccessors(starts[0]);
    state.addSuccessors(starts[1]);
    state.addAttribute("operandSegmentSizes", builder_.op().getDenseI32ArrayAttr({1, 0, 0}));
    builder_.op().create(state);
  }
  Locals before = locals_, after[2];
  auto pending = pendingConstexpr_;
  for (int arm = 0; arm < 2; ++arm) {
    builder_.op().setInsertionPointToEnd(starts[arm]);
    locals_ = before;
    pendingConstexpr_ = pending;
    if (!executeAll(bodies[arm].get()))
      return false;
    ends[arm] = builder_.op().getInsertionBlock();
    after[arm] = std::move(locals_);
  }
  locals_ = before;
  builder_.setLocation(here);
  std::vector<Merged> merged;
  if (!mergeBranches(node, before, after[0], after[1], merged))
    return false;
  auto* join = new mlir::Block;
  functionRegion_->push_back(join);
  llvm::SmallVector<mlir::Value> results;
  for (const Merged& entry : merged)
    for (const Value& leaf : entry.thenLeaves)
      results.push_back(join->addArgument(
          leaf.ir.getType(), mlir::NameLoc::get(mlir::StringAttr::get(builder_.context(), stringOf(entry.name)), here)));
  for (int arm = 0; arm < 2; ++arm) {
    llvm::SmallVector<mlir::Value> operands;
    for (const Merged& entry : merged)
      for (const Value& leaf : arm == 0 ? entry.thenLeaves : entry.elseLeaves)
        operands.push_back(leaf.ir);
    builder_.op().setInsertionPointToEnd(ends[arm]);
    builder_.createRaw("cf.br", operands, {}, {}, {}, {join});
  }
  builder_.op().setInsertionPointToEnd(join);
  return bindMerged(merged, before, results);
}

PyRef Walker::visitIfExp(PyObject* node) {
  const AstNames& n = astNames();
  PyRef test = attribute(node, n.test), bodies[2] = {attribute(node, n.body), attribute(node, n.orelse)};
  PyRef condition = test && bodies[0] && bodies[1] ? evaluate(test.get()) : PyRef();
  if (!condition)
    return {};
  if (!isTensor(condition.get())) {
    bool isTrue = false;
    return compileTimeTruth(condition.get(), test.get(), isTrue) ? evaluate(bodies[isTrue ? 0 : 1].get()) : PyRef();
  }
  Value i1 = truth(builder_, condition.get());
  if (!i1)
    return {};
  mlir::Location here = builder_.location();
  std::unique_ptr<mlir::Region> regions[2];
  Value values[2];
  {
    mlir::OpBuilder::InsertionGuard guard(builder_.op());
    ++regionDepth_;
    auto leave = llvm::scope_exit([&] { --regionDepth_; });
    for (int arm = 0; arm < 2; ++arm) {
      mlir::Block* block = nullptr;
      regions[arm] = regionWithBlock(block);
      builder_.op().setInsertionPointToEnd(block);
      PyRef value = evaluate(bodies[arm].get());
      values[arm] = value ? toTensor(builder_, value.get()) : Value();
      if (!values[arm])
        return {};
      builder_.createRaw("scf.yield", {values[arm].ir}, {});
    }
  }
  builder_.setLocation(here);
  if (!(values[0].type == values[1].type))
    return raiseType("`a if condition else b` with a run-time condition needs both values of the same type, and they are " +
                     values[0].type.str() + " and " + values[1].type.str() + ": convert one with .to(...), or use tl.where");
  mlir::Operation* made = builder_.createRaw("scf.if", {i1.ir}, {values[0].ir.getType()}, {}, regions);
  return makeTensor(valueOf(values[0].type, made->getResult(0)));
}

bool Walker::findCarried(PyObject* node, PyObject* except, std::vector<Carried>& carried, llvm::SmallVectorImpl<Value>& leaves) {
  const AstNames& n = astNames();
  PyRef body = attribute(node, n.body);
  llvm::SmallVector<PyObject*> names;
  if (!body || !assignedNames(body.get(), names))
    return false;
  if (info_->hasWalrus) { // rare: look at every expression too
    PyRef ast = PyRef::steal(PyImport_ImportModule("ast"));
    PyRef all = ast ? PyRef::steal(PyObject_CallMethod(ast.get(), "walk", "O", node)) : PyRef();
    PyRef list = all ? PyRef::steal(PySequence_List(all.get())) : PyRef();
    if (!list)
      return false;
    for (Py_ssize_t i = 0; i < PyList_Size(list.get()); ++i)
      if (classOf(PyList_GetItem(list.get(), i)) == classes().namedExpr)
        if (PyRef target = attribute(PyList_GetItem(list.get(), i), n.target))
          addTarget(target.get(), names);
  }
  for (const auto& [name, value] : locals_.entries) {
    if (name == except || !llvm::is_contained(names, name))
      continue;
    Carried entry{name, {}, leaves.size(), 0};
    llvm::SmallVector<Value, 2> own;
    if (!takeApart(value.get(), entry.structure, &own))
      return false;
    if (own.empty())
      continue; // compile-time: checked after the body is walked
    entry.leafCount = own.size();
    leaves.append(own.begin(), own.end());
    carried.push_back(std::move(entry));
  }
  return true;
}

bool Walker::bindCarried(const std::vector<Carried>& carried, llvm::ArrayRef<Value> leaves, llvm::ArrayRef<mlir::Value> values) {
  for (const Carried& entry : carried) {
    llvm::SmallVector<Value, 2> own;
    for (size_t i = entry.firstLeaf; i < entry.firstLeaf + entry.leafCount; ++i)
      own.push_back(valueOf(leaves[i].type, values[i]));
    llvm::ArrayRef<Value> rest = own;
    PyRef value = putTogether(entry.structure, rest);
    if (!value)
      return false;
    locals_.set(entry.name, std::move(value));
  }
  return true;
}

bool Walker::collectYielded(PyObject* node, const std::vector<Carried>& carried, const Locals& before,
                            llvm::SmallVectorImpl<mlir::Value>& yielded) {
  for (const Carried& entry : carried) {
    Structure now;
    llvm::SmallVector<Value, 2> own;
    if (!takeApart(locals_.find(entry.name), now, &own))
      return false;
    if (!(now == entry.structure))
      return raiseType("`" + stringOf(entry.name) + "` is " + entry.structure.describe() + " before the loop, but the loop's body makes it " +
                       now.describe() + ": a variable that a loop carries must keep its type. Give it that type before the loop (" +
                       (now.kind == Structure::Kind::Tensor && now.type.shape.empty() ? "for example tl.full((), 0, dtype)"
                                                                                     : "for example tl.zeros(shape, dtype)") +
                       "), or convert it in the body with .to(...)");
    for (const Value& leaf : own)
      yielded.push_back(leaf.ir);
  }
  for (size_t i = 0; i < before.entries.size(); ++i) {
    const auto& [name, old] = before.entries[i];
    if (llvm::any_of(carried, [&, key = name](const Carried& entry) { return entry.name == key; }))
      continue;
    PyObject* now = locals_.entries[i].second.get();
    if (now != old.get() && !isTensor(old.get()) && (isTensor(now) || !sameConstant(now, old.get())))
      return raiseType("`" + stringOf(name) + "` is a compile-time value (tl.constexpr) before the loop, and the loop's body assigns it: " +
                       "a loop carries run-time values only. Start from a run-time value (n = 0 makes an int32), or unroll with "
                       "tl.static_range");
  }
  return true;
}

void Walker::forgetInner(const Locals& before, PyObject* node, const char* where) {
  long line = place(node).line;
  for (size_t i = before.entries.size(); i < locals_.entries.size(); ++i)
    lost_.emplace_back(locals_.entries[i].first, "it gets its value inside the " + std::string(where) + " of line " +
                                                     std::to_string(line) + " only; give it one before the loop");
}

namespace {

/// The arguments of tl.range by name.
struct RangeArguments {
  PyRef start, end, step, numStages, unroll, noMultiBuffer, flatten, specialize, noLicm;
};

bool readRange(const Arguments& arguments, const Keywords& keywords, RangeArguments& out) {
  PyRef first, second;
  const std::pair<const char*, PyRef*> kNames[] = {
      {"arg1", &first},          {"arg2", &second},       {"step", &out.step},
      {"num_stages", &out.numStages}, {"loop_unroll_factor", &out.unroll}, {"disallow_acc_multi_buffer", &out.noMultiBuffer},
      {"flatten", &out.flatten}, {"warp_specialize", &out.specialize}, {"disable_licm", &out.noLicm},
  };
  if (arguments.size() > std::size(kNames))
    return raiseType("range takes at most start, end and step");
  for (size_t i = 0; i < arguments.size(); ++i)
    *kNames[i].second = arguments[i];
  for (const auto& [name, value] : keywords) {
    auto* row = llvm::find_if(kNames, [text = stringOf(name)](const auto& r) { return text == r.first; });
    if (row == std::end(kNames) || *row->second)
      return raiseType("range has no argument '" + stringOf(name) + "' here; it takes start, end, step and the options of tl.range");
    *row->second = value;
  }
  if (!first)
    return raiseType("range needs an end");
  bool one = !second || unwrap(second.get()) == Py_None;
  out.end = one ? first : second;
  out.start = one ? PyRef() : first;
  if (out.step && unwrap(out.step.get()) == Py_None)
    out.step = {};
  return true;
}

bool isSet(const PyRef& option) { return option && PyObject_IsTrue(unwrap(option.get())) == 1; }

mlir::Attribute disableLicm(mlir::MLIRContext* context) {
  return mlir::parseAttribute("#llvm.loop_annotation<licm = #llvm.loop_licm<disable = true, versioningDisable = true>>", context);
}

bool addIntOption(const PyRef& option, const char* name, mlir::OpBuilder& op, llvm::SmallVectorImpl<mlir::NamedAttribute>& out) {
  if (!option || unwrap(option.get()) == Py_None)
    return true;
  long value = PyLong_AsLong(unwrap(option.get()));
  if (value == -1 && PyErr_Occurred())
    return raiseType(llvm::Twine(name) + " of a loop must be a compile-time int");
  out.push_back(op.getNamedAttr(name, op.getI32IntegerAttr(value)));
  return true;
}

} // namespace

bool Walker::staticFor(PyObject* node, const Arguments& arguments, const Keywords& keywords) {
  const AstNames& n = astNames();
  RangeArguments range;
  if (!readRange(arguments, keywords, range))
    return false;
  long bounds[3] = {0, 0, 1};
  PyRef* parts[3] = {&range.start, &range.end, &range.step};
  static constexpr const char* kNames[3] = {"start", "end", "step"};
  for (int i = 0; i < 3; ++i) {
    if (!*parts[i])
      continue;
    PyObject* plain = unwrap(parts[i]->get());
    if (isTensor(plain))
      return raiseType(llvm::Twine("tl.static_range is unrolled while compiling: its ") + kNames[i] +
                       " must be a compile-time int (tl.constexpr), and this is a run-time value of type " +
                       tensorValue(plain).type.str() + ". Use range or tl.range for a run-time loop");
    bounds[i] = PyLong_AsLong(plain);
    if (bounds[i] == -1 && PyErr_Occurred())
      return raiseType(llvm::Twine("tl.static_range: ") + kNames[i] + " must be an int, not a " + typeName(plain));
  }
  if (bounds[2] == 0)
    return raiseValue("tl.static_range: step must not be 0");
  PyRef target = attribute(node, n.target), body = attribute(node, n.body);
  if (!target || !body)
    return false;
  for (long i = bounds[0]; bounds[2] > 0 ? i < bounds[1] : i > bounds[1]; i += bounds[2]) {
    PyRef number = PyRef::steal(PyLong_FromLong(i));
    if (!assign(target.get(), makeConstexpr(number.get())) || !executeAll(body.get()))
      return false;
  }
  return true;
}

bool Walker::visitFor(PyObject* node) {
  const AstNames& n = astNames();
  PyRef iter = attribute(node, n.iter), target = attribute(node, n.target), body = attribute(node, n.body), orelse = attribute(node, n.orelse);
  if (!iter || !target || !body || !orelse)
    return false;
  if (PyList_Size(orelse.get()) > 0)
    return refuse(node, "`else` after a `for` is not supported in kernels: without `break` it always runs, so put it after the loop",
                  ErrorClass::Compilation);
  constexpr const char* kOnlyRanges = "a kernel loops over range(...), tl.range(...) or tl.static_range(...) only; for the elements of a "
                                      "tuple t write `for i in tl.static_range(len(t))` and use t[i]";
  if (classOf(iter.get()) != classes().call)
    return refuse(iter.get(), kOnlyRanges, ErrorClass::Compilation);
  PyRef func = attribute(iter.get(), n.func);
  PyRef callee = func ? evaluate(func.get()) : PyRef();
  if (!callee)
    return false;
  Special special = specialOf(unwrap(callee.get()));
  if (special != Special::Range && special != Special::StaticRange)
    return refuse(iter.get(), kOnlyRanges, ErrorClass::Compilation);
  Arguments arguments;
  Keywords keywords;
  if (!evaluateArguments(iter.get(), arguments, keywords))
    return false;
  if (special == Special::StaticRange)
    return staticFor(node, arguments, keywords);
  if (classOf(target.get()) != classes().name)
    return refuse(target.get(), "the variable of a loop over a range is one name", ErrorClass::Compilation);
  PyRef targetName = attribute(target.get(), n.id);
  RangeArguments range;
  if (!targetName || !readRange(arguments, keywords, range))
    return false;

  // Bounds (rule 53).
  PyRef zero = PyRef::steal(PyLong_FromLong(0)), one = PyRef::steal(PyLong_FromLong(1));
  PyRef parts[3] = {range.start ? range.start : makeConstexpr(zero.get()), range.end, range.step ? range.step : makeConstexpr(one.get())};
  bool backwards = false;
  PyObject* plainStep = unwrap(parts[2].get());
  if (PyLong_Check(plainStep)) {
    long step = PyLong_AsLong(plainStep);
    if (step == -1 && PyErr_Occurred())
      return false;
    if (step == 0)
      return raiseValue("the step of a loop must not be 0");
    if (step < 0) { // a loop upwards whose variable is mirrored
      PyRef positive = PyRef::steal(PyNumber_Negative(plainStep));
      parts[2] = makeConstexpr(positive.get());
      std::swap(parts[0], parts[1]);
      backwards = true;
    }
  }
  Value bounds[3];
  static constexpr const char* kNames[3] = {"start", "end", "step"};
  for (int i = 0; i < 3; ++i) {
    bounds[i] = toTensor(builder_, parts[i].get());
    if (!bounds[i])
      return false;
    if (!bounds[i].type.isInt() || bounds[i].type.isBlock())
      return raiseType(llvm::Twine("the ") + kNames[backwards && i < 2 ? 1 - i : i] + " of a loop's range must be an integer, and this is " +
                       bounds[i].type.str() + (bounds[i].type.isBlock() ? ", a block" : "; convert it with .to(tl.int32)"));
  }
  Type type;
  if (!promote(bounds[0].type, bounds[1].type, false, type) || !promote(type, bounds[2].type, false, type))
    return false;
  for (Value& bound : bounds)
    if (bound = cast(builder_, bound, type); !bound)
      return false;

  mlir::OpBuilder& op = builder_.op();
  mlir::Location here = builder_.location();
  mlir::MLIRContext* context = builder_.context();
  auto named = [&](llvm::StringRef name) { return mlir::NameLoc::get(mlir::StringAttr::get(context, name), here); };
  // After the loop its variable is undefined.
  locals_.set(targetName.get(), makeTensor(valueOf(type, builder_.poison(type))));
  std::vector<Carried> carried;
  llvm::SmallVector<Value> leaves;
  if (!findCarried(node, targetName.get(), carried, leaves))
    return false;
  Locals before = locals_;
  mlir::Block* block = nullptr;
  std::unique_ptr<mlir::Region> region = regionWithBlock(block);
  mlir::Value counter = block->addArgument(bounds[0].ir.getType(), named(stringOf(targetName.get())));
  llvm::SmallVector<mlir::Value> operands{bounds[0].ir, bounds[1].ir, bounds[2].ir}, inside;
  llvm::SmallVector<mlir::Type> types;
  for (const Carried& entry : carried) {
    llvm::SmallVector<std::string> names;
    leafNames(entry.structure, stringOf(entry.name), names);
    for (size_t i = 0; i < entry.leafCount; ++i) {
      const Value& leaf = leaves[entry.firstLeaf + i];
      operands.push_back(leaf.ir);
      types.push_back(leaf.ir.getType());
      inside.push_back(block->addArgument(leaf.ir.getType(), named(names[i])));
    }
  }
  {
    mlir::OpBuilder::InsertionGuard guard(op);
    ++regionDepth_;
    auto leave = llvm::scope_exit([&] { --regionDepth_; });
    op.setInsertionPointToEnd(block);
    if (!bindCarried(carried, leaves, inside))
      return false;
    builder_.setLocation(named(stringOf(targetName.get())));
    if (backwards) {
      counter = builder_.createRaw("arith.subi", {bounds[1].ir, counter}, {counter.getType()})->getResult(0);
      counter = builder_.createRaw("arith.addi", {counter, bounds[0].ir}, {counter.getType()})->getResult(0);
    }
    locals_.set(targetName.get(), makeTensor(valueOf(type, counter)));
    builder_.setLocation(here);
    if (!executeAll(body.get()))
      return false;
    llvm::SmallVector<mlir::Value> yielded;
    // The loop's variable may be assigned in the body; that does not last.
    locals_.set(targetName.get(), PyRef::borrow(before.find(targetName.get())));
    if (!collectYielded(node, carried, before, yielded))
      return false;
    builder_.createRaw("scf.yield", yielded, {});
  }
  forgetInner(before, node, "loop");
  locals_ = std::move(before);
  llvm::SmallVector<mlir::NamedAttribute> attributes;
  if (!addIntOption(range.numStages, "tt.num_stages", op, attributes) || !addIntOption(range.unroll, "tt.loop_unroll_factor", op, attributes))
    return false;
  const std::pair<const PyRef*, const char*> kFlags[] = {
      {&range.noMultiBuffer, "tt.disallow_acc_multi_buffer"}, {&range.flatten, "tt.flatten"}, {&range.specialize, "tt.warp_specialize"}};
  for (auto [option, name] : kFlags)
    if (isSet(*option))
      attributes.push_back(op.getNamedAttr(name, op.getUnitAttr()));
  if (isSet(range.noLicm))
    attributes.push_back(op.getNamedAttr("llvm.loop_annotation", disableLicm(context)));
  if (carried.size() == 1)
    builder_.setLocation(named(stringOf(carried[0].name)));
  mlir::Operation* made = builder_.createRaw("scf.for", operands, types, attributes, region);
  builder_.setLocation(here);
  llvm::SmallVector<mlir::Value> results(made->getResults());
  return bindCarried(carried, leaves, results);
}

bool Walker::visitWhile(PyObject* node) {
  const AstNames& n = astNames();
  PyRef test = attribute(node, n.test), body = attribute(node, n.body), orelse = attribute(node, n.orelse);
  if (!test || !body || !orelse)
    return false;
  if (PyList_Size(orelse.get()) > 0)
    return refuse(node, "`else` after a `while` is not supported in kernels: without `break` it always runs, so put it after the loop",
                  ErrorClass::Compilation);
  // while tl.condition(c, disable_licm=True):
  bool noLicm = false;
  PyRef conditionNode = test;
  if (classOf(test.get()) == classes().call) {
    PyRef func = attribute(test.get(), n.func);
    PyObject* kind = func ? classOf(func.get()) : nullptr;
    static PyObject* const attributeClass = astClass("Attribute");
    PyRef callee = kind == classes().name || kind == attributeClass ? evaluate(func.get()) : PyRef();
    if (!callee)
      PyErr_Clear(); // evaluated again below, with its error in the right place
    if (callee && specialOf(unwrap(callee.get())) == Special::Condition) {
      PyRef args = attribute(test.get(), n.args), keywords = attribute(test.get(), n.keywords);
      if (!args || !keywords || PyList_Size(args.get()) < 1)
        return raiseType("tl.condition takes the condition as its first argument");
      conditionNode = PyRef::borrow(PyList_GetItem(args.get(), 0));
      PyRef option;
      if (PyList_Size(args.get()) > 1)
        option = evaluate(PyList_GetItem(args.get(), 1));
      for (Py_ssize_t i = 0; i < PyList_Size(keywords.get()); ++i) {
        PyRef value = attribute(PyList_GetItem(keywords.get(), i), n.value);
        option = value ? evaluate(value.get()) : PyRef();
        if (!option)
          return false;
      }
      noLicm = isSet(option);
    }
  }
  mlir::OpBuilder& op = builder_.op();
  mlir::Location here = builder_.location();
  mlir::MLIRContext* context = builder_.context();
  std::vector<Carried> carried;
  llvm::SmallVector<Value> leaves;
  if (!findCarried(node, nullptr, carried, leaves))
    return false;
  Locals before = locals_;
  std::unique_ptr<mlir::Region> regions[2];
  mlir::Block* blocks[2];
  llvm::SmallVector<mlir::Value> operands, inside[2];
  llvm::SmallVector<mlir::Type> types;
  for (int i = 0; i < 2; ++i)
    regions[i] = regionWithBlock(blocks[i]);
  for (const Carried& entry : carried) {
    llvm::SmallVector<std::string> names;
    leafNames(entry.structure, stringOf(entry.name), names);
    for (size_t i = 0; i < entry.leafCount; ++i) {
      const Value& leaf = leaves[entry.firstLeaf + i];
      operands.push_back(leaf.ir);
      types.push_back(leaf.ir.getType());
      for (int r = 0; r < 2; ++r)
        inside[r].push_back(blocks[r]->addArgument(leaf.ir.getType(), mlir::NameLoc::get(mlir::StringAttr::get(context, names[i]), here)));
    }
  }
  {
    mlir::OpBuilder::InsertionGuard guard(op);
    ++regionDepth_;
    auto leave = llvm::scope_exit([&] { --regionDepth_; });
    op.setInsertionPointToEnd(blocks[0]);
    if (!bindCarried(carried, leaves, inside[0]))
      return false;
    Locals beforeTest = locals_;
    PyRef condition = evaluate(conditionNode.get());
    if (!condition)
      return false;
    for (size_t i = 0; i < locals_.entries.size(); ++i)
      if (i >= beforeTest.entries.size() || locals_.entries[i].second.get() != beforeTest.entries[i].second.get())
        return refuse(test.get(), "`:=` in the condition of a `while` is not supported in kernels: assign before the loop and at the end "
                                  "of its body");
    if (!isTensor(condition.get())) {
      bool isTrue = false;
      if (!compileTimeTruth(condition.get(), test.get(), isTrue))
        return false;
      condition = makeConstexpr(isTrue ? Py_True : Py_False);
    }
    builder_.setLocation(locationOf(conditionNode.get()));
    Value i1 = isTensor(condition.get()) ? truth(builder_, condition.get()) : toTensor(builder_, condition.get());
    if (!i1) {
      locateError(place(test.get()));
      return false;
    }
    llvm::SmallVector<mlir::Value> passed{i1.ir};
    passed.append(inside[0].begin(), inside[0].end());
    builder_.createRaw("scf.condition", passed, {});
    builder_.setLocation(here);

    op.setInsertionPointToEnd(blocks[1]);
    locals_ = before;
    if (!bindCarried(carried, leaves, inside[1]) || !executeAll(body.get()))
      return false;
    llvm::SmallVector<mlir::Value> yielded;
    if (!collectYielded(node, carried, before, yielded))
      return false;
    builder_.createRaw("scf.yield", yielded, {});
  }
  forgetInner(before, node, "loop");
  locals_ = std::move(before);
  llvm::SmallVector<mlir::NamedAttribute> attributes;
  if (noLicm)
    attributes.push_back(op.getNamedAttr("llvm.loop_annotation", disableLicm(context)));
  if (carried.size() == 1)
    builder_.setLocation(mlir::NameLoc::get(mlir::StringAttr::get(context, stringOf(carried[0].name)), here));
  mlir::Operation* made = builder_.createRaw("scf.while", operands, types, attributes, regions);
  builder_.setLocation(here);
  llvm::SmallVector<mlir::Value> results(made->getResults());
  return bindCarried(carried, leaves, results);
}

} // namespace tiletwin::frontend
