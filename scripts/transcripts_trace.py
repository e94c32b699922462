"""The session of docs/debugging/time_travel.md: recording a program and looking at its steps as plain text.

Here:      the commands; what differs from run to run (names of files, times) is made the same.
Not here:  documents (debug_transcripts.py).
Invariant: every command is one that a reader types in the root of the repository.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile

from debug_transcripts import ROOT, clean_environment, normalised, output_of, session

RECORDED = ("TILETWIN_RECORD=record TILETWIN_PROGRAM='2;3' TILETWIN_INTERPRET=1", "demo/broken/decode.py")
LOOKS = ("--list", "--program 3 --at 25", "--program 3 --at 25 --show p")


def run(words: list[str], place: str, **values: str) -> str:
    """What a command prints, with `record` for its folder."""
    text = output_of([sys.executable, *words], ROOT, clean_environment(**values), check=True).replace(place, "record")
    text = re.sub(r"record/[-\d]+\.twtrace", "record/20260101-120000-4242.twtrace", text)
    return re.sub(r"at \d\d:\d\d:\d\d", "at 12:00:00", text)


@session("trace-decode")
def decode() -> str:
    parts = []
    with tempfile.TemporaryDirectory() as made:
        place = os.path.join(made, "record")
        settings, script = RECORDED
        text = run([script], place, TILETWIN_RECORD=place, TILETWIN_PROGRAM="2;3", TILETWIN_INTERPRET="1")
        parts.append(f"$ {settings} python {script}\n{text}")
        for look in LOOKS:
            text = run(["-m", "tiletwin", "trace", place, *look.split()], place)
            parts.append(f"$ tiletwin trace record {look}\n{text}")
    return normalised("\n".join(parts))
