"""Compiled stages on disk, shared by processes.

Here:      entries: files of one key with their checksums, read and written.
Not here:  where files lie and how they appear at once (file_cache.py), what keys are made of (generator.py,
           assembler.py).
Idea:      a key is a hash of everything that the result depends on, its input's whole text included, so an entry never
           goes stale. An entry's record, NAME.KIND.json, is written last and holds the checksum of each file.
Invariant: an entry that is not whole, or whose checksums do not agree, is as if it were not there. No code is run.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from pathlib import Path
from typing import Any, NamedTuple

from tiletwin import file_cache, knobs

FORMAT = 1


class Entry(NamedTuple):
    """What one step of a compilation gave: files by stage, and facts that JSON can hold."""

    files: dict[str, bytes]
    facts: dict[str, Any]


def key_of(*parts: Any) -> str:
    """A hexadecimal key of everything that a result depends on. parts: what JSON can hold."""
    return hashlib.sha256(json.dumps([FORMAT, *parts], sort_keys=True).encode()).hexdigest()


def _read(key: str, name: str, kind: str) -> Entry | None:
    manager = file_cache.get_cache_manager(key)
    path = manager.get_file(f"{name}.{kind}.json")
    if path is None:
        return None
    record = json.loads(Path(path).read_text())
    files = {}
    for stage, digest in record["sha256"].items():
        path = manager.get_file(f"{name}.{stage}")
        if path is None:
            return None
        files[stage] = Path(path).read_bytes()
        if hashlib.sha256(files[stage]).hexdigest() != digest:
            return None
    return Entry(files, record["facts"]) if isinstance(record["facts"], dict) else None


def load(key: str, name: str, kind: str) -> Entry | None:
    """The entry of a key, or None: not there, damaged, or `knobs.compilation.always_compile` wants none."""
    if knobs.compilation.always_compile:
        return None
    try:
        return _read(key, name[:150], kind)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def store(key: str, name: str, kind: str, entry: Entry) -> None:
    """Keeps an entry. A folder that cannot be written is a warning: the compilation itself went well."""
    name = name[:150]
    try:
        manager = file_cache.get_cache_manager(key)
        for stage, content in entry.files.items():
            manager.put(content, f"{name}.{stage}")
        sums = {stage: hashlib.sha256(content).hexdigest() for stage, content in entry.files.items()}
        manager.put(json.dumps({"facts": entry.facts, "sha256": sums}), f"{name}.{kind}.json", binary=False)
    except OSError as error:
        warnings.warn(
            f"tiletwin: compiled kernels cannot be kept in {knobs.cache.dir}: {error}; TILETWIN_CACHE_DIR names "
            "another folder",
            RuntimeWarning,
            stacklevel=2,
        )
