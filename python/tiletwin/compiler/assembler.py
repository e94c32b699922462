"""PTX to cubin, cubin to SASS.

Here:      which PTX version will be assembled, options of ptxas, cubins kept on disk.
Not here:  finding and running the tools (tiletwin/cuda: ptxas.py, sass.py), the texts before (generator.py).
"""

from __future__ import annotations

import os
import shlex
from functools import cache
from typing import Any, NamedTuple

from tiletwin import knobs
from tiletwin.compiler import stage_cache


class Binary(NamedTuple):
    """A kernel's machine code, and what ptxas said of it."""

    image: bytes
    registers: int
    """Of a thread."""
    stack: int
    """Bytes of a thread in local memory, spilled registers among them."""
    spill_stores: int
    """Bytes that a thread spills."""
    shared: int
    """Static shared memory of a block, in bytes."""
    log: str


class Ptxas:
    """The ptxas in use."""

    def __init__(self, tool: Any) -> None:
        self.path: str = str(tool.path)
        self.version: tuple[int, int] = tool.cuda
        self._tool = tool

    @property
    def newest_ptx(self) -> int:
        """The newest PTX version that it takes, times ten."""
        from tiletwin.cuda.ptxas import ptx_version

        return ptx_version(self._tool)

    def assemble(self, ptx: str, arch: str, name: str, options: list[str]) -> Binary:
        """Errors: PTXASError, with its text and the lines of PTX."""
        from tiletwin.cuda import ptxas

        made = ptxas.assemble(ptx, arch, file=f"{name}.ptx", options=options)
        report = made.functions.get(name) or next(iter(made.functions.values()), ptxas.FunctionReport())
        return Binary(made.cubin, report.registers, report.stack, report.spill_stores, report.shared, made.log)


def find() -> Ptxas | None:
    """The ptxas in use, or None. Errors: RuntimeError, a variable names one that does not run."""
    from tiletwin.cuda import toolkit

    tool = toolkit.find("ptxas")
    return tool and Ptxas(tool)


@cache
def _driver_ptx() -> int | None:
    """The newest PTX version that the CUDA driver takes; None: there is no driver."""
    from tiletwin.cuda.extension import extension
    from tiletwin.errors import CudaError

    try:
        return extension().driver()["ptx_version"]
    except (CudaError, ImportError):
        return None


def newest_ptx() -> tuple[int | None, str]:
    """The newest PTX version, times ten, that what will assemble a text takes, and its name; None: nothing is known."""
    ptxas = find()
    if ptxas is not None:
        return ptxas.newest_ptx, f"ptxas {ptxas.version[0]}.{ptxas.version[1]} ({ptxas.path})"
    newest = _driver_ptx()
    return newest, "the driver" if newest else "nothing"


def _options(given: Any) -> list[str]:
    """Options of ptxas: of the compilation (`ptx_options`), of PTXAS_OPTIONS, and what knobs say."""
    words = []
    for text in (given, knobs.nvidia.ptxas_options):
        words += shlex.split(text) if isinstance(text, str) else list(text or ())
    if knobs.nvidia.disable_ptxas_opt:
        words += ["--opt-level", "0"]
    if not knobs.compilation.disable_line_info:
        words.append("-lineinfo")
    return words


def _missing() -> RuntimeError:
    from tiletwin.cuda import toolkit

    return RuntimeError(
        f"a cubin needs ptxas, and none was found; looked at:\n{toolkit.where_looked('ptxas')}\n"
        "Install one (pip install nvidia-cuda-nvcc), or name it in TILETWIN_PTXAS. asm['ptx'] works without it"
    )


def assemble(ptx: str, arch: str, name: str, given: Any = None) -> tuple[Binary, bool]:
    """(the cubin of a kernel's PTX, whether it came from the cache). given: the option `ptx_options`.

    Errors: RuntimeError, there is no ptxas; PTXASError, it does not take the text.
    """
    ptxas = find()
    if ptxas is None:
        raise _missing()
    options = _options(given)
    key = stage_cache.key_of(ptx, arch, options, list(ptxas.version), os.path.getsize(ptxas.path))
    entry = stage_cache.load(key, name, "cubin")
    if entry is not None and set(entry.facts) == set(Binary._fields[1:]) and "cubin" in entry.files:
        return Binary(entry.files["cubin"], **entry.facts), True
    binary = ptxas.assemble(ptx, arch, name, options)
    facts = {field: getattr(binary, field) for field in Binary._fields[1:]}
    stage_cache.store(key, name, "cubin", stage_cache.Entry({"cubin": binary.image}, facts))
    if knobs.nvidia.dump_ptxas_log:
        print(binary.log, end="" if binary.log.endswith("\n") else "\n")
    return binary, False


def disassemble(cubin: bytes) -> str:
    """SASS of a cubin. Errors: RuntimeError, there is neither nvdisasm nor cuobjdump."""
    from tiletwin.cuda import sass

    return sass.disassemble(cubin)


def can_disassemble() -> bool:
    """Whether there is nvdisasm or cuobjdump."""
    from tiletwin.cuda import sass

    return sass.find() is not None
