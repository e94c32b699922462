"""What GPUs before sm_90 would execute: our code and real Triton's of the same kernels in the same configurations, by
the simulator's counters and by what ptxas says.

    TILETWIN_TRITON=python-with-triton python benchmarks/counters_beside_triton.py [--arch 80 89] [--only NAME]

Prints Triton's number / ours, so more is better: warps' instructions of machine code, cycles of shared memory
(wavefronts), sectors of global memory, registers of a thread, and the time that the model of `tiletwin profile`
estimates. Counters and estimates are of the same PTX assembled for sm_90, whose machine code the simulator runs and
for which the model is made: its instructions for `cp.async`, `ldmatrix` and `mma.sync` are those of sm_80 and sm_89.
Registers and spills are of the architecture itself. Exits 1 if a result differs from the interpreter's.
Here:      launches, counters of both sides, the table.
Not here:  the kernels (gpu_kernels.py, gpu_row_kernels.py), a GPU's times (gpu.py).
"""

from __future__ import annotations

import argparse
import json
import math
import pathlib
import re
import sys
from typing import Any

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))


def assembled(ptx: str, arch: str) -> tuple[Any, str]:
    """What ptxas says of the only entry, and its text as it is assembled for a launch."""
    from tiletwin.codegen import assembler
    from tiletwin.cuda import ptxas

    (report,) = ptxas.assemble(ptx, arch).functions.values()
    text = assembler.with_one_block(ptx, report)
    if text is None:
        return report, ptx
    (other,) = ptxas.assemble(text, arch).functions.values()
    return min((report, ptx), (other, text), key=lambda one: one[0].spill_stores)


class Retargeted:
    """Mixed into a backend: its PTX runs as if it were written for sm_90; `text` keeps it as it was."""

    text = ""

    def _run(self, launch: Any, findings: list[Any], ptx: str, *code: Any, **options: Any) -> None:
        self.text = ptx
        text = re.sub(r"(?m)^\.target\s+sm_\w+", ".target sm_90", ptx, count=1)
        super()._run(launch, findings, assembled(text, "sm_90")[1], *code, **options)


