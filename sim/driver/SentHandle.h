// sim/driver/SentHandle.h -- what one process sends to another so that it gets memory of the first one.
// Here:      the words of a handle, and the file that they name.
// Not here:  how an allocation's pages come into a file (DeviceMemory.h).
// Idea:      a handle names a file of the process that made it, which the other one opens below /proc. So nothing is left when
//            the processes are gone, however they end. A process that is gone takes its handles along.
#pragma once
#include "sim/driver/Types.h"
#include <cstring>

namespace tiletwin::driver {

enum class SentMark : uint64_t {
  Memory = 0x7477'6D65'6D6F'7279,
  Event = 0x7477'6576'656E'7421,
  PoolMemory = 0x7477'706F'6F6C'6D65,
};

/// The file, which one it is of those that ever had its number, and what it holds.
struct Sent {
  SentMark mark{};
  int32_t process = 0, file = 0;
  uint64_t inode = 0, bytes = 0;
  int32_t device = 0;
  uint32_t flags = 0;
  uint64_t pool = 0; ///< of PoolMemory: Pool::number
  uint64_t unused[2] = {};
};
static_assert(sizeof(Sent) == sizeof(IpcHandle));

inline Sent sentOf(const IpcHandle& handle) {
  Sent sent;
  std::memcpy(&sent, &handle, sizeof sent);
  return sent;
}
inline void send(const Sent& sent, IpcHandle& handle) { std::memcpy(&handle, &sent, sizeof sent); }

/// Words for a file of this process. kOperatingSystem: it is none.
Result describeFile(int file, uint64_t bytes, Sent& sent);
/// Opens the file; below 0: the process, or the file, is gone.
int openFile(const Sent& sent);

} // namespace tiletwin::driver
