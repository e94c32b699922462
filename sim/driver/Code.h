// sim/driver/Code.h -- code on the virtual GPU: modules, their functions, and libraries, which become modules in each context.
// Here:      Module, Function, Library, LibraryKernel.
// Not here:  reading images (Image.h), launches (Launch.h).
// Invariant: a function keeps its module's code and variables alive while a call uses it; its handle is none as soon as the
//            module is unloaded.
#pragma once
#include "sim/Sim.h"
#include "sim/driver/Context.h"
#include "sim/driver/Handles.h"
#include "sim/driver/Image.h"
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tiletwin::driver {

class Module;
class VirtualDevice;

/// What cuFuncSetAttribute sets; -1: as it is without.
struct FunctionSettings {
  std::atomic<int> dynamicShared{-1}, carveout{-1}, mustHaveCluster{-1}, nonPortable{0}, clusterPolicy{0};
  std::array<std::atomic<int>, 3> cluster{};
};

/// What a client has set for the next launch, before cuLaunchKernel was there.
struct KeptLaunch {
  std::array<unsigned, 3> block{1, 1, 1};
  unsigned sharedBytes = 0;
  std::vector<std::byte> parameters;
};

class Function {
public:
  static constexpr unsigned kHandleKind = 4;
  std::mutex keptMutex;
  KeptLaunch kept; ///< under keptMutex
  std::shared_ptr<Module> module;
  const sim::Kernel* kernel = nullptr;
  FunctionSettings settings;

  /// CU_FUNC_ATTRIBUTE_*; kInvalidValue: there is none of that number.
  Result attribute(int number, int& value) const;
  Result setAttribute(int number, int value);
  /// Where a parameter lies in the block of parameters. kInvalidValue: there are not so many.
  Result parameter(size_t index, size_t* offset, size_t* bytes) const;
  int registers() const;
  int maxThreads() const;
  /// Bytes of dynamic shared memory that a launch may ask for.
  int maxDynamicShared() const;
};

class Module {
public:
  static constexpr unsigned kHandleKind = 3;
  /// Reads PTX for a context. On failure a driver's result, and `why` says where and what.
  /// maxRegisters: what a client has limited registers to; 0: nothing, or what the linker has noted in the text.
  static Result load(Context& context, Image image, int maxRegisters, std::shared_ptr<Module>& module,
                     std::string& why);
  ~Module();

  ModuleHandle handle = nullptr;
  /// The handle of an entry; null: there is none.
  FunctionHandle function(const std::string& name);
  /// A limit of registers; 0: none.
  int maxRegisters() const { return maxRegisters_; }
  /// What machine code says of a function's registers; 0: nothing.
  int notedRegisters(const std::string& function) const {
    const auto at = notedRegisters_.find(function);
    return at == notedRegisters_.end() ? 0 : at->second;
  }
  size_t entryCount() const { return code_->entries().size(); }
  const std::string& entryName(size_t index) const { return code_->entries()[index]; }
  /// A .global or .const variable. False: there is none.
  bool variable(std::string_view name, DevicePointer& address, size_t& bytes) const;
  Context& context() const { return *context_; }
  /// Makes its handles, and those of its functions, none.
  void unload();

private:
  std::shared_ptr<Context> context_;
  std::shared_ptr<const sim::Module> code_;
  int maxRegisters_ = 0;
  std::map<std::string, int> notedRegisters_;
  std::mutex mutex_;
  std::map<std::string, FunctionHandle> functions_; // under mutex_
};

class LibraryKernel;

/// PTX that belongs to no context: a module is made in each context that uses it.
class Library {
public:
  static constexpr unsigned kHandleKind = 5;
  Image image;
  int maxRegisters = 0; ///< as of Module::load
  LibraryHandle handle = nullptr;
  /// Its module in a context, made on first use.
  Result moduleIn(Context& context, std::shared_ptr<Module>& module, std::string& why);
  /// The same, and stderr says why it fails.
  Result moduleIn(Context& context, std::shared_ptr<Module>& module);
  /// Handles of the kernels of these names.
  KernelHandle kernel(const std::string& name);
  void unload();

private:
  std::mutex mutex_;
  std::map<uint64_t, std::shared_ptr<Module>> modules_; // by Context::id, under mutex_
  std::map<std::string, KernelHandle> kernels_;         // under mutex_
};

class LibraryKernel {
public:
  static constexpr unsigned kHandleKind = 6;
  std::weak_ptr<Library> library;
  std::string name;
};

/// The function of a handle of a function, or of a library's kernel in `context`. kInvalidHandle: neither.
Result findFunction(Context& context, const void* handle, std::shared_ptr<Function>& function);

/// What the driver says about an image that it refuses, on stderr, and in the log that a client has asked for.
void sayRefused(const std::string& why);

} // namespace tiletwin::driver
