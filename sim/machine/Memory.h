// sim/machine/Memory.h -- from addresses of a warp's lanes to host memory, with every check on the way.
//
// Here:      state spaces as generic addresses, Access, resolve() and resolveBlock(): no instruction reads or writes memory
//            without one of them.
// Not here:  what ld, st, atom and copies do with the memory (isa/); who looks on (Observer.h).
// Idea:      global addresses are host addresses. Shared, local and parameter memory have windows that no host address lies in.
#pragma once
#include "sim/machine/Warp.h"
#include "sim/ptx/Ptx.h"

namespace tiletwin::sim {

/// Generic addresses of the windows; bits 24 to 31 of a shared address are the CTA's rank in its cluster (as in shared::cluster
/// addresses), the low 24 its offset.
inline constexpr uint64_t kSharedWindow = uint64_t(1) << 56, kLocalWindow = uint64_t(2) << 56,
                          kParameterWindow = uint64_t(3) << 56, kWindowMask = uint64_t(0xFF) << 56;
inline constexpr uint32_t kSharedRankShift = 24;
inline constexpr uint64_t kSharedOffsetMask = (uint64_t(1) << kSharedRankShift) - 1;

/// The space an instruction names; None: generic. Shared is shared::cta and shared::cluster.
using Space = ptx::Space;
/// The space of a generic address, by its window.
Space spaceOfGeneric(uint64_t address);

enum class AccessKind : uint8_t { Read, Write, Atomic };
enum class Semantics : uint8_t { Weak, Relaxed, Acquire, Release, AcquireRelease, Volatile, Mmio };
enum class Scope : uint8_t { None, Cta, Cluster, Gpu, Sys };
enum class Proxy : uint8_t { Generic, Async, Tensormap };

struct Access {
  Space space = Space::None;
  AccessKind kind = AccessKind::Read;
  uint32_t bytes = 4; ///< per lane, of the whole vector
  uint32_t alignment = 4;
  Semantics semantics = Semantics::Weak;
  Scope scope = Scope::None;
  Proxy proxy = Proxy::Generic;
  bool nonCoherent = false; ///< ld.global.nc
  bool isLate = false;      ///< cp.async: what is resolved now is written when the copy lands (Observer::lands)
  /// Writes what the instruction writes for some of its lanes; host[i] as Observer::access is told. Of st only, else null.
  void (*write)(const Inst& in, Warp& warp, LaneMask lanes, std::byte* const* host) = nullptr;
};

/// host[i] for each active lane; addresses are in the access's space, generic where it is None. False: a trap was raised.
bool resolve(const Access& access, Warp& warp, LaneMask active, const uint64_t* addresses, std::byte** host);

/// `bytes` bytes in one run, on behalf of one lane (bulk copies, matrices in shared memory). Null: a trap was raised.
std::byte* resolveBlock(const Access& access, Warp& warp, int lane, uint64_t address, uint64_t bytes);

/// The 64-bit addresses of an instruction's lanes from a 4- or 8-byte register (or none) and an offset.
void laneAddresses(Warp& warp, Slot base, bool isWide, int64_t offset, uint64_t* addresses);

} // namespace tiletwin::sim
