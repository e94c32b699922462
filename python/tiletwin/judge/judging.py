"""The judge: runs cases of a problem on a submission until the time is spent, and says what it makes of them.

Here:      the order of things, what each answer of the worker means.
Not here:  the sandbox and the worker (process.py, worker.py), the oracle, evidence beyond values (evidence.py).
Invariant: the worker never sees the reference, its results or this process. What it says is compared here, or run once
           more in the verifier.
"""

from __future__ import annotations

import contextlib
import os
import time
from typing import Any

import torch

from tiletwin.judge import evidence, frames, oracle, text_checks
from tiletwin.judge.comparing import Comparison, compare
from tiletwin.judge.conventions import Problem, problem_of
from tiletwin.judge.inputs import Case, Inputs, tensors_of
from tiletwin.judge.process import WALL_FACTOR, Worker, WorkerEnded
from tiletwin.judge.results import are_filled, bytes_of, described, equal, leaf_tensors, raw, results_of
from tiletwin.judge.schema import BadProblem
from tiletwin.judge.settings import DEFAULT, Settings
from tiletwin.judge.starter import Starter, StarterEnded
from tiletwin.judge.verdict import Verdict
from tiletwin.judge.verdicts import BROKEN, CHEATING, NOT_JUDGED, WRONG, Judged, Reason

_KERNEL_FAULTS = ("OutOfBoundsError", "DeadlockError", "InterpreterError")
_REFUSALS = ("AssertionError", "ValueError", "NotImplementedError", "TypeError", "RuntimeError", "CompilationError",
             "OutOfResources", "IndexError", "ZeroDivisionError", "KeyError")  # fmt: skip
"""With these a submission may say that it does not take inputs unlike the examples."""
MOST_RECORDED_BYTES = 1 << 24
REPEATS = 4
"""Calls with the same arguments, which show results that are remembered and memory that grows."""
LEAST_SECONDS_ON_CLOCK = 60.0
"""Of all cases, however busy the machine is."""
MOST_WRONG = 3
"""Cases with wrong results after which nothing more is to be learned."""


def judge(
    submission: str, reference: str, settings: Settings = DEFAULT, starter: Starter | None = None,
    files: tuple[str, str] | None = None,
) -> Verdict:  # fmt: skip
    """Judges a file against a reference's file. Both stay as they are. starter: what starts processes; many verdicts
    share one. files: where both lie, if the verdict is to name other places.

    Returns: the verdict; whatever the submission does is part of it.
    Raises: OSError: the submission's file cannot be read, or no process can be started.
    """
    files = files or (submission, reference)
    with open(files[0], encoding="utf-8", errors="replace") as file:
        text = file.read()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # inputs are small, and other verdicts may be made beside this one
    try:
        with contextlib.nullcontext(starter) if starter else Starter() as started:
            return _Judging(submission, reference, text, settings, started).run(files[1])
    finally:
        torch.set_num_threads(threads)


