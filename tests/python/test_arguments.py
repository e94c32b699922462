"""Arguments of a launch: what may be passed, how memory is found, what is refused."""

import ctypes
import weakref
from typing import NamedTuple

import kernels
import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
from process import run_code
from tiletwin import _C
from tiletwin.errors import CudaError

torch = pytest.importorskip("torch")


def test_numpy_and_torch_together():
    x, y, o = np.arange(100, dtype=np.float32), torch.ones(100), np.zeros(100, np.float32)
    kernels.add[(2,)](x, y, o, 100, BLOCK=64)
    assert (o == x + 1).all()


@pytest.mark.parametrize(
    "dtype",
    [
        "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16",
        "float32", "float64", "float8_e5m2", "float8_e4m3fn",
    ],
)  # fmt: skip
def test_torch_dtypes(dtype):
    x = torch.tensor([1, 0, 1, 1, 0, 0, 1, 0]).to(getattr(torch, dtype))
    o = torch.zeros_like(x)
    kernels.copy[(1,)](x, o, N=8)
    assert torch.equal(o.view(torch.uint8), x.view(torch.uint8))


@pytest.mark.parametrize(
    "dtype", "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()
)
def test_numpy_dtypes(dtype):
    x = np.array([1, 0, 1, 1, 0, 0, 1, 0], dtype)
    o = np.zeros_like(x)
    kernels.copy[(1,)](x, o, N=8)
    assert (o == x).all()


@pytest.mark.parametrize(
    "array", [np.zeros(8, np.complex64), np.zeros(8, ">f4"), np.array(["a"]), torch.zeros(8, dtype=torch.complex64)]
)
def test_other_element_types_are_refused(array):
    with pytest.raises(TypeError, match=r"copy\(\): argument 'x_ptr'.*cannot be passed to a kernel"):
        kernels.copy[(1,)](array, np.zeros(8, np.float32), N=8)


def test_extents_of_views():
    base = torch.arange(100, dtype=torch.float32)
    info = _C.array_info(base[10:20])
    assert info["data"] == base.data_ptr() + 40
    assert (info["begin"], info["end"]) == (base.data_ptr(), base.data_ptr() + 400)
    assert (info["view_begin"], info["view_end"]) == (base.data_ptr() + 40, base.data_ptr() + 80)
    strided = _C.array_info(base.view(10, 10)[:, 2:4])
    assert strided["view_end"] - strided["view_begin"] == (9 * 10 + 2) * 4
    expanded = _C.array_info(torch.zeros(1).expand(1000))
    assert expanded["view_end"] - expanded["view_begin"] == 4
    assert _C.array_info(torch.tensor(3.0))["type"] == "fp32"


def test_negative_strides():
    x = np.arange(16, dtype=np.float32)
    reverse = x[::-1]
    info = _C.array_info(reverse)
    address = x.__array_interface__["data"][0]
    assert info["data"] == address + 60
    assert (info["view_begin"], info["view_end"]) == (address, address + 64)
    half = x[:8][::-1]
    assert _C.array_info(half)["end"] == address + 64


def test_empty_arrays():
    for x in (torch.zeros(0), np.zeros((0, 3), np.float32)):
        info = _C.array_info(x)
        assert info["view_begin"] == info["view_end"]
        kernels.add[(1,)](x, x, x, 0, BLOCK=16)


def test_read_only_numpy():
    x, o = np.ones(8, np.float32), np.zeros(8, np.float32)
    x.flags.writeable = False
    kernels.copy[(1,)](x, o, N=8)
    assert (o == 1).all()
    with pytest.raises(ValueError, match=r"o_ptr"):
        kernels.copy[(1,)](o, x, N=8)
    assert (x == 1).all()


class HasInterface:
    def __init__(self, array, name="__array_interface__"):
        self.array = array
        setattr(self, name, array.__array_interface__)


class HasPointer:
    def __init__(self, tensor):
        self.tensor, self.dtype = tensor, tensor.dtype

    def data_ptr(self):
        return self.tensor.data_ptr()

    def numel(self):
        return self.tensor.numel()


class HasDlpack:
    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **kwargs):
        return self.array.__dlpack__(**kwargs)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_protocols():
    x = np.arange(8, dtype=np.float32)
    for given in (
        HasInterface(x),
        HasInterface(x, "__cuda_array_interface__"),
        HasPointer(torch.from_numpy(x)),
        HasDlpack(x),
        HasDlpack(torch.from_numpy(x)),
        memoryview(x),
        (ctypes.c_float * 8)(*x),
        torch.nn.Parameter(torch.from_numpy(x)),
    ):
        o = np.zeros(8, np.float32)
        kernels.copy[(1,)](given, o, N=8)
        assert (o == x).all(), type(given)


