// interp/run/FramePool.cpp -- frames with their arenas, kept between launches.
#include "interp/run/FramePool.h"
#include "interp/run/ForkLocal.h"
#include <algorithm>
#include <cstdlib>
#include <new>

namespace tiletwin::interp {

namespace {
constexpr size_t kAlignment = 64;
constexpr size_t kSmallest = 4096; ///< arenas are multiples of it, so that kernels share them
} // namespace

/// The frame comes first: a Frame* of the pool is a Pooled*.
struct FramePool::Pooled {
  Frame frame;
  size_t capacity = 0;
  Pooled* next = nullptr; // under mutex_

  static void destroy(Pooled* pooled) {
    std::free(pooled->frame.arena);
    delete pooled;
  }
};

FramePool::~FramePool() { trim(0); }

FramePool& FramePool::instance() {
  static auto* object = new ForkLocal<FramePool>; // never destroyed: helpers may outlive static destructors
  return object->get();
}

int FramePool::mostThreads(size_t arenaBytes) {
  return int(std::clamp<size_t>(kArenaBudget / std::max<size_t>(arenaBytes, kSmallest), 1, 4096));
}

Frame* FramePool::acquire(size_t arenaBytes) {
  size_t capacity = (std::max(arenaBytes, size_t(1)) + kSmallest - 1) / kSmallest * kSmallest;
  {
    std::lock_guard lock(mutex_);
    Pooled** best = nullptr;
    for (Pooled** link = &idle_; *link; link = &(*link)->next)
      if ((*link)->capacity >= capacity && (!best || (*link)->capacity < (*best)->capacity)) best = link;
    if (best) {
      Pooled* pooled = *best;
      *best = pooled->next;
      idleBytes_ -= pooled->capacity;
      return &pooled->frame;
    }
    trim(capacity < kArenaBudget ? kArenaBudget - capacity : 0);
  }
  Pooled* pooled = new (std::nothrow) Pooled;
  if (!pooled) return nullptr;
  pooled->capacity = capacity;
  pooled->frame.arena = static_cast<std::byte*>(std::aligned_alloc(kAlignment, capacity));
  if (pooled->frame.arena) return &pooled->frame;
  delete pooled;
  return nullptr;
}

void FramePool::release(Frame* frame) {
  static_assert(offsetof(Pooled, frame) == 0);
  Pooled* pooled = reinterpret_cast<Pooled*>(frame);
  frame->launch = nullptr;
  frame->poll = nullptr;
  frame->pollContext = nullptr;
  frame->takePrinted = nullptr;
  frame->printed.clear();
  frame->written.reset();
  if (pooled->capacity > kLargestKept) return Pooled::destroy(pooled);
  std::lock_guard lock(mutex_);
  trim(kArenaBudget - pooled->capacity);
  pooled->next = idle_;
  idle_ = pooled;
  idleBytes_ += pooled->capacity;
}

void FramePool::trim(size_t keep) {
  while (idle_ && idleBytes_ > keep) {
    Pooled* pooled = idle_;
    idle_ = pooled->next;
    idleBytes_ -= pooled->capacity;
    Pooled::destroy(pooled);
  }
}

size_t FramePool::idleBytes() const {
  std::lock_guard lock(mutex_);
  return idleBytes_;
}

} // namespace tiletwin::interp
