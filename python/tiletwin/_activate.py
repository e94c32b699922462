"""Makes `import triton` find tiletwin, in a process that asked for it.

Here:      the module finder for `triton` and `triton.*`, the hook that runs when torch is imported.
Not here:  what is done to torch then (activation.py). This file imports nothing of the package: it may run before it.
Invariant: sys.modules["triton.x"] is sys.modules["tiletwin.x"]; with no variable set nothing is changed.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from _thread import _local  # importing threading would cost every start of Python
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

PACKAGE = "tiletwin"
OFF = ("", "0", "false", "no", "off", "n", "none")
"""What switches a variable off."""
BACKENDS = ("interp", "sim", "cuda", "diff")
ON_THE_CPU = ("interp", "sim", "diff")
TRITON_DRIVER = "triton.backends.nvidia.driver"
"""Real Triton's part that talks to CUDA's driver."""


def _word(variable: str) -> str:
    return os.environ.get(variable, "").strip().lower()


def is_on(variable: str) -> bool:
    return _word(variable) not in OFF


def backend() -> str:
    """What TILETWIN_BACKEND names; empty: nothing. Errors: ValueError, no backend."""
    word = _word("TILETWIN_BACKEND")
    if word in OFF:
        return ""
    if word not in BACKENDS:
        value = os.environ["TILETWIN_BACKEND"].strip()
        expected = ", ".join(BACKENDS)
        raise ValueError(f"TILETWIN_BACKEND={value}: expected one of: {expected}; correct or unset the variable")
    return word


def interprets() -> bool:
    """True if every launch of a process that uses tiletwin runs on the CPU, wherever its tensors live.

    docs/environment.md says the rule; `environment::launchVariables` is the same for launches, and
    tests/data/interprets.txt holds both to it. Errors: ValueError, TILETWIN_BACKEND names no backend.
    """
    return (
        backend() in ON_THE_CPU
        or any(map(is_on, ("TILETWIN_INTERPRET", "TRITON_INTERPRET", "TILETWIN_CHECK", "TILETWIN_GDB")))
        or _word("TILETWIN_NUMERICS") not in (*OFF, "fast")
    )


def on_virtual_gpu() -> bool:
    """True if the process is one of `tiletwin gpu`, whose CUDA driver runs kernels on the CPU."""
    return is_on("TILETWIN_GPU")


def wanted() -> bool:
    """True if the environment asks for tiletwin in place of Triton."""
    return is_on("TILETWIN_INTERPRET") or is_on("TILETWIN") or is_on("TILETWIN_BACKEND")


class _AliasLoader(importlib.abc.Loader):
    """Loads `triton.x` by importing `tiletwin.x` and handing out that very module."""

    def __init__(self, real: str) -> None:
        self.real = real
        self.spec: Any = None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        module = importlib.import_module(self.real)
        self.spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec  # the import system has just replaced it by the alias's
        # Modules below that are loaded get their alias now. Importing one later would also set it as its parent's
        # attribute, over what the parent has under that name (`triton.runtime.driver` is an object, not the module).
        for name, loaded in list(sys.modules.items()):
            if name.startswith(self.real + ".") and loaded is not None and not name.startswith(f"{PACKAGE}._"):
                sys.modules.setdefault("triton" + name[len(PACKAGE) :], loaded)


class TritonFinder(importlib.abc.MetaPathFinder):
    """Answers for `triton` and everything below it, ahead of the real package."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != "triton" and not fullname.startswith("triton."):
            return None
        real = PACKAGE + fullname[len("triton") :]
        if real.rpartition(".")[2].startswith("_activate") or importlib.util.find_spec(real) is None:
            self._refuse(fullname)
            return None
        spec = importlib.machinery.ModuleSpec(fullname, _AliasLoader(real), is_package=True)
        return spec

    @staticmethod
    def _refuse(fullname: str) -> None:
        """ModuleNotFoundError with the reason, for modules of Triton that are left out on purpose."""
        from tiletwin._refused import refused_module

        reason = refused_module(fullname.partition(".")[2])
        if reason is not None:
            raise ModuleNotFoundError(f"No module named {fullname!r}: {reason}", name=fullname)


class _AfterImport(importlib.abc.Loader):
    """A module's own loader, and a function that is called once the module has been executed, the first time."""

    def __init__(self, loader: Any, finder: TorchFinder) -> None:
        self._loader, self._finder = loader, finder

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._finder.has_run(module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


class TorchFinder(importlib.abc.MetaPathFinder):
    """Calls `then(module)` after torch (or each of `names`) has been imported for the first time.

    Libraries look for a module's spec before they import it, some of them several times: looking changes nothing.
    """

    def __init__(self, then: Any, *names: str) -> None:
        self.then, self._names = then, set(names or ("torch",))
        self._asking = _local()

    def has_run(self, module: ModuleType) -> None:
        """Called when one of the modules has been executed."""
        if module.__name__ not in self._names:
            return
        self._names.remove(module.__name__)
        if not self._names and self in sys.meta_path:
            sys.meta_path.remove(self)
        self.then(module)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname not in self._names or getattr(self._asking, "others", False):
            return None
        self._asking.others = True
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._asking.others = False
        if spec is not None and spec.loader is not None:
            spec.loader = _AfterImport(spec.loader, self)
        return spec


class BeforeTorchCuda(importlib.abc.MetaPathFinder):
    """Calls `then(torch._C)` when torch.cuda is about to be imported. It finds nothing itself."""

    def __init__(self, then: Callable[[ModuleType], None]) -> None:
        self._then = then

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        binding = sys.modules.get("torch._C")
        if fullname == "torch.cuda" and binding is not None:
            sys.meta_path.remove(self)
            self._then(binding)


def is_active() -> bool:
    return any(isinstance(finder, TritonFinder) for finder in sys.meta_path)


def _notice_torch(prepare: Callable[[ModuleType], None]) -> None:
    """Calls `prepare` with torch._C before torch.cuda is imported, and with torch when it has been."""
    if "torch" in sys.modules:
        prepare(sys.modules["torch"])
    else:
        sys.meta_path[:0] = [TorchFinder(prepare), BeforeTorchCuda(prepare)]


def activate(prepare: Callable[[ModuleType], None]) -> bool:
    """Installs the finder if the environment asks for it. Returns whether it is installed.

    prepare: called with torch when that has been imported; where launches run on the CPU also with torch._C before
    torch.cuda is, and with NumPy if checks want to know of the memory that it makes (activation.py).

    Errors: ImportError, real Triton has been imported already; ValueError, TILETWIN_BACKEND names no backend.
    """
    if is_active():
        return True
    if not wanted():
        if on_virtual_gpu():
            _notice_torch(prepare)
            sys.meta_path.insert(0, TorchFinder(prepare, TRITON_DRIVER))
        return False
    interpreting = interprets()
    loaded = sys.modules.get("triton")
    if loaded is not None and getattr(loaded, "__name__", "") != "tiletwin":
        raise ImportError(
            "triton has been imported before tiletwin was activated; start Python with TILETWIN_INTERPRET=1"
        )
    sys.meta_path.insert(0, TritonFinder())
    if interpreting:
        os.environ["TRITON_INTERPRET"] = "1"
        _notice_torch(prepare)
        if os.environ.get("TILETWIN_CHECK"):
            if "numpy" in sys.modules:
                prepare(sys.modules["numpy"])
            else:
                sys.meta_path.insert(0, TorchFinder(prepare, "numpy"))
    elif "torch" in sys.modules:
        prepare(sys.modules["torch"])
    else:
        sys.meta_path.insert(0, TorchFinder(prepare))
    return True
