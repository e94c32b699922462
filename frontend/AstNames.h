// frontend/AstNames.h -- Python attribute names and ast classes that the walker meets, looked up once per process.
#pragma once
#include "frontend/PyRef.h"
#include "frontend/Semantic.h"
#include "llvm/ADT/DenseMap.h"

namespace tiletwin::frontend {

/// Interned attribute names.
struct AstNames {
  PyObject *lineno, *col_offset, *id, *ctx, *value, *targets, *target, *annotation, *op, *ops, *left, *right, *operand,
      *values, *comparators, *test, *body, *orelse, *func, *args, *keywords, *arg, *attr, *slice, *elts, *lower, *upper,
      *step, *iter, *msg, *conversion, *elt, *generators, *ifs, *name, *posonlyargs, *vararg, *kwonlyargs, *kwarg,
      *items, *context_expr, *format_spec, *names, *simple;
};

/// Classes of nodes that the walker tells apart by hand; borrowed, compared by address with classOf(node).
struct AstClasses {
  PyObject *assign, *annAssign, *augAssign, *forLoop, *whileLoop, *ifStatement, *withStatement, *returnStatement, *name,
      *tuple, *list, *call, *namedExpr, *attribute, *constant, *starred, *subscript;
};
const AstClasses& astClasses();
/// `ast.<name>`: one reference is kept for ever. Null with an error set.
PyObject* astClass(const char* name);
inline PyObject* classOf(PyObject* node) { return reinterpret_cast<PyObject*>(Py_TYPE(node)); }

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
const OperatorRow& operatorRow(AstOperator op);
/// A borrowed reference to an interned string; one is kept alive for ever.
PyObject* interned(const char* text);

/// `node.name`, a new reference; null with an error set.
inline PyRef attribute(PyObject* node, PyObject* name) { return PyRef::steal(PyObject_GetAttr(node, name)); }
std::string stringOf(PyObject* unicode);

} // namespace tiletwin::frontend
