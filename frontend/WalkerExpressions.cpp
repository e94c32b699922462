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
bool isOperand(PyObject* node, PyObject* value, PyObject* other) {
  PyObject* plain = unwrap(value);
  if (!isTensor(other) || (plain != Py_None && !PyTuple_CheckExact(plain))) return true;
  if (typeOf(node) != astClasses().name) return true;
  PyRef name = attribute(node, astNames().id);
  return name && raiseType("expected a tensor or a number, and " + stringOf(name.get()) + " is " + described(plain) +
                           "; is that what the launch passes for it?");
}

} // namespace

PyRef Walker::visitConstant(PyObject* node) {
  PyRef value = attribute(node, astNames().value);
  return value ? makeConstexpr(value.get()) : PyRef();
}

PyRef Walker::visitName(PyObject* node) {
  PyRef name = attribute(node, astNames().id);
  return name ? lookUp(name.get()) : PyRef();
}

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

PyRef Walker::visitBinOp(PyObject* node) {
  const AstNames& n = astNames();
  PyRef left = attribute(node, n.left), right = attribute(node, n.right), op = attribute(node, n.op);
  if (!left || !right || !op) return {};
  PyRef lhs = evaluate(left.get());
  if (!lhs) return {};
  PyRef rhs = evaluate(right.get());
  const OperatorRow* row = rhs ? operatorRow(op.get()) : nullptr;
  if (!row || !isOperand(left.get(), lhs.get(), rhs.get()) || !isOperand(right.get(), rhs.get(), lhs.get())) return {};
  return binaryValues(*row, lhs.get(), rhs.get());
}

