"""A saved failure on another machine, which has no GPU and not the script; and in gdb and pdb at a terminal."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import children
import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
from tiletwin import diff
from tiletwin.diff import files

ESCAPES = re.compile(r"\x1b\[[?0-9;]*[a-zA-Z]")
RECORDINGS = Path(__file__).resolve().parents[1] / "data" / "ptx" / "h200.npz"


@triton.jit
def attention(q_ptr, k_ptr, v_ptr, o_ptr, T, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.arange(0, BN)
    rd = tl.arange(0, D)
    q = tl.load(q_ptr + rm[:, None] * D + rd[None, :])
    high = tl.full((BM,), float("-inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for n in range(0, T, BN):
        k = tl.load(k_ptr + (n + rn)[None, :] * D + rd[:, None])
        s = tl.dot(q, k) * scale
        higher = tl.maximum(high, tl.max(s, 1))
        p = tl.exp2(s - higher[:, None])
        alpha = tl.exp2(high - higher)
        total = total * alpha + tl.sum(p, 1)
        v = tl.load(v_ptr + (n + rn)[:, None] * D + rd[None, :])
        acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None])
        high = higher
    tl.store(o_ptr + rm[:, None] * D + rd[None, :], (acc / total[:, None]).to(o_ptr.dtype.element_ty))  # store


@triton.jit
def scaled(x, o, n, B: tl.constexpr):
    """Twice and a half."""
    i = tl.program_id(0) * B + tl.arange(0, B)  # first
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(o + i, v * 2.5, mask=i < n)


def line_of(comment: str) -> int:
    lines = Path(__file__).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.endswith(f"# {comment}"))


def of_h200(broken: bool) -> diff.Launch:
    """A launch as an H200 gave it to the file; broken: with one element of its result changed."""
    with np.load(RECORDINGS) as stored:
        inputs = [stored[f"in/attention_loop_fp16/{name}_ptr"].reshape(128, 64) for name in "qkv"]
        result = stored["sm_90/attention_loop_fp16/o_ptr"].reshape(128, 64).copy()
    if broken:
        result[70, 9] *= np.float16(1.02)
    launch = diff.launch_of(attention, (2,), [*inputs, np.zeros_like(result), 128, 0.18, 64, 64, 64])
    launch.outputs["triton:gpu"] = [*launch.memory[:3], result.view(np.uint8).reshape(-1)]
    return launch


def without_anything(**more: str) -> dict[str, str]:
    """The environment of a machine that has neither a GPU nor real Triton."""
    more |= {"TILETWIN_LIBCUDA": "/nowhere/libcuda.so", "TILETWIN_TRITON": "/nowhere/python"}
    return children.environment(without=("CUDA", "TILETWIN_PTXAS"), **more)


def replay(*words: object, cwd: Path) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "tiletwin", "replay", *map(str, words)], cwd=cwd, env=without_anything(), text=True,
        capture_output=True, timeout=120,
    )  # fmt: skip


@pytest.mark.parametrize("broken", [pytest.param(False, marks=pytest.mark.slow), True])
def test_recorded_gpu_results_judge_without_a_gpu(broken: bool, tmp_path: Path) -> None:
    launch = of_h200(broken)
    launch.file = "/elsewhere/kernels.py"  # not here
    diff.write(launch, tmp_path / "attention.twlaunch")
    result = replay("attention.twlaunch", "--backend", "interp,sim", cwd=tmp_path)
    assert result.returncode == int(broken), result.stdout + result.stderr
    word = "different" if broken else "same"
    assert f"attention[2, 1, 1] on recorded:triton:gpu, interp, sim: {word}" in result.stdout
    if broken:
        # Nothing else is accused, and the line's text comes from the file.
        assert result.stdout.count("8192 elements") == 8 and "1 different" in result.stdout
        assert re.search(r"o_ptr\[70, 9\], program \(1, 0, 0\): recorded:triton:gpu has", result.stdout)
        assert f":{line_of('store')}: tl.store(o_ptr + rm" in result.stdout


@pytest.mark.slow
def test_backends_that_are_not_there_are_not_comparable(tmp_path: Path) -> None:
    diff.write(of_h200(True), tmp_path / "attention.twlaunch")
    result = replay("attention.twlaunch", "--backend", "cuda,triton", "--most-not-comparable", "0", cwd=tmp_path)
    assert result.returncode == 3, result.stdout + result.stderr
    assert "on recorded:triton:gpu, cuda, triton: not comparable" in result.stdout
    assert "cuda cannot run this launch" in result.stdout and "/nowhere/libcuda.so" in result.stdout
    assert "triton cannot run this launch" in result.stdout and "/nowhere/python" in result.stdout
    result = replay("attention.twlaunch", "--backend", "triton", cwd=tmp_path)
    assert result.returncode == 4 and "  triton compared nothing: " in result.stdout, result.stdout
    result = replay("attention.twlaunch", "--backend", "triton", "--allow-missing", cwd=tmp_path)
    assert result.returncode == 0, result.stdout


def test_the_saved_failure_of_a_backend_that_is_not_there(tmp_path: Path) -> None:
    """What a GPU wrote and how it failed is compared with the interpreter by the file alone."""
    x = np.linspace(-1, 1, 300, dtype=np.float32)
    launch = diff.launch_of(scaled, (3,), [x, np.zeros_like(x), 300, 128])
    launch.outputs["interp"] = diff.BACKENDS["interp"]().run(launch).memory
    wrong = [memory.copy() for memory in launch.outputs["interp"]]
    wrong[1].view(np.float32)[200] += 1
    launch.outputs["cuda"] = wrong
    launch.errors["other"] = "CudaError: the kernel faulted"
    files.write(launch, tmp_path / "scaled.twlaunch")
    result = replay("scaled.twlaunch", "--backend", "recorded", cwd=tmp_path)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "scaled[3, 1, 1] on recorded:interp, recorded:cuda, recorded:other: different" in result.stdout
    assert "o[200], program (1, 0, 0): recorded:interp has" in result.stdout
    assert "recorded:other: CudaError: the kernel faulted" in result.stdout


def test_programs_are_numbers(tmp_path: Path) -> None:
    x = np.zeros(4, np.float32)
    diff.write(diff.launch_of(scaled, (1,), [x, x, 4, 4]), tmp_path / "scaled.twlaunch")
    result = replay("scaled.twlaunch", "--gdb", "--program", "one", cwd=tmp_path)
    if shutil.which("gdb"):
        assert (
            result.returncode == 2
            and "--program takes one to three numbers joined by commas, not 'one'" in result.stderr
        )
    else:
        assert result.returncode == 2 and "gdb was not found" in result.stderr


@pytest.mark.parametrize("debugger", ["--pdb", "--gdb"])
def test_debuggers_need_the_text(debugger: str, tmp_path: Path) -> None:
    if debugger == "--gdb" and shutil.which("gdb") is None:
        pytest.skip("gdb is not installed")
    x = np.zeros(4, np.float32)
    launch = diff.launch_of(scaled, (1,), [x, x, 4, 4])
    launch.sources = {}
    diff.write(launch, tmp_path / "scaled.twlaunch")
    result = replay("scaled.twlaunch", debugger, cwd=tmp_path)
    assert result.returncode == 2 and "cannot run on its own: there is none" in result.stderr, result.stderr


# ---- debuggers at a terminal ----


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    x = np.arange(300, dtype=np.float32)
    launch = diff.launch_of(scaled, (3,), [x, np.zeros_like(x), 300, 128])
    launch.outputs["interp"] = diff.BACKENDS["interp"]().run(launch).memory
    return Path(files.write(launch, tmp_path / "scaled.twlaunch"))


class Terminal:
    """A debugger that a person types at."""

    def __init__(self, prompt: str, saved: Path, *words: str) -> None:
        pexpect = pytest.importorskip("pexpect")
        variables = without_anything(TERM="dumb", LINES="0", COLUMNS="0", HOME=str(saved.parent))
        self.prompt = prompt
        self.child = pexpect.spawn(
            sys.executable, ["-m", "tiletwin", "replay", str(saved), *words], encoding="utf-8", timeout=120, echo=False,
            cwd=str(saved.parent), env=variables, dimensions=(200, 250),
        )  # fmt: skip
        self.begun = self._said()

    def _said(self) -> str:
        self.child.expect_exact(self.prompt)
        return ESCAPES.sub("", self.child.before).replace("\r\n", "\n").replace("\r", "").strip()

    def __call__(self, command: str) -> str:
        self.child.sendline(command)
        return self._said()

    def ends(self, command: str) -> str:
        import pexpect

        self.child.sendline(command)
        self.child.expect(pexpect.EOF)
        self.child.close()
        return ESCAPES.sub("", self.child.before)


@pytest.mark.slow  # gdb reads the symbols of everything that Python loads
@pytest.mark.timeout(240)
@pytest.mark.skipif(shutil.which("gdb") is None, reason="gdb is not installed")
def test_gdb_stops_in_the_recorded_text(saved: Path) -> None:
    gdb = Terminal("(gdb) ", saved, "--gdb", "--program", "2")
    while "Breakpoint 1" not in gdb.begun or "scaled (" not in gdb.begun:  # a prompt for each command of the start
        gdb.begun += gdb._said()
    assert re.search(
        rf"scaled \(.*n=300, B=128\) at .*kernel_0_test_replay_elsewhere\.py:{line_of('first')}", gdb.begun
    )
    assert "i = tl.program_id(0) * B" in gdb.begun
    gdb("next")
    assert gdb("print i[0]").endswith("= 256") and gdb("print pid0").endswith("= 2")
    gdb("next")
    assert gdb("print v[3]").endswith("= 259")
    assert "v: fp32, 128" in gdb("tw show v")  # the package's own commands
    gdb("set confirm off")
    gdb.ends("quit")


def test_pdb_stops_in_the_recorded_text(saved: Path) -> None:
    pdb = Terminal("(Pdb) ", saved, "--pdb", "--program", "2")
    assert f"kernel_0_test_replay_elsewhere.py({line_of('first')})scaled()" in pdb.begun
    assert "i = tl.program_id(0) * B + tl.arange(0, B)" in pdb.begun
    pdb("next")
    assert pdb("p i[0].tolist()") == "256"
    pdb("next")
    assert pdb("p v[3].tolist()") == "259.0"
    assert "2.5" in pdb("list")
    said = pdb.ends("continue")
    assert "Traceback" not in said and pdb.child.exitstatus == 0
