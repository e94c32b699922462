"""Runs a launch under one check of memory and returns what it found; looks at findings.

Here:      the switch, and short names of places: the text of the source line that a finding names.
Not here:  kernels and expectations (test_bounds.py, test_uninitialized.py, test_races.py, test_order.py).
"""

from __future__ import annotations

import linecache
import os
from collections.abc import Callable
from typing import Any

from tiletwin import checks, fresh_memory


def findings_of(check: str, run: Callable[[], Any], **variables: str) -> list[Any]:
    """What `check` says of run(). Other variables hold during the run."""
    fresh_memory.watch()
    before = dict(os.environ)
    os.environ.update({"TILETWIN_CHECK": check, **variables})
    checks.clear()
    try:
        run()
        return checks.findings()
    finally:
        os.environ.clear()
        os.environ.update(before)
        checks.clear()


def source(site: Any) -> str:
    """The source line of a finding or of its other place, without comment."""
    return linecache.getline(site.file, site.line).split("#")[0].strip()


def places(found: list[Any]) -> list[tuple[str, ...]]:
    """Source lines of each finding, sorted."""
    return sorted(tuple(source(s) for s in (f, f.second) if s) for f in found)
