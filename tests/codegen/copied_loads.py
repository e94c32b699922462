"""Launches of kernels on the simulator with loads as they are written and as copies, and which of the two a launch ran.

Here:      Runs. Not here: the kernels (copied_load_kernels.py), the tests.
Invariant: a launch is run anew each time: nothing that another one compiled is used.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import tiletwin as triton
import torch
from tiletwin import checks
from tiletwin.codegen import generator
from tiletwin.launch import sim_launch
from tiletwin.sim.check_words import CHECKS

_PATTERNS = {"loads": r"cp\.async\.c[ag]\.shared", "copies": r"cp\.async\.bulk\.tensor"}


class Runs:
    """launch: takes a kernel, a fresh JIT function, and launches it. out: what it writes."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, kernel: Any, launch: Callable[[Any], Any], out: torch.Tensor
    ) -> None:
        self._patch, self._kernel, self._launch, self._out = monkeypatch, kernel, launch, out
        self._before, self._generate = out.clone(), generator.generate
        monkeypatch.setenv("TILETWIN_BACKEND", "sim")
        monkeypatch.setattr(sim_launch, "chosen_checks", lambda _: CHECKS)

    def once(self, copied: bool, without: str = "") -> Any:
        """(the compiled kernel, the output's bytes). without: "loads" or "copies" may not be run by any program."""

        def generate(*arguments: Any) -> Any:
            made = self._generate(*arguments)
            if not without:
                return made
            lines = made.texts["ptx"].split("\n")
            lines = ["trap;" if re.search(_PATTERNS[without], line) else line for line in lines]
            return made._replace(texts=made.texts | {"ptx": "\n".join(lines)})

        self._out.copy_(self._before)
        self._patch.setenv("TILETWIN_COPIED_LOADS", "1" if copied else "0")
        self._patch.setattr(generator, "generate", generate)
        try:
            compiled = self._launch(triton.jit(self._kernel.fn))
        finally:
            self._patch.setattr(generator, "generate", self._generate)
        assert not checks.findings()
        return compiled, self._out.contiguous().view(torch.uint8).numpy().tobytes()

    def _runs(self, without: str) -> bool:
        try:
            self.once(True, without)
        except AssertionError as error:
            assert "the kernel ended itself with trap" in str(error)
            return False
        return True

    def path(self) -> str:
        """Asserts that both ways give the same bits, which the output has afterwards. "loads", "copies" or "both": what
        programs ran; "plain": the kernel has no copies."""
        (_, plain), (compiled, copied) = self.once(False), self.once(True)
        assert copied == plain
        if compiled.asm.launched is compiled.asm:
            return "plain"
        result = self._out.clone()
        ran = "copies" if self._runs("loads") else "loads" if self._runs("copies") else "both"
        self._out.copy_(result)
        return ran
