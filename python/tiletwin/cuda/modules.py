"""Modules of PTX and cubins on GPUs, their kernels, and launches of these; the same calls as `tiletwin.sim` has.

Not here:  the driver (runtime/cuda), how arguments become a parameter block (tiletwin/sim/arguments.py), copies of
           host memory (launch_memory.py), launches of JIT functions (python/cuda/LaunchApi.h), ptxas (ptxas.py), the
           backend for tools (backend.py).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

from tiletwin.cuda import ptxas
from tiletwin.cuda.devices import device_facts, device_number, stream_number
from tiletwin.cuda.launch_memory import LaunchMemory
from tiletwin.errors import CudaError
from tiletwin.native import cuda as extension
from tiletwin.sim.arguments import Call, Entry, Parameter, Sizes, is_number, pack
from tiletwin.sim.tensor_maps import DescribedMap

ASSEMBLERS = ("auto", "ptxas", "driver")


class Kernel(Entry):
    """An entry of a module on its GPU. `parameters` of cubins have bits as their types.

    device: number of its GPU.
    attributes: registers and local_bytes of a thread (spilled registers are in the latter), shared_bytes, const_bytes,
    max_threads of a block, capability its code was made for, max_dynamic_shared: bytes that a launch may add.
    report: what ptxas said of it; None where ptxas did not make it.
    """

    def __init__(self, module: Module, name: str) -> None:
        self.name, self.device = name, module.device
        self._native = module._native.kernel(name)
        self.attributes: dict[str, int] = self._native.attributes
        facts = module._facts.get(name)
        parameters = self._typed(facts["parameters"]) if facts else self._untyped()
        super().__init__(module, name, parameters, facts["required_threads"] if facts else (0, 0, 0))
        self.report: ptxas.FunctionReport | None = module.reports.get(name)

    def _typed(self, rows: list[tuple]) -> list[Parameter]:
        """Types as PTX says, places as the machine code has them."""
        places = self._native.parameters
        typed = [Parameter(*row) for row in rows]
        return [p._replace(offset=places[i][0]) for i, p in enumerate(typed)] if places else typed

    def _untyped(self) -> list[Parameter]:
        places = self._native.parameters
        if places is None:
            raise CudaError(f"{self.name}: the image does not tell its kernels' parameters: load PTX", kind="image")
        types = {size: f"b{8 * size}" for size in (1, 2, 4, 8)}
        return [
            Parameter(f"{self.name}_param_{i}", types.get(size, "b8"), size, offset, False, 1)
            for i, (offset, size) in enumerate(places)
        ]

    def __call__(
        self,
        *arguments: Any,
        stream: Any = None,
        grid: Sizes,
        block: Sizes | None = None,
        cluster: Sizes | None = None,
        shared: int = 0,
        memory: Iterable[Any] = (),
        cooperative: bool = False,
        programmatic: bool = False,
        **named: Any,
    ) -> None:
        """Launches the kernel.

        The call returns at once if all arrays lie on the GPU, else when the kernel has ended and they are copied back.

        Args:
            arguments: one for each parameter, in order: arrays, tensors and tensor maps for pointers, None for a null
                pointer, numbers; bytes or structures of NumPy and ctypes for structures.
            stream: of torch, or a number; default: torch's current stream.
            grid: CTAs along each dimension.
            block: threads of a CTA along each dimension; default: .reqntid.
            cluster: CTAs of a cluster along each dimension; default: .reqnctapercluster.
            shared: bytes of dynamic shared memory.
            memory: arrays on the GPU that the kernel reaches by other ways than its arguments. Those on the host are
                refused, since the kernel could not find their copies.
            cooperative: all CTAs are resident at the same time.
            programmatic: the kernel may begin before the launch in front of it has ended (sm_90).
            named: arguments by their parameters' names, whole or without the kernel's name in front.

        Raises:
            TypeError: an argument does not fit.
            ValueError: an argument does not fit.
            CudaError: the launch is refused, or a kernel before it failed.
            OutOfResources: the kernel needs more shared memory than the GPU has for a block.
        """
        call = self._call(arguments, named, grid, block, cluster, shared, memory)
        number = stream_number(stream, self.device)
        reached = LaunchMemory(self.device, number)
        self._reserve(call, reached)
        reached.upload()
        values = [
            reached.map_argument(value, as_pointer=not parameter.is_structure)
            if isinstance(value, DescribedMap)
            else value
            for parameter, value in zip(self.parameters, call.values)
        ]
        parameters = pack(self.name, self.parameters, self.parameter_bytes, values, reached)  # type: ignore[arg-type]
        self._native.launch(*call[:4], number, parameters, cooperative, programmatic)
        reached.download()

    def _reserve(self, call: Call, reached: LaunchMemory) -> None:
        """Tells which arrays the launch reaches."""
        for parameter, value in zip(self.parameters, call.values):
            what = f"{self.name}(): argument {parameter.name}"
            if isinstance(value, DescribedMap):
                reached.reserve(what, parameter.name, value.array)
            elif parameter.may_point and value is not None and not is_number(value):
                reached.reserve(what, parameter.name, value)
        before = reached.copies
        for i, array in enumerate(call.memory):
            reached.reserve(f"{self.name}(): memory[{i}]", f"memory[{i}]", array)
            if reached.copies and not before:
                raise ValueError(f"{self.name}(): memory[{i}] lies on the host, where the kernel cannot find it")


class Module:
    """PTX or a cubin on a GPU. `module["name"]` is one of its kernels; `module.entries` are their names. See `load`.

    file: what errors call it. image: what the driver was given. text: the PTX, "" of a cubin. assembler: "ptxas",
    "driver", or "" of a cubin. log: what the assembler said. reports: what ptxas made of each entry.
    Module variables (.global) keep their values from launch to launch: `variable(name)` is (address, bytes).
    """

    def __init__(self, code: str | bytes, file: str, device: int, assembler: str, options: dict[str, Any]) -> None:
        self.file, self.device, self.place = file, device, f"{file} on GPU {device}"
        self.text, self.assembler, self.log = "", "", ""
        self.reports: dict[str, ptxas.FunctionReport] = {}
        self._facts: dict[str, Any] = {}
        if isinstance(code, str):
            code = self._assembled(code, assembler, options)
        self.image: bytes = code
        self._native = extension().load(
            self.image, device, file, options["max_registers"] or 0,
            -1 if options["optimization"] is None else options["optimization"], options["line_info"],
        )  # fmt: skip
        self.log = self.log or self._native.log
        self._kernels: dict[str, Kernel] = {}

    def _assembled(self, text: str, assembler: str, options: dict[str, Any]) -> bytes:
        """The cubin, or the text for the driver's compiler."""
        self.text = text
        version, target, self._facts = extension().ptx_header(text)
        if not version:
            raise CudaError(f"{self.file} is no PTX: there is no .version line", kind="image")
        capability = device_facts(self.device)["capability"]
        self.assembler = _chosen_assembler(assembler, version)
        if self.assembler == "driver":
            return text.encode("utf-8", "replace")
        made = ptxas.assemble(text, ptxas.arch_for(target, capability), file=self.file, **options)
        self.log, self.reports = made.log, made.functions
        return made.cubin

    @cached_property
    def entries(self) -> list[str]:
        """Errors: CudaError, a cubin, and the driver is older than CUDA 12.4."""
        return list(self._facts) if self.text else self._native.entries()

    def __getitem__(self, entry: str) -> Kernel:
        """Errors: KeyError, the module has no such entry."""
        if entry not in self._kernels:
            if self.text and entry not in self._facts:
                raise KeyError(f"{self.file} has no entry {entry!r}; it has {', '.join(self.entries) or 'none'}")
            try:
                self._kernels[entry] = Kernel(self, entry)
            except CudaError as error:
                if error.name != "CUDA_ERROR_NOT_FOUND":
                    raise
                raise KeyError(str(error)) from None
        return self._kernels[entry]

    def variable(self, name: str) -> tuple[int, int]:
        """Address and bytes of a module variable. Errors: CudaError, no variable has that name."""
        return self._native.variable(name)

    def __repr__(self) -> str:
        return f"<module {self.place}>"


