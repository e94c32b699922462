"""The command `tiletwin`: run, ir, doctor.

Here:      command line parsing and what each command prints.
Not here:  activation (_activate.py), compilation (compiler/).
typer and rich are imported here only; without them the commands still work, with plainer help and output.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import Annotated, Any

try:
    import typer
except ImportError:  # pragma: no cover
    print("the tiletwin command needs typer: pip install 'tiletwin[cli]'", file=sys.stderr)
    raise SystemExit(2) from None

app = typer.Typer(
    help="The CPU twin of a GPU tile kernel.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _fail(message: str) -> typer.Exit:
    print(f"tiletwin: {message}", file=sys.stderr)
    return typer.Exit(2)


@app.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "allow_interspersed_args": False}
)
def run(
    context: typer.Context,
    target: Annotated[str | None, typer.Argument(help="The script to run.")] = None,
    module: Annotated[str | None, typer.Option("-m", help="Run a module instead, as python -m does.")] = None,
) -> None:
    """Run a Python script whose `import triton` is tiletwin, on the CPU."""
    import runpy

    from tiletwin import _activate

    os.environ.setdefault("TILETWIN_INTERPRET", "1")
    if not _activate.activate():
        raise _fail("not activated: TILETWIN_INTERPRET is switched off in the environment")
    if module is not None:
        sys.argv = [module, *([target] if target else []), *context.args]
        sys.path.insert(0, os.getcwd())
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        return
    if target is None:
        raise _fail("say which script to run: tiletwin run script.py, or tiletwin run -m module")
    if not Path(target).is_file():
        raise _fail(f"{target}: no such file")
    sys.argv = [target, *context.args]
    sys.path.insert(0, str(Path(target).resolve().parent))
    runpy.run_path(target, run_name="__main__")


def _load_kernel(kernel: str) -> Any:
    """The kernel `file.py::name` (or `package.module::name`). A file is imported, not run as a script."""
    place, _, name = kernel.partition("::")
    if place.endswith(".py"):
        path = Path(place).resolve()
        if not path.is_file():
            raise _fail(f"{place}: no such file")
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
            raise _fail(f"{place} has the jit functions {', '.join(own) or '(none)'}; choose one: {place}::name")
        return next(iter(own.values()))
    if name not in kernels:
        raise _fail(f"{place} has no jit function {name}; it has {', '.join(own) or 'none'}")
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
            raise _fail(f"{param.name} is tl.constexpr: give its value, -c {param.name}=...")
        elif not left:
            if not param.annotation_type:
                wanted = " ".join(p.name for p in fn.params if p.name not in constants and not p.is_constexpr)
                raise _fail(f"no type for {param.name}; the signature gives a type for each of: {wanted}")
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
                raise _fail(f"{kind}:{hint}: after a colon stands 16 (divisible by 16) or 1 (the constant)")
    if left:
        raise _fail(f"too many types: {' '.join(left)} is left over")
    return signature, attributes


@app.command()
def ir(
    kernel: Annotated[str, typer.Argument(help="file.py::name, module::name, or a .ttir file.")],
    signature: Annotated[
        str, typer.Option("-s", "--signature", help='Types of the arguments, "*fp32:16 *fp32 i32".')
    ] = "",
    constant: Annotated[
        list[str] | None, typer.Option("-c", "--constant", help="NAME=VALUE of a tl.constexpr.")
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option("-o", "--option", help="NAME=VALUE: num_warps=8, debug=True.")
    ] = None,
    stage: Annotated[str, typer.Option(help="source, ttir or plan.")] = "ttir",
    locations: Annotated[bool, typer.Option(help="Print source locations.")] = False,
) -> None:
    """Print a kernel's IR: what the front end made of it (source), TTIR, or the interpreter's plan."""
    from tiletwin import _activate
    from tiletwin.errors import TileTwinError

    if stage not in ("source", "ttir", "plan"):
        raise _fail(f"--stage must be source, ttir or plan, not {stage}")
    os.environ.setdefault("TILETWIN_INTERPRET", "1")
    _activate.activate()
    import tiletwin

    def table(rows: list[str] | None, what: str) -> dict[str, Any]:
        result = {}
        for row in rows or []:
            name, equals, value = row.partition("=")
            if not equals:
                raise _fail(f"{what} {row}: write NAME=VALUE")
            result[name] = _constant(value)
        return result

    try:
        if kernel.endswith(".ttir"):
            if not Path(kernel).is_file():
                raise _fail(f"{kernel}: no such file")
            compiled = tiletwin.compile(kernel)
        else:
            fn = _load_kernel(kernel)
            constants = table(constant, "-c")
            unknown = [name for name in constants if name not in fn.arg_names]
            if unknown:
                raise _fail(f"{fn.__name__} has no parameter {unknown[0]}; it has {', '.join(fn.arg_names)}")
            types, attributes = _signature(fn, signature.replace(",", " ").split(), constants)
            source = tiletwin.ASTSource(fn, types, constants, attributes)
            compiled = tiletwin.compile(source, options=table(option, "-o"))
        print(compiled.module.text(stage, locations), end="")
    except (TileTwinError, ValueError, KeyError) as error:
        raise _fail(str(error.args[0]) if isinstance(error, KeyError) else str(error)) from None


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


@app.command()
def doctor() -> None:
    """Say what works here: activation, instruction set, threads, versions."""
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
    try:
        from rich.console import Console
        from rich.table import Table

        table = Table(show_header=False, box=None)
        for name, value in rows:
            table.add_row(f"[bold]{name}[/bold]", value)
        Console(soft_wrap=True).print(table)
    except ImportError:
        for name, value in rows:
            print(f"{name:16} {value}")
    if not healthy:
        raise typer.Exit(1)


def main() -> None:
    """Entry point of the command."""
    app()


if __name__ == "__main__":
    main()
