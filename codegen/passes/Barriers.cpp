// codegen/passes/Barriers.cpp -- see Barriers.h.
#include "codegen/passes/Barriers.h"
#include "codegen/passes/LoopSlice.h"
#include "codegen/passes/Scratch.h"
#include "codegen/passes/SharedMemory.h"
#include "codegen/passes/TensorSums.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

constexpr StringLiteral kComplete = "twg.barriers_complete";

/// What an operation does with shared memory and with tensor memory, whose columns are bytes behind those of shared memory.
/// Slots of a ring are not in it: the pipeline places their waits.
struct Effects {
  SmallVector<SharedRange, 2> writes, reads;
  unsigned barriers = 0;    ///< that it has inside, between what it writes and what it reads
  bool isWaitedFor = false; ///< by all threads, right behind it: then nobody has to wait for them
};

std::optional<SharedRange> rangeOfMemory(Value memory) {
  while (auto view = memory.getDefiningOp<twg::MemDescViewOp>()) memory = view.getSrc();
  auto allocation = memory.getDefiningOp<twg::LocalAllocOp>();
  return allocation ? std::optional(rangeOf(allocation)) : std::nullopt;
}

SharedRange rangeOfTile(Value tile) {
  constexpr uint32_t kBehindSharedMemory = 1 << 20;
  const uint32_t first = kBehindSharedMemory + firstColumnOf(tile);
  return {first, first + columnsOf(tile)};
}

Effects effectsOf(Operation* op) {
  Effects effects;
  auto reads = [&](Value memory) {
    if (!isa<twg::MemDescType>(memory.getType())) return;
    if (std::optional<SharedRange> range = rangeOfMemory(memory)) effects.reads.push_back(*range);
  };
  auto writes = [&](Value memory) {
    if (std::optional<SharedRange> range = rangeOfMemory(memory)) effects.writes.push_back(*range);
  };
  llvm::TypeSwitch<Operation*>(op)
      .Case([&](twg::LocalAllocOp allocation) {
        // Tensor copies have a barrier of their own in front.
        bool isOfCopies = twg::isCopiedByTensorUnit(allocation.getResult()) || twg::isBarrier(allocation);
        if (allocation.getSrc() || !isOfCopies) effects.writes.push_back(rangeOf(allocation));
      })
      .Case([&](twg::LocalStoreOp store) { writes(store.getDst()); })
      .Case([&](twg::LocalLoadOp load) { reads(load.getSrc()); })
      .Case([&](twg::TensorStoreOp store) { reads(store.getSrc()); })
      .Case([&](twg::WarpgroupDotOp dot) { reads(dot.getA()), reads(dot.getB()); })
      .Case([&](twg::TmemStoreOp store) { effects.writes.push_back(rangeOfTile(store.getDst())); })
      .Case([&](twg::TmemLoadOp load) { effects.reads.push_back(rangeOfTile(load.getSrc())); })
      .Case([&](twg::TmemDotOp dot) {
        reads(dot.getA()), reads(dot.getB());
        effects.writes.push_back(rangeOfTile(dot.getD()));
        writes(dot.getBarrier()); // its next phase ends only when all threads have seen the end of the last one
        effects.isWaitedFor = bool(waitFor(dot));
      })
      .Case([&](twg::BarrierWaitOp wait) {
        if (llvm::any_of(twg::usersOf(wait.getBarrier()), llvm::IsaPred<twg::TmemDotOp>)) reads(wait.getBarrier());
      });
  if (twg::ScratchAttr scratch = scratchOf(op)) {
    effects.barriers = scratch.getBarriers();
    if (!writesBehindOwnBarrier(op)) effects.writes.push_back(rangeOf(scratch));
    effects.reads.push_back(rangeOf(scratch));
  }
  return effects;
}

/// The order of memory that an atomic access asks of the whole program.
tt::MemSemantic semanticOf(Operation* op) {
  return llvm::TypeSwitch<Operation*, tt::MemSemantic>(op)
      .Case<tt::AtomicRMWOp, tt::AtomicCASOp, tt::AtomicLoadOp, tt::AtomicStoreOp>(
          [](auto access) { return access.getSem(); })
      .Default([](Operation*) { return tt::MemSemantic::Relaxed; });
}

