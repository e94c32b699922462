// codegen/emit/TensorCopyOps.cpp -- copies of blocks by the tensor memory accelerator (TMA), and the barriers that wait for them.
// Here:      instructions, coordinates, who issues them. Not here: which descriptors are maps and when copies begin (passes/).
// Idea: one thread of the first warp issues everything. A twg.producer is run by one thread, which issues all of it.
// Invariant: a block is one copy for each box of its map; boxes lie one behind the other where the order in shared memory
//       has them (layout/SharedLayout.h), so only their first bytes have to be known.
#include "codegen/emit/Issuer.h"
#include "codegen/emit/PairOps.h"
#include "codegen/emit/TargetCode.h"
#include "codegen/passes/AffineLoads.h"
#include "codegen/passes/Pairs.h"
#include "codegen/passes/Producer.h"
#include "codegen/passes/TensorMaps.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace mlir;

namespace tiletwin::codegen {

using llvm::Value;

namespace {

constexpr uint32_t kBarrierBytes = 8;
/// An index outside of every tensor, and far from where adding a block's extent wraps around.
constexpr int64_t kFarOutside = 1 << 30;

void fenceOfProxies(Emitter& e, bool isGlobal) {
  e.intrinsic(isGlobal ? llvm::Intrinsic::nvvm_fence_proxy_async : llvm::Intrinsic::nvvm_fence_proxy_async_shared_cta,
              {}, {});
}

/// A block of a tensor and the boxes that it is copied in.
class TensorBlock {
public:
  TensorBlock(Emitter& e, mlir::Value descriptor, ValueRange indices, mlir::Value memory)
      : e_(e), type_(cast<tt::TensorDescType>(descriptor.getType())), map_(tensorMapOf(descriptor)),
        argument_(cast<BlockArgument>(descriptor)), memory_(e.scalar(memory)) {
    for (mlir::Value index : indices) indices_.push_back(e.scalar(index));
    elementBytes_ = type_.getElementType().getIntOrFloatBitWidth() / 8;
  }

  /// Calls copy(address in shared memory, coordinates as PTX has them: the last dimension first) for each box.
  template <class Copy> void forEachBox(Copy copy) {
    SmallVector<int64_t, 5> at(map_.getBox().size(), 0);
    bool isMore = true;
    while (isMore) {
      copy(e_.ir().CreateAdd(memory_, e_.int32(offsetOf(at))), coordinates(at));
      isMore = false;
      for (size_t d = at.size(); d-- > 0 && !isMore;) {
        at[d] += map_.getBox()[d];
        isMore = at[d] < type_.getShape()[d];
        if (!isMore) at[d] = 0;
      }
    }
  }
  unsigned rank() const { return unsigned(map_.getBox().size()); }
  Value* map() { return e_.parameterOf(argument_); }

private:
  /// Of an element that begins a box.
  int64_t offsetOf(ArrayRef<int64_t> at) const {
    ArrayRef<int64_t> shape = type_.getShape();
    int64_t row = 0, rows = 1;
    for (size_t d = 0; d + 1 < shape.size(); ++d) row = row * shape[d] + at[d], rows *= shape[d];
    int64_t whole = shape.back() * elementBytes_, along = at.back() * elementBytes_;
    int64_t rowBytes = map_.getSwizzle() ? std::min<int64_t>(whole, map_.getSwizzle()) : whole;
    return along / rowBytes * rows * rowBytes + row * rowBytes + along % rowBytes;
  }
  Values coordinates(ArrayRef<int64_t> at) {
    Values result;
    for (size_t d = at.size(); d-- > 0;)
      result.push_back(at[d] ? e_.ir().CreateAdd(indices_[d], e_.int32(at[d])) : indices_[d]);
    result.front() = e_.ir().CreateSelect(isEmpty(), e_.int32(kFarOutside), result.front());
    return result;
  }
  /// A map has at least one element along each dimension. For a tensor without elements the host makes a map with one
  /// element, which no copy may touch. The tensor's own extents follow the descriptor in the kernel's arguments.
  Value* isEmpty() {
    if (!recipeOf(argument_).empty()) return e_.ir().getFalse(); // no map is made for such a tensor
    auto arguments = argument_.getOwner()->getArguments();
    Value* empty = e_.ir().getFalse();
    for (unsigned d = 0; d < rank(); ++d)
      empty = e_.ir().CreateOr(
          empty, e_.ir().CreateICmpSLE(e_.scalar(arguments[argument_.getArgNumber() + 1 + d]), e_.int32(0)));
    return empty;
  }

