// sim/isa/Wgmma.cpp -- wgmma: products are queued, committed in groups, and computed when they are waited for.
// Not here:  the text of the instructions (WgmmaDecode.cpp).
// Source:    PTX ISA, "Asynchronous warpgroup level matrix instructions": shared memory layout, matrix descriptor, strides.
#include "sim/isa/Wgmma.h"
#include "sim/isa/MatrixFragment.h"
#include "sim/isa/WgmmaDecode.h"
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

/// Units of shared memory of one product, found through one block if nobody looks on.
class UnitReader {
public:
  UnitReader(Warp& warp) : warp_(warp), observed_(!warp.cta->cluster->grid->observers.empty()) {}

  /// host[i] for addresses[i]; false: a trap was raised.
  bool find(const uint32_t* addresses, int count, const std::byte** host) {
    if (observed_) {
      for (int i = 0; i < count; ++i)
        if (!(host[i] = block(addresses[i], kUnitBytes))) return false;
      return true;
    }
    const auto [least, most] = std::minmax_element(addresses, addresses + count);
    const std::byte* first = block(*least, *most - *least + kUnitBytes);
    for (int i = 0; first && i < count; ++i) host[i] = first + (addresses[i] - *least);
    return first;
  }

private:
  const std::byte* block(uint32_t offset, uint32_t bytes) {
    const Access access{.space = Space::Shared,
                        .kind = AccessKind::Read,
                        .bytes = bytes,
                        .alignment = kUnitBytes,
                        .proxy = Proxy::Async};
    return resolveBlock(access, warp_, 0, offset | uint64_t(warp_.cta->rank) << kSharedRankShift, bytes);
  }
  Warp& warp_;
  bool observed_;
};

/// 16 rows of A from `firstRow` on, or 8 columns of B, whose elements lie along k.
bool readLines(UnitReader& reader, const MatrixDescriptor& d, int firstLine, int count, TileLine* lines) {
  uint32_t addresses[2 * kTileRows];
  const std::byte* host[2 * kTileRows];
  for (int i = 0; i < 2 * count; ++i) addresses[i] = unitAlongK(d, firstLine + i / 2, i % 2);
  if (!reader.find(addresses, 2 * count, host)) return false;
  for (int i = 0; i < 2 * count; ++i) std::memcpy(lines[i / 2] + i % 2 * kUnitBytes, host[i], kUnitBytes);
  return true;
}

/// elements[k][i]: lines 8 * unit + i of 16-bit elements that lie across.
bool readAcross(UnitReader& reader, const MatrixDescriptor& d, int unit, uint16_t (*elements)[8]) {
  uint32_t addresses[16];
  const std::byte* host[16];
  for (int k = 0; k < 16; ++k) addresses[k] = unitAcross(d, unit, k);
  if (!reader.find(addresses, 16, host)) return false;
  for (int k = 0; k < 16; ++k) std::memcpy(elements[k], host[k], kUnitBytes);
  return true;
}

/// The warp's 16 rows of A.
bool readRows(UnitReader& reader, const Product& product, int firstRow, TileLine* rows) {
  const WgmmaPlan& plan = *product.plan;
  if (plan.aInRegisters) {
    std::memcpy(rows, product.rows, sizeof product.rows);
    return true;
  }
  if (!plan.aAcross) return readLines(reader, product.a, firstRow, kTileRows, rows);
  for (int half = 0; half < 2; ++half) {
    uint16_t elements[16][8];
    if (!readAcross(reader, product.a, firstRow / 8 + half, elements)) return false;
    for (int k = 0; k < 16; ++k)
      for (int i = 0; i < 8; ++i) std::memcpy(rows[8 * half + i] + 2 * k, &elements[k][i], 2);
  }
  return true;
}

void negate(TensorRows& rows, int terms) {
  for (auto& row : rows.sign)
    for (int k = 0; k < terms; ++k) row[k] = ~row[k];
}

/// Slots of the 16 x 8 tile `strip` of D.
const Slot* stripSlots(const WgmmaPlan& plan, int strip) {
  return &plan.d[size_t(strip * (plan.accumulator == Accumulator::F16 ? 2 : 4))];
}

void loadStrip(Warp& warp, const WgmmaPlan& plan, const Slot* slots, float (*sums)[kTileColumns]) {
  for (int half = 0; half < 2; ++half)
    if (plan.accumulator == Accumulator::F16)
      gatherHalfBlock(warp, slots[half], sums + 8 * half);
    else
      gatherBlock<float>(warp, slots + 2 * half, sums + 8 * half);
}

void storeStrip(Warp& warp, const WgmmaPlan& plan, const Slot* slots, const float (*sums)[kTileColumns]) {
  for (int half = 0; half < 2; ++half)
    if (plan.accumulator == Accumulator::F16)
      scatterHalfBlock(warp, slots[half], sums + 8 * half);
    else
      scatterBlock<float>(warp, slots + 2 * half, sums + 8 * half);
}

