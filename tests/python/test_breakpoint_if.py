"""tiletwin.breakpoint_if: real pdb in programs of a compiled launch, before and after they wrote memory."""

import textwrap

import children
import pytest
from process import run_python

HEAD = """
import sys
import numpy as np
import tiletwin as triton
import tiletwin.language as tl
from tiletwin import breakpoint_if, print_if

@triton.jit
def twice(v):
    return v * 2

"""
BEFORE = """
@triton.jit
def kernel(x_ptr, o_ptr, n, B: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * B + tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n)
    y = twice(x)
    breakpoint_if(CONDITION)
    y = y + 1
    tl.store(o_ptr + i, y, mask=i < n)

x = np.arange(4096 * 4, dtype=np.float32)
o = np.zeros_like(x)
kernel[(4096,)](x, o, x.size, B=4)
print("right", (o == 2 * x + 1).all(), "elements", [int(v) for v in np.flatnonzero(o != 2 * x + 1)[:4]])
"""
AFTER = """
@triton.jit
def kernel(x_ptr, n, B: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * B + tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(x_ptr + i, x + 1, mask=i < n)
    rows = (x, pid)
    z = tl.sum(x, axis=0)
    breakpoint_if(CONDITION)
    tl.store(x_ptr + i, x + 1 + z * 0, mask=i < n)

x = np.arange(64, dtype=np.float32)
kernel[(16,)](x, x.size, B=4)
print("right", (x == np.arange(64) + 1).all())
"""
OWN_HOOK = """
def hook(*args, **kwargs):
    frame = sys._getframe(1)
    print("hook", frame.f_code.co_name, frame.f_lineno, int(frame.f_locals["pid"]))
sys.breakpointhook = hook
"""


def run(tmp_path, text: str, commands: str, condition: str, head: str = "", **environment: str):
    file = tmp_path / "kernel.py"
    file.write_text(
        HEAD + text.replace("CONDITION", condition).replace("@triton.jit\ndef kernel", head + "@triton.jit\ndef kernel")
    )
    return children.run(file, typed=commands, **environment)


def line_of(text: str, tmp_path) -> int:
    return next(n for n, line in enumerate((tmp_path / "kernel.py").read_text().split("\n"), 1) if text in line)


def test_a_program_that_wrote_nothing_starts_again_in_pdb(tmp_path) -> None:
    done = run(tmp_path, BEFORE, "p int(pid)\np y\np float(y.numpy()[1])\ny = y * 0\nc\n", "pid == 3000")
    out, err = done.stdout, done.stderr
    stop = line_of("breakpoint_if(pid", tmp_path)
    assert f"kernel.py({stop + 1})kernel()" in out or f"kernel.py({stop})kernel()" in out, out + err
    assert "(Pdb) 3000\n" in out and "24002.0" in out
    assert f"kernel.py:{stop}: program (3000, 0, 0) has come to this breakpoint" in err
    assert "runs in Python" not in err
    # What pdb changed is what the program goes on with: four elements differ, all others ran compiled.
    assert "right False elements [12000, 12001, 12002, 12003]" in out


def test_several_programs_in_order(tmp_path) -> None:
    done = run(tmp_path, BEFORE, "p int(pid)\nc\n" * 3, "(pid == 7) | (pid == 4095) | (pid == 100)")
    assert [w for w in done.stdout.replace("(Pdb) ", "\n").split("\n") if w.isdigit()] == ["7", "100", "4095"], (
        done.stdout
    )
    assert "right True" in done.stdout


@pytest.mark.parametrize("condition", ["x > 12003.5", "(x > 12003.5) & (x < 12005)"])
def test_a_condition_on_elements(tmp_path, condition: str) -> None:
    done = run(tmp_path, BEFORE, "p int(pid)\nq\n", condition)
    assert "(Pdb) 3001" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("condition", ["False", "pid == 5000", "x < 0"])
def test_what_never_holds_stops_nowhere(tmp_path, condition: str) -> None:
    done = run(tmp_path, BEFORE, "", condition)
    assert done.stdout.startswith("right True") and done.stderr == ""


def test_quitting_ends_the_launch(tmp_path) -> None:
    done = run(tmp_path, BEFORE, "q\n", "pid == 9")
    assert "BdbQuit" in done.stderr and "right" not in done.stdout and done.returncode == 1


def test_step_and_return_reach_the_callers(tmp_path) -> None:
    done = run(tmp_path, BEFORE, "n\nn\nn\nw\nc\n", "pid == 9")
    places = [line for line in done.stdout.split("\n") if "> " in line and ".py(" in line]
    assert places and all("kernel.py" in p for p in places), done.stdout
    assert "tiletwin/" not in done.stdout


def test_a_program_that_wrote_is_looked_at(tmp_path) -> None:
    done = run(tmp_path, AFTER, "p z\np rows\np B\np i + 1\npp sorted(k for k in locals())\nn\nc\n", "pid == 5")
    out, err = done.stdout, done.stderr
    stop = line_of("breakpoint_if(pid", tmp_path)
    assert f"kernel.py({stop})kernel()" in out, out + err
    assert err.count("\n") == 1 and "Warning" not in err
    assert "after it had written memory" in err and f"kernel.py:{stop}" in err
    assert "86" in out and "tensor([21, 22, 23, 24], int32)" in out
    assert "['B', 'i', 'n', 'pid', 'rows', 'x', 'x_ptr', 'z']" in out
    assert "right True" in out and "tiletwin/" not in out


