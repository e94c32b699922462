"""Functions whose source is compiled: their text, globals and parameters, and the key that changes with them.

Here:      KernelParam, JITCallable, constexpr_function; `triton.runtime.jit` re-exports them.
Not here:  launching (jit.py), finding and parsing the text (source.py).
Invariant: making one reads no file; that happens when a kernel is first compiled or asked for its text.
"""

from __future__ import annotations

import ast
import functools
import inspect
import weakref
from ast import FunctionDef, Module
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tiletwin import _C
from tiletwin.base_types import plain
from tiletwin.kernels.given_text import given_text
from tiletwin.kernels.source import FunctionSource, TextNotFound, function_source, outer_names, resolve, source_of_text
from tiletwin.kernels.specialization import mangle_type_name


class KernelParam:
    """One parameter of a jit function: what its declaration says."""

    def __init__(
        self, num: int, param: inspect.Parameter, do_not_specialize: bool, do_not_specialize_on_alignment: bool
    ) -> None:
        self.num = num
        self._param = param
        self.do_not_specialize = do_not_specialize
        self.do_not_specialize_on_alignment = do_not_specialize_on_alignment

    @property
    def name(self) -> str:
        return self._param.name

    @functools.cached_property
    def annotation(self) -> str:
        """The annotation as text, types as in signatures ("i64", "*fp32", "constexpr"); empty if there is none."""
        annotation = self._param.annotation
        if annotation is inspect.Parameter.empty:
            return ""
        text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
        return mangle_type_name(text) or text.removeprefix("tl.")

    @functools.cached_property
    def annotation_type(self) -> str:
        """Signature string of an annotated scalar or pointer type; empty if the annotation is no type."""
        return self.annotation if mangle_type_name(self.annotation) else ""

    @functools.cached_property
    def is_constexpr(self) -> bool:
        return "constexpr" in self.annotation

    @functools.cached_property
    def is_const(self) -> bool:
        """Annotated tl.const, or as a pointer to const."""
        if self.is_constexpr:
            return False
        return self.annotation.rpartition(".")[2] == "const" or self.annotation.startswith("*k")

    @property
    def default(self) -> Any:
        return self._param.default

    @property
    def has_default(self) -> bool:
        return self._param.default is not inspect.Parameter.empty

    def row(self) -> tuple:
        """The description `_C.Launcher` takes."""
        return (
            self.name,
            self.has_default,
            self.default if self.has_default else None,
            self.annotation_type or None,
            self.is_constexpr,
            self.is_const,
            self._param.kind is inspect.Parameter.KEYWORD_ONLY,
            self._param.kind is inspect.Parameter.VAR_POSITIONAL,
            not self.do_not_specialize and self.annotation_type not in ("fp16", "bf16", "fp32", "fp64", "u1"),
            not self.do_not_specialize_on_alignment,
        )


