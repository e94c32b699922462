"""Disassembly of GPU binaries, under the names of `triton.tools.disasm`: there are no binaries in this version."""

from __future__ import annotations

from tiletwin._refused import refuse


def get_sass(cubin_asm: bytes, fun: str | None = None) -> str:
    """Would return a binary's SASS."""
    refuse("triton.tools.disasm.get_sass")


def extract(file_path: str, fun: str | None) -> str:
    """Would return the SASS of a binary in a file."""
    refuse("triton.tools.disasm.extract")


def path_to_cuobjdump() -> str:
    """Would return where the disassembler is."""
    refuse("triton.tools.disasm.path_to_cuobjdump")
