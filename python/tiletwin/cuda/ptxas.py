"""ptxas: PTX to machine code, without a GPU.

    made = tiletwin.cuda.ptxas.assemble(text, "sm_90a")      # made.cubin, made.functions["add"].registers

Here:      which ptxas and what it takes, one run of it, its report and its errors.
Not here:  where programs are found (tiletwin/toolkit.py); the driver's own compiler (_cuda.assemble).
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tiletwin import toolkit
from tiletwin.errors import PTXASError

LIMIT = 900
"""Seconds for one run: the largest kernels take minutes, and what takes longer hangs."""

_ERROR = re.compile(r"line (\d+); (?:error|fatal)\s*:\s*(.*)")
_FUNCTION = re.compile(r"Compiling entry function '([^']+)' for '([^']+)'")
_PROPERTIES = re.compile(r"Function properties for (\S+)")
_STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"Used (\d+) registers(.*)")
_AMOUNT = re.compile(r"(\d+) (?:bytes )?(barriers|smem|lmem|cmem\[\d+\]|gmem)")


@dataclass
class FunctionReport:
    """What ptxas made of an entry. Bytes of stack and spills are a thread's, of shared memory a block's."""

    registers: int = 0
    stack: int = 0
    spill_stores: int = 0
    spill_loads: int = 0
    shared: int = 0
    barriers: int = 0


@dataclass
class Assembled:
    """The result of one run. log: all that ptxas printed; warnings: the lines of it that warn."""

    cubin: bytes
    arch: str
    log: str
    functions: dict[str, FunctionReport] = field(default_factory=dict)

    @property
    def warnings(self) -> list[str]:
        return [line for line in self.log.splitlines() if "warning" in line.lower()]


def read_report(log: str) -> dict[str, FunctionReport]:
    """Registers, spills and memory of each entry, from what `ptxas -v` prints."""
    functions: dict[str, FunctionReport] = {}
    of_entry = FunctionReport()
    properties = ""  # the function that a line about stack belongs to: entries and functions they call have one each
    for line in log.splitlines():
        if match := _FUNCTION.search(line):
            of_entry = functions.setdefault(match[1], FunctionReport())
        elif match := _PROPERTIES.search(line):
            properties = match[1]
        elif match := _STACK.search(line):
            report = functions.get(properties, FunctionReport())
            report.stack, report.spill_stores, report.spill_loads = (int(n) for n in match.groups())
        elif match := _USED.search(line):
            of_entry.registers = int(match[1])
            amounts = {name: int(number) for number, name in _AMOUNT.findall(match[2])}
            of_entry.shared, of_entry.barriers = amounts.get("smem", 0), amounts.get("barriers", 0)
    return functions


@dataclass(frozen=True)
class Ptxas:
    """A ptxas: where it lies, and its CUDA version, (13, 0)."""

    path: str
    version: tuple[int, int]

    @property
    def newest_ptx(self) -> int:
        """The newest PTX version that it takes, times ten."""
        from tiletwin.native import cuda as extension

        major, minor = self.version
        return extension().ptx_version_of_cuda(1000 * major + 10 * minor)

    def assemble(self, text: str, arch: str, *, file: str = "kernel.ptx", options: Sequence[str] = ()) -> Assembled:
        """A cubin of a PTX text for a GPU, "sm_90a". file: what errors call the text. options: more words for ptxas.

        Errors: PTXASError with its text and the lines of PTX.
        """
        with tempfile.TemporaryDirectory(prefix="tiletwin-ptxas-") as folder:
            source, target = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
            source.write_text(text, encoding="utf-8", errors="replace")
            words = [self.path, "-v", f"--gpu-name={arch}", str(source), "-o", str(target), *options]
            try:
                run = subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=LIMIT)
            except subprocess.TimeoutExpired:
                raise PTXASError(f"{self.path} did not end within {LIMIT} seconds on {file} for {arch}") from None
            log = (run.stdout + run.stderr).replace(str(source), file)
            if run.returncode or not target.exists():
                raise PTXASError(_message(self, text, arch, file, log, run.returncode))
            return Assembled(target.read_bytes(), arch, log, read_report(log))


def find() -> Ptxas | None:
    """The ptxas in use, or None. Errors: RuntimeError, a variable names one that does not run."""
    tool = toolkit.find("ptxas")
    return None if tool is None else Ptxas(str(tool.path), tool.cuda)


def not_found(instead: str) -> RuntimeError:
    """There is none, where it was looked for, and what can be done `instead` of installing one."""
    return RuntimeError(
        f"a cubin needs ptxas, and none was found; looked at:\n{toolkit.where_looked('ptxas')}\n"
        f"Install one (pip install nvidia-cuda-nvcc), or name it in TILETWIN_PTXAS; {instead}"
    )


def _message(tool: Ptxas, text: str, arch: str, file: str, log: str, status: int) -> str:
    """The text of an error: ptxas's lines, each with the line of PTX it is about."""
    source = text.splitlines()
    lines = [f"{tool.path} (CUDA {tool.version[0]}.{tool.version[1]}) does not take {file} for {arch}:"]
    for line in log.splitlines():
        if match := _ERROR.search(line):
            number = int(match[1])
            lines.append(f"{file}:{number}: {match[2]}")
            if 0 < number <= len(source):
                lines.append(f"    {source[number - 1].strip()}")
        elif line.strip() and not line.startswith("ptxas info"):
            lines.append(line.strip())
    if status < 0:
        lines.append(f"ptxas was ended by signal {-status}")
    version = re.search(r"^\s*\.version\s+(\d+)\.(\d+)", text, re.MULTILINE)
    newest = tool.newest_ptx
    if version and 10 * int(version[1]) + int(version[2]) > newest:
        lines.append(
            f"the text is of PTX {version[1]}.{version[2]}, and this ptxas takes up to {newest // 10}.{newest % 10}: "
            "compile for that version, or name a newer ptxas in TILETWIN_PTXAS"
        )
    return "\n".join(lines)


def assemble(
    text: str,
    arch: str,
    *,
    file: str = "kernel.ptx",
    max_registers: int | None = None,
    optimization: int | None = None,
    line_info: bool = False,
    options: Sequence[str] = (),
) -> Assembled:
    """A cubin of a PTX text for a GPU, "sm_90a".

    file: what errors call the text. max_registers: of a thread. optimization: 0 to 3, default 3. line_info: keep the
    .loc lines for profilers and debuggers. options: more words for ptxas.
    Errors: PTXASError with ptxas's text and the lines of PTX; RuntimeError, there is no ptxas.
    """
    tool = find()
    if tool is None:
        raise not_found("a GPU's driver can assemble too")
    words = [f"--maxrregcount={max_registers}"] if max_registers else []
    words += [f"--opt-level={optimization}"] if optimization is not None else []
    words += ["--generate-line-info"] if line_info else []
    return tool.assemble(text, arch, file=file, options=[*words, *options])


def arch_for(target: str, capability: int) -> str:
    """The --gpu-name for PTX of a .target on a GPU: "sm_90a" as it is, "sm_80" for the GPU's own sm_90."""
    return target if target[-1:] in ("a", "f") else f"sm_{max(capability, int(target.removeprefix('sm_')))}"
