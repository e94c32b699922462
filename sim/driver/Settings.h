// sim/driver/Settings.h -- TILETWIN_GPU_*: which devices the virtual GPU shows, and what it checks.
// Not here:  attributes of a device (VirtualDevice.h), the command that sets the variables (python/tiletwin/gpu).
#pragma once
#include "sim/Sim.h"
#include <string>

namespace tiletwin::driver {

struct Settings {
  int devices = 1;      ///< TILETWIN_GPU_COUNT
  bool isHopper = true; ///< TILETWIN_GPU_ARCH: sm_90a, else sm_80
  uint64_t memory = 0;  ///< TILETWIN_GPU_MEMORY, bytes of each device: "24G", "512M"
  /// TILETWIN_GPU_BOUNDS: exact, else pages: kernels may touch the rest of an allocation's last page, as on a GPU.
  bool isExact = true;
  /// TILETWIN_GPU_MISSING: a file that gets a line for each function that is asked for and not there.
  std::string missing;
  /// TILETWIN_GPU_CHECK, else TILETWIN_CHECK: those that the simulator has. Bounds, barriers and copies are always looked at.
  sim::CheckOptions checks;

  /// As the environment was when it was first asked for. Throws environment::Error.
  static const Settings& get();
};

} // namespace tiletwin::driver