class JITCallable:
    """A function whose source is compiled: kernels and the helpers they call."""

    _sent_text: tuple[str, str, int]
    """(text, file, first line) of one that has come from another process without its function."""
    full_name: str | None = None
    """"module:qualname" of one that other processes find by that name."""

    def __init__(self, fn: Callable) -> None:
        self.fn = fn
        self.__name__ = fn.__name__
        self.__qualname__ = fn.__qualname__
        self.__doc__ = fn.__doc__
        self.__module__ = fn.__module__ or "__main__"  # code given to exec() may have none
        self.__globals__ = fn.__globals__
        self.__wrapped__ = fn
        self._fn_name = get_full_name(fn)
        self._hash: str | None = None
        code = getattr(inspect.unwrap(fn), "__code__", None)
        self._given = None if code is None else given_text(code)

    @functools.cached_property
    def _source(self) -> FunctionSource:
        if self.fn is None:  # it has come from another process (sent.py)
            return source_of_text(*self._sent_text)
        return function_source(self.fn, self._given)

    @functools.cached_property
    def has_text(self) -> bool:
        """Whether the source can be found. Without it Python runs the function as it is (eager/as_it_is.py)."""
        try:
            return self._source is not None
        except TextNotFound:
            return False

    # What the front end reads (frontend/Frontend.h).
    @property
    def ast(self) -> FunctionDef:
        return self._source.node

    @property
    def file(self) -> str:
        return self._source.file

    @property
    def source_lines(self) -> list[str]:
        return self._source.lines

    @property
    def first_line(self) -> int:
        return self._source.first_line

    @property
    def globals(self) -> dict[str, Any]:
        """Names the function sees outside itself: module globals, with the enclosing functions' variables on top."""
        if not self.fn.__closure__:
            return self.fn.__globals__
        cells = {}
        for name, cell in zip(self.fn.__code__.co_freevars, self.fn.__closure__):
            try:
                cells[name] = cell.cell_contents
            except ValueError:  # not assigned yet
                continue
        return {**self.fn.__globals__, **cells}

    @functools.cached_property
    def signature(self) -> inspect.Signature:
        return inspect.signature(self.fn)

    @functools.cached_property
    def outer_names(self) -> list[str]:
        """Names that the function's code reads from globals or enclosing functions, in order of first use."""
        return outer_names(self.fn.__code__)

    @functools.cached_property
    def mangled_name(self) -> str:
        return f"{self.__module__}.{self.__qualname__}"

    # Names that libraries read; the places are those of the user's file.
    file_name = file

    @property
    def starting_line_number(self) -> int:
        return self.first_line

    @property
    def def_file_line_number(self) -> int:
        return self._source.node.lineno

    @property
    def def_file_col_number(self) -> int:
        return self._source.node.col_offset + 1

    @property
    def src(self) -> str:
        """Text of the function from its `def` on, without common indentation."""
        lines = self._source.lines[self._source.node.lineno - self._source.first_line :]
        indent = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
        return "".join(line.removeprefix(indent) for line in lines)

    @src.setter
    def src(self, text: str) -> None:
        raise AttributeError(
            f"the text of {self.__name__} cannot be assigned: compiled kernels would not notice. "
            f"Use _unsafe_update_src(), and set .hash to None on every function that calls {self.__name__}"
        )

    def _unsafe_update_src(self, text: str) -> None:
        """Compiles `text`, one `def`, from now on. What was compiled of functions that call this one stays as it is.

        Errors: SyntaxError, the text is no function.
        """
        code = inspect.unwrap(self.fn).__code__
        self.__dict__["_source"] = source_of_text(text, code.co_filename, code.co_firstlineno)
        for derived in ("_eager_function", "_eager_reason", "_stripped"):
            self.__dict__.pop(derived, None)
        self.hash = None

    @property
    def hash(self) -> str | None:
        """`cache_key` once it has been asked for; assigning None makes it be computed again."""
        return self._hash

    @hash.setter
    def hash(self, value: str | None) -> None:
        self._hash = value

    @property
    def raw_src(self) -> list[str]:
        return self._source.lines

    def parse(self) -> Module:
        """The function as an `ast.Module`."""
        return Module(body=[self._source.node], type_ignores=[])

    def get_capture_scope(self) -> dict[str, Any]:
        return self.globals

    @property
    def type(self) -> Any:
        from tiletwin.dtypes import constexpr_type

        return constexpr_type(self)

    def used_globals(self, seen: set[int] | None = None) -> list[tuple[dict, str, Any]]:
        """What this function and those it calls take from module globals and what, if it changed, would change the
        compiled code: (the module's globals, name, value)."""
        seen = set() if seen is None else seen
        seen.add(id(self))
        found = []
        globals_ = self.fn.__globals__
        reachable = self.globals
        for name in self.outer_names:
            if name in globals_ and _shapes_code(globals_[name]):
                found.append((globals_, name, globals_[name]))
            for callee in _functions_in(reachable.get(name)):
                if id(callee) not in seen:
                    found += callee.used_globals(seen)
        return found

    @property
    def used_global_vals(self) -> dict[tuple[str, int], tuple[Any, dict]]:
        """`used_globals` as libraries read it: {(name, id of the module's globals): (value, those globals)}."""
        if self.fn is None:
            return {}
        return {(name, id(scope)): (value, scope) for scope, name, value in self.used_globals()}

    @used_global_vals.setter
    def used_global_vals(self, values: Any) -> None:
        """Libraries clear it before they pickle a function. Nothing is kept: it is found again when it is read."""

    def _references(self) -> list[tuple[str, Any]]:
        """Names in the text, dotted ones too, that stand for something that shapes the compiled code."""
        scope = self.globals
        nodes = (node for node in ast.walk(self.ast) if isinstance(node, (ast.Name, ast.Attribute)))
        named = ((ast.unparse(node), resolve(node, scope)) for node in nodes)
        return sorted({name: value for name, value in named if _shapes_code(value)}.items())

    @property
    def cache_key(self) -> str:
        """A hash of the text, of the jit functions and compile-time values it names, and of its place in the file."""
        if self._hash is None:
            import hashlib

            self._hash = f"recursion:{self._fn_name}"  # for functions that call each other
            text = [f"{self.file}:{self.first_line}:{getattr(self, 'noinline', False)}\n{self.src}"]
            for name, value in self._references():
                callees = _functions_in(value)
                text += [f"{name}={callee.cache_key}" for callee in callees] or [f"{name}={value!r}"]
            self._hash = hashlib.sha256("\n".join(text).encode()).hexdigest()
        return self._hash

    def __hash__(self) -> int:
        return id(self) >> 4

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.__module__}:{self.__qualname__})"


