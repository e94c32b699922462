"""The pytest plugin: findings fail the tests whose launches had them, and the line to paste stops there in pdb."""

import os
import re
import sys

import children
import pexpect
import pytest
from process import run_python

pytest_plugins = "pytester"

KERNELS = """
import numpy as np
import triton
import triton.language as tl

@triton.jit
def divide(x_ptr, o_ptr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + i)
    y = x / x
    tl.store(o_ptr + i, y)

@triton.jit
def narrow(x_ptr, o_ptr):
    x = tl.load(x_ptr)
    y = x * x
    tl.store(o_ptr, y)

def clean():
    x = np.ones(16, np.float32)
    divide[(4,)](x, np.zeros(16, np.float32), B=4)

def wrong():
    x = np.ones(16, np.float32)
    x[13] = 0
    divide[(4,)](x, np.zeros(16, np.float32), B=4)

def overflow():
    narrow[(1,)](np.full(1, 100000, np.int32), np.zeros(1, np.int32))
"""
TESTS = """
import pytest
from kernels import clean, narrow, overflow, wrong

def test_clean():
    clean()

def test_wrong():
    print("seen")
    wrong()

def test_wrong_again():
    wrong()

@pytest.mark.tiletwin_ignore("nan")
def test_ignored():
    wrong()

@pytest.mark.tiletwin_ignore
def test_all_ignored():
    wrong()
    overflow()

@pytest.mark.tiletwin_check("overflow")
def test_other_check():
    wrong()

@pytest.mark.tiletwin_check("overflow")
def test_other_check_finds():
    overflow()
"""


@pytest.fixture(autouse=True)
def fresh_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    children.clean(monkeypatch, kept=())
    monkeypatch.setenv("COLUMNS", "200")


def run(pytester: pytest.Pytester, *arguments: str, tests: str = TESTS):
    pytester.makepyfile(kernels=KERNELS, test_it=tests)
    return pytester.runpytest_subprocess("-p", "tiletwin_pytest", "-p", "no:cacheprovider", *arguments)


def test_findings_fail_their_tests(pytester: pytest.Pytester) -> None:
    result = run(pytester, "--tiletwin-check=nan", "-q")
    result.assert_outcomes(passed=4, failed=3)
    result.stdout.fnmatch_lines(
        [
            "*_ test_wrong _*",
            "*tiletwin: nan: kernels.py:9: *",
            "*- tiletwin findings -*",
            "tiletwin: nan: *kernels.py:9:*program (3, 0, 0), y: *",
            "  *kernels.py:10:5: tl.store writes it to memory, element 1",
            "*- tiletwin: to stop there in pdb -*",
            "TILETWIN_INTERPRET=1 TILETWIN_PROGRAM=3,0,0 TILETWIN_BREAK=kernels.py:9 *pytest test_it.py::test_wrong",
            "tiletwin: launches of 3 tests had findings",
            "FAILED test_it.py::test_wrong - *tiletwin: nan: kernels.py:9: *",
            "FAILED test_it.py::test_wrong_again - *tiletwin: nan: *",
            "FAILED test_it.py::test_other_check_finds - *tiletwin: overflow: kernels.py:15:*",
        ]
    )


def test_the_line_to_paste_stops_in_pdb(pytester: pytest.Pytester) -> None:
    result = run(pytester, "--tiletwin-check=nan", "-q")
    line = next(text for text in result.outlines if "TILETWIN_BREAK" in text and text.endswith("::test_wrong"))
    path = os.pathsep.join(
        [os.path.dirname(sys.executable), os.environ["PATH"]]
    )  # whichever `python` comes first there
    environment = children.environment(PATH=path)
    child = pexpect.spawn(
        "/bin/sh", ["-c", line], cwd=str(pytester.path), timeout=120, encoding="utf-8", env=environment
    )
    child.expect_exact("PDB set_trace")
    child.expect(r"kernels.py\(9\)divide\(\)")
    child.expect_exact("(Pdb) ")
    child.sendline("p x, int(tl.program_id(0))")
    child.expect(r"tensor\(\[1., 0., 1., 1.\], fp32\), 3\)")
    child.expect_exact("(Pdb) ")
    child.sendline("c")
    child.expect("1 passed")
    child.expect(pexpect.EOF)


def test_an_installed_plugin_warns_of_nothing(pytester: pytest.Pytester) -> None:
    """pytest wants to rewrite the asserts of every module of a plugin's distribution, and warns of those that have been
    imported: by the start-up file, or because pytest itself runs under `tiletwin run`."""
    info = pytester.mkdir("tiletwin-0.dist-info")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tiletwin\nVersion: 0\n")
    (info / "entry_points.txt").write_text("[pytest11]\ntiletwin = tiletwin_pytest\n")
    (info / "RECORD").write_text("_tiletwin_activate.py,,\ntiletwin/__init__.py,,\ntiletwin_pytest.py,,\n")
    pytester.makepyfile(test_it="def test_it():\n    import triton\n    assert triton.__version__\n")
    options = ("-W", "error", "-q", "-p", "no:cacheprovider", "--tiletwin", "test_it.py")
    paths = {"PYTHONPATH": os.pathsep.join([str(pytester.path), os.environ.get("PYTHONPATH", "")])}
    for command in (("-m", "pytest"), ("-m", "tiletwin", "run", "-m", "pytest")):
        ran = run_python(*command, *options, startup=True, TILETWIN_INTERPRET="1", **paths)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert "1 passed" in ran.stdout and "warning" not in ran.stdout + ran.stderr