  Emitter& e_;
  tt::TensorDescType type_;
  twg::TensorMapAttr map_;
  BlockArgument argument_;
  Value* memory_;
  Values indices_;
  int64_t elementBytes_ = 0;
};

/// "{$3, $4}": operands from `first` on.
std::string operandList(size_t first, size_t count) {
  std::string text = "{";
  for (size_t i = 0; i < count; ++i) text += (i ? ", $" : "$") + std::to_string(first + i);
  return text + "}";
}

/// A copy for each box, by the thread in which issuerOf() is true. The operands of `text`: the box's address in shared memory,
/// the map, `more`, the coordinates.
void issueCopies(Emitter& e, TensorBlock& block, llvm::function_ref<Value*()> issuerOf, const std::string& text,
                 const Values& more = {}) {
  block.forEachBox([&](Value* address, const Values& coordinates) {
    Values inputs{address, block.map()};
    std::string constraints = "r,l";
    for (Value* word : llvm::concat<Value* const>(more, coordinates)) inputs.push_back(word), constraints += ",r";
    issue(e, issuerOf(), text, constraints, inputs);
  });
}

LogicalResult verifyCopy(Emitter& e, Operation* op, mlir::Value descriptor, ValueRange indices, mlir::Value memory) {
  twg::TensorMapAttr map = tensorMapOf(descriptor);
  if (!map)
    return op->emitOpError("needs a descriptor that is an argument of the kernel with a tensor map (twg.tensor_map)");
  if (!e.features().tensorCopies) return notCompiled(op, e);
  auto type = cast<tt::TensorDescType>(descriptor.getType());
  auto bytes = [](mlir::Type memory) { return twg::sharedLayoutOf(cast<twg::MemDescType>(memory)).bytes(); };
  if (indices.size() == type.getShape().size() && bytes(memory.getType()) == bytes(tensorMemory(type, map)))
    return success();
  return op->emitOpError("needs an index for each dimension of the tensor, and shared memory as large as its block");
}

LogicalResult emitLoad(Emitter& e, twg::TensorLoadOp load, Value* issuer) {
  if (failed(verifyCopy(e, load, load.getDesc(), load.getIndices(), load.getDst()))) return failure();
  TensorBlock block(e, load.getDesc(), load.getIndices(), load.getDst());
  const std::string name = "cp.async.bulk.tensor." + std::to_string(block.rank()) +
                           "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes";
  const std::string operands = " [$0], [$1, " + operandList(3, block.rank()) + "], [$2]";
  const Values barrier{e.scalar(load.getBarrier())};
  if (!load.getTurn()) {
    issueCopies(e, block, [&] { return issuer; }, name + operands, barrier);
    return success();
  }
  assert(!issuer && "a thread of its own copies for a pair");
  Value* turn = e.scalar(load.getTurn());
  llvm::BasicBlock *alone = e.newBlock("alone"), *shared = e.newBlock("shared"), *end = e.newBlock("copied");
  e.ir().CreateCondBr(e.ir().CreateICmpSLT(turn, e.int32(0)), alone, shared);
  e.ir().SetInsertPoint(alone);
  issueCopies(e, block, [] { return nullptr; }, name + operands, barrier);
  e.ir().CreateBr(end);
  e.ir().SetInsertPoint(shared);
  std::array<Value*, kCtasOfPair> isTurn;
  for (unsigned i = 0; i < isTurn.size(); ++i) isTurn[i] = e.ir().CreateICmpEQ(turn, e.int32(i));
  size_t box = 0;
  issueCopies(
      e, block, [&] { return isTurn[box++ % kCtasOfPair]; }, name + ".multicast::cluster" + operands + ", " + kBothCtas,
      barrier);
  e.ir().CreateBr(end);
  e.ir().SetInsertPoint(end);
  return success();
}

/// The copy right behind an operation that is begun if `expect` is done; null if there is none.
twg::TensorLoadOp loadBehind(Operation* op, twg::BarrierExpectOp expect) {
  auto load = dyn_cast<twg::TensorLoadOp>(op->getNextNode());
  return load && load.getEnabled() == expect.getEnabled() ? load : twg::TensorLoadOp();
}

/// True for copies that stand right behind their twg.barrier_expect, and behind others of that kind.
bool expectedWith(twg::TensorLoadOp load) {
  for (Operation* op = load->getPrevNode(); op; op = op->getPrevNode()) {
    if (auto expect = dyn_cast<twg::BarrierExpectOp>(op)) return expect.getEnabled() == load.getEnabled();
    auto other = dyn_cast<twg::TensorLoadOp>(op);
    if (!other || other.getEnabled() != load.getEnabled()) return false;
  }
  return false;
}

/// Reads the maps while the program computes where it is: the first copies would wait for that. Maps that the host may not
/// have made are read if it says that it has.
void fetchMaps(Emitter& e, tt::FuncOp kernel, Value* issuer) {
  Value* areMade = nullptr;
  for (BlockArgument argument : kernel.getArguments())
    if (StringRef recipe = recipeOf(argument); !recipe.empty() && recipe != kProgramsRecipe && !tensorMapOf(argument))
      areMade = e.ir().CreateICmpNE(e.scalar(argument), e.int32(0));
  for (BlockArgument argument : kernel.getArguments())
    if (tensorMapOf(argument))
      issue(e, e.both(issuer, recipeOf(argument).empty() ? nullptr : areMade), "prefetch.tensormap [$0]", "l",
            {e.parameterOf(argument)});
}

} // namespace

template <> LogicalResult emit(Emitter& e, twg::MemDescViewOp view) {
  e.define(view.getResult(), e.scalar(view.getSrc()));
  return success();
}

/// Barriers that stand behind each other are made at once. In a branch, if the same warps compute where the program is: the
/// assembler would put that, divisions for example, in front of predicated instructions, and maps would be fetched late.
template <> LogicalResult emit(Emitter& e, twg::BarrierInitOp init) {
  if (isa_and_nonnull<twg::BarrierInitOp>(init->getPrevNode())) return success();
  auto kernel = init->getParentOfType<tt::FuncOp>();
  Value* issuer = isIssuer(e);
  llvm::BasicBlock* end = nullptr;
  if (!producerOf(kernel)) {
    llvm::BasicBlock* inside = e.newBlock("barriers");
    end = e.newBlock("barriers.end");
    e.ir().CreateCondBr(issuer, inside, end);
    e.ir().SetInsertPoint(inside);
    issuer = nullptr;
  }
  fetchMaps(e, kernel, issuer);
  for (; init; init = dyn_cast<twg::BarrierInitOp>(init->getNextNode())) {
    const uint32_t bytes = twg::sharedLayoutOf(init.getBarriers().getType()).bytes();
    for (uint32_t offset = 0; offset < bytes; offset += kBarrierBytes)
      issue(e, issuer, "mbarrier.init.shared::cta.b64 [$0], " + std::to_string(init.getArrivals()), "r",
            {e.ir().CreateAdd(e.scalar(init.getBarriers()), e.int32(offset))});
  }
  fenceOfProxies(e, false);
  if (e.isInPairs()) issue(e, issuer, "fence.mbarrier_init.release.cluster", "", {});
  if (end) e.ir().CreateBr(end), e.ir().SetInsertPoint(end);
  if (e.isInPairs()) meetPair(e);
  return success();
}

template <> LogicalResult emit(Emitter& e, twg::BarrierExpectOp expect) {
  Value* issuer = isIssuer(e, expect.getEnabled());
  auto arrive = [&](Value* predicate) {
    issue(e, predicate, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], " + std::to_string(expect.getBytes()), "r",
          {e.scalar(expect.getBarrier())});
  };
  twg::TensorLoadOp load = loadBehind(expect, expect);
  if (e.runBy() == RunBy::Producer || !load) {
    arrive(issuer);
    return success();
  }
  // In a branch, which the other threads do not issue instructions of, and which the assembler leaves where it stands.
  llvm::BasicBlock *inside = e.newBlock("issue"), *end = e.newBlock("issue.end");
  e.ir().CreateCondBr(issuer, inside, end);
  e.ir().SetInsertPoint(inside);
  arrive(nullptr);
  for (; load; load = loadBehind(load, expect))
    if (failed(emitLoad(e, load, nullptr))) return failure();
  e.ir().CreateBr(end);
  e.ir().SetInsertPoint(end);
  return success();
}

