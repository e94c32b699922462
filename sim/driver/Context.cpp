// sim/driver/Context.cpp -- see Context.h.
#include "sim/driver/Context.h"
#include "sim/driver/Code.h"
#include "sim/driver/DeviceMemory.h"
#include "sim/driver/Handles.h"
#include "sim/driver/Stream.h"
#include "sim/driver/VirtualDevice.h"
#include "sim/isa/DeviceHeap.h"

namespace tiletwin::driver {

std::shared_ptr<Context> Context::make(VirtualDevice& device, unsigned flags, bool isPrimary) {
  static std::atomic<uint64_t> made{0};
  auto context = std::make_shared<Context>(device);
  context->id = ++made;
  context->flags = flags;
  context->isPrimary = isPrimary;
  context->isActive = !isPrimary;
  context->handle = static_cast<ContextHandle>(Handles<Context>::instance().add(context));
  context->clear();
  return context;
}

std::unique_lock<std::shared_mutex> Context::waitForOthers() {
  return isInHostFunction() ? std::unique_lock<std::shared_mutex>() : std::unique_lock(order);
}

std::shared_ptr<sim::DeviceHeap> Context::makeHeap() {
  const std::lock_guard lock(heapMutex_);
  if (!heap_) heap_ = std::make_shared<sim::DeviceHeap>(limits[kLimitHeap]);
  return heap_;
}

std::shared_ptr<sim::DeviceHeap> Context::heap() {
  const std::lock_guard lock(heapMutex_);
  return heap_;
}

Result Context::setLimit(int limit, size_t value) {
  constexpr size_t kLargestStack = 512 << 10, kLargestFetch = 128;
  constexpr int kFirstWithoutSyncDepth = 9; // the major number of those devices
  if (limit < 0) return cuda::kInvalidValue;
  if (limit >= kLimitCount) return kUnsupportedLimit;
  const auto heapIsMade = [&] { return heap() != nullptr; };
  switch (limit) {
  case kLimitStack:
    if (value > kLargestStack) return cuda::kInvalidValue;
    break;
  case kLimitPrintf:
  case kLimitHeap:
    if (limit == kLimitHeap ? heapIsMade() : hasPrinted.load()) return cuda::kInvalidValue;
    if (value > device.memoryBytes()) return cuda::kOutOfMemory;
    break;
  case kLimitSyncDepth:
    if (device.limits().major >= kFirstWithoutSyncDepth) return kUnsupportedLimit;
    break;
  case kLimitFetch: // a hint, which a driver brings into its range
    value = std::min(value, kLargestFetch);
    break;
  default: break;
  }
  limits[size_t(limit)] = value;
  return cuda::kSuccess;
}

void Context::clear() {
  const auto isMine = [this](const std::shared_ptr<Context>& other) { return other.get() == this; };
  Handles<Function>::instance().removeIf([&](const Function& f) { return &f.module->context() == this; });
  Handles<Module>::instance().removeIf([&](const Module& m) { return &m.context() == this; });
  Handles<Event>::instance().removeIf([&](const Event& e) { return isMine(e.context); });
  Handles<Stream>::instance().removeIf([&](const Stream& s) { return isMine(s.context()); });
  DeviceMemory::instance().releaseContext(id);
  constexpr size_t kStack = 1024, kPrintf = size_t(1) << 20, kHeap = size_t(8) << 20, kSync = 2, kPending = 2048,
                   kFetch = 128;
  size_t index = 0;
  for (const size_t value : {kStack, kPrintf, kHeap, kSync, kPending, kFetch, size_t(0)}) limits[index++] = value;
  peers = 0;
  hasPrinted = false;
  {
    const std::lock_guard lock(heapMutex_);
    heap_.reset();
  }
  error = cuda::kSuccess;
  Stream::addDefaults(*this);
}

std::vector<std::shared_ptr<Context>>& Context::stack() {
  thread_local std::vector<std::shared_ptr<Context>> contexts;
  return contexts;
}

bool& isInHostFunction() {
  thread_local bool isIn = false;
  return isIn;
}

} // namespace tiletwin::driver
