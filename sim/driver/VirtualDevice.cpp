// sim/driver/VirtualDevice.cpp -- see VirtualDevice.h.
#include "sim/driver/VirtualDevice.h"
#include "sim/driver/Context.h"
#include "sim/driver/Settings.h"
#include <algorithm>
#include <cstdio>

namespace tiletwin::driver {
namespace {

constexpr Limits kHopper{9, 0, 132, 49152, 232448, 233472, 1024, 2048, 32, 65536};
constexpr Limits kAmpere{8, 0, 108, 49152, 166912, 167936, 1024, 2048, 32, 65536};

/// An attribute that is not one of Limits: of an H200, of an A100.
struct AttributeRow {
  int number, hopper, ampere;
};
constexpr AttributeRow kAttributes[] = {
    {1, 1024, 1024},              // threads of a block
    {2, 1024, 1024},              // ... along x
    {3, 1024, 1024},              // ... y
    {4, 64, 64},                  // ... z
    {5, 0x7FFFFFFF, 0x7FFFFFFF},  // blocks of a grid along x
    {6, 65535, 65535},            // ... y
    {7, 65535, 65535},            // ... z
    {9, 65536, 65536},            // constant memory
    {10, 32, 32},                 // a warp's threads
    {11, 0x7FFFFFFF, 0x7FFFFFFF}, // pitch
    {12, 65536, 65536},           // registers of a block
    {13, 1980000, 1410000},       // clock, kHz
    {14, 512, 512},               // alignment of textures
    {15, 1, 1},                   // copies beside kernels
    {17, 0, 0},                   // a limit for a kernel's time
    {18, 0, 0},                   // integrated
    {19, 1, 1},                   // maps host memory
    {20, 0, 0},                   // compute mode: default
    {30, 512, 512},               // alignment of surfaces
    {31, 1, 1},                   // kernels beside each other
    {32, 1, 1},                   // ECC
    {35, 0, 0},                   // TCC
    {36, 3201000, 1593000},       // memory's clock, kHz
    {37, 6144, 5120},             // memory's bus, bits
    {38, 62914560, 41943040},     // L2 cache
    {40, 3, 3},                   // copy engines
    {41, 1, 1},                   // unified addresses
    {44, 0, 0},                   // gathers from textures
    {50, 0, 0},                   // PCI domain
    {51, 32, 32},                 // alignment of a texture's pitch
    {78, 1, 1},                   // priorities of streams
    {79, 1, 1},                   // L1 caches global memory
    {80, 1, 1},                   // L1 caches local memory
    {83, 1, 1},                   // managed memory
    {84, 0, 0},                   // several GPUs on a board
    {86, 0, 0},                   // atomic operations of the host
    {87, 2, 2},                   // speed of f32 / f64
    {88, 0, 0},                   // reaches pageable memory
    {89, 1, 1},                   // managed memory beside kernels
    {90, 1, 1},                   // preemption
    {91, 1, 1},                   // registered memory by the host's address
    {92, 0, 0},                   // memory operations of streams, version 1
    {93, 0, 0},
    {94, 0, 0},
    {95, 1, 1}, // cooperative launches
    {96, 0, 0}, // ... over several devices
    {98, 1, 1}, // flushes remote writes
    {99, 1, 1}, // registers host memory
    {100, 0, 0},
    {101, 0, 0},
    {102, 1, 1}, // virtual memory management
    {103, 1, 1}, // handles: file descriptors
    {104, 0, 0},
    {105, 0, 0},
    {107, 0, 0}, // compression
    {108, 0, 0}, // persisting L2
    {109, 0, 0}, // access policy windows
    {110, 0, 0},
    {112, 0, 0}, // sparse arrays
    {113, 0, 0},
    {114, 0, 0},
    {115, 1, 1}, // memory pools
    {116, 0, 0},
    {117, 0, 0},
    {118, 0, 0},
    {119, 1, 1}, // handles of pools: file descriptors
    {120, 1, 0}, // cluster launches
    {121, 0, 0},
    {122, 0, 0}, // memory operations of streams
    {123, 0, 0},
    {124, 0, 0},
    {125, 1, 1}, // events between processes
    {126, 4, 1}, // memory sync domains
    {127, 1, 0}, // tensor maps
    {128, 0, 0},
    {129, 0, 0},
    {130, 0, 0},
    {131, -1, -1},
    {132, 0, 0}, // multicast objects
    {133, 0, 0},
    {134, 0, 0},
    {135, 0, 0},
    {136, 0, 0},
    {137, 0, 0},
    {138, 0, 0},
    {139, 0x233510DE, 0x20B210DE},
    {140, 0x18BE10DE, 0x146310DE},
    {141, 0, 0},
    {142, 0, 0},
    {143, 0, 0},
    {144, 1, 1}, // pools in the host's memory
    {145, 0, 0},
    {146, 0, 0},
    {147, 0, 0},
};
/// Sizes of textures and surfaces: 21 to 29, 42 to 77 but for those above.
constexpr int kFirstTexture = 21, kLastTexture = 77;
/// Source: "CUDA C++ Programming Guide", NVIDIA, technical specifications of compute capabilities 8.0 and 9.0.
constexpr std::pair<int, int> kImageSizes[] = {
    {21, 131072}, {22, 131072},    {23, 65536},  {24, 16384}, {25, 16384},   {26, 16384}, {27, 32768}, {28, 32768},
    {29, 2048},   {42, 32768},     {43, 2048},   {45, 32768}, {46, 32768},   {47, 8192},  {48, 8192},  {49, 32768},
    {52, 32768},  {53, 32768},     {54, 2046},   {55, 32768}, {56, 131072},  {57, 65536}, {58, 16384}, {59, 16384},
    {60, 16384},  {61, 32768},     {62, 2048},   {63, 32768}, {64, 32768},   {65, 2048},  {66, 32768}, {67, 32768},
    {68, 2046},   {69, 268435456}, {70, 131072}, {71, 65000}, {72, 2097120}, {73, 32768}, {74, 32768}, {77, 32768}};

std::vector<VirtualDevice*>& devices() {
  static std::vector<VirtualDevice*>* const all = new std::vector<VirtualDevice*>;
  return *all;
}

} // namespace

VirtualDevice::VirtualDevice(int ordinal) : ordinal_(ordinal) { primary_ = Context::make(*this, 0, true); }

int VirtualDevice::count() {
  static const bool made = [] {
    for (int i = 0; i < Settings::get().devices; ++i) devices().push_back(new VirtualDevice(i));
    return true;
  }();
  (void)made;
  return int(devices().size());
}

VirtualDevice* VirtualDevice::find(int ordinal) {
  return ordinal >= 0 && ordinal < count() ? devices()[size_t(ordinal)] : nullptr;
}

// The name is that of the GPU whose attributes and arithmetic it has: clients choose by it.
const char* VirtualDevice::name() const {
  return Settings::get().isHopper ? "NVIDIA H200 (tiletwin)" : "NVIDIA A100-SXM4-80GB (tiletwin)";
}
const Limits& VirtualDevice::limits() const { return Settings::get().isHopper ? kHopper : kAmpere; }
const char* VirtualDevice::arch() const { return Settings::get().isHopper ? "sm_90a" : "sm_80"; }
uint64_t VirtualDevice::memoryBytes() const { return Settings::get().memory; }

Uuid VirtualDevice::uuid() const {
  Uuid uuid{{'t', 'i', 'l', 'e', 't', 'w', 'i', 'n', '-', 'g', 'p', 'u', 0, 0, 0, 0}};
  uuid.bytes[15] = static_cast<unsigned char>(ordinal_);
  return uuid;
}

std::string VirtualDevice::busId() const {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "0000:%02X:00.0", unsigned(ordinal_) + 1);
  return text.data();
}