template <> LogicalResult emit(Emitter& e, twg::BarrierArriveOp arrive) {
  Value* one = nullptr;
  if (e.runBy() != RunBy::Producer) {
    e.intrinsic(llvm::Intrinsic::nvvm_bar_warp_sync, {}, {e.int32(-1)}); // all lanes have read
    one = e.ir().CreateExtractValue(e.intrinsic(llvm::Intrinsic::nvvm_elect_sync, {}, {e.int32(-1)}), 1);
  }
  issue(e, e.both(one, arrive.getEnabled() ? e.scalar(arrive.getEnabled()) : nullptr),
        "mbarrier.arrive.shared::cta.b64 _, [$0]", "r", {e.scalar(arrive.getBarrier())});
  return success();
}

template <> LogicalResult emit(Emitter& e, twg::ProducerOp producer) {
  if (!e.features().wgmma) return notCompiled(producer, e);
  return e.branchToProducer([&] { return e.emitBody(producer.getBody().front()); }, producer);
}

template <> LogicalResult emit(Emitter& e, twg::BarrierWaitOp wait) {
  if (!wait.getPhase()) return wait->emitOpError("has no phase; a pass derives it on the way to ttgir");
  e.inlinePtx("{ .reg .pred done; waiting: mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1; "
              "@!done bra.uni waiting; }",
              "r,r,~{memory}", {}, {e.scalar(wait.getBarrier()), e.scalar(wait.getPhase())}, true);
  return success();
}