def cases(kernels: Any, rows: Any, products: Any) -> dict[str, tuple[Any, tuple[int, ...], list[Any], dict[str, Any]]]:
    """Kernel, grid, arguments and options by name."""
    random = np.random.default_rng(0)

    def some(*shape: int, dtype: Any = np.float16) -> np.ndarray:
        return random.standard_normal(shape, np.float32).astype(dtype)

    made = {}
    for size, bm, bn, bk, warps, stages in (
        (256, 128, 128, 32, 4, 3), (256, 128, 128, 64, 8, 3), (256, 64, 64, 32, 4, 4), (256, 128, 256, 32, 8, 3),
        (256, 64, 128, 64, 4, 3), (256, 32, 64, 64, 2, 5),
    ):  # fmt: skip
        for dtype in (np.float16, np.float32, np.int8):
            out = {np.int8: np.int32}.get(dtype, dtype)
            kernel = kernels.matmul_integers if dtype == np.int8 else kernels.matmul
            deep = bk // (2 if dtype == np.float32 else 1)
            left, right = (
                (random.integers(-8, 8, (size, size), np.int8) if dtype == np.int8 else some(size, size, dtype=dtype))
                for _ in range(2)
            )
            options = {"BM": bm, "BN": bn, "BK": deep, "GROUP": 8, "num_warps": warps, "num_stages": stages}
            made[f"matmul {dtype.__name__} {bm}x{bn}x{deep} w{warps} s{stages}"] = (
                kernel, (math.ceil(size / bm) * math.ceil(size / bn),),
                [left, right, np.empty((size, size), out), size, size, size], options,
            )  # fmt: skip
    for width in (64, 128):
        for causal in (False, True):
            for bm, bn, warps, stages in ((128, 64, 4, 2), (128, 64, 8, 2), (64, 64, 4, 3)):
                q, k, v = (some(1, 256, width) for _ in range(3))
                kernel = kernels.attention_causal if causal else kernels.attention
                made[f"attention{' causal' if causal else ''} D {width} {bm}x{bn} w{warps} s{stages}"] = (
                    kernel, (256 // bm, 1), [q, k, v, np.empty_like(q), width**-0.5, 256],
                    {"D": width, "BM": bm, "BN": bn, "num_warps": warps, "num_stages": stages},
                )  # fmt: skip
    for width in (64, 128):
        q, k, v, do = (some(1, 256, width) for _ in range(4))
        lse, delta = np.full((1, 256), 9, np.float32), some(1, 256, dtype=np.float32)
        shared = [q, k, v, do, lse, delta]
        options = {"D": width, "num_warps": 4 if width == 64 else 8, "num_stages": 2}
        made[f"attention gradient kv D {width}"] = (
            rows.attention_gradient_kv, (2, 1), [*shared, np.empty_like(q), np.empty_like(q), width**-0.5, 256],
            options | {"BM": 64, "BN": 128},
        )  # fmt: skip
        made[f"attention gradient q D {width}"] = (
            rows.attention_gradient_q, (2, 1), [*shared, np.empty_like(q), width**-0.5, 256],
            options | {"BM": 128, "BN": 64},
        )  # fmt: skip
    a, b, bias = some(256, 256), some(256, 256), some(256)
    tile = {"BM": 128, "BN": 128, "BK": 32, "num_warps": 4, "num_stages": 3}
    made["matmul with an epilogue"] = (
        products.matmul_bias_gelu, (2, 2), [a, b, bias, np.empty_like(a), 256, 256, 256], tile,
    )  # fmt: skip
    packed = random.integers(-(2**31), 2**31, (32, 256), np.int32)
    made["int4 weights"] = (
        products.int4_matmul, (2, 2), [a, packed, some(2, 256), np.empty_like(a), 256, 256, 256],
        tile | {"SIZE": 128},
    )  # fmt: skip
    for columns in (1000, 1024, 4096):
        for warps in (4, 8):
            x, w = some(4, columns), some(columns)
            name = f"of {columns} w{warps}"
            one = {"BLOCK": 1 << (columns - 1).bit_length(), "num_warps": warps}
            x32 = x.astype(np.float32)
            made[f"softmax {name}"] = (kernels.softmax, (4,), [x32, np.empty_like(x32), columns], one)
            made[f"layer norm {name}"] = (kernels.layer_norm, (4,), [x, w, w, np.empty_like(x), columns, 1e-5], one)
            made[f"RMS norm {name}"] = (rows.rms_norm, (4,), [x, w, np.empty_like(x), columns, 1e-5], one)
            made[f"layer norm in loops {name}"] = (
                rows.layer_norm_loops, (4,), [x, w, w, np.empty_like(x), columns, 1e-5], one | {"BLOCK": 512},
            )  # fmt: skip
            made[f"cross entropy {name}"] = (
                rows.cross_entropy, (4,),
                [x, random.integers(0, columns, 4, np.int64), np.empty(4, np.float32), columns], one | {"BLOCK": 512},
            )  # fmt: skip
    x, y = some(4096, dtype=np.float32), some(4096, dtype=np.float32)
    made["vector add"] = (kernels.vadd, (4,), [x, y, np.empty_like(x), 4096], {"BLOCK": 1024, "num_warps": 4})
    return made


EXECUTED = "smsp__inst_executed.sum"
SHARED = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"
SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"


def numbers(report: Any, assembled: Any) -> dict[str, float]:
    """What one side needs. assembled: what ptxas says of the architecture itself."""
    found = report.metrics
    return {
        "instructions": found[EXECUTED].value,
        "shared": found[SHARED].value,
        "sectors": sum(found[name].value for name in SECTORS if name in found),
        "registers": assembled.registers,
        "spilled": assembled.spill_stores + assembled.spill_loads,
        "time": report.estimates[0].seconds,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arch", type=int, nargs="+", default=[80])
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()

    from tiletwin import _activate

    sys.meta_path.insert(0, _activate.TritonFinder())
    import gpu_kernels
    import gpu_product_kernels
    import gpu_row_kernels
    from rich.console import Console
    from rich.table import Table
    from tiletwin import counters, diff
    from tiletwin.counters.report import report_of
    from tiletwin.diff.backends import SimBackend
    from tiletwin.diff.triton_sim import TritonSimBackend

    class Ours(Retargeted, SimBackend):
        pass

    class Theirs(Retargeted, TritonSimBackend):
        pass

    table = Table("kernel", "target", "instructions", "shared", "sectors", "registers", "spilled bytes", "time")
    rows, wrong = [], 0
    for name, (kernel, grid, arguments, given) in cases(gpu_kernels, gpu_row_kernels, gpu_product_kernels).items():
        if options.only not in name:
            continue
        for capability in options.arch:
            launch = diff.launch_of(kernel, grid, arguments, **given)
            sides = []
            for backend in (Ours(), Theirs()):
                backend.capability = capability
                with counters.collect(machine_code=True) as launches:
                    outcome = diff.compare_launch(launch, backends=["interp", backend], localise=False)
                if not outcome.same or not launches:
                    print(f"{name}, sm_{capability}: {outcome}", file=sys.stderr)
                    wrong += 1
                    break
                ran = launches[0]
                assert ran.machine is not None
                if ran.machine.note:
                    print(f"{name}, sm_{capability}: {ran.machine.note}", file=sys.stderr)
                sides.append(numbers(report_of(ran), assembled(backend.text, f"sm_{capability}")[0]))
            if len(sides) < 2:
                continue
            ours, theirs = sides
            rows.append({"name": name, "capability": capability, "ours": ours, "triton": theirs})
            ratio = {key: theirs[key] / ours[key] if ours[key] else math.nan for key in ours}
            table.add_row(
                name, f"sm_{capability}", *(f"{ratio[key]:.2f}" for key in ("instructions", "shared", "sectors")),
                f"{ours['registers']} ({theirs['registers']})", f"{ours['spilled']} ({theirs['spilled']})",
                f"{ratio['time']:.2f}",
            )  # fmt: skip
    Console(width=120).print(table)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
