"""Which checks a launch of the simulator runs.

Here:      the words, TILETWIN_CHECK among what chooses them.
Not here:  the checks (sim/check), how findings are shown (tiletwin/checks.py).
"""

from __future__ import annotations

from collections.abc import Iterable

from tiletwin import checks

CHECKS = ("bounds", "barriers", "async", "uninitialized", "races")
DEFAULT_CHECKS = ("bounds", "barriers", "async")
"""Those that cost little."""


def chosen_checks(given: str | Iterable[str] | None) -> tuple[str, ...]:
    """The checks of a launch, in the order of CHECKS. given: words, joined by commas or in a list; None: as
    TILETWIN_CHECK says, DEFAULT_CHECKS at least.

    Errors: ValueError, a word that is no check.
    """
    if given is None:
        wanted = {*DEFAULT_CHECKS, *checks.wanted().checks}
    else:
        listed = given.split(",") if isinstance(given, str) else given
        wanted = {word.strip().lower() for word in listed} - {"", "none"}
        if "all" in wanted:
            wanted = (wanted - {"all"}) | set(CHECKS)
        for word in sorted(wanted):
            if word not in CHECKS:
                raise ValueError(
                    f"no check of the simulator is called {word!r}; there are {', '.join(CHECKS)}, all and none"
                )
    return tuple(word for word in CHECKS if word in wanted)
