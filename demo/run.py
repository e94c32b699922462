"""`make demo`: unmodified Triton kernels on real input, compared with torch; then a bug found, a breakpoint driven,
and, where the simulator is built, a race found that only a GPU would have.

Runs under TILETWIN_INTERPRET=1, which it sets itself and starts anew with.
"""

import importlib.util
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
if os.environ.get("TILETWIN_INTERPRET") != "1":
    os.environ["TILETWIN_INTERPRET"] = "1"
    os.execv(sys.executable, [sys.executable, *sys.argv])

import numpy as np  # noqa: E402
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
import triton  # noqa: E402
from kernels import (  # noqa: E402
    flash_attention,
    forgotten_mask,
    layer_norm,
    product,
    rgb_to_grey,
    row_softmax,
    vector_add,
)
from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402

console = Console(width=min(120, Console().width) if sys.stdout.isatty() else 120, highlight=False)


def best_time(run, repeats=5, enough_ms=1000):
    """Shortest of `repeats` runs in milliseconds, after one warm-up; of fewer where they have taken `enough_ms`."""
    run()
    times = []
    while len(times) < repeats and sum(times) < enough_ms:
        time.sleep(0.02)  # torch's workers spin on for some milliseconds, and would take a core from whoever comes next
        start = time.perf_counter()
        run()
        times.append((time.perf_counter() - start) * 1e3)
    return min(times)


PADDED = "a tile must be a power of two: 4096 columns for 3000, which torch has not"


def cases():
    """Yields (name, run ours, run torch, our output, torch's output as float64, allowed error, why torch may be
    faster)."""
    torch.manual_seed(0)

    n = 1 << 22
    x, y, out = torch.randn(n), torch.randn(n), torch.empty(n)
    yield (
        "vector add f32, 4 Mi elements",
        lambda: vector_add[(triton.cdiv(n, 1024),)](x, y, out, n, BLOCK=1024),
        lambda: torch.add(x, y),
        out,
        lambda: x + y,
        0.0,
        "both are bound by memory",
    )

    rows, cols = 2048, 3000
    x2, out2 = torch.randn(rows, cols), torch.empty(rows, cols)
    yield (
        "row softmax f32, 2048 x 3000",
        lambda: row_softmax[(rows,)](x2, out2, x2.stride(0), cols, BLOCK=4096),
        lambda: torch.softmax(x2, 1),
        out2,
        lambda: torch.softmax(x2.double(), 1),
        1e-6,
        PADDED,
    )

    x3 = torch.randn(rows, cols).half()
    w, b, out3 = torch.rand(cols).half(), torch.rand(cols).half(), torch.empty(rows, cols).half()
    yield (
        "layer norm f16, 2048 x 3000",
        lambda: layer_norm[(rows,)](x3, w, b, out3, x3.stride(0), cols, 1e-5, BLOCK=4096),
        lambda: F.layer_norm(x3, (cols,), w, b, 1e-5),
        out3,
        lambda: F.layer_norm(x3.double(), (cols,), w.double(), b.double(), 1e-5),
        4e-3,
        PADDED,
    )

    size = 768
    for dtype, precision, bound in (
        (torch.float32, "ieee", 5e-4),
        (torch.float16, "tf32", 6e-2),
        (torch.bfloat16, "tf32", 5e-1),
    ):
        a, c = torch.randn(size, size).to(dtype), torch.randn(size, size).to(dtype)
        out4 = torch.empty(size, size, dtype=dtype)
        yield (
            f"matmul {str(dtype)[6:]}, {size}³, grouped and swizzled",
            lambda a=a, c=c, out=out4, precision=precision: product(a, c, out, (128, 128, 64), 4, precision),
            lambda a=a, c=c: a @ c,
            out4,
            lambda a=a, c=c: a.double() @ c.double(),
            bound,
            "the kernel says 128 x 128 x 64 a step; torch chooses for the CPU",
        )

    heads, length, dim = 4, 1000, 64
    q, k, v = (torch.randn(1, heads, length, dim).half() for _ in range(3))
    out5 = torch.empty_like(q)
    for causal in (False, True):

        def attend(causal=causal):
            flash_attention[(triton.cdiv(length, 64), heads)](
                q, k, v, out5, length, dim**-0.5, q.stride(1), BM=64, BN=64, D=dim, CAUSAL=causal
            )

        yield (
            f"flash attention f16 {'causal' if causal else 'full'}, T 1000, D 64",
            attend,
            lambda causal=causal: F.scaled_dot_product_attention(q.float(), k.float(), v.float(), is_causal=causal),
            out5,
            lambda causal=causal: F.scaled_dot_product_attention(q.double(), k.double(), v.double(), is_causal=causal),
            4e-3,
            "the kernel says 64 x 64 a step and rounds to f16 between products; torch is given f32",
        )

    import matplotlib.cbook
    from PIL import Image

    with matplotlib.cbook.get_sample_data("grace_hopper.jpg") as file:
        photo = torch.from_numpy(np.array(Image.open(file).convert("RGB")))
    height, width = photo.shape[:2]
    grey = torch.empty(height, width, dtype=torch.uint8)
    weights = torch.tensor([0.2989, 0.5870, 0.1140])
    yield (
        f"greyscale of a photograph, {height} x {width}",
        lambda: rgb_to_grey[(triton.cdiv(width, 256), triton.cdiv(height, 16))](
            photo, grey, height, width, BY=16, BX=256
        ),
        lambda: (photo.float() @ weights).to(torch.uint8),
        grey,
        lambda: (photo.double() @ weights.double()).floor(),
        1.0,
        "both are bound by memory",
    )
    picture = HERE.parent / "build" / "grace_hopper_grey.png"
    picture.parent.mkdir(exist_ok=True)
    Image.fromarray(grey.numpy()).save(picture)
    console.print(f"saved {picture.relative_to(HERE.parent)}")


