"""What only AMD GPUs have. The target is an NVIDIA GPU: the names can be imported, kernels cannot call them."""

from __future__ import annotations

from tiletwin._C import tensor
from tiletwin._refused import refuse
from tiletwin.language.declare import builtin
from tiletwin.language.extra.cuda import num_threads, num_warps, smid
from tiletwin.language.extra.hip import libdevice


@builtin(python=True)
def memrealtime() -> tensor:
    """The GPU's real-time counter; always an error."""
    refuse("triton.language.extra.hip.memrealtime")


__all__ = ["libdevice", "memrealtime", "num_threads", "num_warps", "smid"]
