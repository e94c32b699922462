"""Random kernels of inexact operations on tiles, and right runs of them that round in other ways.

Here:      texts of kernels; Noisy, the interpreter whose functions are off by what bounds allow them.
Not here:  what is expected of bounds (test_bounds_properties.py).
"""

from __future__ import annotations

import dataclasses
import importlib.util
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from tiletwin.diff import Launch, Outcome
from tiletwin.diff.backends import ON_GPU, InterpBackend

SIZE = 16
OPERATIONS = {
    "sum": "{a} + {b}",
    "difference": "{a} - {b} * 0.75",
    "product": "{a} * {b}",
    "quotient": "{a} / (tl.abs({b}) + 0.5)",
    "exp": "tl.exp(tl.minimum({a}, 2.0))",
    "exp2": "tl.exp2(tl.minimum({a}, 2.0))",
    "log": "tl.log(tl.abs({a}) + 0.25)",
    "root": "tl.sqrt(tl.abs({a}) + 0.01)",
    "sin": "tl.sin({a}) * 4",
    "sigmoid": "tl.sigmoid({a}) * 3",
    "dot": "tl.dot({a}, {b}) * 0.25",
    "dot of f16": "tl.dot({a}.to(tl.float16), {b}.to(tl.float16)) * 0.25",
    "bf16": "{a}.to(tl.bfloat16).to(tl.float32)",
    "f16": "{a}.to(tl.float16).to(tl.float32)",
    "fp8": "{a}.to(tl.float8e5).to(tl.float32)",
    "int": "({a} * 4).to(tl.int32).to(tl.float32) * 0.25",
    "floor": "tl.floor({a} * 4) * 0.25",
    "ceil": "tl.ceil({a} * 4) * 0.25",
    "rint": "libdevice.rint({a} * 4) * 0.25",
    "llrint": "libdevice.llrint({a} * 4).to(tl.float32) * 0.25",
    "choice": "tl.where({a} < {b}, {a}, {b} * 0.5)",
    "larger": "tl.maximum({a}, {b})",
    "sums of rows": "{a} - tl.sum({a}, 1)[:, None] * 0.0625",
    "largest of columns": "{a} - tl.max({a}, 0)[None, :] * 0.5",
    "running sums": "tl.cumsum({a}, 0) * 0.25",
}
"""Expressions of two tiles of f32."""
HEAD = """import tiletwin as triton
import tiletwin.language as tl
from tiletwin.language.extra import libdevice

"""


def text(number: int, rng: np.random.Generator, steps: int = 8) -> str:
    """A kernel of random operations. Numbers stay within +-16."""
    lines = [f"def random_{number}(x, y, o, N: tl.constexpr):",
             "i = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]",
             "v0 = tl.load(x + i)", "v1 = tl.load(y + i)"]  # fmt: skip
    for step in range(2, steps + 2):
        # Mostly of what the last steps have made: errors pile up.
        a, b = (f"v{max(step - 1 - int(rng.geometric(0.5)) + 1, 0)}" for _ in range(2))
        operation = OPERATIONS[rng.choice(list(OPERATIONS))].format(a=a, b=b)
        lines.append(f"v{step} = tl.clamp({operation}, -16.0, 16.0)")
    lines += [f"tl.store(o + {k} * N * N + i, v{steps + 1 - k})" for k in range(3)]
    return "@triton.jit\n" + "\n    ".join(lines) + "\n\n\n"


def module(folder: Path, count: int, seed: int) -> ModuleType:
    """A module of `count` kernels, random_0 and so on."""
    rng = np.random.default_rng(seed)
    return _module(folder / f"random_{seed}.py", "".join(text(number, rng) for number in range(count)))


def functions(folder: Path, names: list[str], operands: int) -> ModuleType:
    """A module with a kernel for each of these functions of libdevice, of its name."""
    inputs = ["x", "y"][:operands]
    loads = ", ".join(f"tl.load({name} + i)" for name in inputs)
    texts = [f"@triton.jit\ndef {name}({', '.join(inputs)}, o, B: tl.constexpr):\n    i = tl.arange(0, B)\n"
             f"    tl.store(o + i, libdevice.{name}({loads}))\n\n\n" for name in names]  # fmt: skip
    return _module(folder / f"functions_{operands}.py", "".join(texts))


def _module(path: Path, texts: str) -> ModuleType:
    path.write_text(HEAD + texts)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def arguments(seed: int) -> list[Any]:
    x, y = np.random.default_rng(seed).standard_normal((2, SIZE, SIZE)).astype(np.float32) * 2
    return [x, y, np.zeros((3, SIZE, SIZE), np.float32), SIZE]


NOISE = {"math.exp": 3, "math.exp2": 3, "math.log": 3, "math.sin": 3, "math.sqrt": 1, "arith.divf": 2}
"""Units of the last place by which a right implementation may miss the interpreter's results."""
LINE = re.compile(r"(?m)^( *)(%\w+)( = ([\w.]+) .*: )(tensor<\S*xf32>)( loc\(.*\))?$")


class Noisy(InterpBackend):
    """The interpreter with functions that are off by what they may be, up or down; `grossly`: one of them by 2^-11."""

    name = "noisy"
    traits = ON_GPU

    def __init__(self, seed: int, grossly: bool = False) -> None:
        self.rng, self.grossly = np.random.default_rng(seed), grossly

    def run(self, launch: Launch) -> Outcome:
        places = [found for found in LINE.finditer(launch.ttir) if found[4] in NOISE]
        wrong = self.rng.choice(len(places)) if self.grossly and places else -1

        def changed(found: re.Match) -> str:
            if found[4] not in NOISE:
                return found[0]
            number = next(numbers)
            off = NOISE[found[4]] * 2.0**-23 if number != wrong else 2.0**-11
            factor = 1 + off * self.rng.choice([-1, 1])
            space, result, middle, _, kind, _ = found.groups()
            return (
                f"{space}%exact_{number}{middle}{kind}\n{space}%factor_{number} = arith.constant dense<{factor:.9e}> : "
                f"{kind}\n{space}{result} = arith.mulf %exact_{number}, %factor_{number} : {kind}"
            )

        numbers = iter(range(len(places)))
        changed_text = LINE.sub(changed, launch.ttir)
        return dataclasses.replace(super().run(dataclasses.replace(launch, ttir=changed_text)), backend=self.name)
