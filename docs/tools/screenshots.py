"""Pictures of pages that the program makes: a recording, a comparison, a notebook: `screenshots.py [FOLDER]`.

Everything is run anew, opened in Chromium without a window, and photographed.

Here:      making the pages, driving Chromium, small files.
Not here:  drawn pictures (pictures.py).
Invariant: without an argument everything goes to docs/pictures, which git ignores but for those of README.md.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from PIL import Image
from selenium import webdriver
from selenium.webdriver.common.by import By

ROOT = Path(__file__).resolve().parents[2]
PYTHON = sys.executable
CONVERT = ROOT / ".venv-docs" / "bin" / "jupyter-nbconvert"


def run(*command: str, fine: tuple[int, ...] = (0,), **environment: str) -> None:
    """Runs a command of the package in the root of the repository."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("TILETWIN", "TRITON"))}
    done = subprocess.run(command, cwd=ROOT, env={**clean, **environment}, capture_output=True, text=True)
    if done.returncode not in fine:
        raise SystemExit(f"screenshots: {' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")


def browser(folder: str, width: int, height: int) -> webdriver.Chrome:
    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage",
                 f"--window-size={width},{height}", f"--user-data-dir={folder}"):  # fmt: skip
        options.add_argument(word)
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))


def keep(driver: webdriver.Chrome, path: Path) -> None:
    """Writes what the window shows, with as many colours as such pages have."""
    picture = Image.open(io.BytesIO(driver.get_screenshot_as_png())).convert("RGB")
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.quantize(128, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(path, optimize=True)


def trace_page(path: Path, work: str) -> None:
    """The recording of program 3 of demo/broken/decode.py, where the mistake happens."""
    run(PYTHON, "demo/broken/decode.py", TILETWIN_INTERPRET="1", TILETWIN_RECORD=f"{work}/record", TILETWIN_PROGRAM="3")
    run(PYTHON, "-m", "tiletwin", "trace", f"{work}/record", "--html", f"{work}/trace.html")
    driver = browser(f"{work}/a", 1280, 860)
    driver.get(f"file://{work}/trace.html")
    for _ in range(24):
        driver.find_element(By.TAG_NAME, "body").send_keys("n")
    time.sleep(0.5)
    keep(driver, path)
    driver.quit()


def diff_page(path: Path, work: str) -> None:
    """The report on demo/diff_missing_barrier.py."""
    page = "build/diff.html"
    run(".venv/bin/tiletwin", "diff", "--backends", "interp,sim", "--save", "", "--html", page,
        "demo/diff_missing_barrier.py", fine=(0, 1))  # fmt: skip
    file = ROOT / page
    file.write_text(file.read_text().replace(f"{PYTHON} .venv/bin/", ""))  # the command without folders of this machine
    driver = browser(f"{work}/b", 1100, 1480)
    driver.get(f"file://{file}")
    keep(driver, path)
    driver.quit()


def notebook(path: Path, work: str) -> None:
    """The second notebook, run, where a kernel is looked into."""
    import nbclient
    import nbformat

    opened = nbformat.read(ROOT / "notebooks" / "02_debugging.ipynb", as_version=4)
    nbclient.NotebookClient(opened, timeout=300, allow_errors=True, resources={"metadata": {"path": ROOT}}).execute()
    nbformat.write(opened, f"{work}/shown.ipynb")
    run(str(CONVERT), "--to", "html", f"{work}/shown.ipynb", "--log-level", "ERROR")
    driver = browser(f"{work}/c", 1100, 860)
    driver.get(f"file://{work}/shown.html")
    time.sleep(1)
    keep(driver, path)
    driver.quit()


if __name__ == "__main__":
    for program in ("chromium", "chromedriver"):
        if not shutil.which(program):
            raise SystemExit(f"screenshots: there is no {program}; apt-get install chromium chromium-driver")
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "pictures"
    with tempfile.TemporaryDirectory() as work:
        trace_page(folder / "trace.png", work)
        diff_page(folder / "diff.png", work)
        notebook(folder / "notebook.png", work)
