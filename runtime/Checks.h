// runtime/Checks.h -- which checks TILETWIN_CHECK asks for.
// Here:      the names of the checks, the set of them, its parsing.
// Not here:  what a check does to the code (ir/Checks.h), what it found (Findings.h).
// Invariant: a word that names no check is an error that lists the words; the empty set costs a launch nothing.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace tiletwin {

/// In the order of the words of TILETWIN_CHECK.
enum class Check : uint8_t {
  Bounds,        ///< accesses outside of an argument's view, inside of its storage
  Uninitialized, ///< reads of memory that nobody wrote
  Undefined,     ///< lanes masked off without `other` that reach something that matters
  Races,         ///< programs that access the same bytes without order
  Order,         ///< results that depend on the order of programs
  Nan,           ///< NaN or infinity made by the kernel
  Overflow,      ///< integers that do not fit, divisions by zero
  Promises,      ///< multiple_of, max_contiguous, max_constancy, assume, divisibility that do not hold
  Device,        ///< what a GPU would refuse
  Barriers, ///< stores that other threads of a program read too early; in the simulator: barriers that part of a warp
            ///< comes to, or with counts that do not fit
  Async,    ///< of the simulator: results that are used before they are waited for, missing proxy fences
  Count
};

/// "bounds": the word of a check in TILETWIN_CHECK, and in findings.
const char* nameOf(Check check);
/// The check of a word; Check::Count if there is none.
Check checkOf(std::string_view word);

/// A value of TILETWIN_CHECK.
struct CheckSet {
  uint32_t bits = 0;  ///< 1 << Check
  bool raise = false; ///< findings raise CheckError after the launch
  std::string device; ///< "h100" of "device:h100"; empty: none was named
  bool has(Check check) const { return bits >> unsigned(check) & 1; }
  explicit operator bool() const { return bits != 0; }
  /// The part that changes what is compiled and planned, for keys of caches.
  uint32_t codeBits() const { return bits & ~(1u << unsigned(Check::Device) | 1u << unsigned(Check::Async)); }
  /// Whether accesses to memory are probed.
  bool looksAtMemory() const {
    return has(Check::Bounds) || has(Check::Uninitialized) || has(Check::Races) || has(Check::Order) ||
           has(Check::Barriers);
  }
};

/// Words joined by commas: names of checks, "device:NAME", "all", "raise" (alone: all of them and raise), "0" or "off" for
/// none. Throws environment::Error.
CheckSet parseChecks(std::string_view text);
/// The same for TILETWIN_CHECK as it stands now.
CheckSet wantedChecks();

} // namespace tiletwin
