"""The stages of a kernel as `kernel.asm` has them: each is made when it is first asked for, and kept.

Here:      AsmDict; the order of stages, what each is made from, overrides between them.
Not here:  making them: the front end (`_C`), generator.py, assembler.py; files (stage_files.py).
Idea:      source, ttir ── front end | ttgir, llir, ptx ── code generator, one call | cubin ── ptxas | sass ── nvdisasm
           of AMD GPUs: amdgcn in place of ptx | hsaco ── ld.lld
Invariant: a stage is made once; asking again gives the same object, from every thread.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tiletwin import knobs, variables
from tiletwin.codegen.stage_files import BINARY, StageFiles
from tiletwin.gpu_target import GPUTarget

if TYPE_CHECKING:  # what makes GPU code is imported when somebody reads it: launches on the CPU do not need it
    from tiletwin.codegen import assembler, generator

BACKEND_STAGES = {
    "cuda": ("source", "ttir", "ttgir", "llir", "ptx", "cubin", "sass"),
    "hip": ("source", "ttir", "ttgir", "llir", "amdgcn", "hsaco"),
}
"""Stages in order, by the target's backend."""

GENERATED = ("ttgir", "llir", "ptx", "amdgcn")
"""Stages that the code generator makes."""


def _has_tool(stage: str) -> bool:
    """Whether this machine has the program that makes a stage, if that takes one."""
    if stage == "cubin":
        from tiletwin.codegen import assembler

        return assembler.find() is not None
    if stage == "hsaco":
        from tiletwin.codegen import lld

        return lld.find() is not None
    return True


