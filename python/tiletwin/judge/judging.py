"""The judge: runs cases of a problem on a submission until the time is spent, and says what it makes of them.

Here:      the order of things, what each answer of the worker means.
Not here:  the sandbox and the worker (process.py, worker.py), the oracle, evidence beyond values (evidence.py), whether
           kernels make the results (proving.py).
Invariant: the worker never sees the reference, its results or this process. What it says is compared here, or run once
           more in the verifier.
"""

from __future__ import annotations

import contextlib
import functools
import os
import time
import zlib
from collections.abc import Iterable
from typing import Any

import torch

from tiletwin.judge import answers, evidence, frames, oracle, relations, text_checks
from tiletwin.judge.asking import Asking
from tiletwin.judge.comparing import Comparison, compare
from tiletwin.judge.conventions import problem_of
from tiletwin.judge.file_inputs import inputs_of
from tiletwin.judge.inputs import NEGATIVE, Case, Inputs, tensors_of
from tiletwin.judge.problem import Problem
from tiletwin.judge.process import WALL_FACTOR, Worker, WorkerEnded
from tiletwin.judge.proving import Proof, Reply
from tiletwin.judge.reporting import Report
from tiletwin.judge.results import are_filled, bytes_of, described, equal, raw, results_of
from tiletwin.judge.schema import BadProblem
from tiletwin.judge.scripts import divided
from tiletwin.judge.settings import DEFAULT, Settings
from tiletwin.judge.starter import Starter, StarterEnded
from tiletwin.judge.untouched import untouched
from tiletwin.judge.verdict import Verdict
from tiletwin.judge.verdicts import BROKEN, CHEATING, NOT_JUDGED, WRONG, Judged, Reason