PyRef Walker::visitUnaryOp(PyObject* node) {
  const AstNames& n = astNames();
  PyRef operandNode = attribute(node, n.operand), op = attribute(node, n.op);
  PyRef operand = operandNode && op ? evaluate(operandNode.get()) : PyRef();
  const OperatorRow* row = operand ? operatorRow(op.get()) : nullptr;
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
PyRef Walker::visitBoolOp(PyObject* node) {
  const AstNames& n = astNames();
  PyRef op = attribute(node, n.op), operands = attribute(node, n.values);
  const OperatorRow* row = op && operands ? operatorRow(op.get()) : nullptr;
  if (!row) return {};
  bool isAnd = row->op == AstOperator::And;
  llvm::SmallVector<PyRef> dynamic;
  PyRef last;
  for (PyObject* operand : itemsOf(operands)) {
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

PyRef Walker::visitCompare(PyObject* node) {
  const AstNames& n = astNames();
  PyRef left = attribute(node, n.left), ops = attribute(node, n.ops), comparators = attribute(node, n.comparators);
  PyRef lhs = left && ops && comparators ? evaluate(left.get()) : PyRef();
  if (!lhs) return {};
  llvm::SmallVector<PyRef> dynamic;
  PyRef last;
  const itemsOf operators(ops);
  for (size_t i = 0; i < operators.size(); ++i) {
    PyRef rhs = evaluate(itemsOf(comparators)[i]);
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

PyRef Walker::visitAttribute(PyObject* node) {
  const AstNames& n = astNames();
  PyRef baseNode = attribute(node, n.value), name = attribute(node, n.attr);
  PyRef base = baseNode && name ? evaluate(baseNode.get()) : PyRef();
  return base ? attributeOf(base.get(), name.get()) : PyRef();
}

PyRef Walker::visitSlice(PyObject* node) {
  const AstNames& n = astNames();
  PyRef parts[3];
  PyObject* names[3] = {n.lower, n.upper, n.step};
  for (int i = 0; i < 3; ++i) {
    PyRef part = attribute(node, names[i]);
    if (!part) return {};
    if (part.get() == Py_None) {
      parts[i] = part;
      continue;
    }
    PyRef value = evaluate(part.get());
    if (!value) return {};
    parts[i] = PyRef::borrow(unwrap(value.get()));
  }
  return PyRef::steal(PySlice_New(parts[0].get(), parts[1].get(), parts[2].get()));
}

PyRef Walker::visitSubscript(PyObject* node) {
  const AstNames& n = astNames();
  PyRef baseNode = attribute(node, n.value), sliceNode = attribute(node, n.slice);
  PyRef base = baseNode && sliceNode ? evaluate(baseNode.get()) : PyRef();
  PyRef index = base ? evaluate(sliceNode.get()) : PyRef();
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

PyRef Walker::visitTuple(PyObject* node) {
  PyRef elements = attribute(node, astNames().elts);
  if (!elements) return {};
  llvm::SmallVector<PyRef> values;
  PyObject* const starred = astClasses().starred;
  for (PyObject* element : itemsOf(elements)) {
    if (typeOf(element) == starred) {
      PyRef inner = attribute(element, astNames().value);
      PyRef many = inner ? evaluate(inner.get()) : PyRef();
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

PyRef Walker::visitJoinedStr(PyObject* node) {
  const AstNames& n = astNames();
  PyRef parts = attribute(node, n.values);
  if (!parts) return {};
  PyObject* const constantClass = astClasses().constant;
  std::string text;
  llvm::SmallVector<PyRef> shown; // if a part is a run-time value: texts and such parts in turn
  auto endText = [&] {
    PyRef end = toPython(text);
    shown.push_back(end ? makeConstexpr(end.get()) : PyRef());
    text.clear();
    return bool(shown.back());
  };
  for (PyObject* part : itemsOf(parts)) {
    PyRef inner = attribute(part, n.value);
    if (!inner) return {};
    if (typeOf(part) == constantClass) {
      text += stringOf(inner.get());
      continue;
    }
    PyRef value = evaluate(inner.get());
    if (!value) return {};
    const bool isRunTime = containsTensor(value.get());
    if (isRunTime && !probeDepth_)
      return refuse(part, "an f-string in a kernel can only show compile-time values; this one is a run-time value: "
                          "print it with tl.device_print(\"name\", value)");
    PyRef plain = isRunTime ? value : unwrapDeep(value.get()), conversion = attribute(part, n.conversion),
          spec = attribute(part, n.format_spec);
    if (!plain || !conversion || !spec) return {};
    long how = PyLong_AsLong(conversion.get());
    if (isRunTime) {
      PyRef format = spec.get() == Py_None ? toPython("") : evaluate(spec.get());
      if (!format || !endText()) return {};
      shown.push_back(pyTuple(value, makeConstexpr(conversion.get()), makeConstexpr(unwrap(format.get()))));
      continue;
    }
    if (how == 'r')
      plain = PyRef::steal(PyObject_Repr(plain.get()));
    else if (how == 's')
      plain = PyRef::steal(PyObject_Str(plain.get()));
    else if (how == 'a')
      plain = PyRef::steal(PyObject_ASCII(plain.get()));
    PyRef specText;
    if (spec.get() != Py_None) {
      PyRef evaluated = evaluate(spec.get());
      if (!evaluated) return {};
      specText = PyRef::borrow(unwrap(evaluated.get()));
    }
    PyRef formatted = plain ? PyRef::steal(PyObject_Format(plain.get(), specText.get())) : PyRef();
    if (!formatted) return {};
    text += stringOf(formatted.get());
  }
  if (!shown.empty()) return endText() ? formattedText(shown) : PyRef();
  PyRef result = toPython(text);
  return result ? makeConstexpr(result.get()) : PyRef();
}

PyRef Walker::visitNamedExpr(PyObject* node) {
  const AstNames& n = astNames();
  PyRef target = attribute(node, n.target), valueNode = attribute(node, n.value);
  PyRef name = target ? attribute(target.get(), n.id) : PyRef();
  if (!name || !valueNode) return {};
  {
    LocationGuard guard(*this);
    assigning_ = name.get();
    PyRef value = evaluate(valueNode.get());
    PyRef kept = value ? materialise(builder_, value.get()) : PyRef();
    if (!kept) return {};
    locals_.set(name.get(), std::move(kept));
  }
  return lookUp(name.get());
}

PyRef Walker::visitListComp(PyObject* node) {
  const AstNames& n = astNames();
  PyRef generators = attribute(node, n.generators), element = attribute(node, n.elt);
  if (!generators || !element) return {};
  if (PyList_Size(generators.get()) != 1) return refuse(node, "a comprehension in a kernel can have one `for` only");
  PyObject* generator = PyList_GetItem(generators.get(), 0);
  PyRef iterNode = attribute(generator, n.iter), target = attribute(generator, n.target),
        ifs = attribute(generator, n.ifs);
  PyRef source = iterNode && target && ifs ? evaluate(iterNode.get()) : PyRef();
  if (!source) return {};
  PyRef items = PyRef::borrow(unwrap(source.get()));
  if (!PyTuple_Check(items.get()))
    return refuse(node, "a comprehension in a kernel runs over a tuple; this is a " + typeName(items.get()));
  Locals saved = locals_;
  llvm::SmallVector<PyRef> results;
  for (PyObject* each : itemsOf(items)) {
    PyRef item = wrapConstant(each);
    if (!item || !assign(target.get(), item)) return {};
    bool keep = true;
    for (PyObject* test : itemsOf(ifs)) {
      if (!keep) break;
      PyRef condition = evaluate(test);
      if (!condition || !compileTimeTruth(condition.get(), test, keep)) return {};
    }
    if (!keep) continue;
    results.push_back(evaluate(element.get()));
    if (!results.back()) return {};
  }
  locals_ = std::move(saved);
  return makeTuple(results);
}

PyRef Walker::visitRefusedExpression(PyObject* node) {
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

PyRef Walker::evaluate(PyObject* node) {
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
