// diff/Taps.h -- a kernel that writes down its own values: every number of one program, in the order in which they are computed.
//
// Here:      addTaps(), which puts a store behind every operation of a kernel whose result is a number or a tile of numbers.
// Not here:  running it, reading the log, comparing two logs (python/tiletwin/diff/localise.py).
// Idea:      any backend that compiles tt can run the result, so the values of two backends can be compared where neither can
//            be looked into. The log is a list of records; the place of the next one is a value of the program that loops and
//            branches carry along, so that the threads of a GPU agree on it without talking to each other.
// A record: i32 number of the tap + 1 (of its bound: with bit 30 set), 12 bytes of nothing, the elements densely and
// row-major (an i1 is a byte), up to a multiple of 16 bytes. A zero where a number should be ends the log.
// Invariant: the kernel's own operations, their operands and their order stay what they are.
#pragma once
#include "diff/Bounds.h"
#include "ir/TT.h"
#include "llvm/ADT/DenseMap.h"
#include <array>

namespace tiletwin::diff {

struct Tap {
  mlir::Operation* op = nullptr;
  unsigned result = 0;
  mlir::Value bound;         ///< the shadow of the result; null: none, its bound is 0
  mlir::Location where;      ///< with the variable's name
  mlir::Type type;           ///< of the result
  llvm::StringRef operation; ///< its name, which lives as long as the context
};

/// The operations of a function that are tapped, in the order of the text: all results that are numbers. Left out are
/// constants, and results of loops and branches: the operations inside are tapped.
std::vector<Tap> tapsOf(tt::FuncOp function);

/// Adds the stores. The function gets three more arguments: a pointer to i8, the log; an i64, where the log begins (negative:
/// so many bytes of records are left out first); an i64, the log's size (records that do not fit are left out).
void addTaps(tt::FuncOp function, llvm::ArrayRef<Tap> taps, std::array<int32_t, 3> program);

/// For a module: tapped, with bounds if `latitude` is given. Fails with a diagnostic.
struct TappedKernel {
  std::vector<Tap> taps; ///< `op` and `bound` are no longer valid
  BoundsKernel bounds;
};
mlir::FailureOr<TappedKernel> makeTapped(mlir::ModuleOp module, llvm::StringRef entry, std::array<int32_t, 3> program,
                                         const Latitude* latitude);

} // namespace tiletwin::diff
