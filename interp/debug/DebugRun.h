// interp/debug/DebugRun.h -- running plans for a native debugger.
#pragma once
#include "interp/run/Frame.h"
#include <functional>

namespace tiletwin::interp {

/// A launch's turn with the debugger, which looks at one launch at a time: those of other threads wait for its end.
class DebugTurn {
public:
  enum class State : uint8_t {
    Taken,
    Nested, ///< this thread has the turn already: it launches inside of a hook
    GivenUp ///< `goOn` has said so
  };
  /// Waits for the turn, and asks `goOn` every few milliseconds.
  explicit DebugTurn(const std::function<bool()>& goOn);
  ~DebugTurn();
  DebugTurn(const DebugTurn&) = delete;
  DebugTurn& operator=(const DebugTurn&) = delete;
  State state() const { return state_; }

private:
  struct Turns;
  Turns& turns_;
  State state_;
};

/// In its turn: makes ready what a launch of `plan` needs: native code (once per plan), and what the gdb script reads. Empty, or what
/// went wrong, for the user.
std::string beginDebugLaunch(const Plan& plan, const LaunchParams& params, LaunchState& launch);
void endDebugLaunch();
/// As execute(), through native code.
Step executeDebug(const Plan& plan, Frame& frame);

} // namespace tiletwin::interp
