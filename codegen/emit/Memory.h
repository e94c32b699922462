// codegen/emit/Memory.h -- accesses of up to 16 bytes, and elements packed into their words.
#pragma once
#include "codegen/emit/Emitter.h"

namespace tiletwin::codegen {

/// Registers and words that an access moves: 1, 2 and 4 bytes in one word, 8 and 16 in words of 4.
struct AccessWords {
  unsigned count, bytes;
  explicit AccessWords(unsigned total) : count(total > 4 ? total / 4 : 1), bytes(total > 4 ? 4 : total) {}
  /// 8-bit accesses use 32-bit registers.
  unsigned registerBits() const { return bytes == 2 ? 16 : 32; }
};

/// In PTX's words: ".global", ".volatile.global", ".global.cg", ".global.L1::evict_last": what stands behind ld or st.
std::string cacheWords(tt::CachePolicyAttr policy, bool isVolatile, bool isStore);

/// Elements that lie side by side in memory as the words of an access (16- or 32-bit registers), and back. i1 are bytes.
Values packWords(Emitter& e, llvm::ArrayRef<llvm::Value*> elements);
Values unpackWords(Emitter& e, llvm::ArrayRef<llvm::Value*> words, llvm::Type* element, unsigned count);

/// One access of 1, 2, 4, 8 or 16 bytes. `space` is what cacheWords gives, or ".shared" (32-bit addresses as integers).
/// Where `predicate` (may be null) is false a load gives `other`, a store does nothing.
Values loadWords(Emitter& e, llvm::StringRef space, llvm::Value* address, llvm::Value* predicate,
                 llvm::ArrayRef<llvm::Value*> other, unsigned bytes);
void storeWords(Emitter& e, llvm::StringRef space, llvm::Value* address, llvm::Value* predicate,
                llvm::ArrayRef<llvm::Value*> words, unsigned bytes);

/// Elements that one access of the operation takes (attribute twg.vector); 1 without it.
unsigned vectorOf(mlir::Operation* op);

} // namespace tiletwin::codegen
