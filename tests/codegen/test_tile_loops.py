"""Kernels whose CTAs run one program after the other: the same bits as with one buffer, and which kernels are so.

Here:      forms of addresses, tails that are loaded in between, numbers of programs, launches, refusals.
Not here:  which loads are copies (test_copied_loads.py), loops that ask for warps that copy (test_producers.py),
           mistakes in the protocol (test_planted_protocol_mistakes.py).
Invariant: the simulator runs two CTAs, looks for all mistakes, and runs each launch under several schedules.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import copied_load_kernels as kernels
import pytest
import tile_loop_kernels
import tiletwin as triton
import torch
from tiletwin import checks
from tiletwin.codegen import assembler
from tiletwin.launch import copied_loads, sim_launch
from tiletwin.sim.check_words import CHECKS
from tiletwin.tools.tensor_descriptor import TensorDescriptor

SCHEDULES = ("turns", "copies=early", "seed:1,copies=drawn", "seed:2,copies=drawn", "seed:3,copies=late")
BLOCK = (128, 256, 32)
OPTIONS = {"num_warps": 8, "num_stages": 3}
Launch = Callable[..., Any]


@pytest.fixture(autouse=True)
def two_ctas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sim_launch, "chosen_checks", lambda _: CHECKS)
    monkeypatch.setattr(sim_launch, "MOST_CTAS", 2)
    monkeypatch.setenv("TILETWIN_BACKEND", "sim")
    checks.clear()


def random(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape))).half()


def loops(compiled: Any) -> bool:
    return compiled.asm.launched.facts["arguments"][-1] == "programs"


def same_bits(
    monkeypatch: pytest.MonkeyPatch, kernel: Any, launch: Launch, *outs: torch.Tensor, stages: int = 3
) -> Any:
    """launch: takes a kernel and options. Asserts that the outputs are the same with one buffer, with a loop over
    programs, and with two CTAs that copy for each other; returns the last kernel."""

    def results(schedule: str, **options: Any) -> tuple[Any, list[bytes]]:
        monkeypatch.setenv("TILETWIN_SIM_SCHEDULE", schedule)
        for out in outs:
            out.fill_(7)
        compiled = launch(triton.jit(kernel.fn), **(OPTIONS | options))
        assert not checks.findings()
        return compiled, [out.contiguous().view(torch.uint8).numpy().tobytes() for out in outs]

    plain, expected = results("turns", num_stages=1)
    assert not loops(plain)
    for pairs, schedule in itertools.product(("0", "1"), SCHEDULES):
        monkeypatch.setenv("TILETWIN_PAIRS", pairs)
        compiled, found = results(schedule, num_stages=stages, num_ctas=1 + int(pairs))
        assert found == expected, (pairs, schedule)
        assert loops(compiled) and "twg.producer 4" in compiled.asm.launched["ttgir"]
        assert compiled.asm.launched.facts["cluster"] == 1 + int(pairs)
    return compiled


def product(monkeypatch: pytest.MonkeyPatch, form: str, a: torch.Tensor, b: torch.Tensor) -> None:
    c = torch.zeros((a.shape[0], b.shape[1]), dtype=torch.float16)
    sizes, strides = (a.shape[0], b.shape[1], a.shape[1]), (*a.stride(), *b.stride(), *c.stride())
    down, across = -(-sizes[0] // BLOCK[0]), -(-sizes[1] // BLOCK[1])

    def launch(kernel: Any, **options: Any) -> Any:
        if form == "grouped":
            return kernel[(down * across,)](a, b, c, *sizes, *strides, *BLOCK, 2, **options)
        return kernel[(down, across)](a, b, c, sizes, strides, BLOCK, **options)

    same_bits(monkeypatch, getattr(kernels, form), launch, c)
    torch.testing.assert_close(c.float(), a.float() @ b.float(), rtol=1e-2, atol=1e-1)


@pytest.mark.parametrize("form", ["grouped", "masked", "blocks", "wide"])
@pytest.mark.parametrize("depth", [96, 16])
def test_forms(monkeypatch, form: str, depth: int) -> None:
    product(monkeypatch, form, random(384, depth), random(depth, 512))


@pytest.mark.parametrize("rows, columns", [(320, 528), (64, 512), (512, 48)])
def test_programs_between_that_load(monkeypatch, rows: int, columns: int) -> None:
    """Rows that wrap around are loaded, by loops ahead whose buffers lie in the memory of the copies' ones."""
    product(monkeypatch, "grouped", random(rows, 80), random(80, columns))


