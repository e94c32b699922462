"""Disassembly of GPU binaries, under the names of `triton.tools.disasm`.

Not here:  finding and running nvdisasm or cuobjdump (tiletwin/cuda/sass.py). The text is what they print.
"""

from __future__ import annotations

import re
from pathlib import Path

_FUNCTION = re.compile(r"^\s*(?://-+ )?(?:\.text\.|\.section\s+\.text\.|Function : )([\w$.]+)", re.MULTILINE)


def get_sass(cubin_asm: bytes, fun: str | None = None) -> str:
    """SASS of a cubin; with `fun` of that kernel only. Errors: RuntimeError, no disassembler; ValueError, no `fun`."""
    from tiletwin.cuda import sass

    text = sass.disassemble(cubin_asm)
    if fun is None:
        return text
    starts = [(match.start(), match[1]) for match in _FUNCTION.finditer(text)]
    ends = [start for start, _ in starts[1:]] + [len(text)]
    found = [text[start:end] for (start, name), end in zip(starts, ends) if name == fun]
    if not found:
        raise ValueError(f"the binary has no function {fun!r}; it has {', '.join(dict.fromkeys(n for _, n in starts))}")
    return "".join(found)


def extract(file_path: str, fun: str | None) -> str:
    """SASS of a cubin in a file."""
    return get_sass(Path(file_path).read_bytes(), fun)


def path_to_cuobjdump() -> str:
    """Where cuobjdump is. Errors: RuntimeError, nowhere."""
    from tiletwin import knobs

    return knobs.nvidia.cuobjdump.path
