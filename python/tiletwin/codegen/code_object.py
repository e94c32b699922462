"""Assembly of AMD GPUs: what it says of its kernel, and the code object ("hsaco") made of it.

Here:      figures from the text's metadata, assembling and linking, code objects kept on disk.
Not here:  the assembler, which is part of the code generator (codegen/amdgcn); the linker (lld.py).
"""

from __future__ import annotations

import os
import re
from typing import Any, NamedTuple

from tiletwin.codegen import lld, stage_cache
from tiletwin.errors import CompilationError
from tiletwin.native import code_generator as extension

_KERNEL = re.compile(r"^\s*\.amdhsa_kernel\s+\"?([\w$.]+)", re.MULTILINE)
_TARGET = re.compile(r"^\s*\.amdgcn_target\s+\"amdgcn-amd-amdhsa--(gfx[0-9a-f]+)", re.MULTILINE)
_NOTES = re.compile(r"^\s*\.amdgpu_metadata\s*$(.*?)^\s*\.end_amdgpu_metadata\s*$", re.MULTILINE | re.DOTALL)


class Figures(NamedTuple):
    """What a kernel needs, as its metadata says."""

    vector_registers: int
    """Of a lane. On GPUs that have them, registers of the matrix unit (AGPRs) are among them."""
    scalar_registers: int
    """Of a wavefront."""
    spills: int
    """Bytes of a lane's registers that are kept in memory."""
    scratch: int
    """Bytes of a lane in memory."""
    shared: int
    """Bytes of LDS of a work-group."""
    threads: int
    """Of a work-group, at most."""


def kernel_name(text: str) -> str | None:
    """The name of the first kernel in a text."""
    match = _KERNEL.search(text)
    return match and match[1]


def architecture(text: str) -> str | None:
    """The architecture that a text is for: "gfx942"."""
    match = _TARGET.search(text)
    return match and match[1]


def figures(text: str) -> Figures:
    """What a text says of its first kernel. Errors: ValueError, it has no metadata."""
    notes = _NOTES.search(text)
    if notes is None:
        raise ValueError("this assembly has no .amdgpu_metadata: it is not what an amdgcn stage has")

    def number(key: str) -> int:
        match = re.search(rf"^[\s-]*\.{key}:\s*(\d+)\s*$", notes[1], re.MULTILINE)
        return int(match[1]) if match else 0

    return Figures(
        number("vgpr_count"), number("sgpr_count"), 4 * number("vgpr_spill_count"),
        number("private_segment_fixed_size"), number("group_segment_fixed_size"), number("max_flat_workgroup_size"),
    )  # fmt: skip


def facts(text: str) -> dict[str, Any]:
    """What a kernel's metadata has of a text. Errors: ValueError, there is no kernel in it."""
    name = kernel_name(text)
    if name is None:
        raise ValueError("this assembly has no .amdhsa_kernel")
    told = figures(text)
    return {
        "name": name,
        "shared": told.shared,
        "registers": told.vector_registers,
        "scalar_registers": told.scalar_registers,
        "spills": told.spills,
        "scratch": told.scratch,
    }


def _object(text: str, file_name: str, target: dict[str, Any]) -> bytes:
    codegen = extension()
    try:
        return codegen.assemble(text, file_name, target)
    except codegen.Error as error:
        message, place = error.args[0], re.match(r"(\d+): ", error.args[0])
        if place is None:
            raise CompilationError(message, file_name) from None
        line, lines = int(place[1]), text.splitlines()
        shown = lines[line - 1] if line <= len(lines) else None
        raise CompilationError(message[place.end() :], file_name, line, 0, shown) from None


def make(text: str, file_name: str, name: str, target: dict[str, Any]) -> tuple[bytes, bool]:
    """(the code object of an amdgcn text, whether it came from the cache). target: as the code generator takes it.

    Errors: RuntimeError, there is no ld.lld; CompilationError, the text cannot be assembled, with its line.
    """
    linker = lld.find()
    if linker is None:
        raise lld.not_found()
    key = stage_cache.key_of(text, target, str(linker), os.path.getsize(linker))
    entry = stage_cache.load(key, name, "hsaco")
    if entry is not None and "hsaco" in entry.files:
        return entry.files["hsaco"], True
    image = lld.link(linker, _object(text, file_name, target))
    stage_cache.store(key, name, "hsaco", stage_cache.Entry({"hsaco": image}, {}))
    return image, False
