"""The page of `tiletwin diff --html`."""

from __future__ import annotations

import dataclasses
import re
import shlex
import shutil
import sys
from html import unescape
from pathlib import Path

import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
from tiletwin import diff, origins
from tiletwin.diff import html
from tiletwin.diff.backends import InterpBackend
from tiletwin.findings import results
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


def test_a_generated_kernel_that_differs_names_the_lines_that_it_comes_from(monkeypatch) -> None:
    monkeypatch.setitem(origins._found, "doubled", lambda: (origins.Origin("model.py", 7, "y = 2 * x"),))
    report = report_on(Triples())
    (result,) = results.of_report(report)
    assert "generated for model.py:7: y = 2 * x" in str(report) and result.related[-1].source == "y = 2 * x"
    assert "generated for model.py:7: y = 2 * x" in html.page([report])
    same = report_on("interp")
    assert "generated for" not in str(same) and "generated for" not in html.page([same])


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


@pytest.mark.skipif(not shutil.which("chromedriver"), reason="chromium-driver is not installed")
def test_a_phone_shows_it_in_its_width(tmp_path: Path) -> None:
    webdriver = pytest.importorskip("selenium.webdriver")
    (tmp_path / "page.html").write_text(html.page([report_on(Triples())]))
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                 f"--user-data-dir={tmp_path}/profile"):  # fmt: skip
        options.add_argument(word)
    with webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver"))) as driver:
        phone = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
        driver.get(f"file://{tmp_path}/page.html")
        picture = "document.querySelector('.side svg').getBoundingClientRect().width"
        widths = driver.execute_script(f"return [innerWidth, document.documentElement.scrollWidth, {picture}]")
    assert widths[:2] == [390, 390] and widths[2] > 390
