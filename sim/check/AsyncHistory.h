// sim/check/AsyncHistory.h -- what has happened to the shared memory of a cluster, as far as asynchronous operations care.
//
// Here:      for each word: the last copy that landed on it and for whom, the last write of the generic proxy; for each block of
//            words when that was at the latest; for each warp: when it last synchronised with others, and its proxy fences.
// Not here:  what is on its way (isa/Async.h), what is reported (AsyncCheck.h).
// Idea:      a clock of the cluster counts events. A warp knows of what happened before it last synchronised (at a barrier, an
//            mbarrier, by an acquire), whoever it synchronised with: the exact order is the business of the check of races, and
//            nothing is reported here that is in order.
// Invariant: used by the one thread that runs the cluster.
#pragma once
#include "sim/machine/Cta.h"
#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace tiletwin::sim {

/// When something happened to a word, who did it and with which instruction; zero: never.
struct AsyncStamp {
  uint32_t time = 0;
  uint16_t thread = 0; ///< AsyncHistory::threadOf, or kNobody
  uint16_t inst = 0;   ///< AsyncHistory::instOf
  explicit operator bool() const { return time != 0; }
};

struct AsyncHistory {
  static constexpr uint16_t kNobody = 0xFFFF;

  struct Word {
    AsyncStamp landed;  ///< thread: whose wait made it land; kNobody: an mbarrier heard of it
    AsyncStamp written; ///< by the generic proxy
  };
  /// A fence.proxy.async of some lanes: it covers their own writes, and those of others that the warp knew of.
  struct Fence {
    uint32_t time = 0, known = 0;
    LaneMask lanes = 0;
  };
  /// The latest of its words.
  struct Block {
    uint32_t landed = 0, written = 0;
  };
  struct WarpPart {
    uint32_t synchronised = 0;
    uint32_t written = 0;      ///< when it last wrote to shared memory
    LaneMask lanes = 0;        ///< that it began with
    std::vector<Fence> fences; ///< in order
    uint32_t fencedUpTo = 0;   ///< fencedBefore() ...
    uint64_t asOf = 0;         ///< ... when `changes_` was this
  };

  /// A CTA of the cluster begins; in the order of their ranks.
  void add(const Cta& cta);

  static uint16_t threadOf(const Warp& warp, int lane) {
    return uint16_t(warp.cta->rank << 10 | warp.index << 5 | uint32_t(lane));
  }
  static int laneOf(uint16_t thread) { return thread & 31; }
  const Warp& warpOf(Cluster& cluster, uint16_t thread) const {
    return cluster.ctas[thread >> 10].warps[thread >> 5 & 31];
  }
  const Inst* instOf(AsyncStamp stamp) const { return insts_[stamp.inst]; }

  void synchronise(const Warp& warp) {
    part(warp).synchronised = tick();
    ++changes_;
  }
  void fence(const Warp& warp, LaneMask lanes) {
    WarpPart& own = part(warp);
    own.fences.push_back({tick(), own.synchronised, lanes});
    ++changes_;
  }
  /// A warp writes to shared memory now; each word it writes has to be told of.
  void writes(const Warp& warp, AsyncStamp now) { part(warp).written = now.time; }
  void wrote(const Cta& cta, uint64_t offset, uint64_t bytes, AsyncStamp now) {
    for (Word& word : words(cta, offset, bytes)) word.landed = {}, word.written = now;
    for (Block& block : blocks(cta, offset, bytes)) block.written = now.time;
  }
  void landed(const Cta& cta, uint64_t offset, uint64_t bytes, AsyncStamp now, bool isGeneric) {
    for (Word& word : words(cta, offset, bytes)) word.landed = now, word.written = isGeneric ? now : AsyncStamp();
    for (Block& block : blocks(cta, offset, bytes)) {
      block.landed = now.time;
      if (isGeneric) block.written = now.time;
    }
  }
  /// What makes two reports of one CTA the same one: places, what is wrong, who did it.
  using Report = std::tuple<const Inst*, const Inst*, uint32_t, uint32_t>;
  /// True the first time.
  bool isNew(const Report& report) {
    if (std::find(reports_.begin(), reports_.end(), report) != reports_.end()) return false;
    reports_.push_back(report);
    return true;
  }
  /// Has an instruction of a CTA been reported so often for one mistake that nobody wants to know more?
  bool isKnown(const Inst* inst, uint32_t mistake, uint32_t rank) const {
    constexpr ptrdiff_t kMost = 4;
    return !reports_.empty() && std::count_if(reports_.begin(), reports_.end(), [&](const Report& r) {
                                  return std::get<0>(r) == inst && std::get<2>(r) == mistake && std::get<3>(r) == rank;
                                }) >= kMost;
  }
  /// Is an instruction one of the two of some report?
  bool isNamed(const Inst* inst) const {
    return std::any_of(reports_.begin(), reports_.end(),
                       [&](const Report& r) { return std::get<0>(r) == inst || std::get<1>(r) == inst; });
  }
  /// The stamp of something that happens now.
  AsyncStamp stamp(uint16_t thread, const Inst* inst) { return {tick(), thread, number(inst)}; }

