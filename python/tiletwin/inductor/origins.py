"""Lines of the model that a generated kernel comes from: written beside each call of a kernel, and read there.

Here:      the comment in the code that Inductor generates, and what makes Inductor's caches tell lines apart.
Not here:  who asks for the lines (tiletwin/origins.py), launches (kernels.py).
Invariant: a kernel's lines are those of the nodes that Inductor fused into this call of it. The comment is part of the
           text that Inductor caches; a graph that other lines made is another entry of the cache.
"""

from __future__ import annotations

import functools
import json
import linecache
import os
import re
import sys
from collections.abc import Callable, Iterable
from types import FrameType, ModuleType
from typing import Any

from tiletwin.origins import Origin

_COMMENT = "# Lines of the script: "
_FRAME = re.compile(r'File "([^"]*)", line (\d+), in [^\n]*(?:\n    ([^\n]*))?')


def origin_of(node: Any) -> Origin | None:
    """The innermost line outside of torch of an FX node; None: nobody noted where the node comes from."""
    frames = [Origin(file, int(line), text.strip()) for file, line, text in _frames(node)]
    outside = [frame for frame in frames if not frame.file.startswith(_torch_folder())]
    return (outside or frames or [None])[-1]


def _frames(node: Any) -> list[tuple[str, str, str]]:
    return _FRAME.findall(node.meta.get("stack_trace") or "")


@functools.cache
def _torch_folder() -> str:
    return os.path.dirname(sys.modules["torch"].__file__ or "") + os.sep


def _origins(nodes: Iterable[Any]) -> list[Origin]:
    """Each line once, in the order of the nodes."""
    return list(dict.fromkeys(origin for node in nodes if (origin := origin_of(node)) is not None))


def patch_comments(module: ModuleType) -> None:
    """torch._inductor.codegen.triton: a comment before each call."""
    triton: Any = module
    comment = triton.TritonScheduling.codegen_comment

    @functools.wraps(comment)
    def comment_with_lines(self: Any, node_schedule: Any, kernel_name: Any = None) -> None:
        comment(self, node_schedule, kernel_name)
        parts = [part for node in node_schedule for part in getattr(node, "get_nodes", lambda node=node: [node])()]
        nodes = {origin for part in parts for origin in getattr(getattr(part, "node", None), "origins", ())}
        triton.V.graph.wrapper_code.make_comment(_COMMENT + json.dumps(_origins(sorted(nodes))))

    triton.TritonScheduling.codegen_comment = comment_with_lines


def patch_keys(module: ModuleType) -> None:
    """torch._inductor.codecache: a graph's key in the caches."""
    Details: Any = module.FxGraphHashDetails  # type: ignore[attr-defined]
    init = Details.__init__

    @functools.wraps(init)
    def init_with_lines(self: Any, gm: Any, *args: Any, **kwargs: Any) -> None:
        init(self, gm, *args, **kwargs)
        self.lines_of_the_script = [tuple(origin) for origin in _origins(gm.graph.nodes)]

    Details.__init__ = init_with_lines


def at_call(kernel: str) -> Callable[[], tuple[Origin, ...]]:
    """What reads the lines of the call of a kernel that is going on in this thread."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and kernel not in frame.f_globals:
        frame = frame.f_back
    if frame is None:
        return lambda: ()
    return functools.partial(_read, frame.f_code.co_filename, frame.f_lineno)


def _read(file: str, line: int) -> tuple[Origin, ...]:
    for text in reversed(linecache.getlines(file)[: line - 1]):
        before, found, listed = text.partition(_COMMENT)
        if found and not before.strip():
            return tuple(Origin(*parts) for parts in json.loads(listed))
        if ".run(" in text:  # another kernel's call: a kernel of the script has no comment
            break
    return ()
