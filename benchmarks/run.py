"""`make bench`: every hot path against a peer measured in the same run.

Ratios are peer's time / our time, so more is better; medians over alternating pairs. Both sides get two threads and
write to outputs allocated beforehand. `--only NAME` runs the benchmarks whose name holds NAME; `--json FILE` saves the
rows; `--threads N` changes the thread count of both sides.
"""

import importlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import timing

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent

arguments = timing.options(__doc__).parse_args()

timing.interpret(arguments.threads)
sys.path.insert(0, str(ROOT / "demo"))

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from kernels import flash_attention, layer_norm, product, rgb_to_grey, row_softmax, vector_add  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402
from tiletwin import variables  # noqa: E402

torch.set_num_threads(arguments.threads)
rows = []


def pair(name, ours, theirs, gate, aim=None, note=""):
    """Times `ours` and `theirs` alternately; records theirs / ours."""
    if arguments.only not in name:
        return
    a, b = timing.in_turns(ours, theirs, arguments.repeats)
    ratio = statistics.median(y / x for x, y in zip(a, b))
    record(name, statistics.median(a), statistics.median(b), ratio, gate, aim, note)


def record(name, ours, theirs, ratio, gate, aim=None, note=""):
    rows.append(
        dict(
            name=name,
            ours_ms=ours * 1e3,
            peer_ms=None if theirs is None else theirs * 1e3,
            ratio=ratio,
            gate=gate,
            aim=aim,
            met=gate is None or ratio >= gate,
            note=note,
        )
    )
    r = rows[-1]
    peer = "" if theirs is None else f" peer {r['peer_ms']:.3f} ms"
    print(f"{name}: {r['ours_ms']:.3f} ms{peer} ratio {ratio:.3f}", file=sys.stderr, flush=True)