def _chosen_assembler(wanted: str, version: int) -> str:
    """ "ptxas" or "driver" for a text of a PTX version. "auto": ptxas if there is one that takes it."""
    if wanted not in ASSEMBLERS:
        raise ValueError(f"assembler is one of {', '.join(ASSEMBLERS)}, not {wanted!r}")
    if wanted != "auto":
        return wanted
    tool = ptxas.find()
    if tool is not None and (tool.newest_ptx >= version or extension().driver()["ptx_version"] < version):
        return "ptxas"
    return "driver"


def load(
    source: str | os.PathLike[str] | bytes,
    *,
    device: Any = None,
    assembler: str = "auto",
    file: str | None = None,
    max_registers: int | None = None,
    optimization: int | None = None,
    line_info: bool = False,
) -> Module:
    """A module from a file of PTX or a cubin (a path), from PTX text (a str with a `.version` line), or from bytes.

    device: number, "cuda:1" or torch.device; default: the current one. assembler: what makes machine code of PTX:
    "ptxas", "driver", or "auto", ptxas where one is found that takes the text's version. file: what errors call it.
    max_registers of a thread, optimization 0 to 3, line_info: for the assembler.
    Errors: CudaError, no driver, no GPU, or code that does not run there; PTXASError; OSError, the file cannot be read.
    """
    code: str | bytes
    if isinstance(source, (bytes, bytearray, memoryview)):
        code, name = bytes(source), "kernel"
    elif isinstance(source, str) and ("\n" in source or ".version" in source):
        code, name = source, "kernel.ptx"
    else:
        code, name = Path(source).read_bytes(), str(source)
    if isinstance(code, bytes) and extension().describe_image(code).startswith("PTX"):
        code = code.decode("utf-8", "replace").rstrip("\0")
    options = {"max_registers": max_registers, "optimization": optimization, "line_info": line_info}
    return Module(code, file or name, device_number(device), assembler, options)


def synchronize(device: Any = None, stream: Any = None) -> None:
    """Waits for a stream, or for everything on a GPU. Errors: CudaError, what a kernel did wrong, with the last
    launched."""
    number = device_number(device)
    if stream is None:
        extension().synchronize(number)
    else:
        extension().synchronize(number, stream_number(stream, number))
