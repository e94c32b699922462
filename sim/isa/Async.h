// sim/isa/Async.h -- copies on their way: cp.async, bulk and tensor copies, and the mbarriers that they signal.
//
// Here:      the queues of a warp and of a CTA, and the functions that make their entries land.
// Not here:  instructions that fill them (CpAsync.cpp, Bulk.cpp, Tma.cpp), mbarrier instructions (Mbarrier.cpp), how a tile is laid
//            out in shared memory (TensorCopy.h).
// Idea:      by default everything lands at the latest possible moment, and reads its source then: groups when a thread waits for them, copies
//            that signal an mbarrier when somebody asks for its phase and nothing but copies is missing. A kernel that looks at a
//            result without waiting sees what was there before, every time. A schedule may let copies land earlier, at a turn of
//            their cluster that is known when they are issued (AsyncOrigin::due).
//            While a check looks on, words of shared memory that a copy will write or read are marked as long as it is on its
//            way, so that the check can ask about each access; every entry knows who issued it and when.
// Invariant: a cluster runs on one thread, so nothing here is locked. Groups of a thread land in the order of their numbers.
#pragma once
#include "sim/isa/TensorCopy.h"
#include "sim/machine/Cta.h"
#include "sim/machine/Memory.h"
#include "sim/machine/Warp.h"
#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace tiletwin::sim {

struct AsyncHistory; // check/AsyncHistory.h: what the check of asynchronous operations remembers

/// Who issued a copy, and when: for reports.
struct AsyncOrigin {
  const Warp* warp = nullptr;
  int lane = -1;
  const Inst* inst = nullptr;
  uint64_t order = 0;       ///< in the CTA's asynchronous operations and proxy fences
  uint64_t proxyFence = 0;  ///< order of the issuing thread's last fence.proxy.async; 0: it had none
  uint64_t due = kNeverDue; ///< the cluster's turn at which it lands, waited for or not
};

/// Words of one CTA's shared memory that copies on their way will write or read.
class SharedInFlight {
public:
  enum class Use : uint8_t { Written, Read };
  void mark(Use use, uint64_t offset, uint64_t bytes) { change(use, offset, bytes, 1); }
  void unmark(Use use, uint64_t offset, uint64_t bytes) { change(use, offset, bytes, -1); }
  /// True if a word of the range is on its way.
  bool any(Use use, uint64_t offset, uint64_t bytes) const {
    const Marks& marks = marks_[size_t(use)];
    if (marks.copies == 0) return false;
    const uint64_t end = std::min<uint64_t>((offset + bytes + kWord - 1) / kWord, marks.words.size());
    int any = 0;
    for (uint64_t i = offset / kWord; i < end; ++i) any |= marks.words[i];
    return any != 0;
  }

private:
  static constexpr uint64_t kWord = 4;
  struct Marks {
    int64_t copies = 0;
    std::vector<int16_t> words; ///< copies under way over each; as long as was needed so far
  };
  void change(Use use, uint64_t offset, uint64_t bytes, int16_t by) {
    Marks& marks = marks_[size_t(use)];
    const uint64_t first = offset / kWord, end = (offset + bytes + kWord - 1) / kWord;
    if (end > marks.words.size()) marks.words.resize(end);
    marks.copies += by;
    if (end - first == 1) { // often, for the copies of threads
      marks.words[first] = int16_t(marks.words[first] + by);
      return;
    }
    for (uint64_t i = first; i < end; ++i) marks.words[i] = int16_t(marks.words[i] + by);
  }
  std::array<Marks, 2> marks_;
};

/// One bulk copy: from one place to another, or between a tile and a tensor in global memory.
struct BulkCopy {
  AsyncOrigin origin;
  std::byte* to = nullptr; ///< of tiles only the end in shared memory is set, here or in `from`
  const std::byte* from = nullptr;
  uint64_t bytes = 0;              ///< of shared memory, swizzle spans included; 0: nothing to copy
  ReduceElements reduce = nullptr; ///< null: a copy
  uint32_t elementBytes = 1;       ///< of a reduction
  std::optional<TensorTile> tile;
  Cta* written = nullptr;        ///< whose shared memory is written; null: global memory is
  Cta* read = nullptr;           ///< whose shared memory is read; null: global memory is
  std::vector<std::byte> staged; ///< the source, once it has been read ahead of the landing
  /// Will it write one of these bytes of global memory?
  bool writesGlobal(uint64_t address, uint64_t accessed) const;
};