class _Judging:
    def __init__(self, submission: str, reference: str, text: str, settings: Settings, starter: Starter) -> None:
        self.text, self.settings, self.starter = text, settings, starter
        self.name = os.path.basename(submission)
        self.made = Verdict(submission, reference, seed=settings.seed)
        self.worker: Worker
        self.problem: Problem
        self.seen: dict[tuple, tuple[list[torch.Tensor], list[torch.Tensor]]] = {}
        """By shapes of arguments: what came out, and what was expected."""
        self.unexplained: list[dict[str, Any]] | None = None
        """Of the first example: arguments with numbers that nothing explains."""
        self.replies: list[tuple[Case, list[Any], oracle.Answer, dict[str, Any], list[torch.Tensor]]] = []
        """Recorded calls that the verifier is to run."""

    def run(self, reference: str) -> Verdict:
        """reference: where its file lies."""
        started = time.monotonic()
        made = self.made
        try:
            self.problem = problem_of(reference, self.text, self.settings.entry)
            made.convention, made.entry = self.problem.convention, self.problem.entry
            for reason in evidence.of_hints(text_checks.hints(self.text)):
                self.add(reason)
            inputs = Inputs(self.problem, self.text, self.settings.seed)
            with Worker(self.starter, self.settings.limits) as self.worker:
                if self._load():
                    self._cases(inputs)
        except BadProblem as error:
            self.add(Reason(NOT_JUDGED, "judge-problem", str(error).replace(reference, made.reference)))
        except _Stop:
            pass
        except WorkerEnded as error:
            self.add(self._of_end(error, self.made.entry or self.name))
        except StarterEnded as error:
            self.add(Reason(NOT_JUDGED, "judge-busy", f"nothing could be run: {error.strerror}"))
        if self.replies:
            self._verify()
        made.seconds = time.monotonic() - started
        made.decide()
        return made

    def add(self, reason: Reason, case: Case | None = None, args: Any = None) -> None:
        """Adds a reason with its place, its inputs and the command that shows it again."""
        reason.file = self._own_file(reason.file)
        reason.source = self._source(reason)
        command = f"tiletwin judge {self.made.submission} --reference {self.made.reference}"
        command += "".join(f" --target {name}" for name in self.settings.targets)
        if self.settings.seed:
            command += f" --seed {self.settings.seed}"
        if case is not None:
            reason.case, command = case.number, f"{command} --case {case.number}"
            reason.inputs = f"{case.what}: {described(args)}" if args is not None else case.what
        reason.command = command
        self.made.add(reason)

    def _own_file(self, file: str) -> str:
        """The submission lies in another folder while it runs."""
        return self.made.submission if not file or os.path.basename(file) == self.name else file

    def _source(self, reason: Reason) -> str:
        lines = self.text.splitlines()
        is_own = reason.file == self.made.submission and 0 < reason.line <= len(lines)
        return lines[reason.line - 1].strip() if is_own else ""

    def _of_end(self, error: WorkerEnded, what: str) -> Reason:
        """A machine that is too busy is nobody's mistake."""
        return Reason(NOT_JUDGED if error.why == "busy" else BROKEN, f"judge-{error.why}", f"{what}: {error}")

    def _load(self) -> bool:
        packer = frames.Packer()
        weights = packer.tree(self.problem.weights)
        makes = None if self.problem.makes is None else packer.tree(self.problem.makes)
        head = {
            "do": "load", "name": self.name, "text": self.text, "entry": self.problem.entry, "makes": makes,
            "weights": weights, "seed": 0,
        }  # fmt: skip
        said, _ = self.worker.ask(head, packer.storages, self.settings.load_seconds)
        self.made.isolation, self.made.open = list(said["layers"]), list(said["missing"])
        self._take_events(said)
        failed = said["failed"]
        if failed is not None:
            text = f"it cannot be loaded: {failed['kind']}: {failed['text']}"
            self.add(Reason(BROKEN, "judge-load", text, line=int(failed["line"])))
        return failed is None

    def _take_events(self, said: dict[str, Any]) -> None:
        for reason in (*evidence.of_events(said["events"]), *evidence.of_replaced(said["replaced"], self.text)):
            self.add(reason)

    # ---- cases ----

    def _cases(self, inputs: Inputs) -> None:
        began, spent_before = time.monotonic(), self._spent()
        for case in inputs.cases():
            if self.settings.case not in (-1, case.number):
                continue
            spent, passed = self._spent() - spent_before, time.monotonic() - began
            is_late = passed > max(LEAST_SECONDS_ON_CLOCK, WALL_FACTOR * self.settings.seconds)
            if (spent > self.settings.seconds or is_late) and case.number > 1 and self.settings.case < 0:
                if is_late:
                    text = f"a busy machine: cases got {spent:.1f} s of a processor in {passed:.0f} s"
                    self.add(Reason("", "judge-busy", text))
                break
            if self.settings.most and len(self.made.cases) >= self.settings.most:
                break
            if sum(one.outcome in (WRONG, "failed") for one in self.made.cases) >= MOST_WRONG:
                break
            if case.number > 1 and any(reason.verdict == CHEATING for reason in self.made.reasons):
                break
            try:
                args = inputs.arguments(case)
                answer = oracle.answer(self.problem, args, self.settings.seed, case.seed)
            except (oracle.Refused, ValueError) as error:
                if case.is_example:
                    raise BadProblem(f"the reference does not take its own example: {error}") from None
                self.made.refused += 1
                continue
            for note in answer.notes:
                self.add(Reason("", "judge-bounds", note))
            self._case(case, args, answer)

    def _spent(self) -> float:
        """Seconds of a processor: of this thread and of the worker."""
        return time.thread_time() + self.worker.processor()

    def _ask(
        self, case: Case, args: list[Any], answer: oracle.Answer, records: bool, repeats: int = 0
    ) -> tuple[dict, list[torch.Tensor]]:
        packer = frames.Packer()
        head = {
            "do": "run", "args": packer.tree(args), "gradients": answer.wanted, "seed": self.settings.seed,
            "records": records,
            "cotangents": packer.tree(answer.cotangents), "repeats": repeats,
        }  # fmt: skip
        most = max(self.settings.case_seconds, self.settings.seconds)
        return self.worker.ask(head, packer.storages, most)

    def _case(self, case: Case, args: list[Any], answer: oracle.Answer) -> None:
        started = time.monotonic()
        records = case.is_example and bytes_of(args) <= MOST_RECORDED_BYTES
        one = Judged(case.number, case.way, case.what, case.seed, described(args), "right", 0.0)
        self.made.cases.append(one)
        try:
            said, storages = self._ask(case, args, answer, records)
        except WorkerEnded as error:
            one.outcome = "failed"
            self.add(self._of_end(error, self.problem.entry), case, args)
            raise _Stop from None
        finally:
            one.seconds = time.monotonic() - started
        self._take_events(said)
        self.made.launches += int(said["launched"])
        failed = said["failed"]
        if failed is not None:
            one.outcome = self._failed(case, args, failed)
            return
        try:
            one.outcome = self._judged(case, args, answer, said, storages, one)
        except frames.BadMessage as error:
            one.outcome = "failed"
            self.add(Reason(BROKEN, "judge-message", f"its results cannot be read: {error}"), case, args)
            return
        if case.number == 0:
            again, _ = self._ask(case, args, answer, False, REPEATS)
            for reason in evidence.of_repeats(again, int(said["launched"]), REPEATS):
                self.add(reason, case, args)
        if records:
            self.replies.append((case, args, answer, said, storages))
        elif one.outcome == WRONG and bytes_of(args) <= MOST_RECORDED_BYTES:
            with contextlib.suppress(WorkerEnded):
                said, storages = self._ask(case, args, answer, True)
                if said["failed"] is None:
                    self.replies.append((case, args, answer, said, storages))

    def _failed(self, case: Case, args: list[Any], failed: dict[str, Any]) -> str:
        place: dict[str, Any] = {"file": failed.get("file", ""), "line": int(failed["line"] or 0)}
        text = f"{failed['kind']}: {failed['text'].splitlines()[0] if failed['text'] else ''}"
        program = tuple(failed.get("program", ()))
        if any(kind in failed["kinds"] for kind in _KERNEL_FAULTS):
            self.add(Reason(WRONG, "error", text, program=program, **place), case, args)
            return "failed"
        if (case.is_example and not case.sizes) or not any(kind in failed["kinds"] for kind in _REFUSALS):
            self.add(Reason(BROKEN, "judge-error", text, **place), case, args)
            return "failed"
        self.add(Reason("", "judge-declined", f"declines inputs unlike the examples: {text}", **place), case, args)
        return "declined"

    def _judged(
        self, case: Case, args: list[Any], answer: oracle.Answer, said: dict[str, Any], storages: list[torch.Tensor],
        one: Judged,
    ) -> str:  # fmt: skip
        got = results_of(said, storages)
        after = tensors_of(frames.unpacked(said["after"], storages))
        outcome = "right"
        before = frames.Packer()
        tree = before.tree(args)
        before.tree(answer.cotangents)
        if len(after) != len(before.storages) or any(a.numel() != b.numel() for a, b in zip(after, before.storages)):
            raise frames.BadMessage("other memory came back than was sent")
        changed = tensors_of(frames.unpacked(tree, after))
        expected = answer.results
        got = [*got, *(changed[i] for i in answer.written)]
        if len(got) != len(expected):
            text = f"gives {len(got)} tensors, and the reference {len(expected)}"
            self.add(Reason(WRONG, "judge-value", text), case, args)
            return WRONG
        for value, wanted in zip(got, expected):
            found = compare(wanted, value)
            self.made.atol, self.made.rtol = max(self.made.atol, found.atol), max(self.made.rtol, found.rtol)
            one.worst = max(one.worst, found.worst)
            if found.problem or found.wrong:
                outcome = WRONG
                self.add(self._wrong(found, wanted, case, got), case, args)
        for i, (now, then) in enumerate(zip(changed, tensors_of(args))):
            if i not in answer.written and not torch.equal(raw(now), raw(then)):
                outcome = WRONG
                text = (
                    f"writes its input: argument {i} holds other numbers afterwards, and the reference leaves it alone"
                )
                self.add(Reason(WRONG, "judge-input-written", text), case, args)
        self.made.worst = max(self.made.worst, one.worst)
        self._beside_values(case, args, answer, said, got, outcome)
        return outcome

    def _wrong(self, found: Comparison, wanted: oracle.Expected, case: Case, got: list[torch.Tensor]) -> Reason:
        if found.problem:
            return Reason(WRONG, "judge-value", f"the {found.name} {found.problem}")
        text = (
            f"{found.wrong} of {found.elements} elements of the {found.name} are wrong: {list(found.first)} is "
            f"{found.got:.9g}, expected {found.expected:.9g} ± {found.bound:.2g}"
        )
        return Reason(WRONG, "judge-value", text, element=found.first)

    def _beside_values(
        self, case: Case, args: list[Any], answer: oracle.Answer, said: dict[str, Any], got: list[torch.Tensor],
        outcome: str,
    ) -> None:  # fmt: skip
        elements = sum(value.numel() for value in got)
        for reason in evidence.of_library(said["operations"], answer.work, int(said["launched"]), elements):
            self.add(reason, case, args)
        lows = [wanted.low for wanted in answer.results]
        if not said["launched"] and not are_filled(lows):
            self.add(evidence.of_no_launch(self.problem.entry, outcome == "right"), case, args)
        shapes = tuple((tuple(t.shape), str(t.dtype)) for t in tensors_of(args))
        earlier = self.seen.get(shapes)
        if earlier is None:
            self.seen[shapes] = (got, lows)
        elif outcome == WRONG and not are_filled(got) and equal(got, earlier[0]) and not equal(lows, earlier[1]):
            text = "results are remembered: other numbers of the same shapes give the results of an earlier call"
            self.add(Reason(CHEATING, "judge-remembered", text), case, args)

    # ---- what the verifier says ----

    def _verify(self) -> None:
        try:
            with Worker(self.starter, self.settings.limits, "tiletwin.judge.verifier") as verifier:
                for reply in self.replies[: 2 + MOST_WRONG]:
                    self._verify_one(verifier, *reply)
        except (WorkerEnded, StarterEnded) as error:
            self.add(Reason("", "judge-verifier", f"the launches could not be run once more: {error}"))

    def _verify_one(
        self, verifier: Worker, case: Case, args: list[Any], answer: oracle.Answer, said: dict[str, Any],
        storages: list[torch.Tensor],
    ) -> None:  # fmt: skip
        from tiletwin.judge.verifier import CHECKS

        count = int(said["count"])
        packer = frames.Packer()
        packer.tree([args, self.problem.weights, answer.cotangents])
        leaves = leaf_tensors(said["results"])
        names = [wanted.name for wanted in answer.results]
        head = {
            "do": "verify", "launches": said["launches"], "given": len(packer.storages), "checks": CHECKS,
            "targets": list(self.settings.targets),
            "results": {"list": leaves}, "stored": [leaf["tensor"][1] for leaf in leaves], "places": said["places"],
            "asked": self._asked(case, leaves, names),
        }  # fmt: skip
        memory = [*storages[count:], *packer.storages, *storages[:count]]
        told, _ = verifier.ask(head, memory, max(self.settings.case_seconds, self.settings.seconds))
        work = sum(row[3] for row in said["operations"])
        complete = not told["problems"] and not said["unrecorded"] and len(said["launches"]) == said["launched"]
        for why in (*said["unrecorded"], *told["problems"]):
            self.add(Reason("", "judge-unrecorded", f"a launch was not run once more: {why}"), case, args)
        for reason in evidence.of_findings(told["findings"]):
            self.add(reason, case, args)
        are_right = all(one.outcome == "right" for one in self.made.cases if one.number == case.number)
        if complete and said["launched"]:
            for reason in evidence.of_results(told["results"], names, work, are_right):
                self.add(reason, case, args)
            if case.is_example and self.unexplained is not None:
                for reason in evidence.of_inputs(told["unexplained"], self.unexplained, work):
                    self.add(reason)
            self.unexplained = told["unexplained"]
        for number, one in enumerate(told["results"]):
            if one["writer"] is not None:
                self._place_writer(case, names[number], one["writer"])

    def _asked(self, case: Case, leaves: list[Any], names: list[str]) -> dict[str, int]:
        """Of each result with a wrong element: where that begins in its storage."""
        asked = {}
        for reason in self.made.reasons:
            if reason.case == case.number and reason.rule == "judge-value" and reason.element:
                for number, (leaf, name) in enumerate(zip(leaves, names)):
                    kind, _, offset, _, strides = leaf["tensor"]
                    if f"of the {name} are" in reason.text and len(strides) == len(reason.element):
                        at = offset + sum(i * s for i, s in zip(reason.element, strides))
                        asked[str(number)] = at * frames.TYPES[kind].itemsize
        return asked

    def _place_writer(self, case: Case, name: str, writer: list[Any]) -> None:
        kernel, program, file, line = writer
        for reason in self.made.reasons:
            if reason.case == case.number and reason.rule == "judge-value" and f"of the {name} are" in reason.text:
                reason.kernel, reason.program, reason.line = kernel, tuple(program), int(line)
                reason.file = self._own_file(file)
                reason.source = self._source(reason)


class _Stop(WorkerEnded):
    """The worker has ended, and the reason is given."""

    def __init__(self) -> None:
        super().__init__("stop", "")
