"""torch's databases of operators and modules compiled with torch.compile, each compared with the same one uncompiled.

    python op_db.py run --device cuda --jobs 16 --out triton.json
    TILETWIN=1 python op_db.py run --device cuda --jobs 16 --out tiletwin.json
    python op_db.py compare tiletwin.json triton.json
    TILETWIN_INTERPRET=1 python op_db.py run --device cpu --out interpreted.json
    python op_db.py run --device cpu --backend cpp --out cpp.json

Here:      the list of cases, one process or several that work on it, results as JSON, two results side by side.
Not here:  one case (op_db_case.py), what a run of the tests takes of this (test_op_db.py).
Invariant: each case of the list has a result, also if its process dies or does not end.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
DTYPES = "float32,float16,int64,bool"
STATUSES = ("same", "different", "error", "crash", "timeout", "nothing to compare")
"""What comes of a case. "nothing to compare": the operator has no samples, or fails uncompiled."""


class Worker:
    """Processes that work on a list of cases, one after the other: the next one goes on where one died."""

    def __init__(self, options: argparse.Namespace, cases: list[str], folder: Path, number: int) -> None:
        self.options, self.left, self.results = options, cases, {}
        self.is_over = False
        """Set when there is no time left."""
        self._file, self._log = folder / f"{number}.jsonl", folder / f"{number}.log"

    def run(self) -> None:
        while self.left and not self.is_over:
            self._file.write_text("")
            words = [sys.executable, str(HERE / "op_db_case.py"), str(self._file), json.dumps(vars(self.options))]
            with open(self._log, "w") as log:
                child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=log, stderr=log, text=True)
                assert child.stdin is not None
                try:
                    child.stdin.write("\n".join(self.left))
                    child.stdin.close()
                except BrokenPipeError:
                    pass  # its exit status says more
                self._watch(child)

    def _watch(self, child: subprocess.Popen) -> None:
        """Until the process ends, or says nothing for too long."""
        said, since = 0, time.monotonic()
        while child.poll() is None:
            time.sleep(0.2)
            size = self._file.stat().st_size
            limit = self.options.seconds if said else max(self.options.seconds, 300)  # it imports the database first
            if self.is_over:
                child.kill()
                child.wait()
                return self._take("")
            if size != said:
                said, since = size, time.monotonic()
            elif time.monotonic() - since > limit:
                child.kill()
                child.wait()
                return self._take(f"timeout: no result within {limit:g} seconds{self._place()}")
        self._take(f"crash: the process ended with status {child.returncode}: {self._last_words()}")

    def _place(self) -> str:
        """Where Python stood in a process that did not end, its main thread last."""
        text = self._log.read_text(errors="replace").rpartition("most recent call first")[2]
        places = re.findall(r'File "([^"]*)", line (\d+) in (\w+)', text)[:4]
        return (
            "; in " + ", ".join(f"{name} ({Path(file).name}:{line})" for file, line, name in places) if places else ""
        )

    def _last_words(self) -> str:
        lines = [line.strip() for line in self._log.read_text(errors="replace").splitlines() if line.strip()]
        return " | ".join(lines[-3:])[-400:]

    def _take(self, how_it_ended: str) -> None:
        """Takes what a process has written. how_it_ended: of the case that it was at; empty: that one is not judged."""
        rows = [json.loads(line) for line in self._file.read_text().splitlines() if line.endswith("}")]
        done = {row["case"]: row for row in rows if "status" in row}
        self.results |= done
        begun = [row["case"] for row in rows if "status" not in row and row["case"] not in done]
        left = [case for case in self.left if case not in done]
        if left and how_it_ended and (begun or not done):  # without a case that was begun the first one is to blame
            lost = begun[0] if begun else left[0]
            status, _, detail = how_it_ended.partition(": ")
            self.results[lost] = {"case": lost, "status": status, "detail": detail}
            left.remove(lost)
        self.left = left


def listed(options: argparse.Namespace) -> list[str]:
    """The cases of this part, "operator variant dtype" each."""
    words = [sys.executable, str(HERE / "op_db_case.py"), "", json.dumps(vars(options))]
    cases = subprocess.run(words, input="", capture_output=True, text=True)
    if cases.returncode:
        sys.exit(cases.stderr)
    every = [line.removeprefix("case: ") for line in cases.stdout.splitlines() if line.startswith("case: ")]
    number, _, parts = options.part.partition("/")
    chosen = every[int(number) - 1 :: int(parts)]
    return [case for case in chosen if re.search(options.only, case)]


def run(options: argparse.Namespace) -> None:
    started = time.time()
    cases = listed(options)
    with tempfile.TemporaryDirectory(prefix="op-db-") as name:
        folder = Path(name)
        environment_file = folder / "environment.json"
        options.environment = str(environment_file)
        workers = [Worker(options, cases[i :: options.jobs], folder, i) for i in range(options.jobs)]
        threads = [threading.Thread(target=worker.run, daemon=True) for worker in workers]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            time.sleep(1)
            if options.limit and time.time() - started > options.limit:
                for worker in workers:
                    worker.is_over = True
        results = {}
        for worker in workers:
            results |= worker.results
        environment = json.loads(environment_file.read_text()) if environment_file.exists() else {}
    missing = [case for case in cases if case not in results]
    kept = {case: {k: v for k, v in results[case].items() if k != "case"} for case in cases if case in results}
    facts = {**environment, "seconds": round(time.time() - started), "not reached": missing}
    given = {k: v for k, v in vars(options).items() if k not in ("function", "environment")}
    Path(options.out).write_text(json.dumps({"options": given, "environment": facts, "cases": kept}, indent=1) + "\n")
    print_counts({options.out: kept})
    if missing:
        print(f"not reached within {options.limit} seconds: {len(missing)} of {len(cases)} cases")


def print_counts(files: dict[str, dict[str, Any]]) -> None:
    width = max(map(len, files))
    print(" " * width, *(f"{status:>18}" for status in STATUSES), f"{'with kernels':>14}", f"{'all':>6}")
    for name, cases in files.items():
        counts = collections.Counter(row["status"] for row in cases.values())
        kernels = sum(bool(row.get("kernels")) for row in cases.values())
        print(
            f"{name:{width}}", *(f"{counts[status]:>18}" for status in STATUSES), f"{kernels:>14}", f"{len(cases):>6}"
        )


def reason(row: dict[str, Any]) -> str:
    """Why a case is not the same, without what differs from case to case."""
    text = row.get("detail", "")
    text = re.sub(r"\S*/\S+", "PATH", text)
    text = re.sub(r"0x[0-9a-f]+|\d+(\.\d+)?(e[-+]?\d+)?", "N", text)
    return f"{row['status']}: {text}"[:200]


def compare(options: argparse.Namespace) -> None:
    """Counts of two files, and the cases in which they differ, grouped by the reason."""
    loaded = {name: json.loads(Path(name).read_text()) for name in (options.first, options.second)}
    for name, content in loaded.items():
        print(f"{name}: {json.dumps({k: v for k, v in content['environment'].items() if k != 'not reached'})}")
    first, second = (content["cases"] for content in loaded.values())
    shared = [case for case in first if case in second]
    print_counts({name: {case: content["cases"][case] for case in shared} for name, content in loaded.items()})
    for name, one, other in ((options.first, first, second), (options.second, second, first)):
        groups = collections.defaultdict(list)
        for case in shared:
            if one[case]["status"] not in ("same", "nothing to compare") and other[case]["status"] == "same":
                groups[reason(one[case])].append(case)
        print(f"\nonly in {name}: {sum(map(len, groups.values()))} cases")
        for text, cases in sorted(groups.items(), key=lambda item: -len(item[1])):
            print(f"  {len(cases)}  {text}\n       {', '.join(cases[: options.show])}")
    both = sum(one["status"] not in ("same", "nothing to compare") and second[case]["status"] == one["status"]
               for case, one in first.items() if case in second)  # fmt: skip
    print(f"\nof one kind in both: {both} cases")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("run", help="compiles the operators and writes a file of results")
    one.add_argument("--device", default="cpu", help="cpu or cuda")
    one.add_argument(
        "--backend", default="", help="Inductor's backend for the CPU: cpp, triton; default: Inductor's own"
    )
    one.add_argument("--dtypes", default=DTYPES)
    one.add_argument("--samples", type=int, default=2, help="inputs of each operator, spread over those that it has")
    one.add_argument("--part", default="1/1", metavar="NUMBER/PARTS", help="only one part of the cases")
    one.add_argument("--only", default="", metavar="PATTERN", help="only cases in which this is found")
    one.add_argument("--jobs", type=int, default=1, help="processes at once")
    one.add_argument("--seconds", type=float, default=120, help="for one case")
    one.add_argument("--limit", type=float, default=0, help="seconds for all of it; what is not reached is listed")
    one.add_argument("--out", required=True)
    one.set_defaults(function=run)
    two = commands.add_parser("compare", help="what two files of results differ in")
    two.add_argument("first")
    two.add_argument("second")
    two.add_argument("--show", type=int, default=8, help="cases that are named of each group")
    two.set_defaults(function=compare)
    options = parser.parse_args()
    function = options.function
    del options.function
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")  # the processes are the parallel part
    function(options)


if __name__ == "__main__":
    main()
