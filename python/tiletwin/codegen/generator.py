"""TTIR, or a later text, to PTX: calls of the code generator, kept on disk.

Here:      what the generator gets, errors as CompilationError, the key of a result.
Not here:  the generator itself (codegen/), dumps and overrides of its texts (stages.py).
"""

from __future__ import annotations

import linecache
import os
import warnings
from functools import lru_cache
from typing import Any, NamedTuple, NoReturn

from tiletwin import knobs, variables
from tiletwin.codegen import stage_cache
from tiletwin.errors import CompilationError
from tiletwin.native import code_generator as extension
from tiletwin.version import TILETWIN_VERSION

TAKEN = ("num_warps", "num_stages", "num_ctas", "maxnreg", "enable_fp_fusion", "enable_reflect_ftz")
"""Options of a compilation that the generator acts on."""

TAKEN_BY_AMD = ("waves_per_eu",)
"""The same of a compilation for an AMD GPU."""

FOREIGN = ("#ttg.", "ttg.", "triton_gpu.", "#ttng.")


class Generated(NamedTuple):
    """What the generator made of a text."""

    texts: dict[str, str]
    """By stage: "ttgir", "llir", and "ptx" or "amdgcn"."""
    metadata: dict[str, Any]
    """name, shared, num_warps, cluster, program_ctas, global_scratch_size, global_scratch_align, arguments."""
    cached: bool


def generator_options(options: dict[str, Any]) -> dict[str, Any]:
    """What the generator gets besides the target."""
    told = {name: options[name] for name in TAKEN} | {name: options[name] for name in TAKEN_BY_AMD if name in options}
    if options.get("copied_loads"):
        told["copied_loads"] = True
        is_wanted = options.get("tile_loops", True) and variables.is_not_off("TILETWIN_TILE_LOOPS")
        told["tile_loops"] = is_wanted and not options.get("launch_cooperative_grid")
        told["alone"] = options.get("alone", False)
        told["pairs"] = variables.is_not_off("TILETWIN_PAIRS")
    return {**told, "verify": True, "line_info": not knobs.compilation.disable_line_info}


_said: dict[Any, Any] = {}
"""Python's own memory of the warnings that it has shown."""


def _warn(rows: list[Any], file_name: str) -> None:
    """Says once, at its place, what the source asks for and the code does not do."""
    for message, file, line in rows:
        warnings.warn_explicit(message, UserWarning, file or file_name, max(line, 1), registry=_said)


@lru_cache
def _identity(file: str) -> list[Any]:
    """What changes whenever the generator could make another text."""
    status = os.stat(file)
    return [TILETWIN_VERSION, status.st_size, status.st_mtime_ns]


def _reject(error: Any, text: str, stage: str, file_name: str) -> NoReturn:
    """Raises the generator's error as one that shows the source line. Its columns count from 1, ours from 0."""
    message, file, line, column = error.args
    file = file or file_name
    if stage == "ttgir" and any(word in text for word in FOREIGN):
        message += (
            "\nThis text has real Triton's layouts (ttg), which tiletwin has its own of: compile the .ttir instead"
        )
    if not line:
        raise CompilationError(message, file) from None
    linecache.checkcache(file)
    shown = linecache.getline(file, line).rstrip("\n") or None
    raise CompilationError(message, file, line, max(column - 1, 0), shown) from None


def generate(
    text: str, stage: str, file_name: str, name: str, target: dict[str, Any], options: dict[str, Any]
) -> Generated:
    """Compiles a text of `stage` ("ttir", "ttgir", "llir") as far as the generator goes.

    Errors: CompilationError, with the kernel's file and line; RuntimeError, there is no generator.
    """
    codegen = extension()
    told = generator_options(options)
    key = stage_cache.key_of(text, stage, file_name, target, told, _identity(codegen.__file__))
    entry = stage_cache.load(key, name, "stages")
    if entry is not None:
        _warn(entry.facts.pop("warnings", []), file_name)
        return Generated({stage: content.decode() for stage, content in entry.files.items()}, entry.facts, True)
    try:
        result = codegen.compile(text, stage, file_name, target, told)
    except codegen.Error as error:
        _reject(error, text, stage, file_name)
    metadata = dict(result["metadata"])
    texts = {stage: content for stage, content in result.items() if isinstance(content, str) and content}
    files = {stage: content.encode() for stage, content in texts.items()}
    stage_cache.store(key, name, "stages", stage_cache.Entry(files, metadata | {"warnings": result["warnings"]}))
    _warn(result["warnings"], file_name)
    return Generated(texts, metadata, False)
