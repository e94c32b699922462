// codegen/layout/WarpConversion.h -- a tile from one layout to another without leaving the warps: registers renamed,
// selected, and moved between lanes by shuffles.
//
// Here:      the plan, computed on F2. Not here: the code for it (emit/ConvertLayout.cpp).
//
// Idea: a warp's elements form a space V = R + L, registers and lanes of the source; the result splits V in another way,
// R' + L'. A space T that completes both R and R' to V has exactly one element of every lane, on both sides, in each of
// its cosets: so one coset is one shuffle in which each lane sends one register and receives one. Which register that is
// may depend on the lane: it is the round's number XOR a linear function of the lane, and likewise where the received
// value belongs; both are done by selects, one for each word and bit of the number. Where several elements fit into a word of
// 32 bits and stay together in both layouts, they move as one.
//
// Where lanes or warps of the source hold the same elements, each first keeps the part that it will need.
#pragma once
#include "codegen/layout/LinearLayout.h"
#include "codegen/layout/Span.h"

namespace tiletwin::codegen {

/// A bit that threads compute: the parity of some bits of their lane and warp.
struct ThreadParity {
  uint32_t lanes = 0, warps = 0;
  bool isZero() const { return lanes == 0 && warps == 0; }
  bool operator==(const ThreadParity&) const = default;
};

/// Registers of the source are numbered without bits that only repeat elements.
struct WarpConversion {
  /// First: where the thread's parity is 1, only registers with this bit set are kept, else those without. The bit is
  /// taken out of the numbers of the registers that stay. In this order.
  struct Kept {
    ThreadParity parity;
    unsigned bit;
  };
  llvm::SmallVector<Kept, 4> kept;
  /// Registers (of those kept) of each word, lowest part first.
  llvm::SmallVector<Vectors, 8> words;
  /// Then word w is exchanged with word w ^ (1 << i) where parity send[i] is 1.
  llvm::SmallVector<ThreadParity, 8> send;
  /// Round i: each lane reads word `word` of lane (source ^ flip), and takes it as word `place`. With an identical source
  /// and flip 0 nothing moves.
  struct Round {
    uint32_t word, flip, place;
  };
  llvm::SmallVector<Round, 8> rounds;
  /// Bit i of the source lane. isOwnLane: the thread's own lane.
  llvm::SmallVector<ThreadParity, 5> source;
  bool isOwnLane = true;
  /// Then place p is exchanged with place p ^ (1 << i) where parity receive[i] is 1.
  llvm::SmallVector<ThreadParity, 8> receive;
  /// Each register of the result: place, and part of the word.
  struct Result {
    uint32_t place, part;
  };
  llvm::SmallVector<Result, 8> results;

  unsigned shuffles() const;
  /// Selects that threads make for words.
  unsigned selects() const;

  /// The plan, for words of `partsPerWord` (1, 2, 4) elements; none if elements must change warps.
  static std::optional<WarpConversion> plan(const LinearLayout& from, const LinearLayout& to, unsigned partsPerWord);
};

} // namespace tiletwin::codegen
