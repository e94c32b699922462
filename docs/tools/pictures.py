"""The pictures of docs/ and README.md, drawn from what the program really does: `pictures.py [FOLDER]`.

Forms come from `tiletwin ir --stage plan`, values from a recording, layouts from ttgir, and the order of warps from
launches on the simulator that stop after so many instructions. The order of strips is not observed: it follows from the
plan's group and kStripBytes.

Here:      running, reading, drawing.
Not here:  shapes and files (svg.py), times of a GPU (speed.py), pictures of pages (screenshots.py).
Invariant: without an argument everything goes to docs/pictures, which git ignores but for those of README.md.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import folders
import speed
from svg import FAINT, INK, WIDTH, Drawing, mixed, terminal

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PYTHON = sys.executable
FORMS = {
    "scalar": ("#e4e7eb", "one number"),
    "splat": ("#d9f2e6", "one number, for all elements"),
    "affine": ("#bfe8d4", "a sum of strides; no element is stored"),
    "box mask": ("#a3d9c0", "an interval per dimension; no element is stored"),
    "rows": ("#c9dbf7", "affine, and a table along one dimension"),
    "memory view": ("#9fc3f3", "the argument's own memory, not copied"),
    "strip": ("#ffe0a6", "a piece of 4 KB at a time, in the L1 cache"),
    "dense": ("#f7b7a3", "all elements, in the program's arena"),
}
WARPS = ("#4f9d8a", "#e0a63c", "#6a8fd8", "#c9705f")


def run(*command: str, **environment: str) -> str:
    """Standard output of a command of the package."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("TILETWIN", "TRITON"))}
    done = subprocess.run(
        [PYTHON, *command], cwd=ROOT, env={**clean, **environment}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"pictures: {' '.join(command)} failed:\n{done.stderr}")
    return done.stdout


def plan_of(kernel: str, signature: str, **constants: int) -> tuple[list[str], list[tuple[int, str, str, str]]]:
    """The plan's instructions, and (line, operation, name, form) of each value of the kernel's own lines."""
    given = [word for name, value in constants.items() for word in ("-c", f"{name}={value}")]
    text = run("-m", "tiletwin", "ir", kernel, "-s", signature, *given, "--stage", "plan")
    code, _, forms = text.partition("forms:\n")
    values = re.findall(r"^  (\d+):\d+  (\S+)(?: \((\w+)\))?  (.*)$", forms, re.MULTILINE)
    return code.splitlines(), [(int(line), op, name, form) for line, op, name, form in values]


def legend(picture: Drawing, x: float, y: float, names: list[str]) -> None:
    for name in names:
        colour, words = FORMS[name]
        picture.box(x, y - 11, 16, 14, colour, FAINT, 2)
        picture.text(x + 24, y, name, bold=True)
        picture.text(x + 24 + 96, y, words, colour=FAINT)
        y += 20


def softmax_plan(path: Path) -> None:
    """Every value of a softmax, by line, in the colour of its form; the plan's instructions below."""
    source = (ROOT / "demo" / "kernels.py").read_text().splitlines()
    first = next(i for i, line in enumerate(source) if line.startswith("def row_softmax"))
    last = next(i for i in range(first, len(source)) if not source[i].strip())
    code, values = plan_of("demo/kernels.py:row_softmax", "*fp32 *fp32 i32 i32", BLOCK=4096)
    used = [name for name in FORMS if any(form.startswith(name) for *_, form in values)]
    left = max(map(len, source[first:last])) * WIDTH * 0.92 + 32
    instructions = [line.strip() for line in code[code.index("code:") + 1 :]]
    rows = last - first
    height = 52 + rows * 26 + 24 + max(len(used) * 20, (len(instructions) + 1) * 16) + 20
    picture = Drawing(left + 300, height, "The forms of the values of a softmax")
    picture.text(16, 26, "A softmax of rows of 4,096 numbers, as its plan holds it", 15, bold=True)
    for row in range(rows):
        y = 58 + row * 26
        picture.text(16, y, source[first + row], 11, INK, mono=True)
        x = left
        for line, op, _, form in values:
            if line != first + row + 1 or op == "argument":
                continue
            kind = next(name for name in FORMS if form.startswith(name))
            picture.box(x, y - 13, 30, 18, FORMS[kind][0], FAINT, 3)
            if kind == "dense":
                picture.text(x + 15, y, "16 K" if "16384" in form else "", 9, anchor="middle")
            x += 34
    y = 58 + rows * 26 + 18
    legend(picture, 16, y + 4, used)
    picture.text(left - 60, y, f"all that one program runs: {len(instructions)} instructions", bold=True)
    for i, line in enumerate(instructions):
        picture.text(left - 60, y + 18 + i * 16, line, 11, INK, mono=True)
    picture.write(path)


