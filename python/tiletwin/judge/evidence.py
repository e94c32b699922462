"""Reasons that are no wrong numbers: what a submission did beside its kernels, and what checks say of them.

Here:      which observations give which verdict.
Not here:  the observations (watching.py, text_checks.py, verifier.py).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from tiletwin.judge.comparing import Comparison
from tiletwin.judge.inputs import Case
from tiletwin.judge.oracle import Answer
from tiletwin.judge.schema import ALL
from tiletwin.judge.verdicts import BROKEN, CHEATING, NOT_JUDGED, WRONG, Judged, Reason

LEAST_WORK = 64
"""Units below which torch operations are no work."""
LEAST_SHARE = 0.005
"""Of the reference's work, below which torch operations have no note of their own."""
LIBRARY_SHARE = 0.5
"""Of the reference's work: a submission whose torch operations do more has not written the kernel."""
ROUNDING = 2.0**-6
"""Relative distance up to which numbers of two orders differ by rounding; values are judged by their bounds anyway."""
_ORDERS = re.compile(r" is (-?\d[\d.e+-]*) if the programs run forward, and (-?\d[\d.e+-]*) if ")
MOST_UNSEEN = 0.05
"""Of a result's elements, whose stores in large launches may not be seen."""
_SAYS = {
    "file": "reads or writes files", "network": "uses the network", "process": "starts processes",
    "harness": "looks into its caller", "environment": "reads the environment", "patch": "replaces functions",
}  # fmt: skip
_LEFT_OUT = {
    "strides": "such strides", "offsets": "such offsets", "aliases": "such arguments", "special": "NaN and infinities",
}  # fmt: skip
"""What a submission may not be meant for, by ways of varying inputs."""
KERNEL_FAULTS = ("OutOfBoundsError", "DeadlockError", "InterpreterError")
REFUSALS = ("AssertionError", "ValueError", "NotImplementedError", "TypeError", "RuntimeError", "CompilationError",
            "OutOfResources", "IndexError", "ZeroDivisionError", "KeyError")  # fmt: skip
"""With these a submission may say that it does not take inputs unlike the examples."""
_WRONG_CHECKS = ("undefined", "bounds", "races", "order", "promises", "barriers", "async", "uninitialized", "device")


def of_failure(failed: dict[str, Any], is_usual: bool) -> Reason:
    """Of a call that raised an exception. is_usual: its arguments are an example. It may decline others: no verdict."""
    place: dict[str, Any] = {"file": failed.get("file", ""), "line": int(failed["line"] or 0)}
    text, kinds = words_of(failed), failed["kinds"]
    if any(kind in kinds for kind in KERNEL_FAULTS) and (is_usual or "CompilationError" not in kinds):
        return Reason(WRONG, "error", text, program=tuple(failed.get("program", ())), **place)
    if is_usual or not any(kind in kinds for kind in REFUSALS):
        return Reason(BROKEN, "judge-error", text, **place)
    return Reason("", "judge-declined", f"declines inputs unlike the examples: {text}", **place)


def words_of(failed: dict[str, Any]) -> str:
    """Kind and text of an exception, without the place and the source line that a reason has anyway."""
    text = failed["text"]
    if failed.get("file"):  # then the line stands in the reason anyway, with a mark below it in a compiler's text
        text = re.sub(r"^\S+:\d+:\d+:(?: |\n[^\n]*\n\s*\^+\s*\n)", "", text)
    text = re.sub(r"\n[^\n]*\n\s*\^+\s*$", "", text) if failed.get("file") else text
    return f"{failed['kind']}: {text}" if text.strip() else failed["kind"]


def of_hints(found: Iterator[tuple[str, str, int]]) -> Iterator[Reason]:
    for kind, what, line in found:
        is_cheating = kind in ("patch", "environment", "harness")
        text = f"{_SAYS.get(kind, 'calls foreign code')}: {what}"
        yield Reason(CHEATING if is_cheating else "", f"judge-{kind}", text, line=line)


def of_events(events: list[list[Any]]) -> Iterator[Reason]:
    """Of audit events."""
    for kind, what, line in events:
        if kind in _SAYS:
            yield Reason(CHEATING, f"judge-{kind}", f"{_SAYS[kind]}: {what}", line=int(line))


