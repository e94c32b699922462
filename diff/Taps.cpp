// diff/Taps.cpp -- see Taps.h.
#include "diff/Taps.h"
#include "diff/bounds/Builder.h"
#include "ir/CarryValues.h"
#include "ir/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace tiletwin::diff {
namespace {

constexpr int64_t kHeader = 16;
constexpr int32_t kBoundBit = 1 << 30;

/// Puts the stores in, and carries the place of the next record through the function.
class Writer : tt::TileBuilder {
public:
  Writer(tt::FuncOp function, ArrayRef<Tap> taps, std::array<int32_t, 3> program)
      : TileBuilder(function.getLoc(), function.getContext()), function_(function), program_(program) {
    for (auto [number, tap] : llvm::enumerate(taps)) {
      taps_[tap.op].push_back({int32_t(number), tap});
      for (Operation* at = tap.op; at; at = at->getParentOp()) holders_.insert(at);
    }
  }

  void run() {
    Block& entry = function_.getBody().front();
    auto append = [&](Type type) {
      (void)function_.insertArgument(function_.getNumArguments(), type, {}, getLoc());
      return entry.getArguments().back();
    };
    log_ = append(tt::PointerType::get(getI8Type()));
    Value start = append(getI64Type());
    limit_ = append(getI64Type());
    setInsertionPointToStart(&entry);
    isWanted_ = wanted();
    blocks(function_.getBody(), start);
  }

private:
  Value plus(Value a, int64_t b) { return arith::AddIOp::create(*this, a, integer(a.getType(), b)); }

  /// This is the program whose values are written down.
  Value wanted() {
    Value result;
    for (int axis = 0; axis < 3; ++axis) {
      Value id = tt::GetProgramIdOp::create(*this, getI32Type(), tt::ProgramDim(axis));
      Value number = integer(getI32Type(), program_[size_t(axis)]);
      result = both(result, compare(arith::CmpIPredicate::eq, id, number));
    }
    return result;
  }

  /// A pointer to `element` at a place of the log.
  Value pointer(Value place, Type element) {
    Value at = tt::AddPtrOp::create(*this, log_.getType(), log_, place);
    Type type = tt::PointerType::get(element);
    return at.getType() == type ? at : Value(tt::BitcastOp::create(*this, type, at));
  }

  void store(Value pointer, Value value, Value mask) {
    tt::StoreOp::create(*this, pointer, value, mask, tt::CachePolicyAttr());
  }

  /// One record; returns the place behind it.
  Value record(Value place, int32_t number, Value value) {
    if (tt::elementTypeOf(value.getType()).isInteger(1))
      value = arith::ExtUIOp::create(*this, tt::withShapeOf(value.getType(), getI8Type()), value);
    Type element = tt::elementTypeOf(value.getType());
    auto tile = dyn_cast<RankedTensorType>(value.getType());
    const int64_t count = tile ? tile.getNumElements() : 1;
    const int64_t bytes = kHeader + (count * int64_t(element.getIntOrFloatBitWidth() / 8) + 15) / 16 * 16;
    Value behind = plus(place, bytes);
    Value fits = compare(arith::CmpIPredicate::sle, behind, limit_);
    Value begun = compare(arith::CmpIPredicate::sge, place, integer(getI64Type(), 0));
    Value mask = both(isWanted_, both(fits, begun));
    store(pointer(place, getI32Type()), integer(getI32Type(), number + 1), mask);
    Value at = pointer(plus(place, kHeader), element);
    if (!tile) {
      store(at, value, mask);
      return behind;
    }
    auto line = RankedTensorType::get({count}, element);
    if (line != tile) value = tt::ReshapeOp::create(*this, line, value);
    Type lanes = RankedTensorType::get({count}, getI32Type()), pointers = RankedTensorType::get({count}, at.getType());
    Value index = tt::MakeRangeOp::create(*this, lanes, 0, uint32_t(count));
    at = tt::AddPtrOp::create(*this, pointers, tt::SplatOp::create(*this, pointers, at), index);
    store(at, value, tt::SplatOp::create(*this, tt::i1TypeLike(lanes), mask));
    return behind;
  }

  /// Behind an operation, and behind what computes its bounds.
  Value records(Operation& op, ArrayRef<std::pair<int32_t, Tap>> taps, Value place) {
    Operation* last = &op;
    for (const auto& [number, tap] : taps)
      if (Operation* made = tap.bound ? tap.bound.getDefiningOp() : nullptr;
          made && made->getBlock() == op.getBlock() && last->isBeforeInBlock(made))
        last = made;
    setInsertionPointAfter(last);
    for (const auto& [number, tap] : taps) {
      place = record(place, number, op.getResult(tap.result));
      if (tap.bound) place = record(place, number | kBoundBit, tap.bound);
    }
    return place;
  }

