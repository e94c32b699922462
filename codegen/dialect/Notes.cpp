// codegen/dialect/Notes.cpp -- the verifier of twg.note.
#include "codegen/dialect/TWG.h"

using namespace mlir;

namespace tiletwin::twg {

LogicalResult NoteOp::verify() {
  if (!getValue() || !getConstant()) return success();
  return emitOpError() << "has a value and a constant"; // C1
}

} // namespace tiletwin::twg
