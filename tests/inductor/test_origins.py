"""What tools say about a generated kernel names the lines of the model that it comes from."""

from __future__ import annotations

import asyncio
import json

import pytest
from test_compiled import compiled
from textual.widgets import Static
from tiletwin import trace
from tiletwin.trace import html, text
from tiletwin.trace.app import TraceApp

MODEL = """
import sys
import torch


@torch.compile
def model(x, i):
    y = x + 1
    torch._dynamo.graph_break()
    z = y * 2000000000
    return z[i]


try:
    print(model(torch.ones(9, dtype=torch.int32, device="cuda"), torch.tensor([int(sys.argv[1])], device="cuda")))
except AssertionError as error:
    print(type(error).__name__, *error.__notes__, sep="\\n")
"""


@pytest.fixture(name="run")
def _run(tmp_path):
    script, caches, found = tmp_path / "model.py", tmp_path / "caches", tmp_path / "found.json"

    def run(model: str, index: int) -> tuple[list[str], list[dict]]:
        script.write_text(model)
        values = {"TORCHINDUCTOR_CACHE_DIR": str(caches), "TILETWIN_CHECK": "overflow", "TILETWIN_FINDINGS": str(found)}
        printed = compiled(script, index, **values).replace(str(script), "model.py")
        lines = [line.strip() for line in printed.splitlines() if "generated for" in line]
        return lines, json.loads(found.read_text())["results"]

    return run


def test_a_finding_names_the_lines_of_the_model(run) -> None:
    lines, (result,) = run(MODEL, 3)
    assert lines == ["generated for model.py:10: z = y * 2000000000", "generated for model.py:11: return z[i]"]
    places = [place for place in result["related"] if place["text"].startswith("the kernel")]
    assert [(place["line"], place["source"]) for place in places] == [(10, "z = y * 2000000000"), (11, "return z[i]")]


def test_lines_that_have_moved_are_not_taken_from_caches(run) -> None:
    first, _ = run(MODEL, 3)
    again, _ = run(MODEL, 3)
    moved, _ = run("\n" + MODEL, 3)
    assert again == first and moved == [
        "generated for model.py:11: z = y * 2000000000",
        "generated for model.py:12: return z[i]",
    ]


def test_an_error_names_the_lines_of_the_model(run) -> None:
    lines, _ = run(MODEL, 99)
    assert lines == ["generated for model.py:10: z = y * 2000000000", "generated for model.py:11: return z[i]"]


@pytest.mark.parametrize("place", ["model.py:5", "output_code.py:triton_poi_fused_add_0", "triton_poi_fused_add_0"])
def test_a_kernel_stops_for_a_line_of_the_model_and_by_its_name(tmp_path, place: str) -> None:
    script = tmp_path / "model.py"
    script.write_text(
        "import sys, torch\n"
        "sys.breakpointhook = lambda *args, **kwargs: print('stops')\n"
        "@torch.compile\n"
        "def model(x):\n"
        "    return x + 1\n"
        "print(model(torch.ones(2)).tolist())\n"
    )
    printed = compiled(script, TORCHINDUCTOR_CACHE_DIR=str(tmp_path), TILETWIN_BREAK=place)
    assert "stops\n" in printed and "[2.0, 2.0]" in printed and "no kernel" not in printed, printed


def test_a_kernel_of_the_script_comes_from_no_line(tmp_path) -> None:
    script = tmp_path / "model.py"
    script.write_text(
        "import torch, triton, triton.language as tl\n"
        "from tiletwin import origins\n"
        "@triton.jit\n"
        "def doubles(x, o, B: tl.constexpr):\n"
        "    i = tl.arange(0, B)\n"
        "    tl.store(o + i, tl.load(x + i) * 2)\n"
        "@torch.compile\n"
        "def model(x):\n"
        "    y = x + 1\n"
        "    o = torch.empty_like(y)\n"
        "    doubles[(1,)](y, o, B=4)\n"
        "    return o\n"
        "print(model(torch.ones(4)).tolist(), origins.of('doubles'), *origins.of('triton_poi_fused_add_0'))\n"
    )
    printed = compiled(script, TORCHINDUCTOR_CACHE_DIR=str(tmp_path)).replace(str(script), "model.py")
    assert "[4.0, 4.0, 4.0, 4.0] () generated for model.py:9: y = x + 1" in printed


def test_a_recording_names_the_lines_of_the_model(tmp_path) -> None:
    script, folder = tmp_path / "model.py", tmp_path / "recorded"
    script.write_text("import torch\n\nprint(torch.compile(lambda x: x + 1)(torch.ones(4)).tolist())\n")
    compiled(script, TORCHINDUCTOR_CACHE_DIR=str(tmp_path), TILETWIN_RECORD=str(folder))
    with trace.open(folder) as recorded:
        (launch,) = recorded.launches
        assert [(origin.file, origin.line) for origin in launch.origins] == [(str(script), 3)]
        assert f"generated for {script}:3: " in text.list_text(recorded)
        assert f"generated for {script}:3: " in text.step_text(launch.programs[0].steps[0])
        (shown,) = html.data_of(recorded, launch.programs)["launches"]
        assert shown["origins"] == [
            f"generated for {script}:3: print(torch.compile(lambda x: x + 1)(torch.ones(4)).tolist())"
        ]
        assert f"generated for {script}:3: " in asyncio.run(source_in_terminal(recorded))


async def source_in_terminal(recorded: trace.Trace) -> str:
    app = TraceApp(recorded)
    async with app.run_test(size=(300, 60)) as pilot:
        await pilot.pause()
        return str(app.screen.query_one("#source", Static).render())
