"""The simulator of PTX, for editors and type checkers; a test compares the names with the extension."""

from collections.abc import Callable
from typing import Any

__file__: str

class Module:
    """A module of PTX, ready to run."""

    def entries(self) -> list[str]: ...
    def facts(self, entry: str) -> dict[str, Any]: ...
    def launch(
        self,
        entry: str,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        cluster: tuple[int, int, int],
        shared: int,
        parameters: bytes,
        buffers: list[tuple[str, int, int, bool]],
        checks: tuple[str, ...],
        threads: int,
        limit: int,
        schedule: str,
        print: Callable[[str], Any],
        counted: bool,
        clusters: list[int],
    ) -> tuple[int, int, tuple[Any, ...] | None]: ...

def encode_tensor_map(numbers: tuple[Any, ...]) -> bytes: ...
def load(text: str, file: str, contract: bool) -> Module: ...
