"""Arrays, textures and surfaces, compared with arithmetic of our own (with an H200: test_textures.py)."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
import virtual_gpu as gpu
from virtual_gpu import HEAD, INVALID_HANDLE, INVALID_VALUE, NOT_SUPPORTED, call, code_of, context, number

KERNELS = (
    HEAD
    + """
.visible .entry look(.param .u64 image, .param .u64 places, .param .u64 out)
{
  .reg .b64 %d<5>; .reg .b32 %r<4>; .reg .f32 %f<8>;
  ld.param.u64 %d1, [image]; ld.param.u64 %d2, [places]; ld.param.u64 %d3, [out];
  mov.u32 %r1, %tid.x; mul.wide.u32 %d4, %r1, 8; add.u64 %d2, %d2, %d4; mul.wide.u32 %d4, %r1, 16;
  add.u64 %d3, %d3, %d4;
  ld.global.f32 %f1, [%d2]; ld.global.f32 %f2, [%d2+4];
  tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%d1, {%f1, %f2}];
  st.global.v4.f32 [%d3], {%f3, %f4, %f5, %f6}; ret;
}
.visible .entry turn(.param .u64 from, .param .u64 to, .param .u32 first)
{
  .reg .b64 %d<3>; .reg .b32 %r<6>;
  ld.param.u64 %d1, [from]; ld.param.u64 %d2, [to]; ld.param.u32 %r5, [first];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; add.s32 %r1, %r1, %r5; shl.b32 %r3, %r1, 2;
  suld.b.2d.b32.trap %r4, [%d1, {%r3, %r2}];
  shl.b32 %r3, %r2, 2;
  sust.b.2d.b32.trap [%d2, {%r3, %r1}], %r4; ret;
}
"""
)


class Array3D(ctypes.Structure):
    _fields_ = [
        ("width", ctypes.c_size_t), ("height", ctypes.c_size_t), ("depth", ctypes.c_size_t),
        ("format", ctypes.c_int), ("channels", ctypes.c_uint), ("flags", ctypes.c_uint),
    ]  # fmt: skip


class Resource(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("words", ctypes.c_uint64 * 16), ("flags", ctypes.c_uint)]


class Texture(ctypes.Structure):
    _fields_ = [
        ("addressing", ctypes.c_int * 3), ("filter", ctypes.c_int), ("flags", ctypes.c_uint),
        ("anisotropy", ctypes.c_uint), ("level_filter", ctypes.c_int), ("levels", ctypes.c_float * 3),
        ("border", ctypes.c_float * 4),
        ("reserved", ctypes.c_int * 12),
    ]  # fmt: skip


class Copy2D(ctypes.Structure):
    _fields_ = [
        (f"{side}_{name}", kind) for side in ("from", "to") for name, kind in (
            ("x", ctypes.c_size_t), ("y", ctypes.c_size_t), ("type", ctypes.c_int), ("host", ctypes.c_void_p),
            ("device", ctypes.c_uint64), ("array", ctypes.c_uint64), ("pitch", ctypes.c_size_t))
    ] + [("width", ctypes.c_size_t), ("height", ctypes.c_size_t)]  # fmt: skip


assert ctypes.sizeof(Resource) == 144 and ctypes.sizeof(Texture) == 104 and ctypes.sizeof(Copy2D) == 128
U8, S32, F32 = 1, 10, 0x20
HOST, ARRAY = 1, 3
WRAP, CLAMP, BORDER = 0, 1, 3
POINT, LINEAR = 0, 1
AS_INTEGER, NORMALIZED = 1, 2


def new_array(width: int, height: int = 0, depth: int = 0, form: int = F32, channels: int = 1, flags: int = 0) -> int:
    return number("cuArray3DCreate_v2", ctypes.byref(Array3D(width, height, depth, form, channels, flags)))


def copy(array: int, host: np.ndarray, *, to_array: bool, x: int = 0, y: int = 0) -> int:
    """What the copy of a whole host array returns."""
    words = Copy2D(width=host.shape[1] * host.itemsize, height=host.shape[0])
    ends = ("from", "to") if to_array else ("to", "from")
    for end, type_, member, value in (
        (ends[0], HOST, "host", host.ctypes.data), (ends[1], ARRAY, "array", array),
    ):  # fmt: skip
        setattr(words, f"{end}_type", type_)
        setattr(words, f"{end}_{member}", value)
    setattr(words, f"{ends[0]}_pitch", host.shape[1] * host.itemsize)
    setattr(words, f"{ends[1]}_x", x * host.itemsize)
    setattr(words, f"{ends[1]}_y", y)
    return code_of("cuMemcpy2D_v2", ctypes.byref(words))


def texture(array: int, *, mode: int = CLAMP, filter: int = POINT, flags: int = 0, border: float = 0) -> int:
    asked = Texture((mode,) * 3, filter, flags, border=(border,) * 4)
    return number("cuTexObjectCreate", ctypes.byref(Resource(0, (array,))), ctypes.byref(asked), None)


def look(handle: int, places: np.ndarray) -> np.ndarray:
    """float4 at each place (x, y)."""
    at, out = gpu.to_device(places.astype(np.float32)), gpu.to_device(np.zeros((len(places), 4), np.float32))
    look_at = gpu.function("look", gpu.module(KERNELS))
    gpu.launch(look_at, *map(ctypes.c_uint64, (handle, at, out)), block=len(places))
    call("cuCtxSynchronize")
    return gpu.from_device(out, np.zeros((len(places), 4), np.float32))


IMAGE = np.arange(12, dtype=np.float32).reshape(3, 4) ** 2


def test_arrays_hold_what_is_copied():
    with context():
        array = new_array(4, 3)
        back = np.zeros_like(IMAGE)
        assert copy(array, IMAGE, to_array=True) == 0
        assert copy(array, back, to_array=False) == 0
        assert np.array_equal(back, IMAGE)
        part = np.full((2, 2), 7, np.float32)
        assert copy(array, part, to_array=True, x=2, y=1) == 0
        assert copy(array, back, to_array=False) == 0
        assert back[1:, 2:].tolist() == [[7, 7], [7, 7]] and back[0, 3] == 9
        assert copy(array, part, to_array=True, x=3) == INVALID_VALUE
        told = Array3D()
        call("cuArray3DGetDescriptor_v2", ctypes.byref(told), array)
        assert (told.width, told.height, told.depth, told.format) == (4, 3, 0, F32)
        call("cuArrayDestroy", array)
        assert copy(array, part, to_array=True) == INVALID_HANDLE


def test_arrays_that_there_are_not():
    with context():
        for words, code in [
            ((0, 3), INVALID_VALUE), ((4, 3, 0, F32, 3), INVALID_VALUE), ((4, 3, 0, 0xB0), NOT_SUPPORTED),
            ((4, 4, 5, F32, 1, 4), INVALID_VALUE),
        ]:  # fmt: skip
            asked = Array3D(*words, **({} if len(words) > 2 else {"format": F32, "channels": 1}))
            asked.channels = asked.channels or 1
            assert code_of("cuArray3DCreate_v2", ctypes.byref(ctypes.c_uint64()), ctypes.byref(asked)) == code, words


@pytest.mark.parametrize("mode, expected", [(CLAMP, [0, 0, 9, 121]), (BORDER, [0.25, 0, 0.25, 0.25])])
def test_what_lies_outside(mode, expected):
    with context():
        array = new_array(4, 3)
        copy(array, IMAGE, to_array=True)
        got = look(texture(array, mode=mode, border=0.25), np.array([[-1, 0], [0.9, 0.9], [4, 0], [9, 9]]))
        assert got[:, 0].tolist() == expected
        assert got[1].tolist() == [0, 0, 0, 1]  # channels that are not there


def test_filters_and_coordinates():
    with context():
        array = new_array(4, 3)
        copy(array, IMAGE, to_array=True)
        plain = texture(array, filter=LINEAR)
        places = np.array([[0.5, 0.5], [1, 0.5], [1, 1], [2.75, 2.25]])
        between = (
            IMAGE[1, 2] * 0.75 * 0.25
            + IMAGE[1, 3] * 0.25 * 0.25
            + IMAGE[2, 2] * 0.75 * 0.75
            + IMAGE[2, 3] * 0.25 * 0.75
        )
        assert look(plain, places)[:, 0].tolist() == [0, 0.5, (0 + 1 + 16 + 25) / 4, between]
        fractions = look(texture(array, mode=WRAP, flags=NORMALIZED), np.array([[1.3, -0.1], [0.99, 2.5]]))
        assert fractions[:, 0].tolist() == [IMAGE[2, 1], IMAGE[1, 3]]


def test_integers_become_fractions():
    with context():
        array = new_array(2, 1, form=U8, channels=4)
        assert copy(array, np.array([[0, 51, 102, 255, 1, 2, 3, 4]], np.uint8), to_array=True) == 0
        got = look(texture(array), np.array([[0.5, 0.5]]))[0]
        assert got.tolist() == [np.float32(v) / np.float32(255) for v in (0, 51, 102, 255)]
        asked = Texture((CLAMP,) * 3, LINEAR, AS_INTEGER)
        resource = ctypes.byref(Resource(0, (array,)))
        made = ctypes.byref(ctypes.c_uint64())
        assert code_of("cuTexObjectCreate", made, resource, ctypes.byref(asked), None) == INVALID_VALUE


def test_surfaces():
    with context():
        image = np.arange(12, dtype=np.int32).reshape(3, 4)
        source, target = new_array(4, 3, form=S32, flags=2), new_array(3, 4, form=S32, flags=2)
        copy(source, image, to_array=True)
        objects = [number("cuSurfObjectCreate", ctypes.byref(Resource(0, (a,)))) for a in (source, target)]
        turn = gpu.function("turn", gpu.module(KERNELS))
        values = (*map(ctypes.c_uint64, objects), ctypes.c_uint32(0))
        call("cuLaunchKernel", turn, 1, 1, 1, 4, 3, 1, 0, 0, gpu.pointers(values), None)
        back = np.zeros((4, 3), np.int32)
        copy(target, back, to_array=False)
        assert np.array_equal(back, image.T)
        plain = ctypes.byref(Resource(0, (new_array(4, 3),)))
        assert code_of("cuSurfObjectCreate", ctypes.byref(ctypes.c_uint64()), plain) == INVALID_VALUE
        values = (*map(ctypes.c_uint64, objects), ctypes.c_uint32(1))
        call("cuLaunchKernel", turn, 1, 1, 1, 4, 3, 1, 0, 0, gpu.pointers(values), None)
        assert code_of("cuCtxSynchronize") == gpu.ILLEGAL_ADDRESS


def test_an_object_that_was_destroyed(capfd):
    with context():
        array = new_array(4, 3)
        handle = texture(array)
        call("cuTexObjectDestroy", handle)
        assert code_of("cuTexObjectDestroy", handle) == INVALID_VALUE
        with pytest.raises(gpu.DriverError):
            look(handle, np.zeros((1, 2)))
        assert "is no texture object, or one that was destroyed" in capfd.readouterr().err


def test_levels():
    with context():
        mipmapped = number("cuMipmappedArrayCreate", ctypes.byref(Array3D(4, 4, 0, F32, 1, 0)), 9)
        levels = [number("cuMipmappedArrayGetLevel", mipmapped, i) for i in range(3)]
        for i, level in enumerate(levels):
            copy(level, np.full((4 >> i, 4 >> i), i + 1, np.float32), to_array=True)
        told = Array3D()
        call("cuArray3DGetDescriptor_v2", ctypes.byref(told), levels[2])
        assert (told.width, told.height) == (1, 1)
        none = ctypes.byref(ctypes.c_uint64())
        assert code_of("cuMipmappedArrayGetLevel", none, mipmapped, 3) == INVALID_VALUE
        asked = Texture((CLAMP,) * 3, POINT, NORMALIZED, levels=(1.4, 0, 2))
        handle = number("cuTexObjectCreate", ctypes.byref(Resource(1, (mipmapped,))), ctypes.byref(asked), None)
        assert look(handle, np.array([[0.5, 0.5]]))[0, 0] == 2  # the bias chooses level 1
        call("cuMipmappedArrayDestroy", mipmapped)
        assert code_of("cuArray3DGetDescriptor_v2", ctypes.byref(told), levels[0]) == INVALID_HANDLE
