// sim/driver/Functions.cpp -- see Functions.h.
#include "sim/driver/Functions.h"
#include "sim/driver/ArrayApi.h"
#include "sim/driver/GraphApi.h"
#include "sim/driver/MemoryApi.h"
#include "sim/driver/MissingNames.h"
#include "sim/driver/Settings.h"
#include <algorithm>
#include <cstdio>
#include <mutex>
#include <set>
#include <string>

namespace tiletwin::driver {

void reportMissing(std::string_view name) noexcept {
  try {
    static std::mutex mutex;
    static std::set<std::string, std::less<>>* const said = new std::set<std::string, std::less<>>;
    const std::lock_guard lock(mutex);
    if (!said->emplace(name).second) return;
    std::fprintf(stderr, "tiletwin gpu: %.*s is not there: it returns CUDA_ERROR_NOT_SUPPORTED\n", int(name.size()),
                 name.data());
    if (name == "cuGetExportTable")
      std::fputs(
          "  a CUDA runtime asks for it, which this program brings along; link it with nvcc's -cudart shared, and the "
          "virtual GPU's runtime takes its place\n",
          stderr);
    const std::string& file = Settings::get().missing;
    if (file.empty()) return;
    if (std::FILE* out = std::fopen(file.c_str(), "a")) {
      std::fprintf(out, "%.*s\n", int(name.size()), name.data());
      std::fclose(out);
    }
  } catch (...) { // NOLINT(bugprone-empty-catch): no memory, or settings that cuInit has refused: nobody is to be told
  }
}

// A caller puts arguments where it likes and takes them away again, so one shape of function serves all.
#define TILETWIN_GPU_MISSING_FUNCTION(name, symbol)                                                                    \
  extern "C" [[gnu::visibility("default")]] Result symbol() {                                                          \
    reportMissing(#name);                                                                                              \
    return cuda::kNotSupported;                                                                                        \
  }
TILETWIN_GPU_MISSING_FUNCTIONS(TILETWIN_GPU_MISSING_FUNCTION)

namespace {

struct FunctionRow {
  std::string_view name;
  int since;
  void* function;
};

template <class F> void* addressOf(F* function) { return reinterpret_cast<void*>(function); }

// NOLINTBEGIN(bugprone-macro-parentheses): `since` is a number of a row
#define TILETWIN_GPU_ROW(name, since, symbol, parameters) {#name, since, addressOf(&symbol)},
#define TILETWIN_GPU_MISSING_ROW(name, symbol) {#name, 0, addressOf(&symbol)},

// NOLINTEND(bugprone-macro-parentheses)

/// By name, and older versions first.
const std::vector<FunctionRow>& rows() {
  static const std::vector<FunctionRow>* const sorted = [] {
    auto* all = new std::vector<FunctionRow>{
        TILETWIN_GPU_DEVICES(TILETWIN_GPU_ROW) TILETWIN_GPU_CONTEXTS(TILETWIN_GPU_ROW)
            TILETWIN_GPU_MODULES(TILETWIN_GPU_ROW) TILETWIN_GPU_LAUNCHES(TILETWIN_GPU_ROW)
                TILETWIN_GPU_MEMORY(TILETWIN_GPU_ROW) TILETWIN_GPU_COPIES(TILETWIN_GPU_ROW)
                    TILETWIN_GPU_STREAMS(TILETWIN_GPU_ROW) TILETWIN_GPU_GRAPHS(TILETWIN_GPU_ROW)
                        TILETWIN_GPU_ARRAYS(TILETWIN_GPU_ROW) TILETWIN_GPU_MISSING_FUNCTIONS(TILETWIN_GPU_MISSING_ROW)};
    std::sort(all->begin(), all->end(), [](const FunctionRow& a, const FunctionRow& b) {
      return a.name != b.name ? a.name < b.name : a.since < b.since;
    });
    return all;
  }();
  return *sorted;
}

} // namespace

void* findEntry(std::string_view name, int version, bool& isTooNew) {
  const auto [first, last] =
      std::equal_range(rows().begin(), rows().end(), FunctionRow{name, 0, nullptr},
                       [](const FunctionRow& a, const FunctionRow& b) { return a.name < b.name; });
  void* found = nullptr;
  for (auto row = first; row != last; ++row)
    if (row->since <= version) found = row->function;
  isTooNew = !found && first != last;
  return found;
}

} // namespace tiletwin::driver
