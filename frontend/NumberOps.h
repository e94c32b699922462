// frontend/NumberOps.h -- Python's operators on two numbers that tensors have too.
#pragma once
#include "frontend/Ast.h"
#include "frontend/Semantic.h"

namespace tiletwin::frontend {

struct NumberOp {
  AstOperator node;
  int slot; ///< of a type
  BinaryOp op;
  PyObject* (*compileTime)(PyObject*, PyObject*);
};
inline constexpr NumberOp kNumberOps[] = {
    {AstOperator::Add, Py_nb_add, BinaryOp::Add, PyNumber_Add},
    {AstOperator::Sub, Py_nb_subtract, BinaryOp::Sub, PyNumber_Subtract},
    {AstOperator::Mult, Py_nb_multiply, BinaryOp::Mul, PyNumber_Multiply},
    {AstOperator::Div, Py_nb_true_divide, BinaryOp::Div, PyNumber_TrueDivide},
    {AstOperator::FloorDiv, Py_nb_floor_divide, BinaryOp::FloorDiv, PyNumber_FloorDivide},
    {AstOperator::Mod, Py_nb_remainder, BinaryOp::Mod, PyNumber_Remainder},
    {AstOperator::BitAnd, Py_nb_and, BinaryOp::And, PyNumber_And},
    {AstOperator::BitOr, Py_nb_or, BinaryOp::Or, PyNumber_Or},
    {AstOperator::BitXor, Py_nb_xor, BinaryOp::Xor, PyNumber_Xor},
    {AstOperator::LShift, Py_nb_lshift, BinaryOp::Shl, PyNumber_Lshift},
    {AstOperator::RShift, Py_nb_rshift, BinaryOp::Shr, PyNumber_Rshift},
};

} // namespace tiletwin::frontend
