"""Both modes leave the same bits in memory, for every kernel of the language."""

from __future__ import annotations

import pytest
import torch
from kernel_cases import arguments, cases_of, expected_cases


def run(file: str, name: str) -> dict[str, bytes]:
    """Bytes of every tensor argument after a launch."""
    case = cases_of(file)[name]
    made = arguments(file, name)
    constants = {key: value for key, value in case["constexprs"].items() if isinstance(key, str)}
    case["fn"][case["grid"]](**made, **constants, **case["options"])
    tensors = {key: value for key, value in made.items() if isinstance(value, torch.Tensor)}
    return {key: value.contiguous().view(torch.uint8).numpy().tobytes() for key, value in tensors.items()}


@pytest.mark.parametrize(("file", "name"), expected_cases(), ids=lambda v: v)
def test_eager_gives_the_bits_of_compiled(file: str, name: str, monkeypatch: pytest.MonkeyPatch, capfd) -> None:
    try:
        compiled = run(file, name)
    except Exception as error:  # what the interpreter or a launch cannot do yet is tested elsewhere
        pytest.skip(f"compiled mode: {type(error).__name__}: {str(error)[-200:].splitlines()[0]}")
    monkeypatch.setenv("TILETWIN_EAGER", "1")
    assert run(file, name) == compiled  # the notice about the mode is captured
