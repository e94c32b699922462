"""The page of `tiletwin diff --html`."""

from __future__ import annotations

import dataclasses
import re
import shlex
import sys
from html import unescape

import numpy as np
import tiletwin as triton
import tiletwin.language as tl
from tiletwin import diff
from tiletwin.diff import html
from tiletwin.diff.backends import InterpBackend
from tiletwin.pages import palette


@triton.jit
def doubled(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.load(x + i) * 2)


class Triples(InterpBackend):
    name = "triples"

    def run(self, launch: diff.Launch) -> diff.Outcome:
        outcome = super().run(launch)
        outcome.memory[1].view(np.float32)[:] *= 1.5
        return dataclasses.replace(outcome, backend=self.name)


def report_on(other: object) -> diff.Report:
    x = np.arange(64, dtype=np.float32)
    return diff.compare(doubled, (1,), [x, np.zeros_like(x), 64], backends=["interp", other])


def test_the_table_and_the_sections_lead_to_each_other() -> None:
    page = html.page([report_on("interp"), report_on(Triples()), report_on("interp")])
    for number in range(3):
        assert f'href="#launch-{number}"' in page and f'<section id="launch-{number}">' in page
    assert page.count('href="#launches"') == 3 and page.count('id="launches"') == 1
    # Launches that are the same have their detail, too.
    assert page.count("<details>") == 2 and page.count("o (interp, interp): same: 64 elements, 64 equal") == 2
    assert page.index("different</span></td>") < page.index("same</span></td>")


def test_it_says_what_made_it() -> None:
    page = html.page([])
    assert re.search(r"<p>\d{4}-\d\d-\d\dT[\d:]+Z, tiletwin [\d.]+, python [\d.]+", page)
    assert f"<pre>{shlex.join(sys.orig_argv)}</pre>" in unescape(page)


def test_both_sides_have_one_scale() -> None:
    page = html.page([report_on(Triples())])
    scales = re.findall(r'class="tw-scale">(\S+) <span[^>]*></span> ([^<\s]+)', page)
    assert len(scales) == 3 and scales[0] == scales[1] == ("0", "189"), scales


def test_verdicts_keep_their_colours_in_notebooks() -> None:
    shown = report_on(Triples())._repr_html_()
    assert f'<span style="color:{palette.VERDICTS[diff.DIFFERENT]}">different</span>' in shown