def bench_elementwise():
    n = 1 << 26
    x, y, out, out_torch = torch.randn(n), torch.randn(n), torch.empty(n), torch.empty(n)
    pair(
        "vadd f32 2^26, BLOCK 1024",
        lambda: vector_add[(n // 1024,)](x, y, out, n, BLOCK=1024),
        lambda: torch.add(x, y, out=out_torch),
        1.0,
        1.2,
    )
    side = 4096
    image = torch.randint(0, 256, (side, side, 3), dtype=torch.uint8)
    grey, weights = torch.empty(side, side, dtype=torch.uint8), torch.tensor([0.2989, 0.5870, 0.1140])
    f, g = torch.empty(side, side, 3), torch.empty(side, side)

    def torch_grey():
        f.copy_(image)
        torch.matmul(f, weights, out=g)
        grey.copy_(g)

    pair(
        "rgb to grey u8 4096²",
        lambda: rgb_to_grey[(side // 256, side // 16)](image, grey, side, side, BY=16, BX=256),
        torch_grey,
        1.0,
    )


def bench_probes():
    import probes

    n = 1 << 26
    x, y, out = torch.randn(n), torch.randn(n), torch.empty(n)
    for kernel in (probes.add_print_if, probes.add_print_if_nan, probes.add_breakpoint_if):
        pair(
            f"vadd f32 2^26 with {kernel.__name__.removeprefix('add_')}, without",
            lambda kernel=kernel: kernel[(n // 1024,)](x, y, out, n, BLOCK=1024),
            lambda: vector_add[(n // 1024,)](x, y, out, n, BLOCK=1024),
            None if kernel is probes.add_print_if_nan else 1 / 1.1,  # a condition on elements must be computed
        )


def bench_rows():
    m, n = 8192, 4096
    x, out, out_torch = torch.randn(m, n), torch.empty(m, n), torch.empty(m, n)
    pair(
        "softmax f32 8192 x 4096",
        lambda: row_softmax[(m,)](x, out, n, n, BLOCK=4096),
        lambda: torch.softmax(x, 1, out=out_torch),
        1.3,
    )
    h, w, b, out_h = x.half(), torch.rand(n).half(), torch.rand(n).half(), torch.empty(m, n, dtype=torch.float16)
    norm_out = (
        torch.empty(m, n, dtype=torch.float16),
        torch.empty(m, 1, dtype=torch.float16),
        torch.empty(m, 1, dtype=torch.float16),
    )

    def torch_norm():
        torch.ops.aten.native_layer_norm.out(h, (n,), w, b, 1e-5, out0=norm_out[0], out1=norm_out[1], out2=norm_out[2])

    try:
        torch_norm()
    except RuntimeError:  # some builds have no out variant for f16 with f32 statistics

        def torch_norm():
            F.layer_norm(h, (n,), w, b, 1e-5)

    pair(
        "layer norm f16 8192 x 4096", lambda: layer_norm[(m,)](h, w, b, out_h, n, n, 1e-5, BLOCK=4096), torch_norm, 1.3
    )


def bench_matmul():
    size = 2048
    a, b = torch.randn(size, size), torch.randn(size, size)
    out, out_torch = torch.empty(size, size), torch.empty(size, size)
    for tile, gate, aim in (((128, 128, 64), 0.9, 0.97), ((64, 64, 32), 0.8, 0.9)):
        pair(
            f"matmul f32 2048, tiles {tile[0]}x{tile[1]}x{tile[2]}",
            lambda tile=tile: product(a, b, out, tile),
            lambda: torch.mm(a, b, out=out_torch),
            gate,
            aim,
        )
    tile = (128, 128, 64)
    for dtype in (torch.float16, torch.bfloat16):
        narrow = [tensor.to(dtype) for tensor in (a, b, out)]
        pair(
            f"matmul {str(dtype)[6:]} 2048 against our f32",
            lambda narrow=narrow: product(*narrow, tile, precision="tf32"),
            lambda: product(a, b, out, tile),
            0.97,
            note="peer: our own f32",
        )


def bench_attention():
    heads, t, d = 4, 2048, 64
    q, k, v = (torch.randn(1, heads, t, d).half() for _ in range(3))
    out = torch.empty_like(q)
    q32, k32, v32 = q.float(), k.float(), v.float()
    pair(
        "flash attention f16 T 2048 D 64 against f32 SDPA",
        lambda: flash_attention[(t // 64, heads)](q, k, v, out, t, d**-0.5, t * d, BM=64, BN=64, D=d, CAUSAL=False),
        lambda: F.scaled_dot_product_attention(q32, k32, v32),
        0.7,
        1.2,
    )


def bench_launch():
    if arguments.only not in "launch of one program":
        return
    x, y, out = torch.randn(16), torch.randn(16), torch.empty(16)
    grid = (1,)
    launch = vector_add[grid]
    for _ in range(1000):
        launch(x, y, out, 16, BLOCK=16)
    best = []
    for _ in range(50):
        start = time.perf_counter()
        for _ in range(1000):
            vector_add[grid](x, y, out, 16, BLOCK=16)
        best.append((time.perf_counter() - start) / 1000)
    took = min(best)  # as timeit does: what is above the fastest batch is the machine's doing
    record("launch of one program (limit 5 µs)", took, None, 5e-6 / took, 1.0, note="5 µs / ours")


FIRST_LAUNCH = """
import gc, sys, time
sys.path.insert(0, {demo!r})
import torch, triton, kernels
which = {which!r}
x = torch.randn(1, 1, 64, 64).half()
f = torch.randn(1024)
gc.collect()  # else a collection of torch's million objects may fall into the launch
start = time.perf_counter()
if which == "vadd":
    kernels.vector_add[(1,)](f, f, torch.empty(1024), 1024, BLOCK=1024)
else:
    kernels.flash_attention[(1, 1)](x, x, x, torch.empty_like(x), 64, 0.125, 4096, BM=64, BN=64, D=64, CAUSAL=True)
print(time.perf_counter() - start)
"""


def child_seconds(code, repeats=7, **changes):
    """Median over new processes; the first one, which may compile tiletwin's own Python files, does not count."""
    # With this set every process would compile them again.
    env = {k: v for k, v in {**os.environ, **changes}.items() if k != "PYTHONDONTWRITEBYTECODE"}
    values = []
    for _ in range(1 + repeats):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=True)
        values.append(float(done.stdout.split()[-1]))
    return statistics.median(values[1:])


def bench_start():
    if arguments.only and arguments.only not in "first launch import":
        return
    for which, limit in (("vadd", 0.020), ("flash attention", 0.060)):
        took = child_seconds(FIRST_LAUNCH.format(demo=str(ROOT / "demo"), which=which))
        record(
            f"first launch, {which} (limit {limit * 1e3:.0f} ms)", took, None, limit / took, 1.0, note="limit / ours"
        )
    took = child_seconds((HERE / "new_kernels.py").read_text())
    record("first launch of a new kernel (limit 4 ms)", took, None, 0.004 / took, 1.0, note="limit / ours")
    code = "import time, numpy; s = time.perf_counter(); import tiletwin; print(time.perf_counter() - s)"
    took = child_seconds(code, TILETWIN_INTERPRET="0")
    record("import tiletwin over NumPy's (limit 80 ms)", took, None, 0.080 / took, 1.0, note="limit / ours")


def bench_triton_interpreter():
    if arguments.only and arguments.only not in "triton interpreter":
        return
    python = timing.TRITON
    if not python.exists():
        print(
            "no .venv-triton: run `scripts/setup.sh --peers` for the comparison with Triton's interpreter",
            file=sys.stderr,
        )
        return
    words, env = [python, HERE / "triton_interpreter.py"], timing.environment(TRITON_INTERPRET="1")
    done = subprocess.run(words, capture_output=True, text=True, env=env, check=True)
    theirs = json.loads(done.stdout.splitlines()[-1])
    from triton_interpreter import measure

    for name, ours in measure(repeats=7).items():
        small = "small tiles" in name
        record(f"Triton's interpreter: {name}", ours, theirs[name], theirs[name] / ours, 1000 if small else None)
    with variables.Changes(TILETWIN_EAGER="1"):
        eager = measure(repeats=3)
    for name, ours in eager.items():
        small = "small tiles" in name
        record(f"eager mode: {name}", ours, theirs[name], theirs[name] / ours, 10 if small else None)


def main():
    for bench in (
        bench_elementwise,
        bench_rows,
        bench_matmul,
        bench_attention,
        bench_launch,
        bench_start,
        bench_triton_interpreter,
        bench_probes,
    ):
        bench()
    importlib.import_module("small_rows").bench(record, arguments.only, arguments.repeats)
    for name in ("cold_compile", "time_to_stop", "simulator"):
        importlib.import_module(name).bench(record, arguments.only)
    checks = importlib.import_module("checks")  # last: what they watch is watched to the end of the process
    checks.bench(record, arguments.only, arguments.repeats)
    table = Table(title=f"peer's time / our time, {arguments.threads} threads, torch {torch.__version__}")
    for column in ("benchmark", "ours", "peer", "ratio", "gate", "aim", ""):
        table.add_column(column, justify="left" if column in ("benchmark", "") else "right")
    for r in rows:
        table.add_row(
            r["name"],
            f"{r['ours_ms']:.3f} ms",
            "" if r["peer_ms"] is None else f"{r['peer_ms']:.3f} ms",
            f"{r['ratio']:.2f}",
            "" if r["gate"] is None else f"{r['gate']:g}",
            "" if r["aim"] is None else f"{r['aim']:g}",
            "[green]met[/]" if r["met"] else "[red]not met[/]",
        )
    Console(width=130).print(table)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1))


main()
