"""Arguments of tiletwin.sim: arrays, tensors, numbers, structures, names, and what is said of those that do not fit."""

from __future__ import annotations

import ctypes
import struct

import children
import numpy as np
import pytest
from sim_texts import (
    ADD,
    ADD_LOAD_LINE,
    NUMBERS,
    STATE,
    add_kernel,
    floats,
)
from tiletwin import sim
from tiletwin.errors import OutOfBoundsError

# ---- arrays


def test_arrays_of_numpy():
    x, y, out = floats(), floats(seed=1), np.zeros(100, np.float32)
    ran = add_kernel()(x, y, out, 100, grid=2, block=64)
    assert (out == x + y).all()
    assert ran.instructions > 4 and 100 * 10 < ran.lane_instructions <= 32 * ran.instructions


def test_tensors_of_torch():
    torch = pytest.importorskip("torch")
    x, y, out = torch.randn(100), torch.randn(100), torch.zeros(100)
    add_kernel()(x, y.requires_grad_(), out, 100, grid=(2, 1), block=(64, 1, 1))
    assert torch.equal(out, (x + y).detach())


def test_tensors_on_an_emulated_gpu():
    pytest.importorskip("torch")
    code = f"""
        from tiletwin import activation
        activation.activate()
        import torch
        from tiletwin import sim
        x, out = torch.ones(100, device="cuda"), torch.zeros(100, device="cuda")
        sim.load({ADD!r})["add"](x, x, out, 100, grid=1, block=128)
        print(out.is_cuda, out.sum().item())
    """
    done = children.run_code(code, TILETWIN_INTERPRET="1")
    assert done.stdout == "True 200.0\n", done.stderr


@pytest.mark.gpu
def test_tensors_on_a_gpu_are_copied_there_and_back():
    torch = pytest.importorskip("torch")
    both = torch.randn(300, device="cuda")
    x, out = both[:100], both[200:]  # one storage
    want = 2 * x.cpu()
    add_kernel()(x, x, out, 100, grid=1, block=128)
    assert torch.equal(out.cpu(), want) and torch.equal(2 * x.cpu(), want)


def test_a_meta_tensor_has_no_data():
    torch = pytest.importorskip("torch")
    x = torch.empty(100, device="meta")
    with pytest.raises(TypeError, match=r"add\(\): argument add_param_0 is a meta tensor, which has no data"):
        add_kernel()(x, x, x, 100, grid=1, block=128)


def test_views_begin_where_they_begin():
    base, out = floats(300), np.zeros(100, np.float32)
    add_kernel()(base[50:], base[200:250], out, 100, grid=1, block=128)  # the storage reaches on to element 299
    assert (out == base[50:150] + base[200:300]).all()


@pytest.mark.parametrize(
    "dtype", [np.complex64, np.dtype([("a", np.float32), ("b", np.int32)])], ids=["complex", "structure"]
)
def test_any_element_type_is_memory(dtype):
    x, out = np.arange(100, dtype=np.float32).view(dtype), np.zeros(100, np.float32)
    add_kernel()(x[::2], x, out, 100, grid=1, block=128)
    assert (out == 2 * np.arange(100)).all()


def test_elements_in_the_other_byte_order_are_refused():
    x = floats().astype(">f4")
    with pytest.raises(TypeError, match=r"argument add_param_0: .*>f4"):
        add_kernel()(x, x, x, 100, grid=1, block=128)


def test_a_null_pointer():
    x = floats()
    with pytest.raises(OutOfBoundsError, match=r"ld\.global\.f32.*lane 0: reads 4 bytes"):
        add_kernel()(None, x, x, 100, grid=1, block=128)


def test_out_of_bounds_names_everything():
    x, out = floats(), np.zeros(200, np.float32)
    with pytest.raises(OutOfBoundsError) as caught:
        add_kernel()(x, out, out, 120, grid=4, block=32)
    text = (
        f"add.ptx:{ADD_LOAD_LINE}:3: ld.global.f32: CTA (3, 0, 0), warp 0, lane 4: reads 4 bytes at offset 400 of "
        "add_param_0, which has 400"
    )
    assert text in str(caught.value)
    error = caught.value
    assert (error.buffer, error.offset, error.buffer_bytes, error.program) == ("add_param_0", 400, 400, (3, 0, 0))
    assert (error.line, error.operation) == (ADD_LOAD_LINE, "ld.global.f32")


