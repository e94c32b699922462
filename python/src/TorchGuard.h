// python/src/TorchGuard.h -- keeps torch function modes out of a launch's questions to its tensors.
// While torch.cuda is emulated, a Python mode sees every call on a tensor; asking for a storage's extent is none of its
// business and would cost a Python call each.
// Not here: the mode (tiletwin/torch_cuda/mode.py).
#pragma once
#include "frontend/PyRef.h"

namespace tiletwin::python {

/// Switches torch function modes off for a scope, if setTorchGuard() named how. Needs the GIL.
class TorchGuard {
public:
  TorchGuard();
  ~TorchGuard();
  /// Whether torch.cuda is emulated: tensors then say by a mark on which side they are (tiletwin/torch_cuda/marks.py).
  static bool isEmulating();
  TorchGuard(const TorchGuard&) = delete;
  TorchGuard& operator=(const TorchGuard&) = delete;

private:
  PyRef guard_;
};

/// `type` is a context manager without arguments (torch._C.DisableTorchFunction), or None.
void setTorchGuard(PyObject* type);

} // namespace tiletwin::python
