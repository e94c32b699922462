"""What tensors show of themselves outside compiled kernels: text, NumPy-like parts, pointers by name."""

from __future__ import annotations

import numpy as np
import pytest
import tiletwin
import tiletwin.language as tl
from tiletwin.elements import statistics
from tiletwin.errors import CompilationError


def tile(shape: tuple[int, ...], dtype: tl.dtype = tl.int32) -> tl.tensor:
    return tl.arange(0, int(np.prod(shape))).reshape(*shape).to(dtype)


TYPES = [
    tl.int8, tl.int16, tl.int32, tl.int64, tl.uint8, tl.uint16, tl.uint32, tl.uint64, tl.float16, tl.bfloat16,
    tl.float32, tl.float64, tl.float8e5, tl.float8e4nv,
]  # fmt: skip


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_parts_keep_the_type_and_pick_as_numpy_does(dtype: tl.dtype) -> None:
    x = (tile((4, 8)) % 8).to(tl.float32).to(dtype)
    reference = np.arange(32).reshape(4, 8) % 8
    assert x.numpy().tolist() == reference.tolist() == x.tolist() == np.asarray(x).tolist()
    picks = [0, -1, (1, 2), (slice(None), 3), slice(1, 3), (slice(None, None, 2), slice(1, 6)), [0, 2], (..., 1)]
    for index in picks:
        part = x[index]
        assert part.dtype == dtype and part.numpy().tolist() == reference[index].tolist(), index
    assert x[1, 2].tolist() == 2 and isinstance(x[1, 2].tolist(), float if dtype.is_floating() else int)


def test_masks_and_tensors_as_indices() -> None:
    x = tile((8,))
    assert x[x % 2 == 0].tolist() == [0, 2, 4, 6]
    assert x[tl.arange(0, 4) * 2].tolist() == [0, 2, 4, 6]
    assert x[x[3]].tolist() == 3
    assert x[x > 100].tolist() == []


def test_what_the_language_indexes_stays_its_own() -> None:
    x = tile((8,))
    assert x[:, None].shape == (8, 1) and x[None, :].shape == (1, 8) and x[:].shape == (8,)
    assert (x[:, None] + x[None, :]).shape == (8, 8)
    scalar = tl.arange(0, 1).sum()
    assert scalar[0].tolist() == 0


@pytest.mark.parametrize(
    ("index", "text"), [(8, "out of bounds"), ((0, 0), "too many indices"), (slice(None, None, 0), "step")], ids=str
)
def test_bad_indices(index: object, text: str) -> None:
    with pytest.raises((IndexError, ValueError), match=text):
        tile((8,))[index]
    with pytest.raises(IndexError, match="scalar"):
        tile((8,))[0][1]


def test_parts_can_be_computed_with() -> None:
    x = tile((8,), tl.float32)
    assert (x[0:4] * 2).tolist() == [0, 2, 4, 6]
    assert (x[3] + 1).tolist() == 4 and bool(x[3] > 2) and f"{x[3]:.1f}" == "3.0" and str(x[3]) == "3.0"
    assert [int(v) for v in tile((4,))] == [0, 1, 2, 3]


def test_numbers() -> None:
    x = tile((8,))
    assert len(x) == 8 and x.shape == (8,) and str(x.dtype) == "int32" and x.numel == 8
    with pytest.raises(TypeError, match="len"):
        len(x[0])
    with pytest.raises(ValueError, match=r"8 elements is not one number; use x.numpy\(\)"):
        int(x)


@tiletwin.jit
def looks_inside(x_ptr, KIND: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, 8))
    if KIND == "index":
        y = x[0]
    elif KIND == "slice":
        y = x[0:4]
    elif KIND == "numpy":
        y = x.numpy()
    else:
        y = x.tolist()
    tl.store(x_ptr, y)


