// frontend/WalkerExpressions.cpp -- what each expression of a kernel evaluates to.
// Operations on tensors go to the semantic layer; compile-time operands are computed by Python and stay compile-time.
#include "frontend/NumberOps.h"
#include "frontend/ValueRules.h"
#include "frontend/Walker.h"

namespace tiletwin::frontend {
namespace {

struct ExpressionRow {
  const char* node;
  Walker::ExpressionHandler handler;
  bool locates; ///< false: makes no operations, so the location need not be set
};

struct RuntimeCompare {
  AstOperator op;
  CompareOp compare;
  int compileTime;
};
constexpr RuntimeCompare kCompare[] = {
    {AstOperator::Lt, CompareOp::LT, Py_LT}, {AstOperator::LtE, CompareOp::LE, Py_LE},
    {AstOperator::Gt, CompareOp::GT, Py_GT}, {AstOperator::GtE, CompareOp::GE, Py_GE},
    {AstOperator::Eq, CompareOp::EQ, Py_EQ}, {AstOperator::NotEq, CompareOp::NE, Py_NE},
};

PyRef tensorOrNull(const Value& value) { return value ? makeTensor(value) : PyRef(); }

/// Adds to the AttributeError that is set what may have been meant.
void adviseAttribute(PyObject* object, PyObject* name) {
  std::string advice;
  if (PyTuple_Check(object) && stringOf(name) == "append") {
    advice = "; lists are tuples in kernels and do not change: t = t + (x,)";
  } else if (calleeKind(object) == CalleeKind::Module) {
    const ErrorKept kept;
    PyRef names = PyRef::steal(PyObject_Dir(object));
    if (names) advice = didYouMean(name, names.get());
  }
  if (advice.empty()) return;
  PyRef error = takeError();
  PyRef text = PyRef::steal(PyObject_Str(error.get()));
  raise(typeOf(error.get()), stringOf(text.get()) + advice);
}

/// False with TypeError set: a variable stands beside a tensor and is None or a tuple, as a launch with None or a list
/// in place of a tensor makes it.
bool isOperand(Ast node, PyObject* value, PyObject* other) {
  PyObject* plain = unwrap(value);
  if (!isTensor(other) || (plain != Py_None && !PyTuple_CheckExact(plain))) return true;
  if (!node.isName()) return true;
  return raiseType("expected a tensor or a number, and " + stringOf(node.id()) + " is " + described(plain) +
                   "; is that what the launch passes for it?");
}

} // namespace

PyRef Walker::visitConstant(Ast node) { return makeConstexpr(node.value()); }

PyRef Walker::visitName(Ast node) { return lookUp(node.id()); }

std::optional<PyRef> Walker::operatorMethod(PyObject* owner, const char* method, PyObject* other) {
  if (!*method || !isAggregate(owner)) return std::nullopt;
  PyRef function = attributeIfAny(typeOf(owner), method);
  if (!function || calleeKind(function.get()) != CalleeKind::Jit) return std::nullopt;
  Arguments arguments{PyRef::borrow(owner)};
  if (other) arguments.push_back(PyRef::borrow(other));
  return callJit(builder_, function.get(), arguments, {});
}

std::optional<PyRef> Walker::operatorMethod(const OperatorRow& row, PyObject* lhs, PyObject* rhs) {
  std::optional<PyRef> made = operatorMethod(lhs, row.method, rhs);
  return made ? made : operatorMethod(rhs, row.reflected, lhs);
}

PyRef Walker::binaryValues(const OperatorRow& row, PyObject* lhs, PyObject* rhs) {
  if (std::optional<PyRef> made = operatorMethod(row, lhs, rhs)) return *made;
  bool runTime = isTensor(lhs) || isTensor(rhs);
  for (const NumberOp& entry : kNumberOps)
    if (entry.node == row.op)
      return runTime ? tensorOrNull(binary(builder_, entry.op, lhs, rhs))
                     : wrapConstant(PyRef::steal(entry.compileTime(unwrap(lhs), unwrap(rhs))));
  const bool isPower = row.op == AstOperator::Pow;
  if (runTime)
    return refuse(nullptr, llvm::Twine("`") + row.symbol + "` does not work on tensors: " +
                               (isPower ? "multiply (x * x), or use tl.exp2(y * tl.log2(x))" : "use tl.dot(a, b)"));
  return wrapConstant(PyRef::steal(isPower ? PyNumber_Power(unwrap(lhs), unwrap(rhs), Py_None)
                                           : PyNumber_MatrixMultiply(unwrap(lhs), unwrap(rhs))));
}

PyRef Walker::compareValues(const OperatorRow& row, PyObject* lhs, PyObject* rhs) {
  if (row.op == AstOperator::Is || row.op == AstOperator::IsNot)
    return makeConstexpr(isSame(lhs, rhs) == (row.op == AstOperator::Is) ? Py_True : Py_False);
  if (row.op == AstOperator::In || row.op == AstOperator::NotIn) {
    int in = contains(rhs, lhs);
    return in < 0 ? PyRef() : makeConstexpr((in == 1) == (row.op == AstOperator::In) ? Py_True : Py_False);
  }
  if (std::optional<PyRef> made = operatorMethod(row, lhs, rhs)) return *made;
  for (const RuntimeCompare& entry : kCompare)
    if (entry.op == row.op) {
      if (isTensor(lhs) || isTensor(rhs)) return tensorOrNull(compare(builder_, entry.compare, lhs, rhs));
      PyRef x = unwrapDeep(lhs), y = unwrapDeep(rhs);
      return x && y ? wrapConstant(PyRef::steal(PyObject_RichCompare(x.get(), y.get(), entry.compileTime))) : PyRef();
    }
  return raiseNotImplemented(llvm::Twine("comparison ") + row.symbol + " is not supported in kernels");
}

PyRef Walker::visitBinOp(Ast node) {
  PyRef lhs = evaluate(node.left()), rhs = lhs ? evaluate(node.right()) : PyRef();
  const OperatorRow* row = rhs ? operatorRow(node.op()) : nullptr;
  if (!row || !isOperand(node.left(), lhs.get(), rhs.get()) || !isOperand(node.right(), rhs.get(), lhs.get()))
    return {};
  return binaryValues(*row, lhs.get(), rhs.get());
}

PyRef Walker::visitUnaryOp(Ast node) {
  PyRef operand = evaluate(node.operand());
  const OperatorRow* row = operand ? operatorRow(node.op()) : nullptr;
  if (!row) return {};
  if (isTensor(operand.get())) {
    switch (row->op) {
    case AstOperator::USub: return tensorOrNull(unary(builder_, UnaryOp::Neg, operand.get()));
    case AstOperator::UAdd: return operand;
    case AstOperator::Invert: return tensorOrNull(unary(builder_, UnaryOp::Invert, operand.get()));
    default: return tensorOrNull(unary(builder_, UnaryOp::Not, operand.get()));
    }
  }
  if (std::optional<PyRef> made = operatorMethod(operand.get(), row->method, nullptr)) return *made;
  PyObject* value = unwrap(operand.get());
  if (row->op == AstOperator::Not) {
    int truth = PyObject_IsTrue(value);
    return truth < 0 ? PyRef() : makeConstexpr(truth ? Py_False : Py_True);
  }
  return wrapConstant(PyRef::steal(row->op == AstOperator::USub   ? PyNumber_Negative(value)
                                   : row->op == AstOperator::UAdd ? PyNumber_Positive(value)
                                                                  : PyNumber_Invert(value)));
}

PyRef Walker::combineTruth(bool isAnd, llvm::SmallVectorImpl<PyRef>& values) {
  PyRef result = values.pop_back_val();
  while (!values.empty()) {
    PyRef lhs = values.pop_back_val();
    result =
        tensorOrNull(binary(builder_, isAnd ? BinaryOp::LogicalAnd : BinaryOp::LogicalOr, lhs.get(), result.get()));
    if (!result) return {};
  }
  return result;
}

// Rule 14: run-time operands are all computed; a compile-time operand decides or drops out.
PyRef Walker::visitBoolOp(Ast node) {
  const OperatorRow* row = operatorRow(node.op());
  if (!row) return {};
  bool isAnd = row->op == AstOperator::And;
  llvm::SmallVector<PyRef> dynamic;
  PyRef last;
  for (Ast operand : itemsOf(node.values())) {
    last = evaluate(operand);
    if (!last) return {};
    if (isTensor(last.get())) {
      dynamic.push_back(last);
      continue;
    }
    int truth = PyObject_IsTrue(unwrap(last.get()));
    if (truth < 0) return {};
    if (bool(truth) != isAnd) return last;
  }
  return dynamic.empty() ? last : combineTruth(isAnd, dynamic);
}

PyRef Walker::visitCompare(Ast node) {
  PyRef lhs = evaluate(node.left());
  if (!lhs) return {};
  llvm::SmallVector<PyRef> dynamic;
  PyRef last;
  const itemsOf operators(node.ops()), comparators(node.comparators());
  for (size_t i = 0; i < operators.size(); ++i) {
    PyRef rhs = evaluate(comparators[i]);
    const OperatorRow* row = rhs ? operatorRow(operators[i]) : nullptr;
    last = row ? compareValues(*row, lhs.get(), rhs.get()) : PyRef();
    if (!last || operators.size() == 1) return last;
    if (isTensor(last.get())) {
      dynamic.push_back(last);
    } else {
      int truth = PyObject_IsTrue(unwrap(last.get()));
      if (truth <= 0) return truth < 0 ? PyRef() : last;
    }
    lhs = std::move(rhs);
  }
  return dynamic.empty() ? last : combineTruth(true, dynamic);
}

PyRef Walker::attributeOf(PyObject* base, PyObject* name) {
  static PyObject* const valueName = interned("value");
  static PyObject* const typeNameText = interned("type");
  if (isConstexpr(base) && name != valueName && name != typeNameText) base = constexprValue(base);
  if (isAggregate(base)) {
    PyRef method = attributeIfAny(typeOf(base), name);
    if (method && calleeKind(method.get()) == CalleeKind::Jit) return bindMethod(method.get(), base);
  }
  PyRef result = attribute(base, name);
  if (!result && name == typeNameText && PyTuple_Check(base)) {
    PyErr_Clear();
    result = typeOfTuple(base);
  }
  if (!result && PyErr_ExceptionMatches(PyExc_AttributeError)) adviseAttribute(base, name);
  return wrapConstant(result);
}

PyRef Walker::visitAttribute(Ast node) {
  PyRef base = evaluate(node.value());
  return base ? attributeOf(base.get(), node.attr()) : PyRef();
}

PyRef Walker::visitSlice(Ast node) {
  PyRef parts[3];
  for (auto [part, bound] : llvm::zip(parts, std::array{node.lower(), node.upper(), node.step()})) {
    part = bound.isNone() ? none() : evaluate(bound);
    if (!part) return {};
    part = PyRef::borrow(unwrap(part.get()));
  }
  return PyRef::steal(PySlice_New(parts[0].get(), parts[1].get(), parts[2].get()));
}

PyRef Walker::visitSubscript(Ast node) {
  PyRef base = evaluate(node.value()), index = base ? evaluate(node.slice()) : PyRef();
  PyRef plain = index ? unwrapDeep(index.get()) : PyRef();
  if (!plain) return {};
  if (isTensor(base.get())) return tensorOrNull(subscript(builder_, tensorValue(base.get()), plain.get()));
  if (std::optional<PyRef> made = operatorMethod(base.get(), "__getitem__", index.get())) return *made;
  if (isTensor(plain.get()))
    return raiseType("tuples are indexed by compile-time integers; this index is a run-time value of type " +
                     tensorValue(plain.get()).type.str() + ". Loop with tl.static_range, or keep the data in a tensor");
  if (calleeKind(unwrap(base.get())) == CalleeKind::Jit)
    return raiseType("a kernel cannot launch another kernel: call the function without [...]");
  return wrapConstant(PyRef::steal(PyObject_GetItem(unwrap(base.get()), plain.get())));
}

PyRef Walker::visitTuple(Ast node) {
  llvm::SmallVector<PyRef> values;
  for (Ast element : itemsOf(node.elts())) {
    if (element.isStarred()) {
      PyRef many = evaluate(element.value());
      if (!many) return {};
      if (!PyTuple_Check(unwrap(many.get()))) return raiseType("only tuples can be unpacked with *");
      for (PyObject* item : itemsOf(unwrap(many.get()))) values.push_back(wrapConstant(item));
      continue;
    }
    values.push_back(evaluate(element));
    if (!values.back()) return {};
  }
  return makeTuple(values);
}

PyRef Walker::visitJoinedStr(Ast node) {
  std::string text;
  llvm::SmallVector<PyRef> shown; // if a part is a run-time value: texts and such parts in turn
  auto endText = [&] {
    PyRef end = toPython(text);
    shown.push_back(end ? makeConstexpr(end.get()) : PyRef());
    text.clear();
    return bool(shown.back());
  };
  for (Ast part : itemsOf(node.values())) {
    if (part.isConstant()) {
      text += stringOf(part.value());
      continue;
    }
    PyRef value = evaluate(part.value());
    if (!value) return {};
    const bool isRunTime = containsTensor(value.get());
    if (isRunTime && !probeDepth_)
      return refuse(part, "an f-string in a kernel can only show compile-time values; this one is a run-time value: "
                          "print it with tl.device_print(\"name\", value)");
    PyRef spec = part.format_spec().isNone() ? toPython("") : evaluate(part.format_spec());
    if (!spec) return {};
    spec = PyRef::borrow(unwrap(spec.get()));
    if (isRunTime) {
      if (!endText()) return {};
      shown.push_back(pyTuple(value, makeConstexpr(part.conversion()), makeConstexpr(spec.get())));
      continue;
    }
    PyRef plain = unwrapDeep(value.get());
    if (!plain) return {};
    const long how = PyLong_AsLong(part.conversion());
    if (how == 'r')
      plain = PyRef::steal(PyObject_Repr(plain.get()));
    else if (how == 's')
      plain = PyRef::steal(PyObject_Str(plain.get()));
    else if (how == 'a')
      plain = PyRef::steal(PyObject_ASCII(plain.get()));
    PyRef formatted = plain ? PyRef::steal(PyObject_Format(plain.get(), spec.get())) : PyRef();
    if (!formatted) return {};
    text += stringOf(formatted.get());
  }
  if (!shown.empty()) return endText() ? formattedText(shown) : PyRef();
  PyRef result = toPython(text);
  return result ? makeConstexpr(result.get()) : PyRef();
}

PyRef Walker::visitNamedExpr(Ast node) {
  PyObject* const name = node.target().id();
  {
    LocationGuard guard(*this);
    assigning_ = name;
    PyRef value = evaluate(node.value());
    PyRef kept = value ? materialise(builder_, value.get()) : PyRef();
    if (!kept) return {};
    locals_.set(name, std::move(kept));
  }
  return lookUp(name);
}

PyRef Walker::visitListComp(Ast node) {
  const itemsOf generators(node.generators());
  if (generators.size() != 1) return refuse(node, "a comprehension in a kernel can have one `for` only");
  const Ast generator = generators[0];
  PyRef source = evaluate(generator.iter());
  if (!source) return {};
  PyRef items = PyRef::borrow(unwrap(source.get()));
  if (!PyTuple_Check(items.get()))
    return refuse(node, "a comprehension in a kernel runs over a tuple; this is a " + typeName(items.get()));
  Locals saved = locals_;
  llvm::SmallVector<PyRef> results;
  for (PyObject* each : itemsOf(items)) {
    PyRef item = wrapConstant(each);
    if (!item || !assign(generator.target(), item)) return {};
    bool keep = true;
    for (Ast test : itemsOf(generator.ifs())) {
      if (!keep) break;
      PyRef condition = evaluate(test);
      if (!condition || !compileTimeTruth(condition.get(), test, keep)) return {};
    }
    if (!keep) continue;
    results.push_back(evaluate(node.elt()));
    if (!results.back()) return {};
  }
  locals_ = std::move(saved);
  return makeTuple(results);
}

PyRef Walker::visitRefusedExpression(Ast node) {
  static constexpr std::pair<const char*, const char*> kAdvice[] = {
      {"Lambda",
       "a lambda cannot be defined in a kernel: define a function with @triton.jit at module level and call that"},
      {"Dict", "dictionaries are not supported in kernels: use separate variables, a tuple, or a NamedTuple"},
      {"Set", "sets are not supported in kernels: use a tuple"},
      {"DictComp", "dictionaries are not supported in kernels: use a tuple"},
      {"SetComp", "sets are not supported in kernels: use a tuple"},
      {"Await", "await is not supported in kernels"},
      {"Yield", "yield is not supported in kernels: return a tuple"},
      {"YieldFrom", "yield is not supported in kernels: return a tuple"},
      {"Starred", "* is supported in calls (f(*args)) and tuples only"},
  };
  std::string name = typeName(node);
  for (auto [row, advice] : kAdvice)
    if (name == row) return refuse(node, advice);
  return refuse(node, "a " + name + " expression is not supported in kernels");
}

PyRef Walker::evaluate(Ast node) {
  if (!node) return {};
  static constexpr ExpressionRow kRows[] = {
      {"Name", &Walker::visitName, false},
      {"Constant", &Walker::visitConstant, false},
      {"BinOp", &Walker::visitBinOp, true},
      {"Call", &Walker::visitCall, true},
      {"Attribute", &Walker::visitAttribute, true},
      {"Subscript", &Walker::visitSubscript, true},
      {"Compare", &Walker::visitCompare, true},
      {"BoolOp", &Walker::visitBoolOp, true},
      {"UnaryOp", &Walker::visitUnaryOp, true},
      {"Tuple", &Walker::visitTuple, false},
      {"List", &Walker::visitTuple, false},
      {"Slice", &Walker::visitSlice, false},
      {"IfExp", &Walker::visitIfExp, true},
      {"JoinedStr", &Walker::visitJoinedStr, false},
      {"NamedExpr", &Walker::visitNamedExpr, true},
      {"ListComp", &Walker::visitListComp, true},
      {"GeneratorExp", &Walker::visitListComp, true},
  };
  const ExpressionRow* row = rowFor<ExpressionRow>(node, kRows);
  if (!row) return visitRefusedExpression(node);
  mlir::Location saved = builder_.location();
  if (row->locates) builder_.setLocation(locationOf(node));
  PyRef result = (this->*row->handler)(node);
  builder_.setLocation(saved);
  if (!result) locateError(place(node));
  return result;
}

} // namespace tiletwin::frontend
