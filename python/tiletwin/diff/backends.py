"""What runs recorded launches: the interpreter, real Triton, the simulator, a GPU, or nobody (results of the file).

Here:      Backend, those that are ours, what they do differently by right.
Not here:  what they compute with; backends by name (backend_names.py); comparing (comparing.py).
Invariant: run() works on copies. What a kernel does wrong is an outcome; a backend that cannot run a launch says why
           (`Outcome.unsupported`); an exception is a fault of the caller or of this program.
"""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tiletwin import _C, checks, variables
from tiletwin.diff.gpu_arguments import ALIGNMENT, gpu_arguments
from tiletwin.diff.launches import Launch, rebuilt
from tiletwin.errors import CompilationError, CudaError, OutOfResources, TileTwinError
from tiletwin.memory import register, unregister


@dataclass
class Outcome:
    """How one backend ended one launch."""

    backend: str
    memory: list[np.ndarray] = field(default_factory=list)
    """Of every storage, after the launch."""
    error: str = ""
    """What the kernel did wrong; empty: every program ran to its end."""
    kind: str = ""
    """Name of the exception."""
    unsupported: str = ""
    """Why this backend cannot run the launch."""
    seconds: float = 0.0
    findings: list[Any] = field(default_factory=list)
    """What checks of the backend found in its code (tiletwin.checks.Finding)."""


@dataclass(frozen=True)
class Traits:
    """How a backend rounds, where that is free."""

    contracts: bool = False
    approximates: bool = False
    keeps_tf32: bool = False
    """Reads the f32 operands of a tf32 dot as they are."""
    fp8_sums: bool = False
    undefined_is_zero: bool = True


ON_HOST = Traits()
ON_GPU = Traits(contracts=True, approximates=True, fp8_sums=True, undefined_is_zero=False)


class Latitude(NamedTuple):
    """What two backends may do differently without being wrong, as diff/Bounds.h has it."""

    contracts: bool = False
    approximates: bool = False
    tf32_differs: bool = False
    fp8_sums: bool = False
    undefined_differs: bool = False


def latitude(a: Traits, b: Traits) -> Latitude:
    """What two backends may do differently."""
    return Latitude(
        contracts=a.contracts or b.contracts,
        approximates=a.approximates or b.approximates,
        tf32_differs=a.keeps_tf32 != b.keeps_tf32,
        fp8_sums=a.fp8_sums or b.fp8_sums,
        undefined_differs=not (a.undefined_is_zero and b.undefined_is_zero),
    )


class Backend:
    """Something that runs recorded launches. can_tap: it compiles TTIR, so one that stores its values runs there."""

    name = ""
    traits = ON_HOST
    can_tap = False
    replaced: Sequence[str] = ()
    """Files whose code the last launch ran in place of the kernel's own (TILETWIN_OVERRIDE)."""

    def run(self, launch: Launch) -> Outcome:
        raise NotImplementedError

    def examine(self, launch: Launch) -> list[Any]:
        """What all checks of this backend find in a launch (tiletwin.checks.Finding); none if it has no checks."""
        return []

    def close(self) -> None:
        """Ends what the backend has started."""


_MISBEHAVED = (ArithmeticError, AssertionError, RuntimeError, IndexError)


def _measured(backend: str, memory: list[np.ndarray], run: Callable[[], Any]) -> Outcome:
    """Runs, and makes an outcome of how it ended: the kernel's fault, or what this machine cannot do."""
    started = time.perf_counter()
    outcome = Outcome(backend, memory)
    try:
        run()
    except MemoryError as error:
        outcome.unsupported = f"out of memory: {error}"
    except (NotImplementedError, CompilationError, OutOfResources, ValueError) as error:  # ValueError: it does not fit
        outcome.unsupported = str(error)
    except (TileTwinError, *_MISBEHAVED) as error:
        if isinstance(error, CudaError) and error.kind != "fault":  # no GPU, or one that does not take this launch
            outcome.unsupported = str(error)
        else:
            outcome.error, outcome.kind = str(error), type(error).__name__
    outcome.seconds = time.perf_counter() - started
    return outcome


