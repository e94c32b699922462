"""Memory that a product in flight reads, and that threads write again: a barrier stands behind the product's wait, also
where another wait's barrier is in front of that.

Here:      a result behind a loop whose producer and whose threads copy; an operand of two products, one begun
           early; operands in one memory. The interpreter's values under several schedules, with all checks.
Not here:  planted mistakes (test_planted_protocol_mistakes.py), products that begin early (test_gradients.py).
"""

from __future__ import annotations

from typing import Any

import pytest
import tiletwin as triton
import tiletwin.language as tl
import torch
from tiletwin import checks
from tiletwin.codegen.stages import AsmDict
from tiletwin.launch import sim_launch
from tiletwin.sim.check_words import CHECKS
from tiletwin.tools.tensor_descriptor import TensorDescriptor

SCHEDULES = ("turns", "copies=early", "seed:1,copies=drawn", "seed:2,copies=drawn")
BLOCK = 64


@triton.jit
def copied_by_both(a, b, loaded, c, d, K, B: tl.constexpr, PRODUCER: tl.constexpr, PLUS: tl.constexpr):
    """c is the greatest of all a[:, k] @ (loaded[k] + PLUS), d the sum of a[:, k] @ b[k]."""
    n, k = tl.arange(0, B), tl.arange(0, B)
    most, sums = tl.zeros((B, B), tl.float32), tl.zeros((B, B), tl.float32)
    for at in tl.range(0, K, B, warp_specialize=PRODUCER):
        p = tl.load(loaded + (at + k)[:, None] * B + n[None, :])
        if PLUS:
            p += PLUS
        most = tl.maximum(most, tl.dot(a.load([0, at]), p))
        sums = tl.dot(a.load([0, at]), b.load([at, 0]), sums)
    c.store([0, 0], most)
    d.store([0, 0], sums)


@triton.jit
def read_twice(a, b, loaded, c, d, K, B: tl.constexpr, ROUNDS: tl.constexpr, PLUS: tl.constexpr):
    """Two products read b + PLUS: one that a branch goes on with, and one that is begun early and becomes an operand.
    `loaded` is not used."""
    total, sums = tl.zeros((B, B), tl.float32), tl.zeros((B, B), tl.float32)
    for _ in range(ROUNDS):
        for at in range(0, K, B):
            right, left = b.load([at, 0]) + PLUS, a.load([0, at])
            total = total - tl.max(total, 1)[:, None]
            total += tl.dot(left + 1, right)
            once = tl.dot(left, right)
            sums = tl.dot(tl.where(once > 0, once, 0).to(tl.float16), b.load([at, 0]), sums)
            if at > 0:
                total += 1.0
    c.store([0, 0], total)
    d.store([0, 0], sums)


@triton.jit
def stored_behind(a, b, loaded, c, d, K, B: tl.constexpr, PLUS: tl.constexpr):
    """The first matrix of the second product goes to the memory of the first product's. d is not written."""
    n, k = tl.arange(0, B), tl.arange(0, B)
    sums = tl.zeros((B, B), tl.float32)
    for at in range(0, K, B):
        sums += tl.dot(a.load([0, at]), b.load([at, 0]) * 2)
        left = tl.load(loaded + (at + k)[:, None] * B + n[None, :]) + PLUS
        sums = tl.dot(left, b.load([at, 0]).T, sums)
    c.store([0, 0], sums)


@triton.jit
def waited_with_the_sum(a, b, loaded, c, d, K, B: tl.constexpr, PLUS: tl.constexpr):
    """The first product of an iteration reads what threads store, and is waited for together with the sum of the one
    before. d is not written."""
    n, k = tl.arange(0, B), tl.arange(0, B)
    held, sums = a.load([0, 0]), tl.zeros((B, B), tl.float32)
    for at in range(0, K, B):
        right = tl.load(loaded + (at + k)[:, None] * B + n[None, :]) + PLUS
        once = tl.dot(held, right)
        sums = tl.dot(tl.where(once > 0, once, 0).to(tl.float16), b.load([at, 0]), sums)
    c.store([0, 0], sums)


