"""PTX to cubin.

Here:      which PTX version will be assembled, options of ptxas, cubins kept on disk.
Not here:  finding and running the tool (tiletwin/cuda/ptxas.py), the texts before (generator.py), SASS
           (tiletwin/cuda/sass.py).
"""

from __future__ import annotations

import os
import re
import shlex
import threading
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from tiletwin import knobs
from tiletwin.codegen import stage_cache

if TYPE_CHECKING:  # loaded when something is assembled
    from tiletwin.cuda.ptxas import Assembled, FunctionReport, Ptxas

_THREADS = re.compile(r"^\.(?:req|max)ntid +(\d+)[^\n]*", re.MULTILINE)
_LIMITS = re.compile(r"^\.(?:maxnreg|minnctapersm) ", re.MULTILINE)
_BLOCK = re.compile(r"^(\$L__BB\w+):(.*?)(?=^\$L__BB\w+:|\Z)", re.MULTILINE | re.DOTALL)
_WAITS = re.compile(r"\b(?:bar|barrier|mbarrier|shfl|mma|wgmma|tcgen05|atom|red)\b")
_MOST_REGISTERS, _REGISTERS, _REGISTER_STEP = 255, 64 * 1024, 8
"""Of a thread, of a multiprocessor, and the step in which ptxas gives them."""
_MORE_REGISTERS = 64
_POLICY = "more registers for loops of loads"
"""What a kept cubin depends on besides: when a text is assembled twice, and which result is taken."""


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


def find() -> Ptxas | None:
    """The ptxas in use, or None. Errors: RuntimeError, a variable names one that does not run."""
    from tiletwin.cuda import ptxas

    return ptxas.find()


@cache
def _driver_ptx() -> int | None:
    """The newest PTX version that the CUDA driver takes; None: there is no driver."""
    from tiletwin.errors import CudaError
    from tiletwin.native import cuda as extension

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


def with_one_block(ptx: str, report: FunctionReport) -> str | None:
    """The text with a promise that ptxas takes as leave to use all registers; None: it has used them, or may not.
    report: of the text as it is.

    ptxas 13.0 gives some kernels of sm_80 and sm_90 that spill anyway 32 registers and spills all the rest.
    """
    found = _THREADS.search(ptx)
    if found is None or not report.spill_stores or _LIMITS.search(ptx):
        return None
    if report.registers >= min(_MOST_REGISTERS, _REGISTERS // int(found[1])) - _REGISTER_STEP:
        return None
    return f"{ptx[: found.end()]}\n.minnctapersm 1{ptx[found.end() :]}"


def _loads_in_a_loop(ptx: str) -> bool:
    """Whether a block is a loop that loads, and neither waits nor multiplies matrices."""
    for label, text in _BLOCK.findall(ptx):
        back = re.search(rf"\bbra(?:\.uni)?\s+{re.escape(label)};", text)
        if back and "ld.global" in text[: back.start()] and not _WAITS.search(text[: back.start()]):
            return True
    return False


def _limited(ptx: str) -> str | None:
    """The text with a limit of registers; None: it is no loop of loads, or another number of CTAs would fit."""
    found = _THREADS.search(ptx)
    if found is None or 2 * int(found[1]) * _MORE_REGISTERS > _REGISTERS or _LIMITS.search(ptx):
        return None
    return f"{ptx[: found.end()]}\n.maxnreg {_MORE_REGISTERS}{ptx[found.end() :]}" if _loads_in_a_loop(ptx) else None


def with_more_registers(ptx: str, report: FunctionReport) -> str | None:
    """The text with a limit that makes ptxas use more registers, up to 64; None: it has no use for them, or may not.
    report: of the text as it is.

    ptxas 13.0 takes 32 registers for a loop that adds up what it loads, and waits for each load before it begins
    the next. With a limit in the text it has four on their way, of at least two CTAs of a multiprocessor.
    """
    if report.spill_stores or report.registers > _MORE_REGISTERS - _REGISTER_STEP:
        return None
    return _limited(ptx)


class _Beside:
    """A text that is assembled while another one is: nobody waits for it who has no use for it."""

    def __init__(self, text: str, run: Callable[[str], Assembled]) -> None:
        self.text, self._run = text, run
        self._made: Assembled | Exception | None = None
        self._thread = threading.Thread(target=self._assemble)
        self._thread.start()

    def _assemble(self) -> None:
        try:
            self._made = self._run(self.text)
        except Exception as error:
            self._made = error

    def result(self) -> Assembled:
        """Errors: PTXASError, ptxas does not take the text."""
        self._thread.join()
        if isinstance(self._made, Exception):
            raise self._made
        assert self._made is not None
        return self._made


def assemble(ptx: str, arch: str, name: str, given: Any = None) -> tuple[Binary, bool]:
    """(the cubin of a kernel's PTX, whether it came from the cache). given: the option `ptx_options`.

    Errors: RuntimeError, there is no ptxas; PTXASError, it does not take the text.
    """
    from tiletwin.cuda.ptxas import FunctionReport, not_found

    ptxas = find()
    if ptxas is None:
        raise not_found("asm['ptx'] works without it")
    options = _options(given)
    key = stage_cache.key_of(ptx, arch, options, list(ptxas.version), os.path.getsize(ptxas.path), _POLICY)
    entry = stage_cache.load(key, name, "cubin")
    if entry is not None and set(entry.facts) == set(Binary._fields[1:]) and "cubin" in entry.files:
        return Binary(entry.files["cubin"], **entry.facts), True

    def report_of(made: Assembled) -> FunctionReport:
        return made.functions.get(name) or next(iter(made.functions.values()), FunctionReport())

    def run(text: str) -> Assembled:
        return ptxas.assemble(text, arch, file=f"{name}.ptx", options=options)

    may_change = not any("maxrregcount" in word for word in options)
    likely = _limited(ptx) if may_change else None
    beside = _Beside(likely, run) if likely else None
    made = run(ptx)
    if may_change:
        for change in (with_one_block, with_more_registers):
            if text := change(ptx, report_of(made)):
                again = beside.result() if beside and text == beside.text else run(text)
                spilled = report_of(again).spill_stores
                made = again if not spilled or spilled < report_of(made).spill_stores else made
    report = report_of(made)
    binary = Binary(made.cubin, report.registers, report.stack, report.spill_stores, report.shared, made.log)
    facts = {field: getattr(binary, field) for field in Binary._fields[1:]}
    stage_cache.store(key, name, "cubin", stage_cache.Entry({"cubin": binary.image}, facts))
    if knobs.nvidia.dump_ptxas_log:
        print(binary.log, end="" if binary.log.endswith("\n") else "\n")
    return binary, False
