// codegen/dialect/Turns.cpp -- the verifier of twg.turn_pass.
#include "codegen/dialect/TWG.h"

using namespace mlir;

namespace tiletwin::twg {

LogicalResult TurnPassOp::verify() {
  const uint32_t group = getBy().value_or(0);
  if (group <= 1) return success();
  return emitOpError() << "is by group 0 or 1, not " << group; // C1
}

} // namespace tiletwin::twg