def test_only_interpreting(pytester: pytest.Pytester) -> None:
    result = run(pytester, "--tiletwin", "-q")
    result.assert_outcomes(passed=6, failed=1)  # the marker alone switches checks on
    assert run(pytester, "-q", "--tiletwin", "-k", "clean").ret == 0


def test_fixtures_are_charged_for_their_launches(pytester: pytest.Pytester) -> None:
    tests = """
        import pytest
        from kernels import clean, wrong

        @pytest.fixture
        def before():
            wrong()

        @pytest.fixture
        def after():
            yield
            wrong()

        def test_before(before):
            raise AssertionError("must not run")

        def test_after(after):
            clean()
    """
    result = run(pytester, "--tiletwin-check=nan", "-q", tests=tests)
    result.assert_outcomes(passed=1, errors=2)
    result.stdout.fnmatch_lines(
        ["ERROR test_it.py::test_before - *tiletwin: nan*", "ERROR test_it.py::test_after*nan*"]
    )


def test_unittest_xfail_and_failing_tests(pytester: pytest.Pytester) -> None:
    tests = """
        import unittest
        import pytest
        from kernels import clean, wrong

        class Case(unittest.TestCase):
            def test_wrong(self):
                wrong()
            def test_clean(self):
                clean()

        @pytest.mark.xfail(strict=True)
        def test_expected():
            wrong()

        def test_asserts():
            wrong()
            assert 1 == 2

        @pytest.mark.parametrize("n", ["a b", "c::d"])
        def test_parameters(n):
            wrong()
    """
    result = run(pytester, "--tiletwin-check=nan", "-q", tests=tests)
    result.assert_outcomes(passed=1, failed=4, xfailed=1)
    text = result.stdout.str()
    assert "assert 1 == 2" in text and text.count("- tiletwin findings -") == 4
    assert "'test_it.py::test_parameters[a b]'" in text and "test_it.py::Case::test_wrong\n" in text


def test_errors_of_launches_get_a_line_to_paste(pytester: pytest.Pytester) -> None:
    tests = """
        import numpy as np
        from kernels import divide

        def test_outside():
            divide[(4,)](np.ones(8, np.float32), np.zeros(16, np.float32), B=4)
    """
    result = run(pytester, "--tiletwin", "-q", tests=tests)
    result.stdout.fnmatch_lines(
        ["TILETWIN_INTERPRET=1 TILETWIN_PROGRAM=2,0,0 TILETWIN_BREAK=kernels.py:8 *::test_outside"]
    )


def test_xdist(pytester: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    result = run(pytester, "--tiletwin-check=nan", "-n2")
    result.assert_outcomes(passed=4, failed=3)
    result.stdout.fnmatch_lines(["*- tiletwin findings -*", "TILETWIN_INTERPRET=1 *pytest -n0 test_it.py::test_wrong"])


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--tiletwin-check=nans"], "*--tiletwin-check: *nans*"),
        (["--tiletwin-check="], None),
        (["--tiletwin-check=all"], None),
    ],
)
def test_words(arguments: list[str], text: str | None, pytester: pytest.Pytester) -> None:
    tests = "import os\ndef test_it():\n    print('triton', 'TILETWIN_INTERPRET' in os.environ)\n"
    result = run(pytester, *arguments, tests=tests)
    if text:
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines([text])
        assert "bounds" in result.stderr.str() and "races" in result.stderr.str()
    else:
        result.assert_outcomes(passed=1)


def test_a_bad_word_in_a_marker(pytester: pytest.Pytester) -> None:
    tests = (
        "import pytest\n@pytest.mark.tiletwin_check('nans')\ndef test_it():\n    pass\ndef test_other():\n    pass\n"
    )
    result = run(pytester, "--tiletwin", tests=tests)
    result.assert_outcomes(passed=1, errors=1)
    assert "the marker tiletwin_check of test_it.py::test_it" in result.stdout.str()


def test_nothing_is_imported_unless_asked(pytester: pytest.Pytester) -> None:
    tests = """
        import os, sys
        def test_it():
            assert not [m for m in sys.modules if m.split(".")[0] in ("tiletwin", "torch", "triton", "numpy")]
            assert "TILETWIN_INTERPRET" not in os.environ
    """
    result = run(pytester, "--strict-markers", tests=tests)
    result.assert_outcomes(passed=1)
    result = run(pytester, "--help")
    result.stdout.fnmatch_lines(["*--tiletwin-check=WORDS*"])
    result = run(pytester, "--markers")
    result.stdout.fnmatch_lines(["@pytest.mark.tiletwin_check*", "@pytest.mark.tiletwin_ignore*"])


def test_real_triton_must_not_be_there(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(early="import sys, types\nsys.modules['triton'] = types.ModuleType('triton')\n")
    result = pytester.runpytest_subprocess("-p", "early", "-p", "tiletwin_pytest", "--tiletwin")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*real Triton was imported before*TILETWIN_INTERPRET=1*"])


def test_the_session_leaves_the_environment_as_it_was(pytester: pytest.Pytester) -> None:
    code = (
        "import os, sys, pytest\n"
        "pytest.main(['-p', 'tiletwin_pytest', '--tiletwin-check=nan', '-q', 'test_it.py'])\n"
        "print([k for k in os.environ if k.startswith(('TILETWIN', 'TRITON'))])\n"
    )
    pytester.makepyfile(kernels=KERNELS, test_it="import kernels\ndef test_it():\n    kernels.clean()\n")
    done = children.run_code(code, cwd=pytester.path)
    assert done.stdout.endswith("[]\n"), done.stdout + done.stderr
    assert re.search(r"1 passed", done.stdout)
