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
  Pooled* next = nullptr; // under FramePool::mutex_

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

std::atomic<FramePool::Pooled*>& FramePool::home() {
  static std::atomic<unsigned> threads{0};
  static thread_local const unsigned number = threads.fetch_add(1, std::memory_order_relaxed);
  return homes_[number % homes_.size()].frame;
}

Frame* FramePool::acquire(size_t arenaBytes) {
  size_t capacity = (std::max(arenaBytes, size_t(1)) + kSmallest - 1) / kSmallest * kSmallest;
  if (Pooled* own = home().exchange(nullptr)) {
    if (own->capacity >= capacity) {
      idleBytes_ -= own->capacity;
      return &own->frame;
    }
    std::lock_guard lock(mutex_);
    own->next = idle_;
    idle_ = own;
  }
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
  const size_t capacity = pooled->capacity;
  if (capacity > kLargestKept) return Pooled::destroy(pooled);
  size_t idle = idleBytes_;
  while (idle + capacity <= kArenaBudget)
    if (idleBytes_.compare_exchange_weak(idle, idle + capacity)) {
      Pooled* nobody = nullptr;
      if (home().compare_exchange_strong(nobody, pooled)) return;
      idleBytes_ -= capacity;
      break;
    }
  std::lock_guard lock(mutex_);
  trim(kArenaBudget - capacity);
  pooled->next = idle_;
  idle_ = pooled;
  idleBytes_ += capacity;
}

void FramePool::trim(size_t keep) {
  const auto drop = [this](Pooled* pooled) {
    idleBytes_ -= pooled->capacity;
    Pooled::destroy(pooled);
  };
  while (idle_ && idleBytes_ > keep) {
    Pooled* pooled = idle_;
    idle_ = pooled->next;
    drop(pooled);
  }
  for (Home& home : homes_) {
    if (idleBytes_ <= keep) return;
    if (Pooled* pooled = home.frame.exchange(nullptr)) drop(pooled);
  }
}

} // namespace tiletwin::interp
