// sim/driver/VirtualMemory.h -- memory that a client places itself: ranges of addresses, memory without one, what lies where.
// Here:      VirtualMemory, PhysicalMemory.
// Not here:  who may touch it (DeviceMemory.h, which is told), the driver's functions (VirtualMemoryCalls.cpp).
// Idea:      memory without an address is a file of the system's memory, so it keeps its content wherever it is mapped, and two
//            mappings of it are the same bytes. Mappings that touch each other, with the same access, are one allocation.
#pragma once
#include "sim/driver/Types.h"
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

namespace tiletwin::driver {

class VirtualDevice;

/// What cuMemCreate makes. It is there as long as a handle or a mapping is.
class PhysicalMemory {
public:
  static constexpr unsigned kHandleKind = 12;
  /// Null: there is not so much.
  static std::shared_ptr<PhysicalMemory> make(VirtualDevice& device, uint64_t bytes,
                                              const AllocationProperties& properties);
  /// Memory whose file another process has sent. Null: it is no such file, or there is no such device here.
  static std::shared_ptr<PhysicalMemory> import(int file);
  PhysicalMemory(const PhysicalMemory&) = delete;
  PhysicalMemory& operator=(const PhysicalMemory&) = delete;
  ~PhysicalMemory();

  VirtualDevice& device;
  const uint64_t bytes;
  const AllocationProperties properties;
  const int file;

private:
  PhysicalMemory(VirtualDevice& device, uint64_t bytes, const AllocationProperties& properties, int file, bool isOwn)
      : device(device), bytes(bytes), properties(properties), file(file), isOwn_(isOwn) {}
  const bool isOwn_; ///< false: its maker counts it
};

/// All ranges of the process. Thread-safe.
class VirtualMemory {
public:
  static constexpr uint64_t kGranularity = uint64_t(2) << 20; ///< bytes, of addresses and sizes
  static VirtualMemory& instance();

  /// alignment: a power of two, 0 for the granularity.
  Result reserve(uint64_t bytes, uint64_t alignment, uint64_t& address);
  /// kInvalidValue: it is no range as it was reserved, or something is mapped there.
  Result free(uint64_t address, uint64_t bytes);
  Result map(uint64_t address, uint64_t bytes, std::shared_ptr<PhysicalMemory> memory);
  /// Of whole mappings.
  Result unmap(uint64_t address, uint64_t bytes);
  /// Of whole mappings that leave no gap. flags: as AccessDescription has them.
  Result setAccess(uint64_t address, uint64_t bytes, int device, int flags);
  /// kInvalidValue: nothing is mapped there.
  Result access(uint64_t address, int device, int& flags) const;
  std::shared_ptr<PhysicalMemory> memoryAt(uint64_t address) const;

private:
  struct Mapping {
    uint64_t bytes = 0;
    std::shared_ptr<PhysicalMemory> memory;
    uint32_t reads = 0, writes = 0; ///< a bit for each device
  };
  using Mappings = std::map<uint64_t, Mapping>;
  struct Range {
    uint64_t bytes = 0;
    Mappings mappings; ///< by address
  };
  /// The range that holds all of [address, address + bytes).
  Range* rangeOf(uint64_t address, uint64_t bytes);
  /// The mappings that make up [address, address + bytes); false: it is not made up of whole ones.
  static bool pieces(Range& range, uint64_t address, uint64_t bytes, Mappings::iterator& first,
                     Mappings::iterator& last);
  /// Tells DeviceMemory what of a range may be touched now.
  static void tell(uint64_t address, const Range& range);
  const Mapping* mappingAt(uint64_t address) const;

  mutable std::mutex mutex_;
  std::map<uint64_t, Range> ranges_; // by address, under mutex_
};

} // namespace tiletwin::driver
