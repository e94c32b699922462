"""Modules of Triton's names that hand out what others hold: what a script assigns in one of them reaches those others.

Here:      the class of such modules.
Not here:  which names they have (runtime/, compiler/, backends/).
Invariant: an assignment changes what the implementation reads, or it is an error.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Facade(ModuleType):
    _behind: tuple[str, ...]
    _reads: bool

    def __setattr__(self, name: str, value: Any) -> None:
        holders = [module for place in self._behind if name in vars(module := sys.modules[place])]
        if not holders and not self._reads and name in vars(self) and not name.startswith("__"):
            shown = self.__name__.replace("tiletwin", "triton", 1)
            raise AttributeError(f"{shown}.{name} cannot be replaced here: nothing reads it")
        for module in holders:
            setattr(module, name, value)
        super().__setattr__(name, value)


def reach(facade: str, *behind: str, reads: bool = False) -> None:
    """From now on assignments in the module `facade` are also made in the modules `behind` it, where these have the
    name. A name that it hands out and that none of them reads cannot be assigned, unless it `reads` its names itself.
    """
    module = sys.modules[facade]
    vars(module).update(_behind=behind, _reads=reads)
    module.__class__ = _Facade
