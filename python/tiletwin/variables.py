"""The names of tiletwin's environment variables, and a word about those that are none.

Here:      the list, which tests hold to docs/environment.md, and the hint.
Not here:  values: each is read, and refused, where it is needed.
"""

from __future__ import annotations

import difflib
import os
import sys

NAMES = frozenset(
    """
    TILETWIN TILETWIN_AUTOTUNE TILETWIN_BACKEND TILETWIN_BASELINE TILETWIN_BREAK TILETWIN_CACHE_DIR TILETWIN_CHECK
    TILETWIN_CUDA_DEVICES TILETWIN_DETERMINISTIC
    TILETWIN_DIFF TILETWIN_DIFF_LAUNCHES TILETWIN_DUMP TILETWIN_EAGER TILETWIN_FINDINGS TILETWIN_FINDINGS_RUN
    TILETWIN_GDB TILETWIN_INTERPRET TILETWIN_ISA TILETWIN_LIBCUDA TILETWIN_LIBRARIES TILETWIN_NUMERICS
    TILETWIN_NUM_THREADS
    TILETWIN_OVERRIDE TILETWIN_PRINT TILETWIN_PROGRAM TILETWIN_PTXAS TILETWIN_RECORD TILETWIN_RECORD_LAUNCHES
    TILETWIN_RECORD_LIMIT TILETWIN_SAVE TILETWIN_SCALING_CHILD TILETWIN_TEST_ALL TILETWIN_TEST_DEVICE
    TILETWIN_TEST_SAMPLE TILETWIN_TEST_TRITON TILETWIN_TOOLS TILETWIN_TRITON
    """.split()
)


def unknown() -> dict[str, str]:
    """Variables of the environment that look like ours and are not, each with the name that may be meant (or "")."""
    found = [name for name in os.environ if name.startswith("TILETWIN") and name not in NAMES]
    return {name: next(iter(difflib.get_close_matches(name, NAMES, 1, cutoff=0.8)), "") for name in found}


def hint() -> None:
    """Says on stderr which variables have no meaning; a misspelt one would be silent else."""
    for name, meant in unknown().items():
        asked = f"did you mean {meant}?" if meant else "docs/environment.md lists them"
        print(f"tiletwin: {name} is no variable of tiletwin: {asked}", file=sys.stderr)
