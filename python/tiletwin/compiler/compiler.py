"""Sources of kernels, the compiled kernel, `triton.compile`.

Here:      ASTSource, IRSource, CompiledKernel with its stages as text, the way into `_C.compile`; TTIR in files.
Not here:  launches (`_C.Launcher`), the front end (C++), options (runtime/options.py).
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections import namedtuple
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from tiletwin import _C, knobs
from tiletwin._refused import refuse
from tiletwin.backends.compiler import DEFAULT_TARGET, BaseBackend, GPUTarget, Language
from tiletwin.errors import OutOfResources  # noqa: F401  scripts look for it here
from tiletwin.runtime import cache, jit
from tiletwin.runtime.driver import driver
from tiletwin.runtime.options import parse_options

GPU_STAGES = ("ttgir", "llir", "ptx", "cubin", "sass", "amdgcn", "hsaco")
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
        self.language = Language.TRITON
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

    def make_ir(self, target: GPUTarget, options: Any, codegen_fns: Any, module_map: Any, context: Any) -> Any:
        """Would return an MLIR module of Triton's bindings."""
        refuse("triton.compiler.ASTSource.make_ir")

    def parse_options(self) -> dict[str, Any]:
        """Options that the source itself states: none."""
        return {}

    def compile(self, options: dict[str, Any]) -> _C.CompiledModule:
        self.fn.check_parameters()
        self.name = self.fn.kernel_name(self.signature, self.constants)
        return _C.compile(self.fn, self.signature, self.constants, self.attrs, options, self.name)


class IRSource:
    """A kernel as TTIR text in a file. `context` and `backend` are taken for compatibility.

    Errors: ValueError, a file of another stage; OSError; CompilationError when it is compiled.
    """

    def __init__(self, path: str | Path, context: Any = None, backend: Any = None) -> None:
        self.path = str(path)
        self.ext = Path(path).suffix[1:]
        self.language = Language.GLUON if self.ext == "glir" else Language.TRITON
        if self.ext in (*GPU_STAGES, "glir"):
            raise ValueError(
                f"{path}: .{self.ext} is a stage of GPU code, which this version can neither run nor compile further; "
                "a .ttir file can be compiled"
            )
        if self.ext != "ttir":
            raise ValueError(f"{path}: only .ttir files can be compiled here")
        self.src = Path(path).read_text()
        self.name = Path(path).stem
        self.signature: dict[Any, Any] = {}
        self.constants: dict[tuple, Any] = {}
        self.attrs: dict[tuple, Any] = {}

    def hash(self) -> str:
        return hashlib.sha256(f"{self.ext}-{self.src}".encode()).hexdigest()

    def make_ir(self, target: GPUTarget, options: Any, codegen_fns: Any, module_map: Any, context: Any) -> Any:
        """Would return an MLIR module of Triton's bindings."""
        refuse("triton.compiler.IRSource.make_ir")

    def parse_options(self) -> dict[str, Any]:
        """Options that the text states: none."""
        return {}

    def compile(self, options: dict[str, Any]) -> _C.CompiledModule:
        module = _C.parse_ttir(self.src, self.path)
        self.name = module.entry
        return module


