"""The options --output, --format and --baseline of the commands.

Not here:  their help (cli.py), writing (output.py), what a baseline leaves out (baseline.py).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NoReturn

from tiletwin.findings import baseline as known
from tiletwin.findings import output as writing


def begin(output: str, form: str, baseline: str, own: bool, fail: Callable[[str], NoReturn]) -> None:
    """What is found, and is not in the baseline, goes to the file `output` when the command ends. own: the exit code
    depends on it, so what is found is kept without a file, too."""
    if form and not output:
        fail(f"--format {form}: name the file with --output; the terminal has what the script prints")
    try:
        if output or own:
            writing.begin(output, form, own)
    except (OSError, ValueError) as error:
        fail(str(error))
    if not baseline:
        return
    if os.path.realpath(baseline) == os.path.realpath(output):
        fail(f"--baseline and --output both name {output}: write what is new to another file")
    try:
        known.begin(baseline)
    except ValueError as error:
        fail(f"--baseline {error}")
