"""Configurations compiled beside each other for a fake GPU: what comes of each, what hooks see, what a launch takes.

Not here:  the choice among them (tests/python/test_gpu_search.py).
"""

from __future__ import annotations

from fake_driver import run_fake

START = """
import functools, launched_kernels
from tiletwin import knobs
from tiletwin.codegen import assembler
from tiletwin.kernels.tensors import MockTensor
from tiletwin.launch import tuning_compile
arrays = [MockTensor(launched_kernels.tl.float32)] * 3
def compiled(blocks, grid=lambda named: (-(-named["n"] // named["BLOCK"]),), **options):
    one = lambda block: launched_kernels.add.run(*arrays, 1000, BLOCK=block, grid=grid, warmup=True, **options)
    prepare = [functools.partial(one, block) for block in blocks]
    return tuning_compile.compile_all(prepare, grid, [{"n": 1000, "BLOCK": block} for block in blocks])
"""


def run(text: str) -> list[str]:
    return run_fake(START + text, TILETWIN_BACKEND="cuda", FAKE_CUDA_capability="90").splitlines()


def test_needs_and_failures() -> None:
    said = run("""
assembler.find = lambda: None
made = compiled([128, 24, 256], num_warps=2)
print({at: tuple(needs) for at, needs in made.needs.items()})
print({at: type(error).__name__ for at, error in made.failures.items()})
print(compiled([128], grid=lambda named: named["missing"]).needs[0].programs)
""")
    assert said == ["{0: (64, 0, 8, None, None), 2: (64, 0, 4, None, None)}", "{1: 'CompilationError'}", "None"]


def test_what_does_not_fit_is_not_assembled() -> None:
    said = run("""
facts = dict(cuda.device_facts(0), max_threads=64)
tuning_compile.cuda.device_facts = lambda device: facts
assembler.assemble = lambda *given: 1 / 0
made = compiled([128], num_warps=4)
print(message(lambda: (_ for _ in ()).throw(made.failures[0])))
""")
    assert len(said) == 1 and said[0].startswith("OutOfResources") and "threads" in said[0] and "128" in said[0]


def test_hooks_see_the_compilation_of_a_launch() -> None:
    said = run("""
assembler.find = lambda: None
seen = []
knobs.runtime.jit_cache_hook = lambda **facts: seen.append(facts["is_manual_warmup"])
compiled([128])
launched_kernels.add.run(*arrays, 1000, BLOCK=256, grid=(1,), warmup=True)
print(seen)
""")
    assert said == ["[False, True]"]