@triton.jit
def stored_for_three(a, b, loaded, c, d, K, B: tl.constexpr, PLUS: tl.constexpr):
    """Threads store a matrix that three products read, of which the second one could begin early. d is not written."""
    n, k = tl.arange(0, B), tl.arange(0, B)
    sums = tl.zeros((B, B), tl.float32)
    for at in range(0, K, B):
        place = loaded + (at + k)[:, None] * B + n[None, :]
        left, right = tl.load(place), (tl.load(place).to(tl.float32) + PLUS).to(tl.float16)
        sums = tl.dot(tl.dot(left, left).to(tl.float16), right, sums)
        sums = tl.dot((tl.dot(left, right) * 0.5).to(tl.float16), right, sums)
    c.store([0, 0], sums)


@triton.jit
def given_back_early(a, b, loaded, c, d, K, B: tl.constexpr, PLUS: tl.constexpr):
    """A product that reads what a producer's warps have copied begins early; the slot is theirs again behind it."""
    n, k = tl.arange(0, B), tl.arange(0, B)
    sums, others = tl.zeros((B, B), tl.float32), tl.zeros((B, B), tl.float32)
    for at in tl.range(0, K, B, warp_specialize=True):
        right, left, twice = b.load([at, 0]) - PLUS, a.load([0, at]) - PLUS, b.load([at, 0]) * 2
        once = tl.dot(left, twice)
        p = tl.load(loaded + (at + k)[:, None] * B + n[None, :]) + PLUS
        sums = tl.dot((once * 0.5).to(tl.float16), p, sums)
        once = tl.dot(a.load([0, at]), twice)
        sums = tl.dot(once.to(tl.float16), right, sums)
        others = tl.dot(a.load([0, at]) + PLUS, right, others)
    c.store([0, 0], sums)
    d.store([0, 0], others)


@triton.jit
def copied_in_two_ways(a, b, loaded, c, d, K, B: tl.constexpr, PLUS: tl.constexpr):
    """The tensor unit copies one matrix, threads the other one. d is not written."""
    n, k = tl.arange(0, B), tl.arange(0, B)
    sums = tl.zeros((B, B), tl.float32)
    for at in range(0, K, B):
        sums = tl.dot(a.load([0, at]), tl.load(loaded + (at + k)[:, None] * B + n[None, :]), sums)
    c.store([0, 0], sums)


@triton.jit
def copied_and_stored(a, b, loaded, c, d, K, B: tl.constexpr, PLUS: tl.constexpr):
    """What threads copy is an operand, and what they make of it is another one; through pointers alone but for the
    result. d is not written."""
    n, k = tl.arange(0, B), tl.arange(0, B)
    sums = tl.zeros((B, B), tl.float32)
    for at in range(0, K, B):
        left = tl.load(loaded + (at + k)[:, None] * B + n[None, :])
        right = tl.load(loaded + (K - B - at + k)[:, None] * B + n[None, :])
        sums = tl.dot(left, right, sums)
        sums = tl.dot(left + PLUS, right, sums)
    c.store([0, 0], sums)


@triton.jit
def stored_beside_copies(a, b, loaded, c, d, K, B: tl.constexpr, PLUS: tl.constexpr):
    """Threads copy a matrix and store what they make of it in one place, for a product whose other matrix the tensor
    unit copies: it is in flight until the next matrix is stored. d is not written."""
    n, k = tl.arange(0, B), tl.arange(0, B)
    sums = tl.zeros((B, B), tl.float32)
    for at in range(0, K, B):
        left = tl.load(loaded + (at + k)[:, None] * B + n[None, :]).to(tl.float32) + PLUS
        sums = tl.dot(left.to(tl.float16), b.load([at, 0]), sums)
    c.store([0, 0], sums)


@triton.jit
def changing_places(a, b, loaded, c, d, K, B: tl.constexpr, PLUS: tl.constexpr):
    """Two sums change places, and something else happens to each: neither moves to other registers while its product
    writes there."""
    sums, others = tl.zeros((B, B), tl.float32), tl.zeros((B, B), tl.float32)
    for at in range(0, K, B):
        sums, others = others, sums
        others = tl.dot(a.load([0, at]), b.load([at, 0]) + PLUS, others + 2)
        sums = tl.maximum(sums + 1.0, at)
    c.store([0, 0], sums)
    d.store([0, 0], others)