template <> LogicalResult emit(Emitter& e, twg::PhaseOp phase) {
  Value* all = e.scalar(phase.getPhases());
  if (phase.getIndex()) all = e.ir().CreateLShr(all, e.scalar(phase.getIndex()));
  e.define(phase.getResult(), e.ir().CreateAnd(all, e.int32(1)));
  return success();
}

template <> LogicalResult emit(Emitter& e, twg::NextPhaseOp next) {
  Value* bit = next.getIndex() ? e.ir().CreateShl(e.int32(1), e.scalar(next.getIndex())) : e.int32(1);
  e.define(next.getResult(), e.ir().CreateXor(e.scalar(next.getPhases()), bit));
  return success();
}

template <> LogicalResult emit(Emitter& e, twg::ProxyBarrierOp op) {
  fenceOfProxies(e, op.getGlobal());
  e.code().barrier(e);
  return success();
}

template <> LogicalResult emit(Emitter& e, twg::TensorLoadOp load) {
  if (e.runBy() != RunBy::Producer && expectedWith(load)) return success(); // emitted there
  return emitLoad(e, load, isIssuer(e, load.getEnabled()));
}

template <> LogicalResult emit(Emitter& e, twg::TensorStoreOp store) {
  if (failed(verifyCopy(e, store, store.getDesc(), store.getIndices(), store.getSrc()))) return failure();
  TensorBlock block(e, store.getDesc(), store.getIndices(), store.getSrc());
  Value* issuer = isIssuer(e);
  unsigned rank = block.rank();
  std::string text = store.getReduce() ? "cp.reduce.async.bulk.tensor." : "cp.async.bulk.tensor.";
  text += std::to_string(rank) + "d.global.shared::cta.";
  if (store.getReduce()) text += store.getReduce()->str() + ".";
  text += "tile.bulk_group [$1, " + operandList(2, rank) + "], [$0]";
  issueCopies(e, block, [&] { return issuer; }, text);
  e.define(store.getIssuer(), issuer);
  return success();
}

template <> LogicalResult emit(Emitter& e, twg::TensorCommitOp commit) {
  issue(e, e.scalar(commit.getIssuer()), "cp.async.bulk.commit_group", "", {});
  return success();
}

template <> LogicalResult emit(Emitter& e, twg::TensorWaitOp wait) {
  Value* issuer = wait.getIssuer() ? e.scalar(wait.getIssuer()) : isIssuer(e);
  issue(e, issuer, "cp.async.bulk.wait_group " + std::to_string(wait.getPending()), "", {});
  return success();
}

} // namespace tiletwin::codegen
