"""`triton.compile`: from a source to a compiled kernel.

Here:      compile() and what a launch calls, texts of TTIR that replace a kernel's own, the names of
           `triton.compiler.compiler`.
Not here:  sources (sources.py), the result (kernel.py), its stages (stages.py), options (kernels/options.py).
Invariant: a launch on the CPU imports nothing that only code for a GPU needs: its first one is waited for.
"""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tiletwin import _C, file_cache, knobs, variables
from tiletwin.codegen.stage_files import StageFiles
from tiletwin.codegen.stages import BACKEND_STAGES, AsmDict
from tiletwin.compiler.kernel import CompiledKernel, LazyDict  # noqa: F401  names of this module
from tiletwin.compiler.sources import ASTSource, IRSource
from tiletwin.errors import OutOfResources  # noqa: F401  scripts look for it here
from tiletwin.facade import reach as _reach
from tiletwin.gpu_target import GPUTarget, launch_target
from tiletwin.kernels import jit
from tiletwin.kernels.options import parse_options

if TYPE_CHECKING:  # the first launch does not wait for what only annotations name
    from tiletwin.backends.compiler import BaseBackend


def compile_function(
    fn: jit.JITFunction, signature: dict, constexprs: dict, attributes: dict, options: dict, capability: int
) -> CompiledKernel:
    """Compiles one specialization of a launch, for a GPU's capability or for the interpreter (0). The caller holds the
    compile lock."""
    source = ASTSource._of_launch(fn, signature, constexprs, attributes)
    target = launch_target(capability)
    return _compile_source(source, target, options, fn.debug, launched=True, for_gpu=capability > 0)


def _override(source: Any, options: dict[str, Any], target: GPUTarget, interpreted: bool) -> str | None:
    """Path of TTIR that replaces the kernel's own: the option `ir_override`, or a file that the environment names.

    Errors: ValueError, a file of a stage that is not made for this target, or that cannot be interpreted.
    """
    given = options["ir_override"]
    if given is not None:
        stage = Path(str(given)).suffix[1:]
        if stage == "ttir":
            return str(given)
        if interpreted:
            raise ValueError(f"ir_override={str(given)!r}: only a .ttir file can be interpreted")
        if stage not in BACKEND_STAGES[target.backend][2:-1]:
            raise ValueError(
                f"ir_override={str(given)!r}: the file's name has to end in one of the stages "
                f"{', '.join('.' + s for s in BACKEND_STAGES[target.backend][1:-1])}"
            )
    if source.ext != "ttir":
        return None
    if not (knobs.compilation.override or knobs.stages.override):
        return None
    return StageFiles(source, target, options).override("ttir")


def _dump(kernel: CompiledKernel) -> None:
    """Makes the stages that dumps want to see: all of a compilation for a GPU, those of the front end of a launch."""
    if not kernel.for_gpu:
        _ = kernel.asm["source"], kernel.asm["ttir"]
        return
    from tiletwin.cuda import sass

    kernel.asm.make_all()
    if "cubin" in kernel.asm and sass.find() is not None:
        kernel.asm["sass"]


def _compile_source(
    source: Any,
    target: GPUTarget,
    given: dict,
    debug: bool | None = None,
    launched: bool = False,
    for_gpu: bool = False,
) -> CompiledKernel:
    """launched: for a launch, which takes more types. for_gpu: to run on a GPU, or a target was asked for; figures are
    those of GPU code then."""
    import tiletwin.language  # noqa: F401  registers the types of the language

    started = time.perf_counter()
    options = parse_options(given, target, debug, launched)
    if isinstance(source, ASTSource):
        source.find_name()
    path = _override(source, options, target, launched and not for_gpu)
    rules = options | {"interpreted": launched and not for_gpu}
    module = source.compile(rules) if path is None else _C.parse_ttir(Path(path).read_text(), path)
    compiled = time.perf_counter()
    used = source.fn.used_globals() if launched and isinstance(source, ASTSource) else []
    files = StageFiles(source, target, options)
    if module is None:
        assert isinstance(source, IRSource)
        texts = {source.ext: source.src}
    else:
        texts = {"source": module.text, "ttir": module.text}
    asm = AsmDict(texts, path or source.place, target, options, files, for_gpu)
    kernel = CompiledKernel._make(source, module, options, target, used, asm, for_gpu)
    kernel.metadata_group = files.written
    if module is not None and "device" in variables.get("TILETWIN_CHECK"):
        from tiletwin import checks, devices

        if name := checks.wanted().device:
            devices.check(kernel, getattr(source, "fn", None), name)
    if StageFiles.dumping():
        _dump(kernel)
    if knobs.compilation.listener is not None:
        stored = time.perf_counter()
        if for_gpu:
            asm.make_all()
        times = knobs.CompileTimes(
            int((compiled - started) * 1e6), [("ttir", 0), *asm.times], int((stored - compiled) * 1e6)
        )
        knobs.compilation.listener(
            src=source,
            metadata=kernel.metadata._asdict(),
            metadata_group=kernel.metadata_group,
            times=times,
            cache_hit=for_gpu and asm.cached,
        )
    return kernel


