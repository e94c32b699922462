// sim/isa/TensorTransfer.cpp -- tcgen05.ld, tcgen05.st and their waits: registers of a warp and its lanes of tensor memory.
// Idea:      both are done at once: compilers use a load's registers in front of its wait, and ptxas puts a wait of the hardware's there.
//            What a warp has not waited for is kept, so that others who use the cells meanwhile are reported.
// Source:    PTX ISA, "tcgen05 Data Movement Shape", "tcgen05.ld", "tcgen05.st", "tcgen05.wait".
#include "sim/check/TensorCheck.h"
#include "sim/isa/MatrixFragment.h"
#include "sim/isa/TensorMemory.h"
#include "sim/machine/Cta.h"

namespace tiletwin::sim {
namespace {

using Shape = TensorTransfer::Shape;

/// The address, the same in all lanes, and whether the warp may go there; false: a trap.
bool addressOf(const TensorTransfer& form, Warp& warp, TensorAddress& at) {
  const LaneAddresses addresses = form.address.lanes(warp);
  for (int lane = 1; lane < kLanes; ++lane)
    if (addresses[size_t(lane)] != addresses[0])
      return warp.fail(TrapKind::InvalidValue, "has another address in tensor memory than lane 0", lane);
  at = TensorAddress(uint32_t(addresses[0]));
  const int first = int(warp.index % 4) * 32;
  const bool mayBegin = at.lane == first || (form.lanes() == 16 && at.lane == first + 16);
  if (mayBegin) return true;
  return warp.fail(TrapKind::InvalidValue, "reaches lanes " + std::to_string(at.lane) + " to " +
                                               std::to_string(at.lane + form.lanes() - 1) + " of tensor memory; warp " +
                                               std::to_string(warp.index) + " of its CTA may reach " +
                                               std::to_string(first) + " to " + std::to_string(first + 31));
}

/// The rectangles that it touches; the second one is empty but for Halves16x32.
std::array<TensorRange, 2> rangesOf(const TensorTransfer& form, TensorAddress at) {
  const TensorRange first{at.lane, form.lanes(), at.column, form.columns()};
  TensorRange second;
  if (form.shape == Shape::Halves16x32) second = first, second.column += int(form.secondHalf);
  return {first, second};
}

bool reachesAll(const TensorTransfer& form, Warp& warp, TensorAddress at, TensorUse use) {
  for (const TensorRange& range : rangesOf(form, at)) {
    if (!range.columns) continue;
    if (!reaches(warp, *warp.cta, range, -1)) return false;
    checkTensorCells(warp, *warp.cta, range, use);
  }
  return true;
}

/// The warp has not waited for what it does to the cells.
void note(std::vector<TensorMemory::Access>& accesses, const TensorTransfer& form, Warp& warp, const Inst& in,
          TensorAddress at) {
  for (const TensorRange& range : rangesOf(form, at))
    if (range.columns) accesses.push_back({&warp, &in, range});
}

Step waitFor(std::vector<TensorMemory::Access>& accesses, const Warp& warp) {
  std::erase_if(accesses, [&](const TensorMemory::Access& access) { return access.warp == &warp; });
  return Step::Next;
}

} // namespace

int TensorTransfer::columns() const {
  const int each = shape == Shape::Lanes16x64    ? 2
                   : shape == Shape::Lanes16x128 ? 4
                   : shape == Shape::Lanes16x256 ? 8
                                                 : 1;
  return each * count * (packs ? 2 : 1);
}

TensorTransfer::Cell TensorTransfer::cell(int thread, int reg) const {
  Cell cell{};
  switch (shape) {
  case Shape::Lanes32: cell = {thread, reg}; break;
  case Shape::Halves16x32: cell = {thread % 16, reg}; break;
  case Shape::Lanes16x64: cell = {thread / 4 + thread % 2 * 8, reg * 2 + thread / 2 % 2}; break;
  case Shape::Lanes16x128: cell = {thread / 4 + reg % 2 * 8, reg / 2 * 4 + thread % 4}; break;
  case Shape::Lanes16x256: cell = {thread / 4 + reg / 2 % 2 * 8, reg / 4 * 8 + thread % 4 * 2 + reg % 2}; break;
  }
  if (packs) cell.column *= 2;
  if (shape == Shape::Halves16x32 && thread >= 16) cell.column += int(secondHalf);
  return cell;
}

Step runTensorLoad(const Inst& in, Warp& warp, LaneMask active) {
  if (const Step step = gatherWarp(warp, active); step != Step::Next) return step;
  const auto& form = *static_cast<const TensorTransfer*>(in.data);
  TensorAddress at;
  if (!addressOf(form, warp, at) || !reachesAll(form, warp, at, TensorUse::Load)) return Step::Trap;
  TensorMemory& memory = tensorMemoryOf(*warp.cta);
  for (size_t r = 0; r < form.registers.size(); ++r) {
    auto* lanes = warp.lanes<uint32_t>(form.registers[r]);
    for (int thread = 0; thread < kLanes; ++thread) {
      const auto [lane, column] = form.cell(thread, int(r));
      const uint32_t* cell = memory.row(at.lane + lane) + at.column + column;
      lanes[thread] = form.packs ? (cell[0] & 0xFFFF) | cell[1] << 16 : cell[0];
    }
  }
  note(memory.loads, form, warp, in, at);
  return Step::Next;
}

Step runTensorStore(const Inst& in, Warp& warp, LaneMask active) {
  if (const Step step = gatherWarp(warp, active); step != Step::Next) return step;
  const auto& form = *static_cast<const TensorTransfer*>(in.data);
  TensorAddress at;
  if (!addressOf(form, warp, at) || !reachesAll(form, warp, at, TensorUse::Store)) return Step::Trap;
  TensorMemory& memory = tensorMemoryOf(*warp.cta);
  for (size_t r = 0; r < form.registers.size(); ++r) {
    const auto* lanes = warp.lanes<uint32_t>(form.registers[r]);
    for (int thread = 0; thread < kLanes; ++thread) {
      const auto [lane, column] = form.cell(thread, int(r));
      uint32_t* cell = memory.row(at.lane + lane) + at.column + column;
      cell[0] = form.packs ? lanes[thread] & 0xFFFF : lanes[thread];
      if (form.packs) cell[1] = lanes[thread] >> 16;
    }
  }
  for (const TensorRange& range : rangesOf(form, at)) memory.wrote(range);
  note(memory.stores, form, warp, in, at);
  return Step::Next;
}

Step runTensorWaitLoad(const Inst&, Warp& warp, LaneMask active) {
  if (const Step step = gatherWarp(warp, active); step != Step::Next) return step;
  return waitFor(tensorMemoryOf(*warp.cta).loads, warp);
}

Step runTensorWaitStore(const Inst&, Warp& warp, LaneMask active) {
  if (const Step step = gatherWarp(warp, active); step != Step::Next) return step;
  return waitFor(tensorMemoryOf(*warp.cta).stores, warp);
}

} // namespace tiletwin::sim
