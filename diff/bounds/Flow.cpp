// diff/bounds/Flow.cpp -- which values may differ, and where pointers point; the pass.
// Not here:  shadows through loops and branches (Control.cpp), of single operations (*Ops.cpp), arithmetic (Builder.cpp).
// Idea:      two fixed points at once: inexact values make what is stored inexact, which makes loads inexact. Then one walk,
//            definitions first, gives each value that needs one its shadow.
#include "diff/bounds/Builder.h"
#include "ir/Inline.h"
#include "ir/Passes.h"
#include "ir/ValueFlow.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace tiletwin::diff {

/// Operations whose regions compute single elements: their rules follow them as a whole.
static bool isWhole(Operation* op) {
  return isa<tt::ReduceOp, tt::ScanOp>(op) || (isa<tt::MapElementwiseOp>(op) && !isScalarCode(op));
}

Builder::Builder(tt::FuncOp function, const Latitude& latitude, BoundsKernel& out)
    : ShadowWalk(function), function_(function), latitude_(latitude), out_(out) {}

void Builder::run() {
  function_->walk<WalkOrder::PreOrder>([&](Operation* op) {
    kernelOps_.insert(op);
    if (isa<tt::StoreOp, tt::AtomicRMWOp, tt::AtomicCASOp, tt::AtomicStoreOp, tt::DescriptorStoreOp,
            tt::DescriptorReduceOp, tt::DescriptorScatterOp>(op)) {
      auto sum = dyn_cast<tt::AtomicRMWOp>(op);
      hasSums_ |= sum && sum.getAtomicRmwOp() == tt::RmwKind::FAdd;
      stores_[op] = int(out_.stores.size());
      if (isa<tt::AtomicRMWOp, tt::AtomicCASOp>(op)) atomics_.push_back(op);
      out_.stores.push_back(op->getLoc());
    }
    return isWhole(op) ? WalkResult::skip() : WalkResult::advance();
  });
  addArguments();
  analyse();
  addReads();
  shadowRegion(function_.getBody());
  for (const auto& name : withoutRule_) out_.withoutRule.push_back(name.getKey().str());
  llvm::sort(out_.withoutRule);
}

// ---- arguments ----

void Builder::addArguments() {
  Block& entry = function_.getBody().front();
  const unsigned count = entry.getNumArguments();
  const size_t wild = count;
  Location where = function_.getLoc();
  setInsertionPointToStart(&entry);
  auto append = [&](Type type) {
    (void)function_.insertArgument(function_.getNumArguments(), type, {}, where);
    return entry.getArguments().back();
  };
  Type f32 = getF32Type();
  SmallVector<std::pair<unsigned, Value>> memories;
  for (unsigned i = 0; i < count; ++i)
    if (isAddress(entry.getArgument(i).getType())) {
      out_.shadowed.push_back(i);
      memories.emplace_back(i, append(tt::PointerType::get(f32)));
    }
  planeDistance_ = append(getI64Type());
  reasons_ = append(tt::PointerType::get(getI32Type()));
  written_.resize(unsigned(wild + 1));
  for (auto [i, memory] : memories) {
    Value argument = entry.getArgument(i), shadow = memory;
    if (auto descriptor = dyn_cast<tt::TensorDescType>(argument.getType())) {
      const unsigned rank = unsigned(descriptor.getShape().size());
      auto extents = entry.getArguments().slice(i + 1, rank), strides = entry.getArguments().slice(i + 1 + rank, rank);
      shadow = describe(argument, memory, ValueRange(extents), ValueRange(strides));
    }
    shadows_[argument] = shadow;
    roots_[argument] = llvm::BitVector(unsigned(wild + 1));
    roots_[argument].set(i);
  }
}

// ---- which values may differ ----

bool Builder::hasInexactOperand(Operation* op) const {
  return llvm::any_of(op->getOperands(), [&](Value operand) { return isInexact(operand); });
}

bool Builder::mayReadInexact(Value pointer) const {
  auto roots = roots_.find(pointer);
  return roots == roots_.end() || roots->second.test(roots->second.size() - 1) ? written_.any()
                                                                               : written_.anyCommon(roots->second);
}

llvm::BitVector Builder::rootsOf(Value address) const {
  if (auto known = roots_.find(address); known != roots_.end()) return known->second;
  return llvm::BitVector(written_.size(), true);
}

/// The arguments through which the kernel may read.
void Builder::addReads() {
  llvm::BitVector read(written_.size());
  function_->walk([&](Operation* op) {
    if (isa<tt::LoadOp, tt::AtomicLoadOp, tt::AtomicPollOp, tt::DescriptorLoadOp, tt::DescriptorGatherOp>(op) ||
        (isa<tt::AtomicRMWOp, tt::AtomicCASOp>(op) && !op->use_empty()))
      read |= rootsOf(op->getOperand(0));
  });
  const bool all = read.test(read.size() - 1);
  for (unsigned i : out_.shadowed)
    if (all || read.test(i)) out_.read.push_back(i);
}

