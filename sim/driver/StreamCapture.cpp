// sim/driver/StreamCapture.cpp -- a stream's work kept as a graph, instead of being done.
// Idea:      a stream that is captured knows the nodes that its next one comes behind. An event that it records holds them; a
//            stream that waits for such an event takes part from then on.
#include "sim/driver/Graph.h"
#include "sim/driver/Handles.h"
#include "sim/driver/Stream.h"
#include <algorithm>
#include <atomic>
#include <iterator>

namespace tiletwin::driver {

std::shared_ptr<Capture> Stream::capture() const {
  const std::lock_guard lock(mutex_);
  return capture_;
}

Nodes Stream::lastNodes() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

Result Stream::beginCapture(int mode, std::shared_ptr<Graph> into, const Nodes& behind) {
  constexpr int kRelaxed = 2;
  static std::atomic<uint64_t> begun{0};
  if (isLegacy()) return cuda::kStreamCaptureUnsupported;
  if (mode < 0 || mode > kRelaxed) return cuda::kInvalidValue;
  const std::lock_guard lock(mutex_);
  if (capture_) return kIllegalState;
  auto capture = std::make_shared<Capture>();
  capture->graph = into ? std::move(into) : std::make_shared<Graph>();
  capture->origin = this;
  capture->id = ++begun;
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture_ = std::move(capture);
  last_ = behind;
  return cuda::kSuccess;
}

Result Stream::endCapture(std::shared_ptr<Graph>& graph) {
  std::shared_ptr<Capture> capture;
  Nodes last;
  {
    const std::lock_guard lock(mutex_);
    if (!capture_) return kIllegalState;
    if (capture_->origin != this) return kCaptureUnmatched;
    constexpr int kRelaxed = 2;
    if (capture_->mode != kRelaxed && capture_->thread != std::this_thread::get_id())
      return cuda::kStreamCaptureWrongThread;
    capture = std::move(capture_);
    capture_ = nullptr;
    last = std::move(last_);
    last_.clear();
  }
  // What streams that joined have done last has to lead to what the origin has done last.
  Nodes reached = last;
  for (size_t i = 0; i < reached.size(); ++i) {
    const Nodes behind = reached[i]->behind;
    std::ranges::copy_if(behind, std::back_inserter(reached),
                         [&](const auto& node) { return std::ranges::find(reached, node) == reached.end(); });
  }
  Nodes ends = std::move(capture->left);
  for (Stream* stream : capture->joined) {
    const std::lock_guard lock(stream->mutex_);
    ends.insert(ends.end(), stream->last_.begin(), stream->last_.end());
    stream->capture_ = nullptr;
    stream->last_.clear();
  }
  const bool isUnjoined =
      std::ranges::any_of(ends, [&](const auto& node) { return std::ranges::find(reached, node) == reached.end(); });
  if (capture->isInvalid) return kCaptureInvalidated;
  if (isUnjoined) return kCaptureUnjoined;
  graph = capture->graph;
  return cuda::kSuccess;
}

Result Stream::setLastNodes(const Nodes& nodes, bool add) {
  const std::lock_guard lock(mutex_);
  if (!capture_) return kIllegalState;
  if (!add) last_.clear();
  for (const std::shared_ptr<GraphNode>& node : nodes)
    if (std::find(last_.begin(), last_.end(), node) == last_.end()) last_.push_back(node);
  return cuda::kSuccess;
}

Result Stream::record(const std::shared_ptr<Event>& event) {
  {
    const std::lock_guard lock(mutex_);
    if (capture_) {
      if (capture_->isInvalid) return kCaptureInvalidated;
      const std::lock_guard eventLock(event->mutex);
      event->capture = capture_;
      event->nodes = last_;
      return cuda::kSuccess;
    }
  }
  RecordWork work(event);
  return run(work);
}

Result Stream::wait(const std::shared_ptr<Event>& event) {
  std::shared_ptr<Capture> capture;
  Nodes nodes;
  {
    const std::lock_guard lock(event->mutex);
    capture = event->capture;
    nodes = event->nodes;
  }
  const std::lock_guard lock(mutex_);
  if (!capture) { // of an event outside of the capture a graph would know nothing
    if (!capture_) return cuda::kSuccess;
    capture_->isInvalid = true;
    return kCaptureIsolation;
  }
  if (capture_ && capture_ != capture) {
    capture_->isInvalid = true;
    return Result(902); // two captures would become one
  }
  if (!capture_) {
    if (isLegacy()) return kCaptureImplicit;
    capture_ = capture;
    capture->joined.push_back(this);
    last_.clear();
  }
  for (const std::shared_ptr<GraphNode>& node : nodes)
    if (std::find(last_.begin(), last_.end(), node) == last_.end()) last_.push_back(node);
  return cuda::kSuccess;
}

void Stream::leaveCapture() {
  const std::lock_guard lock(mutex_);
  if (!capture_) return;
  if (capture_->origin == this) capture_->isInvalid = true;
  std::erase(capture_->joined, this);
  capture_->left.insert(capture_->left.end(), last_.begin(), last_.end());
  capture_ = nullptr;
  last_.clear();
}

} // namespace tiletwin::driver
