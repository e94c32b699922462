"""The corpus of the judge on a GPU: does real Triton give the same verdict on values?

    python benchmarks/judge_gpu.py record --corpus CORPUS --output gpu.json   # with a GPU
    python benchmarks/judge_gpu.py compare --corpus CORPUS --gpu gpu.json

`record` compiles the right and wrong submissions with the installed Triton, runs them on inputs of the judge's own
cases (made anew from seed and number) and compares their results with the reference's under the judge's bounds. It
needs Triton, torch with CUDA and tiletwin. Each batch has a process of its own: what hangs or crashes costs its own
result. `compare` puts both verdicts beside each other, case by case.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import importlib.util
import json
import queue
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/judge"))
FIRST_CASES, WRONG_CASES = 4, 2
SECONDS_EACH = 90
"""Of one submission with all its cases, the compilation included."""


def chosen(corpus: Path) -> list[dict[str, Any]]:
    """Name and numbers of the cases of what was judged by values."""
    rows = json.loads(corpus.read_text())["rows"]
    found = []
    for row in rows:
        if row["expected"] in ("right", "wrong"):
            wrong = [number for number, outcome in row["cases"] if outcome == "wrong"][:WRONG_CASES]
            first = [number for number, _ in row["cases"]][:FIRST_CASES]
            found.append({"name": row["name"], "cases": sorted({*first, *wrong})})
    return found


# ---- one process: a batch ----


def batch(path: Path) -> None:
    """Prints a line of JSON for each submission of a batch, and one before it begins."""
    from problems import submissions

    known = {one.name: one for one in submissions()}
    for item in json.loads(path.read_text()):
        print(json.dumps({"begins": item["name"]}), flush=True)
        one = known[item["name"]]
        with tempfile.TemporaryDirectory() as folder:
            try:
                outcomes = on_gpu(one.text, one.reference, item["cases"], Path(folder))
                said: dict[str, Any] = {"cases": outcomes}
            except Exception as error:
                said = {"cases": [], "failed": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps({"name": one.name, **said}), flush=True)


def on_gpu(submission: str, reference: str, numbers: list[int], folder: Path) -> list[list[Any]]:
    """[number, outcome, detail] of each case."""
    import torch
    from tiletwin.judge import frames, oracle
    from tiletwin.judge.conventions import problem_of
    from tiletwin.judge.inputs import Inputs

    torch.set_num_threads(1)
    torch.utils.deterministic.fill_uninitialized_memory = True  # type: ignore[attr-defined]
    torch.use_deterministic_algorithms(True, warn_only=True)
    (folder / "reference.py").write_text(reference)
    file = folder / "submission.py"
    file.write_text(submission)
    problem = problem_of(str(folder / "reference.py"), submission)
    spec = importlib.util.spec_from_file_location(f"submission_{abs(hash(submission))}", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    entry = getattr(module, problem.entry)
    if problem.makes is not None:
        torch.manual_seed(0)
        entry = entry(*problem.makes)
        if set(entry.state_dict()) == set(problem.weights):
            entry.load_state_dict(problem.weights)
        entry = entry.cuda()
    inputs = Inputs(problem, submission)
    found: list[list[Any]] = []
    for case in inputs.cases():
        if case.number > max(numbers, default=-1):
            break
        if case.number not in numbers:
            continue
        try:
            args = inputs.arguments(case)
            answer = oracle.answer(inputs.problem_of(case), args, 0, case.seed)
        except (oracle.Refused, ValueError) as error:
            found.append([case.number, "refused", str(error)[:300]])
            continue
        packer = frames.Packer()
        tree, behind = packer.tree(args), packer.tree(answer.cotangents)
        placed = [data.cuda() for data in packer.storages]
        try:
            torch.manual_seed(0)
            got = called(entry, frames.unpacked(tree, placed), frames.unpacked(behind, placed), answer.wanted)
            torch.cuda.synchronize()
        except Exception as error:
            found.append([case.number, "failed", f"{type(error).__name__}: {error}"[:300]])
            if "CUDA" in str(error):
                break  # nothing runs in this process any more
            continue
        after = frames.unpacked(tree, [data.cpu() for data in placed])
        found.append([case.number, *judged(answer, got, args, after)])
    return found


def called(entry: Any, args: list[Any], cotangents: list[Any], wanted: list[int]) -> list[Any]:
    """The tensors of the results, and gradients."""
    import torch
    from tiletwin.judge.inputs import tensors_of

    if not wanted:
        return tensors_of(entry(*args))
    args = [value.requires_grad_() if i in wanted else value for i, value in enumerate(args)]
    results = tensors_of(entry(*args))
    roots = [value for value in results if value.requires_grad]
    weights = [c for c in cotangents if c is not None][: len(roots)]
    return [*results, *torch.autograd.grad(roots, [args[i] for i in wanted], weights, allow_unused=True)]


def judged(answer: Any, got: list[Any], args: list[Any], after: list[Any]) -> tuple[str, str]:
    """The verdict on values, and where it is wrong."""
    import torch
    from tiletwin.judge.comparing import compare
    from tiletwin.judge.inputs import tensors_of
    from tiletwin.judge.results import raw

    before, changed = tensors_of(args), tensors_of(after)
    got = [value if value is None else value.detach().cpu() for value in got] + [changed[i] for i in answer.written]
    if len(got) != len(answer.results) or any(value is None for value in got):
        return "wrong", f"{len(got)} tensors"
    for wanted, value in zip(answer.results, got):
        found = compare(wanted, value)
        if found.problem or found.wrong:
            what = f"{found.wrong} of {found.elements}, {list(found.first)}: {found.got!r} for {found.expected!r}"
            return "wrong", f"{wanted.name}: {found.problem or what}"
    written = [i for i, (a, b) in enumerate(zip(changed, before)) if not torch.equal(raw(a), raw(b))]
    if set(written) - set(answer.written):
        return "wrong", f"writes arguments {written}"
    return "right", ""


# ---- all batches ----


def record(corpus: Path, output: Path, workers: int, limit: float) -> None:
    import torch
    import triton

    items = chosen(corpus)
    waiting: queue.Queue[list[dict[str, Any]]] = queue.Queue()
    size = max(len(items) // (workers * 3), 1)
    for start in range(0, len(items), size):
        waiting.put(items[start : start + size])
    rows: list[dict[str, Any]] = []
    deadline = time.monotonic() + limit

    def work(_: int) -> None:
        while time.monotonic() < deadline:
            try:
                part = waiting.get_nowait()
            except queue.Empty:
                return
            while part and time.monotonic() < deadline:
                part = part[run_batch(part, rows, deadline) :]

    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        list(pool.map(work, range(workers)))
    said = {
        "device": torch.cuda.get_device_name(), "triton": triton.__version__, "torch": torch.__version__,
        "date": time.strftime("%Y-%m-%d"), "asked": len(items), "rows": sorted(rows, key=lambda row: row["name"]),
    }  # fmt: skip
    output.write_text(json.dumps(said, indent=0) + "\n")
    print(f"{len(rows)} of {len(items)} submissions on {said['device']}")


def run_batch(part: list[dict[str, Any]], rows: list[dict[str, Any]], deadline: float) -> int:
    """Runs a batch in a process; how many of it are done with. One that ends the process is done with, too."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "batch.json"
        path.write_text(json.dumps(part))
        process = subprocess.Popen(
            [sys.executable, __file__, "batch", str(path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        lines: queue.Queue[str] = queue.Queue()
        source = process.stdout
        assert source is not None
        reader = threading.Thread(target=lambda: [lines.put(line) for line in source] + [lines.put("")])
        reader.start()
        done, why = 0, ""
        while done < len(part) and not why:
            try:
                line = lines.get(timeout=max(min(SECONDS_EACH, deadline - time.monotonic()), 0.1))
            except queue.Empty:
                why = "time" if time.monotonic() < deadline else "not run"
                break
            if not line:
                why = "crash"
            elif line.startswith('{"name"'):
                row = json.loads(line)
                rows.append(row)
                done += 1
                if any("CUDA" in str(case[2]) for case in row["cases"]) or "CUDA" in row.get("failed", ""):
                    break  # its context is lost
        if why in ("time", "crash"):
            rows.append({"name": part[done]["name"], "cases": [], "failed": why})
            done += 1
        process.kill()
        process.wait()
        reader.join()
        return done if why != "not run" else len(part)


# ---- both verdicts ----


TIMING = ("races", "barriers")
"""Checks whose findings say that values depend on the time: programs run in turns on the CPU."""


def why_without(row: dict[str, Any], here: dict[int, str]) -> str:
    """Why a submission has values on one side only."""
    if row.get("failed") in ("time", "crash"):
        return f"on the GPU: {row['failed']}"
    details = " ".join(str(case[2]) for case in row["cases"]) + row.get("failed", "")
    if "CompilationError" in details:
        return "Triton does not compile it"
    if "failed" in here.values():
        return "the interpreter stops at an access outside of memory, or never ends"
    return details[:200] or "no common cases"


def compared(corpus: Path, gpu: Path) -> dict[str, Any]:
    """values: submissions with one verdict on values in all cases that both sides have values for. timing: of the
    others those that a check calls racy. whole: whether the judge's verdict is that of the GPU's values."""
    judged_here = {row["name"]: row for row in json.loads(corpus.read_text())["rows"]}
    said = json.loads(gpu.read_text())
    found: dict[str, Any] = {
        "device": said["device"], "triton": said["triton"], "torch": said["torch"], "submissions": 0, "agree": 0,
        "cases": 0, "cases_agree": 0, "differ": [], "timing": [], "without_values": {}, "whole": 0, "whole_agree": 0,
        "whole_differ": [],
    }  # fmt: skip
    for row in said["rows"]:
        if row["name"] not in judged_here:
            continue
        one = judged_here[row["name"]]
        here = dict(one["cases"])
        both = [(n, here.get(n), there, detail) for n, there, detail in row["cases"]]
        both = [pair for pair in both if pair[1] in ("right", "wrong") and pair[2] in ("right", "wrong")]
        there = {outcome for _, outcome, _ in row["cases"]} & {"right", "wrong"}
        if there:
            word = "wrong" if "wrong" in there else "right"
            found["whole"] += 1
            found["whole_agree"] += (one["word"] == "right") == (word == "right")
            if (one["word"] == "right") != (word == "right"):
                found["whole_differ"].append([row["name"], one["word"], word, one["reasons"][:1]])
        if not both:
            found["without_values"].setdefault(why_without(row, here), []).append(row["name"])
            continue
        found["submissions"] += 1
        found["cases"] += len(both)
        differing = [pair for pair in both if pair[1] != pair[2]]
        found["cases_agree"] += len(both) - len(differing)
        found["agree"] += not differing
        if differing:
            is_racy = any(reason.startswith(TIMING) for reason in one["reasons"])
            found["timing" if is_racy else "differ"].append([row["name"], *differing[0]])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("record", "compare", "batch"))
    parser.add_argument("path", nargs="?", type=Path)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--gpu", type=Path)
    parser.add_argument("--workers", type=int, default=12)
    parser.add_argument("--limit", type=float, default=270.0, help="seconds for all")
    said = parser.parse_args()
    if said.what == "batch":
        batch(said.path)
    elif said.what == "record":
        record(said.corpus, said.output, said.workers, said.limit)
    else:
        print(json.dumps(compared(said.corpus, said.gpu), indent=1))


if __name__ == "__main__":
    main()
