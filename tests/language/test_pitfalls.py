"""Where programs that run kernels on the CPU tend to go wrong: each test is a kernel that some of them cannot run.

Every kernel runs in both modes.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
import triton.language.extra.libdevice as ld
from triton.compiler.errors import UnsupportedLanguageConstruct
from triton.language import math as tlm
from triton.language.extra import libdevice
from triton.language.extra.cuda.libdevice import fast_expf as quick_exp

fast_exp = tl.math.exp
largest = tl.maximum
pid_of = tl.program_id
int32 = tl.int32
language = tl


@pytest.fixture(autouse=True, params=["0", "1"], ids=["compiled", "eager"])
def mode(request, monkeypatch, capfd):
    monkeypatch.setenv("TILETWIN_EAGER", request.param)


@triton.jit
def block_logic(x_ptr, o_ptr, n, B: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i)
    inside = (i < n) and not (x < 0)
    tl.store(o_ptr + i, inside or (x > 100))


def test_and_or_not_work_element_by_element() -> None:
    x = np.array([1, -1, 200, 3, 4, -5, 300, -2])
    o = np.zeros(8, bool)
    block_logic[(1,)](x, o, 5, B=8)
    i = np.arange(8)
    assert (o == (((i < 5) & ~(x < 0)) | (x > 100))).all()


@triton.jit
def aliases(x_ptr, o_ptr, B: tl.constexpr):
    i = pid_of(0) * B + language.arange(0, B)
    x = tl.load(x_ptr + i)
    y = fast_exp(x) + ld.tanh(x) + libdevice.pow(x, x) + tlm.sqrt(x) + quick_exp(x)
    local = tl.sum
    again = local
    tl.store(o_ptr + i, largest(y, again(x, axis=0)))
    tl.store(o_ptr + B, tl.cast(2.7, int32))


def test_language_functions_under_other_names() -> None:
    x = torch.linspace(0.5, 2, 8)
    o = torch.zeros(9)
    aliases[(1,)](x, o, B=8)
    y = 2 * x.exp() + x.tanh() + x**x + x.sqrt()
    torch.testing.assert_close(o[:8], torch.maximum(y, x.sum()), rtol=1e-5, atol=1e-5)
    assert o[8] == 2


@triton.jit
def scalars_are_tensors(o_ptr, eps, n, flag):
    wide = eps.to(tl.float64)
    tl.static_assert(eps.dtype == tl.float32 and n.dtype == tl.int32 and flag.dtype == tl.int1)
    total = tl.zeros((), tl.float64)
    for i in range(n):
        tl.static_assert(i.dtype == tl.int32)
        total += i.to(tl.float64) * wide + (i + 1).cast(tl.float64)
    tl.store(o_ptr, total + flag.to(tl.float64) + tl.exp(eps).to(tl.float64) * 0)
    tl.store(o_ptr + 1, (n // 2).to(tl.float64) + n.cdiv(4))


def test_scalar_arguments_and_loop_variables_are_tensors() -> None:
    o = np.zeros(2)
    scalars_are_tensors[(1,)](o, 0.1, 6, True)
    assert o[0] == pytest.approx(15 * float(np.float32(0.1)) + 21 + 1, rel=1e-12) and o[1] == 5


@triton.jit
def inner_most(x, dtype: tl.constexpr, size: tl.constexpr):
    tl.static_assert(dtype.value == tl.float16 and size.value == 4)
    i = tl.arange(0, size)
    return tl.zeros((size,), dtype).to(tl.float32) + x + i


@triton.jit
def in_between(x, dtype, size):
    return inner_most(x, dtype, size * 2)


@triton.jit
def compile_time_through_calls(o_ptr, x, N: tl.constexpr, DTYPE: tl.constexpr = tl.float16):
    i = tl.arange(0, 2 * N)
    tl.store(o_ptr + i, in_between(x, DTYPE, N))
    tl.store(o_ptr + 4 + i, in_between(x, tl.float16, 2))


def test_compile_time_values_stay_so_through_calls() -> None:
    o = np.zeros(8, np.float32)
    compile_time_through_calls[(1,)](o, 2.5, N=2)
    assert (o == [2.5, 3.5, 4.5, 5.5] * 2).all()


@triton.jit
def masks(x_ptr, o_ptr, n, k, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    mask = (i < n) & (j < k) & (n > 2)
    mask |= k == 0
    x = tl.load(x_ptr + i * N + j, mask=mask, other=-1)
    tl.store(o_ptr + i * N + j, x, mask=(n < 100) & (k < 100))


@pytest.mark.parametrize(("n", "k"), [(3, 5), (2, 5), (4, 0), (4, 8)])
def test_block_masks_combine_with_scalar_conditions(n: int, k: int) -> None:
    x, o = np.arange(32).reshape(4, 8), np.zeros((4, 8), np.int64)
    masks[(1,)](x, o, n, k, M=4, N=8)
    i, j = np.mgrid[:4, :8]
    assert (o == np.where((i < n) & (j < k) & (n > 2) | (k == 0), x, -1)).all()


@triton.jit
def rows_of_nan(x_ptr, i_ptr, v_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    row, column = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + row * N + column)
    tl.store(i_ptr + tl.arange(0, M), tl.argmax(x, 1))
    tl.store(i_ptr + M + tl.arange(0, M), tl.argmin(x, 1, tie_break_left=False))
    tl.store(v_ptr + row * K + tl.arange(0, K)[None, :], tl.topk(x, K))
    value, index = tl.max(x, 1, return_indices=True)
    tl.store(i_ptr + 2 * M + tl.arange(0, M), index)
    tl.store(v_ptr + M * K + tl.arange(0, M), value)


def test_rows_that_are_all_nan() -> None:
    x = np.full((4, 8), np.nan, np.float32)
    x[1] = np.arange(8)
    x[2, 3] = 1
    x[3] = -np.inf
    indices, values = np.full(12, -1), np.zeros(4 * 2 + 4, np.float32)
    rows_of_nan[(1,)](x, indices, values, M=4, N=8, K=2)
    indices = indices.reshape(3, 4)
    assert ((indices >= 0) & (indices < 8)).all()
    assert indices[0, 1] == 7 and indices[1, 1] == 0 and indices[2, 1] == 7
    assert np.isnan(values[:2]).all() and list(values[2:4]) == [7, 6] and np.isneginf(values[6:8]).all()
    assert np.isnan(values[8]) and values[9] == 7 and np.isneginf(values[11])


@triton.jit
def wrapping(o_ptr, n):
    small = n.to(tl.int8)
    tl.store(o_ptr, small + small)
    tl.store(o_ptr + 1, n.to(tl.uint8) - 200)
    tl.store(o_ptr + 2, n * n)
    tl.store(o_ptr + 3, -7 // 2)
    tl.store(o_ptr + 4, (0 - n) // 16)
    tl.store(o_ptr + 5, (0 - n) % 16)
    tl.store(o_ptr + 6, n >> 1 << 1)


def test_integers_are_those_of_the_language() -> None:
    o = np.zeros(7, np.int64)
    wrapping[(1,)](o, 100)
    assert list(o) == [-56, 156, 10000, -4, -6, -4, 100]
    wrapping[(1,)](o, 70000)
    assert o[2] == 70000 * 70000 - 2**32


@triton.jit
def loop_types(o_ptr, n):
    x = 0
    y = 0.0
    for i in range(n):
        x += i
        y = y + x
        if i == 2:
            x = -x
    tl.static_assert(x.dtype == tl.int32 and y.dtype == tl.float32)
    tl.store(o_ptr, x)
    tl.store(o_ptr + 1, y)


def test_variables_keep_their_types() -> None:
    o = np.zeros(2, np.float32)
    loop_types[(1,)](o, 5)
    assert list(o) == [-3 + 3 + 4, 0 + 1 + 3 + 0 + 4]


class Config:
    """Kernels as methods, next to plain attributes."""

    SIZE = tl.constexpr(4)

    @triton.jit
    def bare(o_ptr, n):
        tl.store(o_ptr + tl.arange(0, Config.SIZE), n)

    @staticmethod
    @triton.jit
    def static(o_ptr, n):
        Config.bare(o_ptr, n + 1)

    def launch(self, o: np.ndarray) -> None:
        self.static[(1,)](o, 5)


def test_kernels_in_classes() -> None:
    o = np.zeros(4, np.int64)
    Config.bare[(1,)](o, 3)
    assert (o == 3).all()
    Config().launch(o)
    assert (o == 6).all()


def make(scale: int, fn):
    SCALE = tl.constexpr(scale)

    @triton.jit
    def helper(x):
        return fn(x) * SCALE

    @triton.jit
    def kernel(o_ptr, n):
        tl.store(o_ptr, helper(n))

    return kernel


@triton.jit
def plus_one(x):
    return x + 1


@triton.jit
def minus_one(x):
    return x - 1


def test_kernels_with_closures() -> None:
    o = np.zeros(1, np.int64)
    kernels = [(make(scale, fn), scale, step) for scale in (2, 3) for fn, step in ((plus_one, 1), (minus_one, -1))]
    for kernel, scale, step in kernels * 2:
        kernel[(1,)](o, 10)
        assert o[0] == (10 + step) * scale


def pointwise(op):
    """A factory, as libraries write them: the operation is an argument."""

    @triton.jit
    def kernel(x_ptr, o_ptr, n, OP: tl.constexpr, B: tl.constexpr):
        i = tl.program_id(0) * B + tl.arange(0, B)
        tl.store(o_ptr + i, OP(tl.load(x_ptr + i, mask=i < n)), mask=i < n)

    def launch(x: torch.Tensor) -> torch.Tensor:
        o = torch.empty_like(x)
        kernel[lambda meta: (triton.cdiv(x.numel(), meta["B"]),)](x, o, x.numel(), OP=op, B=8)
        return o

    return launch


@triton.jit
def cube(x):
    return x * x * x


def test_functions_as_arguments() -> None:
    x = torch.linspace(-1, 1, 19)
    torch.testing.assert_close(pointwise(cube)(x), x**3)
    torch.testing.assert_close(pointwise(tl.exp)(x), x.exp())


@triton.autotune(configs=[triton.Config({"B": 4}), triton.Config({"B": 8})], key=["n"])
@triton.heuristics({"EVEN": lambda args: args["n"] % args["B"] == 0})
@triton.jit
def tuned(o_ptr, n, B: tl.constexpr, EVEN: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o_ptr + i, B * 10 + EVEN, mask=i < n)


def test_heuristics_and_autotune_around_a_kernel() -> None:
    o = np.zeros(10, np.int64)
    tuned[lambda meta: (triton.cdiv(10, meta["B"]),)](o, 10)
    assert set(o) <= {40, 80} and len(set(o)) == 1
    tuned[lambda meta: (triton.cdiv(8, meta["B"]),)](o, 8)
    assert set(o[:8]) <= {41, 81}


def test_strided_and_offset_views() -> None:
    @triton.jit
    def copy(x_ptr, o_ptr, sm, sn, M: tl.constexpr, N: tl.constexpr):
        i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
        tl.store(o_ptr + i * N + j, tl.load(x_ptr + i * sm + j * sn))

    base = torch.arange(400.0).reshape(20, 20)
    for view in (base[3:11, 2:6], base.t()[1:9, 4:8], base[::2, ::5][:8, :4], base[4:5].expand(8, 20)[:, 3:7]):
        o = torch.zeros(8, 4)
        copy[(1,)](view, o, view.stride(0), view.stride(1), M=8, N=4)
        assert torch.equal(o, view)


@triton.jit
def narrowed(x_ptr, a_ptr, b_ptr, h_ptr, B: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i)
    tl.store(a_ptr + i, x.to(tl.float8e4nv))
    tl.store(b_ptr + i, x.to(tl.float8e5))
    tl.store(h_ptr + i, x.to(tl.bfloat16) * 2)


def test_rounding_carries_into_the_exponent() -> None:
    x = torch.tensor([1.96875, 0.0009765625 * 1.5, 2.0**-6 * 0.99, 15.9, 0.4999, 3.9375, 1.9990234375, -1.96875])
    a, b = torch.zeros(8, dtype=torch.float8_e4m3fn), torch.zeros(8, dtype=torch.float8_e5m2)
    h = torch.zeros(8, dtype=torch.bfloat16)
    narrowed[(1,)](x, a, b, h, B=8)
    assert torch.equal(a.float(), x.to(torch.float8_e4m3fn).float()) and a[0].float() == 2
    assert torch.equal(b.float(), x.to(torch.float8_e5m2).float()) and b[5].float() == 4
    assert torch.equal(h, x.to(torch.bfloat16) * 2) and h[6] == 4


@triton.jit
def wide_scalars(o_ptr, n, m: tl.int64, count_ptr):
    tl.static_assert(m.dtype == tl.int64 and n.dtype == tl.int64)
    tl.store(o_ptr, n >> 1)
    tl.store(o_ptr + 1, m + 1)
    tl.atomic_add(count_ptr, 1.5)
    assert m != 3, "not raised without debug"


def test_scalars_past_31_bits_annotations_and_atomics() -> None:
    o, count = np.zeros(2, np.int64), torch.zeros(1, dtype=torch.bfloat16)
    wide_scalars[(3,)](o, 4294967295, 3, count)
    assert list(o) == [2147483647, 4] and count[0] == 4.5


@triton.jit
def leaves_a_loop(o_ptr, n):
    for i in range(n):
        if i > 2:
            break
        tl.store(o_ptr + i, i)


def test_unsupported_control_flow_does_not_just_work() -> None:
    with pytest.raises(UnsupportedLanguageConstruct, match="`break` is not supported in kernels"):
        leaves_a_loop[(1,)](np.zeros(8, np.int64), 5)


class Pointer:
    """What some libraries pass instead of a tensor."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self._tensor, self.dtype = tensor, tensor.dtype

    def data_ptr(self) -> int:
        return self._tensor.data_ptr()


