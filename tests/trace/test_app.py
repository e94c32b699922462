"""The viewer in the terminal: its keys by textual's pilot, and the real command on a terminal."""

import asyncio
import os
import sys

import children
import numpy as np
import pexpect
import pytest
import tiletwin.trace
from run_recorded import SCRIPT

pytest.importorskip("textual")
from textual.widgets import DataTable, OptionList, Static
from tiletwin.pages import palette
from tiletwin.trace.app import TraceApp
from tiletwin.trace.maps import Layout
from tiletwin.trace.screens import Help, MapScreen

SOURCE = SCRIPT.read_text().splitlines()


def line_of(text):
    return next(n for n, line in enumerate(SOURCE, 1) if text in line)


def drive(folder, check, size=(140, 44), **selection):
    """Runs the viewer and `check(app, press)` in it."""

    async def run():
        app = TraceApp(tiletwin.trace.open(folder), **selection)
        async with app.run_test(size=size) as pilot:

            async def press(*keys):
                for key in keys:
                    await pilot.press(key)
                await pilot.pause()

            await press()
            await check(app, press)

    asyncio.run(run())


def text(app, name):
    return str(app.screen.query_one(name, Static).render())


def test_stepping_forward_and_back(added):
    async def check(app, press):
        assert app.step.kind == "call"
        await press("n", "n")
        assert app.step.line == line_of("offs = pid * BLOCK") and app.selected == "offs"
        assert "kernels.py" in text(app, "#where") and "program (0, 0, 0)" in text(app, "#where")
        assert ">" in text(app, "#source")
        await press("b", "b", "b")
        assert app.number == 0 and "begins here" in text(app, "#message")
        await press("G")
        assert app.number == len(app.program.steps) - 1
        await press("n")
        assert "ends here" in text(app, "#message")
        await press("g")
        assert app.number == 0

    drive(added, check)


def test_over_and_into_calls(added):
    async def check(app, press):
        number = next(s.number for s in app.program.steps if s.kind == "true")
        app.go(number)
        await press("n")
        assert app.step.line == line_of("acc = scale(acc")
        await press("b", "s")
        assert app.step.function.name == "scale" and app.step.depth == 1
        assert "called from" in text(app, "#source") and "acc = scale" in text(app, "#source")
        await press("u")
        assert app.step.line == line_of("acc = scale(acc")
        await press("S")
        assert app.step.kind == "return" and "(return)" in app.step.changes

    drive(added, check)


def test_iterations_lines_and_writers(added):
    async def check(app, press):
        load = line_of("x = tl.load(x_ptr + offs")
        await press("l", *str(load), "enter")
        assert app.step.line == load and app.step.loops[-1][1] == 0
        await press("full_stop")
        assert app.step.line == load and app.step.loops[-1][1] == 1
        await press("comma", "comma")
        assert "did not run before" in text(app, "#message")
        await press("right_square_bracket", "right_square_bracket")
        assert app.step.kind == "iteration" and app.step.loops[-1][1] == 2
        await press("left_square_bracket")
        assert app.step.loops[-1][1] == 1
        app.selected, app.pinned = "acc", True
        await press("w")
        assert app.step.loops[-1][1] == 0 and app.step.line == line_of("acc += x * i")
        await press("w")
        assert app.step.line == line_of("acc = tl.zeros")
        await press("l", *"7777", "enter")
        assert "did not run" in text(app, "#message")
        await press("number_sign", *"5", "enter")
        assert app.number == 5

    drive(added, check)


def test_variables_show_what_changed(added):
    async def check(app, press):
        await press("n", "n", "n")
        table = app.query_one("#variables", DataTable)
        cells = [str(cell) for cell in table.get_row_at(0)]
        assert cells[:3] == ["*", "mask", "int1[128]"] and "128 of 128 set" in cells[3]
        assert str(table.get_row_at(1)[0]) == " "
        assert "mask: int1[128]" in str(app.tile.render())
        await press("down")
        assert app.pinned and app.selected == str(table.get_row_at(1)[1])
        await press("f")
        assert app.selected == "mask"

    drive(added, check)


def test_variables_stand_newest_first(added):
    """Arguments, which no step changes, stand last: a loop's variables are in sight."""

    async def check(app, press):
        await press("l", *str(line_of("x = tl.load(x_ptr + offs")), "enter", "n", "n")
        arguments = list(app.program.steps[0].changes)
        assert app._names[-len(arguments) :] == arguments
        writers = [app.program.writer_of(name, app.step).number for name in app._names]
        assert writers == sorted(writers, reverse=True) and len(set(writers)) > 5

    drive(added, check)


def test_zero_is_white_between_numbers_of_both_signs():
    scale = palette.Scale(np.array([-1.0, 0.0, 4.0, np.nan]))
    assert list(map(scale.place, (-1, 0, 4))) == [0.375, 0.5, 1.0] and scale.colour(0.0) == (247, 247, 247)
    assert scale.colour(np.nan) == palette.NAN and scale.colour(-np.inf) == palette.INFINITE
    scale = palette.Scale(np.array([1.0, 3.0]))
    assert list(map(scale.place, (1, 3))) == [0, 1] and scale.colour(3.0) == palette.RISING[-1]


