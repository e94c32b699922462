"""The command `tiletwin`: run, ir, export, trace, sim, gpu, debug, diff, replay, judge, fuzz, doctor.

Here:      the commands' options, what run does; typer, which only commands import. Exit codes: docs/ci.md.
Not here:  the options of fuzz and judge (their options.py), activation (_activate.py),
           what the others do (doctor.py, gpu.py, and the command.py of their folders).
"""

from __future__ import annotations

import sys
from typing import Annotated, NoReturn

import typer

from tiletwin import variables
from tiletwin.findings.options import BASELINE, FORMAT, OUTPUT
from tiletwin.fuzz import options as fuzz_options
from tiletwin.judge import options as judge_options
from tiletwin.version import TILETWIN_VERSION, TRITON_VERSION

app = typer.Typer(
    help="The CPU twin of a GPU tile kernel.",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _fail(message: str) -> NoReturn:
    print(f"tiletwin: {message}", file=sys.stderr)
    if writing := sys.modules.get("tiletwin.findings.output"):
        writing.give_up(2)
    raise SystemExit(2)  # typer's Exit is a RuntimeError, which the commands catch


def _say_version(wanted: bool) -> None:
    if wanted:
        print(f"tiletwin {TILETWIN_VERSION}, language of Triton {TRITON_VERSION}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _command(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


SCRIPT = typer.Argument(metavar="[-m] NAME", help="The script, or the module, and its arguments.")
REPORTS = Annotated[str | None, typer.Option("--html", metavar="FILE", help="Write the reports as one HTML file.")]
MOST_NOT_COMPARABLE = Annotated[
    int, typer.Option(help="Exit with 3 if more launches cannot be compared; -1: any number may.")
]
ALLOW_MISSING = Annotated[
    bool, typer.Option("--allow-missing", help="A backend that compares nothing is no failure (exit code 4).")
]


def _begin_findings(output: str, form: str, baseline: str = "", own: bool = False) -> None:
    """As findings.command.begin."""
    from tiletwin.findings import command

    command.begin(output, form, baseline, own, _fail)


# Options behind the script's name are the script's.
_OF_SCRIPT = {"ignore_unknown_options": True, "allow_interspersed_args": False}


@app.command(context_settings={**_OF_SCRIPT, "help_option_names": []})
def run(
    context: typer.Context,
    words: Annotated[list[str] | None, SCRIPT] = None,
    check: Annotated[
        str,
        typer.Option(metavar="WORDS", help="Check launches as TILETWIN_CHECK does; findings exit with 1."),
    ] = "",
    baseline: BASELINE = "",
    form: FORMAT = "",
    output: OUTPUT = "",
) -> None:
    """Run a Python script, or with -m a module, whose `import triton` is tiletwin, on the CPU."""
    from tiletwin import script

    if words in (["-h"], ["--help"]):
        print(context.get_help())
        return
    if check:
        variables.put("TILETWIN_CHECK", check)
    _begin_findings(output, form, baseline, own=bool(check))
    if not script.activated_without_gpu(_fail):
        _fail("not activated: TILETWIN_INTERPRET is switched off in the environment")
    named = script.check(words, "run", _fail)
    if not check and not output:
        script.calling(lambda: script.run(named))
        return
    from tiletwin import checks
    from tiletwin.findings import output as writing

    try:
        checks.wanted()
    except ValueError as error:
        _fail(str(error))
    ended = script.run_to_end(named)
    script.wait_for_others()
    raise typer.Exit(writing.finish(ended or (writing.exit_code() if check else 0), successful=not ended))


KERNEL = Annotated[
    str,
    typer.Argument(metavar="KERNEL", help="script.py:kernel, package.module:kernel, or a .ttir, .ttgir, .ptx file."),
]
SIGNATURE = Annotated[
    str,
    typer.Option("-s", "--signature", help='Types of the arguments, "*fp32:16 *fp32 i32" (:16: a multiple of 16).'),
]
CONSTANTS = Annotated[
    list[str] | None,
    typer.Option("-c", "--constexpr", "--constant", metavar="NAME=VALUE", help="Value of a tl.constexpr."),
]
OPTIONS = Annotated[
    list[str] | None, typer.Option("-o", "--option", metavar="NAME=VALUE", help="num_warps=8, debug=True.")
]
TARGET = Annotated[
    str, typer.Option("-t", "--target", help="sm_90a, cuda:90 (the same), hip:gfx942; default: cuda:90.")
]
OUT = Annotated[str | None, typer.Option("--out", metavar="FILE", help="Write to a file instead of the terminal.")]


@app.command()
def ir(
    kernel: KERNEL,
    signature: SIGNATURE = "",
    constants: CONSTANTS = None,
    options: OPTIONS = None,
    target: TARGET = "",
    stage: Annotated[
        str,
        typer.Option(help="source, ttir, ttgir, llir, ptx, cubin, sass, amdgcn, hsaco, or plan (the interpreter's)."),
    ] = "",
    locations: Annotated[bool, typer.Option(help="Print source locations of source and ttir.")] = False,
    out: OUT = None,
) -> None:
    """Print a stage of a kernel's compilation, without running it and without a GPU.

    The default is ttir, with --target ptx or amdgcn.
    """
    from tiletwin.tools import command

    compiled = command.compile_named(kernel, signature, constants, options, target, fail=_fail)
    command.print_stage(
        compiled, stage or command.default_stage(compiled, target), locations=locations, out=out, fail=_fail
    )


@app.command()
def export(
    kernel: KERNEL,
    signature: SIGNATURE = "",
    constants: CONSTANTS = None,
    options: OPTIONS = None,
    target: TARGET = "",
    name: Annotated[str | None, typer.Option(help="Name of the function; default: the kernel's.")] = None,
    out: OUT = None,
) -> None:
    """Write a kernel as CUDA C++: its PTX as inline assembly in a __global__ function, which nvcc compiles."""
    from tiletwin.tools import command

    compiled = command.compile_named(kernel, signature, constants, options, target or "cuda:90", fail=_fail)
    command.export(compiled, name=name, out=out, fail=_fail)


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
        folder, listing=listing, launch=launch, program=program, at=at, show=show, full=full, html=html, fail=_fail
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
    baseline: BASELINE = "",
    form: FORMAT = "",
    output: OUTPUT = "",
) -> None:
    """Run PTX on the CPU, bit for bit as a GPU does. Exits with 1 if the kernel fails or a check finds something."""
    from tiletwin.sim import command

    if listing:
        command.list_entries(file, contract=contract, fail=_fail)
        return
    _begin_findings(output, form, baseline)
    sizes = {"grid": grid, "block": block, "cluster": cluster}
    clean = command.run(
        file, arguments, entry=entry, sizes=sizes, shared=shared, check=check, limit=limit, out=out, contract=contract,
        fail=_fail,
    )  # fmt: skip
    from tiletwin.findings import output as writing

    raise typer.Exit(writing.finish(0 if clean else 1))


@app.command(context_settings=_OF_SCRIPT)
def profile(
    words: Annotated[list[str], SCRIPT],
    kernels: Annotated[
        str,
        typer.Option("--kernel", metavar="NAMES", help="Show these kernels only: names or patterns, joined by commas."),
    ] = "",
    lines: Annotated[int, typer.Option(help="Print so many lines of each launch, those that run most; 0: all.")] = 0,
    json: Annotated[
        str, typer.Option("--json", metavar="FILE", help="Write everything that was counted as JSON.")
    ] = "",
    html: Annotated[str, typer.Option("--html", metavar="FILE", help="Write one HTML page.")] = "",
    machine_code: Annotated[
        bool,
        typer.Option("--machine-code", help="Also run what ptxas makes of each kernel, and count its instructions."),
    ] = False,
) -> None:
    """Run a script whose every Triton launch runs on the simulator, and say what its lines cost, by ncu's names.

    Exits with the script's code; 4 if it launched nothing.
    """
    from tiletwin.counters import command

    code = command.profile(
        words, kernels=kernels, lines=lines, json=json, html=html, machine_code=machine_code, fail=_fail
    )
    raise typer.Exit(code)


@app.command(context_settings=_OF_SCRIPT)
def gpu(
    words: Annotated[list[str] | None, typer.Argument(metavar="PROGRAM", help="A program and its arguments.")] = None,
    arch: Annotated[str, typer.Option(metavar="sm_90a|sm_80", help="What the GPU is: an H200 or an A100.")] = "",
    count: Annotated[str, typer.Option(metavar="N", help="Number of devices; default: 1.")] = "",
    memory: Annotated[
        str, typer.Option(metavar="BYTES", help="Of each device, 24G; default: as the GPU, or as this machine has.")
    ] = "",
    bounds: Annotated[
        str,
        typer.Option(metavar="exact|pages", help="pages: kernels may read behind an allocation to its page's end."),
    ] = "",
    check: Annotated[
        str, typer.Option(metavar="WORDS", help="Also look for uninitialized values and races; all: both.")
    ] = "",
    missing: Annotated[
        bool, typer.Option("--missing", help="List the driver's functions that the last program asked for in vain.")
    ] = False,
) -> None:
    """Run any program that uses CUDA's driver, on a virtual GPU: `tiletwin gpu -- python script.py`."""
    from tiletwin import gpu as virtual

    if missing:
        print("\n".join(virtual.missing()) or "nothing was missing")
        return
    if not words:
        _fail("gpu: name a program, as in `tiletwin gpu -- python script.py`")
    try:
        virtual.run(words, {"arch": arch, "count": count, "memory": memory, "bounds": bounds, "check": check})
    except OSError as error:
        _fail(str(error))


@app.command(context_settings=_OF_SCRIPT)
def debug(
    words: Annotated[list[str] | None, typer.Argument(metavar="[-m] SCRIPT.py | -- PROGRAM", help="What runs.")] = None,
    commands: Annotated[list[str] | None, typer.Option("-x", metavar="COMMAND", help="Carry this out first.")] = None,
    dap: Annotated[bool, typer.Option("--dap", help="Serve an editor, on standard input and output.")] = False,
    port: Annotated[int | None, typer.Option(help="With --dap: serve on this port of 127.0.0.1; 0: any.")] = None,
) -> None:
    """Debug kernels on the simulator with cuda-gdb's words: a script's in Triton, or a program's on the virtual GPU."""
    from tiletwin.debugger import command

    raise typer.Exit(command.debug(words or [], commands or [], dap=dap, port=port, fail=_fail))


@app.command(context_settings=_OF_SCRIPT)
def diff(
    words: Annotated[list[str], SCRIPT],
    backends: Annotated[
        str,
        typer.Option(help="interp, sim, cuda, triton, triton:sim, triton:gpu, joined by commas; the first is compared"),
    ] = "",
    html: REPORTS = None,
    save: Annotated[
        str, typer.Option(metavar="FOLDER", help="Where launches that differ are kept; empty: nowhere.")
    ] = "tiletwin-differences",
    launches: Annotated[int, typer.Option(help="Compare the first so many launches of each kernel; 0: all.")] = 0,
    most_not_comparable: MOST_NOT_COMPARABLE = -1,
    allow_missing: ALLOW_MISSING = False,
    form: FORMAT = "",
    output: OUTPUT = "",
) -> None:
    """Run a script whose every Triton launch runs on two or more backends, and say where they differ."""
    from tiletwin.diff import command

    _begin_findings(output, form, own=True)
    code = command.diff(
        words, backends=backends, page=html, save=save, launches=launches, most_not_comparable=most_not_comparable,
        allow_missing=allow_missing, fail=_fail,
    )  # fmt: skip
    raise typer.Exit(code)


@app.command()
def replay(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Recorded launches, or folders of them.")],
    backend: Annotated[
        str,
        typer.Option(
            help="interp, triton, triton:sim, triton:gpu, sim, cuda, joined by commas; recorded: the file's results."
        ),
    ] = "interp",
    pdb: Annotated[bool, typer.Option("--pdb", help="Run the kernel's Python text, stopped in pdb.")] = False,
    gdb: Annotated[bool, typer.Option("--gdb", help="The same in gdb.")] = False,
    program: Annotated[str, typer.Option(help="With --pdb and --gdb: the program that stops, 3,0,0.")] = "",
    html: REPORTS = None,
    most_not_comparable: MOST_NOT_COMPARABLE = -1,
    allow_missing: ALLOW_MISSING = False,
    form: FORMAT = "",
    output: OUTPUT = "",
) -> None:
    """Run launches again that TILETWIN_SAVE or `tiletwin diff` recorded, and compare with the recorded results."""
    from tiletwin.diff import command

    _begin_findings(output, form)
    code = command.replay(
        files, backends=backend, page=html, pdb=pdb, gdb=gdb, program=program, most_not_comparable=most_not_comparable,
        allow_missing=allow_missing, fail=_fail,
    )  # fmt: skip
    raise typer.Exit(code)


app.command("judge")(judge_options.judging(_fail))


@app.command()
def doctor() -> None:
    """Say what works here: activation, instruction set, threads, versions. Exits with 1 if something does not."""
    from tiletwin import doctor

    if not doctor.tell():
        raise typer.Exit(1)


app.add_typer(fuzz_options.fuzzing(_fail), name="fuzz")


def main() -> None:
    """Entry point of the command."""
    app(prog_name="tiletwin")


if __name__ == "__main__":
    main()
