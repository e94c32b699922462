"""The command `tiletwin`: run, ir, doctor.

Here:      command line parsing and what each command prints.
Not here:  activation (_activate.py), compilation (compiler/).
Needs nothing but the standard library, so that `tiletwin doctor` can speak where little is installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from pathlib import Path
from typing import Any, NoReturn

RUN = """\
Run a Python script whose `import triton` is tiletwin, on the CPU.

  tiletwin run script.py arguments...
  tiletwin run -m package.module arguments...
"""
IR = """\
Print a kernel's IR without running it.

  tiletwin ir add.py::add_kernel -s "*fp32:16 *fp32:16 *fp32:16 i32" -c BLOCK=1024
  tiletwin ir kernel.ttir --stage plan
"""


DOCTOR = "Say what works here: activation, instruction set, threads, versions. Exits with 1 if something does not."


def _fail(message: str) -> NoReturn:
    print(f"tiletwin: {message}", file=sys.stderr)
    raise SystemExit(2)


def run(words: list[str]) -> None:
    """Runs the script, or with -m the module, that stands first in `words`, with the rest as its arguments."""
    import runpy

    from tiletwin import _activate

    os.environ.setdefault("TILETWIN_INTERPRET", "1")
    if not _activate.activate():
        _fail("not activated: TILETWIN_INTERPRET is switched off in the environment")
    if not words or words == ["-m"]:
        _fail("say what to run: tiletwin run script.py, or tiletwin run -m module")
    if words[0] == "-m":
        sys.argv = words[1:]
        sys.path.insert(0, os.getcwd())
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
        return
    script = words[0]
    if script.startswith("-"):
        _fail(f"{script}: no such option; -m runs a module, and options of the script stand behind its name")
    if not Path(script).is_file():
        _fail(f"{script}: no such file")
    sys.argv = words
    sys.path.insert(0, str(Path(script).resolve().parent))
    runpy.run_path(script, run_name="__main__")


def _load_kernel(kernel: str) -> Any:
    """The kernel `file.py::name` (or `package.module::name`). A file is imported, not run as a script."""
    place, _, name = kernel.partition("::")
    if place.endswith(".py"):
        path = Path(place).resolve()
        if not path.is_file():
            _fail(f"{place}: no such file")
        sys.path.insert(0, str(path.parent))
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module
        spec.loader.exec_module(module)
    else:
        sys.path.insert(0, os.getcwd())
        module = importlib.import_module(place)
    from tiletwin.runtime.jit import JITFunction

    def opened(value: Any) -> Any:
        while not isinstance(value, JITFunction) and hasattr(value, "fn"):
            value = value.fn
        return value

    kernels = {n: opened(v) for n, v in vars(module).items() if isinstance(opened(v), JITFunction)}
    own = {n: v for n, v in kernels.items() if v.__module__ == module.__name__}
    if not name:
        if len(own) != 1:
            _fail(f"{place} has the jit functions {', '.join(own) or '(none)'}; choose one: {place}::name")
        return next(iter(own.values()))
    if name not in kernels:
        _fail(f"{place} has no jit function {name}; it has {', '.join(own) or 'none'}")
    return kernels[name]


def _constant(text: str) -> Any:
    import ast

    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        pass
    import tiletwin.language as language

    value = getattr(language, text.removeprefix("tl."), None)
    return value if isinstance(value, language.dtype) else text


def _signature(fn: Any, types: list[str], constants: dict[str, Any]) -> tuple[dict[str, Any], dict[tuple, Any]]:
    """Types per parameter (with `:16` or `:1` after them, as divisibility and the constant 1) and attributes."""
    signature: dict[str, Any] = {}
    attributes: dict[tuple, Any] = {}
    left = list(types)
    for index, param in enumerate(fn.params):
        if param.name in constants:
            signature[param.name] = "constexpr"
        elif param.is_constexpr and param.has_default:
            signature[param.name] = "constexpr"
            constants[param.name] = param.default
        elif param.is_constexpr:
            _fail(f"{param.name} is tl.constexpr: give its value, -c {param.name}=...")
        elif not left:
            if not param.annotation_type:
                wanted = " ".join(p.name for p in fn.params if p.name not in constants and not p.is_constexpr)
                _fail(f"no type for {param.name}; the signature gives a type for each of: {wanted}")
            signature[param.name] = param.annotation_type
        else:
            kind, _, hint = left.pop(0).partition(":")
            if hint == "1":
                signature[param.name] = "constexpr"
                constants[param.name] = 1
                continue
            signature[param.name] = kind
            if hint == "16":
                attributes[(index,)] = [["tt.divisibility", 16]]
            elif hint:
                _fail(f"{kind}:{hint}: after a colon stands 16 (divisible by 16) or 1 (the constant)")
    if left:
        _fail(f"too many types: {' '.join(left)} is left over")
    return signature, attributes


def ir(kernel: str, signature: str, constants: list[str], options: list[str], stage: str, locations: bool) -> None:
    """Prints what the front end made of a kernel (source), its TTIR, or the interpreter's plan of it."""
    from tiletwin import _activate
    from tiletwin.errors import TileTwinError

    os.environ.setdefault("TILETWIN_INTERPRET", "1")
    _activate.activate()
    import tiletwin

    def table(rows: list[str], what: str) -> dict[str, Any]:
        result = {}
        for row in rows:
            name, equals, value = row.partition("=")
            if not equals:
                _fail(f"{what} {row}: write NAME=VALUE")
            result[name] = _constant(value)
        return result

    try:
        if kernel.endswith(".ttir"):
            if not Path(kernel).is_file():
                _fail(f"{kernel}: no such file")
            compiled = tiletwin.compile(kernel)
        else:
            fn = _load_kernel(kernel)
            values = table(constants, "-c")
            unknown = [name for name in values if name not in fn.arg_names]
            if unknown:
                _fail(f"{fn.__name__} has no parameter {unknown[0]}; it has {', '.join(fn.arg_names)}")
            types, attributes = _signature(fn, signature.replace(",", " ").split(), values)
            source = tiletwin.ASTSource(fn, types, values, attributes)
            compiled = tiletwin.compile(source, options=table(options, "-o"))
        print(compiled.module.text(stage, locations), end="")
    except (TileTwinError, ValueError, KeyError) as error:
        _fail(str(error.args[0]) if isinstance(error, KeyError) else str(error))


