"""`@triton.jit`: the Python object a kernel is.

Here:      JITFunction (source, parameters, cache key, compile on a miss), constexpr_function, the `jit` decorator.
Not here:  binding of arguments and launches (`_C.Launcher`), the front end (`_C.compile`), options (options.py).
Invariant: making a JITFunction reads no source; that happens when the kernel is first compiled or asked for its text.
"""

from __future__ import annotations

import functools
import inspect
import os
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any, Generic, TypeVar

from tiletwin import _C
from tiletwin.runtime.source import FunctionSource, function_source

T = TypeVar("T")

TYPE_NAMES = {
    "bool": "u1", "int1": "u1", "uint1": "u1", "i1": "u1", "u1": "u1",
    "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "i8": "i8", "i16": "i16", "i32": "i32", "i64": "i64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "u8": "u8", "u16": "u16", "u32": "u32",
    "u64": "u64", "float8e5": "fp8e5", "fp8e5": "fp8e5",
    "float8e4nv": "fp8e4nv", "fp8e4nv": "fp8e4nv", "float8e4b15": "fp8e4b15",
    "fp8e4b15": "fp8e4b15", "float8e4b8": "fp8e4b8", "fp8e4b8": "fp8e4b8", "float8e5b16": "fp8e5b16",
    "fp8e5b16": "fp8e5b16",
    "float16": "fp16", "fp16": "fp16", "bfloat16": "bf16", "bf16": "bf16", "float32": "fp32", "fp32": "fp32",
    "float64": "fp64", "fp64": "fp64",
}  # fmt: skip
"""Names of scalar types in annotations and dtypes, to signature strings."""

type_canonicalisation_dict = TYPE_NAMES

_compile_lock = threading.RLock()


def _renew_lock() -> None:
    """In a forked child: another thread of the parent may have held the lock."""
    global _compile_lock
    _compile_lock = threading.RLock()


os.register_at_fork(after_in_child=_renew_lock)


def mangle_type_name(text: str) -> str | None:
    """Signature string of a type's name ("fp32", "*fp16", "pointer<fp32>"), or None if it names no type."""
    text = text.strip()
    if text.startswith("pointer<") and text.endswith(">"):
        inner = mangle_type_name(text[len("pointer<") : -1])
        return inner and "*" + inner
    if text.startswith("*"):
        const = text[1:].startswith("k")
        inner = mangle_type_name(text[2 if const else 1 :])
        return inner and ("*k" if const else "*") + inner
    return TYPE_NAMES.get(text.removeprefix("tl.").removeprefix("triton.language.").removeprefix("language."))


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
        """The annotation as text; empty if there is none."""
        annotation = self._param.annotation
        if annotation is inspect.Parameter.empty:
            return ""
        return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))

    @functools.cached_property
    def annotation_type(self) -> str:
        """Signature string of an annotated scalar or pointer type; empty if the annotation is no type."""
        annotation = self._param.annotation
        if annotation is inspect.Parameter.empty or annotation in (bool, int, float):
            return ""
        text = annotation if isinstance(annotation, str) else str(annotation)
        if text in ("bool", "int", "float"):
            return ""
        return mangle_type_name(text) or ""

    @functools.cached_property
    def is_constexpr(self) -> bool:
        return "constexpr" in self.annotation

    @functools.cached_property
    def is_const(self) -> bool:
        return not self.is_constexpr and self.annotation.rpartition(".")[2] == "const"

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
            not self.do_not_specialize and self.annotation_type not in ("fp16", "bf16", "fp32", "fp64", "u1"),
            not self.do_not_specialize_on_alignment,
        )


class JITCallable:
    """A function whose source is compiled: kernels and the helpers they call."""

    def __init__(self, fn: Callable) -> None:
        self.fn = fn
        self.__name__ = fn.__name__
        self.__qualname__ = fn.__qualname__
        self.__doc__ = fn.__doc__
        self.__module__ = fn.__module__ or "__main__"  # code given to exec() may have none
        self.__globals__ = fn.__globals__
        self.__wrapped__ = fn
        self._hash: str | None = None

    @functools.cached_property
    def _source(self) -> FunctionSource:
        return function_source(self.fn)

    # What the front end reads (frontend/Frontend.h).
    @property
    def ast(self) -> Any:
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
    def mangled_name(self) -> str:
        return f"{self.__module__}.{self.__qualname__}"

    @property
    def starting_line_number(self) -> int:
        return self.first_line

    @property
    def src(self) -> str:
        """Text of the function from its `def` on, without common indentation."""
        lines = self._source.lines[self._source.node.lineno - self._source.first_line :]
        indent = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
        return "".join(line.removeprefix(indent) for line in lines)

    @property
    def raw_src(self) -> list[str]:
        return self._source.lines

    def parse(self) -> Any:
        """The function as an `ast.Module`."""
        import ast

        return ast.Module(body=[self._source.node], type_ignores=[])

    def get_capture_scope(self) -> dict[str, Any]:
        return self.globals

    @property
    def type(self) -> Any:
        from tiletwin.language.types import constexpr_type

        return constexpr_type(self)

    def used_globals(self, seen: set[int] | None = None) -> list[tuple[dict, str, Any]]:
        """Compile-time values and jit functions that this function and those it calls take from module globals."""
        seen = set() if seen is None else seen
        seen.add(id(self))
        found = []
        globals_ = self.fn.__globals__
        reachable = self.globals
        for name in (*self.fn.__code__.co_names, *self.fn.__code__.co_freevars):
            value = globals_.get(name)
            if isinstance(value, (JITCallable, _C.constexpr)):
                found.append((globals_, name, value))
            value = reachable.get(name)
            if isinstance(value, JITCallable) and id(value) not in seen:
                found += value.used_globals(seen)
        return found

    @property
    def cache_key(self) -> str:
        """A hash of the text, of the jit functions and compile-time globals it uses, and of its place in the file."""
        if self._hash is None:
            import hashlib

            digest = hashlib.sha256(f"{self.file}:{self.first_line}\n{self.src}".encode())
            for _, name, value in self.used_globals():
                text = value.src if isinstance(value, JITCallable) else repr(value)
                digest.update(f"{name}={text}\n".encode())
            self._hash = digest.hexdigest()
        return self._hash

    def __hash__(self) -> int:
        return id(self) >> 4

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.__module__}:{self.fn.__qualname__})"


