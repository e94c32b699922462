"""All configurations of an autotuner compiled before any is measured, several at a time.

Here:      the front end one after the other, code generator and ptxas on threads, what each kernel needs; which of its
           forms a GPU runs.
Not here:  which of them are measured (gpu_tuning.py) or run on the simulator (tuning_estimates.py).
Idea:      the code generator releases the GIL and ptxas is a process of its own, so threads suffice. Nothing is
           measured while they run: a busy host launches late.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from tiletwin import cuda
from tiletwin.codegen import assembler
from tiletwin.codegen.stages import AsmDict
from tiletwin.codegen.targets import capability_of
from tiletwin.compiler.kernel import CompiledKernel
from tiletwin.errors import CompilationError, OutOfResources, PTXASError
from tiletwin.kernels import jit
from tiletwin.launch.tuning_model import Needs, check

UNUSABLE = (CompilationError, OutOfResources, PTXASError)
"""Errors of a configuration that others may not have."""
MOST_THREADS = 32


class Compiled(NamedTuple):
    """What came of the configurations, by their places."""

    failures: dict[int, Exception]
    needs: dict[int, Needs]
    """Of those that were compiled for the GPU."""


def threads() -> int:
    """Compilations beside each other."""
    return max(1, min(MOST_THREADS, len(os.sched_getaffinity(0))))


def _programs(grid: Any, arguments: dict[str, Any]) -> int | None:
    """Programs of a launch; None: the grid cannot be told before it."""
    try:
        sizes: Any = grid(arguments) if callable(grid) else grid
        sizes = sizes if isinstance(sizes, (tuple, list)) else (sizes,)
        count = 1
        for size in sizes:
            count *= int(size)
    except Exception:
        return None  # the launch calls it again and says what is wrong
    return count


def form_of(kernel: CompiledKernel, programs: int | None, gpu: dict[str, Any]) -> AsmDict:
    """The code that a launch of so many programs runs on a GPU."""
    is_small = programs is not None and programs <= gpu["multiprocessor_count"]
    return kernel.asm.launched_singly if is_small else kernel.asm.launched


def _finish(kernel: CompiledKernel, programs: int | None, gpu: dict[str, Any]) -> Needs:
    """Makes the code that a launch loads. Errors: UNUSABLE."""
    asm = form_of(kernel, programs, gpu)
    facts = asm.facts
    needs = Needs(32 * facts["num_warps"], facts["shared"], programs)
    check(needs, gpu)
    if capability_of(kernel.options["arch"]) != gpu["capability"] or assembler.find() is None:
        return needs  # the driver assembles it
    binary = asm.binary
    return needs._replace(registers=binary.registers, spilled=binary.spill_stores)


def compile_all(
    prepare: Sequence[Callable[[], Any]],
    grid: Any,
    arguments: Sequence[dict[str, Any]],
    gpu: dict[str, Any] | None = None,
) -> Compiled:
    """prepare: functions that compile each configuration as a launch would. arguments: of each, as a grid gets them.
    gpu: what a GPU has that kernels are meant for although launches run on the CPU, as `cuda.device_facts` says it;
    None: the current one, for kernels that were compiled to be launched on one.

    Errors: of `prepare`, but UNUSABLE, which are kept.
    """
    failures: dict[int, Exception] = {}
    kernels: dict[int, CompiledKernel] = {}
    for at, compile_one in enumerate(prepare):
        try:
            with jit.ahead_of_launch():
                made = compile_one()
        except UNUSABLE as error:
            failures[at] = error
            continue
        if isinstance(made, CompiledKernel) and (gpu is not None or made.for_gpu):
            kernels[at] = made
    needs: dict[int, Needs] = {}
    if not kernels:
        return Compiled(failures, needs)
    gpu = gpu or cuda.device_facts(cuda.current_device())
    with ThreadPoolExecutor(threads(), "tiletwin-compile") as pool:
        jobs = {at: pool.submit(_finish, kernel, _programs(grid, arguments[at]), gpu) for at, kernel in kernels.items()}
        for at, job in jobs.items():
            try:
                needs[at] = job.result()
            except UNUSABLE as error:
                failures[at] = error
    return Compiled(failures, needs)
