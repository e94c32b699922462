"""tiletwin.sim.tensor_map: what its defaults make of an array, what the driver refuses, tiles that come through it.

Here:      tiles of two dimensions, and one of each other rank, against NumPy.
Not here:  all types, swizzles and strides (TensorMapTest.cpp).
"""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from sim_texts import STORE_TILE, tile_text
from tiletwin import sim
from tiletwin.errors import OutOfBoundsError


def aligned(shape, dtype) -> np.ndarray:
    """Random elements at a multiple of 256 bytes."""
    count = int(np.prod(shape))
    room = np.zeros(count * np.dtype(dtype).itemsize + 256, np.uint8)
    array = room[-room.ctypes.data % 256 :][: count * np.dtype(dtype).itemsize].view(dtype).reshape(shape)
    array[...] = np.random.default_rng(0).integers(0, 100, shape)
    return array


def tile(tensor_map: sim.TensorMap, at: tuple[int, ...], *, by_pointer: bool = False) -> bytes:
    """The bytes of a tile in shared memory; at: its coordinates, dimension 0 first."""
    steps = [(b + s - 1) // s if d else b for d, (b, s) in enumerate(zip(tensor_map.box, tensor_map.element_strides))]
    total = int(np.prod(steps)) * sim.tensor_maps.ELEMENTS[tensor_map.dtype]
    kernel = sim.load(tile_text(by_pointer, len(at)))["tile"]
    out = np.zeros(total, np.uint8)
    kernel(tensor_map, out, total, *at, grid=1)
    return out.tobytes()


@pytest.mark.parametrize("by_pointer", [False, True], ids=["by value", "by pointer"])
def test_sizes_and_strides_come_from_the_array(by_pointer):
    x = aligned((20, 24), np.int32)
    described = sim.tensor_map(x, (8, 4))
    assert (described.sizes, described.strides, described.dtype) == ((24, 20), (96,), "int32")
    got = tile(described, (8, 10), by_pointer=by_pointer)
    assert got == x[10:14, 8:16].tobytes()


def test_a_view_has_its_own_strides():
    x = aligned((20, 64), np.float16)
    described = sim.tensor_map(x[2:10, 8:40], [16, 8])
    assert (described.sizes, described.strides, described.dtype) == ((32, 8), (128,), "float16")
    assert tile(described, (16, 0)) == x[2:10, 24:40].tobytes()


@pytest.mark.parametrize("rank", [1, 3, 4, 5])
def test_other_ranks(rank):
    shape, box = (3, 4, 5, 6, 16)[-rank:], (2, 2, 3, 2, 8)[-rank:]
    x = aligned(shape, np.float32)
    at = (1, 2, 1, 3, 4)[-rank:]
    got = tile(sim.tensor_map(x, box[::-1]), at[::-1])
    assert got == x[tuple(slice(a, a + b) for a, b in zip(at, box))].tobytes()


def test_a_tensor_of_torch():
    torch = pytest.importorskip("torch")
    x = torch.arange(20 * 32, dtype=torch.bfloat16).reshape(20, 32)
    described = sim.tensor_map(x, (8, 4))
    assert (described.dtype, described.sizes, described.strides) == ("bfloat16", (32, 20), (64,))
    assert tile(described, (24, 16)) == x[16:20, 24:32].contiguous().view(torch.uint8).numpy().tobytes()


def test_elements_outside():
    x = aligned((6, 8), np.float32)
    for fill, value in ((None, 0.0), ("zeros", 0.0), ("nan", np.nan)):
        got = np.frombuffer(tile(sim.tensor_map(x, (8, 4), oob_fill=fill), (4, -2)), np.float32).reshape(4, 8)
        want = np.pad(x, 8, constant_values=value)[6:10, 12:20]
        assert np.array_equal(got, want, equal_nan=True) and (got[0] == value).all() != (fill == "nan")


@pytest.mark.parametrize("swizzle", ["128B", 128])
def test_a_swizzle(swizzle):
    x = aligned((64, 64), np.float16)
    described = sim.tensor_map(x, (64, 16), swizzle=swizzle)
    assert described.swizzle == "128B"
    chunks = np.frombuffer(tile(described, (0, 32)), np.uint8).reshape(16, 8, 16)
    rows = np.arange(16)[:, None]
    plain = chunks[rows, np.arange(8) ^ (rows % 8)]
    assert plain.tobytes() == x[32:48].tobytes()


def test_element_strides():
    x = aligned((32, 8), np.float32)
    described = sim.tensor_map(x, (8, 8), element_strides=(1, 2))
    assert tile(described, (0, 3)) == x[3:11:2].tobytes()


def test_sizes_and_strides_may_be_given():
    x = aligned(4096, np.uint8)
    described = sim.tensor_map(x, (4, 4), sizes=(12, 10), strides=(64,), dtype="float32")
    assert tile(described, (4, 2)) == x.view(np.float32).reshape(-1, 16)[2:6, 4:8].tobytes()
    assert sim.tensor_map(x.reshape(64, 64), (16, 4), sizes=(20, 10)).strides == (64,)


def test_what_words_mean_nothing_here():
    x = aligned((16, 16), np.int32)
    plain = tile(sim.tensor_map(x, (8, 4)), (0, 0))
    for word in ("64B", "128B", 256):
        assert tile(sim.tensor_map(x, (8, 4), l2_promotion=word), (0, 0)) == plain


def test_it_keeps_its_array_alive_and_knows_its_end():
    x = np.zeros((16, 16), np.int32)
    x[...] = np.arange(256).reshape(16, 16)
    want, alive = x[:4, :8].tobytes(), weakref.ref(x)
    described = sim.tensor_map(x, (8, 4))
    del x
    gc.collect()
    assert alive() is not None and tile(described, (0, 0)) == want
    longer = sim.tensor_map(alive(), (8, 4), sizes=(16, 20), strides=(64,))
    with pytest.raises(OutOfBoundsError, match=r"at offset 1024 of map's tensor, which has 1024"):
        tile(longer, (0, 14))
    del described, longer
    gc.collect()
    assert alive() is None


def test_what_it_shows():
    x = aligned((16, 16), np.int32)
    described = sim.tensor_map(x, (8, 4), swizzle=32)
    assert repr(described) == (
        "<tensor map: dtype='int32', sizes=(16, 16), strides=(64,), box=(8, 4), element_strides=(1, 1), "
        "interleave='none', swizzle='32B', l2_promotion='none', oob_fill='zeros'>"
    )
    assert len(bytes(described)) == 128 and described.memory.ctypes.data % 64 == 0


def refused(error, said, shape=(16, 16), dtype=np.float32, box=(8, 4), **options):
    return pytest.param(error, said, shape, dtype, box, options, id=said[:40])


@pytest.mark.parametrize(
    ("error", "said", "shape", "dtype", "box", "options"),
    [
        refused(ValueError, r"box has 1 numbers; a tensor of 2 dimensions wants 2", box=(8,)),
        refused(ValueError, r"element_strides has 1 numbers; a tensor of 2 dimensions wants 2", element_strides=(1,)),
        refused(ValueError, r"strides has 2 numbers; a tensor of 2 dimensions wants 1", strides=(64, 64)),
        refused(ValueError, r"has 1 to 5 dimensions, not 6", shape=(2, 2, 2, 2, 2, 4), box=(4, 2, 2, 2, 2, 2)),
        refused(ValueError, r"has a box of 0 elements along dimension 1; it may be 1 to 256", box=(8, 0)),
        refused(ValueError, r"has a box of 257 elements along dimension 0; it may be 1 to 256", box=(257, 1)),
        refused(ValueError, r"has a box of 4294967295 elements along dimension 1", box=(8, 1 << 40)),
        refused(ValueError, r"box wants numbers that are not negative", box=(8, -1)),
        refused(TypeError, r"box wants whole numbers, dimension 0 first, not 8", box=8),
        refused(TypeError, r"box wants whole numbers, dimension 0 first, not \(8, 1\.5\)", box=(8, 1.5)),
        refused(ValueError, r"has a box whose rows have 12 bytes, no multiple of 16", box=(3, 4)),
        refused(ValueError, r"whose rows have 64 bytes, more than the 32 of its swizzle mode", box=(16, 4), swizzle=32),
        refused(ValueError, r"has the stride 60 along dimension 1; it has to be a multiple of 16 be", shape=(16, 15)),
        refused(ValueError, r"has the stride 1099511627776 along dimension 1", strides=(1 << 40,)),
        refused(ValueError, r"has the element stride 9 along dimension 1; it may be 1 to 8", element_strides=(1, 9)),
        refused(ValueError, r"has the element stride 0 along dimension 1; it may be 1 to 8", element_strides=(1, 0)),
        refused(ValueError, r"has 1 to 2\^32 elements along each dimension, not 0", sizes=(0, 4)),
        refused(ValueError, r"fills with NaN, but its elements are integers", dtype=np.int32, oob_fill="nan"),
        refused(ValueError, r"is interleaved, which is not implemented", interleave="16B"),
        refused(ValueError, r"swizzle is one of 'none', '32B', '64B', '128B', not '256B'", swizzle="256B"),
        refused(ValueError, r"swizzle is one of 'none', '32B', '64B', '128B', not 96", swizzle=96),
        refused(ValueError, r"interleave is one of 'none', '16B', '32B', not 'x'", interleave="x"),
        refused(ValueError, r"l2_promotion is one of 'none', '64B', '128B', '256B', not '32B'", l2_promotion="32B"),
        refused(ValueError, r"oob_fill is one of 'zeros', 'nan', not 'one'", oob_fill="one"),
        refused(TypeError, r"a map has no element type like the array's: give dtype, one of uint8", dtype=np.complex64),
    ],
)  # fmt: skip
def test_what_the_driver_refuses(error, said, shape, dtype, box, options):
    with pytest.raises(error, match=rf"tensor_map\(\): .*{said}"):
        sim.tensor_map(aligned(shape, dtype), box, **options)


def test_more_that_is_refused():
    x = aligned((16, 16), np.float32)
    with pytest.raises(ValueError, match=r"has a global address that is no multiple of 16"):
        sim.tensor_map(x[:, 1:], (8, 4))
    with pytest.raises(ValueError, match=r"elements along dimension 0.* lie side by side; they are 64 bytes apart"):
        sim.tensor_map(x.T, (8, 4))
    with pytest.raises(ValueError, match=r"dtype is one of uint8, uint16, .*, not 'float8'"):
        sim.tensor_map(x, (8, 4), dtype="float8")
    with pytest.raises(
        ValueError, match=r"float16 has 2 bytes, which the array's elements have not: give sizes and strides"
    ):
        sim.tensor_map(x, (8, 4), dtype="float16")
    with pytest.raises(TypeError, match=r"tensor_map\(\): array: a list is not an array"):
        sim.tensor_map([1], (1,))
    with pytest.raises(
        TypeError, match=r"a memoryview does not tell its strides|a bytearray does not tell its strides"
    ):
        sim.tensor_map(bytearray(1024), (16,))


def test_a_map_is_no_number():
    described = sim.tensor_map(aligned((16, 16), np.float32), (8, 4))
    kernel = sim.load(tile_text())["tile"]
    with pytest.raises(
        TypeError, match=r"argument bytes: \.u32 wants an integer, not tiletwin\.sim\.tensor_maps\.TensorMap"
    ):
        kernel(described, np.zeros(4, np.uint8), described, 0, 0, grid=1)
    with pytest.raises(TypeError, match=r"argument map is a structure of 128 bytes"):
        kernel(bytes(64), np.zeros(4, np.uint8), 4, 0, 0, grid=1)


@pytest.mark.parametrize("add", [0, 1], ids=["store", "add"])
def test_stores_that_begin_below_zero(add: int) -> None:
    """An H200 ends such a kernel with an illegal instruction; loads may begin there."""
    x = aligned((20, 64), np.int32)
    described, kernel = sim.tensor_map(x, (8, 4)), sim.load(STORE_TILE)["store_tile"]
    kernel(described, 60, 18, add, grid=1)  # outside on the other side: what is inside is written
    assert bool(x[18:, 60:].any()) == bool(add)
    for at in ((-4, 0), (0, -1), (-8, -4)):
        with pytest.raises(Exception, match=r"begins at -\d along dimension [01] of its tensor map, which GPUs refuse"):
            kernel(described, *at, add, grid=1)
    tile(described, (-4, -1))
