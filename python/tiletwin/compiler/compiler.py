"""Sources of kernels, the compiled kernel, `triton.compile`.

Here:      ASTSource, IRSource, CompiledKernel with its stages as text, the way into `_C.compile`.
Not here:  launches (`_C.Launcher`), the front end (C++), options (runtime/options.py).
"""

from __future__ import annotations

import hashlib
import json
from collections import namedtuple
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from tiletwin import _C
from tiletwin.backends.compiler import DEFAULT_TARGET, BaseBackend, GPUTarget
from tiletwin.runtime import jit
from tiletwin.runtime.options import parse_options

GPU_STAGES = ("ttgir", "llir", "ptx", "cubin", "sass")
"""Stages of GPU code, which need code generation."""


class AsmDict(Mapping):
    """Texts of a kernel's stages, made when asked for: "source" (the front end's output) and "ttir"."""

    STAGES = ("source", "ttir")

    def __init__(self, module: _C.CompiledModule) -> None:
        self._module = module
        self._texts: dict[str, str] = {}

    def __getitem__(self, stage: str) -> str:
        if stage in GPU_STAGES:
            raise NotImplementedError(
                f"asm[{stage!r}] needs GPU code generation, which this version does not have; "
                f"available: {', '.join(self.STAGES)}"
            )
        if stage not in self.STAGES:
            raise KeyError(f"no stage {stage!r}; available: {', '.join(self.STAGES)}")
        if stage not in self._texts:
            self._texts[stage] = self._module.text(stage)
        return self._texts[stage]

    def __contains__(self, stage: object) -> bool:
        return stage in self.STAGES

    def __iter__(self) -> Iterator[str]:
        return iter(self.STAGES)

    def __len__(self) -> int:
        return len(self.STAGES)

    def __repr__(self) -> str:
        return f"<stages {', '.join(self.STAGES)} of kernel {self._module.entry}>"


def _paths(fn: jit.JITFunction, table: dict | None) -> dict[tuple, Any]:
    """Keys given as names, indices or paths, as paths of indices."""
    result = {}
    for key, value in (table or {}).items():
        path = key if isinstance(key, tuple) else (key,)
        if path and isinstance(path[0], str):
            if path[0] not in fn.arg_names:
                raise ValueError(f"{fn.__name__} has no parameter {path[0]!r}; it has {', '.join(fn.arg_names)}")
            path = (fn.arg_names.index(path[0]), *path[1:])
        result[path] = value
    return result


class ASTSource:
    """A kernel's Python source with the types of its arguments.

    signature: type string per parameter name ("*fp32", "i32", "constexpr"). constexprs: values by name, index or path.
    attrs: {(index,): [["tt.divisibility", 16]]}.
    Errors: ValueError, names that are no parameters; TypeError, not a jit function.
    """

    def __init__(
        self, fn: Any, signature: dict[str, Any], constexprs: dict | None = None, attrs: dict | None = None
    ) -> None:
        fn = getattr(fn, "fn", fn) if not isinstance(fn, jit.JITFunction) else fn
        if not isinstance(fn, jit.JITFunction):
            raise TypeError(f"ASTSource needs a function made by @triton.jit, not a {type(fn).__name__}")
        self.fn = fn
        self.language = "triton"
        self.ext = "ttir"
        self.name = fn.__name__
        self.constants = _paths(fn, constexprs)
        self.attrs = _paths(fn, attrs)
        unknown = [name for name in signature if name not in fn.arg_names]
        if unknown:
            raise ValueError(f"{fn.__name__} has no parameter {unknown[0]!r}; it has {', '.join(fn.arg_names)}")
        self.signature = {}
        for index, name in enumerate(fn.arg_names):
            if name in signature:
                self.signature[name] = signature[name]
            elif (index,) in self.constants:
                self.signature[name] = "constexpr"
            elif fn.params[index].is_constexpr and fn.params[index].has_default:
                self.signature[name] = "constexpr"
                self.constants[(index,)] = fn.params[index].default
            else:
                raise ValueError(f"the signature of {fn.__name__} lacks its parameter {name!r}")

    def hash(self) -> str:
        parts = [
            self.fn.cache_key,
            repr(self.attrs),
            repr(self.signature),
            repr(sorted(map(repr, self.constants.items()))),
        ]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def parse_options(self) -> dict[str, Any]:
        return {}

    def compile(self, options: dict[str, Any]) -> _C.CompiledModule:
        return _C.compile(self.fn, self.signature, self.constants, self.attrs, options)


class IRSource:
    """A kernel as TTIR text in a file."""

    def __init__(self, path: str | Path, context: Any = None, backend: Any = None) -> None:
        self.path = Path(path)
        self.ext = self.path.suffix[1:]
        self.language = "triton"
        if self.ext != "ttir":
            raise ValueError(f"{path}: only .ttir files can be compiled here")
        self.src = self.path.read_text()
        self.name = self.path.stem
        self.signature: dict[str, Any] = {}
        self.constants: dict[tuple, Any] = {}
        self.attrs: dict[tuple, Any] = {}

    def hash(self) -> str:
        return hashlib.sha256(self.src.encode()).hexdigest()

    def parse_options(self) -> dict[str, Any]:
        return {}

    def compile(self, options: dict[str, Any]) -> _C.CompiledModule:
        module = _C.parse_ttir(self.src, str(self.path))
        self.name = module.entry
        return module


