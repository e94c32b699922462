"""The process that runs a submission: loads it, runs one case after the other, answers with results and what it saw.

Here:      the loop, calls and gradients.
Not here:  what is looked at meanwhile (watching.py), the sandbox (sandbox.py), verdicts: this process gives none.
Invariant: no code of the submission runs before the sandbox is entered.
"""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from types import ModuleType
from typing import Any

from tiletwin.judge import sandbox


def main(folder: str, ask: str, answer: str, *limits: str) -> None:
    isolation = sandbox.enter(folder, sandbox.Limits(*map(int, limits)))
    with os.fdopen(int(ask), "rb") as source, os.fdopen(int(answer), "wb") as out:
        _Session(folder, isolation).serve(source, out)


class Server:
    """Answers messages one by one: {"do": "run", ...} is for do_run."""

    def __init__(self, folder: str, isolation: sandbox.Isolation) -> None:
        self.folder, self.isolation = folder, isolation

    def serve(self, source: Any, out: Any) -> None:
        from tiletwin.judge import frames

        def exactly(size: int) -> bytes:
            data = source.read(size)
            if len(data) < size:
                os._exit(0)  # the judge has gone
            return data

        while True:
            head, storages = frames.read(exactly, 1 << 40)
            answer, packed = getattr(self, "do_" + head["do"])(head, storages)
            frames.write(out, answer, packed)


class _Session(Server):
    module: Any = None
    loaded: Any = None
    """What the text defines by the name that is judged."""
    entry: Any = None
    """What is called."""
    are_tests = False
    watch: Any = None

    def do_load(self, head: dict[str, Any], storages: list[Any]) -> tuple[dict[str, Any], list[Any]]:
        """Loads the text."""
        import torch

        from tiletwin.judge import watching

        file = os.path.join(self.folder, head["name"])
        with open(file, "w") as out:
            out.write(head["text"])
        self.watch = watching.Watch(file)
        torch.utils.deterministic.fill_uninitialized_memory = True  # type: ignore[attr-defined]
        torch.use_deterministic_algorithms(True, warn_only=True)
        warnings.filterwarnings("ignore", message=".*deterministic")

        def load() -> Any:
            module = ModuleType(os.path.splitext(head["name"])[0])
            module.__file__ = file
            sys.modules[module.__name__] = module
            sys.argv = [file]
            exec(compile(head["text"], file, "exec"), module.__dict__)
            if not head["tests"] and not hasattr(module, head["entry"]):
                raise AttributeError(f"{head['name']} has no {head['entry']}")
            self.module = module
            return getattr(module, head["entry"], None)

        self.loaded, failed = watching.guarded(load, file)
        self.entry = self.loaded
        said = {"failed": failed, "layers": self.isolation.layers, "missing": self.isolation.missing}
        return {**said, "events": self.watch.events, "replaced": self.watch.replaced()}, []

    def do_make(self, head: dict[str, Any], storages: list[Any]) -> tuple[dict[str, Any], list[Any]]:
        """What is called becomes tests behind the text, a module that the loaded class makes with weights, or what the
        text defines."""
        import torch

        from tiletwin.judge import frames, watching
        from tiletwin.judge.scripts import results_of_tests

        def make() -> Any:
            if head["tests"]:
                return lambda: results_of_tests(head["tests"], vars(self.module), self.watch.file)
            if head["makes"] is None:
                return self.loaded
            torch.manual_seed(head["seed"])
            entry = self.loaded(*frames.unpacked(head["makes"], storages, _on_device))
            _load_weights(entry, frames.unpacked(head["weights"], storages))
            return entry.cuda()

        self.are_tests = bool(head["tests"])
        self.entry, failed = watching.guarded(make, self.watch.file)
        return {"failed": failed, "events": self.watch.events, "replaced": self.watch.replaced()}, []

    def do_run(self, head: dict[str, Any], storages: list[Any]) -> tuple[dict[str, Any], list[Any]]:
        """One call. Answers with the results, the arguments' memory afterwards, and what was seen."""
        import torch

        from tiletwin.judge import arrays as arrays_of
        from tiletwin.judge import frames, watching

        file = self.watch.file
        placed = storages if head["numpy"] else [_on_device(data) for data in storages]
        cotangents: Any = None
        args = frames.unpacked(head["args"], placed)
        arrays = arrays_of.Arrays(head["negative"]) if head["numpy"] else None
        if head["gradients"]:
            args = [_needing(value, i in head["gradients"]) for i, value in enumerate(args)]
            cotangents = frames.unpacked(head["cotangents"], placed)
        operations = watching.Operations(file, only_own=self.are_tests)
        launches = watching.Launches(file, self.folder, head["records"])
        spoiled = watching.Spoiled()

        def call() -> Any:
            torch.manual_seed(head["seed"])
            with operations, launches, spoiled if head["spoils"] else contextlib.nullcontext():
                result = self.entry(*args) if arrays is None else arrays.called(self.entry, args)
                if not head["gradients"]:
                    return result, ()
                return result, _gradients(result, cotangents, args, head["gradients"])

        returned, failed = watching.guarded(call, file)
        counts, before = [watching.tensors()] if head["repeats"] else [], launches.count
        for _ in range(head["repeats"]):
            watching.guarded(call, file)
        counts += [watching.tensors()] if head["repeats"] else []
        packer, tree = frames.Packer(), None
        if failed is None:
            try:
                tree = packer.tree(returned)
            except TypeError as error:
                failed = {"kind": "TypeError", "text": f"it returns {error}", "line": 0, "kinds": ["TypeError"]}
        answer: dict[str, Any] = {
            "results": tree, "failed": failed, "operations": operations.rows(), "launched": launches.count,
            "events": self.watch.events, "replaced": self.watch.replaced(), "unrecorded": launches.reasons[:3],
            "tensors": counts, "again": launches.count - before, "unspoiled": spoiled.missed,
        }  # fmt: skip
        after = packer.tree([data for data in placed])
        answer |= {"after": after, "places": [_extent(data) for data in packer.storages]}
        recorded = []
        for row in launches.rows:
            with open(row.pop("path"), "rb") as data:
                recorded.append(torch.frombuffer(bytearray(data.read()), dtype=torch.uint8))
        answer["launches"] = launches.rows
        answer["count"] = len(packer.storages)
        return answer, [*packer.storages, *recorded]


