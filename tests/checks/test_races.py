"""TILETWIN_CHECK=races: programs that access the same bytes without order."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl
from memory_findings import findings_of, places, source


@triton.jit
def store_tiles(o_ptr, step, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    tl.store(o_ptr + pid * step + tl.arange(0, BLOCK), pid)


@pytest.mark.parametrize(("step", "raced"), [(64, 0), (128, 0), (63, 1), (32, 1), (0, 1)])
def test_tiles_that_overlap(step: int, raced: int) -> None:
    o = torch.zeros(1024, dtype=torch.int32)
    found = findings_of("races", lambda: store_tiles[(8,)](o, step, BLOCK=64))
    assert len(found) == raced
    for f in found:
        assert f.program == (0, 0, 0) and f.second.program == (1, 0, 0)
        assert f.operation == f.second.operation == "tl.store" and f.line == f.second.line
        assert f"element{'s' if step != 63 else ''} {step}" in f.message and "of o_ptr" in f.message


def test_the_same_value_is_said_to_be_harmless() -> None:
    @triton.jit
    def same(o_ptr, BLOCK: tl.constexpr):
        tl.store(o_ptr + tl.arange(0, BLOCK), 7)

    (found,) = findings_of("races", lambda: same[(8,)](torch.zeros(64, dtype=torch.int32), BLOCK=64))
    assert "write the same value" in found.message and "harmless" in found.advice
    (found,) = findings_of("races", lambda: store_tiles[(8,)](torch.zeros(64, dtype=torch.int32), 0, BLOCK=64))
    assert "write the same value" not in found.message


@triton.jit
def bytewise(o_ptr, STEP: tl.constexpr):
    pid = tl.program_id(0)
    tl.store(o_ptr + pid * STEP + tl.arange(0, 4), pid.to(tl.int8))


@pytest.mark.parametrize(("step", "raced"), [(4, 0), (3, 1)])
def test_bytes_count_not_words(step: int, raced: int) -> None:
    o = torch.zeros(64, dtype=torch.int8)
    assert len(findings_of("races", lambda: bytewise[(16,)](o, STEP=step))) == raced


@triton.jit
def shift(x_ptr, o_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    left = tl.load(x_ptr + offs - 1, mask=(offs > 0) & (offs < n), other=0.0)
    tl.store(o_ptr + offs, left, mask=offs < n)


def test_arguments_that_alias() -> None:
    x, o = torch.arange(256.0), torch.zeros(256)
    assert findings_of("races", lambda: shift[(4,)](x, o, 256, BLOCK=64)) == []
    found = findings_of("races", lambda: shift[(4,)](x, x, 256, BLOCK=64))
    assert places(found) == [
        (
            "tl.store(o_ptr + offs, left, mask=offs < n)",
            "left = tl.load(x_ptr + offs - 1, mask=(offs > 0) & (offs < n), other=0.0)",
        )
    ]
    assert (found[0].program, found[0].second.program) == ((0, 0, 0), (1, 0, 0))
    both = torch.zeros(512)
    assert findings_of("races", lambda: shift[(4,)](both[:256], both[256:], 256, BLOCK=64)) == []
    assert len(findings_of("races", lambda: shift[(4,)](both[:256], both[100:356], 256, BLOCK=64))) == 1


def test_views_that_overlap_in_rows() -> None:
    @triton.jit
    def rows(o_ptr, stride, WIDTH: tl.constexpr):
        tl.store(o_ptr + tl.program_id(0) * stride + tl.arange(0, WIDTH), 1.0)

    o = torch.zeros(8, 40)
    assert findings_of("races", lambda: rows[(8,)](o, o.stride(0), WIDTH=32)) == []
    assert len(findings_of("races", lambda: rows[(8,)](o, 31, WIDTH=32))) == 1


@triton.jit
def counted(o_ptr, ATOMIC: tl.constexpr, SCOPE: tl.constexpr):
    if ATOMIC:
        tl.atomic_add(o_ptr, 1, scope=SCOPE)
    else:
        tl.store(o_ptr, tl.load(o_ptr) + 1)


def test_atomics_and_their_scopes() -> None:
    def run(atomic, scope):
        return findings_of("races", lambda: counted[(16,)](torch.zeros(1, dtype=torch.int32), atomic, scope))

    assert run(True, "gpu") == run(True, "sys") == []
    (found,) = run(True, "cta")
    assert "scope" in found.advice
    (found,) = run(False, "gpu")  # of two stores, and of a store and a load
    assert "tl.atomic_add" in found.advice and "another program reads and writes" in found.message


@triton.jit
def swapped_ends(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    front = tl.load(x_ptr + offs)
    back = tl.load(x_ptr + n - 1 - offs)
    tl.store(x_ptr + n - 1 - offs, front)
    tl.store(x_ptr + offs, back)


@triton.jit
def two_sums(x_ptr, a_ptr, b_ptr, BLOCK: tl.constexpr):
    part = tl.sum(tl.load(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)))
    tl.store(a_ptr, tl.load(a_ptr) + part)
    for i in tl.static_range(3):
        tl.store(b_ptr + i, tl.load(b_ptr + i) + part)


def test_one_race_is_one_finding_with_all_its_places() -> None:
    (found,) = findings_of("races", lambda: swapped_ends[(4,)](torch.arange(256.0), 256, BLOCK=64))
    shown = {source(site) for site in (found, found.second, *found.more)}
    assert shown == {
        "front = tl.load(x_ptr + offs)",
        "back = tl.load(x_ptr + n - 1 - offs)",
        "tl.store(x_ptr + n - 1 - offs, front)",
        "tl.store(x_ptr + offs, back)",
    }
    assert all(source(site) in str(found) for site in found.more) and "atomic_add" not in found.advice
    assert "(1024 bytes in all)" in found.message


def test_races_that_share_no_place_are_findings_of_their_own() -> None:
    found = findings_of("races", lambda: two_sums[(4,)](torch.ones(256), torch.zeros(1), torch.zeros(3), BLOCK=64))
    assert [source(f) for f in found] == [
        "tl.store(a_ptr, tl.load(a_ptr) + part)",
        "tl.store(b_ptr + i, tl.load(b_ptr + i) + part)",  # three stores of one line
    ]
    assert all("tl.atomic_add" in f.advice for f in found)
    assert "writes element 0 of b_ptr" in found[1].message and "(12 bytes in all)" in found[1].message


def test_elements_do_not_depend_on_threads() -> None:
    texts = set()
    for threads in ("1", "2", "4"):
        for _ in range(3):
            x = torch.arange(4096.0)
            (found,) = findings_of(
                "races", lambda x=x: swapped_ends[(64,)](x, 4096, BLOCK=64), TILETWIN_NUM_THREADS=threads
            )
            texts.add(str(found))
    assert len(texts) == 1


def test_what_a_race_does_stands_in_its_finding() -> None:
    @triton.jit
    def last_one(o_ptr):
        tl.store(o_ptr, tl.program_id(0))

    (found,) = findings_of("races,order", lambda: last_one[(4,)](torch.zeros(1, dtype=torch.int32)))
    assert found.check == "races" and "is 3 if the programs run forward, and 0 if they run backward" in found.evidence
    assert f"it {found.evidence}" in str(found)
    (found,) = findings_of("order", lambda: last_one[(4,)](torch.zeros(1, dtype=torch.int32)))
    assert found.check == "order"


def test_a_plain_read_beside_atomics() -> None:
    @triton.jit
    def mixed(o_ptr, p_ptr, PLAIN: tl.constexpr):
        tl.atomic_add(o_ptr, 1)
        if PLAIN:
            tl.store(p_ptr + tl.program_id(0), tl.load(o_ptr))

    def run(plain):
        o, p = torch.zeros(1, dtype=torch.int32), torch.zeros(16, dtype=torch.int32)
        return findings_of("races", lambda: mixed[(16,)](o, p, plain))

    assert run(False) == []
    (found,) = run(True)
    assert found.operation == "tl.atomic_add" and found.second.operation == "tl.load"


@triton.jit
def hand_over(x_ptr, flag_ptr, o_ptr, RELEASE: tl.constexpr, ACQUIRE: tl.constexpr, PLAIN: tl.constexpr):
    offs = tl.arange(0, 32)
    if tl.program_id(0) == 0:
        tl.store(o_ptr + offs, tl.load(x_ptr + offs) * 2)
        if PLAIN:
            tl.store(flag_ptr, 1)
        else:
            tl.atomic_xchg(flag_ptr, 1, sem=RELEASE)
    else:
        while tl.atomic_add(flag_ptr, 0, sem=ACQUIRE) == 0:
            pass
        tl.store(o_ptr + 32 + offs, tl.load(o_ptr + offs) + 1)


@pytest.mark.parametrize(
    ("release", "acquire", "plain", "ordered"),
    [
        ("release", "acquire", False, True),
        ("acq_rel", "acq_rel", False, True),
        ("relaxed", "acquire", False, False),
        ("release", "relaxed", False, False),
        ("relaxed", "relaxed", False, False),
        ("release", "acquire", True, False),
    ],
)
@pytest.mark.parametrize("threads", ["1", "2"])
def test_flags(release: str, acquire: str, plain: bool, ordered: bool, threads: str) -> None:
    def run():
        x, o = torch.arange(32.0), torch.zeros(64)
        hand_over[(2,)](x, torch.zeros(1, dtype=torch.int32), o, release, acquire, plain)
        assert torch.equal(o[32:], x * 2 + 1)

    found = findings_of("races", run, TILETWIN_NUM_THREADS=threads)
    assert bool(found) == (not ordered)
    if not ordered and not plain:
        (f,) = found
        assert source(f).startswith("tl.store(o_ptr + offs, tl.load") and source(f.second).startswith(
            "tl.store(o_ptr + 32"
        )


@triton.jit
def locked(x_ptr, lock_ptr, o_ptr, EARLY: tl.constexpr, UNLOCK: tl.constexpr):
    offs = tl.arange(0, 32)
    x = tl.load(x_ptr + tl.program_id(0) * 32 + offs)
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    before = tl.load(o_ptr + offs)
    if EARLY:
        tl.atomic_xchg(lock_ptr, 0, sem=UNLOCK)
    tl.store(o_ptr + offs, before + x)
    if not EARLY:
        tl.atomic_xchg(lock_ptr, 0, sem=UNLOCK)


@pytest.mark.parametrize(
    ("early", "unlock", "ordered"),
    [(False, "release", True), (False, "acq_rel", True), (False, "relaxed", False), (True, "release", False)],
)
def test_locks(early: bool, unlock: str, ordered: bool) -> None:
    def run():
        x, o = torch.arange(512, dtype=torch.int32), torch.zeros(32, dtype=torch.int32)
        locked[(16,)](x, torch.zeros(1, dtype=torch.int32), o, early, unlock)

    assert bool(findings_of("races", run)) == (not ordered)


@triton.jit
def barrier(x_ptr, count_ptr, o_ptr, N: tl.constexpr, SEM: tl.constexpr):
    pid = tl.program_id(0)
    tl.store(x_ptr + pid, pid)
    tl.atomic_add(count_ptr, 1, sem=SEM)
    while tl.atomic_add(count_ptr, 0, sem=SEM) < N:
        pass
    tl.store(o_ptr + pid, tl.sum(tl.load(x_ptr + tl.arange(0, N))))


@pytest.mark.parametrize(("sem", "raced"), [("acq_rel", 0), ("relaxed", 1)])
def test_barriers_of_the_whole_grid(sem: str, raced: int) -> None:
    def run():
        x, o = torch.zeros(64, dtype=torch.int32), torch.zeros(64, dtype=torch.int32)
        barrier[(64,)](x, torch.zeros(1, dtype=torch.int32), o, 64, sem)
        assert (o == 64 * 63 // 2).all()

    assert len(findings_of("races", run)) == raced


def test_the_last_ticket() -> None:
    @triton.jit
    def reduce_last(x_ptr, part_ptr, ticket_ptr, o_ptr, N: tl.constexpr, SEM: tl.constexpr):
        pid = tl.program_id(0)
        tl.store(part_ptr + pid, tl.load(x_ptr + pid) * 2)
        if tl.atomic_add(ticket_ptr, 1, sem=SEM) == N - 1:
            tl.store(o_ptr, tl.sum(tl.load(part_ptr + tl.arange(0, N))))

    def run(sem):
        x, parts = torch.arange(32), torch.zeros(32, dtype=torch.int64)
        o, ticket = torch.zeros(1, dtype=torch.int64), torch.zeros(1, dtype=torch.int32)
        reduce_last[(32,)](x, parts, ticket, o, 32, sem)

    assert findings_of("races", lambda: run("acq_rel")) == []
    assert len(findings_of("races", lambda: run("relaxed"))) == 1


@triton.jit
def by_descriptor(o_ptr, N: tl.constexpr, STEP: tl.constexpr, ATOMIC: tl.constexpr):
    desc = tl.make_tensor_descriptor(o_ptr, [N, 16], [16, 1], [4, 16])
    block = tl.full((4, 16), 1.0, tl.float32)
    if ATOMIC:
        desc.atomic_add([tl.program_id(0) * STEP, 0], block)
    else:
        desc.store([tl.program_id(0) * STEP, 0], block)


@pytest.mark.parametrize(("step", "atomic", "raced"), [(4, False, 0), (3, False, 1), (3, True, 0), (40, False, 0)])
def test_tensor_descriptors(step: int, atomic: bool, raced: int) -> None:
    found = findings_of("races", lambda: by_descriptor[(8,)](torch.zeros(32, 16), 32, step, atomic))
    assert [f.operation for f in found] == ["descriptor.store"] * raced


@triton.jit
def by_block_pointer(o_ptr, N, STEP: tl.constexpr):
    block = tl.make_block_ptr(o_ptr, (N,), (1,), (tl.program_id(0) * STEP,), (32,), (0,))
    tl.store(block, tl.arange(0, 32), boundary_check=(0,))


@pytest.mark.parametrize(("step", "raced"), [(32, 0), (31, 1)])
def test_block_pointers(step: int, raced: int) -> None:
    o = torch.zeros(120, dtype=torch.int32)
    assert len(findings_of("races", lambda: by_block_pointer[(4,)](o, 120, step))) == raced


@triton.jit
def through_table(table_ptr):
    pointer = tl.load(table_ptr + tl.program_id(0)).to(tl.pointer_type(tl.int32))
    tl.store(pointer + tl.arange(0, 16), tl.program_id(0))


def test_pointers_in_memory() -> None:
    x, y = torch.zeros(16, dtype=torch.int32), torch.zeros(16, dtype=torch.int32)
    apart, together = torch.tensor([x.data_ptr(), y.data_ptr()]), torch.tensor([x.data_ptr(), x.data_ptr()])
    assert findings_of("races", lambda: through_table[(2,)](apart)) == []
    (found,) = findings_of("races", lambda: through_table[(2,)](together))
    assert found.operation == "tl.store" and "memory that is no argument" in found.message


def test_far_apart() -> None:
    @triton.jit
    def far(o_ptr, STEP: tl.constexpr):
        tl.store(o_ptr + tl.program_id(0).to(tl.int64) * STEP, 1)

    o = torch.zeros((1 << 31) + 4096, dtype=torch.int8)
    assert findings_of("races", lambda: far[(3,)](o, 1 << 30)) == []
    assert len(findings_of("races", lambda: far[(3,)](o, 0))) == 1


@triton.jit
def masked(o_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * (BLOCK // 2) + tl.arange(0, BLOCK)
    tl.store(o_ptr + offs, offs, mask=(tl.arange(0, BLOCK) < n) & (offs % 2 == 0))


@pytest.mark.parametrize(("n", "raced"), [(32, 0), (33, 1), (0, 0)])
def test_masked_off_lanes_touch_nothing(n: int, raced: int) -> None:
    o = torch.zeros(512, dtype=torch.int32)
    assert len(findings_of("races", lambda: masked[(4,)](o, n, BLOCK=64))) == raced


def test_the_same_findings_from_every_run() -> None:
    o = torch.zeros(100_000, dtype=torch.int32)

    def run():
        return [
            str(f)
            for f in findings_of("races", lambda: store_tiles[(3000,)](o, 33, BLOCK=64), TILETWIN_NUM_THREADS="2")
        ]

    first = run()
    assert len(first) == 1
    assert all(run() == first for _ in range(5))


def test_results_keep_their_bits() -> None:
    @triton.jit
    def softmax(x_ptr, o_ptr, COLS: tl.constexpr):
        at = tl.program_id(0) * COLS + tl.arange(0, COLS)
        x = tl.load(x_ptr + at)
        e = tl.exp(x - tl.max(x, 0))
        tl.store(o_ptr + at, e / tl.sum(e, 0))

    x = torch.randn(64, 128, generator=torch.Generator().manual_seed(0))
    off, on = torch.zeros_like(x), torch.zeros_like(x)
    softmax[(64,)](x, off, COLS=128)
    assert findings_of("all", lambda: softmax[(64,)](x, on, COLS=128)) == []
    assert torch.equal(off, on)
