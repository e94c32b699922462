"""Judges public sets of kernels as they are, and with planted mistakes.

    git clone https://github.com/ScalingIntelligence/KernelBench; git clone https://github.com/thunlp/TritonBench
    python scripts/judge_public.py --kernelbench KernelBench                 # its references, models of ours
    python scripts/judge_public.py --tritonbench TritonBench                 # TritonBench_G: with their own tests
    python scripts/judge_public.py --kernelbench KernelBench --planted 1     # a mistake in each
    python scripts/judge_public.py --tritonbench TritonBench softmax_triton1 # one file

Here:      which submission meets which reference, a process for each, the table of results.
Not here:  the judge, models (tests/judge/kernelbench), mistakes (planted.py).
Invariant: a reference that crashes or does not end costs its own row only.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import datetime
import importlib.util
import json
import multiprocessing
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import planted
from tiletwin import script
from tiletwin.judge.judging import judge
from tiletwin.judge.settings import Settings
from tiletwin.judge.starter import Starter

ROOT = Path(__file__).resolve().parents[1]
MODELS = ROOT / "tests/judge/kernelbench"
RESULTS = ROOT / "benchmarks/results/judge_public.json"
SECONDS_MORE = 120
"""That a process may take beside the time for cases: references may be slow."""
CAUGHT = ("wrong", "broken", "cheating")


@dataclass(frozen=True)
class Job:
    """mistake: what is planted, with its line; None: the submission as it is."""

    set: str
    name: str
    text: str
    reference: Path
    entry: str = ""
    mistake: planted.Planted | None = None


def kernelbench(clone: Path) -> Iterator[Job]:
    spec = importlib.util.spec_from_file_location("kernelbench_models", MODELS / "__init__.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for file, models in module.MODELS.items():
        for problem, name in models.items():
            (reference,) = (clone / "KernelBench").glob(f"{problem}_*.py")
            yield Job("KernelBench", problem, (MODELS / file).read_text(), reference, name)


def tritonbench(clone: Path) -> Iterator[Job]:
    for file in sorted((clone / "data/TritonBench_G_v1").glob("*.py")):
        yield Job("TritonBench_G", file.stem, file.read_text(), file)


def with_mistakes(jobs: list[Job], count: int, seed: int) -> Iterator[Job]:
    for job in jobs:
        for one in planted.planted(job.text, count, seed, job.entry):
            yield Job(job.set, job.name, one.text, job.reference, job.entry, one)


def judged(job: Job, settings: Settings, starter: Starter, out: Connection) -> None:
    """In a process of its own: the verdict as plain data."""
    with tempfile.TemporaryDirectory() as folder:
        submission = Path(folder, job.reference.name)
        submission.write_text(job.text)
        own = dataclasses.replace(settings, entry=job.entry)
        verdict = judge(str(submission), str(job.reference), own, starter)
    reasons = [
        {"verdict": r.verdict, "rule": r.rule, "line": r.line, "text": r.text[:400], "inputs": r.inputs[:200]}
        for r in verdict.reasons
    ]
    cases = Counter(case.outcome for case in verdict.cases)
    out.send({"verdict": verdict.word, "reasons": reasons, "cases": cases, "launches": verdict.launches})


def row_of(job: Job, settings: Settings, starter: Starter) -> tuple[dict[str, Any], bool]:
    """A row, and whether the starter is as it was."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    started = time.monotonic()
    process = context.Process(target=judged, args=(job, settings, starter, theirs))
    process.start()
    theirs.close()
    row: dict[str, Any] = {"set": job.set, "name": job.name}
    if job.mistake is not None:
        row |= {"planted": job.mistake.kind, "at": job.mistake.line, "what": job.mistake.what}
    is_whole = False
    try:
        row |= ours.recv() if ours.poll(settings.seconds + SECONDS_MORE) else {"verdict": "no end", "reasons": []}
        is_whole = row["verdict"] != "no end"
    except EOFError:
        process.join()
        row |= {"verdict": "no verdict", "reasons": [], "exit": process.exitcode}
    process.kill()
    process.join()
    return row | {"seconds": round(time.monotonic() - started, 1)}, is_whole