@contextlib.contextmanager
def _reachable(launch: Launch, memory: list[np.ndarray]) -> Iterator[None]:
    """Programs may access copies of memory whose addresses they find."""
    copies = [memory[array.storage] for array in launch.reached if memory[array.storage].size]
    for array, data in zip(launch.reached, copies):
        register(data, f"memory {array.storage}")
    try:
        yield
    finally:
        for data in copies:
            unregister(data)
        launch.without_addresses(memory)


class InterpBackend(Backend):
    """The interpreter, on the launch's TTIR."""

    name = "interp"
    can_tap = True

    @property
    def traits(self) -> Traits:  # type: ignore[override]
        return Traits(keeps_tf32=variables.text("TILETWIN_NUMERICS").lower() == "ieee")

    def run(self, launch: Launch) -> Outcome:
        if not launch.ttir:
            return Outcome(self.name, unsupported="the launch was recorded without TTIR")
        memory = launch.copies()

        def run() -> None:
            module = _C.parse_ttir(launch.ttir, f"{launch.name}.ttir")
            values = tuple(rebuilt(value, memory) for _, value in launch.kept())
            _C.launch_module(module, launch.grid, values, [name for name, _ in launch.kept()])

        # A kernel of the tester's own writes beyond its views, the same values from several programs.
        with checks.aside() if launch.is_augmented else contextlib.nullcontext(), _reachable(launch, memory):
            return _measured(self.name, memory, run)


class _CodeBackend(Backend):
    """A backend that takes what the code generator makes of the launch's TTIR."""

    traits = ON_GPU
    can_tap = True
    capability = 90

    def run(self, launch: Launch) -> Outcome:
        return self._outcome(launch)

    def _outcome(self, launch: Launch, **options: Any) -> Outcome:
        """options: of the engine's run()."""
        memory = launch.copies()
        if 0 in launch.grid:
            return Outcome(self.name, memory)
        findings: list[Any] = []
        outcome = _measured(self.name, memory, lambda: self._launch(launch, memory, findings, options))
        outcome.findings = findings
        return outcome

    def _code(self, launch: Launch) -> tuple[str, Any]:
        """PTX of the launch's TTIR; its metadata: name, num_warps, shared, global_scratch_size."""
        from tiletwin.compiler.compiler import compile
        from tiletwin.compiler.sources import IRSource
        from tiletwin.gpu_target import GPUTarget
        from tiletwin.native import code_generator as extension

        try:
            extension()
        except RuntimeError as error:
            raise NotImplementedError(str(error)) from None
        with tempfile.TemporaryDirectory(prefix="tiletwin-diff-") as folder:
            path = Path(folder) / f"{launch.name}.ttir"
            path.write_text(launch.ttir)
            given = launch.given_options("num_warps", "num_stages", "num_ctas", "maxnreg", "enable_fp_fusion")
            source = IRSource(path)
            source.overridable = not launch.is_augmented
            compiled = compile(source, target=GPUTarget("cuda", self.capability, 32), options=given)
            ptx = compiled.asm["ptx"]
            self.replaced = compiled.asm.replaced
            return ptx, compiled.metadata

    def _launch(self, launch: Launch, memory: list[np.ndarray], findings: list[Any], options: dict[str, Any]) -> None:
        if launch.addresses:
            raise NotImplementedError("its memory holds addresses of other memory, which only the interpreter follows")
        ptx, facts = self._code(launch)
        self._check_shared(facts.shared)
        arguments = gpu_arguments(launch, memory, facts.arguments)
        if facts.global_scratch_size:
            room = np.zeros(facts.global_scratch_size * int(np.prod(launch.grid)) + ALIGNMENT, dtype=np.uint8)
            arguments.append(room[-room.ctypes.data % ALIGNMENT :])
        try:
            self._run(
                launch, findings, ptx, facts.name, arguments, grid=launch.grid, block=(32 * facts.num_warps, 1, 1),
                shared=facts.shared, **options,
            )  # fmt: skip
        except (KeyError, TypeError) as error:  # another kernel's name, or its arguments
            if not self.replaced:
                raise
            raise NotImplementedError(f"{', '.join(self.replaced)}: {error.args[0]}") from None

    def _run(self, launch: Launch, findings: list[Any], *code: Any, **options: Any) -> None:
        """Runs what the engine takes. Errors: what the launch does wrong."""
        outcome = self._engine().run(*code, **options)
        findings.extend(outcome.findings)
        if outcome.error is not None:
            self._failed(launch, outcome.error)
            raise outcome.error

    def _check_shared(self, needed: int) -> None:
        """Errors: OutOfResources, this is more shared memory than a block may have, where the engine does not tell."""

    def _failed(self, launch: Launch, error: Exception) -> None:
        """Called with what the launch itself did wrong."""

    def _engine(self) -> Any:
        raise NotImplementedError