bool VirtualDevice::attribute(int number, int& value) const {
  const Limits& l = limits();
  switch (number) {
  case 8: value = l.sharedPerBlock; return true;
  case 16: value = l.multiprocessors; return true;
  case 33: value = ordinal_ + 1; return true; // the PCI bus
  case 34: value = 0; return true;            // ... the device on it
  case 39: value = l.threadsPerMultiprocessor; return true;
  case 75: value = l.major; return true;
  case 76: value = l.minor; return true;
  case 81: value = l.sharedPerMultiprocessor; return true;
  case 82: value = l.registersPerMultiprocessor; return true;
  case 85: value = ordinal_; return true; // the board
  case 97: value = l.sharedOptin; return true;
  case 106: value = l.blocksPerMultiprocessor; return true;
  case 111: value = l.sharedReserved; return true;
  default: break;
  }
  const auto* row = std::find_if(std::begin(kAttributes), std::end(kAttributes),
                                 [&](const AttributeRow& r) { return r.number == number; });
  if (row != std::end(kAttributes)) {
    value = Settings::get().isHopper ? row->hopper : row->ampere;
    return true;
  }
  if (number < kFirstTexture || number > kLastTexture) return false;
  const auto* size = std::ranges::find(kImageSizes, number, &std::pair<int, int>::first);
  value = size == std::end(kImageSizes) ? 0 : size->second;
  return true;
}

bool VirtualDevice::takeMemory(uint64_t bytes) {
  uint64_t taken = taken_;
  do
    if (bytes > memoryBytes() || taken > memoryBytes() - bytes) return false;
  while (!taken_.compare_exchange_weak(taken, taken + bytes));
  return true;
}

} // namespace tiletwin::driver
