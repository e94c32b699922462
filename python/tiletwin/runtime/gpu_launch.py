"""A launch on an NVIDIA GPU: what the launcher asks Python for, once for a kernel and a GPU.

Here:      code for the GPU at hand, the kernel loaded and prepared; the current GPU and stream.
Not here:  launches that find their kernel prepared (`_C.Launcher`), the driver (tiletwin.cuda), compilation.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from tiletwin import cuda
from tiletwin.backends.compiler import GPUTarget
from tiletwin.compiler import assembler

_TYPE_OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg", "enable_fp_fusion", "debug", "sanitize_overflow")
"""Options that a kernel keeps when it is compiled once more for another GPU."""


def current_place() -> tuple[Callable[[], int], Callable[[int], int], bool]:
    """Functions that give the current GPU, and the current stream of a GPU; whether they stay the right ones to ask."""
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch._C, "_cuda_getDevice") and torch.cuda.is_initialized():
        return torch._C._cuda_getDevice, torch._C._cuda_getCurrentRawStream, True
    return cuda.current_device, cuda.current_stream, False


def _for_capability(kernel: Any, capability: int) -> Any:
    """The kernel compiled for a GPU's capability."""
    from tiletwin.compiler.compiler import compile

    if int(kernel.target.arch) == capability:
        return kernel
    options = {name: kernel.options[name] for name in _TYPE_OPTIONS if name in kernel.options}
    return compile(kernel.src, target=GPUTarget("cuda", capability, 32), options=options)


def prepare(kernel: Any, device: int) -> tuple[Any, tuple[str, ...]]:
    """(the kernel ready to be launched on a GPU, storage types of its arguments).

    Errors: CompilationError; CudaError, OutOfResources: what the driver says.
    """
    kernel = _for_capability(kernel, cuda.device_facts(device)["capability"])
    facts = kernel.asm.facts
    if facts["global_scratch_size"]:
        raise NotImplementedError(
            f"{kernel.name}: kernels with scratch memory of their own cannot be launched on a GPU yet"
        )
    code = kernel.asm["cubin"] if assembler.find() is not None else kernel.asm["ptx"]
    entry = cuda.load(code, device=device)[facts["name"]]
    kinds = tuple(facts["arguments"])
    signature = tuple("*u8" if kind == "ptr" else kind for kind in kinds)
    block = (32 * facts["num_warps"], 1, 1)
    return entry._native.prepare(signature, block, (0, 0, 0), facts["shared"], False, False), kinds


def check_reachable(kernel: str, parameter: str, device: int, address: int) -> None:
    """Errors: ValueError, an array lies in host memory that the GPU cannot reach."""
    if address and cuda.extension().pointer(device, address)[0] == "unknown":
        raise ValueError(
            f"{kernel}(): {parameter} lies in the host's memory, which the GPU cannot reach, and another argument lies "
            "on the GPU: move it there, .cuda(); or set TILETWIN_INTERPRET=1 to run all of it on the CPU"
        )
