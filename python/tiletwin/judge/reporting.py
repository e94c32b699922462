"""A verdict while it is made: each reason gets its place, its inputs and the command that shows it again.

Not here:  which reasons there are (judging.py, evidence.py), how they are shown (verdict.py).
"""

from __future__ import annotations

import os
import re
from typing import Any

from tiletwin.judge import answers
from tiletwin.judge.inputs import Case
from tiletwin.judge.results import described
from tiletwin.judge.settings import Settings
from tiletwin.judge.verdict import Verdict
from tiletwin.judge.verdicts import Reason


class Report:
    """made: the verdict. text: the submission's. name: of the submission's file, whatever folder it lies in."""

    def __init__(self, made: Verdict, text: str, name: str, settings: Settings) -> None:
        self.made, self.text, self.name, self.settings = made, text, name, settings

    def add(self, reason: Reason, case: Case | None = None, args: Any = None) -> None:
        """Adds a reason with its place, its inputs and the command that shows it again."""
        reason.text, reason.kernel = answers.shown(self._placed(reason.text)), answers.shown(reason.kernel)
        reason.file = self.own_file(answers.shown(reason.file))
        reason.source = self.source(reason)
        command = f"tiletwin judge {self.made.submission} --reference {self.made.reference}"
        command += "".join(f" --target {name}" for name in self.settings.targets)
        if self.settings.seed:
            command += f" --seed {self.settings.seed}"
        if case is not None:
            reason.case, command = case.number, f"{command} --case {case.number}"
            reason.inputs = f"{case.what}: {described(args)}" if args else case.what
        reason.command = command
        self.made.add(reason)

    def _placed(self, text: str) -> str:
        """A text that names the submission where the user has it."""
        there = rf"[^\s\"'()\[\]]*/worker-[^/\s]+/{re.escape(self.name)}"
        return re.sub(there, lambda _: self.made.submission, text)

    def own_file(self, file: str) -> str:
        """The submission lies in another folder while it runs."""
        return self.made.submission if not file or os.path.basename(file) == self.name else file

    def source(self, reason: Reason) -> str:
        """The line that a reason names."""
        lines = self.text.splitlines()
        is_own = reason.file == self.made.submission and 0 < reason.line <= len(lines)
        return lines[reason.line - 1].strip() if is_own else ""
