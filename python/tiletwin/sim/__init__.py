"""The simulator: runs PTX, the text that a GPU's driver takes, on the CPU, bit for bit as the GPU does.

    import tiletwin.sim
    kernel = tiletwin.sim.load("kernel.ptx")["add"]
    kernel(x, y, out, n, grid=(64,), block=(128,))      # torch tensors and NumPy arrays in the host's memory

Here:      modules, kernels and launches as Python sees them.
Not here:  how arguments become a parameter block (arguments.py), the command `tiletwin sim` (command.py).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tiletwin.errors import PtxError
from tiletwin.sim.arguments import Parameter, pack

CHECKS = ("bounds", "barriers", "async", "uninitialized", "races")
DEFAULT_CHECKS = ("bounds", "barriers", "async")


def _native() -> Any:
    """The extension. Errors: RuntimeError, this CPU has no AVX2."""
    from tiletwin import _C

    _C.instruction_set()  # says what is missing
    from tiletwin import _sim

    return _sim


class Ran(NamedTuple):
    """What a launch did."""

    instructions: int
    """Instructions of warps."""
    lane_instructions: int
    """The same, times the lanes that took part."""


def _triple(value: int | Sequence[int], what: str) -> tuple[int, int, int]:
    sizes = (value,) if isinstance(value, int) else tuple(int(v) for v in value)
    if not 1 <= len(sizes) <= 3 or min(sizes) < 0 or max(sizes) >= 1 << 31:
        raise ValueError(f"{what} has to be one to three sizes, not {value!r}")
    return (*sizes, 1, 1)[:3]  # type: ignore[return-value]


class Kernel:
    """One `.entry` of a module. Call it with its arguments, `grid` and `block`.

    name: of the entry. parameters: what it takes, in order. shared: bytes of shared memory of its own variables.
    """

    def __init__(self, module: Module, name: str) -> None:
        self.module = module
        self.name = name
        facts = module._native.facts(name)
        self.parameters = [Parameter(*row) for row in facts["parameters"]]
        self.shared: int = facts["shared"]
        self.required_threads: tuple[int, int, int] = facts["required_threads"]
        self.max_threads: tuple[int, int, int] = facts["max_threads"]
        self.required_cluster: tuple[int, int, int] = facts["required_cluster"]
        self._bytes: int = facts["parameter_bytes"]

    def __repr__(self) -> str:
        return f"<kernel {self.name}({', '.join(map(str, self.parameters))}) of {self.module.file}>"

    def __call__(
        self,
        *arguments: Any,
        grid: int | Sequence[int],
        block: int | Sequence[int] | None = None,
        cluster: int | Sequence[int] | None = None,
        shared: int = 0,
        memory: Iterable[Any] = (),
        checks: Iterable[str] = DEFAULT_CHECKS,
        limit: int = 0,
        threads: int = 0,
        print: Callable[[str], Any] | None = None,
    ) -> Ran:
        """Runs the kernel on a grid and returns when every thread has ended.

        arguments: one per parameter: arrays in the host's memory for pointers, numbers, bytes for structures.
        grid, block, cluster: sizes in CTAs, threads, CTAs; block defaults to .reqntid, cluster to .reqnctapercluster.
        shared: bytes of dynamic shared memory. memory: arrays that the kernel reaches by other ways than its arguments.
        checks: of CHECKS. limit: instructions of warps after which the launch ends with an error; 0: none.
        threads: of the CPU; 0: TILETWIN_NUM_THREADS, or all cores. print: is given what vprintf writes, in place of
        sys.stdout.
        Errors: TypeError and ValueError, an argument does not fit; OutOfBoundsError, DeadlockError and others, what the
        kernel did.
        """
        checks = tuple(checks)
        for word in checks:
            if word not in CHECKS:
                raise ValueError(f"no check of the simulator is called {word!r}; they are {', '.join(CHECKS)}")
        if block is None:
            if not any(self.required_threads):
                raise ValueError(f"{self.name}: give block=(x, y, z): the kernel has no .reqntid")
            block = self.required_threads
        if cluster is None:
            cluster = self.required_cluster if any(self.required_cluster) else 1
        block_sizes, cluster_sizes = _triple(block, "block"), _triple(cluster, "cluster")
        self._look_at_block(block_sizes)
        parameters, buffers, kept = pack(self.name, self.parameters, self._bytes, arguments, memory)
        row = self.module._native.launch(
            self.name, _triple(grid, "grid"), block_sizes, cluster_sizes, int(shared), parameters, buffers, checks,
            int(threads), int(limit), print or _write,
        )  # fmt: skip
        del kept  # memory that arguments only lent stays until here
        return Ran(*row)

    def _look_at_block(self, block: tuple[int, int, int]) -> None:
        if any(self.required_threads) and block != tuple(max(1, n) for n in self.required_threads):
            raise ValueError(f"{self.name}: block {block} is not what .reqntid asks for, {self.required_threads}")
        most = self.max_threads[0] * max(1, self.max_threads[1]) * max(1, self.max_threads[2]) or 1024
        threads = block[0] * block[1] * block[2]
        if not 1 <= threads <= most:
            raise ValueError(f"{self.name}: {threads} threads in a block; it may have 1 to {most}")


def _write(text: str) -> None:
    import sys

    sys.stdout.write(text)


class Module:
    """A module of PTX. `module["name"]` is one of its kernels; `module.entries` are their names. See `load`."""

    def __init__(self, text: str, file: str, contract: bool) -> None:
        self.file = file
        try:
            self._native = _native().load(text, file, contract)
        except ValueError as error:
            message, line, column, rendered = error.args
            raise PtxError(rendered, message, file, line, column) from None
        self.entries: list[str] = self._native.entries()
        self._kernels: dict[str, Kernel] = {}

    def __getitem__(self, entry: str) -> Kernel:
        """Errors: KeyError, the module has no such entry."""
        if entry not in self.entries:
            raise KeyError(f"{self.file} has no entry {entry!r}; it has {', '.join(self.entries) or 'none'}")
        if entry not in self._kernels:
            self._kernels[entry] = Kernel(self, entry)
        return self._kernels[entry]

    def __repr__(self) -> str:
        return f"<module {self.file}: {', '.join(self.entries)}>"


def load(source: str | os.PathLike[str], *, contract: bool = True, file: str | None = None) -> Module:
    """A module from a file of PTX (a path), or from PTX text (a str with a `.version` line).

    contract: compute mul.f32 and add.f32 without a rounding mode as one fma where ptxas does. file: what errors call
    the text. Errors: PtxError with line and column, for text that cannot be run; OSError, the file cannot be read.
    """
    if isinstance(source, str) and ("\n" in source or ".version" in source):
        return Module(source, file or "kernel.ptx", contract)
    path = Path(source)
    return Module(path.read_text(encoding="utf-8", errors="surrogateescape"), file or str(path), contract)


__all__ = ["CHECKS", "Kernel", "Module", "Parameter", "PtxError", "Ran", "load"]
