"""What the verifier is asked of a recorded call, and which reasons are about which result.

Here:      one recorded call, the question that it makes.
Not here:  asking (judging.py), answering (verifier.py), what follows (evidence.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from tiletwin.judge import frames
from tiletwin.judge.inputs import Case
from tiletwin.judge.oracle import Answer
from tiletwin.judge.problem import Problem
from tiletwin.judge.results import leaf_tensors
from tiletwin.judge.verdicts import Reason
from tiletwin.judge.verifier import CHECKS


@dataclass
class Reply:
    """said, storages: what the worker answered."""

    problem: Problem
    case: Case
    args: list[Any]
    answer: Answer
    said: dict[str, Any]
    storages: list[torch.Tensor]

    @property
    def names(self) -> list[str]:
        """Of the results and of the arguments that are results."""
        return [wanted.name for wanted in self.answer.results]

    @property
    def work(self) -> float:
        """That torch did."""
        return sum(row[3] for row in self.said["operations"])

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
            is_value = reason.case == self.case.number and reason.rule == "judge-value" and reason.element
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
