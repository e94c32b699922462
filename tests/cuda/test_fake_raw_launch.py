"""`CompiledKernel.run`, `kernel[grid]` and handles of compiled kernels on a fake driver, called as Inductor calls them.

Not here:  launches of JIT functions (test_fake_jit_launch.py), the same on a GPU (tests/inductor/test_gpu_compiled.py).
"""

from __future__ import annotations

import pytest
from fake_driver import run_fake

START = """
import launched_kernels
import tiletwin as triton
from tiletwin import knobs
from tiletwin.codegen import assembler
from tiletwin.compiler import ASTSource
assembler.find = lambda: None  # the fake driver takes texts, and no cubin that ptxas made

def on_gpu(value):
    memory = native.allocate(400, 0)
    native.copy_in(0, memory.address, np.full(100, value, np.float32), 0)
    return memory
def values(memory):
    values = np.empty(100, np.float32)
    native.copy_out(0, values, memory.address, 0)
    return values
def compiled(fn, signature, constants=None, **options):
    return triton.compile(ASTSource(fn, signature, constants or {}), target="cuda:90", options=options)
def run(kernel, *arguments, grid=(1, 1, 1), stream=0, hooks=(None, None)):
    return kernel.run(*grid, stream, kernel.function, kernel.packed_metadata, None, *hooks, *arguments)
ADD_TYPES = {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32", "BLOCK": "constexpr"}
x, y, out = map(on_gpu, (1, 2, 0))
"""


def run_text(text: str, **environment: str) -> list[str]:
    environment = {"TILETWIN_BACKEND": "cuda", "FAKE_CUDA_capability": "90", **environment}
    return run_fake(START + text, **environment).splitlines()


def test_a_launch_with_grid_and_stream_of_the_caller():
    said = run_text("""
kernel = compiled(launched_kernels.add, ADD_TYPES, {"BLOCK": 128}, num_warps=2)
print(kernel.function, kernel.n_max_threads)
kernel._init_handles()
print(type(kernel.function).__name__, kernel.n_regs > 0, kernel.n_spills, kernel.n_max_threads)
run(kernel, x.address, y.address, out.address, 100, 128, grid=(3, 2, 1), stream=11)
print((values(out) == 3).all(), calls("cuLaunchKernel"))
run(kernel, x.address, y.address, out.address, 100, 128, grid=(0, 2, 1))
kernel[(1,)](out.address, y.address, out.address, 100, 128, stream=5)
print((values(out) == 5).all(), len(calls("cuLaunchKernel")))
function = kernel.function
kernel.close()
print(kernel.function, run(kernel, x.address, y.address, out.address, 100, 128), (values(out) == 3).all())
""")
    assert said[0] == "None 1024" and said[1].startswith("int True ")
    assert said[2] == "True ['cuLaunchKernel(add, 3 2 1, 64 1 1, 0, 0xb)']"
    assert said[3] == "True 2" and said[4] == "None None True"


def test_hooks_are_called_around_it():
    said = run_text("""
kernel = compiled(launched_kernels.add, ADD_TYPES, {"BLOCK": 128})
kernel._init_handles()
hooks = (lambda facts: print("before", facts, len(calls("cuLaunchKernel"))),
         lambda facts: print("after", facts, len(calls("cuLaunchKernel"))))
run(kernel, x.address, y.address, out.address, 100, 128, hooks=hooks)
""")
    assert said == ["before None 0", "after None 1"]


def test_numbers_and_null_pointers():
    """Integers for floats and None for pointers are what Inductor passes at times."""
    said = run_text("""
import tiletwin.language as tl
kernel = compiled(launched_kernels.words(tl.uint8, tl.bfloat16, tl.float16, tl.float64),
                  {"a": "u8", "b": "bf16", "c": "fp16", "d": "fp64"})
run(kernel, 200, 1, 1.5, 3)
print(*calls("arguments"))
kernel = compiled(launched_kernels.add, ADD_TYPES, {"BLOCK": 128})
print(message(run, kernel, None, None, out.address, 0, 128))
print(message(run, kernel, 1.5, None, out.address, 0, 128))
print(message(run, kernel, None, None, out.address, 1 << 40, 128))
print(message(run, kernel, None, None, out.address, 0))
print(message(run, kernel, None, None, out.address, 0, 128, grid=(1 << 32, 1, 1)))
""")
    assert said[0] == "arguments(words: 0xc8 0x3f80 0x3e00 0x4008000000000000)"
    assert said[1] == "no error"
    assert said[2].startswith("TypeError") and said[3].startswith(
        "OverflowError: the integer 1099511627776 does not fit"
    )
    assert said[4] == "TypeError: add has 5 parameters, got 4 arguments"
    assert said[5] == "ValueError: add: a grid has numbers below 2^32, not 4294967296"


@pytest.mark.parametrize(
    "capability, options, ex",
    [
        ("90", "", 0),
        ("90", "launch_cooperative_grid=True", 1),
        ("90", "launch_pdl=True", 1),
        ("80", "launch_pdl=True", 0),
    ],
)
def test_ways_of_launching(capability, options, ex):
    """The driver is asked for what the options say, by launches of JIT functions as well."""
    said = run_text(
        f"""
kernel = triton.compile(ASTSource(launched_kernels.add, ADD_TYPES, {{"BLOCK": 128}}), target="cuda:80",
                        options=dict({options}))
run(kernel, x.address, y.address, out.address, 100, 128)
print(len(calls("cuLaunchKernelEx")), len(calls("cuLaunchKernel")))
""",
        FAKE_CUDA_capability=capability,
    )
    assert said == [f"{ex} {1 - ex}"]


def test_what_the_gpu_does_not_have():
    said = run_text("""
kernel = compiled(launched_kernels.add, ADD_TYPES, {"BLOCK": 128}, num_warps=16)
entry = type("Entry", (), {"attributes": {"max_threads": 256}})
from tiletwin.launch import gpu_launch
loaded = gpu_launch.cuda.load
gpu_launch.cuda = type("Cuda", (), {"load": lambda *a, **k: {"add": entry}, "device_facts": cuda.device_facts})
print(message(kernel._init_handles))
""")
    assert said == [
        "OutOfResources: out of resource: threads, required: 512, hardware limit: 256; smaller blocks or fewer stages "
        "(num_stages) need less"
    ]


def test_on_the_cpu_there_is_none():
    said = run_text('print(message(lambda: compiled(launched_kernels.add, ADD_TYPES, {"BLOCK": 128}).run))',
                    TILETWIN_BACKEND="interp")  # fmt: skip
    assert said[0].startswith("NotImplementedError: triton.compiler.CompiledKernel.run is the raw launcher of GPU code")
