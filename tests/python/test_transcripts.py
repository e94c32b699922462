"""The transcripts in the documents are what the commands print today: each session is run, and its block compared.

Three of them run in `make test`, all in `make test-all`.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest
from tiletwin.diff import triton_process

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import debug_transcripts  # noqa: E402

debug_transcripts.load_sessions()
BLOCK = re.compile(r"<!-- transcript: (\S+) -->\n```text\n(.*?)```", re.DOTALL)
SHOWN = [
    (document, name, text)
    for document in debug_transcripts.documents()
    for name, text in BLOCK.findall(document.read_text())
]

QUICK = ("walk-softmax-check", "walk-decode-pdb", "debug-reduction")
PARAMETERS = [
    pytest.param(*shown, id=shown[1], marks=[] if shown[1] in QUICK else [pytest.mark.slow]) for shown in SHOWN
]


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("document", "name", "text"), PARAMETERS)
def test_a_block_is_what_the_session_prints(document: Path, name: str, text: str) -> None:
    if "gdb" in name and not shutil.which("gdb"):
        pytest.skip("gdb is not installed")
    if "real-triton" in name and triton_process.python() is None:
        pytest.skip("real Triton is not installed; TILETWIN_TRITON names a Python that has it")
    assert debug_transcripts.SESSIONS[name]() == text, f"{document.name}: run scripts/debug_transcripts.py"


def test_every_mark_has_a_block() -> None:
    for document in debug_transcripts.documents():
        text = document.read_text()
        marks = re.findall(r"<!-- transcript: (\S+) -->", text)
        assert marks == [name for name, _ in BLOCK.findall(text)], document
        assert set(marks) <= set(debug_transcripts.SESSIONS), document


def test_every_session_is_shown() -> None:
    assert set(debug_transcripts.SESSIONS) == {name for _, name, _ in SHOWN}
