"""Texts of code that lies in no file: what `exec`, `eval` and `compile` were given.

Here:      the last texts that Python compiled, as its audit event "compile" tells them, and that of `python -c`;
           which of them made a function.
Not here:  linecache's own texts (files, notebooks, prompts), and what is made of a text (source.py).
Invariant: a text stands for a function only if it compiles to that function's very code, so a guess is never wrong.
"""

from __future__ import annotations
import __future__

import collections
import hashlib
import linecache
import sys
import threading
from types import CodeType
from typing import Any

_FUTURE = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
_MOST, _LONGEST = 64, 1 << 20
_recent: collections.deque[tuple[str, str | bytes]] = collections.deque(maxlen=_MOST)
"""(name of the file, text), the newest last. A decorator runs right after its text was compiled."""
_deaf: set[int] = set()
"""Threads that compile a text once more, to compare."""


def _hear(event: str, args: tuple[Any, ...]) -> None:
    if event != "compile":
        return
    text, file = args
    if isinstance(file, str) and file[:1] == "<" and isinstance(text, (str, bytes)) and len(text) <= _LONGEST:
        defines = b"def " in text if isinstance(text, bytes) else "def " in text
        if defines and threading.get_ident() not in _deaf:
            _recent.append((file, text))


sys.addaudithook(_hear)


def _holds(code: CodeType, wanted: CodeType) -> bool:
    """Whether `wanted` is among what `code` defines, at any depth."""
    return any(c == wanted or _holds(c, wanted) for c in code.co_consts if isinstance(c, CodeType))


def _command() -> list[tuple[str, str | bytes]]:
    """The text of `python -c`, which was compiled before this module was imported."""
    words = sys.orig_argv
    return [("<string>", words[words.index("-c") + 1])] if "-c" in words[:-1] else []


def given_text(code: CodeType) -> str | None:
    """The text that a function's code was compiled from, if it was given to Python just now and linecache has none.

    Ask when the function has just been made: only the last texts are kept.
    """
    if code.co_filename[:1] != "<" or (code.co_filename != "<string>" and linecache.getlines(code.co_filename)):
        return None
    thread = threading.get_ident()
    for file, text in [*reversed(_recent), *_command()]:
        plain = text.decode(errors="replace") if isinstance(text, bytes) else text
        if file != code.co_filename or code.co_name not in plain:
            continue
        _deaf.add(thread)
        try:
            made = compile(plain, file, "exec", flags=code.co_flags & _FUTURE, dont_inherit=True)
        except (SyntaxError, ValueError):
            continue
        finally:
            _deaf.discard(thread)
        if _holds(made, code):
            return plain
    return None


def named_lines(file: str, text: str) -> tuple[str, list[str]]:
    """A name of its own for a text that was compiled under `file`, "<string>" say, and its lines.

    By that name linecache, and so tracebacks and debuggers, find them. A text has one name in every process.
    """
    name = f"{file.removesuffix('>')} {hashlib.sha256(text.encode()).hexdigest()[:8]}>"
    lines = text.splitlines(True)
    linecache.cache[name] = (len(text), None, lines, name)
    return name, lines
