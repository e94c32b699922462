// sim/driver/VirtualMemory.cpp -- see VirtualMemory.h.
#include "sim/driver/VirtualMemory.h"
#include "sim/driver/DeviceMemory.h"
#include "sim/driver/VirtualDevice.h"
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <iterator>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tiletwin::driver {
namespace {

constexpr std::string_view kFileName = "tiletwin-gpu-memory-"; ///< and the device's number: what a sent file tells

void* placeOf(uint64_t address) { return reinterpret_cast<void*>(address); } // NOLINT: an address

bool isWhole(uint64_t number) { return number && number % VirtualMemory::kGranularity == 0; }

} // namespace

std::shared_ptr<PhysicalMemory> PhysicalMemory::make(VirtualDevice& device, uint64_t bytes,
                                                     const AllocationProperties& properties) {
  if (!device.takeMemory(bytes)) return nullptr;
  const int file = memfd_create((std::string(kFileName) + std::to_string(device.ordinal())).c_str(), MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, off_t(bytes))) {
    if (file >= 0) close(file);
    device.giveMemory(bytes);
    return nullptr;
  }
  return std::shared_ptr<PhysicalMemory>(new PhysicalMemory(device, bytes, properties, file, true));
}

std::shared_ptr<PhysicalMemory> PhysicalMemory::import(int file) {
  std::error_code error;
  const std::string name = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(file), error).string();
  const std::string start = "/memfd:" + std::string(kFileName);
  struct stat found{};
  if (error || !name.starts_with(start) || fstat(file, &found) != 0) return nullptr;
  int number = -1;
  std::from_chars(name.data() + start.size(), name.data() + name.size(), number);
  VirtualDevice* const device = VirtualDevice::find(number);
  if (!device || !isWhole(uint64_t(found.st_size))) return nullptr;
  const int own = fcntl(file, F_DUPFD_CLOEXEC, 0);
  if (own < 0) return nullptr;
  constexpr int kPinned = 1, kOnDevice = 1;
  AllocationProperties properties{};
  properties.type = kPinned;
  properties.handleTypes = kFileDescriptor;
  properties.location = {kOnDevice, device->ordinal()};
  const auto bytes = uint64_t(found.st_size);
  return std::shared_ptr<PhysicalMemory>(new PhysicalMemory(*device, bytes, properties, own, false));
}

PhysicalMemory::~PhysicalMemory() {
  close(file);
  if (isOwn_) device.giveMemory(bytes);
}

VirtualMemory& VirtualMemory::instance() {
  static auto* const all = new VirtualMemory; // clients free memory at their exit
  return *all;
}