def kernels_against_torch():
    table = Table(title="Unmodified Triton kernels on the CPU")
    for column, justify in (
        ("kernel", "left"),
        ("largest error", "right"),
        ("tiletwin", "right"),
        ("torch", "right"),
        ("torch / tiletwin", "right"),
    ):  # a ratio above 1: tiletwin is faster
        table.add_column(column, justify=justify)
    failed, slower = [], {}
    for name, run, run_torch, out, reference, bound, why in cases():
        ours, theirs = best_time(run), best_time(run_torch)
        error = (out.double() - reference().double()).abs().max().item()
        if not error <= bound:
            failed.append(f"{name}: error {error:.3g}, allowed {bound:.3g}")
        table.add_row(name, f"{error:.2g}", f"{ours:.2f} ms", f"{theirs:.2f} ms", f"{theirs / ours:.2f}")
        if theirs < ours:
            slower.setdefault(why, []).append(name.partition(",")[0])
    console.print(table)
    for why, names in slower.items():
        console.print(f"below 1, {', '.join(names)}: {why}")
    print(
        f"a float32 product by tl.dot's default, tf32, is off by {error_of_tf32():.2g}: GPUs round the operands, too. "
        'input_precision="ieee" in the kernel, or TILETWIN_NUMERICS=ieee, does not'
    )
    return failed


def error_of_tf32(size=256):
    """The largest error of a float32 product whose operands are rounded to tf32."""
    a, b, out = torch.randn(size, size), torch.randn(size, size), torch.empty(size, size)
    product(a, b, out, (128, 128, 64), 4, "tf32")
    return (out.double() - a.double() @ b.double()).abs().max().item()


def bug_found():
    console.rule("a kernel with a forgotten mask")
    x = torch.randn(1000)
    try:
        forgotten_mask[(4,)](x, torch.empty(1000), 1000, BLOCK=256)
    except IndexError as error:
        print(error)
        return []
    return ["the forgotten mask was not found"]


def breakpoint_driven():
    console.rule("a breakpoint in one program, driven through pdb")
    commands = "p row\np x\np scaled\nnext\ncontinue\n"
    done = subprocess.run(
        [sys.executable, str(HERE / "with_breakpoint.py")], input=commands, text=True, capture_output=True
    )
    print(done.stdout.replace("(Pdb) ", "\n(Pdb) "), done.stderr, sep="\n")
    return [] if done.returncode == 0 and "results agree" in done.stdout else ["the session under pdb failed"]


def race_found():
    console.rule("a missing barrier, which only a GPU would show")
    needed = ("_sim", "_codegen")
    missing = [name for name in needed if importlib.util.find_spec(f"tiletwin.{name}") is None]
    if missing:
        print(
            f"not shown: this build has no {' and no '.join(missing)}; `make build` adds them for the next `make demo`"
        )
        return []
    words = [
        sys.executable,
        "-m",
        "tiletwin",
        "diff",
        "--backends",
        "interp,sim",
        str(HERE / "diff_missing_barrier.py"),
    ]
    done = subprocess.run(words, cwd=HERE.parent / "build", text=True, capture_output=True)
    told = [line.strip() for line in done.stdout.splitlines() if "the first value" in line or "sim: races" in line]
    print(*told, sep="\n")
    return [] if len(told) == 2 else [f"the missing barrier was not found: {done.stdout}{done.stderr}"]


def how_to_go_on():
    console.rule("how to go on")
    print(
        "TILETWIN_INTERPRET=1 .venv/bin/python SCRIPT.py   your own kernels; with TILETWIN_CHECK=all, every check\n"
        ".venv/bin/tiletwin doctor                         what this machine and this build have\n"
        "make test                                         builds the rest (simulator, GPU code), runs the tests\n"
        "docs/debugging.md                                 three bugs found step by step"
    )


if __name__ == "__main__":
    failures = kernels_against_torch() + bug_found() + breakpoint_driven() + race_found()
    how_to_go_on()
    for failure in failures:
        console.print(f"FAILED {failure}", style="bold red")
    sys.exit(bool(failures))
