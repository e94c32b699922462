#include "sim/check/BarrierCheck.h"
#include "sim/check/Report.h"
#include "sim/isa/WaitText.h"
#include "sim/machine/Fragments.h"
#include <algorithm>

namespace tiletwin::sim {
namespace {

bool isWanted(const Cta& cta) {
  const LaunchParams& params = *cta.cluster->grid->params;
  return params.checks.barriers && params.findings;
}

/// Does what stands here lead to the end of the kernel, without anything on the way?
bool leadsToExit(const Frame& frame, const Inst* at) {
  constexpr int kSteps = 16;
  const Inst* const code = frame.code->code.data();
  for (int i = 0; i < kSteps; ++i) {
    if (at->guard) return false;
    if (at->flow == Flow::Exit) return true;
    if (at->flow == Flow::Return) return !frame.caller;
    if (at->flow != Flow::Branch) return false;
    at = code + at->immediate;
  }
  return false;
}

/// Lanes that do nothing but exit from where they stand.
LaneMask lanesThatLeave(const Warp& warp) {
  LaneMask lanes = 0;
  for (const Fragment& fragment : warp.fragments->list)
    if (!fragment.asleep && leadsToExit(*fragment.frame, fragment.next)) lanes |= fragment.lanes;
  for (const Join& join : warp.fragments->joins)
    if (join.arrived && leadsToExit(*join.frame, join.at)) lanes |= join.arrived;
  return lanes;
}

PartedBarrier* partedAt(Cta& cta, const Warp& warp, const Inst* at) {
  for (PartedBarrier& parted : cta.parted)
    if (parted.warp == &warp && parted.at == at) return &parted;
  return nullptr;
}

constexpr const char* kAligned =
    "an aligned barrier is for whole warps: let all lanes of a warp come to it, or use barrier.sync without .aligned";

void reportParted(const PartedBarrier& parted) {
  report(*parted.warp->cta->cluster->grid,
         findingOf(Check::Barriers, {parted.warp, parted.at, parted.lanes},
                   "is a barrier that only part of the warp has come to: the other lanes ended without it", kAligned));
}

/// Lanes of one warp wait at two aligned barriers: neither of them can be completed.
void reportTwoPlaces(Warp& warp, LaneMask here, const PartedBarrier& other) {
  Grid& grid = *warp.cta->cluster->grid;
  Finding finding =
      findingOf(Check::Barriers, {&warp, warp.at, here},
                "is a barrier that part of the warp waits at while other lanes wait at another one", kAligned);
  addSecond(finding, *grid.program, {other.warp, other.at, other.lanes}, "waits there");
  report(grid, std::move(finding));
}

} // namespace

void partedAtBarrier(Warp& warp, LaneMask here) {
  Cta& cta = *warp.cta;
  if (!isWanted(cta)) return;
  if (PartedBarrier* known = partedAt(cta, warp, warp.at)) {
    known->lanes |= here;
    return;
  }
  for (const PartedBarrier& other : cta.parted)
    if (other.warp == &warp && other.lanes & warp.live & ~here) reportTwoPlaces(warp, here, other);
  cta.parted.push_back({&warp, warp.at, here, lanesThatLeave(warp) & ~here});
}

void metAtBarrier(Warp& warp) {
  std::erase_if(warp.cta->parted,
                [&](const PartedBarrier& parted) { return parted.warp == &warp && parted.at == warp.at; });
}

void leftBarrier(Cta& cta, Warp& warp, LaneMask lanes) {
  std::erase_if(cta.parted, [&](const PartedBarrier& parted) {
    if (parted.warp != &warp || !(lanes & ~parted.leaving & ~parted.lanes)) return false;
    reportParted(parted);
    return true;
  });
}

void reportCounts(Warp& warp, LaneMask lanes, uint32_t id, uint32_t threads, const Barrier& barrier) {
  if (!isWanted(*warp.cta)) return;
  const auto text = [](uint32_t n) { return n ? std::to_string(n) : std::string("all"); };
  Grid& grid = *warp.cta->cluster->grid;
  Finding finding = findingOf(Check::Barriers, {&warp, warp.at, lanes},
                              "expects " + text(threads) + " threads at barrier " + std::to_string(id) +
                                  ", where others wait for " + text(barrier.expected),
                              "let all threads that meet at a barrier name the same number");
  const BarrierArrival& other = barrier.arrivals.front();
  addSecond(finding, *grid.program, {other.warp, other.at, other.arrived}, "expects " + text(barrier.expected));
  report(grid, std::move(finding));
}

void reportUnawaited(Warp& warp, LaneMask lanes, uint32_t id, const Barrier& barrier) {
  if (!isWanted(*warp.cta)) return;
  Grid& grid = *warp.cta->cluster->grid;
  Finding finding = findingOf(Check::Barriers, {&warp, warp.at, lanes},
                              "completes a phase of barrier " + std::to_string(id) + " that nobody waits for",
                              "let those that this barrier holds back come with sync, once for each phase");
  const BarrierArrival& other = barrier.arrivals.front();
  addSecond(finding, *grid.program, {other.warp, other.at, other.arrived}, "has come with arrive, too");
  report(grid, std::move(finding));
}

void reportMbarrier(Warp& warp, int lane, const std::string& message, const MbarrierOrigin* made) {
  if (!isWanted(*warp.cta)) return;
  Grid& grid = *warp.cta->cluster->grid;
  Finding finding = findingOf(Check::Barriers, {&warp, warp.at, lane < 0 ? 0 : LaneMask(1) << lane}, message);
  if (made)
    addSecond(finding, *grid.program, {made->warp, made->inst, LaneMask(1) << made->lane}, "has initialised it");
  report(grid, std::move(finding));
}

void initialisedAgain(Warp& warp, int lane, Cta& owner, const MbarrierOrigin& made) {
  if (!isWanted(owner)) return;
  const auto& signals = owner.async->signals;
  const bool isSignalled =
      std::any_of(signals.begin(), signals.end(), [&](const MbarrierSignal& s) { return s.barrier == made.at; });
  const Warp* waiting = nullptr;
  for (Cta& cta : owner.cluster->ctas)
    for (Warp& other : cta.warps)
      if (waitsForMbarrier(other, made.at)) waiting = &other;
  reportMbarrier(warp, lane,
                 waiting       ? "initialises an mbarrier that threads wait for"
                 : isSignalled ? "initialises an mbarrier that copies on their way are going to signal"
                               : "initialises an mbarrier that is one already; mbarrier.inval has to end it first",
                 &made);
}

} // namespace tiletwin::sim
