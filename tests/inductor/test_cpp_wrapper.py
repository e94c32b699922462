"""Graphs that Inductor wraps in C++: AOTInductor, and cpp_wrapper=True."""

from __future__ import annotations

import pytest
from test_compiled import compiled

CPP = "gets kernels in C++ for tensors of the host, which run unchecked"
MODEL = """
import sys
import torch

class Model(torch.nn.Module):
    def forward(self, x, y):
        return torch.softmax((x * y).relu(), -1)

device, package = sys.argv[1:]
x, y = torch.randn(3, 17, device=device), torch.randn(3, 17, device=device, requires_grad=package == "")
eager = Model()(x, y)
if package:
    exported = torch.export.export(Model(), (x, y))
    made = torch._inductor.aoti_load_package(torch._inductor.aoti_compile_and_package(exported, package_path=package))
else:
    made = torch.compile(Model(), options={"cpp_wrapper": True})
torch.testing.assert_close(made(x, y), eager)
if not package:
    eager.cos().sum().backward()
    expected, y.grad = y.grad, None
    made(x, y).cos().sum().backward()
    torch.testing.assert_close(y.grad, expected)
print("right")
"""


@pytest.fixture(name="script")
def _script(tmp_path):
    file = tmp_path / "model.py"
    file.write_text(MODEL)
    return file


@pytest.mark.slow
@pytest.mark.parametrize("package", ["model.pt2", ""])
def test_for_the_host_kernels_are_in_cpp_and_it_is_said(script, tmp_path, package: str) -> None:
    name = str(tmp_path / package) if package else ""
    printed = compiled(script, "cpu", name, TORCHINDUCTOR_CACHE_DIR=str(tmp_path))
    assert "right" in printed and printed.count(CPP) == 1


@pytest.mark.parametrize("package", ["model.pt2", ""])
def test_an_emulated_gpu_refuses(script, tmp_path, package: str) -> None:
    name = str(tmp_path / package) if package else ""
    with pytest.raises(AssertionError, match="launches machine code, which an emulated GPU does not run"):
        compiled(script, "cuda", name, TORCHINDUCTOR_CACHE_DIR=str(tmp_path))
