"""Tensor copies of im2col: columns of pixels beside torch's convolution and its unfold, and what is refused.

Reference: an H200 (tools/record_im2col.py); torch.nn.functional.unfold and conv3d; ptxas takes the text.
"""

from __future__ import annotations

import ctypes
import itertools
import json
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest
import torch
import virtual_gpu as gpu
from virtual_gpu import INVALID_VALUE, call, code_of, context, from_device

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))

import cuda_driver  # noqa: E402
import record_im2col  # noqa: E402
from record_im2col import F16, F32, text  # noqa: E402

NO_SWIZZLE, SWIZZLE_64 = 0, 2
RECORDED = ROOT / "tests" / "data" / "sim" / "im2col_h200.npz"


class Images:
    """Images as a kernel has them, the channel first: [N, (D, H,) W, C]."""

    def __init__(self, shape: tuple[int, ...], kind: int = F32) -> None:
        self.kind, self.shape, self.rank = kind, shape, len(shape)
        values = np.arange(1, np.prod(shape) + 1).reshape(shape) % 1009
        self.host = values.astype(np.float32 if kind == F32 else np.float16)
        self.device = gpu.to_device(self.host)

    def map(self, lower, upper, channels: int, pixels: int, steps, swizzle: int = NO_SWIZZLE, fill: int = 0, **other):
        """(code, the map); corners and steps are those of W, H, D."""
        words = ctypes.create_string_buffer(128 + 64)
        at = -(-ctypes.addressof(words) // 64) * 64
        sizes = (ctypes.c_uint64 * 5)(*self.shape[::-1])
        strides = (ctypes.c_uint64 * 4)(*self.host.strides[-2::-1])
        corners = [(ctypes.c_int * 3)(*corner) for corner in (lower, upper)]
        all_steps = (ctypes.c_uint32 * 5)(1, *steps, 1)
        code = code_of(
            "cuTensorMapEncodeIm2col", ctypes.c_void_p(at), self.kind, other.get("rank", self.rank),
            ctypes.c_void_p(self.device), sizes, strides, *corners, channels, pixels, all_steps, 0, swizzle, 0, fill,
        )  # fmt: skip
        return code, ctypes.create_string_buffer(ctypes.string_at(at, 128), 128)


def copy(kernel: int, map_, at, offsets, rows: np.ndarray) -> np.ndarray:
    """What shared memory holds after the load; `rows` has its size and what a store takes from it."""
    place = (ctypes.c_int32 * 10)(*at, *[0] * (5 - len(at)), *offsets)
    out = gpu.to_device(rows)
    size, ended = ctypes.c_uint32(rows.nbytes), gpu.to_device(np.zeros(4, np.uint32))
    gpu.launch(kernel, map_, ctypes.c_uint64(out), place, size, size, ctypes.c_uint64(ended))
    call("cuCtxSynchronize")
    result = from_device(out, rows)
    for address in (out, ended):
        call("cuMemFree_v2", address)
    return result


def test_every_recorded_case(capfd):
    """Edges of images, beyond them, formats, swizzles, stores and reductions: an H200's bytes, and what it refused."""
    recorded = np.load(RECORDED)
    refused = json.loads(recorded["refused"].tobytes())
    parts = np.split(recorded["bytes"], recorded["ends"][:-1])
    cases = record_im2col.cases()
    assert len(parts) == len(cases)
    wrong = []
    for number, (case, part) in enumerate(zip(cases, parts, strict=True)):
        driver = cuda_driver.Gpu(library=gpu.LIBRARY)
        try:
            got = record_im2col.run(driver, case)
        except cuda_driver.GpuError:
            call("cuDevicePrimaryCtxReset_v2", 0)
            got = np.zeros(0, np.uint8)
        if not np.array_equal(got, part):
            wrong.append((number, case, refused.get(str(number))))
        driver.call("cuDevicePrimaryCtxRelease_v2", 0)
    assert not wrong


@pytest.mark.parametrize("stride, dilation, padding", [(1, 1, 1), (2, 1, 1), (1, 2, 2), (2, 3, 0), (3, 1, 2)])
def test_columns_are_those_of_unfold(stride, dilation, padding):
    """One column over all output pixels of all images, for each place of a filter of 3 x 2."""
    n, h, w, c, filter_ = 3, 9, 11, 8, (3, 2)
    with context():
        images = Images((n, h, w, c))
        x = torch.from_numpy(images.host).permute(0, 3, 1, 2)
        wanted = torch.nn.functional.unfold(x, filter_, dilation, padding, stride)  # [n, c * 3 * 2, pixels]
        wanted = wanted.reshape(n, c, *filter_, -1).permute(2, 3, 0, 4, 1).reshape(*filter_, -1, c).numpy()
        pixels = wanted.shape[2]
        upper = [padding - (f - 1) * dilation for f in filter_[::-1]]
        code, map_ = images.map([-padding] * 2, upper, c, pixels, [stride] * 2)
        assert code == 0
        kernel = gpu.function("k", gpu.module(text(4)))
        rows = np.zeros((pixels, c), np.float32)
        for r, s in itertools.product(range(3), range(2)):
            got = copy(kernel, map_, (0, -padding, -padding, 0), (s * dilation, r * dilation), rows)
            np.testing.assert_array_equal(got, wanted[r, s])


def test_a_column_goes_on_where_another_one_ended():
    """Columns of 16 pixels, the last one over the last image's end: what lies there is zero."""
    with context():
        images = Images((2, 5, 6, 4))
        x = torch.from_numpy(images.host).permute(0, 3, 1, 2)
        wanted = torch.nn.functional.unfold(x, 3, padding=1).reshape(2, 4, 3, 3, 30)[:, :, 2, 0]
        wanted = np.concatenate([wanted.permute(0, 2, 1).reshape(60, 4).numpy(), np.zeros((4, 4), np.float32)])
        code, map_ = images.map([-1, -1], [-1, -1], 4, 16, [1, 1])
        assert code == 0
        kernel = gpu.function("k", gpu.module(text(4)))
        for first in range(0, 64, 16):
            image, y, x0 = first // 30, first // 6 % 5, first % 6
            got = copy(kernel, map_, (0, x0 - 1, y - 1, image), (0, 2), np.zeros((16, 4), np.float32))
            np.testing.assert_array_equal(got, wanted[first : first + 16])


def test_volumes_make_a_convolution():
    """Five dimensions: products of all columns are conv3d."""
    shape, filter_, out_channels = (2, 4, 5, 6, 8), (2, 3, 2), 3
    with context():
        images = Images(shape)
        rng = np.random.default_rng(0)
        weights = rng.integers(-3, 4, (out_channels, shape[-1], *filter_)).astype(np.float32)
        x = torch.from_numpy(images.host).permute(0, 4, 1, 2, 3)
        wanted = torch.nn.functional.conv3d(x.double(), torch.from_numpy(weights).double(), padding=1)
        pixels = wanted.shape[0] * wanted[0, 0].numel()
        code, map_ = images.map([-1] * 3, [1 - (f - 1) for f in filter_[::-1]], 8, pixels, [1] * 3)
        assert code == 0
        kernel = gpu.function("k", gpu.module(text(5)))
        total = np.zeros((pixels, out_channels))
        for t, r, s in itertools.product(*map(range, filter_)):
            got = copy(kernel, map_, (0, -1, -1, -1, 0), (s, r, t), np.zeros((pixels, 8), np.float32))
            total += got.astype(float) @ weights[:, :, t, r, s].T
        np.testing.assert_array_equal(total, wanted.permute(0, 2, 3, 4, 1).reshape(pixels, -1).numpy())


def test_lines_fill_and_swizzles():
    """Three dimensions: channels from the middle and over the end, NaN outside, shared memory swizzled as tiles are."""
    with context():
        images = Images((2, 10, 40), F16)
        code, map_ = images.map([-2], [0], 32, 24, [1], SWIZZLE_64, fill=1)
        assert code == 0
        kernel = gpu.function("k", gpu.module(text(3)))
        got = copy(kernel, map_, (16, -2, 0), (0,), np.zeros((24, 32), np.float16))
        wanted = np.full((24, 32), np.nan, np.float16)
        for i, (image, pixel) in enumerate(itertools.product(range(2), range(-2, 10))):
            if pixel >= 0:
                wanted[i, :24] = images.host[image, pixel, 16:40]
        bytes_ = got.view(np.uint8).reshape(-1)
        plain = np.zeros_like(bytes_)
        for chunk in range(0, bytes_.size, 16):  # bits 4 and 5 of an address meet bits 7 and 8
            plain[chunk : chunk + 16] = bytes_[chunk ^ (chunk >> 7 & 3) << 4 :][:16]
        np.testing.assert_array_equal(plain.view(np.float16).reshape(24, 32), wanted)


@pytest.mark.parametrize("reduce", ["", "add"])
def test_stores_take_the_same_way(reduce):
    with context():
        images = Images((2, 5, 6, 4))
        code, map_ = images.map([0, 0], [0, -1], 4, 40, [1, 2], NO_SWIZZLE)  # every second row but the last
        assert code == 0
        rows = np.arange(160, dtype=np.float32).reshape(40, 4) * 8
        copy(gpu.function("k", gpu.module(text(4, reduce))), map_, (0, 0, 0, 0), (), rows)
        wanted, line = images.host.copy(), iter(rows)
        for image, y, x in itertools.product(range(2), (0, 2), range(6)):
            wanted[image, y, x] = next(line) + (wanted[image, y, x] if reduce else 0)
        np.testing.assert_array_equal(from_device(images.device, images.host), wanted)


@pytest.mark.parametrize("rank", [3, 4, 5])
def test_ptxas_takes_the_text(rank, tmp_path):
    if not shutil.which("ptxas"):
        pytest.skip("ptxas is not installed")
    for i, ptx in enumerate((text(rank), text(rank, ""), text(rank, "add"))):
        (tmp_path / f"{i}.ptx").write_text(ptx)
        subprocess.run(["ptxas", "-arch=sm_90", "-o", tmp_path / "out", tmp_path / f"{i}.ptx"], check=True)


def test_a_map_gets_another_address(capfd):
    with context():
        images, others = Images((2, 5, 6, 4)), Images((2, 5, 6, 4))
        call("cuMemsetD32_v2", others.device, 5, others.host.size)
        map_ = images.map([0, 0], [0, 0], 4, 60, [1, 1])[1]
        room = ctypes.create_string_buffer(128 + 64)
        at = -(-ctypes.addressof(room) // 64) * 64
        ctypes.memmove(at, map_, 128)
        call("cuTensorMapReplaceAddress", ctypes.c_void_p(at), ctypes.c_void_p(others.device))
        changed = ctypes.create_string_buffer(ctypes.string_at(at, 128), 128)
        kernel, rows = gpu.function("k", gpu.module(text(4))), np.zeros((60, 4), np.float32)
        np.testing.assert_array_equal(copy(kernel, map_, (0, 0, 0, 0), (0, 0), rows), images.host.reshape(60, 4))
        assert (copy(kernel, changed, (0, 0, 0, 0), (0, 0), rows).view(np.uint32) == 5).all()
        odd = ctypes.c_void_p(others.device + 4)
        assert code_of("cuTensorMapReplaceAddress", ctypes.c_void_p(at), odd) == INVALID_VALUE
        assert "has a global address that is no multiple of 16" in capfd.readouterr().err
        assert ctypes.string_at(at, 128) == bytes(changed)


def test_what_the_driver_refuses(capfd):
    with context():
        images = Images((2, 5, 6, 4))
        for lower, channels, pixels, steps, why in (
            ([-129, 0], 4, 8, [1, 1], "with 4 dimensions it may be -128 to 127"),
            ([0, 128], 4, 8, [1, 1], "with 4 dimensions it may be -128 to 127"),
            ([0, 0], 257, 8, [1, 1], "1 to 256 channels"),
            ([0, 0], 4, 1025, [1, 1], "1 to 1024 pixels"),
            ([0, 0], 4, 0, [1, 1], "1 to 1024 pixels"),
            ([0, 0], 3, 8, [1, 1], "no multiple of 16"),
            ([0, 0], 4, 8, [9, 1], "it may be 1 to 8"),
        ):
            assert images.map(lower, [0, 0], channels, pixels, steps)[0] == INVALID_VALUE
            assert why in capfd.readouterr().err
        assert images.map([-16] * 3, [0] * 3, 4, 8, [1, 1], rank=2)[0] == INVALID_VALUE
        assert "3 to 5 dimensions, not 2" in capfd.readouterr().err


def test_maps_of_the_other_sort(capfd):
    with context():
        images = Images((2, 5, 6, 4))
        map_ = images.map([0, 0], [0, 0], 4, 8, [1, 1])[1]
        tiled = gpu.function("k", gpu.module(text(4).replace(".im2col", ".tile").replace(", {%h0, %h1};", ";")))
        place = (ctypes.c_int32 * 10)()
        out = gpu.to_device(np.zeros(8, np.float32))
        size = ctypes.c_uint32(32)
        gpu.launch(tiled, map_, ctypes.c_uint64(out), place, size, size, ctypes.c_uint64(out))
        assert code_of("cuCtxSynchronize") != 0
        assert "a tensor map that is one of im2col: the copy wants .im2col" in capfd.readouterr().err
