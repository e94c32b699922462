"""Tools that follow Python's lines: sys.settrace, coverage, sys.monitoring, profilers."""

from __future__ import annotations

import cProfile
import sys
from pathlib import Path

import children
import numpy as np
import pytest
import tiletwin
import tiletwin.language as tl


@tiletwin.jit
def twice(x):
    y = x * 2
    return y


@tiletwin.jit
def kernel(x_ptr, o_ptr, B: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * B + tl.arange(0, B)
    x = tl.load(x_ptr + offs)
    for _ in range(2):
        x = twice(x)
    tl.store(o_ptr + offs, x)


BODY = range(kernel.ast.lineno + 1, kernel.ast.lineno + 7)


def launch(programs: int = 2) -> np.ndarray:
    x, o = np.arange(16, dtype=np.int32), np.zeros(16, np.int32)
    kernel[(programs,)](x, o, B=8)
    return o


def lines_with_settrace() -> list[tuple[str, int]]:
    seen = []

    def trace(frame, event, argument):
        if event == "line":
            seen.append((frame.f_code.co_filename, frame.f_code.co_name, frame.f_lineno))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        launch()
    finally:
        sys.settrace(before)
    return seen


def test_settrace_sees_the_kernels_lines_and_nothing_of_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILETWIN_EAGER", "1")
    seen = lines_with_settrace()
    assert {file for file, *_ in seen} == {__file__}
    lines = [line for _, name, line in seen if name == "kernel"]
    first = BODY.start
    once = [first, first + 1, first + 2, first + 3, first + 4, first + 3, first + 4, first + 3, first + 5]
    assert lines == once * 2
    assert [name for _, name, _ in seen].count("twice") == 2 * 2 * 2


def test_a_tracer_alone_leaves_kernels_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TILETWIN_EAGER", raising=False)
    assert "kernel" not in {name for _, name, _ in lines_with_settrace()}


def test_tracing_is_on_again_after_a_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILETWIN_EAGER", "1")

    def trace(frame, event, argument):
        return None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        launch()
        assert sys.gettrace() is trace
        with pytest.raises(tiletwin.OutOfBoundsError):
            launch(3)
        assert sys.gettrace() is trace
    finally:
        sys.settrace(before)


def test_coverage_counts_the_kernels_lines(tmp_path: Path) -> None:
    pytest.importorskip("coverage")
    file = tmp_path / "script.py"
    file.write_text(
        "import numpy as np, tiletwin, tiletwin.language as tl\n"
        "@tiletwin.jit\n"
        "def kernel(x_ptr, FLAG: tl.constexpr):\n"
        "    x = tl.load(x_ptr)\n"
        "    if FLAG:\n"
        "        x = x + 1\n"
        "    tl.store(x_ptr, x)\n"
        "x = np.zeros(1, np.int32)\n"
        "kernel[(1,)](x, False)\n"
    )
    code = (
        "import coverage, runpy, os; os.environ['TILETWIN_EAGER'] = '1'; c = coverage.Coverage(data_file=None); "
        f"c.start(); runpy.run_path({str(file)!r}); c.stop(); print(c.analysis({str(file)!r})[2])"
    )
    done = children.run_code(code)
    assert done.stdout.strip() == "[6]", done.stdout + done.stderr


@pytest.mark.skipif(not hasattr(sys, "monitoring"), reason="sys.monitoring came with Python 3.12")
def test_monitoring_sees_the_kernels_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILETWIN_EAGER", "1")
    monitoring, tool, seen = sys.monitoring, 3, []
    monitoring.use_tool_id(tool, "test")
    try:
        monitoring.register_callback(
            tool, monitoring.events.LINE, lambda code, line: seen.append((code.co_filename, code.co_name, line))
        )
        monitoring.set_events(tool, monitoring.events.LINE)
        launch()
        monitoring.set_events(tool, 0)
    finally:
        monitoring.free_tool_id(tool)
    assert {line for file, name, line in seen if file == __file__ and name == "kernel"} == set(BODY)


def test_profilers_see_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILETWIN_EAGER", "1")
    profile = cProfile.Profile()
    profile.runcall(launch)
    calls = {code.co_name: calls for (code, calls) in entries(profile) if hasattr(code, "co_name")}
    assert calls["kernel"] == 2 and calls["twice"] == 4


def entries(profile: cProfile.Profile) -> list[tuple]:
    return [(entry.code, entry.callcount) for entry in profile.getstats()]


def test_tracebacks_go_from_the_launch_to_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILETWIN_EAGER", "1")
    with pytest.raises(tiletwin.OutOfBoundsError) as caught:
        launch(3)
    assert [entry.name for entry in caught.traceback] == [
        "test_tracebacks_go_from_the_launch_to_the_kernel", "launch", "kernel",
    ]  # fmt: skip
    assert caught.traceback[-1].lineno + 1 == BODY.start + 2
    assert tl.program_id(0).tolist() == 2  # what is looked at afterwards belongs to the program that failed
