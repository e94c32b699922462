"""Time travel: recordings that TILETWIN_RECORD made, as launches, programs, steps and values.

Here:      `open(folder)` and the classes it gives.
Not here:  recording (recorder.py), the command (command.py), the terminal's viewer (app.py), HTML (html.py).
"""

from __future__ import annotations

from tiletwin.trace.model import Access, Launch, Program, Step, Trace, Value, open
from tiletwin.trace.reader import TraceError

__all__ = ["Access", "Launch", "Program", "Step", "Trace", "TraceError", "Value", "open"]
