"""`triton.knobs`: settings of the process, each backed by an environment variable, and hooks.

Here:      the groups (`knobs.runtime`, `knobs.compilation`, ...).
Not here:  the kinds of knobs (knob_kinds.py), chains and signatures of hooks (knob_hooks.py), what acts on them:
           launches (kernels/launch_hooks.py), compilation (compiler/), options (kernels/options.py), autotuning.
           Knobs of other vendors can be set and read, and change nothing here.
Invariant: a knob that was not set reads its variable each time; setting one sets the variable too, so that child
processes see it. Assigning `knobs.env` gives a knob back to the environment.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, TypeVar

from tiletwin import _C, variables
from tiletwin._activate import interprets
from tiletwin.knob_hooks import (  # noqa: F401  names of triton.knobs
    AutotuneListener,
    BuildImpl,
    CompilationListener,
    CompileTimes,
    HookChain,
    InitHandleHook,
    JITHook,
    JITHookCompileInfo,
    LaunchHook,
    PipelineStagesHook,
)
from tiletwin.knob_kinds import (  # noqa: F401  names of triton.knobs
    Env,
    NvidiaTool,
    env,
    env_base,
    env_bool,
    env_class,
    env_int,
    env_nvidia_tool,
    env_opt_bool,
    env_opt_str,
    env_str,
    env_str_callable_default,
    toenv,
)

K = TypeVar("K", bound="base_knobs")
propagate_env = True
"""Whether setting a knob also sets its environment variable."""


def setenv(key: str, value: str | None) -> None:
    """Sets (or, with None, removes) an environment variable, if `propagate_env`."""
    if propagate_env:
        variables.put(key, value)


class base_knobs:
    """A group of knobs."""

    def _set_variable(self, key: str, value: str | None) -> None:
        setenv(key, value)

    def _changed(self) -> None:
        _tell_launcher()

    @property
    def knob_descriptors(self) -> dict[str, env_base]:
        """The knobs of the group that an environment variable backs."""
        return {name: d for cls in type(self).__mro__ for name, d in vars(cls).items() if isinstance(d, env_base)}

    @property
    def knobs(self) -> dict[str, Any]:
        """Their values. Tools that are not installed read as None."""
        values = {}
        for name, descriptor in self.knob_descriptors.items():
            try:
                values[name] = getattr(self, name)
            except RuntimeError:
                if not isinstance(descriptor, env_nvidia_tool):
                    raise
                values[name] = None
        return values

    def copy(self: K) -> K:
        """A group of its own with the same settings."""
        other = type(self)()
        other.__dict__.update(self.__dict__)
        return other

    def reset(self: K) -> K:
        """Gives every knob of the group back to the environment."""
        for name in self.knob_descriptors:
            delattr(self, name)
        return self

    @contextmanager
    def scope(self) -> Generator[None, None, None]:
        """Within the block knobs can be set freely: at its end the group and its variables are as they were."""
        changes = variables.Changes()
        for descriptor in self.knob_descriptors.values():
            changes.keep(descriptor.key)
        settings = dict(self.__dict__)
        try:
            yield
        finally:
            self.__dict__.clear()
            self.__dict__.update(settings)
            changes.restore()
            _tell_launcher()

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)
        if not isinstance(getattr(type(self), name, None), env_base):
            _tell_launcher()

    def __delattr__(self, name: str) -> None:
        object.__delattr__(self, name)
        _tell_launcher()


class build_knobs(base_knobs):
    """How native code would be built; nothing is built here at run time."""

    cc = env_opt_str("CC")
    cudacrt_path = env_opt_str("TRITON_CUDACRT_PATH")
    cudart_path = env_opt_str("TRITON_CUDART_PATH")
    impl: Callable[..., str] | None = None

    @property
    def backend_dirs(self) -> set[str]:
        return {path for path in (self.cudacrt_path, self.cudart_path) if path is not None}


class redis_knobs(base_knobs):
    """A Redis server as remote cache."""

    key_format = env_str("TRITON_REDIS_KEY_FORMAT", "triton:{key}:{filename}")
    host = env_str("TRITON_REDIS_HOST", "localhost")
    port = env_int("TRITON_REDIS_PORT", 6379)


class cache_knobs(base_knobs):
    """Where files are kept: compiled stages of GPU code (`dir`), dumps, overrides, what `triton.runtime.cache` is
    given."""

    home_dir = env_str("TRITON_HOME", os.path.expanduser("~/"))
    dump_dir = env_str_callable_default("TRITON_DUMP_DIR", lambda: cache.get_triton_dir("dump"))
    override_dir = env_str_callable_default("TRITON_OVERRIDE_DIR", lambda: cache.get_triton_dir("override"))
    dir = env_str_callable_default(
        "TRITON_CACHE_DIR", lambda: os.environ.get("TILETWIN_CACHE_DIR") or cache.get_triton_dir("cache")
    )
    manager_class = env_class("TRITON_CACHE_MANAGER", "CacheManager")
    remote_manager_class = env_class("TRITON_REMOTE_CACHE_BACKEND", "RemoteCacheBackend")

    def get_triton_dir(self, dirname: str) -> str:
        """The folder `dirname` below the home directory's `.triton`."""
        return os.path.join(self.home_dir, ".triton", dirname)


