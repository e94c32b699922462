"""What a reference says of a case: exact results, a bound for each element, its own results in the submission's types.

Here:      running the reference twice, gradients, which arguments it writes.
Not here:  the error analysis (rounding.py), comparing (comparing.py).
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._pytree import tree_flatten, tree_map

from tiletwin import knobs
from tiletwin.judge.inputs import tensors_of
from tiletwin.judge.problem import Known, Problem
from tiletwin.judge.rounding import UNITS, Rounding, arithmetic
from tiletwin.judge.work import Work

DRAWS = frozenset(
    "bernoulli bernoulli_ rand randn rand_like randn_like randint randperm normal_ uniform_ native_dropout multinomial "
    "exponential_ random_".split()
)
"""Operations that draw random numbers."""


class Refused(Exception):
    """The reference does not take these arguments."""


@dataclass
class Expected:
    """One tensor that a submission has to give. name: "result", "result 1", "gradient of argument 0", "argument 2".
    exact, bound: float64, for floats; low: as the reference gives it in the submission's types. of_infinities: NaN
    and infinities are what became of infinities among the inputs."""

    name: str
    low: torch.Tensor
    exact: torch.Tensor
    bound: torch.Tensor
    of_infinities: bool = False


@dataclass
class Answer:
    """written: numbers of the argument tensors that the reference writes. cotangents: for each result, or None.
    note: what could not be derived. work: of the reference's operations, in units. launched: how many kernels it
    launches itself. seconds: of a processor, of the reference's plain call."""

    results: list[Expected]
    written: list[int]
    wanted: list[int] = field(default_factory=list)
    cotangents: list[Any] = field(default_factory=list)
    note: str = ""
    work: float = 0.0
    launched: int = 0
    seconds: float = 0.0
    draws: str = ""
    """The operation with which the reference draws random numbers."""


