"""`@triton.jit`: the Python object a kernel is.

Here:      JITFunction (compile on a miss, caches, hooks around compilation), the `jit` decorator.
Not here:  its text and parameters (callables.py), binding of arguments and launches (`_C.Launcher`), the front end
           (`_C.compile`), options (options.py).
Invariant: a launch that was seen before runs no Python of this file.
"""

from __future__ import annotations

import functools
import inspect
import os
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import FunctionType
from typing import Any, Generic, NamedTuple, ParamSpec, TypeVar

from tiletwin import _C, knobs, ports
from tiletwin._refused import refuse
from tiletwin.errors import CompilationError
from tiletwin.gpu_target import DEFAULT_TARGET, launch_target
from tiletwin.kernels import async_compile, sent
from tiletwin.kernels.binding import create_function_from_signature
from tiletwin.kernels.callables import (
    JITCallable,
    KernelParam,
    by_full_name,
)
from tiletwin.kernels.specialization import (
    mangle_type,
)
from tiletwin.kernels.tensors import MockTensor

T = TypeVar("T")
U = TypeVar("U")
P = ParamSpec("P")
R = TypeVar("R")

Grid = int | Sequence[int] | Callable[[dict[str, Any]], int | Sequence[int]]
"""How many programs along each axis; a function gets the arguments by name."""

TRITON_MODULE = "triton.language"
GLUON_MODULE = "triton.experimental.gluon.language"

_BY_POSITION = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.POSITIONAL_ONLY)

_compile_lock = threading.RLock()
_this_thread = threading.local()
""".warms_up: the compilation under way was asked for by warmup(); .ahead: it is that of a launch to come."""


def _renew_lock() -> None:
    """In a forked child: another thread of the parent may have held the lock."""
    global _compile_lock
    _compile_lock = threading.RLock()


os.register_at_fork(after_in_child=_renew_lock)


@contextmanager
def ahead_of_launch() -> Iterator[None]:
    """Within the block `run(..., warmup=True)` compiles what a launch is going to compile: hooks see no warm-up."""
    _this_thread.ahead = True
    try:
        yield
    finally:
        _this_thread.ahead = False


class _Specialization(NamedTuple):
    """What `@triton.jit(repr=...)` gets."""

    constants: dict[str, Any]
    signature: dict[str, Any]


class KernelInterface(Generic[T]):
    """What can be launched with `kernel[grid](...)`."""

    def run(self, *args: Any, grid: Grid, warmup: bool, **kwargs: Any) -> Any:
        """Launches, or with `warmup` only compiles."""
        raise NotImplementedError(f"{type(self).__name__} has no run()")

    def warmup(self, *args: Any, grid: Grid = (1,), **kwargs: Any) -> Any:
        """Compiles for these arguments without running; dtypes may stand in for tensors."""
        return self.run(*map(MockTensor.wrap_dtype, args), grid=grid, warmup=True, **kwargs)

    def __getitem__(self, grid: Grid) -> Callable[..., Any]:
        return functools.partial(self.run, grid=grid, warmup=False)


