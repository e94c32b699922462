"""Machine code as text: nvdisasm, or cuobjdump where that is not found."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from tiletwin import toolkit

LIMIT = 300
"""Seconds for one run."""

TOOLS = ("nvdisasm", "cuobjdump")


def find(names: tuple[str, ...] = TOOLS) -> toolkit.Tool | None:
    """The disassembler in use, or None."""
    return next((tool for tool in map(toolkit.find, names) if tool is not None), None)


def disassemble(cubin: bytes, lines: bool = False, data: bool = False) -> str:
    """The SASS of a cubin. lines: with the lines that it comes from. data: with all other sections. Both are what
    nvdisasm alone prints.

    Errors: RuntimeError, no disassembler was found, or it does not take the bytes.
    """
    names = TOOLS[:1] if lines or data else TOOLS
    tool = find(names)
    if tool is None:
        looked = "\n".join(map(toolkit.where_looked, names))
        missing = "no nvdisasm" if lines or data else "neither nvdisasm nor cuobjdump"
        raise RuntimeError(f"{missing} was found; looked at:\n{looked}")
    is_nvdisasm = tool.path.name.startswith("nvdisasm")
    shown = [*([] if data else ["--print-code"]), *(["--print-line-info"] if lines else [])]
    options = shown if is_nvdisasm else ["--dump-sass"]
    with tempfile.TemporaryDirectory(prefix="tiletwin-sass-") as folder:
        file = Path(folder, "kernel.cubin")
        file.write_bytes(cubin)
        words = [str(tool.path), *options, str(file)]
        try:
            run = subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=LIMIT)
        except subprocess.TimeoutExpired:
            raise RuntimeError(f"{tool.path} did not end within {LIMIT} seconds") from None
    if run.returncode:
        raise RuntimeError(f"{tool.path} does not take the code: {(run.stderr or run.stdout).strip()}")
    return run.stdout
