"""A launch on the simulator (TILETWIN_BACKEND=sim): the kernel's PTX, run thread by thread on the CPU.

Here:      the arguments of a launch as those of the compiled kernel's entry; who takes the place of launches.
Not here:  who decides that a launch runs here (`_C.Launcher`), the simulator (tiletwin.sim), compilation (compiler/).
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np

import tiletwin.sim
from tiletwin import memory, variables
from tiletwin.drivers.interpreter import DEVICE_PROPERTIES
from tiletwin.errors import OutOfResources
from tiletwin.launch import copied_loads, tensor_map_arguments
from tiletwin.native import simulator
from tiletwin.sim.arguments import gpu_number, pack
from tiletwin.sim.check_words import chosen_checks
from tiletwin.sim.launch_memory import LaunchMemory


class _Loaded(NamedTuple):
    """A kernel on the simulator."""

    kernel: tiletwin.sim.Kernel
    makes_pointers: bool
    """Of integers, or it reads them from memory."""


_kernels: weakref.WeakKeyDictionary[Any, _Loaded] = weakref.WeakKeyDictionary()
"""By compiled kernel."""
in_place: ContextVar[Callable[..., Any] | None] = ContextVar("tiletwin.launch.sim_launch.in_place", default=None)
"""Called in place of the launches of this thread, with what `launch` takes. None: they run."""
_SCRATCH_ALIGNMENT, _MAP_BYTES = 128, 128
MOST_CTAS = DEVICE_PROPERTIES["multiprocessor_count"]
"""Of a kernel whose CTAs run one program after the other."""


def _tensor_map(argument: tensor_map_arguments.MapArgument, values: list[Any], name: str, at: int) -> bytes:
    place = f"{name}(): the tensor descriptor that is argument {at}"
    numbers = tensor_map_arguments.numbers(argument, values[at:], place)
    try:
        return simulator().encode_tensor_map(numbers)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None


def _arguments(
    values: list[int | float], facts: dict[str, Any], name: str, grid: tuple[int, int, int]
) -> tuple[list[Any], tuple[int, int, int]]:
    """What the entry of a kernel takes, and the grid of CTAs that run the programs.

    facts: what the code generator says of the kernel; its arguments are storage types ("ptr", "i32", ...).
    grid: of programs.
    Errors: TypeError, another number of values than of parameters; ValueError, a tensor that no tensor map describes.
    """
    kinds = facts["arguments"]
    copied = copied_loads.copied_loads(kinds)
    own = kinds[: copied.own] if copied else kinds
    if len(values) != len(own):
        raise TypeError(f"the compiled kernel takes {len(own)} arguments and the launch has {len(values)}")
    maps = map(tensor_map_arguments.map_argument, own)
    arguments = [
        gpu_number(value, kind) if described is None else _tensor_map(described, values, name, at)
        for at, (value, kind, described) in enumerate(zip(values, own, maps))
    ]
    if copied:
        arguments += _copied(copied, values, own)
    if not copied or not copied.loops:
        return arguments, (grid[0] * facts.get("program_ctas", 1), *grid[1:])
    return arguments + list(grid), copied_loads.ctas_of(grid, MOST_CTAS, name, facts.get("cluster", 1))


def _copied(copied: copied_loads.CopiedLoads, values: list[Any], kinds: list[str]) -> list[Any]:
    """What stands behind the kernel's own arguments."""
    numbers = copied_loads.numbers(copied, values, kinds)
    if numbers is None:
        return [bytes(_MAP_BYTES)] * len(copied.maps) + [0]
    return [simulator().encode_tensor_map(one) for one in numbers] + [1]


def _text(asm: Any) -> str:
    """The kernel's PTX; for a debugger the TTGIR stands behind it, which says what shared memory holds."""
    if not variables.text("TILETWIN_DEBUG"):
        return asm["ptx"]
    return asm["ptx"] + "".join(f"\n// tiletwin.ttgir: {line}" for line in asm["ttgir"].splitlines()) + "\n"


