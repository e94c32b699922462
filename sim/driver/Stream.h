// sim/driver/Stream.h -- streams and events: in which order work is done.
// Here:      Stream, Event, the stream of a handle.
// Not here:  work (Work.h), graphs (Graph.h).
// Idea:      work is done by the thread that gives it, before the call returns. So a stream's work is done in its order,
//            whatever an event stands for is done when it is recorded, and the legacy stream waits for nothing but other
//            threads. A GPU may do less by then; a program that waits as it must cannot tell.
// Invariant: one thread at a time works for a stream; no thread does while one works for the legacy stream of the context,
//            but on streams made with CU_STREAM_NON_BLOCKING.
#pragma once
#include "sim/driver/Context.h"
#include "sim/driver/Work.h"
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace tiletwin::driver {

class Graph;
class GraphNode;
using Nodes = std::vector<std::shared_ptr<GraphNode>>;

/// What is given to a stream becomes a graph. One object for all streams that take part.
struct Capture {
  std::shared_ptr<Graph> graph;
  Stream* origin = nullptr;
  uint64_t id = 0;
  int mode = 0; ///< CU_STREAM_CAPTURE_MODE_*
  bool isInvalid = false;
  std::thread::id thread;
  std::vector<Stream*> joined; ///< streams that take part, but the origin
  Nodes left;                  ///< what streams that are gone have done last
};

class Event {
public:
  static constexpr unsigned kHandleKind = 2;
  Event(std::shared_ptr<Context> context, unsigned flags) : context(std::move(context)), flags(flags) {}
  const std::shared_ptr<Context> context;
  const unsigned flags;
  EventHandle handle = nullptr;
  std::mutex mutex;
  std::optional<std::chrono::steady_clock::time_point> time; ///< of the last record, under mutex
  std::shared_ptr<Capture> capture;                          ///< the last record was captured; under mutex
  Nodes nodes;                                               ///< ... behind these, under mutex
};

class Stream {
public:
  static constexpr unsigned kHandleKind = 1;
  enum class Kind : uint8_t { Made, Legacy, PerThread };
  Stream(Context& context, Kind kind, unsigned flags, int priority);

  /// The stream of a handle in the thread's context, its default ones included; null: there is none.
  static std::shared_ptr<Stream> find(Context& context, StreamHandle handle);
  /// Makes the default streams of a new context.
  static void addDefaults(Context& context);

  /// Does the work, or keeps it where the stream is captured. Blocks while other threads work for it.
  Result give(const std::shared_ptr<Work>& work);
  /// The same on behalf of a call that may not be captured: kStreamCaptureUnsupported, and the capture is invalid.
  Result giveNow(Work& work);

  std::shared_ptr<Context> context() const { return context_.lock(); }
  bool isLegacy() const { return kind_ == Kind::Legacy; }
  uint64_t id() const { return id_; }
  unsigned flags() const { return flags_; }
  int priority() const { return priority_; }

  // ---- Capture; StreamCapture.cpp
  Result beginCapture(int mode, std::shared_ptr<Graph> into, const Nodes& behind);
  Result endCapture(std::shared_ptr<Graph>& graph);
  std::shared_ptr<Capture> capture() const;
  Nodes lastNodes() const;
  Result setLastNodes(const Nodes& nodes, bool add);
  Result record(const std::shared_ptr<Event>& event);
  Result wait(const std::shared_ptr<Event>& event);
  void leaveCapture();

private:
  Result run(Work& work);

  std::weak_ptr<Context> context_;
  const Kind kind_;
  const unsigned flags_;
  const int priority_;
  uint64_t id_ = 0;
  std::mutex working_; ///< held while work is done
  mutable std::mutex mutex_;
  std::shared_ptr<Capture> capture_; // under mutex_
  Nodes last_;                       // of the capture: what the next node comes behind, under mutex_
};

} // namespace tiletwin::driver
