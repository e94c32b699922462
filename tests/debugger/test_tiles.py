"""Shared memory and tensor maps as tiles, at `tiletwin debug`, and clients of the virtual GPU."""

from __future__ import annotations

import re
import sys

import numpy as np
import pytest
from terminal import PROGRAMS, Terminal
from test_command_line import DOT, line_of
from tiletwin.debugger.connection import Refused
from tiletwin.debugger.tiles import SharedTile, TensorMap, element_bytes, numbers, table

CORNER = re.compile(r"^ *(\d+)((?:  +[\d.]+)+)$", re.MULTILINE)


def rows_of(shown: str) -> dict[int, list[str]]:
    """Rows of a table by number, without the dots."""
    return {int(found[1]): found[2].replace("...", "").split() for found in CORNER.finditer(shown)}


def test_a_tile_of_a_product():
    """b[r, c] is (64 r + c) % 97; block (1, 2, 0) has columns from 32 on. b lies where a has been."""
    with Terminal(PROGRAMS, "matmul") as t:
        t(f"break programs.py:{DOT} if block==(1,2,0) && warp==1")
        t("run")
        known = t("info shared").splitlines()
        assert re.fullmatch(r"1  @shared 0x0: 16 x 16 f16, swizzle 32 bytes, b", known[1])
        first = rows_of(t("info shared 1"))
        for row in (0, 1, 2, 3, 12, 13, 14, 15):
            expected = [str((row * 64 + 32 + column) % 97) for column in (0, 1, 2, 3, 12, 13, 14, 15)]
            assert first[row] == expected
        assert rows_of(t("info shared f16 16x16 swizzle 32 at 0")) == first
        assert rows_of(t("info shared f16 16x16 at 0")) != first
        assert "no parameter is a tensor map" in t("info tensormaps")
        assert "tile 7 is not known" in t("info shared 7") and "info shared [NUMBER" in t("info shared what")


def test_tensor_maps_and_what_copies_have_brought():
    with Terminal(PROGRAMS, "specialised") as t:
        t(f"break programs.py:{line_of('tl.store(c_ptr + rows[:, None] * N + columns')} if warp==0")
        t("run")
        maps = t("info tensormaps").splitlines()
        assert re.fullmatch(r"param_0: tensor of 64 x 256 f16 at 0x\w+, blocks of 64 x 64, swizzle 128 bytes", maps[0])
        block = t("info tensormaps param_0 0 64")
        assert "block at (0, 64)" in block and set(rows_of(block)[63]) == {"1"}
        assert rows_of(t("info tensormaps param_0 60 0"))[63] == ["0"] * 8, "behind the tensor's end"
        tile = t("info shared 2 1")
        assert tile.startswith("@shared 0x0: 3 x 64 x 64 f16, swizzle 128 bytes, number 1")
        assert set(rows_of(tile)[0]) == {"1"}
        wrote = t("who @shared 0")
        assert re.search(r"thread \(\d+,0,0\), warp [4567], lane \d+: product at", wrote), "the producer's copy"
        assert "has 2 dimensions" in t("info tensormaps param_0 1") and "is no tensor map" in t("info tensormaps x")


def test_a_client_of_the_virtual_gpu():
    with Terminal("--", sys.executable, PROGRAMS, "client") as t:
        t("break block_sum if block==3")
        assert "block (3,0,0)" in t("run")
        t("delete")
        assert "sums 8128.0 40896.0 73664.0 106432.0" in t("continue")


@pytest.mark.parametrize("contiguous", [0, 1])
@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
def test_each_element_has_one_place(contiguous, swizzle):
    tile = SharedTile(0, (2, 64, 128), "f16", contiguous + 1, swizzle)
    places = tile.places()
    assert sorted(places.ravel()) == list(range(0, 64 * 128 * 2, 2))
    data = np.arange(2 * 64 * 128).astype(np.uint16)
    shown = SharedTile(0, (2, 64, 128), "u16", contiguous + 1, swizzle).of(data.tobytes(), 1)
    assert np.array_equal(shown, 64 * 128 + places // 2)
    pieces = places[:, ::8] if contiguous else places[::8, :].T
    if swizzle == 128:  # a column of pieces meets every bank
        assert {int(p) >> 4 & 7 for p in pieces[:8, 0]} == set(range(8))


def test_numbers_and_tables():
    assert numbers(b"\x80\x3f", "bf16").tolist() == [1.0]
    assert [element_bytes(kind) for kind in ("bf16", "f8E5M2", "s64")] == [2, 1, 8]
    with pytest.raises(Refused, match="f12 is no type"):
        element_bytes("f12")
    assert table(np.arange(3)) == ["  0  1  2", "  0  1  2"]
    assert TensorMap.of(bytes(128)) is None