/// A release: all threads are done with what comes before, with tensor memory too.
bool wantsBarrierBefore(Operation* op) {
  if (isa<twg::TmemCloseOp>(op)) return true;
  tt::MemSemantic semantic = semanticOf(op);
  return semantic == tt::MemSemantic::Release || semantic == tt::MemSemantic::AcqRel;
}

/// What a thread has waited for or acquired, others see behind a barrier. Sharing a result ends with one. Barriers that are
/// made one after the other have one for all.
bool wantsBarrierBehind(Operation* op) {
  if (isa<twg::BarrierInitOp>(op)) return !isa_and_nonnull<twg::BarrierInitOp>(op->getNextNode());
  if (isa<twg::AsyncWaitOp>(op)) return true;
  if (auto poll = dyn_cast<tt::AtomicPollOp>(op)) return !poll.getTimeout();
  tt::MemSemantic semantic = semanticOf(op);
  return (semantic == tt::MemSemantic::Acquire || semantic == tt::MemSemantic::AcqRel) && !scratchOf(op);
}

/// Looks at a kernel's operations in the order in which they run. Where an operation needs a barrier in front of it,
/// because of `other` (null: because other iterations or branches may have used the memory), it calls `missing`, which
/// puts one there or fails. A barrier in front of `loop` does, too: all that it is needed for stands before that loop, which
/// is around the operation; null: there is no such loop.
class Hazards {
public:
  using Missing = llvm::function_ref<LogicalResult(Operation* op, Operation* other, bool isRead, Operation* loop)>;
  explicit Hazards(Missing missing) : missing_(missing) {}

  LogicalResult visit(Region& region) {
    for (Block& block : region) {
      if (!block.isEntryBlock()) meet(region.getParentOp());
      for (Operation& op : block)
        if (failed(visit(&op))) return failure();
    }
    return success();
  }

private:
  struct Access {
    SharedRange range;
    Operation* op;
  };
  using Accesses = SmallVector<Access, 8>;

  /// Blocks meet behind `op`, or at a block in it: anything may have been read and written. Behind a loop that is more than
  /// its operations say: products and copies use slots of rings, whose memory is used otherwise there.
  void meet(Operation* op) { unknownSince_ = op, read_.clear(), written_.clear(); }
  void wait(Operation* barrier) {
    unknownSince_ = nullptr, written_.clear();
    eraseDone(read_, barrier);
  }

  /// Products that are begun in front of a barrier and waited for behind it read on over it.
  static void eraseDone(Accesses& reads, Operation* barrier) {
    llvm::erase_if(reads, [&](const Access& access) {
      auto dot = dyn_cast<twg::WarpgroupDotOp>(access.op);
      Operation* here = dot && dot.getInFlight() ? dot->getBlock()->findAncestorOpInBlock(*barrier) : nullptr;
      auto waitsBehind = [&](Operation* user) {
        return isa<twg::WarpgroupWaitOp>(user) && user->getBlock() == dot->getBlock() && here->isBeforeInBlock(user);
      };
      return !here || !dot->isBeforeInBlock(here) || llvm::none_of(tt::usersOf(dot.getD()), waitsBehind);
    });
  }

  LogicalResult require(Operation* op, SharedRange range, ArrayRef<Accesses*> others, bool isRead) {
    SmallVector<Operation*> met;
    for (Accesses* list : others)
      for (const Access& access : *list)
        if (access.range.meets(range) && !areBySameThreads(access.op, op)) met.push_back(access.op);
    if (met.empty() && !unknownSince_) return success();
    Operation* other = met.empty() ? nullptr : met.back();
    if (unknownSince_) met.push_back(unknownSince_);
    Operation* loop = loopBehind(met, op);
    if (failed(missing_(op, other, isRead, loop))) return failure();
    if (!loop) {
      wait(op);
      return success();
    }
    unknownSince_ = nullptr;
    auto isBefore = [&](const Access& access) { return !loop->isAncestor(access.op); };
    llvm::erase_if(read_, isBefore), llvm::erase_if(written_, isBefore);
    return success();
  }

  /// True for loads and stores of one tile in tensor memory: each thread has its cells.
  static bool areBySameThreads(Operation* one, Operation* other) {
    auto tileOf = [](Operation* op) -> Value {
      if (auto load = dyn_cast<twg::TmemLoadOp>(op)) return load.getSrc();
      auto store = dyn_cast<twg::TmemStoreOp>(op);
      return store ? store.getDst() : Value();
    };
    return tileOf(one) && tileOf(one) == tileOf(other);
  }

