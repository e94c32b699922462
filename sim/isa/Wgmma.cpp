// sim/isa/Wgmma.cpp -- wgmma: products are queued, committed in groups, and computed when they are waited for.
// Not here:  the text of the instructions (WgmmaDecode.cpp).
// Source:    PTX ISA, "Asynchronous warpgroup level matrix instructions": shared memory layout, matrix descriptor, strides.
#include "sim/isa/Wgmma.h"
#include "sim/check/AsyncCheck.h"
#include "sim/check/ProductCheck.h"
#include "sim/isa/Async.h"
#include "sim/isa/MatrixFragment.h"
#include "sim/machine/Cta.h"
#include "sim/machine/Memory.h"
#include <algorithm>
#include <cstring>

namespace tiletwin::sim {
namespace {

constexpr int kUnitBytes = 16, kWarpsPerGroup = 4;
using Product = WarpProducts::Product;

/// The swizzle exchanges 16-byte units within rows of `swizzleBytes`, by the row's number in the pattern that repeats.
uint32_t swizzled(const MatrixDescriptor& d, uint32_t address) {
  if (!d.swizzleBytes) return address;
  const uint32_t row = (address >> 7) - d.baseOffset;
  return address ^ (row & (d.swizzleBytes / kUnitBytes - 1)) << 4;
}

/// From a line's first unit along k to another one.
uint32_t alongK(const MatrixDescriptor& d, uint32_t unit) {
  if (!d.swizzleBytes) return unit * d.leading;
  const uint32_t perRow = d.swizzleBytes / kUnitBytes;
  if (unit < perRow) return unit * kUnitBytes;
  return unit % perRow * kUnitBytes + unit / perRow * d.leading;
}

/// 16 rows of A from `firstRow` on, or 8 columns of B, whose elements lie along k.
template <size_t kBytes>
void readLines(const std::byte* shared, const MatrixDescriptor& d, int firstLine, int count,
               std::byte (*lines)[kBytes]) {
  constexpr int kUnits = kBytes / kUnitBytes;
  for (int line = 0; line < count; ++line)
    for (int unit = 0; unit < kUnits; ++unit)
      std::memcpy(lines[line] + unit * kUnitBytes, shared + unitAlongK(d, firstLine + line, unit), kUnitBytes);
}

/// elements[k][i]: lines 8 * unit + i of 16-bit elements that lie across.
template <size_t kCount>
void readAcross(const std::byte* shared, const MatrixDescriptor& d, int unit, uint16_t (&elements)[kCount][8]) {
  for (size_t k = 0; k < kCount; ++k) std::memcpy(elements[k], shared + unitAcross(d, unit, int(k)), kUnitBytes);
}

/// The warp's 16 rows of A.
void readRows(const std::byte* shared, const Product& product, int firstRow, TileLine* rows) {
  const WgmmaPlan& plan = *product.plan;
  if (plan.aInRegisters) {
    std::memcpy(rows, product.rows, sizeof product.rows);
    return;
  }
  if (!plan.aAcross) {
    readLines(shared, product.a, firstRow, kTileRows, rows);
    return;
  }
  for (int half = 0; half < 2; ++half) {
    uint16_t elements[16][8];
    readAcross(shared, product.a, firstRow / 8 + half, elements);
    for (int k = 0; k < 16; ++k)
      for (int i = 0; i < 8; ++i) std::memcpy(rows[8 * half + i] + 2 * k, &elements[k][i], 2);
  }
}

void negate(TensorRows& rows, int terms) {
  for (auto& row : rows.sign)
    for (int k = 0; k < terms; ++k) row[k] = ~row[k];
}

/// Slots of the 16 x 8 tile `strip` of D.
const Slot* stripSlots(const WgmmaPlan& plan, int strip) {
  return &plan.d[size_t(2 * strip * registersOf(plan.accumulator))];
}

void multiplyFloats(const std::byte* shared, Warp& warp, const Product& product, const TileLine* rows) {
  const WgmmaPlan& plan = *product.plan;
  TensorRows a;
  unpackRows(plan.aFormat, rows, kTileRows, plan.k, a);
  if (plan.negateA != plan.negateB) negate(a, plan.k);
  for (int strip = 0; strip < plan.n / 8; ++strip) {
    TensorColumns b;
    if (plan.bAcross) {
      uint16_t elements[16][8];
      readAcross(shared, product.b, strip, elements);
      unpackColumns(plan.bFormat, elements, plan.k, b);
    } else {
      alignas(32) TileLine columns[kTileColumns];
      readLines(shared, product.b, 8 * strip, kTileColumns, columns);
      unpackColumns(plan.bFormat, columns, plan.k, b);
    }
    float sums[kTileRows][kTileColumns] = {};
    const Slot* slots = stripSlots(plan, strip);
    const int perBlock = registersOf(plan.accumulator);
    for (int half = 0; product.addsToD && half < 2; ++half)
      gatherFloats(warp, plan.accumulator, slots + half * perBlock, sums + 8 * half);
    addProducts(plan.aFormat, plan.accumulator, a, kTileRows, b, plan.k, sums);
    for (int half = 0; half < 2; ++half)
      scatterFloats(warp, plan.accumulator, slots + half * perBlock, sums + 8 * half);
  }
}

void multiplyIntegers(const std::byte* shared, Warp& warp, const Product& product, const TileLine* rows) {
  const WgmmaPlan& plan = *product.plan;
  for (int strip = 0; strip < plan.n / 8; ++strip) {
    alignas(32) TileLine columns[kTileColumns];
    readLines(shared, product.b, 8 * strip, kTileColumns, columns);
    int32_t sums[kTileRows][kTileColumns] = {};
    const Slot* slots = stripSlots(plan, strip);
    if (product.addsToD)
      for (int half = 0; half < 2; ++half) gatherBlock<int32_t>(warp, slots + 2 * half, sums + 8 * half);
    if (plan.unit == WgmmaPlan::Unit::Bits)
      addBitProducts(BitOperation::And, rows, kTileRows, columns, kTileBytes / 4, sums);
    else
      addIntegerProducts(plan.aInteger, plan.bInteger, plan.saturate, rows, kTileRows, columns, kTileBytes / 4, sums);
    for (int half = 0; half < 2; ++half) scatterBlock<int32_t>(warp, slots + 2 * half, sums + 8 * half);
  }
}

/// 8 columns of B from `first` on, twice as long as rows of A.
void readColumns(const std::byte* shared, const Product& product, int first, SparseColumn* columns) {
  if (!product.plan->bAcross) return readLines(shared, product.b, first, kTileColumns, columns);
  uint16_t elements[32][8];
  readAcross(shared, product.b, first / 8, elements);
  for (size_t k = 0; k < 32; ++k)
    for (size_t n = 0; n < 8; ++n) std::memcpy(columns[n] + 2 * k, &elements[k][n], 2);
}

/// One row of A, and the columns that it meets.
void multiplySparseRow(const WgmmaPlan& plan, const TileLine& row, const TileLine* columns, float* floats,
                       int32_t* integers) {
  if (plan.unit == WgmmaPlan::Unit::Integer)
    return addIntegerProducts(plan.aInteger, plan.bInteger, plan.saturate, &row, 1, columns, kTileBytes / 4,
                              reinterpret_cast<int32_t (*)[kTileColumns]>(integers));
  TensorRows a;
  TensorColumns b;
  unpackRows(plan.aFormat, &row, 1, plan.k, a);
  if (plan.negateA != plan.negateB) negate(a, plan.k);
  unpackColumns(plan.bFormat, columns, plan.k, b);
  addProducts(plan.aFormat, plan.accumulator, a, 1, b, plan.k, reinterpret_cast<float (*)[kTileColumns]>(floats));
}

void multiplySparse(const std::byte* shared, Warp& warp, const Product& product, const TileLine* rows) {
  const WgmmaPlan& plan = *product.plan;
  const bool isInteger = plan.unit == WgmmaPlan::Unit::Integer;
  const int perBlock = registersOf(plan.accumulator);
  for (int strip = 0; strip < plan.n / 8; ++strip) {
    SparseColumn columns[kTileColumns];
    readColumns(shared, product, 8 * strip, columns);
    float floats[kTileRows][kTileColumns] = {};
    int32_t integers[kTileRows][kTileColumns] = {};
    const Slot* slots = stripSlots(plan, strip);
    for (int half = 0; product.addsToD && half < 2; ++half)
      if (isInteger)
        gatherBlock<int32_t>(warp, slots + 2 * half, integers + 8 * half);
      else
        gatherFloats(warp, plan.accumulator, slots + half * perBlock, floats + 8 * half);
    for (size_t i = 0; i < kTileRows; ++i) {
      alignas(32) TileLine chosen[kTileColumns];
      choose(plan.sparse, product.metadata[i], columns, chosen);
      multiplySparseRow(plan, rows[i], chosen, floats[i], integers[i]);
    }
    for (int half = 0; half < 2; ++half)
      if (isInteger)
        scatterBlock<int32_t>(warp, slots + 2 * half, integers + 8 * half);
      else
        scatterFloats(warp, plan.accumulator, slots + half * perBlock, floats + 8 * half);
  }
}

int firstRowOf(const Warp& warp) { return int(warp.index % kWarpsPerGroup) * kTileRows; }

bool isWatched(const Warp& warp) { return warp.cta->async && warp.cta->async->history; }

/// Calls visit(offset) for each unit of a matrix's `count` lines from `first` on; a line has `units`.
template <class Visit>
void eachUnit(const MatrixDescriptor& d, bool across, int first, int count, int units, const Visit& visit) {
  for (int line = first; across && line < first + count; line += 8)
    for (int k = 0; k < 8 * units; ++k) visit(unitAcross(d, line / 8, k));
  for (int line = first; !across && line < first + count; ++line)
    for (int unit = 0; unit < units; ++unit) visit(unitAlongK(d, line, unit));
}
/// ... of all that a product reads of shared memory.
template <class Visit> void eachUnit(const Product& product, int firstRow, const Visit& visit) {
  const WgmmaPlan& plan = *product.plan;
  eachUnit(product.b, plan.bAcross, 0, plan.n, plan.unitsOfB(), visit);
  if (!plan.aInRegisters) eachUnit(product.a, plan.aAcross, firstRow, kTileRows, 2, visit);
}

/// Bounds of the units of a matrix's `count` lines from `first` on; a line has `units`.
void findBounds(const MatrixDescriptor& d, bool across, int first, int count, int units, uint32_t& low,
                uint32_t& high) {
  const auto last = uint32_t(units - 1);
  if (!across) {
    const uint32_t pitch = d.swizzleBytes ? d.swizzleBytes : kUnitBytes;
    low = d.start + uint32_t(first / 8) * d.stride;
    high = low + 7 * pitch + uint32_t(count / 8 - 1) * d.stride + alongK(d, last);
  } else if (!d.swizzleBytes) {
    low = d.start + uint32_t(first / 8) * d.stride;
    high = low + uint32_t(count / 8 - 1) * d.stride + 7 * kUnitBytes + last * d.leading;
  } else {
    const uint32_t perRow = d.swizzleBytes / kUnitBytes;
    low = ~uint32_t(0), high = 0;
    for (uint32_t u = uint32_t(first / 8); u < uint32_t((first + count) / 8); ++u) {
      const uint32_t at = d.start + u % perRow * kUnitBytes + u / perRow * d.leading;
      low = std::min(low, at);
      high = std::max(high, at + 7 * d.swizzleBytes + last * d.stride);
    }
  }
  high += kUnitBytes;
  if (!d.swizzleBytes) return;
  constexpr uint32_t kLine = 128; // a swizzle exchanges units within a line
  low = low / kLine * kLine;
  high = (high + kLine - 1) / kLine * kLine;
}

bool tellUnit(Warp& warp, uint32_t offset) {
  const Access access{.space = Space::Shared,
                      .kind = AccessKind::Read,
                      .bytes = kUnitBytes,
                      .alignment = kUnitBytes,
                      .proxy = Proxy::Async};
  return resolveBlock(access, warp, 0, offset | uint64_t(warp.cta->rank) << kSharedRankShift, kUnitBytes);
}

/// All that a product will read has to lie in shared memory; whoever looks on is told. False: a trap was raised.
bool announce(Warp& warp, Product& product) {
  Cta& cta = *warp.cta;
  const WgmmaPlan& plan = *product.plan;
  findBounds(product.b, plan.bAcross, 0, plan.n, plan.unitsOfB(), product.low[0], product.high[0]);
  if (!plan.aInRegisters)
    findBounds(product.a, plan.aAcross, firstRowOf(warp), kTileRows, 2, product.low[1], product.high[1]);
  bool eachWanted = std::max(product.high[0], product.high[1]) > cta.shared.size();
  for (const Observer* observer : cta.cluster->grid->observers) eachWanted |= observer->wantsUnits();
  bool good = true;
  if (eachWanted) eachUnit(product, firstRowOf(warp), [&](uint32_t unit) { good = good && tellUnit(warp, unit); });
  if (!good || !isWatched(warp)) return good;
  for (size_t i = 0; i < 2; ++i)
    if (!mayAsyncRead(warp, cta, product.low[i], product.high[i] - product.low[i])) {
      eachUnit(product, firstRowOf(warp), [&](uint32_t unit) { checkAsyncRead(warp, 0, cta, unit, kUnitBytes); });
      break;
    }
  return true;
}

/// A product begins to be on its way, or ends.
void note(Warp& warp, const Product& product, int by) {
  asyncOf(*warp.cta).products += uint32_t(by);
  WarpProducts& products = *warp.products;
  if (!products.registers.empty()) products.count(product, by);
}

void land(Warp& warp, const Product& product) {
  std::byte* const registers = warp.base[0];
  warp.base[0] = product.registers;
  const std::byte* const shared = warp.cta->shared.data();
  alignas(32) TileLine rows[kTileRows];
  readRows(shared, product, firstRowOf(warp), rows);
  if (product.plan->isSparse)
    multiplySparse(shared, warp, product, rows);
  else if (product.plan->unit == WgmmaPlan::Unit::Float)
    multiplyFloats(shared, warp, product, rows);
  else
    multiplyIntegers(shared, warp, product, rows);
  warp.base[0] = registers;
  note(warp, product, -1);
}

/// Lands the oldest `count` products.
void landFirst(Warp& warp, size_t count) {
  std::vector<Product>& pending = warp.products->pending;
  for (size_t i = 0; i < count; ++i) land(warp, pending[i]);
  pending.erase(pending.begin(), pending.begin() + ptrdiff_t(count));
}

} // namespace

WarpProducts& productsOf(Warp& warp) {
  if (!warp.products) {
    warp.products = std::make_shared<WarpProducts>();
    warp.products->pending.reserve(64);
  }
  return *warp.products;
}

MatrixDescriptor decodeDescriptor(uint64_t bits) {
  constexpr uint8_t swizzles[] = {0, 128, 64, 32};
  const auto field = [&](int first) { return uint32_t(bits >> first & 0x3FFF) << 4; };
  return {field(0), field(16), field(32), uint8_t(bits >> 49 & 7), swizzles[bits >> 62]};
}

uint32_t unitAlongK(const MatrixDescriptor& d, int line, int unit) {
  const uint32_t pitch = d.swizzleBytes ? d.swizzleBytes : kUnitBytes;
  return swizzled(d, d.start + uint32_t(line % 8) * pitch + uint32_t(line / 8) * d.stride + alongK(d, uint32_t(unit)));
}

uint32_t unitAcross(const MatrixDescriptor& d, int unit, int k) {
  const uint32_t inGroup = uint32_t(k % 8), group = uint32_t(k / 8);
  if (!d.swizzleBytes) return d.start + uint32_t(unit) * d.stride + inGroup * kUnitBytes + group * d.leading;
  const uint32_t perRow = d.swizzleBytes / kUnitBytes, u = uint32_t(unit);
  return swizzled(d, d.start + u % perRow * kUnitBytes + u / perRow * d.leading + inGroup * d.swizzleBytes +
                         group * d.stride);
}

Step runWgmmaProduct(const Inst& in, Warp& warp, LaneMask active) {
  if (const Step step = gatherWarp(warp, active); step != Step::Next) return step;
  const auto& plan = *static_cast<const WgmmaPlan*>(in.data);
  if (warp.cta->threads < (warp.index / kWarpsPerGroup + 1) * kWarpsPerGroup * kLanes)
    return warp.trap(TrapKind::InvalidValue, "needs a warpgroup, four whole warps; the CTA has " +
                                                 std::to_string(warp.cta->threads) + " threads");
  WarpProducts& products = productsOf(warp);
  if (isWatched(warp)) checkProduct(warp, in, plan);
  Product& product = products.pending.emplace_back();
  product.inst = &in;
  product.plan = &plan;
  product.registers = warp.base[0];
  product.group = products.group;
  product.addsToD = warp.predicate(plan.scaleD) & 1;
  product.b = decodeDescriptor(warp.lanes<uint64_t>(plan.b)[0]);
  if (plan.aInRegisters)
    gatherLines(warp, plan.a, 2, 2, product.rows);
  else
    product.a = decodeDescriptor(warp.lanes<uint64_t>(plan.a[0])[0]);
  for (int row = 0; plan.isSparse && row < kTileRows; ++row)
    product.metadata[size_t(row)] = metadataOf(plan.sparse, warp.lanes<uint32_t>(plan.metadata), row);
  if (!announce(warp, product)) return Step::Trap;
  note(warp, product, 1);
  Cluster& cluster = *warp.cta->cluster;
  product.due = dueOf(cluster);
  if (product.due <= cluster.turn) [[unlikely]]
    landDueProducts(warp, cluster.turn);
  return Step::Next;
}

Step runProductRegisterUses(const Inst& in, Warp& warp, LaneMask active) {
  if (isWatched(warp)) checkRegisterUses(warp, *static_cast<const ProductRegisterUses*>(in.data), active);
  return Step::Next;
}

Step runWgmmaCommit(const Inst&, Warp& warp, LaneMask active) {
  if (const Step step = gatherWarp(warp, active); step != Step::Next) return step;
  ++productsOf(warp).group;
  for (Observer* observer : warp.cta->cluster->grid->observers) observer->commits(warp, 1, AsyncGroups::Products);
  return Step::Next;
}

Step runWgmmaWait(const Inst& in, Warp& warp, LaneMask active) {
  if (const Step step = gatherWarp(warp, active); step != Step::Next) return step;
  if (!warp.products) return Step::Next;
  WarpProducts& products = *warp.products;
  const uint64_t mayRemain = uint64_t(in.immediate);
  const uint64_t firstThatMay = products.group > mayRemain ? products.group - mayRemain : 0;
  size_t count = 0;
  while (count < products.pending.size() && products.pending[count].group < firstThatMay) ++count;
  landFirst(warp, count);
  for (Observer* observer : warp.cta->cluster->grid->observers)
    observer->waitedForGroups(warp, 1, AsyncGroups::Products, mayRemain);
  return Step::Next;
}

uint64_t landDueProducts(Warp& warp, uint64_t turn) {
  const std::vector<Product>& pending = warp.products->pending;
  size_t count = pending.size();
  while (count > 0 && pending[count - 1].due > turn) --count;
  landFirst(warp, count);
  uint64_t next = kNeverDue;
  for (const Product& product : pending) next = std::min(next, product.due);
  return next;
}

/// Registers are always in the order of the program here; only who looks on cares.
Step runWgmmaFence(const Inst&, Warp& warp, LaneMask active) {
  if (const Step step = gatherWarp(warp, active); step != Step::Next) return step;
  WarpProducts& products = productsOf(warp);
  products.isFenced = true;
  for (WarpProducts::Register& reg : products.registers) reg.touched = nullptr;
  return Step::Next;
}

const WarpProducts::Product* WarpProducts::reader(const Warp& warp, uint32_t offset, uint32_t bytes) const {
  for (const Product& product : pending) {
    if (!product.isNear(offset, bytes)) continue;
    bool meets = false;
    eachUnit(product, firstRowOf(warp),
             [&](uint32_t unit) { meets |= unit < offset + bytes && offset < unit + kUnitBytes; });
    if (meets) return &product;
  }
  return nullptr;
}

} // namespace tiletwin::sim
