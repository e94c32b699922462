// sim/cudart/Binaries.h -- what nvcc has put into the program: fat binaries, and the host's names of kernels and variables.
// Not here:  the functions that nvcc's code calls to register them (LaunchCalls.cpp), images (sim/driver/Image.h).
// Invariant: a binary is read when the first of its kernels or variables is used, once a process.
#pragma once
#include "sim/cudart/RuntimeTypes.h"
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace tiletwin::cudart {

/// One fat binary. It lives as long as the process.
class Binary {
public:
  explicit Binary(const void* image) : image_(image) {}
  /// A context is current.
  Error kernel(const std::string& name, KernelHandle& kernel);
  Error variable(const std::string& name, DevicePointer& address, size_t& bytes);
  /// Writes the addresses of managed variables to where the host's code reads them. A context is current.
  Error setManaged();
  void addManaged(void** place, const char* name) { managed_.push_back({place, name}); }

private:
  Error load();
  struct Managed {
    void** place;
    std::string name;
  };
  const void* image_;
  std::mutex mutex_;
  LibraryHandle library_ = nullptr; // under mutex_
  Error failure_ = 0;               // of reading it, under mutex_
  std::vector<Managed> managed_;    // written before main
};

/// Thread-safe.
class Binaries {
public:
  static Binaries& instance();
  Binary* add(const void* image);
  void addKernel(const void* host, Binary* binary, const char* name);
  void addVariable(const void* host, Binary* binary, const char* name);
  /// Whether the host's address is a kernel's.
  bool isKernel(const void* host);
  /// kInvalidDeviceFunction: the host's address is no kernel's. A context is current.
  Error kernel(const void* host, KernelHandle& kernel);
  /// kInvalidSymbol: the host's address is no variable's. A context is current.
  Error variable(const void* host, DevicePointer& address, size_t& bytes);

private:
  struct Name {
    Binary* binary = nullptr;
    std::string name;
  };
  static bool find(const std::unordered_map<const void*, Name>& names, const void* host, Name& found);
  std::mutex mutex_;
  std::unordered_map<const void*, Name> kernels_, variables_; // under mutex_
};

} // namespace tiletwin::cudart
