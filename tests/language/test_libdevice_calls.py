"""Calls of libdevice inside chains of operations, and symbols that it has not."""

from __future__ import annotations

import libdevice_kernels as kernels
import pytest
import torch
import triton
from triton.language.extra import libdevice


@pytest.mark.parametrize("size", [1, 2, 64, 2048])
def test_inside_a_chain(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks and scalars, among other operations."""
    x, out = torch.linspace(-3, 3, size), torch.zeros(size)
    kernels.chain[(1,)](x, out, libdevice.tanh, size)
    want = torch.tanh((x * 0.5).double()).float() + torch.tanh(x[:1].double()).float()
    assert torch.allclose(out, want, rtol=3e-7, atol=1e-7)
    monkeypatch.setenv("TILETWIN_EAGER", "1")
    eager = torch.zeros(size)
    kernels.chain[(1,)](x, eager, libdevice.tanh, size)
    assert torch.equal(eager, out)


TEXT = """
module {{
  tt.func public @k(%p: !tt.ptr<f32>) attributes {{noinline = false}} {{
    %x = tt.load %p : !tt.ptr<f32>
    %y = tt.extern_elementwise %x {{libname = "", libpath = "{path}", pure = true, symbol = "{symbol}"}} : (f32) -> f32
    tt.store %p, {value} : !tt.ptr<f32>
    tt.return
  }}
}}
"""


@pytest.mark.parametrize(
    ("path", "symbol", "message"),
    [
        ("", "__nv_no_such", "no device function `__nv_no_such`"),
        ("/x/my.bc", "my_function", "not those of the GPU code in /x/my.bc"),
        ("", "__nv_sin", r"__nv_sin is \(f64\) -> f64, not \(f32\) -> f32"),
        ("", "__nv_powf", r"__nv_powf is \(f32, f32\) -> f32"),
    ],
)
def test_unknown_symbols_are_named(tmp_path, path: str, symbol: str, message: str) -> None:
    file = tmp_path / "k.ttir"
    file.write_text(TEXT.format(path=path, symbol=symbol, value="%y"))
    with pytest.raises(triton.CompilationError, match=message):
        triton.compile(str(file))[(1, 1, 1)](torch.ones(1))
