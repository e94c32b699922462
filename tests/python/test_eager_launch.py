"""Launches whose programs run in CPython: which ones, with what, and the compiled rest."""

import kernels
import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
from tiletwin.launch.eager_launch import selected_programs

seen = []


def remember(program, value):
    seen.append((int(program), np.asarray(value).copy()))


@triton.jit
def scale(x_ptr, o_ptr, n, factor, N: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * N + tl.arange(0, N)
    x = tl.load(x_ptr + i, i < n, other=0.0)
    remember(pid, x)
    tl.store(o_ptr + i, x * factor, i < n)


@pytest.fixture(autouse=True)
def forget():
    seen.clear()


def arrays():
    return np.arange(20, dtype=np.float32), np.zeros(20, np.float32)


def test_python_functions_see_values():
    x, o = arrays()
    scale[(3,)](x, o, 20, 2.0, N=8)
    assert (o == 2 * x).all()
    assert [p for p, _ in seen] == [0, 1, 2] and (seen[1][1] == x[8:16]).all()


def test_chosen_programs(monkeypatch):
    monkeypatch.setenv("TILETWIN_PROGRAM", "1")
    x, o = arrays()
    scale[(3,)](x, o, 20, 2.0, N=8)
    assert (o == 2 * x).all() and [p for p, _ in seen] == [1]


def test_everything_eager(monkeypatch):
    monkeypatch.setenv("TILETWIN_EAGER", "1")
    x, o = arrays()
    kernels.add[(2,)](x, x, o, 20, BLOCK=16)
    assert (o == 2 * x).all()
    with pytest.raises(triton.OutOfBoundsError) as caught:
        kernels.add[(2,)](x, x.copy(), o, 32, BLOCK=16)
    assert caught.value.program == (1, 0, 0) and caught.value.line == 11 and caught.value.buffer == "x_ptr"
    ids = np.zeros(12, np.int64)
    kernels.store_ids[(2, 3, 2)](ids)
    assert ids[-1] == 10201


def test_same_arguments_as_compiled(monkeypatch):
    @triton.jit
    def all_kinds(o_ptr, flag, one, many, real, nothing, pair, N: tl.constexpr):
        value = many + one
        if flag:
            value += 10
        if nothing is None:
            value += 100
        value += pair[0]
        tl.static_assert(isinstance(N, int) or True)
        tl.store(o_ptr + tl.arange(0, N), value + real)

    results = []
    for eager in ("0", "1"):
        monkeypatch.setenv("TILETWIN_EAGER", eager)
        o = np.zeros(4)
        all_kinds[(1,)](o, True, 1, 2**33, 0.5, None, (1000, 1.0), N=4)
        results.append(o)
    assert (results[0] == results[1]).all() and results[0][0] == np.float32(2**33 + 1 + 10 + 100 + 1000)


def test_nested_launch_inside_a_kernel_program():
    """A Python function called by an eager program may launch kernels itself."""
    _, o = arrays()
    inner = np.zeros(8, np.float32)

    def launch_inside(pid):
        if pid == 1:
            kernels.fill[(1,)](inner, 5.0)

    @triton.jit
    def outer(o_ptr):
        pid = tl.program_id(0)
        launch_inside(pid)
        tl.store(o_ptr + pid, pid)

    outer[(3,)](o)
    assert list(o[:3]) == [0, 1, 2] and (inner == 5).all()


def test_exceptions_leave_nothing_behind():
    def fail(x):
        raise LookupError("from Python")

    @triton.jit
    def kernel(o_ptr):
        fail(o_ptr)

    with pytest.raises(LookupError, match="from Python"):
        kernel[(2,)](np.zeros(1))
    x, o = arrays()
    scale[(3,)](x, o, 20, 3.0, N=8)
    assert (o == 3 * x).all()


def test_read_only(monkeypatch):
    monkeypatch.setenv("TILETWIN_EAGER", "1")
    o = np.zeros(8, np.float32)
    o.flags.writeable = False
    with pytest.raises(ValueError, match="o_ptr"):
        kernels.fill[(1,)](o, 1.0)


@pytest.mark.parametrize(
    "text, grid, chosen",
    [
        ("3", (8, 1, 1), [3]), ("3,1", (4, 2, 1), [7]), ("0-2", (8, 1, 1), [0, 1, 2]), ("*,1", (3, 2, 1), [3, 4, 5]),
        ("1;5", (8, 1, 1), [1, 5]), ("9", (8, 1, 1), []), ("6-100", (8, 1, 1), [6, 7]), ("0,0,1", (2, 2, 2), [4]),
    ],
)  # fmt: skip
def test_selection(text, grid, chosen):
    assert selected_programs(text, grid) == chosen


def test_random_selection():
    assert len(selected_programs("random:5", (100, 1, 1))) == 5 and selected_programs("random:9", (4, 1, 1)) == [
        0,
        1,
        2,
        3,
    ]


@pytest.mark.parametrize("text", ["x", "1,2,3,4", "random:x", "3-", "-1"])
def test_bad_selection(text):
    with pytest.raises(ValueError, match="TILETWIN_PROGRAM"):
        selected_programs(text, (8, 1, 1))