def of_replaced(names: list[str], text: str) -> Iterator[Reason]:
    """Functions that are others than before; the line is the first that has the name."""
    lines = text.splitlines()
    for name in names[:5]:
        last = name.rpartition(".")[2]
        line = next((i for i, said in enumerate(lines, 1) if last in said), 0)
        yield Reason(CHEATING, "judge-patch", f"replaces functions: {name} is another one now", line=line)


def of_library(
    rows: list[list[Any]], answer: Answer, launched: int, elements: int, usual_work: float
) -> Iterator[Reason]:
    """Of torch operations. answer: of a reference, which may launch kernels itself: then what torch does there, it may
    do here. elements: of the results, which somebody has to make. usual_work: the reference's for the example; of much
    smaller inputs the last sum of partial ones is a large part, and says nothing."""
    if answer.wanted:  # gradients of one argument, which autograd adds itself
        rows = [row for row in rows if (row[0], row[1]) != ("aten::add", 0)]
    if not rows:
        return
    name, line, calls, work = rows[0]
    own = answer.work if answer.launched else 0.0
    whole = max(answer.work - own, elements, LEAST_WORK)
    share = max(sum(row[3] for row in rows) - own, 0.0) / whole
    if share > LIBRARY_SHARE and answer.work >= usual_work / 4:
        text = (
            f"library calls do the work: torch operations do {100 * share:.0f} % of what the reference's do; {name} "
            f"does most ({work:.0f} elements or products in {calls} calls)"
        )
        yield Reason(CHEATING, "judge-library", text, line=line)
    elif launched and share >= LEAST_SHARE:
        text = f"torch does {100 * share:.0f} % of the reference's work: {name}, called {calls} times"
        yield Reason("", "judge-library", text, line=line)


def of_no_launch(entry: str, are_right: bool) -> Reason:
    verdict = CHEATING if are_right else WRONG
    return Reason(verdict, "judge-no-kernel", f"no kernel is launched: {entry} gives its results without one")


def of_results(
    told: list[dict[str, Any]], names: list[str], rows: list[list[Any]], wrong: Collection[str], unchanged: list[bool]
) -> Iterator[Reason]:
    """Of results that were traced. rows: of torch operations, which may have finished what kernels began. wrong: names
    of results whose numbers are wrong. Elements that memory was filled with are right without a kernel. unchanged:
    which of the results stay the same when what kernels store is ruined."""
    noted_work = sum(row[3] for row in rows)
    stays = (*unchanged, *(False for _ in told))
    for name, one, is_unchanged in zip(names, told, stays):
        if one["how"] in ("numbers", "none") and is_unchanged and not one["filled"]:
            text = f"the {name} stays the same when what kernels store is ruined: no kernel makes it"
            yield Reason(CHEATING, "judge-untraced", text)
            continue
        if not one["unwritten"]:
            continue
        text = f"{one['unwritten']} of {one['elements']} elements of the {name} were written by no kernel"
        by_torch = one["how"] == "none" and noted_work >= one["unwritten"]
        if name in wrong:
            if not by_torch:
                yield Reason(WRONG, "judge-untraced", text)
        elif not one["sure"] and one["unwritten"] <= MOST_UNSEEN * one["elements"]:
            yield Reason("", "judge-untraced", text + ", or have the value that was there before")
        elif by_torch:
            said = f"{text}: torch made them of what kernels gave, with {', '.join(row[0] for row in rows[:3])}"
            yield Reason("", "judge-untraced", said, line=rows[0][1])
        elif not one["constant"]:
            yield Reason(CHEATING, "judge-untraced", text)


def of_no_use() -> Reason:
    text = "all results of the tests stay the same when what kernels store is ruined: no kernel makes them"
    return Reason(CHEATING, "judge-untraced", text)


def of_inputs(
    found: list[dict[str, Any]], earlier: list[dict[str, Any]], noted_work: float, least: float
) -> Iterator[Reason]:
    """Of numbers that kernels read and nothing explains. earlier: those of a call with other inputs; what is the same
    in both is a constant of the submission, and hides no work. least: bytes in which results may hide."""
    constants = {one["digest"] for one in earlier}
    for one in found:
        if one["digest"] in constants:
            continue
        text = (
            f"{one['kernel']} reads {one['count']} of {one['elements']} numbers of {one['argument']} that are neither "
            "inputs nor what a kernel wrote, and that change with the inputs"
        )
        hides = noted_work < one["count"] and one["bytes"] >= least
        verdict = CHEATING if hides else ""
        yield Reason(verdict, "judge-hidden-work", text, line=one["line"], kernel=one["kernel"])


