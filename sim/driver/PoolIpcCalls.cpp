// sim/driver/PoolIpcCalls.cpp -- pools whose memory several processes use: a file descriptor for the pool, words for each piece.
// Not here:  a current context: threads that send what others have made need none.
// Idea:      the descriptor is a small file that says which pool of which process it is; a client sends it through a socket. The
//            words name a file with the memory's pages (SentHandle.h).
#include "sim/driver/DeviceMemory.h"
#include "sim/driver/MemoryApi.h"
#include "sim/driver/Pools.h"
#include "sim/driver/SentHandle.h"
#include "sim/driver/VirtualDevice.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tiletwin::driver {
namespace {

/// What the file says that stands for a pool.
struct PoolFile {
  uint64_t mark = kMark, pool = 0;
  int32_t process = 0, device = 0;
  static constexpr uint64_t kMark = 0x7477'706F'6F6C'7321;
};

int makePoolFile(const Pool& pool) {
  const PoolFile words{.pool = pool.number, .process = getpid(), .device = pool.device->ordinal()};
  const int file = memfd_create("tiletwin-pool", MFD_CLOEXEC);
  if (file < 0) return file;
  if (pwrite(file, &words, sizeof words, 0) == ssize_t(sizeof words)) return file;
  close(file);
  return -1;
}

bool readPoolFile(int file, PoolFile& words) {
  return pread(file, &words, sizeof words, 0) == ssize_t(sizeof words) && words.mark == PoolFile::kMark;
}

} // namespace

extern "C" {

Result cuMemPoolExportToShareableHandle(void* handle, PoolHandle poolHandle, int type, unsigned long long flags) {
  return onPool(poolHandle, [&](Pool& pool) {
    if (!handle || flags || type != kFileDescriptor || !pool.isShared || pool.process) return cuda::kInvalidValue;
    const int file = makePoolFile(pool); // the client closes it
    if (file < 0) return kOperatingSystem;
    *static_cast<int*>(handle) = file;
    return cuda::kSuccess;
  });
}

Result cuMemPoolImportFromShareableHandle(PoolHandle* handle, void* given, int type, unsigned long long flags) {
  return inDriver([&] {
    PoolFile words;
    if (!handle || flags || type != kFileDescriptor) return cuda::kInvalidValue;
    if (!readPoolFile(int(reinterpret_cast<intptr_t>(given)), words)) return cuda::kInvalidValue;
    VirtualDevice* const device = VirtualDevice::find(words.device);
    if (!device) return cuda::kInvalidDevice;
    const std::shared_ptr<Pool> pool = Pool::make(*device);
    pool->process = words.process;
    pool->number = words.pool;
    *handle = pool->handle;
    return cuda::kSuccess;
  });
}

Result cuMemPoolExportPointer(IpcHandle* handle, DevicePointer address) {
  return inDriver([&] {
    if (!handle) return cuda::kInvalidValue;
    const std::optional<Allocation> found = DeviceMemory::instance().find(address);
    const auto owner =
        Handles<Context>::instance().findIf([&](const Context& c) { return found && c.id == found->context; });
    if (!owner) return cuda::kInvalidValue;
    const auto others = owner->waitForOthers();
    const std::shared_ptr<Pool> pool = found && found->kind == MemoryKind::Pool ? find<Pool>(found->pool) : nullptr;
    if (!pool || !pool->isShared) return cuda::kInvalidValue;
    Sent sent;
    int file = -1;
    uint64_t bytes = 0;
    if (const Result result = DeviceMemory::instance().share(address, file, bytes)) return result;
    if (const Result result = describeFile(file, bytes, sent)) return result;
    sent.mark = SentMark::PoolMemory;
    sent.pool = pool->number;
    send(sent, *handle);
    return cuda::kSuccess;
  });
}

Result cuMemPoolImportPointer(DevicePointer* address, PoolHandle poolHandle, IpcHandle* handle) {
  return inDriver([&] {
    const std::shared_ptr<Pool> pool = find<Pool>(poolHandle);
    if (!address || !pool || !pool->process || !handle) return cuda::kInvalidValue;
    const Sent sent = sentOf(*handle);
    if (sent.mark != SentMark::PoolMemory || sent.pool != pool->number || sent.process != pool->process)
      return cuda::kInvalidValue;
    const int file = openFile(sent);
    if (file < 0) return cuda::kInvalidValue; // the memory was given back, or its process is gone
    Allocation wanted;
    wanted.bytes = sent.bytes;
    wanted.kind = MemoryKind::Imported;
    wanted.device = pool->device;
    wanted.context = Context::current() ? Context::current()->id : pool->device->primary()->id;
    wanted.pool = pool->handle;
    uint64_t at = 0;
    const Result result = DeviceMemory::instance().import(std::move(wanted), file, at);
    close(file);
    if (result) return result;
    pool->take(sent.bytes);
    *address = at;
    return cuda::kSuccess;
  });
}

} // extern "C"
} // namespace tiletwin::driver
