"""`@triton.autotune` and `@triton.heuristics`.

Here:      Config, Autotuner, Heuristics.
Not here:  timing (testing.py), all configurations beside each other (configurations.py).
Launches on a GPU are timed (gpu_tuning.py). Timings of the interpreter say nothing about a GPU, so on the CPU nothing
is timed: the first configuration that compiles is taken.
TILETWIN_AUTOTUNE=all instead runs every configuration on copies of the arguments and compares what they wrote;
TILETWIN_AUTOTUNE=estimate takes the one that a GPU would run fastest, by an estimate (tuning_estimates.py).
"""

from __future__ import annotations

import builtins
import functools
import inspect
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tiletwin import knobs, variables
from tiletwin.errors import AutotunerError, CompilationError, OutOfResources
from tiletwin.kernels.jit import Grid, JITFunction, KernelInterface
from tiletwin.launch import gpu_tuning
from tiletwin.launch.configurations import compare_all, copied, first_that_compiles
from tiletwin.launch.tuning_records import Record

MODES = ("first", "all", "estimate")
"""Words of TILETWIN_AUTOTUNE."""
_OPTIONS = ("num_warps", "num_ctas", "num_stages", "maxnreg", "ir_override")
"""Of a launch, that a configuration chooses."""


@dataclass(eq=False, repr=False)
class Config:
    """One choice of compile-time arguments and launch options for a kernel.

    Attributes:
        kwargs: values of tl.constexpr parameters.
        pre_hook: called with the arguments (a dict) before each launch.
    """

    kwargs: dict[str, Any]
    num_warps: int = 4
    num_stages: int = 3
    num_ctas: int = 1
    maxnreg: int | None = None
    pre_hook: Callable | None = None
    ir_override: str | None = None

    def _options(self) -> dict[str, Any]:
        options = {name: getattr(self, name) for name in _OPTIONS}
        return {name: value for name, value in options.items() if value is not None}

    def all_kwargs(self) -> dict[str, Any]:
        """Compile-time arguments and options together, as a launch takes them."""
        return {**self.kwargs, **self._options()}

    def __str__(self) -> str:
        parts = [f"{name}: {value}" for name, value in self.all_kwargs().items()]
        return ", ".join(parts)

    def _identity(self) -> tuple:
        return (tuple(self.all_kwargs().items()), self.pre_hook)

    def __hash__(self) -> int:
        return hash(self._identity())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Config) and self._identity() == other._identity()


def _base_function(fn: Any) -> Any:
    """The Python function below all decorators."""
    while not inspect.isfunction(fn):
        fn = fn.fn
    return fn


def _write_back(target: Any, saved: Any) -> None:
    if hasattr(target, "copy_"):
        target.copy_(saved)
    else:
        target[...] = saved


def _clear(value: Any) -> None:
    if hasattr(value, "zero_"):
        value.zero_()
    else:
        value[...] = 0


