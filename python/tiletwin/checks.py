"""What TILETWIN_CHECK found: reports on stderr, the list of findings, CheckError.

Here:      the dataclasses of a finding, its text, which ones were shown already, the line at exit.
Not here:  finding anything (ir/Check*.cpp, interp/), words of TILETWIN_CHECK (runtime/Checks.h).
Invariant: each finding (check, place, second place) is printed once in a process; every one is counted.
"""

from __future__ import annotations

import atexit
import contextlib
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tiletwin import _C, origins, variables
from tiletwin.errors import CheckError, shown_file, source_lines

# Checks that only the simulator makes; the interpreter takes the words and does nothing.
OF_SIMULATOR = ("async",)

# Operations of the IR under the names that kernels use.
_USER_NAMES = {
    operation: name
    for name, operations in {
        "+": "arith.addi arith.addf",
        "//": "arith.divsi arith.divui",
        "*": "arith.muli arith.mulf",
        "%": "arith.remsi arith.remui arith.remf",
        "<<": "arith.shli",
        ">>": "arith.shrsi arith.shrui",
        "-": "arith.subi arith.subf",
        "/": "arith.divf",
        "cast": "arith.trunci arith.truncf arith.fptosi arith.fptoui arith.sitofp arith.uitofp tt.fp_to_fp",
        "tl.abs": "math.absi",
        "atomic operation": "tt.atomic_rmw",
        "descriptor.gather": "tt.descriptor_gather",
        "descriptor.load": "tt.descriptor_load",
        "descriptor.atomic operation": "tt.descriptor_reduce",
        "descriptor.scatter": "tt.descriptor_scatter",
        "descriptor.store": "tt.descriptor_store",
        "tl.dot_scaled": "tt.dot_scaled",
        "libdevice function": "tt.extern_elementwise",
        "tl.div_rn": "tt.precise_divf",
        "tl.sqrt_rn": "tt.precise_sqrt",
        "tl.fdiv": "tt.approx_divf",
        "reduction": "tt.reduce",
        "scan": "tt.scan",
        "if": "scf.if cf.cond_br",
        "for": "scf.for",
        "while": "scf.while scf.condition",
    }.items()
    for operation in operations.split()
}


def _user_name(operation: str | None) -> str | None:
    if operation is None or operation in _USER_NAMES:
        return operation and _USER_NAMES[operation]
    dialect, _, name = operation.partition(".")
    return f"tl.{name}" if dialect in ("tt", "math") else operation


REACHED = frozenset({"nan", "overflow"})
"""Checks that follow a value from where it goes wrong to where it matters, and see there which elements are bad."""


@dataclass(frozen=True)
class Site:
    """A place in a kernel. `operation` is what stands there ("tl.load"); unknown parts are None."""

    file: str | None
    line: int | None
    column: int | None
    variable: str | None
    operation: str | None
    text: str | None = None
    program: tuple[int, int, int] | None = None

    @property
    def place(self) -> str:
        """ "kernel.py:12:5", as far as it is known."""
        parts = [shown_file(self.file) if self.file else "an unknown place"]
        if self.line:
            parts += [str(self.line)] + ([str(self.column)] if self.column else [])
        return ":".join(parts)

    def source(self, indent: str = "    ") -> list[str]:
        """The line of the source with a caret under the place; empty if the file is gone."""
        return list(source_lines(self.file, self.line, self.column, indent))