  /// The words of a CTA's shared memory that hold these bytes.
  std::span<Word> words(const Cta& cta, uint64_t offset, uint64_t bytes) {
    return cut<kWord>(words_[cta.rank], offset, bytes);
  }

  /// True if the warp knows of all copies that have landed in these bytes. False: it may not.
  bool knowsLanded(const Warp& warp, const Cta& cta, uint64_t offset, uint64_t bytes) {
    uint32_t latest = 0;
    for (const Block& block : blocks(cta, offset, bytes)) latest = std::max(latest, block.landed);
    return latest < part(warp).synchronised || latest == 0;
  }
  /// True if there is a proxy fence behind all writes to these bytes, for what the warp does now in the async proxy.
  bool knowsFenced(const Warp& warp, const Cta& cta, uint64_t offset, uint64_t bytes) {
    uint32_t latest = 0;
    for (const Block& block : blocks(cta, offset, bytes)) latest = std::max(latest, block.written);
    return latest == 0 || latest <= fencedBefore(warp);
  }

  /// Does a thread know that this copy has landed: is it the one that has waited, or has it synchronised since?
  bool isSeen(AsyncStamp landed, const Warp& warp, int lane) {
    return !landed || part(warp).synchronised > landed.time || threadOf(warp, lane) == landed.thread;
  }
  /// Is there a proxy fence between this write and what a warp does now in the async proxy?
  bool isFenced(AsyncStamp written, const Warp& warp);

private:
  static constexpr uint64_t kWord = 4, kBlock = 128;

  /// The elements, of kBytes bytes of memory each, that hold some bytes.
  template <uint64_t kBytes, class T> static std::span<T> cut(std::vector<T>& all, uint64_t offset, uint64_t bytes) {
    const uint64_t end = std::min<uint64_t>((offset + bytes + kBytes - 1) / kBytes, all.size());
    const uint64_t first = std::min<uint64_t>(offset / kBytes, end);
    return {all.data() + first, size_t(end - first)};
  }
  std::span<Block> blocks(const Cta& cta, uint64_t offset, uint64_t bytes) {
    return cut<kBlock>(blocks_[cta.rank], offset, bytes);
  }
  /// All writes up to this time are behind a proxy fence that the warp knows of.
  uint32_t fencedBefore(const Warp& warp);
  std::span<const Fence> knownFences(const WarpPart& other, const WarpPart& own) const;

  WarpPart& part(const Warp& warp) { return warps_[warp.cta->rank][warp.index]; }
  /// At the end of time nothing is news any more.
  uint32_t tick() { return time_ == std::numeric_limits<uint32_t>::max() ? time_ : ++time_; }
  const WarpPart& writerOf(AsyncStamp stamp) const { return warps_[stamp.thread >> 10][stamp.thread >> 5 & 31]; }
  bool isFencedBy(const WarpPart& other, AsyncStamp written, const Warp& warp);
  uint16_t number(const Inst* inst);

  uint32_t time_ = 0;
  uint64_t changes_ = 1;                     ///< of what warps know, and fences
  std::vector<std::vector<Word>> words_;     ///< by rank
  std::vector<std::vector<Block>> blocks_;   ///< by rank
  std::vector<std::vector<WarpPart>> warps_; ///< by rank
  std::vector<const Inst*> insts_;
  std::unordered_map<const Inst*, uint16_t> numbers_;
  std::pair<const Inst*, uint16_t> last_; ///< of numbers_
  std::vector<Report> reports_;
};

} // namespace tiletwin::sim
