"""Pointers to pointers, addresses as numbers, casts of pointers, objects with data_ptr(): against torch; both modes."""

from __future__ import annotations

import gc

import numpy as np
import pointer_kernels as kernels
import pytest
import tiletwin
import torch
import triton


def table(tensors: list[torch.Tensor]) -> torch.Tensor:
    return torch.tensor([t.data_ptr() for t in tensors], dtype=torch.int64)


@pytest.mark.parametrize("kernel", [kernels.sum_by_table, kernels.sum_by_pointers], ids=lambda k: k.__name__)
def test_tables_of_addresses(kernel, mode: None) -> None:
    arrays = [torch.arange(n, dtype=torch.float32) + n for n in (1, 7, 16, 13)]
    out = torch.zeros(4)
    for _ in range(2):  # the second launch finds the arrays that the first one found
        kernel[(4,)](table(arrays), torch.tensor([len(a) for a in arrays]), out, 16)
        assert torch.equal(out, torch.stack([a.sum() for a in arrays]))
        out.zero_()


def test_blocks_of_loaded_pointers(mode: None) -> None:
    arrays = [torch.randn(5) for _ in range(8)]
    before = torch.stack([a[3] for a in arrays])
    out = torch.zeros(8)
    kernels.block_of_pointers[(1,)](table(arrays), out, 3, 8)
    assert torch.equal(out, before)
    assert torch.equal(torch.stack([a[3] for a in arrays]), -before)


def test_masked_pointers_are_not_followed(mode: None) -> None:
    arrays, out = [torch.full((1,), float(i)) for i in range(3)], torch.zeros(8)
    kernels.masked_pointers[(1,)](table(arrays), out, 3, 8)
    assert out.tolist() == [0.0, 1.0, 2.0] + [-1.0] * 5


def test_pointers_are_stored(mode: None) -> None:
    addresses = torch.tensor([4096, -1], dtype=torch.int64)
    kernels.swap_pointers[(1,)](addresses)
    assert addresses.tolist() == [-1, 4096]


def test_address_as_argument(mode: None) -> None:
    x, out = torch.randn(13).half(), torch.zeros(16).half()
    kernels.by_address[(1,)](x.data_ptr(), out, 13, 16)
    assert torch.equal(out[:13], x) and torch.equal(out[13:], torch.zeros(3).half())


def test_addresses_of_arguments(mode: None) -> None:
    x, out = torch.zeros(9, dtype=torch.int16), torch.zeros(2, dtype=torch.int64)
    kernels.address_of[(1,)](x, out, 7)
    assert out.tolist() == [x.data_ptr(), 14]


def test_numbers_lose_their_origin(mode: None) -> None:
    x, y, out = torch.zeros(8), torch.arange(8.0), torch.zeros(16)
    kernels.from_one_to_another[(1,)](x, y, out, 8)
    assert torch.equal(out, torch.cat([y, y]))


def test_pointer_casts(mode: None) -> None:
    x, out = torch.randn(8), torch.zeros(16, dtype=torch.int16)
    kernels.bits_of[(1,)](x, out, 16)
    assert torch.equal(out, x.view(torch.int16))


def test_null(mode: None) -> None:
    class Null:
        dtype = torch.float32

        def data_ptr(self) -> int:
            return 0

    out = torch.zeros(2, dtype=torch.int32)
    kernels.is_null[(1,)](Null(), out)
    assert out.tolist() == [0, 1]
    kernels.is_null[(1,)](torch.zeros(1), out)
    assert out.tolist() == [1, 0]


def test_views_of_registered_numpy_memory(mode: None) -> None:
    whole, out = np.zeros(1 << 25, np.float16), torch.zeros(8).half()  # 64 MB are mapped on their own, far from `out`
    x = whole[-6:]
    x[:] = range(1, 7)
    with pytest.raises(tiletwin.OutOfBoundsError, match=r"tiletwin\.register"):
        kernels.by_address[(1,)](x.ctypes.data, out, 6, 8)
    tiletwin.register(x, "my array")
    try:
        kernels.by_address[(1,)](x.ctypes.data, out, 6, 8)
        assert np.array_equal(out[:6].numpy(), x)
        words = r"element 6: reads 2 bytes at offset 12 of my array \(a view of 12 bytes; the access is at offset "
        with pytest.raises(tiletwin.OutOfBoundsError, match=words):
            kernels.by_address[(1,)](x.ctypes.data, out, 7, 8)
    finally:
        tiletwin.unregister(x)


def test_bounds_of_found_tensors(mode: None) -> None:
    x, out = torch.zeros(13).half(), torch.zeros(16).half()
    with pytest.raises(tiletwin.OutOfBoundsError, match=r"element 13: reads 2 bytes at offset 26 of a torch tensor"):
        kernels.by_address[(1,)](x.data_ptr(), out, 14, 16)
    kernels.by_address[(1,)](2**40, out, 0, 16)  # nothing is read
    with pytest.raises(tiletwin.OutOfBoundsError, match="null pointer"):
        kernels.by_address[(1,)](0, out, 1, 16)