def test_a_read_only_array_cannot_be_written():
    x, out = floats(), np.zeros(100, np.float32)
    x.flags.writeable = False
    add_kernel()(x, x, out, 100, grid=1, block=128)
    assert (out == 2 * x).all()
    with pytest.raises(ValueError, match=r"st\.global\.f32.*writes 4 bytes of add_param_2, which is read-only"):
        add_kernel()(out, out, x, 100, grid=1, block=128)
    assert (out == 2 * x).all()


def test_misaligned_addresses():
    room = np.zeros(404, np.uint8)
    odd = room[1:401].view(np.float32)
    with pytest.raises(
        ValueError, match=r"ld\.global\.f32.*lane 0: reads 4 bytes at 0x[0-9a-f]+, which is no multiple of 4"
    ):
        add_kernel()(odd, odd, odd, 100, grid=1, block=128)
    out = np.zeros(8, np.uint32)
    shifted = out[(16 - out.ctypes.data % 16) % 16 // 4 + 1 :]
    said = r"argument out: the array begins at 0x[0-9a-f]+, which is no multiple of 16, as \.ptr \.align 16 promises"
    with pytest.raises(ValueError, match=said):
        sim.load(STATE)["state"](shifted, np.zeros(1, np.uint64), grid=1, block=1)


def test_what_is_no_array():
    x = floats()
    for value, said in (
        ([1, 2], r"argument add_param_1: a list is not an array"),
        (b"abcd", r"argument add_param_1: a bytes is not an array"),
        ("x", r"argument add_param_1: \.u64 wants an integer, or an array for a pointer, not str"),
        (1.5, r"argument add_param_1: \.u64 wants an integer, or an array for a pointer, not 1\.5"),
    ):
        with pytest.raises(TypeError, match=said):
            add_kernel()(x, value, x, 100, grid=1, block=128)
    with pytest.raises(
        TypeError, match=r"argument add_param_3: \.u32 wants an integer, not an array \(numpy\.ndarray\)"
    ):
        add_kernel()(x, x, x, x, grid=1, block=128)


# ---- which argument is which


def test_arguments_by_name():
    x, y, out = floats(), floats(seed=1), np.zeros(100, np.float32)
    add_kernel()(param_1=y, add_param_0=x, param_3=100, param_2=out, grid=1, block=128)
    assert (out == x + y).all()
    out[:] = 0
    add_kernel()(x, y, param_3=50, param_2=out, grid=1, block=128)
    assert (out[:50] == (x + y)[:50]).all() and not out[50:].any()


TAKES = r"\.u64 add_param_0, \.u64 add_param_1, \.u64 add_param_2, \.u32 add_param_3"


@pytest.mark.parametrize(
    ("count", "named", "said"),
    [
        (3, {}, rf"add\(\) takes 4 arguments \({TAKES}\), not 3"),
        (5, {}, rf"add\(\) takes 4 arguments \({TAKES}\), not 5"),
        (0, {}, rf"add\(\) takes 4 arguments \({TAKES}\), not 0"),
        (2, {"param_3": 1}, rf"add\(\) lacks a value for param_2; it takes {TAKES}"),
        (4, {"n": 1}, rf"add\(\) has no parameter n; it takes {TAKES}"),
        (3, {"param_0": 1, "param_3": 1}, r"add\(\) got two values for param_0: by position and by name"),
    ],
)  # fmt: skip
def test_wrong_numbers_of_arguments(count, named, said):
    with pytest.raises(TypeError, match=said):
        add_kernel()(*[0] * count, **named, grid=1, block=128)


# ---- numbers and structures


def numbers(**changes):
    """What the kernel sees: name -> bytes."""
    out = np.zeros(72, np.uint8)
    given = {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6, "g": 7, "s": bytes(range(12)), **changes}
    sim.load(NUMBERS)["numbers"](out, **given, grid=1, block=1)
    sizes = {"a": 1, "b": 2, "c": 4, "d": 8, "e": 4, "f": 8, "g": 4, "s": 12}
    return {name: out[8 * i : 8 * i + size].tobytes() for i, (name, size) in enumerate(sizes.items())}


def test_numbers_as_their_parameters_type():
    got = numbers()
    wanted = (
        struct.pack("<B", 1),
        struct.pack("<h", 2),
        struct.pack("<I", 3),
        struct.pack("<q", 4),
        struct.pack("<f", 5),
    )
    assert [got[k] for k in "abcde"] == list(wanted)
    assert got["f"] == struct.pack("<d", 6) and got["g"] == struct.pack("<I", 7) and got["s"] == bytes(range(12))


@pytest.mark.parametrize(
    ("name", "value", "bits"),
    [
        ("a", 255, "ff"), ("a", -128, "80"), ("a", True, "01"), ("a", np.True_, "01"),
        ("b", -(1 << 15), "0080"), ("b", 65535, "ffff"),
        ("c", (1 << 32) - 1, "ffffffff"), ("c", -1, "ffffffff"), ("c", np.int8(-2), "feffffff"),
        ("c", np.array(7), "07000000"),
        ("d", -1, "ff" * 8), ("d", (1 << 64) - 1, "ff" * 8), ("d", np.uint64(1 << 63), "00" * 7 + "80"),
        ("e", 1.5, "0000c03f"), ("e", 0.1, "cdcccc3d"), ("e", 1e300, "0000807f"), ("e", np.float64(-0.0), "00000080"),
        ("e", np.uint32(0x7FA00001).view(np.float32), "0100a07f"), ("e", 3, "00004040"), ("e", 1e-45, "01000000"),
        ("f", 0.1, "9a9999999999b93f"), ("f", np.float32(0.1), "000000a09999b93f"),
        ("g", np.float32(1.5), "0000c03f"), ("g", -1, "ffffffff"),
        ("s", np.arange(3, dtype=np.int32), "000000000100000002000000"),
        ("s", np.array((1, 2.0, 3), "<i4,<f4,<i4")[()], "010000000000004003000000"),
        ("s", bytearray(12), "00" * 12),
    ],
)  # fmt: skip
def test_edges_of_numbers(name, value, bits):
    assert numbers(**{name: value})[name].hex() == bits


def test_a_structure_of_ctypes_and_torch():
    class Three(ctypes.Structure):
        _fields_ = [("x", ctypes.c_int), ("y", ctypes.c_float), ("z", ctypes.c_short)]

    assert numbers(s=Three(1, 2.0, -1))["s"] == struct.pack("<ifhxx", 1, 2.0, -1)
    torch = pytest.importorskip("torch")
    assert numbers(c=torch.tensor(9), e=torch.tensor(1.5))["c"] == struct.pack("<I", 9)


@pytest.mark.parametrize(
    ("error", "name", "value", "said"),
    [
        (ValueError, "a", 256, r"numbers\(\): argument a: 256 does not fit into \.u8"),
        (ValueError, "a", -129, r"-129 does not fit into \.u8"),
        (ValueError, "b", 1 << 16, r"65536 does not fit into \.s16"),
        (ValueError, "c", 1 << 32, r"4294967296 does not fit into \.u32"),
        (ValueError, "d", 1 << 64, r"18446744073709551616 does not fit into \.s64"),
        (TypeError, "c", 1.0, r"argument c: \.u32 wants an integer, not 1\.0"),
        (TypeError, "c", np.float32(2), r"argument c: \.u32 wants an integer, not .*2\.0"),
        (TypeError, "g", np.float64(2), r"argument g: \.b32 wants an integer, not .*2\.0"),
        (TypeError, "c", "3", r"argument c: \.u32 wants an integer, not str"),
        (TypeError, "c", None, r"argument c: \.u32 wants an integer, not NoneType"),
        (TypeError, "e", "3", r"argument e: \.f32 wants a number, not str"),
        (TypeError, "f", None, r"argument f: \.f64 wants a number, not NoneType"),
        (TypeError, "f", np.zeros(8), r"argument f: \.f64 wants a number, not an array \(numpy\.ndarray\)"),
        (TypeError, "e", 1j, r"argument e: \.f32 wants a number, not complex"),
        (TypeError, "s", bytes(11), r"argument s is a structure of 12 bytes: give bytes.*, not 11 bytes \(bytes\)"),
        (TypeError, "s", np.zeros(4, np.int32), r"argument s is a structure of 12 bytes.* not 16 bytes \(ndarray\)"),
        (TypeError, "s", 12, r"argument s is a structure of 12 bytes.* not 12"),
        (TypeError, "s", object(), r"argument s is a structure of 12 bytes.* not object"),
    ],
)  # fmt: skip
def test_values_that_do_not_fit(error, name, value, said):
    with pytest.raises(error, match=said):
        numbers(**{name: value})
