"""Compiled models on the interpreter: a forward and a backward beside the same model in eager mode, and the time that
compiling takes beside Inductor's C++ backend.

    python benchmarks/models.py [--only llama,bert] [--device cuda] [--json FILE]

The models are small ones of `transformers` (tests/inductor/transformers_cases.py). Each side runs in a process of its
own that has both eager and compiled code; caches are empty. Needs a Python that has transformers: TILETWIN_LIBRARIES,
or that of .venv-libraries.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile

import timing

CASES = timing.ROOT / "tests" / "inductor" / "transformers_cases.py"
GATE_RUN, GATE_COMPILE = 3.0, 1.3
"""Ratios that no geometric mean may pass: compiled to eager, and compiling to compiling for C++."""


def rows(names, device, options, interprets):
    """What a process measures: a dict by model."""
    python = os.environ.get("TILETWIN_LIBRARIES") or str(timing.ROOT / ".venv-libraries" / "bin" / "python")
    if not os.path.exists(python):
        sys.exit(
            f"models.py: {python} is missing; scripts/setup.sh --libraries makes it, TILETWIN_LIBRARIES names another"
        )
    startup = str(timing.ROOT / "tests" / "python" / "startup")  # gives the process tiletwin in the place of Triton
    with tempfile.TemporaryDirectory() as caches:
        env = timing.environment(
            **({"TILETWIN_INTERPRET": "1", "PYTHONPATH": startup} if interprets else {}),
            OMP_NUM_THREADS=str(options.threads),
            TORCHINDUCTOR_CACHE_DIR=caches,
            TEST_ROUNDS=str(options.repeats),
            TEST_PACKAGE_PARENT=str(timing.ROOT / "python"),
            HF_HUB_OFFLINE="1",
        )
        done = subprocess.run([python, str(CASES), device, *names], env=env, capture_output=True, text=True)
    found = [line for line in done.stdout.splitlines() if line.startswith('{"results"')]
    if not found:
        sys.exit(f"models.py: {' '.join(names)} failed:\n{done.stderr}")
    return json.loads(found[-1])["results"]


def geometric_mean(values):
    return statistics.geometric_mean(values) if values else float("nan")


def main():
    parser = timing.options(__doc__)
    parser.add_argument("--device", default="cpu", help="of tiletwin's side; the peer is on the CPU")
    args = parser.parse_args()
    names = args.only.split(",") if args.only else []
    ours = rows(names, args.device, args, True)
    theirs = rows(list(ours), "cpu", args, False)
    heads = ("model", "eager ms", "compiled", "ratio", "C++ ms", "compile s", "C++ s", "ratio")
    print("{:10} {:>9} {:>9} {:>6} {:>8} | {:>9} {:>7} {:>6}".format(*heads))
    runs, compiles = [], []
    for name, row in ours.items():
        peer = theirs[name]
        if problem := row.get("error") or peer.get("error"):
            print(f"{name:10} {problem[:100]}")
            continue
        eager = peer["eager_s"]
        runs.append(row["compiled_s"] / eager)
        compiles.append(row["compile_s"] / peer["compile_s"])
        times = eager * 1e3, row["compiled_s"] * 1e3, runs[-1], peer["compiled_s"] * 1e3
        print(
            "{:10} {:9.1f} {:9.1f} {:6.2f} {:8.1f} | {:9.1f} {:7.1f} {:6.2f}".format(
                name, *times, row["compile_s"], peer["compile_s"], compiles[-1]
            )
        )
    run, compiling = geometric_mean(runs), geometric_mean(compiles)
    print(f"geometric means: compiled to eager {run:.2f} (gate {GATE_RUN})", end=", ")
    print(f"compiling to compiling for C++ {compiling:.2f} (gate {GATE_COMPILE})")
    if args.json:
        args.json.write_text(json.dumps({"ours": ours, "theirs": theirs}, indent=1) + "\n")
    sys.exit(not (run <= GATE_RUN and compiling <= GATE_COMPILE))


if __name__ == "__main__":
    main()