def test_dead_tensors_are_unknown() -> None:
    x, out = torch.zeros(1 << 22).half(), torch.zeros(16).half()
    address = x.data_ptr()
    kernels.by_address[(1,)](address, out, 16, 16)
    del x
    gc.collect()
    with pytest.raises(tiletwin.OutOfBoundsError):
        kernels.by_address[(1,)](address, out, 16, 16)


@pytest.mark.parametrize("programs", [1, 3, 40])
def test_grouped_matmul(programs: int) -> None:
    generator = torch.Generator().manual_seed(1)
    shapes = [(40, 33, 24), (1, 17, 50), (64, 64, 64), (5, 5, 5)]
    a = [torch.randint(-3, 4, (m, k), generator=generator).half() for m, n, k in shapes]
    b = [torch.randint(-3, 4, (k, n), generator=generator).half() for m, n, k in shapes]
    c = [torch.full((m, n), -1.0).half() for m, n, k in shapes]
    strides = torch.tensor([[x.stride(0), y.stride(0), z.stride(0)] for x, y, z in zip(a, b, c)], dtype=torch.int32)
    sizes = torch.tensor(shapes, dtype=torch.int32)
    kernels.grouped_matmul[(programs,)](table(a), table(b), table(c), sizes, strides, len(shapes), 32, 32, 16)
    for x, y, z in zip(a, b, c):
        assert torch.equal(z.float(), x.float() @ y.float())


