// codegen/emit/TwOps.cpp -- operations of tw: as the target's family has them.
#include "codegen/emit/Elementwise.h"
#include "codegen/emit/Emitters.h"
#include "codegen/emit/TargetCode.h"

using namespace mlir;

namespace tiletwin::codegen {

LogicalResult emitTw(Emitter& e, Operation* op) {
  return emitPerRegister(e, op, [&](ArrayRef<llvm::Value*> in) { return e.code().tw(e, op, in); });
}

} // namespace tiletwin::codegen
