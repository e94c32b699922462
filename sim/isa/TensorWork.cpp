// sim/isa/TensorWork.cpp -- tcgen05.mma, tcgen05.cp and tcgen05.commit: what is queued, and when it is done.
// Not here:  sums (TensorProduct.cpp), the descriptors' bits (TensorDescriptor.cpp).
#include "sim/isa/TensorWork.h"
#include "sim/check/AsyncCheck.h"
#include "sim/check/TensorCheck.h"
#include "sim/isa/Mbarrier.h"
#include "sim/isa/TensorMemory.h"
#include "sim/machine/Memory.h"
#include <algorithm>
#include <cstring>

namespace tiletwin::sim {
namespace {

constexpr uint32_t kUnitBytes = 16;

bool isWatched(const Cta& cta) { return cta.async && cta.async->history; }

/// All of shared memory that a piece of work reads is there, and whoever looks on is told. False: a trap was raised.
bool announce(Warp& warp, int lane, TensorWork& work) {
  work.low = ~uint32_t(0), work.high = 0;
  eachSharedUnit(work, [&](int, uint32_t offset) {
    work.low = std::min(work.low, offset);
    work.high = std::max(work.high, offset + kUnitBytes);
  });
  bool eachWanted = false;
  for (const Observer* observer : warp.cta->cluster->grid->observers) eachWanted |= observer->wantsUnits();
  for (const Cta* cta : work.ctas) eachWanted |= cta && work.high > cta->shared.size();
  bool good = true;
  if (eachWanted)
    eachSharedUnit(work, [&](int cta, uint32_t offset) {
      const Access access{.space = Space::Shared,
                          .kind = AccessKind::Read,
                          .bytes = kUnitBytes,
                          .alignment = kUnitBytes,
                          .proxy = Proxy::Async};
      const uint64_t address = offset | uint64_t(work.ctas[size_t(cta)]->rank) << kSharedRankShift;
      good = good && resolveBlock(access, warp, lane, address, kUnitBytes);
    });
  if (!good || !isWatched(*warp.cta)) return good;
  for (Cta* cta : work.ctas)
    if (cta && !mayAsyncRead(warp, *cta, work.low, work.high - work.low)) {
      eachSharedUnit(
          work, [&](int i, uint32_t offset) { checkAsyncRead(warp, lane, *work.ctas[size_t(i)], offset, kUnitBytes); });
      break;
    }
  return true;
}

void note(const TensorWork& work, int by) {
  for (Cta* cta : work.ctas)
    if (cta) asyncOf(*cta).products += uint32_t(by);
}

/// The CTAs of cta_group::1 or ::2 for an instruction of a CTA: in the order of their ranks. False: a trap was raised.
bool setCtas(Warp& warp, int lane, int count, TensorWork& work) {
  Cluster& cluster = *warp.cta->cluster;
  const size_t first = count == 2 ? warp.cta->rank & ~1u : warp.cta->rank;
  if (first + size_t(count) > cluster.ctas.size())
    return warp.fail(TrapKind::InvalidValue,
                     "is of .cta_group::2, and the cluster has no CTA beside rank " + std::to_string(warp.cta->rank),
                     lane);
  for (int i = 0; i < count; ++i) work.ctas[size_t(i)] = &cluster.ctas[first + size_t(i)];
  return true;
}

/// All cells are allocated, and may be used now; cells that will be written count as written from here on. False: a trap.
bool claim(Warp& warp, int lane, const TensorWork& work) {
  for (size_t i = 0; i < size_t(work.ctaCount()); ++i) {
    Cta& cta = *work.ctas[i];
    for (const TensorRange& range : work.read()) {
      if (!reaches(warp, cta, range, lane)) return false;
      checkTensorCells(warp, cta, range, TensorUse::ProductReads);
    }
    for (const TensorRange& range : work.written()) {
      if (!reaches(warp, cta, range, lane)) return false;
      checkTensorCells(warp, cta, range, work.addsToD ? TensorUse::ProductReads : TensorUse::ProductWrites);
      tensorMemoryOf(cta).wrote(range);
    }
  }
  return true;
}

bool queue(Warp& warp, int lane, TensorWork& work) {
  if (!claim(warp, lane, work) || !announce(warp, lane, work)) return false;
  TensorMemory& memory = tensorMemoryOf(*warp.cta);
  work.warp = &warp;
  work.number = memory.issued++;
  work.origin = originOf(warp, lane);
  note(work, 1);
  memory.work.push_back(work);
  Cluster& cluster = *warp.cta->cluster;
  if (cluster.turn >= cluster.nextDue) [[unlikely]]
    landDue(cluster);
  return true;
}

void landCopy(const TensorWork& work) {
  const TensorCopyPlan& plan = *work.copy;
  const TensorAddress to(work.to);
  for (Cta* cta : work.ctas)
    for (int row = 0; cta && row < plan.rows; ++row)
      for (int unit = 0; unit < plan.units; ++unit)
        for (int copy = 0; copy < plan.copies; ++copy) {
          const int lane = to.lane + row / plan.group * plan.pitch + row % plan.group + copy * plan.repeat;
          std::memcpy(tensorMemoryOf(*cta).row(lane) + to.column + unit * 4,
                      cta->shared.data() + unitAlongK(work.a, row, unit), kUnitBytes);
        }
}

void land(const TensorWork& work) {
  note(work, -1);
  work.product ? landProduct(work) : landCopy(work);
}

} // namespace

std::vector<TensorRange> TensorWork::written() const {
  const TensorAddress at(to);
  std::vector<TensorRange> ranges;
  if (copy) {
    for (int first = 0; first < copy->rows; first += copy->group)
      for (int i = 0; i < copy->copies; ++i)
        ranges.push_back(
            {at.lane + first / copy->group * copy->pitch + i * copy->repeat, copy->group, at.column, copy->units * 4});
    return ranges;
  }
  const int m = descriptor.m / ctaCount();
  if (m == 128 || ctas[1]) return {{at.lane, 128, at.column, m == 128 ? descriptor.n : descriptor.n / 2}};
  for (int warp = 0; warp < 4; ++warp) ranges.push_back({at.lane + 32 * warp, 16, at.column, descriptor.n});
  return ranges;
}

std::vector<TensorRange> TensorWork::read() const {
  std::vector<TensorRange> ranges;
  if (product && product->aInTensor) {
    constexpr int kColumnsOfA = 8; // 32 bytes along k
    ranges = written();
    for (TensorRange& range : ranges) range.column = TensorAddress(aTensor).column, range.columns = kColumnsOfA;
  }
  if (product && product->isBlockScaled) { // 32 scales a column, in the lanes of each warp
    ranges.push_back({0, 128, TensorAddress(scalesOfA).column, descriptor.m / ctaCount() / 32});
    ranges.push_back({0, 128, TensorAddress(scalesOfB).column, (descriptor.n + 31) / 32});
  }
  return ranges;
}

bool TensorWork::reads(const Cta& cta, uint64_t offset, uint64_t bytes) const {
  if ((ctas[0] != &cta && ctas[1] != &cta) || offset >= high || low >= offset + bytes) return false;
  bool meets = false;
  eachSharedUnit(*this, [&](int i, uint32_t unit) {
    meets |= ctas[size_t(i)] == &cta && unit < offset + bytes && offset < unit + kUnitBytes;
  });
  return meets;
}

Step runTensorProduct(const Inst& in, Warp& warp, LaneMask active) {
  const auto& plan = *static_cast<const TensorProductPlan*>(in.data);
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    TensorWork work;
    work.product = &plan;
    if (!setCtas(warp, lane, plan.ctas, work)) return Step::Trap;
    const uint32_t bits = warp.lanes<uint32_t>(plan.descriptor)[lane];
    std::string problem = plan.isBlockScaled ? readScaledDescriptor(bits, plan.ctas, work.descriptor)
                                             : readInstructionDescriptor(bits, plan.kind, plan.ctas, work.descriptor);
    if (problem.empty()) problem = readMatrixDescriptor(warp.lanes<uint64_t>(plan.b)[lane], work.b);
    if (problem.empty() && !plan.aInTensor) problem = readMatrixDescriptor(warp.lanes<uint64_t>(plan.a)[lane], work.a);
    if (problem.empty() && plan.aInTensor && plan.ctas == 2 && work.descriptor.m == 128)
      problem = "A in tensor memory for M = 128 of .cta_group::2 is not implemented";
    if (problem.empty() && plan.kind == TensorKind::TF32 && (work.descriptor.aAcross || work.descriptor.bAcross))
      problem = "tf32 operands whose elements lie along M or N are not implemented";
    if (!problem.empty()) return warp.trap(TrapKind::InvalidValue, std::move(problem), lane);
    work.to = uint32_t(plan.d.lanes(warp)[size_t(lane)]);
    if (plan.aInTensor) work.aTensor = uint32_t(plan.aTensor.lanes(warp)[size_t(lane)]);
    if (plan.isBlockScaled) {
      work.scalesOfA = uint32_t(plan.scalesOfA.lanes(warp)[size_t(lane)]);
      work.scalesOfB = uint32_t(plan.scalesOfB.lanes(warp)[size_t(lane)]);
    }
    const int first = TensorAddress(work.to).lane;
    if (first != 0 && !(first == 16 && work.descriptor.m == 64))
      return warp.trap(TrapKind::InvalidValue, "puts D at lane " + std::to_string(first) + ": it begins at lane 0",
                       lane);
    work.addsToD = warp.predicate(plan.addsToD) >> lane & 1;
    for (size_t i = 0; i < plan.disabled.size(); ++i) work.disabled[i] = warp.lanes<uint32_t>(plan.disabled[i])[lane];
    if (!queue(warp, lane, work)) return Step::Trap;
  }
  return Step::Next;
}

