// codegen/emit/amdgcn/MemoryOps.cpp -- accesses as LLVM's loads and stores, under a branch where there is a mask.
// Invariant: a lane whose mask is 0 touches no memory: LLVM may not move an access out of its branch, because it knows of no
//            address that it can be read.
#include "codegen/emit/Memory.h"
#include "codegen/emit/amdgcn/Amdgcn.h"

using namespace mlir;

namespace tiletwin::codegen {

using llvm::BasicBlock;
using llvm::Type;
using llvm::Value;

namespace {

constexpr unsigned kShared = 3; ///< address space

/// One access: its type in memory, address, and what the words of its space ask for.
struct Access {
  Emitter& e;
  AccessWords words;
  llvm::Align alignment;
  Type* type;
  Value* address;
  bool isVolatile, isStreaming;

  Access(Emitter& e, StringRef space, Value* address, const AccessWords& words)
      : e(e), words(words), alignment(words.total()), address(address),
        isVolatile(space.contains("volatile") || space.contains(".cv")),
        isStreaming(space.contains(".cs") || space.contains("evict_first")) {
    type = e.ir().getIntNTy(words.bytes * 8);
    if (words.count > 1) type = llvm::FixedVectorType::get(type, words.count);
    if (space.starts_with(".shared"))
      this->address = e.ir().CreateIntToPtr(address, llvm::PointerType::get(e.module().getContext(), kShared));
  }

  template <class Instruction> Instruction* marked(Instruction* access) {
    access->setVolatile(isVolatile);
    if (isStreaming)
      access->setMetadata(
          llvm::LLVMContext::MD_nontemporal,
          llvm::MDNode::get(e.module().getContext(), llvm::ConstantAsMetadata::get(e.ir().getInt32(1))));
    return access;
  }

  Value* packed(ArrayRef<Value*> registers) {
    if (words.count == 1) return e.ir().CreateTrunc(registers.front(), type);
    Value* whole = llvm::PoisonValue::get(type);
    for (auto [i, word] : llvm::enumerate(registers)) whole = e.ir().CreateInsertElement(whole, word, uint64_t(i));
    return whole;
  }
  Values unpacked(Value* whole) {
    if (words.count == 1) return {e.ir().CreateZExt(whole, e.ir().getIntNTy(words.registerBits()))};
    Values result;
    for (unsigned i = 0; i < words.count; ++i) result.push_back(e.ir().CreateExtractElement(whole, uint64_t(i)));
    return result;
  }
};

/// `make` in a block of its own, where the predicate is true; the builder is behind it then. The block that `make` ended in.
template <class Make> BasicBlock* where(Emitter& e, Value* predicate, Make make) {
  BasicBlock *inside = e.newBlock("access"), *after = e.newBlock("access.end");
  e.ir().CreateCondBr(predicate, inside, after);
  e.ir().SetInsertPoint(inside);
  make();
  BasicBlock* last = e.ir().GetInsertBlock();
  e.ir().CreateBr(after);
  e.ir().SetInsertPoint(after);
  return last;
}

} // namespace

Values Amdgcn::load(Emitter& e, StringRef space, Value* address, Value* predicate, ArrayRef<Value*> other,
                    const AccessWords& words) const {
  Access access(e, space, address, words);
  auto loaded = [&] { return access.marked(e.ir().CreateAlignedLoad(access.type, access.address, access.alignment)); };
  if (!predicate) return access.unpacked(loaded());
  Value *kept = access.packed(other), *inside = nullptr;
  BasicBlock* before = e.ir().GetInsertBlock();
  BasicBlock* last = where(e, predicate, [&] { inside = loaded(); });
  llvm::PHINode* result = e.ir().CreatePHI(access.type, 2);
  result->addIncoming(kept, before);
  result->addIncoming(inside, last);
  return access.unpacked(result);
}

void Amdgcn::store(Emitter& e, StringRef space, Value* address, Value* predicate, ArrayRef<Value*> values,
                   const AccessWords& words) const {
  Access access(e, space, address, words);
  Value* whole = access.packed(values);
  auto stored = [&] { access.marked(e.ir().CreateAlignedStore(whole, access.address, access.alignment)); };
  if (predicate)
    where(e, predicate, stored);
  else
    stored();
}

} // namespace tiletwin::codegen
