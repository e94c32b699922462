"""NVIDIA GPUs: loads PTX and cubins through the driver and launches them.

    import tiletwin.cuda
    kernel = tiletwin.cuda.load("kernel.ptx")["add"]
    kernel(x, y, out, n, grid=(64,), block=(128,))      # torch tensors on the GPU, in place; NumPy arrays, copied

Here:      the names that users know; the modules of the folder hold them.
"""

from tiletwin.cuda import ptxas, sass
from tiletwin.cuda.backend import BACKEND, Backend
from tiletwin.cuda.devices import (
    current_device,
    current_stream,
    device_count,
    device_facts,
    device_number,
    stream_number,
)
from tiletwin.cuda.modules import ASSEMBLERS, Kernel, Module, load, synchronize
from tiletwin.errors import CudaError
from tiletwin.sim.arguments import Parameter
from tiletwin.sim.backend import Outcome
from tiletwin.sim.tensor_maps import DescribedMap

TensorMap = tensor_map = DescribedMap

__all__ = [
    "ASSEMBLERS", "BACKEND", "Backend", "CudaError", "Kernel", "Module", "Outcome", "Parameter", "TensorMap",
    "current_device", "current_stream", "device_count", "device_facts", "device_number", "load", "ptxas", "sass",
    "stream_number", "synchronize", "tensor_map",
]  # fmt: skip
