// codegen/emit/ConvertLayout.cpp -- a tile from one layout to another: registers renamed, or through shared memory.
// Idea: where both layouts give each lane and warp the same elements, only the registers' numbers change. Else every owner
//       writes its elements to shared memory at their flat index, and after a barrier each thread reads its own.
#include "codegen/emit/Emitters.h"
#include "codegen/emit/Memory.h"

using namespace mlir;

namespace tiletwin::codegen {

using llvm::Value;

namespace {

bool staysInThread(const LinearLayout& from, const LinearLayout& to) {
  for (Part part : {Part::Lane, Part::Warp, Part::Block})
    if (from.bases(part) != to.bases(part)) return false;
  return true;
}

Values renameRegisters(const LinearLayout& from, const LinearLayout& to, ArrayRef<Value*> source) {
  Values result;
  for (uint32_t r = 0; r < to.registers(); ++r)
    result.push_back(source[from.placeOf(to.elementOf(Part::Register, r)).registerIndex]);
  return result;
}

/// The address of a thread's element in each register.
Value* addressOf(Emitter& e, Value* base, Value* own, uint32_t registerPart, unsigned bytes) {
  Value* element = registerPart ? e.ir().CreateXor(own, e.int32(registerPart)) : own;
  return e.ir().CreateAdd(base, e.ir().CreateMul(element, e.int32(bytes)));
}

} // namespace

LogicalResult emitConvertLayout(Emitter& e, Operation* op) {
  auto convert = cast<twg::ConvertLayoutOp>(op);
  LinearLayout from = twg::layoutOf(convert.getSrc()), to = twg::layoutOf(convert.getResult());
  ArrayRef<Value*> source = e.values(convert.getSrc());
  if (staysInThread(from, to)) return e.define(convert.getResult(), renameRegisters(from, to, source)), success();

  mlir::Type element = tt::elementTypeOf(convert.getResult().getType());
  unsigned bytes = Emitter::memoryBytesOf(element);
  Value* shared = e.ir().CreatePtrToInt(e.scratch(bytes << from.elementBits()), e.ir().getInt32Ty());
  e.barrier(); // readers of what was there before are done
  Value* owner = e.isOwner(from);
  Value* own = e.elementOfThread(from);
  for (uint32_t r = 0; r < from.registers(); ++r) {
    if (r & from.freeMask(Part::Register)) continue;
    Value* address = addressOf(e, shared, own, from.elementOf(Part::Register, r), bytes);
    storeWords(e, ".shared", address, owner, packWords(e, source[r]), bytes);
  }
  e.barrier();
  Values result;
  own = e.elementOfThread(to);
  for (uint32_t r = 0; r < to.registers(); ++r) {
    Value* address = addressOf(e, shared, own, to.elementOf(Part::Register, r), bytes);
    Values words = loadWords(e, ".shared", address, nullptr, {}, bytes);
    result.push_back(unpackWords(e, words, e.typeOf(element), 1).front());
  }
  e.define(convert.getResult(), std::move(result));
  return success();
}

} // namespace tiletwin::codegen
