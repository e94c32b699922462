// codegen/passes/HeldOperands.cpp -- see HeldOperands.h.
#include "codegen/passes/HeldOperands.h"
#include "codegen/dialect/TWG.h"
#include "codegen/passes/Notes.h"
#include "codegen/passes/Producer.h"
#include "codegen/passes/SharedMemory.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

constexpr int kMostRegisters = 255;    ///< of a thread
constexpr unsigned kWordsOfPiece = 16; ///< of a fragment: products begin with the first of them
constexpr uint32_t kForScratch = 4096; ///< bytes of shared memory for alignment, and for what goes from warp to warp

/// Of pointers and indices a thread computes each from one: they count for nothing.
unsigned wordsOf(Value tile) {
  auto type = dyn_cast<RankedTensorType>(tile.getType());
  if (!type || !twg::hasLayout(type) || !type.getElementType().isIntOrFloat()) return 0;
  Operation* op = tile.getDefiningOp();
  if (op && (op->hasTrait<OpTrait::ConstantLike>() || isa<tt::SplatOp, tt::BroadcastOp, tt::ExpandDimsOp>(op)))
    return 0;
  const bool mayBeIndices = type.getElementType().isInteger(32) || type.getElementType().isInteger(64);
  if (mayBeIndices && op && !isa<tt::DotOp, tt::LoadOp, twg::LocalLoadOp>(op)) return 0;
  return twg::layoutOf(tile).registers() * type.getElementTypeBitWidth() / 32;
}

/// True if nothing in the loop but products in its body uses what is read.
bool isForProducts(twg::LocalLoadOp read, scf::ForOp loop) {
  return llvm::all_of(tt::usersOf(read.getResult()), [&](Operation* user) {
    return !loop->isAncestor(user) || (isa<tt::DotOp>(user) && user->getParentOp() == loop);
  });
}

/// The tiles from outside of a loop that its operations use.
llvm::SetVector<Value> givenTiles(scf::ForOp loop) {
  llvm::SetVector<Value> found;
  loop.getBody()->walk([&](Operation* op) {
    for (Value value : op->getOperands())
      if (isa<RankedTensorType>(value.getType()) && !loop->isAncestor(value.getParentRegion()->getParentOp()))
        found.insert(value);
  });
  return found;
}

/// A fragment that a loop gets from outside and that products of `mma` alone use there; null: it is none.
twg::LocalLoadOp heldFragment(Value tile, scf::ForOp loop) {
  auto load = tile.getDefiningOp<twg::LocalLoadOp>();
  if (!load) return {};
  auto memory = load.getSrc().getDefiningOp<twg::LocalAllocOp>();
  const bool isWritten =
      !memory || !memory.getSrc() || !llvm::all_of(memory->getUsers(), llvm::IsaPred<twg::LocalLoadOp>);
  return !isWritten && isForProducts(load, loop) ? load : twg::LocalLoadOp();
}

void readAgain(twg::LocalLoadOp load, scf::ForOp loop) {
  for (OpOperand& use : llvm::make_early_inc_range(load->getUses())) {
    if (!loop->isAncestor(use.getOwner())) continue;
    OpBuilder builder(use.getOwner());
    use.set(twg::LocalLoadOp::create(builder, load.getLoc(), load.getType(), load.getSrc()));
  }
  if (load->use_empty()) load.erase();
}

/// Reads of memory that the rest of the iteration does not write stand in front of the first product that uses them.
void readLate(scf::ForOp loop) {
  SmallVector<twg::LocalLoadOp> loads(loop.getBody()->getOps<twg::LocalLoadOp>());
  for (twg::LocalLoadOp load : loads) {
    Operation* first = nullptr;
    if (!isForProducts(load, loop)) continue;
    for (Operation* user : tt::usersOf(load.getResult()))
      if (!first || user->isBeforeInBlock(first)) first = user;
    if (!first) continue;
    twg::LocalAllocOp memory = twg::allocationOf(load.getSrc());
    auto isInTheWay = [&](Operation* op) { // what may write the memory, or say that others may
      if (tt::isNote(op) || isMemoryEffectFree(op) || isa<twg::LocalLoadOp, twg::AsyncCommitOp, tt::LoadOp>(op))
        return false;
      auto store = dyn_cast<twg::LocalStoreOp>(op);
      auto copy = dyn_cast<twg::AsyncCopyOp>(op);
      Value written = store ? store.getDst() : copy ? copy.getDst() : Value();
      return !written || twg::allocationOf(written) == memory;
    };
    bool canMove = memory != nullptr;
    for (Operation* op = load->getNextNode(); canMove && op != first; op = op->getNextNode()) canMove = !isInTheWay(op);
    if (!canMove) continue;
    moveNotes(load.getResult(), {});
    load->moveBefore(first);
  }
}

} // namespace

unsigned mostWordsOfTiles(scf::ForOp loop, bool isInPieces) {
  llvm::SmallDenseMap<Value, unsigned> alive;
  unsigned now = 0, most = 0;
  auto begin = [&](Value value) {
    auto read = value.getDefiningOp<twg::LocalLoadOp>();
    unsigned words = wordsOf(value);
    if (isInPieces && read && read->getParentOp() == loop && isForProducts(read, loop))
      words = std::min(words, kWordsOfPiece);
    if (alive.try_emplace(value, words).second) now += words;
  };
  llvm::for_each(givenTiles(loop), begin);
  for (Operation& op : llvm::reverse(*loop.getBody())) {
    for (Value result : op.getResults())
      if (auto found = alive.find(result); found != alive.end()) {
        now -= found->second;
        alive.erase(found);
      }
    op.walk([&](Operation* inside) {
      for (Value value : inside->getOperands())
        if (value.getParentBlock() == loop.getBody()) begin(value);
    });
    most = std::max(most, now);
  }
  return most;
}

int registersOfThread(const Target& target, const Options& options) {
  const int most = std::min(kMostRegisters, kRegisters / int(options.numWarps * target.warpSize));
  return options.maxRegisters ? std::min(most, options.maxRegisters) : most;
}

uint32_t ctasByRegisters(scf::ForOp loop, unsigned threads) {
  const unsigned words = mostWordsOfTiles(loop, /*isInPieces=*/true) + kRegistersBesideTiles;
  return std::max(kRegisters / (threads * std::min(words, unsigned(kMostRegisters))), 1u);
}

void readOperandsLate(tt::FuncOp kernel, const Target& target, const Options& options) {
  const int threads = options.numWarps * target.warpSize, registers = registersOfThread(target, options);
  const uint32_t ctas = uint32_t(kRegisters / (threads * registers)); // that run beside each other if all are used
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  const bool hasRoom = hasRoomForAllTiles(kernel, target, ctas, kForScratch);
  auto isTooMuch = [&](scf::ForOp loop, bool isInPieces) {
    return int(mostWordsOfTiles(loop, isInPieces)) > registers;
  };
  for (scf::ForOp loop : loops) {
    if (loop.getBody()->getOps<tt::DotOp>().empty()) continue;
    if (isTooMuch(loop, /*isInPieces=*/false)) readLate(loop);
    SmallVector<twg::LocalLoadOp> held;
    for (Value tile : hasRoom ? givenTiles(loop) : llvm::SetVector<Value>())
      if (twg::LocalLoadOp load = heldFragment(tile, loop)) held.push_back(load);
    llvm::stable_sort(held, [](auto a, auto b) { return wordsOf(a) > wordsOf(b); });
    for (twg::LocalLoadOp load : held)
      if (isTooMuch(loop, /*isInPieces=*/true)) readAgain(load, loop);
  }
}

} // namespace tiletwin::codegen
