"""Cases of torch's database of operators, in this process: op_db.py starts it.

Arguments: the file for results, options as JSON; cases come by standard input, a line each. Without a file the cases
that there are go to standard output.

Here:      compiling an operator or a module, comparing its results and gradients with those of eager mode.
Not here:  which there are, and their inputs (op_db_samples.py); several processes, files of all results (op_db.py).
Invariant: a case is said to have begun before anything of it is done.
"""

from __future__ import annotations

import faulthandler
import functools
import json
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import torch
from op_db_samples import Entry, Sample, call, entries
from torch.utils._pytree import tree_leaves

TOLERANCES = {torch.float16: 1e-2, torch.bfloat16: 2e-2, torch.float32: 1e-3, torch.float64: 1e-7}
"""Relative and absolute. Compiled code keeps values between operators in float32, and sums in another order."""


def difference(given: Any, expected: Any) -> str:
    """What differs, or nothing."""
    ours, theirs = tree_leaves(given), tree_leaves(expected)
    if len(ours) != len(theirs):
        return f"{len(ours)} results, not {len(theirs)}"
    for one, other in zip(ours, theirs):
        if not isinstance(other, torch.Tensor):
            if one != other and not (one != one and other != other):
                return f"{one!r}, not {other!r}"
            continue
        facts = [(t.dtype, tuple(t.shape), t.device.type, t.layout) for t in (one, other)]
        if facts[0] != facts[1]:
            return f"{facts[0]}, not {facts[1]}"
        tolerance = TOLERANCES.get(other.dtype, 0)
        if other.dtype.is_complex:
            tolerance = TOLERANCES[torch.float32]
        try:
            torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance, equal_nan=True, check_stride=False)
        except AssertionError as error:
            return " ".join(str(error).split())[:300]
    return ""


def outcome(entry: Entry, options: dict[str, Any]) -> dict[str, Any]:
    """The status of a case: of its inputs the worst. Errors: what a fault of the GPU raises later."""
    from torch._inductor import metrics

    kernels = compared = gradients = 0
    try:
        samples = entry.samples(options["samples"])
    except Exception as error:
        return {"status": "nothing to compare", "detail": said(error)}
    detail = "no samples"
    for number, sample in enumerate(samples):
        try:
            sample, expected = uncompiled(sample)
        except Exception as error:
            detail = said(error)
            continue
        torch._dynamo.reset()
        metrics.reset()
        try:
            given = call(sample, functools.partial(torch.compile, dynamic=False))
            if options["device"] == "cuda":
                torch.cuda.synchronize()
        except Exception as error:
            facts = {"sample": number, "trace": traceback.format_exc()[-2000:]}
            return {"status": "error", "detail": said(error), **facts}
        kernels += metrics.generated_kernel_count
        compared += 1
        gradients += len(expected[1])
        if differs := difference(given, expected):
            return {"status": "different", "detail": differs, "sample": number, "kernels": kernels}
    if not compared:
        return {"status": "nothing to compare", "detail": detail}
    return {"status": "same", "samples": compared, "gradients": gradients, "kernels": kernels}


def uncompiled(sample: Sample) -> tuple[Sample, Any]:
    """The sample and what comes of it; without gradients where torch has none for it after all."""
    try:
        return sample, call(sample)
    except Exception:
        sample = sample.without_gradients()
        return sample, call(sample)


def said(error: BaseException) -> str:
    """An error in one line, without what the compiler adds for people."""
    text = str(error).partition("\nSet TORCHDYNAMO_VERBOSE")[0].partition("\nYou can suppress")[0]
    return f"{type(error).__name__}: {' '.join(text.split())[:600]}"


def lost(text: str) -> bool:
    """Whether the GPU is of no use to this process any more."""
    return any(word in text for word in ("illegal memory access", "unspecified launch", "device-side assert",
                                         "misaligned address", "CUDA_ERROR_ILLEGAL"))  # fmt: skip


def environment(options: dict[str, Any]) -> dict[str, Any]:
    import triton

    there = options["device"] == "cuda" and torch.cuda.is_available()
    return {
        "triton": f"{triton.__name__} {getattr(triton, '__version__', '')}",
        "torch": torch.__version__,
        "device": torch.cuda.get_device_name() if there else options["device"],
        "date": time.strftime("%Y-%m-%d"),
    }


def main() -> None:
    file, options = sys.argv[1], json.loads(sys.argv[2])
    torch.set_num_threads(1)
    dtypes = [getattr(torch, word) for word in options["dtypes"].split(",")]
    known = {entry.name: entry for entry in entries(options["device"], dtypes)}
    if not file:
        for name in known:
            print(f"case: {name}")
        return
    import torch._inductor.config as config

    config.fallback_random = True  # the same random numbers as uncompiled
    if options["backend"]:
        config.cpu_backend = options["backend"]
    try:
        facts = environment(options)
    except ImportError:
        facts = {"triton": "none", "torch": torch.__version__, "device": options["device"]}
    Path(options["environment"]).write_text(json.dumps(facts))
    with open(file, "a", buffering=1) as results:
        for name in sys.stdin.read().splitlines():
            results.write(json.dumps({"case": name}) + "\n")
            started = time.monotonic()
            faulthandler.dump_traceback_later(0.8 * options["seconds"])  # op_db.py reads where it stands
            row = outcome(known[name], options)
            results.write(json.dumps({"case": name, **row, "seconds": round(time.monotonic() - started, 2)}) + "\n")
            if lost(row.get("detail", "")):
                sys.exit(3)


if __name__ == "__main__":
    main()