def recorded(script: Path) -> dict[str, object]:
    """The last values of the variables of the first program that a script launches."""
    with tempfile.TemporaryDirectory() as folder:
        run(str(script), TILETWIN_RECORD=folder, TILETWIN_INTERPRET="1")
        import tiletwin.trace

        return dict(tiletwin.trace.open(folder).launches[0].program(0, 0, 0).steps[-1].values)


def forms(path: Path) -> None:
    """One tile of each form with its real elements, and what is kept of it."""
    import numpy as np

    script = HERE / "forms_kernel.py"
    _, values = plan_of(f"{script}:forms", "*fp32 *i32 *fp32 i32 fp32", R=8, C=16)
    source = script.read_text().splitlines()
    tiles = recorded(script)
    last = {name: (line, form) for line, _, name, form in values if name in tiles and np.ndim(tiles[name]) == 2}
    shown = {}
    for name, (line, form) in last.items():
        shown.setdefault(next(kind for kind in FORMS if form.startswith(kind)), (name, line, form))
    if "affine" in shown:  # the one with both strides says most
        shown["affine"] = ("offsets", *last["offsets"])
    wide, high, cell, down = 350, 178, 19, 13
    kinds = [kind for kind in FORMS if kind in shown]
    picture = Drawing(2 * wide + 16, (len(kinds) + 1) // 2 * high + 8, "Forms of values, with their elements")
    for i, kind in enumerate(kinds):
        x, y = 16 + i % 2 * wide, 12 + i // 2 * high
        name, line, form = shown[kind]
        tile = np.broadcast_to(np.asarray(tiles[name], np.float64), (8, 16))
        low, high_ = float(tile.min()), float(tile.max())
        picture.text(x, y + 14, kind, 13, bold=True)
        picture.text(x, y + 30, source[line - 1].strip(), 10.5, INK, mono=True)
        for r in range(8):
            for c in range(16):
                share = (tile[r, c] - low) / (high_ - low) if high_ > low else 0.4
                colour = mixed("#ffffff", "#3d8f7b", 0.08 + 0.92 * share)
                picture.box(x + c * cell, y + 38 + r * down, cell - 1, down - 1, colour)
        kept = form.partition(": ")[2] or FORMS[kind][1]
        picture.text(x, y + 38 + 8 * down + 15, f"kept: {kept}", 11.5, FAINT)
    picture.write(path)


def strips(path: Path) -> None:
    """The order in which a group's operations run over a tile, strip by strip, and what each way keeps in memory."""
    code, _ = plan_of("demo/kernels.py:row_softmax", "*fp32 *fp32 i32 i32", BLOCK=4096)
    group = next(re.findall(r"\[(.*)\]", line)[0].split(", ") for line in code if "Group [" in line)
    size = int(re.findall(r"kStripBytes = (\d+)", (ROOT / "interp/plan/FlushGroup.cpp").read_text())[0])
    count = 4096 * 4 // size
    picture = Drawing(660, 250, "Strips")
    picture.text(16, 26, f"{' and '.join(group)} over a row of 4,096 numbers (16 KB)", 15, bold=True)
    for side, (title, by_strip) in enumerate((("one operation after the other", False), ("strip by strip", True))):
        x0 = 16 + side * 330
        picture.text(x0, 58, title, 13, bold=True)
        for o, operation in enumerate(group):
            picture.text(x0, 92 + o * 44, operation, 11, INK, mono=True)
            for s in range(count):
                order = s * len(group) + o if by_strip else o * count + s
                colour = mixed("#fff3d6", "#e08a2c", order / (count * len(group) - 1))
                picture.box(x0 + 90 + s * 52, 72 + o * 44, 48, 32, colour, FAINT, 3)
                picture.text(x0 + 114 + s * 52, 93 + o * 44, str(order + 1), 13, INK, anchor="middle", bold=True)
        held = size if by_strip else 4096 * 4
        words = f"{held // 1024} KB go from one operation to the next"
        picture.text(x0, 186, words, 12)
        picture.box(x0, 196, held / (4096 * 4) * 300, 14, "#e08a2c" if not by_strip else "#f2c987", radius=2)
    picture.text(
        16,
        238,
        "The numbers are the order in time. A strip's results stay in the L1 cache until they are used.",
        12,
        FAINT,
    )
    picture.write(path)


def layouts_of(ttgir: str) -> dict[str, dict[str, list[list[int]]]]:
    """The layouts of a ttgir text: name -> register, lane, warp -> the place that each bit of the number leads to."""
    found = {}
    for name, body in re.findall(r"^(#layout\d*) = #twg\.linear<\{(.*)\}>$", ttgir, re.MULTILINE):
        parts = re.findall(r"(\w+) = (\[(?:\[[\d, ]*\](?:, )?)*\])", body)
        found[name] = {
            part: [[int(n) for n in re.findall(r"\d+", b)] for b in re.findall(r"\[[\d, ]+\]", text)]
            for part, text in parts
        }
    return found


def owners(layout: dict[str, list[list[int]]], rows: int, cols: int) -> list[list[tuple[int, int]]]:
    """By element the warp and the lane that hold it."""
    held = [[(-1, -1)] * cols for _ in range(rows)]
    sizes = {part: 1 << len(layout[part]) for part in ("register", "lane", "warp")}
    for warp in range(sizes["warp"]):
        for lane in range(sizes["lane"]):
            for register in range(sizes["register"]):
                place = [0, 0]
                for part, number in (("register", register), ("lane", lane), ("warp", warp)):
                    for bit, base in enumerate(layout[part]):
                        if number >> bit & 1:
                            place = [place[0] ^ base[0], place[1] ^ base[1]]
                held[place[0]][place[1]] = (warp, lane)
    return held


def warps_in_time(ptx: str, shared: int) -> tuple[int, list[tuple[int, int, int, bool]]]:
    """How many instructions a launch runs, and who ran when: (warp, first instruction, last one, was stopped by a
    barrier). A launch that is cut short says where each warp is; it is cut where a warp gives its turn away."""
    import numpy as np
    from tiletwin import sim
    from tiletwin.errors import DeadlockError

    kernel = sim.load(ptx)["transpose"]
    x, out = np.arange(512, dtype=np.float32).reshape(16, 32), np.empty((32, 16), np.float32)
    total = kernel(x, out, grid=1, block=128, shared=shared).instructions
    turns: list[tuple[int, int, bool]] = []
    before = {warp: "running" for warp in range(4)}
    for limit in range(1, total):
        now: dict[int, str] = {}
        try:
            kernel(x, out, grid=1, block=128, shared=shared, limit=limit)
        except DeadlockError as error:
            for place, warp, rest in re.findall(r":(\d+):\d+, warp (\d+), (.*)$", str(error), re.MULTILINE):
                now[int(warp)] = "running" if "running" in rest else place
        # Of those whose state changed, the others were only let go on by the barrier.
        for warp in range(4):
            state = now.get(warp, "ended")
            if state not in (before.get(warp, "ended"), "running"):
                turns.append((warp, limit if turns else 1, state != "ended"))
        before = now
    ends = [start - 1 for _, start, _ in turns[1:]] + [total]
    return total, [(warp, start, end, stopped) for (warp, start, stopped), end in zip(turns, ends)]


def transposed(path: Path) -> None:
    """A tile's way through the simulator: whose registers hold it, when each warp ran, who stores what."""
    kernel = "docs/tools/transpose_kernel.py:transpose"
    command = (
        "-m",
        "tiletwin",
        "ir",
        kernel,
        "-s",
        "*fp32:16 *fp32:16",
        "-c",
        "M=16",
        "-c",
        "N=32",
        "--target",
        "sm_90",
    )
    ttgir, ptx = run(*command, "--stage", "ttgir"), run(*command)
    layouts = layouts_of(ttgir)
    load = re.findall(r"= tt\.load .*(#layout\d*)>", ttgir)[0]
    store = re.findall(r"twg\.convert_layout .*(#layout\d*)>", ttgir)[0]
    width, high, gap = 12, 10, 90
    picture = Drawing(740, 590, "A tile's way through the simulator")
    words = {"load": "loaded: 4 numbers a lane", "store": "stored: 4 numbers a lane"}
    picture.text(16, 26, "A tile of 16 x 32 numbers is transposed by 4 warps", 15, bold=True)
    x0 = 16
    for key, layout, rows, cols in (("load", load, 16, 32), ("store", store, 32, 16)):
        held = owners(layouts[layout], rows, cols)
        picture.text(x0, 54, words[key], 12, bold=True)
        for r in range(rows):
            for c in range(cols):
                warp, lane = held[r][c]
                colour = mixed(WARPS[warp], "#ffffff", 0.75 * lane / 31)
                picture.box(x0 + c * width, 64 + r * high, width - 1, high - 1, colour)
        x0 += cols * width + gap
    total, turns = warps_in_time(ptx, 16 * 32 * 4 * 2)
    top = 446
    picture.text(16, top - 34, f"who runs: {total} instructions of warps, in the simulator's order", 12, bold=True)
    scale = (picture.width - 96) / total
    for warp in range(4):
        picture.text(16, top + warp * 26 + 4, f"warp {warp}", 11, WARPS[warp], bold=True)
        picture.line(72, top + warp * 26, 72 + total * scale, top + warp * 26, "#e4e7eb")
    for warp, first, last, stopped in turns:
        x, width = 72 + (first - 1) * scale, (last - first + 1) * scale
        picture.box(x, top + warp * 26 - 9, width, 18, WARPS[warp], radius=2)
        if stopped:
            picture.line(x + width, top + warp * 26 - 12, x + width, top + warp * 26 + 12, INK, 2)
    picture.text(
        16, top + 122, "A black bar is a barrier (bar.sync): the warp waits there until all four have come.", 12, FAINT
    )
    picture.write(path)


def found(path: Path) -> None:
    """A terminal with a kernel whose mistake a check names."""
    script = "demo/broken/softmax.py"
    environment = {"TILETWIN_INTERPRET": "1", "TILETWIN_CHECK": "all", "TERM": "dumb"}
    done = subprocess.run([PYTHON, script], cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True)
    report = done.stderr.split("\ntiletwin: ")[0].replace(f"{ROOT}/", "")
    lines = ["$ TILETWIN_INTERPRET=1 TILETWIN_CHECK=all python " + script]
    for line in report.splitlines():
        indent = len(line) - len(line.lstrip())
        lines += textwrap.wrap(line, 100, subsequent_indent=" " * (indent + 2), drop_whitespace=False) or [""]
    lines += done.stdout.splitlines()
    colours = {"$": "#8fd3b6", "tiletwin:": "#ffb86b", "what to do": "#8fd3b6", "^": "#ff7b72", "rows that": "#ff7b72"}
    terminal(lines, "A check names the mistake in a softmax", colours).write(path)


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "pictures"
    softmax_plan(folder / "softmax_plan.svg")
    forms(folder / "forms.svg")
    strips(folder / "strips.svg")
    transposed(folder / "transposed.svg")
    found(folder / "found.svg")
    folders.draw(folder / "folders.svg")
    speed.draw(folder)
