"""The sessions of docs/howto: CUDA's PTX on the simulator, and pytest on a kernel that lacks an `other`.

Here:      the commands, in a folder that holds the files they name.
Not here:  the softmax (transcripts_walkthrough.py), documents (debug_transcripts.py).
Invariant: every command is one that a reader can type where those files are.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

from debug_transcripts import ROOT, clean_environment, normalised, output_of, session
from transcripts_sim import shell

CUDA = [ROOT / "demo" / "ptx" / f"block_sum.{end}" for end in ("cu", "ptx")]
MAKE = "import numpy as np; np.savez('args.npz', np.arange(1024, dtype='f4'), np.zeros(4, 'f4'))"


@session("howto-nvcc-run")
def nvcc_run() -> str:
    return shell([f'python -c "{MAKE}"', "tiletwin sim block_sum.ptx args.npz --grid 4 --block 256"], CUDA)


@session("howto-nvcc-check")
def nvcc_check() -> str:
    text = shell([f'python -c "{MAKE}"', "tiletwin sim block_sum.ptx args.npz --grid 4 --block 256 --check all"], CUDA)
    return text[text.index("$ tiletwin") :]


@session("howto-pytest")
def pytest() -> str:
    test = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs/howto/pytest.md").read_text(), re.DOTALL | re.MULTILINE)
    with tempfile.TemporaryDirectory() as made:
        (Path(made) / "test_rows.py").write_text(test[0])
        options = ["-q", "-p", "tiletwin_pytest", "-p", "no:cacheprovider", "--tiletwin-check=all"]
        words = [sys.executable, "-m", "pytest", *options, "test_rows.py"]
        printed = output_of(words, Path(made), clean_environment("PYTEST_", COLUMNS="100"), stderr=False)
        text = normalised(f"$ pytest -q --tiletwin-check=all test_rows.py\n{printed}", Path(made))
    return re.sub(r" in \d.*s( \(.*\))?$", "", text.replace(".venv/bin/python ", "python "), flags=re.MULTILINE)
