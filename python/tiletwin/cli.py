"""The command `tiletwin`: run, ir, trace, sim, doctor.

Here:      command line parsing and what each command prints.
Not here:  activation (_activate.py), compilation (compiler/).
typer and rich are imported here only: `import tiletwin` needs neither.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

app = typer.Typer(
    help="The CPU twin of a GPU tile kernel.",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _fail(message: str) -> NoReturn:
    print(f"tiletwin: {message}", file=sys.stderr)
    raise typer.Exit(2)


@app.callback(invoke_without_command=True)
def _command(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


# Nothing is parsed here, so that every option behind the script's name reaches the script.
@app.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False, "help_option_names": []}
)
def run(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[-m] NAME", help="The script, or the module, and its arguments."),
    ] = None,
) -> None:
    """Run a Python script, or with -m a module, whose `import triton` is tiletwin, on the CPU."""
    import runpy

    from tiletwin import _activate

    if words in (["-h"], ["--help"]):
        print(context.get_help())
        return
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


@app.command()
def ir(
    kernel: Annotated[str, typer.Argument(help="file.py::name, package.module::name, or a .ttir file.")],
    signature: Annotated[
        str, typer.Option("-s", "--signature", help='Types of the arguments, "*fp32:16 *fp32 i32".')
    ] = "",
    constants: Annotated[
        list[str] | None, typer.Option("-c", "--constant", help="NAME=VALUE of a tl.constexpr.")
    ] = None,
    options: Annotated[
        list[str] | None, typer.Option("-o", "--option", help="NAME=VALUE: num_warps=8, debug=True.")
    ] = None,
    stage: Annotated[str, typer.Option(help="source, ttir or plan.")] = "ttir",
    locations: Annotated[bool, typer.Option(help="Print source locations.")] = False,
) -> None:
    """Print a kernel's IR without running it: what the front end made (source), its TTIR, or the interpreter's plan."""
    from tiletwin import _activate
    from tiletwin.errors import TileTwinError

    if stage not in ("source", "ttir", "plan"):
        _fail(f"--stage must be source, ttir or plan, not {stage}")
    os.environ.setdefault("TILETWIN_INTERPRET", "1")
    _activate.activate()
    import tiletwin

    def table(rows: list[str] | None, what: str) -> dict[str, Any]:
        result = {}
        for row in rows or []:
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


@app.command()
def trace(
    folder: Annotated[str, typer.Argument(help="The folder that TILETWIN_RECORD named, or one file of it.")],
    listing: Annotated[bool, typer.Option("--list", help="Print launches and recorded programs.")] = False,
    launch: Annotated[int | None, typer.Option(help="Number of a launch in the list.")] = None,
    program: Annotated[str | None, typer.Option(help="Id of a program, 3,0,0.")] = None,
    at: Annotated[str | None, typer.Option(help="A step: its number, :LINE, last or error; prints it.")] = None,
    show: Annotated[list[str] | None, typer.Option(help="Print this variable after the step --at.")] = None,
    full: Annotated[bool, typer.Option("--full", help="With --show: every element.")] = False,
    html: Annotated[str | None, typer.Option(metavar="FILE", help="Write one HTML file.")] = None,
) -> None:
    """Step forward and back through programs that TILETWIN_RECORD=folder recorded."""
    from tiletwin.trace import command

    command.run(
        folder,
        listing=listing,
        launch=launch,
        program=program,
        at=at,
        show=show,
        full=full,
        html=html,
        fail=_fail,
    )


@app.command()
def sim(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file of PTX.")],
    arguments: Annotated[
        str | None,
        typer.Argument(
            metavar="ARGS.NPZ",
            help="One array per parameter, by its name (whole, or param_0 for ENTRY_param_0) or in order; 0-d arrays "
            "are numbers.",
        ),
    ] = None,
    entry: Annotated[str | None, typer.Option(help="The .entry to run, if there are several.")] = None,
    grid: Annotated[str, typer.Option(help="Size of the grid in CTAs: 64 or 8,8,1.")] = "1",
    block: Annotated[str | None, typer.Option(help="Threads of a CTA; default: .reqntid.")] = None,
    cluster: Annotated[str | None, typer.Option(help="CTAs of a cluster; default: .reqnctapercluster.")] = None,
    shared: Annotated[int, typer.Option(help="Bytes of dynamic shared memory.")] = 0,
    check: Annotated[
        str | None,
        typer.Option(
            metavar="WORDS",
            help="bounds, barriers, async, uninitialized, races, joined by commas; all; none. Default: the first three "
            "and what TILETWIN_CHECK names.",
        ),
    ] = None,
    limit: Annotated[int, typer.Option(help="Stop after so many instructions of warps; 0: never.")] = 0,
    out: Annotated[str | None, typer.Option(metavar="FILE", help="Write the arrays to an .npz afterwards.")] = None,
    listing: Annotated[
        bool, typer.Option("--list", help="Print the entries and their parameters, run nothing.")
    ] = False,
    contract: Annotated[bool, typer.Option(help="Fuse products and sums without rounding as ptxas does.")] = True,
) -> None:
    """Run PTX on the CPU, bit for bit as a GPU does. Exits with 1 if the kernel fails or a check finds something."""
    from tiletwin.sim import command

    if listing:
        command.list_entries(file, contract=contract, fail=_fail)
        return
    sizes = {"grid": grid, "block": block, "cluster": cluster}
    clean = command.run(
        file, arguments, entry=entry, sizes=sizes, shared=shared, check=check, limit=limit, out=out, contract=contract,
        fail=_fail,
    )  # fmt: skip
    if not clean:
        raise typer.Exit(1)


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
    """Say what works here: activation, instruction set, threads, versions. Exits with 1 if something does not."""
    import platform
    from importlib import metadata

    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

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
    table = Table(show_header=False, box=None)
    for name, value in rows:
        table.add_row(f"[bold]{name}[/bold]", escape(value))
    Console(soft_wrap=True).print(table)
    if not healthy:
        raise typer.Exit(1)


def main() -> None:
    """Entry point of the command."""
    app(prog_name="tiletwin")


if __name__ == "__main__":
    main()
