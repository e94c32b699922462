"""Files that appear whole or not at all, with the permissions that the user's umask leaves.

Here:      writing such a file, asking beforehand whether one can be written.
Not here:  what is in them.
Invariant: under its name a file holds all of what was to be written; a writer that fails leaves nothing behind.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

_numbers = itertools.count()


@contextlib.contextmanager
def writing(path: str | Path) -> Iterator[IO[bytes]]:
    """A file open for bytes, which takes the place of `path` when the block has ended well. Errors: OSError."""
    path = Path(path)
    # Its name is this process's and this call's own. tempfile's files can be read by their owner only.
    part = path.with_name(f".{path.name[:100]}.{os.getpid()}.{next(_numbers)}.part")
    try:
        with open(part, "xb") as file:
            yield file
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def write(path: str | Path, content: str | bytes) -> str:
    """Writes a whole file, text as UTF-8; returns its path. Errors: OSError."""
    with writing(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)
    return str(path)


def problem(path: str | Path) -> str | None:
    """Why no file can be written at a path; None: one can be. A file that is there is left as it is."""
    path = Path(path)
    if path.is_dir():
        return "it is a folder"
    if not path.resolve().parent.is_dir():
        return "there is no such folder"
    try:
        with writing(path.with_name(f".{path.name[:80]}.try")) as file:
            file.write(b"")
        path.with_name(f".{path.name[:80]}.try").unlink()
    except OSError as error:
        return error.strerror or str(error)
    return None


@contextlib.contextmanager
def numbers(name: str) -> Iterator[None]:
    """Around the reading of an array. Errors: ValueError that says what is wrong with `name`, where NumPy recommends to
    unpickle it, which runs code from the file."""
    try:
        yield
    except ValueError as error:
        if "pickle" not in str(error):
            raise
        raise ValueError(f"{name} holds Python objects, not numbers") from None
