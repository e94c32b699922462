// ir/FunctionOps.cpp -- text form and verifiers of tt.func, tt.call, tt.return.
#include "ir/TT.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;

namespace tiletwin::tt {

void FuncOp::build(OpBuilder& builder, OperationState& state, StringRef name, FunctionType type,
                   ArrayRef<NamedAttribute> attrs) {
  state.addAttribute(SymbolTable::getSymbolAttrName(), builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  state.attributes.append(attrs.begin(), attrs.end());
  state.addRegion();
}

ParseResult FuncOp::parse(OpAsmParser& parser, OperationState& result) {
  auto buildType = [](Builder& builder, ArrayRef<Type> arguments, ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag,
                      std::string&) { return builder.getFunctionType(arguments, results); };
  return function_interface_impl::parseFunctionOp(parser, result, /*allowVariadic=*/false,
                                                  getFunctionTypeAttrName(result.name), buildType,
                                                  getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void FuncOp::print(OpAsmPrinter& printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
                                           getArgAttrsAttrName(), getResAttrsAttrName());
}

static LogicalResult verifyTypes(Operation* op, TypeRange got, TypeRange wanted, const char* what) {
  if (got.size() != wanted.size())
    return op->emitOpError() << "needs " << wanted.size() << ' ' << what << ", got " << got.size();
  for (auto [index, types] : llvm::enumerate(llvm::zip_equal(got, wanted)))
    if (auto [have, want] = types; have != want)
      return op->emitOpError() << what << ' ' << index << " needs type " << want << ", got " << have;
  return success();
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection& symbols) {
  auto callee = symbols.lookupNearestSymbolFrom<FuncOp>(*this, getCalleeAttr());
  if (!callee) return emitOpError() << "calls " << getCalleeAttr() << ", which is not a tt.func of this module"; // C1
  if (failed(verifyTypes(*this, getOperandTypes(), callee.getArgumentTypes(), "operands"))) return failure();    // C2
  return verifyTypes(*this, getResultTypes(), callee.getResultTypes(), "results");                               // C3
}

LogicalResult ReturnOp::verify() {
  return verifyTypes(*this, getOperandTypes(), cast<FuncOp>((*this)->getParentOp()).getResultTypes(), "values"); // C1
}

} // namespace tiletwin::tt
