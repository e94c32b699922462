"""Launches that must be fast: a kernel with its block, shared memory and argument types, launched many times.

    add = Launcher(ptx, "add", ("*fp32", "*fp32", "*fp32", "i32"), block=128)
    add((64, 1, 1), x, y, out, n)

Here:      which GPU and stream, one loaded kernel for each GPU.
Not here:  conversion of the arguments and the launch itself: C++ (python/cuda/PreparedLaunch.h). JIT functions go the
           way that python/cuda/LaunchApi.h describes, without this class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tiletwin.cuda.devices import current_device, current_stream, torch_functions
from tiletwin.cuda.modules import load
from tiletwin.sim.arguments import sizes_of

SIGNATURE_WORDS = "a pointer such as *fp32, i1, i8 to i64, u8 to u64, fp16, bf16, fp32, fp64, bytes:128 for a structure"


class Launcher:
    """Call it with a grid of three numbers and the arguments.

    code: PTX, or a cubin that runs on every GPU it is launched on. signature: one word for each parameter, of
    SIGNATURE_WORDS. block, cluster, shared, cooperative, programmatic, options: of `tiletwin.cuda.Kernel` and `load`.
    Arguments: tensors on the GPU, addresses or None for pointers; numbers; bytes for structures.
    Errors of a call: TypeError, ValueError, OverflowError, an argument does not fit; CudaError and OutOfResources.
    """

    def __init__(
        self,
        code: str | bytes,
        entry: str,
        signature: Sequence[str],
        *,
        block: int | Sequence[int],
        cluster: int | Sequence[int] | None = None,
        shared: int = 0,
        cooperative: bool = False,
        programmatic: bool = False,
        **options: Any,
    ) -> None:
        self.code, self.entry, self.signature = code, entry, tuple(signature)
        sizes = sizes_of(block, "block"), sizes_of((0, 0, 0) if cluster is None else cluster, "cluster")
        self._shape = (*sizes, shared, cooperative, programmatic)
        self._options = options
        self._launches: dict[int, Callable[..., None]] = {}
        self._ask_device: Callable[[], int] = current_device
        self._ask_stream: Callable[[int], int] = current_stream

    def _prepare(self, device: int) -> Callable[..., None]:
        """Loads the kernel on a GPU; from then on torch is asked directly, if it is what tells the GPU."""
        kernel = load(self.code, device=device, **self._options)[self.entry]
        launch = self._launches[device] = kernel._native.prepare(self.signature, *self._shape).launch
        if told := torch_functions():
            self._ask_device, self._ask_stream = told
        return launch

    def __call__(self, grid: Sequence[int], *arguments: Any, stream: int | None = None) -> None:
        device = self._ask_device()
        launch = self._launches.get(device) or self._prepare(device)
        x, y, z = grid
        launch(x, y, z, self._ask_stream(device) if stream is None else stream, *arguments)