def test_one_program(monkeypatch) -> None:
    product(monkeypatch, "grouped", random(128, 64), random(64, 256))


def test_launches_that_cannot_copy(monkeypatch) -> None:
    """A matrix from its last row on: the launcher makes no map."""
    storage, b, c = random(256, 64), random(64, 256), torch.zeros((256, 256), dtype=torch.float16)
    last = storage[255:]

    def launch(kernel: Any, **options: Any) -> Any:
        return kernel[(2,)](last, b, c, 256, 256, 64, -64, 1, 256, 1, 256, 1, *BLOCK, 2, **options)

    same_bits(monkeypatch, kernels.grouped, launch, c)
    torch.testing.assert_close(c.float(), storage.flip(0).float() @ b.float(), rtol=1e-2, atol=1e-1)


def test_batches(monkeypatch) -> None:
    a, b = random(3, 128, 48), random(3, 48, 256)
    c = torch.zeros((3, 128, 256), dtype=torch.float16)

    def launch(kernel: Any, **options: Any) -> Any:
        strides = (a.stride(0), a.stride(1), b.stride(0), b.stride(1), c.stride(0), c.stride(1))
        return kernel[(1, 1, 3)](a, b, c, 128, 256, 48, *strides, *BLOCK, **options)

    same_bits(monkeypatch, kernels.batched, launch, c)


def test_numbers_of_programs(monkeypatch) -> None:
    a, b, seen = random(2, 384, 32), random(32, 512), torch.zeros(12, dtype=torch.int32)
    c = torch.zeros((2, 384, 512), dtype=torch.float16)

    def launch(kernel: Any, **options: Any) -> Any:
        return kernel[(3, 2, 2)](a, b, c, seen, 384, 512, 32, *BLOCK, **options)

    same_bits(monkeypatch, tile_loop_kernels.numbered, launch, c, seen)
    assert seen.tolist() == [x + 10 * y + 100 * z + 2000 for z in range(2) for y in range(2) for x in range(3)]
    torch.testing.assert_close(c.float(), a.float() @ b.float(), rtol=1e-2, atol=1e-1)


@pytest.mark.parametrize("depth, block", [(128, (128, 128)), (64, (128, 128)), (128, (128, 64))])
def test_products_that_a_loop_makes_new(monkeypatch, depth: int, block: tuple[int, int]) -> None:
    q, k, v = (torch.randn((3, 256, depth), generator=torch.Generator().manual_seed(s)).half() / 8 for s in (1, 2, 3))
    out = torch.zeros((3, 256, depth))

    def launch(kernel: Any, **options: Any) -> Any:
        return kernel[(2, 3)](q, k, v, out, 256, depth, *block, **options)

    same_bits(monkeypatch, tile_loop_kernels.attention, launch, out, stages=2)
    scores = torch.softmax(q.float() @ k.float().mT * 0.6931471805599453, -1)
    torch.testing.assert_close(out, scores @ v.float(), rtol=1e-2, atol=1e-3)


@pytest.mark.skipif(assembler.find() is None, reason="there is no ptxas here")
@pytest.mark.parametrize("depth, columns", [(128, 128), (64, 128), (128, 64)])
def test_the_assembler_keeps_products_in_flight(depth: int, columns: int) -> None:
    """What a loop over programs keeps leaves registers for them. Then the first matrix stays in shared memory."""
    x, out = torch.empty((3, 256, depth), dtype=torch.float16), torch.empty((3, 256, depth))
    kernel = triton.jit(tile_loop_kernels.attention.fn)
    made = kernel.warmup(x, x, x, out, 256, depth, 128, columns, grid=(2, 3), num_warps=8, num_stages=2)
    binary = made.asm.launched.binary
    assert loops(made) and binary.spill_stores == 0 and "serializ" not in binary.log.lower()


