"""Choosing an autotuner's configuration without a GPU, by how long an H200 would take: TILETWIN_AUTOTUNE=estimate.

Here:      what is tried and in which order, trial launches of a few clusters on the simulator, choices on disk, what is
           said where nothing can be estimated.
Not here:  the tuner's interface (autotuner.py), trial runs with their hooks and choices by time (gpu_tuning.py), which
           clusters run (sampled_launch.py), the model of time (tiletwin/counters), compilation beside each other
           (tuning_compile.py).
Idea:      compile all, leave out what the compiled code says to be hopeless, look at one cluster of each other one, and
           at several clusters of those that looked best. The smallest estimate wins, of equal ones the first.
Invariant: a choice by estimates is kept under a key of its own, so nobody takes it for a measured one.
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from tiletwin import knobs, native, ports, variables
from tiletwin._activate import backend
from tiletwin.codegen import assembler
from tiletwin.codegen.stages import AsmDict
from tiletwin.codegen.targets import capability_of
from tiletwin.cuda import ptxas
from tiletwin.eager.decide import reason_for_eager
from tiletwin.errors import CompilationError, TileTwinError
from tiletwin.file_cache import get_cache_manager, triton_key
from tiletwin.kernels.jit import JITFunction
from tiletwin.launch import gpu_tuning, sampled_launch, sim_launch, tuning_compile, tuning_model
from tiletwin.launch.configurations import nothing_left, reason
from tiletwin.launch.eager_launch import wants_eager

GPU = "H200"
FEW = 8
"""Configurations of which several clusters run: those that looked best."""
LOOKED = 200_000_000
"""Instructions of warps after which no further configurations are looked at, if there are FEW: half a minute."""
DIGITS = 4
"""Of estimates that are compared: those that differ in no more are equal."""
_FAULTS = (TileTwinError, ArithmeticError, AssertionError, IndexError, RuntimeError, ValueError, MemoryError)
"""What a launch on the simulator raises."""
_ONLY_HERE = (sampled_launch.TooLong, MemoryError)
"""Of these, what may keep a trial from its end and not the launch."""
_NO_PTXAS = "no ptxas was found, so estimates take for granted that registers suffice (pip install nvidia-cuda-nvcc)"


class Estimated(gpu_tuning.Choice):
    """A choice by estimates, which stand among `timings` as if they had been measured."""

    def described(self) -> str:
        if self.cache_hit:
            return f"from disk, by estimates for an {GPU}"
        known = sorted(times[0] for times in self.timings.values() if times[0] < math.inf)
        found = f"by estimates for an {GPU}: {1000 * known[0]:.1f} us"
        if len(known) > 1:
            found += f", {known[1] / known[0]:.2f} times as fast as the next"
        return f"{found} (nothing was measured; {len(known)} of {len(self.timings)} configurations were estimated)"


class _NoEstimate(Exception):
    """Why a launch has no estimate, as a part of a sentence; the kernel may be right."""


class _Form:
    """Stands for a compiled kernel whose launch runs a certain one of its forms."""

    def __init__(self, name: str, asm: AsmDict) -> None:
        self.name, self.asm = name, asm


class _Trials:
    """Launches of a few clusters."""

    def __init__(self, trial: gpu_tuning.Trial) -> None:
        self.trial, self.failures = trial, trial.failures
        self._function = trial.tuner.base_jit_function
        self._forms: dict[int, _Form] = {}  # by AsmDict
        self._memory = sampled_launch.Memory()
        self._look = False
        self._seconds: float | None = None
        self._error: Exception | None = None
        self.instructions = 0
        self.ran_all = False
        """Whether the last trial has left no cluster out."""

    def seconds(self, config: Any, look: bool) -> float:
        """About how long a launch would take; infinite: it cannot run, and `failures` says why. look: one cluster has
        to do. Errors: of the user's hooks."""
        self._look, self._seconds, self._error = look, None, None
        token = sim_launch.in_place.set(self._launch)
        try:
            self.trial.call(config)
        except Exception as error:
            if error is not self._error and not isinstance(error, tuning_compile.UNUSABLE):
                raise
        finally:
            sim_launch.in_place.reset(token)
        if self._seconds is None:
            self.failures.setdefault(config, _NoEstimate("its launch has no programs"))
            return math.inf
        return self._seconds

    def _launch(self, kernel: Any, grid: tuple[int, int, int], values: list[Any], buffers: list[Any]) -> Any:
        """What stands in for `sim_launch.launch`."""
        if getattr(kernel.src, "fn", None) is not self._function:  # a hook launches something
            token = sim_launch.in_place.set(None)
            try:
                return sim_launch.launch(kernel, grid, values, buffers)
            finally:
                sim_launch.in_place.reset(token)
        try:
            self._seconds = self._estimate(kernel, grid, values, buffers)
        except (*_FAULTS, _NoEstimate) as error:
            self._error = error
            raise
        return kernel

    def _estimate(self, kernel: Any, grid: tuple[int, int, int], values: list[Any], buffers: list[Any]) -> float:
        if (target := capability_of(kernel.options["arch"])) != tuning_model.H200["capability"]:
            raise _NoEstimate(f"it is compiled for sm_{target}, and an {GPU} has sm_90")
        asm = tuning_compile.form_of(kernel, math.prod(grid), tuning_model.H200)
        form = self._forms.setdefault(id(asm), _Form(kernel.name, asm))
        report = None
        if assembler.find() is not None:
            report = next(iter(ptxas.read_report(asm.binary.log).values()), None)
        found = []

        def run(entry: Any, *given: Any) -> None:
            part = sampled_launch.run(self._memory, given[-1], entry, given[:-1], _waits(kernel), self._look)
            self.instructions, self.ran_all = self.instructions + part.instructions, part.is_all
            found.append(ports.launch_seconds(entry, *given[:4], part.rows, report))

        sim_launch.launch(form, grid, values, buffers, run)
        return found[0]


