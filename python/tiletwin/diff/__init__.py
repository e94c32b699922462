"""The differential tester: one launch on two or more backends, compared under bounds derived from the kernel.

    report = tiletwin.diff.compare(kernel, grid, args, backends=("interp", "triton"))
    print(report)

Read next: comparing.py (verdicts), launches.py (a launch as data), bounds.py, docs/differential.md.
"""

from __future__ import annotations

from tiletwin.diff.backend_names import BACKENDS
from tiletwin.diff.backends import Backend, Outcome, Traits
from tiletwin.diff.comparing import compare, compare_launch, launch_of
from tiletwin.diff.files import LaunchFileError, read, write
from tiletwin.diff.launches import Launch
from tiletwin.diff.reports import DIFFERENT, NOT_COMPARABLE, SAME, Report, Row
from tiletwin.diff.taking import NotRecordable

__all__ = [
    "BACKENDS", "DIFFERENT", "NOT_COMPARABLE", "SAME", "Backend", "Launch", "LaunchFileError", "NotRecordable",
    "Outcome", "Report", "Row", "Traits", "compare", "compare_launch", "launch_of", "read", "write",
]  # fmt: skip
