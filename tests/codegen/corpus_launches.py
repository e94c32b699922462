"""The kernels of the corpus as launches of the differential tester: one set of inputs for the interpreter and for
compiled code.

Here:      a Launch for each case, code that is compiled already as a backend with every check on, verdicts in words.
Not here:  texts and their compilation (corpus_cases.py), recordings (tests/sim/ptx_cases.py), what is expected of them
           (test_kernel_corpus.py).
"""

from __future__ import annotations

import functools
import re
import sys
from types import SimpleNamespace
from typing import Any

import corpus_cases
import numpy as np
import ptx_cases
import tiletwin
from tiletwin import _activate, checks, diff
from tiletwin.diff.backends import CudaBackend, InterpBackend, Outcome, SimBackend
from tiletwin.diff.launches import ELEMENTS, Array, Launch
from tiletwin.diff.taking import Taker

BITS, BOUNDS, NOT_COMPARABLE = "bit for bit", "under derived bounds", "not comparable"


class _CompiledCase:
    """Mixed into a backend: the code of a case that corpus_cases.compile_case() has compiled, whatever is launched."""

    def __init__(self, compiled: dict[str, Any]) -> None:
        self._compiled = compiled

    def _code(self, launch: Launch) -> tuple[str, Any]:
        return self._compiled["ptx"], SimpleNamespace(**self._compiled["metadata"])


class GpuCode(_CompiledCase, CudaBackend):
    """A compiled case on the GPU."""


class CheckedCode(_CompiledCase, SimBackend):
    """A compiled case on the simulator, with every check on."""

    def run(self, launch: Launch) -> Outcome:
        checks.clear()
        outcome = self._outcome(launch, checks="all")
        checks.clear()
        return outcome


@functools.cache
def _kernel_cases() -> Any:
    """The module of tests/language that knows the kernel files; these import `triton`, which is tiletwin."""
    sys.path.append(str(corpus_cases.TESTS / "language"))
    if not any(isinstance(finder, _activate.TritonFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _activate.TritonFinder())
    import kernel_cases

    return kernel_cases


@functools.cache
def _cases() -> dict[str, dict]:
    """The cases of all kernel files by name."""
    kernel_cases = _kernel_cases()
    files = sorted(path.stem for path in (kernel_cases.DATA / "kernels").glob("[kx]*.py"))
    return {name: case for file in files for name, case in kernel_cases.cases_of(file).items()}


def own_text(name: str) -> str:
    """The TTIR that our front end makes of a case."""
    case = _cases()[name]
    source = tiletwin.compiler.ASTSource(case["fn"], case["signature"], case["constexprs"], case["attrs"])
    return tiletwin.compile(source, options=case["options"]).asm["ttir"]


def _has_inputs(name: str) -> bool:
    try:
        ptx_cases.inputs(name)
    except KeyError:
        return False
    return True


def _stored(name: str) -> tuple[dict[str, Any], dict[str, Any], Taker, Any]:
    """(arguments, signature, their memory, grid) of a case with stored inputs."""
    meta, arrays = ptx_cases.inputs(name)
    taker, arguments = Taker(), {}
    for parameter, kind in meta["types"].items():
        if parameter not in meta["sizes"]:
            arguments[parameter] = meta["scalars"][parameter]
            continue
        size = meta["sizes"][parameter]
        whole = np.zeros(max(size, ptx_cases.READS_PAST_THE_END.get(name, 0)), ptx_cases.element_type(kind))
        if parameter in arrays:
            whole[:size] = arrays[parameter].reshape(-1)
        element = kind.lstrip("*").removeprefix("k")
        element = {"i1": "u1"}.get(element, element)
        assert ELEMENTS[element][1] == whole.itemsize
        taker.memory.append(whole.view(np.uint8))
        taker.alignment.append(0)
        arguments[parameter] = Array(len(taker.memory) - 1, 0, element, whole.shape, (1,), "numpy")
    return arguments, dict(meta["types"]), taker, meta["grid"]


_reached: list[Any] = []
"""Memory that cases reach through tables of addresses: it has to outlive them."""


def _made(name: str) -> tuple[dict[str, Any], dict[str, Any], Taker, Any]:
    """The same for a case without, on inputs made for it."""
    case = _cases()[name]
    made = _kernel_cases().made_arguments(case)
    if "target of pp" in made:
        _reached.append(made["target of pp"])
        tiletwin.register(made["target of pp"])
    taker, arguments, signature = Taker(), {}, {}
    for parameter, kind in case["signature"].items():
        if kind != "constexpr":
            arguments[parameter] = taker.value(made[parameter])
            signature[parameter] = [k for k in kind if k != "constexpr"] if isinstance(kind, tuple) else kind
    return arguments, signature, taker, case["grid"]


def launch_of(name: str) -> Launch:
    """A case's launch, before it runs."""
    text = corpus_cases.texts()[name]
    arguments, signature, taker, grid = (_stored if _has_inputs(name) else _made)(name)
    entry = re.search(r"tt\.func public @\"?([\w.]+)", text)
    assert entry
    return Launch(
        entry[1], f"{name}.ttir", 1, (*grid, 1, 1)[:3], arguments, taker.memory, taker.alignment, signature, ttir=text
    )  # fmt: skip


def reaches_tables(name: str) -> bool:
    """Whether a case takes addresses of the host's memory from a table: these mean nothing to a GPU."""
    return not _has_inputs(name) and "target of pp" in _kernel_cases().made_arguments(_cases()[name])


def compare(launch: Launch, outcome: Outcome, kind: type[CheckedCode | GpuCode] = CheckedCode) -> diff.Report:
    """The interpreter's results of a launch and compiled code's, under bounds derived from the kernel.

    kind: the class of the backend that `outcome` is of.
    """
    backend = kind({})
    return diff.compare_launch(launch, [InterpBackend(), backend], known={backend.name: outcome}, localise=False)


def verdict(report: diff.Report) -> str:
    """BITS, BOUNDS, NOT_COMPARABLE with the reasons, or diff.DIFFERENT."""
    if report.verdict == diff.NOT_COMPARABLE:
        return f"{NOT_COMPARABLE}: {'; '.join(report.reasons)}"
    if report.verdict == diff.DIFFERENT:
        return diff.DIFFERENT
    return BOUNDS if any(row.within for row in report.rows) else BITS


def written(launch: Launch, outcome: Outcome) -> dict[str, np.ndarray]:
    """Every pointer argument afterwards, flat, as ptx_cases.differences() takes them."""
    meta, _ = ptx_cases.inputs(launch.file.removesuffix(".ttir"))
    return {
        parameter: outcome.memory[launch.arguments[parameter].storage].view(ptx_cases.element_type(kind))[:size]
        for parameter, kind in meta["types"].items()
        if (size := meta["sizes"].get(parameter)) is not None
    }


def reference_differences(name: str, launch: Launch, outcome: Outcome) -> list[str]:
    """What differs from the stored reference by more than the case's tolerance."""
    kernel_cases = _kernel_cases()
    file = next((file for file, case in kernel_cases.expected_cases() if case == name), None)
    if file is None:
        return []
    types = launch.signature
    made = {
        parameter: kernel_cases.from_stored(data, kernel_cases.element_type(types[parameter]))
        for parameter, data in written(launch, outcome).items()
    }
    return kernel_cases.differences(file, name, made)
