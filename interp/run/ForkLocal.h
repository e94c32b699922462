// interp/run/ForkLocal.h -- a process-wide object of which the child of a fork gets a new one.
// Here:      ForkLocal<T>, forkGeneration().
// Not here:  what the objects do after a fork.
// Invariant: threads and the locks they held do not survive fork(), so the child never touches the parent's object: it
// is
//            leaked there.
#pragma once
#include <atomic>
#include <new>

namespace tiletwin::interp {

/// How many forks lie between this process and the one that loaded the library.
unsigned forkGeneration() noexcept;

/// Owner of the T of this process. Any thread may call get().
template <class T> class ForkLocal {
public:
  T& get() {
    unsigned generation = forkGeneration();
    Entry* entry = entry_.load(std::memory_order_acquire);
    if (entry && entry->generation == generation) [[likely]]
      return entry->value;
    Entry* fresh = new Entry{generation, {}};
    while (true) {
      if (entry_.compare_exchange_strong(entry, fresh, std::memory_order_acq_rel)) return fresh->value;
      if (entry && entry->generation == generation) { // another thread was faster
        delete fresh;
        return entry->value;
      }
    }
  }

private:
  struct Entry {
    unsigned generation;
    T value;
  };
  std::atomic<Entry*> entry_{nullptr}; // any thread; never freed
};

} // namespace tiletwin::interp
