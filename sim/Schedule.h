// sim/Schedule.h -- TILETWIN_SIM_SCHEDULE: what a launch leaves to chance that a GPU leaves open.
// Here:      the words and what they mean.
// Not here:  whose turn it is (machine/Turns.h), how copies land (isa/AsyncQueue.cpp).
// Invariant: without a seed nothing is drawn.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace tiletwin::sim {

/// When copies and products land that are on their way.
enum class CopyTime : uint8_t {
  Late,  ///< when somebody waits for them
  Early, ///< when they are issued
  Drawn, ///< each one as chance has it: early, late, or in between
};

struct Schedule {
  /// Of what decides which warp of a cluster runs next, and for how long; nothing: warps take turns in order.
  std::optional<uint64_t> seed;

  CopyTime copies = CopyTime::Late;

  /// Words joined by commas: "turns" or "seed:N", "copies=late", "copies=early" or "copies=drawn". Throws environment::Error, which names the variable and says what it may hold.
  static Schedule parse(std::string_view text);
  /// As TILETWIN_SIM_SCHEDULE says. Throws environment::Error.
  static Schedule ofEnvironment();
};

} // namespace tiletwin::sim
