// sim/driver/DeviceRuntime.h -- what a GPU's device runtime library (cudadevrt) gives to kernels: barriers of a whole grid.
// Not here:  printf, malloc and assertions, which the simulator has itself (sim/isa/Builtins.cpp).
#pragma once
#include <string>

namespace tiletwin::driver {

/// Adds definitions of what PTX declares and calls of the runtime. False: `error` says why they do not fit to it.
bool addDeviceRuntime(std::string& ptx, std::string& error);

} // namespace tiletwin::driver
