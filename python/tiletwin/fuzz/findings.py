"""Findings as files that run by themselves.

Here:      the text of such a file, what it does when it is run, names of files.
Not here:  finding and shrinking.
Invariant: a file holds the kernel's text itself, so it says the same when the generator has changed.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from typing import Any

from tiletwin.diff.comparing import compare_launch, launch_of
from tiletwin.fuzz.judges import make
from tiletwin.fuzz.judging import BROKEN, REFUSED, Done, Finding
from tiletwin.fuzz.running import import_triton_as_tiletwin
from tiletwin.fuzz.text import kernel_lines
from tiletwin.fuzz.tree import ADDRESSES, Buffer, Program, ops
from tiletwin.fuzz.twins import CODE_TWINS, TWINS

_PLAIN = (*ADDRESSES, "load", "store", "leaf", "arguments", "copy", "condition")


def key_of(finding: Finding, program: Program) -> str:
    """Findings with one key are one mistake, as far as a smallest program tells."""
    forms = sorted({f"{op.form} {op.element}" for op in ops(program) if op.form not in _PLAIN})
    plain = sorted({f"{op.form} {op.element}" for op in ops(program) if op.form in ("load", "store")})
    return " | ".join([finding.judge, finding.kind, *(forms or plain)[:4]])


def kernel_length(program: Program) -> int:
    """Lines of the kernel and its helpers, decorators included."""
    return sum(1 for line in kernel_lines(program) if line.strip())


def _array(buffer: Buffer) -> str:
    return f'array("{buffer.element}", {buffer.count}, "{buffer.content}", {buffer.seed})'


def _arguments(program: Program, name: str) -> list[str]:
    lines = [f"{name} = {{"]
    lines += [f'    "{b.name}": {_array(b)},' for b in program.buffers]
    lines += [f'    "{d.name}": descriptor({_array(d.buffer)}, {d.shape}, {d.block}, "{d.padding}"),'
              for d in program.descriptors]  # fmt: skip
    lines += [f'    "{b.name}": {_array(b)},' for b in program.extra]
    lines += [f'    "{key}": {value!r},' for key, value in {**program.scalars, **program.constants}.items()]
    return [*lines, "}"]


def _summary(finding: Finding) -> str:
    if finding.kind in (REFUSED, BROKEN):
        return f"{finding.judge}, {finding.kind}: {finding.where}"
    if finding.kind in ("died", "hangs"):
        return f"{finding.kind}: {finding.where}"
    return f"{finding.judge} and the interpreter differ, first in {finding.where}"


def file_text(finding: Finding, program: Program, judges: list[str]) -> str:
    """A Python file that shows a finding: exits with 1 while there is one. judges: as of a Panel."""
    lines = [
        f'"""{_clean(_summary(finding))}',
        "",
        f"Found by `tiletwin fuzz`, seed {program.seed}. Run by itself it shows what is wrong, and fails while it is.",
        '"""',
        "",
        "from tiletwin.fuzz.findings import check  # isort: skip  (from here on `import triton` gives tiletwin)",
        "from tiletwin.fuzz.inputs import array" + (", descriptor" if program.descriptors else ""),
        "",
        "import triton",
        "import triton.language as tl",
    ]
    body = kernel_lines(program)
    twin = None
    if finding.judge.startswith("twin: "):
        name = finding.judge.removeprefix("twin: ")
        twin = {**TWINS, **CODE_TWINS}[name](program)
    if twin is not None:
        without_helpers = kernel_lines(replace(twin, helpers=[]))
        body += [line.replace("def kernel(", "def twin(") for line in without_helpers]
    if any("libdevice." in line for line in body):
        lines.append("from triton.language.extra import libdevice")
    lines += [*body, "", "", *_arguments(program, "ARGUMENTS")]
    words = [f"kernel, {program.grid}, ARGUMENTS, {program.options}", f"judges={','.join(judges)!r}"]
    if twin is not None:
        lines += ["", *_arguments(twin, "TWIN_ARGUMENTS")]
        words.append(f"twin=(twin, {twin.grid}, TWIN_ARGUMENTS, {twin.options})")
    lines += ["", "", "def test_judges_agree():", f"    check({', '.join(words)})", "", ""]
    lines += ['if __name__ == "__main__":', "    test_judges_agree()"]
    return "\n".join(lines) + "\n"


def _clean(text: str) -> str:
    return " ".join(text.split()).replace("\\", "/").replace('"', "'")[:110]


def file_name(key: str) -> str:
    """Of the file of a finding with this key."""
    words = re.sub(r"[^a-z0-9]+", "_", key.lower()).strip("_")[:60]
    return f"finding_{words}_{hashlib.sha256(key.encode()).hexdigest()[:6]}.py"


# ---- what a file does ----


def check(kernel: Any, grid: Any, arguments: dict[str, Any], options: dict[str, int], *, judges: str,
          twin: tuple | None = None) -> None:  # fmt: skip
    """Runs a launch before judges (or its twin before the same one). Errors: DifferenceError, they differ."""
    names = [name for name in judges.split(",") if name != "twins"]
    backends = [make(name) for name in names]
    launch = launch_of(kernel, grid, arguments, **options)
    if twin is None:
        report = compare_launch(launch, backends)
    else:
        first = backends[0].run(launch)
        outcome = backends[-1].run(launch_of(twin[0], twin[1], twin[2], **twin[3]))
        outcome = replace(outcome, backend="twin", memory=outcome.memory[: len(launch.memory)])
        known = {backends[0].name: first, "twin": outcome}
        done = Done("twin", backends[-1].traits)
        report = compare_launch(launch, [backends[0], done], known=known, localise=False)
    print(report)
    report.raise_for_difference()


import_triton_as_tiletwin()