class KernelInterface(Generic[T]):
    """What can be launched with `kernel[grid](...)`."""

    run: Any

    def warmup(self, *args: Any, grid: Any = (1,), **kwargs: Any) -> Any:
        """Compiles for these arguments without running; dtypes may stand in for tensors."""
        return self.run(*map(MockTensor.wrap_dtype, args), grid=grid, warmup=True, **kwargs)

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
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
        self.version = version
        self.do_not_specialize = list(do_not_specialize or ())
        self.do_not_specialize_on_alignment = list(do_not_specialize_on_alignment or ())
        self.debug = debug
        self.noinline = bool(noinline)
        self.launch_metadata = launch_metadata
        self._repr = repr
        self.pre_run_hooks: list[Callable] = []
        self.kernel = None
        self.signature = inspect.signature(fn)
        self.params = [
            KernelParam(
                num,
                param,
                num in self.do_not_specialize or param.name in self.do_not_specialize,
                num in self.do_not_specialize_on_alignment or param.name in self.do_not_specialize_on_alignment,
            )
            for num, param in enumerate(self.signature.parameters.values())
        ]
        self.arg_names = [p.name for p in self.params]

    @functools.cached_property
    def constexprs(self) -> set[int]:
        """Indices of the parameters annotated tl.constexpr."""
        return {p.num for p in self.params if p.is_constexpr}

    @functools.cached_property
    def defaults(self) -> dict[str, Any]:
        return {p.name: p.default for p in self.params if p.has_default}

    @functools.cached_property
    def annotations(self) -> dict[str, Any]:
        return {p.name: p._param.annotation for p in self.params if p._param.annotation is not inspect.Parameter.empty}

    def repr(self, specialization: Any = None) -> str:
        return self.fn.__qualname__ if self._repr is None else self._repr(specialization)

    def is_gluon(self) -> bool:
        return False

    def add_pre_run_hook(self, hook: Callable) -> None:
        """`hook(**arguments)` is called before every launch."""
        self.pre_run_hooks.append(hook)

    @functools.cached_property
    def _launcher(self) -> _C.Launcher:
        for p in self.params:
            if p._param.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
                raise TypeError(
                    f"{self.__name__}: a kernel that is launched cannot have the parameter *{p.name}; "
                    "only helpers that kernels call can"
                )
        return _C.Launcher(self, self.__name__, [p.row() for p in self.params], self.pre_run_hooks)

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        """The callable that launches this kernel on `grid`: an int, a tuple of one to three ints, or a function of the
        bound arguments (a dict) that returns one."""
        if type(self).run is not JITFunction.run:
            return functools.partial(self.run, grid=grid, warmup=False)
        return self._launcher.bind(grid)

    def run(self, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> Any:
        """Launches (or, with `warmup`, only compiles) the kernel; returns the compiled kernel."""
        if warmup:
            return self._launcher.prepare(*args, **kwargs)
        return self._launcher.bind(grid)(*args, **kwargs)

    def preload(self, specialization_data: str) -> Any:
        raise NotImplementedError("preload() reads a format of Triton's own caches; call warmup() instead")

    @property
    def cache(self) -> dict[bytes, Any]:
        """Compiled kernels by launch key."""
        return dict(self._launcher.kernels())

    @property
    def device_caches(self) -> dict[int, tuple]:
        """As Triton has it: per device, the compiled kernels first. There is one device."""
        caches: dict[int, tuple] = defaultdict(lambda: ({}, {}, None, None, None))
        caches[0] = (self.cache, {}, None, None, None)
        return caches

    def clear_cache(self) -> None:
        """Forgets compiled kernels; the next launch compiles again."""
        self._hash = None
        self._launcher.clear()

    def _compile(self, signature: dict, constexprs: dict, attributes: dict, options: dict) -> Any:
        """Called by the launcher when it meets a new specialization."""
        from tiletwin.compiler.compiler import compile_function

        with _compile_lock:
            return compile_function(self, signature, constexprs, attributes, options)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            f"{self.__name__} is a kernel: launch it with a grid, {self.__name__}[grid](...), "
            "or call it in another kernel"
        )

    # Kernels are compared and hashed as the objects they are; attributes are copied by pickle through the module.
    def __reduce__(self) -> Any:
        return _by_name, (self.__module__, self.fn.__qualname__)


