// python/src/DeviceMemory.h -- whether memory that only has an address is a GPU's.
#pragma once
#include <cstdint>
#include <optional>

namespace tiletwin::python {

/// Whether only a GPU can reach what lies at an address, as CUDA's driver says; true also where it no longer answers because
/// an earlier launch has failed. Nothing: no driver has been loaded and started in this process, so that no GPU has memory.
/// Memory of the host that is pinned or managed is not a GPU's alone.
std::optional<bool> isDeviceMemory(uint64_t address);

} // namespace tiletwin::python
