"""Many verdicts: finds submissions and their references, hands them to workers, keeps what comes back.

Here:      what is judged with what, what is known already, the loop.
Not here:  one verdict (work_items.py), workers (fuzz/pools.py, fuzz/ray_pool.py), files of results (store.py), words
           for people (many_command.py).
Invariant: a verdict that was kept is not made again, unless submission, reference, options or version have changed.
           Submissions with one text are judged once. A worker that dies gives "not judged", with the reason.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from tiletwin.fuzz.pools import Loss, Pool, ProcessPool
from tiletwin.judge import json_text
from tiletwin.judge.schema import BadProblem
from tiletwin.judge.store import Store
from tiletwin.judge.verdicts import NOT_JUDGED, Facts, Reason
from tiletwin.judge.work_items import Item, Judge

REFERENCE = "reference.py"
MOST_SECONDS = 3600.0
"""For one verdict, on the clock; the judge's own limits are below it."""


def items_of(place: str, reference: str, options: dict[str, Any]) -> list[Item]:
    """Of a folder: its Python files and those of its folders, each with `reference`, or with the reference.py that lies
    nearest above it. Of a file that ends in .jsonl: its lines, {"submission": path, "reference": path}.

    Errors: OSError; BadProblem, there is nothing to judge or a submission has no reference.
    """
    texts: dict[str, str] = {}

    def text(path: str) -> str:
        if path not in texts:
            texts[path] = Path(path).read_text(encoding="utf-8", errors="replace")
        return texts[path]

    pairs = _of_lines(place, reference) if place.endswith(".jsonl") else _of_folder(place, reference)
    items = [Item(name, text(name), wanted, text(wanted), options) for name, wanted in pairs]
    if not items:
        raise BadProblem(f"{place}: there is no submission")
    return items


def _of_lines(place: str, reference: str) -> Iterator[tuple[str, str]]:
    beside = os.path.dirname(place)
    with open(place, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                said = msgspec.json.decode(line, type=dict[str, Any])
                name, wanted = str(said["submission"]), str(said.get("reference", reference))
            except (msgspec.MsgspecError, KeyError) as error:
                raise BadProblem(f"{place}:{number}: not {{'submission': path, 'reference': path}}: {error}") from None
            if not wanted:
                raise BadProblem(f"{place}:{number}: {name} has no reference; --reference names one for all")
            yield os.path.join(beside, name), os.path.join(beside, wanted)


def _of_folder(place: str, reference: str) -> Iterator[tuple[str, str]]:
    root = Path(place)
    if not root.is_dir():
        raise BadProblem(f"{place}: there is no such folder")
    for path in sorted(root.rglob("*.py")):
        if path.name == REFERENCE or any(part.startswith((".", "__")) for part in path.relative_to(root).parts):
            continue
        wanted = reference or _nearest(path, root)
        if not wanted:
            text = f"{path} has no reference: put {REFERENCE} beside it or above it, or name one by --reference"
            raise BadProblem(text)
        if not os.path.exists(wanted) or not path.samefile(wanted):
            yield str(path), wanted


def _nearest(path: Path, root: Path) -> str:
    """The reference beside a file or above it, inside of `root`; empty: none."""
    places = (above / REFERENCE for above in path.parents if above.is_relative_to(root))
    return next((str(place) for place in places if place.is_file()), "")


def pool_of(jobs: int, ray: str) -> Pool:
    """jobs: 0: one for each core. Errors: ray_pool.NoCluster."""
    if ray:
        from tiletwin.fuzz.ray_pool import RayPool

        return RayPool(Judge, jobs, MOST_SECONDS, ray)
    return ProcessPool(Judge, jobs or len(os.sched_getaffinity(0)), MOST_SECONDS)


@dataclass(frozen=True)
class Told:
    """What came of one submission. is_new: it was judged now."""

    name: str
    verdict: dict[str, Any]
    is_new: bool


class Many:
    """Attributes: total, the number of items; judged, how many were judged now."""

    def __init__(self, items: list[Item], store: Store) -> None:
        self.items, self.store, self.total, self.judged = items, store, len(items), 0

    def verdicts(self, pool_of: Callable[[], Pool]) -> Iterator[Told]:
        """Of all items: first those that are known, then others as they come. pool_of: called if there are others."""
        left = yield from self._known()
        if not left:
            return
        pool = pool_of()
        try:
            yield from self._judged(left, pool)
        finally:
            pool.close()

    def _known(self) -> Generator[Told, None, dict[str, list[Item]]]:
        """What the store has, perhaps under another name. Returns the others by their keys."""
        rows = list(self.store.rows())
        kept = {(name, key) for name, key, _ in rows}
        verdicts = {key: verdict for _, key, verdict in rows if verdict["verdict"] != NOT_JUDGED}
        left: dict[str, list[Item]] = {}
        for item in self.items:
            key = item.key
            if key not in verdicts:
                left.setdefault(key, []).append(item)
                continue
            verdict = renamed(verdicts[key], item)
            if (item.name, key) not in kept:
                self.store.add(item.name, key, verdict)
            yield Told(item.name, verdict, False)
        return left

    def _judged(self, left: dict[str, list[Item]], pool: Pool) -> Iterator[Told]:
        waiting = deque(items[0] for items in left.values())
        while waiting or pool.busy:
            while waiting and pool.start(msgspec.to_builtins(waiting[0])):
                waiting.popleft()
            for said in pool.results(0.2):
                if isinstance(said, Loss):
                    item = msgspec.convert(said.task, Item)
                    key, verdict = item.key, lost(item, said)
                else:
                    key, verdict = said["key"], said["verdict"]
                self.judged += 1
                for item in left[key]:
                    verdict = renamed(verdict, item)
                    self.store.add(item.name, key, verdict)
                    yield Told(item.name, verdict, True)


def renamed(verdict: dict[str, Any], item: Item) -> dict[str, Any]:
    """The verdict of the same text in another file."""
    old, new = verdict["submission"], item.name
    if old == new:
        return verdict
    reasons = [
        reason | {"file": new if reason["file"] == old else reason["file"],
                  "command": reason["command"].replace(f" {old} ", f" {new} ", 1)}
        for reason in verdict["reasons"]
    ]  # fmt: skip
    return verdict | {"submission": new, "reference": item.reference_name, "reasons": reasons}


def lost(item: Item, loss: Loss) -> dict[str, Any]:
    """A verdict where the judge's own process ended: the reference runs in it, and memory may have run out."""
    made = Facts(item.name, item.reference_name)
    made.add(Reason(NOT_JUDGED, "judge-busy", f"the judge's process {loss.kind}: {loss.reason}", file=item.name))
    made.decide()
    return json_text.as_json(made)
