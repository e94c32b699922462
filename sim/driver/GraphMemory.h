// sim/driver/GraphMemory.h -- memory that a graph's node makes.
// Here:      GraphMemory, AllocWork, FreeWork; what cuDeviceGetGraphMemAttribute counts.
// Not here:  a stream's memory (PoolCalls.cpp).
// Idea:      the address is fixed when the node is made, since later nodes name it. The memory is reserved from then on, and in
//            use from a run of the node to whatever gives it back: a node, a stream, or cuMemFree.
#pragma once
#include "sim/driver/Work.h"
#include <array>
#include <atomic>
#include <memory>
#include <vector>

namespace tiletwin::driver {

class VirtualDevice;

class GraphMemory {
public:
  /// Null: there is not so much.
  static std::shared_ptr<GraphMemory> make(Context& context, const GraphAllocParams& params);
  /// The memory whose first byte has this address, or null.
  static std::shared_ptr<GraphMemory> find(DevicePointer address);
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;
  /// Memory that is in use stays, and is a stream's to give back.
  ~GraphMemory();

  /// As the client asked for it, its list of devices included, and the address.
  GraphAllocParams params() const;
  /// kInvalidValue: it is in use already, or it is not.
  Result take();
  Result giveBack();
  bool isInUse() const { return isInUse_; }

private:
  GraphMemory(VirtualDevice& device, const GraphAllocParams& params);
  VirtualDevice& device_;
  GraphAllocParams params_;
  std::vector<AccessDescription> access_;
  std::atomic<bool> isInUse_{false}, wasUsed_{false};
};

/// Bytes of a device's graphs: of memory that was in use once, the most that were, reserved, the most that were. As a driver has
/// it, memory of graphs that are gone counts until trimGraphMemory.
std::array<std::atomic<uint64_t>, 4>& graphMemoryOf(int device);
void trimGraphMemory(int device);

class AllocWork final : public Work {
public:
  explicit AllocWork(std::shared_ptr<GraphMemory> memory) : Work(kNodeMemoryAlloc), memory(std::move(memory)) {}
  Result run(Context&) override { return memory->take(); }
  std::shared_ptr<GraphMemory> memory;
};

class FreeWork final : public Work {
public:
  explicit FreeWork(DevicePointer address) : Work(kNodeMemoryFree), address(address) {}
  Result run(Context& context) override;
  DevicePointer address;
};

} // namespace tiletwin::driver
