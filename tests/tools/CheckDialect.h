// tests/tools/CheckDialect.h -- the dialect `check`: what an IR test expects.
//
//   check.eq %value, dense<[8, 9]> : tensor<2xi32>              every element equal; NaN equals NaN, -0 does not equal
//   0 check.close %value, dense<[0.5, 2.0]> : tensor<2xf32>, ulp = 2   floats: at most so many representable values
//   apart
// Scalars are compared with scalar attributes: check.eq %n, 5 : i32.
//
// Attributes of a function under test:     check.grid = array<i32: 4, 1, 1>   run on this grid (default: one program)
//   check.trap = "past the end"            the launch must trap with a message that holds the text
//   check.error = "cannot"                 no backend program may come of it, with a diagnostic that holds the text
//   check.prints = "pid (0, 0, 0)..."      all that is printed
//   check.only = array<i64: 1, 2>, check.skip = array<i64: 0>           as in LaunchParams
// Attributes of its arguments:             check.value = 5 : i32              a scalar's value
//   check.data = dense<...> : tensor<..>   a pointer's memory before the launch (exactly these bytes)
//   check.after = dense<...> : tensor<..>  its memory after the launch
//   check.readonly                         memory that must not be written
#pragma once
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"

namespace tiletwin::check {

class CheckDialect : public mlir::Dialect {
public:
  explicit CheckDialect(mlir::MLIRContext* context);
  static constexpr llvm::StringLiteral getDialectNamespace() { return "check"; }
};

/// Shared by both checks: one operand, the attribute `expected` of its type.
template <class ConcreteOp>
class CheckOp : public mlir::Op<ConcreteOp, mlir::OpTrait::OneOperand, mlir::OpTrait::ZeroResults,
                                mlir::OpTrait::ZeroRegions, mlir::OpTrait::ZeroSuccessors> {
public:
  using Base = mlir::Op<ConcreteOp, mlir::OpTrait::OneOperand, mlir::OpTrait::ZeroResults, mlir::OpTrait::ZeroRegions,
                        mlir::OpTrait::ZeroSuccessors>;
  using Base::Base;
  static llvm::ArrayRef<llvm::StringRef> getAttributeNames() { return {}; }
};

class EqOp : public CheckOp<EqOp> {
public:
  using CheckOp<EqOp>::CheckOp;
  static constexpr llvm::StringLiteral getOperationName() { return "check.eq"; }
  static mlir::ParseResult parse(mlir::OpAsmParser& parser, mlir::OperationState& state);
  void print(mlir::OpAsmPrinter& printer);
};

class CloseOp : public CheckOp<CloseOp> {
public:
  using CheckOp<CloseOp>::CheckOp;
  static constexpr llvm::StringLiteral getOperationName() { return "check.close"; }
  static mlir::ParseResult parse(mlir::OpAsmParser& parser, mlir::OperationState& state);
  void print(mlir::OpAsmPrinter& printer);
};

} // namespace tiletwin::check

MLIR_DECLARE_EXPLICIT_TYPE_ID(tiletwin::check::CheckDialect)
MLIR_DECLARE_EXPLICIT_TYPE_ID(tiletwin::check::EqOp)
MLIR_DECLARE_EXPLICIT_TYPE_ID(tiletwin::check::CloseOp)
