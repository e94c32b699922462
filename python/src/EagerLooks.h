// python/src/EagerLooks.h -- what people see of evaluated values: numbers, NumPy arrays, parts, text, HTML.
// Here:      the hooks that frontend's tensors call, and the memory that pointers are named after.
// Not here:  how text and HTML look (python/tiletwin/eager/), operations (EagerBuilder.h).
// Invariant: looking at a value never changes it, and needs no launch.
#pragma once
#include "EagerBuilder.h"

namespace tiletwin::python {

/// Installs the hooks of looks beside `defaultBuilder`, and adds functions to the extension. -1 with an error set.
int addEagerLooks(PyObject* module, frontend::Builder* (*defaultBuilder)());

} // namespace tiletwin::python
