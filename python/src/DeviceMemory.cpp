// python/src/DeviceMemory.cpp -- see DeviceMemory.h.
// Why:       whether this process can read an address would be a guess: offsets in front of an array are not readable, and
//            the host's. A wrong answer costs the process: the interpreter loads from a GPU's address.
// Not here:  loading the driver (runtime/cuda/Driver.h, which another extension has).
#include "DeviceMemory.h"
#include "runtime/Environment.h"
#include "runtime/cuda/DriverTypes.h"
#include <array>
#include <dlfcn.h>

namespace tiletwin::python {

using namespace cuda;

namespace {

/// The library, if something has loaded it.
void* loadedLibrary() {
  const auto named = environment::text("TILETWIN_LIBCUDA");
  return dlopen(named ? named->c_str() : "libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
}

/// Null: none is loaded, or it is older than those that kernels are launched with.
const DriverFunctions* loadedDriver() {
  static DriverFunctions driver;
  static bool has = false;
  if (has) return &driver;
  void* library = loadedLibrary();
  if (!library) return nullptr;
  has = true;
#define TILETWIN_RESOLVE(symbol, parameters)                                                                           \
  driver.symbol = reinterpret_cast<decltype(driver.symbol)>(dlsym(library, #symbol));                                  \
  has = has && driver.symbol;
  TILETWIN_CUDA_REQUIRED(TILETWIN_RESOLVE)
#undef TILETWIN_RESOLVE
  return has ? &driver : nullptr;
}

/// A context while this lives, for threads that have none: the driver answers no question without one.
class SomeContext {
public:
  explicit SomeContext(const DriverFunctions& driver) : driver_(driver) {
    ContextHandle current = nullptr, primary = nullptr;
    isPushed_ = driver.cuCtxGetCurrent(&current) == kSuccess && !current &&
                driver.cuDevicePrimaryCtxRetain(&primary, 0) == kSuccess && // for as long as the process lives
                driver.cuCtxPushCurrent_v2(primary) == kSuccess;
  }
  SomeContext(const SomeContext&) = delete;
  SomeContext& operator=(const SomeContext&) = delete;
  ~SomeContext() {
    ContextHandle popped = nullptr;
    if (isPushed_) driver_.cuCtxPopCurrent_v2(&popped);
  }

private:
  const DriverFunctions& driver_;
  bool isPushed_ = false;
};

} // namespace

std::optional<bool> isDeviceMemory(uint64_t address) {
  const DriverFunctions* driver = loadedDriver();
  DeviceHandle first = 0;
  if (!driver || driver->cuDeviceGet(&first, 0) != kSuccess) return std::nullopt; // not started, or it sees no GPU
  const SomeContext context(*driver);
  unsigned type = 0, managed = 0; // the driver writes 4 bytes of the first, 1 or 4 of the second
  std::array<PointerAttribute, 2> wanted{kPointerMemoryType, kPointerIsManaged};
  std::array<void*, 2> values{&type, &managed};
  if (driver->cuPointerGetAttributes(unsigned(wanted.size()), wanted.data(), values.data(), address) != kSuccess)
    return true;
  return type != 0 && type != kMemoryTypeHost && !managed;
}

} // namespace tiletwin::python
