"""A pointer knows which argument it was made for, however it went, in both modes: the same errors, and the same silence
where nobody can tell."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import origin_kernels
import pytest
import tiletwin
from tiletwin import OutOfBoundsError, trace
from tiletwin.trace import recorder
from tiletwin.trace.text import access_text, pointer_parts

COUNT = 16


def neighbours() -> list[np.ndarray]:
    """Three arrays of floats, each with memory of its own, one right behind the other."""
    room = memoryview(bytearray(4 * 4 * COUNT))
    start = -np.frombuffer(room, np.uint8).ctypes.data % 64
    return [np.frombuffer(room[start + i * 4 * COUNT :][: 4 * COUNT], np.float32) for i in range(3)]


def outcome(kernel: Any, monkeypatch: pytest.MonkeyPatch, eager: bool) -> tuple[str, list[np.ndarray]]:
    """The error's text, or nothing, and what memory holds then."""
    if eager:
        monkeypatch.setenv("TILETWIN_EAGER", "1")
    arrays = neighbours()
    text = ""
    try:
        kernel[(1,)](*arrays, COUNT)
    except OutOfBoundsError as error:
        text = str(error)
    return text, arrays


def same_memory(one: list[np.ndarray], other: list[np.ndarray]) -> bool:
    return all(a.tobytes() == b.tobytes() for a, b in zip(one[:2], other[:2], strict=True))


@pytest.mark.parametrize("name", sorted(origin_kernels.LEAVES))
def test_leaving_an_argument_is_the_same_error(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = origin_kernels.LEAVES[name]
    compiled, left = outcome(kernel, monkeypatch, eager=False)
    eager, left_eagerly = outcome(kernel, monkeypatch, eager=True)
    assert re.search(r" of [xy]_ptr \(64 bytes\)", compiled)
    assert eager == compiled
    assert same_memory(left, left_eagerly)


@pytest.mark.parametrize("name", sorted(origin_kernels.UNKNOWN))
def test_what_nobody_knows_is_allowed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = origin_kernels.UNKNOWN[name]
    compiled, left = outcome(kernel, monkeypatch, eager=False)
    eager, left_eagerly = outcome(kernel, monkeypatch, eager=True)
    assert (eager, compiled) == ("", "")
    assert left[1].any() and same_memory(left, left_eagerly)


def test_chosen_programs_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILETWIN_PROGRAM", "0")
    with pytest.raises(OutOfBoundsError, match=r"writes 4 bytes at offset 76 of x_ptr \(64 bytes\): 16 bytes past"):
        origin_kernels.scalar_store[(1,)](*neighbours(), COUNT)


def test_text_names_what_a_pointer_was_made_for(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y, _ = neighbours()
    seen = []

    @tiletwin.jit
    def look(x_ptr, y_ptr, n):
        pointers = x_ptr + n + tiletwin.language.arange(0, 4)
        seen.append((repr(pointers), repr(y_ptr - 1)))

    monkeypatch.setenv("TILETWIN_EAGER", "1")
    look[(1,)](x, y, COUNT)
    assert seen == [
        ("<x_ptr + [16, 17, 18, 19], fp32, 4 lanes, 4 outside>", "<y_ptr + -1, fp32, outside>"),
    ]  # fmt: skip


def test_recordings_name_what_a_pointer_was_made_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Of the access that fails, and of the variable: half of its pointers lie in the neighbour."""
    monkeypatch.setenv("TILETWIN_RECORD", str(tmp_path))

    @tiletwin.jit
    def past_the_end(x_ptr, y_ptr):
        pointers = x_ptr + 8 + tiletwin.language.arange(0, 16)
        tiletwin.language.store(y_ptr, 1.0)
        tiletwin.language.load(pointers)

    with pytest.raises(OutOfBoundsError):
        past_the_end[(1,)](*neighbours()[:2])
    recorder.close()
    program = trace.open(tmp_path).launches[0].program(0)
    store, load = program.accesses
    assert access_text(store) == "store: y_ptr[0], 1 of 1 elements, 1 of them changed"
    assert access_text(load) == (
        "load: x_ptr[8 .. 15], x_ptr[16 .. 23] outside of its memory, 16 of 16 elements  ** failed **"
    )
    pointers = program.steps[-1].variables["pointers"]
    assert pointers.origin == "x_ptr"
    assert pointer_parts(pointers, program.launch)[1].tolist() == list(range(8, 24))


def test_a_pointer_of_another_launch_may_be_anyones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILETWIN_EAGER", "1")
    kept = []

    @tiletwin.jit
    def keep(x_ptr):
        kept.append(x_ptr)

    @tiletwin.jit
    def use(y_ptr):
        tiletwin.language.store(kept[0] + 16, 5.0)

    x, y, _ = neighbours()
    keep[(1,)](x)
    use[(1,)](y)
    assert y[0] == 5.0
