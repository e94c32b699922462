"""Mistakes planted in the protocols of tiletwin's own pipelined code are found: by a check, an error, or other values.

Here:      every wait, barrier, arrival, commit and fence dropped in turn; waits that leave one group more; stages
           released one step early; phases inverted. Without mistakes the code stays silent under the same schedules.
Not here:  what the code looks like (test_dots_in_flight.py, test_pipelined_tensor_copies.py), schedules (tests/sim).
Invariant: what is not found is listed with the reason why it is no mistake.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import copied_load_kernels as copied
import numpy as np
import pytest
import test_dots_in_flight as dots
import test_gradients
import test_pipelined_tensor_copies as tensor_copies
import test_turns as turns
import tiletwin as triton
import tiletwin.checks
import tiletwin.language as tl
import tiletwin.sim
import torch
from tiletwin.tools.tensor_descriptor import TensorDescriptor

SCHEDULES = ("turns", "copies=early", "seed:1,copies=drawn", "seed:2,copies=drawn", "seed:3,copies=late")
LIMIT = 3_000_000


class Program(NamedTuple):
    ptx: str
    entry: str
    shared: int
    arguments: Callable[[], tuple[list[Any], np.ndarray]]
    """Those of a launch, and which of them is the result."""
    ctas: int = 1


def _random(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float16)


def _compiled(code: dict[str, Any], arguments: Callable[[], tuple[list[Any], np.ndarray]]) -> Program:
    return Program(code["ptx"], code["metadata"]["name"], code["metadata"]["shared"], arguments)


def copied_matmul(_: pytest.MonkeyPatch) -> Program:
    """cp.async in groups, products in flight across iterations."""
    signature = dots.matmul_signature("fp16", 64, 64, 32, True, epilogue=1, out="fp16")
    code = dots.code_of(dots.matmul, signature, num_warps=4, num_stages=3)
    a, b = _random(64, 256), _random(256, 64)

    def arguments() -> tuple[list[Any], np.ndarray]:
        c = np.zeros(64 * 64, np.float16)
        return [a.reshape(-1), b.reshape(-1), c, 256, 256, 64], c

    return _compiled(code, arguments)


def attention(_: pytest.MonkeyPatch) -> Program:
    """cp.async in groups, two products an iteration, of which the second one is in flight across iterations."""
    signature = "*fp16:16, *fp16:16, *fp16:16, *fp32:16, i32, 64, 64, 32"
    code = dots.code_of(dots.attention, signature, num_warps=4, num_stages=3)
    q, k, v = _random(64, 64), _random(224, 64), _random(225, 64)[1:]

    def arguments() -> tuple[list[Any], np.ndarray]:
        out = np.zeros(64 * 64, np.float32)
        return [*(x.reshape(-1) for x in (q, k, v)), out, 224], out

    return _compiled(code, arguments)


def _described(kernel: Any, rows: int, scalars: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> Program:
    """A product with tensor maps, rows by 64. scalars: the kernel's, the sum's length first."""
    length = scalars[0]
    a, b = _random(rows, length), _random(64, length)
    blocks = (64, 32), (64, 32), (64, 64)
    tensors = torch.from_numpy(a), torch.from_numpy(b), torch.zeros((rows, 64))
    maps = [TensorDescriptor.from_tensor(t, list(block)) for t, block in zip(tensors, blocks, strict=True)]
    monkeypatch.setenv("TILETWIN_BACKEND", "sim")
    compiled = kernel[(1,)](*maps, *scalars, 64, 64, 32, num_stages=3, num_warps=4)
    return _of_maps(compiled, (a, b), (rows, 64), scalars)


def _of_maps(
    compiled: Any, read: tuple[np.ndarray, ...], written: tuple[int, int], scalars: tuple[float, ...]
) -> Program:
    """A launch with the maps of what it reads and of its result, float32, then scalars."""
    kinds = [re.fullmatch(r"tensormap<\w+, (\d+)x(\d+), (\d+)>", kind) for kind in compiled.asm.facts["arguments"]]
    boxes = [tuple(map(int, kind.groups())) for kind in kinds if kind]

    def arguments() -> tuple[list[Any], np.ndarray]:
        c = np.zeros(written, np.float32)
        described = (
            (tiletwin.sim.tensor_map(t, (box[1], box[0]), swizzle=box[2]), *t.shape, t.shape[1], 1)
            for t, box in zip((*read, c), boxes, strict=True)
        )
        return [*itertools.chain(*described), *scalars], c

    return Program(compiled.asm["ptx"], compiled.asm.facts["name"], compiled.asm.facts["shared"], arguments)


def tensor_matmul(monkeypatch: pytest.MonkeyPatch) -> Program:
    """A ring of stages that TMA fills and mbarriers guard; the result leaves by TMA."""
    return _described(tensor_copies.multiply, 64, (256,), monkeypatch)


@triton.jit
def produced(a, b, c, K, M, N, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    for row in tl.range(0, M, BM, warp_specialize=True):
        for column in range(0, N, BN):
            sums = tl.zeros((BM, BN), tl.float32)
            for k in range(0, K, BK):
                sums = tl.dot(a.load([row, k]), b.load([column, k]).T, sums)
            c.store([row, column], sums.to(c.dtype))


def softmax_in_turns(monkeypatch: pytest.MonkeyPatch) -> Program:
    """A ring for each operand, and two groups of warps that take turns at the tensor cores."""
    q, k, v = _random(128, 64), _random(512, 64), _random(513, 64)[1:]
    tensors = [torch.from_numpy(x) for x in (q, k, v)] + [torch.zeros((128, 64))]
    monkeypatch.setenv("TILETWIN_BACKEND", "sim")
    maps = [TensorDescriptor.from_tensor(t, [128, 64]) for t in tensors]
    compiled = turns.described[(1,)](*maps, 512, 0.125, 128, 128, 64, num_stages=2, num_warps=8)
    return _of_maps(compiled, (q, k, v), (128, 64), (512, 0.125))


def gradients(monkeypatch: pytest.MonkeyPatch) -> Program:
    """A ring for tiles and lines together, which products in flight and threads read; four products an iteration."""
    q, k, v, do = _random(320, 64), _random(128, 64), _random(129, 64)[1:], _random(321, 64)[1:]
    lines = _random(2, 320).astype(np.float32)
    monkeypatch.setenv("TILETWIN_BACKEND", "sim")
    tensors = [torch.from_numpy(x) for x in (q, k, v, do, lines)] + [torch.zeros((256, 64))]
    blocks = (64, 64), (128, 64), (128, 64), (64, 64), (1, 64), (128, 64)
    maps = [TensorDescriptor.from_tensor(t, list(block)) for t, block in zip(tensors, blocks, strict=True)]
    compiled = test_gradients.described[(1,)](*maps, 320, 0.125, 64, 64, 128, num_stages=2, num_warps=8)
    return _of_maps(compiled, (q, k, v, do, lines), (256, 64), (320, 0.125))


def produced_matmul(monkeypatch: pytest.MonkeyPatch) -> Program:
    """A ring that warps of their own fill, ahead into the next block of the result; the result leaves by TMA."""
    return _described(produced, 128, (64, 128, 128), monkeypatch)


def looped_matmul(monkeypatch: pytest.MonkeyPatch) -> Program:
    """A CTA that runs four programs; two of them load what is copied for the others, in the memory of the ring."""
    return _looped(monkeypatch, 200, 512, 1)


def paired_matmul(monkeypatch: pytest.MonkeyPatch) -> Program:
    """Two CTAs that copy for each other blocks of `b`, at last of `a`. Between such rounds, and where a program has no
    neighbour, they load in the memory of the ring."""
    return _looped(monkeypatch, 640, 528, 2)


def _looped(monkeypatch: pytest.MonkeyPatch, rows: int, columns: int, ctas: int) -> Program:
    length, block = 112, (128, 256, 16)
    programs = -(-rows // block[0]) * -(-columns // block[1])
    a, b = _random(rows, length), _random(length, columns)
    numbers = rows, columns, length, length, 1, columns, 1, columns, 1
    monkeypatch.setenv("TILETWIN_BACKEND", "sim")
    monkeypatch.setenv("TILETWIN_TILE_LOOPS", "1")
    tensors = (*map(torch.from_numpy, (a, b)), torch.zeros((rows, columns), dtype=torch.float16))
    options = {"num_stages": 3, "num_warps": 8, "num_ctas": ctas}
    code = copied.grouped[(programs,)](*tensors, *numbers, *block, 2, **options).asm.launched
    assert code.facts["cluster"] == ctas
    kinds = [re.match(r"tensormap<\w+, (\d+)x(\d+), (\d+);", kind) for kind in code.facts["arguments"]]
    boxes = [tuple(map(int, kind.groups())) for kind in kinds if kind]

    def arguments() -> tuple[list[Any], np.ndarray]:
        c = np.zeros((rows, columns), np.float16)
        maps = [
            tiletwin.sim.tensor_map(t, box[1::-1], swizzle=f"{box[2]}B") for t, box in zip((a, b), boxes, strict=True)
        ]
        own = [x.reshape(-1) for x in (a, b, c)] + [n for n in numbers if n != 1]
        return [*own, *maps, 1, programs, 1, 1], c

    return Program(code["ptx"], code.facts["name"], code.facts["shared"], arguments, ctas)


PROGRAMS = {
    "copied_matmul": copied_matmul,
    "attention": attention,
    "tensor_matmul": tensor_matmul,
    "produced_matmul": produced_matmul,
    "softmax_in_turns": softmax_in_turns,
    "looped_matmul": looped_matmul,
    "paired_matmul": paired_matmul,
    "gradients": gradients,
}


@functools.cache
def program(name: str) -> Program:
    with pytest.MonkeyPatch.context() as monkeypatch:
        return PROGRAMS[name](monkeypatch)


def run(made: Program, text: str, schedule: str) -> tuple[str, bytes]:
    """How a text was found to be wrong (empty: it was not), and its result."""
    tiletwin.checks.clear()
    arguments, result = made.arguments()
    try:
        kernel = tiletwin.sim.load(text, contract=False)[made.entry]
        kernel(*arguments, grid=made.ctas, shared=made.shared, checks="all", limit=LIMIT, schedule=schedule)
    except tiletwin.sim.PtxError:
        raise
    except Exception as error:
        return f"error: {type(error).__name__}", result.tobytes()
    found = sorted({finding.check for finding in tiletwin.checks.findings()})
    tiletwin.checks.clear()
    return f"checks: {', '.join(found)}" if found else "", result.tobytes()


class Mistake(NamedTuple):
    what: str
    line: int
    """From 0."""
    text: str
    """The program with it."""


DROPPED = re.compile(
    r"\s(bar\.sync|bar\.arrive|barrier\.sync\S*|barrier\.cluster\S*|cp\.async\.(wait_group|wait_all|commit_group|bulk\.wait_group\S*|bulk\.commit_group)"
    r"|wgmma\.(wait_group|commit_group|fence)\S*|mbarrier\.(init|arrive\S*)\S*|fence\.\S+)"
)
WAITS = re.compile(r"(wgmma\.wait_group\S*|cp\.async\.(?:bulk\.)?wait_group\S*)\s+(\d+);")
PHASE = re.compile(r"(waiting: mbarrier\.try_wait\.parity\S* done, \[%\w+\]), (%\w+);")
BARRIER = re.compile(r"\s(bar\.sync|barrier\.sync)")


def mistakes(ptx: str) -> Iterator[Mistake]:
    lines = ptx.splitlines()

    def changed(what: str, at: int, line: str, *later: tuple[int, str]) -> Mistake:
        new = list(lines)
        new[at] = line
        for place, put in later:
            new.insert(place, put)
        return Mistake(what, at, "\n".join(new) + "\n")

    for at, line in enumerate(lines):
        if DROPPED.search(line):
            yield changed("dropped", at, "")
        if found := WAITS.search(line):
            yield changed("one more may stay", at, f"{found[1]} {int(found[2]) + 1};")
            barrier = next((i for i in range(at, min(at + 8, len(lines))) if BARRIER.search(lines[i])), None)
            if barrier is not None:
                yield changed("one step early", at, "", (barrier + 1, line))
        if found := PHASE.search(line):
            inverted = f"{{ .reg .b32 other; xor.b32 other, {found[2]}, 1; {found[1][9:]}, other;"
            yield changed("phase inverted", at, line.replace(found[0], "waiting: " + inverted) + " }")
            yield changed("wait dropped", at, "")


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_code_itself_is_silent(name: str) -> None:
    made = program(name)
    outcomes = {
        run(made, made.ptx, schedule) for schedule in (*SCHEDULES, *(f"seed:{i},copies=drawn" for i in range(5)))
    }
    assert len(outcomes) == 1 and not next(iter(outcomes))[0]


def is_found(made: Program, text: str, right: bytes) -> bool:
    return any(found or result != right for found, result in (run(made, text, schedule) for schedule in SCHEDULES))


AROUND_PRODUCED_LOOP = [
    # Of new barriers (see produced_matmul), and where memory that nobody has used is filled.
    ("dropped", "fence.proxy.async.shared::cta;"),
    ("dropped", "fence.proxy.async.shared::cta;"),
    # In front of the loop no product is in flight.
    ("dropped", "wgmma.wait_group.sync.aligned 0;"),
    ("one more may stay", "wgmma.wait_group.sync.aligned 0;"),
    # Behind the loop nobody fills the last slot again.
    ("dropped", "@%p mbarrier.arrive.shared::cta.b64 _, [%r];"),
]
"""Of a loop that is not in another one, whose copies warps of their own begin."""

WAITING = (
    "{ .reg .pred done; waiting: mbarrier.try_wait.parity.shared::cta.b64 done, [%r], %r; @!done bra.uni waiting; }"
)
NEEDLESS = {
    "copied_matmul": [
        # In front of the loop no product is in flight, and behind it no copy; the result is stored from registers.
        ("dropped", "wgmma.wait_group.sync.aligned 0;"),
        ("one more may stay", "wgmma.wait_group.sync.aligned 0;"),
        ("one step early", "wgmma.wait_group.sync.aligned 0;"),
        ("dropped", "cp.async.wait_group 0;"),
        ("one more may stay", "cp.async.wait_group 0;"),
        ("one step early", "cp.async.wait_group 0;"),
        ("dropped", "bar.sync 0;"),
    ],
    "attention": [
        # Nobody has used the memory through which Q goes to its registers.
        ("dropped", "bar.sync 0;"),
        # In front of the loop no product is in flight.
        ("dropped", "wgmma.wait_group.sync.aligned 0;"),
        ("one more may stay", "wgmma.wait_group.sync.aligned 0;"),
        ("one step early", "wgmma.wait_group.sync.aligned 0;"),
        # Behind the loop no copy is in flight, and nobody writes to shared memory.
        ("one step early", "wgmma.wait_group.sync.aligned 0;"),
        ("dropped", "cp.async.wait_group 0;"),
        ("one more may stay", "cp.async.wait_group 0;"),
        ("one step early", "cp.async.wait_group 0;"),
        ("dropped", "bar.sync 0;"),
    ],
    "tensor_matmul": [
        # In front of the loop no product is in flight.
        ("dropped", "wgmma.wait_group.sync.aligned 0;"),
        ("one more may stay", "wgmma.wait_group.sync.aligned 0;"),
        # New barriers, as below.
        ("dropped", "fence.proxy.async.shared::cta;"),
    ],
    "produced_matmul": [
        # In front of the loop no product is in flight.
        ("dropped", "wgmma.wait_group.sync.aligned 0;"),
        ("one more may stay", "wgmma.wait_group.sync.aligned 0;"),
        # The tensor unit sees new barriers behind one; the simulator lets it see them anyway.
        ("dropped", "fence.proxy.async.shared::cta;"),
    ],
    "softmax_in_turns": AROUND_PRODUCED_LOOP,
    "gradients": AROUND_PRODUCED_LOOP,
    "looped_matmul": [
        # New barriers, as above.
        ("dropped", "fence.proxy.async.shared::cta;"),
        # In front of both loops no product is in flight.
        *[("dropped", "wgmma.wait_group.sync.aligned 0;")] * 2,
        *[("one more may stay", "wgmma.wait_group.sync.aligned 0;")] * 2,
        # A program that loads begins behind the products of the one before. It ends with its last product in flight
        # alone, and with what the loop has made visible. Each warp arrives.
        ("dropped", "fence.proxy.async.shared::cta;"),
        ("one step early", "wgmma.wait_group.sync.aligned 0;"),
        ("dropped", "cp.async.wait_group 0;"),
        ("one more may stay", "cp.async.wait_group 0;"),
        ("one step early", "cp.async.wait_group 0;"),
        ("dropped", "fence.proxy.async.shared::cta;"),
        *[("dropped", "bar.sync 1, 256;")] * 2,
        # The program waits for the producer before it loads, which is behind by two programs in no schedule here.
        ("wait dropped", WAITING),
    ],
}
# The clusters' meeting behind new barriers is one of all threads, too.
NEEDLESS["paired_matmul"] = [*NEEDLESS["looped_matmul"], ("dropped", "bar.sync 0;")]
"""What the code does not need: without it nothing is wrong."""


def instruction(made: Program, mistake: Mistake) -> str:
    """Without the numbers of its registers."""
    return re.sub(r"(%[a-z]+)\d+", r"\1", " ".join(made.ptx.splitlines()[mistake.line].split()))


@pytest.mark.parametrize("name", PROGRAMS)
def test_planted_mistakes_are_found(name: str, record_property: Any) -> None:
    made = program(name)
    right = run(made, made.ptx, "turns")[1]
    planted = list(mistakes(made.ptx))
    missed = [mistake for mistake in planted if not is_found(made, mistake.text, right)]
    record_property(
        "summary",
        f"found {len(planted) - len(missed)} of {len(planted)} mistakes, {len(NEEDLESS[name])} are none",
    )
    assert sorted((mistake.what, instruction(made, mistake)) for mistake in missed) == sorted(NEEDLESS[name])


LATE = (
    "{{ .reg .pred early; .reg .b32 left; mov.u32 left, %tid.x; setp.lt.u32 early, left, 256; mov.u32 left, {turns}; "
    "@early bra.uni late; later: sub.u32 left, left, 1; setp.ne.u32 early, left, 0; @early bra.uni later; late: }}\n"
)


@pytest.mark.parametrize("name", ["produced_matmul", "looped_matmul", "paired_matmul"])
@pytest.mark.parametrize("rank", [None, 1])
def test_a_producer_that_looks_late(name: str, rank: int | None) -> None:
    """It sees the end of each phase that it waits for, however far the program is, or the other CTA's producer."""
    made = program(name)
    late = LATE.format(turns=2000)
    if rank is not None:
        late = late.replace(
            "%tid.x; setp.lt.u32 early, left, 256;", f"%cluster_ctarank; setp.ne.u32 early, left, {rank};"
        )
    outcome, result = run(made, made.ptx.replace(WAITING[:26], late + WAITING[:26]), "turns")
    assert not outcome and result == run(made, made.ptx, "turns")[1]