def test_sys_breakpointhook_is_called_in_the_kernels_frame(tmp_path) -> None:
    done = run(tmp_path, BEFORE, "", "pid == 77", head=OWN_HOOK)
    stop = line_of("breakpoint_if(pid", tmp_path)
    assert f"hook kernel {stop} 77" in done.stdout and "right True" in done.stdout, done.stdout + done.stderr
    done = run(tmp_path, AFTER, "", "pid == 7", head=OWN_HOOK)
    assert "hook kernel" in done.stdout and " 7\n" in done.stdout and "right True" in done.stdout


def test_pythonbreakpoint_0_switches_it_off(tmp_path) -> None:
    done = run(tmp_path, BEFORE, "", "pid == 77", PYTHONBREAKPOINT="0")
    assert "right True" in done.stdout, done.stdout + done.stderr


def test_eager_mode_stops_there_too(tmp_path) -> None:
    done = run(tmp_path, BEFORE, "p int(pid)\nc\n", "pid == 3", TILETWIN_EAGER="1")
    assert "(Pdb) 3\n" in done.stdout and "right True" in done.stdout, done.stdout + done.stderr


def test_prints_of_the_program_come_once_and_in_order(tmp_path) -> None:
    text = BEFORE.replace("    y = twice(x)\n", "    tl.device_print('p', pid)\n    y = twice(x)\n").replace(
        "4096", "40"
    )
    done = run(tmp_path, text, "c\n", "pid == 9", PYTHONUNBUFFERED="1")
    printed = [line.removeprefix("(Pdb) ") for line in done.stdout.split("\n") if " p: " in line]
    assert printed == [f"pid ({p}, 0, 0) idx () p: {p}" for p in range(40)], done.stdout


def test_programs_that_wait_for_each_other_run_in_python(tmp_path) -> None:
    text = """
@triton.jit
def kernel(lock_ptr, o_ptr):
    pid = tl.program_id(0)
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    breakpoint_if(CONDITION)
    tl.store(o_ptr, tl.load(o_ptr) + 1)
    tl.atomic_xchg(lock_ptr, 0)

lock = np.zeros(1, np.int32); o = np.zeros(1, np.int32)
kernel[(9,)](lock, o)
print("right", o[0] == 9)
"""
    done = run(tmp_path, text, "p int(pid)\nc\n", "pid == 3")
    assert "(Pdb) 3" in done.stdout and "right True" in done.stdout, done.stdout + done.stderr
    assert "its programs wait for each other" in done.stderr


def test_with_an_argument_from_pytorch_and_an_autotuner(tmp_path) -> None:
    text = BEFORE.replace(
        "x = np.arange(4096 * 4, dtype=np.float32)", "import torch\nx = torch.arange(16384.)"
    ).replace("np.zeros_like(x)", "torch.zeros_like(x)")
    text = text.replace("x.size", "x.numel()").replace(
        "np.flatnonzero(o != 2 * x + 1)", "torch.nonzero(o != 2 * x + 1)"
    )
    text = text.replace(
        "@triton.jit\ndef kernel", "@triton.autotune([triton.Config({'B': 4})], key=[])\n@triton.jit\ndef kernel"
    )
    done = run(tmp_path, text.replace(", B=4)", ")"), "p B.value\nc\n", "pid == 3")
    assert "(Pdb) 4" in done.stdout and "right tensor(True)" in done.stdout, done.stdout + done.stderr


def test_break_by_environment(tmp_path) -> None:
    """TILETWIN_BREAK stops at a line of an unchanged kernel, in the programs of TILETWIN_PROGRAM."""
    text = BEFORE.replace("    breakpoint_if(CONDITION)\n", "")
    run(tmp_path, text, "", "")
    line = line_of("y = y + 1", tmp_path)
    done = run(tmp_path, text, "p int(pid)\np y\nc\n", "", TILETWIN_BREAK=f"kernel.py:{line}", TILETWIN_PROGRAM="8")
    assert f"kernel.py({line})kernel()" in done.stdout and "(Pdb) 8\n" in done.stdout, done.stdout + done.stderr
    assert "right True" in done.stdout
    line = line_of("return v * 2", tmp_path)
    done = run(tmp_path, text, "p v\nc\n", "", TILETWIN_BREAK=f"{tmp_path}/kernel.py:{line}", TILETWIN_PROGRAM="8")
    assert f"kernel.py({line})twice()" in done.stdout and "tensor([32" in done.stdout, done.stdout + done.stderr
    done = run(tmp_path, text, "", "", TILETWIN_BREAK="other.py:7")
    assert done.stdout.startswith("right True")
    assert done.stderr == "tiletwin: no kernel that was launched has a line other.py:7 (TILETWIN_BREAK)\n"
    done = run(tmp_path, text, "", "", TILETWIN_BREAK="kernel.py")
    assert "TILETWIN_BREAK=kernel.py: expected file:line as in kernel.py:8" in done.stderr
    for place in ("kernel", "kernel.py:kernel"):
        done = run(tmp_path, text, "p n\nc\n", "", TILETWIN_BREAK=place, TILETWIN_PROGRAM="8")
        assert f"kernel.py({line_of('pid = tl', tmp_path)})kernel()" in done.stdout, done.stdout + done.stderr
    done = run(tmp_path, text, "", "", TILETWIN_BREAK="other;other.py:kernel")
    assert done.stderr.splitlines() == [
        "tiletwin: no kernel that was launched has the name other (TILETWIN_BREAK)",
        "tiletwin: no kernel that was launched has the name kernel in other.py (TILETWIN_BREAK)",
    ]


def test_importing_debug_is_cheap() -> None:
    done = run_python("-c", "import sys, tiletwin.debug; print('numpy' in sys.modules, 'pdb' in sys.modules)")
    assert done.stdout == "False False\n", textwrap.indent(done.stderr, "  ")
