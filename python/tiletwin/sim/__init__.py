"""The simulator: runs PTX, the text that a GPU's driver takes, on the CPU, bit for bit as the GPU does.

    import tiletwin.sim
    kernel = tiletwin.sim.load("kernel.ptx")["add"]
    kernel(x, y, out, n, grid=(64,), block=(128,))      # torch tensors and NumPy arrays

Here:      the names that users know; the modules of the folder hold them.
"""

from tiletwin.errors import PtxError
from tiletwin.sim.arguments import Parameter
from tiletwin.sim.backend import BACKEND, Backend, Outcome
from tiletwin.sim.check_words import CHECKS, DEFAULT_CHECKS
from tiletwin.sim.modules import Kernel, Module, Ran, load
from tiletwin.sim.tensor_maps import TensorMap

tensor_map = TensorMap

__all__ = [
    "BACKEND", "CHECKS", "DEFAULT_CHECKS", "Backend", "Kernel", "Module", "Outcome", "Parameter", "PtxError", "Ran",
    "TensorMap", "load", "tensor_map",
]  # fmt: skip
