#include "sim/check/AsyncReport.h"
#include "sim/isa/TensorWork.h"
#include "sim/isa/Wgmma.h"

namespace tiletwin::sim {
namespace {

using Use = SharedInFlight::Use;
using Kind = AsyncOther::Kind;

LaneMask bit(int lane) { return lane < 0 ? 0 : LaneMask(1) << lane; }

/// Bytes of a CTA's shared memory.
struct Range {
  Cta& cta;
  uint64_t offset, bytes;

  bool meets(const std::byte* at, uint64_t others) const {
    const std::byte* first = cta.shared.data() + offset;
    return at < first + bytes && first < at + others;
  }
  bool meets(const BulkCopy& copy, Use use) const {
    if (copy.bytes == 0) return false;
    if (use == Use::Written) return copy.written == &cta && meets(copy.to, copy.bytes);
    return copy.read == &cta && copy.staged.empty() && meets(copy.from, copy.bytes);
  }
};

AsyncOther otherOf(const AsyncOrigin& origin, Kind kind) {
  return {{origin.warp, origin.inst, bit(origin.lane)}, kind};
}

/// The copies of a warp's threads that complete in groups.
AsyncOther findInGroups(const Warp& warp, Use use, const Range& range) {
  for (const LaneCopies& copies : warp.async->copies) {
    const bool isNear = warp.cta == &range.cta && use == Use::Written && copies.low < range.offset + range.bytes &&
                        range.offset < copies.high;
    for (LaneMask rest = isNear ? copies.pending : 0; rest; rest &= rest - 1) {
      const int lane = __builtin_ctz(rest);
      if (range.meets(copies.to[size_t(lane)], copies.bytes))
        return {{&warp, copies.origin.inst, bit(lane)}, Kind::LaneCopy};
    }
  }
  for (const WarpAsync::Grouped& entry : warp.async->bulk)
    if (range.meets(entry.copy, use)) return otherOf(entry.copy.origin, Kind::BulkStore);
  return {};
}

std::string messageOf(const AsyncAccess& a, Kind kind) {
  const std::string verb = a.isWrite ? "writes " : "reads ";
  switch (a.mistake) {
  case AsyncMistake::OnItsWay:
    return verb + "shared memory that a copy on its way is going to write: nobody has waited for it yet";
  case AsyncMistake::StillRead:
    return kind == Kind::Product      ? "writes shared memory that a wgmma on its way is going to read"
           : kind == Kind::TensorWork ? "writes shared memory that a tcgen05 operation on its way is going to read"
                                      : "writes shared memory that a copy on its way is going to read";
  case AsyncMistake::Unseen:
    return verb + (kind == Kind::LaneCopy
                       ? "shared memory that the copy of another thread has written; that thread has waited "
                         "for it, and no barrier lies between its wait and this"
                       : "shared memory that a copy has written, without having waited for it");
  case AsyncMistake::Unfenced:
    return "reads, in the async proxy, shared memory that a thread has written in the generic proxy, with no "
           "fence.proxy.async between";
  case AsyncMistake::GlobalOnItsWay:
    return verb + "global memory that a copy on its way is going to write: its thread has not waited for it yet";
  }
  return {};
}

std::string adviceOf(const AsyncAccess& a, Kind kind) {
  switch (a.mistake) {
  case AsyncMistake::OnItsWay:
    return kind == Kind::LaneCopy
               ? "wait with cp.async.wait_group or cp.async.wait_all in the thread that copies, then at a "
                 "barrier in all threads that use the data"
               : "wait for the phase of the mbarrier that the copy signals (mbarrier.try_wait): mind its "
                 "parity";
  case AsyncMistake::StillRead:
    return kind == Kind::Product ? "wait with wgmma.wait_group in all warps of the warpgroup, then at a barrier"
           : kind == Kind::TensorWork
               ? "commit it (tcgen05.commit), and wait for the phase of the mbarrier that hears of it before the "
                 "source changes"
               : "wait with cp.async.bulk.wait_group.read in the thread that copies before the source changes";
  case AsyncMistake::Unseen:
    return kind == Kind::LaneCopy
               ? "let all threads come to a barrier behind the wait, not in front of it"
               : "wait for the mbarrier in this thread too, or come to a barrier behind the wait of another one";
  case AsyncMistake::Unfenced:
    return "run fence.proxy.async.shared::cta behind the write and in front of the barrier, or behind the barrier "
           "in the thread that issues this";
  case AsyncMistake::GlobalOnItsWay:
    return "wait with cp.async.bulk.wait_group (without .read) in the thread that copies";
  }
  return {};
}

std::string secondTextOf(AsyncMistake mistake) {
  switch (mistake) {
  case AsyncMistake::Unseen: return "has copied it";
  case AsyncMistake::Unfenced: return "has written it";
  default: return "is on its way";
  }
}

} // namespace

AsyncOther findOnItsWay(Cta& cta, Use use, uint64_t offset, uint64_t bytes) {
  const Range range{cta, offset, bytes};
  for (Cta& other : cta.cluster->ctas) {
    if (other.async)
      for (const MbarrierSignal& signal : other.async->signals)
        if (range.meets(signal.copy, use)) return otherOf(signal.copy.origin, Kind::BulkLoad);
    for (const Warp& warp : other.warps)
      if (warp.async)
        if (const AsyncOther found = findInGroups(warp, use, range)) return found;
  }
  if (use == Use::Written || !cta.async->products) return {};
  for (const Warp& warp : cta.warps)
    if (warp.products)
      if (const auto* product = warp.products->reader(warp, uint32_t(offset), uint32_t(bytes)))
        return {{&warp, product->inst, kAllLanes}, Kind::Product};
  if (const TensorWork* work = tensorReader(cta, offset, bytes)) return otherOf(work->origin, Kind::TensorWork);
  return {};
}

AsyncOther findGlobalWriter(Cta& cta, uint64_t address, uint64_t bytes) {
  for (const Warp& warp : cta.warps)
    if (warp.async)
      for (const WarpAsync::Grouped& entry : warp.async->bulk)
        if (entry.copy.writesGlobal(address, bytes)) return otherOf(entry.copy.origin, Kind::BulkStore);
  return {};
}

AsyncOther whoMade(const AsyncHistory& history, Cluster& cluster, AsyncStamp stamp) {
  const Inst* inst = history.instOf(stamp);
  if (stamp.thread == AsyncHistory::kNobody) return {{nullptr, inst, 0}, Kind::BulkLoad};
  return {{&history.warpOf(cluster, stamp.thread), inst, bit(AsyncHistory::laneOf(stamp.thread))}, Kind::LaneCopy};
}

void reportAtEnd(AsyncHistory& history, const Cta& cta, const AsyncOrigin& origin, bool writes) {
  constexpr uint32_t kAtEnd = 200; // behind those of AsyncMistake and ProductMistake
  if (history.isNamed(origin.inst) || !history.isNew({origin.inst, nullptr, kAtEnd + writes, cta.rank})) return;
  report(*cta.cluster->grid,
         findingOf(Check::Async, {origin.warp, origin.inst, bit(origin.lane)},
                   std::string("is on its way when its CTA ends: the shared memory that it ") +
                       (writes ? "writes" : "reads") + " may be another CTA's by then",
                   writes
                       ? "let a thread wait for the phase of the mbarrier that the copy signals before the CTA ends"
                       : "commit it, and wait with cp.async.bulk.wait_group.read in the thread that copies before that "
                         "thread ends"));
}

void reportAsync(AsyncHistory& history, const AsyncAccess& a) {
  const Cta& cta = *a.warp->cta;
  Grid& grid = *cta.cluster->grid;
  const Kind kind = a.other.kind;
  if (!history.isNew({a.warp->at, a.other.who.inst, uint32_t(a.mistake), cta.rank})) return;
  Finding finding = findingOf(Check::Async, {a.warp, a.warp->at, a.lanes}, messageOf(a, kind), adviceOf(a, kind));
  finding.detail = ", " + (a.cta ? placeInShared(cta, *a.cta, a.offset) : placeInGlobal(grid, a.offset));
  addSecond(finding, *grid.program, a.other.who, secondTextOf(a.mistake));
  report(grid, std::move(finding));
}

} // namespace tiletwin::sim
