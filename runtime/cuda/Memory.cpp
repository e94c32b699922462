// runtime/cuda/Memory.cpp -- see Memory.h.
#include "runtime/cuda/Memory.h"
#include "runtime/cuda/Error.h"
#include <algorithm>
#include <array>

namespace tiletwin::cuda {

DeviceMemory::DeviceMemory(Device& device, size_t bytes) : device_(device) {
  ContextScope context(device);
  CaptureIsUnaffected capture;
  check(Driver::get().cuMemAlloc_v2(&address_, std::max<size_t>(bytes, 1)), "cuMemAlloc",
        [&] { return "allocating " + std::to_string(bytes) + " bytes on " + device.text(); });
}

DeviceMemory::~DeviceMemory() {
  try {
    ContextScope context(device_);
    CaptureIsUnaffected capture;
    Driver::get().cuMemFree_v2(address_); // fails where a fault has ended the context: nothing is left to free then
  } catch (const Error&) {}
}

static std::string copying(size_t bytes, const char* direction, const Device& device) {
  return "copying " + std::to_string(bytes) + " bytes " + direction + " " + device.text();
}

void copyToDevice(Device& device, DevicePointer to, const void* from, size_t bytes, StreamHandle stream) {
  if (bytes == 0) return;
  ContextScope context(device);
  check(Driver::get().cuMemcpyHtoDAsync_v2(to, from, bytes, stream), "cuMemcpyHtoDAsync",
        [&] { return copying(bytes, "to", device); });
}

void copyToHost(Device& device, void* to, DevicePointer from, size_t bytes, StreamHandle stream) {
  if (bytes == 0) return;
  ContextScope context(device);
  check(Driver::get().cuMemcpyDtoHAsync_v2(to, from, bytes, stream), "cuMemcpyDtoHAsync",
        [&] { return copying(bytes, "from", device); });
}

PointerFacts pointerFacts(Device& device, DevicePointer address) {
  const Driver& driver = Driver::get();
  ContextScope context(device);
  unsigned type = 0, managed = 0; // the driver writes 4 bytes of the first, 1 or 4 of the second
  int ordinal = -1;
  DevicePointer begin = 0;
  size_t bytes = 0;
  std::array<PointerAttribute, 5> wanted{kPointerMemoryType, kPointerIsManaged, kPointerDeviceOrdinal,
                                         kPointerRangeStart, kPointerRangeSize};
  std::array<void*, 5> values{&type, &managed, &ordinal, &begin, &bytes};
  check(driver.cuPointerGetAttributes(unsigned(wanted.size()), wanted.data(), values.data(), address),
        "cuPointerGetAttributes");
  PointerFacts facts;
  if (type == 0) return facts;
  facts.kind = managed                   ? PointerFacts::Kind::Managed
               : type == kMemoryTypeHost ? PointerFacts::Kind::Host
                                         : PointerFacts::Kind::Device;
  facts.device = ordinal;
  facts.begin = begin;
  facts.bytes = bytes;
  return facts;
}

} // namespace tiletwin::cuda
