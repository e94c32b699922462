"""Modules of PTX, their kernels, and launches of these on the simulator.

Not here:  how arguments become a parameter block (arguments.py), tensor maps (tensor_maps.py), which checks run
           (check_words.py), the backend for tools (backend.py), the command `tiletwin sim` (command.py).
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from tiletwin.errors import PtxError
from tiletwin.native import simulator as extension
from tiletwin.sim.arguments import Entry, Parameter, Sizes, count, pack
from tiletwin.sim.check_words import chosen_checks
from tiletwin.sim.launch_memory import LaunchMemory


class Ran(NamedTuple):
    """What a launch did."""

    instructions: int
    """Instructions of warps."""
    lane_instructions: int
    """The same, times the lanes that took part."""


watcher: Callable[..., None] | None = None
"""Called after each launch, in every thread that launches, with the kernel, sizes of grid, block and cluster, bytes of
dynamic shared memory, what each instruction did, as python/sim/CountRows.h has it, and what `beside` gave. None:
nothing is counted."""

beside: Callable[..., Callable[[int], Any]] | None = None
"""Called before each launch that is counted, with the kernel and all that `Kernel.launch` takes; what it returns is
called after the launch, with its instructions of warps. Memory stays as the launch leaves it. None: nothing runs beside
launches."""


_NOT_RECORDED = "the simulator's sums of tcgen05.mma are not recorded on a GPU (docs/simulator.md)"


class Kernel(Entry):
    """An entry, ready to run on the simulator.

    Attributes:
        shared: bytes of shared memory of its own variables.
        max_threads: .maxntid; zeros where the text has none.
        required_cluster: .reqnctapercluster, likewise.
    """

    def __init__(self, module: Module, name: str) -> None:
        facts = module.native.facts(name)
        super().__init__(module, name, [Parameter(*row) for row in facts["parameters"]], facts["required_threads"])
        self.shared: int = facts["shared"]
        self.max_threads: tuple[int, int, int] = facts["max_threads"]
        self.required_cluster: tuple[int, int, int] = facts["required_cluster"]
        x, y, z = self.required_cluster
        self._cluster = max(1, x), max(1, y), max(1, z)
        self.parameter_bytes = facts["parameter_bytes"]

    def __call__(
        self,
        *arguments: Any,
        grid: Sizes,
        block: Sizes | None = None,
        cluster: Sizes | None = None,
        shared: int = 0,
        memory: Iterable[Any] = (),
        checks: str | Iterable[str] | None = None,
        limit: int = 0,
        threads: int = 0,
        schedule: str = "",
        print: Callable[[str], Any] | None = None,
        clusters: Iterable[int] = (),
        **named: Any,
    ) -> Ran:
        """Runs the kernel on a grid, until every thread has ended.

        Tensors on a GPU are copied to the host, and back afterwards. What `tiletwin.register` was given can be reached,
        too.

        Args:
            arguments: one for each parameter, in order: arrays, tensors and tensor maps for pointers, None for a null
                pointer, numbers; bytes or structures of NumPy and ctypes for structures.
            grid: CTAs along each dimension.
            block: threads of a CTA along each dimension; default: .reqntid.
            cluster: CTAs of a cluster along each dimension; default: .reqnctapercluster.
            shared: bytes of dynamic shared memory.
            memory: arrays that the kernel reaches by other ways than its arguments.
            checks: words of CHECKS, "all" or "none", in a list or joined by commas; default: DEFAULT_CHECKS, and those
                that TILETWIN_CHECK names.
            limit: instructions of warps after which the launch ends with an error; 0: none.
            threads: of the CPU; 0: TILETWIN_NUM_THREADS, or all cores.
            schedule: which warp runs when, as TILETWIN_SIM_SCHEDULE has it; empty: as the variable says.
            print: gets what vprintf writes, in place of sys.stdout.
            clusters: numbers of the clusters (of one CTA, if the launch has no larger ones) that run, x first; default:
                all. Kernels whose clusters wait for each other need all.
            named: arguments by their parameters' names, whole or without the kernel's name in front.

        Raises:
            TypeError: an argument does not fit.
            ValueError: an argument does not fit.
            OutOfBoundsError: what the kernel did.
            DeadlockError: what the kernel did.
        """
        call = self._call(arguments, named, grid, block, cluster, shared, memory)
        words = chosen_checks(checks)
        reached = LaunchMemory()
        parameters = pack(self.name, self.parameters, self.parameter_bytes, call.values, reached)
        for i, array in enumerate(call.memory):
            reached.add(f"{self.name}(): memory[{i}]", f"memory[{i}]", array)
        reached.add_registered()
        ran = self.launch(
            *call[:4], parameters, reached.buffers, words, count(threads, "threads"), count(limit, "limit", 64),
            schedule, print or _write, clusters=clusters,
        )  # fmt: skip
        reached.write_back()
        return ran

    def launch(
        self, grid: Sizes, block: Sizes, cluster: Sizes, shared: int, *rest: Any, clusters: Iterable[int] = ()
    ) -> Ran:
        """Runs the kernel as `_sim.Module.launch` does, and tells `watcher` what its instructions did."""
        if self.module.has_tensor_products:
            _tell_of_products()
        clusters = list(clusters)
        told = watcher
        also = beside(self, grid, block, cluster, shared, *rest, clusters=clusters) if told and beside else None
        *numbers, rows = self.module.native.launch(
            self.name, grid, block, cluster, shared, *rest, told is not None, clusters
        )
        if told is not None:
            told(self, grid, block, cluster, shared, rows, also and also(numbers[0]))
        return Ran(*numbers)


@functools.cache
def _tell_of_products() -> None:
    import sys

    print(
        f"tiletwin: {_NOT_RECORDED}: where sums are rounded, their last bits may differ from a GPU's", file=sys.stderr
    )


def _write(text: str) -> None:
    import sys

    sys.stdout.write(text)


class Module:
    """A module of PTX. `module["name"]` is one of its kernels; `module.entries` are their names. See `load`.

    Module variables (.global) keep their values from launch to launch, as on a GPU.
    """

    def __init__(self, text: str, file: str, contract: bool) -> None:
        self.file = self.place = file
        self.text = text
        text = text.encode("utf-8", "replace").decode("utf-8")  # surrogates cannot be handed on
        try:
            self.native = extension().load(text, file, contract)
        except ValueError as error:
            message, line, column, rendered = error.args
            raise PtxError(rendered, message, file, line, column) from None
        self.entries: list[str] = self.native.entries()
        self.has_tensor_products = "tcgen05.mma" in text
        self._kernels: dict[str, Kernel] = {}

    def __getitem__(self, entry: str) -> Kernel:
        """The kernel of an entry.

        Raises:
            KeyError: the module has no such entry.
        """
        if entry not in self.entries:
            raise KeyError(f"{self.file} has no entry {entry!r}; it has {', '.join(self.entries) or 'none'}")
        if entry not in self._kernels:
            self._kernels[entry] = Kernel(self, entry)
        return self._kernels[entry]

    def __repr__(self) -> str:
        return f"<module {self.file}: {', '.join(self.entries)}>"


def load(source: str | os.PathLike[str], *, contract: bool = True, file: str | None = None) -> Module:
    """A module from a file of PTX (a path), or from PTX text (a str with a `.version` line).

    Args:
        source: the path, or the text.
        contract: compute products and sums without a rounding mode as one fma where ptxas does.
        file: what errors call the text.

    Raises:
        PtxError: the text cannot be run; with line and column.
        OSError: the file cannot be read.
    """
    if isinstance(source, str) and ("\n" in source or ".version" in source):
        return Module(source, file or "kernel.ptx", contract)
    path = Path(source)
    return Module(path.read_text(encoding="utf-8", errors="replace"), file or str(path), contract)
