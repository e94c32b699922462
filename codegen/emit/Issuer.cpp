// codegen/emit/Issuer.cpp -- see Issuer.h.
#include "codegen/emit/Issuer.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tiletwin::codegen {

using llvm::Value;

Value* isIssuer(Emitter& e, mlir::Value enabled) {
  if (e.runBy() == RunBy::Producer) return enabled ? e.scalar(enabled) : nullptr;
  Value* elected = e.intrinsic(llvm::Intrinsic::nvvm_elect_sync, {}, {e.int32(-1)});
  Value* isFirstWarp = e.ir().CreateICmpEQ(e.warp(), e.int32(0));
  Value* issuer = e.ir().CreateAnd(isFirstWarp, e.ir().CreateExtractValue(elected, 1));
  return e.both(issuer, enabled ? e.scalar(enabled) : nullptr);
}

void issue(Emitter& e, Value* predicate, const std::string& text, std::string constraints, Values inputs) {
  std::string guarded = text + ";";
  if (predicate) {
    guarded = "@$" + std::to_string(inputs.size()) + " " + guarded;
    constraints += inputs.empty() ? "b" : ",b";
    inputs.push_back(predicate);
  }
  constraints += constraints.empty() ? "~{memory}" : ",~{memory}";
  e.inlinePtx(guarded, constraints, {}, inputs, true);
}

} // namespace tiletwin::codegen
