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
void addTarget(PyObject* target, llvm::SmallVectorImpl<PyObject*>& names) {
  const AstNames& n = astNames();
  PyObject* kind = typeOf(target);
  if (kind == astClasses().name) {
    if (PyRef id = attribute(target, n.id); id && !llvm::is_contained(names, id.get()))
      names.push_back(id.get()); // the ast keeps it alive
  } else if (kind == astClasses().tuple || kind == astClasses().list) {
    PyRef elements = attribute(target, n.elts);
    for (PyObject* element : itemsOf(elements)) addTarget(element, names);
  }
}

} // namespace

bool Walker::assignedNames(PyObject* statements, llvm::SmallVectorImpl<PyObject*>& names) {
  const AstNames& n = astNames();
  for (PyObject* statement : itemsOf(statements)) {
    PyObject* kind = typeOf(statement);
    if (kind == astClasses().assign) {
      PyRef targets = attribute(statement, n.targets);
      if (!targets) return false;
      for (PyObject* target : itemsOf(targets)) addTarget(target, names);
    } else if (kind == astClasses().annAssign || kind == astClasses().augAssign || kind == astClasses().forLoop) {
      PyRef target = attribute(statement, n.target);
      if (!target) return false;
      addTarget(target.get(), names);
    }
    if (kind == astClasses().forLoop || kind == astClasses().whileLoop || kind == astClasses().ifStatement ||
        kind == astClasses().withStatement) {
      PyRef body = attribute(statement, n.body);
      PyRef orelse = kind == astClasses().withStatement ? PyRef() : attribute(statement, n.orelse);
      PyErr_Clear();
      if (!body || !assignedNames(body.get(), names) || (orelse && !assignedNames(orelse.get(), names))) return false;
    }
  }
  return true;
}

bool Walker::findCarried(PyObject* node, PyObject* except, std::vector<Carried>& carried,
                         llvm::SmallVectorImpl<Value>& leaves) {
  const AstNames& n = astNames();
  PyRef body = attribute(node, n.body);
  llvm::SmallVector<PyObject*> names;
  if (!body || !assignedNames(body.get(), names)) return false;
  if (info_->hasWalrus) { // rare: look at every expression too
    PyRef all = call(imported("ast", "walk"), node);
    PyRef list = PyRef::steal(all ? PySequence_List(all.get()) : nullptr);
    if (!list) return false;
    for (PyObject* each : itemsOf(list))
      if (typeOf(each) == astClasses().namedExpr)
        if (PyRef target = attribute(each, n.target)) addTarget(target.get(), names);
  }
  for (const auto& [name, value] : locals_.entries) {
    if (!value || name == except || !llvm::is_contained(names, name)) continue;
    Carried entry{name, {}, leaves.size(), 0};
    llvm::SmallVector<Value, 2> own;
    if (!takeApart(value.get(), entry.structure, &own)) return false;
    if (own.empty()) continue; // compile-time: checked after the body is walked
    entry.leafCount = own.size();
    leaves.append(own.begin(), own.end());
    carried.push_back(std::move(entry));
  }
  return true;
}

bool Walker::bindCarried(const std::vector<Carried>& carried, llvm::ArrayRef<Value> leaves, mlir::ValueRange values) {
  for (const Carried& entry : carried) {
    llvm::SmallVector<Value, 2> own;
    for (size_t i = entry.firstLeaf; i < entry.firstLeaf + entry.leafCount; ++i)
      own.push_back(runTimeValue(leaves[i].type, values[i]));
    PyRef value = putAllTogether(entry.structure, own);
    if (!value) return false;
    locals_.set(entry.name, std::move(value));
  }
  return true;
}

void Walker::addCarried(const std::vector<Carried>& carried, llvm::ArrayRef<Value> leaves, mlir::Block* block) {
  for (const Carried& entry : carried) {
    llvm::SmallVector<std::string> names;
    leafNames(entry.structure, stringOf(entry.name), names);
    for (size_t i = 0; i < entry.leafCount; ++i)
      block->addArgument(leaves[entry.firstLeaf + i].ir.getType(), namedPlace(names[i], builder_.location()));
  }
}

