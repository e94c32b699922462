"""The process that runs a submission's recorded launches once more, without the submission: what they wrote, where, and
what checks find.

Here:      replaying, which program and line wrote an element, where the numbers that kernels read come from.
Not here:  recording (watching.py), what follows from it (evidence.py).
Idea:      a submission may lie about what it did. It cannot make the interpreter compute its results from kernels that
           do not compute them.
Invariant: no Python of a submission runs here. Kernels do, so the process is in the same sandbox.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from tiletwin.judge import program_threads, sandbox
from tiletwin.judge.worker import Server

CHECKS = "undefined,bounds,races,order,barriers,promises,overflow,nan"
MOST_SIMULATED = 1 << 20
"""Bytes of memory of a launch that the simulator runs."""
MOST_SCALARS = 4096
"""Numbers among arguments that are told."""
MOST_DERIVED = 1 << 22
"""Bytes of memory of a launch whose writers are derived."""


def main(folder: str, ask: str, answer: str, *limits: str) -> None:
    isolation = sandbox.enter(folder, sandbox.Limits(*map(int, limits)))
    with os.fdopen(int(ask), "rb") as source, os.fdopen(int(answer), "wb") as out:
        _Verifier(folder, isolation).serve(source, out)


class _Replayed:
    """A launch after its replay. after: bytes by storage; written: which of them some program wrote; read: numbers of
    the storages that programs may read."""

    def __init__(self, launch: Any, after: list[Any], written: list[Any], bounds: Any, kernel: str, line: int) -> None:
        self.launch, self.after, self.written, self.bounds = launch, after, written, bounds
        self.kernel, self.line = kernel, line
        effects = program_threads.effects_of(launch)
        self.read = set(range(len(launch.memory))) if effects is None else effects[0]


class _Verifier(Server):
    notes: list[str]
    """Of this question: what could not be looked at on a target."""

    def do_verify(self, head: dict[str, Any], storages: list[Any]) -> tuple[dict[str, Any], list[Any]]:
        """Replays launches. head: launches (kernel, line, places), places of the results' storages, results (as tensors
        of these), originals (what arguments among the results held before), asked (numbers of results and indices whose
        writers are wanted), inputs (tensors), checks."""
        from tiletwin.judge import frames, tracing

        files, memory, given = storages[: len(head["launches"])], storages[len(head["launches"]) :], head["given"]
        self.notes = []
        inputs, results = memory[:given], memory[given:]
        replayed, problems, findings = [], [], []
        for row, data in zip(head["launches"], files):
            try:
                replayed.append(self._replay(row, data, head["checks"], findings, head["targets"]))
            except Exception as error:  # the file is the submission's
                problems.append(f"{row.get('kernel')}: {type(error).__name__}: {error}")
                replayed.append(None)
        known = [data.numpy() for data in inputs]
        explained = tracing.unexplained_inputs([r for r in replayed if r], head["launches"], known)
        told = []
        originals = frames.unpacked(head["originals"], inputs)
        for number, tensor in enumerate(frames.unpacked(head["results"], results)):
            place, asked = head["places"][head["stored"][number]], head["asked"].get(str(number))
            of = tensor, place, replayed, head["launches"], asked, known, originals[number]
            told.append(tracing.of_result(*of))
        scalars = [number for one in replayed if one for number in tracing.scalars_of(one.launch)][:MOST_SCALARS]
        return {
            "problems": problems,
            "notes": self.notes,
            "scalars": scalars,
            "findings": findings,
            "unexplained": explained,
            "results": told,
        }, []

    def _on_targets(self, launch: Any, outcome: Any, targets: list[str]) -> list[Any]:
        """What named GPUs would refuse of the kernel, and what the simulator finds in its code for sm_90."""
        from types import SimpleNamespace

        from tiletwin import _C, checks, devices
        from tiletwin.diff.backends import SimBackend
        from tiletwin.diff.comparing import compare_launch

        found: list[Any] = []
        with checks.aside():
            for name in targets:
                if name != "sim":
                    module = _C.parse_ttir(launch.ttir, f"{launch.name}.ttir")
                    kernel = SimpleNamespace(options=launch.options, name=launch.name, module=module)
                    found += devices.examine(kernel, None, name)
                elif sum(data.size for data in launch.memory) <= MOST_SIMULATED:
                    backend = SimBackend()
                    report = compare_launch(launch, ["interp", backend], known={"interp": outcome}, localise=False)
                    ended = report.outcomes[1]
                    self.notes += [f"{launch.name} on the simulator: {why}" for why in [ended.unsupported] if why]
                    if report.verdict == "different":
                        self.notes.append(f"{launch.name}: the simulator gives other results: {ended.error or report}")
                    found += backend.examine(launch)
        return found

    def _replay(self, row: dict[str, Any], data: Any, words: str, findings: list[Any], targets: list[str]) -> _Replayed:
        import numpy as np

        from tiletwin import checks, variables
        from tiletwin.diff import files
        from tiletwin.diff.backends import InterpBackend
        from tiletwin.findings.results import of_finding

        path = os.path.join(self.folder, f"launch{files.SUFFIX}")
        with open(path, "wb") as out:
            out.write(data.numpy().tobytes())
        launch = files.read(path)
        variables.put("TILETWIN_CHECK", words or None)
        with checks.aside():
            outcome = InterpBackend().run(launch)
            found = checks.findings()
        variables.put("TILETWIN_CHECK", None)
        found += self._on_targets(launch, outcome, targets)
        if not outcome.error:
            between, why = program_threads.meetings(launch)
            found += between
            self.notes += [why] if why else []
        for finding in found:
            result = of_finding(finding)
            findings.append({
                "rule": result.rule, "message": result.message, "file": result.place.file, "line": result.place.line,
                "program": list(result.program or ()), "kernel": result.kernel or "", "advice": result.advice,
                "elements": [list(e) for e in finding.elements],
                "second": [finding.second.file, finding.second.line, finding.second.text] if finding.second else None,
            })  # fmt: skip
        if outcome.error or outcome.unsupported:
            raise RuntimeError(outcome.error or outcome.unsupported)
        written = [before != after for before, after in zip(launch.memory, outcome.memory)]
        for _, array in launch.arrays():  # an element with one byte that has changed was written
            part = written[array.storage][array.offset % array.item :]
            rows = part[: part.size // array.item * array.item].reshape(-1, array.item)
            rows |= rows.any(1, keepdims=True)
        derived = _derived(launch)
        if derived is not None:
            for _, array in launch.arrays():
                writers = derived.writers.get(array.storage)
                if writers is not None:
                    shift = array.offset % array.item
                    marks = np.repeat(writers > 0, array.item)
                    written[array.storage][shift : shift + marks.size] |= marks
        return _Replayed(launch, outcome.memory, written, derived, launch.name, int(row.get("line") or 0))


def _derived(launch: Any) -> Any:
    """Bounds of a launch, with who wrote what; None: there are none. The kernel that computes them runs its programs
    one by one to their ends, so those that wait for each other would never end."""
    from tiletwin import _C
    from tiletwin.diff import bounds
    from tiletwin.diff.backends import Latitude

    if sum(data.size for data in launch.memory) > MOST_DERIVED:
        return None
    if _C.parse_ttir(launch.ttir, f"{launch.name}.ttir").plan()["may_wait"]:
        return None
    try:
        return bounds.derive(launch, Latitude())
    except bounds.NoBounds:
        return None


if __name__ == "__main__":
    main(*sys.argv[1:])
