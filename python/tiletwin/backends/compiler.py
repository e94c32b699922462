"""What a kernel is compiled for, under the names of `triton.backends.compiler`."""

from __future__ import annotations

from enum import Enum
from types import ModuleType
from typing import Any

from tiletwin._refused import refuse
from tiletwin.facade import reach as _reach
from tiletwin.gpu_target import DEFAULT_TARGET, GPUTarget  # noqa: F401  names of this module


class Language(Enum):
    """Source languages of a kernel."""

    TRITON = 0
    GLUON = 1


class BaseBackend:
    """Base of backends: the target's side of a compilation. The one in use is backends.nvidia.compiler.CUDABackend.

    Errors: ValueError, a target that the backend does not support.
    """

    supports_native_tensor_specialization = True

    def __init__(self, target: GPUTarget) -> None:
        if not self.supports_target(target):
            raise ValueError(f"{type(self).__name__} does not support {target}")
        self.target = target

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        """True if kernels can be compiled for `target`."""
        return target.backend == "cuda"

    def hash(self) -> str:
        """Changes whenever the backend could compile differently."""
        return f"{type(self).__name__}-{self.target}"

    def parse_options(self, options: dict) -> object:
        """The options of a compilation as an object, checked and complete."""
        raise NotImplementedError(f"{type(self).__name__} has no parse_options()")

    def add_stages(self, stages: dict, options: object, language: Language) -> None:
        """Would add the functions that make GPU code, by stage."""
        refuse("triton.backends.compiler.BaseBackend.add_stages")

    def load_dialects(self, context: Any) -> None:
        """Would load dialects into an MLIR context."""
        refuse("triton.backends.compiler.BaseBackend.load_dialects")

    def get_module_map(self) -> dict[str, ModuleType]:
        """Modules that stand for others on this target, by name."""
        return {}

    @staticmethod
    def parse_attr(desc: str) -> list[list[Any]]:
        """Attributes of an argument from the text that `get_int_specialization` gives."""
        return [["tt.divisibility", 16]] if "D" in desc else []

    @staticmethod
    def get_int_specialization(arg: int, **kwargs: Any) -> str:
        """What of an int argument's value is compiled in: "D" for a multiple of 16 where `align` is true, or ""."""
        return "D" if kwargs.get("align", False) and arg % 16 == 0 else ""

    @staticmethod
    def get_tensor_specialization(arg: Any, **kwargs: Any) -> str:
        """The same for a tensor's address."""
        return "D" if kwargs.get("align", False) and arg.data_ptr() % 16 == 0 else ""


_reach(__name__, "tiletwin.gpu_target", reads=True)