class JITFunction(JITCallable, KernelInterface[T]):
    """A kernel, or a helper that kernels call. Made by `@triton.jit`; subclasses may override `run`."""

    def __init__(
        self,
        fn: Callable,
        version: Any = None,
        do_not_specialize: Iterable[int | str] | None = None,
        do_not_specialize_on_alignment: Iterable[int | str] | None = None,
        debug: bool | None = None,
        noinline: bool | None = None,
        repr: Callable | None = None,
        launch_metadata: Callable | None = None,
    ) -> None:
        super().__init__(fn)
        self.module = fn.__module__
        self.full_name = f"{self.module}:{fn.__qualname__}"
        self.version = version
        self.do_not_specialize = list(do_not_specialize or ())
        self.do_not_specialize_on_alignment = list(do_not_specialize_on_alignment or ())
        self.debug = debug
        self.noinline = bool(noinline)
        self.launch_metadata = launch_metadata
        self._repr = repr
        self.pre_run_hooks: list[Callable] = []
        self.kernel = None
        code = getattr(inspect.unwrap(fn), "__code__", None)
        if code is None or code.co_flags & inspect.CO_VARKEYWORDS:
            for param in self.signature.parameters.values():
                if param.kind is inspect.Parameter.VAR_KEYWORD:
                    raise TypeError(
                        f"{self.__name__}: a jit function cannot have the parameter **{param.name}; name the parameters"
                    )
        self._preloaded: dict[str, Any] = {}
        if type(self) is JITFunction:
            by_full_name[self.full_name] = self

    # Most functions of a library are never launched: their parameters are looked at when somebody asks.
    @functools.cached_property
    def params(self) -> list[KernelParam]:
        """What the declaration says of each parameter."""
        by_value, by_alignment = self.do_not_specialize, self.do_not_specialize_on_alignment
        return [
            KernelParam(
                num, param, num in by_value or param.name in by_value, num in by_alignment or param.name in by_alignment
            )
            for num, param in enumerate(self.signature.parameters.values())
        ]

    @functools.cached_property
    def arg_names(self) -> list[str]:
        return [p.name for p in self.params]

    @functools.cached_property
    def constexprs(self) -> list[int]:
        """Indices of the parameters annotated tl.constexpr."""
        return [p.num for p in self.params if p.is_constexpr]

    @functools.cached_property
    def defaults(self) -> dict[str, Any]:
        return {p.name: p.default for p in self.params if p.has_default}

    @functools.cached_property
    def annotations(self) -> dict[str, Any]:
        return {p.name: p._param.annotation for p in self.params if p._param.annotation is not inspect.Parameter.empty}

    def repr(self, _: Any = None) -> str:
        """The kernel's name for a specialization (an object with `signature` and `constants`, by parameter name)."""
        return self._fn_name if self._repr is None else self._repr(_)

    def check_parameters(self) -> None:
        """Errors: CompilationError, a compile-time parameter is also listed as not to be specialized."""
        for p in self.params:
            if p.is_constexpr and (p.do_not_specialize or p.do_not_specialize_on_alignment):
                listed = self.ast.args
                node = next(
                    (a for a in (*listed.posonlyargs, *listed.args, *listed.kwonlyargs) if a.arg == p.name), self.ast
                )
                raise CompilationError(
                    f"{p.name} marked as constexpr and listed in do_not_specialize/do_not_specialize_on_alignment: "
                    "the value of a tl.constexpr is always part of the compiled code, so drop one of the two",
                    self.file,
                    node.lineno,
                    node.col_offset,
                    self.source_lines[node.lineno - self.first_line],
                    first_line=self.first_line,
                )

    def kernel_name(self, signature: dict[str, Any], constants: dict[tuple, Any]) -> str:
        """The last part of `repr`, which names the compiled kernel.

        Raises:
            CompilationError: the name given by `@triton.jit(repr=...)` is no identifier.
        """
        if self._repr is None:
            return self.__name__
        given = {self.arg_names[path[0]]: value for path, value in constants.items() if len(path) == 1}
        name = self.repr(_Specialization(given, signature)).rpartition(".")[2]
        if not (name.isidentifier() and name.isascii()):
            raise CompilationError(f"{self.__name__}: repr() gave {name!r}, and a kernel's name must be an identifier")
        return name

    def is_gluon(self) -> bool:
        return False

    def add_pre_run_hook(self, hook: Callable) -> None:
        """`hook(**arguments)` is called before every launch."""
        self.pre_run_hooks.append(hook)

    @functools.cached_property
    def _launcher(self) -> _C.Launcher:
        return _C.Launcher(self, self.__name__, [p.row() for p in self.params], self.pre_run_hooks)

    def _bind(self, grid: Grid) -> Callable[..., Any]:
        """The callable that launches this kernel on `grid`: an int, a tuple of one to three ints, or a function of the
        bound arguments (a dict) that returns one."""
        if type(self).run is not JITFunction.run:
            return functools.partial(self.run, grid=grid, warmup=False)
        return self._launcher.bind(grid)

    __getitem__: Any = _C.untraced_method(_bind)

    def run(self, *args: Any, grid: Grid, warmup: bool = False, **kwargs: Any) -> Any:
        """Launches (or, with `warmup`, only compiles) the kernel; returns the compiled kernel, or None where a
        `jit_cache_hook` prevented it."""
        if not warmup:
            return self._launcher.bind(grid)(*args, **kwargs)
        mode = async_compile.active_mode.get()
        if mode is None:
            return self._prepare(*args, **kwargs)
        key = (id(self), *map(repr, map(mangle_type, args)), repr(sorted(kwargs.items(), key=lambda item: item[0])))
        return mode.submit(key, lambda: self._prepare(*args, **kwargs), lambda kernel: None, lambda future: None)

    def _prepare(self, *args: Any, **kwargs: Any) -> Any:
        """Compiles for these arguments."""
        _this_thread.warms_up = not getattr(_this_thread, "ahead", False)
        try:
            return self._launcher.prepare(*args, **kwargs)
        finally:
            _this_thread.warms_up = False

    def as_call(self, arguments: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
        """Arguments by parameter name as (args, kwargs) of a call of the function."""
        if not any(p._param.kind in _BY_POSITION for p in self.params):
            return (), arguments
        args: list[Any] = []
        rest = dict(arguments)
        for p in self.params:
            if p._param.kind is inspect.Parameter.VAR_POSITIONAL:
                args += rest.pop(p.name, ())
            elif p._param.kind is not inspect.Parameter.KEYWORD_ONLY:
                args.append(rest.pop(p.name))
        return tuple(args), rest

    def preload(self, specialization_data: str) -> Any:
        """Compiles the specialization that a jit hook got (`compile["specialization_data"]`), in this or
        another process; the first launch that needs it takes it. Returns the compiled kernel.

        Raises:
            ValueError: no such data.
            RuntimeError: data of another kernel or target.
        """
        from tiletwin.drivers.chosen import launch_capability
        from tiletwin.kernels.specialization_data import read_specialization

        data = read_specialization(specialization_data)
        if data["name"] != self._fn_name:
            raise RuntimeError(f"this is specialization data of {data['name']}, not of {self._fn_name}")
        here = launch_capability()
        capability = next((c for c in (here, 0) if vars(launch_target(c)) == data["target"]), None)
        if capability is None:
            arch = f"sm_{launch_target(here).arch}"
            raise RuntimeError(
                f"this is specialization data for {data['target']}; kernels are compiled for {arch} here"
            )
        parts = (data["signature"], data["constants"], data["attrs"], data["options"], capability)
        with _compile_lock:
            kernel = ports.compile_function(self, *parts)
        self._preloaded[repr(parts)] = kernel
        return kernel

    def create_binder(self) -> tuple:
        """What Triton keeps per device: compiled kernels by key, keys, target, backend, and the binder of arguments.
        Launches do not look into it. Also sets `compile`, `ASTSource` and `CompiledKernel` on the kernel."""
        self.CompiledKernel, self.compile, self.ASTSource, backend = ports.compiler_names(DEFAULT_TARGET)
        binder = create_function_from_signature(self.signature, self.params, backend)
        return self.cache, {}, DEFAULT_TARGET, backend, binder

    @property
    def cache(self) -> dict[bytes, Any]:
        """Compiled kernels by launch key."""
        return dict(self._launcher.kernels())

    @property
    def device_caches(self) -> dict[int, tuple]:
        """As Triton has it: per device, the compiled kernels first. There is one device."""
        caches: dict[int, tuple] = defaultdict(self.create_binder)
        caches[0] = self.create_binder()
        return caches

    def clear_cache(self) -> None:
        """Forgets compiled kernels; the next launch compiles again."""
        self._hash = None
        self._launcher.clear()

    def _unsafe_update_src(self, text: str) -> None:
        super()._unsafe_update_src(text)
        self.clear_cache()

    def _compile(self, signature: dict, constexprs: dict, attributes: dict, options: dict, capability: int) -> Any:
        """Called by the launcher when it meets a new specialization, for a GPU's capability (0: for the interpreter).
        None: a hook does not want it compiled."""
        target = launch_target(capability)
        with _compile_lock:
            if knobs.runtime.jit_cache_hook is not None and self._call_hook(
                knobs.runtime.jit_cache_hook, signature, constexprs, attributes, options, target
            ):
                return None
            kernel = None
            if self._preloaded:
                kernel = self._preloaded.pop(repr((signature, constexprs, attributes, options, capability)), None)
            if kernel is None:
                kernel = ports.compile_function(self, signature, constexprs, attributes, options, capability)
            if knobs.runtime.jit_post_compile_hook is not None:
                self._call_hook(knobs.runtime.jit_post_compile_hook, signature, constexprs, attributes, options, target)
            return kernel

    def _call_hook(
        self, hook: Callable, signature: dict, constexprs: dict, attributes: dict, options: dict, target: Any
    ) -> bool:
        from tiletwin.kernels.launch_hooks import call_jit_hook

        warms_up = getattr(_this_thread, "warms_up", False)
        return call_jit_hook(hook, self, signature, constexprs, attributes, options, target, warms_up)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Outside kernels, at a prompt or in a debugger: evaluates the function at once, on values of the language.

        Raises:
            RuntimeError: an argument is an array, which only a launch or `tiletwin.pointer` makes a pointer of.
        """
        return ports.call_at_prompt(self, args, kwargs)

    def _repr_html_(self) -> str:
        return ports.jit_page(self)

    # Kernels are compared and hashed as the objects they are; attributes are copied by pickle through the module.
    def __reduce__(self) -> Any:
        return sent.reduced(self) if self.fn is None else (_by_name, (self.__module__, self.fn.__qualname__))


def _by_name(module: str, qualname: str) -> Any:
    """The object of that name, for unpickling in another process."""
    import importlib

    found: Any = importlib.import_module(module)
    for part in qualname.split("."):
        found = getattr(found, part)
    return found


def jit(
    fn: Any = None,
    *,
    version: Any = None,
    repr: Callable | None = None,
    launch_metadata: Callable | None = None,
    do_not_specialize: Iterable[int | str] | None = None,
    do_not_specialize_on_alignment: Iterable[int | str] | None = None,
    debug: bool | None = None,
    noinline: bool | None = None,
) -> Any:
    """Decorator that makes a kernel, or a helper for kernels, of a Python function.

    Args:
        do_not_specialize: parameters (names or indices) whose values never become part of the compiled code: neither
            being 1 nor being a multiple of 16.
        do_not_specialize_on_alignment: only the latter.
        debug: emit device asserts and overflow checks.
        noinline: keep the function a function when kernels call it.

    Raises:
        TypeError: not a function.
    """

    def decorate(fn: Any) -> JITFunction:
        if not isinstance(fn, FunctionType):
            raise TypeError(f"@triton.jit takes a Python function, not a {type(fn).__name__}")
        return JITFunction(
            fn,
            version=version,
            do_not_specialize=do_not_specialize,
            do_not_specialize_on_alignment=do_not_specialize_on_alignment,
            debug=debug,
            noinline=noinline,
            repr=repr,
            launch_metadata=launch_metadata,
        )

    return decorate if fn is None else decorate(fn)


def serialize_specialization_data(
    name: str, signature: dict, constants: dict, attrs: dict, options: Any, key: str, target: Any
) -> str:
    """A specialization as text that `JITFunction.preload` takes.

    Errors: TypeError, a compile-time value that JSON cannot hold.
    """
    from tiletwin.kernels.specialization_data import write_specialization

    return write_specialization(name, signature, constants, attrs, options, key, target)


class DependenciesFinder:
    """A visitor of Triton's front end; making one raises NotImplementedError."""

    def __init__(self, name: str, globals: dict, nonlocals: dict, src: str) -> None:
        refuse("triton.runtime.jit.DependenciesFinder")
