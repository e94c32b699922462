#include "sim/machine/Memory.h"
#include "sim/machine/Fragments.h"
#include "sim/machine/LocalMemory.h"
#include "sim/machine/Observer.h"
#include "sim/machine/TrapText.h"
#include <algorithm>
#include <cstring>

namespace tiletwin::sim {
namespace {

/// The lowest and the highest address of the active lanes; `bits` has those of the lowest 12 bits that any of them has, and some of a
/// window's if any of them lies in a window.
struct Span {
  uint64_t low, high, bits;
};
constexpr uint64_t kAlignmentBits = 0xFFF, kFarthest = uint64_t(1) << 31;

Span spanOf(LaneMask active, const uint64_t* addresses) {
  const uint64_t first = addresses[__builtin_ctz(active)];
  Span span{first, first, first};
  if (active == kAllLanes) {
    // Nearly always lane i is at first + i * stride; that takes a third of the time of 32 minima and maxima of 64 bits.
    const uint64_t stride = addresses[1] - first, last = addresses[kLanes - 1];
    uint64_t expected = first, different = 0;
    for (int i = 0; i < kLanes; ++i, expected += stride) different |= addresses[i] ^ expected;
    const bool isNear = stride + kFarthest < 2 * kFarthest; // of what wraps around, the ends alone say too little
    if (!different && isNear)
      return {std::min(first, last), std::max(first, last), first | last | (stride & kAlignmentBits)};
    for (int i = 0; i < kLanes; ++i) {
      span.low = std::min(span.low, addresses[i]);
      span.high = std::max(span.high, addresses[i]);
      span.bits |= addresses[i];
    }
    return span;
  }
  for (int i = 0; i < kLanes; ++i) {
    const uint64_t a = active >> i & 1 ? addresses[i] : first;
    span.low = std::min(span.low, a);
    span.high = std::max(span.high, a);
    span.bits |= a;
  }
  return span;
}

/// True if `bytes` bytes at `at` end in front of `end`, wherever in 64 bits `at` is.
bool endsBefore(uint64_t at, uint64_t bytes, uint64_t end) { return at <= end && bytes <= end - at; }

/// Of all lanes; what lanes that are not active hold may be no offset at all.
void addOffsets(const std::byte* first, uint64_t stride, const uint64_t* offsets, std::byte** host) {
  const auto base = reinterpret_cast<uint64_t>(first);
  for (int i = 0; i < kLanes; ++i) host[i] = reinterpret_cast<std::byte*>(base + uint64_t(i) * stride + offsets[i]);
}

const char* verb(const Access& access) {
  return access.kind == AccessKind::Read ? "reads " : access.kind == AccessKind::Write ? "writes " : "updates ";
}

std::string hex(uint64_t value) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  do text.insert(text.begin(), kDigits[value & 15]);
  while (value >>= 4);
  return "0x" + text;
}

std::string accessText(const Access& access, uint64_t bytes) {
  return verb(access) + std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

/// Raises the trap of one lane that reaches outside of what `region` is; false.
bool outside(const Access& access, Warp& warp, int lane, uint64_t address, uint64_t bytes, std::string_view region,
             int64_t offset, uint64_t regionBytes, bool known = true) {
  Trap trap;
  trap.kind = TrapKind::OutOfBounds;
  trap.buffer = region;
  trap.offset = offset;
  trap.bufferBytes = int64_t(regionBytes);
  trap.accessBytes = int64_t(bytes);
  trap.address = address;
  trap.message = accessText(access, bytes);
  if (known)
    trap.message +=
        " at offset " + std::to_string(offset) + " of " + trap.buffer + ", which has " + std::to_string(regionBytes);
  else
    trap.message += " at " + hex(address) + ", where the launch has no memory";
  raise(warp, std::move(trap), lane);
  return false;
}

bool misaligned(const Access& access, Warp& warp, LaneMask active, const uint64_t* addresses) {
  LaneMask wrong = 0;
  eachLane(active, [&](int lane) { wrong |= LaneMask((addresses[lane] & (access.alignment - 1)) != 0) << lane; });
  const int lane = __builtin_ctz(wrong);
  Trap trap;
  trap.kind = TrapKind::Misaligned;
  trap.address = addresses[lane];
  trap.accessBytes = access.bytes;
  trap.message = accessText(access, access.bytes) + " at " + hex(addresses[lane]) + ", which is no multiple of " +
                 std::to_string(access.alignment);
  raise(warp, std::move(trap), lane);
  return false;
}

// ---- Global memory -----------------------------------------------------------------------------------------------------------------

/// The trap of an access to no memory of the launch; false.
bool outsideGlobal(const Access& access, Warp& warp, int lane, uint64_t at, uint64_t bytes) {
  const MemoryRange* near = warp.cta->cluster->grid->addresses.nearest(at);
  if (!near) return outside(access, warp, lane, at, bytes, "", 0, 0, false);
  return outside(access, warp, lane, at, bytes, near->name, int64_t(at - near->begin), near->end - near->begin);
}

bool isReadOnly(const Access& access, Warp& warp, int lane, const MemoryRange& range) {
  if (!range.readOnly || access.kind == AccessKind::Read) return false;
  Trap trap = Trap::of(TrapKind::ReadOnly,
                       accessText(access, access.bytes) + " of " + std::string(range.name) + ", which is read-only");
  trap.buffer = range.name;
  raise(warp, std::move(trap), lane);
  return true;
}

/// The range among the warp's last four, a byte each, that holds [low, high): the next access is to one of them, nearly always.
inline const MemoryRange* recentRange(const Warp& warp, const AddressMap& map, uint64_t low, uint64_t high) {
  uint32_t recents = warp.recentRanges;
  for (uint32_t i = 0; i < 4; ++i, recents >>= 8) {
    const size_t recent = recents & 0xFF;
    if (recent < map.size() && map[recent].contains(low, high)) return &map[recent];
  }
  return nullptr;
}

/// True if one range holds [low, high) and may be accessed so; a trap may have been raised if not. The warp remembers the range.
[[gnu::noinline]] bool findGlobal(const Access& access, Warp& warp, int lane, uint64_t low, uint64_t high) {
  const AddressMap& map = warp.cta->cluster->grid->addresses;
  const int found = map.find(low, high);
  if (found < 0) return false;
  if (found <= 0xFF) warp.recentRanges = warp.recentRanges << 8 | uint32_t(found);
  return !isReadOnly(access, warp, lane, map[size_t(found)]);
}

inline bool checkGlobal(const Access& access, Warp& warp, int lane, uint64_t low, uint64_t high) {
  if (low > high) return false;
  const MemoryRange* recent = recentRange(warp, warp.cta->cluster->grid->addresses, low, high);
  if (recent && (!recent->readOnly || access.kind == AccessKind::Read)) [[likely]]
    return true;
  return findGlobal(access, warp, lane, low, high);
}

bool globalLanes(const Access& access, Warp& warp, LaneMask active, const Span& span, const uint64_t* addresses,
                 std::byte** host) {
  Grid& grid = *warp.cta->cluster->grid;
  if (grid.params->checks.bounds) [[likely]] {
    if (!checkGlobal(access, warp, __builtin_ctz(active), span.low, span.high + access.bytes)) {
      // Lanes may be in several buffers, or one of them is in none.
      for (LaneMask left = active; left; left &= left - 1) {
        if (grid.stop) return false;
        const int lane = __builtin_ctz(left);
        const uint64_t at = addresses[lane];
        if (checkGlobal(access, warp, lane, at, at + access.bytes)) continue;
        if (grid.stop) return false;
        return outsideGlobal(access, warp, lane, at, access.bytes);
      }
    }
  }
  std::memcpy(host, addresses, sizeof(uint64_t) * kLanes); // a global address is the host's
  return true;
}

// ---- Shared, local and parameter memory --------------------------------------------------------------------------------------------

/// Host memory of a shared address, or null with a trap raised.
std::byte* sharedAt(const Access& access, Warp& warp, int lane, uint64_t address, uint64_t bytes) {
  Cluster& cluster = *warp.cta->cluster;
  const uint64_t rank = address >> kSharedRankShift, offset = address & kSharedOffsetMask;
  if (rank >= cluster.ctas.size()) {
    outside(access, warp, lane, address, bytes,
            "shared memory of the CTA of rank " + std::to_string(rank) + " (the cluster has " +
                std::to_string(cluster.ctas.size()) + ")",
            int64_t(offset), 0);
    return nullptr;
  }
  Cta& cta = cluster.ctas[rank];
  if (offset + bytes <= cta.shared.size()) return cta.shared.data() + offset;
  outside(access, warp, lane, address, bytes,
          &cta == warp.cta ? "shared memory" : "shared memory of the CTA of rank " + std::to_string(rank),
          int64_t(offset), cta.shared.size());
  return nullptr;
}

bool sharedLanes(const Access& access, Warp& warp, LaneMask active, const Span& span, const uint64_t* addresses,
                 std::byte** host) {
  Cta& cta = *warp.cta;
  const uint64_t base = uint64_t(cta.rank) << kSharedRankShift;
  if (span.low >= base && endsBefore(span.high - base, access.bytes, cta.shared.size())) [[likely]] {
    const auto shared = reinterpret_cast<uint64_t>(cta.shared.data()) - base;
    addOffsets(reinterpret_cast<std::byte*>(shared), 0, addresses, host);
    return true;
  }
  for (LaneMask left = active; left; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    host[lane] = sharedAt(access, warp, lane, addresses[lane], access.bytes);
    if (!host[lane]) return false;
  }
  return true;
}

bool localLanes(const Access& access, Warp& warp, LaneMask active, const Span& span, const uint64_t* addresses,
                std::byte** host) {
  const uint64_t end = warp.running->frame->localEnd;
  if (!endsBefore(span.high, access.bytes, end)) {
    LaneMask wrong = 0;
    eachLane(active, [&](int lane) { wrong |= LaneMask(!endsBefore(addresses[lane], access.bytes, end)) << lane; });
    const int lane = __builtin_ctz(wrong);
    return outside(access, warp, lane, addresses[lane], access.bytes, "local memory", int64_t(addresses[lane]), end);
  }
  const uint64_t bytes = warp.cta->localBytes;
  std::byte* first = warp.cta->local.data() + uint64_t(warp.index) * kLanes * bytes;
  addOffsets(first, bytes, addresses, host);
  return true;
}

bool parameterLanes(const Access& access, Warp& warp, LaneMask active, const Span& span, const uint64_t* addresses,
                    std::byte** host) {
  std::vector<std::byte>& parameters = warp.cta->cluster->grid->parameters;
  const int lane = __builtin_ctz(active);
  if (access.kind != AccessKind::Read)
    return warp.fail(TrapKind::ReadOnly,
                     accessText(access, access.bytes) + " of the kernel's parameters, which are read-only", lane);
  if (!endsBefore(span.high, access.bytes, parameters.size())) {
    LaneMask wrong = 0;
    eachLane(active,
             [&](int i) { wrong |= LaneMask(!endsBefore(addresses[i], access.bytes, parameters.size())) << i; });
    const int bad = __builtin_ctz(wrong);
    return outside(access, warp, bad, addresses[bad], access.bytes, "the parameters", int64_t(addresses[bad]),
                   parameters.size());
  }
  addOffsets(parameters.data(), 0, addresses, host);
  return true;
}

bool lanesOf(Space space, const Access& access, Warp& warp, LaneMask active, const Span& span,
             const uint64_t* addresses, std::byte** host) {
  switch (space) {
  case Space::Shared: return sharedLanes(access, warp, active, span, addresses, host);
  case Space::Local: return localLanes(access, warp, active, span, addresses, host);
  case Space::Param: return parameterLanes(access, warp, active, span, addresses, host);
  default: return globalLanes(access, warp, active, span, addresses, host);
  }
}

bool genericLanes(const Access& access, Warp& warp, LaneMask active, const Span& span, const uint64_t* addresses,
                  std::byte** host) {
  if (!(span.bits & kWindowMask)) return globalLanes(access, warp, active, span, addresses, host);
  for (LaneMask left = active; left;) { // the lanes of each window together
    const Space space = spaceOfGeneric(addresses[__builtin_ctz(left)]);
    LaneMask group = 0;
    alignas(kLaneAlignment) uint64_t inWindow[kLanes] = {};
    alignas(kLaneAlignment) std::byte* found[kLanes];
    eachLane(left, [&](int lane) {
      if (spaceOfGeneric(addresses[lane]) != space) return;
      group |= LaneMask(1) << lane;
      inWindow[lane] = space == Space::Global ? addresses[lane] : addresses[lane] & ~kWindowMask;
    });
    if (!lanesOf(space, access, warp, group, spanOf(group, inWindow), inWindow, found)) return false;
    eachLane(group, [&](int lane) { host[lane] = found[lane]; });
    left &= ~group;
  }
  return true;
}

} // namespace

Space spaceOfGeneric(uint64_t address) {
  switch (address & kWindowMask) {
  case kSharedWindow: return Space::Shared;
  case kLocalWindow: return Space::Local;
  case kParameterWindow: return Space::Param;
  default: return Space::Global;
  }
}

bool resolve(const Access& access, Warp& warp, LaneMask active, const uint64_t* addresses, std::byte** host) {
  if (!active) return true;
  const Span span = spanOf(active, addresses);
  if (span.bits & (access.alignment - 1)) [[unlikely]]
    return misaligned(access, warp, active, addresses);
  const bool ok = access.space == Space::None ? genericLanes(access, warp, active, span, addresses, host)
                                              : lanesOf(access.space, access, warp, active, span, addresses, host);
  if (!ok) return false;
  if (access.kind == AccessKind::Atomic || access.semantics != Semantics::Weak) ++warp.polls;
  for (Observer* observer : warp.cta->cluster->grid->observers) observer->access(warp, access, active, addresses, host);
  return true;
}

std::byte* resolveBlock(const Access& access, Warp& warp, int lane, uint64_t address, uint64_t bytes) {
  Grid& grid = *warp.cta->cluster->grid;
  const bool generic = access.space == Space::None;
  const Space space = generic ? spaceOfGeneric(address) : access.space;
  const uint64_t at = generic && space != Space::Global ? address & ~kWindowMask : address;
  if (at & (access.alignment - 1)) {
    Access block = access;
    block.bytes = uint32_t(bytes);
    alignas(kLaneAlignment) uint64_t addresses[kLanes] = {};
    addresses[lane & (kLanes - 1)] = at;
    misaligned(block, warp, LaneMask(1) << (lane & (kLanes - 1)), addresses);
    return nullptr;
  }
  std::byte* host = nullptr;
  if (space == Space::Shared) {
    host = sharedAt(access, warp, lane, at, bytes);
  } else if (space == Space::Global || space == Space::Const) {
    if (!grid.params->checks.bounds || checkGlobal(access, warp, lane, at, at + bytes)) {
      host = reinterpret_cast<std::byte*>(at);
    } else if (!grid.stop) {
      outsideGlobal(access, warp, lane, at, bytes);
    }
  } else {
    Access block = access;
    block.bytes = uint32_t(bytes);
    alignas(kLaneAlignment) uint64_t addresses[kLanes];
    alignas(kLaneAlignment) std::byte* found[kLanes];
    std::fill_n(addresses, kLanes, at);
    const LaneMask one = LaneMask(1) << (lane & (kLanes - 1));
    if (lanesOf(space, block, warp, one, spanOf(one, addresses), addresses, found)) host = found[lane & (kLanes - 1)];
  }
  if (host)
    for (Observer* observer : grid.observers) observer->block(warp, access, lane, address, host, bytes);
  return host;
}

void laneAddresses(Warp& warp, Slot base, bool isWide, int64_t offset, uint64_t* addresses) {
  if (!base) {
    for (int i = 0; i < kLanes; ++i) addresses[i] = uint64_t(offset);
  } else if (isWide) {
    const uint64_t* from = warp.lanes<uint64_t>(base);
    for (int i = 0; i < kLanes; ++i) addresses[i] = from[i] + uint64_t(offset);
  } else {
    const uint32_t* from = warp.lanes<uint32_t>(base);
    for (int i = 0; i < kLanes; ++i) addresses[i] = uint32_t(from[i] + uint32_t(offset));
  }
}

} // namespace tiletwin::sim
