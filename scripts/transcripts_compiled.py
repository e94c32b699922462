"""The sessions of docs/howto/compiled_model.md: NaN in a compiled model, found by a check, looked at, mended.

Here:      the commands, and what differs from machine to machine in the names of generated files.
Not here:  the model (demo/broken/attention.py), terminals and documents (debug_transcripts.py).
Invariant: every command is typed from the root of the repository, as a reader does.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

from debug_transcripts import ROOT, Terminal, clean_environment, normalised, output_of, session

MODEL = "demo/broken/attention.py"
CHECK = f"TILETWIN_INTERPRET=1 TILETWIN_CHECK=nan python {MODEL}"
BREAK = f"TILETWIN_INTERPRET=1 TILETWIN_BREAK=attention.py:16 python {MODEL}"


def shown(text: str) -> str:
    """The names of generated files are hashes, also of what this machine is."""
    text = re.sub(r"[^\s\"]*/c[a-z2-7]{51}\.py", "/tmp/torchinductor_me/.../output_code.py", text)
    return re.sub(r"\bc[a-z2-7]{51}\.py", "output_code.py", text)


def checked(folder: Path) -> str:
    with tempfile.TemporaryDirectory() as caches:
        values = {"TILETWIN_INTERPRET": "1", "TILETWIN_CHECK": "nan", "TORCHINDUCTOR_CACHE_DIR": caches}
        printed = output_of([sys.executable, MODEL], folder, clean_environment(**values))
    return shown(normalised(f"$ {CHECK}\n{printed}", folder))


@session("howto-compiled-check")
def check() -> str:
    return checked(ROOT)


@session("howto-compiled-pdb")
def pdb() -> str:
    with tempfile.TemporaryDirectory() as caches:
        values = {"TILETWIN_INTERPRET": "1", "TILETWIN_BREAK": "attention.py:16", "TORCHINDUCTOR_CACHE_DIR": caches}
        terminal = Terminal([sys.executable, MODEL], r"\(Pdb\) ", environment=values)
        terminal.wait()
        for line in ("until 63", "p tmp35[48:52]", "p tmp6[48:52]", "c"):
            terminal.say(line)
        terminal.end("c")
        return shown(terminal.transcript(BREAK))


@session("howto-compiled-repaired")
def repaired() -> str:
    with tempfile.TemporaryDirectory() as made:
        copy = Path(made, MODEL)
        copy.parent.mkdir(parents=True)
        text = (ROOT / MODEL).read_text()
        assert text.count('float("-inf")') == 1
        copy.write_text(text.replace('float("-inf")', "torch.finfo(scores.dtype).min"))
        return checked(Path(made))
