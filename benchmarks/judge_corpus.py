"""The judge on its corpus (tests/judge/problems): right kernels, wrong ones, cheats and crashes, at its usual budget.

    python benchmarks/judge_corpus.py --output FILE
    python benchmarks/judge_corpus.py --output FILE --resume          # goes on with what a run has left
    python benchmarks/judge_corpus.py --only softmax                  # names that hold a word; prints reasons

One submission after the other, on one core. Seconds are those of processors: the judge's, and those of its workers.
Output: per kind of mistake, how many are caught and for how many a reason names the expected line; names of all that
are not as they should be.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/judge"))
from problems import Submission, submissions  # noqa: E402
from tiletwin.judge.judging import judge  # noqa: E402
from tiletwin.judge.settings import Settings  # noqa: E402
from tiletwin.judge.starter import Starter  # noqa: E402
from tiletwin.judge.verdict import Verdict  # noqa: E402

SECONDS = Settings().seconds


def named(one: Submission, verdict: Verdict) -> bool:
    """Whether a reason of the verdict names the expected line."""
    lines = one.text.splitlines()
    given = [reason for reason in verdict.reasons if reason.verdict == verdict.word]
    own = [lines[r.line - 1] for r in given if 0 < r.line <= len(lines) and r.file == verdict.submission]
    return any(one.line in line for line in own)


def row_of(one: Submission, verdict: Verdict) -> dict[str, Any]:
    reasons = [f"{r.rule}:{r.line}: {r.text[:160]}" for r in verdict.reasons if r.verdict == verdict.word][:3]
    return {
        "name": one.name, "problem": one.problem, "family": one.family, "kind": one.kind, "expected": one.verdict,
        "word": verdict.word, "line": one.line, "named": bool(one.line) and named(one, verdict),
        "rule": not one.rule or any(r.rule == one.rule for r in verdict.reasons if r.verdict), "reasons": reasons,
        "cases": [[case.number, case.outcome] for case in verdict.cases], "worst": verdict.worst,
        "seconds": round(verdict.seconds, 2), "processor": round(verdict.processor, 2),
    }  # fmt: skip


def table(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """What the rows add up to. caught: neither right nor not judged."""
    right = [row for row in rows if row["expected"] == "right"]
    wrong = [row for row in rows if row["expected"] == "wrong"]
    cheats = [row for row in rows if row["expected"] in ("cheating", "broken")]
    caught = [row for row in wrong if row["word"] not in ("right", "not judged")]
    kinds: dict[str, Counter[str]] = {}
    for row in wrong:
        counter = kinds.setdefault(row["kind"], Counter(wrong=0, caught=0, asked=0, named=0))
        counter.update(wrong=1, caught=row in caught, asked=bool(row["line"]), named=row["named"])
    return {
        "right": len(right), "right_refused": [row["name"] for row in right if row["word"] != "right"],
        "wrong": len(wrong), "wrong_caught": len(caught),
        "wrong_missed": [row["name"] for row in wrong if row not in caught],
        "wrong_called_otherwise": [[row["name"], row["word"]] for row in caught if row["word"] != "wrong"],
        "line_named": sum(row["named"] for row in wrong), "line_asked": sum(bool(row["line"]) for row in wrong),
        "line_missed": [row["name"] for row in caught if row["line"] and not row["named"]],
        "cheats": len(cheats), "cheats_caught": sum(row["word"] in ("cheating", "broken") for row in cheats),
        "cheats_missed": [row["name"] for row in cheats if row["word"] not in ("cheating", "broken")],
        "without_reason": [row["name"] for row in caught + cheats if not row["reasons"]],
        "kinds": {kind: dict(counter) for kind, counter in sorted(kinds.items())},
        "processor_seconds": round(sum(row["processor"] for row in rows), 1),
        "most_processor_seconds": max(row["processor"] for row in rows),
    }  # fmt: skip


def text(found: dict[str, Any]) -> str:
    lines = [f"right   {found['right'] - len(found['right_refused'])} of {found['right']} said to be right",
             f"wrong   {found['wrong_caught']} of {found['wrong']} caught",
             f"line    {found['line_named']} of {found['line_asked']} named",
             f"cheats  {found['cheats_caught']} of {found['cheats']} caught", "",
             f"{'mistake in':12}{'wrong':>7}{'caught':>8}{'line':>9}"]  # fmt: skip
    for kind, row in found["kinds"].items():
        lines.append(f"{kind:12}{row['wrong']:7}{row['caught']:8}{row['named']:6}/{row['asked']}")
    for key in ("right_refused", "wrong_missed", "line_missed", "cheats_missed", "without_reason"):
        lines += [f"{key}: {', '.join(found[key])}"] if found[key] else []
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--names", type=Path, help="a file with names, one a line")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    said = parser.parse_args()
    rows: list[dict[str, Any]] = []
    if said.resume and said.output and said.output.exists():
        rows = json.loads(said.output.read_text())["rows"]
    done = {row["name"] for row in rows}
    wanted = set(said.names.read_text().split()) if said.names else None
    chosen = [one for one in submissions() if said.only in one.name and one.name not in done]
    chosen = [one for one in chosen if wanted is None or one.name in wanted]
    with tempfile.TemporaryDirectory() as folder, Starter() as starter:
        for one in chosen:
            rows.append(judged(one, Path(folder), starter, said.seconds))
            print(len(rows), rows[-1]["name"], rows[-1]["word"], *rows[-1]["reasons"][:1], flush=True)
            if said.output:
                write(said.output, rows, said.seconds)
    print(text(table(rows)))


def judged(one: Submission, folder: Path, starter: Starter, seconds: float) -> dict[str, Any]:
    submission, reference = folder / "submission.py", folder / "reference.py"
    submission.write_text(one.text)
    reference.write_text(one.reference)
    return row_of(one, judge(str(submission), str(reference), Settings(seconds=seconds), starter))


def write(path: Path, rows: list[dict[str, Any]], seconds: float) -> None:
    machine = {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count()}
    said = {
        "budget": seconds,
        "date": time.strftime("%Y-%m-%d"),
        "machine": machine,
        "table": table(rows),
        "rows": rows,
    }
    path.write_text(json.dumps(said, indent=1) + "\n")


if __name__ == "__main__":
    main()
