"""Stages of a compilation in files for people: dumps, and texts that replace what compilation makes.

Here:      which variables ask for which stages, names of the files.
Not here:  compilation (stages.py), folders of a key (file_cache.py), the cache (stage_cache.py).

| variable | what it does |
|---|---|
| TILETWIN_DUMP=folder, or ttgir,ptx | writes every stage to the folder as KERNEL-HASH.STAGE, or prints those named |
| TILETWIN_OVERRIDE=folder | KERNEL-HASH.STAGE, or else KERNEL.STAGE, in the folder replaces that stage |
| TRITON_KERNEL_DUMP, TRITON_DUMP_DIR | the same in Triton's folders: DIR/KEY/KERNEL.STAGE |
| TRITON_KERNEL_OVERRIDE, TRITON_OVERRIDE_DIR | |
| MLIR_ENABLE_DUMP=1 or KERNEL, LLVM_IR_ENABLE_DUMP=1, NVPTX_ENABLE_DUMP=1 | print ttir and ttgir, llir, ptx |
"""

from __future__ import annotations

import hashlib
import json
import sys
from functools import cached_property
from pathlib import Path
from typing import Any

from tiletwin import file_cache, knobs, whole_files
from tiletwin.gpu_target import GPUTarget

STAGES = ("source", "ttir", "ttgir", "llir", "ptx", "cubin", "sass", "amdgcn", "hsaco")
BINARY = ("cubin", "hsaco")


def kernel_hash(source: Any, target: GPUTarget, options: dict[str, Any]) -> str:
    """Changes with source, target and options."""
    text = json.dumps([source.hash(), repr(target), repr(sorted(options.items(), key=str))])
    return hashlib.sha256(text.encode()).hexdigest()


def wanted_dump() -> tuple[str | None, tuple[str, ...]]:
    """(folder, stages to print) of TILETWIN_DUMP. Errors: RuntimeError, a binary stage is to be printed, or one of
    several words is no stage."""
    text = knobs.stages.dump
    if not text:
        return None, ()
    words = tuple(word.strip() for word in text.split(","))
    unknown = [word for word in words if word not in STAGES]
    if unknown and len(unknown) < len(words):
        raise RuntimeError(f"TILETWIN_DUMP={text}: {unknown[0]} is no stage; there are {', '.join(STAGES)}")
    if unknown:
        return text, ()
    for word in words:
        if word in BINARY:
            raise RuntimeError(f"TILETWIN_DUMP={text}: a {word} is no text; name a folder, and all stages go there")
    return None, words


def _printed(stage: str, name: str) -> bool:
    """Whether a variable of Triton's asks for the stage's text."""
    if stage in ("ttir", "ttgir"):
        return knobs.stages.mlir_dump not in (None, "", "0") and knobs.stages.mlir_dump in ("1", name)
    if stage == "llir":
        return knobs.stages.llir_dump
    return (stage == "ptx" and knobs.nvidia.dump_nvptx) or (stage == "amdgcn" and knobs.amd.dump_amdgcn)


class StageFiles:
    """The files of one compilation."""

    def __init__(self, source: Any, target: GPUTarget, options: dict[str, Any]) -> None:
        self._source, self._target, self._options = source, target, options
        self.written: dict[str, str] = {}
        """Paths of dumps in Triton's folder, by file name."""

    def of(self, options: dict[str, Any]) -> StageFiles:
        """The files of the same source, compiled with other options."""
        return StageFiles(self._source, self._target, options)

    @property
    def name(self) -> str:
        """The kernel's, as far as it fits into a file's name."""
        return self._source.name[:150]

    @cached_property
    def source_key(self) -> str:
        """Changes with the source."""
        return self._source.hash()

    @cached_property
    def hash(self) -> str:
        """Changes with source, target and options."""
        return kernel_hash(self._source, self._target, self._options)

    @staticmethod
    def dumping() -> bool:
        """Whether anything asks for stages as they are made."""
        return bool(
            knobs.compilation.dump_ir
            or knobs.stages.dump
            or knobs.stages.llir_dump
            or knobs.nvidia.dump_nvptx
            or knobs.amd.dump_amdgcn
            or knobs.stages.mlir_dump not in (None, "", "0")
        )

    def made(self, stage: str, content: str | bytes) -> None:
        """Dumps a stage if a variable says so. Errors: OSError, the folder cannot be written."""
        folder, printed = wanted_dump()
        if isinstance(content, str) and (stage in printed or _printed(stage, self.name)):
            print(f"// ----- {stage} of {self.name} -----\n{content.rstrip()}\n", file=sys.stderr)
        if folder is not None:
            self._write(Path(folder), f"{self.name}-{self.hash[:8]}.{stage}", content)
        if knobs.compilation.dump_ir:
            name = f"{self.name}.{stage}"
            manager = file_cache.get_dump_manager(self.source_key)
            self.written[name] = manager.put(content, name, binary=isinstance(content, bytes))

    def _write(self, folder: Path, name: str, content: str | bytes) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        whole_files.write(folder / name, content)

    def override(self, stage: str) -> str | None:
        """Path of the file that replaces a stage, or None. Says on stderr that there is one: stdout may be taken by the
        stage itself. Errors: ValueError, TILETWIN_OVERRIDE names no folder."""
        if not self._source.overridable:
            return None
        path = None
        if knobs.compilation.override:
            path = file_cache.get_override_manager(self.source_key).get_file(f"{self.name}.{stage}")
        if path is None and knobs.stages.override:
            folder = Path(knobs.stages.override)
            if not folder.is_dir():
                raise ValueError(f"TILETWIN_OVERRIDE={folder}: there is no such folder; correct or unset the variable")
            names = (f"{self.name}-{self.hash[:8]}.{stage}", f"{self.name}.{stage}")
            path = next((str(folder / name) for name in names if (folder / name).is_file()), None)
        if path is not None:
            print(f"tiletwin: {self.name} is compiled from {path}", file=sys.stderr)
        return path
