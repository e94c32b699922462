// sim/driver/Work.h -- what a stream does: one piece of work, run now or kept in a graph.
// Here:      Work and its kinds but launches (Launch.h).
// Not here:  the order in which work is done (Stream.h), graphs (Graph.h).
// Invariant: work holds all that it needs by value; a graph runs it as often as it likes.
#pragma once
#include "sim/driver/Types.h"
#include <memory>

namespace tiletwin::driver {

class Context;
class Event;

class Work {
public:
  explicit Work(NodeType type) : type(type) {}
  virtual ~Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  /// Does it, on behalf of a stream of `context`. What a kernel does wrong is the context's error, not the result.
  virtual Result run(Context& context) = 0;
  const NodeType type;
};

class EmptyWork final : public Work {
public:
  EmptyWork() : Work(kNodeEmpty) {}
  Result run(Context&) override { return cuda::kSuccess; }
};

/// Up to three dimensions of bytes, from memory of this process to memory of this process.
struct CopyShape {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  size_t width = 0, height = 1, depth = 1; ///< bytes, rows, slices
  size_t fromPitch = 0, fromSlice = 0, toPitch = 0, toSlice = 0;
};
class CopyWork final : public Work {
public:
  explicit CopyWork(const CopyShape& shape) : Work(kNodeMemcpy), shape(shape) {}
  Result run(Context& context) override;
  CopyShape shape;
  Copy3D asked{}; ///< of a graph's node: as it was asked for
};

class FillWork final : public Work {
public:
  explicit FillWork(const MemsetNodeParams& params) : Work(kNodeMemset), params(params) {}
  Result run(Context& context) override;
  MemsetNodeParams params; ///< width in elements
};

class HostWork final : public Work {
public:
  explicit HostWork(const HostNodeParams& params) : Work(kNodeHost), params(params) {}
  Result run(Context& context) override;
  HostNodeParams params;
};

class RecordWork final : public Work {
public:
  explicit RecordWork(std::shared_ptr<Event> event) : Work(kNodeRecordEvent), event(std::move(event)) {}
  Result run(Context& context) override;
  std::shared_ptr<Event> event;
};

/// Work is done when it is given, so whatever an event stands for is done.
class WaitWork final : public Work {
public:
  explicit WaitWork(std::shared_ptr<Event> event) : Work(kNodeWaitEvent), event(std::move(event)) {}
  Result run(Context&) override { return cuda::kSuccess; }
  std::shared_ptr<Event> event;
};

} // namespace tiletwin::driver
