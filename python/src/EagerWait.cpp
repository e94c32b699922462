// python/src/EagerWait.cpp -- see EagerWait.h.
#include "EagerWait.h"
#include "frontend/PyValues.h"
#include "frontend/Tracing.h"
#include "runtime/TrapText.h"
#include <cstring>

namespace tiletwin::python {

namespace {
constexpr int kAtomicLooks = 3;  ///< the same seen so often by atomic or volatile accesses: the program waits
constexpr int kPlainLooks = 300; ///< by plain loads
constexpr size_t kMostLooks = 4096;
} // namespace

bool isLook(llvm::StringRef operation) { return operation == "tt.load" || operation.starts_with("tt.atomic_"); }

std::string EagerWait::memory(std::span<const Buffer> buffers) const {
  if (!address) return {};
  auto text = [&](const Buffer& b) {
    uint64_t bits = 0;
    std::memcpy(&bits, reinterpret_cast<const void*>(address), bytes);
    return " of " + waitedOnText(b.name.empty() ? "a buffer" : b.name, int64_t(address - b.begin), bytes, isTile, bits);
  };
  for (const Buffer& b : buffers)
    if (b.contains(address, address + bytes)) return text(b);
  auto registered = BufferRegistry::instance().find(address);
  return registered && registered->contains(address, address + bytes) ? text(*registered) : std::string();
}

bool noteOperation(EagerWait& wait, llvm::StringRef operation, uint64_t look, bool eager, bool wrote,
                   std::span<const Buffer> buffers) {
  if (wrote) {
    wait.wrote = true;
    wait.looks.clear();
    return true;
  }
  if (!look || !wait.handOver) return true;
  if (wait.looks.size() > kMostLooks) wait.looks.clear();
  int& count = wait.looks[look];
  if (++count < (eager ? kAtomicLooks : kPlainLooks)) return true;
  --count; // the next such look hands over at once
  return handOver(wait, operation, buffers);
}

bool handOver(EagerWait& wait, llvm::StringRef operation, std::span<const Buffer> buffers) {
  PyRef callable = wait.handOver;
  if (!callable) return true;
  bool wrote = std::exchange(wait.wrote, false);
  std::string name = userNameOf(std::string_view(operation.data(), operation.size())) + wait.memory(buffers);
  frontend::TracingPause pause;
  PyRef trace = frontend::TracingPause::users();
  return bool(call(callable, wrote, name, trace ? trace : none()));
}

} // namespace tiletwin::python