class CompiledKernel:
    """A kernel compiled for one signature. `asm` holds its stages as text, `metadata` what it was compiled with."""

    def __init__(
        self, src: Any, module: _C.CompiledModule, options: dict[str, Any], target: GPUTarget, used_globals: list = ()
    ) -> None:
        self.src = src
        self.module = module
        self.options = options
        self.target = target
        self.name = module.entry
        self.asm = AsmDict(module)
        self.function = None
        self._used_globals = used_globals

    @cached_property
    def hash(self) -> str:
        text = json.dumps([self.src.hash(), repr(self.target), repr(sorted(self.options.items(), key=str))])
        return hashlib.sha256(text.encode()).hexdigest()

    @cached_property
    def metadata(self) -> Any:
        import tiletwin

        fields = {
            **self.options,
            "name": self.name,
            "hash": self.hash,
            "target": self.target,
            "shared": 0,
            "tmem_size": None,
            "global_scratch_size": 0,
            "global_scratch_align": 1,
            "profile_scratch_size": 0,
            "profile_scratch_align": 1,
            "triton_version": tiletwin.TRITON_VERSION,
        }
        return namedtuple("KernelMetadata", sorted(fields))(**fields)

    @property
    def kernel(self) -> bytes:
        raise NotImplementedError("a binary needs GPU code generation, which this version does not have")

    # Figures of GPU code. Scripts print them; the interpreter has no registers.
    n_regs = 0
    n_spills = 0
    n_max_threads = 1024

    def __getitem__(self, grid: Any) -> Any:
        """A callable that launches this very kernel: all parameters in order, compile-time ones included."""

        def launch(*args: Any) -> CompiledKernel:
            names = list(self.src.signature) or None
            skip = [t == "constexpr" for t in self.src.signature.values()]
            if names and len(args) == len(names):
                args = tuple(a for a, s in zip(args, skip) if not s)
            if names:
                names = [n for n, s in zip(names, skip) if not s]
            _C.launch_module(self.module, grid, args, names)
            return self

        return launch

    def run(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("run() is the raw launcher of GPU code; launch with kernel[grid](...)")

    def __repr__(self) -> str:
        return f"<compiled kernel {self.name}({', '.join(map(str, self.src.signature.values()))})>"


class LazyDict:
    """Launch metadata that is computed only when somebody reads it."""

    def __init__(self, data: dict) -> None:
        self.data = data
        self.extras: list[tuple] = []

    def get(self) -> dict:
        for function, args in self.extras:
            self.data = {**self.data, **function(*args)}
        self.extras.clear()
        return self.data

    def add(self, function: Any, args: tuple) -> None:
        self.extras.append((function, args))


def compile_function(
    fn: jit.JITFunction, signature: dict, constexprs: dict, attributes: dict, options: dict
) -> CompiledKernel:
    """Compiles one specialization of a launch. The caller holds the compile lock."""
    source = ASTSource.__new__(ASTSource)
    source.fn, source.language, source.ext, source.name = fn, "triton", "ttir", fn.__name__
    source.signature, source.constants, source.attrs = signature, constexprs, attributes
    return _compile_source(source, DEFAULT_TARGET, options, fn.debug)


def _compile_source(source: Any, target: GPUTarget, given: dict, debug: bool | None = None) -> CompiledKernel:
    import tiletwin.language  # noqa: F401  registers the types of the language

    options = parse_options(given, target, debug)
    module = source.compile(options)
    used = source.fn.used_globals() if isinstance(source, ASTSource) else []
    return CompiledKernel(source, module, options, target, used)


def compile(
    src: Any, target: GPUTarget | None = None, options: dict | None = None, _env_vars: Any = None
) -> CompiledKernel:
    """Compiles a kernel that is not launched.

    src: an ASTSource, an IRSource, or the path of a .ttir file. target: sm_90 unless given.
    options: num_warps, debug, ...
    Returns a CompiledKernel: `.asm["ttir"]`, `.metadata`, and `kernel[grid](...)` runs it.
    Errors: CompilationError; ValueError, KeyError for bad options or an unsupported target.
    """
    if isinstance(src, (str, Path)):
        src = IRSource(src)
    if not isinstance(src, (ASTSource, IRSource)):
        raise TypeError(
            f"compile() takes an ASTSource, an IRSource or the path of a .ttir file, not a {type(src).__name__}"
        )
    target = target or DEFAULT_TARGET
    if target.backend != "cuda":
        raise ValueError(f"target {target.backend!r} is not supported: only 'cuda' targets are")
    with jit._compile_lock:
        return _compile_source(
            src, target, {**src.parse_options(), **(options or {})}, getattr(getattr(src, "fn", None), "debug", None)
        )


def make_backend(target: GPUTarget) -> BaseBackend:
    return BaseBackend(target)


def get_cache_key(src: Any, backend: BaseBackend, backend_options: Any, env_vars: Any = None) -> str:
    text = f"{src.hash()}-{backend.hash()}-{backend_options!r}-{env_vars!r}"
    return hashlib.sha256(text.encode()).hexdigest()


def max_shared_mem(device: int) -> int:
    """Bytes of shared memory a block may use on the emulated GPU."""
    from tiletwin.runtime.driver import DEVICE_PROPERTIES

    return DEVICE_PROPERTIES["max_shared_mem"]
