// codegen/emit/LibraryOps.cpp -- tt.extern_elementwise: calls of functions of the device library, one for each register.
// Not here:  the functions' bodies, which are linked into the module when all of it is emitted (libdevice/Libdevice.h).
#include "codegen/emit/Emitters.h"
#include "codegen/emit/TargetCode.h"

namespace tiletwin::codegen {

mlir::LogicalResult emitExternElementwise(Emitter& e, tt::ExternElementwiseOp op) {
  return e.code().callLibrary(e, op);
}

} // namespace tiletwin::codegen
