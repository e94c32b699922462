"""What a text of a stage says of itself, read without parsing it: its kernel's name, warps, target.

Here:      patterns of our own texts. Not here: parsing (`_C.parse_ttir`, the code generator).
"""

from __future__ import annotations

import math
import re
from typing import Any

_NAMES = {
    "ttgir": re.compile(r"\btt\.func\s+(?:public\s+)?@\"?([\w$.]+)"),
    "llir": re.compile(r"^define\s+[^@\n]*\b(?:ptx_kernel|amdgpu_kernel)\b[^@\n]*@\"?([\w$.]+)", re.MULTILINE),
    "ptx": re.compile(r"\.entry\s+([\w$%]+)"),
}
_WARP_BITS = re.compile(r"#twg\.linear<[^>]*\bwarp = \[((?:\[[^\]]*\](?:, )?)*)\]")
_THREADS = re.compile(r"\"nvvm\.(?:reqntid|maxntid)\"\s*=\s*\"(\d+)")
_TARGET = re.compile(r"^\s*\.target\s+(sm_\d+[af]?)", re.MULTILINE)
_BOUND = re.compile(r"\.(?:reqntid|maxntid)\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?")


def kernel_name(stage: str, text: str) -> str | None:
    """The name of the first kernel in a text."""
    if stage == "amdgcn":
        from tiletwin.codegen import code_object

        return code_object.kernel_name(text)
    match = _NAMES[stage].search(text)
    return match and match[1]


def threads_of_ptx(text: str) -> int | None:
    """The threads of a block that PTX was made for."""
    match = _BOUND.search(text)
    if match is None:
        return None
    return math.prod(map(int, match.groups(default="1")))


def stated_options(stage: str, text: str) -> dict[str, Any]:
    """Options that a text was made with, as far as it says."""
    if stage == "ttgir":  # every layout has a bit for each doubling of the warps
        match = _WARP_BITS.search(text)
        return {"num_warps": 1 << match[1].count("[")} if match else {}
    match = _THREADS.search(text) if stage == "llir" else None
    threads = int(match[1]) if match else threads_of_ptx(text) if stage == "ptx" else None
    return {"num_warps": threads // 32} if threads and threads >= 32 and not threads & (threads - 1) else {}


def stated_architecture(stage: str, text: str) -> str | None:
    """The architecture that an assembly is for."""
    if stage == "amdgcn":
        from tiletwin.codegen import code_object

        return code_object.architecture(text)
    match = _TARGET.search(text) if stage == "ptx" else None
    return match and match[1]


def facts_of_ptx(text: str, file_name: str) -> dict[str, Any]:
    """What PTX says of its first kernel, where the code generator did not make it. Its dynamic shared memory is not in
    it. file_name: for errors. Errors: ValueError, there is no kernel in it."""
    name = kernel_name("ptx", text)
    if name is None:
        raise ValueError(f"{file_name}: this PTX has no .entry")
    return {"name": name, "shared": 0, "num_warps": max(1, (threads_of_ptx(text) or 1) // 32)}


def words(text: str) -> set[str]:
    """The names that occur in PTX."""
    return set(re.findall(r"[\w$]+", text))
