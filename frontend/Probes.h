// frontend/Probes.h -- print_if and breakpoint_if of compiled kernels: what a call's record stands for in Python.
#pragma once
#include "frontend/Structure.h"

namespace tiletwin::frontend {

/// One tt.probe_call of a module; its `site` is the position in the module's list of these.
struct ProbeRecipe {
  Structure values; ///< a tuple: what is printed, or a breakpoint's variables; its tensors are the call's operands
  PyRef view;       ///< breakpoint_if: (the function's name, its globals, the variables' names); null: print_if
  PyRef keywords;   ///< dict: sep, end, file, flush; null: none given
};

enum class ProbeKind : uint8_t { None, Print, Break };
/// What a callee is: tiletwin.print_if, tiletwin.breakpoint_if, or neither.
ProbeKind probeKind(PyObject* callee);

} // namespace tiletwin::frontend
