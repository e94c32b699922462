"""The options --output, --format and --baseline, as typer declares them for several commands.

Not here:  what they do (command.py).
"""

from __future__ import annotations

from typing import Annotated

import typer

FORMAT = Annotated[
    str, typer.Option("--format", metavar="text|json|sarif", help="Of the file --output; default: as its name ends.")
]
OUTPUT = Annotated[
    str, typer.Option("--output", metavar="FILE", help="Write what was found to a file: .json, .sarif or .txt.")
]
BASELINE = Annotated[
    str, typer.Option("--baseline", metavar="FILE", help="Leave out what this file, a .json of --output, lists.")
]