Step runTensorCopy(const Inst& in, Warp& warp, LaneMask active) {
  const auto& plan = *static_cast<const TensorCopyPlan*>(in.data);
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    TensorWork work;
    work.copy = &plan;
    if (!setCtas(warp, lane, plan.ctas, work)) return Step::Trap;
    if (std::string problem = readMatrixDescriptor(warp.lanes<uint64_t>(plan.from)[lane], work.a); !problem.empty())
      return warp.trap(TrapKind::InvalidValue, std::move(problem), lane);
    work.to = uint32_t(plan.to.lanes(warp)[size_t(lane)]);
    if (!queue(warp, lane, work)) return Step::Trap;
  }
  return Step::Next;
}

Step runTensorCommit(const Inst& in, Warp& warp, LaneMask active) {
  const auto& form = *static_cast<const TensorCommitForm*>(in.data);
  Cluster& cluster = *warp.cta->cluster;
  Access access{.space = form.barrier.space, .kind = AccessKind::Atomic};
  access.bytes = access.alignment = 8;
  access.proxy = Proxy::Async;
  for (LaneMask rest = active; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const std::byte* at = resolveBlock(access, warp, lane, form.barrier.lanes(warp)[size_t(lane)], 8);
    if (!at) return Step::Trap;
    Cta* owner = ownerOf(cluster, at);
    if (!owner) return warp.trap(TrapKind::InvalidValue, "names an mbarrier outside of shared memory", lane);
    const uint32_t mask = form.ctaMask ? warp.lanes<uint16_t>(form.ctaMask)[lane] : uint32_t(1) << owner->rank;
    if (mask >> cluster.ctas.size() != 0)
      return warp.trap(TrapKind::InvalidValue,
                       "names CTA " + std::to_string(31 - __builtin_clz(mask)) + " of a cluster of " +
                           std::to_string(cluster.ctas.size()),
                       lane);
    const ptrdiff_t offset = at - owner->shared.data();
    for (uint32_t others = mask; others; others &= others - 1) {
      Cta& cta = cluster.ctas[size_t(__builtin_ctz(others))];
      MbarrierSignal signal;
      signal.barrier = cta.shared.data() + offset;
      signal.warp = &warp;
      signal.lane = lane;
      if (const MbarrierState state = MbarrierState::read(signal.barrier); !state.isLive()) {
        trapMbarrier(warp, lane, &cta, signal.barrier, MbarrierState::Outcome::NoObject, state, 0);
        return Step::Trap;
      }
      signal.isTensorWork = true;
      signal.upTo = tensorMemoryOf(*warp.cta).issued;
      signal.copy.origin = originOf(warp, lane);
      for (Observer* observer : cluster.grid->observers) {
        observer->workArrives(warp, lane, AsyncGroups::TensorWork, signal.barrier);
        observer->arrives(warp, LaneMask(1) << lane, signal.barrier, Semantics::Release);
      }
      issueSignal(cta, std::move(signal));
    }
  }
  return Step::Next;
}

