// codegen/passes/AccessLayout.cpp -- see AccessLayout.h.
#include "codegen/passes/AccessLayout.h"
#include "codegen/passes/LeastStep.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>
#include <set>

using namespace mlir;

namespace tiletwin::codegen {
namespace {

constexpr int64_t kWidestAccess = 16, kSector = 32; // bytes

int64_t bytesOf(Value pointers) {
  mlir::Type pointee = tt::elementTypeOf(tt::pointeeTypeLike(pointers.getType()));
  return pointee.isIntOrFloat() ? (pointee.getIntOrFloatBitWidth() + 7) / 8 : 8;
}

// The pointers of an access that layouts are chosen for; null for other operations.
Value pointersOf(Operation* op) {
  Value pointers;
  if (auto load = dyn_cast<tt::LoadOp>(op)) pointers = load.getPtr();
  if (auto store = dyn_cast<tt::StoreOp>(op)) pointers = store.getPtr();
  return pointers && isa<RankedTensorType>(pointers.getType()) ? pointers : Value();
}

} // namespace

AccessLayouts::AccessLayouts(tt::FuncOp function, ThreadBits threads) : threads_(threads) {
  function.walk([&](Operation* op) {
    Value pointers = pointersOf(op);
    if (!pointers) return;
    Key key(tt::shapeOf(pointers.getType()), orderOf(pointers));
    int64_t& perThread = perThread_.try_emplace(key, 1).first->second;
    perThread = std::max(perThread, widest(pointers));
  });
}

SmallVector<int32_t, 5> AccessLayouts::orderOf(Value pointers) {
  const tt::Contiguity& known = contiguity_.of(pointers);
  SmallVector<int32_t, 5> order(known.dimensions.size());
  std::iota(order.rbegin(), order.rend(), 0); // the last dimension first, if nothing is known
  llvm::stable_sort(
      order, [&](int32_t a, int32_t b) { return known.dimensions[a].contiguous > known.dimensions[b].contiguous; });
  if (order.empty() || known.dimensions[order.front()].contiguous > 1) return order;
  SmallVector<int64_t, 5> steps = leastSteps(pointers, contiguity_);
  for (int64_t& step : steps)
    if (step == 0) step = kFarApart; // lanes gain nothing from what is the same for all
  llvm::stable_sort(order, [&](int32_t a, int32_t b) { return steps[a] < steps[b]; });
  return order;
}

int64_t AccessLayouts::widest(Value pointers) {
  ArrayRef<int64_t> shape = tt::shapeOf(pointers.getType());
  const tt::AlongDimension& along = contiguity_.of(pointers).dimensions[orderOf(pointers).front()];
  int64_t elements = std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
  int64_t bytes = bytesOf(pointers), threads = int64_t(1) << (threads_.lane + threads_.warp);
  int64_t aligned = std::max<int64_t>(along.divisor / bytes, 1);
  return std::min({along.contiguous, aligned, kWidestAccess / bytes, std::max<int64_t>(elements / threads, 1)});
}

LinearLayout AccessLayouts::of(Value pointers) {
  ArrayRef<int64_t> shape = tt::shapeOf(pointers.getType());
  SmallVector<int32_t, 5> order = orderOf(pointers);
  auto known = perThread_.find(Key(shape, order));
  int64_t perThread = known == perThread_.end() ? widest(pointers) : known->second;
  return LinearLayout::coalesced(shape, perThread, order, threads_.lane, threads_.warp);
}

LinearLayout AccessLayouts::of(Value pointers, unsigned atMost) {
  return LinearLayout::coalesced(tt::shapeOf(pointers.getType()), std::min<int64_t>(widest(pointers), atMost),
                                 orderOf(pointers), threads_.lane, threads_.warp);
}

LinearLayout AccessLayouts::ofElements(Value pointers) {
  return LinearLayout::coalesced(tt::shapeOf(pointers.getType()), 1, orderOf(pointers), threads_.lane, threads_.warp,
                                 LinearLayout::Warps::BesideLanes);
}

LinearLayout AccessLayouts::spread(Value pointers) {
  LinearLayout layout = of(pointers);
  const SmallVector<int32_t, 5> order = orderOf(pointers);
  if (order.size() < 2) return layout;
  const auto fastest = unsigned(order[0]);
  const uint32_t next = layout.dimensionMask(unsigned(order[1]));
  LinearLayout::Bases registers = layout.bases(Part::Register), lanes = layout.bases(Part::Lane),
                      warps = layout.bases(Part::Warp);
  int64_t bytes = bytesOf(pointers) << registerRun(layout, fastest); // that lanes hold side by side
  for (uint32_t& lane : lanes) {
    if (!(lane & layout.dimensionMask(fastest))) continue;
    if (bytes < kSector) {
      bytes *= 2;
      continue;
    }
    auto isAlong = [&](uint32_t basis) { return (basis & next) != 0; };
    auto* other = llvm::find_if(warps, isAlong);
    if (other == warps.end()) other = llvm::find_if(registers, isAlong);
    if (other == registers.end()) break;
    std::swap(lane, *other);
  }
  return LinearLayout(layout.shape(), {registers, lanes, warps, layout.bases(Part::Block)});
}

LinearLayout AccessLayouts::usual(ArrayRef<int64_t> shape) {
  SmallVector<int32_t, 5> order(shape.size());
  std::iota(order.rbegin(), order.rend(), 0);
  // Like the widest access of this shape, so that what is made for a store is made where it is stored.
  auto known = perThread_.find(Key(shape, order));
  return LinearLayout::coalesced(shape, known == perThread_.end() ? 1 : known->second, order, threads_.lane,
                                 threads_.warp);
}

unsigned AccessLayouts::vector(Value pointers, Value mask, const LinearLayout& layout) {
  int32_t fastest = orderOf(pointers).front();
  // What is masked off is not accessed: it may count otherwise.
  tt::ContiguityAnalysis whereMasked;
  const bool saysMore = mask && whereMasked.assumeMask(mask);
  const tt::AlongDimension along = (saysMore ? whereMasked : contiguity_).of(pointers).dimensions[fastest];
  int64_t bytes = bytesOf(pointers);
  int64_t limit = std::min({along.contiguous, std::max<int64_t>(along.divisor / bytes, 1), kWidestAccess / bytes});
  if (mask) limit = std::min(limit, contiguity_.of(mask).dimensions[fastest].constant);
  return unsigned(std::min(limit, int64_t(1) << registerRun(layout, unsigned(fastest))));
}

/// How many register bits, from the lowest on, count up along a dimension.
unsigned AccessLayouts::registerRun(const LinearLayout& layout, unsigned dimension) {
  unsigned shift = layout.dimensionShift(dimension), run = 0;
  const LinearLayout::Bases& registers = layout.bases(Part::Register);
  while (run < registers.size() && registers[run] == 1u << (shift + run) && run < layout.dimensionBits(dimension))
    ++run;
  return run;
}

LinearLayout AccessLayouts::lengthened(Value pointers, Value mask, const LinearLayout& layout) {
  const auto fastest = unsigned(orderOf(pointers).front());
  const unsigned shift = layout.dimensionShift(fastest);
  const uint32_t along = layout.dimensionMask(fastest);
  const int64_t longest =
      mask ? std::min(widest(pointers), contiguity_.of(mask).dimensions[fastest].constant) : widest(pointers);
  LinearLayout::Bases registers = layout.bases(Part::Register), lanes = layout.bases(Part::Lane);
  for (unsigned run = registerRun(layout, fastest); int64_t(1) << run < longest; ++run) {
    auto* next = llvm::find(registers, 1u << (shift + run));
    if (next == registers.end()) {
      auto* lane = llvm::find(lanes, 1u << (shift + run));
      auto isAlong = [&](uint32_t b) { return (b & along) != 0; }; // keeps neighbouring lanes side by side
      next = std::find_if(registers.begin() + run, registers.end(), isAlong);
      if (next == registers.end())
        next = std::find_if(registers.begin() + run, registers.end(), [](uint32_t b) { return b != 0; });
      if (lane == lanes.end() || next == registers.end()) break;
      std::swap(*lane, *next);
    }
    std::rotate(registers.begin() + run, next, next + 1);
  }
  LinearLayout longer(layout.shape(), {registers, lanes, layout.bases(Part::Warp), layout.bases(Part::Block)});
  return sectors(pointers, mask, longer) <= sectors(pointers, mask, layout) ? longer : layout;
}

bool AccessLayouts::isScattered(Value pointers) {
  return contiguity_.of(pointers).dimensions[orderOf(pointers).front()].contiguous == 1;
}

unsigned AccessLayouts::sectors(Value pointers, Value mask, const LinearLayout& layout) {
  int32_t fastest = orderOf(pointers).front();
  if (isScattered(pointers)) return 0; // in any layout
  return sectorsOf(layout, unsigned(fastest), bytesOf(pointers), vector(pointers, mask, layout));
}

unsigned AccessLayouts::sectorsOf(const LinearLayout& layout, unsigned dimension, int64_t bytes, unsigned step) {
  uint32_t along = layout.dimensionMask(dimension);
  unsigned shift = layout.dimensionShift(dimension), total = 0;
  for (uint32_t r = 0; r < layout.registers(); r += step) {
    std::set<std::pair<uint32_t, int64_t>> touched;
    for (uint32_t lane = 0; lane < layout.size(Part::Lane); ++lane)
      for (uint32_t i = 0; i < step; ++i) {
        uint32_t element = layout.elementAt({r + i, lane, 0, 0});
        touched.insert({element & ~along, ((element & along) >> shift) * bytes / kSector});
      }
    total += touched.size();
  }
  return total;
}

LinearLayout AccessLayouts::ofBlock(RankedTensorType block) {
  SmallVector<int32_t, 5> order(block.getRank());
  std::iota(order.rbegin(), order.rend(), 0);
  int64_t bytes = std::max(1u, block.getElementTypeBitWidth() / 8);
  int64_t threads = int64_t(1) << (threads_.lane + threads_.warp);
  int64_t perThread = std::min(kWidestAccess / bytes, std::max<int64_t>(block.getNumElements() / threads, 1));
  return LinearLayout::coalesced(block.getShape(), perThread, order, threads_.lane, threads_.warp);
}

unsigned AccessLayouts::blockVector(Value column, RankedTensorType block, const LinearLayout& layout) {
  int64_t bytes = std::max(1u, block.getElementTypeBitWidth() / 8);
  int64_t vector = std::min(kWidestAccess / bytes, int64_t(1) << registerRun(layout, layout.rank() - 1));
  while (vector > 1 && !isMultiple(column, vector)) vector /= 2;
  return unsigned(vector);
}

unsigned AccessLayouts::blockSectors(RankedTensorType block, const LinearLayout& layout) {
  int64_t bytes = std::max(1u, block.getElementTypeBitWidth() / 8);
  unsigned step = unsigned(std::min(kWidestAccess / bytes, int64_t(1) << registerRun(layout, layout.rank() - 1)));
  return sectorsOf(layout, layout.rank() - 1, bytes, step);
}

bool AccessLayouts::isMultiple(Value number, int64_t divisor) {
  const tt::Contiguity& known = contiguity_.of(number);
  if (known.value) return *known.value % divisor == 0;
  return known.dimensions.front().divisor % divisor == 0;
}

} // namespace tiletwin::codegen
