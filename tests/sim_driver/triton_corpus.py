"""The kernels of tests/data/kernels through real Triton, its compiler and its launcher, on the virtual GPU.

usage: tiletwin gpu -- PYTHON triton_corpus.py; a line a case, then how many have an H200's bits. Exits 1 if other cases
than those of REFUSED have not.

Here:      a case's tensors, its launch.
Not here:  kernels (tests/data/kernels), inputs, recordings and comparison (tests/sim/ptx_cases.py).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import _tiletwin_activate  # noqa: F401  what the start-up file of an installed tiletwin imports
import numpy as np
import torch
import triton

TESTS = Path(__file__).resolve().parents[1]
sys.path += [str(TESTS / "sim"), str(TESTS / "language")]

import kernel_cases  # noqa: E402
import ptx_cases  # noqa: E402

REFUSED = {"range_types": "its assertions want a parameter of 64 bits, and the launcher makes 32 of a small number"}
"""Cases that Triton does not compile when they are launched."""
FILES = sorted(path.stem for path in (TESTS / "data" / "kernels").glob("k*.py"))


def tensor(kind: str, size: int, room: int, values: np.ndarray | None) -> torch.Tensor:
    """`size` elements on the GPU, zeros where there are no values, and as many behind them as `room` has."""
    whole = np.zeros(max(size, room), ptx_cases.element_type(kind))
    if values is not None:
        whole[:size] = values.reshape(-1)
    kept = torch.from_numpy(whole.view(np.uint8)).to("cuda")
    return kept.view(kernel_cases.TORCH[kind.removeprefix("*").removeprefix("k")])


def launched(case: dict[str, Any]) -> dict[str, np.ndarray]:
    """Every array of a case after its launch, flat."""
    meta, arrays = ptx_cases.inputs(case["name"])
    room = ptx_cases.READS_PAST_THE_END.get(case["name"], 0)
    tensors = {name: tensor(meta["types"][name], size, room, arrays.get(name)) for name, size in meta["sizes"].items()}
    case["fn"][tuple(meta["grid"])](**tensors, **meta["scalars"], **case["constexprs"], **case["options"])
    torch.cuda.synchronize()
    return {
        name: tensors[name].view(torch.uint8).cpu().numpy().view(ptx_cases.element_type(meta["types"][name]))[:size]
        for name, size in meta["sizes"].items()
    }


def main() -> int:
    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.uint8, device="cuda"))
    cases = {name: case for file in FILES for name, case in kernel_cases.cases_of(file).items()}
    texts = ptx_cases.all_cases("sm_90")
    names = ptx_cases.recorded_names("sm_90")
    other = set()
    for name in names:
        try:
            found = ptx_cases.differences(texts[name], launched(cases[name]))
        except triton.CompilationError as error:
            found = [f"Triton refuses it: {type(error).__name__}"]
        print(name, *(found or ["same"]), sep=": ", flush=True)
        other |= {name} if found else set()
    print(f"Triton {triton.__version__}: {len(names) - len(other)} of {len(names)} cases have an H200's bits")
    return int(other != set(REFUSED))


if __name__ == "__main__":
    sys.exit(main())
