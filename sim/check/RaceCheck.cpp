// sim/check/RaceCheck.cpp -- the check of races: accesses, one lane after the other.
// Not here:  when they are those of asynchronous operations (AsyncRaces.cpp), what orders them (RaceSync.cpp).
#include "sim/check/RaceCheck.h"
#include "sim/check/RaceState.h"
#include "sim/isa/TensorWork.h"
#include "sim/isa/Wgmma.h"
#include <cstring>

namespace tiletwin::sim {

namespace {

/// Only memory that threads share, and only what they do themselves.
bool concerns(const Access& access) {
  const Space space = access.space;
  return access.proxy == Proxy::Generic && space != Space::Local && space != Space::Param && space != Space::Const;
}

bool isStrong(Stamp stamp) { return StampLayout::strength(stamp) != Strength::Weak; }

} // namespace

Accessing RaceCheck::begin(Warp& warp, const Access& access, LaneMask active, std::byte* const* host, uint64_t bytes) {
  WarpRaces& own = settled(warp);
  const Inst* inst = warp.at;
  Strength strength = Strength::Weak;
  if (access.semantics != Semantics::Weak) // mbarriers are objects of the cluster, whatever scope an operation has
    strength = isWide(access.scope) || inst->kind == InstClass::Async ? Strength::Wide : Strength::Narrow;
  const uint32_t place = places_.of(*warp.running->frame->code, *inst);
  return {.warp = warp,
          .cluster = *warp.cta->cluster->races,
          .own = own,
          .access = access,
          .active = active,
          .host = host,
          .bytes = bytes,
          .stamp = layout_.make(own.order.time(), own.order.number(), place, strength),
          .writes = access.kind != AccessKind::Read,
          .isDone = false,
          .inst = inst};
}

void RaceCheck::access(Warp& warp, const Access& access, LaneMask active, const uint64_t* addresses,
                       std::byte* const* host) {
  if (!concerns(access) || access.isLate) return; // issues() is told of the latter
  Accessing now = begin(warp, access, active, host, access.bytes);
  eachLane(active, [&](int lane) { lookAt(now, lane, addresses[lane], host[lane]); });
  now.lock(nullptr);
  if (access.semantics != Semantics::Weak && warp.at->kind != InstClass::Async) synchronise(now, addresses);
}

void RaceCheck::block(Warp& warp, const Access& access, int lane, uint64_t address, std::byte* host, uint64_t bytes) {
  const bool isWgmma = warp.at->run == runWgmmaProduct;
  const bool isTensorWork = warp.at->run == runTensorProduct || warp.at->run == runTensorCopy;
  const bool isProducts = access.proxy == Proxy::Async && (isWgmma || isTensorWork);
  if (!concerns(access) && !isProducts) return;
  alignas(kLaneAlignment) std::byte* hosts[kLanes];
  lane &= kLanes - 1;
  hosts[lane] = host;
  if (isProducts) {
    const AsyncUse use{.owner = ownerOf(*warp.cta->cluster, host),
                       .kind = AccessKind::Read,
                       .bytes = bytes,
                       .groups = isWgmma ? AsyncGroups::Products : AsyncGroups::TensorWork};
    return issues(warp, LaneMask(1) << lane, use, hosts);
  }
  Accessing now = begin(warp, access, LaneMask(1) << lane, hosts, bytes);
  lookAt(now, lane, address, host);
  now.lock(nullptr);
}

/// One lane's bytes at an address of the access's space.
void RaceCheck::lookAt(Accessing& now, int lane, uint64_t address, std::byte* host) {
  const Space space = now.access.space == Space::None ? spaceOfGeneric(address) : now.access.space;
  const uint64_t at = address & ~kWindowMask;
  if (space == Space::Shared)
    lookAtShared(now, lane, at >> kSharedRankShift, at & kSharedOffsetMask, host, now.bytes);
  else if (space == Space::Global)
    lookAtGlobal(now, lane, host, now.bytes);
}

void RaceCheck::lookAtShared(Accessing& now, int lane, uint64_t rank, uint64_t offset, std::byte* host,
                             uint64_t bytes) {
  auto& pages = now.cluster.shared[rank];
  while (bytes) {
    const uint64_t number = offset >> ShadowPage::kShift, inPage = offset & (ShadowPage::kBytes - 1);
    const uint64_t here = std::min(bytes, ShadowPage::kBytes - inPage);
    if (number >= pages.size()) pages.resize(number + 1);
    if (!pages[number]) pages[number] = std::make_unique<ShadowPage>();
    pages[number]->eachCell(inPage, here, [&](ShadowCell& cell, uint64_t at, uint64_t size) {
      lookAt(now, lane, cell, host + (at - inPage), size);
    });
    offset += here;
    host += here;
    bytes -= here;
  }
}

void RaceCheck::lookAtGlobal(Accessing& now, int lane, std::byte* host, uint64_t bytes) {
  while (bytes) {
    const uint64_t address = reinterpret_cast<uint64_t>(host), inPage = address & (ShadowPage::kBytes - 1);
    const uint64_t here = std::min(bytes, ShadowPage::kBytes - inPage);
    ShadowPage* page = global_.pageAt(address, now.own.recentRange);
    now.lock(page);
    if (page)
      page->eachCell(inPage, here, [&](ShadowCell& cell, uint64_t at, uint64_t size) {
        lookAt(now, lane, cell, host + (at - inPage), size);
      });
    host += here;
    bytes -= here;
  }
  // Whoever finds this write in the shadow compares with what it wrote. Other threads of the host may do so at once, so the value is
  // there before the page is given back: it lies in that page alone, since accesses are aligned. A debugger has one thread, and
  // wants to see what was there before.
  if (now.access.write && now.locked && !now.warp.cta->cluster->grid->keeper)
    now.access.write(*now.inst, now.warp, LaneMask(1) << lane, now.host);
}

bool RaceCheck::isOrdered(Accessing& now, int lane, Stamp other) const {
  const uint32_t warp = layout_.warp(other);
  const int otherLane = StampLayout::lane(other);
  if (agents_.has(warp)) return isDone(now, lane, other);
  if (warp == now.own.order.number() && otherLane == lane) return true;
  return now.known(lane, warp).of(otherLane) >= layout_.time(other);
}

bool RaceCheck::isFine(Accessing& now, int lane, Stamp other) const {
  if (isStrong(other) && isStrong(now.stamp)) {
    const bool bothWide =
        StampLayout::strength(other) == Strength::Wide && StampLayout::strength(now.stamp) == Strength::Wide;
    if (bothWide || layout_.warp(other) / warpsOfCta_ == now.own.order.cta()) return true;
  }
  return isOrdered(now, lane, other);
}

void RaceCheck::lookAt(Accessing& now, int lane, ShadowCell& cell, std::byte* host, uint64_t bytes) {
  const Stamp stamp = StampLayout::withLane(now.stamp, lane);
  if (cell.write && cell.write != stamp && !isFine(now, lane, cell.write))
    conflict(now, lane, cell.write, true, host, bytes);
  if (now.writes) {
    for (const Stamp read : cell.reads)
      if (read && !isFine(now, lane, read)) conflict(now, lane, read, false, host, bytes);
    // Behind a thread's plain write its atomic one says less: whoever is ordered to one of them is to the other.
    const bool keeps =
        isStrong(stamp) && cell.write && !isStrong(cell.write) && layout_.isSameMoment(cell.write, stamp);
    cell = {keeps ? cell.write : stamp, {0, 0}};
    return;
  }
  // Threads that nothing orders are remembered side by side; the latest one takes the second place.
  for (Stamp& read : cell.reads)
    if (!read || read == stamp || isOrdered(now, lane, read) || isLaterOfAgent(read, stamp)) {
      read = stamp;
      return;
    }
  cell.reads[1] = stamp;
}

/// Two threads meet without order. Writes of the same value are none of that: by lanes of one store, or one after the other.
void RaceCheck::conflict(Accessing& now, int lane, Stamp other, bool otherWrote, std::byte* host, uint64_t bytes) {
  const int otherLane = StampLayout::lane(other);
  const bool isSameStore = otherWrote && now.writes && other == StampLayout::withLane(now.stamp, otherLane) &&
                           now.active >> otherLane & 1 && host >= now.host[otherLane] &&
                           host + bytes <= now.host[otherLane] + now.bytes;
  if (isSameStore && writeTheSame(now.warp, *now.inst, now.bytes, lane, uint64_t(host - now.host[lane]), otherLane,
                                  uint64_t(host - now.host[otherLane]), bytes))
    return;
  const uint32_t warp = layout_.warp(other);
  const bool isAgent = agents_.has(warp);
  const RaceReport race{.warp = &now.warp,
                        .inst = now.inst,
                        .lane = lane,
                        .kind = now.access.kind,
                        .otherPlace = layout_.place(other),
                        .otherCta = isAgent ? agents_.cta(warp) : warp / warpsOfCta_,
                        .otherWarp = isAgent ? agents_.warp(warp) : uint32_t(warp % warpsOfCta_),
                        .otherAgent = isAgent ? std::optional(agents_.kind(warp)) : std::nullopt,
                        .otherLane = otherLane,
                        .otherWrote = otherWrote,
                        .isSameStore = isSameStore,
                        .host = host};
  if (otherWrote && now.access.kind == AccessKind::Write && !now.isDone && !isSameStore && !isAgent) {
    PendingWrite& write = now.cluster.writes.emplace_back(race);
    write.bytes = std::min<uint64_t>(bytes, write.before.size());
    std::memcpy(write.before.data(), host, write.bytes);
  } else {
    reportRace(places_, now.cluster.seen, race);
  }
}

namespace {

/// Says that nothing was looked for.
class TooLargeForRaces final : public Observer {
public:
  explicit TooLargeForRaces(Grid& grid) { reportNoRaceCheck(grid); }
};

} // namespace

std::unique_ptr<Observer> makeRaceCheck(Grid& grid) {
  if (!RaceCheck::fits(grid)) return std::make_unique<TooLargeForRaces>(grid);
  return std::make_unique<RaceCheck>(grid);
}

} // namespace tiletwin::sim
