// sim/isa/MbarrierState.h -- the 64 bits of an mbarrier object in shared memory, and what happens to them.
//
// Here:      phase, pending and expected arrivals, bytes on their way; arrive, drop, expect, complete, tests.
// Not here:  instructions (Mbarrier.cpp), copies that signal one (AsyncQueue.cpp).
// Source:    "PTX ISA", NVIDIA, section "mbarrier": phases, arrive-on, expect-tx and complete-tx operations. The layout is
//            opaque there; this one is the simulator's own.
// Invariant: an object that init() has not made is told apart from one that it has by its two top bits.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tiletwin::sim {

/// bits 0-19: arrivals still to come; 20-39: arrivals a phase wants; 40-60: bytes still to come, signed; 61: parity of the
/// current phase; 62-63: 2 for every live object.
class MbarrierState {
public:
  static constexpr int64_t kMaxArrivals = (1 << 20) - 1, kMaxBytes = (1 << 20) - 1;

  /// What an operation came to; anything but None and PhaseEnds is a mistake of the kernel, and changes nothing.
  enum class Outcome : uint8_t { None, PhaseEnds, NoObject, TooManyArrivals, BadCount, TooManyBytes };

  MbarrierState() = default;
  explicit constexpr MbarrierState(uint64_t bits) : bits_(bits) {}
  static constexpr MbarrierState init(uint32_t arrivals) { return pack(arrivals, arrivals, 0, false); }
  static constexpr bool isCount(int64_t arrivals) { return arrivals >= 1 && arrivals <= kMaxArrivals; }

  static MbarrierState read(const std::byte* at) {
    uint64_t bits;
    __builtin_memcpy(&bits, at, sizeof bits);
    return MbarrierState(bits);
  }
  void write(std::byte* at) const { __builtin_memcpy(at, &bits_, sizeof bits_); }

  constexpr uint64_t bits() const { return bits_; }
  constexpr bool isLive() const { return bits_ >> 62 == kLive; }
  constexpr uint32_t pending() const { return uint32_t(bits_ & kMaxArrivals); }
  constexpr uint32_t expected() const { return uint32_t(bits_ >> 20 & kMaxArrivals); }
  constexpr int32_t bytes() const { return int32_t(bits_ >> 40 & kBytesMask) - kBytesBias; }
  /// Of the phase that runs: false, true, false, ... from init on.
  constexpr bool parity() const { return bits_ >> 61 & 1; }

  /// Has the phase of this parity ended? Only the current phase and the one before it can be asked for.
  constexpr bool hasEnded(bool phaseParity) const { return phaseParity != parity(); }

  /// Arrive-on with a count; `drop`: the phases that follow expect that many fewer.
  constexpr Outcome arrive(int64_t count, bool drop = false) {
    if (!isLive()) return Outcome::NoObject;
    if (!isCount(count)) return Outcome::BadCount;
    if (count > pending() || (drop && count > expected())) return Outcome::TooManyArrivals;
    *this = pack(uint32_t(pending() - count), uint32_t(expected() - (drop ? count : 0)), bytes(), parity());
    return endPhase();
  }
  /// One more arrival is to come in this phase (cp.async.mbarrier.arrive without .noinc).
  constexpr Outcome addPending(int64_t count) {
    if (!isLive()) return Outcome::NoObject;
    if (pending() + count > kMaxArrivals) return Outcome::BadCount;
    *this = pack(uint32_t(pending() + count), expected(), bytes(), parity());
    return Outcome::None;
  }
  constexpr Outcome expectBytes(int64_t count) {
    if (!isLive()) return Outcome::NoObject;
    if (count < 0 || count > kMaxBytes || bytes() + count > kMaxBytes) return Outcome::TooManyBytes;
    *this = pack(pending(), expected(), int32_t(bytes() + count), parity());
    return Outcome::None;
  }
  constexpr Outcome completeBytes(int64_t count) {
    if (!isLive()) return Outcome::NoObject;
    if (count < 0 || count > kMaxBytes || bytes() - count < -kMaxBytes) return Outcome::TooManyBytes;
    *this = pack(pending(), expected(), int32_t(bytes() - count), parity());
    return endPhase();
  }

private:
  static constexpr uint64_t kLive = 2, kBytesMask = (1 << 21) - 1;
  static constexpr int32_t kBytesBias = 1 << 20;

  static constexpr MbarrierState pack(uint32_t pending, uint32_t expected, int32_t bytes, bool parity) {
    return MbarrierState(kLive << 62 | uint64_t(parity) << 61 | uint64_t(bytes + kBytesBias) << 40 |
                         uint64_t(expected) << 20 | pending);
  }
  constexpr Outcome endPhase() {
    if (pending() != 0 || bytes() != 0) return Outcome::None;
    *this = pack(expected(), expected(), 0, !parity());
    return Outcome::PhaseEnds;
  }

  uint64_t bits_ = 0;
};

} // namespace tiletwin::sim
