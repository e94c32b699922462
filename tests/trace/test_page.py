"""The HTML page in Chromium: stepping, tiles, masks, access maps; it asks for nothing from outside."""

import json
import re
import shutil
import time

import numpy as np
import pytest
import tiletwin.trace
from run_recorded import SCRIPT
from tiletwin.pages import palette
from tiletwin.trace import html
from tiletwin.trace.format import ERROR

selenium = pytest.importorskip("selenium")
from selenium import webdriver  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
needs_chromium = pytest.mark.skipif(not CHROMIUM or not DRIVER, reason="chromium and chromium-driver are not installed")
SOURCE = SCRIPT.read_text().splitlines()


def line_of(text):
    return next(n for n, line in enumerate(SOURCE, 1) if text in line)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    profile = tmp_path_factory.mktemp("profile")
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1500,1000",
                 "--disable-dev-shm-usage", f"--user-data-dir={profile}"):  # fmt: skip
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


class Page:
    """An open page; `press` waits until it is drawn."""

    def __init__(self, driver, path):
        self.driver = driver
        driver.get(f"file://{path}")
        self.drawn()

    def drawn(self):
        end = time.monotonic() + 20
        while time.monotonic() < end:
            if self.driver.execute_script(
                "return document.body.dataset.drawn ==="
                " `${state.program}:${state.step}:${state.variable}:${state.scope}`"
            ):
                return
            time.sleep(0.02)
        raise AssertionError("the page was not drawn: " + str(self.driver.get_log("browser")))

    def press(self, keys):
        for key in keys:
            self.driver.find_element(By.TAG_NAME, "body").send_keys(key)
        self.drawn()

    def text(self, name):
        return self.driver.find_element(By.ID, name).text

    def step(self):
        return self.driver.execute_script("return state.step")

    def here(self):
        return int(self.driver.find_element(By.CSS_SELECTOR, "#source tr.here td.number").text)

    def pixels(self, selector):
        """The colours of a canvas: rows x columns x 4."""
        data, width, height = self.driver.execute_script(
            "const c = document.querySelector(arguments[0]);"
            "return [Array.from(c.getContext('2d').getImageData(0, 0, c.width, c.height).data), c.width, c.height]",
            selector,
        )
        return np.array(data, np.uint8).reshape(height, width, 4)

    def quiet(self):
        assert [e for e in self.driver.get_log("browser") if e["level"] == "SEVERE"] == []


@pytest.fixture
def page(added, browser, tmp_path):
    path = tmp_path / "page.html"
    with tiletwin.trace.open(added) as trace:
        text = html.export(trace, trace.launches[0].programs, str(path))
    assert text.startswith(f"{path}: 3 programs, ")
    shown = Page(browser, path)
    yield shown
    shown.quiet()


@needs_chromium
def test_stepping_with_keys(page):
    assert "step 0 of" in page.text("where") and page.here() == line_of("def add(")
    page.press("nn")
    assert page.here() == line_of("offs = pid * BLOCK") and "offs: int32[128]" in page.text("tile-head")
    page.press("b")
    assert page.here() == line_of("pid = tl.program_id(0)")
    page.press("G")
    assert f"step {page.step()} of {page.step() + 1}" in page.text("where")
    page.press("g]")
    assert page.step() == 0
    page.press("nnnnnn]")
    assert "iteration 1 of line" in page.text("where")
    page.press("s" * 4)
    assert "in scale" in page.text("where") and "called from recorded_kernels.py" in page.text("callers")
    page.press("S")
    assert "in add" in page.text("where")


@needs_chromium
def test_clicking_on_a_line_and_on_a_variable(page):
    line = line_of("y = tl.load")
    for row in page.driver.find_elements(By.CSS_SELECTOR, "#source tr"):
        if row.text.startswith(str(line)):
            row.click()
            break
    page.drawn()
    assert page.here() == line
    page.driver.find_element(By.CSS_SELECTOR, "#variables tr[data-name=acc]").click()
    page.drawn()
    assert page.text("tile-head").startswith("acc: fp32[128]")
    page.press("w")
    assert page.here() == line_of("acc = scale(acc")


@needs_chromium
def test_tiles_are_heat_maps_with_masks(page):
    page.driver.execute_script("state.program = 2; return go(0)")
    page.press("nnnnnn")
    assert page.here() == line_of("x = tl.load(x_ptr + offs")
    assert "mask: 104 of 128" in page.text("tile-head") and "masked off" in page.text("legend")
    pixels = page.pixels("#tile").reshape(-1, 4)
    assert len(pixels) == 128
    assert (pixels[104:] == [*palette.MASKED, 255]).all()
    assert (pixels[103] == [*palette.RISING[-1], 255]).all()  # the largest
    assert not (pixels[:104, :3] == 128).all(1).any()
    page.press("m")
    assert (page.pixels("#tile").reshape(-1, 4)[104:] == [*palette.RISING[0], 255]).all()  # zeros: the smallest
    assert "999" in page.driver.find_element(By.ID, "numbers").get_attribute("textContent")


@needs_chromium
def test_access_maps_by_program(page):
    page.press("G1")
    assert "access map: this line" in page.text("maps")
    page.press("3")
    assert "program (7,0,0)" in page.text("maps")
    pixels = page.pixels("canvas[data-buffer=out_ptr]").reshape(-1, 4)[:1000]
    touched = (pixels[:, 3] == 255).nonzero()[0]
    assert touched.tolist() == [*range(128), *range(512, 640), *range(896, 1000)]
    assert len({tuple(p) for p in pixels[touched]}) == 3
    page.press("2")
    pixels = page.pixels("canvas[data-buffer=x_ptr]").reshape(-1, 4)[:1000]
    assert (pixels[:, 3] == 255).nonzero()[0].tolist() == list(range(128))


