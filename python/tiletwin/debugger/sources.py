"""Texts of source: a line of it for a stop, some lines for `list`.

Here:      files by the names that PTX has for them, and the PTX itself, which the engine has.
Invariant: a file that is not there has no lines; that is no error.
"""

from __future__ import annotations

from pathlib import Path


class Sources:
    """folders: where files with relative names are looked for."""

    def __init__(self, folders: list[Path]) -> None:
        self._folders = folders
        self._texts: dict[str, list[str]] = {}

    def add(self, name: str, text: str) -> None:
        """A text that is no file: PTX."""
        self._texts[name] = text.splitlines()

    def path(self, name: str) -> Path | None:
        """The file; None: it is not there."""
        for folder in [Path(), *self._folders]:
            if (found := folder / name).is_file():
                return found.resolve()
        return None

    def lines(self, name: str) -> list[str]:
        if name not in self._texts:
            path = self.path(name)
            try:
                self._texts[name] = path.read_text(errors="replace").splitlines() if path else []
            except OSError:
                self._texts[name] = []
        return self._texts[name]

    def line(self, name: str, number: int) -> str:
        """Line `number`, from 1; empty: there is none."""
        lines = self.lines(name)
        return lines[number - 1] if 0 < number <= len(lines) else ""