def test_protocols_have_extents():
    x = np.arange(8, dtype=np.float32)
    for given in (HasInterface(x), HasPointer(torch.from_numpy(x)), HasDlpack(x)):
        with pytest.raises(triton.OutOfBoundsError, match=r"x_ptr"):
            kernels.copy[(1,)](given, np.zeros(16, np.float32), N=16)


def test_device_memory_is_refused(monkeypatch):
    monkeypatch.setenv("TILETWIN_INTERPRET", "1")
    fake = HasInterface(np.zeros(8, np.float32), "__cuda_array_interface__")
    fake.__cuda_array_interface__ = {"data": (0x2000_0000_0000, False), "shape": (8,), "typestr": "<f4", "version": 3}
    with pytest.raises(TypeError, match=r"on a device"):
        kernels.copy[(1,)](fake, np.zeros(8, np.float32), N=8)
    with pytest.raises(TypeError, match=r"meta tensor"):
        kernels.copy[(1,)](torch.zeros(8, device="meta"), np.zeros(8, np.float32), N=8)


@pytest.mark.skipif(torch.cuda.is_available(), reason="the memory is none of a GPU's")
def test_device_memory_without_a_driver(monkeypatch):
    monkeypatch.delenv("TILETWIN_INTERPRET", raising=False)
    fake = HasInterface(np.zeros(8, np.float32), "__cuda_array_interface__")
    fake.__cuda_array_interface__ = {"data": (0x2000_0000_0000, False), "shape": (8,), "typestr": "<f4", "version": 3}
    with pytest.raises(CudaError, match=r"no CUDA driver was found.*\n(.*\n)*.*TILETWIN_INTERPRET=1"):
        kernels.copy[(1,)](fake, fake, N=8)


@pytest.mark.parametrize(
    "value, dtype",
    [
        (3, np.int32), (True, np.int32), (2.5, np.float32), (np.int64(7), np.int64), (np.float32(1.5), np.float32),
        (np.bool_(True), np.int32), (-1, np.int64), (2**40, np.int64), (2**63, np.uint64), (1, np.int32),
        (16, np.int32),
    ],
)  # fmt: skip
def test_scalars(value, dtype):
    o = np.zeros(8, dtype)
    kernels.fill[(1,)](o, value)
    assert (o == value).all()


def test_annotated_types():
    @triton.jit
    def wide(o_ptr, n: tl.int64, x: "fp16"):  # noqa: F821
        tl.static_assert(n.dtype == tl.int64)
        tl.static_assert(x.dtype == tl.float16)
        tl.store(o_ptr, n)
        tl.store(o_ptr + 1, x.to(tl.int64))

    o = np.zeros(2, np.int64)
    compiled = wide[(1,)](o, 1, 2049.0)
    assert list(o) == [1, 2048]
    assert compiled.src.signature == {"o_ptr": "*i64", "n": "i64", "x": "fp16"}
    with pytest.raises(TypeError, match=r"'n'"):
        wide[(1,)](o, 1.5, 0.5)


def test_integers_that_do_not_fit():
    with pytest.raises(OverflowError, match=r"value"):
        kernels.fill[(1,)](np.zeros(8, np.int64), 2**64)

    @triton.jit
    def narrow(o_ptr, n: tl.int8):
        tl.store(o_ptr, n)

    with pytest.raises(OverflowError, match=r"i8"):
        narrow[(1,)](np.zeros(1, np.int64), 300)


def test_none_and_tuples():
    class Pair(NamedTuple):
        pointer: object
        scale: float

    @triton.jit
    def use(o_ptr, optional, pair, sizes, N: tl.constexpr):
        i = tl.arange(0, N)
        x = tl.load(pair.pointer + i) * pair.scale
        if optional is not None:
            x += tl.load(optional + i)
        tl.store(o_ptr + i, x + sizes[0] * sizes[1])

    x, o = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    use[(1,)](o, None, Pair(x, 2.0), (3, 1), N=8)
    assert (o == 2 * x + 3).all()
    use[(1,)](o, x, Pair(x, 2.0), (3, 5), N=8)
    assert (o == 3 * x + 15).all()
    with pytest.raises(triton.OutOfBoundsError, match=r"pair\[0\]"):
        use[(1,)](np.zeros(16, np.float32), None, Pair(x, 2.0), (3, 1), N=16)


def test_tuples_in_constexprs():
    @triton.jit
    def use(o_ptr, SHAPE: tl.constexpr, DTYPE: tl.constexpr):
        tl.store(o_ptr + tl.arange(0, 4), tl.full((4,), SHAPE[0] + SHAPE[1], DTYPE))

    o = np.zeros(4, np.float32)
    use[(1,)](o, (2, 3), tl.float32)
    assert (o == 5).all()


@pytest.mark.parametrize("value", ["text", tl.float32, object(), {}, b"bytes"])
def test_values_that_cannot_be_run_time_arguments(value):
    with pytest.raises(TypeError, match=r"fill\(\): argument 'value'.*tl.constexpr"):
        kernels.fill[(1,)](np.zeros(8, np.float32), value)


