"""What processes that run submissions may answer: the form of each message, and text from them that reports can show.

Here:      the forms, and their limits.
Not here:  the format of messages (frames.py), what follows from an answer (judging.py).
Invariant: nothing of an answer is used before it has its form, so whatever a submission writes into the pipe is a
           verdict about the submission and no error of the judge.
"""

from __future__ import annotations

from typing import Annotated, Any, NotRequired, TypedDict

import msgspec
from msgspec import Meta

from tiletwin.judge import frames

MOST_TEXT = 4000
"""Characters of one text that reports show."""
_Few = Meta(max_length=256)
_Many = Meta(max_length=4096)
_Event = tuple[str, str, int]


class Failure(TypedDict):
    kind: str
    text: str
    line: int
    kinds: Annotated[list[str], _Few]
    file: NotRequired[str]
    program: NotRequired[Annotated[list[int], _Few]]


class Made(TypedDict):
    """Of "make"."""

    failed: Failure | None
    events: Annotated[list[_Event], _Few]
    replaced: Annotated[list[str], _Many]


class Loaded(Made):
    """Of "load"."""

    layers: Annotated[list[str], _Few]
    missing: Annotated[list[str], _Few]


class _Launch(TypedDict):
    kernel: str
    line: int
    places: Annotated[list[tuple[int, int]], _Many]


class Ran(Made):
    """Of "run"."""

    results: Any
    after: Any
    operations: Annotated[list[tuple[str, int, int, float]], _Many]
    launched: Annotated[int, Meta(ge=0, lt=1 << 40)]
    unrecorded: Annotated[list[str], _Few]
    places: Annotated[list[tuple[int, int]], _Many]
    tensors: Annotated[list[int], _Few]
    unspoiled: int
    again: Annotated[int, Meta(ge=0, lt=1 << 40)]
    launches: Annotated[list[_Launch], _Few]
    count: Annotated[int, Meta(ge=0, lt=1 << 40)]


class _Finding(TypedDict):
    rule: str
    message: str
    file: str | None
    line: int | None
    program: Annotated[list[int], _Few]
    kernel: str
    advice: str
    elements: Annotated[list[Annotated[list[int], _Few]], _Many]
    second: tuple[str | None, int | None, str] | None


class _Traced(TypedDict):
    elements: int
    unwritten: int
    first: int
    how: str
    writer: tuple[str, Annotated[list[int], _Few], str | None, int | None, str] | None
    constant: bool
    filled: bool
    sure: bool


class _Strange(TypedDict):
    kernel: str
    line: int
    argument: str
    elements: int
    count: int
    bytes: int
    digest: str


class Told(TypedDict):
    """Of "verify"."""

    problems: Annotated[list[str], _Many]
    notes: Annotated[list[str], _Many]
    scalars: Annotated[list[str], _Many]
    findings: Annotated[list[_Finding], _Many]
    unexplained: Annotated[list[_Strange], _Many]
    results: Annotated[list[_Traced], _Many]


def checked(said: dict[str, Any], form: type) -> dict[str, Any]:
    """The answer, without what the form does not have. Errors: BadMessage."""
    try:
        return msgspec.convert(said, form)
    except msgspec.ValidationError as error:
        raise frames.BadMessage(f"an answer has another form: {error}") from None


def shown(text: str) -> str:
    """A text for reports: short, and without what a terminal or an encoder takes for something else."""
    cut = text if len(text) <= MOST_TEXT else text[:MOST_TEXT] + "…"
    return "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in cut)
