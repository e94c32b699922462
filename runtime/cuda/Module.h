// runtime/cuda/Module.h -- PTX, cubins and fat binaries, loaded into a GPU's primary context; assembling by the driver.
// Here:      loading with the driver's logs in the error, entries, module variables, PTX to a cubin without ptxas.
// Not here:  kernels and launches (Kernel.h); ptxas (tiletwin/cuda/ptxas.py).
#pragma once
#include "runtime/cuda/Device.h"
#include "runtime/cuda/Image.h"
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tiletwin::cuda {

struct JitOptions {
  int maxRegisters = 0;       ///< of a thread; 0: the compiler's choice
  int optimizationLevel = -1; ///< 0 to 4; -1: the driver's default
  bool lineInfo = false;
};

/// Immutable and thread-safe; unloaded with the last kernel of it.
class Module {
public:
  /// `name`: what errors call it, "add.ptx". Throws Error (Image, DriverTooOld, Memory) with the compiler's text. Legal while
  /// a stream is captured.
  static std::shared_ptr<const Module> load(Device& device, std::span<const std::byte> image, std::string name,
                                            const JitOptions& options = {});
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  Device& device() const { return device_; }
  const std::string& name() const { return name_; }
  const ImageFacts& facts() const { return facts_; }
  std::span<const std::byte> image() const { return std::as_bytes(std::span(image_)); }
  ModuleHandle handle() const { return handle_; }
  const std::string& log() const { return log_; } ///< what the driver's compiler said: warnings; empty for cubins
  /// Names of its entries. Of cubins only drivers of CUDA 12.4 and later tell: throws Error (DriverTooOld) before.
  std::vector<std::string> entries() const;
  /// Address and bytes of a module variable (.global). Throws Error (Image), there is none of that name.
  std::pair<DevicePointer, size_t> variable(const std::string& name) const;

private:
  Module(Device& device, std::string name) : device_(device), name_(std::move(name)) {}
  Device& device_;
  std::string name_, log_, image_;
  ImageFacts facts_;
  ModuleHandle handle_ = nullptr;
};

struct Assembled {
  std::vector<std::byte> cubin;
  std::string log; ///< registers, spills and warnings, in the driver's words
};
/// PTX to a cubin for the device by the driver's compiler, for machines without ptxas. Throws as Module::load.
Assembled assemble(Device& device, std::string_view ptx, const std::string& name, const JitOptions& options = {});

} // namespace tiletwin::cuda