@needs_chromium
def test_before_the_first_access_all_programs_are_shown(page):
    assert page.step() == 0 and "all programs (3); this one has touched nothing yet" in page.text("maps")
    assert (page.pixels("canvas[data-buffer=x_ptr]")[..., 3] == 255).any()
    below = "return arguments[0].getBoundingClientRect().bottom <= window.innerHeight"
    assert page.driver.execute_script(below, page.driver.find_element(By.CSS_SELECTOR, "canvas[data-buffer=x_ptr]"))


LABELS = "return [...document.querySelectorAll('#tile-frame .%s span')].map((label) => label.textContent)"


@needs_chromium
def test_a_tile_of_64_rows_is_seen_whole_with_its_axes(rows, browser, tmp_path):
    tile = np.linspace(-1, 3, 64 * 64, dtype=np.float32).reshape(64, 64)
    tile[0, 1] = 0
    rows.step(1, 1, tile=rows.tensor("fp32", tile))
    rows.step(1, 2, deep=rows.tensor("fp32", np.abs(tile).reshape(4, 2, 512)))
    rows.step(1, 3, flat=rows.tensor("int32", np.arange(256, dtype=np.int32)))
    with tiletwin.trace.open(rows.close().parent) as trace:
        html.export(trace, trace.launches[0].programs, str(tmp_path / "page.html"))
    page = Page(browser, tmp_path / "page.html")
    frame = "const f = document.getElementById('tile-frame'); return [f.scrollHeight - f.clientHeight, f.clientHeight]"
    hidden, height = browser.execute_script(frame)
    assert hidden <= 0 and height > 300
    across, down = (browser.execute_script(LABELS % name) for name in ("columns", "rows"))
    assert across[:2] == ["0", "8"] and down[0] == "0" and int(down[-1]) > 50
    pixels = page.pixels("#tile")
    assert pixels[0, 1].tolist() == [247, 247, 247, 255]  # zero, between numbers of both signs
    assert page.text("legend").split() == ["-3", "3"]
    page.press("n")
    assert set(browser.execute_script(LABELS % "rows")) <= {f"{i}, {j}" for i in range(4) for j in range(2)}
    assert page.text("legend").split()[0] == "0"  # no number is negative
    page.press("n")
    assert browser.execute_script(LABELS % "rows") == ["0", "128"]
    page.quiet()


@needs_chromium
def test_a_program_that_failed_is_opened_where_it_did(rows, browser, tmp_path):
    rows.step(1, 1, x=rows.tensor("int32", np.arange(8, dtype=np.int32)))
    rows.step(ERROR, 2)
    with tiletwin.trace.open(rows.close().parent) as trace:
        html.export(trace, trace.launches[0].programs, str(tmp_path / "page.html"))
    page = Page(browser, tmp_path / "page.html")
    assert page.step() == 1
    page.quiet()


@needs_chromium
def test_nothing_comes_from_outside(page):
    """The page itself is all that the page asks for; Chromium's own pages ask for more."""
    page.driver.get_log("performance")
    page.driver.refresh()
    page.drawn()
    page.press("nn3?")
    asked = []
    for entry in page.driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent" and message["params"]["documentURL"].startswith("file:"):
            asked.append(message["params"]["request"]["url"])
    assert page.driver.current_url in asked
    assert {address.split(":")[0] for address in asked} <= {"file", "data"}, asked
    assert len([address for address in asked if address.startswith("file:")]) == 1, asked


def test_the_file_names_no_other_resource(added, tmp_path):
    with tiletwin.trace.open(added) as trace:
        html.export(trace, trace.launches[0].programs[:1], str(tmp_path / "page.html"))
    text = (tmp_path / "page.html").read_text()
    assert not re.search(r"(?:src|href)=[\"'](?!data:)", text)
    assert not re.search(r"https?://", text) and "@import" not in text and "url(" not in text


@needs_chromium
def test_source_that_looks_like_html(rows, browser, tmp_path):
    rows.step(1, 1, x=rows.writer.value("text", "str", (), b"</script><script>document.title = 'broken'</script>"))
    rows.step(1, 2, big=rows.tensor("int64", np.array([[2**62, -(2**62)], [0, 1]])))
    rows.step(1, 3, odd=rows.tensor("fp32", np.array([np.nan, np.inf, -np.inf, 5e-324] * 5, np.float32)))
    with tiletwin.trace.open(rows.close().parent) as trace:
        html.export(trace, trace.launches[0].programs, str(tmp_path / "page.html"))
    page = Page(browser, tmp_path / "page.html")
    assert browser.title == "kernel - tiletwin trace"
    assert "</script>" in page.text("variables")
    page.press("n")
    assert str(2**62) in page.driver.find_element(By.ID, "numbers").get_attribute("textContent")
    page.press("n")
    pixels = page.pixels("#tile").reshape(-1, 4)
    assert (pixels[0, :3] == list(palette.NAN)).all() and (pixels[1, :3] == list(palette.INFINITE)).all()
    assert "NaN" in page.text("legend") and "infinite" in page.text("legend")
    page.quiet()
