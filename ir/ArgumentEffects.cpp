// ir/ArgumentEffects.cpp -- see ArgumentEffects.h.
#include "ir/ArgumentEffects.h"
#include "ir/ValueFlow.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;

namespace tiletwin::tt {
namespace {

bool isAddress(Value value) { return isa<PointerType, TensorDescType>(elementTypeOf(value.getType())); }

/// Follows addresses from the parameters on until nothing changes.
class AddressWalk {
public:
  explicit AddressWalk(FuncOp kernel)
      : kernel_(kernel), module_(kernel->getParentOfType<ModuleOp>()), effects_(kernel.getNumArguments()) {}

  std::optional<llvm::SmallVector<ArgumentEffect>> run() {
    for (BlockArgument argument : kernel_.getArguments())
      if (isAddress(argument)) mark(origins(argument), argument.getArgNumber());
    do {
      changed_ = false;
      module_.walk([&](Operation* op) { step(op); });
    } while (changed_);
    module_.walk([&](Operation* op) { account(op); });
    return isKnown_ ? std::optional(effects_) : std::nullopt;
  }

private:
  /// A bit for each parameter, and one for memory that no parameter leads to.
  llvm::BitVector& origins(Value address) {
    return origins_.try_emplace(address, unsigned(effects_.size()) + 1).first->second;
  }

  void mark(llvm::BitVector& origins, unsigned bit) {
    changed_ |= !origins.test(bit);
    origins.set(bit);
  }

  void flow(Value from, Value to) {
    if (!isAddress(from) || !isAddress(to)) return;
    const llvm::BitVector found = origins(from); // a copy: the table may grow
    llvm::BitVector& known = origins(to);
    changed_ |= found.test(known);
    known |= found;
  }

  void flow(ValueRange from, ValueRange to) {
    for (auto [a, b] : llvm::zip_equal(from, to)) flow(a, b);
  }

  void step(Operation* op) {
    if (forEachValueEdge(op, [&](Value from, Value to) { flow(from, to); })) return;
    if (auto call = dyn_cast<CallOp>(op)) {
      auto callee = module_.lookupSymbol<FuncOp>(call.getCallee());
      flow(call.getOperands(), callee.getArguments());
      callee.walk([&](ReturnOp end) { flow(end->getOperands(), call.getResults()); });
      return;
    }
    const bool comesFromAddress = llvm::any_of(op->getOperands(), isAddress) && !isa<MemoryAccess>(op);
    for (Value result : op->getResults()) {
      if (!isAddress(result)) continue;
      for (Value operand : op->getOperands()) flow(operand, result);
      if (!comesFromAddress) mark(origins(result), unsigned(effects_.size())); // loaded, or made of a number
    }
  }

  /// What `op` does through the addresses that reach it.
  void account(Operation* op) {
    if (auto access = dyn_cast<MemoryAccess>(op)) {
      const llvm::BitVector& reached = origins(access.getAddress());
      isKnown_ &= !reached.test(unsigned(effects_.size()));
      const bool reads = hasEffect<MemoryEffects::Read>(op); // also of what the program does not get to know
      for (size_t i = 0; i < effects_.size(); ++i) {
        effects_[i].reads |= reached.test(unsigned(i)) && reads;
        effects_[i].writes |= reached.test(unsigned(i)) && access.writes();
      }
      return;
    }
    const bool isForeignCode = isa<ExternElementwiseOp, ElementwiseInlineAsmOp>(op);
    const bool takesAddress = llvm::any_of(op->getOperands(), isAddress);
    const bool isFlow = op->hasTrait<OpTrait::IsTerminator>() || op->getNumRegions() > 0 || isa<CallOp>(op);
    // As a number an address is out of sight, and code of others may do anything with one.
    if (isa<PtrToIntOp>(op) || (isForeignCode && (takesAddress || !isMemoryEffectFree(op))) ||
        (takesAddress && !isFlow && !isMemoryEffectFree(op)))
      isKnown_ = false;
  }

  FuncOp kernel_;
  ModuleOp module_;
  llvm::SmallVector<ArgumentEffect> effects_;
  llvm::DenseMap<Value, llvm::BitVector> origins_;
  bool changed_ = false, isKnown_ = true;
};

} // namespace

std::optional<llvm::SmallVector<ArgumentEffect>> argumentEffects(FuncOp kernel) { return AddressWalk(kernel).run(); }

} // namespace tiletwin::tt