bool Walker::collectYielded(PyObject* node, const std::vector<Carried>& carried, const Locals& before,
                            llvm::SmallVectorImpl<mlir::Value>& yielded) {
  for (const Carried& entry : carried) {
    Structure now;
    llvm::SmallVector<Value, 2> own;
    PyObject* value = locals_.find(entry.name);
    if (!value) return nameError(entry.name);
    if (!takeApart(value, now, &own)) return false;
    if (!(now == entry.structure))
      return raiseCarried(stringOf(entry.name), entry.structure, now, assignedAt(entry.name));
    yielded.append(irOf(own));
  }
  for (size_t i = 0; i < before.entries.size(); ++i) {
    const auto& [name, old] = before.entries[i];
    if (llvm::any_of(carried, [&, key = name](const Carried& entry) { return entry.name == key; })) continue;
    PyObject* now = locals_.entries[i].second.get();
    if (!old || !now) continue; // without a value: an error where it is used
    if (now != old.get() && !isTensor(old.get()) && (isTensor(now) || !sameConstant(now, old.get())))
      return raiseCarriedConstant(stringOf(name), assignedAt(name));
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

bool Walker::staticFor(PyObject* node, PyObject* iter, PyObject* callee, const Arguments& arguments,
                       const Keywords& keywords) {
  const AstNames& n = astNames();
  long bounds[3] = {0, 0, 1};
  RangeArguments range;
  if (!readRange(callee, arguments, keywords, range) || !staticBounds(range, bounds))
    return locateError(place(iter)), false;
  PyRef target = attribute(node, n.target), body = attribute(node, n.body);
  if (!target || !body) return false;
  for (long i = bounds[0]; bounds[2] > 0 ? i < bounds[1] : i > bounds[1]; i += bounds[2]) {
    if (!assign(target.get(), makeConstexpr(toPython(i).get())) || !executeAll(body.get())) return false;
  }
  return true;
}

bool Walker::visitFor(PyObject* node) {
  const AstNames& n = astNames();
  PyRef iter = attribute(node, n.iter), target = attribute(node, n.target), body = attribute(node, n.body),
        orelse = attribute(node, n.orelse);
  if (!iter || !target || !body || !orelse) return false;
  if (PyList_Size(orelse.get()) > 0) return refuse(node, statementAdvice("For.orelse"), ErrorClass::Compilation);
  constexpr const char* kOnlyRanges =
      "a kernel loops over range(...), tl.range(...) or tl.static_range(...) only; for the elements of a "
      "tuple t write `for i in tl.static_range(len(t))` and use t[i]";
  if (typeOf(iter.get()) != astClasses().call) return refuse(iter.get(), kOnlyRanges, ErrorClass::Compilation);
  PyRef func = attribute(iter.get(), n.func);
  PyRef callee = func ? evaluate(func.get()) : PyRef();
  if (!callee) return false;
  PyObject* const function = unwrap(callee.get());
  Special special = specialOf(function);
  if (special != Special::Range && special != Special::StaticRange)
    return refuse(iter.get(), kOnlyRanges, ErrorClass::Compilation);
  Arguments arguments;
  Keywords keywords;
  if (!evaluateArguments(iter.get(), arguments, keywords)) return false;
  if (special == Special::StaticRange) return staticFor(node, iter.get(), function, arguments, keywords);
  if (typeOf(target.get()) != astClasses().name)
    return refuse(target.get(), "the variable of a loop over a range is one name", ErrorClass::Compilation);
  PyRef targetName = attribute(target.get(), n.id);
  RangeArguments range;
  LoopBounds loop;
  if (!targetName) return false;
  if (!readRange(function, arguments, keywords, range) || !loopBounds(builder_, range, loop))
    return locateError(place(iter.get())), false;
  const Type& type = loop.type;
  const Value(&bounds)[3] = loop.values;

  mlir::OpBuilder& op = builder_.op();
  mlir::Location here = builder_.location();
  mlir::MLIRContext* context = builder_.context();
  // After the loop its variable is undefined.
  locals_.set(targetName.get(), makeTensor(runTimeValue(type, builder_.poison(type))));
  std::vector<Carried> carried;
  llvm::SmallVector<Value> leaves;
  if (!findCarried(node, targetName.get(), carried, leaves)) return false;
  Locals before = locals_;
  mlir::Block* block = nullptr;
  std::unique_ptr<mlir::Region> region = regionWithBlock(block);
  mlir::Value counter = block->addArgument(bounds[0].ir.getType(), namedPlace(stringOf(targetName.get()), here));
  addCarried(carried, leaves, block);
  llvm::SmallVector<mlir::Value> operands = irOf(bounds), initial = irOf(leaves);
  operands.append(initial);
  llvm::SmallVector<mlir::Type> types(mlir::ValueRange(initial).getTypes());
  {
    RegionGuard guard(*this);
    op.setInsertionPointToEnd(block);
    if (!bindCarried(carried, leaves, block->getArguments().drop_front())) return false;
    builder_.setLocation(namedPlace(stringOf(targetName.get()), here));
    if (loop.backwards) { // a loop upwards whose variable is mirrored
      counter = builder_.createRaw("arith.subi", {bounds[1].ir, counter}, {counter.getType()})->getResult(0);
      counter = builder_.createRaw("arith.addi", {counter, bounds[0].ir}, {counter.getType()})->getResult(0);
    }
    locals_.set(targetName.get(), makeTensor(runTimeValue(type, counter)));
    builder_.setLocation(here);
    if ((takesNotes() && !noteNames()) || !executeAll(body.get())) return false;
    llvm::SmallVector<mlir::Value> yielded;
    // The loop's variable may be assigned in the body; that does not last.
    locals_.set(targetName.get(), PyRef::borrow(before.find(targetName.get())));
    if (!collectYielded(node, carried, before, yielded)) return false;
    builder_.createRaw("scf.yield", yielded, {});
  }
  forgetInner(before, node, "loop");
  locals_ = std::move(before);
  llvm::SmallVector<mlir::NamedAttribute> attributes;
  if (!addIntOption(range.numStages, "tt.num_stages", op, attributes) ||
      !addIntOption(range.unroll, "tt.loop_unroll_factor", op, attributes))
    return false;
  const std::pair<const PyRef*, const char*> kFlags[] = {{&range.noMultiBuffer, "tt.disallow_acc_multi_buffer"},
                                                         {&range.flatten, "tt.flatten"},
                                                         {&range.specialize, "tt.warp_specialize"}};
  for (auto [option, name] : kFlags)
    if (isSet(*option)) attributes.push_back(op.getNamedAttr(name, op.getUnitAttr()));
  if (isSet(range.noLicm)) attributes.push_back(op.getNamedAttr("llvm.loop_annotation", disableLicm(context)));
  if (carried.size() == 1) builder_.setLocation(namedPlace(stringOf(carried[0].name), here));
  mlir::Operation* made = builder_.createRaw("scf.for", operands, types, attributes, region);
  builder_.setLocation(here);
  return bindCarried(carried, leaves, made->getResults());
}

bool Walker::visitWhile(PyObject* node) {
  const AstNames& n = astNames();
  PyRef test = attribute(node, n.test), body = attribute(node, n.body), orelse = attribute(node, n.orelse);
  if (!test || !body || !orelse) return false;
  if (PyList_Size(orelse.get()) > 0) return refuse(node, statementAdvice("While.orelse"), ErrorClass::Compilation);
  // while tl.condition(c, disable_licm=True):
  bool noLicm = false;
  PyRef conditionNode = test;
  if (typeOf(test.get()) == astClasses().call) {
    PyRef func = attribute(test.get(), n.func);
    PyObject* kind = func ? typeOf(func.get()) : nullptr;
    PyObject* const attributeClass = astClasses().attribute;
    PyRef callee = kind == astClasses().name || kind == attributeClass ? evaluate(func.get()) : PyRef();
    if (!callee) PyErr_Clear(); // evaluated again below, with its error in the right place
    if (callee && specialOf(unwrap(callee.get())) == Special::Condition) {
      PyRef args = attribute(test.get(), n.args), keywords = attribute(test.get(), n.keywords);
      if (!args || !keywords || PyList_Size(args.get()) < 1)
        return raiseType("tl.condition takes the condition as its first argument");
      conditionNode = PyRef::borrow(PyList_GetItem(args.get(), 0));
      PyRef option;
      if (PyList_Size(args.get()) > 1) option = evaluate(PyList_GetItem(args.get(), 1));
      for (PyObject* keyword : itemsOf(keywords)) {
        PyRef value = attribute(keyword, n.value);
        option = value ? evaluate(value.get()) : PyRef();
        if (!option) return false;
      }
      noLicm = isSet(option);
    }
  }
  mlir::OpBuilder& op = builder_.op();
  mlir::Location here = builder_.location();
  mlir::MLIRContext* context = builder_.context();
  std::vector<Carried> carried;
  llvm::SmallVector<Value> leaves;
  if (!findCarried(node, nullptr, carried, leaves)) return false;
  Locals before = locals_;
  std::unique_ptr<mlir::Region> regions[2];
  mlir::Block* blocks[2];
  for (int i = 0; i < 2; ++i) {
    regions[i] = regionWithBlock(blocks[i]);
    addCarried(carried, leaves, blocks[i]);
  }
  llvm::SmallVector<mlir::Value> operands = irOf(leaves);
  llvm::SmallVector<mlir::Type> types(mlir::ValueRange(operands).getTypes());
  {
    RegionGuard guard(*this);
    op.setInsertionPointToEnd(blocks[0]);
    if (!bindCarried(carried, leaves, blocks[0]->getArguments())) return false;
    Locals beforeTest = locals_;
    PyRef condition = evaluate(conditionNode.get());
    if (!condition) return false;
    for (size_t i = 0; i < locals_.entries.size(); ++i)
      if (i >= beforeTest.entries.size() || locals_.entries[i].second.get() != beforeTest.entries[i].second.get())
        return refuse(
            test.get(),
            "`:=` in the condition of a `while` is not supported in kernels: assign before the loop and at the end "
            "of its body");
    if (!isTensor(condition.get())) {
      bool isTrue = false;
      if (!compileTimeTruth(condition.get(), test.get(), isTrue)) return false;
      condition = makeConstexpr(isTrue ? Py_True : Py_False);
    }
    builder_.setLocation(locationOf(conditionNode.get()));
    Value i1 = isTensor(condition.get()) ? truth(builder_, condition.get()) : toTensor(builder_, condition.get());
    if (!i1) {
      locateError(place(test.get()));
      return false;
    }
    llvm::SmallVector<mlir::Value> passed{i1.ir};
    llvm::append_range(passed, blocks[0]->getArguments());
    builder_.createRaw("scf.condition", passed, {});
    builder_.setLocation(here);

    op.setInsertionPointToEnd(blocks[1]);
    locals_ = before;
    if (!bindCarried(carried, leaves, blocks[1]->getArguments()) || (takesNotes() && !noteNames()) ||
        !executeAll(body.get()))
      return false;
    llvm::SmallVector<mlir::Value> yielded;
    if (!collectYielded(node, carried, before, yielded)) return false;
    builder_.createRaw("scf.yield", yielded, {});
  }
  forgetInner(before, node, "loop");
  locals_ = std::move(before);
  llvm::SmallVector<mlir::NamedAttribute> attributes;
  if (noLicm) attributes.push_back(op.getNamedAttr("llvm.loop_annotation", disableLicm(context)));
  if (carried.size() == 1) builder_.setLocation(namedPlace(stringOf(carried[0].name), here));
  mlir::Operation* made = builder_.createRaw("scf.while", operands, types, attributes, regions);
  builder_.setLocation(here);
  return bindCarried(carried, leaves, made->getResults());
}

} // namespace tiletwin::frontend