void landTensorWork(Warp& warp, int lane, uint32_t upTo) {
  std::deque<TensorWork>& work = warp.cta->tensor->work;
  const auto isMeant = [&](const TensorWork& w) { return w.warp == &warp && w.origin.lane == lane && w.number < upTo; };
  for (const TensorWork& w : work)
    if (isMeant(w)) land(w);
  std::erase_if(work, isMeant);
}

uint64_t landDueTensorWork(Cta& cta, uint64_t turn) {
  std::deque<TensorWork>& work = cta.tensor->work;
  size_t count = work.size();
  while (count > 0 && work[count - 1].origin.due > turn) --count;
  for (size_t i = 0; i < count; ++i) land(work[i]);
  work.erase(work.begin(), work.begin() + ptrdiff_t(count));
  uint64_t next = kNeverDue;
  for (const TensorWork& w : work) next = std::min(next, w.origin.due);
  return next;
}

const TensorWork* tensorReader(const Cta& cta, uint64_t offset, uint64_t bytes) {
  for (const Cta& issuer : cta.cluster->ctas)
    if (issuer.tensor)
      for (const TensorWork& work : issuer.tensor->work)
        if (work.reads(cta, offset, bytes)) return &work;
  return nullptr;
}

} // namespace tiletwin::sim
