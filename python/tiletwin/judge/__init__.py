"""The judge: says of a submission whether it is right, wrong, cheating or broken, with reasons, in a sandbox.

    verdict = tiletwin.judge("submission.py", reference="reference.py")
    print(verdict)

Read next: judging.py (the order of things), rounding.py (bounds), sandbox.py, docs/howto/judge.md.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tiletwin.judge.verdict import Verdict

__all__ = ["judge"]


def judge(
    submission: str, *, reference: str, budget: str = "usual", seconds: float | None = None, seed: int = 0,
    case: int = -1, cases: int | None = None, entry: str = "", targets: tuple[str, ...] = (),
) -> Verdict:  # fmt: skip
    """Judges a file of kernels against a reference's file.

    Args:
        submission: path of the file that is judged; it runs in a sandbox.
        reference: path of a file that is trusted; it runs in this process. docs/howto/judge.md says what it has.
        budget: "quick", "usual" or "thorough": about 1, 10 or 60 s of a core; seconds and cases say it exactly.
        seconds: how long cases are run, of a processor's time; the start of processes comes on top.
        seed: of all inputs.
        case: run this case only; -1: all.
        cases: at most so many; 0: as the time allows.
        targets: GPUs that have to take the kernels, such as "h100" and "a100"; "sim": the simulator runs their code.
        entry: what the submission defines; default: as the convention says.

    Returns:
        A Verdict: `word`, `reasons`, `cases`; `print` shows it, `as_json()` gives docs/verdict.schema.json.

    Raises:
        OSError: the submission's file cannot be read, or no process can be started.
        ValueError: there is no such budget.
    """
    from tiletwin.judge.judging import judge as run
    from tiletwin.judge.settings import settings_of

    given = {"seconds": seconds, "most": cases}
    options = {name: value for name, value in given.items() if value is not None}
    return run(
        submission, reference, settings_of(budget, seed=seed, case=case, entry=entry, targets=list(targets), **options)
    )


class _Module(ModuleType):
    """`tiletwin.judge` is the module and the function."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return judge(*args, **kwargs)


sys.modules[__name__].__class__ = _Module