def _loaded(kernel: Any) -> _Loaded:
    found = _kernels.get(kernel)
    if found is None:
        asm = kernel.asm.launched
        # Products and sums that may be one operation are one already: nothing is left to contract.
        module = tiletwin.sim.load(_text(asm), contract=False, file=f"{kernel.name}.ptx")
        if (name := asm.facts["name"]) not in module.entries:
            has = ", ".join(module.entries) or "none"
            raise ValueError(f"{', '.join(asm.replaced) or 'its PTX'} has no entry {name}; it has {has}")
        text = asm["ttir"]
        found = _kernels[kernel] = _Loaded(module[name], "tt.int_to_ptr" in text or "!tt.ptr<!tt.ptr" in text)
    return found


def _reached_otherwise(
    makes_pointers: bool, known: list[tuple[str, int, int, bool]]
) -> list[tuple[str, int, int, bool]]:
    """Memory that a kernel may reach by other ways than pointer arguments: what was registered, and all tensors that
    are alive if it makes pointers of integers or reads them from memory. These are looked for at each such launch: any
    line of the program may have made one or freed one since the last."""
    memory_of = LaunchMemory()
    memory_of.add_registered()
    found = list(memory_of.buffers)
    if makes_pointers:
        found += memory.tensor_buffers()
    begins = {begin for _, begin, _, _ in known}
    return [row for row in found if row[1] not in begins]


def check(kernel: Any) -> dict[str, Any]:
    """Compiles a kernel for the simulator; returns its facts.

    Errors: CompilationError; OutOfResources, it needs more shared memory than a block may have.
    """
    facts = kernel.asm.launched.facts
    check_shared(facts["shared"])
    return facts


def check_shared(needed: int) -> None:
    """Errors: OutOfResources, these are more bytes of shared memory than a block may have."""
    largest = DEVICE_PROPERTIES["max_shared_mem"]
    if needed > largest:
        raise OutOfResources(needed, largest, "shared memory")


def launch(
    kernel: Any,
    grid: tuple[int, int, int],
    values: list[int | float],
    buffers: list[tuple[str, int, int, bool]],
    run: Callable[..., Any] | None = None,
) -> Any:
    """Runs a compiled kernel on the simulator; returns the kernel.

    values: the run-time arguments; pointers as addresses. buffers: (name, first byte, one past the last, read only) of
    the memory that it may touch. run: called to run the kernel's entry, with it, the sizes of grid, block and cluster,
    bytes of shared memory, the parameters, and all buffers; None: it runs whole, as users' launches do.
    Errors: CompilationError, the kernel cannot be compiled for the GPU; OutOfResources, it does not fit there; what
    `tiletwin.sim` raises for a kernel that misbehaves.
    """
    instead = in_place.get()
    if run is None and instead is not None:
        return instead(kernel, grid, values, buffers)
    facts = check(kernel)
    entry, makes_pointers = _loaded(kernel)
    buffers = [*buffers, *_reached_otherwise(makes_pointers, buffers)]
    arguments, ctas = _arguments(values, facts, kernel.name, grid)
    scratch = None
    if facts["global_scratch_size"]:
        count = facts["global_scratch_size"] * ctas[0] * ctas[1] * ctas[2]
        scratch = np.zeros(count + _SCRATCH_ALIGNMENT, np.uint8)
        begin = scratch.ctypes.data
        arguments.append(begin + -begin % _SCRATCH_ALIGNMENT)
        buffers = [*buffers, ("scratch memory", begin, begin + scratch.size, False)]
    block = pack(kernel.name, entry.parameters, entry.parameter_bytes, arguments, LaunchMemory())
    sizes = ctas, (facts["num_warps"] * 32, 1, 1), (facts.get("cluster", 1), 1, 1)
    if run is not None:
        run(entry, *sizes, facts["shared"], block, buffers)
    else:
        entry.launch(*sizes, facts["shared"], block, buffers, chosen_checks(None), 0, 0, "", sys.stdout.write)
    return kernel
