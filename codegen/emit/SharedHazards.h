// codegen/emit/SharedHazards.h -- barriers only where threads could see shared memory too early or too late.
// Idea: between two barriers a range may be written once, or read by all. What was read and written since the last barrier
//       is known inside a block; where blocks meet everything may have been.
#pragma once
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/BasicBlock.h"
#include <cstdint>

namespace tiletwin::codegen {

class Emitter;

/// Bytes of the CTA's shared memory.
struct SharedRange {
  uint32_t begin = 0, end = 0;
  bool meets(const SharedRange& other) const { return begin < other.end && other.begin < end; }
};

class SharedHazards {
public:
  /// The code emitted next reads (writes) the range; a barrier comes first if it is needed.
  void read(Emitter& e, SharedRange range);
  void write(Emitter& e, SharedRange range);
  /// The range was read and written behind the last barrier.
  void touch(Emitter& e, SharedRange range);
  /// A barrier has been emitted.
  void clear(const llvm::BasicBlock* block);

private:
  void enter(Emitter& e);

  const llvm::BasicBlock* block_ = nullptr; ///< the one that the lists speak of
  bool isUnknown_ = false;                  ///< anything may have been read and written
  llvm::SmallVector<SharedRange, 8> read_, written_;
};

} // namespace tiletwin::codegen
