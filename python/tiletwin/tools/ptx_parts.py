"""PTX text, split into what stands in it: directives, variables, functions with their bodies as text.

Here:      the parts of a module as compilers write it.
Not here:  what instructions mean (the simulator's reader, sim/ptx), what is made of the parts (cuda_export.py).
Invariant: nothing of the text is dropped in silence but comments and debug sections; what is not understood is an
           error with its line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple, NoReturn

from tiletwin.errors import PtxError

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_LINE = re.compile(r"\.(version|target|address_size|file)\b([^\n]*)")
_SECTION = re.compile(r"\.section\s+\S+\s*")
_SPACE = re.compile(r"\s+|;")
_PRAGMA = re.compile(r"\.pragma\b[^;]*;")
_VARIABLE = re.compile(
    r"(?P<link>(?:\.(?:extern|visible|weak|common)\s+)*)\.(?P<space>shared|global|const)\s+"
    r"(?:\.attribute\s*\([^)]*\)\s*)?(?:\.align\s+(?P<align>\d+)\s+)?\.(?P<type>[bsuf]\d+)\s+(?P<name>[\w$%]+)\s*"
    r"(?P<size>\[\s*\d*\s*\])?\s*(?:=\s*(?P<value>[^;]*))?"
)
_FUNCTION = re.compile(
    r"(?P<link>(?:\.(?:extern|visible|weak)\s+)*)\.(?P<kind>entry|func)\s*(?:\((?P<result>[^)]*)\)\s*)?"
    r"(?P<name>[\w$%]+)\s*(?:\((?P<parameters>[^)]*)\))?(?P<directives>[^{;]*)"
)
_PARAMETER = re.compile(
    r"\.param\s+(?:\.align\s+(?P<align>\d+)\s+)?\.(?P<type>[bsuf]\d+)\s+(?P<pointer>\.ptr\b)?(?:\s*\.(?:global|align|const"
    r"|shared|local)\b\s*\d*)*\s*(?P<name>[\w$%]+)\s*(?:\[\s*(?P<size>\d+)\s*\])?"
)


class Parameter(NamedTuple):
    """One .param of a function."""

    name: str
    type: str
    """ "u64", "b8", ..."""
    pointer: bool
    align: int
    """0: none given."""
    size: int
    """Elements of an array, such as a structure's bytes; 0: a scalar."""

    @property
    def bits(self) -> int:
        return int(self.type[1:])


class Variable(NamedTuple):
    """A variable of the module."""

    name: str
    space: str
    type: str
    align: int
    size: int | None
    """Elements; None: as many as the launch says (.extern .shared), 0: no array."""
    values: tuple[str, ...]
    """Its initial values as they are written; empty: zeros."""
    line: int


@dataclass
class Function:
    """A function. body: the text between its braces; None: a declaration."""

    name: str
    kernel: bool
    parameters: list[Parameter]
    results: list[Parameter]
    directives: dict[str, tuple[int, ...]]
    """.reqntid, .maxntid, ... with their numbers."""
    body: str | None
    line: int
    """Of the body's first line."""


@dataclass
class Parts:
    """A module."""

    target: str = ""
    files: dict[int, str] = field(default_factory=dict)
    variables: list[Variable] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)

    def defined(self, name: str) -> Function | None:
        """The function of that name that has a body."""
        return next((f for f in self.functions if f.name == name and f.body is not None), None)


def _blank(match: re.Match) -> str:
    """A comment's place: as many lines, nothing in them."""
    return "\n" * match[0].count("\n") or " "


def _parameters(text: str | None) -> list[Parameter]:
    return [
        Parameter(m["name"], m["type"], bool(m["pointer"]), int(m["align"] or 0), int(m["size"] or 0))
        for m in _PARAMETER.finditer(text or "")
    ]


def _directives(text: str) -> dict[str, tuple[int, ...]]:
    found = re.findall(r"\.(\w+)((?:\s*,?\s*\d+)*)", text)
    return {name: tuple(int(number) for number in re.findall(r"\d+", numbers)) for name, numbers in found}


class _Reader:
    """Reads a module from its beginning to its end."""

    def __init__(self, text: str) -> None:
        self.text = _COMMENT.sub(_blank, text)
        self.at = 0
        self.parts = Parts()

    def line(self) -> int:
        return self.text.count("\n", 0, self.at) + 1

    def fail(self, what: str) -> NoReturn:
        line = self.line()
        shown = self.text[self.at :].lstrip().split("\n", 1)[0][:100]
        raise PtxError(f"line {line}: {what}: {shown}", what, None, line, None)

    def take(self, pattern: re.Pattern) -> re.Match | None:
        match = pattern.match(self.text, self.at)
        if match:
            self.at = match.end()
        return match

    def block(self) -> str:
        """The text in the braces that begin here."""
        depth, start = 0, self.at
        for brace in re.finditer(r"[{}]", self.text[start:]):
            depth += 1 if brace[0] == "{" else -1
            if depth == 0:
                self.at = start + brace.end()
                return self.text[start + 1 : self.at - 1]
        self.fail("braces do not match")

    def read(self) -> Parts:
        while self.at < len(self.text):
            if self.take(_SPACE) or self.take(_PRAGMA):
                continue
            if match := self.take(_LINE):
                self.directive(match[1], match[2].strip())
            elif self.take(_SECTION):
                self.block()
            elif match := self.take(_VARIABLE):
                self.variable(match)
            elif match := self.take(_FUNCTION):
                self.function(match)
            else:
                self.fail("this is not known here")
        return self.parts

    def directive(self, name: str, rest: str) -> None:
        if name == "target":
            self.parts.target = rest.partition(",")[0].strip()
        elif name == "file" and (match := re.match(r'(\d+)\s+((?:"[^"]*"\s*)+)', rest)):
            self.parts.files[int(match[1])] = re.findall(r'"([^"]*)"', match[2])[-1]

    def variable(self, match: re.Match) -> None:
        size = match["size"]
        elements = 0 if size is None else int(size[1:-1]) if size[1:-1].strip() else None
        values = tuple(value.strip() for value in (match["value"] or "").strip("{} \n\t").split(",") if value.strip())
        row = Variable(
            match["name"], match["space"], match["type"], int(match["align"] or 0), elements, values, self.line()
        )
        self.parts.variables.append(row)

    def function(self, match: re.Match) -> None:
        line = self.line()
        body = self.block() if self.text[self.at : self.at + 1] == "{" else None
        parameters, results = _parameters(match["parameters"]), _parameters(match["result"])
        directives = _directives(match["directives"])
        row = Function(match["name"], match["kind"] == "entry", parameters, results, directives, body, line)
        self.parts.functions.append(row)


def read_parts(text: str) -> Parts:
    """The parts of a PTX text. Errors: PtxError, something at module level that is not known here."""
    return _Reader(text).read()
