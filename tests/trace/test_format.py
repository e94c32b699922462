"""Packed values come back bit for bit; bytes that nobody packed are refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiletwin.elements import ITEM_SIZES, item_size, numpy_of
from tiletwin.trace.format import pack, unpack

TYPES = [*ITEM_SIZES, "pointer<fp32>"]
SHAPES = [(), (1,), (7,), (64,), (128,), (16, 32), (1, 256), (5, 3, 16), (2, 2, 2, 64)]


def random_bytes(type_name, shape, seed):
    count = int(np.prod(shape, dtype=int))
    rng = np.random.default_rng(seed)
    if type_name == "int1":
        return rng.integers(0, 2, count, dtype=np.uint8).tobytes()
    return rng.integers(0, 256, count * item_size(type_name), dtype=np.uint8).tobytes()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("type_name", TYPES)
def test_random_bits_come_back(type_name, shape):
    data = random_bytes(type_name, shape, 1)
    assert unpack(pack(type_name, shape, data)[0], type_name, shape, pack(type_name, shape, data)[1]) == data


@pytest.mark.parametrize("first", [0, 1, 2**31 - 4, 2**63 - 9, 2**64 - 5, 0x7F0012345678])
@pytest.mark.parametrize("steps", [(1,), (4, 512), (2**64 - 4, 0), (0, 3), (2**40, 2**64 - 7)])
@pytest.mark.parametrize("type_name", ["int32", "uint64", "pointer<fp16>", "uint16"])
def test_evenly_spaced_integers_are_kept_as_steps(type_name, first, steps):
    size = item_size(type_name)
    shape = (32, 16)[-len(steps) :]
    index = np.indices(shape).astype(object)
    values = (first + sum(step * index[d] for d, step in enumerate(steps))) % 2 ** (8 * size)
    data = values.astype(f"<u{size}").tobytes()
    codec, packed = pack(type_name, shape, data)
    assert len(data) <= 64 or (codec in ("affine", "splat") and len(packed) < 100)
    assert unpack(codec, type_name, shape, packed) == data


@pytest.mark.parametrize("value", [0.0, -0.0, np.nan, np.inf, 1e-45])
def test_one_number_everywhere_takes_its_bytes(value):
    data = np.full((64, 64), value, np.float32).tobytes()
    codec, packed = pack("fp32", (64, 64), data)
    assert (codec, len(packed)) == ("splat", 4)
    assert unpack(codec, "fp32", (64, 64), packed) == data


def test_masks_take_a_bit_an_element():
    mask = np.random.default_rng(0).random((64, 64)) < 0.5
    codec, packed = pack("int1", (64, 64), mask.astype(np.uint8).tobytes())
    assert codec == "bits" and len(packed) < 64 * 64 / 8 + 64
    assert np.array_equal(numpy_of(unpack(codec, "int1", (64, 64), packed), "int1", (64, 64)), mask)


def test_small_floats_and_bf16_read_as_float32():
    bf16 = (np.array([1.0, -2.5, np.inf, 0.0], np.float32).view(np.uint32) >> 16).astype("<u2").tobytes()
    assert numpy_of(bf16, "bf16", (4,)).tolist() == [1.0, -2.5, np.inf, 0.0]
    assert numpy_of(bytes([0x3C, 0x40]), "fp8e5", (2,)).tolist() == [1.0, 2.0]


@given(st.sampled_from(["raw", "zlib", "shuffle", "bits", "affine", "splat", "text", ""]), st.binary(max_size=200),
       st.sampled_from(["fp32", "int1", "int64", "pointer<fp32>", "nonsense"]))  # fmt: skip
@settings(max_examples=400, deadline=None)
def test_other_bytes_are_refused_or_have_the_right_length(codec, packed, type_name):
    try:
        data = unpack(codec, type_name, (4, 8), packed)
    except ValueError as error:
        assert str(error)
    else:
        assert len(data) == 32 * item_size(type_name)


def test_a_bomb_is_not_unpacked():
    import zlib

    with pytest.raises(ValueError, match="does not end"):
        unpack("zlib", "int8", (100,), zlib.compress(bytes(1 << 24)))
