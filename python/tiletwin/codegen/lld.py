"""The linker of AMD's code objects: LLVM's ld.lld, where one is found."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tiletwin import variables
from tiletwin.toolkit import Place

VARIABLE = "TRITON_HIP_LLD_PATH"
"""Names the linker. If it is set, nothing else is looked at."""

_NEWEST, _OLDEST = 25, 15
"""Versions that distributions put behind the name: ld.lld-22. Older ones do not know all targets."""


def places() -> Iterator[Place]:
    """Where a linker is looked for, best first."""
    if path := variables.get(VARIABLE):
        yield Place(VARIABLE, Path(path))
        return
    for root in (variables.get("ROCM_PATH"), "/opt/rocm"):
        if root:
            yield Place("ROCm", Path(root) / "llvm" / "bin" / "ld.lld")
    for name in ("ld.lld", *(f"ld.lld-{version}" for version in range(_NEWEST, _OLDEST - 1, -1))):
        path = shutil.which(name)
        if path:
            yield Place("PATH", Path(path))


def find() -> Path | None:
    """The linker, or None. Errors: RuntimeError, the variable names none."""
    for place in places():
        if place.path.is_file() and os.access(place.path, os.X_OK):
            return place.path
        if place.why == VARIABLE:
            raise RuntimeError(f"{VARIABLE} names {place.path}, which is no program")
    return None


def not_found() -> RuntimeError:
    """What to say where there is no linker."""
    looked = "\n".join(f"  {place.why}: {place.path}" for place in places()) or "  PATH: no ld.lld"
    return RuntimeError(
        f"an hsaco needs LLVM's linker ld.lld, and none was found; looked at:\n{looked}\n"
        f"Install one (apt install lld), or name it in {VARIABLE}. asm['amdgcn'] works without it"
    )


def link(linker: Path, image: bytes) -> bytes:
    """The code object of an object file. Errors: RuntimeError, the linker does not take it, with its text."""
    with tempfile.TemporaryDirectory(prefix="tiletwin-") as folder:
        source, made = Path(folder) / "kernel.o", Path(folder) / "kernel.hsaco"
        source.write_bytes(image)
        words = [str(linker), "-shared", "--no-undefined", str(source), "-o", str(made)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=120)
        if done.returncode:
            said = re.sub(re.escape(str(source)), "the object file", (done.stderr + done.stdout).strip())
            raise RuntimeError(f"{linker} made no hsaco (exit status {done.returncode}): {said}")
        return made.read_bytes()
