// frontend/WalkerLoops.cpp -- for and while.
// Loops carry what is live before them, holds tensors and is assigned in their body (rule 52); the scan for such names
// reads the ast, so that a body is walked once. static_range walks it once per iteration, with a compile-time variable.
// Invariant: after a region is filled, locals_ is what it was before, but for the names the new operation defines.
#include "frontend/LoopRange.h"
#include "frontend/Walker.h"
#include "mlir/AsmParser/AsmParser.h"

namespace tiletwin::frontend {
namespace {

/// The names that a target of an assignment binds.
void addTarget(Ast target, llvm::SmallVectorImpl<PyObject*>& names) {
  if (target.isName() && !llvm::is_contained(names, target.id())) names.push_back(target.id());
  if (target.isTuple() || target.isList())
    for (Ast element : itemsOf(target.elts())) addTarget(element, names);
}

} // namespace

void Walker::assignedNames(Ast statements, llvm::SmallVectorImpl<PyObject*>& names) {
  for (Ast statement : itemsOf(statements)) {
    if (statement.isAssign())
      for (Ast target : itemsOf(statement.targets())) addTarget(target, names);
    const bool branches = statement.isFor() || statement.isWhile() || statement.isIf();
    if (statement.isAnnAssign() || statement.isAugAssign() || statement.isFor()) addTarget(statement.target(), names);
    if (branches || statement.isWith()) assignedNames(statement.body(), names);
    if (branches) assignedNames(statement.orelse(), names);
  }
}

bool Walker::beginLoop(Ast node, PyObject* except, Loop& loop) {
  llvm::SmallVector<PyObject*> names;
  assignedNames(node.body(), names);
  if (info_->hasWalrus) { // rare: look at every expression too
    PyRef all = call(imported("ast", "walk"), node);
    PyRef list = PyRef::steal(all ? PySequence_List(all.get()) : nullptr);
    if (!list) return false;
    for (Ast each : itemsOf(list))
      if (each.isNamedExpr()) addTarget(each.target(), names);
  }
  for (const auto& [name, value] : locals_.entries) {
    if (!value || name == except || !llvm::is_contained(names, name)) continue;
    Carried entry{name, {}};
    if (!takeApart(value.get(), entry.structure, &loop.leaves)) return false;
    // What holds no tensor is checked after the body is walked.
    if (entry.structure.hasTensor()) loop.carried.push_back(std::move(entry));
  }
  loop.before = locals_;
  return true;
}

void Walker::addCarried(const Loop& loop, mlir::Block* block) {
  llvm::SmallVector<std::string> names;
  for (const Carried& entry : loop.carried) leafNames(entry.structure, stringOf(entry.name), names);
  for (const auto& [name, leaf] : llvm::zip_equal(names, loop.leaves))
    block->addArgument(leaf.ir.getType(), namedPlace(name, builder_.location()));
}

bool Walker::yieldCarried(const Loop& loop) {
  llvm::SmallVector<Value> yielded;
  for (const Carried& entry : loop.carried) {
    Structure now;
    PyObject* value = locals_.find(entry.name);
    if (!value) return nameError(entry.name);
    if (!takeApart(value, now, &yielded)) return false;
    if (!(now == entry.structure))
      return raiseCarried(stringOf(entry.name), entry.structure, now, assignedAt(entry.name));
  }
  for (size_t i = 0; i < loop.before.entries.size(); ++i) {
    const auto& [name, old] = loop.before.entries[i];
    if (llvm::any_of(loop.carried, [&, key = name](const Carried& entry) { return entry.name == key; })) continue;
    PyObject* now = locals_.entries[i].second.get();
    if (!old || !now) continue; // without a value: an error where it is used
    if (now != old.get() && !isTensor(old.get()) && (isTensor(now) || !sameConstant(now, old.get())))
      return raiseCarriedConstant(stringOf(name), assignedAt(name));
  }
  builder_.createRaw("scf.yield", irOf(yielded), {});
  return true;
}

bool Walker::finishLoop(Ast node, Loop& loop, llvm::StringRef operation, llvm::ArrayRef<mlir::Value> operands,
                        llvm::ArrayRef<mlir::NamedAttribute> attributes,
                        llvm::MutableArrayRef<std::unique_ptr<mlir::Region>> regions) {
  const std::string line = std::to_string(place(node).line);
  for (const auto& [name, value] : llvm::drop_begin(locals_.entries, loop.before.entries.size()))
    lost_.emplace_back(name,
                       "it gets its value inside the loop of line " + line + " only; give it one before the loop");
  locals_ = std::move(loop.before);
  mlir::Location here = builder_.location();
  if (loop.carried.size() == 1) builder_.setLocation(namedPlace(stringOf(loop.carried[0].name), here));
  llvm::SmallVector<mlir::Value> initial = irOf(loop.leaves);
  llvm::SmallVector<mlir::Type> types(mlir::ValueRange(initial).getTypes());
  mlir::Operation* made = builder_.createRaw(operation, operands, types, attributes, regions);
  builder_.setLocation(here);
  return bind(loop.carried, made->getResults());
}

namespace {

bool isSet(const PyRef& option) { return option && PyObject_IsTrue(unwrap(option.get())) == 1; }

mlir::Attribute disableLicm(mlir::MLIRContext* context) {
  return mlir::parseAttribute("#llvm.loop_annotation<licm = #llvm.loop_licm<disable = true, versioningDisable = true>>",
                              context);
}

bool addIntOption(const PyRef& option, const char* name, mlir::OpBuilder& op,
                  llvm::SmallVectorImpl<mlir::NamedAttribute>& out) {
  if (!option || unwrap(option.get()) == Py_None) return true;
  long value = PyLong_AsLong(unwrap(option.get()));
  if (value == -1 && PyErr_Occurred()) return raiseType(llvm::Twine(name) + " of a loop must be a compile-time int");
  out.push_back(op.getNamedAttr(name, op.getI32IntegerAttr(value)));
  return true;
}

} // namespace

bool Walker::staticFor(Ast node, PyObject* callee, const Arguments& arguments, const Keywords& keywords) {
  long bounds[3] = {0, 0, 1};
  RangeArguments range;
  if (!readRange(callee, arguments, keywords, range) || !staticBounds(range, bounds))
    return locateError(place(node.iter())), false;
  for (long i = bounds[0]; bounds[2] > 0 ? i < bounds[1] : i > bounds[1]; i += bounds[2])
    if (!assign(node.target(), makeConstexpr(toPython(i).get())) || !executeAll(node.body())) return false;
  return true;
}

bool Walker::visitFor(Ast node) {
  const Ast iter = node.iter();
  if (PyList_Size(node.orelse()) > 0) return refuse(node, statementAdvice("For.orelse"), ErrorClass::Compilation);
  constexpr const char* kOnlyRanges =
      "a kernel loops over range(...), tl.range(...) or tl.static_range(...) only; for the elements of a "
      "tuple t write `for i in tl.static_range(len(t))` and use t[i]";
  if (!iter.isCall()) return refuse(iter, kOnlyRanges, ErrorClass::Compilation);
  PyRef callee = evaluate(iter.func());
  if (!callee) return false;
  PyObject* const function = unwrap(callee.get());
  Special special = specialOf(function);
  if (special != Special::Range && special != Special::StaticRange)
    return refuse(iter, kOnlyRanges, ErrorClass::Compilation);
  Arguments arguments;
  Keywords keywords;
  if (!evaluateArguments(iter, arguments, keywords)) return false;
  if (special == Special::StaticRange) return staticFor(node, function, arguments, keywords);
  if (!node.target().isName())
    return refuse(node.target(), "the variable of a loop over a range is one name", ErrorClass::Compilation);
  PyObject* const variable = node.target().id();
  RangeArguments range;
  LoopBounds limits;
  if (!readRange(function, arguments, keywords, range) || !loopBounds(builder_, range, limits))
    return locateError(place(iter)), false;
  const Type& type = limits.type;
  const Value(&bounds)[3] = limits.values;

  mlir::OpBuilder& op = builder_.op();
  mlir::Location here = builder_.location(), named = namedPlace(stringOf(variable), here);
  // After the loop its variable is undefined.
  locals_.set(variable, makeTensor(runTimeValue(type, builder_.poison(type))));
  Loop loop;
  if (!beginLoop(node, variable, loop)) return false;
  mlir::Block* block = nullptr;
  std::unique_ptr<mlir::Region> region = regionWithBlock(block);
  mlir::Value counter = block->addArgument(bounds[0].ir.getType(), named);
  addCarried(loop, block);
  llvm::SmallVector<mlir::Value> operands = irOf(bounds);
  operands.append(irOf(loop.leaves));
  {
    RegionGuard guard(*this);
    op.setInsertionPointToEnd(block);
    if (!bind(loop.carried, block->getArguments().drop_front())) return false;
    builder_.setLocation(named);
    if (limits.backwards) { // a loop upwards whose variable is mirrored
      counter = builder_.createRaw("arith.subi", {bounds[1].ir, counter}, {counter.getType()})->getResult(0);
      counter = builder_.createRaw("arith.addi", {counter, bounds[0].ir}, {counter.getType()})->getResult(0);
    }
    locals_.set(variable, makeTensor(runTimeValue(type, counter)));
    builder_.setLocation(here);
    if ((takesNotes() && !noteNames()) || !executeAll(node.body())) return false;
    // The loop's variable may be assigned in the body; that does not last.
    locals_.set(variable, PyRef::borrow(loop.before.find(variable)));
    if (!yieldCarried(loop)) return false;
  }
  llvm::SmallVector<mlir::NamedAttribute> attributes;
  if (!addIntOption(range.numStages, "tt.num_stages", op, attributes) ||
      !addIntOption(range.unroll, "tt.loop_unroll_factor", op, attributes))
    return false;
  const std::pair<const PyRef*, const char*> kFlags[] = {{&range.noMultiBuffer, "tt.disallow_acc_multi_buffer"},
                                                         {&range.flatten, "tt.flatten"},
                                                         {&range.specialize, "tt.warp_specialize"}};
  for (auto [option, name] : kFlags)
    if (isSet(*option)) attributes.push_back(op.getNamedAttr(name, op.getUnitAttr()));
  if (isSet(range.noLicm))
    attributes.push_back(op.getNamedAttr("llvm.loop_annotation", disableLicm(builder_.context())));
  return finishLoop(node, loop, "scf.for", operands, attributes, region);
}

bool Walker::visitWhile(Ast node) {
  const Ast test = node.test();
  if (PyList_Size(node.orelse()) > 0) return refuse(node, statementAdvice("While.orelse"), ErrorClass::Compilation);
  // while tl.condition(c, disable_licm=True):
  bool noLicm = false;
  Ast conditionNode = test;
  if (test.isCall()) {
    PyRef callee = test.func().isName() || test.func().isAttribute() ? evaluate(test.func()) : PyRef();
    if (!callee) PyErr_Clear(); // evaluated again below, with its error in the right place
    if (callee && specialOf(unwrap(callee.get())) == Special::Condition) {
      const itemsOf args(test.args());
      if (args.size() < 1) return raiseType("tl.condition takes the condition as its first argument");
      conditionNode = args[0];
      PyRef option;
      if (args.size() > 1) option = evaluate(args[1]);
      for (Ast keyword : itemsOf(test.keywords()))
        if (!(option = evaluate(keyword.value()))) return false;
      noLicm = isSet(option);
    }
  }
  mlir::OpBuilder& op = builder_.op();
  mlir::Location here = builder_.location();
  Loop loop;
  if (!beginLoop(node, nullptr, loop)) return false;
  std::unique_ptr<mlir::Region> regions[2];
  mlir::Block* blocks[2];
  for (int i = 0; i < 2; ++i) {
    regions[i] = regionWithBlock(blocks[i]);
    addCarried(loop, blocks[i]);
  }
  {
    RegionGuard guard(*this);
    op.setInsertionPointToEnd(blocks[0]);
    if (!bind(loop.carried, blocks[0]->getArguments())) return false;
    Locals beforeTest = locals_;
    PyRef condition = evaluate(conditionNode);
    if (!condition) return false;
    for (size_t i = 0; i < locals_.entries.size(); ++i)
      if (i >= beforeTest.entries.size() || locals_.entries[i].second.get() != beforeTest.entries[i].second.get())
        return refuse(
            test,
            "`:=` in the condition of a `while` is not supported in kernels: assign before the loop and at the end "
            "of its body");
    if (!isTensor(condition.get())) {
      bool isTrue = false;
      if (!compileTimeTruth(condition.get(), test, isTrue)) return false;
      condition = makeConstexpr(isTrue ? Py_True : Py_False);
    }
    builder_.setLocation(locationOf(conditionNode));
    Value i1 = isTensor(condition.get()) ? truth(builder_, condition.get()) : toTensor(builder_, condition.get());
    if (!i1) return locateError(place(test)), false;
    llvm::SmallVector<mlir::Value> passed{i1.ir};
    llvm::append_range(passed, blocks[0]->getArguments());
    builder_.createRaw("scf.condition", passed, {});
    builder_.setLocation(here);

    op.setInsertionPointToEnd(blocks[1]);
    locals_ = loop.before;
    if (!bind(loop.carried, blocks[1]->getArguments()) || (takesNotes() && !noteNames()) || !executeAll(node.body()) ||
        !yieldCarried(loop))
      return false;
  }
  llvm::SmallVector<mlir::NamedAttribute> attributes;
  if (noLicm) attributes.push_back(op.getNamedAttr("llvm.loop_annotation", disableLicm(builder_.context())));
  return finishLoop(node, loop, "scf.while", irOf(loop.leaves), attributes, regions);
}

} // namespace tiletwin::frontend
