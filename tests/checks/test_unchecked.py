"""Where checks look at nothing they say so, and what only Python has run is shown to a compiler once."""

from __future__ import annotations

import ast
import math
from typing import Any

import numpy as np
import pytest
import tiletwin
import torch
import triton
import triton.language as tl
from tiletwin import checks

SCALE = 3.0


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "_unchecked", {})
    checks.clear()


def made() -> Any:
    @triton.jit
    def divide(x_ptr, o_ptr):
        i = tl.arange(0, 4)
        x = tl.load(x_ptr + i)
        tl.store(o_ptr + i, x / x)

    return divide


def launched(kernel: Any, grid: int = 1) -> None:
    kernel[(grid,)](torch.zeros(4), torch.zeros(4))


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"TILETWIN_EAGER": "1"}, "those that Python runs"),
        ({"TILETWIN_PROGRAM": "0"}, "those that Python runs"),
        ({"TILETWIN_RECORD": "record"}, "those that Python runs"),
        ({"TILETWIN_GDB": "1"}, "launches that run for gdb (TILETWIN_GDB=1) are not checked"),
    ],
)
def test_a_notice_once(variables: dict, words: str, monkeypatch: pytest.MonkeyPatch, capfd, tmp_path) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in {"TILETWIN_CHECK": "nan", **variables}.items():
        monkeypatch.setenv(name, value)
    kernel = made()
    launched(kernel)
    launched(kernel)
    assert checks.findings() == []
    text = capfd.readouterr().err
    assert text.count("divide: TILETWIN_CHECK=nan looks at") == 1 and words in text
    assert list(checks.unchecked()) == ["divide"]


def test_a_kernel_without_text_cannot_be_checked(monkeypatch: pytest.MonkeyPatch, capfd) -> None:
    scope = {"triton": triton, "tl": tl}
    text = "@triton.jit\ndef nowhere(x_ptr, o_ptr):\n    tl.store(o_ptr, tl.load(x_ptr))\n"
    exec(compile(ast.parse(text), "<nowhere>", "exec"), scope)
    monkeypatch.setenv("TILETWIN_CHECK", "nan")
    for _ in range(2):
        launched(scope["nowhere"])
    said = capfd.readouterr().err
    assert said.count("the text of nowhere was not found") == 2  # why Python runs it, and that it is not checked
    assert said.count("put it into a file or a notebook cell") == 1
    monkeypatch.setenv("TILETWIN_CHECK", "nan,raise")
    with pytest.raises(tiletwin.CheckError, match="not checked: the text of nowhere was not found"):
        launched(scope["nowhere"])
    monkeypatch.setenv("TILETWIN_EAGER", "1")
    launched(made())  # this one has its text, and Python runs it because the user says so


def test_nothing_is_said_where_checks_run(monkeypatch: pytest.MonkeyPatch, capfd, tmp_path) -> None:
    monkeypatch.setenv("TILETWIN_CHECK", "nan")
    launched(made())
    assert [finding.check for finding in checks.findings()] == ["nan"] and checks.unchecked() == {}
    monkeypatch.setenv("TILETWIN_RECORD", str(tmp_path))
    monkeypatch.setenv("TILETWIN_RECORD_LAUNCHES", "7")  # none of these: they run compiled
    launched(made())
    assert checks.unchecked() == {}
    monkeypatch.setenv("TILETWIN_CHECK", "device:h200")
    monkeypatch.delenv("TILETWIN_RECORD_LAUNCHES")
    launched(made())
    assert checks.unchecked() == {} and "looks at" not in capfd.readouterr().err


# ---- kernels that only Python runs ----


def double(x):
    return x + x


@triton.jit
def imports(x_ptr, o_ptr):
    import math

    i = tl.arange(0, 4)
    tl.store(o_ptr + i, tl.load(x_ptr + i) * math.pi)


@triton.jit
def comprehends(x_ptr, o_ptr):
    i = tl.arange(0, 4)
    parts = [double(tl.load(x_ptr + i)) for _ in range(2)]
    tl.store(o_ptr + i, parts[0] + parts[1])


@triton.jit
def reads_a_global(x_ptr, o_ptr):
    i = tl.arange(0, 4)
    tl.store(o_ptr + i, double(tl.load(x_ptr + i)) * SCALE)


@triton.jit
def uses_numpy(x_ptr, o_ptr):
    i = tl.arange(0, 4)
    tl.store(o_ptr + i, double(tl.load(x_ptr + i)) * float(np.sqrt(2.0)))


@triton.jit
def only_debugs(x_ptr, o_ptr):
    i = tl.arange(0, 4)
    x = tl.load(x_ptr + i)
    print("x", x)
    tl.store(o_ptr + i, double(x))


@triton.jit
def prints_in_eager_mode(x_ptr, o_ptr):
    i = tl.arange(0, 4)
    x = tl.load(x_ptr + i)
    print(x)
    tl.store(o_ptr + i, x)


REFUSED = [imports, comprehends, reads_a_global, uses_numpy, only_debugs]


def again(kernel: Any) -> Any:
    """The same kernel, never looked at."""
    kernel.__dict__.pop("_compilable_known", None)
    return kernel


@pytest.mark.parametrize("kernel", REFUSED, ids=lambda k: k.__name__)
def test_what_a_compiler_refuses_is_said_once(kernel: Any, monkeypatch: pytest.MonkeyPatch, capfd) -> None:
    monkeypatch.setenv("TILETWIN_EAGER", "1")
    x, o = torch.arange(4.0), torch.zeros(4)
    for _ in range(2):
        again(kernel)[(1,)](x, o) if not o.any() else kernel[(1,)](x, o)
    assert o.any()
    text = capfd.readouterr().err
    assert text.count(f"{kernel.__name__} ran in Python, where all of Python works; a GPU's compiler refuses it") == 1
    assert "test_unchecked.py:" in text


@pytest.mark.parametrize("kernel", REFUSED, ids=lambda k: k.__name__)
def test_it_is_a_finding_of_the_check_for_a_device(kernel: Any, monkeypatch: pytest.MonkeyPatch, capfd) -> None:
    monkeypatch.setenv("TILETWIN_EAGER", "1")
    monkeypatch.setenv("TILETWIN_CHECK", "device:h100")
    again(kernel)[(1,)](torch.arange(4.0), torch.zeros(4))
    (finding,) = checks.findings()
    assert finding.check == "compile" and "a GPU's compiler refuses it" in finding.message and finding.advice
    assert finding.kernel == kernel.__name__ and finding.site.source()
    monkeypatch.setenv("TILETWIN_CHECK", "device:h100,raise")
    with pytest.raises(tiletwin.CheckError, match="a GPU's compiler refuses it"):
        again(kernel)[(1,)](torch.arange(4.0), torch.zeros(4))


@pytest.mark.parametrize("forced", [False, True])
def test_what_compiles_gets_no_word(forced: bool, monkeypatch: pytest.MonkeyPatch, capfd) -> None:
    if forced:
        monkeypatch.setenv("TILETWIN_EAGER", "1")
    again(prints_in_eager_mode)[(1,)](torch.arange(4.0), torch.zeros(4))
    assert "refuses" not in capfd.readouterr().err


def test_a_launch_that_fails_is_not_shown_to_a_compiler(monkeypatch: pytest.MonkeyPatch, capfd) -> None:
    monkeypatch.setenv("TILETWIN_EAGER", "1")
    with pytest.raises(tiletwin.OutOfBoundsError):
        again(comprehends)[(1,)](torch.zeros(2), torch.zeros(4))
    assert "refuses" not in capfd.readouterr().err
    assert math.isfinite(SCALE)
