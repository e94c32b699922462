// runtime/cuda/Driver.h -- the CUDA driver of this machine: libcuda.so.1, opened with dlopen on first use.
// Here:      finding and opening it, its functions as members of their own names, its version and what that means for PTX.
// Not here:  devices (Device.h), modules (Module.h), launches (Kernel.h), the declarations (DriverTypes.h).
// Invariant: nothing of CUDA is linked; a process without a driver learns it from an Error with the places that were tried.
#pragma once
#include "runtime/cuda/DriverTypes.h"
#include <memory>
#include <string>
#include <vector>

namespace tiletwin::cuda {

class Driver : public DriverFunctions {
public:
  /// The process's driver, opened and initialised on first use. Throws Error (NoDriver, NoDevice, DriverTooOld); then the
  /// next call tries again. Thread-safe.
  static const Driver& get();
  /// The one get() has opened, or null. Never throws.
  static const Driver* opened();
  /// Opens a library by hand; get() does not know it. Throws Error.
  static std::unique_ptr<Driver> open(const std::vector<std::string>& candidates);
  /// What get() tries, in order: TILETWIN_LIBCUDA alone if it is set.
  static std::vector<std::string> candidates();

  const std::string& path() const { return path_; } ///< of the library that was opened
  int version() const { return version_; }          ///< of CUDA: 13000 is 13.0
  /// Newest PTX ISA version this driver takes: 90 is 9.0.
  int ptxVersion() const;

  /// Throws Error (DriverTooOld) that names the function and the version that has it. `function`: one of the optional ones.
  [[noreturn]] void lacks(const char* function, const std::string& doing) const;

private:
  std::string path_;
  int version_ = 0;
};

/// " (CUDA_VISIBLE_DEVICES=...)", or nothing if that is not set.
std::string visibleDevices();
/// Newest PTX ISA version (90 is 9.0) that comes with a version of CUDA (13000 is 13.0): what its driver and its ptxas take.
int ptxVersionOfCuda(int cudaVersion);
/// "9.0" of 90.
std::string ptxVersionText(int version);
/// "13.0" of 13000.
std::string cudaVersionText(int version);

} // namespace tiletwin::cuda
