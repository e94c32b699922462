// codegen/emit/Memory.h -- accesses of up to 16 bytes, and elements packed into their words.
#pragma once
#include "codegen/emit/Emitter.h"

namespace tiletwin::codegen {

/// Registers and words that an access of some elements moves: elements of 8 bytes are words; others lie in one word of 1,
/// 2 or 4 bytes, or in words of 4.
struct AccessWords {
  unsigned count, bytes;
  AccessWords(unsigned elementBytes, unsigned elements = 1) {
    const unsigned total = elementBytes * elements;
    bytes = elementBytes == 8 ? 8 : std::min(total, 4u);
    count = total / bytes;
  }
  unsigned total() const { return count * bytes; }
  /// 8-bit accesses use 32-bit registers.
  unsigned registerBits() const { return std::max(bytes == 2 ? 16u : 32u, bytes * 8); }
};

/// In PTX's words: ".global", ".volatile.global", ".global.cg", ".global.L1::evict_last": what stands behind ld or st.
std::string cacheWords(tt::CachePolicyAttr policy, bool isVolatile, bool isStore);

/// Elements that lie side by side in memory as the words of an access (AccessWords), and back. i1 are bytes.
Values packWords(Emitter& e, llvm::ArrayRef<llvm::Value*> elements);
Values unpackWords(Emitter& e, llvm::ArrayRef<llvm::Value*> words, llvm::Type* element, unsigned count);

/// One access of 1, 2, 4, 8 or 16 bytes. `space` is what cacheWords gives, or ".shared" (32-bit addresses as integers).
/// Where `predicate` (may be null) is false a load gives `other`, a store does nothing.
Values loadWords(Emitter& e, llvm::StringRef space, llvm::Value* address, llvm::Value* predicate,
                 llvm::ArrayRef<llvm::Value*> other, AccessWords words);
void storeWords(Emitter& e, llvm::StringRef space, llvm::Value* address, llvm::Value* predicate,
                llvm::ArrayRef<llvm::Value*> values, AccessWords words);

/// Elements that one access of the operation takes (attribute twg.vector); 1 without it.
unsigned vectorOf(mlir::Operation* op);

} // namespace tiletwin::codegen