class CompiledKernel:
    """A kernel compiled for one signature; `triton.compile` and launches make it.

    asm        its stages as text, "source" and "ttir"          metadata   what it was compiled with, a named tuple
    src        the ASTSource or IRSource                        hash       changes with source, target and options
    module     the native module                                function   a number, once it has been launched
    """

    src: Any
    module: _C.CompiledModule
    options: dict[str, Any]
    target: GPUTarget
    name: str
    asm: AsmDict
    function: int | None
    metadata_group: dict[str, str]
    _module_pid: int | None
    _used_globals: list

    def __init__(self, src: Any, metadata_group: dict[str, str], hash: str) -> None:
        refuse("triton.compiler.CompiledKernel.__init__")

    @classmethod
    def _make(
        cls, src: Any, module: _C.CompiledModule, options: dict[str, Any], target: GPUTarget, used_globals: list
    ) -> CompiledKernel:
        self = cls.__new__(cls)
        self.src = src
        self.module = module
        self.options = options
        self.target = target
        self.name = module.entry
        self.asm = AsmDict(module)
        self.function = None
        self.metadata_group = {}
        self._module_pid = None
        self._used_globals = used_globals
        return self

    def _repr_html_(self) -> str:
        from tiletwin.eager.kernel_html import compiled_html

        return compiled_html(self)

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
            "tensordesc_meta": None,
            "global_scratch_size": 0,
            "global_scratch_align": 1,
            "profile_scratch_size": 0,
            "profile_scratch_align": 1,
            "triton_version": tiletwin.TRITON_VERSION,
        }
        return namedtuple("KernelMetadata", sorted(fields))(**fields)

    @property
    def packed_metadata(self) -> tuple[int, int, int]:
        """(num_warps, num_ctas, shared memory)"""
        return (self.options["num_warps"], self.options["num_ctas"], 0)

    @property
    def kernel(self) -> bytes:
        """Would be the GPU binary."""
        refuse("triton.compiler.CompiledKernel.kernel")

    @property
    def run(self) -> Any:
        """Would be the raw launcher of the GPU binary."""
        refuse("triton.compiler.CompiledKernel.run")

    _run = None

    def _load(self) -> None:
        """Called once, before the first launch."""
        if self._module_pid is not None:
            return
        from tiletwin.runtime.launch_hooks import load_hook

        load_hook(knobs.runtime.kernel_load_start_hook, self, loaded=False)
        self.module.plan()
        self.function, self._module_pid = id(self.module), os.getpid()
        load_hook(knobs.runtime.kernel_load_end_hook, self, loaded=True)

    _init_handles = _load

    def __del__(self) -> None:
        if self.__dict__.get("_module_pid") != os.getpid():
            return
        hook = knobs.runtime.kernel_unload_hook
        if getattr(hook, "calls", hook):
            from tiletwin.runtime.launch_hooks import load_hook

            load_hook(hook, self, loaded=True)

    def launch_metadata(self, grid: tuple[int, ...], stream: Any, *args: Any) -> LazyDict | None:
        """What hooks around a launch get: `.get()` has name, function, stream and the additions of the kernel's
        `launch_metadata` function. None if there are no such hooks."""
        if knobs.runtime.launch_enter_hook is None:
            return None
        from tiletwin.runtime.launch_hooks import metadata_of

        fn = getattr(self.src, "fn", None)
        metadata = metadata_of(fn, self, dict(zip(getattr(fn, "arg_names", ()), args)), grid)
        metadata.data["stream"] = stream
        return metadata

    # Figures of GPU code. Scripts print them; the interpreter has no registers.
    n_regs = 0
    n_spills = 0
    n_max_threads = 1024

    def _runtime_arguments(self, args: tuple) -> tuple[tuple, list[str] | None]:
        """Of a launch's positional arguments those that the compiled kernel takes, with their names.

        args: a value per parameter in order, where compile-time ones at the end may be left out; or one per parameter
        that is not declared tl.constexpr; or one per parameter that this specialization kept.
        Errors: TypeError, none of these.
        """
        signature = self.src.signature
        if not signature:  # the kernel came as IR
            return args, None
        kept = [i for i, t in enumerate(signature.values()) if t != "constexpr"]
        names = [name for name, t in signature.items() if t != "constexpr"]
        if kept and kept[-1] < len(args) <= len(signature):
            return tuple(args[i] for i in kept), names
        declared = [p.num for p in getattr(self.src.fn, "params", ()) if not p.is_constexpr]
        if len(args) == len(declared):
            by_parameter = dict(zip(declared, args))
            return tuple(by_parameter[i] for i in kept), names
        if len(args) == len(kept) or (not kept and len(args) <= len(signature)):
            return args[: len(kept)], names
        raise TypeError(
            f"{self.name} takes its {len(signature)} parameters ({', '.join(signature)}), or the {len(declared)} that "
            f"are no tl.constexpr, got {len(args)} arguments"
        )

    def __getitem__(self, grid: Any) -> Any:
        """A callable that launches this very kernel: all parameters in order, compile-time ones included."""

        def launch(*args: Any, stream: Any = None) -> CompiledKernel:
            self._load()
            metadata = self.launch_metadata(grid, stream or 0, *args)
            if metadata is not None:
                knobs.runtime.launch_enter_hook(metadata)
            args, names = self._runtime_arguments(args)
            _C.launch_module(self.module, grid, args, names)
            if metadata is not None and knobs.runtime.launch_exit_hook is not None:
                knobs.runtime.launch_exit_hook(metadata)
            return self

        return launch

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

    def add(self, func: Any, args: tuple) -> None:
        self.extras.append((func, args))


