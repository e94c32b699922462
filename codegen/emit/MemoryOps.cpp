// codegen/emit/MemoryOps.cpp -- pointer arithmetic, plain loads and stores of global memory.
// Here:      vectors of registers as one access, masks as predicates, cache modifiers, who of several holders stores.
// Not here:  how long vectors may be (passes/Layouts.cpp leaves it in the attribute twg.vector), atomics, descriptors; the
//            instructions (nvptx/MemoryOps.cpp, amdgcn/MemoryOps.cpp).
// Invariant: a lane whose mask is 0 touches no memory.
#include "codegen/emit/Memory.h"
#include "codegen/emit/Owners.h"
#include "codegen/emit/TargetCode.h"
#include "codegen/passes/OwnedNumbers.h"
#include "codegen/passes/WrittenMemory.h"
#include "ir/Tiles.h"

using namespace mlir;

namespace tiletwin::codegen {

using llvm::Type;
using llvm::Value;

std::string cacheWords(tt::CachePolicyAttr policy, bool isVolatile, bool isStore) {
  if (isVolatile) return ".volatile.global";
  std::string text = ".global";
  if (!policy) return text;
  switch (policy.getCacheModifier()) {
  case tt::CacheModifier::None: break;
  case tt::CacheModifier::CA: text += isStore ? "" : ".ca"; break;
  case tt::CacheModifier::CG: text += ".cg"; break;
  case tt::CacheModifier::WB: text += isStore ? ".wb" : ""; break;
  case tt::CacheModifier::CS: text += ".cs"; break;
  case tt::CacheModifier::WT: text += isStore ? ".wt" : ""; break;
  case tt::CacheModifier::CV: text += isStore ? "" : ".cv"; break;
  }
  if (text != ".global") return text; // PTX takes a cache operator or an eviction priority, not both
  if (policy.getEvictionPolicy() == tt::EvictionPolicy::First) text += ".L1::evict_first";
  if (policy.getEvictionPolicy() == tt::EvictionPolicy::Last) text += ".L1::evict_last";
  return text;
}

Values packWords(Emitter& e, ArrayRef<Value*> elements) {
  llvm::IRBuilder<>& b = e.ir();
  SmallVector<Value*, 16> numbers;
  for (Value* element : elements) {
    Type* type = element->getType();
    if (type->isPointerTy()) element = b.CreatePtrToInt(element, b.getInt64Ty());
    if (type->isIntegerTy(1)) element = b.CreateZExt(element, b.getInt8Ty());
    numbers.push_back(element);
  }
  AccessWords words(numbers.front()->getType()->getPrimitiveSizeInBits() / 8, numbers.size());
  Value* whole = numbers.front();
  if (numbers.size() > 1) {
    whole = llvm::PoisonValue::get(llvm::FixedVectorType::get(whole->getType(), numbers.size()));
    for (auto [i, number] : llvm::enumerate(numbers)) whole = b.CreateInsertElement(whole, number, uint64_t(i));
  }
  Type* word = b.getIntNTy(words.bytes * 8);
  Values result;
  if (words.count == 1) {
    result.push_back(b.CreateZExt(b.CreateBitCast(whole, word), b.getIntNTy(words.registerBits())));
    return result;
  }
  whole = b.CreateBitCast(whole, llvm::FixedVectorType::get(word, words.count));
  for (unsigned i = 0; i < words.count; ++i) result.push_back(b.CreateExtractElement(whole, uint64_t(i)));
  return result;
}

Values unpackWords(Emitter& e, ArrayRef<Value*> words, Type* element, unsigned count) {
  llvm::IRBuilder<>& b = e.ir();
  Type* stored = element->isPointerTy() ? b.getInt64Ty() : element->isIntegerTy(1) ? b.getInt8Ty() : element;
  Type* whole = count > 1 ? static_cast<Type*>(llvm::FixedVectorType::get(stored, count)) : stored;
  unsigned bytes = stored->getPrimitiveSizeInBits() / 8 * count;
  Value* packed = words.front();
  if (words.size() == 1) {
    packed = b.CreateTrunc(packed, b.getIntNTy(bytes * 8));
  } else {
    packed = llvm::PoisonValue::get(llvm::FixedVectorType::get(words.front()->getType(), words.size()));
    for (auto [i, word] : llvm::enumerate(words)) packed = b.CreateInsertElement(packed, word, uint64_t(i));
  }
  packed = b.CreateBitCast(packed, whole);
  Values result;
  for (unsigned i = 0; i < count; ++i) {
    Value* one = count > 1 ? b.CreateExtractElement(packed, uint64_t(i)) : packed;
    if (element->isPointerTy()) one = b.CreateIntToPtr(one, element);
    if (element->isIntegerTy(1)) one = b.CreateICmpNE(one, b.getInt8(0));
    result.push_back(one);
  }
  return result;
}

Values loadWords(Emitter& e, StringRef space, Value* address, Value* predicate, ArrayRef<Value*> other,
                 AccessWords words) {
  return e.code().load(e, space, address, predicate, other, words);
}

void storeWords(Emitter& e, StringRef space, Value* address, Value* predicate, ArrayRef<Value*> values,
                AccessWords words) {
  e.code().store(e, space, address, predicate, values, words);
}

unsigned vectorOf(Operation* op) {
  auto vector = op->getAttrOfType<IntegerAttr>("twg.vector");
  return vector ? unsigned(vector.getInt()) : 1;
}

template <> LogicalResult emit(Emitter& e, tt::AddPtrOp add) {
  mlir::Type pointee = tt::elementTypeOf(tt::pointeeTypeLike(add.getPtr().getType()));
  unsigned bytes = Emitter::memoryBytesOf(pointee);
  ArrayRef<Value*> pointers = e.values(add.getPtr()), offsets = e.values(add.getOffset());
  Values results;
  for (auto [pointer, offset] : llvm::zip_equal(pointers, offsets)) {
    Value* wide = e.ir().CreateSExt(offset, e.ir().getInt64Ty());
    results.push_back(e.ir().CreateGEP(e.ir().getIntNTy(bytes * 8), pointer, wide));
  }
  e.define(add.getResult(), std::move(results));
  return success();
}

/// For each register of the result the first one that reads the same address under the same condition, which is read once.
static SmallVector<uint32_t, 8> firstReads(Emitter& e, tt::LoadOp load, unsigned vector) {
  SmallVector<mlir::Value> tiles{load.getPtr()};
  if (load.getMask()) tiles.push_back(load.getMask());
  if (vector == 1 && twg::hasLayout(load.getPtr().getType()) && !load.getIsVolatile())
    if (!load.getOther() || tt::isOneNumber(load.getOther())) return e.firstEqualRegisters(tiles);
  return llvm::to_vector<8>(llvm::seq<uint32_t>(e.values(load.getPtr()).size()));
}

template <> LogicalResult emit(Emitter& e, tt::LoadOp load) {
  mlir::Type element = tt::elementTypeOf(load.getResult().getType());
  unsigned elementBytes = Emitter::memoryBytesOf(element), vector = vectorOf(load);
  Type* type = e.typeOf(element);
  ArrayRef<Value*> pointers = e.values(load.getPtr());
  std::string space = cacheWords(load.getCachePolicyAttr(), load.getIsVolatile(), false);
  Value* owner = ownerReads(load) ? ownerOf(e, load.getPtr()) : nullptr;
  Values results(pointers.size());
  const SmallVector<uint32_t, 8> first = firstReads(e, load, vector);
  for (unsigned r = 0; r < pointers.size(); r += vector) {
    if (first[r] != r) {
      results[r] = results[first[r]];
      continue;
    }
    Value* mask = e.both(load.getMask() ? e.values(load.getMask())[r] : nullptr, owner);
    Values other;
    if (mask) {
      Values fill(vector, llvm::Constant::getNullValue(type));
      if (load.getOther())
        fill.assign(e.values(load.getOther()).slice(r, vector).begin(),
                    e.values(load.getOther()).slice(r, vector).end());
      other = packWords(e, fill);
    }
    Values words = loadWords(e, space, pointers[r], mask, other, {elementBytes, vector});
    Values loaded = unpackWords(e, words, type, vector);
    std::copy(loaded.begin(), loaded.end(), results.begin() + r);
  }
  if (owner && !isSharedLate(load)) results = shareOwned(e, load.getPtr(), std::move(results));
  e.define(load.getResult(), std::move(results));
  return success();
}

template <> LogicalResult emit(Emitter& e, twg::ShareOp share) {
  e.define(share.getResult(), shareOwned(e, share.getSrc(), {e.scalar(share.getSrc())}));
  return success();
}

template <> LogicalResult emit(Emitter& e, tt::StoreOp store) {
  mlir::Type element = tt::elementTypeOf(store.getValue().getType());
  unsigned elementBytes = Emitter::memoryBytesOf(element), vector = vectorOf(store);
  std::string space = cacheWords(store.getCachePolicyAttr(), false, true);
  ArrayRef<Value*> pointers = e.values(store.getPtr()), values = e.values(store.getValue());
  Value* owner = nullptr;
  uint32_t repeated = 0;
  if (twg::hasLayout(store.getPtr().getType())) {
    LinearLayout layout = twg::layoutOf(store.getPtr());
    owner = e.isOwner(layout);
    repeated = layout.freeMask(Part::Register);
  } else {
    owner = e.ir().CreateICmpEQ(e.thread(), e.int32(0));
  }
  for (unsigned r = 0; r < pointers.size(); r += vector) {
    if (r & repeated) continue;
    Value* predicate = e.both(store.getMask() ? e.values(store.getMask())[r] : nullptr, owner);
    storeWords(e, space, pointers[r], predicate, packWords(e, values.slice(r, vector)), {elementBytes, vector});
  }
  return success();
}

template <> LogicalResult emit(Emitter& e, tt::PrefetchOp prefetch) {
  ArrayRef<Value*> pointers = e.values(prefetch.getPtr());
  Value* owner = ownerOf(e, prefetch.getPtr());
  const uint32_t repeated = repeatedRegisters(prefetch.getPtr());
  for (uint32_t r = 0; r < pointers.size(); ++r) {
    if (r & repeated) continue;
    Value* predicate = e.both(prefetch.getMask() ? e.values(prefetch.getMask())[r] : nullptr, owner);
    SmallVector<Value*> inputs{pointers[r]};
    if (predicate) inputs.push_back(predicate);
    e.inlinePtx(predicate ? "@$1 prefetch.global.L2 [$0];" : "prefetch.global.L2 [$0];",
                predicate ? "l,b,~{memory}" : "l,~{memory}", {}, inputs, true);
  }
  return success();
}

} // namespace tiletwin::codegen