def run(jobs: list[Job], settings: Settings) -> Iterator[dict[str, Any]]:
    with contextlib.ExitStack() as starters:
        starter = starters.enter_context(Starter())
        for job in jobs:
            row, is_whole = row_of(job, settings, starter)
            if not is_whole:
                starter = starters.enter_context(Starter())
            reason = next((r for r in row["reasons"] if r["verdict"]), {"text": "", "line": 0, "rule": ""})
            said = f"{reason['rule']} {reason['line'] or ''} {reason['text'].partition(chr(10))[0][:140]}"
            times = f"{row['seconds']:6.1f} s"
            print(f"{row['verdict']:11} {row['name']:32} {times} {row.get('what', '')} | {said}", flush=True)
            yield row


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in dict.fromkeys(row["set"] for row in rows):
        own = [row for row in rows if row["set"] == name]
        plain, changed = [r for r in own if "planted" not in r], [r for r in own if "planted" in r]
        found[name] = {
            "files": len(plain), "verdicts": dict(Counter(row["verdict"] for row in plain)), "planted": len(changed),
            "caught": sum(row["verdict"] in CAUGHT for row in changed),
            "at their line": sum(row["at"] in [r["line"] for r in row["reasons"] if r["verdict"]] for row in changed),
            "processor seconds": round(sum(row["seconds"] for row in own), 1),
        }  # fmt: skip
    return found


def commit_of(clone: Path) -> str:
    words = ["git", "-C", str(clone), "log", "-1", "--format=%h of %cs"]
    return subprocess.run(words, capture_output=True, text=True).stdout.strip()


def main() -> None:
    script.activated_without_gpu(sys.exit)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernelbench", type=Path, metavar="CLONE")
    parser.add_argument("--tritonbench", type=Path, metavar="CLONE")
    parser.add_argument("--planted", type=int, default=0, metavar="N", help="N mistakes in each submission, one by one")
    parser.add_argument("--only-planted", action="store_true", help="not the submissions as they are")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="each Nth submission gets mistakes")
    parser.add_argument("--seed", type=int, default=1, help="of the mistakes")
    parser.add_argument("--seconds", type=float, default=10.0, help="for the cases of one")
    parser.add_argument("--cases", type=int, default=0, help="of one at most; 1: only tests, or the example")
    parser.add_argument("--out", type=Path, help=f"file of results; by default {RESULTS.relative_to(ROOT)} if all ran")
    parser.add_argument("names", nargs="*", help="files or problems; all without")
    options = parser.parse_args()
    jobs = [*(kernelbench(options.kernelbench) if options.kernelbench else ())]
    jobs += tritonbench(options.tritonbench) if options.tritonbench else ()
    if not jobs:
        parser.error("--kernelbench or --tritonbench says where a clone lies")
    known = {job.name for job in jobs}
    if unknown := set(options.names) - known:
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    jobs = [job for job in jobs if not options.names or job.name in options.names]
    changed = list(with_mistakes(jobs[:: options.every], options.planted, options.seed)) if options.planted else []
    settings = Settings(seconds=options.seconds, most=options.cases)
    rows = list(run([*([] if options.only_planted else jobs), *changed], settings))
    result = {
        "what": __doc__.splitlines()[0] if __doc__ else "", "date": datetime.date.today().isoformat(),
        "seconds for cases": options.seconds, "cases": options.cases, "seed": options.seed,
        "sources": {str(c.name): commit_of(c) for c in (options.kernelbench, options.tritonbench) if c},
        "summary": summary(rows), "rows": rows,
    }  # fmt: skip
    print(json.dumps(result["summary"], indent=1))
    out = options.out or (RESULTS if not options.names else None)
    if out:
        out.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    sys.exit(main())
