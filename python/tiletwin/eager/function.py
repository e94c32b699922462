"""The Python function that runs a jit function's body in eager mode.

Not here:  the rewrite itself (rewriter.py), functions without a text (as_it_is.py).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from tiletwin.eager import breaks
from tiletwin.eager.as_it_is import as_it_is
from tiletwin.eager.rewriter import rewrite


def eager_function(fn: Any) -> Callable[..., Any]:
    """The function to call, under an eager builder, with tensors and compile-time values as arguments.

    fn: a JITFunction. Made once and cached on it. Errors: what `rewrite` raises.
    """
    from tiletwin.eager import display  # only who stops waits for it

    display.prepare()
    cached = fn.__dict__.get("_eager_function")
    if not fn.has_text:
        if cached is None:
            cached = fn._eager_function = as_it_is(fn)
        return cached
    if cached is None or cached.__dict__.get("_tiletwin_breaks", ()) != breaks.lines_in(fn):
        recorder = sys.modules.get("tiletwin.trace.recorder")
        note = recorder.note_maker(fn) if recorder is not None else None
        cached = fn._eager_function = rewrite(fn, note)
        if note is not None:
            cached._tiletwin_noted = True
        if lines := breaks.lines_in(fn):
            cached._tiletwin_breaks = lines
    return cached
