#include "sim/check/AsyncCheck.h"
#include "sim/check/AsyncReport.h"
#include "sim/isa/Async.h"
#include "sim/isa/CpAsync.h"
#include "sim/isa/TensorWork.h"
#include "sim/isa/Wgmma.h"
#include "sim/machine/Program.h"
#include <utility>

namespace tiletwin::sim {
namespace {

using Use = SharedInFlight::Use;

/// The CTA that a byte of shared memory belongs to, and where it lies there; null: it is no shared memory of the cluster.
std::pair<Cta*, uint64_t> sharedPlace(Cta& own, const std::byte* host) {
  const auto offsetIn = [&](const Cta& cta) { return uint64_t(host - cta.shared.data()); };
  if (offsetIn(own) < own.shared.size()) return {&own, offsetIn(own)};
  Cta* owner = own.cluster->ctas.size() > 1 ? ownerOf(*own.cluster, host) : nullptr;
  return {owner, owner ? offsetIn(*owner) : 0};
}

/// The first mistake of each kind in one access, with the lanes that make it.
class Mistakes {
public:
  Mistakes(AsyncHistory& history, Warp& warp, bool isWrite) : history_(history), warp_(warp), isWrite_(isWrite) {}
  ~Mistakes() {
    for (const AsyncAccess& access : found_)
      if (access.lanes) reportAsync(history_, access);
  }
  Mistakes(const Mistakes&) = delete;
  Mistakes& operator=(const Mistakes&) = delete;

  bool isWanted(AsyncMistake mistake) const { return !history_.isKnown(warp_.at, uint32_t(mistake), warp_.cta->rank); }
  /// Nothing if there is no other operation.
  void add(AsyncMistake mistake, int lane, Cta* cta, uint64_t offset, const AsyncOther& other) {
    if (!other) return;
    AsyncAccess& access = found_[size_t(mistake)];
    if (!access.lanes) access = {mistake, &warp_, 0, isWrite_, cta, offset, other};
    access.lanes |= LaneMask(1) << lane;
  }
  bool has(AsyncMistake mistake) const { return found_[size_t(mistake)].lanes != 0; }

private:
  std::array<AsyncAccess, 5> found_;
  AsyncHistory& history_;
  Warp& warp_;
  const bool isWrite_;
};

AsyncHistory& historyOf(const Warp& warp) { return *warp.cta->async->history; }

/// Do products on their way read near these bytes?
bool productsAreNear(const Cta& cta, uint64_t offset, uint64_t bytes) {
  if (!cta.async->products) return false;
  for (const Warp& warp : cta.warps)
    if (warp.products)
      for (const WarpProducts::Product& product : warp.products->pending)
        if (product.isNear(offset, bytes)) return true;
  return tensorReader(cta, offset, bytes) != nullptr;
}

/// What may be wrong with an access to some bytes of shared memory.
struct Doubts {
  bool writers = false, readers = false, landed = false;
  explicit operator bool() const { return writers || readers || landed; }
};

/// Of the generic proxy.
Doubts doubtsOf(const Warp& warp, const Cta& cta, uint64_t offset, uint64_t bytes, bool isWrite) {
  const SharedInFlight& inFlight = cta.async->inFlight;
  return {.writers = inFlight.any(Use::Written, offset, bytes),
          .readers = isWrite && (inFlight.any(Use::Read, offset, bytes) || productsAreNear(cta, offset, bytes)),
          .landed = !historyOf(warp).knowsLanded(warp, cta, offset, bytes)};
}

/// A write of either proxy to bytes that copies or products are going to read.
void lookAtReaders(int lane, Cta& cta, uint64_t offset, uint64_t bytes, Mistakes& mistakes) {
  if (!cta.async->inFlight.any(Use::Read, offset, bytes) && !productsAreNear(cta, offset, bytes)) return;
  if (mistakes.isWanted(AsyncMistake::StillRead))
    mistakes.add(AsyncMistake::StillRead, lane, &cta, offset, findOnItsWay(cta, Use::Read, offset, bytes));
}

/// An access of either proxy to bytes that copies will write.
void lookAtWriters(int lane, Cta& cta, uint64_t offset, uint64_t bytes, Mistakes& mistakes) {
  if (cta.async->inFlight.any(Use::Written, offset, bytes) && mistakes.isWanted(AsyncMistake::OnItsWay))
    mistakes.add(AsyncMistake::OnItsWay, lane, &cta, offset, findOnItsWay(cta, Use::Written, offset, bytes));
}

/// Bytes that copies have written, unless some are on their way again.
void lookAtLanded(Warp& warp, int lane, Cta& cta, uint64_t offset, uint64_t bytes, Mistakes& mistakes) {
  if (mistakes.has(AsyncMistake::OnItsWay) || !mistakes.isWanted(AsyncMistake::Unseen)) return;
  AsyncHistory& history = historyOf(warp);
  for (const AsyncHistory::Word& word : history.words(cta, offset, bytes))
    if (!history.isSeen(word.landed, warp, lane))
      return mistakes.add(AsyncMistake::Unseen, lane, &cta, offset, whoMade(history, *cta.cluster, word.landed));
}

void lookAtLane(Warp& warp, int lane, Cta& cta, uint64_t offset, uint64_t bytes, Doubts doubts, Mistakes& mistakes) {
  if (doubts.writers) lookAtWriters(lane, cta, offset, bytes, mistakes);
  if (doubts.readers) lookAtReaders(lane, cta, offset, bytes, mistakes);
  if (doubts.landed) lookAtLanded(warp, lane, cta, offset, bytes, mistakes);
}

class AsyncCheck final : public Observer {
public:
  explicit AsyncCheck(const Program& program) : hasAsyncReads_(program.hasAsyncReads) {}

