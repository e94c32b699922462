"""Products in random forms and sizes: with copies and with loads by threads they have the same bits, whichever programs
copy; the interpreter's product is close to both."""

from __future__ import annotations

from typing import Any

import copied_load_kernels as kernels
import pytest
import torch
from copied_loads import Runs
from hypothesis import event, given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.slow
TYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float8_e4m3fn)
EXTENTS = st.one_of(
    st.integers(1, 9).map(lambda n: n * 16), st.integers(1, 9).map(lambda n: n * 16), st.integers(1, 140)
)


@st.composite
def matrices(draw: Any, batches: int, rows: int, columns: int, dtype: torch.dtype) -> torch.Tensor:
    """In any order of its dimensions, with rows, and batches, that lie apart, at any place of an allocation."""
    transposed, pad = draw(st.booleans()), draw(st.sampled_from([0, 0, 0, 16, 16, 32, 8, 1]))
    between, offset = draw(st.sampled_from([0, 16])), draw(st.sampled_from([0, 0, 0, 0, 0, 16, 8, 1]))
    outer, inner = (columns, rows) if transposed else (rows, columns)
    pitch = inner + (-inner % 16 if draw(st.integers(0, 9)) else 0) + pad
    apart = outer * pitch + between
    storage = torch.randn(offset + batches * apart, generator=torch.Generator().manual_seed(draw(st.integers(0, 99))))
    strides = (apart, 1, pitch) if transposed else (apart, pitch, 1)
    return torch.as_strided(storage.to(dtype), (batches, rows, columns), strides, offset)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_any_form(data: Any) -> None:
    dtype = data.draw(st.sampled_from(TYPES))
    block = data.draw(st.sampled_from([(64, 64, 32), (64, 32, 64), (128, 16, 32), (64, 64, 64)]))
    form = data.draw(st.sampled_from(["modulo", "mask", "where", "minimum", "none"]))
    rows, columns, depth, batches = (
        data.draw(EXTENTS),
        data.draw(EXTENTS),
        data.draw(EXTENTS),
        data.draw(st.sampled_from([1, 2])),
    )
    if form == "none":
        rows, columns = -(-rows // block[0]) * block[0], -(-columns // block[1]) * block[1]
    a = data.draw(matrices(batches, rows, depth, dtype))
    b = data.draw(matrices(batches, depth, columns, dtype))
    start = data.draw(st.sampled_from([0, 0, 16, 5])) % depth
    moved, wide = data.draw(st.sampled_from(["pointers", "number", "count"])), data.draw(st.booleans())
    c = torch.zeros((batches, rows, columns))
    grid = (-(-rows // block[0]), -(-columns // block[1]), batches)

    def launch(kernel: Any) -> Any:
        sizes, strides = (rows, columns, depth), (*a.stride(), *b.stride())
        return kernel[grid](a, b, c, sizes, strides, start, form, moved, wide, block, num_stages=3)

    with pytest.MonkeyPatch.context() as patch:
        event(f"{form}: {Runs(patch, kernels.any_form, launch, c).path()}")
    expected = a[:, :, start:].float() @ b[:, start:].float()
    torch.testing.assert_close(c, expected, rtol=2e-2, atol=2e-1)