def compile_function(
    fn: jit.JITFunction, signature: dict, constexprs: dict, attributes: dict, options: dict
) -> CompiledKernel:
    """Compiles one specialization of a launch. The caller holds the compile lock."""
    source = ASTSource.__new__(ASTSource)
    source.fn, source.language, source.ext, source.name = fn, Language.TRITON, "ttir", fn.__name__
    source.signature, source.constants, source.attrs = signature, constexprs, attributes
    return _compile_source(source, DEFAULT_TARGET, options, fn.debug, launched=True)


def _override(source: Any, options: dict[str, Any]) -> str | None:
    """Path of TTIR that replaces the kernel's own: the option `ir_override`, or a file in knobs.cache.override_dir."""
    given = options["ir_override"]
    if given is not None:
        if not str(given).endswith(".ttir"):
            raise ValueError(f"ir_override={str(given)!r}: only a .ttir file can be used here")
        return str(given)
    if not knobs.compilation.override:
        return None
    path = cache.get_override_manager(source.hash()).get_file(f"{source.name[:150]}.ttir")
    if path is not None:
        print(f"tiletwin: {source.name} is compiled from {path}")
    return path


def _compile_source(
    source: Any, target: GPUTarget, given: dict, debug: bool | None = None, launched: bool = False
) -> CompiledKernel:
    import tiletwin.language  # noqa: F401  registers the types of the language

    started = time.perf_counter()
    options = parse_options(given, target, debug, launched)
    path = _override(source, options)
    module = source.compile(options) if path is None else _C.parse_ttir(Path(path).read_text(), path)
    compiled = time.perf_counter()
    used = source.fn.used_globals() if isinstance(source, ASTSource) else []
    kernel = CompiledKernel._make(source, module, options, target, used)
    if "device" in os.environ.get("TILETWIN_CHECK", ""):
        from tiletwin import checks, devices

        if name := checks.wanted().device:
            devices.check(kernel, getattr(source, "fn", None), name)
    if knobs.compilation.dump_ir:
        manager = cache.get_dump_manager(source.hash())
        for stage in kernel.asm:
            name = f"{source.name[:150]}.{stage}"
            kernel.metadata_group[name] = manager.put(kernel.asm[stage], name, binary=False)
    if knobs.compilation.listener is not None:
        stored = time.perf_counter()
        times = knobs.CompileTimes(int((compiled - started) * 1e6), [("ttir", 0)], int((stored - compiled) * 1e6))
        knobs.compilation.listener(
            src=source,
            metadata=kernel.metadata._asdict(),
            metadata_group=kernel.metadata_group,
            times=times,
            cache_hit=False,
        )
    return kernel


def compile(
    src: Any, target: GPUTarget | None = None, options: dict | None = None, _env_vars: Any = None
) -> CompiledKernel:
    """Compiles a kernel that is not launched.

    src: an ASTSource, an IRSource, or the path of a .ttir file. target: the driver's (sm_90) unless given.
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
    target = target or driver.active.get_current_target()
    if not isinstance(target, GPUTarget):
        raise TypeError(f"target must be a GPUTarget, not a {type(target).__name__}")
    if target.backend != "cuda":
        raise ValueError(f"target {target.backend!r} is not supported: only 'cuda' targets are")
    with jit._compile_lock:
        return _compile_source(
            src, target, {**src.parse_options(), **(options or {})}, getattr(getattr(src, "fn", None), "debug", None)
        )


def make_backend(target: GPUTarget) -> BaseBackend:
    """The backend for a target. Errors: RuntimeError, there is none."""
    from tiletwin.backends.nvidia.compiler import CUDABackend

    if not CUDABackend.supports_target(target):
        raise RuntimeError(f"there is no backend for target {target.backend!r}; 'cuda' has one")
    return CUDABackend(target)


def get_cache_key(src: Any, backend: BaseBackend, backend_options: Any, env_vars: Any) -> str:
    """Text that two compilations share exactly if they give the same kernel."""
    return cache.get_cache_key(src, backend, backend_options, env_vars)


def max_shared_mem(device: int) -> int:
    """Bytes of shared memory a block may use on the emulated GPU."""
    return driver.active.utils.get_device_properties(device)["max_shared_mem"]


triton_key = cache.triton_key