def _target_of(
    src: Any, target: GPUTarget | str | None, given: dict[str, Any]
) -> tuple[GPUTarget, dict[str, Any], bool]:
    """(the target, options with the architecture that a text names, whether it is a GPU that was asked for).

    Errors: TypeError, no target; ValueError, one that code is not generated for.
    """
    from tiletwin.codegen import ir_text, targets
    from tiletwin.drivers.chosen import InterpreterDriver, driver

    stated = ir_text.stated_architecture(src.ext, src.src) if isinstance(src, IRSource) else None
    for_gpu = target is not None or type(driver.active) is not InterpreterDriver or src.ext != "ttir"
    if target is None:
        target = stated or driver.active.get_current_target()
    if isinstance(target, str):
        target, named = targets.parse_target(target)
        given = {**given, "arch": given.get("arch") or named}
    if not isinstance(target, GPUTarget):
        raise TypeError(f"target must be a GPUTarget, or text such as 'cuda:90' or 'sm_90a', not {target!r}")
    if target.backend not in BACKEND_STAGES:
        raise ValueError(f"target {target.backend!r} is not supported: only {', '.join(map(repr, BACKEND_STAGES))} are")
    if target.backend == "cuda":
        if target.warp_size != 32:
            raise ValueError(f"a warp of an NVIDIA GPU has 32 threads, not {target.warp_size}")
        arch = targets.architecture(target, given.get("arch") or knobs.runtime.override_arch)
        target = dataclasses.replace(target, arch=targets.capability_of(arch.name))
    if isinstance(src, IRSource) and src.ext not in BACKEND_STAGES[target.backend]:
        maker = "AMD" if src.ext == "amdgcn" else "NVIDIA"
        raise ValueError(
            f"{src.path}: a text of {src.ext} is for {maker} GPUs; the target is {target.backend}:{target.arch}"
        )
    return target, given, for_gpu


def compile(
    src: Any, target: GPUTarget | str | None = None, options: dict | None = None, _env_vars: Any = None
) -> CompiledKernel:
    """Compiles a kernel that is not launched.

    Args:
        src: an ASTSource, an IRSource, or the path of a .ttir, .ttgir, .llir or .ptx file.
        target: GPUTarget("cuda", 90, 32), or text: "cuda:90", "sm_90a" (that very architecture), "hip:gfx942". Default:
            the driver's. No GPU is needed.
        options: num_warps, num_stages, debug, ...

    Returns:
        A CompiledKernel. It makes `.asm["ttir"]`, `.asm["ptx"]`, `.asm["cubin"]`, ... when somebody reads them, and so
        what `.metadata` and `.n_regs` tell; `kernel[grid](...)` runs it.

    Raises:
        CompilationError: the kernel is wrong; some mistakes show when a stage is read.
        ValueError: bad options, unsupported targets.
        KeyError: bad options, unsupported targets.
    """
    if isinstance(src, (str, Path)):
        src = IRSource(src)
    if not isinstance(src, (ASTSource, IRSource)):
        raise TypeError(
            f"compile() takes an ASTSource, an IRSource or the path of a .ttir file, not a {type(src).__name__}"
        )
    target, given, for_gpu = _target_of(src, target, {**src.parse_options(), **(options or {})})
    debug = getattr(getattr(src, "fn", None), "debug", None)
    with jit._compile_lock:
        kernel = _compile_source(src, target, given, debug, for_gpu=for_gpu)
    if for_gpu and getattr(src, "kept_in_files", False):
        from tiletwin.compiler import kept_files

        kept_files.keep(kernel)
    return kernel


def make_backend(target: GPUTarget) -> BaseBackend:
    """The backend for a target.

    Raises:
        RuntimeError: there is none.
    """
    from tiletwin.backends.nvidia.compiler import CUDABackend

    if not CUDABackend.supports_target(target):
        raise RuntimeError(f"there is no backend for target {target.backend!r}; 'cuda' has one")
    return CUDABackend(target)


def names_of(target: GPUTarget) -> tuple[Any, ...]:
    """What a jit function shows of the compiler; Triton keeps it on each (`JITFunction.create_binder`)."""
    return CompiledKernel, compile, ASTSource, make_backend(target)


def get_cache_key(src: Any, backend: BaseBackend, backend_options: Any, env_vars: Any) -> str:
    """Text that two compilations share exactly if they give the same kernel."""
    return file_cache.get_cache_key(src, backend, backend_options, env_vars)


def max_shared_mem(device: int) -> int:
    """Bytes of shared memory a block may use on the emulated GPU."""
    from tiletwin.drivers.chosen import driver

    return driver.active.utils.get_device_properties(device)["max_shared_mem"]


triton_key = file_cache.triton_key


_reach(__name__, "tiletwin.compiler.kernel", "tiletwin.compiler.sources", "tiletwin.kernels.launch_hooks", reads=True)


def __getattr__(name: str) -> Any:
    """`driver`, which scripts look for here."""
    if name != "driver":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tiletwin.drivers.chosen import driver

    return driver