  /// The outermost loop around an operation with none of the others in it.
  static Operation* loopBehind(ArrayRef<Operation*> others, Operation* op) {
    Operation* found = nullptr;
    for (Operation* at = op->getParentOp(); at; at = at->getParentOp()) {
      if (llvm::any_of(others, [&](Operation* other) { return at->isAncestor(other); })) break;
      if (isa<scf::ForOp, scf::WhileOp>(at)) found = at;
    }
    return found;
  }

  LogicalResult visit(Operation* op) {
    if (isBarrier(op)) wait(op);
    Effects effects = effectsOf(op);
    for (SharedRange range : effects.writes)
      if (failed(require(op, range, {&written_, &read_}, false))) return failure();
    if (effects.barriers) wait(op);
    for (SharedRange range : effects.reads)
      if (failed(require(op, range, {&written_}, true))) return failure();
    // Only now: a barrier that one of them needs in front of the operation is none for what the operation does itself.
    if (!effects.isWaitedFor) {
      if (!effects.barriers)
        for (SharedRange range : effects.writes) written_.push_back({range, op});
      for (SharedRange range : effects.reads) read_.push_back({range, op});
    }
    if (!isa<scf::ForOp, scf::IfOp, scf::WhileOp, scf::ExecuteRegionOp>(op)) return success();
    if (isa<scf::IfOp>(op) && !usesSharedMemory(op)) return success();
    if (isa<scf::ExecuteRegionOp>(op)) {
      const bool isInline = op->getRegion(0).hasOneBlock();
      if (!isInline) meet(op);
      if (failed(visit(op->getRegion(0)))) return failure();
      if (!isInline) meet(op);
      return success();
    }
    if (isa<scf::ForOp, scf::WhileOp>(op)) addIteration(op);
    const Hazards before = *this;
    for (Region& region : op->getRegions()) {
      unknownSince_ = before.unknownSince_, read_ = before.read_, written_ = before.written_;
      if (failed(visit(region))) return failure();
    }
    meet(op);
    return success();
  }

  /// True for a branch behind which shared memory is not as it was in front of it.
  static bool usesSharedMemory(Operation* branch) {
    auto uses = [](Operation* op) {
      const bool isOfMemory = isa_and_nonnull<twg::TWGDialect>(op->getDialect()) && !isMemoryEffectFree(op);
      return WalkResult(failure(isOfMemory || isBarrier(op) || scratchOf(op) || isa<LoopLikeOpInterface>(op)));
    };
    return branch->walk(uses).wasInterrupted();
  }

  /// What an iteration may meet of the one before it: all that stands behind the body's last barrier.
  void addIteration(Operation* loop) {
    Accesses written, read;
    auto add = [&](Operation* op) {
      Effects effects = effectsOf(op);
      if (effects.isWaitedFor) return;
      for (SharedRange range : effects.writes)
        if (!effects.barriers) written.push_back({range, op});
      for (SharedRange range : effects.reads) read.push_back({range, op});
    };
    if (auto counted = dyn_cast<scf::ForOp>(loop)) {
      for (Operation& op : *counted.getBody()) {
        if (isBarrier(&op) || effectsOf(&op).barriers) written.clear(), eraseDone(read, &op);
        op.walk(add);
      }
    } else {
      loop->walk(add);
    }
    written_.append(written), read_.append(read);
  }

  Missing missing_;
  Operation* unknownSince_ = nullptr; ///< null: what was read and written since the last barrier is known
  Accesses read_, written_;
};

/// The barrier that stands next to an operation, but for what touches no memory.
template <class Next> bool hasBarrier(Operation* op, Next next) {
  do op = next(op);
  while (op && op->getNumRegions() == 0 && isMemoryEffectFree(op));
  return op && isBarrier(op);
}

LogicalResult verifyNeighbours(Operation* op) {
  if (wantsBarrierBefore(op) && !hasBarrier(op, [](Operation* at) { return at->getPrevNode(); }))
    return op->emitOpError("releases what the program has written, and no barrier of its threads stands in front");
  if (wantsBarrierBehind(op) && !hasBarrier(op, [](Operation* at) { return at->getNextNode(); }))
    return op->emitOpError("tells one thread what all have to know, and no barrier stands behind");
  return success();
}

} // namespace