class compilation_knobs(base_knobs):
    """Compilation. Acted on: `override` and `dump_ir` (stages from and to files), `always_compile` (no stage is taken
    from the disk), `disable_line_info`, `listener`, `allow_non_constexpr_globals`."""

    override = env_bool("TRITON_KERNEL_OVERRIDE")
    dump_ir = env_bool("TRITON_KERNEL_DUMP")
    dump_ir_extract_di_local_variables = env_bool("LLVM_EXTRACT_DI_LOCAL_VARIABLES")
    store_binary_only = env_bool("TRITON_STORE_BINARY_ONLY")
    always_compile = env_bool("TRITON_ALWAYS_COMPILE")
    use_ir_loc = env_opt_str("USE_IR_LOC")
    enable_asan = env_bool("TRITON_ENABLE_ASAN")
    disable_line_info = env_bool("TRITON_DISABLE_LINE_INFO")
    front_end_debugging = env_bool("TRITON_FRONT_END_DEBUGGING")
    allow_non_constexpr_globals = env_bool("TRITON_ALLOW_NON_CONSTEXPR_GLOBALS")
    instrumentation_mode = env_str("TRITON_INSTRUMENTATION_MODE", "")
    fpsan_homomorphic_casts = env_bool("TRITON_FPSAN_HOMOMORPHIC_CASTS")
    listener: Callable[..., None] | None = None
    """Called after each compilation with src, metadata, metadata_group, times (CompileTimes) and cache_hit."""


class stages_knobs(base_knobs):
    """Stages of compilation to and from files, besides Triton's `compilation.dump_ir` and `compilation.override`:
    codegen/stage_files.py has the table."""

    dump = env_opt_str("TILETWIN_DUMP")
    override = env_opt_str("TILETWIN_OVERRIDE")
    mlir_dump = env_opt_str("MLIR_ENABLE_DUMP")
    llir_dump = env_bool("LLVM_IR_ENABLE_DUMP")


class autotuning_knobs(base_knobs):
    """Autotuning."""

    cache = env_bool("TRITON_CACHE_AUTOTUNING")
    print = env_bool("TRITON_PRINT_AUTOTUNING")
    listener: Callable[..., None] | None = None
    """Called when a configuration is taken with fn, key, best_config, configs_timings, duration and cache_hit."""