def _by_name(module: str, qualname: str) -> Any:
    """The object of that name, for unpickling in another process."""
    import importlib

    found: Any = importlib.import_module(module)
    for part in qualname.split("."):
        found = getattr(found, part)
    return found


class ConstexprFunction(JITCallable):
    """A Python function that kernels may call with compile-time arguments; called outside kernels it is itself."""

    def __init__(self, fn: Callable) -> None:
        super().__init__(fn)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else BoundConstexprFunction(instance, self)

    def __call__(self, *args: Any, _semantic: Any = None, **kwargs: Any) -> Any:
        args = tuple(_plain(a) for a in args)
        kwargs = {name: _plain(value) for name, value in kwargs.items()}
        return self.fn(*args, **kwargs)


class BoundConstexprFunction(JITCallable):
    """A constexpr_function as a method of an instance."""

    def __init__(self, instance: Any, fn: ConstexprFunction) -> None:
        super().__init__(fn.fn)
        self.__self__ = instance
        self.__func__ = fn

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__func__(self.__self__, *args, **kwargs)


def _plain(value: Any) -> Any:
    """The value inside a constexpr, also inside tuples."""
    if isinstance(value, _C.constexpr):
        return value.value
    if type(value) is tuple:
        return tuple(_plain(v) for v in value)
    return value


def constexpr_function(fn: T) -> ConstexprFunction:
    """Makes a Python function callable while kernels are compiled: arguments and result are compile-time values."""
    return ConstexprFunction(fn)  # type: ignore[arg-type]


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

    do_not_specialize: parameters (names or indices) whose values never become part of the compiled code: neither
        being 1 nor being a multiple of 16. do_not_specialize_on_alignment: only the latter.
    debug: emit device asserts and overflow checks. noinline: keep the function a function when kernels call it.
    Errors: TypeError, not a function.
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


class MockTensor:
    """Stands in for a tensor of a dtype where nothing is run: `kernel.warmup(torch.float32, ...)`."""

    def __init__(self, dtype: Any, shape: list[int] | None = None) -> None:
        self.dtype = dtype
        self.shape = [1] if shape is None else shape

    @staticmethod
    def wrap_dtype(arg: Any) -> Any:
        if type(arg).__name__ == "dtype" and type(arg).__module__ == "torch":
            return MockTensor(arg)
        return arg

    def stride(self) -> list[int]:
        strides = [1]
        for size in self.shape[:0:-1]:
            strides.append(strides[-1] * size)
        return strides[::-1]

    @staticmethod
    def data_ptr() -> int:
        return 0  # a multiple of 16, so pointers count as aligned

    @staticmethod
    def ptr_range() -> int:
        return 0


class TensorWrapper:
    """A tensor whose elements are read as another type of the same width: `triton.reinterpret(x, tl.float8e5)`."""

    def __init__(self, base: Any, dtype: Any) -> None:
        self.dtype = dtype
        self.base = base
        self.data = getattr(base, "data", base)
        self.device = getattr(base, "device", "cpu")
        self.shape = base.shape

    def data_ptr(self) -> int:
        return self.base.data_ptr()

    def stride(self, *args: Any) -> Any:
        return self.base.stride(*args)

    def element_size(self) -> int:
        return self.base.element_size()

    def cpu(self) -> TensorWrapper:
        return TensorWrapper(self.base.cpu(), self.dtype)

    def copy_(self, other: TensorWrapper) -> None:
        self.base.copy_(other.base)

    def clone(self) -> TensorWrapper:
        return TensorWrapper(self.base.clone(), self.dtype)

    def to(self, device: Any) -> TensorWrapper:
        return TensorWrapper(self.base.to(device), self.dtype)

    def new_empty(self, sizes: Any) -> TensorWrapper:
        return TensorWrapper(self.base.new_empty(sizes), self.dtype)

    def __str__(self) -> str:
        return f"TensorWrapper[{self.dtype}]({self.base})"


def reinterpret(tensor: Any, dtype: Any) -> Any:
    """`tensor` with its elements read as `dtype` (a dtype of the language of the same width) in kernels.

    Errors: TypeError, not a tensor.
    """
    base = tensor.base if isinstance(tensor, TensorWrapper) else tensor
    if str(dtype) == str(getattr(base, "dtype", None)):
        return base
    if not hasattr(base, "data_ptr"):
        raise TypeError(f"cannot reinterpret a {type(tensor).__name__}; a tensor is needed")
    return TensorWrapper(base, dtype)


def get_full_name(fn: Any) -> str:
    return f"{fn.__module__}.{fn.__qualname__}"