def test_empty_grid() -> None:
    c = torch.ones((128, 256), dtype=torch.float16)
    count = torch.zeros(4, dtype=torch.int32)
    arguments = random(128, 64), random(64, 256), c, count, 64, "none", *BLOCK
    assert loops(triton.jit(tile_loop_kernels.refused.fn)[(0,)](*arguments, **OPTIONS)) and c.all()


@pytest.mark.parametrize(
    "kind, options, expected",
    [
        ("none", {}, True),
        ("added", {}, True),
        ("asked", {}, False),
        ("none", {"num_warps": 4}, False),
        ("none", {"num_stages": 1}, False),
        ("none", {"launch_cooperative_grid": True}, False),
        ("none", {"maxnreg": 200}, False),
        ("stored before", {}, False),
        ("uneven", {}, False),
        ("assertion", {"debug": True}, False),
        ("print", {}, False),
        ("assembly", {}, False),
    ],
)
def test_kernels_that_have_none(kind: str, options: dict[str, Any], expected: bool) -> None:
    a, b, count = random(256, 64), random(64, 256), torch.zeros(4, dtype=torch.int32)
    c = torch.zeros((256, 256), dtype=torch.float16)
    kernel = triton.jit(tile_loop_kernels.refused.fn)
    compiled = kernel.warmup(a, b, c, count, 64, kind, *BLOCK, grid=(2,), **(OPTIONS | options))
    assert loops(compiled) == expected


def test_small_tiles_have_none(monkeypatch) -> None:
    """Two CTAs of them run beside each other."""
    a, b, count = random(256, 64), random(64, 128), torch.zeros(4, dtype=torch.int32)
    c = torch.zeros((256, 128), dtype=torch.float16)
    compiled = tile_loop_kernels.refused.warmup(a, b, c, count, 64, "none", 128, 128, 32, grid=(2,), **OPTIONS)
    assert not loops(compiled)


@pytest.mark.parametrize("columns, depth, expected", [(528, 64, True), (520, 64, False), (528, 72, False)])
def test_blocks_that_are_loaded_slowly(monkeypatch, columns: int, depth: int, expected: bool) -> None:
    """A program of the edge, which loads, has to be as fast as the others: by accesses of 16 bytes. Nothing is known of
    rows and masks as long as 520 and 72, which 16 does not divide."""
    a, b = random(256, depth), random(depth, columns)
    c = torch.zeros((256, columns), dtype=torch.float16)
    numbers = 256, columns, depth, *a.stride(), *b.stride(), *c.stride()
    kernel = triton.jit(kernels.grouped.fn)
    compiled = kernel.warmup(a, b, c, *numbers, *BLOCK, 2, grid=(6,), **OPTIONS)
    facts = compiled.asm.launched.facts
    assert loops(compiled) == expected and any(kind.startswith("copies<") for kind in facts["arguments"])


def test_memory_that_is_too_small(monkeypatch) -> None:
    """Four buffers and what a transposed result is stored through do not fit together: each CTA has one program."""
    a, b, count = random(256, 64), random(64, 256), torch.zeros(4, dtype=torch.int32)
    c = torch.zeros((256, 256), dtype=torch.float16)
    options = OPTIONS | {"num_stages": 4}

    def compiled(kind: str) -> Any:
        arguments = a, b, c, count, 64, kind, 128, 256, 64
        return triton.jit(tile_loop_kernels.refused.fn).warmup(*arguments, grid=(2,), **options)

    assert loops(compiled("none"))
    facts = compiled("transposed").asm.launched.facts
    assert facts["arguments"][-1].startswith("copies<")
    assert facts["num_warps"] == 8 and facts["shared"] <= 227 * 1024


def test_without_them(monkeypatch) -> None:
    """Where they are not wanted, and for launches that have one program for each CTA."""
    a, b, count = random(256, 64), random(64, 256), torch.zeros(4, dtype=torch.int32)
    c = torch.zeros((256, 256), dtype=torch.float16)

    def compiled() -> Any:
        arguments = a, b, c, count, 64, "none", *BLOCK
        return triton.jit(tile_loop_kernels.refused.fn).warmup(*arguments, grid=(2,), **OPTIONS)

    made = compiled()
    assert loops(made) and made.asm.launched_singly.facts["arguments"][-1].startswith("copies<")
    monkeypatch.setenv("TILETWIN_TILE_LOOPS", "0")
    assert compiled().asm.launched.facts["arguments"] == made.asm.launched_singly.facts["arguments"]