@dataclass(frozen=True)
class Finding:
    """One mistake at one place of a kernel, or between two places.

    check       the word of TILETWIN_CHECK                    kernel    name of the kernel
    message     what is wrong                                 advice    what to do about it; may be empty
    file, line, column, variable, operation                   the place; `variable` is assigned there
    program     the lowest program id that did it             programs  how many did
    shape       of the tile; () for a scalar                  elements  coordinates of the first few, of that program
    count       how many elements of that program             second    the other place, or None
    more        further places of the same mistake            evidence  what it does to the results; may be empty
    launches    launches of this process in which it was found
    threads     of the simulator: programs are CTAs, elements their threads as (warp, lane)
    origins     lines of the script for which the kernel was generated; empty for one that the script wrote itself
    Of `nan` and `overflow` shape, elements and count are those of the second place.
    """

    check: str
    kernel: str
    message: str
    advice: str
    site: Site
    program: tuple[int, int, int] | None
    programs: int
    shape: tuple[int, ...]
    elements: tuple[tuple[int, ...], ...]
    count: int
    second: Site | None = None
    launches: int = field(default=1, compare=False)
    threads: bool = False
    more: tuple[Site, ...] = ()
    evidence: str = ""
    origins: tuple[origins.Origin, ...] = ()

    @property
    def file(self) -> str | None:
        return self.site.file

    @property
    def line(self) -> int | None:
        return self.site.line

    @property
    def column(self) -> int | None:
        return self.site.column

    @property
    def variable(self) -> str | None:
        return self.site.variable

    @property
    def operation(self) -> str | None:
        return self.site.operation

    @property
    def key(self) -> tuple:
        """What makes two findings the same one."""
        second = self.second and (self.second.file, self.second.line, self.second.column)
        return self.check, self.kernel, self.file, self.line, self.column, self.operation, self.message, second

    def __str__(self) -> str:
        head = f"{self.site.place}: " + (f"{self.operation}: " if self.operation else "")
        lines = [f"tiletwin: {self.check}: {head}{self._who()}{self.message}", *self.site.source()]
        if self.second:
            text = " ".join(filter(None, (self.second.operation, self.second.text)))
            variable = f" ({self.second.variable})" if self.second.variable else ""
            by = f" in {self._unit} {self.second.program}" if self.second.program else ""
            by += f", {self._listed}" if self._listed and self._reached else ""
            lines += [f"  {self.second.place}{variable}: {text}{by}", *self.second.source()]
        for site in self.more:
            lines += [f"  {site.place}: {site.operation} {site.text}", *site.source()]
        lines += [f"  {origin}" for origin in self.origins]
        if self.evidence:
            lines.append(f"  it {self.evidence}")
        if self.advice:
            lines.append(f"  what to do: {self.advice}")
        return "\n".join(lines)

    @property
    def _unit(self) -> str:
        return "CTA" if self.threads else "program"

    @property
    def _reached(self) -> bool:
        """Whether the elements are those of the second place, which the value went to: tiles between the two differ."""
        return self.check in REACHED and self.second is not None

    @property
    def _listed(self) -> str:
        """The elements in words; empty for a scalar."""
        more = f" and {self.count - len(self.elements)} more" if self.count > len(self.elements) else ""
        if self.threads and self.elements:
            lanes = ", ".join(str(lane) for _, lane in self.elements)
            return f"warp {self.elements[0][0]}, lane{'s' if self.count > 1 else ''} {lanes}{more}"
        if not self.elements or not self.shape:
            return ""
        listed = ", ".join(str(e[0]) if len(e) == 1 else str(e) for e in self.elements)
        return f"element{'s' if self.count > 1 else ''} {listed}{more}"

    def _who(self) -> str:
        parts = []
        if self.program:
            more = f" and {self.programs - 1} more" if self.programs > 1 else ""
            parts.append(f"{self._unit} {self.program}{more}")
        has_elements = bool(self._listed) and not self._reached
        if has_elements:
            parts.append(self._listed)
        text = ", ".join(parts)
        if self.variable:
            text += (" of " if has_elements else ", " if text else "") + self.variable
        return text + ": " if text else ""


def _site(parts: tuple, text: str | None = None, program: tuple[int, int, int] | None = None) -> Site:
    file, line, column, variable, operation = parts
    return Site(file, line or None, column or None, variable, _user_name(operation), text, program)


def _coordinates(element: int, shape: Sequence[int]) -> tuple[int, ...]:
    index = []
    for extent in reversed(shape):
        index.append(element % extent)
        element //= extent
    return tuple(reversed(index))


def from_parts(kernel: str, parts: tuple) -> Finding:
    """A finding from what the extension hands over (python/src/CheckReport.cpp)."""
    check, place, message, advice, program, programs, shape, elements, count, second, threads, *more = parts
    return Finding(
        check=check,
        kernel=kernel,
        message=message,
        advice=advice,
        site=_site(place),
        program=program,
        programs=programs,
        shape=shape,
        elements=tuple(_coordinates(e, shape) for e in elements),
        count=count,
        second=_site(*second) if second else None,
        threads=threads,
        more=tuple(_site(*other) for other in (more[0] if more else ())),
        origins=origins.of(kernel),
    )


_found: dict[tuple, Finding] = {}
_at_exit = False
_prints = True
_is_known: Callable[[Finding], bool] | None = None
"""Whether a finding is to be left out."""


class _Aside(threading.local):
    """found: where findings of this thread go while somebody else tells them; None: to everybody's."""

    found: dict[tuple, Finding] | None = None


_aside = _Aside()


def set_printing(prints: bool) -> bool:
    """Whether findings are printed when they are found; who shows them otherwise switches that off. Returns what held
    before."""
    global _prints
    before, _prints = _prints, prints
    return before


def leave_out(is_known: Callable[[Finding], bool]) -> None:
    """Findings for which it is true are as if they had not been found."""
    global _is_known
    _is_known = is_known


def _known() -> dict[tuple, Finding]:
    return _found if _aside.found is None else _aside.found


def findings() -> list[Finding]:
    """Everything that checks have found in this process, in the order in which it was found first."""
    return list(_known().values())


def clear() -> None:
    """Forgets all findings: they are printed again when they are found again, and not counted at exit."""
    _known().clear()


@contextlib.contextmanager
def aside() -> Iterator[None]:
    """What this thread finds in here is the caller's to tell: `findings()` has it and nothing else, and it is neither
    printed nor raised nor counted at exit."""
    before, _aside.found = _aside.found, {}
    try:
        yield
    finally:
        _aside.found = before


def _say(text: object) -> None:
    if _aside.found is None:
        print(text, file=sys.stderr)


def _say_at_exit() -> None:
    if _found:
        count = len(_found)
        who = "TILETWIN_CHECK" if variables.get("TILETWIN_CHECK") else "the checks"
        print(f"tiletwin: {who} found {count} mistake{'s' if count > 1 else ''}", file=sys.stderr)


