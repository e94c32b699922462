// sim/isa/TensorMemory.cpp -- tensor memory is allocated, freed and reached.
#include "sim/isa/TensorMemory.h"
#include "sim/check/TensorCheck.h"
#include "sim/isa/MatrixFragment.h"
#include "sim/isa/WaitText.h"
#include "sim/machine/Cta.h"
#include <algorithm>
#include <cstring>

namespace tiletwin::sim {

int TensorMemory::findFree(int columns) const {
  for (int first = 0; first < kTensorColumns; first += columns) {
    const auto takes = [&](const Allocation& a) { return first < a.first + a.columns && a.first < first + columns; };
    if (std::none_of(allocations.begin(), allocations.end(), takes)) return first;
  }
  return -1;
}

void TensorMemory::allocate(const Allocation& allocation) {
  allocations.push_back(allocation);
  for (auto& lane : written_) // what was there before means nothing
    for (int column = 0; column < allocation.columns; ++column) lane.reset(size_t(allocation.first) + size_t(column));
}

bool TensorMemory::free(int first, int columns) {
  return std::erase_if(allocations, [&](const Allocation& a) { return a.first == first && a.columns == columns; }) != 0;
}

bool TensorMemory::isAllocated(int column, int columns) const {
  int covered = 0; // allocations do not overlap
  for (const Allocation& a : allocations)
    covered += std::max(0, std::min(a.first + a.columns, column + columns) - std::max(a.first, column));
  return covered == columns;
}

void TensorMemory::wrote(const TensorRange& range) {
  for (int lane = range.lane; lane < range.lane + range.lanes; ++lane)
    for (int column = range.column; column < range.column + range.columns; ++column)
      written_[size_t(lane)].set(size_t(column));
}

bool TensorMemory::isWritten(const TensorRange& range) const {
  for (int lane = range.lane; lane < range.lane + range.lanes; ++lane)
    for (int column = range.column; column < range.column + range.columns; ++column)
      if (!written_[size_t(lane)].test(size_t(column))) return false;
  return true;
}

TensorMemory& tensorMemoryOf(Cta& cta) {
  if (!cta.tensor) cta.tensor = std::make_shared<TensorMemory>();
  return *cta.tensor;
}

bool reaches(Warp& warp, Cta& cta, const TensorRange& range, int lane) {
  const auto span = [](int first, int count) {
    return std::to_string(first) + " to " + std::to_string(first + count - 1);
  };
  if (range.lane + range.lanes > kTensorLanes)
    return warp.fail(TrapKind::OutOfBounds,
                     "reaches lanes " + span(range.lane, range.lanes) + " of tensor memory, which has 128", lane);
  const TensorMemory& memory = tensorMemoryOf(cta);
  if (memory.isAllocated(range.column, range.columns)) return true;
  std::string have;
  for (const TensorMemory::Allocation& a : memory.allocations)
    have += (have.empty() ? "" : ", ") + span(a.first, a.columns);
  return warp.fail(TrapKind::OutOfBounds,
                   "reaches columns " + span(range.column, range.columns) +
                       " of tensor memory; allocated are: " + (have.empty() ? "none" : have),
                   lane);
}

namespace {

/// The number of columns, the same in all lanes; 0: a trap.
int columnsOf(const TensorAllocationForm& form, Warp& warp) {
  const uint32_t* lanes = warp.lanes<uint32_t>(form.columns);
  const uint32_t columns = lanes[__builtin_ctz(warp.live)];
  if (columns >= 32 && columns <= uint32_t(kTensorColumns) && (columns & (columns - 1)) == 0) return int(columns);
  warp.trap(TrapKind::InvalidValue,
            "names " + std::to_string(columns) + " columns of tensor memory: it is to be 32, 64, 128, 256 or 512");
  return 0;
}

} // namespace

Step runTensorAlloc(const Inst& in, Warp& warp, LaneMask active) {
  if (const Step step = gatherWarp(warp, active); step != Step::Next) return step;
  const auto& form = *static_cast<const TensorAllocationForm*>(in.data);
  asyncOf(warp); // so that the CTA's end is looked at
  TensorMemory& memory = tensorMemoryOf(*warp.cta);
  const int columns = columnsOf(form, warp);
  if (!columns) return Step::Trap;
  if (!memory.mayAllocate)
    return warp.trap(TrapKind::InvalidValue,
                     "allocates tensor memory after its CTA has run tcgen05.relinquish_alloc_permit");
  const int first = memory.findFree(columns);
  if (first < 0) return Step::Retry; // until another warp gives some back
  const int lane = __builtin_ctz(active);
  Access access{.space = form.to.space, .kind = AccessKind::Write};
  const LaneAddresses to = form.to.lanes(warp);
  std::array<std::byte*, kLanes> host;
  if (!resolve(access, warp, LaneMask(1) << lane, to.data(), host.data())) return Step::Trap;
  const auto address = uint32_t(first);
  std::memcpy(host[size_t(lane)], &address, sizeof address);
  memory.allocate({first, columns, &warp, &in});
  return Step::Next;
}

std::string tensorWaitText(Warp& warp, const Inst* at) {
  if (at->run != runTensorAlloc) return {};
  int taken = 0;
  for (const TensorMemory::Allocation& a : tensorMemoryOf(*warp.cta).allocations) taken += a.columns;
  const auto& form = *static_cast<const TensorAllocationForm*>(at->data);
  return "waits for " + std::to_string(warp.lanes<uint32_t>(form.columns)[0]) + " free columns of tensor memory; " +
         std::to_string(taken) + " of 512 are allocated";
}

Step runTensorDealloc(const Inst& in, Warp& warp, LaneMask active) {
  if (const Step step = gatherWarp(warp, active); step != Step::Next) return step;
  const auto& form = *static_cast<const TensorAllocationForm*>(in.data);
  const int columns = columnsOf(form, warp);
  if (!columns) return Step::Trap;
  const TensorAddress at(warp.lanes<uint32_t>(form.address)[__builtin_ctz(active)]);
  checkTensorCells(warp, *warp.cta, {0, kTensorLanes, at.column, columns}, TensorUse::Free);
  if (at.lane == 0 && tensorMemoryOf(*warp.cta).free(at.column, columns)) return Step::Next;
  return warp.trap(TrapKind::InvalidValue, "gives back " + std::to_string(columns) +
                                               " columns of tensor memory from column " + std::to_string(at.column) +
                                               " on, which are no allocation");
}

Step runTensorRelinquish(const Inst&, Warp& warp, LaneMask active) {
  if (const Step step = gatherWarp(warp, active); step != Step::Next) return step;
  tensorMemoryOf(*warp.cta).mayAllocate = false;
  return Step::Next;
}

} // namespace tiletwin::sim
