"""Stand-ins for the code generator and the assembler: they count calls, and make texts that name their input.

Here:      doubles for tests of what lies around the two. Not here: what the real ones make (tests/codegen).
"""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import tiletwin.language as tl
from tiletwin import jit
from tiletwin.codegen import assembler, generator
from tiletwin.cuda import sass
from tiletwin.cuda.ptxas import Assembled, FunctionReport


@jit
def scale(x_ptr, o_ptr, n, factor, BLOCK: tl.constexpr = 64):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o_ptr + i, tl.load(x_ptr + i, mask=i < n) * factor, mask=i < n)


SIGNATURE = "*fp32:16, *fp32:16, i32, fp32"


class GeneratorError(Exception):
    def __init__(self, message: str, file: str = "", line: int = 0, column: int = 0) -> None:
        super().__init__(message, file, line, column)


class Generator:
    """As tiletwin._codegen."""

    Error = GeneratorError
    __file__ = __file__

    def __init__(self) -> None:
        self.calls: list[tuple] = []
        self.error: GeneratorError | None = None

    def compile(self, text: str, stage: str, file_name: str, target: dict, options: dict) -> dict[str, Any]:
        self.calls.append((stage, text, file_name, target, options))
        if self.error is not None:
            raise self.error
        name = re.search(r"@(\w+)", text)[1]
        texts = {"ttgir": f"// tt.func public @{name}\n", "llir": f"; llir\ndefine ptx_kernel void @{name}()\n"}
        if stage in texts:
            texts = {k: v for k, v in texts.items() if list(texts).index(k) > list(texts).index(stage)}
        texts["ptx"] = ptx_of(name, target, options["num_warps"], "// from " + text.splitlines()[0])
        metadata = {
            "name": name, "shared": 512, "num_warps": options["num_warps"],
            "global_scratch_size": 0, "global_scratch_align": 1, "arguments": ["ptr", "ptr", "i32", "f32"],
        }  # fmt: skip
        return {**texts, "metadata": metadata, "warnings": []}


def ptx_of(name: str, target: dict, warps: int, remark: str) -> str:
    version = target.get("ptx_version", 84)
    return (
        f".version {version // 10}.{version % 10}\n.target {target['arch']}\n.address_size 64\n{remark}\n"
        f".visible .entry {name}(.param .u64 {name}_param_0)\n.maxntid {32 * warps}\n{{\n\tret;\n}}\n"
    )


class Ptxas:
    """As tiletwin.cuda.ptxas.Ptxas."""

    path = __file__

    def __init__(self, version: tuple[int, int] = (13, 0), newest_ptx: int = 90) -> None:
        self.version, self.newest_ptx = version, newest_ptx
        self.calls: list[tuple] = []

    def assemble(self, text: str, arch: str, *, file: str, options: list[str]) -> Assembled:
        self.calls.append((text, arch, options))
        functions = {file.removesuffix(".ptx"): FunctionReport(registers=255, stack=8, spill_stores=4)}
        return Assembled(b"\x7fELF" + text.encode(), arch, "ptxas info : Used 24 registers\n", functions)


def both(monkeypatch: Any) -> SimpleNamespace:
    """Puts both doubles in place: `.generator`, `.ptxas`."""
    doubles = SimpleNamespace(generator=Generator(), ptxas=Ptxas())
    monkeypatch.setattr(generator, "extension", lambda: doubles.generator)
    monkeypatch.setattr(assembler, "find", lambda: doubles.ptxas)
    monkeypatch.setattr(sass, "disassemble", lambda cubin: f"sass of {len(cubin)} bytes")
    monkeypatch.setattr(sass, "find", lambda: doubles.ptxas)
    return doubles