def _waits(kernel: Any) -> bool:
    """Whether programs may wait for each other."""
    try:
        return kernel.module is not None and kernel.module.plan()["may_wait"]
    except CompilationError:  # the interpreter does not take all that a GPU does
        return False


_lock = threading.Lock()
"""Around what follows."""
_blocks = 0
_changes = variables.Changes()


@contextlib.contextmanager
def _on_simulator() -> Iterator[None]:
    """Launches come to the simulator while the block runs, those of other threads, too, and TILETWIN_SAVE does not keep
    them: a trial's results are not the kernel's. Blocks may overlap."""
    global _blocks, _changes
    with _lock:
        if not _blocks:
            _changes = variables.Changes(TILETWIN_BACKEND="sim", TILETWIN_SAVE="")
        _blocks += 1
    try:
        yield
    finally:
        with _lock:
            _blocks -= 1
            if not _blocks:
                _changes.restore()


def _refuse(tuner: Any) -> None:
    """Errors: _NoEstimate, no launch of the kernel has one, whatever its configuration."""
    function = tuner.base_jit_function
    if not isinstance(function, JITFunction):
        raise _NoEstimate(f"{type(function).__name__} is no kernel that the simulator can run")
    if wants_eager(function):
        why = reason_for_eager(function) or "TILETWIN_PROGRAM or TILETWIN_RECORD is set"
        raise _NoEstimate(f"Python runs its programs, because {why}")
    if variables.text("TILETWIN_DEBUG"):
        raise _NoEstimate("a debugger of GPU code is attached")
    try:
        native.simulator()
        native.code_generator()
        assembler.find()
    except RuntimeError as error:
        raise _NoEstimate(str(error).splitlines()[0]) from None


def _estimates(trial: gpu_tuning.Trial, configs: Sequence[Any]) -> dict[Any, float]:
    """Seconds by configuration, in the order of `configs`; infinite: it cannot run (`trial.failures`) or was left out.
    Those that looked worse than FEW others have the estimate of one cluster."""
    prepare = [lambda config=config: trial.compile(config) for config in configs]
    arguments = [trial.arguments(config) for config in configs]
    compiled = tuning_compile.compile_all(prepare, trial.grid, arguments, tuning_model.H200)
    trial.failures.update({configs[at]: error for at, error in compiled.failures.items()})
    guesses = {configs[at]: tuning_model.relative_time(n, tuning_model.H200) for at, n in compiled.needs.items()}
    hopeful = tuning_model.HOPELESS * min(guesses.values(), default=math.inf)
    trials, sure = _Trials(trial), set[Any]()
    found: dict[Any, float] = {}
    for config in sorted(guesses, key=lambda config: guesses[config]):
        if guesses[config] > hopeful or (len(found) >= FEW and trials.instructions > LOOKED):
            break
        seconds = trials.seconds(config, look=True)
        if seconds < math.inf:
            found[config] = seconds
            sure |= {config} if trials.ran_all else set()
    best = sorted(found, key=lambda config: (found[config], configs.index(config)))[:FEW]
    for config in best if len(best) > 1 else ():
        if config not in sure:
            found[config] = trials.seconds(config, look=False)
    slowest = max((found[config] for config in best if found[config] < math.inf), default=0.0)
    # An estimate of one cluster is less sure: none of them comes before those of several.
    rest = {config: max(seconds, slowest) for config, seconds in found.items() if config not in best}
    return {config: rest.get(config, found.get(config, math.inf)) for config in configs}


