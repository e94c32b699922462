// sim/driver/IpcCalls.cpp -- memory and events that several processes of one machine use.
// Here:      handles of memory and events, which are 64 bytes that a client sends to another process.
// Not here:  what such a handle holds (SentHandle.h), pools (PoolIpcCalls.cpp).
// Invariant: work is done when it is given, so whatever an event of another process stands for is done.
#include "sim/driver/Call.h"
#include "sim/driver/DeviceMemory.h"
#include "sim/driver/Handles.h"
#include "sim/driver/MemoryApi.h"
#include "sim/driver/SentHandle.h"
#include "sim/driver/Stream.h"
#include "sim/driver/VirtualDevice.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tiletwin::driver {

Result describeFile(int file, uint64_t bytes, Sent& sent) {
  struct stat found{};
  if (fstat(file, &found) != 0) return kOperatingSystem;
  sent.process = getpid();
  sent.file = file;
  sent.inode = found.st_ino;
  sent.bytes = bytes;
  return cuda::kSuccess;
}

int openFile(const Sent& sent) {
  const std::string path = "/proc/" + std::to_string(sent.process) + "/fd/" + std::to_string(sent.file);
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  struct stat found{};
  if (file >= 0 && fstat(file, &found) == 0 && found.st_ino == sent.inode && uint64_t(found.st_size) >= sent.bytes)
    return file;
  if (file >= 0) close(file);
  return -1;
}

extern "C" {

Result cuIpcGetMemHandle(IpcHandle* handle, DevicePointer address) {
  return inContext([&](Context& context) {
    if (!handle) return cuda::kInvalidValue;
    const auto others = context.waitForOthers();
    Sent sent;
    int file = -1;
    uint64_t bytes = 0;
    if (const Result result = DeviceMemory::instance().share(address, file, bytes)) return result;
    if (const Result result = describeFile(file, bytes, sent)) return result;
    sent.mark = SentMark::Memory;
    sent.device = context.device.ordinal();
    send(sent, *handle);
    return cuda::kSuccess;
  });
}

Result cuIpcOpenMemHandle_v2(DevicePointer* address, IpcHandle handle, unsigned flags) {
  return inContext([&](Context& context) {
    constexpr unsigned kLazyPeerAccess = 1;
    const Sent sent = sentOf(handle);
    if (!address || flags != kLazyPeerAccess) return cuda::kInvalidValue;
    if (sent.mark != SentMark::Memory) return kInvalidHandle;
    if (sent.process == getpid()) return cuda::kInvalidContext; // it has the memory already
    const int file = openFile(sent);
    if (file < 0) return kInvalidHandle;
    Allocation wanted;
    wanted.bytes = sent.bytes;
    wanted.kind = MemoryKind::Imported;
    wanted.device = &context.device;
    wanted.context = context.id;
    uint64_t at = 0;
    const Result result = DeviceMemory::instance().import(std::move(wanted), file, at);
    close(file);
    if (!result) *address = at;
    return result;
  });
}

Result cuIpcCloseMemHandle(DevicePointer address) {
  return inContext([&](Context& context) {
    const auto others = context.waitForOthers();
    return DeviceMemory::instance().release(
        address, [](const Allocation& a) { return a.kind == MemoryKind::Imported && !a.pool; });
  });
}

Result cuIpcGetEventHandle(IpcHandle* handle, EventHandle eventHandle) {
  return inContext([&](Context& context) {
    const std::shared_ptr<Event> event = find<Event>(eventHandle);
    if (!handle || !event) return kInvalidHandle;
    if (!(event->flags & kEventInterprocess)) return kInvalidHandle;
    Sent sent;
    sent.mark = SentMark::Event;
    sent.process = getpid();
    sent.flags = event->flags;
    send(sent, *handle);
    return cuda::kSuccess;
  });
}

Result cuIpcOpenEventHandle(EventHandle* handle, IpcHandle sentHandle) {
  return inContext([&](Context&) {
    const Sent sent = sentOf(sentHandle);
    if (!handle) return cuda::kInvalidValue;
    if (sent.mark != SentMark::Event) return kInvalidHandle;
    if (sent.process == getpid()) return cuda::kInvalidContext;
    return cuEventCreate(handle, sent.flags);
  });
}

} // extern "C"
} // namespace tiletwin::driver
