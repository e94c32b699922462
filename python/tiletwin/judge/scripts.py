"""Scripts of kernels and tests: where the tests begin, and what they leave behind when they run on definitions.

Not here:  what is judged of it (tritonbench.py).
Invariant: both sides, judge and worker, run the same text in the same way.
"""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np
import torch
from torch.utils._pytree import tree_leaves, tree_map

_LINE = re.compile(r"^#{20,}\s*$", re.MULTILINE)
_TEST = re.compile(r"^def test_", re.MULTILINE)
SUFFIX = " (tests)"
"""Behind the file's name: lines of the tests are none of the submission's."""


def divided(text: str) -> tuple[str, str]:
    """The definitions, and the tests behind a line of #, with the numbers of their lines; no tests: an empty text."""
    end = _LINE.search(text)
    if end is None or not _TEST.search(text, end.end()):
        return text, ""
    return text[: end.start()], "\n" * text[: end.end()].count("\n") + text[end.end() :]


def _is_plain(value: Any) -> bool:
    leaves = tree_leaves(value)
    return all(leaf is None or isinstance(leaf, (torch.Tensor, bool, int, float, str)) for leaf in leaves) and any(
        isinstance(leaf, torch.Tensor) for leaf in leaves
    )


def results_of_tests(text: str, definitions: dict[str, Any], file: str) -> dict[str, Any]:
    """Runs a text behind definitions, in their namespace: what it imports they may use, as in a script.

    Returns: what it gives names to, if there are tensors in it and nothing but numbers and texts beside them.
    Raises: whatever the tests raise.
    """
    known = definitions.setdefault("__defined__", frozenset(definitions))
    random.seed(0)
    np.random.seed(0)
    with torch.enable_grad():
        exec(compile(text, file + SUFFIX, "exec"), definitions)
    new = {name: tree_map(_tensor, value) for name, value in definitions.items() if name not in known}
    return {name: value for name, value in new.items() if _is_plain(value)}


def _tensor(value: Any) -> Any:
    return torch.from_numpy(value.copy()) if isinstance(value, np.ndarray) and value.dtype != object else value
