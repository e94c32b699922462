// codegen/emit/SharedHazards.cpp -- see SharedHazards.h.
#include "codegen/emit/SharedHazards.h"
#include "codegen/emit/Emitter.h"

namespace tiletwin::codegen {

static bool meetsAny(const llvm::SmallVectorImpl<SharedRange>& list, SharedRange range) {
  return llvm::any_of(list, [&](const SharedRange& other) { return other.meets(range); });
}

void SharedHazards::enter(Emitter& e) {
  const llvm::BasicBlock* now = e.ir().GetInsertBlock();
  if (now == block_) return;
  isUnknown_ = !now->isEntryBlock();
  block_ = now;
  read_.clear(), written_.clear();
}

void SharedHazards::clear(const llvm::BasicBlock* block) {
  block_ = block;
  isUnknown_ = false;
  read_.clear(), written_.clear();
}

void SharedHazards::touch(Emitter& e, SharedRange range) {
  enter(e);
  read_.push_back(range);
  written_.push_back(range);
}

void SharedHazards::read(Emitter& e, SharedRange range) {
  enter(e);
  if (isUnknown_ || meetsAny(written_, range)) e.barrier();
  read_.push_back(range);
}

void SharedHazards::write(Emitter& e, SharedRange range) {
  enter(e);
  if (isUnknown_ || meetsAny(written_, range) || meetsAny(read_, range)) e.barrier();
  written_.push_back(range);
}

} // namespace tiletwin::codegen
