"""`tiletwin diff`, `tiletwin replay` and their variables, in processes of their own."""

import re

import children
import pytest
from tiletwin.diff import files, triton_process

NEEDS_TRITON = pytest.mark.skipif(
    triton_process.python() is None, reason="real Triton is not installed; TILETWIN_TRITON names a Python that has it"
)

SCRIPT = """
import sys
import numpy as np
import triton
import triton.language as tl

@triton.jit
def double(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.load(x + i, mask=i < n) * 2.0, mask=i < n)

@triton.jit
def narrow(x, o, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(o + i, v.to(tl.bfloat16, bitcast=False).to(tl.float32))

x = np.linspace(0, 1, 256, dtype=np.float32)
o = np.zeros(256, np.float32)
double[(2,)](x, o, 256, B=128)
assert (o == 2 * x).all()
if "narrow" in sys.argv:
    narrow[(2,)](x, o, B=128)
if "fail" in sys.argv:
    double[(3,)](x, o, 300, B=128)
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    return path


def test_save_and_replay(script, tmp_path):
    saved = tmp_path / "saved"
    result = children.run(script, "narrow", cwd=tmp_path, TILETWIN_INTERPRET="1", TILETWIN_SAVE=str(saved))
    assert result.returncode == 0, result.stderr
    names = sorted(path.name for path in saved.iterdir())
    assert [re.sub(r"-[0-9a-f]{8}\.", ".", name) for name in names] == ["double-0.twlaunch", "narrow-0.twlaunch"]
    children.run(script, cwd=tmp_path, TILETWIN_INTERPRET="1", TILETWIN_SAVE=str(saved))
    assert sorted(path.name for path in saved.iterdir()) == names  # the same launch is the same file
    script.unlink()
    result = children.run_tiletwin("replay", saved, cwd=tmp_path)
    assert result.returncode == 0, result.stderr + result.stdout
    assert "double[2, 1, 1] on recorded:interp, interp: same" in result.stdout
    assert "2 same, 0 different, 0 not comparable of 2 launches" in result.stdout


def test_a_launch_that_fails_is_saved(script, tmp_path):
    saved = tmp_path / "saved"
    result = children.run(script, "fail", cwd=tmp_path, TILETWIN_INTERPRET="1", TILETWIN_SAVE=str(saved))
    assert "OutOfBoundsError" in result.stderr
    launch = files.read(next(path for path in saved.iterdir() if "double-1-" in path.name))
    assert launch.errors == {"interp": "Unknown: the launch raised an exception"} and launch.grid == (3, 1, 1)
    result = children.run_tiletwin("replay", *saved.glob("double-1-*"), cwd=tmp_path)
    assert "both failed: recorded:interp: Unknown; interp: OutOfBoundsError" in result.stdout, result.stdout


def test_nothing_is_saved_without_being_asked(script, tmp_path):
    assert children.run(script, cwd=tmp_path, TILETWIN_INTERPRET="1").returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["script.py"]


def test_a_launch_that_fails_is_compared(script, tmp_path):
    result = children.run_tiletwin("diff", "--backends", "interp,sim", script, "fail", cwd=tmp_path)
    assert result.returncode == 1, "the script's own"
    assert "2 same, 0 different, 0 not comparable of 2 launches" in result.stdout
    assert "both failed: interp: OutOfBoundsError; sim: OutOfBoundsError" in result.stdout
    (saved,) = (tmp_path / "tiletwin-differences").iterdir()
    launch = files.read(saved)
    assert launch.number == 1 and "script.py:10:21: tl.load" in launch.errors["interp"], launch.errors
    assert sorted(launch.errors) == ["interp", "sim"]


@pytest.mark.parametrize("typed", ["q\n", "n\nq\n", "c\n", ""])
def test_leaving_pdb_is_no_error(script, tmp_path, typed):
    children.run(script, cwd=tmp_path, TILETWIN_INTERPRET="1", TILETWIN_SAVE="saved")
    result = children.run_tiletwin("replay", *(tmp_path / "saved").iterdir(), "--pdb", cwd=tmp_path, typed=typed)
    assert result.returncode == 0 and "(Pdb)" in result.stdout, result.stderr
    assert "Traceback" not in result.stderr


COMPILED = """
import numpy as np
import triton
import triton.language as tl