def test_rows_of_maps_are_indices():
    matrix = Layout(8, 4, 0, "", (2, 4))
    assert [matrix.row_name(row) for row in (0, 3, 4, 7)] == ["0, 0", "0, 3", "1, 0", "1, 3"]
    assert [Layout(8, 4, 0, "", (8,)).row_name(7), Layout(8, 4, -4, "").row_name(2)] == ["7", "4"]


def test_the_tile_is_paged_and_masked(added):
    async def check(app, press):
        app.program = app.launch.program(7)
        app.go(app.program.at_line(line_of("x = tl.load(x_ptr + offs"))[0])
        await press()
        shown = app.tile.render()
        assert "mask: 104 of 128" in shown.plain and "896" in shown.plain
        struck = sum(span.style.strike is True for span in shown.spans if not isinstance(span.style, str))
        assert struck == 24
        await press("m")
        assert "mask" not in app.tile.render().plain.split("\n")[0]
        await press("t")
        assert not app.query_one("#source-box").display and app.tile.has_focus
        await press("t")
        assert app.query_one("#source-box").display

    drive(added, check)


def test_a_large_tile(rows):
    rows.step(1, 1, big=rows.tensor("fp32", np.arange(512 * 512, dtype=np.float32).reshape(512, 512)))
    rows.step(1, 2, cube=rows.tensor("int32", np.arange(3 * 8 * 8, dtype=np.int32).reshape(3, 8, 8)))
    rows.step(1, 3, odd=rows.tensor("fp32", np.array([np.nan, np.inf, -np.inf, 1e-45] * 4, np.float32)))

    async def check(app, press):
        app.tile.focus()
        await press("pagedown", "right", "right")
        assert app.tile.top > 10 and app.tile.left == 2
        first = app.tile.render().plain.split("\n")[2].split()
        assert abs(float(first[1]) / (int(first[0]) * 512 + 2) - 1) < 1e-3
        await press("end")
        assert app.tile.render().plain.split("\n")[-1].startswith("511 ") and app.tile.left > 490
        await press("home")
        assert app.tile.top == app.tile.left == 0
        app.go(1)
        app.tile.focus()
        await press("greater_than_sign")
        assert "[1, :, :]" in app.tile.render().plain and " 64 " in app.tile.render().plain
        app.go(2)
        await press()
        plain = app.tile.render().plain
        assert "nan" in plain and "-inf" in plain and "1.401e-45" in plain and "4 NaN, 8 inf" in plain

    drive(rows.close().parent, check)


def test_choosing_another_program(added):
    async def check(app, press):
        await press("p")
        options = app.screen.query_one(OptionList)
        assert options.option_count == 4
        await press("down", "enter")
        assert app.program.id == (4, 0, 0) and app.number == 0
        await press("p", "escape")
        assert app.program.id == (4, 0, 0)

    drive(added, check)


def test_search(added):
    async def check(app, press):
        await press("slash", *"tl.store", "enter")
        assert app.step.source.strip().startswith("tl.store")
        await press("slash", *"acc", "enter")
        found = app.number
        await press("N")
        assert app.number != found
        await press("slash", *"nowhere", "enter")
        assert "occurs in no line" in text(app, "#message")

    drive(added, check)


def test_access_map(added):
    async def check(app, press):
        app.go(app.program.at_line(line_of("y = tl.load"))[0])
        await press("a")
        assert isinstance(app.screen, MapScreen)
        shown = text(app, "#map")
        assert "this line" in shown and "y_ptr: fp32 [1000]" in shown and "▀" in shown
        await press("space")
        assert "this program up to here" in text(app, "#map") and "buffer 1 of 2" in text(app, "#map")
        await press("space", "right")
        assert "all recorded programs" in text(app, "#map") and "program (7, 0, 0)" in text(app, "#map")
        await press("escape")
        assert not isinstance(app.screen, MapScreen)

    drive(added, check)


def test_help_names_every_key(added):
    async def check(app, press):
        await press("question_mark")
        assert isinstance(app.screen, Help)
        shown = text(app, "#help")
        symbols = {"right_square_bracket": "]", "left_square_bracket": "[", "full_stop": ".", "comma": ",",
                   "number_sign": "#", "slash": "/", "question_mark": "?"}  # fmt: skip
        for binding in TraceApp.BINDINGS:
            assert f"{symbols.get(binding.key, binding.key)}" in shown.replace(",", " , ").split() or binding.key in (
                "comma",
            ), binding.key
        await press("escape")
        assert not isinstance(app.screen, Help)

    drive(added, check)


def test_a_narrow_terminal(added):
    async def check(app, press):
        await press("n", "n", "a", "escape", "question_mark", "escape", "t", "t")
        assert app.step.line == line_of("offs = pid * BLOCK")

    drive(added, check, size=(40, 12))


def test_an_early_end_is_said(rows):
    rows.step(0, 1)
    rows.writer.update("UPDATE program SET status = 'running' WHERE id = 1", ())
    rows.writer.end("the limit of 1 MB was reached")

    async def check(app, press):
        await press("G")
        assert "the limit of 1 MB was reached" in text(app, "#message")

    drive(os.path.dirname(rows.writer.path), check)


def test_the_command_on_a_terminal(added):
    child = pexpect.spawn(
        sys.executable, ["-m", "tiletwin", "trace", str(added)], dimensions=(40, 130), timeout=60, encoding="utf-8",
        env=children.environment(TERM="xterm-256color"),
    )  # fmt: skip
    child.expect("step 0 of")
    child.send("nn")
    child.expect("offs")
    child.send("q")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
