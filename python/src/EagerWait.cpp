// python/src/EagerWait.cpp -- see EagerWait.h.
#include "EagerWait.h"
#include "runtime/TrapText.h"

namespace tiletwin::python {

namespace {
constexpr int kAtomicLooks = 3;  ///< the same seen so often by atomic or volatile accesses: the program waits
constexpr int kPlainLooks = 300; ///< by plain loads
constexpr size_t kMostLooks = 4096;
} // namespace

bool isLook(llvm::StringRef operation) { return operation == "tt.load" || operation.starts_with("tt.atomic_"); }

bool noteOperation(EagerWait& wait, llvm::StringRef operation, uint64_t look, bool eager, bool wrote) {
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
  return handOver(wait, operation);
}

bool handOver(EagerWait& wait, llvm::StringRef operation) {
  PyRef callable = wait.handOver;
  if (!callable) return true;
  bool wrote = std::exchange(wait.wrote, false);
  std::string name = userNameOf(std::string_view(operation.data(), operation.size()));
  return bool(PyRef::steal(PyObject_CallFunction(callable.get(), "Os", wrote ? Py_True : Py_False, name.c_str())));
}

} // namespace tiletwin::python
