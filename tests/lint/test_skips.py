"""What is ours and was not built or recorded fails a test. Skips are for what a machine may lack: a GPU, ptxas, gdb."""

import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
# An extension of ours, or a skip whose reason is a build or a recording.
OURS_SKIPPED = re.compile(
    r"""importorskip\(\s*f?["']tiletwin"""
    r"""|(?:skip|skipif|importorskip)\((?:[^()]|\([^()]*\))*(?:not built|this build|not been recorded)"""
)


def test_no_test_is_skipped_for_want_of_our_own_parts():
    files = subprocess.run(["git", "ls-files", "tests/*.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    names = [name for name in files.stdout.splitlines() if not name.startswith("tests/lint/")]
    texts = {name: (ROOT / name).read_text() for name in names if (ROOT / name).exists()}
    assert len(texts) > 100
    assert [name for name, text in texts.items() if OURS_SKIPPED.search(text)] == []


@pytest.mark.parametrize(
    "text",
    [
        'pytest.importorskip("tiletwin._sim")',
        'pytest.importorskip(f"tiletwin.{name}")',
        'pytest.skip("tiletwin-opt is not built (cmake target tiletwin-opt)")',
        'skipif(not FILE.exists(), reason=f"{FILE.name} has not been recorded")',
    ],
)
def test_such_a_skip_is_noticed(text):
    assert OURS_SKIPPED.search(text)
