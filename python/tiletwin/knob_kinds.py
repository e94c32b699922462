"""The kinds of knobs: descriptors that read an environment variable unless a value was set.

Here:      parsing variables.
Not here:  the groups and their knobs, setting variables (knobs.py).
Invariant: a text that does not parse is an error that names the variable; a group hears of changes (`_changed`) and
sets variables (`_set_variable`).
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


class Env:
    """Type of `env`."""


env = Env()
"""Assign this to a knob to let the environment decide again."""

TRUE = ("1", "true", "on", "yes", "y")
FALSE = ("", "0", "false", "off", "no", "n")


def toenv(val: Any) -> tuple[str | None] | None:
    """`val` as a variable's text, in a tuple; None for a value that no variable can hold."""
    if isinstance(val, bool):
        return ("1" if val else "0",)
    if val is None or isinstance(val, str):
        return (val,)
    return (str(val),) if isinstance(val, int) else None


def _bool(key: str, text: str) -> bool:
    lowered = text.strip().lower()
    if lowered not in TRUE and lowered not in FALSE:
        raise RuntimeError(f"{key}={text} is neither true ({', '.join(TRUE)}) nor false ({', '.join(FALSE[1:])})")
    return lowered in TRUE


class env_base:
    """A knob: a data descriptor that reads `key` from the environment unless it was set."""

    def __init__(self, key: str, default: Any = None) -> None:
        self.key = key
        self.default = default
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def parse(self, text: str) -> Any:
        """The value that a variable's text stands for."""
        return text

    def transform(self, value: Any) -> Any:
        """What reading gives for a value that was set."""
        return value

    def get(self) -> Any:
        """The value from the environment, or the default."""
        text = os.environ.get(self.key)
        return self.default if text is None else self.parse(text)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        if self.name in instance.__dict__:
            return self.transform(instance.__dict__[self.name])
        return self.get()

    def __set__(self, instance: Any, value: Any) -> None:
        if isinstance(value, Env):
            instance.__dict__.pop(self.name, None)
        else:
            instance.__dict__[self.name] = value
            text = toenv(value)
            if text is not None:
                instance._set_variable(self.key, text[0])
        instance._changed()

    def __delete__(self, instance: Any) -> None:
        instance.__dict__.pop(self.name, None)
        instance._changed()


class env_str(env_base):
    """A string with a default."""


class env_opt_str(env_base):
    """A string or None."""


class env_str_callable_default(env_base):
    """A string whose default is computed when it is read."""

    def get(self) -> str:
        return os.environ.get(self.key) or self.default()


class env_bool(env_base):
    """True or False. decided_by: says which, where more than this variable decides."""

    def __init__(self, key: str, default: bool = False, decided_by: Callable[[], bool] | None = None) -> None:
        super().__init__(key, default)
        self.decided_by = decided_by

    def parse(self, text: str) -> bool:
        return _bool(self.key, text)

    def get(self) -> bool:
        return super().get() if self.decided_by is None else self.decided_by()


class env_opt_bool(env_base):
    """True, False or None."""

    def parse(self, text: str) -> bool:
        return _bool(self.key, text)


class env_int(env_base):
    """An int."""

    def __init__(self, key: str, default: int = 0) -> None:
        super().__init__(key, default)

    def parse(self, text: str) -> int:
        try:
            return int(text)
        except ValueError:
            raise RuntimeError(f"{self.key}={text} is not an int") from None


class env_class(env_base):
    """A class, named MODULE:CLASS in the environment, that derives from the class called `base`."""

    def __init__(self, key: str, base: str) -> None:
        super().__init__(key)
        self.base = base

    def parse(self, text: str) -> type:
        module, colon, name = text.partition(":")
        if not colon:
            raise RuntimeError(f"{self.key}={text} must have the form MODULE:CLASS")
        found = getattr(importlib.import_module(module), name)
        if all(c.__name__ != self.base for c in found.mro()):
            raise RuntimeError(f"{self.key}={text}: {name} does not derive from {self.base}")
        return found


@dataclass
class NvidiaTool:
    """A program of the CUDA toolkit."""

    path: str
    version: str

    @staticmethod
    def from_path(path: str) -> NvidiaTool | None:
        """The tool at `path`, or None if there is none that states its release."""
        from tiletwin import toolkit  # it imports subprocess

        version = toolkit.version_of(path)
        return None if isinstance(version, str) else NvidiaTool(path, "{}.{}".format(*version))


class env_nvidia_tool(env_base):
    """A program of the CUDA toolkit, the one in use (toolkit.py). Reading it raises RuntimeError if it is nowhere;
    nothing but code generation needs one."""

    def __init__(self, binary: str) -> None:
        super().__init__(f"TRITON_{binary.upper().replace('-', '_')}_PATH")
        self.binary = binary

    def get(self) -> NvidiaTool:
        from tiletwin import toolkit

        found = toolkit.find(self.binary)
        if found is None:
            raise RuntimeError(f"{self.binary} was not found: set {self.key} or CUDA_HOME, or put it into PATH")
        return NvidiaTool(str(found.path), "{}.{}".format(*found.cuda))

    def transform(self, value: Any) -> NvidiaTool:
        tool = NvidiaTool.from_path(value) if value else self.get()
        if tool is None:
            raise RuntimeError(f"{self.binary} was set to {value}, which is no program of the CUDA toolkit")
        return tool
