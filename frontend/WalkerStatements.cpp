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

bool Walker::assign(Ast target, PyRef value) {
  if (target.isName()) {
    assignedAt_[target.id()] = PyLong_AsLong(target.lineno());
    locals_.set(target.id(), std::move(value));
    return true;
  }
  if (target.isTuple() || target.isList()) {
    const itemsOf elements(target.elts());
    for (Ast element : elements)
      if (element.isStarred())
        return refuse(target,
                      "`a, *b = ...` is not supported in kernels: unpack all elements, or index the tuple (t[1:])",
                      ErrorClass::Compilation);
    PyRef tuple = PyRef::borrow(unwrap(value.get()));
    if (!PyTuple_Check(tuple.get()))
      return raiseType("only tuples can be unpacked, and this is " +
                       (isTensor(value.get()) ? "a tensor (" + tensorValue(value.get()).type.str() + ")"
                                              : "a " + typeName(tuple.get())));
    const size_t wanted = elements.size(), given = itemsOf(tuple).size();
    if (wanted != given)
      return raiseValue(llvm::Twine("unpacking ") + llvm::Twine(given) + " values into " + llvm::Twine(wanted) +
                        " names");
    for (size_t i = 0; i < wanted; ++i) {
      PyRef item = wrapConstant(itemsOf(tuple)[i]);
      if (!item || !assign(elements[i], std::move(item))) return false;
    }
    return true;
  }
  if (target.isSubscript())
    return refuse(
        target,
        "elements of a tensor or tuple cannot be assigned in a kernel: tensors are values. Make a new one with "
        "tl.where(index == i, new, x), or write memory with tl.store",
        ErrorClass::Compilation);
  return refuse(target,
                "attributes cannot be assigned in a kernel: make a new object (tl.aggregate_replace(obj, field=value))",
                ErrorClass::Compilation);
}

PyRef Walker::valueFor(Ast target, PyObject* value) {
  if (pendingConstexpr_.empty()) return materialise(builder_, value);
  if (target.isName()) {
    auto pending = llvm::find(pendingConstexpr_, target.id());
    if (pending == pendingConstexpr_.end()) return materialise(builder_, value);
    pendingConstexpr_.erase(pending);
    return PyRef::borrow(value);
  }
  PyObject* tuple = unwrap(value);
  const itemsOf targets(target.isTuple() || target.isList() ? target.elts() : Ast());
  if (!PyTuple_Check(tuple) || itemsOf(tuple).size() != targets.size())
    return materialise(builder_, value); // not a tuple of names, or a mistake that `assign` reports
  llvm::SmallVector<PyRef> items;
  for (PyObject* each : itemsOf(tuple)) {
    PyRef item = wrapConstant(each);
    items.push_back(item ? valueFor(targets[items.size()], item.get()) : PyRef());
    if (!items.back()) return {};
  }
  return makeTuple(items);
}

bool Walker::visitAssign(Ast node) {
  const itemsOf targets(node.targets());
  if (targets.size() != 1) return refuse(node, "`a = b = value` is not supported in kernels: write two assignments");
  const Ast target = targets[0];
  LocationGuard guard(*this);
  assigning_ = target.isName() ? target.id() : Ast();
  builder_.setLocation(locationOf(node));
  PyRef value = evaluate(node.value());
  if (!value) return false;
  value = valueFor(target, value.get());
  return value && assign(target, std::move(value));
}

bool Walker::isConstexprAnnotation(Ast annotation, bool& is) {
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

bool Walker::visitAnnAssign(Ast node) {
  bool isConstexprName = false;
  if (!isConstexprAnnotation(node.annotation(), isConstexprName)) return false;
  PyObject* const name = node.target().isName() ? node.target().id() : Ast();
  if (node.value().isNone()) {
    if (isConstexprName && name) pendingConstexpr_.push_back(name);
    return true;
  }
  LocationGuard guard(*this);
  assigning_ = name;
  builder_.setLocation(locationOf(node));
  PyRef value = evaluate(node.value());
  if (!value) return false;
  if (isConstexprName && name) {
    if (locals_.find(name))
      return raiseValue(stringOf(name) +
                        " is already defined: a tl.constexpr cannot be assigned again; use another name");
    locals_.set(name, std::move(value));
    return true;
  }
  value = materialise(builder_, value.get());
  return value && assign(node.target(), std::move(value));
}

bool Walker::visitAugAssign(Ast node) {
  if (!node.target().isName()) return assign(node.target(), {}); // says why not
  PyObject* const name = node.target().id();
  const OperatorRow* row = operatorRow(node.op());
  if (!row) return false;
  LocationGuard guard(*this);
  assigning_ = name;
  builder_.setLocation(locationOf(node));
  PyRef lhs = lookUp(name);
  PyRef rhs = lhs ? evaluate(node.value()) : PyRef();
  PyRef result = rhs ? binaryValues(*row, lhs.get(), rhs.get()) : PyRef();
  PyRef kept = result ? materialise(builder_, result.get()) : PyRef();
  return kept && assign(node.target(), std::move(kept));
}

bool Walker::visitExpr(Ast node) {
  unusedCall_ = node.value();
  return bool(evaluate(node.value()));
}

bool Walker::visitPass(Ast) { return true; }

bool Walker::visitAssert(Ast node) {
  PyRef test = evaluate(node.test());
  if (!test) return false;
  PyRef message = node.msg().isNone() ? makeConstexpr(toPython("").get()) : evaluate(node.msg());
  if (!message) return false;
  PyRef function = languageFunction("device_assert");
  PyRef args = function ? pyTuple(test, message) : PyRef();
  return args && bool(callBuiltin(function.get(), args.get(), nullptr, builder_));
}

bool Walker::visitReturn(Ast node) {
  if (regionDepth_ > 0) return refuse(node, statementAdvice("Return"));
  PyRef value = node.value().isNone() ? makeConstexpr(Py_None) : evaluate(node.value());
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

bool Walker::visitRefusedStatement(Ast node) {
  std::string name = typeName(node);
  if (const char* advice = statementAdvice(name)) return refuse(node, advice);
  return refuse(node, "a " + name + " statement is not supported in kernels");
}

bool Walker::execute(Ast node) {
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

bool Walker::executeAll(Ast statements) {
  for (Ast statement : itemsOf(statements)) {
    if (!execute(statement)) return false;
    if (statement.isReturn()) break; // the rest of the list can never run
  }
  return true;
}

} // namespace tiletwin::frontend
