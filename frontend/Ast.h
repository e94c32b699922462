// frontend/Ast.h -- Python's ast as the walker reads it: nodes with their fields and classes, operators.
#pragma once
#include "frontend/PyValues.h"
#include "frontend/Semantic.h"
#include "llvm/ADT/DenseMap.h"

namespace tiletwin::frontend {

// clang-format off
/// Fields of nodes that the walker reads.
#define TILETWIN_AST_FIELDS(X)                                                                                       \
  X(lineno) X(col_offset) X(id) X(value) X(targets) X(target) X(annotation) X(op) X(ops) X(left) X(right) X(operand) \
  X(values) X(comparators) X(test) X(body) X(orelse) X(func) X(args) X(keywords) X(arg) X(attr) X(slice) X(elts)     \
  X(lower) X(upper) X(step) X(iter) X(msg) X(conversion) X(elt) X(generators) X(ifs) X(posonlyargs) X(vararg)        \
  X(kwonlyargs) X(kwarg) X(format_spec)
/// Classes of nodes that it tells apart by hand.
#define TILETWIN_AST_CLASSES(X)                                                                                   \
  X(Assign) X(AnnAssign) X(AugAssign) X(For) X(While) X(If) X(With) X(Return) X(Expr) X(Name) X(Tuple) X(List)    \
  X(Call) X(NamedExpr) X(Attribute) X(Constant) X(Starred) X(Subscript)
// clang-format on

/// `ast.<name>`: one reference is kept for ever. Null with an error set.
PyObject* astClass(const char* name);

/// A node of a tree that the parser made, or what one of its fields holds: a list, a name, None. The tree keeps it alive.
/// Names, classes and keys are looked up once per process. Null, with an error set, for a field that the node does not have.
class Ast {
public:
  Ast(PyObject* object = nullptr) : object_(object) {}
  operator PyObject*() const { return object_; }
  bool isNone() const { return object_ == Py_None; }

#define TILETWIN_FIELD(name)                                                                                           \
  Ast name() const {                                                                                                   \
    static PyObject* const key = interned(#name);                                                                      \
    return attribute(object_, key).get();                                                                              \
  }
  TILETWIN_AST_FIELDS(TILETWIN_FIELD)
#undef TILETWIN_FIELD

#define TILETWIN_CLASS(name)                                                                                           \
  bool is##name() const {                                                                                              \
    static PyObject* const cls = astClass(#name);                                                                      \
    return object_ && typeOf(object_) == cls;                                                                          \
  }
  TILETWIN_AST_CLASSES(TILETWIN_CLASS)
#undef TILETWIN_CLASS

private:
  PyObject* object_;
};

/// What the one table of such rows has for a node, by its class in ast; null: nothing.
template <class Row> const Row* rowFor(PyObject* node, llvm::ArrayRef<Row> rows) {
  static const llvm::DenseMap<PyObject*, const Row*> table = [&] {
    llvm::DenseMap<PyObject*, const Row*> made;
    for (const Row& row : rows) made[astClass(row.node)] = &row;
    return made;
  }();
  return table.lookup(typeOf(node));
}

/// Python's operators: class in ast, symbol, method of objects that have their own, method of the other operand.
#define TILETWIN_AST_OPERATORS(X)                                                                                      \
  X(Add, "+", "__add__", "__radd__")                                                                                   \
  X(Sub, "-", "__sub__", "__rsub__")                                                                                   \
  X(Mult, "*", "__mul__", "__rmul__")                                                                                  \
  X(Div, "/", "__truediv__", "__rtruediv__")                                                                           \
  X(FloorDiv, "//", "__floordiv__", "__rfloordiv__")                                                                   \
  X(Mod, "%", "__mod__", "__rmod__")                                                                                   \
  X(Pow, "**", "__pow__", "__rpow__")                                                                                  \
  X(MatMult, "@", "__matmul__", "__rmatmul__")                                                                         \
  X(LShift, "<<", "__lshift__", "__rlshift__")                                                                         \
  X(RShift, ">>", "__rshift__", "__rrshift__")                                                                         \
  X(BitAnd, "&", "__and__", "__rand__")                                                                                \
  X(BitOr, "|", "__or__", "__ror__")                                                                                   \
  X(BitXor, "^", "__xor__", "__rxor__")                                                                                \
  X(Eq, "==", "__eq__", "__eq__")                                                                                      \
  X(NotEq, "!=", "__ne__", "__ne__")                                                                                   \
  X(Lt, "<", "__lt__", "__gt__")                                                                                       \
  X(LtE, "<=", "__le__", "__ge__")                                                                                     \
  X(Gt, ">", "__gt__", "__lt__")                                                                                       \
  X(GtE, ">=", "__ge__", "__le__")                                                                                     \
  X(Is, "is", "", "")                                                                                                  \
  X(IsNot, "is not", "", "")                                                                                           \
  X(In, "in", "", "")                                                                                                  \
  X(NotIn, "not in", "", "")                                                                                           \
  X(And, "and", "logical_and", "logical_and")                                                                          \
  X(Or, "or", "logical_or", "logical_or")                                                                              \
  X(USub, "-", "__neg__", "")                                                                                          \
  X(UAdd, "+", "__pos__", "")                                                                                          \
  X(Invert, "~", "__invert__", "")                                                                                     \
  X(Not, "not", "__not__", "")

#define TILETWIN_NAME(name, ...) name,
enum class AstOperator : uint8_t { TILETWIN_AST_OPERATORS(TILETWIN_NAME) };
#undef TILETWIN_NAME

/// How one Python operator is done at run time and at compile time.
struct OperatorRow {
  const char* node; ///< class in ast
  AstOperator op;
  const char* symbol;
  const char* method; ///< "__add__", for objects with methods of their own
  const char* reflected;
};

/// The row of an operator node; null with an error set.
const OperatorRow* operatorRow(PyObject* node);

} // namespace tiletwin::frontend
