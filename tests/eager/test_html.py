"""Tiles and kernels as HTML: it stands alone, says what the values are, and links lines."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pytest
import tiletwin
import tiletwin.language as tl
from tiletwin.pages import palette
from tiletwin.pages.tiles import MOST_COLUMNS, MOST_ROWS


class Reader(HTMLParser):
    """Counts tags, checks that they are closed, keeps text."""

    VOID = frozenset({"input", "rect", "line", "br"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict]] = []
        self.texts: list[str] = []
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("input",):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data) -> None:
        self.texts.append(data)

    def titles(self) -> list[str]:
        return [t for t in self.texts if re.match(r"\[[\d, ]+\]", t)]

    def colours(self) -> list[str]:
        return [a["fill"] for tag, a in self.tags if tag == "rect"]


def read(text: str) -> Reader:
    assert "http" not in text and "<script" not in text and "url(" not in text and " src=" not in text
    return Reader(text)


def test_small_tile() -> None:
    x = tl.arange(0, 16).reshape(4, 4).to(tl.float32) - 4
    seen = read(x._repr_html_())
    assert len(seen.colours()) == 16
    assert seen.titles() == [f"[{i}, {j}] = {4 * i + j - 4}" for i in range(4) for j in range(4)]
    assert seen.texts[0] == "fp32" and "4x4" in seen.texts[1]
    assert "min -4, max 11, mean 3.5" in " ".join(seen.texts)
    assert seen.colours()[4] == "#f7f7f7"  # 0, in the middle of a scale for both signs
    assert seen.texts[-2:] != [] and "-11 " in seen.texts and " 11" in seen.texts


def test_nan_is_seen_in_a_large_tile() -> None:
    values = np.random.default_rng(0).random((256, 512)).astype(np.float32)
    values[200, 300] = np.nan
    x = tl.load(tiletwin.pointer(values) + tl.arange(0, 256)[:, None] * 512 + tl.arange(0, 512)[None, :])
    text = x._repr_html_()
    seen = read(text)
    assert len(seen.colours()) <= MOST_ROWS * MOST_COLUMNS and len(text) < 500_000
    assert seen.colours().count(palette.hexadecimal(palette.NAN)) == 1
    assert len([t for t in seen.titles() if "1 NaN" in t]) == 1


def test_one_dimension_is_wrapped() -> None:
    seen = read(tl.arange(0, 128)._repr_html_())
    assert seen.titles()[64] == "[64] = 64" and len(seen.titles()) == 128
    assert len({a["y"] for tag, a in seen.tags if tag == "rect"}) == 2


def test_masks_scalars_pointers_and_planes() -> None:
    mask = read((tl.arange(0, 8) < 3)._repr_html_())
    assert len(set(mask.colours())) == 2 and "3 of 8 set" in " ".join(mask.texts)
    assert "5" in " ".join(read(tl.arange(0, 8)[5]._repr_html_()).texts)
    x = np.zeros(4, np.float32)
    assert "<x + 0, fp32>" in " ".join(read(tiletwin.pointer(x)._repr_html_()).texts)
    planes = read(tl.arange(0, 512).reshape(8, 8, 8)._repr_html_())
    assert "[3, :, :]" in planes.texts and "and 4 more planes" in planes.texts
    assert "[2, 0, 7] = 135" in planes.titles()


def test_show_hatches_what_is_masked_off() -> None:
    x, mask = tl.arange(0, 8), tl.arange(0, 8) < 5
    seen = read(tiletwin.show(x, mask)._repr_html_())
    assert seen.colours().count(palette.hexadecimal(palette.MASKED)) == 3
    assert len([t for t in seen.titles() if t.endswith("masked off")]) == 3
    assert "3 of 8 lanes masked off" in " ".join(seen.texts)
    assert repr(tiletwin.show(x, mask)).endswith("int32), 3 of 8 lanes masked off")
    assert repr(tiletwin.show(x)) == repr(x)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 0.0, 1e38])
def test_constant_tiles(value: float) -> None:
    seen = read(tl.full((4, 4), value, tl.float32)._repr_html_())
    assert len(set(seen.colours())) == 1


@tiletwin.jit
def twice(x):
    return x * 2


@tiletwin.jit
def kernel(x_ptr, o_ptr, B: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i)
    tl.store(o_ptr + i, twice(x))  # <&>


def test_kernel_beside_ttir() -> None:
    assert "not compiled yet" in kernel._repr_html_()
    compiled = kernel[(1,)](np.zeros(8, np.float32), np.zeros(8, np.float32), 8)
    for text in (kernel._repr_html_(), compiled._repr_html_()):
        seen = read(text)
        labels = [(a.get("class") or "").split() for tag, a in seen.tags if tag == "label"]
        source = {}
        for function in (kernel, twice):
            for i, line in enumerate(function.source_lines):
                source[line.strip()] = f"x{function.first_line + i}"
        load, product = source["x = tl.load(x_ptr + i)"], source["return x * 2"]
        for line, operation in ((load, "tt.load"), (product, "arith.mulf")):
            name = next(c for classes in labels for c in classes if c.endswith(line))
            assert sum(name in classes for classes in labels) >= 2  # on both sides
            assert f":has(.{name}:hover) .{name}" in text
            found = [t for (tag, a), t in zip([s for s in seen.tags if s[0] == "label"], label_texts(text))
                     if name in (a.get("class") or "").split()]  # fmt: skip
            assert any(operation in t for t in found), (name, found)
        assert "# &lt;&amp;&gt;" in text


def label_texts(text: str) -> list[str]:
    return re.findall(r"<label[^>]*>(.*?)</label>", text, re.DOTALL)


def test_two_kernels_in_one_page_do_not_share_rules() -> None:
    first, second = kernel._repr_html_(), kernel._repr_html_()
    names = [set(re.findall(r"tw-k\d+", text)) for text in (first, second)]
    assert len(names[0]) == len(names[1]) == 1 and names[0] != names[1]