@triton.jit
def scale(x, o, by, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i, tl.load(x + i) * by)

types = {"x": "*fp32", "o": "*fp32", "by": "i32", "B": "constexpr"}
compiled = triton.compile(triton.compiler.ASTSource(scale, types, {"B": 64}))
x, o = np.ones(64, np.float32), np.zeros(64, np.float32)
compiled[(1,)](x, o, 3)
open("scale.ttir", "w").write(compiled.asm["ttir"])
triton.compile("scale.ttir")[(1,)](x, o, 3)
assert (o == 3).all()
"""


def test_kernels_that_were_compiled_before_their_launch_are_compared(tmp_path):
    (tmp_path / "ahead.py").write_text(COMPILED)
    result = children.run_tiletwin("diff", "--backends", "interp,sim", "ahead.py", cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "1 same, 0 different, 1 not comparable of 2 launches" in result.stdout, result.stderr
    assert "not comparable (1): a launch was left out: a kernel that came as IR" in result.stdout


THREADS = """
import threading
import numpy as np
import triton
import triton.language as tl

@triton.jit
def double(x, o, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i, tl.load(x + i) * 2.0)

def launches():
    for _ in range(10):
        x, o = np.ones(64, np.float32), np.zeros(64, np.float32)
        double[(1,)](x, o, 64)

