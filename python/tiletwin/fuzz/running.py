"""A generated program as a launch: its text becomes a module in this process, its buffers arrays.

Here:      load(), arguments(), launch_of().
Not here:  who runs launches (judges.py).
Invariant: nothing is written to disk; linecache holds the text, so that errors and reports show its lines.
"""

from __future__ import annotations

import linecache
import sys
from types import ModuleType
from typing import Any

from tiletwin import _activate
from tiletwin.diff import launches
from tiletwin.diff.comparing import launch_of as as_data
from tiletwin.fuzz import inputs
from tiletwin.fuzz.text import kernel_text
from tiletwin.fuzz.tree import Buffer, Program


def import_triton_as_tiletwin() -> None:
    """From now on `import triton` gives tiletwin in this process."""
    if not any(isinstance(finder, _activate.TritonFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _activate.TritonFinder())


def load(text: str, name: str) -> ModuleType:
    """The module of a text, under a file name that only linecache knows. Errors: SyntaxError."""
    import_triton_as_tiletwin()
    file = f"{name}.py"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    module = ModuleType(name)
    module.__file__ = file
    exec(compile(text, file, "exec"), module.__dict__)
    return module


def _array(buffer: Buffer) -> Any:
    return inputs.array(buffer.element, buffer.count, buffer.content, buffer.seed)


def arguments(program: Program) -> dict[str, Any]:
    """The arguments of its launch by name, buffers filled afresh."""
    values: dict[str, Any] = {b.name: _array(b) for b in program.buffers}
    for d in program.descriptors:
        values[d.name] = inputs.descriptor(_array(d.buffer), d.shape, d.block, d.padding)
    values |= {b.name: _array(b) for b in program.extra}
    return values | program.scalars | program.constants


def launch_of(program: Program, text: str = "") -> launches.Launch:
    """Its launch as data. text: another text of the same kernel.

    Errors: CompilationError, the front end refuses the kernel.
    """
    name = f"fuzz_{program.seed}"
    module = load(text or kernel_text(program), name)
    launch = as_data(module.kernel, program.grid, arguments(program), **program.options)
    launch.number = program.seed
    return launch


def forget(program: Program) -> None:
    """Drops what linecache holds of a program."""
    linecache.cache.pop(f"fuzz_{program.seed}.py", None)
