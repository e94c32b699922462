// python/src/EagerBuilder.h -- the Builder of eager mode: each operation is planned once per form and run at once.
// Here:      evaluated values, the cache of one-operation programs, what a program sees of its launch.
// Not here:  the launch around it (EagerSession.cpp), looks at values (EagerLooks.cpp), the rules (frontend/Semantic.h).
// Invariant: an operation gives the bits that the same operation gives in a compiled kernel: both run interp's
// programs.
#pragma once
#include "EagerWait.h"
#include "frontend/Objects.h"
#include "interp/Interp.h"
#include <array>
#include <string>
#include <vector>

namespace tiletwin::python {

/// Which memory a pointer was made for. Addresses do not tell: one past the end of an argument may be the first of another.
struct PointerOrigin {
  uint64_t launch = 0;                  ///< EagerContext::launch
  int32_t buffer = interp::kNoArgument; ///< as in interp::LaunchParams::bufferOf
  bool operator==(const PointerOrigin&) const = default;
};

/// What all programs of a launch see of it.
struct EagerLaunch {
  uint64_t launch = 0; ///< its number in this process; 0: of no launch
  std::string kernel;
  std::array<int32_t, 3> grid{1, 1, 1};
  std::vector<Buffer> buffers;
  std::vector<uint64_t> origins; ///< of each buffer, the address of the argument's first element
  frontend::SemanticOptions options;
};

/// What a program that runs eagerly sees of its launch.
struct EagerContext : EagerLaunch {
  std::array<int32_t, 3> program{0, 0, 0};
  PyRef observer; ///< is told of accesses to memory (EagerObserver.h); null: nobody
  EagerWait wait;
};

/// The value of an operation: dense row-major elements, 64-byte aligned. A descriptor has no bytes: it is the operation
/// that makes it, repeated in each operation that uses it.
class EagerValue {
public:
  explicit EagerValue(size_t bytes);
  ~EagerValue();
  EagerValue(const EagerValue&) = delete;
  EagerValue& operator=(const EagerValue&) = delete;
  std::byte* data = nullptr;
  size_t bytes = 0;
  PointerOrigin origin;                ///< of pointers, all of a block's elements
  std::vector<frontend::Value> makers; ///< operands of the operation that makes a descriptor
  mlir::DictionaryAttr makerAttributes;
};

/// The builder of this process; `context` says which launch it works for (per thread; null: no launch, a REPL).
frontend::Builder& eagerBuilder();
/// Sets the launch of this thread; returns the one before.
EagerContext* setEagerContext(EagerContext* context);
/// The launch of this thread; outside launches, that of the program which failed last, as long as its exception lives:
/// a debugger that looks at it after the fact finds its memory and its ids. Null: none.
EagerContext* eagerContext();
void setFailedContext(EagerContext* context); ///< null: none
void dropFailedContext(const EagerContext* context);

/// How elements of a type are stored; pointers as addresses.
DType storageOf(const frontend::Type& type);
size_t bytesOf(const frontend::Type& type);
/// What is behind a value of eager mode.
inline const EagerValue& evaluated(const frontend::Value& value) {
  return *static_cast<const EagerValue*>(value.eager.get());
}
/// The buffer of `context` that a pointer was made for, as in interp::LaunchParams::bufferOf.
int32_t bufferOf(const frontend::Value& pointer, const EagerContext* context);
/// A value whose elements are still to be written.
frontend::Value allocate(const frontend::Type& type);

/// A scalar (of a language type) or pointer as an evaluated value; `bits` as in interp::ArgumentBits.
frontend::Value eagerScalar(const frontend::Type& type, uint64_t bits, PointerOrigin origin = {});
/// The bits of an evaluated scalar.
uint64_t scalarBits(const frontend::Value& value);

} // namespace tiletwin::python
