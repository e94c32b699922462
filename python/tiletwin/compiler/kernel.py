"""The compiled kernel, as `triton.compile` and launches give it.

Here:      CompiledKernel with its figures, KernelMetadata.
Not here:  compilation (compiler.py), its stages (stages.py), launches (`_C.Launcher`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

from tiletwin import _C, knobs, ports
from tiletwin._activate import backend, interprets
from tiletwin._refused import refuse
from tiletwin.codegen.stage_files import kernel_hash
from tiletwin.codegen.stages import AsmDict
from tiletwin.gpu_target import GPUTarget
from tiletwin.kernels.launch_hooks import LazyDict, load_hook, metadata_of
from tiletwin.version import TRITON_VERSION


class KernelMetadata:
    """What a kernel was compiled with, and what came of it, as attributes; a read-only record like a named tuple.

    Fields that only compiling for the GPU tells (`shared`, `registers`, ...) compile when they are read.
    """

    def __init__(self, known: dict[str, Any], told: dict[str, Callable[[], Any]]) -> None:
        """known: fields by name. told: functions that give the others."""
        object.__setattr__(self, "_known", known)
        object.__setattr__(self, "_told", told)
        object.__setattr__(self, "_fields", tuple(sorted({*known, *told})))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self._fields:
            raise AttributeError(f"a kernel's metadata has no field {name!r}; it has {', '.join(self._fields)}")
        return self._told[name]() if name in self._told else self._known[name]

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a kernel's metadata cannot be changed: {name}")

    def _asdict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._fields}

    def __iter__(self) -> Iterator[Any]:
        return iter(self._asdict().values())

    def __len__(self) -> int:
        return len(self._fields)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KernelMetadata) and self._asdict() == other._asdict()

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple:
        return KernelMetadata, (self._asdict(), {})

    def __repr__(self) -> str:
        known = ", ".join(f"{name}={self._known[name]!r}" for name in sorted(self._known))
        return f"KernelMetadata({known}, and when read: {', '.join(self._told)})"


GENERATED_FIELDS: dict[str, Any] = {
    "shared": 0,
    "global_scratch_size": 0,
    "global_scratch_align": 1,
    "arguments": (),
}
"""Fields that the code generator tells, with what they are for a kernel that is interpreted."""

ASSEMBLED_FIELDS = {"registers": "registers", "spills": "spill_stores"}
"""Fields that ptxas tells, by their name in `assembler.Binary`: a thread's registers, and the bytes of those that it
spills. None where there is no ptxas, 0 for a kernel that is interpreted."""


class CompiledKernel:
    """A kernel compiled for one signature; `triton.compile` and launches make it.

    asm        its stages, made when asked for                  metadata   what it was compiled with, and its needs
    src        the ASTSource or IRSource                        hash       changes with source, target and options
    module     the native module, for the interpreter           function   a number, once it has been launched
    n_regs, n_spills    registers of a thread, and its words in local memory, as ptxas tells; 0 for a kernel that a
                        launch on the CPU compiled. Of AMD GPUs: vector registers, and those that are spilled
    """

    src: Any
    module: _C.CompiledModule | None
    options: dict[str, Any]
    target: GPUTarget
    name: str
    asm: AsmDict
    for_gpu: bool
    function: int | None
    metadata_group: dict[str, str]
    _loaded: Any
    _module_pid: int | None
    _used_globals: list

    def __init__(self, src: Any, metadata_group: dict[str, str], hash: str) -> None:
        refuse("triton.compiler.CompiledKernel.__init__")

    @classmethod
    def _make(
        cls,
        src: Any,
        module: _C.CompiledModule | None,
        options: dict[str, Any],
        target: GPUTarget,
        used_globals: list,
        asm: AsmDict,
        for_gpu: bool,
    ) -> CompiledKernel:
        self = cls.__new__(cls)
        self.src, self.module, self.options, self.target = src, module, options, target
        self.name = src.name if module is None else module.entry
        self.asm, self.for_gpu, self._used_globals = asm, for_gpu, used_globals
        self.function, self._module_pid, self.metadata_group = None, None, {}
        self._loaded = None
        return self

    def _repr_html_(self) -> str:
        return ports.compiled_page(self)

    @cached_property
    def hash(self) -> str:
        return kernel_hash(self.src, self.target, self.options)

    @cached_property
    def metadata(self) -> KernelMetadata:
        known = {
            **self.options,
            "name": self.name,
            "hash": self.hash,
            "target": self.target,
            "threads": self.options["warp_size"] * self.options["num_warps"],
            "tmem_size": None,
            "tensordesc_meta": None,
            "profile_scratch_size": 0,
            "profile_scratch_align": 1,
            "triton_version": TRITON_VERSION,
        }
        if not self.for_gpu:
            return KernelMetadata({**known, **GENERATED_FIELDS, **dict.fromkeys(ASSEMBLED_FIELDS, 0)}, {})
        told: dict[str, Callable[[], Any]] = {
            name: lambda name=name, default=default: self.asm.facts.get(name, default)
            for name, default in GENERATED_FIELDS.items()
        }
        if self.target.backend == "hip":  # the assembly tells
            for name in (*ASSEMBLED_FIELDS, "scalar_registers"):
                told[name] = lambda name=name: self.asm.facts[name]
            return KernelMetadata(known, told)
        told["num_warps"] = self._warps
        told["threads"] = lambda: self.options["warp_size"] * self._warps()
        known = {name: value for name, value in known.items() if name not in told}
        for name, field in ASSEMBLED_FIELDS.items():
            told[name] = lambda field=field: getattr(self.asm.binary, field) if "cubin" in self.asm else None
        return KernelMetadata(known, told)

    def _warps(self) -> int:
        """Of a CTA: the code has more than the program asks for where loops have warps of their own."""
        return self.asm.facts["num_warps"] if self.asm.may_add_warps() else self.options["num_warps"]

    @property
    def packed_metadata(self) -> tuple[int, int, int]:
        """(num_warps, num_ctas, shared memory)"""
        return (self.metadata.num_warps, self.options["num_ctas"], self.metadata.shared)

    @property
    def kernel(self) -> bytes:
        """The GPU binary."""
        return self.asm["hsaco" if self.target.backend == "hip" else "cubin"]

    @property
    def n_regs(self) -> int:
        if self._loaded is not None:
            return self._loaded.attributes["registers"]
        if self.for_gpu and self.target.backend == "hip":
            return self.asm.facts["registers"]
        return self.asm.binary.registers if self.for_gpu else 0

    @property
    def n_spills(self) -> int:
        if self._loaded is not None:
            return self._loaded.attributes["local_bytes"] // 4
        if self.for_gpu and self.target.backend == "hip":
            return self.asm.facts["spills"] // 4
        return self.asm.binary.stack // 4 if self.for_gpu else 0

    @property
    def n_max_threads(self) -> int:
        return self._loaded.attributes["max_threads"] if self._loaded is not None else 1024

    @property
    def _runs_on_gpu(self) -> bool:
        """Whether launches are of the machine code: they run on a GPU in this process, and it was compiled for one."""
        if not self.for_gpu or self.target.backend != "cuda" or interprets():
            return False
        from tiletwin.drivers.chosen import launch_capability  # interpreted launches import no driver

        return launch_capability() > 0 or backend() == "cuda"

    @property
    def run(self) -> Any:
        """The raw launcher: run(x, y, z, stream, function, packed_metadata, launch_metadata, enter_hook, exit_hook,
        *arguments), a value for each parameter."""
        if not self._runs_on_gpu:
            refuse("triton.compiler.CompiledKernel.run")
        self._load()
        return self._loaded.run

    _run = None

    def _load(self) -> None:
        """Called once, before the first launch. Errors on a GPU: CudaError; OutOfResources, the kernel needs more than
        it has."""
        if self._module_pid is not None:
            return
        if self._runs_on_gpu:
            load_hook(knobs.runtime.kernel_load_start_hook, self, loaded=False)
            self._loaded = ports.loaded_kernel(self)
            self.function, self._module_pid = self._loaded.function, os.getpid()
            load_hook(knobs.runtime.kernel_load_end_hook, self, loaded=True)
            return
        if self.module is None:
            raise RuntimeError(
                f"{self.name} was compiled from {self.src.path}, which the interpreter cannot run; a .ttir file it can"
            )
        load_hook(knobs.runtime.kernel_load_start_hook, self, loaded=False)
        self.module.plan()
        self.function, self._module_pid = id(self.module), os.getpid()
        load_hook(knobs.runtime.kernel_load_end_hook, self, loaded=True)

    _init_handles = _load

    def close(self) -> None:
        """Unloads the kernel from the GPU, once no launch uses it any more; the next launch loads it again."""
        self.function = self._loaded = self._module_pid = None

    def __del__(self) -> None:
        if self.__dict__.get("_module_pid") != os.getpid():
            return
        hook = knobs.runtime.kernel_unload_hook
        if getattr(hook, "calls", hook):
            load_hook(hook, self, loaded=True)

    def launch_metadata(self, grid: tuple[int, ...], stream: Any, *args: Any) -> LazyDict | None:
        """What hooks around a launch get: `.get()` has name, function, stream and the additions of the kernel's
        `launch_metadata` function. None if there are no such hooks."""
        if knobs.runtime.launch_enter_hook is None:
            return None
        fn = getattr(self.src, "fn", None)
        metadata = metadata_of(fn, self, dict(zip(getattr(fn, "arg_names", ()), args)), grid)
        metadata.data["stream"] = stream
        return metadata

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

    def _as_launch(self, args: tuple, names: list[str] | None, grid: Any) -> tuple | None:
        """A launch as that of a JIT function: it, this kernel, a value for each parameter, the grid. None: the kernel
        came as IR."""
        if names is None:
            return None
        fn = self.src.fn
        constants = {fn.arg_names[path[0]]: value for path, value in self.src.constants.items() if len(path) == 1}
        values = constants | dict(zip(names, args))
        return fn, self, {name: values[name] for name in fn.arg_names if name in values}, grid

    def __getitem__(self, grid: Any) -> Any:
        """A callable that launches this very kernel: all parameters in order, compile-time ones included."""

        def launch(*args: Any, stream: Any = None) -> CompiledKernel:
            self._load()
            metadata = self.launch_metadata(grid, stream or 0, *args)
            args, names = self._runtime_arguments(args)
            if metadata is not None:
                metadata.launch = self._as_launch(args, names, grid)  # as launch_hooks.enter has it
                knobs.runtime.launch_enter_hook(metadata)
            if self._loaded is not None:
                self._loaded.launch(grid, stream, args)
            else:
                assert self.module is not None
                _C.launch_module(self.module, grid, args, names)
            if metadata is not None and knobs.runtime.launch_exit_hook is not None:
                knobs.runtime.launch_exit_hook(metadata)
            return self

        return launch

    def __repr__(self) -> str:
        return f"<compiled kernel {self.name}({', '.join(map(str, self.src.signature.values()))})>"
