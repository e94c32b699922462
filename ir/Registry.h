// ir/Registry.h -- the operations that kernels are made of.
//
// Here:      those that are defined here, from their definitions, and those of MLIR's dialects that the front end emits.
// Not here:  the one of MLIR's LLVM dialect (LLVMOps.h), what is known of them: tables by stage (interp/plan/PlanTable.cpp,
//            codegen/emit/Table.cpp, diff/bounds/Rules.cpp).
// Invariant: an operation that is in none of these lists reaches no stage. Tables are made from them.
#pragma once
#include "ir/OpTable.h"
#include "ir/TT.h"
#include "ir/TW.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace tiletwin {

using TTOps = OpList<
#define GET_OP_LIST
#include "ir/TTOps.cpp.inc"
    >;
using TTGOps = OpList<
#define GET_OP_LIST
#include "ir/TTGOps.cpp.inc"
    >;
using TWOps = OpList<
#define GET_OP_LIST
#include "ir/TWOps.cpp.inc"
    >;

using ArithOps =
    OpList<mlir::arith::AddFOp, mlir::arith::AddIOp, mlir::arith::AndIOp, mlir::arith::BitcastOp, mlir::arith::CmpFOp,
           mlir::arith::CmpIOp, mlir::arith::ConstantOp, mlir::arith::DivFOp, mlir::arith::DivSIOp,
           mlir::arith::DivUIOp, mlir::arith::ExtFOp, mlir::arith::ExtSIOp, mlir::arith::ExtUIOp, mlir::arith::FPToSIOp,
           mlir::arith::FPToUIOp, mlir::arith::MaximumFOp, mlir::arith::MaxNumFOp, mlir::arith::MaxSIOp,
           mlir::arith::MaxUIOp, mlir::arith::MinimumFOp, mlir::arith::MinNumFOp, mlir::arith::MinSIOp,
           mlir::arith::MinUIOp, mlir::arith::MulFOp, mlir::arith::MulIOp, mlir::arith::NegFOp, mlir::arith::OrIOp,
           mlir::arith::RemFOp, mlir::arith::RemSIOp, mlir::arith::RemUIOp, mlir::arith::SelectOp, mlir::arith::ShLIOp,
           mlir::arith::ShRSIOp, mlir::arith::ShRUIOp, mlir::arith::SIToFPOp, mlir::arith::SubFOp, mlir::arith::SubIOp,
           mlir::arith::TruncFOp, mlir::arith::TruncIOp, mlir::arith::UIToFPOp, mlir::arith::XOrIOp>;
using MathOps = OpList<mlir::math::AbsFOp, mlir::math::AbsIOp, mlir::math::CeilOp, mlir::math::CosOp, mlir::math::ErfOp,
                       mlir::math::ExpOp, mlir::math::Exp2Op, mlir::math::FloorOp, mlir::math::FmaOp, mlir::math::LogOp,
                       mlir::math::Log2Op, mlir::math::RsqrtOp, mlir::math::SinOp, mlir::math::SqrtOp>;
using ControlOps = OpList<mlir::scf::ExecuteRegionOp, mlir::scf::ForOp, mlir::scf::IfOp, mlir::scf::WhileOp>;
using OtherOps = OpList<mlir::ub::PoisonOp>;

/// Whether each element of the operation's one result is computed from its operands' elements in the same place, or from none.
inline bool isElementwise(mlir::Operation* op) {
  return op->getNumResults() == 1 &&
         (op->hasTrait<mlir::OpTrait::Elementwise>() || llvm::isa<mlir::arith::ConstantOp, mlir::ub::PoisonOp>(op));
}

} // namespace tiletwin
