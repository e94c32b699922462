// python/src/EagerWait.h -- programs that wait for each other in eager mode.
// Here:      noticing that a program does nothing but look at memory, and the call that lets others run meanwhile.
// Not here:  who runs then (launch/eager_relay.py).
// Idea:      an operation that reads memory, with the operands and the result it had before, and nothing written in between:
//            after a few times the program is taken to wait. A wrong guess only changes when other programs run.
// Invariant: used by the thread that runs the program, under the GIL.
#pragma once
#include "frontend/PyRef.h"
#include "runtime/Buffer.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>

namespace tiletwin::python {

struct EagerWait {
  PyRef handOver; ///< called as handOver(wrote, operation, trace function); null: nobody to hand over to
  std::unordered_map<uint64_t, int> looks; ///< how often an operation saw the same, since memory was written
  bool wrote = false;                      ///< the program has written memory since it handed over last
  // What the last look was at, for messages.
  uintptr_t address = 0; ///< the first element; 0: unknown
  uint32_t bytes = 0;    ///< of an element
  bool isTile = false;
  /// " of flag (byte 4), which holds 0"; empty if the memory is no known buffer.
  std::string memory(std::span<const Buffer> buffers) const;
};

/// Reads of memory that programs may wait on.
bool isLook(llvm::StringRef operation);
/// An operation has run. `look` stands for it, its operands and its results (0: it is no look); `eager`: programs are known
/// to wait by this kind. Hands over if the program seems to wait. False with an exception set.
bool noteOperation(EagerWait& wait, llvm::StringRef operation, uint64_t look, bool eager, bool wrote,
                   std::span<const Buffer> buffers);
/// Lets other programs run. False with an exception set, DeadlockError if none can. `buffers`: those of the launch.
bool handOver(EagerWait& wait, llvm::StringRef operation, std::span<const Buffer> buffers);

} // namespace tiletwin::python
