"""`@triton.aggregate`: classes of values that kernels make, pass around and carry through loops.

Here:      the decorator, and `aggregate_replace`.
Not here:  taking instances apart into their tensors (frontend/Structure.h), which uses `__tiletwin_fields__` (names, in
           order) and `__tiletwin_rebuild__` (an instance from values in that order, without running `__init__`).
Invariant: a field holds a value of the language (tensor, constexpr, tuple, descriptor, aggregate) and is never changed.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import types
import typing
from collections.abc import Callable
from typing import Any

from tiletwin import ports
from tiletwin._C import constexpr, tensor
from tiletwin.dtypes import base_value
from tiletwin.kernels.jit import JITFunction
from tiletwin.language.declare import builtin
from tiletwin.language.values import tuple as language_tuple

__all__ = ["aggregate_replace"]
"""What `triton.language` has of this module."""

T = typing.TypeVar("T")
_MISSING = object()


def _wrapped(value: Any) -> Any:
    """A plain Python value as a constexpr; tuples element by element; values of the language as they are."""
    if isinstance(value, builtins.tuple) and not isinstance(value, language_tuple):
        items = [_wrapped(v) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else builtins.tuple(items)
    return value if isinstance(value, base_value) else constexpr(value)


def _fields_of(cls: type) -> tuple[dict[str, Any], dict[str, Any]]:
    """(annotation by field name, default by field name), bases first."""
    annotations: dict[str, Any] = {}
    defaults: dict[str, Any] = {}
    for base in cls.__mro__[:0:-1]:
        if base in (object, base_value):
            continue
        if "__tiletwin_fields__" not in vars(base):
            raise TypeError(f"the aggregate {cls.__name__} can only derive from aggregates, not from {base.__name__}")
        annotations |= base.__tiletwin_annotations__
        defaults |= base.__tiletwin_defaults__
    own = inspect.get_annotations(cls)
    try:
        hints = typing.get_type_hints(cls)
    except NameError:  # a name that is only there for type checkers
        hints = own
    for name in own:
        annotations[name] = hints[name]
        default = vars(cls).get(name, _MISSING)
        if default is not _MISSING and (not callable(default) or isinstance(default, base_value)):
            defaults[name] = default
    return annotations, defaults


def _generated_init(cls: type, names: list[str], defaults: dict[str, Any]) -> Callable[..., None]:
    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    for name in names:
        # A required field may follow one with a default; Python's signatures do not allow that, so None stands in.
        had_default = parameters[-1].default is not inspect.Parameter.empty
        default = defaults.get(name, _MISSING if had_default else inspect.Parameter.empty)
        parameters.append(inspect.Parameter(name, kind, default=default))
    signature = inspect.Signature(parameters)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        try:
            bound = signature.bind(self, *args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{cls.__name__}({', '.join(names)}): {error}") from None
        bound.apply_defaults()
        for name in names:
            if bound.arguments[name] is _MISSING:
                raise TypeError(f"{cls.__name__}({', '.join(names)}): missing a required argument: {name!r}")
            setattr(self, name, bound.arguments[name])

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    return __init__


def _check_field(cls: type, name: str, annotation: Any, value: Any) -> None:
    expected = {constexpr: constexpr, tensor: tensor}.get(annotation) if isinstance(annotation, type) else None
    if expected is None and isinstance(annotation, type) and hasattr(annotation, "__tiletwin_fields__"):
        expected = annotation
    if expected is not None and not isinstance(value, expected):
        given = "a compile-time value" if isinstance(value, constexpr) else f"a {type(value).__name__}"
        raise TypeError(f"field {name} of {cls.__name__} is declared as {expected.__name__} and cannot hold {given}")


@functools.cache
def method_class(kind: type) -> type:
    """`kind`, a class of jit functions, for methods of aggregates: in eager mode, where Python itself takes attributes
    and applies operators, they get the instance."""

    def __get__(self: Any, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(ports.eager_function(self), instance)

    return type("Method" + kind.__name__, (kind,), {"__get__": __get__, "__module__": kind.__module__})


def aggregate(cls: type[T]) -> type[T]:
    """Class decorator: annotated names become fields; instances can be made, passed and returned in kernels.

    Without an `__init__` one is generated that takes the fields in order; values of assigned names are defaults.
    Methods are jit functions (run-time work) or constexpr functions. Fields cannot be assigned after `__init__`;
    `tl.aggregate_replace(x, field=value)` makes a changed copy. Fields annotated tl.tensor, tl.constexpr or with an
    aggregate are checked.

    Raises:
        TypeError: a base that is no aggregate, wrong arguments, a field of another kind or left unset.
    """
    annotations, defaults = _fields_of(cls)
    names = list(annotations)
    init = vars(cls).get("__init__") or _generated_init(cls, names, defaults)

    @functools.wraps(getattr(init, "fn", init))
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        if type(self) is cls:  # not while a derived class's __init__ still runs
            missing = [name for name in names if name not in self.__dict__]
            if missing:
                raise TypeError(f"{cls.__name__}.__init__ left the field {missing[0]} unset")
            self.__dict__["__complete__"] = True

    def __setattr__(self: Any, name: str, value: Any) -> None:
        kind = type(self)
        if "__complete__" in self.__dict__:
            raise AttributeError(
                f"{kind.__name__}.{name} cannot be assigned: aggregates do not change; use tl.aggregate_replace"
            )
        known = kind.__tiletwin_annotations__
        if name not in known:
            raise AttributeError(f"{kind.__name__} has no field {name!r}; its fields are {', '.join(known)}")
        value = _wrapped(value)
        _check_field(kind, name, known[name], value)
        self.__dict__[name] = value

    @classmethod
    def __tiletwin_rebuild__(kind: type, *values: Any) -> Any:
        self = object.__new__(kind)
        for name, value in zip(kind.__tiletwin_fields__, values, strict=True):
            setattr(self, name, value)
        self.__dict__["__complete__"] = True
        return self

    for member in vars(cls).values():
        if isinstance(member, JITFunction) and not hasattr(member, "__get__"):
            member.__class__ = method_class(type(member))
    made: Any = cls
    made.__triton_aggregate__ = True
    made.__aggregate_fields__ = builtins.tuple(names)
    made.__aggregate_defaults__ = dict(defaults)
    made.__init__ = __init__
    made.__setattr__ = __setattr__
    made.__tiletwin_fields__ = builtins.tuple(names)
    made.__tiletwin_annotations__ = annotations
    made.__tiletwin_defaults__ = defaults
    made.__tiletwin_rebuild__ = __tiletwin_rebuild__
    return cls


@builtin(python=True)
def aggregate_replace(instance: Any, **changes: Any) -> Any:
    """A copy of an aggregate with the named fields replaced; its `__init__` is not run.

    Raises:
        TypeError: a name that is no field, or an instance of another class.
    """
    kind = type(instance)
    fields = getattr(kind, "__tiletwin_fields__", None)
    if fields is None:
        raise TypeError(f"tl.aggregate_replace needs an instance of an @triton.aggregate class, not {kind.__name__}")
    for name in changes:
        if name not in fields:
            raise TypeError(f"{kind.__name__} has no field {name!r}; its fields are {', '.join(fields)}")
    return kind.__tiletwin_rebuild__(*(changes.get(name, getattr(instance, name)) for name in fields))
