// codegen/passes/Scratch.cpp -- see Scratch.h.
#include "codegen/passes/Scratch.h"
#include "codegen/layout/Conversion.h"
#include "codegen/layout/GatherPlan.h"
#include "codegen/layout/ReductionOrder.h"
#include "codegen/layout/ScanOrder.h"
#include "codegen/passes/OwnedNumbers.h"
#include "codegen/passes/SharedMemory.h"
#include "codegen/passes/WrittenMemory.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

constexpr StringLiteral kAttribute = "twg.scratch";
constexpr unsigned kPartAlignment = 16; // bytes, of what each operand of a reduction or scan leaves
constexpr unsigned kCounterBytes = 4;
constexpr unsigned kAddressBytes = 4; // of tensor memory

using Needed = std::optional<Scratch>;

unsigned elementBytes(Value value) { return bytesInMemory(tt::elementTypeOf(value.getType())); }

Needed ofConversion(twg::ConvertLayoutOp convert, const Target& target) {
  LinearLayout from = twg::layoutOf(convert.getSrc()), to = twg::layoutOf(convert.getResult());
  if (from.bases(Part::Block) != to.bases(Part::Block)) return std::nullopt;
  Conversion plan = Conversion::plan(from, to, elementBytes(convert.getResult()), halfOfSharedMemory(target));
  if (plan.inWarps) return std::nullopt;
  return Scratch{plan.sharedBytes(), 2 * plan.passes() - 1};
}

/// Each warp's part of each result.
Needed ofReduction(tt::ReduceOp reduce) {
  LinearLayout layout = twg::layoutOf(reduce.getSrcs().front());
  const unsigned axis = unsigned(reduce.getAxis());
  const uint32_t axisMask = layout.dimensionMask(axis);
  unsigned parts = 0; // log2
  for (uint32_t basis : layout.bases(Part::Warp)) parts += (basis & axisMask) != 0;
  if (parts == 0 || !ReductionOrder::of(layout, axis)) return std::nullopt;
  const unsigned results = layout.withoutDimension(axis).elementBits();
  uint32_t bytes = 0;
  for (Value result : reduce.getResult())
    bytes += llvm::alignTo(elementBytes(result) << parts << results, kPartAlignment);
  return Scratch{bytes, 2};
}

/// The total of each warp's groups.
Needed ofScan(tt::ScanOp scan) {
  LinearLayout layout = twg::layoutOf(scan.getSrcs().front());
  std::optional<ScanOrder> order = ScanOrder::of(layout, unsigned(scan.getAxis()));
  if (!order || order->warps.empty()) return std::nullopt;
  const unsigned rows = layout.withoutDimension(unsigned(scan.getAxis())).elementBits();
  const unsigned groups = unsigned(order->high.size() + order->warps.size());
  uint32_t bytes = 0;
  for (Value source : scan.getSrcs()) bytes += llvm::alignTo(elementBytes(source) << groups << rows, kPartAlignment);
  return Scratch{bytes, 2};
}

Needed ofGather(tt::GatherOp gather) {
  LinearLayout from = twg::layoutOf(gather.getSrc());
  GatherPlan plan(from, twg::layoutOf(gather.getResult()), unsigned(gather.getAxis()));
  if (plan.isByShuffles) return std::nullopt;
  return Scratch{elementBytes(gather.getSrc()) << from.elementBits(), 1};
}

Needed ofHistogram(tt::HistogramOp histogram) {
  return Scratch{kCounterBytes << twg::layoutOf(histogram.getResult()).elementBits(), 2};
}

/// One thread has a value that others need, some of them in other warps. The layout of `holders` says who they are.
Needed ofSharing(Value holders, Value value, ThreadBits threads) {
  LinearLayout layout = holdersOf(holders, threads);
  if (layout.freeMask(Part::Warp) == 0) return std::nullopt;
  return Scratch{elementBytes(value) << layout.elementBits(), 2};
}

Needed ofAssembly(tt::ElementwiseInlineAsmOp assembly, ThreadBits threads) {
  if (assembly.getPure() || assembly->getParentOfType<tt::MapElementwiseOp>()) return std::nullopt;
  Needed all;
  for (Value result : assembly.getResults()) {
    Needed one = result.use_empty() ? std::nullopt : ofSharing(result, result, threads);
    if (one) all = Scratch{std::max(one->bytes, all ? all->bytes : 0), one->barriers + (all ? all->barriers : 0)};
  }
  return all;
}

} // namespace

unsigned bytesInMemory(mlir::Type element) {
  if (isa<tt::PointerType>(element)) return 8;
  return (element.getIntOrFloatBitWidth() + 7) / 8;
}

LinearLayout holdersOf(Value value, ThreadBits threads) {
  if (twg::hasLayout(value.getType())) return twg::layoutOf(value);
  LinearLayout::Bases lanes(threads.lane, 0), warps(threads.warp, 0);
  return LinearLayout({1}, {LinearLayout::Bases{}, lanes, warps, LinearLayout::Bases{}});
}

std::optional<Scratch> scratchNeededBy(Operation* op, const Target& target, ThreadBits threads) {
  auto ofResult = [&](Value holders) {
    return op->getResult(0).use_empty() ? std::nullopt : ofSharing(holders, op->getResult(0), threads);
  };
  return llvm::TypeSwitch<Operation*, Needed>(op)
      .Case([&](twg::ConvertLayoutOp convert) { return ofConversion(convert, target); })
      .Case([](tt::ReduceOp reduce) { return ofReduction(reduce); })
      .Case([](tt::ScanOp scan) { return ofScan(scan); })
      .Case([](tt::GatherOp gather) { return ofGather(gather); })
      .Case([](tt::HistogramOp histogram) { return ofHistogram(histogram); })
      .Case([](twg::TmemOpenOp) { return Scratch{kAddressBytes, 1}; })
      .Case([&](tt::ElementwiseInlineAsmOp assembly) { return ofAssembly(assembly, threads); })
      .Case<tt::AtomicRMWOp, tt::AtomicCASOp, tt::AtomicLoadOp>([&](auto access) { return ofResult(access.getPtr()); })
      .Case([&](tt::AtomicPollOp poll) {
        return poll.getTimeout() ? ofSharing(poll.getPtr(), poll.getResult(), threads) : std::nullopt;
      })
      .Case([&](tt::LoadOp load) {
        const bool isShared = ownerReads(load) && !isSharedLate(load);
        return isShared ? ofSharing(load.getPtr(), load.getResult(), threads) : std::nullopt;
      })
      .Case([&](twg::ShareOp share) { return ofSharing(share.getSrc(), share.getResult(), threads); })
      .Default([](Operation*) { return std::nullopt; });
}

twg::ScratchAttr scratchOf(Operation* op) { return op->getAttrOfType<twg::ScratchAttr>(kAttribute); }
void setScratch(Operation* op, twg::ScratchAttr scratch) {
  if (scratch)
    op->setDiscardableAttr(kAttribute, scratch);
  else
    op->removeDiscardableAttr(kAttribute);
}

bool writesBehindOwnBarrier(Operation* op) {
  if (firstBarrierIsOptional(op)) return scratchOf(op) && scratchOf(op).getBarriers() > 1;
  return isa<tt::ElementwiseInlineAsmOp, tt::AtomicRMWOp, tt::AtomicCASOp, tt::AtomicLoadOp, tt::AtomicPollOp,
             tt::LoadOp, twg::ShareOp>(op);
}

bool firstBarrierIsOptional(Operation* op) { return isa<tt::ReduceOp, tt::ScanOp>(op); }

} // namespace tiletwin::codegen