@pytest.mark.parametrize("eager", ["0", "1"])
@pytest.mark.parametrize("kind", ["index", "slice"])
def test_a_kernel_does_not_index_by_numbers_in_either_mode(
    eager: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TILETWIN_EAGER", eager)
    with pytest.raises((CompilationError, ValueError), match="unsupported tensor index: "):
        looks_inside[(1,)](np.zeros(8, np.float32), kind)


@pytest.mark.parametrize("kind", ["numpy", "tolist"])
def test_compiled_kernels_have_no_values_to_look_at(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TILETWIN_EAGER", raising=False)
    with pytest.raises(CompilationError, match="while a kernel is compiled"):
        looks_inside[(1,)](np.zeros(8, np.float32), kind)


# ---- text ----


def test_small_tiles_are_shown_whole() -> None:
    assert repr(tile((4,))) == "tensor([0, 1, 2, 3], int32)"
    assert repr(tile((2, 2), tl.float16)) == "tensor([[0., 1.],\n        [2., 3.]], fp16)"
    assert repr(tile((4,)) > 1) == "tensor([False, False,  True,  True], int1)"
    assert repr(tile((4,))[2]) == "tensor(2, int32)"
    assert repr(tile((64,))).count(",") == 64


def test_large_tiles_are_summarised() -> None:
    assert repr(tile((1024,))) == (
        "tensor([   0,    1,    2, ..., 1021, 1022, 1023], int32[1024], min 0, max 1023, mean 511.5)"
    )
    mask = tile((1024,)) < 98
    assert repr(mask).endswith("False, False, False], int1[1024], 98 of 1024 set)")
    text = repr(tile((64, 64), tl.float32))
    assert text.endswith("fp32[64, 64], min 0, max 4095, mean 2047.5)") and text.count("\n") == 6


def test_nan_and_infinity_are_counted() -> None:
    x = tile((128,), tl.float32)
    x = tl.where(x == 5, float("nan"), tl.where(x == 7, float("inf"), tl.where(x == 9, float("-inf"), x)))
    rest = [v for v in range(128) if v not in (5, 7, 9)]
    assert repr(x).endswith(f"fp32[128], min 0, max 127, mean {sum(rest) / len(rest):.6g}, 1 NaN, 2 inf)")
    assert repr(tl.where(x == x, float("nan"), float("nan"))).endswith("fp32[128], 128 NaN)")
    largest = tl.full((128,), 2**63 - 1, tl.int64)
    assert f"min {2**63 - 1}, max {2**63 - 1}, mean 9.22337e+18" in repr(largest)


# ---- pointers ----


def test_pointers_are_named_after_what_they_lead_to() -> None:
    x_ptr_memory = np.zeros(1024, np.float32)
    pointer = tiletwin.pointer(x_ptr_memory)
    offs = tl.arange(0, 1024)
    assert repr(pointer) == "<x_ptr_memory + 0, fp32>"
    assert repr(pointer + offs) == "<x_ptr_memory + [0, 1, 2 ... 1023], fp32, 1024 lanes>"
    assert repr(pointer + offs + 24) == "<x_ptr_memory + [24, 25, 26 ... 1047], fp32, 1024 lanes, 24 outside>"
    assert repr(pointer - 1) == "<x_ptr_memory + -1, fp32, outside>"
    block = pointer + tl.arange(0, 2)[:, None] * 100 + tl.arange(0, 4)[None, :]
    assert repr(block) == "<x_ptr_memory + [[0, 1, 2, 3], [100, 101, 102, 103]], fp32, 2x4 lanes>"
    assert repr((pointer + offs)[2]) == "<x_ptr_memory + 2, fp32>"
    assert repr((pointer + offs)[:2]) == "<x_ptr_memory + [0, 1], fp32, 2 lanes>"
    assert repr(pointer.to(tl.pointer_type(tl.int8)) + 3) == "<x_ptr_memory + 3, int8>"
    assert repr((pointer.to(tl.pointer_type(tl.int8)) + 3).to(tl.pointer_type(tl.int32))) == (
        "<x_ptr_memory + 3 bytes, int32>"
    )
    assert repr(tl.full((), 0, tl.int64).to(tl.pointer_type(tl.float32))) == "<null, fp32>"


def test_views_count_from_their_own_start() -> None:
    whole = np.arange(32, dtype=np.int16)
    part = whole[8:]
    assert repr(tiletwin.pointer(part, name="part") + 1) == "<part + 1, int16>"
    assert tl.load(tiletwin.pointer(part) + tl.arange(0, 4)).tolist() == [8, 9, 10, 11]


def test_statistics_of_zeros_are_the_same_on_every_cpu() -> None:
    assert statistics(np.array([-0.0, -0.0], np.float32)).startswith("min 0, max 0, ")