@triton.jit
def read_again(a, b, loaded, c, d, K, B: tl.constexpr, PLUS: tl.constexpr):
    """The second matrix is what the iteration before has stored. d is not written."""
    n, k = tl.arange(0, B), tl.arange(0, B)
    sums = tl.zeros((B, B), tl.float32)
    for at in range(0, K - B, B):
        place = loaded + (at + k)[:, None] * B + n[None, :]
        sums = tl.dot(a.load([0, at]), tl.load(place), sums)
        tl.debug_barrier()
        tl.store(place + B * B, tl.where(sums > 0, 1.0, -1.0).to(tl.float16))
        tl.debug_barrier()
    c.store([0, 0], sums)


@triton.jit
def read_in_a_loop_inside(a, b, loaded, c, d, K, B: tl.constexpr, PLUS: tl.constexpr):
    """Products of a loop inside read what a producer's warps have copied for the loop around it."""
    n, k = tl.arange(0, B), tl.arange(0, B)
    sums, others = tl.zeros((B, B), tl.float32), tl.zeros((B, B), tl.float32)
    for at in tl.range(0, K, B, warp_specialize=True):
        right = b.load([at, 0])
        for i in range(2):
            others = tl.dot(tl.load(loaded + (i * B + k)[:, None] * B + n[None, :]), right, others)
        sums = tl.dot(a.load([0, at]), right, sums)
    c.store([0, 0], sums)
    d.store([0, 0], others)


def run(monkeypatch: pytest.MonkeyPatch, kernel: Any, *constants: Any, rounds: int, **options: Any) -> Any:
    """Compares both results with the interpreter's, whose sums are exact as well: integers. Nothing that was compiled
    with another environment is used."""
    kernel = triton.jit(kernel.fn)
    generator = torch.Generator().manual_seed(rounds)
    length = BLOCK * rounds
    sizes = ((BLOCK, length), (length, BLOCK), (length, BLOCK))
    a, b, loaded = (torch.randint(-1, 2, size, generator=generator).to(torch.float16) for size in sizes)
    monkeypatch.setattr(sim_launch, "chosen_checks", lambda _: CHECKS)
    results = {}
    for backend, schedule in (("interp", "turns"), *(("sim", schedule) for schedule in SCHEDULES)):
        monkeypatch.setenv("TILETWIN_BACKEND", backend)
        monkeypatch.setenv("TILETWIN_SIM_SCHEDULE", schedule)
        out = [torch.zeros((BLOCK, BLOCK)) for _ in range(2)]
        maps = [TensorDescriptor.from_tensor(x, [BLOCK, BLOCK]) for x in (a, b, *out)]
        checks.clear()
        compiled = kernel[(1,)](*maps[:2], loaded.clone(), *maps[2:], length, BLOCK, *constants, **options)
        assert not checks.findings()
        results[backend] = out
        if backend == "sim":
            for one, other in zip(out, results["interp"], strict=True):
                torch.testing.assert_close(one, other, rtol=0, atol=0)
    return compiled


@pytest.mark.parametrize("copied", ["0", "1"])
@pytest.mark.parametrize("stages", [2, 3, 4])
@pytest.mark.parametrize("plus", [0, 1])
@pytest.mark.parametrize("producer", [False, True])
def test_what_is_stored_behind_a_loop(monkeypatch, producer: bool, plus: int, stages: int, copied: str) -> None:
    monkeypatch.setenv("TILETWIN_COPIED_LOADS", copied)
    compiled = run(monkeypatch, copied_by_both, producer, plus, rounds=6, num_stages=stages)
    assert ("twg.producer" in compiled.asm["ttgir"]) == producer


@pytest.mark.parametrize("stages", [2, 3, 4])
@pytest.mark.parametrize("rounds", [1, 2, 5])
@pytest.mark.parametrize("outer", [1, 2])
def test_an_operand_of_a_product_that_begins_early(monkeypatch, outer: int, rounds: int, stages: int) -> None:
    compiled = run(monkeypatch, read_twice, outer, -1, rounds=rounds, num_stages=stages)
    assert " in_flight {" in compiled.asm["ttgir"]


