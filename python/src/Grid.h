// python/src/Grid.h -- `kernel[grid]`: what a grid may be, and the three numbers it stands for.
#pragma once
#include "frontend/PyRef.h"
#include <array>
#include <cstdint>
#include <string>

namespace tiletwin::python {

/// Numbers of a grid that is not callable: an int, or a tuple or list of one to three ints >= 0 (anything with
/// __index__). False with TypeError or ValueError set, whose text names the kernel and the bad part.
bool readGrid(const std::string& kernel, PyObject* grid, std::array<int32_t, 3>& out);

} // namespace tiletwin::python
