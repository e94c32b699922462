"""A launch on an NVIDIA GPU: what the launcher asks Python for, once for a kernel and a GPU.

Here:      code for the GPU at hand, the kernel loaded and prepared; the current GPU and stream.
Not here:  launches that find their kernel prepared (`_C.Launcher`), the driver (tiletwin.cuda), compilation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tiletwin import cuda
from tiletwin.codegen import assembler
from tiletwin.codegen.targets import capability_of as capability_of_name
from tiletwin.cuda.devices import torch_functions
from tiletwin.drivers.chosen import launch_capability
from tiletwin.errors import OutOfResources
from tiletwin.launch.copied_loads import copied_loads
from tiletwin.launch.tensor_map_arguments import map_argument


def current_place() -> tuple[Callable[[], int], Callable[[int], int], bool]:
    """Functions that give the current GPU, and the current stream of a GPU; whether they stay the right ones to ask."""
    told = torch_functions()
    return (*told, True) if told else (cuda.current_device, cuda.current_stream, False)


def capability_of(device: int) -> int:
    """What kernels are compiled for on a GPU: what the active driver says; what the GPU is where that is the
    interpreter's, because torch has no part in the launch."""
    return launch_capability() or cuda.device_facts(device)["capability"]


def multiprocessors_of(device: int) -> int:
    """How many CTAs a GPU runs at one time if one is on each multiprocessor."""
    return cuda.device_facts(device)["multiprocessor_count"]


class Ready(NamedTuple):
    """A compiled kernel on a GPU."""

    entry: cuda.Kernel
    prepared: Any
    """tiletwin._cuda.Prepared"""
    types: tuple[Any, ...]
    """Storage types of its arguments, of tensor maps `MapArgument.native`; behind them `CopiedLoads.native`."""
    ctas: int
    """That the GPU runs at one time if one is on each multiprocessor: whole clusters."""
    program_ctas: int
    """That run a program together."""


def prepare(kernel: Any, device: int, loops: bool) -> tuple[Any, tuple[Any, ...], int, int, bool]:
    """(a kernel compiled for a GPU, ready to be launched there; the types of its arguments; `Ready.ctas`;
    `Ready.program_ctas`; whether it is the code for all grids). Errors: see `load`.

    loops: its CTAs may run one program after the other (launch/copied_loads.py).
    """
    asm = kernel.asm
    return *load(kernel, device, asm.launched if loops else asm.launched_singly)[1:], not asm.may_copy_loads()


def load(kernel: Any, device: int, asm: Any) -> Ready:
    """A kernel compiled for a GPU, loaded there. asm: its code, `kernel.asm` or `kernel.asm.launched`.

    Errors: CompilationError; CudaError, OutOfResources: what the driver says.
    """
    facts = asm.facts
    if facts["global_scratch_size"]:
        raise NotImplementedError(
            f"{kernel.name}: kernels with scratch memory of their own cannot be launched on a GPU yet"
        )
    # A cubin runs on GPUs of its own generation only; PTX for an older one (the option `arch`) is assembled for this.
    of_this_gpu = capability_of_name(kernel.options["arch"]) == cuda.device_facts(device)["capability"]
    code = asm["cubin"] if of_this_gpu and assembler.find() is not None else asm["ptx"]
    entry = cuda.load(code, device=device)[facts["name"]]
    kinds, copied = facts["arguments"], copied_loads(facts["arguments"])
    maps = ((kind, map_argument(kind)) for kind in (kinds[: copied.own] if copied else kinds))
    arguments = tuple(described.native() if described else kind for kind, described in maps)
    threads, options = 32 * facts["num_warps"], kernel.options
    if threads > (most := entry.attributes["max_threads"]):
        raise OutOfResources(threads, most, "threads")
    overlaps = options["launch_pdl"] and cuda.device_facts(device)["capability"] >= 90  # older GPUs know no such launch
    block, ways = (threads, 1, 1), (options["launch_cooperative_grid"], overlaps)
    passed, told = (copied.passed(), copied.native()) if copied else ((), ())
    prepared = entry._native.prepare(arguments + passed, block, facts["shared"], *ways)
    cluster = facts.get("cluster", 1)
    ctas = multiprocessors_of(device) // cluster * cluster
    return Ready(entry, prepared, arguments + told, ctas, facts.get("program_ctas", 1))