class runtime_knobs(base_knobs):
    """Launches and their hooks.

    launch_enter_hook, launch_exit_hook   chains (or one function, or None), called around each launch with a LazyDict:
                                          `metadata.get()` has name, function, stream and what the kernel's
                                          `launch_metadata` function adds
    kernel_load_start_hook, _end_hook     called once when a compiled kernel is first made ready to run, with module,
                                          function, name, metadata_group, hash
    kernel_unload_hook                    called with the same when a kernel that was loaded is dropped
    jit_cache_hook, jit_post_compile_hook called before and after a kernel is compiled for a launch, with key, repr, fn,
                                          compile, is_manual_warmup, already_compiled; a true result of the first
                                          prevents compilation and launch
    add_stages_inspection_hook            for stages of GPU code: must stay None
    """

    interpret = env_bool("TRITON_INTERPRET", decided_by=interprets)
    debug = env_bool("TRITON_DEBUG")
    override_arch = env_opt_str("TRITON_OVERRIDE_ARCH")
    launch_enter_hook: Any = HookChain()
    launch_exit_hook: Any = HookChain(reversed=True)
    kernel_load_start_hook: Any = HookChain()
    kernel_load_end_hook: Any = HookChain(reversed=True)
    kernel_unload_hook: Any = HookChain()
    jit_cache_hook: Callable[..., bool | None] | None = None
    jit_post_compile_hook: Callable[..., bool | None] | None = None
    add_stages_inspection_hook: Callable[..., Any] | None = None

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "add_stages_inspection_hook" and value is not None:
            raise NotImplementedError(
                "add_stages_inspection_hook changes Triton's own stages of GPU code, which are others here; "
                "TILETWIN_OVERRIDE replaces a stage"
            )
        super().__setattr__(name, value)


class language_knobs(base_knobs):
    """Defaults of options: the precision of dots on float32 inputs, and contraction of a * b + c."""

    fp32_default = env_opt_str("TRITON_F32_DEFAULT")
    default_fp_fusion = env_bool("TRITON_DEFAULT_FP_FUSION", True)
    force_disable_fp_fusion = env_bool("TRITON_FORCE_DISABLE_FP_FUSION")

    def fp_fusion_enabled(self, requested: bool | None) -> bool:
        """Whether a * b + c may be contracted if the caller wants `requested`."""
        wanted = self.default_fp_fusion if requested is None else requested
        return wanted and not self.force_disable_fp_fusion


class nvidia_knobs(base_knobs):
    """Tools and settings of code generation for NVIDIA GPUs. Acted on: the tools, `ptxas_options`, `disable_ptxas_opt`,
    `dump_ptxas_log`, `dump_nvptx`."""

    cuobjdump = env_nvidia_tool("cuobjdump")
    nvdisasm = env_nvidia_tool("nvdisasm")
    ptxas = env_nvidia_tool("ptxas")
    ptxas_blackwell = env_nvidia_tool("ptxas-blackwell")
    dump_nvptx = env_bool("NVPTX_ENABLE_DUMP")
    disable_ptxas_opt = env_bool("DISABLE_PTXAS_OPT")
    ptxas_options = env_opt_str("PTXAS_OPTIONS")
    mock_ptx_version = env_opt_str("TRITON_MOCK_PTX_VERSION")
    dump_ptxas_log = env_bool("TRITON_DUMP_PTXAS_LOG")
    libdevice_path = env_opt_str("TRITON_LIBDEVICE_PATH")
    libcuda_path = env_opt_str("TRITON_LIBCUDA_PATH")


