#include "sim/check/TensorCheck.h"
#include "sim/check/AsyncHistory.h"
#include "sim/check/Report.h"
#include "sim/isa/Async.h"
#include <algorithm>

namespace tiletwin::sim {
namespace {

/// AsyncHistory::Report's third part, behind those of AsyncMistake, ProductMistake and ends of CTAs.
enum class TensorMistake : uint32_t {
  OnItsWay = 300,
  StillRead,
  Unwaited,
  StillLoaded,
  Unwritten,
  NotFreed,
  WorkAtEnd
};

constexpr const char* kWait =
    "commit it (tcgen05.commit), wait for the phase of the mbarrier that hears of it, and run "
    "tcgen05.fence::after_thread_sync";

std::string verbOf(TensorUse use) {
  switch (use) {
  case TensorUse::Load:
  case TensorUse::ProductReads: return "reads";
  case TensorUse::Free: return "gives back";
  default: return "writes";
  }
}

/// Another place that a finding names.
struct Other {
  const Warp* warp = nullptr;
  const Inst* inst = nullptr;
  LaneMask lanes = kAllLanes;
  std::string text;
};

void reportTensor(Warp& warp, const Inst* at, LaneMask lanes, TensorMistake mistake, Check check, std::string message,
                  const TensorRange& range, std::string advice, const Other& other = {}) {
  AsyncHistory* history = warp.cta->async ? warp.cta->async->history.get() : nullptr;
  if (!history || !history->isNew({at, other.inst, uint32_t(mistake), warp.cta->rank})) return;
  Grid& grid = *warp.cta->cluster->grid;
  Finding finding = findingOf(check, {&warp, at, lanes}, std::move(message), std::move(advice));
  finding.detail = ", lane " + std::to_string(range.lane) + ", column " + std::to_string(range.column);
  if (other.inst) addSecond(finding, *grid.program, {other.warp, other.inst, other.lanes}, other.text);
  report(grid, std::move(finding));
}

bool meetsAny(const std::vector<TensorRange>& ranges, const TensorRange& range) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const TensorRange& r) { return r.meets(range); });
}

/// Products and copies that will write the cells, or read them as A. Those of one thread are in order among themselves.
void lookAtWork(Warp& warp, const Cta& cta, const TensorRange& range, TensorUse use) {
  for (const Cta& issuer : cta.cluster->ctas) {
    if (!issuer.tensor) continue;
    for (const TensorWork& work : issuer.tensor->work) {
      if (work.ctas[0] != &cta && work.ctas[1] != &cta) continue;
      const Other other{work.warp, work.origin.inst, LaneMask(1) << work.origin.lane, "is on its way"};
      const std::string who = work.product ? "a tcgen05.mma" : "a tcgen05.cp";
      if (meetsAny(work.written(), range))
        reportTensor(warp, warp.at, kAllLanes, TensorMistake::OnItsWay, Check::Async,
                     verbOf(use) + " tensor memory that " + who +
                         " on its way is going to write: nobody has waited for it yet",
                     range, kWait, other);
      else if (use != TensorUse::Load && meetsAny(work.read(), range))
        reportTensor(warp, warp.at, kAllLanes, TensorMistake::StillRead, Check::Async,
                     verbOf(use) + " tensor memory that " + who + " on its way is going to read", range, kWait, other);
    }
  }
}

/// Stores in front of reads, and loads in front of writes, that their warp has not waited for.
void lookAtTransfers(Warp& warp, const TensorMemory& memory, const TensorRange& range, TensorUse use) {
  if (use != TensorUse::Free)
    for (const TensorMemory::Access& store : memory.stores)
      if (store.range.meets(range) && (use != TensorUse::Store || store.warp != &warp))
        reportTensor(warp, warp.at, kAllLanes, TensorMistake::Unwaited, Check::Async,
                     verbOf(use) + " tensor memory that a tcgen05.st has written and its warp has not waited for",
                     range,
                     "run tcgen05.wait::st.sync.aligned in the warp that stores, then synchronise with the others",
                     {store.warp, store.inst, kAllLanes, "has stored it"});
  if (use == TensorUse::Load) return;
  for (const TensorMemory::Access& load : memory.loads)
    if (load.range.meets(range))
      reportTensor(warp, warp.at, kAllLanes, TensorMistake::StillLoaded, Check::Async,
                   verbOf(use) + " tensor memory that a tcgen05.ld reads whose warp has not waited for it", range,
                   "run tcgen05.wait::ld.sync.aligned in the warp that loads, then synchronise with the others",
                   {load.warp, load.inst, kAllLanes, "loads it"});
}

} // namespace

void checkTensorCells(Warp& warp, Cta& cta, const TensorRange& range, TensorUse use) {
  if (!cta.async || !cta.async->history) return;
  const TensorMemory& memory = tensorMemoryOf(cta);
  const bool isProduct = use == TensorUse::ProductReads || use == TensorUse::ProductWrites;
  if (!isProduct) lookAtWork(warp, cta, range, use);
  lookAtTransfers(warp, memory, range, use);
  const bool reads = use == TensorUse::Load || use == TensorUse::ProductReads;
  if (reads && cta.cluster->grid->params->checks.uninitialized && !memory.isWritten(range))
    reportTensor(warp, warp.at, kAllLanes, TensorMistake::Unwritten, Check::Uninitialized,
                 "reads tensor memory that nobody has written", range,
                 "store to it (tcgen05.st), or let the first product not add to D");
}

void endTensorMemory(Cta& cta) {
  for (const TensorWork& work : cta.tensor->work)
    reportTensor(*work.warp, work.origin.inst, LaneMask(1) << work.origin.lane, TensorMistake::WorkAtEnd, Check::Async,
                 "is on its way when its CTA ends: nobody has waited for it", {}, kWait);
  for (const TensorMemory::Allocation& a : cta.tensor->allocations)
    reportTensor(*const_cast<Warp*>(a.warp), a.inst, kAllLanes, TensorMistake::NotFreed, Check::Async,
                 "allocates " + std::to_string(a.columns) + " columns of tensor memory that nobody gives back",
                 {0, kTensorLanes, a.first, a.columns},
                 "run tcgen05.dealloc before the CTA ends: other CTAs wait for them");
}

} // namespace tiletwin::sim
