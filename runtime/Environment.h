// runtime/Environment.h -- the TILETWIN_* environment variables the C++ side reads, parsed in one place.
// Here:      look-ups that parse, and errors that say which variable, what it held and what it may hold.
// Not here:  variables that only Python reads (python/tiletwin), and what the values mean.
// Invariant: a bad value is never ignored: it is an error that names the variable.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tiletwin::environment {

/// A TILETWIN_* variable holds what it must not. what() is a complete sentence for the user.
class Error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// The value of the variable, or nothing if it is unset or empty.
std::optional<std::string> text(const char* name);

/// A decimal number in [lowest, highest], or nothing if unset. Throws Error.
std::optional<int64_t> integer(const char* name, int64_t lowest, int64_t highest);

/// Without white space around it.
std::string_view trimmed(std::string_view text);
/// Whether a value switches its variable off: 0, false, no, off, n, none in any case, or nothing.
bool isOff(std::string_view value);

/// True for 1, true, yes, on in any case, false for what is off, or nothing if unset. Throws Error.
std::optional<bool> flag(const char* name);

/// Index of the value in `choices`, or nothing if unset. Throws Error, listing the choices.
std::optional<int> choice(const char* name, std::span<const std::string_view> choices);

/// TILETWIN_NUM_THREADS (1 .. 4096): threads a launch may use.
std::optional<int> numThreads();

/// TILETWIN_GDB: kernels become native code with debug information, one statement at a time.
bool gdb();

/// TILETWIN_DETERMINISTIC: programs run one after another in order of id.
bool deterministic();

enum class Numerics : uint8_t { Fast, Exact, Ieee };
/// TILETWIN_NUMERICS: fast (the default, also where the variable is off), exact, ieee.
Numerics numerics();

/// What every launch asks for.
struct LaunchVariables {
  bool interprets = false; ///< kernels run on the CPU, wherever tensors live: the rule of docs/environment.md
  bool mayBeEager = false; ///< TILETWIN_EAGER, _PROGRAM, _RECORD or _BREAK holds something
  std::string numerics;    ///< TILETWIN_NUMERICS as it stands, not parsed
  std::string gdb;         ///< the same of TILETWIN_GDB
  std::string check;       ///< the same of TILETWIN_CHECK
  std::string backend;     ///< the word in TILETWIN_BACKEND; empty: none
};
/// Reads the environment only where it has changed since this thread last asked: that took a tenth of a small launch.
/// Throws Error: TILETWIN_BACKEND.
/// `tiletwin._activate.interprets` is the same rule in Python; tests/data/interprets.txt holds both to it.
std::shared_ptr<const LaunchVariables> launchVariables();

} // namespace tiletwin::environment
