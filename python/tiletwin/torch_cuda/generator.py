"""`torch.cuda.default_generators` where CUDA is emulated: a seed and an offset over the CPU's generator.

Here:      the 16 bytes of state that libraries read to feed their own Philox kernels.
Not here:  `torch.Generator("cuda")` (patches.py), torch.cuda.get_rng_state (__init__.py).
Invariant: equal bytes mean equal random numbers to come, of torch's functions and of such kernels.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

STEP = 4
"""Numbers of one Philox round: by so much the offset moves when torch has drawn in between."""

KEPT = 64
"""States whose engine is remembered, so that setting them restores torch's own numbers too."""

MASK = 2**64 - 1


def default_generator(torch: Any, base: type, index: int) -> Any:
    """The generator of device `index`. base: the class of generators that can say they are on CUDA."""
    engine = torch.default_generator

    class DefaultGenerator(base):
        """Draws nothing itself: torch's functions draw from the CPU's default generator."""

        def __init__(self, device: Any) -> None:
            self._seed, self._offset = torch.initial_seed() & MASK, 0
            self._seen = engine.get_state()
            self._engines: OrderedDict[tuple[int, int], Any] = OrderedDict()

        def _advance(self) -> None:
            with torch._C._DisableTorchDispatch():  # also while a function is traced with fake tensors
                now = engine.get_state()
                is_same = torch.equal(now, self._seen)
            if not is_same:
                self._offset, self._seen = self._offset + STEP, now

        def get_state(self) -> Any:
            """uint8[16]: seed and offset, as the generator of a CUDA device gives them."""
            self._advance()
            self._engines[self._seed, self._offset] = self._seen
            if len(self._engines) > KEPT:
                self._engines.popitem(last=False)
            numbers = self._seed.to_bytes(8, "little") + self._offset.to_bytes(8, "little")
            return torch.frombuffer(bytearray(numbers), dtype=torch.uint8).clone()

        def set_state(self, state: Any) -> Any:
            """state: what get_state gave, perhaps with another offset, or a state of the CPU's generator."""
            if state.numel() != 16:
                engine.set_state(state.cpu())
                self._seen = engine.get_state()
                return self
            numbers = bytes(state.cpu().view(torch.uint8).tolist())
            self._seed, self._offset = int.from_bytes(numbers[:8], "little"), int.from_bytes(numbers[8:], "little")
            if (self._seed, self._offset) in self._engines:
                engine.set_state(self._engines[self._seed, self._offset])
            self._seen = engine.get_state()
            return self

        def manual_seed(self, seed: int) -> Any:
            engine.manual_seed(int(seed))
            super().manual_seed(int(seed))
            self._seed, self._offset, self._seen = int(seed) & MASK, 0, engine.get_state()
            return self

        def seed(self) -> int:
            self.manual_seed(engine.seed())
            return self._seed

        def initial_seed(self) -> int:
            return self._seed

        def get_offset(self) -> int:
            self._advance()
            return self._offset

        def set_offset(self, offset: int) -> None:
            self._advance()
            self._offset = int(offset)

    return DefaultGenerator(f"cuda:{index}")
