// sim/driver/Launch.h -- a launch: its numbers checked as a driver does, its parameters taken, the grid run.
// Here:      LaunchWork, prepareLaunch, occupancy's arithmetic.
// Not here:  the order among other work (Stream.h), the simulator (sim/Sim.h).
#pragma once
#include "sim/driver/Code.h"
#include "sim/driver/Work.h"
#include <array>
#include <vector>

namespace tiletwin::driver {

struct LaunchShape {
  std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1}, cluster{}; ///< cluster: zeros: as the kernel says
  uint32_t sharedBytes = 0;
  bool cooperative = false;
  int priority = 0; ///< changes no result
};

class LaunchWork final : public Work {
public:
  LaunchWork(std::shared_ptr<Function> function, const LaunchShape& shape)
      : Work(kNodeKernel), function(std::move(function)), shape(shape) {}
  LaunchWork(const LaunchWork& other)
      : Work(kNodeKernel), function(other.function), shape(other.shape), asked(other.asked),
        parameters(other.parameters) {}
  LaunchWork& operator=(const LaunchWork&) = delete;
  Result run(Context& context) override;
  /// Where each parameter's value lies; as long as this lives.
  void** addresses() const;
  std::shared_ptr<Function> function;
  LaunchShape shape;
  const void* asked = nullptr; ///< the handle that the client gave: of a function, or of a library's kernel
  std::vector<std::byte> parameters;

private:
  mutable std::vector<void*> addresses_;
};

/// Checks what a driver checks before a launch, and copies the parameters' values. `parameters`: an address for each; or `extra`
/// names a block. On failure the driver's result, and `work` is null.
Result prepareLaunch(Context& context, const void* function, const LaunchShape& shape, void** parameters, void** extra,
                     std::shared_ptr<LaunchWork>& work);
/// The shape of a launch with attributes. kInvalidValue: one of them makes no sense; others that change no result are ignored.
Result shapeOf(const LaunchConfig& config, LaunchShape& shape);

/// An attribute of a launch, to and from its shape. kInvalidValue: it makes no sense; others that change no result are ignored,
/// and are 0 when asked for.
Result setAttribute(LaunchShape& shape, const LaunchAttribute& attribute);
Result getAttribute(const LaunchShape& shape, LaunchAttribute& attribute);

/// Blocks of a kernel that a multiprocessor holds at the same time; 0: not one.
int blocksPerMultiprocessor(const Function& function, int threads, size_t dynamicShared);

} // namespace tiletwin::driver