class amd_knobs(base_knobs):
    """Settings of code generation for AMD GPUs. Acted on: `dump_amdgcn`; the linker is TRITON_HIP_LLD_PATH."""

    codegen_path = env_opt_str("TRITON_AMD_CODEGEN_PATH")
    use_buffer_ops = env_bool("AMDGCN_USE_BUFFER_OPS", True)
    use_buffer_atomics = env_bool("AMDGCN_USE_BUFFER_ATOMICS", True)
    buffer_ops_analyze_small_tensor_range = env_bool("AMDGCN_ANALYZE_SMALL_TENSOR_RANGE")
    dump_amdgcn = env_bool("AMDGCN_ENABLE_DUMP")
    libhip_path = env_opt_str("TRITON_LIBHIP_PATH")
    use_block_pingpong = env_opt_bool("TRITON_HIP_USE_BLOCK_PINGPONG")
    use_in_thread_transpose = env_opt_bool("TRITON_HIP_USE_IN_THREAD_TRANSPOSE")
    use_async_copy = env_opt_bool("TRITON_HIP_USE_ASYNC_COPY")
    use_coexec_scheduler = env_opt_bool("TRITON_HIP_USE_COEXEC_SCHEDULER")
    use_expert_scheduling = env_opt_bool("TRITON_HIP_USE_EXPERT_SCHEDULING")
    scalarize_packed_fops = env_bool("AMDGCN_SCALARIZE_PACKED_FOPS")
    dump_mir = env_opt_str("TRITON_DUMP_MIR")
    swap_mir = env_opt_str("TRITON_SWAP_MIR")
    swap_mir_enable_misched = env_bool("TRITON_SWAP_MIR_ENABLE_MISCHED")


class proton_knobs(base_knobs):
    """Settings of GPU profilers; without effect: `triton.profiler` measures on the CPU."""

    disable = env_bool("TRITON_PROTON_DISABLE")
    cupti_lib_dir = env_str("TRITON_CUPTI_LIB_PATH", "")
    cupti_lib_blackwell_dir = env_str("TRITON_CUPTI_LIB_BLACKWELL_PATH", "")
    hsa_runtime_path = env_opt_str("TRITON_HSA_RUNTIME_PATH")
    hsa_runtime_library = env_opt_str("TRITON_HSA_RUNTIME_LIBRARY")
    rocprofiler_sdk_include_path = env_opt_str("TRITON_ROCPROFILER_SDK_INCLUDE_PATH")
    rocprofiler_sdk_lib_path = env_opt_str("TRITON_ROCPROFILER_SDK_LIB_PATH")
    rocprofiler_sdk_library = env_opt_str("TRITON_ROCPROFILER_SDK_LIBRARY")
    roctracer_lib_path = env_opt_str("TRITON_ROCTRACER_LIB_PATH")
    roctracer_library = env_opt_str("TRITON_ROCTRACER_LIBRARY")
    roctx_lib_path = env_opt_str("TRITON_ROCTX_LIB_PATH")
    roctx_library = env_str("TRITON_ROCTX_LIBRARY", "libroctx64.so")
    profile_buffer_size = env_int("TRITON_PROFILE_BUFFER_SIZE", 64 << 20)
    profile_metric_buffer_size = env_int("TRITON_PROFILE_METRIC_BUFFER_SIZE", 64 << 20)
    enable_nvtx = env_bool("TRITON_ENABLE_NVTX", True)
    enable_hw_trace = env_bool("TRITON_ENABLE_HW_TRACE")


def _tell_launcher() -> None:
    """Gives launches what they look at without running Python: the lists of hooks, and what knobs add to keys."""
    if "proton" not in globals():
        return  # the groups are being made

    def calls(hook: Any) -> list[Any]:
        if isinstance(hook, HookChain):
            return hook.calls
        return [] if hook is None else [hook]

    names = [(runtime, "debug"), (compilation, "override"), (compilation, "dump_ir"), (stages, "override")]
    names += [(language, name) for name in language.knob_descriptors]
    chosen = [(name, group.__dict__[name]) for group, name in names if name in group.__dict__]
    suffix = repr(chosen).encode() if chosen else b""
    _C.set_knobs(calls(runtime.launch_enter_hook), calls(runtime.launch_exit_hook), suffix)


build = build_knobs()
redis = redis_knobs()
cache = cache_knobs()
compilation = compilation_knobs()
stages = stages_knobs()
autotuning = autotuning_knobs()
runtime = runtime_knobs()
language = language_knobs()
nvidia = nvidia_knobs()
amd = amd_knobs()
proton = proton_knobs()
_tell_launcher()


def refresh_knobs() -> None:
    """Knobs that Triton reads once are read from the environment each time here; kept for scripts that call it."""
    _tell_launcher()
