// codegen/emit/MapOps.cpp -- tt.map_elementwise: a scalar program for each group of neighbouring elements.
// Here:      the region, emitted once for each group of registers; threads may branch in it each for itself.
// Not here:  the layout, in which a group's elements follow each other in a thread's registers (passes/LayoutChoice.cpp).
#include "codegen/emit/Emitter.h"

using namespace mlir;

namespace tiletwin::codegen {

template <> LogicalResult emit(Emitter& e, tt::MapElementwiseOp map) {
  // Elsewhere one thread acts for all that hold an element, and all meet again; here each is on its own.
  WalkResult walked = map.getBody().walk([&](Operation* inner) {
    const bool acts = isa<tt::MemoryAccess, tt::PrintOp>(inner) && !isa<tt::LoadOp>(inner);
    return acts && failed(notCompiled(inner, e, "in a function of tl.map_elementwise")) ? WalkResult::interrupt()
                                                                                        : WalkResult::advance();
  });
  if (walked.wasInterrupted()) return failure();
  const unsigned pack = map.getPack(), count = Emitter::registersOf(map.getResult().front().getType());
  SmallVector<Values> results(map.getNumResults(), Values(count));
  for (unsigned first = 0; first < count; first += pack) {
    Values arguments;
    for (mlir::Value source : map.getSrcs())
      for (unsigned i = 0; i < pack; ++i) arguments.push_back(e.values(source)[first + i]);
    FailureOr<Values> group = e.emitRegion(map.getBody(), arguments);
    if (failed(group)) return failure();
    for (auto [k, value] : llvm::enumerate(*group)) results[k / pack][first + k % pack] = value;
  }
  for (auto [value, elements] : llvm::zip_equal(map.getResult(), results)) e.define(value, std::move(elements));
  return success();
}

} // namespace tiletwin::codegen