def of_scalars(now: list[str], earlier: list[str], args: list[Any], noted_work: float, size: int) -> Iterator[Reason]:
    """Of numbers that kernels are given as arguments, as hexadecimal floats. earlier: of a call with other inputs.
    size: bytes of the results, which so many numbers may hold."""
    given = {float(value).hex() for value in args if isinstance(value, (int, float))}
    changed = sum(a != b and a not in given for a, b in zip(now, earlier)) + abs(len(now) - len(earlier))
    if changed and noted_work == 0 and 8 * changed >= size:
        text = (
            f"{changed} numbers that kernels are given as arguments change with the inputs, and nothing explains them"
        )
        yield Reason(CHEATING, "judge-hidden-work", text)


def of_repeats(said: dict[str, Any], launched: int, repeats: int) -> Iterator[Reason]:
    """Of calls with the very same arguments, after a first one that launched so many kernels."""
    if launched and not said["again"]:
        text = "results are remembered: a second call with the same arguments launches no kernel"
        yield Reason(CHEATING, "judge-remembered", text)
    grown = said["tensors"][1] - said["tensors"][0]
    if grown >= repeats:
        text = f"memory grows: {repeats} calls with the same arguments leave {grown} tensors behind"
        yield Reason(WRONG, "judge-memory", text)


def of_wrong(found: Comparison, case: Case, draws: str) -> Reason:
    """Of a result with wrong elements, or with another shape or type. draws: what the reference draws random numbers
    with."""
    if found.problem:
        return Reason(WRONG, "judge-value", f"the {found.name} {found.problem}")
    text = (
        f"{found.wrong} of {found.elements} elements of the {found.name} are wrong: {list(found.first)} is "
        f"{found.got:.9g}, expected {found.expected:.9g} ± {found.bound:.2g}"
    )
    if draws:
        text = (
            f"the reference draws random numbers ({draws}), which no kernel draws the same. Both can be compared if "
            f"they take the mask, or the numbers, as an argument. As it is, {text}"
        )
    elif case.way in _LEFT_OUT:
        text += (
            f'; {_LEFT_OUT[case.way]} are left out if the reference says JUDGE = {{"vary": [...]}} without "{case.way}"'
        )
    return Reason(NOT_JUDGED if draws else WRONG, "judge-value", text, element=found.first)


def of_special(cases: list[Judged]) -> Iterator[Reason]:
    """Whether NaN and infinities alone are wrong."""
    if {case.way for case in cases if case.outcome == WRONG} == {"special"}:
        text = (
            "only cases with NaN or an infinity in the inputs are wrong. If these do not matter, say in the reference "
            f"which cases do: JUDGE = {{'vary': {[way for way in ALL if way != 'special']}}}"
        )
        yield Reason("", "judge-value", text)


def of_open(found: Comparison) -> Reason:
    """Of a result with elements that could not be compared in a usual case: with most of them it is not judged."""
    text = (
        f"{found.open} of {found.elements} elements of the {found.name} are not judged: no bound of what rounding may "
        'do to them is known. In the reference, JUDGE = {"bound": function(expected, *arguments)} gives one'
    )
    return Reason(NOT_JUDGED if 2 * found.open > found.elements else "", "judge-bounds", text)


def _is_rounding(message: str, advice: str) -> bool:
    """Whether orders of programs differ as sums of floats do: by atomics, or in turns behind a lock."""
    if "atomic sums of floats" in advice:
        return True
    said = _ORDERS.search(message)
    if said is None or "." not in said[1] + said[2]:
        return False
    a, b = float(said[1]), float(said[2])
    return abs(a - b) <= ROUNDING * max(abs(a), abs(b))


def of_findings(found: list[dict[str, Any]]) -> Iterator[Reason]:
    """Of what checks of the replayed launches found."""
    for one in found:
        is_rounding = one["rule"] == "order" and _is_rounding(one["message"], one["advice"])
        verdict = WRONG if one["rule"] in _WRONG_CHECKS and not is_rounding else ""
        text = f"{one['rule']}: {one['message']}"
        if one["second"]:
            text += f"; line {one['second'][1]}: {one['second'][2]}"
        element = tuple(one["elements"][0]) if one["elements"] else ()
        program = tuple(one["program"])
        yield Reason(
            verdict, one["rule"], text, one["file"] or "", one["line"] or 0, kernel=one["kernel"], program=program,
            element=element,
        )  # fmt: skip
