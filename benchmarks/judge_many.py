"""Many submissions at the quick budget: verdicts a second of a core by family, and what is left behind.

    python benchmarks/judge_many.py                        # 1,000 submissions on 2 cores
    python benchmarks/judge_many.py --count 100 --jobs 1 --output FILE

The submissions are those of the judge's corpus (tests/judge/problems), again and again with another comment at the end,
so that each is judged anew. Aims: 1 verdict a second of a core for elementwise kernels and reductions, 0.2 for products
and attention; no process and no file is left; the processes that judge do not grow after the first tenth.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/judge"))
from problems import Submission, submissions  # noqa: E402

MARK = "JUDGE_MANY_RUN"
"""A variable of the environment, by which processes are found again whoever has become their parent."""
AIMS = {"products": 0.2, "kernels_products": 0.2, "kernels_attention": 0.2}
"""Verdicts a second of a core, by family; of others 1."""


def written(folder: Path, count: int) -> dict[str, Submission]:
    """Files by name below `folder`, each problem in a folder with its reference."""
    chosen = [one for one in submissions() if one.verdict in ("right", "wrong", "cheating")]
    made = {}
    for number in range(count):
        one = chosen[number % len(chosen)]
        place = folder / one.problem
        place.mkdir(parents=True, exist_ok=True)
        (place / "reference.py").write_text(one.reference)
        file = place / f"{number}.py"
        file.write_text(f"{one.text}\n# {number}\n")
        made[str(file)] = one
    return made


def marked(mark: str) -> dict[int, int]:
    """Process ids with that mark, and the bytes that each has for itself."""
    found = {}
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and mark.encode() in (folder / "environ").read_bytes():
                rollup = (folder / "smaps_rollup").read_text().splitlines()
                found[int(folder.name)] = sum(int(line.split()[1]) for line in rollup if line.startswith("Private"))
        except OSError:
            continue
    return {pid: 1024 * kilobytes for pid, kilobytes in found.items()}


def run(folder: Path, jobs: int, places: Path) -> dict[str, Any]:
    """Judges all that is in `folder`; temporary files lie in `places`."""
    mark, results = f"{MARK}={uuid.uuid4().hex}", folder.parent / "verdicts.jsonl"
    environment = os.environ | dict([mark.split("=")]) | {"TMPDIR": str(places)}
    shared = set(os.listdir("/dev/shm"))
    command = [sys.executable, "-m", "tiletwin", "judge", "--many", str(folder), "--budget", "quick", "--jobs"]
    command += [str(jobs), "--results", str(results), "--quiet"]
    started, memory = time.monotonic(), []
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            time.sleep(1)
            done = results.read_bytes().count(b"\n") if results.exists() else 0
            memory.append((done, sum(marked(mark).values())))
        said = process.stdout.read().strip() if process.stdout else ""
    seconds = time.monotonic() - started
    time.sleep(1)
    return {
        "said": said, "seconds": round(seconds, 1), "memory": memory, "processes_left": len(marked(mark)),
        "files_left": [str(path) for path in places.rglob("*")],
        "shared_left": sorted(set(os.listdir("/dev/shm")) - shared),
        "rows": [json.loads(line) for line in results.read_text().splitlines()],
    }  # fmt: skip


def grown(memory: list[tuple[int, int]], count: int) -> list[float]:
    """MiB of all processes of the judge, the mean over the second tenth of the submissions and over the last one: of a
    single moment it would depend on what workers hold then."""
    means = []
    for first, last in ((0.1, 0.2), (0.9, 1.0)):
        sizes = [size for done, size in memory if first * count <= done < last * count]
        means.append(round(sum(sizes) / max(len(sizes), 1) / 2**20, 1))
    return means


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, places = Path(name, "submissions"), Path(name, "temporary")
        places.mkdir()
        known = written(folder, options.count)
        found = run(folder, options.jobs, places)
    families: dict[str, list[float]] = {}
    words: Counter[str] = Counter()
    for row in found.pop("rows"):
        one = known[row["submission"]]
        families.setdefault(one.family, []).append(row["verdict"]["processor"])
        words[f"{one.verdict}, said to be {row['verdict']['verdict']}"] += 1
    rates = {name: round(len(each) / sum(each), 2) for name, each in sorted(families.items())}
    found["grown"] = grown(found.pop("memory"), options.count)
    found |= {"count": options.count, "jobs": options.jobs, "date": time.strftime("%Y-%m-%d"), "words": dict(words)}
    found |= {"verdicts_a_second_of_a_core": rates}
    print(f"{found['said']}")
    for name, rate in rates.items():
        aim = AIMS.get(name, 1.0)
        print(f"{name:20}{len(families[name]):5} verdicts  {rate:6.2f} a second of a core, {rate / aim:.1f} of the aim")
    for word, number in sorted(words.items()):
        print(f"{word:40}{number:5}")
    print(f"left: {found['processes_left']} processes, {len(found['files_left'])} files, shared {found['shared_left']}")
    print(f"memory of all processes: {found['grown'][0]} MiB in the second tenth, {found['grown'][1]} in the last")
    if options.output:
        options.output.write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
