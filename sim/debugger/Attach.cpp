#include "sim/debugger/Attach.h"
#include "runtime/Environment.h"
#include "sim/debugger/Debugger.h"
#include "sim/debugger/Json.h"
#include "sim/machine/Program.h"
#include <unistd.h>

namespace tiletwin::sim::debugger {
namespace {

/// What the launches of a process have in common.
struct Session {
  explicit Session(const std::string& path) : channel(path) {
    Json hello;
    hello.object([&] { hello.field("event", "hello").field("process", getpid()); });
    channel.send(hello.text());
  }
  Channel channel;
  std::mutex mutex;      ///< held by the launch that is looked at
  uint64_t launches = 0; ///< under mutex
};

std::optional<std::string> socketPath() { return environment::text("TILETWIN_DEBUG"); }

/// Made by the first launch; the socket stays open until the process ends.
Session& session() {
  static Session* const one = new Session(socketPath().value_or(""));
  return *one;
}

} // namespace

bool isWanted() { return socketPath().has_value(); }

Attached::Attached(Grid& grid) {
  if (!isWanted() || !session().channel.isOpen()) return;
  session().mutex.lock();
  debugger_ = std::make_unique<Debugger>(grid, session().channel, ++session().launches);
  grid.observers.push_back(debugger_.get());
  grid.keeper = debugger_.get();
}

Attached::~Attached() {
  if (!debugger_) return;
  debugger_.reset();
  session().mutex.unlock();
}

} // namespace tiletwin::sim::debugger
