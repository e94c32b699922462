"""Kernels as HTML: the source beside its TTIR, linked line by line.

Here:      reading the locations of TTIR's text, the two columns.
Not here:  the markup (pages/kernel.html.j2), tiles (html.py), making TTIR (compiler/).
Invariant: the HTML stands alone: no script, no file or address outside of it. Highlighting is CSS: a line under the
           pointer, or clicked, marks what belongs to it on the other side.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from tiletwin.eager.decide import reachable
from tiletwin.pages import render

_DEFINITION = re.compile(r"^(#loc\d*) = loc\((.*)\)\s*$")
_USE = re.compile(r"\s*loc\((#loc\d*)\)\s*$")
_INLINE = re.compile(r"\s*loc\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")
_FILE = re.compile(r'^"((?:[^"\\]|\\.)*)":(\d+):(\d+)$')
_REFERENCE = re.compile(r"#loc\d*")
_numbers = itertools.count(1)


def locations(ttir: str) -> tuple[list[tuple[str, str | None]], dict[str, str]]:
    """Lines of TTIR as (text without its location, location's name or None), and what the names stand for."""
    lines: list[tuple[str, str | None]] = []
    named: dict[str, str] = {}
    for line in ttir.splitlines():
        definition = _DEFINITION.match(line)
        if definition:
            named[definition[1]] = definition[2]
            continue
        use = _USE.search(line)
        text = line[: use.start()] if use else line
        lines.append((_INLINE.sub("", text), use[1] if use else None))
    return lines, named


def places(name: str, named: dict[str, str], seen: frozenset[str] = frozenset()) -> Iterator[tuple[str, int]]:
    """Files and lines that a location names, those of callers too."""
    text = named.get(name, "")
    file = _FILE.match(text)
    if file:
        yield file[1], int(file[2])
    elif name not in seen:
        for inner in _REFERENCE.findall(text):
            yield from places(inner, named, seen | {name})


class Line(NamedTuple):
    """A line of one of the columns; lines that belong together share a class."""

    number: int | None
    text: str
    classes: list[str]
    begins: bool = False
    """A function begins here."""


def kernel_html(fn: Any, ttir: str | None, title: str) -> str:
    """The source of `fn`, a JITFunction, and of what it calls, beside `ttir`; only the source if that is None."""
    sources = {
        (function.file, function.first_line + i): (line.rstrip("\n"), i == 0)
        for function in reachable(fn)
        for i, line in enumerate(function.source_lines)
    }
    files = list(dict.fromkeys(file for file, _ in sources))
    lines, named = locations(ttir) if ttir is not None else ([], {})
    ids = {place: f"L{files.index(place[0])}x{place[1]}" for place in sources}
    right = [
        Line(None, text, [ids[place] for place in dict.fromkeys(places(name or "", named)) if place in ids])
        for text, name in lines
    ]
    used = {name for line in right for name in line.classes}
    left = [
        Line(place[1], text, [ids[place]] if ids[place] in used else [], begins)
        for place, (text, begins) in sources.items()
    ]
    columns = {"tw-source": left} | ({} if ttir is None else {"tw-ttir": right})
    return render("kernel.html.j2", title=title, key=f"tw-k{next(_numbers)}", columns=columns, used=sorted(used))


def jit_html(fn: Any) -> str:
    """A jit function: with the TTIR of what was compiled last, if anything was."""
    kernels = list(fn.cache.values())
    if not kernels:
        return kernel_html(fn, None, f"{fn.__name__} (not compiled yet)")
    return compiled_html(kernels[-1], fn)


def compiled_html(kernel: Any, fn: Any = None) -> str:
    """A compiled kernel, beside its source if that is known."""
    fn = fn if fn is not None else getattr(kernel.src, "fn", None)
    ttir = str(kernel.asm["ttir"])
    if fn is None or not hasattr(fn, "source_lines"):
        columns = {"tw-ttir": [Line(None, text, []) for text in ttir.splitlines()]}
        return render("kernel.html.j2", title=kernel.name, key=f"tw-k{next(_numbers)}", columns=columns, used=[])
    signature = ", ".join(f"{name}: {kind}" for name, kind in getattr(kernel.src, "signature", {}).items())
    return kernel_html(fn, ttir, f"{kernel.name}({signature})")
