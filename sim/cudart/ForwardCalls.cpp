// sim/cudart/ForwardCalls.cpp -- functions of the runtime that are the driver's, functions that are not there, the last error.
#include "sim/cudart/MissingNames.h"
#include "sim/cudart/Runtime.h"
#include "sim/driver/ArrayApi.h"
#include "sim/driver/GraphApi.h"
#include "sim/driver/MemoryApi.h"
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>

namespace tiletwin::cudart {

// NOLINTBEGIN(bugprone-macro-parentheses): parameters and arguments of a row
#define TILETWIN_RUNTIME_FORWARD(name, parameters, driver, arguments)                                                  \
  extern "C" Error name parameters {                                                                                   \
    return inRuntime([&] { return driver arguments; });                                                                \
  }
TILETWIN_RUNTIME_FORWARDS(TILETWIN_RUNTIME_FORWARD)
// NOLINTEND(bugprone-macro-parentheses)

namespace {

/// For `tiletwin gpu --missing`, as the driver's own (sim/driver/Functions.cpp).
void note(const char* name) {
  const char* file = std::getenv("TILETWIN_GPU_MISSING");
  if (!file || !*file) return;
  if (std::FILE* out = std::fopen(file, "a")) {
    std::fprintf(out, "%s\n", name);
    std::fclose(out);
  }
}

Error refuse(const char* name) noexcept {
  try {
    static std::mutex mutex;
    static auto* const said = new std::set<std::string, std::less<>>;
    const std::lock_guard lock(mutex);
    if (said->emplace(name).second) {
      say((std::string(name) + " is not there: it returns cudaErrorNotSupported").c_str());
      note(name);
    }
  } catch (...) { // NOLINT(bugprone-empty-catch): no memory: nobody is to be told
  }
  return record(cuda::kNotSupported);
}

} // namespace

// A caller puts arguments where it likes and takes them away again, so one shape of function serves all.
#define TILETWIN_RUNTIME_MISSING_FUNCTION(name)                                                                        \
  extern "C" [[gnu::visibility("default")]] Error name() { return refuse(#name); }
// NOLINTNEXTLINE(bugprone-reserved-identifier): the names are NVIDIA's
TILETWIN_RUNTIME_MISSING(TILETWIN_RUNTIME_MISSING_FUNCTION)

extern "C" {

Error cudaGetLastError() { return lastError(true); }
Error cudaPeekAtLastError() { return lastError(false); }

} // extern "C"
} // namespace tiletwin::cudart
