"""`tiletwin ir` and `tiletwin export`: compile a kernel named on the command line, print a stage of it.

Here:      from words of the command line to a compiled kernel; where its stages go.
Not here:  the commands' options (tiletwin/cli.py), compilation (compiler/compiler.py), export (cuda_export.py).
Invariant: a mistake of the user is one message on stderr and exit status 2.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from tiletwin import script, whole_files
from tiletwin.errors import TileTwinError

Fail = Callable[[str], NoReturn]
PRINTED = ("source", "ttir", "plan", "ttgir", "llir", "ptx", "cubin", "sass", "amdgcn", "hsaco")


def _module(place: str, fail: Fail) -> Any:
    """The module of a file, which is imported, not run as a script, or of a module's name."""
    if not place.endswith(".py"):
        sys.path.insert(0, os.getcwd())
        try:
            return importlib.import_module(place)
        except ModuleNotFoundError as error:
            if error.name != place.partition(".")[0] and not place.startswith(f"{error.name}"):
                raise
            fail(f"{place}: there is no such file and no such module; write script.py:kernel or package.module:kernel")
    path = Path(place).resolve()
    if not path.is_file():
        fail(f"{place}: no such file")
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def load_kernel(kernel: str, fail: Fail) -> Any:
    """The kernel "file.py:name" or "package.module:name"; two colons do as well. Without a name: the only one."""
    from tiletwin.kernels.jit import JITFunction

    place, _, name = kernel.partition("::") if "::" in kernel else kernel.partition(":")
    module = _module(place, fail)

    def opened(value: Any) -> Any:
        while not isinstance(value, JITFunction) and hasattr(value, "fn"):
            value = value.fn
        return value

    kernels = {n: opened(v) for n, v in vars(module).items() if isinstance(opened(v), JITFunction)}
    own = {n: v for n, v in kernels.items() if v.__module__ == module.__name__}
    if not name:
        if len(own) != 1:
            fail(f"{place} has the jit functions {', '.join(own) or '(none)'}; choose one: {place}:name")
        return next(iter(own.values()))
    if name not in kernels:
        fail(f"{place} has no jit function {name}; it has {', '.join(own) or 'none'}")
    return kernels[name]


def _value(text: str) -> Any:
    """A value of the command line: a Python literal, a type of the language, or else the text itself."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        pass
    import tiletwin.language as language

    value = getattr(language, text.removeprefix("tl."), None)
    return value if isinstance(value, language.dtype) else text


def _table(rows: list[str] | None, what: str, fail: Fail) -> dict[str, Any]:
    """NAME=VALUE words as a dictionary."""
    result = {}
    for row in rows or []:
        name, equals, value = row.partition("=")
        if not equals:
            fail(f"{what} {row}: write NAME=VALUE")
        result[name] = _value(value)
    return result


def compile_named(
    kernel: str,
    signature: str,
    constants: list[str] | None,
    options: list[str] | None,
    target: str,
    *,
    fail: Fail,
) -> Any:
    """The compiled kernel that the words of a command line name. target: empty for what the interpreter stands for."""
    script.activated_without_gpu(fail)
    from tiletwin.compiler.compiler import ASTSource, IRSource, compile

    given = _table(options, "-o", fail)
    is_text = Path(kernel).suffix[1:] in IRSource.STAGES
    fn = None if is_text else script.calling(lambda: load_kernel(kernel, fail), 2)
    try:
        if is_text:
            if not Path(kernel).is_file():
                fail(f"{kernel}: no such file")
            if signature or constants:
                fail(
                    f"{kernel}: a text of {Path(kernel).suffix} has its types already; -s and -c are for Python kernels"
                )
            return compile(kernel, target=target or None, options=given)
        source = ASTSource(fn, signature, _table(constants, "-c", fail))
        return compile(source, target=target or None, options=given)
    except (TileTwinError, ValueError, RuntimeError, KeyError, OSError) as error:
        fail(str(error.args[0]) if isinstance(error, KeyError) else str(error))


def _text(compiled: Any, stage: str, locations: bool, fail: Fail) -> str | bytes:
    """A stage's content."""
    if stage in ("source", "ttir", "plan") and compiled.module is not None:
        return compiled.module.text(stage, locations)
    if stage == "plan":
        fail(f"{compiled.src.path} cannot be interpreted, so there is no plan; a .ttir file can")
    try:
        return compiled.asm[stage]
    except KeyError as error:
        fail(str(error.args[0]))


def _write(content: str | bytes, stage: str, out: str | None, fail: Fail) -> None:
    """Writes to a file, or to stdout, which takes bytes only where it is no terminal."""
    if out is not None:
        whole_files.write(out, content)
    elif isinstance(content, str):
        print(content, end="" if content.endswith("\n") else "\n")
    elif sys.stdout.isatty():
        fail(f"{stage} is binary: name a file, --out kernel.{stage}, or redirect the output")
    else:
        sys.stdout.buffer.write(content)


def default_stage(compiled: Any, target: str) -> str:
    """What is printed where no stage is named: ttir, or the assembly if a target is named or the text is past ttir."""
    wants_code = target or "ttir" not in compiled.asm.stages
    return next((stage for stage in ("ptx", "amdgcn") if wants_code and stage in compiled.asm.stages), "ttir")


def print_stage(compiled: Any, stage: str, *, locations: bool, out: str | None, fail: Fail) -> None:
    """Prints a stage, or writes it to the file `out`."""
    if stage not in PRINTED:
        fail(f"--stage must be one of {', '.join(PRINTED)}, not {stage}")
    try:
        _write(_text(compiled, stage, locations, fail), stage, out, fail)
    except (TileTwinError, RuntimeError, ValueError, OSError) as error:
        fail(str(error))


def export(compiled: Any, *, name: str | None, out: str | None, fail: Fail) -> None:
    """Prints a kernel as CUDA C++, or writes it to the file `out`."""
    from tiletwin.tools.cuda_export import cuda_source

    try:
        _write(cuda_source(compiled, name), "CUDA", out, fail)
    except (TileTwinError, RuntimeError, ValueError, OSError) as error:
        fail(str(error))
