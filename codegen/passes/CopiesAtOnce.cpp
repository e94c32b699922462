// codegen/passes/CopiesAtOnce.cpp -- see CopiesAtOnce.h.
#include "codegen/passes/CopiesAtOnce.h"
#include "codegen/dialect/TWG.h"
#include "codegen/passes/AccessLayout.h"
#include "codegen/passes/DotsInFlight.h"
#include "codegen/passes/HeldOperands.h"
#include "codegen/passes/LoopSlice.h"
#include "codegen/passes/MovedLoads.h"
#include "codegen/passes/Notes.h"
#include "codegen/passes/Pipeline.h"
#include "codegen/passes/Ring.h"
#include "codegen/passes/Scratch.h"
#include "codegen/passes/SharedMemory.h"
#include "codegen/passes/Steps.h"
#include "codegen/passes/WrittenMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

constexpr unsigned kFewWords = 8;    ///< of a thread's registers: they can hold a load from the iteration's start on
constexpr unsigned kWordsAhead = 32; ///< of a load that is made one product earlier
constexpr uint32_t kForAlignment = 4096; ///< bytes of shared memory

class CopiesAtOnce {
public:
  explicit CopiesAtOnce(scf::ForOp loop) : loop_(loop) {}
  /// False if there is none.
  bool find();
  void rewrite();

private:
  void begin(twg::LocalAllocOp memory, OpBuilder& builder);
  void moveLoads(Operation* start);

  scf::ForOp loop_;
  SmallVector<twg::LocalAllocOp> copied_; ///< in the order in which they are read
};

bool CopiesAtOnce::find() {
  Block* body = loop_.getBody();
  if (mayWaitForOthers(loop_) || body->getOps<twg::WarpgroupDotOp>().empty()) return false;
  for (auto memory : body->getOps<twg::LocalAllocOp>()) {
    auto load = memory.getSrc() ? memory.getSrc().getDefiningOp<tt::LoadOp>() : tt::LoadOp();
    const bool isHere = load && load->getBlock() == body && tt::hasOneUse(load.getResult());
    if (!isHere || !canBeCopied(load, memory.getResult().getType()) || mayBeWritten(load.getPtr())) continue;
    const bool isRead = llvm::all_of(twg::usersOf(memory.getResult()), [&](Operation* user) {
      return isa<twg::LocalLoadOp, twg::WarpgroupDotOp>(user) && user->getBlock() == body;
    });
    if (isRead && !mayNotPass(load, &body->front(), firstReader(memory)) && canComputeAt(load, &body->front()))
      copied_.push_back(memory);
  }
  llvm::stable_sort(copied_, [](auto a, auto b) { return firstReader(a)->isBeforeInBlock(firstReader(b)); });
  return !copied_.empty();
}

/// Begins the copy at the builder, as a group of its own.
void CopiesAtOnce::begin(twg::LocalAllocOp memory, OpBuilder& builder) {
  auto load = memory.getSrc().getDefiningOp<tt::LoadOp>();
  Location where = load.getLoc();
  auto copied = twg::LocalAllocOp::create(builder, where, memory.getResult().getType(), Value(), IntegerAttr());
  auto copy = twg::AsyncCopyOp::create(builder, where, load.getPtr(), copied, load.getMask(), Value());
  if (Attribute vector = load->getAttr("twg.vector")) copy->setAttr("twg.vector", vector);
  twg::AsyncCommitOp::create(builder, where);
  moveNotes(load.getResult(), readFrom(memory));
  memory.getResult().replaceAllUsesWith(copied.getResult());
  memory.erase(), load.erase();
}

void CopiesAtOnce::moveLoads(Operation* start) {
  SmallVector<tt::LoadOp> loads(loop_.getBody()->getOps<tt::LoadOp>());
  for (tt::LoadOp load : loads) {
    if (!isa<RankedTensorType>(load.getType()) || load.getIsVolatile()) continue;
    Operation* place = wordsOf(load) <= kFewWords ? start : nullptr;
    if (!place || mayNotPass(load, start, load)) {
      place = nullptr;
      for (auto dot : loop_.getBody()->getOps<twg::WarpgroupDotOp>())
        if (dot->isBeforeInBlock(load)) place = dot;
      if (!place || wordsOf(load) > kWordsAhead || mayNotPass(load, place, load)) continue;
    }
    moveUp(load, place);
  }
}

void CopiesAtOnce::rewrite() {
  OpBuilder builder = OpBuilder::atBlockBegin(loop_.getBody());
  auto start = arith::ConstantOp::create(builder, loop_.getLoc(), builder.getBoolAttr(true)); // a place, no more
  builder.setInsertionPoint(start);
  SmallVector<Operation*> readers;
  for (twg::LocalAllocOp memory : copied_) {
    auto load = memory.getSrc().getDefiningOp<tt::LoadOp>();
    moveUp(load, start);
    readers.push_back(firstReader(memory));
  }
  for (twg::LocalAllocOp memory : copied_) begin(memory, builder);
  moveLoads(start);
  start.erase();
  unsigned younger = copied_.size();
  for (Operation* reader : readers) {
    builder.setInsertionPoint(reader);
    twg::AsyncWaitOp::create(builder, loop_.getLoc(), --younger, /*fenced=*/true);
  }
}

} // namespace

void copyAtOnce(tt::FuncOp kernel, const Target& target, const Options& options) {
  if (!target.features().asyncCopies) return;
  uint32_t beside = 0;
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](Operation* op) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) loops.push_back(loop);
    if (std::optional<Scratch> needed = scratchNeededBy(op, target, threadsOf(target, options)))
      beside = std::max(beside, needed->bytes);
  });
  for (scf::ForOp loop : loops) {
    CopiesAtOnce copies(loop);
    if (stagesOf(loop, options) >= 2 || !copies.find()) continue;
    const uint32_t ctas = options.isAlone ? 1 : ctasByRegisters(loop, options.numWarps * target.warpSize);
    if (hasRoomForAllTiles(kernel, target, ctas, beside + kForAlignment)) copies.rewrite();
  }
}

} // namespace tiletwin::codegen
