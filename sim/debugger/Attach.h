// sim/debugger/Attach.h -- what the rest of the simulator knows of the debugger.
// Not here:  what the debugger does (Debugger.h), how it is talked to (Channel.h).
// Idea:      the debugger's face is another process (python/tiletwin/debugger). TILETWIN_DEBUG names its socket. So one engine serves
//            every program that runs kernels here, scripts of Triton and clients of the driver alike, and the program keeps its
//            terminal.
#pragma once
#include <memory>

namespace tiletwin::sim {

struct Grid;

namespace debugger {

class Debugger;

/// Does TILETWIN_DEBUG ask for a debugger?
bool isWanted();

/// The debugger of one launch; as long as it lives, no other launch of the process has one. Throws environment::Error if nobody
/// listens at the socket.
class Attached {
public:
  explicit Attached(Grid& grid); ///< nothing happens unless isWanted()
  ~Attached();
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;
  explicit operator bool() const { return bool(debugger_); }

private:
  std::unique_ptr<Debugger> debugger_;
};

} // namespace debugger
} // namespace tiletwin::sim
