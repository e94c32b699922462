"""`tiletwin trace` with plain text, and its errors."""

import children
import pytest
from run_recorded import SCRIPT

LOAD = next(n for n, line in enumerate(SCRIPT.read_text().splitlines(), 1) if "x = tl.load(x_ptr + offs" in line)


def tiletwin(*words, **environment):
    return children.run_tiletwin("trace", *words, **environment)


def test_list(added):
    done = tiletwin(added, "--list")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("launch 0: add, grid (8, 1, 1), launch 0 of it, at ")
    assert [line.split("  ")[1] for line in lines[1:]] == ["program 0,0,0", "program 4,0,0", "program 7,0,0"]


def test_without_a_terminal_it_lists(added):
    assert tiletwin(added).stdout == tiletwin(added, "--list").stdout


def test_a_step(added):
    done = tiletwin(added, "--program", "7", "--at", f":{LOAD}")
    assert done.returncode == 0, done.stderr
    assert f"kernels.py:{LOAD} in add" in done.stdout and "iteration 0 of line" in done.stdout
    assert "* x = fp32[128] [896, 897" in done.stdout
    assert "  load: x_ptr[896 .. 999], 104 of 128 elements" in done.stdout


def test_a_step_by_number_and_a_variable(added):
    done = tiletwin(added, "--at", "2", "--show", "offs", "--full")
    assert done.stdout.startswith("offs: int32[128]  (min 0, max 127, mean 63.5)\n[")
    numbers = done.stdout.split("\n", 1)[1].replace("[", " ").replace("]", " ").split()
    assert list(map(int, numbers)) == list(range(128))


def test_pointers_are_shown_as_offsets(added):
    done = tiletwin(added, "--at", "0", "--show", "x_ptr")
    assert done.stdout == "x_ptr: pointer<fp32> x_ptr + 0\n"


@pytest.mark.parametrize(
    "words, message",
    [
        (["--launch", "9"], "--launch 9: there are launches 0 to 0"),
        (["--program", "3"], "program (3, 0, 0) of add was not recorded; recorded are (0, 0, 0), (4, 0, 0), (7, 0, 0)"),
        (["--program", "x"], "--program x: write the program's id"),
        (["--at", "999"], "--at 999: program (0, 0, 0) has steps 0 to"),
        (["--at", "here"], "write a step's number, :LINE, last or error"),
        (["--at", ":1"], "line 1 did not run"),
        (["--at", "error"], "did not fail"),
        (["--at", "3", "--show", "nothing"], "--show nothing: no such variable after step 3; there are x_ptr, y_ptr"),
        (["--full"], "--full: of which variable? Name it with --show NAME"),
        (["--html", "/proc/nowhere/x.html"], "/proc/nowhere/x.html: cannot be written"),
    ],
)
def test_wrong_options(added, words, message):
    extra = [] if "--at" in words or "--html" in words else ["--at", "0"]
    done = tiletwin(added, *words, *extra)
    assert done.returncode == 2 and message in done.stderr and "Traceback" not in done.stderr


def test_a_program_that_was_not_recorded_is_an_error_without_a_terminal_too(added):
    done = tiletwin(added, "--program", "3")
    assert done.returncode == 2 and "program (3, 0, 0) of add was not recorded" in done.stderr


def test_no_recording(tmp_path):
    done = tiletwin(tmp_path / "absent")
    assert done.returncode == 2 and "no such folder" in done.stderr


def test_without_textual(added, tmp_path):
    """The terminal's viewer says what to install; everything else works without it."""
    (tmp_path / "textual.py").write_text("raise ModuleNotFoundError(\"No module named 'textual'\", name='textual')\n")
    code = (
        "import sys; sys.stdout.isatty = lambda: True\n"
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        f"sys.argv = ['tiletwin', 'trace', {str(added)!r}]\n"
        "from tiletwin.cli import main; main()"
    )
    done = children.run_code(code)
    assert done.returncode == 2 and "pip install 'tiletwin[trace]'" in done.stderr
    assert "Traceback" not in done.stderr