def get_full_name(fn: Callable) -> str:
    """module.qualname of a function."""
    return f"{fn.__module__}.{fn.__qualname__}"


def _functions_in(value: Any) -> list[JITCallable]:
    """The functions whose text a name brings along: itself, or the methods of a class of values."""
    if isinstance(value, JITCallable):
        return [value]
    if isinstance(value, type) and hasattr(value, "__tiletwin_fields__"):
        return [member for member in vars(value).values() if isinstance(member, JITCallable)]
    return []


def _shapes_code(value: Any) -> bool:
    """Whether a global's value becomes part of the code that is compiled. Modules, the language's own functions and
    everything that kernels cannot use do not."""
    if isinstance(value, type):
        return hasattr(value, "__tiletwin_fields__") or (issubclass(value, tuple) and hasattr(value, "_fields"))
    if isinstance(value, (JITCallable, _C.constexpr, bool, int, float, str, tuple)):
        return True
    return type(value).__name__ in ("dtype", "pointer_type") and type(value).__module__ == "tiletwin.dtypes"


by_full_name: weakref.WeakValueDictionary[str, JITCallable] = weakref.WeakValueDictionary()
"""Jit functions of this process, as `@triton.jit` makes them."""


@dataclass
class JitFunctionInfo:
    """Which kernel a jit hook is called for."""

    module: Any
    name: str
    jit_function: JITCallable


def jit_function_named(name: str) -> JITCallable:
    """The jit function "module:qualname" of this process.

    Raises:
        RuntimeError: there is none.
    """
    found = by_full_name.get(name)
    if found is None:
        raise RuntimeError(f"there is no jit function {name} in this process; import its module first")
    return found


class ConstexprFunction(JITCallable):
    """A Python function that kernels may call with compile-time arguments; called outside kernels it is itself."""

    def __init__(self, fn: Callable) -> None:
        super().__init__(fn)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else BoundConstexprFunction(instance, self)

    def __call__(self, *args: Any, _semantic: Any = None, **kwargs: Any) -> Any:
        return self.fn(*map(plain, args), **{name: plain(value) for name, value in kwargs.items()})


class BoundConstexprFunction(JITCallable):
    """A constexpr_function as a method of an instance."""

    def __init__(self, instance: Any, fn: ConstexprFunction) -> None:
        super().__init__(fn.fn)
        self.__self__ = instance
        self.__func__ = fn

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__func__(self.__self__, *args, **kwargs)


def constexpr_function(fn: Callable) -> ConstexprFunction:
    """Makes a Python function callable while kernels are compiled: arguments and result are compile-time values."""
    return ConstexprFunction(fn)
