"""Machine code of public kernels, ours beside real Triton's, on a machine without a GPU.

    TILETWIN_TRITON=python-with-triton python benchmarks/public_code.py --at FOLDER [case ...] [--keep FOLDER]

FOLDER has the clones of public_kernels.py. The cases run on the CPU without executing a kernel: each launch is only
noted. Both compilers then make PTX for sm_90a of what was noted, and one ptxas assembles both texts. The table has
registers, bytes spilled, and how many instructions of a kind the machine code has, ours (Triton's). Of a tuner the
first of its configurations is compiled, `--config N` another one. `--keep` writes both texts to files.
Here:      the three kinds of process, the table.
Not here:  times (public_kernels.py), what is called (public_rows*.py), where it comes from (public_sources.py).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pickle
import re
import subprocess
import sys
import tempfile
import types
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
TARGET = "sm_90a"
KINDS = {
    "LDG": ("LDG",), "LDGSTS": ("LDGSTS",), "STG": ("STG",), "LDS": ("LDS", "LDSM"), "STS": ("STS", "STSM"),
    "BAR": ("BAR",), "MMA": ("HMMA", "IMMA", "QMMA", "HGMMA", "IGMMA", "QGMMA"),
}  # fmt: skip
"""What is counted, by the names of opcodes. Wider than a word or not is all the same."""


def noted(value: Any) -> Any:
    """An argument as another process can take it: of a tensor the dtype and whether its address is a multiple of 16."""
    import torch

    if isinstance(value, torch.Tensor):
        return "tensor", value.dtype, value.data_ptr() % 16 == 0
    if isinstance(value, (int, float, bool, str, type(None))):
        return "value", value
    if hasattr(value, "value") and type(value).__name__ == "constexpr":
        return "value", value.value
    if isinstance(value, tuple):
        return "tuple", tuple(map(noted, value))
    return "dtype", str(value) if isinstance(value, torch.dtype) else getattr(value, "name", str(value))


def capture(names: list[str], which: int, file: Path) -> None:
    """Notes what the cases launch: case, the kernel's module and name, arguments. Nothing is executed."""
    from public_side import load_cases
    from triton.runtime.autotuner import Autotuner
    from triton.runtime.jit import JITFunction

    launches: dict[bytes, dict[str, Any]] = {}
    case = ""

    def note(self: Any, *args: Any, grid: Any = None, warmup: bool = False, **kwargs: Any) -> None:
        if not case:
            return
        row = {
            "case": case, "module": self.__module__, "file": self.fn.__code__.co_filename, "name": self.__name__,
            "args": [noted(value) for value in args], "kwargs": {key: noted(value) for key, value in kwargs.items()},
        }  # fmt: skip
        launches.setdefault(pickle.dumps({**row, "case": ""}), row)

    def first(self: Any, *args: Any, **kwargs: Any) -> Any:
        self.nargs = dict(zip(self.arg_names, args, strict=False))
        configs = list(self.prune_configs(kwargs)) if len(self.configs) > 1 else self.configs
        self.best_config = configs[min(which, len(configs) - 1)]
        return self.fn.run(*args, **{**kwargs, **self.best_config.all_kwargs()})

    JITFunction.run, Autotuner.run = note, first  # type: ignore[assignment, method-assign]
    JITFunction.__getitem__ = lambda self, grid: lambda *a, **k: self.run(*a, grid=grid, **k)  # type: ignore[assignment]
    for name, known in load_cases().items():
        if names and not any(part in name for part in names):
            continue
        try:
            case = ""  # scripts of TritonBench launch something when they are imported
            run = known.make()
            case = name
            run()
        except Exception as failure:
            print(f"{name}: {type(failure).__name__}: {str(failure)[:200]}", file=sys.stderr)
    file.write_bytes(pickle.dumps(list(launches.values())))


class OneTarget:
    """A driver that names a GPU and has none."""

    def __init__(self, target: Any) -> None:
        self.target = target

    def get_current_target(self) -> Any:
        return self.target

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int = 0) -> int:
        return 0

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cpu")


def stand_in(argument: Any) -> Any:
    import torch
    import triton.language as tl

    kind, *rest = argument
    if kind == "tensor":
        dtype, aligned = rest

        class Tensor:
            """What the compilers ask of a tensor."""

            def __init__(self) -> None:
                self.dtype = dtype

            def data_ptr(self) -> int:
                return 0 if aligned else 4

            def ptr_range(self) -> int:
                return 0

        return Tensor()
    if kind == "tuple":
        return tuple(map(stand_in, rest[0]))
    if kind == "dtype":
        name = rest[0]
        short = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64"}
        return getattr(torch, name[6:]) if name.startswith("torch.") else getattr(tl, short.get(name, name))
    return rest[0]


def kernel_of(row: dict[str, Any]) -> Any:
    from public_sources import module, root, script

    if row["module"].startswith("public_"):
        path = os.path.relpath(row["file"], root())
        with contextlib.suppress(Exception):  # of launches at the script's end, which want a GPU
            script(path)
        made = script(path)
    else:
        made = module(row["module"])
    found = getattr(made, row["name"], None)
    while found is not None and hasattr(found, "fn") and type(found).__name__ != "JITFunction":
        found = found.fn
    if found is None:
        raise AttributeError(f"{row['module']} has no kernel {row['name']}")
    return found


