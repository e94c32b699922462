// codegen/emit/Owners.cpp -- see Owners.h.
// Idea: holders in one warp get the element by a shuffle from the owner; holders in several warps, and all threads for a
//       scalar, read it from shared memory.
#include "codegen/emit/Owners.h"
#include "codegen/emit/Memory.h"
#include "codegen/passes/Scratch.h"

using namespace mlir;

namespace tiletwin::codegen {

using llvm::Value;

namespace {

Values throughShuffles(Emitter& e, const LinearLayout& layout, Values values) {
  Value* source = e.ir().CreateAnd(e.lane(), e.int32(e.target().warpSize - 1 & int64_t(~layout.freeMask(Part::Lane))));
  for (auto [r, value] : llvm::enumerate(values))
    if (!(r & layout.freeMask(Part::Register))) value = e.shuffle("idx", value, source);
  return values;
}

Values throughSharedMemory(Emitter& e, const LinearLayout& layout, Value* owner, Values values) {
  llvm::IRBuilder<>& b = e.ir();
  llvm::Type* type = values.front()->getType();
  const unsigned bits = type->isPointerTy() ? 64 : type->getPrimitiveSizeInBits(), bytes = (bits + 7) / 8;
  Value* shared = e.scratch();
  Value* own = e.elementOfThread(layout);
  auto addressOf = [&](uint32_t r) {
    Value* element = b.CreateXor(own, e.int32(layout.elementOf(Part::Register, r)));
    return b.CreateAdd(shared, b.CreateMul(element, e.int32(bytes)));
  };
  e.barrierInside(); // readers of what was there before are done
  const uint32_t repeated = layout.freeMask(Part::Register);
  for (uint32_t r = 0; r < values.size(); ++r)
    if (!(r & repeated)) storeWords(e, ".shared", addressOf(r), owner, packWords(e, values[r]), bytes);
  e.barrierInside();
  for (uint32_t r = 0; r < values.size(); ++r) {
    if (r & repeated) continue;
    Values words = loadWords(e, ".shared", addressOf(r), nullptr, {}, bytes);
    values[r] = unpackWords(e, words, type, 1).front();
  }
  return values;
}

LinearLayout layoutOf(const Emitter& e, mlir::Value value) { return holdersOf(value, {e.laneBits(), e.warpBits()}); }

} // namespace

Value* ownerOf(Emitter& e, mlir::Value value) { return e.isOwner(layoutOf(e, value)); }

uint32_t repeatedRegisters(mlir::Value value) {
  return twg::hasLayout(value.getType()) ? twg::layoutOf(value).freeMask(Part::Register) : 0;
}

Values shareOwned(Emitter& e, mlir::Value like, Values values) {
  const LinearLayout layout = layoutOf(e, like);
  if (layout.freeMask(Part::Warp))
    values = throughSharedMemory(e, layout, e.isOwner(layout), std::move(values));
  else if (layout.freeMask(Part::Lane))
    values = throughShuffles(e, layout, std::move(values));
  for (uint32_t r = 0; r < values.size(); ++r) values[r] = values[r & ~layout.freeMask(Part::Register)];
  return values;
}

} // namespace tiletwin::codegen
