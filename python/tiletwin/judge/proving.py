"""Whether kernels make the results: recorded calls, what the verifier is asked of them, and what follows.

Here:      one recorded call, the question that it makes, which reasons are about which result; all calls of a verdict.
Not here:  recording (judging.py), answering (verifier.py), what an observation gives (evidence.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from tiletwin.judge import answers, evidence, frames, text_checks
from tiletwin.judge.inputs import Case
from tiletwin.judge.oracle import Answer
from tiletwin.judge.problem import Problem
from tiletwin.judge.process import Worker, WorkerEnded
from tiletwin.judge.reporting import Report
from tiletwin.judge.results import are_filled, described, leaf_tensors
from tiletwin.judge.starter import Starter, StarterEnded
from tiletwin.judge.verdicts import NOT_JUDGED, Reason
from tiletwin.judge.verifier import CHECKS

TIMES_CALL = 3.0
"""What running a call's launches once more, with all checks, may take in terms of a call."""
MOST_VERIFIED = 6
"""Recorded calls of a verdict that are run once more."""


@dataclass
class Reply:
    """said, storages: what the worker answered. wrong: names of the results that are not what they have to be."""

    problem: Problem
    case: Case
    args: list[Any]
    answer: Answer
    said: dict[str, Any]
    storages: list[torch.Tensor]
    wrong: frozenset[str] = frozenset()

    @property
    def names(self) -> list[str]:
        """Of the results and of the arguments that are results."""
        return [wanted.name for wanted in self.answer.results]

    def leaves(self) -> list[dict[str, Any]]:
        """Descriptions of the results' tensors, and of the arguments' that the submission has to write. Their storages
        are numbers of the answer's."""
        found = leaf_tensors(self.said["results"])
        held = [leaf["tensor"][1] for leaf in leaf_tensors(self.said["after"])]
        given = leaf_tensors(frames.Packer().tree(self.args))
        for number in self.answer.written:
            kind, storage, *place = given[number]["tensor"]
            found.append({"tensor": [kind, held[storage], *place]})
        return found

    def question(self, reasons: list[Reason], targets: tuple[str, ...]) -> tuple[dict[str, Any], list[torch.Tensor]]:
        """The message to the verifier. reasons: about results, whose writers are asked for."""
        count = int(self.said["count"])
        packer = frames.Packer()
        packer.tree([self.args, self.problem.weights, self.answer.cotangents])
        leaves = self.leaves()
        head = {
            "do": "verify", "originals": {"list": self._originals(len(leaves))},
            "launches": self.said["launches"], "given": len(packer.storages), "checks": CHECKS,
            "targets": list(targets), "results": {"list": leaves}, "places": self.said["places"],
            "stored": [leaf["tensor"][1] for leaf in leaves], "asked": self._asked(leaves, reasons),
        }  # fmt: skip
        return head, [*self.storages[count:], *packer.storages, *self.storages[:count]]

    def _originals(self, count: int) -> list[Any]:
        """Descriptions of what arguments among so many results held before."""
        given = leaf_tensors(frames.Packer().tree(self.args))
        written = [given[number] for number in self.answer.written]
        return [None] * (count - len(written)) + written

    def about(self, name: str, reasons: list[Reason]) -> Iterator[Reason]:
        """Reasons for wrong elements of a result."""
        for reason in reasons:
            is_value = reason.case == self.case.number and reason.rule == "judge-value"
            if is_value and f"of the {name} are" in reason.text:
                yield reason

    def _asked(self, leaves: list[dict[str, Any]], reasons: list[Reason]) -> dict[str, int]:
        """Of each result with a wrong element: where that begins in its storage."""
        asked = {}
        for number, (leaf, name) in enumerate(zip(leaves, self.names)):
            kind, _, offset, _, strides = leaf["tensor"]
            for reason in self.about(name, reasons):
                if len(strides) == len(reason.element):
                    at = offset + sum(i * s for i, s in zip(reason.element, strides))
                    asked[str(number)] = at * frames.TYPES[kind].itemsize
        return asked


