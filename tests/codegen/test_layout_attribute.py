"""The attribute #twg.linear in a compilation: text goes through, what is no layout for the kernel's threads is
refused. Not here: its text alone (lit/layout_attribute.mlir)."""

from __future__ import annotations

import pytest
import small_kernels as sk

LAYOUT = "#twg.linear<{{register = {0}, lane = {1}, warp = {2}, block = []}}>"
LANES = "[[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]]"


def text(layout: str, shape: str = "4x8") -> str:
    tile = f"tensor<{shape}xi32, {layout}>"
    return f"tt.func public @kernel() {{\n  %x = arith.constant dense<0> : {tile}\n  tt.return\n}}\n"


def test_stages() -> None:
    """Text that was printed is compiled as it stands, and printed so again."""
    layout = LAYOUT.format("[]", LANES, "[[0, 0], [0, 0]]")
    printed = sk.compiled(text(layout), "sm_80", stage="ttgir")["ttgir"]
    assert layout in printed
    assert sk.compiled(printed, "sm_80", stage="ttgir")["ttgir"] == printed


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        (LAYOUT.format("[[1]]", LANES, "[]"), "every vector of a layout has one coordinate for each dimension"),
        (LAYOUT.format("[[1]]", "[[2], [4]]", "[]"), "a layout of rank 1 on a tile of rank 2"),
        (LAYOUT.format("[[4, 0]]", LANES, "[]"), "coordinate 4 of a layout lies outside of the tile's extent 4"),
        (LAYOUT.format("[[3, 0]]", LANES, "[]"), "not one: a basis of lane is the sum of others"),
        (LAYOUT.format("[]", "[[0, 1], [0, 2]]", "[]"), "it holds 4 of the tile's 32 elements"),
        (LAYOUT.format("[]", LANES, "[]"), "a layout for 1 warps of 32 threads; the kernel has 4 of 32"),
    ],
)
def test_refused(layout: str, message: str) -> None:
    from tiletwin import _codegen

    with pytest.raises(_codegen.Error, match=message):
        sk.compiled(text(layout), "sm_80", stage="ttgir")
