// frontend/WalkerNotes.cpp -- notes for a native debugger: tt.debug_line before each statement, tt.debug_bind and
// tt.debug_constant for each name that has got a value (SemanticOptions::notes).
// Here:      which names changed since the last note, and what of their values is noted.
// Not here:  what the notes mean (ir/NativeDebugOps.td); the language's own functions, which get none.
// Invariant: a name is noted once for each object it holds; afterwards it holds the result of the note.
#include "frontend/Structure.h"
#include "frontend/Walker.h"
#include <algorithm>

namespace tiletwin::frontend {
namespace {

/// What a debugger's expressions can name: "t.0" becomes "t_0".
std::string identifier(std::string name) {
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

/// A compile-time value as an attribute, and its type; null if there is nothing to show.
mlir::Attribute constantAttribute(mlir::OpBuilder& op, PyObject* value, const char*& type) {
  if (PyBool_Check(value)) {
    type = "int1";
    return op.getI64IntegerAttr(value == Py_True);
  }
  if (PyLong_Check(value)) {
    int overflow = 0;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    type = number == int32_t(number) ? "int32" : "int64";
    return overflow ? mlir::Attribute() : op.getI64IntegerAttr(number);
  }
  if (PyFloat_Check(value)) {
    type = "fp64";
    return op.getF64FloatAttr(PyFloat_AsDouble(value));
  }
  if (PyUnicode_Check(value)) {
    type = "str";
    return op.getStringAttr(stringOf(value));
  }
  return {};
}

bool isPoison(const Value& value) {
  mlir::Operation* made = value.ir.getDefiningOp();
  return made && made->getName().getStringRef() == "ub.poison";
}

} // namespace

bool Walker::takesNotes() const {
  return builder_.options().notes && !llvm::StringRef(info_->mangledName).starts_with("tiletwin.");
}

void Walker::noteStatement(Ast node) {
  if (node.isExpr() && node.value().isConstant()) return; // a docstring is no place to stop at
  builder_.createRaw("tt.debug_line", {}, {});
}

Value Walker::noteTensor(const std::string& name, const Value& value) {
  if (value.type.isDescriptor() || isPoison(value)) return value;
  mlir::OpBuilder& op = builder_.op();
  const mlir::NamedAttribute attributes[] = {
      op.getNamedAttr("name", op.getStringAttr(identifier(name))),
      op.getNamedAttr("languageType", op.getStringAttr(value.type.element().str()))};
  mlir::Operation* made = builder_.createRaw("tt.debug_bind", {value.ir}, {value.ir.getType()}, attributes);
  return runTimeValue(value.type, made->getResult(0));
}

bool Walker::noteNames() {
  mlir::OpBuilder& op = builder_.op();
  for (size_t i = 0; i < locals_.entries.size(); ++i) {
    const auto [key, value] = std::pair(locals_.entries[i].first, PyRef::borrow(locals_.entries[i].second.get()));
    if (!value || !noted_.insert({key, value.get()}).second) continue;
    notedObjects_.push_back(PyRef::borrow(value.get()));
    const std::string name = stringOf(key);
    if (isConstexpr(value.get())) {
      const char* type = "";
      mlir::Attribute constant = constantAttribute(op, constexprValue(value.get()), type);
      PyErr_Clear();
      if (constant)
        builder_.createRaw("tt.debug_constant", {}, {},
                           {op.getNamedAttr("name", op.getStringAttr(identifier(name))),
                            op.getNamedAttr("languageType", op.getStringAttr(type)),
                            op.getNamedAttr("value", constant)});
      continue;
    }
    PyRef now;
    if (isTensor(value.get())) {
      now = makeTensor(noteTensor(name, tensorValue(value.get())));
    } else {
      Structure structure;
      llvm::SmallVector<Value> leaves;
      llvm::SmallVector<std::string> names;
      if (!takeApart(value.get(), structure, &leaves)) return false;
      if (leaves.empty()) continue;
      leafNames(structure, name, names);
      for (size_t j = 0; j < leaves.size(); ++j) leaves[j] = noteTensor(names[j], leaves[j]);
      now = putAllTogether(structure, leaves);
    }
    if (!now) return false;
    noted_.insert({key, now.get()});
    notedObjects_.push_back(PyRef::borrow(now.get()));
    locals_.entries[i].second = std::move(now);
  }
  return true;
}

} // namespace tiletwin::frontend