_listeners: list[tuple[Callable[[Sequence[Finding]], Any], Callable[[str], Any]]] = []


def listen(findings: Callable[[Sequence[Finding]], Any], note: Callable[[str], Any]) -> None:
    """From now on `findings` is called with what checks find, `note` with what they could not look at."""
    _listeners.append((findings, note))


def add(found: Sequence[Finding]) -> list[Finding]:
    """Records findings of a launch and prints those that are new. Returns them without those that are left out."""
    global _at_exit
    if _is_known is not None and _aside.found is None:
        found = [finding for finding in found if not _is_known(finding)]
    seen, is_told = _known(), _aside.found is None
    if not _at_exit and found and is_told:
        _at_exit = True
        atexit.register(_say_at_exit)
    for finding in found:
        known = seen.get(finding.key)
        if known is None:
            seen[finding.key] = finding
            if _prints:
                _say(finding)
        else:
            seen[finding.key] = replace(known, launches=known.launches + 1)
    if found and is_told:
        for hear_findings, _ in _listeners:
            hear_findings(found)
    return list(found)


def report(kernel: str, items: list[tuple], may_raise: bool) -> None:
    """Called by a launch with what its probes found."""
    found = [from_parts(kernel, item) for item in items]
    for finding in found:
        if not finding.check:
            _notice(finding)
    submit(_with_evidence([finding for finding in found if finding.check]), may_raise)


def _with_evidence(found: list[Finding]) -> list[Finding]:
    """Results that depend on the order of programs at a place that races are no second mistake: they show what the race
    does."""
    kept, orders = [], {(f.file, f.line): f for f in found if f.check == "order"}
    explained = set()
    for finding in found:
        if finding.check == "races":
            sites = (finding.site, finding.second, *finding.more)
            seen = [orders[key] for key in ((s.file, s.line) for s in sites if s) if key in orders]
            if seen:
                explained.update(order.key for order in seen)
                finding = replace(finding, evidence=seen[0].message)
        kept.append(finding)
    return [finding for finding in kept if finding.key not in explained]


_noticed: set[tuple] = set()


def _notice(said: Finding) -> None:
    """Prints once what a check could not look at. It is no mistake."""
    if said.key not in _noticed and _aside.found is None:
        _noticed.add(said.key)
        _say(f"tiletwin: {said.kernel}: {said.message} ({said.site.place})")


def submit(found: Sequence[Finding], may_raise: bool = True) -> None:
    """Records and prints findings.

    Raises:
        CheckError: TILETWIN_CHECK has the word raise and `may_raise` is true.
    """
    kept = add(found)
    if kept and may_raise and _aside.found is None and wanted().raises:
        raise CheckError("\n".join(map(str, kept)), kept)


_unchecked: dict[str, str] = {}


def unchecked() -> dict[str, str]:
    """Kernels some of whose programs no check has looked at, and why."""
    return dict(_unchecked)


def notice_unchecked(kernel: str, reason: str, has_text: bool) -> None:
    """Says once for each kernel that programs which Python runs are not looked at by checks. reason: why Python runs
    them.

    Raises:
        CheckError: the kernel has no text, so that nobody can check it, and TILETWIN_CHECK has the word raise.
    """
    what = "" if has_text else "; put it into a file or a notebook cell"
    text = f"looks at compiled programs only; those that Python runs are not checked: {reason}{what}"
    _notice_unchecked(kernel, text)
    if not has_text and kernel in _unchecked and wanted().raises:
        raise CheckError(_unchecked[kernel])


def notice_unchecked_in_gdb(kernel: str) -> None:
    """The same for launches that run for a native debugger (called by python/src/Compile.cpp)."""
    _notice_unchecked(kernel, "looks at nothing here: launches that run for gdb (TILETWIN_GDB=1) are not checked")


def _notice_unchecked(kernel: str, why: str) -> None:
    words = [word for word in wanted().checks if word not in ("device", *OF_SIMULATOR)]
    if words and kernel not in _unchecked and _aside.found is None:
        _unchecked[kernel] = text = f"{kernel}: TILETWIN_CHECK={','.join(words)} {why}"
        _say(f"tiletwin: {text}")
        for _, hear_note in _listeners:
            hear_note(text)


@dataclass(frozen=True)
class Wanted:
    """A value of TILETWIN_CHECK."""

    checks: tuple[str, ...]
    raises: bool
    device: str


def parse(text: str) -> Wanted:
    """Reads a value of TILETWIN_CHECK.

    Raises:
        ValueError: a word that is no check; the text lists the words.
    """
    return Wanted(*_C.parse_checks(text))


def wanted() -> Wanted:
    """TILETWIN_CHECK as it stands now."""
    return parse(variables.get("TILETWIN_CHECK"))


__all__: list[Any] = ["CheckError", "Finding", "Site", "Wanted", "add", "clear", "findings", "parse", "wanted"]


def __dir__() -> list[str]:
    return sorted([*__all__, "report", "submit"])