  bool wantsUnits() const override { return false; } // checkAsyncRead() is called for them
  void begins(Cta& cta) override {
    Cta& first = cta.cluster->ctas.front();
    CtaAsync& async = asyncOf(cta);
    async.history = &cta == &first ? std::make_shared<AsyncHistory>() : asyncOf(first).history;
    async.history->add(cta);
  }

  void access(Warp& warp, const Access& access, LaneMask active, const uint64_t* addresses,
              std::byte* const* host) override;
  void block(Warp& warp, const Access& access, int lane, uint64_t address, std::byte* host, uint64_t bytes) override;

  void waited(Warp& warp, LaneMask, const void*, Semantics) override { historyOf(warp).synchronise(warp); }
  void meets(Warp& warp, LaneMask) override { historyOf(warp).synchronise(warp); }
  void fence(Warp& warp, LaneMask active, Proxy proxy, Semantics, Scope) override {
    if (proxy == Proxy::Async) {
      historyOf(warp).fence(warp, active);
    } else {
      historyOf(warp).synchronise(warp);
    }
  }
  void lands(Cta* owner, Warp* waiter, int lane, const Inst& issued, std::byte* to, uint64_t bytes) override;

private:
  void noteWrite(Warp& warp, const Access& access, LaneMask active, std::byte* const* host) const;