def own(args: list[Any]) -> list[Any]:
    """A copy whose tensors share memory where those of `args` are one object."""
    known: dict[int, torch.Tensor] = {}

    def copy(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        return known.setdefault(id(value), value.detach().clone())

    return tree_map(copy, args)


def _widened(args: list[Any]) -> list[Any]:
    known: dict[int, torch.Tensor] = {}

    def wide(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        made = value.detach().double() if value.is_floating_point() else value.detach().clone()
        return known.setdefault(id(value), made.clone() if made is value else made)

    return tree_map(wide, args)


def _needing(args: list[Any], wanted: list[int]) -> list[Any]:
    return [value.requires_grad_() if i in wanted else value for i, value in enumerate(args)]


def _ran(
    call: Any, args: list[Any], wanted: list[int], cotangents: list[Any] | None, seed: int
) -> tuple[list[Any], list]:
    """Tensors among the results, and gradients. cotangents: None asks for results only."""
    torch.manual_seed(seed)
    with sdpa_kernel(SDPBackend.MATH):
        if wanted:
            args = _needing(args, wanted)
            found = tensors_of(call(*args))
        else:
            with torch.no_grad():
                found = tensors_of(call(*args))
        if not wanted or cotangents is None:
            return found, []
        roots = [(value, c) for value, c in zip(found, cotangents) if c is not None]
        weights = [c.to(value.dtype) for value, c in roots]
        grads = torch.autograd.grad([v for v, _ in roots], [args[i] for i in wanted], weights, allow_unused=True)
        return found, [g if g is not None else torch.zeros_like(args[i]) for g, i in zip(grads, wanted)]


def answer(problem: Problem, args: list[Any], seed: int, case_seed: int) -> Answer:
    """seed: of random numbers that the reference draws, the same for all cases. case_seed: of cotangents.

    Errors: Refused, the reference raises an exception for these arguments."""
    schema = problem.schema
    if problem.known is not None:
        return _of_tests(problem.known)
    wanted = [i for i, v in enumerate(args) if _differentiable(v)] if schema.gradients else []
    try:
        first, work, launches = own(args), Work(), list[Any]()
        started = time.process_time()
        with work, _launches(launches.append):
            lows, _ = _ran(problem.call, first, wanted, None, seed)
        spent = time.process_time() - started
        cotangents = _cotangents(lows, case_seed) if wanted else []
        if wanted:
            lows, low_grads = _ran(problem.call, own(args), wanted, cotangents, seed)
        else:
            low_grads = []
    except Exception as error:
        raise Refused(f"{type(error).__name__}: {error}") from None
    lows = [value.detach() for value in lows]
    before, after = tensors_of(args), tensors_of(first)
    written = [i for i, (a, b) in enumerate(zip(before, after)) if not _same(a, b)]
    names = ["result" if len(lows) == 1 else f"result {i}" for i in range(len(lows))]
    names += [f"gradient of argument {i}" for i in wanted] + [f"argument {i}" for i in written]
    made = Answer([], written, wanted, cotangents, work=work.total, launched=len(launches), seconds=spent)
    all_low = [value.cpu() for value in (*lows, *low_grads, *(after[i].detach() for i in written))]
    kinds = [value.dtype for value in before if value.is_floating_point()]
    kinds += [value.dtype for value in problem.weights.values() if value.is_floating_point()]
    mode = Rounding(arithmetic(kinds, schema.tf32), seed)
    wide = _widened(args)
    try:
        with mode, _launches(_refuse):
            exact, grads = _ran(problem.exact, wide, wanted, cotangents, seed)
            exact = [value.detach() for value in [*exact, *grads, *(tensors_of(wide)[i] for i in written)]]
            bounds = [mode.bound(value).clone() for value in exact]
            made.draws = min(mode.names & DRAWS, default="")
        _add_rounded_numbers(problem, args, wanted, cotangents, written, seed, exact, bounds)
    except Exception as error:
        why = str(error) if isinstance(error, _Launched) else f"it fails in float64: {type(error).__name__}: {error}"
        made.note = f"no bounds can be derived from the reference: {why}; they are 64 units of its own results"
        exact = [value.double() if value.is_floating_point() else value for value in all_low]
        bounds = [_coarse(value, mode.numbers.unit) for value in exact]
    floats = [value.double() for value in before if value.is_floating_point()]  # float8 has no isinf
    of_infinities = any(bool(v.isinf().any()) for v in floats) and not any(bool(v.isnan().any()) for v in floats)
    for name, low, value, bound in zip(names, all_low, exact, bounds):
        value, bound = value.cpu(), bound.cpu()
        made.results.append(Expected(name, low, value, _of_schema(schema, value, bound, args), of_infinities))
    return made


def _add_rounded_numbers(
    problem: Problem, args: list[Any], wanted: list[int], cotangents: list[Any], written: list[int], seed: int,
    exact: list[torch.Tensor], bounds: list[torch.Tensor],
) -> None:  # fmt: skip
    """Python's floats among the arguments, defaults included, are float32 in a kernel: 1 - beta, of 0.999, is off by
    1e-5 of itself there. What results change by is added to their bounds."""
    wide = _widened(args)
    positional, named = _with_defaults(problem.exact, wide)
    if all(_to_float32(value) == value for value in leaves((positional, named)) if isinstance(value, float)):
        return
    positional, named = tree_map(_to_float32, (positional, named))
    found, grads = _ran(functools.partial(problem.exact, **named), positional, wanted, cotangents, seed)
    for bound, value, other in zip(bounds, exact, [*found, *grads, *(tensors_of(wide)[i] for i in written)]):
        if value.is_floating_point():
            bound += (other.detach().to(value.device) - value).abs().nan_to_num(posinf=0.0)


def _to_float32(value: Any) -> Any:
    return float(torch.tensor(value, dtype=torch.float32)) if isinstance(value, float) else value


def _with_defaults(function: Callable[..., Any], args: list[Any]) -> tuple[list[Any], dict[str, Any]]:
    """Positional and named arguments of a call, those that the function has by itself included."""
    try:
        bound = inspect.signature(function).bind(*args)
    except (TypeError, ValueError):
        return args, {}
    bound.apply_defaults()
    return list(bound.args), bound.kwargs


def called(problem: Problem, args: list[Any], seed: int) -> None:
    """Calls the reference as it is, with copies. Errors: its own exceptions."""
    _ran(problem.call, own(args), [], None, seed)


def takes(problem: Problem, args: list[Any], seed: int) -> bool:
    """Whether the reference gives something for these arguments."""
    try:
        called(problem, args, seed)
    except Exception:
        return False
    return True


def are_same(a: Answer, b: Answer) -> bool:
    """Whether all exact results are the same."""
    pairs = list(zip(a.results, b.results))
    return len(a.results) == len(b.results) and all(
        x.exact.shape == y.exact.shape and torch.equal(x.exact.nan_to_num(), y.exact.nan_to_num()) for x, y in pairs
    )


class _Launched(Exception):
    """The mode does not see what kernels compute."""


@contextlib.contextmanager
def _launches(seen: Callable[[Any], None]) -> Iterator[None]:
    """Calls a function before each launch."""
    knobs.runtime.launch_enter_hook.add(seen)
    try:
        yield
    finally:
        knobs.runtime.launch_enter_hook.remove(seen)


def _refuse(_: Any) -> None:
    raise _Launched("it launches kernels, which the error analysis does not see")


def _of_tests(known: Known) -> Answer:
    made = Answer([], [], work=known.work, launched=1, seconds=known.seconds)
    for number, low in enumerate(known.results):
        exact = low.double() if low.is_floating_point() else low
        bound = _coarse(exact, UNITS.get(low.dtype, UNITS[torch.float32]))
        made.results.append(Expected(f"result {number}", low, exact, bound))
    return made


def _differentiable(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def _cotangents(results: list[torch.Tensor], seed: int) -> list[Any]:
    """For an odd seed transposed in memory, as products behind a function hand them on."""
    generator = torch.Generator().manual_seed(seed + 1)

    def one(value: torch.Tensor) -> torch.Tensor:
        made = torch.randn(value.shape, generator=generator).to(value.dtype)
        return made.mT.contiguous().mT if seed % 2 and made.dim() > 1 else made

    return [one(value) if value.requires_grad else None for value in results]


def _same(a: torch.Tensor, b: torch.Tensor) -> bool:
    return torch.equal(a.contiguous().view(-1).view(torch.uint8), b.detach().contiguous().view(-1).view(torch.uint8))


def _coarse(value: torch.Tensor, unit: float) -> torch.Tensor:
    if not value.is_floating_point():
        return torch.zeros(value.shape, dtype=torch.float64)
    size = value.abs().nan_to_num(posinf=0.0)
    return 64 * unit * (size + (size.mean() if size.numel() else 0.0))


def _of_schema(schema: Any, exact: torch.Tensor, bound: torch.Tensor, args: list[Any]) -> torch.Tensor:
    """The reference's own bound in place of the derived one, and the least bound."""
    if schema.bound is not None:
        said = schema.bound(exact, *args)
        bound = torch.as_tensor(said, dtype=torch.float64).expand(exact.shape)
    if schema.atol or schema.rtol:
        bound = torch.maximum(bound, schema.atol + schema.rtol * exact.double().abs())
    return bound


def leaves(tree: Any) -> list[Any]:
    """All leaves of a tree of results, in order."""
    return tree_flatten(tree)[0]
