// sim/driver/ManagedCalls.cpp -- advice on managed memory, prefetches, and questions about both.
// Source:    "CUDA Driver API", NVIDIA, cuMemAdvise and cuMemRangeGetAttribute: a range has what all of its parts have.
#include "sim/driver/Call.h"
#include "sim/driver/ManagedAdvice.h"
#include "sim/driver/MemoryApi.h"
#include "sim/driver/VirtualDevice.h"
#include <algorithm>
#include <iterator>
#include <span>

namespace tiletwin::driver {

ManagedAdvice& ManagedAdvice::instance() {
  static auto* const all = new ManagedAdvice; // clients free memory at their exit
  return *all;
}

/// Forgets what was said of memory that is gone.
void ManagedAdvice::forgetOthers() {
  std::erase_if(parts_, [](const auto& entry) {
    const std::optional<Allocation> now = DeviceMemory::instance().find(entry.second.begin()->first);
    return !now || now->number != entry.first;
  });
}

void ManagedAdvice::change(const Allocation& memory, uint64_t begin, uint64_t bytes,
                           const std::function<void(Advice&)>& change) {
  const std::lock_guard lock(mutex_);
  if (!parts_.contains(memory.number)) forgetOthers();
  Parts& parts = parts_[memory.number];
  if (parts.empty()) parts[memory.begin] = {};
  const auto cut = [&](uint64_t at) {
    if (at < memory.end()) parts.emplace(at, std::prev(parts.upper_bound(at))->second);
  };
  cut(begin);
  cut(begin + bytes);
  for (auto at = parts.find(begin); at != parts.end() && at->first < begin + bytes; ++at) change(at->second);
}

std::vector<Advice> ManagedAdvice::of(const Allocation& memory, uint64_t begin, uint64_t bytes) const {
  const std::lock_guard lock(mutex_);
  const auto known = parts_.find(memory.number);
  if (known == parts_.end()) return {Advice()};
  std::vector<Advice> found;
  const Parts& parts = known->second;
  for (auto at = std::prev(parts.upper_bound(begin)); at != parts.end() && at->first < begin + bytes; ++at)
    found.push_back(at->second);
  return found;
}

namespace {

enum LocationType : int { kNowhere, kOnDevice, kOnHost, kOnNode, kOnThisNode };
constexpr int kHostDevice = -1, kNoDevice = -2;

/// body(the managed memory that holds a range).
template <class Body> Result onManaged(DevicePointer address, size_t bytes, const Body& body) noexcept {
  return inContext([&](Context&) {
    const std::optional<Allocation> found = DeviceMemory::instance().find(address);
    if (!found || !bytes || found->kind != MemoryKind::Managed || bytes > found->end() - address)
      return cuda::kInvalidValue;
    return body(*found);
  });
}

Location locationOf(DeviceHandle device) {
  return device == kHostDevice ? Location{kOnHost, 0} : Location{kOnDevice, device};
}

/// This machine has one node of memory, as far as clients see.
Result check(Location& location) {
  if (location.type == kOnThisNode) location = {kOnNode, 0};
  if (location.type == kOnDevice) return VirtualDevice::find(location.id) ? cuda::kSuccess : cuda::kInvalidDevice;
  if (location.type == kOnNode) return location.id == 0 ? cuda::kSuccess : cuda::kInvalidDevice;
  return location.type == kOnHost ? cuda::kSuccess : cuda::kInvalidValue;
}

Result prefetch(DevicePointer address, size_t bytes, Location location) {
  return onManaged(address, bytes, [&](const Allocation& memory) {
    if (const Result result = check(location)) return result;
    ManagedAdvice::instance().change(memory, address, bytes, [&](Advice& a) { a.prefetched = location; });
    return cuda::kSuccess;
  });
}

enum AdviceKind : int {
  kSetReadMostly = 1,
  kUnsetReadMostly,
  kSetPreferred,
  kUnsetPreferred,
  kSetAccessedBy,
  kUnsetAccessedBy,
};

Result advise(DevicePointer address, size_t bytes, int advice, Location location) {
  return onManaged(address, bytes, [&](const Allocation& memory) {
    if (advice < kSetReadMostly || advice > kUnsetAccessedBy) return cuda::kInvalidValue;
    const bool namesPlace = advice == kSetPreferred || advice >= kSetAccessedBy;
    if (const Result result = namesPlace ? check(location) : cuda::kSuccess) return result;
    const uint32_t bit = location.type == kOnDevice ? uint32_t(1) << unsigned(location.id) : Advice::kHostBit;
    ManagedAdvice::instance().change(memory, address, bytes, [&](Advice& a) {
      switch (advice) {
      case kSetReadMostly:
      case kUnsetReadMostly: a.isReadMostly = advice == kSetReadMostly; break;
      case kSetPreferred: a.preferred = location; break;
      case kUnsetPreferred: a.preferred = {}; break;
      case kSetAccessedBy: a.accessedBy |= bit; break;
      default: a.accessedBy &= ~bit; break;
      }
    });
    return cuda::kSuccess;
  });
}

enum RangeQuery : int {
  kReadMostly = 1,
  kPreferred,
  kAccessedBy,
  kPrefetched,
  kPreferredType,
  kPreferredId,
  kPrefetchedType,
  kPrefetchedId,
};

/// What all parts have, or nowhere.
Location common(std::span<const Advice> parts, Location Advice::* which) {
  const Location first = parts[0].*which;
  const bool isOne = std::ranges::all_of(
      parts, [&](const Advice& a) { return (a.*which).type == first.type && (a.*which).id == first.id; });
  return isOne ? first : Location{};
}

int deviceOf(Location location) {
  return location.type == kOnDevice ? location.id : location.type == kNowhere ? kNoDevice : kHostDevice;
}

Result answer(int* data, size_t bytes, int query, std::span<const Advice> parts) {
  if (!data || bytes < sizeof(int) || bytes % sizeof(int)) return cuda::kInvalidValue;
  const std::span<int> out(data, bytes / sizeof(int));
  if (query != kAccessedBy && out.size() != 1) return cuda::kInvalidValue;
  const Location preferred = common(parts, &Advice::preferred), prefetched = common(parts, &Advice::prefetched);
  switch (query) {
  case kReadMostly: out[0] = std::ranges::all_of(parts, &Advice::isReadMostly); break;
  case kPreferred: out[0] = deviceOf(preferred); break;
  case kPrefetched: out[0] = deviceOf(prefetched); break;
  case kPreferredType: out[0] = preferred.type; break;
  case kPreferredId: out[0] = preferred.id; break;
  case kPrefetchedType: out[0] = prefetched.type; break;
  case kPrefetchedId: out[0] = prefetched.id; break;
  case kAccessedBy: {
    uint32_t all = ~uint32_t(0);
    for (const Advice& a : parts) all &= a.accessedBy;
    size_t count = 0;
    if (all & Advice::kHostBit) out[count++] = kHostDevice;
    for (int device = 0; device < VirtualDevice::count() && count < out.size(); ++device)
      if (all >> unsigned(device) & 1) out[count++] = device;
    std::fill(out.begin() + std::ptrdiff_t(count), out.end(), kNoDevice);
    break;
  }
  default: return cuda::kInvalidValue;
  }
  return cuda::kSuccess;
}

} // namespace

extern "C" {

Result cuMemPrefetchAsync(DevicePointer address, size_t bytes, DeviceHandle device, StreamHandle stream) {
  return prefetch(address, bytes, locationOf(device));
}
Result cuMemPrefetchAsync_v2(DevicePointer address, size_t bytes, Location location, unsigned flags,
                             StreamHandle stream) {
  return prefetch(address, bytes, location);
}
// Each location is that of the ranges from the index in `firsts` on.
Result cuMemPrefetchBatchAsync(DevicePointer* addresses, size_t* bytes, size_t count, Location* locations,
                               size_t* firsts, size_t places, unsigned long long flags, StreamHandle stream) {
  if (!addresses || !bytes || !count || !locations || !firsts || !places || places > count || firsts[0] || flags)
    return cuda::kInvalidValue;
  for (size_t i = 0, place = 0; i < count; ++i) {
    while (place + 1 < places && firsts[place + 1] <= i) ++place;
    if (const Result result = prefetch(addresses[i], bytes[i], locations[place])) return result;
  }
  return cuda::kSuccess;
}
// What is discarded may keep its content: nobody may rely on either.
Result cuMemDiscardBatchAsync(DevicePointer* addresses, size_t* bytes, size_t count, unsigned long long flags,
                              StreamHandle stream) {
  if (!addresses || !bytes || !count || flags) return cuda::kInvalidValue;
  for (size_t i = 0; i < count; ++i)
    if (const Result result = onManaged(addresses[i], bytes[i], [](const Allocation&) { return cuda::kSuccess; }))
      return result;
  return cuda::kSuccess;
}
Result cuMemDiscardAndPrefetchBatchAsync(DevicePointer* addresses, size_t* bytes, size_t count, Location* locations,
                                         size_t* firsts, size_t places, unsigned long long flags, StreamHandle stream) {
  if (const Result result = cuMemDiscardBatchAsync(addresses, bytes, count, flags, stream)) return result;
  return cuMemPrefetchBatchAsync(addresses, bytes, count, locations, firsts, places, flags, stream);
}
Result cuMemAdvise(DevicePointer address, size_t bytes, int advice, DeviceHandle device) {
  return advise(address, bytes, advice, locationOf(device));
}
Result cuMemAdvise_v2(DevicePointer address, size_t bytes, int advice, Location location) {
  return advise(address, bytes, advice, location);
}

Result cuMemRangeGetAttribute(void* data, size_t dataBytes, int query, DevicePointer address, size_t bytes) {
  return onManaged(address, bytes, [&](const Allocation& memory) {
    return answer(static_cast<int*>(data), dataBytes, query, ManagedAdvice::instance().of(memory, address, bytes));
  });
}

Result cuMemRangeGetAttributes(void** data, size_t* dataBytes, int* queries, size_t count, DevicePointer address,
                               size_t bytes) {
  return onManaged(address, bytes, [&](const Allocation& memory) {
    if (!data || !dataBytes || !queries || !count) return cuda::kInvalidValue;
    const std::vector<Advice> parts = ManagedAdvice::instance().of(memory, address, bytes);
    for (size_t i = 0; i < count; ++i)
      if (const Result result = answer(static_cast<int*>(data[i]), dataBytes[i], queries[i], parts)) return result;
    return cuda::kSuccess;
  });
}

} // extern "C"
} // namespace tiletwin::driver