  const bool hasAsyncReads_; ///< whether it matters who has written to shared memory
};

/// True if the access shows its thread what others have done: it may be how the thread waits for them.
bool acquires(const Access& access) {
  if (access.kind == AccessKind::Write) return false;
  return access.semantics != Semantics::Release &&
         (access.kind == AccessKind::Atomic || access.semantics != Semantics::Weak);
}

/// Of all lanes of an access together, if they are in the CTA's own shared memory; else everything.
Doubts doubtsOf(const Warp& warp, const Access& access, LaneMask active, std::byte* const* host) {
  const Cta& cta = *warp.cta;
  const bool isWrite = access.kind != AccessKind::Read;
  uint64_t low = ~uint64_t(0), high = 0;
  eachLane(active, [&](int lane) {
    const uint64_t offset = uint64_t(host[lane] - cta.shared.data());
    low = std::min(low, offset);
    high = std::max(high, offset);
  });
  if (access.space != Space::Shared || high >= cta.shared.size()) return {true, isWrite, true};
  return doubtsOf(warp, cta, low, high - low + access.bytes, isWrite);
}

void AsyncCheck::noteWrite(Warp& warp, const Access& access, LaneMask active, std::byte* const* host) const {
  if (!hasAsyncReads_ || access.kind == AccessKind::Read || access.isLate) return;
  AsyncHistory& history = historyOf(warp);
  AsyncStamp now = history.stamp(0, warp.at);
  history.writes(warp, now);
  eachLane(active, [&](int lane) {
    const auto [cta, offset] = sharedPlace(*warp.cta, host[lane]);
    now.thread = AsyncHistory::threadOf(warp, lane);
    if (cta) history.wrote(*cta, offset, access.bytes, now);
  });
}

void AsyncCheck::access(Warp& warp, const Access& access, LaneMask active, const uint64_t* addresses,
                        std::byte* const* host) {
  if (access.proxy != Proxy::Generic || access.space == Space::Local || access.space == Space::Param ||
      access.space == Space::Const)
    return;
  Cta& own = *warp.cta;
  if (access.space == Space::Global && !own.async->globalWrites && !acquires(access)) return;
  AsyncHistory& history = historyOf(warp);
  if (acquires(access)) history.synchronise(warp);
  if (const Doubts doubts = doubtsOf(warp, access, active, host)) {
    Mistakes mistakes(history, warp, access.kind != AccessKind::Read);
    eachLane(active, [&](int lane) {
      const auto [cta, offset] = sharedPlace(own, host[lane]);
      if (cta)
        lookAtLane(warp, lane, *cta, offset, access.bytes, doubts, mistakes);
      else if (own.async->globalWrites && mistakes.isWanted(AsyncMistake::GlobalOnItsWay))
        mistakes.add(AsyncMistake::GlobalOnItsWay, lane, nullptr, addresses[lane],
                     findGlobalWriter(own, addresses[lane], access.bytes));
    });
  }
  if (access.space != Space::Global) noteWrite(warp, access, active, host);
}

void AsyncCheck::block(Warp& warp, const Access& access, int lane, uint64_t, std::byte* host, uint64_t bytes) {
  if (access.proxy == Proxy::Tensormap) return;
  const auto [cta, offset] = sharedPlace(*warp.cta, host);
  if (!cta) return;
  const bool isWrite = access.kind != AccessKind::Read;
  if (access.proxy == Proxy::Async && !isWrite) {
    if (!mayAsyncRead(warp, *cta, offset, bytes)) checkAsyncRead(warp, lane, *cta, offset, bytes);
    return;
  }
  AsyncHistory& history = historyOf(warp);
  Mistakes mistakes(history, warp, isWrite);
  if (access.proxy == Proxy::Generic) {
    lookAtLane(warp, lane, *cta, offset, bytes, doubtsOf(warp, *cta, offset, bytes, isWrite), mistakes);
    if (!isWrite || !hasAsyncReads_) return;
    const AsyncStamp now = history.stamp(AsyncHistory::threadOf(warp, lane), warp.at);
    history.writes(warp, now);
    history.wrote(*cta, offset, bytes, now);
  } else if (access.kind == AccessKind::Write) { // reductions and mbarriers may be on their way together
    lookAtWriters(lane, *cta, offset, bytes, mistakes);
    lookAtReaders(lane, *cta, offset, bytes, mistakes);
  }
}

void AsyncCheck::lands(Cta* owner, Warp* waiter, int lane, const Inst& issued, std::byte* to, uint64_t bytes) {
  if (!owner) return;
  AsyncHistory& history = *owner->async->history;
  const AsyncStamp now = history.stamp(waiter ? AsyncHistory::threadOf(*waiter, lane) : AsyncHistory::kNobody, &issued);
  // cp.async writes in the generic proxy. Whose mbarrier hears of it does not say which thread that was: it counts as fenced.
  const bool isGeneric = hasAsyncReads_ && waiter && isCpAsync(issued);
  if (isGeneric) history.writes(*waiter, now);
  history.landed(*owner, uint64_t(to - owner->shared.data()), bytes, now, isGeneric);
}

} // namespace

bool mayAsyncRead(Warp& warp, const Cta& cta, uint64_t offset, uint64_t bytes) {
  AsyncHistory& history = historyOf(warp);
  return !cta.async->inFlight.any(Use::Written, offset, bytes) && history.knowsLanded(warp, cta, offset, bytes) &&
         history.knowsFenced(warp, cta, offset, bytes);
}

void checkAsyncRead(Warp& warp, int lane, Cta& cta, uint64_t offset, uint64_t bytes) {
  AsyncHistory& history = historyOf(warp);
  Mistakes mistakes(history, warp, false);
  lookAtWriters(lane, cta, offset, bytes, mistakes);
  if (mistakes.has(AsyncMistake::OnItsWay)) return;
  lookAtLanded(warp, lane, cta, offset, bytes, mistakes);
  if (!mistakes.isWanted(AsyncMistake::Unfenced)) return;
  AsyncStamp fenced; // words that one instruction of one thread wrote are alike
  uint64_t at = offset / 4 * 4;
  for (const AsyncHistory::Word& word : history.words(cta, offset, bytes)) {
    if (word.written && (word.written.time != fenced.time || word.written.thread != fenced.thread)) {
      if (!history.isFenced(word.written, warp))
        return mistakes.add(AsyncMistake::Unfenced, lane, &cta, at, whoMade(history, *cta.cluster, word.written));
      fenced = word.written;
    }
    at += 4;
  }
}

void checkEnd(Cta& cta) {
  AsyncHistory& history = *cta.async->history;
  for (const Warp& warp : cta.warps)
    if (warp.async)
      for (const WarpAsync::Grouped& entry : warp.async->bulk)
        if (entry.copy.bytes && entry.copy.read == &cta && entry.copy.staged.empty())
          reportAtEnd(history, cta, entry.copy.origin, false);
  for (const MbarrierSignal& signal : cta.async->signals)
    if (signal.copy.bytes && signal.copy.written == &cta) reportAtEnd(history, cta, signal.copy.origin, true);
}

std::unique_ptr<Observer> makeAsyncCheck(Grid& grid) {
  if (!grid.program->hasAsync) return nullptr;
  return std::make_unique<AsyncCheck>(*grid.program);
}

} // namespace tiletwin::sim
