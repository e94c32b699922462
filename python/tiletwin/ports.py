"""What modules ask of layers above their own. A port is declared here and called below; wiring.py connects it above.

Here:      the list of ports.
Not here:  what they lead to (wiring.py).
Invariant: nothing that a port leads to is imported before the port is called.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any


class Port:
    """A function of a layer above. It is looked up at each call, so a replacement in its module takes effect."""

    def __init__(self) -> None:
        self._place = ("", "")

    def connect(self, place: str) -> None:
        """place: "module:name" of the function."""
        module, _, name = place.partition(":")
        self._place = (module, name)

    def function(self) -> Callable[..., Any]:
        module, name = self._place
        return getattr(importlib.import_module(module), name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function()(*args, **kwargs)


benchmark = Port()
"""Times a call; what a driver gives as its benchmarker."""
cast = Port()
"""tl.cast, which a dtype that is called stands for."""
compile_function = Port()
"""The compiled kernel of a launch's specialization."""
compiler_names = Port()
"""(CompiledKernel, compile, ASTSource, the backend of a target), as Triton keeps them on a kernel."""
call_at_prompt = Port()
"""What a jit function gives that is called outside of kernels."""
loaded_kernel = Port()
"""A compiled kernel on the current GPU."""
eager_function = Port()
"""The function that Python runs in place of a jit function."""
launch_seconds = Port()
"""How long a launch would take on an H200 of which the simulator has counted a part."""
jit_page = Port()
"""HTML of a jit function, for notebooks."""
compiled_page = Port()
"""The same of a compiled kernel."""
report_text = Port()
"""A report of the differential tester as text."""
report_page = Port()
"""The same as HTML."""
recording_page = Port()
"""A recording, or a part of one, as HTML."""
value_text = Port()
"""A value of a recording in one line."""