def test_constexpr_must_be_hashable_and_no_array():
    with pytest.raises(TypeError, match=r"'N'.*hashable"):
        kernels.fill[(1,)](np.zeros(8), 1, N={})
    with pytest.raises(TypeError, match=r"'N'.*not an array"):
        kernels.fill[(1,)](np.zeros(8), 1, N=np.zeros(3))


def test_binding():
    o = np.zeros(8, np.float32)
    kernels.fill[(1,)](o, N=8, value=2.0)
    assert (o == 2).all()
    for args, options, text in [
        ((o,), {}, "missing 1 required argument: 'value'"),
        ((), {}, "missing 2 required arguments: 'o_ptr' and 'value'"),
        ((o, 1, 8, 9), {}, "takes 3 positional arguments but 4 were given"),
        ((o, 1), {"value": 2}, "multiple values for argument 'value'"),
    ]:
        with pytest.raises(TypeError, match=text):
            kernels.fill[(1,)](*args, **options)
    with pytest.raises(KeyError, match=r"num_wraps was specified but unrecognised"):
        kernels.fill[(1,)](o, 1, num_wraps=4)
    with pytest.raises(ValueError, match=r"num_warps must be a power of 2"):
        kernels.fill[(1,)](o, 1, num_warps=3)
    kernels.fill[(1,)](o, 4.0, num_warps=8, num_stages=2, num_ctas=1, maxnreg=128)
    assert (o == 4).all()


def test_reinterpret():
    x = torch.tensor([0x3C, 0x40, 0x00, 0xBC] * 2, dtype=torch.uint8)
    o = torch.zeros(8)

    @triton.jit
    def widen(x_ptr, o_ptr):
        i = tl.arange(0, 8)
        tl.store(o_ptr + i, tl.load(x_ptr + i).to(tl.float32))

    widen[(1,)](triton.reinterpret(x, tl.float8e5), o)
    assert o.tolist() == [1.0, 2.0, 0.0, -1.0] * 2


def test_registered_memory():
    values = [np.full(4, i, np.float32) for i in range(3)]
    table = np.array([v.ctypes.data for v in values], np.int64)

    @triton.jit
    def gather(table_ptr, o_ptr):
        row = tl.program_id(0)
        source = tl.load(table_ptr + row).to(tl.pointer_type(tl.float32))
        i = tl.arange(0, 4)
        tl.store(o_ptr + row * 4 + i, tl.load(source + i))

    o = np.zeros(12, np.float32)
    with pytest.raises(triton.OutOfBoundsError):
        gather[(3,)](table, o)
    for value in values:
        triton.register(value, "row")
    try:
        gather[(3,)](table, o)
        assert list(o) == [0] * 4 + [1] * 4 + [2] * 4
    finally:
        for value in values:
            triton.unregister(value)
    with pytest.raises(triton.OutOfBoundsError):
        gather[(3,)](table, o)


def test_dtypes_that_are_made_at_each_access_are_let_go():
    class Dtype:
        def __str__(self):
            return "float32"

    made = []

    class HasPointer:
        def __init__(self, array):
            self.array, self.nbytes = array, array.nbytes

        def data_ptr(self):
            return self.array.ctypes.data

        @property
        def dtype(self):
            dtype = Dtype()
            made.append(weakref.ref(dtype))
            return dtype

    x, o = np.ones(8, np.float32), np.zeros(8, np.float32)
    for _ in range(300):
        kernels.copy[(1,)](HasPointer(x), o, N=8)
    assert (o == x).all() and len(made) >= 300
    assert sum(dtype() is not None for dtype in made) <= 64


def test_what_launches_keep_is_not_freed_behind_python():
    """A dtype is kept once it is known; objects freed when the interpreter is gone end the process with an abort."""
    done = run_code("""
        import kernels
        import numpy as np

        class Dtype:
            def __init__(self):
                self.notes = [{}]
            def __str__(self):
                return "float32"

        class HasPointer:
            def __init__(self, array):
                self.array, self.dtype, self.nbytes = array, Dtype(), array.nbytes
            def data_ptr(self):
                return self.array.ctypes.data

        x, o = np.ones(8, np.float32), np.zeros(8, np.float32)
        kernels.copy[(1,)](HasPointer(x), o, N=8)
        print((o == x).all())
    """)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


def test_arrays_on_memory_of_ctypes():
    """Their buffers have no strides, whatever one asks for."""
    memory = (ctypes.c_float * 12)(*range(12))
    whole = np.frombuffer(memory, np.float32)
    out = np.zeros(8, np.float32)
    kernels.copy[(1,)](whole[4:], out, N=8)
    assert out.tolist() == list(range(4, 12))
    text = r"offset 32 of x_ptr \(a view of 32 bytes; the access is at offset 48"
    with pytest.raises(triton.OutOfBoundsError, match=text):
        kernels.copy[(1,)](whole[4:], np.zeros(16, np.float32), N=16)
