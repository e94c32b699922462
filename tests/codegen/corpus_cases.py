"""The kernels of tests/data/kernels as TTIR, compiled by our code generator and run on the simulator.

Here:      texts, compiling a case for an architecture, the recording that it is compared with.
Not here:  what is expected (test_kernel_corpus.py), launches (corpus_launches.py); inputs, recordings and comparison
           (tests/sim/ptx_cases.py).
"""

from __future__ import annotations

import functools
import pathlib
import re
import sys
import tarfile
from typing import Any

import tiletwin._codegen

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(TESTS / "sim"))

import ptx_cases  # noqa: E402

PTX_VERSION = 90
"""What the assembler that tests use takes."""
ARCHITECTURES = ("sm_75", "sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120")
SIMULATED = ("sm_80", "sm_90a", "sm_100a")


@functools.cache
def texts() -> dict[str, str]:
    """TTIR of each case, by name."""
    with tarfile.open(TESTS / "data" / "ttir.tar.xz") as archive:
        return {
            pathlib.PurePath(member.name).stem: archive.extractfile(member).read().decode()
            for member in archive
            if member.isfile() and member.name.startswith("ttir/")
        }


def recorded_on(architecture: str) -> str:
    """The recordings that a kernel for this architecture is compared with. Of sm_100 there are none."""
    return "sm_90" if architecture.startswith("sm_9") else "sm_80"


def compile_case(name: str, architecture: str, text: str | None = None, **options: Any) -> dict[str, Any]:
    """All stages of a case. text: in place of its TTIR. Raises tiletwin._codegen.Error."""
    target = {
        "backend": "cuda",
        "capability": int(re.sub(r"\D", "", architecture)),
        "arch": architecture,
        "ptx_version": PTX_VERSION,
        "warp_size": 32,
    }
    known = ptx_cases.all_cases(recorded_on(architecture)).get(name)
    options = {"num_warps": known.warps if known else 4, "verify": True} | options
    return tiletwin._codegen.compile(text or texts()[name], "ttir", f"{name}.ttir", target, options)


def recorded_case(name: str, architecture: str) -> ptx_cases.Case | None:
    """Triton's code of the case that an H200 ran; None: Triton does not compile it for such a GPU, or nobody ran it."""
    base = recorded_on(architecture)
    return ptx_cases.all_cases(base)[name] if name in ptx_cases.recorded_names(base) else None