def test_any_object_with_an_address_and_a_type() -> None:
    x, o = torch.arange(8), torch.zeros(8, dtype=torch.int64)
    masks[(1,)](Pointer(x), Pointer(o), 1, 8, M=1, N=8)
    assert torch.equal(o, torch.full((8,), -1))
    masks[(1,)](Pointer(x), Pointer(o), 1, 0, M=1, N=8)
    assert torch.equal(o, x)


class Counting(triton.JITFunction):
    """A library's own kind of kernel."""

    launches = 0

    def run(self, *args, grid, warmup=False, **kwargs):
        Counting.launches += not warmup
        return super().run(*args, grid=grid, warmup=warmup, **kwargs)


def test_kernels_are_objects_that_libraries_subclass_and_look_into() -> None:
    kernel, before = Counting(wrapping.fn), Counting.launches
    o = np.zeros(7, np.int64)
    kernel[(1,)](o, 100)
    assert Counting.launches == before + 1 and o[0] == -56
    assert isinstance(wrapping, triton.JITFunction) and wrapping.arg_names == ["o_ptr", "n"]
    assert masks.params[4].is_constexpr and wrapping.fn.__name__ == "wrapping" and "tl.store" in wrapping.src


def test_the_gpu_that_libraries_ask_for() -> None:
    driver = triton.runtime.driver.active
    target = driver.get_current_target()
    assert target.backend == "cuda" and target.arch >= 80 and target.warp_size == 32
    device = driver.get_current_device()
    properties = driver.utils.get_device_properties(device)
    assert properties["multiprocessor_count"] > 0 and properties["max_shared_mem"] > 0
    assert isinstance(driver.get_current_stream(device), int)
