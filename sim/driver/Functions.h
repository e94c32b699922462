// sim/driver/Functions.h -- the driver's functions by name.
#pragma once
#include <string_view>

namespace tiletwin::driver {

/// The function that cuGetProcAddress gives for a name and a version of CUDA: ours, else one that returns
/// CUDA_ERROR_NOT_SUPPORTED and says its name. Null: CUDA has none of that name, or with isTooNew none in that version.
void* findEntry(std::string_view name, int version, bool& isTooNew);

/// Says once on stderr that a function was asked for that is not there, and notes it in the file of TILETWIN_GPU_MISSING.
void reportMissing(std::string_view name) noexcept;

} // namespace tiletwin::driver
