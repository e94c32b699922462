"""The kernel language: what `import triton.language as tl` gives.

Read next: core.py (builtins), standard.py, random.py and extensions.py (functions
written in the language), tiletwin/dtypes.py.
"""

from typing import NoReturn

from tiletwin import dtypes
from tiletwin import dtypes as types
from tiletwin._C import constexpr, tensor, tensor_descriptor
from tiletwin._refused import missing
from tiletwin.dtypes import *
from tiletwin.language import (
    aggregate,
    arith_ops,
    core,
    creation_ops,
    debug_ops,
    extensions,
    extra,
    math,
    memory_ops,
    random,
    reduce_ops,
    shape_ops,
    standard,
    target_info,
    values,
)
from tiletwin.language.aggregate import *
from tiletwin.language.arith_ops import *
from tiletwin.language.creation_ops import *
from tiletwin.language.debug_ops import *
from tiletwin.language.extensions import *
from tiletwin.language.math import *
from tiletwin.language.memory_ops import *
from tiletwin.language.random import *
from tiletwin.language.reduce_ops import *
from tiletwin.language.shape_ops import *
from tiletwin.language.standard import *
from tiletwin.language.values import *

__all__ = [
    "constexpr", "core", "extra", "math", "random", "standard", "target_info", "tensor", "tensor_descriptor",
]  # fmt: skip
__all__ += aggregate.__all__
__all__ += arith_ops.__all__
__all__ += creation_ops.__all__
__all__ += debug_ops.__all__
__all__ += dtypes.__all__
__all__ += extensions.__all__
__all__ += math.__all__
__all__ += memory_ops.__all__
__all__ += random.__all__
__all__ += reduce_ops.__all__
__all__ += shape_ops.__all__
__all__ += standard.__all__
__all__ += values.__all__

# Functions of one tensor that are methods too.
for _name in ("abs", "ceil", "cos", "erf", "exp", "exp2", "floor", "log", "log2", "rsqrt", "sin", "sqrt", "sqrt_rn"):
    setattr(tensor, _name, getattr(math, _name))
del _name


def __getattr__(name: str) -> NoReturn:
    raise missing("triton.language", name)
