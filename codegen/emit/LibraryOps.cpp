// codegen/emit/LibraryOps.cpp -- tt.extern_elementwise: calls of functions of libdevice, one for each register.
// Not here:  the functions' bodies, which are linked into the module when all of it is emitted (libdevice/Libdevice.h).
#include "codegen/emit/Elementwise.h"
#include "codegen/emit/Emitters.h"
#include "codegen/libdevice/Libdevice.h"

using namespace mlir;

namespace tiletwin::codegen {

LogicalResult emitExternElementwise(Emitter& e, Operation* op) {
  auto call = cast<tt::ExternElementwiseOp>(op);
  const StringRef symbol = call.getSymbol(), known = libdeviceSignature(symbol);
  if (known.empty()) {
    InFlightDiagnostic error = op->emitOpError() << "calls `" << symbol << "`, which libdevice does not have";
    if (!call.getLibpath().empty()) error << "; functions of " << call.getLibpath() << " cannot be called";
    return failure();
  }
  llvm::SmallVector<llvm::Type*> parameters;
  for (Type type : op->getOperandTypes()) parameters.push_back(e.typeOf(tt::elementTypeOf(type)));
  auto* type = llvm::FunctionType::get(e.typeOf(tt::elementTypeOf(call.getResult().getType())), parameters, false);
  if (std::string given = signatureText(*type); given != known)
    return op->emitOpError() << "calls `" << symbol << "` as " << given << ", but in libdevice it is " << known;
  llvm::FunctionCallee callee = e.module().getOrInsertFunction(symbol, type);
  return emitPerRegister(e, op, [&](ArrayRef<llvm::Value*> x) { return e.ir().CreateCall(callee, x); });
}

} // namespace tiletwin::codegen
