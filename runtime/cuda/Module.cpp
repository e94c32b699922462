// runtime/cuda/Module.cpp -- see Module.h.
#include "runtime/cuda/Module.h"
#include "runtime/cuda/Error.h"
#include <array>

namespace tiletwin::cuda {
namespace {

constexpr size_t kLogBytes = 16384;

/// Options of the driver's compiler and the logs that it fills.
class Jit {
public:
  explicit Jit(const JitOptions& options) {
    add(kJitInfoLog, info_.data());
    add(kJitInfoLogBytes, number(kLogBytes));
    add(kJitErrorLog, error_.data());
    add(kJitErrorLogBytes, number(kLogBytes));
    add(kJitLogVerbose, number(1));
    if (options.maxRegisters > 0) add(kJitMaxRegisters, number(uintptr_t(options.maxRegisters)));
    if (options.optimizationLevel >= 0) add(kJitOptimizationLevel, number(uintptr_t(options.optimizationLevel)));
    if (options.lineInfo) add(kJitLineInfo, number(1));
  }
  unsigned count() const { return count_; }
  JitOption* options() { return options_.data(); }
  void** values() { return values_.data(); }
  std::string info() const { return trimmed(info_); }
  std::string error() const { return trimmed(error_); }

private:
  static void* number(uintptr_t value) { return reinterpret_cast<void*>(value); }
  static std::string trimmed(const std::vector<char>& log) {
    std::string text(log.data());
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    return text;
  }
  void add(JitOption option, void* value) {
    options_[count_] = option;
    values_[count_++] = value;
  }
  std::vector<char> info_ = std::vector<char>(kLogBytes), error_ = std::vector<char>(kLogBytes);
  std::array<JitOption, 8> options_{};
  std::array<void*, 8> values_{};
  unsigned count_ = 0;
};

/// The Error of code that is refused: what it is, what the GPU and driver are, and the compiler's text.
Error refused(Result result, const char* call, const Device& device, const std::string& name, const ImageFacts& facts,
              const std::string& log) {
  const Driver& driver = Driver::get();
  std::string text = name + " (" + facts.text() + ") cannot be loaded on " + device.text() + ": ";
  ErrorKind kind = result == kOutOfMemory ? ErrorKind::Memory : ErrorKind::Image;
  const bool isPtx = facts.kind == ImageKind::Ptx;
  if (isPtx && facts.ptx.version > driver.ptxVersion() && result != kOutOfMemory) {
    kind = ErrorKind::DriverTooOld;
    text += "this driver (CUDA " + cudaVersionText(driver.version()) + ") takes PTX up to version " +
            ptxVersionText(driver.ptxVersion()) +
            "; compile for an older PTX version, or assemble it with a ptxas of " +
            "this CUDA version or update the driver; ";
  }
  const std::string target = isPtx ? facts.ptx.target : "sm_" + std::to_string(facts.capability);
  if (isPtx || facts.capability)
    if (const std::string why = whyNotRunnable(target, !isPtx, device.capability()); !why.empty())
      text += why + ": compile for sm_" + std::to_string(device.capability()) + "; ";
  if (result == kJitCompilerNotFound)
    text += "the driver's compiler of PTX (libnvidia-ptxjitcompiler.so.1) is not installed: install it, or a ptxas; ";
  text += std::string(call) + " gave " + describe(result);
  if (!log.empty()) text += "\n" + log;
  return Error(kind, text, result);
}

} // namespace

std::shared_ptr<const Module> Module::load(Device& device, std::span<const std::byte> image, std::string name,
                                           const JitOptions& options) {
  std::shared_ptr<Module> module(new Module(device, std::move(name)));
  module->facts_ = readImage(image);
  if (module->facts_.kind == ImageKind::Unknown)
    throw Error(ErrorKind::Image, module->name_ + " is " + module->facts_.text());
  if (!module->facts_.isWhole)
    throw Error(ErrorKind::Image, module->name_ + " (" + module->facts_.text() + ") is damaged: it ends before its " +
                                      "tables say it does; make it again");
  const Driver& driver = Driver::get();
  ContextScope context(device);
  CaptureIsUnaffected capture;
  // The driver reads PTX up to a zero byte, which the caller's bytes need not end with.
  module->image_.assign(reinterpret_cast<const char*>(image.data()), image.size());
  Jit jit(options);
  const Result result =
      driver.cuModuleLoadDataEx(&module->handle_, module->image_.c_str(), jit.count(), jit.options(), jit.values());
  if (isFault(result)) fail(result, "cuModuleLoadDataEx", module->name_);
  if (result != kSuccess)
    throw refused(result, "cuModuleLoadDataEx", device, module->name_, module->facts_, jit.error());
  module->log_ = jit.info();
  return module;
}

Module::~Module() {
  if (!handle_) return;
  try {
    ContextScope context(device_);
    CaptureIsUnaffected capture;
    Driver::get().cuModuleUnload(
        handle_); // fails where a fault has ended the context, and then nothing is left to free
  } catch (const Error&) {}
}

std::vector<std::string> Module::entries() const {
  std::vector<std::string> names;
  for (const PtxEntry& entry : facts_.ptx.entries) names.push_back(entry.name);
  if (facts_.kind == ImageKind::Ptx) return names;
  const Driver& driver = Driver::get();
  if (!driver.cuModuleGetFunctionCount || !driver.cuModuleEnumerateFunctions || !driver.cuFuncGetName)
    driver.lacks("cuModuleEnumerateFunctions", name_ + ": listing the entries of " + facts_.text());
  ContextScope context(device_);
  unsigned count = 0;
  check(driver.cuModuleGetFunctionCount(&count, handle_), "cuModuleGetFunctionCount", [&] { return name_; });
  std::vector<FunctionHandle> functions(count);
  check(driver.cuModuleEnumerateFunctions(functions.data(), count, handle_), "cuModuleEnumerateFunctions",
        [&] { return name_; });
  for (FunctionHandle function : functions) {
    const char* name = nullptr;
    check(driver.cuFuncGetName(&name, function), "cuFuncGetName", [&] { return name_; });
    names.emplace_back(name);
  }
  return names;
}

std::pair<DevicePointer, size_t> Module::variable(const std::string& name) const {
  ContextScope context(device_);
  std::pair<DevicePointer, size_t> place{};
  const Result result = Driver::get().cuModuleGetGlobal_v2(&place.first, &place.second, handle_, name.c_str());
  if (result == kNotFound) throw Error(ErrorKind::Image, name_ + " has no variable " + name, result);
  check(result, "cuModuleGetGlobal", [&] { return name_ + ", variable " + name; });
  return place;
}

Assembled assemble(Device& device, std::string_view ptx, const std::string& name, const JitOptions& options) {
  const ImageFacts facts = readImage(std::as_bytes(std::span(ptx)));
  if (facts.kind != ImageKind::Ptx) throw Error(ErrorKind::Image, name + " is no PTX: there is no .version line");
  const Driver& driver = Driver::get();
  ContextScope context(device);
  CaptureIsUnaffected capture;
  Jit jit(options);
  LinkHandle link = nullptr;
  check(driver.cuLinkCreate_v2(jit.count(), jit.options(), jit.values(), &link), "cuLinkCreate", [&] { return name; });
  struct Destroy {
    LinkHandle link;
    ~Destroy() { Driver::get().cuLinkDestroy(link); }
  } destroy{link};
  std::string text(ptx); // with the zero byte that the driver wants at the end
  Result result =
      driver.cuLinkAddData_v2(link, kJitInputPtx, text.data(), text.size() + 1, name.c_str(), 0, nullptr, nullptr);
  const char* call = "cuLinkAddData";
  void* cubin = nullptr;
  size_t bytes = 0;
  if (result == kSuccess) {
    call = "cuLinkComplete";
    result = driver.cuLinkComplete(link, &cubin, &bytes);
  }
  if (isFault(result)) fail(result, call, name);
  if (result != kSuccess) throw refused(result, call, device, name, facts, jit.error());
  const auto* first = static_cast<const std::byte*>(cubin); // owned by `link`
  return {std::vector<std::byte>(first, first + bytes), jit.info()};
}

} // namespace tiletwin::cuda
