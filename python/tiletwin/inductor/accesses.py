"""Which arguments a kernel of the script reads and writes, so that a compiled function copies no more than it must.

Here:      the walk over a kernel's TTIR, and its answer in the form that Dynamo asks for.
Not here:  the text (compiler/), what Dynamo does with the answer.
Invariant: an argument that the kernel may write is said to be written. Where the text holds what the walk does not
           know, nothing is said, and Dynamo takes every tensor for written.
"""

from __future__ import annotations

import functools
import importlib
import re
from types import ModuleType
from typing import Any

_OPERATION = re.compile(r"(?:%(\w+)(?::(\d+))? = )?\"?([\w.]+)\"?")
_VALUE = re.compile(r"%\w+(?:#\d+)?")
_CARRIED = re.compile(r"(%\w+) = (%\w+(?:#\d+)?)")
_READS = ("tt.load", "tt.descriptor_load", "tt.descriptor_gather")
_WRITES = ("tt.store", "tt.descriptor_store", "tt.descriptor_scatter", "tt.descriptor_reduce")
_BOTH = ("tt.atomic_rmw", "tt.atomic_cas")
_UNKNOWN = re.compile(r"tt\.call|scf\.while|(?<!s)cf\.|tt\.int_to_ptr|ptr<!tt\.ptr|inline_asm.*!tt\.ptr")
_WITHOUT_EFFECT = ("tt.return", "tt.assert", "tt.print", "tt.reduce.return", "tt.scan.return")


class _Walk:
    """One pass over the text after another, until no more is found."""

    def __init__(self, text: str) -> None:
        lines = [line.partition(" loc(")[0].strip() for line in text.splitlines()]
        start = next(number for number, line in enumerate(lines) if line.startswith("tt.func"))
        header = next(line for line in text.splitlines() if line.strip().startswith("tt.func"))
        self.body = [line for line in lines[start + 1 :] if line and not line.startswith("#")]
        self.origins = {name: {number} for number, name in enumerate(re.findall(r"(%\w+): ", header))}
        self.read: set[int] = set()
        self.written: set[int] = set()
        self.is_known = not _UNKNOWN.search("\n".join(self.body))

    def run(self) -> None:
        before = -1
        while self.is_known and before != (before := self._size()):
            self._frames: list[tuple[str, list[str]]] = []
            for line in self.body:
                self._step(line)

    def _size(self) -> int:
        return sum(map(len, self.origins.values())) + len(self.read) + len(self.written)

    def _of(self, values: list[str]) -> set[int]:
        return set().union(*(self.origins.get(value, ()) for value in values))

    def _flow(self, target: str, values: list[str]) -> None:
        if found := self._of(values):
            self.origins.setdefault(target, set()).update(found)

    def _step(self, line: str) -> None:
        if line.startswith("}"):
            if not line.endswith("{") and self._frames:
                self._frames.pop()
            return
        match = _OPERATION.match(line)
        if match is None:
            return
        result, count, name = match.groups()
        values = _VALUE.findall(line[match.end() :])
        results = [f"%{result}"] if count is None else [f"%{result}#{i}" for i in range(int(count))]
        if name == "scf.for":
            carried = _CARRIED.findall(line.partition("iter_args(")[2])
            for (inside, first), outside in zip(carried, results):
                self._flow(inside, [first])
                self._flow(outside, [first])
            self._frames.append((name, [inside for inside, _ in carried] + results))
        elif line.endswith("{"):
            self._frames.append((name, results))
        elif name == "scf.yield":
            self._yield(values)
        elif name in _READS + _WRITES + _BOTH:
            touched = self._of(values[:1])
            self.read |= touched if name not in _WRITES else set()
            self.written |= touched if name not in _READS else set()
        elif result is not None:
            for one in results:
                self._flow(one, values)
        elif name not in _WITHOUT_EFFECT and self._of(values):
            self.is_known = False

    def _yield(self, values: list[str]) -> None:
        """Values go to the results of the operation around, and to what the next round of a loop begins with."""
        name, targets = self._frames[-1]
        for number, value in enumerate(values):
            for target in targets[number :: len(values)] if name == "scf.for" else targets[number : number + 1]:
                self._flow(target, [value])


def accesses(text: str) -> tuple[set[int], set[int]] | None:
    """Numbers of the parameters that a kernel as TTIR reads, and of those that it writes; None: nobody can tell."""
    walk = _Walk(text)
    walk.run()
    return (walk.read, walk.written) if walk.is_known else None


def patch(module: ModuleType) -> None:
    """torch._higher_order_ops.triton_kernel_wrap: it would ask Triton's MLIR bindings."""
    wrap: Any = module
    identify = wrap.identify_accessed_tensors

    @functools.wraps(identify)
    def identify_here(kernel: Any, kwargs: dict[str, Any], descriptors: Any) -> Any:
        from torch._inductor.dependencies import ReadWrites, StarDep
        from torch._inductor.ir import TensorBox
        from torch.utils._ordered_set import OrderedSet

        kinds = (wrap.Tensor, TensorBox)
        tensors = [name for name, value in kwargs.items() if isinstance(value, kinds)]
        found = None if descriptors else _of_kernel(kernel, kwargs, kinds)
        read, written = (tensors, tensors) if found is None else found

        def named(names: Any) -> Any:
            return OrderedSet(StarDep(name) for name in tensors if name in names)

        facts = ReadWrites(reads=named(read), writes=named(written), index_exprs=OrderedSet())
        return wrap.TensorAccesses(facts, can_fuse_epilogue=False)

    wrap.identify_accessed_tensors = identify_here


def _of_kernel(kernel: Any, kwargs: dict[str, Any], kinds: Any) -> tuple[set[str], set[str]] | None:
    """Names of the parameters that a kernel reads and writes."""
    torch: Any = importlib.import_module("torch")
    if hasattr(kernel, "configs"):  # all configurations are of the same text
        kwargs = {**kwargs, **(kernel.configs[0].kwargs if kernel.configs else {})}
        kernel = kernel.fn
    symbols = (torch.SymInt, torch.SymFloat, torch.SymBool)
    given = {}
    with torch._C._DisableTorchDispatch():
        for name in kernel.arg_names:
            value: Any = kwargs.get(name)
            is_symbol = isinstance(value, symbols) or type(value).__module__.startswith("sympy")
            given[name] = 2 if is_symbol else torch.empty(2, dtype=value.dtype) if isinstance(value, kinds) else value
    compiled = kernel.warmup(**given, grid=(1,))
    names = [name for name, kind in compiled.src.signature.items() if kind != "constexpr"]
    found = accesses(compiled.asm["ttir"])
    return found and ({names[i] for i in found[0]}, {names[i] for i in found[1]})
