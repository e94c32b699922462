"""The options of `tiletwin fuzz` and of its commands.

Here:      typer's declarations.
Not here:  what they do (command.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, NoReturn

import typer

JUDGES = Annotated[
    str,
    typer.Option(
        "--judges",
        help="interp, launch, eager, ieee, twins, sim:80, sim:90, triton, triton:sim, triton:gpu, cuda, joined by "
        "commas; all are compared with the first. triton:sim/8: every eighth program.",
    ),
]
FORMS = Annotated[str, typer.Option(help="Draw from these forms only, joined by commas.")]
SEED = Annotated[int, typer.Argument(help="Of the program.")]
SIZE = Annotated[int | None, typer.Option(help="Statements of a program, about; default: 3 to 12.")]


def fuzzing(fail: Callable[[str], NoReturn]) -> typer.Typer:
    """The command and its commands. fail: ends the process with a message."""
    app = typer.Typer(help="Random programs, run by every judge that is here and compared.")

    @app.callback(invoke_without_command=True)
    def fuzz(
        context: typer.Context,
        seconds: Annotated[float, typer.Option(help="End after so many seconds; 0: no limit.")] = 0.0,
        programs: Annotated[int, typer.Option(help="End after so many programs; 0: no limit.")] = 0,
        jobs: Annotated[int, typer.Option("-j", "--jobs", help="Processes; with --ray actors, 0: one a core.")] = 1,
        judges: JUDGES = "",
        out: Annotated[
            str, typer.Option(metavar="FOLDER", help="Keep results and findings here; empty: nowhere.")
        ] = "",
        seed: Annotated[int, typer.Option(help="Of the first program.")] = 0,
        size: SIZE = None,
        timeout: Annotated[
            float, typer.Option(help="Seconds for one program, with shrinking of what it finds.")
        ] = 120.0,
        shrink: Annotated[float, typer.Option(help="Seconds for making one finding small; 0: not at all.")] = 15.0,
        forms: FORMS = "",
        ray: Annotated[str, typer.Option(metavar="ADDRESS", help="Run on this Ray cluster; auto: the one here.")] = "",
        quiet: Annotated[bool, typer.Option(help="No progress bar.")] = False,
    ) -> None:
        """Run random programs before judges until a limit is reached, or Ctrl-C. Exit codes: 0, nothing found; 1,
        findings; 2, the command failed; 4, nothing found, but a judge has compared nothing."""
        if context.invoked_subcommand is not None:
            return
        from tiletwin.fuzz import command

        settings = command.settings(judges, size, shrink, forms, fail)
        code = command.run(
            settings=settings, programs=programs, seconds=seconds, jobs=jobs, ray=ray, out=out, seed=seed,
            timeout=timeout, quiet=quiet, fail=fail,
        )  # fmt: skip
        raise typer.Exit(code)

    @app.command("one")
    def fuzz_one(
        seed: SEED,
        judges: JUDGES = "",
        size: SIZE = None,
        shrink: Annotated[float, typer.Option(help="Seconds for making a finding small; 0: not at all.")] = 15.0,
        forms: FORMS = "",
    ) -> None:
        """Run the program of one seed before judges."""
        from tiletwin.fuzz import command

        raise typer.Exit(command.judge_one(seed, command.settings(judges, size, shrink, forms, fail)))

    @app.command("show")
    def fuzz_show(seed: SEED, size: SIZE = None, forms: FORMS = "") -> None:
        """Print the program of a seed."""
        from tiletwin.fuzz import command

        command.show(seed, size, command.chosen_forms(forms, fail))

    @app.command("report")
    def fuzz_report(
        folder: Annotated[str, typer.Argument(metavar="FOLDER", help="What --out named, or a database.")],
        html: Annotated[str, typer.Option(metavar="FILE", help="Write one HTML page.")] = "",
    ) -> None:
        """Print what campaigns have covered and found."""
        from tiletwin.fuzz import command

        command.tell(folder, html, fail)

    return app
