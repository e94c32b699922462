"""Who tells findings himself (`checks.aside`) hears of his own thread's only, and the others lose none of theirs."""

from __future__ import annotations

import sys
import threading

import numpy as np
import pytest
import triton
import triton.language as tl
from tiletwin import checks


@triton.jit
def divide(x_ptr, o_ptr):
    i = tl.arange(0, 4)
    x = tl.load(x_ptr + i)
    tl.store(o_ptr + i, x / x)


@triton.jit
def subtract(x_ptr, o_ptr):
    i = tl.arange(0, 4)
    x = tl.load(x_ptr + i) + float("inf")
    tl.store(o_ptr + i, x - x)


def launched(kernel) -> None:
    kernel[(1,)](np.zeros(4, np.float32), np.zeros(4, np.float32))


@pytest.fixture(autouse=True)
def checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILETWIN_CHECK", "nan")
    checks.clear()


def test_another_thread_finds_something_meanwhile(capfd: pytest.CaptureFixture[str]) -> None:
    inside, done = threading.Event(), threading.Event()
    own: list[str] = []

    def look() -> None:
        with checks.aside():
            launched(subtract)
            inside.set()
            assert done.wait(60)
            own.extend(finding.kernel for finding in checks.findings())

    thread = threading.Thread(target=look)
    thread.start()
    try:
        assert inside.wait(60)
        launched(divide)
        print("said by others", file=sys.stderr)
    finally:
        done.set()
        thread.join()
    assert own == ["subtract"]
    assert [finding.kernel for finding in checks.findings()] == ["divide"]
    text = capfd.readouterr().err
    assert "x / x" in text
    assert "x - x" not in text and "said by others" in text  # the stream is everybody's


def test_one_aside_inside_of_another() -> None:
    launched(divide)
    with checks.aside():
        launched(divide)
        launched(subtract)
        with checks.aside():
            assert checks.findings() == []
            launched(divide)
        assert [(finding.kernel, finding.launches) for finding in checks.findings()] == [("divide", 1), ("subtract", 1)]
    assert [(finding.kernel, finding.launches) for finding in checks.findings()] == [("divide", 1)]
