"""One of many verdicts: what is judged as plain data, its key, and the process that judges one after the other.

Here:      Item, Judge.
Not here:  who hands items out (many.py, service/), the processes (fuzz/pools.py, fuzz/ray_pool.py).
Invariant: an item and a verdict are plain data, and an item needs no file of this machine, so both go through a pipe or
           to another machine. Nothing of an item is left when the next one begins.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path
from typing import Any, NoReturn

import msgspec

from tiletwin.judge.settings import settings_of
from tiletwin.version import TILETWIN_VERSION


class Item(msgspec.Struct, frozen=True):
    """name, reference_name: paths of files, which a verdict shows. options: of settings.Settings, where they are not
    its defaults."""

    name: str
    text: str
    reference_name: str
    reference_text: str
    options: dict[str, Any] = {}

    @property
    def key(self) -> str:
        """The same for what gets the same verdict from this version."""
        parts = [TILETWIN_VERSION, self.text, self.reference_text, sorted(self.options.items())]
        return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()


class Judge:
    """Judges items one after the other, with one starter of sandboxes. `run` takes an item as `msgspec.to_builtins`
    gives it, and returns {"key": its key, "verdict": what docs/verdict.schema.json describes}."""

    def __init__(self) -> None:
        from tiletwin import script
        from tiletwin.judge import judging
        from tiletwin.judge.starter import Starter

        script.activated_without_gpu(_refuse)
        self._judging = judging
        self._starter: Starter = Starter()

    def run(self, task: dict[str, Any]) -> dict[str, Any]:
        from tiletwin.judge.starter import Starter

        if not self._starter.is_running:
            self._starter.close()
            self._starter = Starter()
        item = msgspec.convert(task, Item)
        files = [Path(self._starter.folder, kind, os.path.basename(name)) for kind, name in (
            ("submission", item.name), ("reference", item.reference_name),
        )]  # fmt: skip
        try:
            for file, text in zip(files, (item.text, item.reference_text)):
                file.parent.mkdir()
                file.write_text(text, encoding="utf-8")
            verdict = self._judging.judge(
                item.name, item.reference_name, settings_of(**item.options), self._starter,
                (str(files[0]), str(files[1])),
            )  # fmt: skip
        finally:
            for file in files:
                shutil.rmtree(file.parent, ignore_errors=True)
        return {"key": item.key, "verdict": verdict.as_json()}

    def close(self) -> None:
        self._starter.close()


def _refuse(message: str) -> NoReturn:
    raise RuntimeError(message)
