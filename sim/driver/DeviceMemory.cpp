// sim/driver/DeviceMemory.cpp -- see DeviceMemory.h.
#include "sim/driver/DeviceMemory.h"
#include "sim/driver/Settings.h"
#include "sim/driver/VirtualDevice.h"
#include <algorithm>
#include <sys/mman.h>
#include <unistd.h>

namespace tiletwin::driver {
namespace {

constexpr uint64_t kPage = 4096, kMostReserved = uint64_t(1) << 44, kLeastReserved = uint64_t(1) << 32;

uint64_t pagesOf(uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

const char* wordOf(MemoryKind kind) {
  switch (kind) {
  case MemoryKind::Device: return "device memory ";
  case MemoryKind::Pool: return "pool memory ";
  case MemoryKind::Managed: return "managed memory ";
  case MemoryKind::Host: return "pinned host memory ";
  case MemoryKind::Registered: return "registered host memory ";
  case MemoryKind::Virtual: return "virtual memory ";
  case MemoryKind::Array: return "array ";
  case MemoryKind::Imported: return "memory of another process ";
  case MemoryKind::Module: break;
  }
  return "";
}

} // namespace

DeviceMemory& DeviceMemory::instance() {
  static DeviceMemory* const memory = new DeviceMemory; // clients free memory at their exit
  return *memory;
}

DeviceMemory::DeviceMemory() {
  // Pages that nobody touches cost nothing, but a limit on addresses may stand in the way of the largest range.
  for (uint64_t bytes = kMostReserved; bytes >= kLeastReserved; bytes /= 2) {
    void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) continue;
    madvise(at, bytes, MADV_DONTDUMP);
    cursor_ = first_ = reinterpret_cast<uint64_t>(at);
    last_ = first_ + bytes;
    return;
  }
}

/// Where `bytes` bytes and a page behind them are free, or 0. The next place is behind the last one, as long as there is one.
uint64_t DeviceMemory::place(uint64_t bytes) {
  const uint64_t wanted = pagesOf(bytes) + kPage;
  if (wanted < bytes || wanted > last_ - first_) return 0;
  for (int pass = 0; pass < 2; ++pass) {
    auto next = allocations_.upper_bound(cursor_);
    if (next != allocations_.begin()) // one that reaches over the cursor
      if (const Allocation& before = std::prev(next)->second; isOurs(before.begin))
        cursor_ = std::max(cursor_, before.begin + pagesOf(before.bytes) + kPage);
    for (; cursor_ + wanted <= last_; ++next) {
      if (next == allocations_.end() || !isOurs(next->first) || cursor_ + wanted <= next->first) {
        const uint64_t at = cursor_;
        cursor_ += wanted;
        return at;
      }
      cursor_ = next->first + pagesOf(next->second.bytes) + kPage;
    }
    cursor_ = first_;
  }
  return 0;
}

Result DeviceMemory::allocate(Allocation wanted, uint64_t& address) {
  const bool counts = !wanted.isOfHost();
  if (counts && !wanted.device->takeMemory(wanted.bytes)) return cuda::kOutOfMemory;
  const std::unique_lock lock(mutex_);
  wanted.begin = place(wanted.bytes);
  if (!wanted.begin) {
    if (counts) wanted.device->giveMemory(wanted.bytes);
    return cuda::kOutOfMemory;
  }
  wanted.number = made_++;
  address = wanted.begin;
  allocations_.emplace(address, std::move(wanted));
  snapshots_.clear();
  return cuda::kSuccess;
}

Result DeviceMemory::add(Allocation known) {
  const std::unique_lock lock(mutex_);
  const auto next = allocations_.lower_bound(known.begin);
  if ((next != allocations_.end() && next->first < known.end()) ||
      (next != allocations_.begin() && std::prev(next)->second.end() > known.begin))
    return kHostMemoryAlreadyRegistered;
  known.number = made_++;
  const uint64_t begin = known.begin;
  allocations_.emplace(begin, std::move(known));
  snapshots_.clear();
  return cuda::kSuccess;
}

void DeviceMemory::forget(std::map<uint64_t, Allocation>::iterator at) {
  const Allocation& gone = at->second;
  if (gone.file >= 0) close(gone.file);
  if (gone.file >= 0 || gone.kind == MemoryKind::Imported) // the range's own pages again
    mmap(reinterpret_cast<void*>(gone.begin), pagesOf(gone.bytes), PROT_READ | PROT_WRITE, // NOLINT: an address
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (isOurs(gone.begin)) {
    if (!gone.isOfHost() && gone.kind != MemoryKind::Imported) gone.device->giveMemory(gone.bytes);
    madvise(reinterpret_cast<void*>(gone.begin), pagesOf(gone.bytes), MADV_DONTNEED); // NOLINT: an address
  }
  allocations_.erase(at);
  snapshots_.clear();
}

Result DeviceMemory::release(uint64_t address, const std::function<bool(const Allocation&)>& accept) {
  const std::unique_lock lock(mutex_);
  const auto at = allocations_.find(address);
  if (at == allocations_.end() || !accept(at->second)) return cuda::kInvalidValue;
  forget(at);
  return cuda::kSuccess;
}

Result DeviceMemory::share(uint64_t address, int& file, uint64_t& bytes) {
  const std::unique_lock lock(mutex_);
  const auto at = allocations_.find(address);
  if (at == allocations_.end()) return cuda::kInvalidValue;
  Allocation& shared = at->second;
  if (shared.kind != MemoryKind::Device && shared.kind != MemoryKind::Pool) return cuda::kInvalidValue;
  bytes = shared.bytes;
  file = shared.file;
  if (file >= 0) return cuda::kSuccess;
  const size_t pages = pagesOf(bytes);
  void* const own = reinterpret_cast<void*>(address); // NOLINT: an address
  file = memfd_create("tiletwin", MFD_CLOEXEC);
  if (file < 0) return kOperatingSystem;
  bool isGood = ftruncate(file, off_t(pages)) == 0;
  for (size_t done = 0; isGood && done < pages;) {
    const ssize_t written = pwrite(file, static_cast<const char*>(own) + done, pages - done, off_t(done));
    isGood = written > 0;
    done += isGood ? size_t(written) : 0;
  }
  if (!isGood || mmap(own, pages, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED) {
    close(file);
    return kOperatingSystem;
  }
  shared.file = file;
  return cuda::kSuccess;
}

Result DeviceMemory::import(Allocation wanted, int file, uint64_t& address) {
  const std::unique_lock lock(mutex_);
  address = wanted.begin = place(wanted.bytes);
  if (!address) return cuda::kOutOfMemory;
  void* const at = reinterpret_cast<void*>(address); // NOLINT: an address
  if (mmap(at, pagesOf(wanted.bytes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
    return kOperatingSystem;
  wanted.number = made_++;
  allocations_.emplace(address, std::move(wanted));
  snapshots_.clear();
  return cuda::kSuccess;
}

void DeviceMemory::reserve(uint64_t address, uint64_t bytes) {
  const std::unique_lock lock(mutex_);
  ranges_[address] = bytes;
}

void DeviceMemory::giveBack(uint64_t address) {
  const std::unique_lock lock(mutex_);
  const auto range = ranges_.find(address);
  if (range == ranges_.end()) return;
  const uint64_t end = address + range->second;
  for (auto at = allocations_.lower_bound(address); at != allocations_.end() && at->first < end;) forget(at++);
  ranges_.erase(range);
}

bool DeviceMemory::isReserved(uint64_t address) const {
  const auto next = ranges_.upper_bound(address);
  return next != ranges_.begin() && address - std::prev(next)->first < std::prev(next)->second;
}

void DeviceMemory::releaseContext(uint64_t context) {
  const std::unique_lock lock(mutex_);
  for (auto at = allocations_.begin(); at != allocations_.end();) {
    const auto here = at++;
    if (here->second.context == context) forget(here);
  }
}

const Allocation* DeviceMemory::holderOf(uint64_t address) const {
  const auto next = allocations_.upper_bound(address);
  if (next == allocations_.begin()) return nullptr;
  const Allocation& found = std::prev(next)->second;
  return address < found.end() ? &found : nullptr;
}

std::optional<Allocation> DeviceMemory::find(uint64_t address) const {
  const std::shared_lock lock(mutex_);
  const Allocation* found = holderOf(address);
  return found ? std::optional(*found) : std::nullopt;
}

bool DeviceMemory::mayAccess(uint64_t address, uint64_t bytes) const {
  if (!bytes) return true;
  const std::shared_lock lock(mutex_);
  if (const Allocation* found = holderOf(address); found && found->kind != MemoryKind::Registered)
    return bytes <= found->end() - address;
  return !isOurs(address) && !isReserved(address);
}

std::shared_ptr<const std::vector<Buffer>> DeviceMemory::buffers(const VirtualDevice& device, uint32_t peers) {
  {
    const std::shared_lock lock(mutex_);
    for (const Snapshot& known : snapshots_)
      if (known.device == &device && known.peers == peers) return known.buffers;
  }
  const std::unique_lock lock(mutex_);
  auto buffers = std::make_shared<std::vector<Buffer>>();
  for (const auto& [begin, allocation] : allocations_) {
    if (allocation.kind == MemoryKind::Module) continue; // the launch knows its own, others are nobody's business
    if (allocation.kind == MemoryKind::Array) continue;
    const bool isEverybodys = allocation.isOfHost() || allocation.kind == MemoryKind::Managed;
    if (allocation.kind == MemoryKind::Virtual) {
      if (!(allocation.readers >> device.ordinal() & 1)) continue;
    } else if (!isEverybodys && allocation.device != &device && !(peers >> allocation.device->ordinal() & 1))
      continue;
    Buffer buffer;
    buffer.name = wordOf(allocation.kind) + std::to_string(allocation.number);
    buffer.begin = buffer.viewBegin = begin;
    const bool toPage = isOurs(begin) && !Settings::get().isExact; // the page is the allocation's own
    buffer.end = buffer.viewEnd = toPage ? begin + pagesOf(allocation.bytes) : allocation.end();
    buffer.readOnly = allocation.kind == MemoryKind::Virtual && !(allocation.writers >> device.ordinal() & 1);
    buffers->push_back(std::move(buffer));
  }
  snapshots_.push_back({&device, peers, buffers});
  return buffers;
}

} // namespace tiletwin::driver
