"""Every family of kernels in tests/kernels against torch's CPU operations, in the same run and with two threads.

Prints torch's time / our time, so more is better; the best times of alternating runs, so that what else the machine
does hits neither. Exits 1 if a kernel is more than 50 times slower than torch.
`--only NAME` runs the rows whose name holds NAME, `--json FILE` saves the rows.
"""

import json
import pathlib
import sys

import timing

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIMIT = 1 / 50

parser = timing.options(__doc__)
parser.add_argument("--ours", action="store_true", help="run ours only, for a profiler")

if __name__ == "__main__":
    arguments = parser.parse_args()
    timing.interpret(arguments.threads)
    sys.path[:0] = [str(ROOT / "tests" / "kernels"), str(ROOT / "benchmarks")]

    import torch
    from kernel_pairs import pairs
    from rich.console import Console
    from rich.table import Table

    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)


def measure(name, ours, theirs):
    """A row: the best of both times and their ratio."""
    if arguments.ours:
        for _ in range(arguments.repeats * 4):
            ours()
        return None
    a, b = timing.in_turns(ours, theirs, arguments.repeats, rest=0.01)
    ratio = min(b) / min(a)
    return dict(
        name=name,
        ours_ms=min(a) * 1e3,
        torch_ms=min(b) * 1e3,
        ratio=ratio,
        ok=ratio >= LIMIT,
    )


def main():
    Console().print(f"torch {torch.__version__}, {arguments.threads} threads")
    table = Table("kernel", "ours", "torch", "torch / ours")
    rows = []
    for name, make in pairs():
        if arguments.only not in name:
            continue
        try:
            row = measure(name, *make())
        except Exception as error:  # one kernel that fails does not hide the others
            row = dict(name=name, ratio=0.0, ok=False)
            table.add_row(name, f"[red]{type(error).__name__}[/red]", "", "")
            rows.append(row)
            continue
        if row is None:
            continue
        rows.append(row)
        colour = "red" if not row["ok"] else "yellow" if row["ratio"] < 0.2 else "green"
        table.add_row(
            name, f"{row['ours_ms']:.2f} ms", f"{row['torch_ms']:.2f} ms", f"[{colour}]{row['ratio']:.3f}[/{colour}]"
        )
    Console(width=100).print(table)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 0 if all(row["ok"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
