"""What notebooks show of a recording."""

import re

import numpy as np
import tiletwin.trace
from tiletwin.pages import palette


def shown(value):
    text = value._repr_html_()
    assert text.count("<table>") == text.count("</table>") and text.count("<tr>") == text.count("</tr>")
    return text


def test_tables(rows):
    tile = np.arange(64 * 64, dtype=np.float32).reshape(64, 64)
    tile[0, 1] = np.nan
    addresses = (4096 + 4 * np.arange(32)).astype(np.uint64)
    load = ("load", "", rows.tensor("pointer<fp32>", addresses), None, rows.tensor("fp32", tile[0, :32]), None, 1)
    rows.step(0, 1, text=rows.writer.value("text", "str", (), b"<script>"))
    rows.step(1, 2, tile=rows.tensor("fp32", tile), accesses=[load])
    trace = tiletwin.trace.open(rows.close().parent)
    program = trace.launches[0].programs[0]
    assert "kernel" in shown(trace) and "program 3,0,0" in shown(trace.launches[0])
    assert "&lt;script&gt;" in shown(program) and "<script>" not in shown(program)
    step = shown(program.steps[1])
    assert "load: x_ptr[0 .. 31], 32 of 32 elements" in step and "<b>*</b>" in step
    value = shown(program.steps[1].variables["tile"])
    assert len(re.findall("<rect", value)) == 32 * 32 and "fp32</b> 64x64" in value
    assert value.count(f'fill="{palette.hexadecimal(palette.NAN)}"') == 1 and "1 NaN" in value
    assert "[63, 63]" in value and value in step  # where the statement has changed it


def test_numbers_are_text(rows):
    rows.step(1, 1, n=rows.tensor("int32", np.array(7, np.int32).reshape(())))
    step = tiletwin.trace.open(rows.close().parent).launches[0].programs[0].steps[0]
    assert shown(step.variables["n"]) == "<code>int32 7</code>"
    assert repr(step.variables["n"]) == "int32 7"
