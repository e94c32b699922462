"""Public libraries that name torch.cuda when they are imported: they are imported and used where CUDA is emulated.

The libraries are in an environment of their own (scripts/setup.sh --libraries); library_uses.py has a use of each.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import children
import pytest
from children import libraries_python
from process import HERE, run_python

ROOT = Path(__file__).resolve().parents[2]
NAMES = (
    "transformers accelerate peft diffusers sentence_transformers trl "
    "bitsandbytes torchmetrics lightning torchao xformers liger_kernel"
).split()


@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", NAMES)
def test_a_library_is_imported_and_used(name: str) -> None:
    python = libraries_python()
    done = run_python(
        os.path.join(HERE, "library_uses.py"),
        name,
        startup=True,
        python=python,
        TILETWIN_INTERPRET="1",
        HF_HUB_OFFLINE="1",
    )
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout.splitlines()[-1]).items()
    assert found == (name, ""), found[1]


def test_the_list_is_what_is_installed() -> None:
    """A library that setup does not install would be skipped over in silence, and one without a use never tried."""
    lines = (ROOT / "scripts" / "requirements-libraries.txt").read_text().splitlines()
    required = {line.partition("==")[0].replace("-", "_") for line in lines if line and not line.startswith("#")}
    assert required == set(NAMES) and len(NAMES) >= 10


def test_real_cuda_is_what_they_would_not_find_without_the_flag() -> None:
    """Without it the same use of the same library fails: the test above tries the emulation."""
    python = libraries_python()
    uses = os.path.join(HERE, "library_uses.py")
    done = children.run(uses, "torchmetrics", program=python, CUDA_VISIBLE_DEVICES="")
    (text,) = json.loads(done.stdout.splitlines()[-1]).values()
    assert "CUDA" in text or "cuda" in text, text