@pytest.mark.parametrize("rows, columns, warps", [(384, 256, 4), (320, 272, 4), (256, 512, 8)])
def test_loops_of_the_kernel(monkeypatch, rows: int, columns: int, warps: int) -> None:
    """flatten=True: copies go on between rounds; rounds whose rows wrap around load in the memory of the ring."""
    a, b, c = random(rows, 80), random(80, columns), torch.zeros((rows, columns), dtype=torch.float16)

    def result(schedule: str, flatten: bool, stages: int) -> tuple[Any, bytes]:
        monkeypatch.setenv("TILETWIN_SIM_SCHEDULE", schedule)
        c.fill_(7)
        numbers = rows, columns, 80, 128, 128, 32, flatten, 2
        kernel = triton.jit(tile_loop_kernels.persistent.fn)
        made = kernel[(2,)](a, b, c, *numbers, num_warps=warps, num_stages=stages)
        assert not checks.findings()
        return made.asm.launched, c.view(torch.uint8).numpy().tobytes()

    plain, expected = result("turns", False, 1)
    assert "twg.producer" not in plain["ttgir"]
    for schedule in SCHEDULES:
        made, found = result(schedule, True, 3)
        assert "twg.producer 4" in made["ttgir"] and made.facts["shared"] < 3 * (128 + 128) * 32 * 2 + 1024
        assert found == expected, schedule


@pytest.mark.parametrize("rows, columns, depth", [(384, 512, 96), (320, 528, 160), (128, 256, 64), (128, 256, 0)])
def test_rounds_without_a_hint(monkeypatch, rows: int, columns: int, depth: int) -> None:
    """Tiles that fill a multiprocessor: copies go on between rounds of a `while`, past stores and sums in memory."""
    a, b, c = random(rows, depth), random(depth, columns), torch.zeros((rows, columns))

    def result(schedule: str, stages: int) -> tuple[Any, bytes]:
        monkeypatch.setenv("TILETWIN_SIM_SCHEDULE", schedule)
        c.zero_()
        kernel = triton.jit(tile_loop_kernels.shares.fn)
        made = kernel[(2,)](a, b, c, rows, columns, depth, *BLOCK, 2, num_warps=8, num_stages=stages)
        assert not checks.findings()
        return made.asm.launched, c.view(torch.uint8).numpy().tobytes()

    plain, expected = result("turns", 1)
    assert "twg.producer" not in plain["ttgir"]
    torch.testing.assert_close(c, a.float() @ b.float(), rtol=1e-2, atol=1e-1)
    for schedule in SCHEDULES:
        made, found = result(schedule, 3)
        assert "twg.producer 4" in made["ttgir"]
        assert made.facts["shared"] < 3 * (128 + 256) * 32 * 2 + 1024  # sums go to memory from where they are
        assert found == expected, schedule


def test_which_rounds_have_a_producer() -> None:
    """Sixteen warps leave too few registers for one."""
    a, b, c = random(512, 64), random(64, 512), torch.zeros((512, 512))

    def made(rows: int, columns: int, warps: int) -> str:
        kernel, options = triton.jit(tile_loop_kernels.shares.fn), {"num_warps": warps, "num_stages": 3}
        return kernel.warmup(a, b, c, 512, 512, 64, rows, columns, 32, 2, grid=(2,), **options).asm.launched["ttgir"]

    assert "twg.producer" in made(128, 256, 8)
    assert "twg.producer" not in made(256, 256, 16) and "twg.producer" not in made(64, 256, 4)