def _on_device(storage: Any) -> Any:
    return storage.cuda()


def _extent(storage: Any) -> list[int]:
    return [storage.data_ptr(), storage.data_ptr() + storage.numel()]


def _load_weights(entry: Any, weights: dict[str, Any]) -> None:
    """Weights by name, where the submission has the reference's names; else those that the common seed has made."""
    if hasattr(entry, "state_dict") and set(entry.state_dict()) == set(weights):
        entry.load_state_dict(weights)


def _needing(value: Any, needs: bool) -> Any:
    import torch

    if needs and isinstance(value, torch.Tensor):
        return value.requires_grad_()
    return value


def _gradients(result: Any, cotangents: Any, args: list[Any], wanted: list[int]) -> tuple:
    """Of the sum of all results times their cotangents."""
    import torch

    results = [value for value in _leaves(result) if isinstance(value, torch.Tensor) and value.requires_grad]
    if not results:
        raise RuntimeError("the results need no gradient: the submission is not differentiable")
    weights = [c for c in cotangents if c is not None][: len(results)]
    return torch.autograd.grad(results, [args[i] for i in wanted], weights, allow_unused=True)


def _leaves(tree: Any) -> list[Any]:
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, (list, tuple)):
        return [leaf for item in tree for leaf in _leaves(item)]
    return [tree]


if __name__ == "__main__":
    main(*sys.argv[1:])
