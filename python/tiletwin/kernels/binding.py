"""What a launch makes of its arguments, for code that compiles a kernel itself as Triton's launches do.

Here:      the type and the compiled-in fact of an argument, the function that binds a call to a kernel's parameters,
           paths into nested arguments.
Not here:  launches: they bind in C++ (`_C.Launcher`).
Invariant: what is said here of a call is what its launch compiles.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from tiletwin.kernels.callables import JITCallable, KernelParam
from tiletwin.kernels.specialization import mangle_type

_NEVER_COMPILED_IN = ("u1", "fp", "bf")


def native_specialize_impl(
    backend: Any, arg: Any, is_const: bool, specialize_value: bool, align: bool
) -> tuple[Any, Any]:
    """An argument's type in a signature, and what of its value is compiled in: the text that the backend's `parse_attr`
    reads, the value of a "constexpr", or None.

    Errors: TypeError, a value that only a tl.constexpr parameter takes.
    """
    if isinstance(arg, JITCallable):
        return "constexpr", arg.cache_key
    if arg is None or type(arg).__name__ == "constexpr":
        return "constexpr", arg
    if isinstance(arg, tuple):
        pairs = [native_specialize_impl(backend, item, False, True, True) for item in arg]
        kinds, facts = (tuple(pair[i] for pair in pairs) for i in range(2))
        return (type(arg)(*kinds), type(arg)(*facts)) if hasattr(arg, "_fields") else (kinds, facts)
    kind = mangle_type(arg, specialize_value)
    if kind == "constexpr":
        return kind, arg
    if isinstance(arg, int) and not isinstance(arg, bool):
        return kind, backend.get_int_specialization(arg, align=align) if specialize_value else None
    if not kind.startswith("*"):
        return kind, None
    kind = f"*k{kind[1:]}" if is_const else kind
    return kind, backend.get_tensor_specialization(arg, align=align) if specialize_value else None


def _specialize(backend: Any, parameter: KernelParam, arg: Any) -> tuple[Any, Any]:
    if parameter.is_constexpr:
        return "constexpr", arg
    given = parameter.annotation_type
    if given.startswith(_NEVER_COMPILED_IN):
        return given, None
    by_value, by_alignment = not parameter.do_not_specialize, not parameter.do_not_specialize_on_alignment
    kind, fact = native_specialize_impl(backend, arg, parameter.is_const, by_value, by_alignment)
    return given or kind, fact


def create_function_from_signature(
    sig: inspect.Signature, kparams: list[KernelParam], backend: Any
) -> Callable[..., tuple[dict[str, Any], list[tuple[Any, Any]], dict[str, Any]]]:
    """A function that takes what a launch takes. It returns the arguments by name, type and compiled-in fact of each,
    and the options, which are all other keywords."""

    def dynamic_func(*args: Any, **kwargs: Any) -> tuple[dict[str, Any], list[tuple[Any, Any]], dict[str, Any]]:
        bound = sig.bind(*args, **{name: kwargs.pop(name) for name in list(kwargs) if name in sig.parameters})
        bound.apply_defaults()
        found = [_specialize(backend, parameter, bound.arguments[parameter.name]) for parameter in kparams]
        return dict(bound.arguments), found, kwargs

    return dynamic_func


def find_paths_if(iterable: Any, pred: Callable[[tuple[int, ...], Any], bool]) -> list[tuple[int, ...]]:
    """Where in nested tuples and lists the values are for which `pred(path, value)` holds."""

    def paths(path: tuple[int, ...], value: Any) -> list[tuple[int, ...]]:
        if isinstance(value, (list, tuple)):
            return [found for number, item in enumerate(value) for found in paths((*path, number), item)]
        return [path] if pred(path, value) else []

    return paths((), iterable)


def get_iterable_path(iterable: Any, path: tuple[int, ...]) -> Any:
    """What is there."""
    return functools.reduce(lambda value, number: value[number], path, iterable)