bool multiplyFloats(UnitReader& reader, Warp& warp, const Product& product, const TileLine* rows) {
  const WgmmaPlan& plan = *product.plan;
  TensorRows a;
  unpackRows(plan.aFormat, rows, kTileRows, plan.k, a);
  if (plan.negateA != plan.negateB) negate(a, plan.k);
  for (int strip = 0; strip < plan.n / 8; ++strip) {
    TensorColumns b;
    if (plan.bAcross) {
      uint16_t elements[16][8];
      if (!readAcross(reader, product.b, strip, elements)) return false;
      unpackColumns(plan.bFormat, elements, plan.k, b);
    } else {
      alignas(32) TileLine columns[kTileColumns];
      if (!readLines(reader, product.b, 8 * strip, kTileColumns, columns)) return false;
      unpackColumns(plan.bFormat, columns, plan.k, b);
    }
    float sums[kTileRows][kTileColumns] = {};
    const Slot* slots = stripSlots(plan, strip);
    if (product.addsToD) loadStrip(warp, plan, slots, sums);
    addProducts(plan.aFormat, plan.accumulator, a, kTileRows, b, plan.k, sums);
    storeStrip(warp, plan, slots, sums);
  }
  return true;
}

bool multiplyIntegers(UnitReader& reader, Warp& warp, const Product& product, const TileLine* rows) {
  const WgmmaPlan& plan = *product.plan;
  for (int strip = 0; strip < plan.n / 8; ++strip) {
    alignas(32) TileLine columns[kTileColumns];
    if (!readLines(reader, product.b, 8 * strip, kTileColumns, columns)) return false;
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
  return true;
}

/// Computes a product; what it finds wrong is reported at its own instruction. False: a trap was raised.
bool land(Warp& warp, const Product& product) {
  const Inst* const waiting = warp.at;
  std::byte* const registers = warp.base[0];
  warp.at = product.inst;
  warp.base[0] = product.registers;
  UnitReader reader(warp);
  alignas(32) TileLine rows[kTileRows];
  bool done = readRows(reader, product, int(warp.index % kWarpsPerGroup) * kTileRows, rows);
  if (done)
    done = product.plan->unit == WgmmaPlan::Unit::Float ? multiplyFloats(reader, warp, product, rows)
                                                        : multiplyIntegers(reader, warp, product, rows);
  warp.base[0] = registers;
  if (done) warp.at = waiting; // a trap stays where it belongs
  return done;
}

WarpProducts& productsOf(Warp& warp) {
  if (!warp.products) {
    warp.products = std::make_shared<WarpProducts>();
    warp.products->pending.reserve(64);
  }
  return *warp.products;
}

} // namespace

MatrixDescriptor decodeDescriptor(uint64_t bits) {
  constexpr uint8_t swizzles[] = {0, 128, 64, 32};
  const auto field = [&](int first) { return uint32_t(bits >> first & 0x3FFF) << 4; };
  return {field(0), field(16), field(32), uint8_t(bits >> 49 & 7), swizzles[bits >> 62]};
}

uint32_t unitAlongK(const MatrixDescriptor& d, int line, int unit) {
  const uint32_t pitch = d.swizzleBytes ? d.swizzleBytes : kUnitBytes;
  const uint32_t step = d.swizzleBytes ? kUnitBytes : d.leading;
  return swizzled(d, d.start + uint32_t(line % 8) * pitch + uint32_t(line / 8) * d.stride + uint32_t(unit) * step);
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
  return Step::Next;
}

Step runWgmmaCommit(const Inst&, Warp& warp, LaneMask active) {
  if (const Step step = gatherWarp(warp, active); step != Step::Next) return step;
  ++productsOf(warp).group;
  return Step::Next;
}

Step runWgmmaWait(const Inst& in, Warp& warp, LaneMask active) {
  if (const Step step = gatherWarp(warp, active); step != Step::Next) return step;
  if (!warp.products) return Step::Next;
  WarpProducts& products = *warp.products;
  const uint64_t mayRemain = uint64_t(in.immediate);
  const uint64_t firstThatMay = products.group > mayRemain ? products.group - mayRemain : 0;
  size_t landed = 0;
  while (landed < products.pending.size() && products.pending[landed].group < firstThatMay) {
    if (!land(warp, products.pending[landed])) return Step::Trap;
    ++landed;
  }
  products.pending.erase(products.pending.begin(), products.pending.begin() + ptrdiff_t(landed));
  return Step::Next;
}

Step runWgmmaFence(const Inst&, Warp& warp, LaneMask active) {
  // Registers are always in the order of the program here; only that the warp is together matters.
  return gatherWarp(warp, active);
}

const WarpProducts::Product* WarpProducts::writer(const std::byte* lanes) const {
  for (const Product& product : pending)
    for (const Slot slot : product.plan->d)
      if (product.registers + slot.code == lanes) return &product;
  return nullptr;
}

const WarpProducts::Product* WarpProducts::reader(const Warp& warp, uint32_t offset, uint32_t bytes) const {
  const auto meets = [&](uint32_t unit) { return unit < offset + bytes && offset < unit + kUnitBytes; };
  const int firstRow = int(warp.index % kWarpsPerGroup) * kTileRows;
  const auto touches = [&](const MatrixDescriptor& d, bool across, int first, int count) {
    for (int i = 0; i < 2 * count; ++i)
      if (meets(across ? unitAcross(d, first / 8 + i / 16, i % 16) : unitAlongK(d, first + i / 2, i % 2))) return true;
    return false;
  };
  for (const Product& product : pending) {
    const WgmmaPlan& plan = *product.plan;
    if (touches(product.b, plan.bAcross, 0, plan.n)) return &product;
    if (!plan.aInRegisters && touches(product.a, plan.aAcross, firstRow, kTileRows)) return &product;
  }
  return nullptr;
}

} // namespace tiletwin::sim
