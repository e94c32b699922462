"""What the checks of TILETWIN_CHECK cost: launches with a check against the same launches without, in the same run.

Here:      which checks are timed on which kernels, and the bound of each.
Not here:  timing and the table (run.py).
Invariant: a kernel of this list has no findings; a check that is off costs nothing, which the other benchmarks show.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable

import timing
import torch
from kernels import flash_attention, product, row_softmax, vector_add
from tiletwin.variables import Changes
from triton import checks, fresh_memory

# check -> how many times as long a launch may take
BOUNDS = {"undefined": 2.5, "nan": 2.5, "bounds": 1.1, "uninitialized": 2.5, "races": 6.0, "barriers": 1.1}


def launches() -> dict[str, Callable[[], object]]:
    """One launch each of four kernels."""
    n = 1 << 24
    x, y, out = torch.randn(n), torch.randn(n), torch.empty(n)
    rows, columns = 4096, 1024
    table, soft = torch.randn(rows, columns), torch.empty(rows, columns)
    size = 1024
    a, b, c = torch.randn(size, size), torch.randn(size, size), torch.empty(size, size)
    heads, t, d = 4, 1024, 64
    q, k, v = (torch.randn(1, heads, t, d).half() for _ in range(3))
    attended = torch.empty_like(q)
    return {
        "vadd": lambda: vector_add[(n // 1024,)](x, y, out, n, BLOCK=1024),
        "softmax": lambda: row_softmax[(rows,)](table, soft, columns, columns, BLOCK=1024),
        "matmul": lambda: product(a, b, c, (128, 128, 64)),
        "flash attention": lambda: flash_attention[(t // 64, heads)](
            q, k, v, attended, t, d**-0.5, t * d, BM=64, BN=64, D=d, CAUSAL=False
        ),
    }


def bench(record: Callable, only: str, repeats: int = 9) -> None:
    """Records, for each check and kernel, time without / time with; the gate is 1 / bound."""
    fresh_memory.watch()
    with Changes(TILETWIN_CHECK="uninitialized"):  # so that it is known what the outputs are made of
        all_launches = launches()
    for kernel, launch in all_launches.items():
        for check, bound in BOUNDS.items():
            name = f"TILETWIN_CHECK={check}, {kernel} (at most {bound} x)"
            if only not in name:
                continue
            plain, checked = [], []
            # Single launches of 3 ms differ by more than 10 %: when helpers wake up, and what is left in the caches.
            in_a_row, rounds = (5, 3 * repeats) if bound < 1.5 else (1, repeats)

            def run(launch: Callable = launch, in_a_row: int = in_a_row) -> None:
                for _ in range(in_a_row):
                    launch()

            for number in range(rounds + 1):
                without = timing.seconds(run)
                with Changes(TILETWIN_CHECK=check):
                    within = timing.seconds(run)
                if number:  # the first round compiles
                    plain.append(without / in_a_row)
                    checked.append(within / in_a_row)
            if checks.findings():
                sys.exit(f"{name}: there should be no findings:\n" + "\n".join(map(str, checks.findings())))
            ratio = statistics.median(p / c for p, c in zip(plain, checked))
            record(name, statistics.median(checked), statistics.median(plain), ratio, 1 / bound, note="off / on")