def _real_triton() -> str:
    """Where an installed Triton is, or "not installed"."""
    from importlib import metadata

    try:
        return f"{metadata.version('triton')} installed"
    except metadata.PackageNotFoundError:
        return "not installed"


def _activation() -> tuple[str, bool]:
    """Whether the start-up file works in this Python."""
    import site
    import subprocess

    code = "import triton, sys; sys.stdout.write(triton.__name__)"
    environment = {**os.environ, "TILETWIN_INTERPRET": "1"}
    child = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120)
    if child.stdout == "tiletwin":
        return "TILETWIN_INTERPRET=1 python script.py works", True
    folders = [*site.getsitepackages(), site.getusersitepackages()]
    places = [folder for folder in folders if (Path(folder) / "tiletwin_activate.pth").exists()]
    why = (
        "Python does not read .pth files here (python -S or -I?)"
        if places
        else "tiletwin is not installed into this Python's site-packages (PYTHONPATH or --target?)"
    )
    return f"{why}: use tiletwin run script.py, or import tiletwin as triton", False


def doctor() -> bool:
    """Prints what works here: activation, instruction set, threads, versions. Returns whether all does."""
    import platform
    from importlib import metadata

    import tiletwin
    from tiletwin import _C

    def version(name: str) -> str:
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            return "not installed"

    healthy = True
    rows = [
        ("tiletwin", f"{tiletwin.TILETWIN_VERSION}, language of Triton {tiletwin.TRITON_VERSION}"),
        ("python", f"{platform.python_version()} ({sys.executable})"),
    ]
    try:
        rows.append(("instruction set", _C.instruction_set()))
    except RuntimeError as error:
        rows.append(("instruction set", str(error)))
        healthy = False
    threads = os.environ.get("TILETWIN_NUM_THREADS") or str(len(os.sched_getaffinity(0)))
    rows.append(("threads", threads))
    text, works = _activation()
    healthy = healthy and works
    rows.append(("activation", text))
    rows.append(("real triton", _real_triton()))
    rows += [(name, version(name)) for name in ("torch", "numpy", "ml_dtypes")]
    rows += [(name, os.environ[name]) for name in sorted(os.environ) if name.startswith("TILETWIN")]
    for name, value in rows:
        print(f"{name:16} {value}")
    return healthy


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tiletwin", description="The CPU twin of a GPU tile kernel.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    text = argparse.RawDescriptionHelpFormatter
    one = commands.add_parser(
        "run", help="run a script on the CPU", description=RUN, formatter_class=text, usage="tiletwin run [-m] NAME ..."
    )
    one.add_argument("words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    one = commands.add_parser("ir", help="print a kernel's IR", description=IR, formatter_class=text)
    one.add_argument("kernel", help="file.py::name, package.module::name, or a .ttir file")
    one.add_argument(
        "-s", "--signature", default="", metavar="TYPES",
        help='types of the arguments in order: "*fp32:16 i32:1 fp32" (:16 divisible by 16, :1 the constant 1)',
    )  # fmt: skip
    one.add_argument("-c", "--constant", action="append", default=[], metavar="NAME=VALUE", help="a tl.constexpr")
    one.add_argument(
        "-o", "--option", action="append", default=[], metavar="NAME=VALUE", help="num_warps=8, debug=True and the like"
    )
    one.add_argument(
        "--stage", choices=("source", "ttir", "plan"), default="ttir",
        help="what the front end made, TTIR (default), or the interpreter's plan",
    )  # fmt: skip
    one.add_argument("--locations", action="store_true", help="print where in the source each operation stands")
    commands.add_parser("doctor", help="say what works here", description=DOCTOR)
    return parser


def main() -> None:
    """Entry point of the command."""
    words = sys.argv[1:]
    if words[:1] == ["run"] and words[1:2] not in (["-h"], ["--help"]):
        return run(words[1:])
    given = _parser().parse_args(words or ["--help"])
    if given.command == "ir":
        ir(given.kernel, given.signature, given.constant, given.option, given.stage, given.locations)
    elif not doctor():
        raise SystemExit(1)
    return None


if __name__ == "__main__":
    main()
