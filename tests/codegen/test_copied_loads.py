"""Tiles of pointers that the hardware copies as blocks of a tensor: the same bits as loads by threads, and which
programs and launches copy.

Judge: the same kernel with loads as they are written; the simulator looks for races and missing waits."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import copied_load_kernels as kernels
import pytest
import tiletwin as triton
import torch
from copied_loads import Runs

FORMS = ("grouped", "masked", "blocks", "wide")


def random(rows: int, columns: int, dtype: torch.dtype, seed: int, pad: int = 0) -> torch.Tensor:
    """A matrix whose rows lie `pad` elements further apart than they must."""
    values = torch.randn((rows, columns + pad), generator=torch.Generator().manual_seed(seed))
    return values.to(dtype)[:, :columns]


def product(
    kernel: Any,
    a: torch.Tensor,
    b: torch.Tensor,
    c: torch.Tensor,
    block: tuple[int, int, int] = (64, 64, 32),
    **options: Any,
) -> Any:
    """A launch of one of FORMS."""
    sizes, strides = (a.shape[0], b.shape[1], a.shape[1]), (*a.stride(), *b.stride(), *c.stride())
    down, across, options = -(-sizes[0] // block[0]), -(-sizes[1] // block[1]), {"num_stages": 3, **options}
    if kernel.fn.__name__ == "grouped":
        return kernel[(down * across,)](a, b, c, *sizes, *strides, *block, 2, **options)
    return kernel[(down, across)](a, b, c, sizes, strides, block, **options)


def path(monkeypatch: pytest.MonkeyPatch, form: str, a: torch.Tensor, b: torch.Tensor, **options: Any) -> str:
    c = torch.zeros((a.shape[0], b.shape[1]))
    return Runs(monkeypatch, getattr(kernels, form), lambda kernel: product(kernel, a, b, c, **options), c).path()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("depth", [64, 48, 16])
def test_forms(monkeypatch, form: str, depth: int) -> None:
    a, b = random(128, depth, torch.float16, 1), random(depth, 64, torch.float16, 2)
    assert path(monkeypatch, form, a, b) == "copies"


@pytest.mark.parametrize("form", FORMS)
def test_transposed_operands(monkeypatch, form: str) -> None:
    a, b = random(96, 64, torch.bfloat16, 3).T, random(80, 96, torch.bfloat16, 4).T
    expected = {"grouped": "both", "wide": "copies"}.get(form, "copies")
    if form == "wide":
        b = random(128, 96, torch.bfloat16, 4).T
    assert path(monkeypatch, form, a, b) == expected


@pytest.mark.parametrize(
    "dtype, block",
    [
        (torch.float16, (64, 32, 64)),
        (torch.bfloat16, (128, 64, 16)),
        (torch.float32, (64, 64, 32)),
        (torch.float8_e4m3fn, (64, 64, 64)),
        (torch.float8_e5m2, (64, 32, 32)),
    ],
)
@pytest.mark.parametrize("transposed", [True, False])
def test_types(monkeypatch, dtype: torch.dtype, block: tuple[int, int, int], transposed: bool) -> None:
    a, b = random(128, 112, dtype, 5), random(64, 112, dtype, 6).T if transposed else random(112, 64, dtype, 6)
    assert path(monkeypatch, "grouped", a, b, block=block) == "copies"


def test_rows_that_wrap_around_are_loaded(monkeypatch) -> None:
    """The last programs read rows, or columns, of the beginning."""
    a, b = random(80, 64, torch.float16, 7), random(64, 128, torch.float16, 8)
    assert path(monkeypatch, "grouped", a, b) == "both"
    assert path(monkeypatch, "grouped", a[:48], b) == "loads"
    assert path(monkeypatch, "masked", a, b) == "copies"


def test_programs_beyond_the_last_block(monkeypatch) -> None:
    """More programs than blocks: sizes of groups below zero, rows that are anywhere."""
    a, b, c = random(64, 32, torch.float16, 9), random(32, 64, torch.float16, 10), torch.zeros((64, 64))

    def launch(kernel: Any) -> Any:
        return kernel[(2, 3)](a, b, c, (64, 64, 32), (32, 1, 64, 1, 64, 1), (64, 64, 32))

    assert Runs(monkeypatch, kernels.masked, launch, c).path() == "copies"


@pytest.mark.parametrize(
    "offset, pad, expected",
    [(0, 24, "copies"), (8, 24, "copies"), (0, 16, "copies"), (1, 24, "plain"), (0, 1, "loads")],
)
def test_what_the_hardware_cannot_reach(monkeypatch, offset: int, pad: int, expected: str) -> None:
    """A base that 16 bytes do not divide: another specialization, without copies. Of strides the launcher finds out: 16
    bytes divide many of which only multiples of 16 are known."""
    a = random(128, 64 + 8, torch.float16, 11, pad)[:, offset : offset + 64]
    assert path(monkeypatch, "grouped", a, random(64, 64, torch.float16, 12)) == expected


def test_strides_below_zero(monkeypatch) -> None:
    """A matrix from its last row on: the launcher makes no map, and the flag is 0."""
    storage, b, c = random(64, 64, torch.float16, 13), random(64, 64, torch.float16, 14), torch.zeros((64, 64))
    last = storage[63:]

    def launch(kernel: Any) -> Any:
        return kernel[(1,)](last, b, c, 64, 64, 64, -64, 1, 64, 1, 64, 1, 64, 64, 32, 2)

    runs = Runs(monkeypatch, kernels.grouped, launch, c)
    assert runs.path() == "loads"
    torch.testing.assert_close(c, storage.flip(0).float() @ b.float(), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("depth", [0, -5])
def test_nothing_along_k(monkeypatch, depth: int) -> None:
    a, b, c = random(64, 16, torch.float16, 15), random(16, 64, torch.float16, 16), torch.ones((64, 64))

    def launch(kernel: Any) -> Any:
        return kernel[(1,)](a, b, c, 64, 64, depth, 16, 1, 64, 1, 64, 1, 64, 64, 32, 2)

    assert Runs(monkeypatch, kernels.grouped, launch, c).path() in ("copies", "loads", "plain")
    assert not c.any()


def test_empty_grid(monkeypatch) -> None:
    a, b, c = random(64, 16, torch.float16, 15), random(16, 64, torch.float16, 16), torch.ones((64, 64))

    def launch(kernel: Any) -> Any:
        return kernel[(0,)](a, b, c, 0, 64, 16, 16, 1, 64, 1, 64, 1, 64, 64, 32, 2)

    Runs(monkeypatch, kernels.grouped, launch, c).path()
    assert c.all()


@pytest.mark.parametrize("rows", [64, 40])
def test_batches(monkeypatch, rows: int) -> None:
    a = torch.randn((3, rows, 48), generator=torch.Generator().manual_seed(17)).half()
    b, c = torch.randn((3, 48, 64), generator=torch.Generator().manual_seed(18)).half(), torch.zeros((3, rows, 64))

    def launch(kernel: Any) -> Any:
        strides = (a.stride(0), a.stride(1), b.stride(0), b.stride(1), c.stride(0), c.stride(1))
        return kernel[(1, 1, 3)](a, b, c, rows, 64, 48, *strides, 64, 64, 32)

    assert Runs(monkeypatch, kernels.batched, launch, c).path() == "copies"
    torch.testing.assert_close(c, torch.bmm(a.float(), b.float()), rtol=1e-3, atol=1e-3)


def test_strides_in_the_source(monkeypatch) -> None:
    a, b, c = random(100, 64, torch.float16, 19), random(64, 32, torch.float16, 20), torch.zeros((100, 32))

    def launch(kernel: Any) -> Any:
        return kernel[(2,)](a, b, c, 100, 64, 32, 64, 16)

    assert Runs(monkeypatch, kernels.fixed, launch, c).path() == "copies"


@pytest.mark.parametrize("kept", ["where", "minimum"])
@pytest.mark.parametrize("rows, columns, expected", [(128, 192, "copies"), (80, 144, "both"), (16, 16, "loads")])
def test_rows_that_are_kept_inside(monkeypatch, kept: str, rows: int, columns: int, expected: str) -> None:
    a, b = random(rows, 48, torch.float16, 31), random(48, columns, torch.float16, 32)
    c = torch.zeros((rows, columns))

    def launch(kernel: Any) -> Any:
        return kernel[(2,)](a, b, c, (rows, columns, 48), 2, kept, 64)

    assert Runs(monkeypatch, kernels.persistent, launch, c).path() == expected


@pytest.mark.parametrize("depth", [64, 320])
def test_blocks_from_the_last_one_on(monkeypatch, depth: int) -> None:
    a, b, c = random(64, depth, torch.float16, 41), random(depth, 128, torch.float16, 42), torch.zeros((64, 64))

    def launch(kernel: Any) -> Any:
        return kernel[(1,)](a, b, c, depth, 128, 64, num_stages=3)

    assert Runs(monkeypatch, kernels.backwards, launch, c).path() == "copies"
    torch.testing.assert_close(c, a.float() @ b[:, 64:].float(), rtol=1e-3, atol=1e-3)


def test_tiles_beside_the_blocks_are_copied_too(monkeypatch) -> None:
    """By threads. Of the two loops one runs, so the memory of the other one does not count."""
    a, b, d = random(64, 256, torch.float16, 43), random(256, 64, torch.float16, 44), random(256, 64, torch.float16, 45)
    c = torch.zeros((320, 64))

    def launch(kernel: Any) -> Any:
        return kernel[(1,)](a, b, d, c, 256, 64, num_stages=7)

    compiled, copied = Runs(monkeypatch, kernels.beside, launch, c).once(True)
    assert copied == Runs(monkeypatch, kernels.beside, launch, c).once(False)[1]
    ttgir = compiled.asm.launched["ttgir"]
    assert "twg.tensor_load" in ttgir and "tt.load" not in ttgir[ttgir.index("} else {") :]
    parts = [a[:, k : k + 64].float() @ b[k : k + 64].float() + d[k : k + 64].float() for k in range(0, 256, 64)]
    torch.testing.assert_close(c[:256], torch.cat(parts), rtol=1e-3, atol=1e-2)
    sums = sum(part.half().float() @ b[64 * i : 64 * i + 64].float() for i, part in enumerate(parts))
    torch.testing.assert_close(c[256:], sums, rtol=1e-2, atol=1e-1)


@pytest.mark.parametrize("stages", [2, 3, 4])
def test_copies_beside_rings_fit_into_shared_memory(monkeypatch, stages: int) -> None:
    """All slots of the ring count."""
    monkeypatch.setenv("TILETWIN_BACKEND", "sim")
    a, b, d = (random(*shape, torch.float16, 1) for shape in ((128, 64), (64, 256), (128, 64)))
    c, kernel = torch.zeros((128, 256)), triton.jit(kernels.scaled.fn)
    made = kernel.warmup(a, b, d, c, 64, 128, 256, 64, grid=(1,), num_warps=8, num_stages=stages)
    assert "twg.tensor_load" in made.asm.launched["ttgir"] and made.asm.launched.facts["shared"] <= 227 * 1024


def test_copies_begin_as_soon_as_their_places_are_known(monkeypatch) -> None:
    """Behind one barrier, that of the barriers in shared memory. Nothing has been written that copies had to see."""
    monkeypatch.setenv("TILETWIN_BACKEND", "sim")
    a, b, c = random(128, 64, torch.float16, 46), random(64, 64, torch.float16, 47), torch.zeros((128, 64))
    ptx = product(triton.jit(kernels.grouped.fn), a, b, c).asm.launched["ptx"]
    before = ptx[: ptx.index("cp.async.bulk.tensor")]
    assert before.count("bar.sync") == 1 and before.count("fence.proxy.async") == 1
    assert "fence.proxy.async.shared::cta" in before and before.index("prefetch.tensormap") < before.index("div.s32")


@pytest.mark.parametrize("middle, step", [(64, 64), (0, 64), (128, 64), (150, 50), (-7, 3)])
def test_loops_that_go_on(monkeypatch, middle: int, step: int) -> None:
    """The second loop begins where the first one ended, after any number of rounds. One that begins below 0 loads."""
    a, b, c = random(64, 256, torch.float16, 33), random(512, 64, torch.float16, 34), torch.zeros((64, 64))

    def launch(kernel: Any) -> Any:
        return kernel[(1,)](a, b, c, 192, middle, 64, step, 64)

    ran = Runs(monkeypatch, kernels.halves, launch, c).path()
    assert ran in (("loads",) if middle < 0 else ("copies", "both"))


@pytest.mark.parametrize(
    "table, expected", [((0, 64, 192), "copies"), ((0, 40, 168), "both"), ((0, 40, 40), "loads"), ((0, 0, 0), "copies")]
)
def test_bounds_from_memory(monkeypatch, table: tuple[int, ...], expected: str) -> None:
    """Tiles inside of them are copied, a cut one is loaded."""
    starts, a = torch.tensor(table, dtype=torch.int32), random(192, 64, torch.float16, 38)
    b, c = torch.stack([random(64, 64, torch.float16, seed) for seed in (39, 40)]), torch.zeros((192, 64))

    def launch(kernel: Any) -> Any:
        return kernel[(2,)](starts, a, b, c, 64, 64, 64, 64, 32)

    assert Runs(monkeypatch, kernels.groups_of_rows, launch, c).path() == expected
    for group, (first, end) in enumerate(pairwise(table)):
        torch.testing.assert_close(c[first:end], a[first:end].float() @ b[group].float(), rtol=1e-3, atol=1e-3)


def test_attention(monkeypatch) -> None:
    q, k, v = (torch.randn((2, 256, 64), generator=torch.Generator().manual_seed(s)).half() / 8 for s in (35, 36, 37))
    out = torch.zeros((2, 256, 64))

    def launch(kernel: Any) -> Any:
        return kernel[(2, 2)](q, k, v, out, 256, 64, 128, 64)

    assert Runs(monkeypatch, kernels.attention, launch, out).path() == "copies"


@pytest.mark.parametrize(
    "kind",
    "other volatile written odd table diagonal either asked waited barrier none added stored".split(),
)
def test_loads_that_are_no_copies(monkeypatch, kind: str) -> None:
    """From sums in memory a program learns of others only if it asks for what was there before. If it writes one
    operand, the other one is copied alone."""
    a, b, c = random(256, 128, torch.float16, 21), random(64, 64, torch.float16, 22), torch.zeros((64, 64))

    def launch(kernel: Any) -> Any:
        return kernel[(1,)](a, b, c, 64, 64, 64, 128, 64, 64, kind, 64, num_stages=3)

    assert Runs(monkeypatch, kernels.product_of, launch, c).path() == (
        "copies" if kind in ("none", "added", "stored", "written") else "plain"
    )


def test_loops_of_one_stage_are_left_alone(monkeypatch) -> None:
    a, b = random(64, 64, torch.float16, 23), random(64, 64, torch.float16, 24)
    assert path(monkeypatch, "grouped", a, b, num_stages=1) == "plain"


def test_what_others_launch_has_the_kernels_own_arguments(monkeypatch) -> None:
    a, b, c = random(64, 64, torch.float16, 25), random(64, 64, torch.float16, 26), torch.zeros((64, 64))
    compiled, _ = Runs(monkeypatch, kernels.grouped, lambda kernel: product(kernel, a, b, c), c).once(True)
    own, launched = compiled.asm, compiled.asm.launched
    assert len(own.facts["arguments"]) == 9
    assert launched.facts["arguments"][:9] == own.facts["arguments"] and len(launched.facts["arguments"]) == 12
    assert own["ptx"].count(".param ") == launched["ptx"].count(".param ") - 3
    assert "cp.async.bulk.tensor" not in own["ptx"]
