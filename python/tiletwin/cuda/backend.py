"""NVIDIA GPUs as a backend for tools that compare backends: a kernel that misbehaves is an outcome, no exception.

Here:      Backend, BACKEND; whose fault an error is.
Not here:  launches (modules.py), outcomes (tiletwin/sim/backend.py), the same for C++ (runtime/cuda/CudaBackend.h).
Invariant: what run() raises is the caller's mistake, or what an earlier kernel left behind. After a fault the process
           cannot use the GPU any more: a tool that goes on runs launches in processes of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tiletwin.cuda.modules import load, synchronize
from tiletwin.errors import CudaError
from tiletwin.sim.backend import Outcome


class Backend:
    """See tiletwin.sim.Backend, which has the same form.

    takes: PTX text; run() takes cubins as bytes too. What kernels print goes to the process's standard output.
    """

    name = "cuda"
    takes = "ptx"
    capabilities = frozenset({"tensor maps", "cubin"})

    def run(
        self,
        code: str | bytes,
        entry: str,
        arguments: Sequence[Any] | Mapping[str, Any] = (),
        *,
        grid: int | Sequence[int],
        device: Any = None,
        assembler: str = "auto",
        **options: Any,
    ) -> Outcome:
        """Runs an entry of a PTX text or a cubin to its end, or to its first fault.

        arguments: in order, or by name. device, assembler: of `tiletwin.cuda.load`. options: of `tiletwin.cuda.Kernel`.
        Errors: CudaError, no GPU, code that cannot be loaded, a launch that is refused, or a GPU that is lost;
        PTXASError; KeyError, there is no such entry; TypeError and ValueError, an argument does not fit.
        """
        kernel = load(code, device=device, assembler=assembler)[entry]
        by_name = dict(arguments) if isinstance(arguments, Mapping) else {}
        synchronize(kernel.device)  # what earlier launches did wrong is theirs
        try:
            kernel(*(() if by_name else arguments), grid=grid, **options, **by_name)
            synchronize(kernel.device)
        except CudaError as error:
            if error.kind != "fault":
                raise
            return Outcome(error)
        return Outcome()


BACKEND = Backend()
"""The one that tools look up by its name."""
