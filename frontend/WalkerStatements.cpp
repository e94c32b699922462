// frontend/WalkerStatements.cpp -- statements without control flow: assignments (rule 11), assert, expression
// statements, and what the language does not have, refused with what to write instead.
#include "frontend/Builtins.h"
#include "frontend/ValueRules.h"
#include "frontend/Walker.h"

namespace tiletwin::frontend {
namespace {

struct StatementRow {
  const char* node;
  Walker::StatementHandler handler;
};

} // namespace

std::string Walker::assignedAt(PyObject* name) const {
  auto found = assignedAt_.find(name);
  return found == assignedAt_.end() ? "" : " (line " + std::to_string(found->second) + ")";
}

bool Walker::assign(PyObject* target, PyRef value) {
  const AstNames& n = astNames();
  PyObject* kind = typeOf(target);
  if (kind == astClasses().name) {
    PyRef name = attribute(target, n.id), line = name ? attribute(target, n.lineno) : PyRef();
    if (!line) return false;
    assignedAt_[name.get()] = PyLong_AsLong(line.get()); // the ast keeps the name alive
    locals_.set(name.get(), std::move(value));
    return true;
  }
  if (kind == astClasses().tuple || kind == astClasses().list) {
    PyRef elements = attribute(target, n.elts);
    if (!elements) return false;
    for (PyObject* element : itemsOf(elements))
      if (typeOf(element) == astClasses().starred)
        return refuse(target,
                      "`a, *b = ...` is not supported in kernels: unpack all elements, or index the tuple (t[1:])",
                      ErrorClass::Compilation);
    PyRef tuple = PyRef::borrow(unwrap(value.get()));
    if (!PyTuple_Check(tuple.get()))
      return raiseType("only tuples can be unpacked, and this is " +
                       (isTensor(value.get()) ? "a tensor (" + tensorValue(value.get()).type.str() + ")"
                                              : "a " + typeName(tuple.get())));
    const size_t wanted = itemsOf(elements).size(), given = itemsOf(tuple).size();
    if (wanted != given)
      return raiseValue(llvm::Twine("unpacking ") + llvm::Twine(given) + " values into " + llvm::Twine(wanted) +
                        " names");
    for (size_t i = 0; i < wanted; ++i) {
      PyRef item = wrapConstant(itemsOf(tuple)[i]);
      if (!item || !assign(itemsOf(elements)[i], std::move(item))) return false;
    }
    return true;
  }
  if (kind == astClasses().subscript)
    return refuse(
        target,
        "elements of a tensor or tuple cannot be assigned in a kernel: tensors are values. Make a new one with "
        "tl.where(index == i, new, x), or write memory with tl.store",
        ErrorClass::Compilation);
  return refuse(target,
                "attributes cannot be assigned in a kernel: make a new object (tl.aggregate_replace(obj, field=value))",
                ErrorClass::Compilation);
}

PyRef Walker::valueFor(PyObject* target, PyObject* value) {
  const AstNames& n = astNames();
  if (pendingConstexpr_.empty()) return materialise(builder_, value);
  if (typeOf(target) == astClasses().name) {
    PyRef name = attribute(target, n.id);
    auto pending = llvm::find(pendingConstexpr_, name.get());
    if (pending == pendingConstexpr_.end()) return materialise(builder_, value);
    pendingConstexpr_.erase(pending);
    return PyRef::borrow(value);
  }
  PyObject* tuple = unwrap(value);
  PyRef targets = attributeIfAny(target, n.elts);
  if (!targets || !PyTuple_Check(tuple) || PyTuple_Size(tuple) != PyList_Size(targets.get()))
    return materialise(builder_, value); // not a tuple of names, or a mistake that `assign` reports
  llvm::SmallVector<PyRef> items;
  for (PyObject* each : itemsOf(tuple)) {
    PyRef item = wrapConstant(each);
    items.push_back(item ? valueFor(itemsOf(targets)[items.size()], item.get()) : PyRef());
    if (!items.back()) return {};
  }
  return makeTuple(items);
}

bool Walker::visitAssign(PyObject* node) {
  const AstNames& n = astNames();
  PyRef targets = attribute(node, n.targets), valueNode = attribute(node, n.value);
  if (!targets || !valueNode) return false;
  if (PyList_Size(targets.get()) != 1)
    return refuse(node, "`a = b = value` is not supported in kernels: write two assignments");
  PyObject* target = PyList_GetItem(targets.get(), 0);
  LocationGuard guard(*this);
  PyRef name = typeOf(target) == astClasses().name ? attribute(target, n.id) : PyRef();
  assigning_ = name.get();
  builder_.setLocation(locationOf(node));
  PyRef value = evaluate(valueNode.get());
  if (!value) return false;
  value = valueFor(target, value.get());
  return value && assign(target, std::move(value));
}

bool Walker::isConstexprAnnotation(PyObject* annotation, bool& is) {
  static PyObject* const constexprClass = typeOf(makeConstexpr(Py_None).release());
  is = false;
  PyRef value = evaluate(annotation);
  if (!value) return false;
  PyObject* plain = unwrap(value.get());
  if (PyUnicode_Check(plain)) {
    std::string text = stringOf(plain);
    is = text == "constexpr" || llvm::StringRef(text).ends_with(".constexpr");
  } else {
    is = plain == constexprClass;
  }
  return true;
}

bool Walker::visitAnnAssign(PyObject* node) {
  const AstNames& n = astNames();
  PyRef target = attribute(node, n.target), valueNode = attribute(node, n.value),
        annotation = attribute(node, n.annotation);
  if (!target || !valueNode || !annotation) return false;
  bool isConstexprName = false;
  if (!isConstexprAnnotation(annotation.get(), isConstexprName)) return false;
  PyRef name = typeOf(target.get()) == astClasses().name ? attribute(target.get(), n.id) : PyRef();
  if (valueNode.get() == Py_None) {
    if (isConstexprName && name) pendingConstexpr_.push_back(name.get());
    return true;
  }
  LocationGuard guard(*this);
  assigning_ = name.get();
  builder_.setLocation(locationOf(node));
  PyRef value = evaluate(valueNode.get());
  if (!value) return false;
  if (isConstexprName && name) {
    if (locals_.find(name.get()))
      return raiseValue(stringOf(name.get()) +
                        " is already defined: a tl.constexpr cannot be assigned again; use another name");
    locals_.set(name.get(), std::move(value));
    return true;
  }
  value = materialise(builder_, value.get());
  return value && assign(target.get(), std::move(value));
}

bool Walker::visitAugAssign(PyObject* node) {
  const AstNames& n = astNames();
  PyRef target = attribute(node, n.target), valueNode = attribute(node, n.value), op = attribute(node, n.op);
  if (!target || !valueNode || !op) return false;
  if (typeOf(target.get()) != astClasses().name) return assign(target.get(), {}); // says why not
  PyRef name = attribute(target.get(), n.id);
  const OperatorRow* row = name ? operatorRow(op.get()) : nullptr;
  if (!row) return false;
  LocationGuard guard(*this);
  assigning_ = name.get();
  builder_.setLocation(locationOf(node));
  PyRef lhs = lookUp(name.get());
  PyRef rhs = lhs ? evaluate(valueNode.get()) : PyRef();
  PyRef result = rhs ? binaryValues(*row, lhs.get(), rhs.get()) : PyRef();
  PyRef kept = result ? materialise(builder_, result.get()) : PyRef();
  return kept && assign(target.get(), std::move(kept));
}

bool Walker::visitExpr(PyObject* node) {
  PyRef value = attribute(node, astNames().value);
  unusedCall_ = value.get();
  return value && bool(evaluate(value.get()));
}

bool Walker::visitPass(PyObject*) { return true; }

bool Walker::visitAssert(PyObject* node) {
  const AstNames& n = astNames();
  PyRef testNode = attribute(node, n.test), messageNode = attribute(node, n.msg);
  PyRef test = testNode && messageNode ? evaluate(testNode.get()) : PyRef();
  if (!test) return false;
  PyRef message = messageNode.get() != Py_None ? evaluate(messageNode.get()) : makeConstexpr(toPython("").get());
  if (!message) return false;
  PyRef function = languageFunction("device_assert");
  PyRef args = function ? pyTuple(test, message) : PyRef();
  return args && bool(callBuiltin(function.get(), args.get(), nullptr, builder_));
}

bool Walker::visitReturn(PyObject* node) {
  if (regionDepth_ > 0) return refuse(node, statementAdvice("Return"));
  PyRef valueNode = attribute(node, astNames().value);
  if (!valueNode) return false;
  PyRef value = valueNode.get() == Py_None ? makeConstexpr(Py_None) : evaluate(valueNode.get());
  if (!value) return false;
  returns_.push_back({builder_.op().getInsertionBlock(), std::move(value), builder_.location(), node});
  // What follows in this block can never run; it still takes part in typing.
  auto* dead = new mlir::Block;
  functionRegion_->push_back(dead);
  builder_.op().setInsertionPointToEnd(dead);
  return true;
}

const char* statementAdvice(llvm::StringRef name) {
  static constexpr std::pair<llvm::StringLiteral, const char*> kAdvice[] = {
      {"Break", "`break` is not supported in kernels: use `while` with the condition to go on, or mask what the "
                "remaining iterations do"},
      {"Continue", "`continue` is not supported in kernels: put the rest of the loop's body under an `if`"},
      {"Try", "`try` is not supported in kernels: nothing in a kernel raises. Check with tl.device_assert"},
      {"TryStar", "`try` is not supported in kernels: nothing in a kernel raises. Check with tl.device_assert"},
      {"Raise",
       "`raise` is not supported in kernels: use tl.device_assert, or tl.static_assert for compile-time values"},
      {"FunctionDef",
       "nested function definitions are not allowed inside a kernel: move it to module level and decorate it with "
       "@triton.jit"},
      {"AsyncFunctionDef", "async functions are not supported in kernels"},
      {"ClassDef", "a class cannot be defined inside a kernel: move it to module level"},
      {"With", "`with` is not supported in kernels: write its body without it"},
      {"AsyncFor", "async loops are not supported in kernels"},
      {"AsyncWith", "`with` is not supported in kernels: write its body without it"},
      {"Import", "import modules outside the kernel"},
      {"ImportFrom", "import modules outside the kernel"},
      {"Global", "a kernel cannot assign globals: write results to memory with tl.store"},
      {"Nonlocal", "a kernel cannot assign variables of an enclosing function: write results to memory with tl.store"},
      {"Delete", "`del` is not supported in kernels and not needed: values live as long as they are used"},
      {"Match", "`match` is not supported in kernels: use if/elif"},
      {"Return", "Cannot have `return` statements inside `while` or `for` statements in triton: keep a flag, guard the "
                 "rest of the body with `if`, and return after the loop"},
      {"For.orelse", "`else` after a `for` is not supported in kernels: without `break` it always runs, so put it "
                     "after the loop"},
      {"While.orelse", "`else` after a `while` is not supported in kernels: without `break` it always runs, so put it "
                       "after the loop"},
  };
  for (auto [row, advice] : kAdvice)
    if (name == row) return advice;
  return nullptr;
}

bool Walker::visitRefusedStatement(PyObject* node) {
  std::string name = typeName(node);
  if (const char* advice = statementAdvice(name)) return refuse(node, advice);
  return refuse(node, "a " + name + " statement is not supported in kernels");
}

bool Walker::execute(PyObject* node) {
  static constexpr StatementRow kRows[] = {
      {"Assign", &Walker::visitAssign},
      {"AnnAssign", &Walker::visitAnnAssign},
      {"AugAssign", &Walker::visitAugAssign},
      {"Expr", &Walker::visitExpr},
      {"If", &Walker::visitIf},
      {"For", &Walker::visitFor},
      {"While", &Walker::visitWhile},
      {"Return", &Walker::visitReturn},
      {"Pass", &Walker::visitPass},
      {"Assert", &Walker::visitAssert},
  };
  const StatementRow* row = rowFor<StatementRow>(node, kRows);
  if (!row) return visitRefusedStatement(node);
  mlir::Location saved = builder_.location();
  builder_.setLocation(locationOf(node));
  const bool notes = takesNotes();
  if (notes) { // names that the statement around it binds, as a loop its variable
    if (!noteNames()) return false;
    noteStatement(node);
  }
  bool done = (this->*row->handler)(node) && (!notes || noteNames());
  builder_.setLocation(saved);
  if (!done) locateError(place(node));
  return done;
}

bool Walker::executeAll(PyObject* statements) {
  for (PyObject* statement : itemsOf(statements)) {
    if (!execute(statement)) return false;
    if (typeOf(statement) == astClasses().returnStatement) break; // the rest of the list can never run
  }
  return true;
}

} // namespace tiletwin::frontend
