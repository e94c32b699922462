"""The whole message of each mistake in mistake_kernels.py: what, where, what to do instead.

mistake_messages.txt holds them, one after the other under "### name: class of the error"; paths are shortened to names.
"""

from __future__ import annotations

import re
from pathlib import Path

import mistake_kernels
import pytest
from triton.compiler.errors import CompilationError

FILE = Path(__file__).with_name("mistake_messages.txt")
SECTIONS = re.split(r"^### (\w+): (\w+)\n", FILE.read_text(), flags=re.MULTILINE)[1:]
MESSAGES = {name: (cls, text.strip("\n")) for name, cls, text in zip(*[iter(SECTIONS)] * 3)}


def message_of(error: Exception) -> str:
    """The error's text with file names in place of paths, and without line numbers of the package's own files."""
    text = re.sub(r"\S+/(\w+\.py)(?=:\d+:\d+:)", r"\1", str(error))
    return re.sub(r"^(standard\.py):\d+", r"\1:*", text, flags=re.MULTILINE)


@pytest.mark.parametrize("name", sorted(mistake_kernels.CASES))
def test_message(name: str) -> None:
    with pytest.raises(Exception) as caught:
        mistake_kernels.CASES[name]()
    cls, text = MESSAGES[name]
    assert type(caught.value).__name__ == cls
    assert message_of(caught.value) == text
    if isinstance(caught.value, CompilationError):
        assert re.match(r"mistake_kernels\.py:\d+:\d+:\n.+\n +\^\n", text)


def test_each_message_has_a_case() -> None:
    assert set(MESSAGES) == set(mistake_kernels.CASES)
    assert len(MESSAGES) >= 50
