"""docs/environment.md names every TILETWIN_* variable that the code reads and no other; README names some of them."""

import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
VARIABLE = re.compile(r"""(?:["']|\$\{)(TILETWIN(?:_[A-Z]+)*)\b""")
ROW = re.compile(r"^\| `(TILETWIN\w*)", re.MULTILINE)
SOURCES = ("*.py", "*.cpp", "*.h", "*.sh", "Makefile")
# Misspelt on purpose, or set and unset, by tests; build options of CMake; an attribute of the package.
NOT_READ = {
    "TILETWIN_CHEK",
    "TILETWIN_NUM_THREAD",
    "TILETWIN_TEST_FLAG",
    "TILETWIN_EAGERLY",
    "TILETWIN_INPLACE",
    "TILETWIN_BUILD_TESTS",
    "TILETWIN_VERSION",
}


def read_by_the_code() -> set[str]:
    """Names in quotes, or expanded by a shell."""
    files = subprocess.run(["git", "ls-files", *SOURCES], cwd=ROOT, capture_output=True, text=True, check=True)
    found = set()
    for name in files.stdout.splitlines():
        if (ROOT / name).exists() and not name.startswith("tests/lint/"):
            found.update(VARIABLE.findall((ROOT / name).read_text()))
    return found - NOT_READ


def documented(name: str) -> set[str]:
    return set(ROW.findall((ROOT / name).read_text()))


def test_every_variable_is_documented():
    assert documented("docs/environment.md") == read_by_the_code()


def test_names_that_are_known_are_those_of_the_table():
    from tiletwin.variables import NAMES

    difference = NAMES ^ documented("docs/environment.md")
    assert not difference, f"in one of docs/environment.md and python/tiletwin/variables.py only: {difference}"


def test_readme_shows_some_of_them():
    shown = documented("README.md")
    assert "TILETWIN_INTERPRET" in shown and shown <= documented("docs/environment.md")


@pytest.mark.parametrize("text", ['getenv("TILETWIN_NEW")', "os.environ['TILETWIN_NEW']", "${TILETWIN_NEW:-}"])
def test_a_new_variable_is_noticed(text):
    assert VARIABLE.findall(text)[0] == "TILETWIN_NEW"
