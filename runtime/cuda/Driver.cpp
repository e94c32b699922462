// runtime/cuda/Driver.cpp -- see Driver.h.
#include "runtime/cuda/Driver.h"
#include "runtime/Environment.h"
#include "runtime/cuda/Error.h"
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <dlfcn.h>
#include <iterator>
#include <mutex>
#include <string_view>

namespace tiletwin::cuda {
namespace {

constexpr const char* kOnTheCpu = "TILETWIN_INTERPRET=1 runs kernels on the CPU instead";

std::atomic<const Driver*> theDriver{nullptr}; // set once, never freed: other threads may be in a call
std::mutex openMutex;                          // of the thread that opens it

struct Loaded {
  void* library;
  std::string path;
};

std::string pathOf(void* symbol, const std::string& otherwise) {
  Dl_info info;
  return symbol && dladdr(symbol, &info) && info.dli_fname ? info.dli_fname : otherwise;
}

Loaded openLibrary(const std::vector<std::string>& candidates) {
  std::string tried;
  for (const std::string& name : candidates) {
    if (void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL))
      return {library, pathOf(dlsym(library, "cuInit"), name)};
    const char* why = dlerror();
    tried += "\n  " + name + ": " + (why ? why : "unknown error");
  }
  throw Error(ErrorKind::NoDriver, "no CUDA driver was found; tried:" + tried +
                                       "\nInstall NVIDIA's driver, or name the library in TILETWIN_LIBCUDA; " +
                                       kOnTheCpu);
}

/// Why cuInit failed.
struct InitRow {
  Result code;
  ErrorKind kind;
  const char* text;
};
constexpr InitRow kInitRows[] = {
    {kStubLibrary, ErrorKind::NoDriver, "it is a stub for linking, no driver: it must not be on the library path"},
    {kNoDevice, ErrorKind::NoDevice, "it sees no GPU"},
    {kSystemDriverMismatch, ErrorKind::NoDriver,
     "it does not fit the driver in the kernel, which is of another version: restart the machine, or the container "
     "with the host's libraries"},
    {kCompatNotSupported, ErrorKind::NoDriver,
     "it is a compatibility library that does not take this GPU: use the driver's own libcuda.so.1"},
};

void initialize(const Driver& driver) {
  const Result result = driver.cuInit(0);
  if (result == kSuccess) return;
  const char *name = nullptr, *text = nullptr;
  driver.cuGetErrorName(result, &name);
  driver.cuGetErrorString(result, &text);
  std::string message = "the CUDA driver " + driver.path() + " does not start: cuInit gave " +
                        (name ? name : "an error") + " (" + std::to_string(int(result)) + "): " + (text ? text : "");
  ErrorKind kind = ErrorKind::NoDriver;
  for (const InitRow& row : kInitRows)
    if (row.code == result) {
      kind = row.kind;
      message += "; " + std::string(row.text);
    }
  if (kind == ErrorKind::NoDevice) message += visibleDevices();
  throw Error(kind, message + "; " + kOnTheCpu, result);
}

} // namespace

std::vector<std::string> Driver::candidates() {
  if (auto named = environment::text("TILETWIN_LIBCUDA")) return {*named};
  return {"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1"};
}

std::unique_ptr<Driver> Driver::open(const std::vector<std::string>& candidates) {
  const Loaded loaded = openLibrary(candidates);
  auto driver = std::make_unique<Driver>();
  driver->path_ = loaded.path;
  std::string missing;
#define TILETWIN_RESOLVE(symbol, ...)                                                                                  \
  driver->symbol = reinterpret_cast<decltype(driver->symbol)>(dlsym(loaded.library, #symbol));
#define TILETWIN_RESOLVE_REQUIRED(symbol, parameters)                                                                  \
  TILETWIN_RESOLVE(symbol)                                                                                             \
  if (!driver->symbol) missing += (missing.empty() ? "" : ", ") + std::string(#symbol);
  TILETWIN_CUDA_REQUIRED(TILETWIN_RESOLVE_REQUIRED)
  TILETWIN_CUDA_OPTIONAL(TILETWIN_RESOLVE)
#undef TILETWIN_RESOLVE_REQUIRED
#undef TILETWIN_RESOLVE
  if (driver->cuDriverGetVersion) driver->cuDriverGetVersion(&driver->version_);
  if (!missing.empty())
    throw Error(ErrorKind::DriverTooOld,
                "the CUDA driver " + loaded.path +
                    (driver->version_ ? " (CUDA " + cudaVersionText(driver->version_) + ")" : std::string()) +
                    " lacks " + missing + "; a driver of CUDA 11.4 or later has it; " + kOnTheCpu);
  initialize(*driver);
  return driver;
}

const Driver& Driver::get() {
  if (const Driver* driver = opened()) return *driver;
  std::lock_guard lock(openMutex);
  if (const Driver* driver = opened()) return *driver;
  const Driver* driver = open(candidates()).release();
  theDriver.store(driver, std::memory_order_release);
  return *driver;
}

const Driver* Driver::opened() { return theDriver.load(std::memory_order_acquire); }

int Driver::ptxVersion() const { return ptxVersionOfCuda(version_); }

void Driver::lacks(const char* function, const std::string& doing) const {
  const char* since = "";
#define TILETWIN_SINCE(symbol, parameters, version)                                                                    \
  if (std::string_view(function) == #symbol) since = version;
  TILETWIN_CUDA_OPTIONAL(TILETWIN_SINCE)
#undef TILETWIN_SINCE
  throw Error(ErrorKind::DriverTooOld, doing + ": needs " + function + ", which a driver of CUDA " + since +
                                           " or later has; " + path_ + " is of CUDA " + cudaVersionText(version_));
}

std::string visibleDevices() {
  const char* value = std::getenv("CUDA_VISIBLE_DEVICES");
  return value ? " (CUDA_VISIBLE_DEVICES=" + std::string(value) + ")" : std::string();
}

// "PTX ISA", NVIDIA, section "Release Notes": which release of CUDA brought which version.
int ptxVersionOfCuda(int cudaVersion) {
  struct Row {
    int cuda, ptx;
  };
  constexpr Row kRows[] = {
      {10000, 63}, {10010, 64}, {10020, 65}, {11000, 70}, {11010, 71}, {11020, 72}, {11030, 73}, {11040, 74},
      {11050, 75}, {11060, 76}, {11070, 77}, {11080, 78}, {12000, 80}, {12010, 81}, {12020, 82}, {12030, 83},
      {12040, 84}, {12050, 85}, {12070, 86}, {12080, 87}, {12090, 88}, {13000, 90},
  };
  const Row& newest = *std::prev(std::end(kRows));
  // From 13.0 on the minor numbers have gone together; a driver that is newer than this table takes at least as much.
  if (cudaVersion >= newest.cuda && cudaVersion < newest.cuda + 1000)
    return newest.ptx + (cudaVersion - newest.cuda) / 10;
  if (cudaVersion >= newest.cuda + 1000) return newest.ptx + 9;
  int found = kRows[0].ptx;
  for (const Row& row : kRows)
    if (row.cuda <= cudaVersion) found = row.ptx;
  return found;
}

std::string ptxVersionText(int version) { return std::to_string(version / 10) + "." + std::to_string(version % 10); }

std::string cudaVersionText(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

} // namespace tiletwin::cuda
