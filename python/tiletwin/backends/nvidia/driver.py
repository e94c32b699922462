"""The driver of the target 'cuda', under the names of `triton.backends.nvidia.driver`."""

from tiletwin.drivers.interpreter import InterpreterDriver as CudaDriver
from tiletwin.drivers.interpreter import Utils as CudaUtils
from tiletwin.facade import reach as _reach

ty_to_cpp = CudaDriver.map_python_to_cpp_type

__all__ = ["CudaDriver", "CudaUtils", "ty_to_cpp"]

_reach(__name__)