class Wrapper:
    """Memory of a tensor with no more than Triton asks for."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor
        self.dtype = tensor.dtype

    def data_ptr(self) -> int:
        return self.tensor.data_ptr()


def test_objects_with_data_ptr(mode: None) -> None:
    x, out = torch.randn(21), torch.zeros(21)
    kernels.copy[(2,)](Wrapper(x), Wrapper(out), 21, 16)
    assert torch.equal(x, out)
    with pytest.raises(tiletwin.OutOfBoundsError, match="offset 84 of a torch tensor"):
        kernels.copy[(2,)](Wrapper(x), out, 22, 16)


@pytest.mark.parametrize("take_y", [0, 1])
def test_pointer_blocks_in_branches_and_loops(take_y: int, mode: None) -> None:
    x, y, out = torch.arange(20.0), -torch.arange(60.0), torch.zeros(16)
    kernels.pointers_in_branches[(1,)](x, y, out, 13, take_y, 3, 16)
    source = y[: 3 * 13 : 3] if take_y else x[:13]
    want = torch.zeros(16)
    want[:13] = source + sum((y[k : k + 3 * 13 : 3] if take_y else x[k : k + 13]) for k in range(3))
    assert torch.equal(out, want)


def test_pointer_blocks_in_branches_and_loops_stay_symbolic() -> None:
    names = ("n", "take_y", "stride_y")
    signature = dict.fromkeys(("x_ptr", "y_ptr", "o_ptr"), "*fp32") | dict.fromkeys(names, "i32") | {"B": "constexpr"}
    source = triton.compiler.ASTSource(kernels.pointers_in_branches, signature, {"B": 16})
    plan = triton.compile(source).module.text("plan")
    plan = plan.split("fallback")[0]
    assert "Load" in plan and "Gather" not in plan


# ---- what pointers take ----


@pytest.mark.parametrize(
    ("kernel", "text"),
    [
        (kernels.compare_pointers, r"pointers cannot be compared; compare addresses, as in p\.to\(tl\.int64\)"),
        (kernels.subtract_pointers, r"x\.to\(tl\.int64\) gives an address as a number"),
        (kernels.write_constant, r"tl\.store: Cannot store to a constant pointer"),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_what_pointers_refuse(kernel, text: str, mode: None) -> None:
    with pytest.raises((triton.CompilationError, TypeError, ValueError), match=text):
        kernel[(1,)](torch.zeros(8), torch.zeros(8))


@pytest.mark.parametrize("volatile", [False, True])
@pytest.mark.parametrize("keep", ["", "evict_first", "evict_last"])
@pytest.mark.parametrize(("load", "store"), [("", ""), (".ca", ".wb"), (".cg", ".cg"), (".cs", ".cs"), (".cv", ".wt")])
def test_hints_change_nothing(load: str, store: str, keep: str, volatile: bool) -> None:
    x, out = torch.randn(8), torch.zeros(9)
    kernels.hints[(1,)](x, out, load, store, keep, volatile)
    assert torch.equal(out, torch.cat([x, x[7:]]))


@pytest.mark.parametrize(
    ("load", "store", "keep", "text"),
    [
        (".wb", "", "", r"'\.wb'; it takes '', '\.ca', '\.cg', '\.cs' or '\.cv'"),
        ("", ".ca", "", r"'\.ca'; it takes "),
        ("", "", "evict_normal_", r"'evict_normal_'; it takes '', 'evict_first' or 'evict_last'"),
    ],
)
def test_unknown_hints_are_named(load: str, store: str, keep: str, text: str, mode: None) -> None:
    with pytest.raises((triton.CompilationError, ValueError), match=text):
        kernels.hints[(1,)](torch.zeros(8), torch.zeros(9), load, store, keep, False)


@pytest.mark.parametrize("shift", [0, 1, 2, 3, 7])
def test_unaligned(shift: int, mode: None) -> None:
    memory, out = np.zeros(64, np.uint8), torch.zeros(8)
    memory[shift : shift + 32] = np.arange(8, dtype=np.float32).view(np.uint8)
    kernels.unaligned[(1,)](torch.from_numpy(memory), out, shift, 8)
    want = np.arange(8, dtype=np.float32) * 2
    want[0] += 1
    assert out.tolist() == list(range(8))
    assert (memory[shift : shift + 32].copy().view(np.float32) == want).all()
    assert not memory[:shift].any() and not memory[shift + 32 :].any()


def test_booleans(mode: None) -> None:
    x, out = torch.tensor([True, False] * 4), torch.zeros(9, dtype=torch.bool)
    kernels.booleans[(1,)](x, out, 8)
    assert out.view(torch.uint8).tolist() == [0, 1, 0, 1, 0, 1, 0, 0, 1]


@pytest.mark.parametrize("load", [False, True])
@pytest.mark.parametrize("step", [0, 4, 1 << 40])
@pytest.mark.parametrize("address", [16, 0x123456789000, 2**63 - 4, -64])
def test_wild_addresses(address: int, step: int, load: bool, mode: None) -> None:
    with pytest.raises(tiletwin.OutOfBoundsError, match=f"{'read' if load else 'write'}s 4 bytes at address 0x"):
        kernels.wild[(1,)](torch.zeros(4), address, step, load)


VIEWS = {
    "rows": lambda t: t[:8, :16],
    "transposed": lambda t: t.t()[:8, :16],
    "every other": lambda t: t[4:36:4, 3:35:2],
    "the same row": lambda t: t[7].expand(8, 40)[:, :16],
    "the same column": lambda t: t[:8, 5:6].expand(8, 16),
    "one element": lambda t: t[3, 3].expand(8, 16),
    "overlapping": lambda t: torch.as_strided(t, (8, 16), (1, 1)),
    "inside": lambda t: t[11:19, 20:36],
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.int8, torch.float64, torch.float16], ids=str)
@pytest.mark.parametrize("view", VIEWS)
def test_views(view: str, dtype: torch.dtype) -> None:
    x = VIEWS[view]((torch.arange(1600).reshape(40, 40) % 125).to(dtype))
    for out in (torch.zeros(8, 16), torch.zeros(16, 8).t(), torch.zeros(64, 64)[3:35:4, 1:33:2]):
        out = out.to(dtype)
        kernels.copy_strided[(1,)](x, out, *x.stride(), *out.stride(), 8, 16)
        assert torch.equal(out, x)


@pytest.mark.parametrize("strides", [(-16, 1), (16, -1), (-1, -8), (-3, 2)])
def test_negative_strides(strides: tuple[int, int], mode: None) -> None:
    base, out = torch.arange(400.0), torch.zeros(8, 16)
    at = 200 + np.arange(8)[:, None] * strides[0] + np.arange(16)[None, :] * strides[1]
    kernels.copy_strided[(1,)](base[200:], out, *strides, 16, 1, 8, 16)
    assert torch.equal(out, base[at])
    back = torch.full((400,), -1.0)
    kernels.copy_strided[(1,)](out, back[200:], 16, 1, *strides, 8, 16)
    want = torch.full((400,), -1.0)
    want[at.reshape(-1)] = base[at.reshape(-1)]
    assert torch.equal(back, want)
    with pytest.raises(tiletwin.OutOfBoundsError, match="before the start"):
        kernels.copy_strided[(1,)](base, out, -16, 1, 16, 1, 8, 16)


def test_offsets_past_2_to_the_31() -> None:
    start, block = 2**31 + 40, 16
    x, out = torch.empty(2**31 + 100, dtype=torch.int8), torch.zeros(2 * block, dtype=torch.int8)
    for i in range(block):
        x[(i << 27) % start] = i + 50
    kernels.far_offsets[(1,)](x, out, start, block)
    assert out.tolist() == [*range(block), *range(50, 50 + block)]
    assert x[start : start + block].tolist() == list(range(block))