class Proof:
    """Of one verdict. Attributes: replies, recorded calls; unchanged, whether each of the example's results is the same
    when what kernels store is ruined; gaps, why something could not be shown."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.replies: list[Reply] = []
        self.unchanged: list[bool] = []
        self.gaps: list[str] = []
        self._is_complete = False
        """Whether kernels have been shown to make the results of a case."""
        self._earlier: dict[str, dict[str, Any]] = {}
        """What the verifier told last of an example with such arguments."""

    def of_gaps(self) -> Iterator[Reason]:
        """Without a reason for another verdict, what nobody has shown to come from kernels is not judged."""
        made = self.report.made
        if made.launches and not self._is_complete and not any(reason.verdict for reason in made.reasons):
            why = "; ".join(dict.fromkeys(self.gaps)) or "the examples are too large to be recorded"
            yield Reason(NOT_JUDGED, "judge-unproved", f"that kernels make the results could not be shown: {why}")

    def verify(self, starter: Starter) -> None:
        """Runs the recorded launches once more. starter: of processes."""
        if not self.replies:
            return
        printed = b""
        try:
            with Worker(starter, self.report.settings.limits, "tiletwin.judge.verifier") as verifier:
                printed = verifier.printed
                for reply in self.replies[:MOST_VERIFIED]:
                    self._verify_one(verifier, reply)
        except (WorkerEnded, StarterEnded) as error:
            said = printed.decode(errors="replace").strip().rpartition("\n")[2]
            is_exit = isinstance(error, WorkerEnded) and error.why == "exit"
            why = f"{error}: {said}" if said and is_exit else str(error)
            self.gaps.append(f"the launches could not be run once more: {why}")
            self.report.add(Reason("", "judge-verifier", self.gaps[-1]))

    def _verify_one(self, verifier: Worker, reply: Reply) -> None:
        case, args, said = reply.case, reply.args, reply.said
        head, memory = reply.question(self.report.made.reasons, self.report.settings.targets)
        most = TIMES_CALL * self.report.settings.call_seconds(reply.answer.seconds)
        told, _ = verifier.ask(head, memory, most, answers.Told)
        for why in (*said["unrecorded"], *told["problems"]):
            self.gaps.append(why)
            self.report.add(Reason("", "judge-unrecorded", f"a launch was not run once more: {why}"), case, args)
        for why in told["notes"]:
            self.report.add(Reason("", "judge-unrecorded", why), case, args)
        for reason in evidence.of_findings(told["findings"]):
            if reason.rule != "nan" or reply.wrong:  # NaN inside of right results says nothing
                self.report.add(reason, case, args)
        is_complete = not told["problems"] and not said["unrecorded"] and len(said["launches"]) == said["launched"]
        if is_complete and said["launched"]:
            self._is_complete = True
            for reason in self._of_origins(reply, told):
                self.report.add(reason, case, args)
        for name, one in zip(reply.names, told["results"]):
            for reason in reply.about(name, self.report.made.reasons) if one["writer"] is not None else ():
                reason.kernel, program, file, line, argument = one["writer"]
                reason.program, reason.file = tuple(program), self.report.own_file(file)
                reason.line = int(line or 0) or text_checks.only_write(self.report.text, reason.kernel, argument)
                reason.source = self.report.source(reason)

    def _of_origins(self, reply: Reply, told: dict[str, Any]) -> Iterator[Reason]:
        """Where results and the numbers that kernels read come from. Tests make inputs themselves: of theirs the first
        question is whether they need the kernels."""
        unchanged = self.unchanged if reply.case.number == 0 else []
        operations = reply.said["operations"]
        work = sum(row[3] for row in operations)
        if reply.problem.tests:
            if unchanged and all(unchanged) and not are_filled([wanted.low for wanted in reply.answer.results]):
                yield evidence.of_no_use()
            return
        yield from evidence.of_results(told["results"], reply.names, operations, reply.wrong, unchanged)
        if reply.case.is_example:
            shapes = described(reply.args)
            if earlier := self._earlier.get(shapes):
                size = sum(wanted.low.nbytes for wanted in reply.answer.results)
                yield from evidence.of_inputs(told["unexplained"], earlier["unexplained"], work, size / 4)
                yield from evidence.of_scalars(told["scalars"], earlier["scalars"], reply.args, work, size)
            elif self._earlier:
                text = "the examples have different shapes: whether kernels get results as arguments was not looked at"
                yield Reason("", "judge-hidden-work", text)
            self._earlier[shapes] = told