def compile_all(file: Path, out: Path) -> None:
    """PTX and warps of each launch, or what the compiler said."""
    import torch
    import triton
    from triton.backends.compiler import GPUTarget

    properties = types.SimpleNamespace(
        name="NVIDIA H200", multi_processor_count=132, major=9, minor=0, warp_size=32, total_memory=141 << 30,
        shared_memory_per_multiprocessor=233472, shared_memory_per_block_optin=232448, regs_per_multiprocessor=65536,
        max_threads_per_multi_processor=2048, L2_cache_size=60 << 20,
    )  # fmt: skip
    known = {
        "get_device_capability": (9, 0), "get_device_name": properties.name, "get_device_properties": properties,
        "device_count": 1, "current_device": 0,
    }  # fmt: skip
    for name, answer in known.items():
        setattr(torch.cuda, name, lambda *_, answer=answer: answer)
    triton.runtime.driver.set_active(OneTarget(GPUTarget("cuda", 90, 32)))  # type: ignore[arg-type]
    made = []
    for row in pickle.loads(file.read_bytes()):
        try:
            kernel = kernel_of(row)
            arguments = {key: stand_in(value) for key, value in row["kwargs"].items()}
            compiled = kernel.warmup(*map(stand_in, row["args"]), grid=(1,), **arguments)
            code = getattr(compiled.asm, "launched", compiled.asm)  # what a launch runs, with maps of its arguments
            made.append({"ptx": code["ptx"], "warps": compiled.metadata.num_warps})
        except Exception as failure:
            made.append({"error": f"{type(failure).__name__}: {str(failure)[:300]}"})
    out.write_text(json.dumps(made))


def counts(ptx: str) -> dict[str, int]:
    from tiletwin.cuda import ptxas, sass

    tool = ptxas.find()
    if tool is None:
        raise ptxas.not_found("comparing machine code needs it")
    newest = tool.newest_ptx

    def lower(version: re.Match[str]) -> str:
        asked = int(version[1]) * 10 + int(version[2])
        return f".version {newest // 10}.{newest % 10}" if asked > newest else version[0]

    made = tool.assemble(re.sub(r"\.version (\d+)\.(\d+)", lower, ptx, count=1), TARGET)
    (report,) = made.functions.values()
    opcodes = Counter(
        re.findall(r"^\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z0-9]+)", sass.disassemble(made.cubin), re.M)
    )
    found = {kind: sum(opcodes[name] for name in names) for kind, names in KINDS.items()}
    return {"regs": report.registers, "spilled": report.spill_stores, **found, "all": opcodes.total()}


def child(python: str, *words: Any, **environment: str) -> None:
    """Runs this file in a process of its own. What scripts print is not ours to show."""
    words = (python, __file__, *map(str, words))
    subprocess.run(words, env={**os.environ, **environment}, check=True, stdout=subprocess.DEVNULL)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="cases; all of them if none is named")
    parser.add_argument("--at", type=Path, required=True, help="the folder of the clones")
    parser.add_argument("--keep", type=Path, help="a folder for both texts of PTX")
    parser.add_argument("--config", type=int, default=0, help="which configuration of a tuner")
    parser.add_argument("--capture", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--compile", type=Path, nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.capture:
        capture(options.names, options.config, options.capture)
        return 0
    if options.compile:
        compile_all(*options.compile)
        return 0
    os.environ["PUBLIC_KERNELS_AT"] = str(options.at.resolve())
    at = ["--at", options.at.resolve()]
    sides = {"tiletwin": (sys.executable, "1"), "triton": (os.environ["TILETWIN_TRITON"], "0")}
    texts = {}
    with tempfile.TemporaryDirectory(prefix="tiletwin-public-") as folder:
        launches = Path(folder, "launches")
        child(
            sys.executable, *options.names, *at, "--config", options.config, "--capture", launches,
            TILETWIN="1", TILETWIN_INTERPRET="1",
        )  # fmt: skip
        for side, (python, switch) in sides.items():
            out = Path(folder, side)
            child(python, *at, "--compile", launches, out, TILETWIN=switch, TRITON_CACHE_DIR=str(Path(folder, "cache")))
            texts[side] = json.loads(out.read_text())
        rows = pickle.loads(launches.read_bytes())

    from rich.console import Console
    from rich.table import Table

    columns = ["regs", "spilled", *KINDS, "all"]
    table = Table("case", "kernel", "warps", *columns)
    for number, (row, ours, theirs) in enumerate(zip(rows, texts["tiletwin"], texts["triton"], strict=True)):
        name = f"{row['case']}.{row['name']}"
        if "error" in ours or "error" in theirs:
            print(f"{name}: {ours.get('error', 'compiled')} | {theirs.get('error', 'compiled')}", file=sys.stderr)
            continue
        both = [counts(side["ptx"]) for side in (ours, theirs)]
        table.add_row(row["case"], row["name"], str(ours["warps"]), *(f"{both[0][c]} ({both[1][c]})" for c in columns))
        if options.keep:
            options.keep.mkdir(parents=True, exist_ok=True)
            for side in sides:
                (options.keep / f"{number:03}.{row['name']}.{side}.ptx").write_text(texts[side][number]["ptx"])
    Console(width=200).print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
