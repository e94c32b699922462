// sim/driver/Stream.cpp -- see Stream.h.
#include "sim/driver/Stream.h"
#include "sim/driver/Graph.h"
#include "sim/driver/Handles.h"
#include <atomic>

namespace tiletwin::driver {

Stream::Stream(Context& context, Kind kind, unsigned flags, int priority)
    : context_(context.weak_from_this()), kind_(kind), flags_(flags), priority_(priority) {
  static std::atomic<uint64_t> made{0};
  id_ = ++made;
}

void Stream::addDefaults(Context& context) {
  context.legacy = std::make_shared<Stream>(context, Kind::Legacy, 0, 0);
  context.perThread = std::make_shared<Stream>(context, Kind::PerThread, 0, 0);
}

std::shared_ptr<Stream> Stream::find(Context& context, StreamHandle handle) {
  if (!handle || handle == kLegacyStream) return context.legacy;
  if (handle == kPerThreadStream) return context.perThread;
  return driver::find<Stream>(handle);
}

Result Stream::run(Work& work) {
  const std::shared_ptr<Context> context = context_.lock();
  if (!context) return kContextIsDestroyed;
  if (isInHostFunction()) return kNotPermitted; // its stream is at work, and would be waited for
  std::unique_lock<std::shared_mutex> alone(context->order, std::defer_lock);
  std::shared_lock<std::shared_mutex> together(context->order, std::defer_lock);
  if (isLegacy())
    alone.lock();
  else if (!(flags_ & cuda::kStreamNonBlocking))
    together.lock();
  const std::lock_guard lock(working_);
  if (const Result error = context->error) return error; // another thread's kernel
  return work.run(*context);
}

Result Stream::give(const std::shared_ptr<Work>& work) {
  {
    const std::unique_lock lock(mutex_);
    if (capture_) {
      if (capture_->isInvalid) return kCaptureInvalidated;
      std::shared_ptr<GraphNode> node;
      if (const Result result = capture_->graph->add(work, last_, node)) return result;
      last_ = {node};
      return cuda::kSuccess;
    }
  }
  return run(*work);
}

Result Stream::giveNow(Work& work) {
  {
    const std::unique_lock lock(mutex_);
    if (capture_) {
      capture_->isInvalid = true;
      return cuda::kStreamCaptureUnsupported;
    }
  }
  return run(work);
}

} // namespace tiletwin::driver
