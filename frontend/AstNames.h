// frontend/AstNames.h -- Python attribute names and ast classes that the walker meets, looked up once per process.
#pragma once
#include "frontend/PyValues.h"
#include "frontend/Semantic.h"
#include "llvm/ADT/DenseMap.h"

namespace tiletwin::frontend {

/// Attributes of ast nodes that the walker reads.
// clang-format off
#define TILETWIN_AST_NAMES(X)                                                                                        \
  X(lineno) X(col_offset) X(id) X(value) X(targets) X(target) X(annotation) X(op) X(ops) X(left) X(right) X(operand) \
  X(values) X(comparators) X(test) X(body) X(orelse) X(func) X(args) X(keywords) X(arg) X(attr) X(slice) X(elts)     \
  X(lower) X(upper) X(step) X(iter) X(msg) X(conversion) X(elt) X(generators) X(ifs) X(posonlyargs) X(vararg)        \
  X(kwonlyargs) X(kwarg) X(format_spec)
// clang-format on

/// The same as interned strings.
struct AstNames {
#define TILETWIN_MEMBER(name) PyObject* name = interned(#name);
  TILETWIN_AST_NAMES(TILETWIN_MEMBER)
#undef TILETWIN_MEMBER
};

/// Classes of nodes that the walker tells apart by hand; borrowed, compared by address with typeOf(node).
struct AstClasses {
  PyObject *assign, *annAssign, *augAssign, *forLoop, *whileLoop, *ifStatement, *withStatement, *returnStatement, *name,
      *tuple, *list, *call, *namedExpr, *attribute, *constant, *starred, *subscript;
};
const AstClasses& astClasses();
/// `ast.<name>`: one reference is kept for ever. Null with an error set.
PyObject* astClass(const char* name);

enum class AstOperator : uint8_t {
  Add,
  Sub,
  Mult,
  Div,
  FloorDiv,
  Mod,
  Pow,
  MatMult,
  LShift,
  RShift,
  BitAnd,
  BitOr,
  BitXor,
  Eq,
  NotEq,
  Lt,
  LtE,
  Gt,
  GtE,
  Is,
  IsNot,
  In,
  NotIn,
  And,
  Or,
  USub,
  UAdd,
  Invert,
  Not,
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

/// How one Python operator is done at run time and at compile time.
struct OperatorRow {
  const char* node; ///< class in ast
  AstOperator op;
  const char* symbol;
  const char* method; ///< "__add__", for objects with methods of their own
  const char* reflected;
};

const AstNames& astNames();
/// The row of an operator node; null with an error set.
const OperatorRow* operatorRow(PyObject* node);
} // namespace tiletwin::frontend
