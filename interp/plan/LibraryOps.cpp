// interp/plan/LibraryOps.cpp -- tt.extern_elementwise: functions of libdevice by symbol.
// Here:      the symbol, its argument types, joining a group.
// Not here:  what the functions compute (interp/tile/Library*.cpp).
// Invariant: a function that is also an operation of its own (exp) gives the same bits as that operation.
#include "interp/plan/ElementwiseOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include <string>

namespace tiletwin::interp {

using mlir::LogicalResult;
using mlir::Operation;

template <> LogicalResult plan(PlanBuilder& plan, tt::ExternElementwiseOp op) {
  llvm::StringRef symbol = op.getSymbol(), name = symbol;
  const TwLibraryRow* row = name.consume_front("__nv_") ? plan.tiles().library(name.str().c_str()) : nullptr;
  if (!row) {
    auto diagnostic = op->emitError() << "interpreter: there is no device function `" << symbol
                                      << "`: only the functions of libdevice (__nv_...) can be called";
    if (!op.getLibpath().empty()) diagnostic << ", not those of the GPU code in " << op.getLibpath();
    return mlir::failure();
  }
  std::string takes, given;
  bool same = op->getNumOperands() == unsigned(row->arity) && plan.dtypeOf(op->getResult(0).getType()) == row->result;
  for (int i = 0; i < row->arity; ++i) takes += (i ? ", " : "") + std::string(nameOf(row->arguments[i]));
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    DType type = plan.dtypeOf(op->getOperand(i).getType());
    given += (i ? ", " : "") + std::string(nameOf(type));
    same = same && type == row->arguments[i];
  }
  if (!same) {
    op->emitError() << "interpreter: " << symbol << " is (" << takes << ") -> " << nameOf(row->result) << ", not ("
                    << given << ") -> " << nameOf(plan.dtypeOf(op->getResult(0).getType()));
    return mlir::failure();
  }
  if (row->arity == 4) {
    const StripStep steps[] = {{row->fn, row->between, std::nullopt},
                               {row->last, row->result, std::nullopt, op->getOperand(3)}};
    return applyStrips(plan, op, op->getOperands().take_front(3), steps);
  }
  TwStripFn fn = row->op == TwElementwise::Count ? row->fn : stripFunction(plan, row->op, row->result);
  return applyStrips(plan, op, op->getOperands(), StripStep{fn, row->result, std::nullopt});
}

} // namespace tiletwin::interp
