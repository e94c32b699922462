"""What is judged: what is called, with which examples, and what a submission has to have.

Not here:  how it is read from a file (conventions.py), inputs made of the examples (inputs.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from tiletwin.judge.file_sizes import FileSizes, Sizes
from tiletwin.judge.schema import Schema


@dataclass
class Known:
    """What tests gave with the reference, the work that torch did in its functions, and seconds of a processor."""

    results: list[torch.Tensor]
    work: float
    seconds: float = 0.0


@dataclass
class Problem:
    """call: the reference on given arguments. exact: the reference whose own numbers are float64. examples: arguments
    for a seed. makes: arguments of a module's constructor; None: a function is called. weights: its state. sizes: what
    the file has as constants, if cases may have others; at: the problem with others. tests: a text that is run behind
    the submission, without arguments; known: what it gave with the reference. calls: the problem of one of the
    functions that it calls. defaults: of the arguments behind the examples'."""

    convention: str
    entry: str
    call: Callable[..., Any]
    exact: Callable[..., Any]
    examples: Callable[[int], list[Any]]
    schema: Schema
    makes: list[Any] | None = None
    weights: dict[str, torch.Tensor] = field(default_factory=dict)
    sizes: FileSizes | None = None
    at: Callable[[Sizes], Problem] | None = None
    tests: str = ""
    known: Known | None = None
    calls: Problem | None = None
    defaults: list[Any] = field(default_factory=list)
    note: str = ""
