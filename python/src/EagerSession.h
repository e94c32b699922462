// python/src/EagerSession.h -- a launch some or all of whose programs run in CPython; the Python type EagerSession.
// Here:      arguments as language values, entering and leaving a program, compiled runs of the programs in between.
// Not here:  which programs run how (launch/eager_launch.py), single operations (EagerBuilder.h).
#pragma once
#include "Binding.h"
#include <array>

namespace tiletwin::python {

/// A session for a classified call. It copies what it needs. Null with an exception set.
PyRef makeEagerSession(const std::string& kernel, const std::vector<Parameter>& parameters, const Call& call,
                       const std::array<int32_t, 3>& grid);

} // namespace tiletwin::python
