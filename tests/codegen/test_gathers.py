"""tt.gather as compiled: by shuffles where a warp has what its indices can name, else through shared memory. Numbers
outside of the dimension are cut to its bits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import small_kernels as sk


def tile_at(name: str, shape: Sequence[int], element: str) -> list[str]:
    count, tile = int(np.prod(shape)), "x".join(map(str, shape)) + "x"
    return [
        f"%{name}_range = tt.make_range {{end = {count} : i32, start = 0 : i32}} : tensor<{count}xi32>",
        f"%{name}_index = tt.reshape %{name}_range : tensor<{count}xi32> -> tensor<{tile}i32>",
        f"%{name}_base = tt.splat %{name}_ptr : !tt.ptr<{element}> -> tensor<{tile}!tt.ptr<{element}>>",
        f"%{name}_at = tt.addptr %{name}_base, %{name}_index : tensor<{tile}!tt.ptr<{element}>>, tensor<{tile}i32>",
    ]


def gather(source: Sequence[int], indices: Sequence[int], axis: int, element: str, index: str) -> str:
    src, result = ("x".join(map(str, shape)) + "x" for shape in (source, indices))
    lines = [
        *tile_at("x", source, element),
        *tile_at("i", indices, index),
        *tile_at("y", indices, element),
        f"%x = tt.load %x_at : tensor<{src}!tt.ptr<{element}>>",
        f"%i = tt.load %i_at : tensor<{result}!tt.ptr<{index}>>",
        f"%y = tt.gather %x[%i] {{axis = {axis} : i32}} : (tensor<{src}{element}>, tensor<{result}{index}>)"
        f" -> tensor<{result}{element}>",
        f"tt.store %y_at, %y : tensor<{result}!tt.ptr<{element}>>",
    ]
    parameters = f"%x_ptr: !tt.ptr<{element}>, %i_ptr: !tt.ptr<{index}>, %y_ptr: !tt.ptr<{element}>"
    return f"tt.func public @kernel({parameters}) {{\n  " + "\n  ".join(lines) + "\n  tt.return\n}\n"


CASES = [
    ((32,), (32,), 0, 1), ((32,), (256,), 0, 4), ((512,), (64,), 0, 4), ((1,), (16,), 0, 4), ((16,), (1,), 0, 2),
    ((4, 32), (4, 32), 1, 4), ((64, 32), (64, 128), 1, 4), ((64, 32), (16, 32), 0, 4), ((8, 4, 16), (8, 2, 16), 1, 2),
    ((128, 64), (128, 64), 0, 8), ((2, 1024), (2, 16), 1, 4),
]  # fmt: skip


TYPES = [("f32", "i32"), ("i8", "i64"), ("f64", "i8"), ("f16", "i16")]


@pytest.mark.parametrize(
    ("source", "indices", "axis", "num_warps", "element", "index"),
    [(*case, *TYPES[(i + k) % 4]) for i, case in enumerate(CASES) for k in range(2)],
    ids=str,
)
def test_gather(
    source: tuple[int, ...], indices: tuple[int, ...], axis: int, num_warps: int, element: str, index: str
) -> None:
    generator = np.random.default_rng(num_warps)
    x = generator.integers(0, 256, (*source, sk.numpy_type(element).itemsize)).astype(np.uint8)
    x = x.view(sk.numpy_type(element))[..., 0]
    limit = min(source[axis], 128) if index == "i8" else source[axis]
    i = generator.integers(0, limit, indices).astype(f"int{index[1:]}")
    y = np.zeros(indices, x.dtype)
    code = sk.compiled(gather(source, indices, axis, element, index), "sm_80", num_warps=num_warps)
    sk.launch(code, x, i, y)
    np.testing.assert_array_equal(y, np.take_along_axis(x, i.astype(np.int64), axis))


def test_inside_a_warp_by_shuffles() -> None:
    ptx = sk.compiled(gather((4, 32), (4, 32), 1, "f32", "i32"), "sm_90a", num_warps=4)["ptx"]
    assert "shfl.sync.idx" in ptx
    assert "shared.b32" not in ptx


def test_across_warps_through_shared_memory() -> None:
    ptx = sk.compiled(gather((512,), (512,), 0, "f32", "i32"), "sm_90a", num_warps=4)["ptx"]
    assert "ld.shared.b32" in ptx


@pytest.mark.parametrize("shape", [(32,), (512,)])
def test_numbers_outside_are_cut(shape: tuple[int, ...]) -> None:
    """The checks of the simulator would find an access outside of what is stored."""
    x = np.arange(shape[0], dtype=np.float32)
    i = np.arange(shape[0], dtype=np.int32)
    i[:6] = [-1, shape[0], 1 << 30, -(1 << 31), (1 << 31) - 1, 3 * shape[0] + 2]
    y = np.zeros_like(x)
    sk.launch(sk.compiled(gather(shape, shape, 0, "f32", "i32"), "sm_80"), x, i, y)
    np.testing.assert_array_equal(y, x[i % shape[0]])
