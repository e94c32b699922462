"""The options of pytest that compare backends (`--tiletwin-diff`), in sessions of their own."""

import os

import children
import pytest

pytest_plugins = "pytester"


PYTEST_FILE = """
import numpy as np
import pytest
import triton
import triton.language as tl
import wrong_backend

@triton.jit
def scale(x, o, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i, tl.load(x + i) * 2.0)

@triton.jit
def root(x, o, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i, tl.sqrt(tl.load(x + i)))

def launch(kernel):
    kernel[(1,)](np.ones(16, np.float32) * 3, np.zeros(16, np.float32), B=16)

def test_right():
    launch(root)

def test_wrong():
    launch(scale)

@triton.jit
def beyond(x, o, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i, tl.load(x + i + 1))

def test_failing():
    with pytest.raises(IndexError):
        launch(beyond)

def test_fixture(tiletwin_compare):
    report = tiletwin_compare(root, (1,), [np.ones(16, np.float32), np.zeros(16, np.float32), 16])
    assert report.verdict == "same"
"""
WRONG_BACKEND = """
import dataclasses
from tiletwin.diff import backend_names, backends

class Wrong(backends.InterpBackend):
    name = "sim"
    def run(self, launch):
        if launch.name == "beyond":
            return backends.Outcome("sim", launch.copies())
        changed = dataclasses.replace(launch, ttir=launch.ttir.replace("arith.mulf", "arith.addf"))
        return dataclasses.replace(super().run(changed), backend="sim")

backend_names.BACKENDS["sim"] = Wrong
from tiletwin.diff import mode
mode.SESSION.close()
"""


def test_pytest_plugin(pytester, monkeypatch):
    children.clean(monkeypatch)
    pytester.makepyfile(test_kernels=PYTEST_FILE, wrong_backend=WRONG_BACKEND)
    words = ["-p", "tiletwin_pytest"] if "tiletwin_pytest" not in "".join(pytester.plugins) else []
    result = pytester.runpytest_subprocess(*words, "--tiletwin-diff", "interp,sim")
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(["*tiletwin diff: launches run on interp, sim*"])
    result.stdout.fnmatch_lines(["*tiletwin: backends differ*", "*scale[[]1, 1, 1[]] on interp, sim: different*"])
    result.stdout.fnmatch_lines(["*tl.store(o + i, tl.load(x + i) * 2.0)*"])
    result.stdout.fnmatch_lines(["*sim: every program ran to its end*", "*FAILED*::test_failing*"])
    kept = sorted(str(path.relative_to(pytester.path)) for path in pytester.path.glob("tiletwin-differences/*"))
    assert [name.partition("-0-")[0] for name in kept] == ["tiletwin-differences/beyond", "tiletwin-differences/scale"]
    for name in kept:
        result.stdout.fnmatch_lines(["*to run that launch again*", f"tiletwin replay {name} --backend interp,sim"])
        assert children.run_tiletwin("replay", name, "--backend", "recorded", cwd=pytester.path).returncode == 1
    result.stdout.fnmatch_lines(["tiletwin diff: 1 same, 2 different, 0 not comparable of 3 launches"])
    pytest.importorskip("xdist")
    words += ["--tiletwin-diff-save", "elsewhere"]
    result = pytester.runpytest_subprocess(*words, "--tiletwin-diff", "interp,sim", "-n", "2")
    assert sorted(path.name for path in pytester.path.glob("elsewhere/*")) == [os.path.basename(name) for name in kept]
    result.stdout.fnmatch_lines(["tiletwin diff: 1 same, 2 different, 0 not comparable of 3 launches"])


MISSING_FILE = """
import numpy as np
import triton
import triton.language as tl

@triton.jit
def scale(x, o, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i, tl.load(x + i) * 2.0)

ARGS = [np.ones(16, np.float32), np.zeros(16, np.float32), 16]

def test_launch():
    scale[(1,)](*ARGS)

def test_fixture(tiletwin_compare):
    assert tiletwin_compare(scale, (1,), ARGS).verdict != "different"

def test_nothing():
    pass
"""


@pytest.mark.parametrize(
    ("which", "code"), [("launch", 6), ("fixture", 6), ("nothing", 6), ("launch or fixture", 6), ("no_test", 5)]
)
def test_a_pytest_session_in_which_a_backend_compares_nothing_fails(pytester, monkeypatch, which, code):
    children.clean(monkeypatch)
    monkeypatch.setenv("TILETWIN_TRITON", "/nowhere")
    pytester.makepyfile(test_kernels=MISSING_FILE)
    words = ["-p", "tiletwin_pytest"] if "tiletwin_pytest" not in "".join(pytester.plugins) else []
    words += ["-k", which]
    result = pytester.runpytest_subprocess(*words, "--tiletwin-diff", "interp,triton")
    assert result.ret == code, result.stdout.str()
    if code == 6:
        said = (
            "nothing was compared: there was no launch" if which == "nothing" else "triton compared nothing: TILETWIN*"
        )
        result.stdout.fnmatch_lines([f"  {said}", "  exit code 6; --tiletwin-diff-allow-missing accepts this"])
        result = pytester.runpytest_subprocess(
            *words, "--tiletwin-diff", "interp,triton", "--tiletwin-diff-allow-missing"
        )
        assert result.ret == 0 and "exit code" not in result.stdout.str(), result.stdout.str()
    if which == "launch":
        result = pytester.runpytest_subprocess(*words, "--tiletwin-diff", "interp,sim")
        assert result.ret == 0, result.stdout.str()