@pytest.mark.parametrize("columns", [512, 272])
def test_a_block_that_is_copied_beside_one_that_is_loaded(monkeypatch, columns: int) -> None:
    """The ring of a descriptor's blocks is not free where the other matrix is loaded."""
    a, b, c = random(512, 96), random(96, columns), torch.zeros((512, columns), dtype=torch.float16)

    def launch(kernel: Any, **options: Any) -> Any:
        described = TensorDescriptor.from_tensor(a, [256, 32])
        grid = (2, -(-columns // 128))
        return kernel[grid](described, b, c, 512, columns, 96, 256, 128, 32, **options)

    same_bits(monkeypatch, tile_loop_kernels.one_described, launch, c)
    torch.testing.assert_close(c.float(), a.float() @ b.float(), rtol=1e-2, atol=1e-1)


def test_a_program_that_is_over_before_its_neighbour_looks(monkeypatch) -> None:
    """One iteration, and one box that both CTAs have: the first CTA copies it, and may be two programs ahead."""
    a, b, c = random(1024, 32), random(32, 512), torch.zeros((1024, 512), dtype=torch.float16)
    numbers = 1024, 512, 32, *a.stride(), *b.stride(), *c.stride()
    for seed in (2, 40, 41, 42):
        monkeypatch.setenv("TILETWIN_SIM_SCHEDULE", f"seed:{seed},copies=drawn")
        made = triton.jit(kernels.grouped.fn)[(16,)](a, b, c, *numbers, *BLOCK, 1, **OPTIONS, num_ctas=2)
        assert made.asm.launched.facts["cluster"] == 2 and not checks.findings()
        torch.testing.assert_close(c.float(), a.float() @ b.float(), rtol=1e-2, atol=1e-1)


def test_numbers_that_come_in_many_steps(monkeypatch) -> None:
    """It takes as long to look at them as there are steps, not twice as long for each."""
    a, b, c = random(512, 64), random(64, 256), torch.zeros((512, 256), dtype=torch.float16)

    def launch(kernel: Any, **options: Any) -> Any:
        return kernel[(4,)](a, b, c, 256, 64, 64, *BLOCK, **options)

    same_bits(monkeypatch, tile_loop_kernels.numbered_in_steps, launch, c)


def test_which_programs_run_in_pairs(monkeypatch) -> None:
    """Attention, and what asks for it; not what has no loop over programs."""

    def clusters(num_ctas: int, kernel: Any, *arguments: Any) -> tuple[int, list[str]]:
        options = {"num_warps": 8, "num_stages": 2, "num_ctas": num_ctas}
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            made = triton.jit(kernel.fn).warmup(*arguments, grid=(4,), **options)
            facts = made.asm.launched.facts
        return facts["cluster"], [str(w.message) for w in seen]

    a, b, c = random(256, 64), random(64, 512), torch.zeros((256, 512), dtype=torch.float16)
    numbers = 256, 512, 64, *a.stride(), *b.stride(), *c.stride()
    product = kernels.grouped, a, b, c, *numbers, *BLOCK, 2
    small = kernels.grouped, a, b, c, *numbers, 64, 64, 32, 2
    q = random(3, 256, 128)
    attention = tile_loop_kernels.attention, q, q, q, torch.zeros((3, 256, 128)), 256, 128, 128, 128
    assert clusters(1, *product) == (1, []) and clusters(2, *product) == (2, [])
    assert clusters(1, *attention) == (2, []) and clusters(2, *attention) == (2, [])
    ctas, (said,) = clusters(4, *product)
    assert ctas == 2 and said.startswith("num_ctas=4 is taken for num_ctas=2: ")
    ctas, said = clusters(2, *small)
    assert ctas == 1 and said[-1].startswith("num_ctas=2 changes nothing here: ")
    monkeypatch.setenv("TILETWIN_PAIRS", "0")
    assert clusters(1, *attention) == (1, [])


def test_grids_beyond_what_is_counted() -> None:
    assert copied_loads.ctas_of((1 << 20, 1 << 10, 1), 132, "f", 2) == (132, 1, 1)
    assert copied_loads.ctas_of((2, 3, 4), 132, "f", 2) == (24, 1, 1)
    with pytest.raises(ValueError, match=r"^f\(\): a grid of 1073742848 programs is larger than 1073741824$"):
        copied_loads.ctas_of(((1 << 20) + 1, 1 << 10, 1), 132, "f", 2)
