// sim/driver/StreamCalls.cpp -- the driver's functions on streams and events.
#include "sim/driver/Call.h"
#include "sim/driver/DeviceMemory.h"
#include "sim/driver/Handles.h"
#include "sim/driver/MemoryApi.h"
#include "sim/driver/Stream.h"
#include "sim/driver/VirtualDevice.h"
#include <algorithm>

namespace tiletwin::driver {
namespace {

template <class Body> Result onStream(StreamHandle handle, const Body& body) noexcept {
  return inContext([&](Context& context) {
    const std::shared_ptr<Stream> stream = Stream::find(context, handle);
    return stream ? body(stream) : kInvalidHandle;
  });
}

template <class Body> Result onEvent(EventHandle handle, const Body& body) noexcept {
  return inContext([&](Context&) {
    const std::shared_ptr<Event> event = find<Event>(handle);
    return event ? body(event) : kInvalidHandle;
  });
}

/// What cuStreamAddCallback has: it wants the stream's handle and state.
class CallbackWork final : public Work {
public:
  CallbackWork(StreamCallback callback, StreamHandle stream, void* data)
      : Work(kNodeHost), callback_(callback), stream_(stream), data_(data) {}
  Result run(Context&) override {
    isInHostFunction() = true;
    callback_(stream_, cuda::kSuccess, data_);
    isInHostFunction() = false;
    return cuda::kSuccess;
  }

private:
  StreamCallback callback_;
  StreamHandle stream_;
  void* data_;
};

/// Waits for other threads' work; a stream that is captured has nothing to wait for, and that is an error.
Result waitFor(const std::shared_ptr<Stream>& stream) {
  EmptyWork nothing;
  return stream->giveNow(nothing);
}

/// Of an event: of one that was captured, nothing can be asked.
Result stateOfEvent(Event& event) {
  const std::lock_guard lock(event.mutex);
  return event.capture ? kCapturedEvent : cuda::kSuccess;
}

} // namespace

extern "C" {

Result cuStreamCreateWithPriority(StreamHandle* handle, unsigned flags, int priority) {
  return inContext([&](Context& context) {
    int least = 0, greatest = 0;
    if (!handle || flags > cuda::kStreamNonBlocking) return cuda::kInvalidValue;
    if (const Result result = cuCtxGetStreamPriorityRange(&least, &greatest)) return result;
    auto stream = std::make_shared<Stream>(context, Stream::Kind::Made, flags, std::clamp(priority, greatest, least));
    *handle = static_cast<StreamHandle>(Handles<Stream>::instance().add(std::move(stream)));
    return cuda::kSuccess;
  });
}
Result cuStreamCreate(StreamHandle* handle, unsigned flags) { return cuStreamCreateWithPriority(handle, flags, 0); }

Result cuStreamDestroy_v2(StreamHandle handle) {
  return inContext([&](Context&) {
    const std::shared_ptr<Stream> stream = Handles<Stream>::instance().take(handle);
    if (!stream) return kInvalidHandle;
    stream->leaveCapture();
    return cuda::kSuccess;
  });
}

Result cuStreamGetPriority(StreamHandle handle, int* priority) {
  return onStream(handle, [&](const std::shared_ptr<Stream>& stream) {
    if (!priority) return cuda::kInvalidValue;
    *priority = stream->priority();
    return cuda::kSuccess;
  });
}

Result cuStreamGetFlags(StreamHandle handle, unsigned* flags) {
  return onStream(handle, [&](const std::shared_ptr<Stream>& stream) {
    if (!flags) return cuda::kInvalidValue;
    *flags = stream->flags();
    return cuda::kSuccess;
  });
}

Result cuStreamGetId(StreamHandle handle, unsigned long long* id) {
  return onStream(handle, [&](const std::shared_ptr<Stream>& stream) {
    if (!id) return cuda::kInvalidValue;
    *id = stream->id();
    return cuda::kSuccess;
  });
}

Result cuStreamGetCtx(StreamHandle handle, ContextHandle* context) {
  return onStream(handle, [&](const std::shared_ptr<Stream>& stream) {
    const std::shared_ptr<Context> owner = stream->context();
    if (!context) return cuda::kInvalidValue;
    if (!owner) return kContextIsDestroyed;
    *context = owner->handle;
    return cuda::kSuccess;
  });
}

Result cuStreamGetDevice(StreamHandle handle, DeviceHandle* device) {
  return onStream(handle, [&](const std::shared_ptr<Stream>& stream) {
    const std::shared_ptr<Context> owner = stream->context();
    if (!device) return cuda::kInvalidValue;
    if (!owner) return kContextIsDestroyed;
    *device = owner->device.ordinal();
    return cuda::kSuccess;
  });
}

Result cuStreamWaitEvent(StreamHandle handle, EventHandle eventHandle, unsigned flags) {
  return onStream(handle, [&](const std::shared_ptr<Stream>& stream) {
    const std::shared_ptr<Event> event = find<Event>(eventHandle);
    return event ? stream->wait(event) : kInvalidHandle;
  });
}

Result cuStreamAddCallback(StreamHandle handle, StreamCallback callback, void* data, unsigned flags) {
  return onStream(handle, [&](const std::shared_ptr<Stream>& stream) {
    if (!callback || flags) return cuda::kInvalidValue;
    CallbackWork work(callback, handle, data);
    return stream->giveNow(work);
  });
}

Result cuStreamAttachMemAsync(StreamHandle handle, DevicePointer address, size_t bytes, unsigned flags) {
  return onStream(handle, [&](const std::shared_ptr<Stream>&) {
    const std::optional<Allocation> found = DeviceMemory::instance().find(address);
    return found && found->kind == MemoryKind::Managed ? cuda::kSuccess : cuda::kInvalidValue;
  });
}

Result cuStreamIsCapturing(StreamHandle handle, int* status) {
  return onStream(handle, [&](const std::shared_ptr<Stream>& stream) {
    enum { kNone, kActive, kInvalidated };
    if (!status) return cuda::kInvalidValue;
    const std::shared_ptr<Capture> capture = stream->capture();
    *status = !capture ? kNone : capture->isInvalid ? kInvalidated : kActive;
    return cuda::kSuccess;
  });
}

// What other threads do meanwhile ends no capture here, so every mode is as good as relaxed.
Result cuThreadExchangeStreamCaptureMode(int* mode) {
  thread_local int current = 0;
  if (!mode || *mode < 0 || *mode > cuda::kCaptureModeRelaxed) return cuda::kInvalidValue;
  std::swap(*mode, current);
  return cuda::kSuccess;
}

Result cuStreamQuery(StreamHandle handle) { return onStream(handle, waitFor); }
Result cuStreamSynchronize(StreamHandle handle) { return onStream(handle, waitFor); }

Result cuEventCreate(EventHandle* handle, unsigned flags) {
  return inContext([&](Context& context) {
    if (!handle || flags > (kEventBlockingSync | kEventDisableTiming | kEventInterprocess)) return cuda::kInvalidValue;
    if (flags & kEventInterprocess && !(flags & kEventDisableTiming)) return cuda::kInvalidValue;
    auto event = std::make_shared<Event>(context.shared_from_this(), flags);
    *handle = event->handle = static_cast<EventHandle>(Handles<Event>::instance().add(event));
    return cuda::kSuccess;
  });
}

Result cuEventRecordWithFlags(EventHandle handle, StreamHandle streamHandle, unsigned flags) {
  return onEvent(handle, [&](const std::shared_ptr<Event>& event) {
    const std::shared_ptr<Stream> stream = Stream::find(*Context::current(), streamHandle);
    if (!stream || stream->context() != event->context) return kInvalidHandle;
    return stream->record(event);
  });
}
Result cuEventRecord(EventHandle event, StreamHandle stream) { return cuEventRecordWithFlags(event, stream, 0); }

Result cuEventQuery(EventHandle handle) {
  return onEvent(handle, [](const std::shared_ptr<Event>& event) { return stateOfEvent(*event); });
}
Result cuEventSynchronize(EventHandle handle) { return cuEventQuery(handle); }

Result cuEventDestroy_v2(EventHandle handle) {
  return inContext([&](Context&) { return Handles<Event>::instance().take(handle) ? cuda::kSuccess : kInvalidHandle; });
}

Result cuEventElapsedTime_v2(float* milliseconds, EventHandle begin, EventHandle end) {
  return onEvent(begin, [&](const std::shared_ptr<Event>& first) {
    const std::shared_ptr<Event> second = find<Event>(end);
    if (!milliseconds) return cuda::kInvalidValue;
    if (!second || (first->flags | second->flags) & kEventDisableTiming) return kInvalidHandle;
    const auto timeOf = [](Event& event) {
      const std::lock_guard lock(event.mutex);
      return event.time;
    };
    const auto from = timeOf(*first), to = timeOf(*second);
    if (!from || !to) return kInvalidHandle;
    *milliseconds = std::chrono::duration<float, std::milli>(*to - *from).count();
    return cuda::kSuccess;
  });
}
Result cuEventElapsedTime(float* milliseconds, EventHandle begin, EventHandle end) {
  return cuEventElapsedTime_v2(milliseconds, begin, end);
}

} // extern "C"
} // namespace tiletwin::driver