threads = [threading.Thread(target=launches) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"""


def test_launches_of_all_threads_are_compared(tmp_path):
    (tmp_path / "threads.py").write_text(THREADS)
    result = children.run_tiletwin("diff", "--backends", "interp,sim", "threads.py", cwd=tmp_path)
    assert "40 same, 0 different, 0 not comparable of 40 launches" in result.stdout, result.stdout + result.stderr
    assert all(f"double #{number} " in result.stdout for number in range(40))


def test_a_traceback_begins_in_the_script(script, tmp_path):
    line = next(n for n, text in enumerate(SCRIPT.splitlines(), 1) if "300" in text)
    for words in (("run",), ("diff", "--backends", "interp,sim")):
        result = children.run_tiletwin(*words, script, "fail", cwd=tmp_path)
        shown = result.stderr.partition("Traceback")[2].splitlines()
        assert result.returncode == 1 and f'script.py", line {line}, in <module>' in shown[1], result.stderr
        assert len(shown) == 6 and "tiletwin.errors.OutOfBoundsError: " in shown[3]
    (saved,) = (tmp_path / "tiletwin-differences").iterdir()
    result = children.run_tiletwin("replay", saved, "--pdb", "--program", "5", cwd=tmp_path)
    assert result.returncode == 1 and "Traceback" not in result.stderr, "no line of Python was the user's"
    assert result.stderr.startswith("tiletwin.errors.OutOfBoundsError: ")
    assert "no launch had a program 5" in result.stderr
    script.write_text("def f(:\n")
    result = children.run_tiletwin("diff", script, cwd=tmp_path)
    assert result.returncode == 1 and "SyntaxError" in result.stderr and "Traceback" not in result.stderr


@NEEDS_TRITON
def test_diff_finds_what_real_triton_does_wrong(script, tmp_path):
    result = children.run_tiletwin(
        "diff", "--backends", "interp,triton", "--html", "out.html", script, "narrow", cwd=tmp_path
    )
    assert result.returncode == 1, result.stderr + result.stdout
    assert "narrow[2, 1, 1] on interp, triton: different" in result.stdout
    line = next(n for n, text in enumerate(SCRIPT.splitlines(), 1) if "tl.bfloat16" in text)
    assert f"script.py:{line}: tl.store(o + i, v.to(tl.bfloat16" in result.stdout
    assert "1 same, 1 different, 0 not comparable of 2 launches" in result.stdout
    page = (tmp_path / "out.html").read_text()
    assert page.count("<svg") == 3 and "narrow #0" in page and "<script" not in page and "http" not in page.replace(
        "http://www.w3.org/2000/svg", ""
    )  # fmt: skip
    assert f"&gt; {line:5d}" in page
    (saved,) = (tmp_path / "tiletwin-differences").iterdir()
    launch = files.read(saved)
    assert sorted(launch.outputs) == ["interp", "triton"]
    # On a machine without real Triton: what it gave is in the file.
    result = children.run_tiletwin("replay", saved, "--backend", "recorded", cwd=tmp_path, TILETWIN_TRITON="/nowhere")
    assert result.returncode == 1 and "on recorded:interp, recorded:triton: different" in result.stdout, result.stderr


@NEEDS_TRITON
def test_diff_of_what_is_the_same(script, tmp_path):
    result = children.run_tiletwin("diff", "--backends", "interp,triton", script, cwd=tmp_path)
    assert result.returncode == 0, result.stderr + result.stdout
    assert "1 same, 0 different, 0 not comparable of 1 launches" in result.stdout
    assert not (tmp_path / "tiletwin-differences").exists()


def test_a_backend_that_is_not_there_is_counted(script, tmp_path):
    words = ("diff", "--backends", "interp,triton", "--most-not-comparable", "0", script)
    result = children.run_tiletwin(*words, cwd=tmp_path, TILETWIN_TRITON="/nowhere")
    assert result.returncode == 3, result.stdout + result.stderr
    assert "0 same, 0 different, 1 not comparable of 1 launches" in result.stdout
    assert "TILETWIN_TRITON=/nowhere cannot be started" in result.stdout


@pytest.mark.parametrize("others", ["triton", "sim,triton"])
def test_a_backend_that_compares_nothing_is_a_failure(script, tmp_path, others):
    words = ("diff", "--backends", f"interp,{others}", script)
    result = children.run_tiletwin(*words, cwd=tmp_path, TILETWIN_TRITON="/nowhere")
    assert result.returncode == 4, result.stdout + result.stderr
    assert "  triton compared nothing: TILETWIN_TRITON=/nowhere cannot be started" in result.stdout
    assert "sim compared nothing" not in result.stdout and "--allow-missing accepts this" in result.stdout
    result = children.run_tiletwin("diff", "--allow-missing", *words[1:], cwd=tmp_path, TILETWIN_TRITON="/nowhere")
    assert result.returncode == 0 and "  triton compared nothing: " in result.stdout, result.stdout + result.stderr


def test_the_script_s_failure_says_more_than_a_missing_backend(script, tmp_path):
    script.write_text(SCRIPT + "sys.exit(7)\n")
    result = children.run_tiletwin(
        "diff", "--backends", "interp,triton", script, cwd=tmp_path, TILETWIN_TRITON="/nowhere"
    )
    assert result.returncode == 7, result.stdout + result.stderr


def test_what_a_script_says_as_it_ends_is_shown(script, tmp_path):
    script.write_text(SCRIPT + 'sys.exit("no data for July")\n')
    result = children.run_tiletwin("diff", "--backends", "interp,interp", script, cwd=tmp_path)
    assert result.returncode == 1 and "no data for July\n" in result.stderr, result.stdout + result.stderr


def test_a_script_without_launches_is_a_failure(tmp_path):
    (tmp_path / "empty.py").write_text("import triton\n")
    result = children.run_tiletwin("diff", "--backends", "interp,sim", "empty.py", cwd=tmp_path)
    assert result.returncode == 4 and "  nothing was compared: there was no launch" in result.stdout, result.stderr
    result = children.run_tiletwin("diff", "--backends", "interp,sim", "--allow-missing", "empty.py", cwd=tmp_path)
    assert result.returncode == 0, result.stderr


def test_the_mode_says_what_compares_nothing(script, tmp_path):
    variables = {"TILETWIN_BACKEND": "diff", "TILETWIN_DIFF": "interp,triton", "TILETWIN_TRITON": "/nowhere"}
    result = children.run(script, cwd=tmp_path, **variables)
    assert result.returncode == 0
    assert result.stderr.startswith("tiletwin diff: triton compared nothing: TILETWIN_TRITON=/nowhere "), result.stderr


def test_the_mode(script, tmp_path):
    result = children.run(script, cwd=tmp_path, TILETWIN_BACKEND="diff", TILETWIN_DIFF="interp,interp")
    assert result.returncode == 0 and result.stderr == "", result.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("diff", "--backends", "interp", "script.py"), "comparing takes two backends or more"),
        (
            ("diff", "--backends", "interp,gpu", "script.py"),
            "there is no backend 'gpu'; there are cuda, interp, recorded",
        ),
        (("diff", "nothing.py"), "nothing.py: no such file"),
        (("replay", "nothing.twlaunch"), "No such file or directory: 'nothing.twlaunch'"),
        (("replay", "script.py"), "script.py: this is no recorded launch"),
        (("replay", "."), "there is no *.twlaunch file"),
        (("replay", ".", "--backend", ""), "--backend names nothing to run on"),
        (("replay", ".", "--html", "no/out.html"), "--html no/out.html: there is no such folder"),
        (("diff", "--html", "no/out.html", "script.py"), "--html no/out.html: there is no such folder"),
        (("replay", ".", "--html", "."), "--html .: it is a folder"),
        (("diff", "--html", "/proc/out.html", "script.py"), "--html /proc/out.html: "),
        (("diff", "--save-all", "script.py"), "--save-all: no such option; -m runs a module"),
    ],
)
def test_bad_words(script, tmp_path, words, message):
    result = children.run_tiletwin(*words, cwd=tmp_path)
    assert result.returncode == 2 and message in result.stderr, result.stderr
    assert "Traceback" not in result.stderr


def test_replay_goes_on_after_a_file_that_cannot_be_read(script, tmp_path):
    saved = tmp_path / "saved"
    children.run(script, cwd=tmp_path, TILETWIN_INTERPRET="1", TILETWIN_SAVE=str(saved))
    (saved / "a.twlaunch").write_bytes(b"no archive")
    (saved / "zzz.twlaunch").write_bytes(next(saved.glob("double*")).read_bytes()[:-50])
    result = children.run_tiletwin("replay", saved, cwd=tmp_path)
    assert result.returncode == 2 and "Traceback" not in result.stderr
    assert "1 same, 0 different, 0 not comparable of 1 launches" in result.stdout, result.stdout
    assert "2 of 3 files could not be read" in result.stdout
    assert re.findall(r"(\w+)\.twlaunch: this is no recorded launch", result.stderr) == ["a", "zzz"]


def test_a_folder_that_cannot_be_written(script, tmp_path):
    (tmp_path / "taken").write_text("a file")
    result = children.run(script, cwd=tmp_path, TILETWIN_INTERPRET="1", TILETWIN_SAVE="taken")
    assert result.returncode == 0, result.stderr
    assert result.stderr == "tiletwin diff: a launch is not kept: taken: File exists\n"
    result = children.run_tiletwin("diff", "--backends", "interp,sim", "--save", "taken", script, "fail", cwd=tmp_path)
    assert "2 same, 0 different, 0 not comparable of 2 launches" in result.stdout, result.stderr
    assert "not kept (1): taken: File exists" in result.stdout


@pytest.mark.parametrize(
    ("command", "variable", "value"),
    [
        ("diff", "TILETWIN_DIFF_LAUNCHES", "some"),
        ("run", "TILETWIN_BACKEND", "gpu"),
        ("replay", "TILETWIN_BACKEND", "gpu"),
        ("ir", "TILETWIN_BACKEND", "gpu"),
    ],
)
def test_a_wrong_variable_is_one_message(script, tmp_path, command, variable, value):
    result = children.run_tiletwin(command, "script.py", cwd=tmp_path, **{variable: value})
    assert result.returncode == 2 and f"tiletwin: {variable}={value}: expected " in result.stderr, result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("words", ["all", "all,raise"])
def test_checks_do_not_look_at_the_tester_s_own_kernels(script, tmp_path, words):
    result = children.run_tiletwin("diff", "--backends", "interp,sim", script, cwd=tmp_path, TILETWIN_CHECK=words)
    assert "1 same, 0 different, 0 not comparable of 1 launches" in result.stdout, result.stderr
    assert result.returncode == 0 and result.stderr == ""
