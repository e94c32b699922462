"""Launches of 20 us to 20 ms against PyTorch: rows of `make bench`, and alone a table for any number of threads.

usage: python benchmarks/small_rows.py [--threads N] [--only NAME] [--json FILE]

Three times of each pair: `rested`, 20 ms after the last call; `close`, calls of one side one after the other; `mixed`,
both sides in turns without a rest, as in a script. PyTorch's threads spin for some milliseconds behind each of its
operations, so these differ.
"""

import json
import pathlib
import statistics
import sys

import timing

CALLS = 100
"""Calls of each side, close and mixed; fewer of those that take over a millisecond."""


def pairs():
    """(name, ours, PyTorch's), tensors made beforehand."""
    import torch
    import torch.nn.functional as F
    import triton
    from kernels import flash_attention, layer_norm, product, rgb_to_grey, row_softmax, vector_add

    torch.manual_seed(0)

    def vadd(n):
        x, y, out, out_torch = torch.randn(n), torch.randn(n), torch.empty(n), torch.empty(n)
        ours = lambda: vector_add[(n // 1024,)](x, y, out, n, BLOCK=1024)  # noqa: E731
        return f"vadd f32 {n}", ours, lambda: torch.add(x, y, out=out_torch)

    def softmax(m, n):
        x, out, out_torch = torch.randn(m, n), torch.empty(m, n), torch.empty(m, n)
        ours = lambda: row_softmax[(m,)](x, out, n, n, BLOCK=triton.next_power_of_2(n))  # noqa: E731
        return f"softmax f32 {m} x {n}", ours, lambda: torch.softmax(x, 1, out=out_torch)

    def norm(m, n, dtype):
        x, out = torch.randn(m, n).to(dtype), torch.empty(m, n, dtype=dtype)
        w, b = torch.rand(n).to(dtype), torch.rand(n).to(dtype)
        ours = lambda: layer_norm[(m,)](x, w, b, out, n, n, 1e-5, BLOCK=triton.next_power_of_2(n))  # noqa: E731
        return f"layer norm {str(dtype)[6:]} {m} x {n}", ours, lambda: F.layer_norm(x, (n,), w, b, 1e-5)

    def grey(side):
        image, out = (
            torch.randint(0, 256, (side, side, 3), dtype=torch.uint8),
            torch.empty(side, side, dtype=torch.uint8),
        )
        f, g, weights = torch.empty(side, side, 3), torch.empty(side, side), torch.tensor([0.2989, 0.5870, 0.1140])

        def theirs():
            f.copy_(image)
            torch.matmul(f, weights, out=g)
            out.copy_(g)

        grid = (side // 256, side // 16)
        return f"rgb to grey u8 {side}²", lambda: rgb_to_grey[grid](image, out, side, side, BY=16, BX=256), theirs

    def matmul(size, tile):
        a, b, out, out_torch = torch.randn(size, size), torch.randn(size, size), *torch.empty(2, size, size)
        name = f"matmul f32 {size}, tiles {'x'.join(map(str, tile))}"
        return name, lambda: product(a, b, out, tile), lambda: torch.mm(a, b, out=out_torch)

    def attention(t, heads=4, d=64):
        q, k, v = (torch.randn(1, heads, t, d).half() for _ in range(3))
        out, q32, k32, v32 = torch.empty_like(q), q.float(), k.float(), v.float()
        grid, scale = (t // 64, heads), d**-0.5
        ours = lambda: flash_attention[grid](q, k, v, out, t, scale, t * d, BM=64, BN=64, D=d, CAUSAL=False)  # noqa: E731
        return f"attention f16 T {t} against f32", ours, lambda: F.scaled_dot_product_attention(q32, k32, v32)

    yield from (vadd(1 << n) for n in (16, 18, 20, 22))
    yield from (softmax(256, 1024), softmax(1024, 4096))
    yield from (norm(1024, 4096, torch.float16), norm(1024, 4096, torch.float32))
    yield from (norm(2048, 3000, torch.float16), norm(2048, 3000, torch.float32), softmax(2048, 3000))
    yield from (grey(512), grey(1024))
    for size in (512, 2048):
        yield from (matmul(size, (64, 64, 32)), matmul(size, (128, 128, 64)), attention(size))


def times(ours, theirs, repeats):
    """{way: (seconds of ours, of theirs)}, medians."""
    rested = [statistics.median(side) for side in timing.in_turns(ours, theirs, repeats)]
    calls = max(3, min(CALLS, int(0.1 / rested[1])))
    close = [timing.median_seconds(run, calls) for run in (ours, theirs)]
    mixed = [statistics.median(side) for side in timing.in_turns(ours, theirs, calls, rest=0)]
    return {"rested": rested, "close": close, "mixed": mixed}


def bench(record, only, repeats):
    """Records each pair's three ratios for run.py."""
    for name, ours, theirs in pairs():
        if only in f"small: {name}":
            for way, (a, b) in times(ours, theirs, repeats).items():
                record(f"small: {name}, {way}", a, b, b / a, None, 1.0)


def main():
    arguments = timing.options(__doc__).parse_args()
    timing.interpret(arguments.threads)
    sys.path.insert(0, str(timing.ROOT / "demo"))
    import torch

    torch.set_num_threads(arguments.threads)
    rows = []
    for name, ours, theirs in pairs():
        if arguments.only in name:
            row = {way: (a * 1e6, b * 1e6, b / a) for way, (a, b) in times(ours, theirs, arguments.repeats).items()}
            rows.append({"name": name, **row})
            cells = [f"{way} {a:8.1f} / {b:8.1f} us = {ratio:5.2f}" for way, (a, b, ratio) in row.items()]
            print(f"{name:36s}", *cells, sep="  ", flush=True)
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps({"threads": arguments.threads, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