SPOILED_SECONDS = 5.0
MOST_RECORDED_BYTES, MOST_TRACED_BYTES = 1 << 24, 1 << 20
"""Of arguments: of an example that is recorded, and of another case."""
_UNBOUNDED = ("values", "special")
"""Ways of which numbers without a bound are usual: they overflow, or decide what rounding decides."""
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
        report = Report(self.made, text, self.name, settings)
        self.add, self.proof = report.add, Proof(report)
        self.worker: Worker
        self.problem: Problem
        self.inputs: Inputs
        self.usual_work = 0.0
        """Of the reference, for the first example."""
        self.base: tuple[oracle.Answer, list[torch.Tensor]] | None = None
        """What is expected of the first case, and what came out."""
        self.seen: dict[tuple, tuple[list[torch.Tensor], list[torch.Tensor]]] = {}
        """By shapes of arguments: what came out, and what was expected."""
        self.open: set[str] = set()
        """Results of which it has been said that elements are not judged."""
        self.wrong: set[str] = set()
        """Results of the last case that are wrong."""
        self.traced = 2 + zlib.crc32(f"{settings.seed} {text}".encode()) % 6
        """Of the cases that are no examples the one whose results are traced too; the submission cannot know it."""
        self.reference_launches = False
        """Whether the reference is made of kernels itself."""
        self.example: Reply | None = None
        """The first call."""

    def run(self, reference: str) -> Verdict:
        """reference: where its file lies."""
        started, began = time.monotonic(), time.thread_time()
        made = self.made
        try:
            self.problem = problem_of(reference, self.text, self.settings.entry)
            made.convention, made.entry = self.problem.convention, self.problem.entry
            self._add_all(evidence.of_hints(text_checks.hints(self.text)))
            inputs = inputs_of(self.problem, self.text, self.settings.seed)
            if inputs.note:
                text = f"the reference's sizes are for a GPU; the example is run with {inputs.note}"
                self.add(Reason("", "judge-smaller", text))
            if self.problem.note:
                self.add(Reason("", "judge-sizes", self.problem.note))
            with Worker(self.starter, self.settings.limits) as self.worker:
                if self._load():
                    self._cases(inputs)
                    if self.example and not any(reason.verdict for reason in made.reasons):
                        self._look_at_spoiled(self.example)
                made.processor = self._spent() - began
        except BadProblem as error:
            self.add(Reason(NOT_JUDGED, "judge-problem", str(error).replace(reference, made.reference)))
        except _Stop:
            pass
        except WorkerEnded as error:
            self.add(self._of_end(error, self.made.entry or self.name))
        except StarterEnded as error:
            self.add(Reason(NOT_JUDGED, "judge-busy", f"nothing could be run: {error.strerror}"))
        self.proof.verify(self.starter)
        self._add_all((*self.proof.of_gaps(), *evidence.of_special(made.cases)))
        made.seconds = time.monotonic() - started
        made.decide()
        return made

    def _of_end(self, error: WorkerEnded, what: str) -> Reason:
        """A machine that is too busy is nobody's mistake."""
        return Reason(NOT_JUDGED if error.why == "busy" else BROKEN, f"judge-{error.why}", f"{what}: {error}")

    def _load(self) -> bool:
        called = self.problem.calls or self.problem
        text = divided(self.text)[0] if self.problem.tests else self.text
        head = {"do": "load", "name": self.name, "text": text, "entry": called.entry, "tests": self.problem.tests}
        said, _ = self.worker.ask(head, [], self.settings.load_seconds, answers.Loaded)
        self.made.isolation, self.made.open = list(said["layers"]), list(said["missing"])
        self._take_events(said)
        failed = said["failed"] or self._make(self.problem)
        if failed is not None:
            text = f"it cannot be loaded: {evidence.words_of(failed)}"
            self.add(Reason(BROKEN, "judge-load", text, line=int(failed["line"])))
        return failed is None

    def _make(self, problem: Problem) -> dict[str, Any] | None:
        """Has the worker make the module that a problem calls, and says how that failed."""
        self.problem = problem
        packer = frames.Packer()
        makes = None if problem.makes is None else packer.tree(problem.makes)
        weights = packer.tree(problem.weights)
        head = {"do": "make", "makes": makes, "weights": weights, "tests": problem.tests, "seed": 0}
        said, _ = self.worker.ask(head, packer.storages, self.settings.load_seconds, answers.Made)
        self._take_events(said)
        return said["failed"]

    def _take_events(self, said: dict[str, Any]) -> None:
        self._add_all((*evidence.of_events(said["events"]), *evidence.of_replaced(said["replaced"], self.text)))

    def _add_all(self, reasons: Iterable[Reason]) -> None:
        for reason in reasons:
            self.add(reason)

    # ---- cases ----

    def _cases(self, inputs: Inputs) -> None:
        self.inputs = inputs
        asking = Asking(inputs, self.settings.seed)
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
                problem, args, answer = asking.of(case, self.base[0] if self.base else None)
            except (oracle.Refused, ValueError) as error:
                if case.number == 0:
                    raise BadProblem(f"the reference does not take its own example: {error}") from None
                self.made.refused += 1
                continue
            if answer.note and not any(reason.rule == "judge-bounds" for reason in self.made.reasons):
                self.add(Reason("", "judge-bounds", answer.note))
            self._case(problem, case, args, answer)

    def _spent(self) -> float:
        """Seconds of a processor: of this thread and of the worker."""
        return time.thread_time() + self.worker.processor()

    def _ask(
        self, case: Case, args: list[Any], answer: oracle.Answer, records: bool, repeats: int = 0, spoils: bool = False
    ) -> tuple[dict, list[torch.Tensor]]:
        packer = frames.Packer()
        head = {
            "do": "run", "args": packer.tree(args), "gradients": answer.wanted, "seed": self.settings.seed,
            "records": records,
            "cotangents": packer.tree(answer.cotangents), "repeats": repeats, "spoils": spoils,
            "numpy": self.problem.schema.numpy, "negative": case.word == NEGATIVE,
        }  # fmt: skip
        most = SPOILED_SECONDS if spoils else self.settings.call_seconds(answer.seconds) * (1 + repeats)
        return self.worker.ask(head, packer.storages, most, answers.Ran)

    def _case(self, problem: Problem, case: Case, args: list[Any], answer: oracle.Answer) -> None:
        started = time.monotonic()
        most = MOST_RECORDED_BYTES if case.is_example else MOST_TRACED_BYTES
        records = (case.is_example or case.number == self.traced) and bytes_of(args) <= most
        one = Judged(case.number, case.way, case.what, case.seed, described(args), "right", 0.0)
        self.made.cases.append(one)
        try:
            failed = None if problem is self.problem else self._make(problem)
            if failed is not None:
                one.outcome = self._failed(case, args, failed)
                return
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
        except (frames.BadMessage, RuntimeError, MemoryError) as error:  # torch refuses what no kernel gives
            one.outcome = "failed"
            self.add(Reason(BROKEN, "judge-message", f"its results cannot be read: {error}"), case, args)
            return
        reply = Reply(problem, case, args, answer, said, storages, frozenset(self.wrong))
        self.example = self.example or reply
        if self.example is reply and not problem.tests:
            again, _ = self._ask(case, args, answer, False, REPEATS)
            for reason in evidence.of_repeats(again, int(said["launched"]), REPEATS):
                self.add(reason, case, args)
        if records:
            self.proof.replies.append(reply)
        elif one.outcome == WRONG and bytes_of(args) <= MOST_RECORDED_BYTES:
            with contextlib.suppress(WorkerEnded):
                said, storages = self._ask(case, args, answer, True)
                if said["failed"] is None:
                    self.proof.replies.append(Reply(problem, case, args, answer, said, storages, reply.wrong))

    def _look_at_spoiled(self, reply: Reply) -> None:
        """Which results stay as they are when what kernels store is ruined. Kernels may do anything with that."""
        with contextlib.suppress(WorkerEnded, frames.BadMessage):
            if reply.problem is self.problem or self._make(reply.problem) is None:
                said, storages = self._ask(reply.case, reply.args, reply.answer, False, spoils=True)
                if said["failed"] is None and not said["unspoiled"]:
                    again = Reply(reply.problem, reply.case, reply.args, reply.answer, said, storages)
                    before, after = (
                        tensors_of(frames.unpacked({"list": one.leaves()}, one.storages)) for one in (reply, again)
                    )
                    self.proof.unchanged = [equal([a], [b]) for a, b in zip(before, after)]

    def _failed(self, case: Case, args: list[Any], failed: dict[str, Any]) -> str:
        reason = evidence.of_failure(failed, case.is_example and not case.sizes)
        self.add(reason, case, args)
        return "failed" if reason.verdict else "declined"

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
        self.wrong = set()
        got = [*got, *(changed[i] for i in answer.written)]
        if len(got) != len(answer.results):
            text = f"gives {len(got)} tensors, and the reference {len(answer.results)}"
            self.add(Reason(WRONG, "judge-value", text), case, args)
            self.wrong = {wanted.name for wanted in answer.results}
            return WRONG
        for found in self._compared(case, args, answer, got):
            if found.open and not case.is_empty and case.way not in _UNBOUNDED and found.name not in self.open:
                self.open.add(found.name)
                self.add(evidence.of_open(found), case, args)
            if case.way not in _UNBOUNDED:  # of numbers near the largest ones no tolerance says anything
                self.made.atol, self.made.rtol = max(self.made.atol, found.atol), max(self.made.rtol, found.rtol)
            one.worst = max(one.worst, found.worst)
            if found.problem or found.wrong:
                outcome = WRONG
                self.wrong.add(found.name)
                self.add(evidence.of_wrong(found, case, answer.draws), case, args)
        for i, (now, then) in enumerate(zip(changed, tensors_of(args))):
            if i not in answer.written and not torch.equal(raw(now), raw(then)):
                outcome = WRONG
                text = f"writes its input: argument {i} holds other numbers now, and the reference leaves it alone"
                self.add(Reason(WRONG, "judge-input-written", text), case, args)
        self.made.worst = max(self.made.worst, one.worst)
        if case.number == 0:
            self.base = answer, got
        elif case.way == "relations" and outcome == "right" and (told := self._breaks(case, answer, got)):
            outcome = WRONG
            text, element = told
            self.add(Reason(WRONG, "judge-relation", f"{case.what}: {text}", element=element), case, args)
        self._beside_values(case, args, answer, said, got, outcome)
        return outcome

    def _breaks(self, case: Case, answer: oracle.Answer, got: list[torch.Tensor]) -> tuple[str, tuple[int, ...]] | None:
        """What of a relation the submission does not follow."""
        relation = self.inputs.relations[int(case.word)]
        if self.base is None:  # this case alone is asked for
            args = self.inputs.base()
            expected = oracle.answer(self.problem, args, self.settings.seed, self.inputs.base_seed)
            said, storages = self._ask(case, args, expected, False)
            if said["failed"] is not None:
                return None
            self.base = expected, results_of(said, storages)
        before = self.base[0].results
        changes = relations.followed(relation, before, answer.results)
        return relations.broken(changes, before, answer.results, self.base[1], got) if changes else None

    def _compared(
        self, case: Case, args: list[Any], answer: oracle.Answer, got: list[torch.Tensor]
    ) -> list[Comparison]:
        if case.is_empty:
            for wanted in answer.results:
                wanted.bound = torch.where(wanted.exact.isnan(), torch.inf, wanted.bound)
        found = [compare(wanted, value) for value, wanted in zip(got, answer.results)]
        if case.way != "special" or not any(one.wrong for one in found):
            return found
        with contextlib.suppress(oracle.Refused):
            asked = functools.partial(oracle.answer, self.problem, seed=self.settings.seed, case_seed=case.seed)
            instead = untouched(args, asked)
            return [compare(*each) for each in zip(answer.results, got, instead)]
        return found

    def _beside_values(
        self, case: Case, args: list[Any], answer: oracle.Answer, said: dict[str, Any], got: list[torch.Tensor],
        outcome: str,
    ) -> None:  # fmt: skip
        elements = sum(value.numel() for value in got)
        self.usual_work = answer.work if case.number == 0 else self.usual_work
        for reason in evidence.of_library(said["operations"], answer, int(said["launched"]), elements, self.usual_work):
            self.add(reason, case, args)
        lows = [wanted.low for wanted in answer.results]
        self.reference_launches |= answer.launched > 0
        needs_none = self.reference_launches and not answer.launched
        if not said["launched"] and not needs_none and not are_filled(lows):
            self.add(evidence.of_no_launch(self.problem.entry, outcome == "right"), case, args)
        number = case.word if case.way == "scalars" else ""
        shapes = (number, *((tuple(t.shape), str(t.dtype)) for t in tensors_of(args)))
        earlier = self.seen.get(shapes)
        if any(value.shape != low.shape for value, low in zip(got, lows)):
            return
        if earlier is None:
            self.seen[shapes] = (got, lows)
        elif outcome == WRONG and not are_filled(got) and equal(got, earlier[0]) and not equal(lows, earlier[1]):
            text = "results are remembered: other numbers of the same shapes give the results of an earlier call"
            self.add(Reason(CHEATING, "judge-remembered", text), case, args)


class _Stop(WorkerEnded):
    """The worker has ended, and the reason is given."""

    def __init__(self) -> None:
        super().__init__("stop", "")
