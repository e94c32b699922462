// interp/check/ShadowMap.h -- what a check remembers about memory: one cell for a run of bytes, as coarse as accesses allow.
//
// Here:      regions of memory, their blocks of 128 bytes, cells that split in halves when an access covers part of one.
// Not here:  what a cell means (RaceSet.h, RaceOrder.h); which accesses there are (AccessRuns.h).
// Idea:      tiles are accessed in long runs, so nearly every block is covered whole and has one cell, inside the block. An
//            access that covers part of a block splits the block's cell into 2, 4, .. 128 equal ones, copies of it; they
//            stay so until the launch ends. What cells hold after a launch does not depend on the order of accesses, if
//            `apply` does not.
// Invariant: a block is changed by whoever holds its lock. Arrays of cells that were split again stay readable until the
//            map goes. Memory of earlier launches is used again without being cleared: a block counts only if its epoch is
//            the region's.
#pragma once
#include "interp/check/ShadowPool.h"
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace tiletwin::interp {

inline constexpr uintptr_t kShadowBlock = 128;

/// `Cell` is trivially copyable; one that was value-initialised knows of no access.
template <class Cell> class ShadowMap {
public:
  struct alignas(64) Block {
    std::atomic<uint32_t> state; ///< bit 0: locked; bits 1-3: how often split; above: the epoch
    uint32_t listed;             ///< by the owner of the map: free use, 0 at first. Under the lock
    Cell whole;                  ///< if not split
    std::atomic<Cell*> cells;    ///< if split: 2^level of them
  };
  struct Region {
    uintptr_t begin = 0, end = 0; ///< begin is a multiple of kShadowBlock
    Block* blocks = nullptr;
    uint32_t epoch = 0;
    size_t bytes = 0;
  };

  ShadowMap() = default;
  ShadowMap(const ShadowMap&) = delete;
  ShadowMap& operator=(const ShadowMap&) = delete;
  ~ShadowMap() {
    for (const auto& region : regions_) pool().give({region->blocks, region->bytes, region->epoch});
  }

  /// The region that holds [begin, end), made if there is none. Launching thread only, before programs run; overlapping
  /// ranges must be added as one.
  Region* add(uintptr_t begin, uintptr_t end) {
    regions_.push_back(make(begin, end));
    return regions_.back().get();
  }
  /// The region around an access to memory that was not added: found or made, in pieces. Any thread. An access that
  /// crosses a piece's end gets its first part's; `end` says how far.
  Region* find(uintptr_t lo) {
    constexpr uintptr_t kPiece = uintptr_t(1) << 16;
    for (const auto& region : regions_)
      if (lo >= region->begin && lo < region->end) return region.get();
    std::lock_guard lock(mutex_);
    auto& piece = pieces_[lo / kPiece];
    if (!piece) piece = make(lo / kPiece * kPiece, (lo / kPiece + 1) * kPiece);
    return piece.get();
  }

  /// Calls apply(cell, first byte, one past the last) for cells that together are [lo, hi). `settled(cell)` may be asked
  /// before, without a lock: true if apply would change nothing. `split(cell)` returns a copy of a cell.
  template <class Settled, class Apply, class Split>
  void update(Region& region, uintptr_t lo, uintptr_t hi, Settled&& settled, Apply&& apply, Split&& split) {
    for (uintptr_t at = lo; at < hi;) {
      const uintptr_t block = at / kShadowBlock * kShadowBlock, end = std::min(hi, block + kShadowBlock);
      Block& b = region.blocks[(block - region.begin) / kShadowBlock];
      __builtin_prefetch(&b + 8, 1); // locks keep the processor from looking ahead by itself
      if (!allSettled(b, region.epoch, at - block, end - block, settled)) {
        Lock lock(b, region.epoch);
        if (at != block || end != block + kShadowBlock) refine(b, lock.level, at - block, end - block, split);
        if (lock.level == 0) {
          apply(b, b.whole, block, block + kShadowBlock);
        } else {
          const uintptr_t size = kShadowBlock >> lock.level;
          Cell* cells = b.cells.load(std::memory_order_relaxed);
          for (uintptr_t c = at; c < end; c += size) apply(b, cells[(c - block) / size], c, c + size);
        }
      }
      at = end;
    }
  }

  /// Calls visit(cell, first byte, one past the last) for the cells of a block, in order. After the launch.
  template <class Visit> static void visit(const Region& region, Block& b, Visit&& visit) {
    const uintptr_t begin = region.begin + uintptr_t(&b - region.blocks) * kShadowBlock;
    const int level = int(b.state.load() >> 1 & 7);
    if (level == 0) return visit(b.whole, begin, begin + kShadowBlock);
    const uintptr_t size = kShadowBlock >> level;
    Cell* cells = b.cells.load();
    for (uintptr_t i = 0; i < kShadowBlock / size; ++i) visit(cells[i], begin + i * size, begin + (i + 1) * size);
  }
  /// The region whose block this is. After the launch.
  const Region* regionOf(const Block& b) const {
    auto holds = [&](const Region& r) { return &b >= r.blocks && &b < r.blocks + (r.end - r.begin) / kShadowBlock; };
    for (const auto& region : regions_)
      if (holds(*region)) return region.get();
    for (const auto& [number, piece] : pieces_)
      if (holds(*piece)) return piece.get();
    return nullptr;
  }

private:
  static ShadowPool& pool() {
    static ShadowPool* pool = new ShadowPool; // never destroyed: launches may outlive static destructors
    return *pool;
  }
  static std::unique_ptr<Region> make(uintptr_t begin, uintptr_t end) {
    auto region = std::make_unique<Region>();
    region->begin = begin / kShadowBlock * kShadowBlock;
    region->end = (end + kShadowBlock - 1) / kShadowBlock * kShadowBlock;
    const size_t blocks = std::max<size_t>((region->end - region->begin) / kShadowBlock, 1);
    ShadowPool::Memory memory = pool().take(blocks * sizeof(Block));
    region->blocks = static_cast<Block*>(memory.address);
    region->bytes = memory.bytes;
    region->epoch = memory.epoch;
    return region;
  }

  static uint32_t stateOf(uint32_t epoch, int level) { return epoch << 4 | uint32_t(level) << 1; }

  template <class Settled>
  static bool allSettled(const Block& b, uint32_t epoch, uintptr_t lo, uintptr_t hi, Settled& settled) {
    const uint32_t state = b.state.load(std::memory_order_acquire);
    if (state >> 4 != epoch) return false;
    const int level = int(state >> 1 & 7);
    if (level == 0) return lo == 0 && hi == kShadowBlock && settled(b.whole);
    const uintptr_t size = kShadowBlock >> level;
    if ((lo | hi) & (size - 1)) return false;
    // A block that is split right now may show the array before: what is settled there is so in its copies.
    const Cell* cells = b.cells.load(std::memory_order_acquire);
    for (uintptr_t c = lo / size; c < hi / size; ++c)
      if (!settled(cells[c])) return false;
    // If the array was another level's, refine() had taken the level away before.
    return (b.state.load(std::memory_order_acquire) >> 1 & 7) == uint32_t(level);
  }

  /// A block's lock. It begins empty if it was last used in another launch: until it is unlocked its old epoch stands.
  struct Lock {
    Lock(Block& block, uint32_t epoch) : block(block), epoch(epoch) {
      for (;;) {
        uint32_t state = block.state.load(std::memory_order_relaxed);
        if (state & 1) {
          __builtin_ia32_pause();
          continue;
        }
        if (!block.state.compare_exchange_weak(state, state | 1, std::memory_order_acquire)) continue;
        if (state >> 4 == epoch) {
          level = int(state >> 1 & 7);
          return;
        }
        block.whole = Cell();
        block.listed = 0;
        return;
      }
    }
    ~Lock() { block.state.store(stateOf(epoch, level), std::memory_order_release); }
    Block& block;
    const uint32_t epoch;
    int level = 0;
  };

  /// Splits until cells end at lo and hi.
  template <class Split> void refine(Block& b, int& level, uintptr_t lo, uintptr_t hi, Split& split) {
    const int wanted = 7 - std::min(std::countr_zero(lo | hi | kShadowBlock), 7);
    if (wanted <= level) return;
    const size_t count = size_t(1) << wanted;
    const Cell* from = level ? b.cells.load(std::memory_order_relaxed) : &b.whole;
    Cell* to = cellsFor(count);
    for (size_t i = 0; i < count; ++i) to[i] = split(from[i >> (wanted - level)]);
    // The level goes first: with the old one, and the new array, a reader without the lock would look at the wrong cells.
    // Level 0 is the cell from before the first split: what is settled there is settled everywhere.
    b.state.store(b.state.load(std::memory_order_relaxed) & ~uint32_t(0xE), std::memory_order_release);
    b.cells.store(to, std::memory_order_release);
    level = wanted;
  }

  Cell* cellsFor(size_t count) {
    constexpr size_t kChunk = 4096;
    std::lock_guard lock(mutex_);
    if (left_ < count) {
      chunks_.push_back(std::make_unique<Cell[]>(kChunk));
      left_ = kChunk;
    }
    left_ -= count;
    return &chunks_.back()[left_];
  }

  std::vector<std::unique_ptr<Region>> regions_; // fixed while programs run
  std::mutex mutex_;
  std::unordered_map<uintptr_t, std::unique_ptr<Region>> pieces_; // under mutex_
  std::vector<std::unique_ptr<Cell[]>> chunks_;                   // under mutex_
  size_t left_ = 0;                                               // cells left in the last chunk; under mutex_
};

} // namespace tiletwin::interp
