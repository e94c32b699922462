// runtime/cuda/Kernel.h -- an entry of a module on its GPU, and launches of it.
// Here:      what the compiler made of it (registers, spills, shared memory), its parameters, the launch.
// Not here:  Python values (python/cuda), why a launch was refused (ExplainLaunch.h), host memory (CudaBackend.h).
// Idea:      everything slow or illegal during capture of a graph (loading, raising limits) is done when a kernel is found or
//            prepared; launch() then makes two or three calls of the driver, allocates nothing and waits for nothing.
#pragma once
#include "runtime/cuda/Cubin.h"
#include "runtime/cuda/Module.h"
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tiletwin::cuda {

struct KernelAttributes {
  int registers = 0;        ///< of a thread
  int localBytes = 0;       ///< of a thread: arrays with computed indices, and registers that were spilled
  int sharedBytes = 0;      ///< of a block: its own variables, without what launches add
  int constBytes = 0;       ///< its own constants
  int maxThreads = 0;       ///< of a block: registers and .maxntid limit it
  int capability = 0;       ///< that its code was made for: 90
  int maxDynamicShared = 0; ///< bytes that a launch may add on this GPU
};

struct LaunchShape {
  std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::array<uint32_t, 3> cluster{}; ///< CTAs; zeros: as the kernel says
  uint32_t sharedBytes = 0;          ///< dynamic
  bool cooperative = false;          ///< every block is resident at the same time
  bool programmatic = false;         ///< may begin before the launch in front of it in the stream has ended (sm_90)
  StreamHandle stream = nullptr;     ///< null: the default stream
};

/// Thread-safe.
class Kernel {
public:
  /// Throws Error (Image) that lists the entries there are.
  static std::shared_ptr<const Kernel> find(std::shared_ptr<const Module> module, const std::string& entry);

  const std::string& name() const { return name_; }
  const Module& module() const { return *module_; }
  Device& device() const { return module_->device(); }
  const KernelAttributes& attributes() const { return attributes_; }
  FunctionHandle handle() const { return handle_; }
  /// False: neither PTX nor the cubin told the parameters.
  bool knowsParameters() const { return knowsParameters_; }
  const std::vector<ParameterPlace>& parameters() const { return parameters_; }
  uint32_t parameterBytes() const; ///< to the end of the last one

  /// Raises the limits that a launch of this shape needs, so that launch() has nothing left to do. Throws Error (Resources)
  /// with the bytes needed and available.
  void prepare(const LaunchShape& shape) const;
  /// parameters: the address of each one's value. Throws Error (Launch, Resources, Argument; Fault, of an earlier launch).
  void launch(const LaunchShape& shape, void** parameters) const;
  /// The same with the parameters in one block of parameterBytes() bytes, each at the place that parameters() says.
  void launchBlock(const LaunchShape& shape, std::span<const std::byte> parameters) const;
  /// Blocks of this size that a multiprocessor holds at the same time.
  int residentBlocks(uint32_t threads, uint32_t sharedBytes) const;

private:
  explicit Kernel(std::shared_ptr<const Module> module) : module_(std::move(module)) {}
  void readAttributes();
  void readParameters();
  void launch(const LaunchShape& shape, void** parameters, void** extra) const;
  void raiseShared(uint32_t bytes) const;

  std::shared_ptr<const Module> module_;
  std::string name_;
  const char* interned_ = nullptr;
  FunctionHandle handle_ = nullptr;
  KernelAttributes attributes_;
  bool knowsParameters_ = false;
  std::vector<ParameterPlace> parameters_;
  mutable std::atomic<uint32_t> allowedShared_{0}; ///< dynamic bytes that launches may ask for; only grows
  mutable std::atomic<bool> allowsLargeClusters_{false};
  mutable std::mutex limitsMutex_; ///< held while a limit is raised
};

/// Parameters of a kernel: as many as the 4 KiB that GPUs before sm_70 take hold of 4 bytes.
inline constexpr size_t kMostParameters = 1024;

/// Blocks of a cluster that every GPU with clusters takes; more has to be allowed for a kernel.
inline constexpr uint32_t kPortableCluster = 8;

} // namespace tiletwin::cuda
