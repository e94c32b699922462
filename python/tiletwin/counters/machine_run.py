"""Machine code that runs beside launches of PTX, on the same memory, and what each of its instructions did.

Here:      `beside_launches`.
Not here:  machine code as PTX (tiletwin/machine), counters by ncu's names (machine_metrics.py).
Idea:      memory is kept, the launch runs, its results are kept and memory is put back; then the machine code runs.
           Both must have written the same: that shows that the instructions did what the GPU's would. What the launch
           has written stays.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import re
import threading
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Any

from tiletwin import machine
from tiletwin.counters.counts import SPACES, Instruction, MachineInstruction, MachineRun, Memory
from tiletwin.counters.machine_code import with_lines
from tiletwin.cuda import ptxas, sass
from tiletwin.errors import PTXASError
from tiletwin.machine import listing
from tiletwin.sim import modules

_TARGET = re.compile(r"^\s*\.target\s+(sm_\d+\w*)", re.MULTILINE)

_lock = threading.Lock()
"""Around the number of blocks that run."""
_blocks = 0
_FEWEST, _OF_EACH = 1_000_000, 100
"""How many instructions of its PTX machine code may run: some for every launch, and so many for each of the launch's. A
wrong meaning inside of a loop would never end."""


@contextlib.contextmanager
def beside_launches() -> Iterator[None]:
    """Runs the machine code of each launch that is counted while the block runs. Blocks may overlap."""
    global _blocks
    with _lock:
        _blocks += 1
        modules.beside = _begin
    try:
        yield
    finally:
        with _lock:
            _blocks -= 1
            modules.beside = _begin if _blocks else None


@functools.lru_cache(maxsize=64)
def _code(ptx: str, entry: str) -> listing.Code | str:
    """The machine code of an entry, or why there is none."""
    target = _TARGET.search(ptx)
    if target is None or not target[1].startswith("sm_9"):
        return f"machine code is run for sm_90 and sm_90a only, not for {target[1] if target else 'this text'}"
    try:
        tool = ptxas.find()
        if tool is None:
            return "machine code was not run: no ptxas was found (pip install nvidia-cuda-nvcc)"
        if sass.find(sass.TOOLS[:1]) is None:
            return "machine code was not run: no nvdisasm was found (pip install nvidia-cuda-nvdisasm)"
        made = tool.assemble(with_lines(ptx), target[1], options=["-lineinfo"])
        return listing.read(sass.disassemble(made.cubin, lines=True, data=True), entry)
    except (RuntimeError, ValueError, PTXASError) as error:
        return f"machine code was not run: {str(error).splitlines()[0]}"


def _lifted(kernel: Any) -> tuple[machine.Lifted, Any] | str:
    """The machine code as PTX and as a kernel of the simulator, or why not. Kept with the module."""
    kept = kernel.module.__dict__.setdefault("machine_code", {})
    if kernel.name not in kept:
        kept[kernel.name] = _lift(kernel)
    return kept[kernel.name]


def _lift(kernel: Any) -> tuple[machine.Lifted, Any] | str:
    code = _code(kernel.module.text, kernel.name)
    if isinstance(code, str):
        return code
    try:
        lifted = machine.lift(kernel.module.text, kernel.name, kernel.shared, code)
        return lifted, modules.load(lifted.text, file=f"machine code of {kernel.module.file}")[kernel.name]
    except ValueError as error:
        return f"machine code was not run: {str(error).splitlines()[0]}"


def _begin(kernel: Any, *rest: Any, clusters: list[int]) -> Callable[[int], MachineRun]:
    lifted = _lifted(kernel)
    if isinstance(lifted, str):
        reason = lifted
        return lambda _: MachineRun([], False, reason)
    made, own = lifted
    *sizes, parameters, buffers, _, threads, _, schedule, _ = rest
    before = _memory(buffers)

    def finish(instructions: int) -> MachineRun:
        wanted = _memory(buffers)
        _put_back(buffers, before)
        most = _FEWEST + _OF_EACH * instructions
        facts = made.parameters(parameters), buffers, ("bounds",), threads, most, schedule
        try:
            *_, rows = own.module.native.launch(own.name, *sizes, *facts, lambda text: None, True, clusters)
        except Exception as error:  # what the simulator says of it is a note on counters, not the launch's error
            return MachineRun([], False, f"machine code was not run to its end: {str(error).splitlines()[0]}")
        else:
            same = wanted == _memory(buffers)
        finally:
            _put_back(buffers, wanted)
        note = "" if same else "the results of the machine code are not those of the PTX; its counters are estimates"
        return MachineRun(_counted(made, rows), same, note)

    return finish


def _memory(buffers: list[tuple[str, int, int, bool]]) -> list[bytes]:
    return [b"" if read_only else ctypes.string_at(begin, end - begin) for _, begin, end, read_only in buffers]


def _put_back(buffers: list[tuple[str, int, int, bool]], kept: list[bytes]) -> None:
    for (_, begin, _, read_only), values in zip(buffers, kept):
        if not read_only:
            ctypes.memmove(begin, values, len(values))


def _counted(lifted: machine.Lifted, rows: tuple[Any, ...]) -> list[MachineInstruction]:
    """Each instruction with what its lines of PTX did: memory of all of them, the rest of the first."""
    functions, _, _ = rows
    found = [MachineInstruction(one.opcode, one.words, one.text, one.line) for one in lifted.instructions]
    for function, _, listed in functions:
        for row in listed:
            one = Instruction.of(function, row)
            at = bisect_right(lifted.lines, one.ptx_line) - 1
            if at < 0:
                continue
            made = found[at]
            if one.ptx_line == lifted.lines[at]:
                made.executed, made.executed_on = one.executed, one.executed_on
                made.threads, made.threads_on = one.threads, one.threads_on
            made.parted += one.parted
            made.memory = {space: Memory.plus(made.memory[space], one.memory[space]) for space in SPACES}
    _meet(lifted, found)
    return found


def _meet(lifted: machine.Lifted, found: list[MachineInstruction]) -> None:
    """Where lanes meet. A GPU comes to BSYNC once with each group of lanes, the simulator once with all of them: each
    branch behind BSSY that parts a warp makes one group more. If a group leaves by BREAK, those that wait for it come
    once more, and it comes to the BSYNC further out."""
    regions, broken = _regions(lifted), set()
    for at, one in enumerate(found):
        if not one.parted and one.opcode != "BREAK":
            continue
        around = sorted((end - begin, end) for begin, end in regions if begin < at < end)
        if one.parted and around:
            waits = found[around[0][1]]
            waits.executed += one.parted
            waits.executed_on += one.parted
        if one.opcode == "BREAK" and one.executed_on and around:
            left = found[around[0][1]]
            if around[0][1] not in broken:
                broken.add(around[0][1])
                left.threads += left.threads
                left.threads_on += left.threads_on
            if len(around) > 1:
                found[around[1][1]].executed += one.executed_on
                found[around[1][1]].executed_on += one.executed_on


def _regions(lifted: machine.Lifted) -> list[tuple[int, int]]:
    """(BSSY, its BSYNC), by their numbers."""
    found, codes = [], lifted.instructions
    for begin, one in enumerate(codes):
        if one.opcode != "BSSY":
            continue
        barrier = one.operands[0].text
        ends = (
            at
            for at in range(begin, len(codes))
            if codes[at].opcode == "BSYNC" and codes[at].operands[0].text == barrier
        )
        end = next(ends, None)
        if end is not None:
            found.append((begin, end))
    return found