_said: set[str] = set()


def choose(
    tuner: Any, key: tuple, configs: Sequence[Any], args: tuple, grid: Any, kwargs: dict[str, Any]
) -> gpu_tuning.Choice | None:
    """Takes the configuration with the smallest estimate on the arguments at hand. None: the first one that compiles is
    to be taken, because there is one only, or nothing can be estimated, which is said once.

    Errors: AutotunerError, none of them compiles and fits; ValueError, an argument is also set by configurations; what
    the user's hooks raise.
    """
    if len(configs) == 1:
        return None
    for config in configs:
        tuner._refuse_clash(config, args, kwargs)
    made, said = None, ""
    try:
        made, said = _chosen(tuner, key, configs, args, grid, kwargs)
    except _NoEstimate as error:
        said = f"no configuration was chosen by estimates: {error}; the first one that compiles is taken"
    text = f"{tuner.__name__}: TILETWIN_AUTOTUNE=estimate: {said}"
    if said and text not in _said:
        _said.add(text)
        warnings.warn(text, stacklevel=3)
    return made


def _chosen(
    tuner: Any, key: tuple, configs: Sequence[Any], args: tuple, grid: Any, kwargs: dict[str, Any]
) -> tuple[gpu_tuning.Choice, str]:
    """A choice, and what is to be said of it. Errors: of `choose`; _NoEstimate."""
    manager, file_name = None, f"{tuner.__name__[:150]}.estimate.json"
    if gpu_tuning.is_kept(tuner, configs):
        manager = get_cache_manager(gpu_tuning.file_key(tuner, key, configs, GPU, f"estimate {triton_key()}"))
    known = gpu_tuning.stored(manager.get_file(file_name), configs) if manager is not None else None
    if known is not None:
        return Estimated(known, {}, None, True), ""
    _refuse(tuner)
    started = time.perf_counter()
    trial = gpu_tuning.Trial(tuner, args, grid, kwargs)
    with _on_simulator():
        seconds = _estimates(trial, configs)
    tuner.failures = {config: trial.failures[config] for config in configs if config in trial.failures}
    if knobs.autotuning.print:
        for config, error in tuner.failures.items():
            print(f"tiletwin: {tuner.__name__}: {config} is out: {reason(error)}")
    best = min(seconds, key=lambda config: float(f"{seconds[config]:.{DIGITS}g}"))
    if math.isinf(seconds[best]):
        raise _nothing_left(tuner)
    timings = {config: [1000 * one] * len(gpu_tuning.QUANTILES) for config, one in seconds.items()}
    if manager is not None:
        manager.put(gpu_tuning.written(key, best, timings), file_name, binary=False)
    made = Estimated(best, timings, time.perf_counter() - started, False)
    return made, "" if assembler.find() else _NO_PTXAS


def _nothing_left(tuner: Any) -> Exception:
    """What is raised then: AutotunerError where launches run on the simulator and could not run either."""
    failures = tuner.failures
    only_here = [error for error in failures.values() if isinstance(error, (*_ONLY_HERE, _NoEstimate))]
    if backend() == "sim" and failures and not only_here:
        compiles = any(not isinstance(error, tuning_compile.UNUSABLE) for error in failures.values())
        return nothing_left(tuner, failures.items(), "can be run" if compiles else "compiles")
    errors = only_here or list(failures.values())
    return _NoEstimate(reason(errors[0]) if errors else "a hook has kept its configurations from being compiled")