@pytest.mark.parametrize("warps", [4, 8])
@pytest.mark.parametrize("stages", [1, 2, 3])
def test_operands_that_lie_in_one_memory(monkeypatch, stages: int, warps: int) -> None:
    run(monkeypatch, stored_behind, 1, rounds=3, num_stages=stages, num_warps=warps)


KERNELS = [
    waited_with_the_sum, stored_for_three, given_back_early, copied_in_two_ways, copied_and_stored,
    stored_beside_copies, changing_places, read_again, read_in_a_loop_inside,
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:tl.range.warp_specialize=True. changes nothing")  # of one stage
@pytest.mark.parametrize("copied", ["0", "1"])
@pytest.mark.parametrize("warps", [4, 8])
@pytest.mark.parametrize("stages", [1, 2, 3])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.fn.__name__)
def test_several_products(monkeypatch, kernel: Any, stages: int, warps: int, copied: str) -> None:
    monkeypatch.setenv("TILETWIN_COPIED_LOADS", copied)
    run(monkeypatch, kernel, 1, rounds=6, num_stages=stages, num_warps=warps)


@pytest.fixture
def of_few_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Launches run the code for as many programs as there are multiprocessors."""
    monkeypatch.setattr(AsmDict, "launched", property(lambda self: self.launched_singly))


@pytest.mark.usefixtures("of_few_programs")
@pytest.mark.parametrize("warps", [4, 8])
@pytest.mark.parametrize("stages", [2, 3])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.fn.__name__)
def test_several_products_of_few_programs(monkeypatch, kernel: Any, stages: int, warps: int) -> None:
    run(monkeypatch, kernel, 1, rounds=6, num_stages=stages, num_warps=warps)


@pytest.mark.usefixtures("of_few_programs")
@pytest.mark.parametrize("warps", [4, 8])
@pytest.mark.parametrize("stages", [2, 3, 4])
@pytest.mark.parametrize("rounds", [1, 2, 7])
def test_a_product_in_flight_reads_what_threads_store_in_one_place(monkeypatch, rounds, stages, warps) -> None:
    code = run(monkeypatch, stored_beside_copies, 1, rounds=rounds, num_stages=stages, num_warps=warps).asm
    text = code.launched_singly["ttgir"]
    loop = text[text.index("scf.for") : text.index("scf.yield")]
    waited, stored = loop.index("twg.warpgroup_wait 0"), loop.index("twg.local_alloc %")
    assert waited < stored < loop.index(" in_flight {") and "twg.tensor_load" in loop


def test_what_a_table_s_pointers_read_is_copied_ahead(monkeypatch) -> None:
    """What the loop writes through another pointer is taken for other memory, as it is with two arguments."""

    @triton.jit
    def kernel(table, c, K, B: tl.constexpr):
        n, k = tl.arange(0, B)[None, :], tl.arange(0, B)[:, None]
        a, b = tl.load(table).to(tl.pointer_type(tl.float16)), tl.load(table + 1).to(tl.pointer_type(tl.float16))
        sums = tl.zeros((B, B), tl.float32)
        for at in range(0, K, B):
            place = tl.multiple_of((at + k) * B + n, (1, 16))
            left, right = tl.load(tl.multiple_of(a, 16) + place), tl.load(tl.multiple_of(b, 16) + place)
            sums = tl.dot(left, right, sums)
            tl.store(c + k * B + n, sums)

    monkeypatch.setenv("TILETWIN_BACKEND", "sim")
    a, b, c = torch.ones(256, BLOCK).half(), torch.ones(256, BLOCK).half(), torch.zeros(BLOCK, BLOCK)
    table = torch.tensor([a.data_ptr(), b.data_ptr()])
    compiled = kernel.warmup(table, c, 256, BLOCK, num_stages=3, grid=(1,))
    loop = compiled.asm["ttgir"].split("scf.for", 1)[1]
    assert loop.count("twg.async_copy ") == 2