/// True for what threads, or products, read or write, also in slots of rings.
static bool usesShared(Operation* op) {
  const Effects effects = effectsOf(op);
  return !effects.reads.empty() || !effects.writes.empty() ||
         isa<twg::LocalLoadOp, twg::LocalStoreOp, twg::AsyncCopyOp, twg::WarpgroupDotOp, twg::TmemDotOp,
             twg::TensorStoreOp>(op);
}

bool isFirstUseOfShared(Operation* at) {
  at = outermostLoop(at);
  bool isFirst = true;
  at->getParentOfType<tt::FuncOp>().walk<WalkOrder::PreOrder>([&](Operation* op) {
    if (op == at) return WalkResult::interrupt();
    isFirst = !usesShared(op);
    return isFirst ? WalkResult::advance() : WalkResult::interrupt();
  });
  return isFirst;
}

/// Where nothing has used shared memory yet, copies need not wait for what threads have written to it, or still read.
static void dropIdleBarriers(tt::FuncOp kernel) {
  SmallVector<twg::ProxyBarrierOp> idle;
  kernel.walk([&](twg::ProxyBarrierOp barrier) {
    if (!barrier.getGlobal() && !barrier->getParentOfType<LoopLikeOpInterface>() && isFirstUseOfShared(barrier))
      idle.push_back(barrier);
  });
  for (twg::ProxyBarrierOp barrier : idle) barrier.erase();
}

bool isBarrier(Operation* op) { return isa<ttg::BarrierOp, twg::ProxyBarrierOp>(op); }

bool barriersAreComplete(ModuleOp module) { return module->hasAttr(kComplete); }

void insertBarriers(tt::FuncOp kernel) {
  dropIdleBarriers(kernel);
  OpBuilder builder(kernel.getContext());
  auto insert = [&](Operation* op) { ttg::BarrierOp::create(builder, op->getLoc(), ttg::BarrierScope::Local); };
  auto setBarriers = [&](Operation* op, unsigned barriers) {
    twg::ScratchAttr scratch = scratchOf(op);
    setScratch(op, twg::ScratchAttr::get(op->getContext(), scratch.getOffset(), scratch.getBytes(), barriers));
  };
  kernel.walk([&](Operation* op) {
    builder.setInsertionPoint(op);
    const bool isOptional = scratchOf(op) && firstBarrierIsOptional(op);
    if (isOptional) setBarriers(op, 1);
    const bool isAtStart = isa<twg::TmemOpenOp>(op);
    if (wantsBarrierBefore(op) || (scratchOf(op) && !isOptional && !isAtStart && !writesBehindOwnBarrier(op)))
      insert(op);
    builder.setInsertionPointAfter(op);
    if (wantsBarrierBehind(op)) insert(op);
  });
  LogicalResult all = Hazards([&](Operation* op, Operation*, bool isRead, Operation* loop) {
                        if (!loop && !isRead && scratchOf(op) && firstBarrierIsOptional(op)) {
                          setBarriers(op, 2);
                          return success();
                        }
                        builder.setInsertionPoint(loop ? loop : op);
                        insert(op);
                        return success();
                      }).visit(kernel.getBody());
  assert(succeeded(all)), (void)all;
  kernel->getParentOfType<ModuleOp>()->setAttr(kComplete, builder.getUnitAttr());
}

LogicalResult verifyBarriers(tt::FuncOp kernel) {
  if (kernel.walk([](Operation* op) { return WalkResult(verifyNeighbours(op)); }).wasInterrupted()) return failure();
  return Hazards([](Operation* op, Operation* other, bool isRead, Operation*) -> LogicalResult {
           InFlightDiagnostic problem = op->emitOpError();
           const bool isInTensorMemory =
               isa<twg::TmemLoadOp, twg::TmemStoreOp>(op) || isa_and_nonnull<twg::TmemLoadOp, twg::TmemStoreOp>(other);
           problem << (isRead ? "reads " : "writes ") << (isInTensorMemory ? "tensor" : "shared") << " memory that ";
           if (!other) return problem << "another iteration or branch may have used, and no barrier stands in between";
           problem << "is " << (isRead ? "written" : "used") << " before, and no barrier stands in between";
           problem.attachNote(other->getLoc()) << "here";
           return problem;
         })
      .visit(kernel.getBody());
}

} // namespace tiletwin::codegen