class SimBackend(_CodeBackend):
    """The simulator, on PTX of the code generator."""

    name = "sim"

    def _check_shared(self, needed: int) -> None:
        from tiletwin.launch import sim_launch

        sim_launch.check_shared(needed)

    def examine(self, launch: Launch) -> list[Any]:
        return self.checked(launch, checks="all").findings

    def checked(self, launch: Launch, **options: Any) -> Outcome:
        """How a launch ends with the findings of chosen checks, of which nobody else is told. options: of
        `tiletwin.sim.Kernel`."""
        with checks.aside():
            return self._outcome(launch, **options)

    def _engine(self) -> Any:
        from tiletwin import sim

        return sim.BACKEND


_faulted: dict[int, str] = {}
"""By the number of a GPU that this process has lost: the launch that did it."""
_ADDRESSES = (
    "its pointers come from memory or from numbers, which are addresses of this process; a GPU cannot follow them. A "
    "kernel that takes the tensors themselves as arguments can be compared"
)
_LOST = "{launch} failed and lost the GPU's context; it takes a new process to use that GPU again"


class CudaBackend(_CodeBackend):
    """A GPU, on PTX of the code generator. After a launch that faults the process cannot use the GPU any more: that
    launch has failed, and later ones cannot be run."""

    name = "cuda"

    def _launch(self, launch: Launch, memory: list[np.ndarray], findings: list[Any], options: dict[str, Any]) -> None:
        from tiletwin import cuda

        if launch.reads_addresses():
            raise NotImplementedError(_ADDRESSES)
        device = cuda.current_device()
        if device in _faulted:
            raise NotImplementedError(_LOST.format(launch=f"an earlier launch, {_faulted[device]},"))
        try:
            super()._launch(launch, memory, findings, options)
        except CudaError as error:
            if error.kind != "fault" or device in _faulted:  # else it was there before this launch began
                raise
            raise NotImplementedError(f"{_LOST.format(launch='an earlier launch of the process')}: {error}") from None

    def _failed(self, launch: Launch, error: Exception) -> None:
        from tiletwin import cuda

        if isinstance(error, CudaError) and error.kind == "fault":
            _faulted[cuda.current_device()] = f"{launch.name} #{launch.number}"

    @property
    def capability(self) -> int:  # type: ignore[override]
        """Of the current GPU.

        Raises:
            CudaError: there is none.
        """
        from tiletwin import cuda

        return cuda.device_facts(cuda.current_device())["capability"]

    def _engine(self) -> Any:
        try:
            from tiletwin.cuda.backend import BACKEND
        except ImportError as error:
            raise NotImplementedError(f"there is no CUDA runtime in this version: {error}") from None
        return BACKEND


class RecordedBackend(Backend):
    """What another backend gave when the launch was recorded."""

    def __init__(self, of: str = "") -> None:
        self.of = of
        self.name = f"recorded:{of}" if of else "recorded"

    @property
    def traits(self) -> Traits:  # type: ignore[override]
        return traits_of(self.of)

    def run(self, launch: Launch) -> Outcome:
        known = sorted({*launch.outputs, *launch.errors})
        if not self.of and known:
            self.of, self.name = known[0], f"recorded:{known[0]}"
        if self.of in launch.errors:
            kind, _, text = launch.errors[self.of].partition(": ")
            return Outcome(self.name, launch.outputs.get(self.of, []), error=text or kind, kind=kind)
        if self.of not in launch.outputs:
            return Outcome(self.name, unsupported=f"the file holds outputs of {', '.join(known) or 'no backend'}")
        return Outcome(self.name, launch.outputs[self.of])


def traits_of(name: str) -> Traits:
    """How the backend of a name rounds; of one that is not known, everything that any of them may do."""
    return {"interp": ON_HOST, "triton": Traits(keeps_tf32=True)}.get(name, ON_GPU)
