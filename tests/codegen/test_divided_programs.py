"""Programs that two CTAs run together (num_ctas=2 for sm_100a): the bits that one CTA gives, and which kernels are so.

With eight warps sums of rows may be added up in another order than in one CTA, as with another number of warps.

Here:      products of all types, what is computed from them and what stands beside them, refusals, planted mistakes.
Not here:  tensor memory of one CTA (test_tensor_memory.py), CTAs that run neighbouring programs (test_tile_loops.py).
Invariant: each launch runs with all checks, under several schedules, and ptxas takes the code.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import divided_kernels as kernels
import pytest
import small_kernels
import tiletwin as triton
import torch
from tiletwin import checks
from tiletwin.codegen import generator
from tiletwin.launch import sim_launch
from tiletwin.sim.check_words import CHECKS
from tiletwin.tools.tensor_descriptor import TensorDescriptor

SCHEDULES = ("turns", "copies=early", "seed:1,copies=drawn", "seed:2,copies=late")
TYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "e4m3": torch.float8_e4m3fn}
Launch = Callable[..., Any]


@pytest.fixture(autouse=True)
def on_simulator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sim_launch, "chosen_checks", lambda _: CHECKS)
    monkeypatch.setenv("TILETWIN_BACKEND", "sim")
    checks.clear()


def draw(*shape: int, kind: str = "f16") -> torch.Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randint(-3, 4, shape, generator=generator).to(TYPES[kind])


def ran(kernel: Any, launch: Launch, outs: tuple[torch.Tensor, ...], **options: Any) -> tuple[Any, list[bytes]]:
    for out in outs:
        out.fill_(7)
    compiled = launch(triton.jit(kernel.fn), arch="sm_100a", **{"num_warps": 4, "num_stages": 3, **options})
    assert not checks.findings()
    return compiled, [out.contiguous().view(torch.uint8).numpy().tobytes() for out in outs]


def same_bits(
    monkeypatch: pytest.MonkeyPatch,
    kernel: Any,
    launch: Launch,
    *outs: torch.Tensor,
    ways: tuple[str, ...] = SCHEDULES,
    **options: Any,
) -> dict[str, str]:
    """Asserts that two CTAs give what one gives; returns the texts of their code."""
    _, want = ran(kernel, launch, outs, num_ctas=1, **options)
    for schedule in ways:
        monkeypatch.setenv("TILETWIN_SIM_SCHEDULE", schedule)
        compiled, got = ran(kernel, launch, outs, num_ctas=2, **options)
        assert got == want, schedule
    code = compiled.asm.launched
    assert code.facts["program_ctas"] == code.facts["cluster"] == 2
    small_kernels.assemble(code["ptx"], "sm_100a")
    return {"ptx": code["ptx"], "ttgir": code["ttgir"]}


PRODUCTS = [
    ("f16", (256, 128, 64), (512, 320, 136), "row row", 3, 4),
    ("f16", (256, 32, 32), (300, 40, 96), "row column", 2, 4),
    ("f16", (512, 128, 32), (600, 128, 64), "column row", 1, 8),
    ("bf16", (256, 256, 32), (256, 264, 64), "column column", 4, 8),
    ("e4m3", (256, 64, 64), (512, 64, 192), "row column", 3, 4),
    ("e4m3", (256, 64, 64), (256, 64, 128), "row row", 2, 4),
    ("f32", (256, 64, 32), (256, 72, 68), "row column", 3, 8),
]


@pytest.mark.parametrize(
    ("kind", "blocks", "sizes", "ways", "stages", "warps", "hints"),
    [(*case, hints) for case in PRODUCTS for hints in (False, True) if not hints or case[2][0] % case[1][0] == 0],
)
def test_products(
    kind: str, blocks: tuple, sizes: tuple, ways: str, stages: int, warps: int, hints: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Rows and columns that no block divides (rows that are promised to follow each other do not wrap within one),
    operands either way in memory, an end within a block along K."""
    (m, n, k), (bm, bn, bk) = sizes, blocks
    ways_of = ways.split()
    a, b = draw(m, k, kind=kind), draw(k, n, kind=kind)
    left = a if ways_of[0] == "row" else a.float().T.contiguous().T.to(a.dtype)
    right = b if ways_of[1] == "row" else b.float().T.contiguous().T.to(b.dtype)
    c = torch.empty(m, n)

    def launch(kernel: Any, **options: Any) -> Any:
        grid = (triton.cdiv(m, bm) * triton.cdiv(n, bn),)
        return kernel[grid](left, right, c, m, n, k, *left.stride(), *right.stride(), BM=bm, BN=bn, BK=bk, HINTS=hints,
                            PRECISION="tf32" if kind == "f32" else None, **options)  # fmt: skip

    code = same_bits(monkeypatch, kernels.multiply, launch, c, num_stages=stages, num_warps=warps)
    assert torch.equal(c, a.float() @ b.float())
    half = re.search(r"twg\.tmem_dot .* together .*: <(\d+)x(\d+)x\w+, #\w+> \* <(\d+)x(\d+)x", code["ttgir"])
    assert half and tuple(map(int, half.groups())) == (bm // 2, bk, bk, bn // 2)
    assert "cta_group::1" not in code["ptx"] and "multicast::cluster" in code["ptx"]


@pytest.mark.parametrize("precision", ["tf32x3", "bf16x6"])
def test_products_in_parts(precision: str, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b, c = torch.randn(256, 64), torch.randn(64, 64), torch.empty(256, 64)

    def launch(kernel: Any, **options: Any) -> Any:
        return kernel[(1,)](a, b, c, 256, 64, 64, 64, 1, 64, 1, BM=256, BN=64, BK=32, HINTS=False,
                            PRECISION=precision, **options)  # fmt: skip

    code = same_bits(monkeypatch, kernels.multiply, launch, c, num_warps=8, ways=("turns",))
    assert code["ttgir"].count("together") == {"tf32x3": 3, "bf16x6": 6}[precision]
    torch.testing.assert_close(c, a @ b, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("adds", [False, True])
@pytest.mark.parametrize("stages", [1, 3])
def test_blocks_of_descriptors(stages: int, adds: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The launcher makes maps of half a block."""
    a, b, c = draw(512, 192), draw(256, 192), torch.empty(512, 256)

    def launch(kernel: Any, **options: Any) -> Any:
        maps = [
            TensorDescriptor.from_tensor(t, block) for t, block in ((a, [256, 64]), (b, [128, 64]), (c, [256, 128]))
        ]
        return kernel[(2, 2)](*maps, 192, BM=256, BN=128, BK=64, ADDS=adds, **options)

    code = same_bits(monkeypatch, kernels.by_descriptors, launch, c, num_stages=stages)
    assert torch.equal(c, a.float() @ b.float().T + 7 * adds)
    assert "cp.async.bulk.tensor" in code["ptx"]


def test_descriptors_that_a_program_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b, c = draw(512, 80), draw(80, 72), torch.empty(512, 72)
    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8))

    def launch(kernel: Any, **options: Any) -> Any:
        return kernel[(2, 2)](a, b, c, 512, 72, 80, BM=256, BN=64, BK=32, **options)

    same_bits(monkeypatch, kernels.made_descriptors, launch, c)
    assert torch.equal(c, a.float() @ b.float())


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("blocks", "stages"), [((256, 64, 64), 2), ((256, 128, 32), 1)])
def test_attention(blocks: tuple[int, int, int], stages: int, causal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of keys each CTA has half of the rows, of values half of the columns."""
    bm, bn, d = blocks
    q, k, v = (torch.randn(512, d, generator=torch.Generator().manual_seed(i)).half() for i in range(3))
    o, most = torch.empty(512, d), torch.empty(512)

    def launch(kernel: Any, **options: Any) -> Any:
        return kernel[(512 // bm,)](q, k, v, o, most, 512, BM=bm, BN=bn, D=d, CAUSAL=causal, **options)

    code = same_bits(monkeypatch, kernels.attention, launch, o, most, num_warps=4, num_stages=stages)
    assert code["ttgir"].count("together") == 2
    s = q.double() @ k.double().T
    if causal:
        s = s.masked_fill(torch.ones(512, 512).triu(1).bool(), float("-inf"))
    torch.testing.assert_close(o.double(), torch.softmax(s * 0.6931471805599453, 1) @ v.double(), atol=3e-3, rtol=0)
    torch.testing.assert_close(most.double(), s.amax(1), atol=1e-3, rtol=0)


class Beside:
    """A launch of `beside` with one of its additions."""

    def __init__(self, kind: str, n: int = 64) -> None:
        self.kind, self.a, self.b = kind, draw(256, n).abs(), draw(n, n)
        self.c, self.rest = torch.empty(256, n), torch.empty(256)
        self.count = torch.empty(8, dtype=torch.int32)

    def __call__(self, kernel: Any, **options: Any) -> Any:
        return kernel[(1,)](self.a, self.b, self.c, self.rest, self.count, N=self.b.shape[0], KIND=self.kind,
                                    **options)  # fmt: skip


DIVIDED = ["none", "scanned", "repeated", "either", "asserted", "shaped", "split", "gathered", "summed", "turned"]


@pytest.mark.parametrize("kind", [*DIVIDED, "added", "alone", "rows", "overwritten", "raised", "released"])
def test_what_stands_beside_a_product(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    launch = Beside(kind)
    code = same_bits(monkeypatch, kernels.beside, launch, launch.c, launch.rest, launch.count)
    if kind in ("none", "alone", "rows", "asserted"):
        assert torch.equal(launch.c, launch.a.float() @ launch.b.float())
    if kind == "alone":
        assert launch.count.tolist() == [10, 7, 7, 7, 8, 7, 7, 7]
    assert "together" in code["ttgir"]
    assert code["ttgir"].count("twg.pair_meet") == {"alone": 2, "overwritten": 3, "raised": 3, "released": 1}.get(
        kind, 0
    )


def test_a_release_is_of_both_ctas(monkeypatch: pytest.MonkeyPatch) -> None:
    launch = Beside("released")
    ptx = same_bits(monkeypatch, kernels.beside, launch, launch.c, launch.count)["ptx"]
    last = ptx.rindex("st.global")
    assert last < ptx.index("barrier.cluster.arrive.release", last) < ptx.index("atom.global.gpu.release", last)


REFUSED = {
    "written": "it reads memory that the kernel writes, too",
    "volatile": "a volatile load may give the two CTAs different values",
    "barrier": "ttg.barrier is not divided",
    "assembly": "its assembly names a register, which may differ between the two CTAs",
    "counted": "the two CTAs would get different results of an atomic operation",
    "returns": "the kernel returns at several places",
    "columns": "it needs all rows of a product",
    "printed": "it prints rows of a product, of which a CTA has half",
}


def warned(launch: Launch, **options: Any) -> tuple[Any, list[str]]:
    generator._said.clear()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        compiled = launch(triton.jit(kernels.beside.fn), num_stages=2, arch="sm_100a", **{"num_ctas": 2, **options})
    return compiled, sorted({str(one.message) for one in said if "num_ctas" in str(one.message)})


@pytest.mark.parametrize("kind", REFUSED)
def test_a_program_that_two_ctas_cannot_run(kind: str) -> None:
    """One runs it, and a warning says why."""
    compiled, said = warned(Beside(kind), num_warps=4)
    assert [REFUSED[kind] in one for one in said] == [True], said
    assert compiled.asm.launched.facts["program_ctas"] == 1 and "cta_group::2" not in compiled.asm.launched["ptx"]


@pytest.mark.parametrize(
    ("n", "options", "why"),
    [
        (16, {"num_warps": 4}, "multiplies tiles of at least 256 rows and of 32 to 256 columns"),
        (64, {"num_warps": 2}, "by four warps or more"),
        (64, {"num_warps": 4, "num_ctas": 4}, "num_ctas=4 is taken for num_ctas=2: two CTAs run a program together"),
    ],
)
def test_sizes_that_two_ctas_do_not_multiply(n: int, options: dict[str, Any], why: str) -> None:
    launch = Beside("none", n)
    _, said = warned(launch, **options)
    assert [why in one for one in said] == [True], said
    assert torch.equal(launch.c, launch.a.float() @ launch.b.float())


def test_operands_that_do_not_lie_as_halves_have_to() -> None:
    """Half of a row of 32 bytes is no row that shared memory can swizzle."""
    a, b, c = draw(256, 32, kind="e4m3"), draw(32, 32, kind="e4m3"), torch.empty(256, 32)

    def launch(kernel: Any, **options: Any) -> Any:
        return triton.jit(kernels.multiply.fn)[(1,)](
            a, b, c, 256, 32, 32, 32, 1, 32, 1, BM=256, BN=32, BK=32, HINTS=False, PRECISION=None, **options
        )  # fmt: skip

    compiled, said = warned(launch, num_warps=4)
    assert len(said) == 1 and "do not lie in shared memory as tensor cores read them" in said[0]
    assert compiled.asm.launched.facts["program_ctas"] == 1 and torch.equal(c, a.float() @ b.float())


def test_halves_that_do_not_fit() -> None:
    """A CTA that would need rows twice gets too little shared memory: one runs the program."""
    a, b, c, d = draw(256, 640), draw(640, 64), torch.empty(256, 64), torch.empty(64)

    def launch(_: Any, **options: Any) -> Any:
        return triton.jit(kernels.read_twice.fn)[(1,)](a, b, c, d, 640, BK=64, **(options | {"num_stages": 5}))

    compiled, said = warned(launch, num_warps=4)
    assert len(said) == 1 and "does not fit into shared memory" in said[0]
    assert compiled.asm.launched.facts["program_ctas"] == 1 and torch.equal(c, a.float() @ b.float())


def test_code_for_others_is_of_one_cta() -> None:
    """Whoever launches it knows of one CTA a program."""
    compiled, said = warned(Beside("none"), num_warps=4)
    assert not said and "cta_group::2" not in compiled.asm["ptx"] and "cta_group::2" in compiled.asm.launched["ptx"]


LEFT_OUT = [
    (r"barrier\.cluster\.arrive\.release; barrier\.cluster\.wait\.acquire;", "", "they do not meet"),
    (r"mov\.b16 both, 3;", "mov.b16 both, 1;", "the second CTA is not told"),
    (r"mov\.b16 both, 3;", "mov.b16 both, 2;", "the first CTA is not told"),
    (r"fence\.proxy\.async[^;]*;", "", "operands that the tensor core does not see"),
    (r"@%p\d+ tcgen05\.dealloc[^;]*;", "", "nobody gives back"),
    (r"\{ \.reg \.pred done; waiting: [^}]*\}", "", "on its way"),
]


@pytest.mark.parametrize(("part", "instead", "mistake"), LEFT_OUT)
def test_planted_mistakes_are_found(part: str, instead: str, mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def generate(*arguments: Any) -> Any:
        made = whole(*arguments)
        assert re.search(part, made.texts["ptx"]) or "cta_group::2" not in made.texts["ptx"]
        return made._replace(texts=made.texts | {"ptx": re.sub(part, instead, made.texts["ptx"])})

    whole = generator.generate
    monkeypatch.setattr(generator, "generate", generate)
    monkeypatch.setenv("TILETWIN_SIM_SCHEDULE", "seed:1,copies=late")
    launch = Beside("repeated")
    try:
        launch(triton.jit(kernels.beside.fn), num_ctas=2, num_stages=3, num_warps=4, arch="sm_100a")
    except Exception as error:  # deadlock or trap
        assert str(error)
        return
    assert checks.findings(), mistake
