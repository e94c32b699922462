"""The options of `tiletwin judge`.

Here:      typer's declarations, which of the three ways of judging is meant.
Not here:  what they do (command.py, many_command.py, service/serving.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, NoReturn

import typer

from tiletwin.findings.options import FORMAT, OUTPUT


def judging(fail: Callable[[str], NoReturn]) -> Callable[..., None]:
    """The command. fail: ends the process with a message."""

    def judge(
        submission: Annotated[str, typer.Argument(metavar="[SUBMISSION]", help="What is judged, in a sandbox.")] = "",
        reference: Annotated[
            str, typer.Option(metavar="FILE", help="What it has to compute, and inputs; it is trusted.")
        ] = "",
        budget: Annotated[
            str, typer.Option(help="quick, usual (default) or thorough: how much time it may take.")
        ] = "",
        seconds: Annotated[float | None, typer.Option(help="Run cases for so long, of a processor's time.")] = None,
        cases: Annotated[int | None, typer.Option(help="Run so many cases at most; 0: as the time allows.")] = None,
        seed: Annotated[int, typer.Option(help="Of all inputs.")] = 0,
        case: Annotated[int, typer.Option(help="Run this case only.")] = -1,
        entry: Annotated[str, typer.Option(help="What the submission defines; default: as the convention says.")] = "",
        target: Annotated[
            list[str] | None, typer.Option("-t", "--target", help="A GPU, h100, or sim, the simulator.")
        ] = None,
        json: Annotated[
            bool, typer.Option("--json", help="Print the verdict as JSON (docs/verdict.schema.json).")
        ] = False,
        html: Annotated[str, typer.Option("--html", metavar="FILE", help="Write one HTML page.")] = "",
        form: FORMAT = "",
        output: OUTPUT = "",
        many: Annotated[
            str, typer.Option(metavar="FOLDER", help="Judge all that is in a folder, or in a list (.jsonl).")
        ] = "",
        results: Annotated[str, typer.Option(metavar="FILE", help="Of --many: .duckdb or .jsonl.")] = "",
        jobs: Annotated[int, typer.Option("-j", "--jobs", help="Of --many, --serve: at once; 0: one a core.")] = 0,
        ray: Annotated[
            str, typer.Option(metavar="ADDRESS", help="Of --many: on this Ray cluster, auto: this one's.")
        ] = "",
        quiet: Annotated[bool, typer.Option(help="Of --many: no progress bar.")] = False,
        serve: Annotated[bool, typer.Option("--serve", help="Judge what comes over HTTP.")] = False,
        host: Annotated[str, typer.Option(help="Of --serve: where it listens.")] = "127.0.0.1",
        port: Annotated[int, typer.Option(help="Of --serve; 0: any.")] = 8000,
        references: Annotated[str, typer.Option(metavar="FOLDER", help="Of --serve: what clients may name.")] = "",
        tokens: Annotated[str, typer.Option(metavar="FILE", help="Of --serve: lines `name token`, of clients.")] = "",
        trust_clients: Annotated[
            bool, typer.Option("--trust-clients", help="Of --serve: take references of theirs.")
        ] = False,
        rate: Annotated[str, typer.Option(help="Of --serve: requests of one client.")] = "600/minute",
        queue: Annotated[int, typer.Option(help="Of --serve: submissions that wait, of all clients.")] = 1000,
        queue_of_client: Annotated[int, typer.Option(help="Of --serve: of one client, not done.")] = 100,
        most_bytes: Annotated[int, typer.Option(help="Of --serve: of one request.")] = 1 << 20,
    ) -> None:
        """Say whether files of kernels are right, and why not: one; with --many all of a folder; with --serve those
        that come over HTTP. Exit codes: 0, right; 1, not; 2, failed; 3, not judged."""
        from tiletwin.judge import command

        chosen = {
            "seed": seed,
            "case": case,
            "entry": entry,
            "targets": target or [],
            "seconds": seconds,
            "most": cases,
        }
        settings = command.settings(budget, chosen, fail)
        of_one = {"--json": json, "--html": html, "--output": output, "--format": form, "--case": case >= 0}
        command.check_one(submission, many, serve, reference, of_one, fail)
        if serve:
            from tiletwin.judge.service import serving

            plan = serving.Plan(
                host, port, references, tokens, trust_clients, jobs, rate, queue, queue_of_client, most_bytes
            )
            raise typer.Exit(serving.run(plan, fail))
        if many:
            from tiletwin.judge import many_command

            raise typer.Exit(many_command.run(many, reference, settings, results, jobs, ray, quiet, fail))
        from tiletwin import script
        from tiletwin.findings import command as findings

        script.activated_without_gpu(fail)
        findings.begin(output, form, "", False, fail)
        raise typer.Exit(command.run(submission, reference, settings, json, html, fail))

    return judge
