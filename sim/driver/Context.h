// sim/driver/Context.h -- contexts: what a client's modules, memory and streams belong to, and the stack of them in each thread.
// Not here:  the objects that belong to one (DeviceMemory.h, Code.h, Stream.h).
// Invariant: a fault of a kernel stays in its context: every later call in it returns the same error, until it is gone.
#pragma once
#include "sim/driver/Types.h"
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

namespace tiletwin::sim {
class DeviceHeap;
} // namespace tiletwin::sim

namespace tiletwin::driver {

class Stream;
class VirtualDevice;

class Context : public std::enable_shared_from_this<Context> {
public:
  static constexpr unsigned kHandleKind = 0;
  static std::shared_ptr<Context> make(VirtualDevice& device, unsigned flags, bool isPrimary);
  explicit Context(VirtualDevice& device) : device(device) {}

  VirtualDevice& device;
  uint64_t id = 0; ///< never given twice
  ContextHandle handle = nullptr;
  bool isPrimary = false;
  std::atomic<unsigned> flags{0};
  std::atomic<bool> isActive{true}; ///< false: it was destroyed, or it is a primary context that nobody retains
  std::atomic<Result> error{cuda::kSuccess}; ///< of a kernel; every later call's
  std::array<std::atomic<size_t>, kLimitCount> limits{};
  std::atomic<uint32_t> peers{0}; ///< bits of devices whose memory its kernels may touch
  std::shared_ptr<Stream> legacy, perThread;
  /// Held alone by work on the legacy stream, together by that on streams that wait for it.
  std::shared_mutex order;
  std::mutex mutex;
  unsigned retained = 0; ///< of a primary context; of another one how often cuCtxAttach gave it; under mutex
  std::atomic<bool> hasPrinted{false}; ///< a kernel that prints was launched: its limit is no longer set

  /// While it is held nothing works in the context but on streams that wait for nobody. A host function, in whose thread the
  /// stream is at work, gets an empty lock.
  std::unique_lock<std::shared_mutex> waitForOthers();
  /// What its kernels get from malloc, made by the first one that calls it, as large as its limit says.
  std::shared_ptr<sim::DeviceHeap> makeHeap();
  /// The same, or null where no kernel has called malloc.
  std::shared_ptr<sim::DeviceHeap> heap();
  /// Sets a limit; kInvalidValue: there is none of that value, or kernels ran under the old one.
  Result setLimit(int limit, size_t value);
  /// Ends all that belongs to it: memory, modules, streams, events.
  void clear();

  // ---- The calling thread's stack
  static std::vector<std::shared_ptr<Context>>& stack();
  /// The one on top, or null.
  static Context* current() { return stack().empty() ? nullptr : stack().back().get(); }

private:
  std::mutex heapMutex_;
  std::shared_ptr<sim::DeviceHeap> heap_; ///< under heapMutex_
};

/// While a host function runs, its thread gives no work to streams.
bool& isInHostFunction();

} // namespace tiletwin::driver
