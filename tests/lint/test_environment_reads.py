"""Who reads and sets environment variables in python/tiletwin: variables.py, and few others with a reason."""

import re
import sys

import pytest
from test_layers import ROOT, tracked
from tiletwin._activate import OFF
from tiletwin.eager import decide
from tiletwin.launch import progress

PACKAGE = ROOT / "python" / "tiletwin"
READS = re.compile(r"\bos\.(?:environ|getenv|putenv)\b|\bfrom os import .*\benviron\b")
ALLOWED = {
    "variables.py": "the place for it",
    "_activate.py": "runs at the start of Python, without the package",
    "knobs.py": "a knob is a variable",
    "knob_kinds.py": "the same",
    "judge/text_checks.py": "names what a submission's text may not read",
    "diff/triton_child.py": "runs in the Python that has real Triton, without the package",
}


def test_one_module_reads_the_environment():
    reads = {p.relative_to(PACKAGE).as_posix() for p in tracked("python/tiletwin/*.py") if READS.search(p.read_text())}
    assert reads == set(ALLOWED), "ask tiletwin/variables.py"


class Terminal:
    """stderr that notes whether somebody asks if it is a terminal."""

    asked = False

    def isatty(self) -> bool:
        self.asked = True
        return False


@pytest.mark.parametrize(("word", "is_on"), [(w, False) for w in (*OFF, "OFF ")] + [("1", True), ("on", True)])
def test_a_word_that_switches_a_variable_off_does_so_everywhere(word, is_on, monkeypatch):
    monkeypatch.setenv("TILETWIN_GDB", word)
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    progress.begin("kernel", 0, 1)
    monkeypatch.undo()
    assert terminal.asked is not is_on, "gdb has the terminal, a progress bar has not"


@pytest.mark.parametrize(("word", "is_on"), [("0", False), ("false", False), ("1", True)])
def test_eager_mode_is_switched_off_by_the_same_words(word, is_on, monkeypatch):
    monkeypatch.setenv("TILETWIN_EAGER", word)
    assert decide.is_forced() is is_on