Result VirtualMemory::reserve(uint64_t bytes, uint64_t alignment, uint64_t& address) {
  const uint64_t unit = std::max(alignment, kGranularity);
  if (!isWhole(bytes) || (alignment & (alignment - 1)) || bytes > UINT64_MAX - unit) return cuda::kInvalidValue;
  void* const made = mmap(nullptr, bytes + unit, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (made == MAP_FAILED) return cuda::kOutOfMemory;
  const auto begin = reinterpret_cast<uint64_t>(made);
  address = (begin + unit - 1) / unit * unit;
  if (address > begin) munmap(made, address - begin);
  if (const uint64_t rest = begin + unit - address) munmap(placeOf(address + bytes), rest);
  const std::lock_guard lock(mutex_);
  ranges_[address].bytes = bytes;
  DeviceMemory::instance().reserve(address, bytes);
  return cuda::kSuccess;
}

Result VirtualMemory::free(uint64_t address, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto at = ranges_.find(address);
  if (at == ranges_.end() || at->second.bytes != bytes || !at->second.mappings.empty()) return cuda::kInvalidValue;
  DeviceMemory::instance().giveBack(address);
  munmap(placeOf(address), bytes);
  ranges_.erase(at);
  return cuda::kSuccess;
}

VirtualMemory::Range* VirtualMemory::rangeOf(uint64_t address, uint64_t bytes) {
  auto next = ranges_.upper_bound(address);
  if (next == ranges_.begin()) return nullptr;
  auto& [begin, range] = *std::prev(next);
  return address - begin <= range.bytes && bytes <= range.bytes - (address - begin) ? &range : nullptr;
}

Result VirtualMemory::map(uint64_t address, uint64_t bytes, std::shared_ptr<PhysicalMemory> memory) {
  const std::lock_guard lock(mutex_);
  Range* const range = rangeOf(address, bytes);
  if (!range || bytes != memory->bytes || address % kGranularity) return cuda::kInvalidValue;
  const auto next = range->mappings.lower_bound(address);
  if (next != range->mappings.end() && next->first < address + bytes) return cuda::kInvalidValue;
  if (next != range->mappings.begin())
    if (const auto before = std::prev(next); before->first + before->second.bytes > address) return cuda::kInvalidValue;
  if (mmap(placeOf(address), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory->file, 0) == MAP_FAILED)
    return cuda::kOutOfMemory;
  range->mappings.emplace(address, Mapping{bytes, std::move(memory), 0, 0});
  return cuda::kSuccess;
}

bool VirtualMemory::pieces(Range& range, uint64_t address, uint64_t bytes, Mappings::iterator& first,
                           Mappings::iterator& last) {
  uint64_t next = address;
  first = last = range.mappings.find(address);
  while (last != range.mappings.end() && last->first == next && next < address + bytes) {
    next += last->second.bytes;
    ++last;
  }
  return bytes && next == address + bytes;
}

Result VirtualMemory::unmap(uint64_t address, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  Range* const range = rangeOf(address, bytes);
  Mappings::iterator first, last;
  if (!range || !pieces(*range, address, bytes, first, last)) return cuda::kInvalidValue;
  range->mappings.erase(first, last);
  tell(std::prev(ranges_.upper_bound(address))->first, *range);
  constexpr int kAnew = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  return mmap(placeOf(address), bytes, PROT_NONE, kAnew, -1, 0) == MAP_FAILED ? cuda::kUnknown : cuda::kSuccess;
}

Result VirtualMemory::setAccess(uint64_t address, uint64_t bytes, int device, int flags) {
  const std::lock_guard lock(mutex_);
  Range* const range = rangeOf(address, bytes);
  Mappings::iterator first, last;
  if (!range || !pieces(*range, address, bytes, first, last)) return cuda::kInvalidValue;
  const uint32_t bit = uint32_t(1) << device;
  for (; first != last; ++first) {
    Mapping& mapping = first->second;
    mapping.reads = flags & kAccessRead ? mapping.reads | bit : mapping.reads & ~bit;
    mapping.writes = flags & kAccessWrite ? mapping.writes | bit : mapping.writes & ~bit;
  }
  tell(std::prev(ranges_.upper_bound(address))->first, *range);
  return cuda::kSuccess;
}

void VirtualMemory::tell(uint64_t address, const Range& range) {
  DeviceMemory& known = DeviceMemory::instance();
  known.giveBack(address);
  known.reserve(address, range.bytes);
  Allocation run;
  const auto add = [&] {
    if (run.readers) (void)known.add(run); // it meets nothing: the range is its own
  };
  for (const auto& [begin, mapping] : range.mappings) {
    if (run.bytes && run.end() == begin && run.readers == mapping.reads && run.writers == mapping.writes) {
      run.bytes += mapping.bytes;
      continue;
    }
    add();
    run = {};
    run.begin = begin;
    run.bytes = mapping.bytes;
    run.kind = MemoryKind::Virtual;
    run.device = &mapping.memory->device;
    run.context = UINT64_MAX; // of none
    run.readers = mapping.reads;
    run.writers = mapping.writes;
  }
  add();
}

const VirtualMemory::Mapping* VirtualMemory::mappingAt(uint64_t address) const {
  auto next = ranges_.upper_bound(address);
  if (next == ranges_.begin()) return nullptr;
  const Range& range = std::prev(next)->second;
  auto mapping = range.mappings.upper_bound(address);
  if (mapping == range.mappings.begin()) return nullptr;
  --mapping;
  return address - mapping->first < mapping->second.bytes ? &mapping->second : nullptr;
}

Result VirtualMemory::access(uint64_t address, int device, int& flags) const {
  const std::lock_guard lock(mutex_);
  const Mapping* mapping = mappingAt(address);
  if (!mapping) return cuda::kInvalidValue;
  flags = (mapping->reads >> device & 1 ? kAccessRead : 0) | (mapping->writes >> device & 1 ? kAccessWrite : 0);
  return cuda::kSuccess;
}

std::shared_ptr<PhysicalMemory> VirtualMemory::memoryAt(uint64_t address) const {
  const std::lock_guard lock(mutex_);
  const Mapping* mapping = mappingAt(address);
  return mapping ? mapping->memory : nullptr;
}

} // namespace tiletwin::driver
