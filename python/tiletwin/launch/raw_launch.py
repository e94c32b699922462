"""A compiled kernel that somebody else launches: `CompiledKernel.run` on a GPU, called as Triton's launchers are.

Here:      which of the arguments the kernel takes, hooks around the launch.
Not here:  loading (gpu_launch.py), arguments as the driver takes them and the launch itself (`_C.RawLaunch`).
Invariant: grid and stream are the caller's. The kernel runs on the GPU that was current when it was loaded.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from tiletwin import _C, cuda
from tiletwin.launch import gpu_launch

_REALS = ("fp16", "bf16", "fp32", "f32", "fp64")


def _type(kind: Any) -> str | None:
    """What a parameter's value has to be said of its type: of an integer its value tells enough."""
    if not isinstance(kind, str) or not (kind in _REALS or kind.startswith("*")):
        return None
    return "fp32" if kind == "f32" else kind


def _without_constants(kind: Any, value: Any) -> Any:
    """The value of a parameter without what is compiled into the kernel, in tuples."""
    if not isinstance(kind, tuple):
        return value
    return tuple(_without_constants(k, v) for k, v in zip(kind, value) if k != "constexpr")


def _chooser(kinds: list[Any]) -> Callable[[tuple], tuple]:
    """Of a value for each parameter those that the kernel takes."""
    kept = [i for i, kind in enumerate(kinds) if kind != "constexpr"]
    if any(isinstance(kinds[i], tuple) for i in kept):
        return lambda values: tuple(_without_constants(kinds[i], values[i]) for i in kept)
    if kept == list(range(len(kinds))):
        return tuple
    if kept == list(range(len(kept))):
        return operator.itemgetter(slice(len(kept)))
    return operator.itemgetter(*kept) if len(kept) > 1 else lambda values: (values[kept[0]],)


class LoadedKernel:
    """A kernel on a GPU. attributes: of `tiletwin.cuda.Kernel`. function: the driver's number of it."""

    def __init__(self, kernel: Any) -> None:
        """Errors: see gpu_launch.load; ValueError, the kernel came as a text that does not tell its parameters."""
        signature = kernel.src.signature
        if not signature and kernel.asm.facts["arguments"]:
            raise ValueError(f"{kernel.name}: a kernel that came as {kernel.src.ext} is loaded by tiletwin.cuda.load")
        self._device = cuda.current_device()
        ready = gpu_launch.load(kernel, self._device, kernel.asm)  # `function` may be launched by others
        self.attributes, self.function = ready.entry.attributes, ready.entry._native.handle
        kinds = list(signature.values())
        rows = [
            (name, False, None, _type(kind), False, False, False, False, False, False)
            for name, kind in signature.items()
            if kind != "constexpr"
        ]
        self._launch = _C.RawLaunch(kernel.name, rows, ready.prepared, ready.types).launch
        self._chosen, self._count, self._name = _chooser(kinds), len(kinds), kernel.name
        self._kinds = [kind for kind in kinds if kind != "constexpr"]

    def run(
        self,
        x: int,
        y: int,
        z: int,
        stream: int,
        function: Any,
        metadata: Any,
        launch_metadata: Any,
        enter_hook: Any,
        exit_hook: Any,
        *arguments: Any,
    ) -> None:
        """Launches the kernel. arguments: one for each parameter, those of compile-time parameters are passed over.

        Errors: TypeError, ValueError, OverflowError, an argument does not fit; CudaError.
        """
        if len(arguments) != self._count:
            raise TypeError(f"{self._name} has {self._count} parameters, got {len(arguments)} arguments")
        if enter_hook is not None:
            enter_hook(launch_metadata)
        if x and y and z:
            self._launch(x, y, z, stream, *self._chosen(arguments))
        if exit_hook is not None:
            exit_hook(launch_metadata)

    def launch(self, grid: Any, stream: Any, kept: tuple) -> None:
        """The launch of `kernel[grid](...)`. stream: None for the current one. kept: what the kernel takes.

        Errors: see `run`.
        """
        sizes = (*((grid,) if isinstance(grid, int) else grid), 1, 1)[:3]
        if all(sizes):
            number = cuda.stream_number(stream, self._device)
            self._launch(*sizes, number, *(_without_constants(k, v) for k, v in zip(self._kinds, kept)))
