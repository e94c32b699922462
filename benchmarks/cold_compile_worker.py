"""Compiles kernels for benchmarks/cold_compile.py: one process with our `triton`, one with Triton's.

    python cold_compile_worker.py tiletwin|triton

Here:      one case from Python source to cubin with a cache folder of its own, and how long that took.
Not here:  which cases (cold_compile_cases.py), the comparison (cold_compile.py).
Idea:      the process imports everything and compiles one kernel that is no case; each case is then compiled in a fork
           of it, so none profits from another. Requests are lines of JSON on stdin, answers lines of JSON on stdout.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import resource
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
FOLDERS = (HERE, HERE.parent / "tests" / "data" / "kernels", HERE.parent / "tests" / "kernels", HERE.parent / "demo")


def activate(side: str) -> Any:
    """`triton` of this side."""
    if side == "tiletwin":
        from tiletwin import activation

        os.environ["TILETWIN"] = "1"
        activation.activate()
    import triton

    ours = hasattr(triton, "TILETWIN_VERSION")
    if ours != (side == "tiletwin"):
        raise SystemExit(f"`import triton` gave {triton.__file__}, which is not the {side} side's")
    return triton


def plain_value(value: Any) -> Any:
    """A compile-time argument from its text in JSON."""
    if isinstance(value, dict) and "dtype" in value:
        import triton.language as tl

        return tl.dtype(value["dtype"])
    if isinstance(value, dict) and "function" in value:
        module, name = value["function"]
        return getattr(importlib.import_module(module), name)
    return value


def resolve(case: dict[str, Any]) -> dict[str, Any]:
    """fn, signature, constexprs, attrs and options of a case: of the corpus by its name, of others as they stand."""
    module = importlib.import_module(case["module"])
    if "corpus" in case:
        return next(found for found in module.CASES if found["name"] == case["corpus"])
    fn = getattr(module, case["function"])
    signature = case.get("signature")
    if signature is None:  # run-time parameters first, then compile-time ones
        names = fn.arg_names[: len(case["types"])]
        signature = {**dict(zip(names, case["types"])), **dict.fromkeys(case["constants"], "constexpr")}
    return {
        "fn": fn,
        "signature": signature,
        "constexprs": {tuple(path): plain_value(value) for path, value in case["constexprs"]},
        "attrs": {tuple(path): value for path, value in case["attrs"]},
        "options": case["options"],
    }


def cpu_seconds() -> float:
    """Of this process and the programs that it has run."""
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def compile_cold(triton: Any, case: dict[str, Any]) -> dict[str, Any]:
    """Seconds from a kernel's Python source to its cubin, and those of them that assembling took."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    parts = resolve(case)
    told: dict[str, Any] = {}
    if not hasattr(triton, "TILETWIN_VERSION"):  # ours keeps its times with the kernel; a listener makes it do more
        triton.knobs.compilation.listener = lambda **facts: told.update(facts)
    with tempfile.TemporaryDirectory(prefix="cold-compile-") as folder:
        os.environ["TRITON_CACHE_DIR"] = folder
        started, used = time.perf_counter(), cpu_seconds()
        source = ASTSource(
            fn=parts["fn"], signature=parts["signature"], constexprs=parts["constexprs"], attrs=parts["attrs"]
        )
        kernel = triton.compile(source, target=GPUTarget("cuda", 90, 32), options=dict(parts["options"]))
        asm = getattr(kernel.asm, "launched", kernel.asm)  # what a launch runs: ours may take maps of its arguments
        _ = asm["cubin"]
        took, used = time.perf_counter() - started, cpu_seconds() - used
    stages = told["times"].lowering_stages if told else asm.times
    if told["cache_hit"] if told else asm.cached:
        raise RuntimeError("the compilation found itself in a cache")
    return {
        "seconds": took,
        "cpu": used,
        "assembling": sum(microseconds for stage, microseconds in stages if stage == "cubin") * 1e-6,
        "ptx_lines": asm["ptx"].count("\n"),
    }


def failure(error: BaseException) -> dict[str, Any]:
    last = [line for line in str(error).splitlines() if line.strip()] or traceback.format_exc().splitlines()[-1:]
    return {"error": f"{type(error).__name__}: {last[0]}"[:300]}


def in_fork(triton: Any, case: dict[str, Any]) -> dict[str, Any]:
    """compile_cold in a child of this process, which keeps the imported module; {"error": text} if it fails."""
    try:
        resolve(case)
    except Exception as error:  # this version of Triton lacks what the module needs
        return failure(error)
    gc.collect()
    gc.freeze()  # else a collection of all that is imported may fall into what is measured, in every fork of this state
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        try:
            answer = compile_cold(triton, case)
        except BaseException as error:
            answer = failure(error)
        os.write(write, json.dumps(answer).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        text = pipe.read()
    status = os.waitpid(child, 0)[1]
    return json.loads(text) if text else {"error": f"the process ended with status {status}"}


def main() -> None:
    side = sys.argv[1]
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what compilers print is no answer
    sys.path[:0] = [str(folder) for folder in FOLDERS]
    triton = activate(side)
    warm = {"module": "cold_compile_warm", "function": "warm", "signature": {"x": "*fp32", "n": "i32"},
            "constexprs": [], "attrs": [], "options": {}}  # fmt: skip
    compile_cold(triton, warm)
    print(json.dumps({"version": getattr(triton, "TILETWIN_VERSION", triton.__version__)}), file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(in_fork(triton, json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
