// sim/check/AsyncReport.h -- the mistakes that AsyncCheck finds, as findings.
// Not here:  finding them (AsyncCheck.cpp).
#pragma once
#include "sim/check/AsyncHistory.h"
#include "sim/check/Report.h"
#include "sim/isa/Async.h"

namespace tiletwin::sim {

/// What an access to memory can have done too early.
enum class AsyncMistake : uint8_t {
  OnItsWay,       ///< a copy will write these bytes of shared memory
  StillRead,      ///< a copy or a product will read them, and they are written now
  Unseen,         ///< another thread's copy has written them, and nothing puts it in front of this access
  Unfenced,       ///< the async proxy reads what the generic proxy has written
  GlobalOnItsWay, ///< a bulk copy will write these bytes of global memory
};

/// The operation that an access does not fit to.
struct AsyncOther {
  enum class Kind : uint8_t { LaneCopy, BulkLoad, BulkStore, Product, TensorWork, Write };
  ThreadsAt who; ///< inst null: there is none
  Kind kind = Kind::Write;
  explicit operator bool() const { return who.inst; }
};

/// What is on its way and will write, or is going to read, these bytes of a CTA's shared memory.
AsyncOther findOnItsWay(Cta& cta, SharedInFlight::Use use, uint64_t offset, uint64_t bytes);
/// The bulk copy of a CTA's threads that will write these bytes of global memory.
AsyncOther findGlobalWriter(Cta& cta, uint64_t address, uint64_t bytes);
/// Who made a stamp. Of copies that an mbarrier heard of that is not known.
AsyncOther whoMade(const AsyncHistory& history, Cluster& cluster, AsyncStamp stamp);

/// One access of some lanes, and the first byte that is wrong.
struct AsyncAccess {
  AsyncMistake mistake = AsyncMistake::OnItsWay;
  Warp* warp = nullptr;
  LaneMask lanes = 0;
  bool isWrite = false;
  Cta* cta = nullptr;  ///< whose shared memory it is; null: global memory
  uint64_t offset = 0; ///< in it, or the global address
  AsyncOther other;
};

/// A CTA ends while a bulk or tensor copy is on its way that reads its shared memory, or (`writes`) writes it. Not if more has been said of
/// the copy already.
void reportAtEnd(AsyncHistory& history, const Cta& cta, const AsyncOrigin& origin, bool writes);
/// Reports it, once for each pair of instructions and CTA.
void reportAsync(AsyncHistory& history, const AsyncAccess& access);

} // namespace tiletwin::sim