bool Builder::needsShadow(Value value) const {
  if (!isAddress(value.getType())) return isInexact(value);
  auto roots = roots_.find(value);
  return roots != roots_.end() && !roots->second.test(roots->second.size() - 1);
}

/// What an address points into is not known behind it, or its offsets count other elements.
static bool losesPlace(Operation* op) {
  if (isa<tt::IntToPtrOp, tt::LoadOp>(op)) return true;
  if (!isa<tt::BitcastOp, arith::BitcastOp>(op)) return false;
  auto bytes = [](Type type) -> unsigned {
    auto pointer = dyn_cast<tt::PointerType>(tt::elementTypeOf(type));
    Type pointee = pointer ? pointer.getPointeeType() : Type();
    return pointee && pointee.isIntOrFloat() ? (pointee.getIntOrFloatBitWidth() + 7) / 8 : 8;
  };
  return bytes(op->getOperand(0).getType()) != bytes(op->getResult(0).getType());
}

/// True if something new is known of `to`.
bool Builder::flow(Value from, Value to) {
  bool changed = isInexact(from) && inexact_.insert(to).second;
  if (ordered_.contains(from)) changed |= ordered_.insert(to).second;
  if (mayWrap(from)) changed |= wrapping_.insert(to).second;
  if (!isAddress(to.getType())) return changed;
  llvm::BitVector incoming(written_.size());
  if (auto known = roots_.find(from); known != roots_.end()) incoming = known->second;
  llvm::BitVector& roots = roots_.try_emplace(to, written_.size()).first->second;
  const llvm::BitVector before = roots;
  roots |= incoming;
  return changed || roots != before;
}

/// Operations whose results are right modulo 2^n only, or may have been stored by such.
static bool wraps(Operation* op) {
  return isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::TruncIOp, tt::ReduceOp, tt::ScanOp, tt::DotOp,
             tt::AtomicRMWOp, tt::AtomicCASOp, tt::AtomicLoadOp, tt::LoadOp, tt::DescriptorLoadOp,
             tt::DescriptorGatherOp>(op);
}

bool Builder::flowThrough(Operation* op) {
  bool changed = flowOfDecision(op);
  if (isScalarCode(op)) return changed;
  if (tt::forEachValueEdge(op, [&](Value from, Value to) { changed |= flow(from, to); })) return changed;
  const Rule* rule = ruleFor(op);
  const bool reached = hasInexactOperand(op);
  const bool begins = rule && rule->begins && rule->begins(*this, op);
  for (OpResult result : op->getResults()) {
    if (isAddress(result.getType())) {
      llvm::BitVector roots(written_.size());
      for (Value operand : op->getOperands())
        if (auto known = roots_.find(operand); known != roots_.end()) roots |= known->second;
      if (roots.none() || losesPlace(op)) roots.set(roots.size() - 1);
      llvm::BitVector& known = roots_.try_emplace(result, written_.size()).first->second;
      const llvm::BitVector before = known;
      known |= roots;
      changed |= known != before;
      if (reached) changed |= inexact_.insert(result).second;
    } else if ((begins || (reached && (!rule || rule->shadow))) && inexact_.insert(result).second) {
      changed = true;
    }
    if (isInexact(result) && !isFloat(result.getType()) && !isBool(result.getType()) &&
        (wraps(op) || llvm::any_of(op->getOperands(), [&](Value operand) { return mayWrap(operand); })))
      changed |= wrapping_.insert(result).second;
  }
  // What is stored makes what is loaded inexact. Atomic sums of floats are, whatever is added, and what was exchanged.
  if (stores_.contains(op) && (reached || begins || isInOpen(op) || isSwap(op) ||
                               (isa<tt::AtomicRMWOp>(op) && isFloat(op->getResult(0).getType())))) {
    const llvm::BitVector before = written_;
    written_ |= rootsOf(op->getOperand(0));
    changed |= written_ != before;
  }
  return changed;
}

void Builder::analyse() {
  for (bool changed = true; changed;) {
    changed = false;
    function_->walk<WalkOrder::PreOrder>([&](Operation* op) {
      if (kernelOps_.contains(op)) changed |= flowThrough(op);
      return isWhole(op) ? WalkResult::skip() : WalkResult::advance();
    });
  }
}

// ---- the pass ----

FailureOr<BoundsKernel> addBounds(ModuleOp module, StringRef entry, const Latitude& latitude) {
  auto function = dyn_cast_or_null<tt::FuncOp>(SymbolTable::lookupSymbolIn(module, entry));
  if (!function || function.getBody().empty()) {
    module.emitError() << "there is no function " << entry << " to compute bounds of";
    return failure();
  }
  if (failed(tt::inlineCalls(module, /*everything=*/true))) return failure();
  BoundsKernel out;
  Builder(function, latitude, out).run();
  if (failed(verify(module))) return failure();
  tt::simplify(module);
  return out;
}

} // namespace tiletwin::diff
