// sim/driver/DeviceMemory.h -- memory that kernels may reach: allocations of devices, pinned and managed memory of the host.
// Here:      where allocations lie, which one holds an address, the buffers of a launch.
// Not here:  copies (Copies.h), pools (PoolCalls.cpp), the driver's functions (MemoryCalls.cpp).
// Idea:      a device's memory is memory of this process, and its addresses are the device's. It lies in one range that is
//            reserved at the start and filled from one end to the other, so an address is given again only when all others
//            have been: whoever uses freed memory reaches nobody's, and the simulator's check of bounds says so.
// Invariant: every allocation begins at a page; what a client asked for is all that kernels may touch, to the byte.
#pragma once
#include "runtime/Buffer.h"
#include "sim/driver/Types.h"
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <vector>

namespace tiletwin::driver {

class VirtualDevice;

enum class MemoryKind : uint8_t {
  Device,     ///< cuMemAlloc
  Pool,       ///< cuMemAllocAsync
  Managed,    ///< cuMemAllocManaged
  Host,       ///< cuMemAllocHost, cuMemHostAlloc
  Registered, ///< cuMemHostRegister: memory of the client
  Module,     ///< a module's variable
  Virtual,    ///< cuMemMap
  Imported,   ///< cuIpcOpenMemHandle: another process's
  Array,      ///< cuArrayCreate: textures and surfaces alone reach it
};

struct Allocation {
  uint64_t begin = 0, bytes = 0;
  MemoryKind kind = MemoryKind::Device;
  VirtualDevice* device = nullptr;
  uint64_t context = 0;              ///< Context::id of its owner
  uint64_t number = 0;               ///< how many were made before it
  unsigned flags = 0;                ///< as it was asked for
  const void* pool = nullptr;        ///< of kind Pool: its Pool
  std::string name;                  ///< of kind Module: the variable's
  uint32_t readers = 0, writers = 0; ///< of kind Virtual: a bit for each device that may
  int file = -1;                     ///< whose pages its are, once other processes may have them
  uint64_t end() const { return begin + bytes; }
  bool isOfHost() const { return kind == MemoryKind::Host || kind == MemoryKind::Registered; }
};

/// All memory of the process. Thread-safe.
class DeviceMemory {
public:
  static DeviceMemory& instance();
  /// Makes an allocation of `wanted`'s kind, bytes (not 0) and owner; kOutOfMemory leaves nothing behind.
  Result allocate(Allocation wanted, uint64_t& address);
  /// Makes memory that exists known: Registered, Module. kHostMemoryAlreadyRegistered: some of it is.
  Result add(Allocation known);
  /// Gives back what begins at `address`, if accept(allocation) says so; kInvalidValue if nothing does.
  Result release(uint64_t address, const std::function<bool(const Allocation&)>& accept);
  /// Puts what begins at `address` into a file, once, whose pages take the place of its own. kInvalidValue: nothing does, or
  /// it is not the device's alone.
  Result share(uint64_t address, int& file, uint64_t& bytes);
  /// The same memory in another process.
  Result import(Allocation wanted, int file, uint64_t& address);
  /// Makes a client's range of addresses known, in which Virtual memory will lie.
  void reserve(uint64_t address, uint64_t bytes);
  /// Forgets such a range and what lies there.
  void giveBack(uint64_t address);
  /// Gives back all of a context's memory.
  void releaseContext(uint64_t context);
  /// What holds `address`, if anything does.
  std::optional<Allocation> find(uint64_t address) const;
  /// What a kernel on `device` may touch; the same object until something is made or given back. Of other devices: those whose
  /// bits are set in `peers`.
  std::shared_ptr<const std::vector<Buffer>> buffers(const VirtualDevice& device, uint32_t peers);
  /// False: some of [address, address + bytes) lies in an allocation's range of addresses and no longer, or not as a whole, in
  /// one allocation. Memory of the host that the driver does not know may be anything.
  bool mayAccess(uint64_t address, uint64_t bytes) const;

private:
  DeviceMemory();
  uint64_t place(uint64_t bytes);
  void forget(std::map<uint64_t, Allocation>::iterator at);
  const Allocation* holderOf(uint64_t address) const;
  bool isOurs(uint64_t address) const { return address >= first_ && address < last_; }
  bool isReserved(uint64_t address) const;

  uint64_t first_ = 0, last_ = 0; ///< the reserved range
  mutable std::shared_mutex mutex_;
  std::map<uint64_t, Allocation> allocations_; // by begin, under mutex_
  uint64_t cursor_ = 0;                        // where the next one may begin, under mutex_
  uint64_t made_ = 0;                          // under mutex_
  std::map<uint64_t, uint64_t> ranges_;        // of clients: bytes by begin, under mutex_
  struct Snapshot {
    const VirtualDevice* device;
    uint32_t peers;
    std::shared_ptr<const std::vector<Buffer>> buffers;
  };
  std::vector<Snapshot> snapshots_; // of allocations_ as they are, under mutex_
};

} // namespace tiletwin::driver
