"""What the code generator does with each name of the language: the column CUDA of docs/language.md.

Here:      kernels that use a name, and what comes of compiling them for sm_90a.
Not here:  which names there are, and the file (language_table.py).
Idea:      the corpus (tests/data/kernels) uses nearly every name, and libdevice's functions say which types they take:
           a name is compiled if a kernel that uses it is. Nothing here lists names.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
TARGET = "sm_90a"
YES, HOST, AT_COMPILE_TIME = "yes", "host", "no code"
"""Compiled; runs on the host; something that kernels use, of which no code comes."""
MOST_TRIES = 3
LIBDEVICE_KERNELS = {1: "one", 2: "two", 3: "three", 4: "four"}  # of tests/language/libdevice_kernels.py


class Kernel(NamedTuple):
    """A kernel for one signature."""

    name: str
    text: str
    """Of the function and of the functions of its file that it calls."""
    fn: Any
    signature: dict[str, str]
    constants: dict[Any, Any]
    attributes: dict[Any, Any]
    options: dict[str, Any]


def _import(folder: str, name: str) -> Any:
    """A file of kernels, where `triton` means tiletwin."""
    from tiletwin import _activate

    if not any(isinstance(finder, _activate.TritonFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _activate.TritonFinder())
    path = str(ROOT / "tests" / folder)
    if path not in sys.path:
        sys.path.append(path)
    return importlib.import_module(name)


def _python(fn: Any) -> Any:
    """What stands in the file: without what decorators made of it."""
    return getattr(fn, "fn", None) or getattr(fn, "__wrapped__", fn)


def _text(fn: Any, seen: frozenset[Any] = frozenset()) -> str:
    """The function's text, and those of the functions of its file that it names."""
    python = _python(fn)
    own = inspect.getsource(python)
    for name in sorted(set(re.findall(r"\w+", own))):
        other = python.__globals__.get(name)
        called = _python(other)
        if inspect.isfunction(called) and called.__module__ == python.__module__ and called not in seen | {python}:
            own += _text(other, seen | {python})
    return own


@functools.cache
def corpus() -> list[Kernel]:
    """The kernels of tests/data/kernels and tests/codegen/more_kernels.py, short ones first."""
    files = [("data/kernels", path.stem) for path in sorted((ROOT / "tests" / "data" / "kernels").glob("k*.py"))]
    made = []
    texts: dict[Any, str] = {}
    for folder, file in [*files, ("codegen", "more_kernels")]:
        for case in _import(folder, file).CASES:
            fn = case["fn"]
            if fn not in texts:
                texts[fn] = _text(fn)
            given = (case["signature"], case["constexprs"], case["attrs"], case["options"])
            made.append(Kernel(case["name"], texts[fn], fn, *given))
    return sorted(made, key=lambda kernel: len(kernel.text))


@functools.cache
def outcome(kernel_name: str) -> str:
    """YES, or why a kernel of the corpus is not compiled."""
    return compiled(next(kernel for kernel in corpus() if kernel.name == kernel_name))


def compiled(kernel: Kernel) -> str:
    """YES, or the reason."""
    import tiletwin
    from tiletwin.compiler import ASTSource

    source = ASTSource(kernel.fn, kernel.signature, kernel.constants, kernel.attributes)
    try:
        text = tiletwin.compile(source, target=TARGET, options=kernel.options).asm["ptx"]
    except (tiletwin.CompilationError, NotImplementedError, ValueError) as error:
        return "no: " + str(getattr(error, "error_message", None) or error).splitlines()[0]
    return YES if ".entry" in text else "no: no entry was written"


def _of(users: list[str]) -> str:
    """What becomes of kernels: YES if one of the first is compiled; "" if there is none."""
    answers = []
    for name in users[:MOST_TRIES]:
        answers.append(outcome(name))
        if answers[-1] == YES:
            return YES
    return answers[0] if answers else ""


def of_pattern(pattern: str) -> str:
    """What becomes of kernels whose text a pattern is found in."""
    return _of([kernel.name for kernel in corpus() if re.search(pattern, kernel.text)])


def _in_signatures(kind: Any) -> str:
    """A type of the language as signatures write it: "bf16", "i16", "*u8"."""
    text = str(kind)
    stars = text.count("<")
    element = text.replace("pointer<", "").rstrip(">")
    return "*" * stars + re.sub(r"^(u?)int(\d+)$", lambda m: f"{m[1] or 'i'}{m[2]}", element)


def of_type(kind: Any, pattern: str) -> str:
    """What becomes of kernels that take arrays or numbers of a type, or name it."""
    wanted = {_in_signatures(kind), "*" + _in_signatures(kind)}
    users = [k.name for k in corpus() if wanted & {str(given).replace("*k", "*") for given in k.signature.values()}]
    return _of(users) or of_pattern(pattern)


def of_libdevice(name: str, function: Any) -> str:
    """What becomes of a function of libdevice, applied to tiles of the types that it takes."""
    from tiletwin.language.extra.cuda import libdevice

    if name in libdevice.ABSENT:
        return "no: not in NVIDIA's libdevice"
    module = _import("language", "libdevice_kernels")
    types, (_, result) = next(iter(libdevice.overloads_of(name).items()))
    kernel = getattr(module, LIBDEVICE_KERNELS[len(types)])
    names = list(inspect.signature(kernel.fn).parameters)
    kinds = [f"*{kind}" for kind in types] + [f"*{result}", "i32", "constexpr", "constexpr"]
    constants = {"OP": function, "BLOCK": 128}
    return compiled(Kernel(name, "", kernel, dict(zip(names, kinds, strict=True)), constants, {}, {}))