class AsmDict(Mapping):
    """A kernel's stages: `asm["ptx"]` compiles as far as that. Texts are str, "cubin" and "hsaco" are bytes.

    Iterating goes over the stages that can be made on this machine ("cubin" needs ptxas, "hsaco" ld.lld), without
    "sass", as Triton does. A kernel that a launch on the CPU compiled iterates over the front end's stages and what was
    asked for.
    Errors of making a stage: CompilationError; RuntimeError, a tool is not there; PTXASError.
    """

    def __init__(
        self,
        texts: dict[str, str | Callable[[str], str]],
        file_name: str,
        target: GPUTarget,
        options: dict[str, Any],
        files: StageFiles,
        for_gpu: bool,
    ) -> None:
        """texts: the stages that are there, or functions that make them. file_name: what errors call the last one."""
        self._texts, self._file_name, self._for_gpu = texts, file_name, for_gpu
        self._target, self._options, self._files = target, options, files
        self._last = tuple(texts)[-1]
        self._made: dict[str, Any] = {}
        self._facts: dict[str, Any] = {}  # of the generator
        self._binary: assembler.Binary | None = None
        self._launched: AsmDict | None = None
        self._launched_singly: AsmDict | None = None
        self._lock = threading.RLock()
        self.times: list[tuple[str, int]] = []
        """Microseconds that making a stage took, in order; nothing for what came from the cache."""
        self.cached = True
        """Whether all that was made came from the cache on disk."""
        self.replaced: list[str] = []
        """Files that replaced a stage after ttir."""
        order = BACKEND_STAGES[target.backend]
        self.stages = order[order.index(next(iter(texts))) :]
        """All stages that can be asked for, in order."""

    def _listed(self, stage: str) -> bool:
        if stage in self._made or stage in self._texts:
            return stage != "sass"
        return self._for_gpu and stage != "sass" and _has_tool(stage)

    def __iter__(self) -> Iterator[str]:
        return (stage for stage in self.stages if self._listed(stage))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, stage: object) -> bool:
        return stage in tuple(self)

    def __repr__(self) -> str:
        return (
            f"<stages {', '.join(self.stages)} of kernel {self._files.name}; made: {', '.join(self._made) or 'none'}>"
        )

    def __getitem__(self, stage: str) -> Any:
        if stage not in self.stages:
            raise KeyError(f"no stage {stage!r}; available: {', '.join(self.stages)}")
        with self._lock:
            if stage not in self._made:
                self._make(stage)
            return self._made[stage]

    def __reduce__(self) -> tuple:
        """Another process gets the stages that have been made, and makes no others of a function."""
        for stage in self._texts:
            _ = self[stage]
        texts = {stage: self._made[stage] for stage in self._texts}
        parts = (texts, self._file_name, self._target, self._options, self._files, self._for_gpu)
        return _with_stages, (parts, self._made, self._facts, self._binary)

    @property
    def facts(self) -> dict[str, Any]:
        """What the code generator says of the kernel: name, shared, num_warps, threads, global_scratch_size, ...; for
        AMD GPUs also what the assembly does: registers, scalar_registers, spills, scratch."""
        if self._target.backend != "hip":
            _ = self["ptx"]
            return self._facts
        from tiletwin.codegen import code_object

        text = self["amdgcn"]
        return self._facts | code_object.facts(text)

    @property
    def binary(self) -> assembler.Binary:
        """The cubin with what ptxas said of it."""
        _ = self["cubin"]
        assert self._binary is not None
        return self._binary

    def may_add_warps(self) -> bool:
        """Whether a loop asks for warps of its own, or may get them: one with products of descriptors' blocks. Makes no
        stage."""
        with self._lock:
            made = self._made.get(self._last) or self._texts[self._last]
            text = made(self._last) if callable(made) else made
            if not isinstance(text, str):
                return False
            return "tt.warp_specialize" in text or "twg.producer" in text or ("tt.dot" in text and "tensordesc" in text)

    @property
    def launched(self) -> AsmDict:
        """The stages of the code that tiletwin's own launches run: these, or those of code that takes more arguments
        (launch/copied_loads.py). Others who launch a kernel know of no more arguments, and get these."""
        with self._lock:
            if self._launched is None:
                self._launched = self._with_copied_loads()
            return self._launched

    @property
    def launched_singly(self) -> AsmDict:
        """The same for launches of no more programs than there are multiprocessors: each CTA runs one, on one of its
        own, where no other CTA works while it waits."""
        with self._lock:
            if self._launched_singly is None:
                self._launched_singly = self._with_copied_loads(tile_loops=False, alone=True)
            return self._launched_singly

    def _with_copied_loads(self, **more: bool) -> AsmDict:
        if not self.may_copy_loads():
            return self
        started = time.perf_counter()
        options = self._options | {"copied_loads": True} | more
        made = self._generated(options)
        copies = any(kind.startswith("copies<") for kind in made.metadata["arguments"])
        if not more and not copies and made.metadata["program_ctas"] == 1:
            if "ptx" not in self._made:
                self._take(made.texts, made.metadata, made.cached, started)
            return self
        texts = {stage: self[stage] for stage in self._texts}
        files = self._files.of(options)
        other = AsmDict(texts, self._file_name, self._target, self._options, files, self._for_gpu)
        other._take(made.texts, made.metadata, made.cached, started)
        other._launched = other._launched_singly = other
        return other

    def may_copy_loads(self) -> bool:
        """Whether anything of the kernel can be copied, or several CTAs may run a program, and no file replaces a stage
        behind ttir. If not, one code is for all launches."""
        options, replaces = self._options, knobs.compilation.override or knobs.stages.override
        if self._target.backend != "cuda" or replaces or options.get("ir_override") or options.get("launch_pdl"):
            return False
        if self._last != "ttir" or not variables.is_not_off("TILETWIN_COPIED_LOADS"):
            return False
        text = self["ttir"]
        loads = "tt.load " in text or "tt.descriptor_load " in text
        if options["num_ctas"] > 1:
            return "tt.dot" in text and loads
        return "tt.dot " in text and loads and "scf.for " in text

    def make_all(self) -> None:
        """Makes every stage that this machine can make."""
        for stage in tuple(self):
            self[stage]

    def _keep(self, stage: str, content: Any) -> None:
        self._made[stage] = content
        self._files.made(stage, content)

    def _make(self, stage: str) -> None:
        if stage in self._texts:
            text = self._texts[stage]
            self._keep(stage, text if isinstance(text, str) else text(stage))
            if stage == "ptx":
                from tiletwin.codegen import ir_text

                self._facts = ir_text.facts_of_ptx(self._made[stage], self._file_name)
        elif stage in GENERATED:
            self._generate()
        elif stage == "cubin":
            self._assemble()
        elif stage == "hsaco":
            self._link()
        else:
            from tiletwin.cuda import sass

            self._keep(stage, sass.disassemble(self["cubin"]))

    def _replacement(self, stage: str) -> tuple[str | bytes, str] | None:
        """(content, path) of the file that replaces a stage."""
        path = self._files.override(stage)
        given = self._options.get("ir_override")
        if given is not None and str(given).endswith(f".{stage}"):
            path = str(given)
        if path is None:
            return None
        self.replaced.append(path)
        return (Path(path).read_bytes() if stage in BINARY else Path(path).read_text()), path

    def _generate(self) -> None:
        """Makes all stages of the code generator. A replaced one is compiled on from there."""
        from tiletwin.codegen import generator, targets

        first = self._last
        target = targets.generator_target(self._target, self._options)
        started = time.perf_counter()
        made = self._generated(self._options)
        texts, facts, cached = dict(made.texts), dict(made.metadata), made.cached
        for stage in self.stages[self.stages.index(first) + 1 :]:
            if stage not in GENERATED or (replaced := self._replacement(stage)) is None:
                continue
            text, path = replaced
            assert isinstance(text, str)
            if stage in ("ttgir", "llir"):
                made = generator.generate(text, stage, path, self._files.name, target, self._options)
                texts |= made.texts
                if stage == "ttgir":  # LLVM IR does not tell name, arguments and shared memory: they stay
                    facts |= made.metadata
                cached = cached and made.cached
            texts[stage] = text
        self._take(texts, facts, cached, started)

    def _generated(self, options: dict[str, Any]) -> generator.Generated:
        from tiletwin.codegen import generator, targets

        first, target = self._last, targets.generator_target(self._target, self._options)
        return generator.generate(self[first], first, self._file_name, self._files.name, target, options)

    def _take(self, texts: dict[str, str], facts: dict[str, Any], cached: bool, started: float) -> None:
        """Keeps what the code generator made."""
        self._facts = dict(facts)
        self._time("ptx" if self._target.backend == "cuda" else "amdgcn", started, cached)
        for stage in self.stages:
            if stage in texts and stage not in self._texts:
                self._keep(stage, texts[stage])

    def _assemble(self) -> None:
        from tiletwin.codegen import assembler, targets

        ptx = self["ptx"]
        arch = targets.architecture(self._target, self._options.get("arch")).name
        started = time.perf_counter()
        self._binary, cached = assembler.assemble(ptx, arch, self._files.name, self._options.get("ptx_options"))
        self._time("cubin", started, cached)
        replaced = self._replacement("cubin")
        if replaced is not None:
            self._binary = self._binary._replace(image=replaced[0])
        self._keep("cubin", self._binary.image)

    def _link(self) -> None:
        from tiletwin.codegen import code_object, targets

        text = self["amdgcn"]
        target = targets.generator_target(self._target, self._options)
        started = time.perf_counter()
        image, cached = code_object.make(text, f"{self._files.name}.amdgcn", self._files.name, target)
        self._time("hsaco", started, cached)
        replaced = self._replacement("hsaco")
        self._keep("hsaco", image if replaced is None else replaced[0])

    def _time(self, stage: str, started: float, cached: bool) -> None:
        self.cached = self.cached and cached
        if not cached:
            self.times.append((stage, int((time.perf_counter() - started) * 1e6)))


def _with_stages(parts: tuple, made: dict[str, Any], facts: dict[str, Any], binary: assembler.Binary | None) -> AsmDict:
    """The stages of a kernel that another process compiled."""
    asm = AsmDict(*parts)
    asm._made, asm._facts, asm._binary = dict(made), dict(facts), binary
    return asm
