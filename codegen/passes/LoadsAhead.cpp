// codegen/passes/LoadsAhead.cpp -- see LoadsAhead.h.
#include "codegen/passes/LoadsAhead.h"
#include "codegen/dialect/TWG.h"
#include "codegen/passes/LoadsOfOperands.h"
#include "codegen/passes/LoopSlice.h"
#include "codegen/passes/MovedLoads.h"
#include "codegen/passes/Ring.h"
#include "codegen/passes/WrittenMemory.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

constexpr unsigned kWords = 8; ///< of a thread's registers, for values on their way

class LoadsAhead {
public:
  explicit LoadsAhead(scf::ForOp loop) : loop_(loop), slice_(loop) {}
  /// False if there is none.
  bool find();
  void rewrite();

private:
  void add(tt::LoadOp load);
  SmallVector<Value> load(OpBuilder& builder, const IRMapping& values, Value enabled) const;

  scf::ForOp loop_;
  LoopSlice slice_;
  unsigned room_ = kWords;
  SmallVector<tt::LoadOp> loads_;
};

void LoadsAhead::add(tt::LoadOp load) {
  if (!isa<RankedTensorType>(load.getType()) || load.getIsVolatile() || mayBeWritten(load.getPtr())) return;
  if (llvm::any_of(load->getUsers(), llvm::IsaPred<twg::LocalAllocOp>)) return;
  SmallVector<Value> wanted{load.getPtr()};
  for (Value other : {load.getMask(), load.getOther()})
    if (other) wanted.push_back(other);
  const unsigned words = wordsOf(load);
  if (words > room_ || !slice_.add(wanted)) return;
  room_ -= words;
  loads_.push_back(load);
}

bool LoadsAhead::find() {
  llvm::SetVector<Operation*> behind = behindProducts(loop_);
  if (mayWaitForOthers(loop_) || !loop_.getBody()->getOps<twg::WarpgroupDotOp>().empty()) return false;
  for (auto load : loop_.getBody()->getOps<tt::LoadOp>())
    if (behind.contains(load)) add(load);
  return !loads_.empty();
}

SmallVector<Value> LoadsAhead::load(OpBuilder& builder, const IRMapping& values, Value enabled) const {
  IRMapping mapping(values);
  SmallVector<Value> loaded;
  for (tt::LoadOp one : loads_) {
    auto clone = cast<tt::LoadOp>(builder.clone(*one, mapping));
    loadOnlyIf(builder, clone, enabled);
    loaded.push_back(clone.getResult());
  }
  return loaded;
}

void LoadsAhead::rewrite() {
  IRRewriter rewriter(loop_);
  SmallVector<Value> loaded;
  SmallVector<Value> inits = slice_.computeFirst(
      rewriter, 1, [&](int, const IRMapping& values, Value enabled) { loaded = load(rewriter, values, enabled); });
  const size_t ofSlice = inits.size();
  llvm::append_range(inits, loaded);
  slice_.carryOn(rewriter, inits, [&](OpBuilder& builder, Location, ArrayRef<BlockArgument> added) {
    builder.setInsertionPointToStart(loop_.getBody());
    Value now = loop_.getInductionVar(), enabled = slice_.isWithin(builder, now, 1);
    SmallVector<Value> ofNext(added.take_front(ofSlice));
    IRMapping values;
    SmallVector<Value> yielded =
        slice_.compute(builder, slice_.iterationAfter(builder, now, 1), enabled, ofNext, values);
    llvm::append_range(yielded, load(builder, values, enabled));
    for (auto [one, value] : llvm::zip_equal(loads_, added.drop_front(ofSlice))) {
      one.getResult().replaceAllUsesWith(value);
      one.erase();
    }
    return yielded;
  });
}

} // namespace

void loadAhead(tt::FuncOp kernel, const Options& options) {
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  for (scf::ForOp loop : loops)
    if (LoadsAhead loads(loop); stagesOf(loop, options) > 1 && loads.find()) loads.rewrite();
}

} // namespace tiletwin::codegen
