"""Kernels as HTML: the source beside its TTIR, linked line by line.

Here:      reading the locations of TTIR's text, the two columns.
Not here:  tiles (html.py), making TTIR (compiler/).
Invariant: the HTML stands alone: no script, no file or address outside of it. Highlighting is CSS: a line under the
           pointer, or clicked, marks what belongs to it on the other side.
"""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Iterator
from typing import Any

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


def functions_of(fn: Any) -> list[Any]:
    """A jit function and the user's jit functions that it calls."""
    from tiletwin.eager.decide import reachable

    return list(reachable(fn))


def kernel_html(fn: Any, ttir: str | None, title: str) -> str:
    """The source of `fn`, a JITFunction, and of what it calls, beside `ttir`; only the source if that is None."""
    sources: dict[tuple[str, int], str] = {}
    heads: dict[tuple[str, int], str] = {}
    for function in functions_of(fn):
        heads[function.file, function.first_line] = function.__name__
        for i, line in enumerate(function.source_lines):
            sources[function.file, function.first_line + i] = line.rstrip("\n")
    files = list(dict.fromkeys(file for file, _ in sources))
    lines, named = locations(ttir) if ttir is not None else ([], {})
    ids = {place: f"L{files.index(place[0])}x{place[1]}" for place in sources}
    used: set[str] = set()
    right = []
    for text, name in lines:
        reached = dict.fromkeys(places(name, named)) if name is not None else ()
        classes = [ids[place] for place in reached if place in ids]
        used.update(classes)
        right.append(_line("", text, classes))
    left = []
    for place, text in sources.items():
        if place in heads and left:
            left.append('<div class="tw-gap"></div>')
        left.append(_line(str(place[1]), text, [ids[place]] if ids[place] in used else []))
    key = f"tw-k{next(_numbers)}"
    rules = "".join(
        f".{key}:has(.{c}:hover) .{c}, .{key}:has(.{c}>input:checked) .{c} {{background:#ffe08a;color:#000}}"
        for c in sorted(used)
    )
    style = (
        f".{key} {{display:flex;gap:12px;font:12px/1.45 monospace}}"
        f".{key}>div {{overflow:auto;max-height:560px;flex:1;border:1px solid #8884;padding:4px}}"
        f".{key} label {{display:block;white-space:pre;cursor:pointer;margin:0;min-height:1.45em}}"
        f".{key} label>input {{display:none}}"
        f".{key} label>span {{display:inline-block;width:3.2em;color:#888;text-align:right;padding-right:.8em}}"
        f".{key} .tw-gap {{border-top:1px dashed #8888;margin:4px 0}}"
    )
    columns = f'<div class="tw-source">{"".join(left)}</div>'
    if ttir is not None:
        columns += f'<div class="tw-ttir">{"".join(right)}</div>'
    body = columns.replace("@group@", key)
    return f'<div><b>{html.escape(title)}</b><style>{style}{rules}</style><div class="{key}">{body}</div></div>'


def _line(number: str, text: str, classes: list[str]) -> str:
    """One line; those that belong together are one choice of a group."""
    column = f"<span>{number}</span>" if number else ""
    if not classes:
        return f"<label>{column}{html.escape(text)}</label>"
    names = " ".join(classes)
    return f'<label class="{names}"><input type="radio" name="@group@">{column}{html.escape(text)}</label>'


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
        return f"<pre>{html.escape(ttir)}</pre>"
    signature = ", ".join(f"{name}: {kind}" for name, kind in getattr(kernel.src, "signature", {}).items())
    return kernel_html(fn, ttir, f"{kernel.name}({signature})")
