"""A judge that goes wrong at one seed, for test_campaign.py. BAD_JUDGE says how and where: "dies at 3"."""

from __future__ import annotations

import os
import signal
import time

from tiletwin.diff.backends import InterpBackend, Outcome
from tiletwin.diff.launches import Launch
from tiletwin.fuzz import judges


class Bad(InterpBackend):
    name = "bad"
    can_tap = False

    def run(self, launch: Launch) -> Outcome:
        outcome = super().run(launch)
        outcome.backend = self.name
        how, _, seed = os.environ.get("BAD_JUDGE", "").rpartition(" at ")
        if launch.number != int(seed or -1):
            return outcome
        if how == "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        if how == "hangs":
            time.sleep(1000)
        if how == "raises":
            raise ZeroDivisionError("at this seed")
        outcome.memory[0][0] ^= 1
        return outcome


judges.MAKERS["bad"] = Bad
