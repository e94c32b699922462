"""Machine code of GPUs as PTX that says the same, instruction by instruction: the simulator can run and count it.

Here:      what nvdisasm lists (listing.py, operands.py), each opcode's meaning in PTX (integers.py, floats.py,
           halves.py, conversions.py, memory.py, control.py, products.py), whole kernels (lift.py).
Not here:  ptxas and nvdisasm themselves (tiletwin/cuda), counters (tiletwin/counters).
"""

from __future__ import annotations

from tiletwin.machine.lift import Lifted, lift

__all__ = ["Lifted", "lift"]