class Autotuner(KernelInterface):
    """A kernel with a choice of configurations; made by `@triton.autotune`.

    `best_config` is the one last taken; `cache` maps key values to it.
    """

    def __init__(
        self,
        fn: Any,
        arg_names: Sequence[str],
        configs: Sequence[Config] | None,
        key: Sequence[str],
        reset_to_zero: Sequence[str] | None = None,
        restore_value: Sequence[str] | None = None,
        pre_hook: Callable | None = None,
        post_hook: Callable | None = None,
        prune_configs_by: dict[str, Any] | None = None,
        warmup: float | None = None,
        rep: float | None = None,
        use_cuda_graph: bool = False,
        do_bench: Callable | None = None,
        cache_results: bool = False,
    ) -> None:
        self.configs = list(configs) if configs else [Config({})]
        self.keys = list(key)
        self.arg_names = list(arg_names)
        self.fn = fn
        self.base_fn = _base_function(fn)
        self.__name__ = self.base_fn.__name__
        self.__doc__ = self.base_fn.__doc__
        self.reset_to_zero = list(reset_to_zero or ())
        self.restore_value = list(restore_value or ())
        self.user_defined_pre_hook = pre_hook is not None
        self.user_defined_post_hook = post_hook is not None
        self.pre_hook = pre_hook or self._default_pre_hook
        self.post_hook = post_hook or self._default_post_hook
        prune = dict(prune_configs_by or {})
        self.perf_model = prune.get("perf_model")
        self.configs_top_k = prune.get("top_k", 1.0)
        self.early_config_prune = prune.get("early_config_prune")
        self.num_warmups, self.num_reps = warmup, rep
        self.use_cuda_graph, self.cache_results = use_cuda_graph, cache_results
        if use_cuda_graph or warmup is not None or rep is not None:
            warnings.warn(
                "autotune: warmup, rep and use_cuda_graph are deprecated; give do_bench, a function that times a call",
                DeprecationWarning,
                stacklevel=3,
            )
        self.user_do_bench = do_bench
        self.cache: dict[tuple, Config] = {}
        self.failures: dict[Config, Exception] = {}
        self._records: list[Record] = []
        self.configs_timings: dict[Config, list[float]] | None = None
        self.bench_time: float | None = None
        self.best_config: Config | None = None
        self.nargs: dict[str, Any] | None = None
        self._saved: dict[str, Any] = {}
        for names in (self.keys, self.reset_to_zero, self.restore_value):
            unknown = [name for name in names if name not in self.arg_names]
            if unknown and names is not self.keys:
                raise ValueError(f"{self.__name__} has no parameter {unknown[0]!r}; it has {', '.join(self.arg_names)}")

    # Triton clears and restores around trial runs; the launch that counts clears too.
    def _default_pre_hook(self, arguments: dict[str, Any], reset_only: bool = False) -> None:
        for name in self.reset_to_zero:
            if arguments.get(name) is not None:
                _clear(arguments[name])
        if not reset_only:
            self._saved = {name: copied(arguments[name]) for name in self.restore_value}

    def _default_post_hook(self, arguments: dict[str, Any], exception: BaseException | None = None) -> None:
        for name, saved in self._saved.items():
            _write_back(arguments[name], saved)
        self._saved = {}

    @property
    def base_jit_function(self) -> JITFunction:
        """The JITFunction below this and other decorators."""
        fn = self.fn
        while isinstance(fn, (Autotuner, Heuristics)):
            fn = fn.fn
        return fn

    @property
    def do_bench(self) -> Callable:
        """The function that times a configuration on a GPU: of the older arguments (warmup, rep, use_cuda_graph), which
        come first as in Triton, or the one given, or the driver's."""
        from tiletwin import testing

        milliseconds = 100 if self.num_reps is None else self.num_reps
        if self.use_cuda_graph:
            return functools.partial(testing.do_bench_cudagraph, rep=milliseconds)
        if self.num_warmups is not None or self.num_reps is not None:
            warmup = 25 if self.num_warmups is None else self.num_warmups
            return functools.partial(testing.do_bench, warmup=warmup, rep=milliseconds)
        if self.user_do_bench is not None:
            return self.user_do_bench
        from tiletwin.drivers.chosen import driver

        return driver.active.get_benchmarker()

    def _bench(self, *args: Any, config: Config, **meta: Any) -> list[float]:
        """Timings of a configuration (median, lower, upper) for subclasses of libraries that choose by them; infinite
        for one that cannot run. On the CPU the same for all that compile, so that the first one wins; nothing runs."""
        if gpu_tuning.on_gpu(self._arguments(args, meta).values()):
            return gpu_tuning.time_in_full(self, config, args, meta.pop("grid", (1,)), meta)
        self._call_config_hook(config, args, meta)
        try:
            self.fn.run(*args, **{**meta, **config.all_kwargs(), "warmup": True})
        except (CompilationError, OutOfResources) as error:
            self.failures[config] = error
            return [float("inf")] * 3
        return [0.0] * 3

    def _has_own_bench(self) -> bool:
        """Whether no subclass measures configurations in its own way."""
        return type(self)._bench is Autotuner._bench

    def check_disk_cache(self, tuning_key: tuple, configs: Sequence[Config], bench_fn: Callable[[], Any]) -> bool:
        """Whether the choice for a key came from a file. Choices need no timing here, so none is stored: `bench_fn` is
        called and the answer is False."""
        bench_fn()
        return False

    def _arguments(self, args: tuple, kwargs: dict[str, Any]) -> dict[str, Any]:
        named = dict(zip(self.arg_names, args))
        named.update({name: value for name, value in kwargs.items() if name in self.arg_names})
        return named

    def _key(self, named: dict[str, Any]) -> tuple:
        key = [named[name] for name in self.keys if name in named]
        key += [str(value.dtype) for value in named.values() if hasattr(value, "dtype")]
        return tuple(key)

    def prune_configs(self, kwargs: dict[str, Any]) -> list[Config]:
        """Configurations that the user's pruning leaves, in order.

        Raises:
            AutotunerError: none is left.
        """
        configs = self.configs
        nargs = self.nargs or {}
        if self.early_config_prune:
            configs = list(self.early_config_prune(configs, nargs, **kwargs))
            if not configs:
                raise AutotunerError(
                    f"{self.__name__}: no valid autotuner configs are left after early_config_prune; "
                    "it must return at least one"
                )
        if self.perf_model:
            share = self.configs_top_k
            top_k = max(1, int(len(self.configs) * share)) if isinstance(share, float) and share <= 1.0 else int(share)
            if len(configs) > top_k:
                estimates = {c: self.perf_model(**{**nargs, **kwargs, **c.all_kwargs()}) for c in configs}
                configs = sorted(configs, key=lambda c: estimates[c])[:top_k]
        return list(configs)

    def _call_config_hook(self, config: Config, args: tuple, kwargs: dict[str, Any]) -> None:
        """The configuration's own hook sets what the kernel is compiled for, such as the blocks of descriptors."""
        if config.pre_hook:
            config.pre_hook({**self._arguments(args, kwargs), **config.all_kwargs()})

    def _refuse_clash(self, config: Config, args: tuple, kwargs: dict[str, Any]) -> None:
        clash = [name for name in config.kwargs if name in kwargs or name in self.arg_names[: len(args)]]
        if clash:
            raise ValueError(
                f"{self.__name__}: {', '.join(clash)} is set by the autotuner's configurations: do not pass it too"
            )

    def _launch(self, config: Config, args: tuple, grid: Any, kwargs: dict[str, Any]) -> Any:
        self._call_config_hook(config, args, kwargs)
        self._refuse_clash(config, args, kwargs)
        return self.fn.run(*args, grid=grid, warmup=False, **{**kwargs, **config.all_kwargs()})

    def _tell(self, key: tuple, config: Config, timed: gpu_tuning.Choice | None) -> None:
        """Prints and reports a choice. timed: None, without timing."""
        if knobs.autotuning.print:
            how = "without timing" if timed is None else timed.described()
            builtins.print(f"tiletwin: {self.__name__}: took {config} {how}, key {key}")
        if knobs.autotuning.listener is not None:
            knobs.autotuning.listener(
                fn=self.base_jit_function,
                key=key,
                best_config=config,
                configs_timings=timed.timings if timed else {},
                duration=timed.seconds if timed else None,
                cache_hit=timed.cache_hit if timed else False,
            )

    def run(self, *args: Any, grid: Grid, warmup: bool = False, **kwargs: Any) -> Any:
        """Chooses a configuration for these arguments and launches it."""
        if warmup:
            return self.warmup(*args, grid=grid, **kwargs)
        self.nargs = dict(zip(self.arg_names, args))
        named = self._arguments(args, kwargs)
        if len(self.configs) == 1:
            config = self.configs[0]
        else:
            key = self._key(named)
            config = self.cache.get(key)
            if config is None:
                configs = self.prune_configs(kwargs)
                mode = variables.get("TILETWIN_AUTOTUNE") or "first"
                if mode not in MODES:
                    raise ValueError(f"TILETWIN_AUTOTUNE is {mode!r}; it must be 'estimate', 'first' or 'all'")
                if mode == "all":
                    compare_all(self, configs, args, grid, kwargs)
                timed = None
                if gpu_tuning.on_gpu(named.values()):
                    timed = gpu_tuning.choose(self, key, configs, args, grid, kwargs)
                elif mode == "estimate":
                    from tiletwin.launch import tuning_estimates  # it imports the code generator

                    timed = tuning_estimates.choose(self, key, configs, args, grid, kwargs)
                if timed is not None and (timed.timings or timed.cache_hit):
                    self.configs_timings, self.bench_time = timed.timings, timed.seconds
                config = timed.config if timed else first_that_compiles(self, configs, args, grid, kwargs)
                self.cache[key] = config
                # Triton's trial runs end with the arrays cleared.
                self.pre_hook(named, reset_only=True)
                if timed is None or timed.timings or timed.cache_hit:
                    self._tell(key, config, timed)
        self.best_config = config
        try:
            return self._launch(config, args, grid, kwargs)
        finally:
            self.nargs = None

    def warmup(self, *args: Any, grid: Grid = (1,), **kwargs: Any) -> list[Any]:
        """Compiles every configuration that pruning leaves; returns the compiled kernels."""
        self.nargs = dict(zip(self.arg_names, args))
        try:
            return [
                self.fn.warmup(*args, grid=grid, **{**kwargs, **config.all_kwargs()})
                for config in self.prune_configs(kwargs)
            ]
        finally:
            self.nargs = None


