"""Backends for tests: right ones that compute in another order or precision, and wrong ones with a planted mistake."""

import dataclasses
import os
import re

from tiletwin.diff.backends import InterpBackend, Traits


class Correct(InterpBackend):
    """Every operation correctly rounded, sums in f64: other bits, and right."""

    name = "ieee"
    traits = Traits(keeps_tf32=True)

    def run(self, launch):
        before = os.environ.get("TILETWIN_NUMERICS")
        os.environ["TILETWIN_NUMERICS"] = "ieee"
        try:
            return dataclasses.replace(super().run(launch), backend=self.name)
        finally:
            if before is None:
                del os.environ["TILETWIN_NUMERICS"]
            else:
                os.environ["TILETWIN_NUMERICS"] = before


class Rewritten(InterpBackend):
    """The interpreter on TTIR that a function has changed. It must find something to change."""

    name = "rewritten"
    traits = Traits()

    def __init__(self, change):
        self.change = change

    def run(self, launch):
        text = self.change(launch.ttir)
        assert text != launch.ttir, "nothing was changed"
        return dataclasses.replace(super().run(dataclasses.replace(launch, ttir=text)), backend=self.name)


def last_first(text):
    """Programs count from the other end: what atomics add up comes in another order."""
    return re.sub(
        r"(?m)^( *)(%\w+) = tt.get_program_id ([xyz]) : i32( loc.*)?$",
        r"\1\2_id = tt.get_program_id \3 : i32\n"
        r"\1\2_all = tt.get_num_programs \3 : i32\n"
        r"\1\2_one = arith.constant 1 : i32\n"
        r"\1\2_last = arith.subi \2_all, \2_one : i32\n"
        r"\1\2 = arith.subi \2_last, \2_id : i32\4",
        text,
    )