  // ---- the place of the next record, through the function ----

  Value block(Block& block, Value place) {
    for (Operation& op : llvm::make_early_inc_range(block)) {
      if (!holders_.contains(&op)) continue;
      setLoc(op.getLoc());
      if (isa<scf::ForOp, scf::WhileOp, scf::IfOp, scf::ExecuteRegionOp>(op))
        place = through(op, place);
      else if (auto found = taps_.find(&op); found != taps_.end()) { place = records(op, found->second, place); }
    }
    return place;
  }

  /// Into a loop or branch, and out of it.
  Value through(Operation& op, Value place) {
    tt::CarriedValues carried{{}, {getI64Type()}, {}, {}};
    if (isa<LoopLikeOpInterface>(op)) carried.inits = {place};
    auto enter = [&](Region& region, ValueRange inside) { blocks(region, inside.empty() ? place : inside.front()); };
    auto leave = [&](Operation* end) { return SmallVector<Value>{behind_.lookup(end->getBlock())}; };
    carried.enter = enter;
    carried.leave = leave;
    Operation* made = tt::carryValues(*this, &op, carried);
    tt::replaceByWider(&op, made);
    return made->getResults().back();
  }

  /// The blocks of a region: all but the first one have the place as their last argument.
  void blocks(Region& region, Value place) {
    SmallVector<Block*> all;
    for (Block& one : region) all.push_back(&one);
    for (Block* one : llvm::drop_begin(all)) one->addArgument(getI64Type(), getLoc());
    for (Block* one : all) {
      Value behind = block(*one, one == all.front() ? place : Value(one->getArguments().back()));
      behind_[one] = behind;
      if (auto jump = dyn_cast<BranchOpInterface>(one->getTerminator()))
        for (unsigned i = 0; i < jump->getNumSuccessors(); ++i) jump.getSuccessorOperands(i).append(behind);
    }
  }

  tt::FuncOp function_;
  std::array<int32_t, 3> program_;
  llvm::DenseMap<Operation*, SmallVector<std::pair<int32_t, Tap>>> taps_;
  llvm::DenseSet<Operation*> holders_;   ///< tapped operations and what is around them
  llvm::DenseMap<Block*, Value> behind_; ///< the place at the end of a block
  Value log_, limit_, isWanted_;
};

} // namespace

std::vector<Tap> tapsOf(tt::FuncOp function) {
  std::vector<Tap> taps;
  function->walk<WalkOrder::PreOrder>([&](Operation* op) {
    const bool isWhole = isa<tt::ReduceOp, tt::ScanOp, tt::MapElementwiseOp>(op);
    if (!isa<arith::ConstantOp>(op) && op->getDialect()->getNamespace() != "scf" &&
        op->getDialect()->getNamespace() != "ub" && !op->hasTrait<OpTrait::IsTerminator>())
      for (OpResult result : op->getResults())
        if (tt::elementTypeOf(result.getType()).isIntOrFloat())
          taps.push_back(
              {op, result.getResultNumber(), {}, op->getLoc(), result.getType(), op->getName().getStringRef()});
    return isWhole ? WalkResult::skip() : WalkResult::advance();
  });
  return taps;
}

void addTaps(tt::FuncOp function, ArrayRef<Tap> taps, std::array<int32_t, 3> program) {
  Writer(function, taps, program).run();
}

FailureOr<TappedKernel> makeTapped(ModuleOp module, StringRef entry, std::array<int32_t, 3> program,
                                   const Latitude* latitude) {
  auto function = dyn_cast_or_null<tt::FuncOp>(SymbolTable::lookupSymbolIn(module, entry));
  if (!function || function.getBody().empty()) {
    module.emitError() << "there is no function " << entry << " whose values could be looked at";
    return failure();
  }
  TappedKernel out;
  out.taps = tapsOf(function);
  if (latitude) {
    Builder builder(function, *latitude, out.bounds);
    builder.run();
    for (Tap& tap : out.taps) tap.bound = builder.of(tap.op->getResult(tap.result));
  }
  addTaps(function, out.taps, program);
  if (failed(verify(module))) return failure();
  for (Tap& tap : out.taps) tap.op = nullptr, tap.bound = {};
  return out;
}

} // namespace tiletwin::diff