def autotune(
    configs: Sequence[Config],
    key: Sequence[str],
    prune_configs_by: dict[str, Any] | None = None,
    reset_to_zero: Sequence[str] | None = None,
    restore_value: Sequence[str] | None = None,
    pre_hook: Callable | None = None,
    post_hook: Callable | None = None,
    warmup: float | None = None,
    rep: float | None = None,
    use_cuda_graph: bool = False,
    do_bench: Callable | None = None,
    cache_results: bool = False,
) -> Callable[[Any], Autotuner]:
    """Decorator: chooses among `configs` anew whenever the arguments named in `key`, or the dtypes, change.

    Args:
        prune_configs_by: {"perf_model", "top_k", "early_config_prune"}.
        reset_to_zero: arguments cleared before a choice, and before each trial run on a GPU.
        restore_value: arguments that trial runs on a GPU leave as they were.
        pre_hook, post_hook: called around trial runs, with the arguments by name.
        do_bench: times every configuration on a GPU; without one, short runs find those that are worth long ones
            (docs/tuning.md). warmup, rep, use_cuda_graph: older ways to say how long, and that graphs are timed.
        cache_results: keeps choices and times on disk.
    """

    def decorate(fn: Any) -> Autotuner:
        return Autotuner(
            fn, fn.arg_names, configs, key, reset_to_zero, restore_value, pre_hook, post_hook, prune_configs_by,
            warmup, rep, use_cuda_graph, do_bench, cache_results,
        )  # fmt: skip

    return decorate


class Heuristics(KernelInterface):
    """A kernel some of whose compile-time arguments are computed from the others; made by `@triton.heuristics`."""

    def __init__(self, fn: Any, arg_names: Sequence[str], values: dict[str, Callable]) -> None:
        self.fn = fn
        self.values = values
        self.arg_names = list(arg_names)
        self.__name__ = getattr(fn, "__name__", "kernel")

    def run(self, *args: Any, **kwargs: Any) -> Any:
        for name, function in self.values.items():
            kwargs[name] = function({**dict(zip(self.arg_names, args)), **kwargs})
        return self.fn.run(*args, **kwargs)


def heuristics(values: dict[str, Callable]) -> Callable[[Any], Heuristics]:
    """Decorator: computes arguments from the others, `{"EVEN": lambda args: args["n"] % 128 == 0}`."""

    def decorate(fn: Any) -> Heuristics:
        return Heuristics(fn, fn.arg_names, values)

    return decorate