/// What a CTA's mbarrier is still going to hear of: bytes of a copy, or the arrival of a thread whose cp.async are done.
struct MbarrierSignal {
  const std::byte* barrier = nullptr;
  BulkCopy copy;
  uint32_t bytes = 0;   ///< to complete
  Warp* warp = nullptr; ///< whose lane arrives; null: none
  int lane = -1;
  uint32_t upTo = 0;         ///< so many cp.async operations of the lane have to be done before ...
  bool isTensorWork = false; ///< ... or, of tcgen05.commit, what it has issued of tcgen05 before this number
};

/// cp.async of one warp instruction.
struct LaneCopies {
  AsyncOrigin origin;         ///< its lane is that of the first one
  LaneMask pending = 0;       ///< lanes whose copy has not landed
  uint8_t bytes = 0;          ///< written
  uint64_t low = 0, high = 0; ///< all that is written lies between these offsets in the CTA's shared memory
  std::array<std::byte*, kLanes> to;
  std::array<const std::byte*, kLanes> from;
  std::array<uint8_t, kLanes> read;    ///< bytes read; the rest is zero
  std::array<uint32_t, kLanes> group;  ///< number of the thread's group
  std::array<uint32_t, kLanes> number; ///< of the thread's cp.async operations
};

/// The asynchronous operations of a warp's threads that complete in groups.
struct WarpAsync {
  struct Grouped {
    BulkCopy copy;
    uint32_t group = 0;
  };
  std::vector<LaneCopies> copies;           ///< in the order of issue
  std::array<uint32_t, kLanes> committed{}; ///< cp.async groups so far: the number of the one that is open
  std::array<uint32_t, kLanes> issued{};    ///< cp.async operations so far
  std::vector<Grouped> bulk;                ///< in the order of issue
  std::array<uint32_t, kLanes> bulkCommitted{};
  std::array<uint64_t, kLanes> proxyFence{}; ///< order of each thread's last fence.proxy.async
};

/// An mbarrier as mbarrier.init made it; for reports.
struct MbarrierOrigin {
  const std::byte* at = nullptr;
  const Warp* warp = nullptr;
  int lane = -1;
  const Inst* inst = nullptr;
};

/// Of a CTA: what its mbarriers wait for, and which parts of its shared memory are on their way.
struct CtaAsync {
  std::deque<MbarrierSignal> signals;    ///< in the order of issue
  std::vector<MbarrierOrigin> mbarriers; ///< that have not been invalidated
  SharedInFlight inFlight;
  uint64_t order = 0;
  uint32_t products = 0;                 ///< wgmma and tcgen05 on their way that may read its shared memory
  uint32_t globalWrites = 0;             ///< bulk copies on their way from its threads to global memory
  std::shared_ptr<AsyncHistory> history; ///< of its cluster, while the check looks on
};

WarpAsync& asyncOf(Warp& warp);
CtaAsync& asyncOf(Cta& cta);
/// Of an operation that is issued now.
AsyncOrigin originOf(Warp& warp, int lane);
/// The cluster's turn at which an operation lands that is issued now, as the launch's schedule has it.
uint64_t dueOf(Cluster& cluster);
/// The CTA of a cluster whose shared memory holds this byte, or null.
Cta* ownerOf(Cluster& cluster, const std::byte* shared);

/// Queues a copy that lands with the open group of the thread that issued it.
void issueGrouped(Warp& warp, BulkCopy copy);
void issueLaneCopies(Warp& warp, const LaneCopies& copies);
/// Queues what an mbarrier in shared memory of `owner` will hear of.
void issueSignal(Cta& owner, MbarrierSignal signal);

/// Lands the groups of lanes but the newest `pending` ones; kWithOpen: the open one too.
inline constexpr int64_t kWithOpen = -1;
void landLaneGroups(Warp& warp, LaneMask lanes, int64_t pending);
/// The same for bulk groups. `readOnly`: their sources are read, and their results stay on their way.
void landBulkGroups(Warp& warp, LaneMask lanes, int64_t pending, bool readOnly);
/// Lands what is queued for an mbarrier, in order and until its phase ends, if that ends it; otherwise nothing.
/// True if the phase has ended.
bool landSignals(Cta& owner, std::byte* barrier);
/// Cluster::landDue: lands what is due at the cluster's turn.
void landDue(Cluster& cluster);
/// Cta::onEnd: lands all groups of the CTA's threads, which nobody has waited for.
void landAllGroups(Cta& cta);

} // namespace tiletwin::sim
