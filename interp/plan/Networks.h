// interp/plan/Networks.h -- sorting networks and reversals in a function's IR, found before it is planned.
//
// tl.sort, tl.topk and tl.flip see a tile as a hypercube and exchange its halves by xor: x ^ (x0 ^ x1). Found are
//   Step   arith.select that compares a tile with its halves exchanged: one compare-and-swap step (tile/SortOps.cpp);
//          steps that follow each other become one instruction
//   Half   the exchange itself: a view of the same elements with a negative stride
// Here:      what was found, and which operations nobody needs any more for it.
// Invariant: a Step or a Half gives, bit for bit, what its operations give; an operation is unneeded only if it has no effect.
#pragma once
#include "interp/tile/TileOps.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace tiletwin::interp {

struct NetworkStep {
  mlir::Value source; ///< the tile that is compared with itself
  TwSortStep step;
  TwSortFn fn = nullptr;
  mlir::Operation* before = nullptr; ///< the step whose result is this one's source and nobody else's
  bool continues = false;            ///< the step behind runs it
};
struct ExchangedHalves {
  mlir::Value source;
  int64_t axis = 0; ///< of size 2
};

class Networks {
public:
  /// `mayWrite`: whether an operation may write memory.
  template <class MayWrite> Networks(mlir::Operation* function, const TwTileOps& tiles, MayWrite mayWrite) {
    find(function, tiles);
    if (empty()) return;
    findUnneeded(function);
    for (auto& [op, step] : steps_) link(op, step, [&](mlir::Operation* o) { return mayWrite(o); });
  }
  Networks() = default;
  bool empty() const { return steps_.empty() && halves_.empty(); }
  bool isUnneeded(mlir::Operation* op) const { return unneeded_.contains(op); }
  const NetworkStep* step(mlir::Operation* op) const {
    auto it = steps_.find(op);
    return it == steps_.end() ? nullptr : &it->second;
  }
  const ExchangedHalves* halves(mlir::Operation* op) const {
    auto it = halves_.find(op);
    return it == halves_.end() ? nullptr : &it->second;
  }

private:
  void find(mlir::Operation* function, const TwTileOps& tiles);
  void findUnneeded(mlir::Operation* function);
  void link(mlir::Operation* op, NetworkStep& step, llvm::function_ref<bool(mlir::Operation*)> mayWrite);

  llvm::DenseMap<mlir::Operation*, NetworkStep> steps_;
  llvm::DenseMap<mlir::Operation*, ExchangedHalves> halves_;
  llvm::DenseSet<mlir::Operation*> unneeded_;
};

} // namespace tiletwin::interp
