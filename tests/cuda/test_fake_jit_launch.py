"""Launches of JIT functions on a fake driver: what they are compiled for, and the host's memory among their arguments.

Not here:  launches of PTX (test_fake_launch.py), the same on a GPU (tests/kernels with TILETWIN_TEST_DEVICE=cuda).
"""

from __future__ import annotations

import pytest
from fake_driver import run_fake

pytest.importorskip("tiletwin._cuda", reason="the CUDA runtime is not part of this build")
pytest.importorskip("tiletwin._codegen", reason="the code generator is not part of this build")

START = """
import launched_kernels
from tiletwin import knobs
from tiletwin.compiler import assembler
assembler.find = lambda: None  # the fake driver takes texts, and no cubin that ptxas made
compiled = []
knobs.compilation.listener = lambda **facts: compiled.append(facts["metadata"]["target"].arch)

class Array:
    '''Memory of the fake GPU, which lies in this process, or any address.'''
    def __init__(self, address):
        interface = {"shape": (100,), "typestr": "<f4", "data": (address, False), "version": 3}
        self.address, self.__cuda_array_interface__ = address, interface
    def values(self):
        values = np.empty(100, np.float32)
        native.copy_out(0, values, self.address, 0)
        return values

def on_gpu(value):
    memory = native.allocate(400, 0)
    native.copy_in(0, memory.address, np.full(100, value, np.float32), 0)
    array = Array(memory.address)
    array.memory = memory
    return array

def launch(*arrays):
    return launched_kernels.add[(1,)](*arrays, 100, BLOCK=128)
x, y, out = map(on_gpu, (1, 2, 0))
"""


def run(text: str, **environment: str) -> list[str]:
    return run_fake(START + text, TILETWIN_BACKEND="cuda", **environment).splitlines()


@pytest.mark.parametrize("capability, target", [(80, "sm_80"), (90, "sm_90a"), (120, "sm_120")])
def test_compiled_once_for_the_gpu_at_hand(capability, target):
    said = run(
        """
first, second = launch(x, y, out), launch(x, y, out)
print((out.values() == 3).all(), compiled, first is second, len(calls("cuLaunchKernel")))
print(first.target, [line for line in first.asm["ptx"].splitlines() if line.startswith(".target")])
""",
        FAKE_CUDA_capability=str(capability),
    )
    assert said == [
        f"True [{capability}] True 2",
        f"GPUTarget(backend='cuda', arch={capability}, warp_size=32) ['.target {target}']",
    ]


def test_options_are_kept(tmp_path):
    said = run(
        """
kernel = launched_kernels.add[(1,)](x, y, out, 100, BLOCK=128, num_warps=2, ptx_version=87)
print([line for line in kernel.asm["ptx"].splitlines() if line.startswith((".version", ".reqntid", ".maxntid"))])
print(calls("cuLaunchKernel"))
""",
        FAKE_CUDA_capability="120",
    )
    assert said[0].startswith("['.version 8.7', '.") and "ntid 64" in said[0]
    assert said[1] == "['cuLaunchKernel(add, 1 1 1, 64 1 1, 0, 0)']"


def test_memory_of_the_host():
    """Each launch asks: an address that the GPU could reach once may be ordinary memory now."""
    said = run("""
print(message(launch, x, np.zeros(100, np.float32), out))
launch(x, y, out)
gone = Array(y.address)
del y
print(message(launch, x, gone, out))
""")
    expected = (
        "ValueError: add(): y lies in the host's memory, which the GPU cannot reach, and the launch runs on the GPU: "
        "move it there, .cuda(); or set TILETWIN_INTERPRET=1 to run all of it on the CPU"
    )
    assert said == [expected, expected]


def test_who_interprets_decides():
    """TILETWIN_BACKEND=cuda does not outvote what sends launches to the CPU."""
    said = run("""
os.environ["TILETWIN_INTERPRET"] = "1"
result = np.zeros(100, np.float32)
launch(np.ones(100, np.float32), np.ones(100, np.float32), result)
print((result == 2).all(), calls("cuLaunchKernel"), compiled)
""")
    assert said == ["True [] [90]"]
