"""What is read of nvdisasm's listing, and what is said of it: how often machine code runs, what ptxas has
changed."""

from __future__ import annotations

import re

import numpy as np
import pytest
from counted import FIRST_LINE, TEXT, counted, shared_at
from tiletwin import counters, sim
from tiletwin.counters import machine_code, report
from tiletwin.counters.machine_code import Code
from tiletwin.cuda import ptxas, sass

LISTING = """\
\t.section\t.text.other,"ax",@progbits
.text.other:
\t//## File "kernel.ptx", line 3
        /*0000*/                   EXIT ;
\t.section\t.text.k,"ax",@progbits
.text.k:
\t//## File "kernel.ptx", line 16
        /*0000*/                   LDC R1, c[0x0][0x28] ;
\t//## File "kernel.ptx", line 17
        /*0010*/              @!P0 LDS.64 R2, [R4] ;
.L_x_1:
        /*0020*/                   CALL.REL.NOINC `(.L_x_3) ;
\t//## File "kernel.ptx", line 20
        /*0030*/               @P0 EXIT ;
        /*0040*/                   EXIT ;
.L_x_3:
        /*0050*/                   FMUL R1, R1, R1 ;
        /*0060*/                   RET.REL.NODEC R2 `(k) ;
.L_x_2:
        /*0070*/                   BRA `(.L_x_2);
        /*0080*/                   NOP;
"""


def test_the_listing_is_read():
    found = [(one.line, one.opcode, one.guard is not None) for one in machine_code.read(LISTING, "k")]
    assert found == [
        (16, "LDC", False), (17, "LDS", True), (17, "CALL", False), (20, "EXIT", True), (20, "EXIT", False),
    ]  # fmt: skip
    with pytest.raises(ValueError, match="no code of missing"):
        machine_code.read(LISTING, "missing")


def test_lines_of_the_text_take_the_place_of_the_sources():
    text = TEXT.format(body=".loc 1 5 3\nadd.u32 %r3, %r0, 1;\n@%p0 bra done;\ndone:", target="sm_90a")
    made = machine_code.with_lines(text)
    for part in ("add.u32 %r3", "@%p0 bra done", "ret;"):
        number = next(n for n, line in enumerate(text.split("\n"), 1) if part in line)
        assert re.search(rf"\.loc 1 {number} 0\n\s*{re.escape(part)}", made)
    assert ".loc 1 5 3" not in made and made.rstrip().endswith('.file 1 "kernel.ptx"')


def lines(*codes: tuple[int, str]) -> list[Code]:
    """Machine code of lines of the body; @ in front of what has a predicate."""
    text = '\t.section\t.text.k,"ax",@progbits\n'
    for line, code in codes:
        guard = "@P0 " if code.startswith("@") else ""
        text += f'\t//## File "k.ptx", line {FIRST_LINE + line}\n        /*0000*/  {guard}{code.removeprefix("@")} ;\n'
    return machine_code.read(text, "k")


def test_code_runs_as_often_as_its_line():
    body = "setp.lt.u32 %p0, %r0, 32;\n@%p0 add.u32 %r3, %r0, 1;\nadd.u32 %r3, %r3, 1;"
    launch = counted(body, block=64, grid=5)
    assert machine_code.executed(launch, lines((0, "ISETP"), (2, "IADD3"), (2, "IADD3"))) == 30
    # With a predicate both warps come by; without one ptxas has made a jump of it, and only the first does.
    assert machine_code.executed(launch, lines((1, "@IADD3"))) == 10
    assert machine_code.executed(launch, lines((1, "IADD3"))) == 5


def test_copies_of_an_unrolled_block_share_its_runs():
    body = "mov.u32 %r3, 0;\nloop:\n" + shared_at(4).replace("\n", " ")
    body += "ld.shared.u32 %r4, [%r2];\nadd.u32 %r3, %r3, 1;\nsetp.lt.u32 %p0, %r3, 8;\n@%p0 bra loop;"
    launch = counted(body)
    load = [(2, "LDS R4, [R2]")] * 4
    assert machine_code.executed(launch, lines(*load)) == 8
    assert machine_code.executed(launch, lines(*load, *[(3, "IADD3")] * 4)) == 16
    assert machine_code.executed(launch, lines(*load, (0, "MOV"))) == 9


def test_changed_accesses_are_found_and_called_estimates(monkeypatch):
    body = shared_at(8) + "ld.shared.u32 %r3, [%r2];\nld.shared.u32 %r4, [%r2 + 4];\nst.shared.u32 [%r2], %r3;"
    launch = counted(body)
    code = lines((2, "LDS.64 R4, [R2]"), (4, "STS [R2], R4"))
    assert [one.ptx_line for one in machine_code.changed(launch, code)] == [FIRST_LINE + 3]
    hidden = lines((2, "@LDS.64 R4, [R2]"), (3, "LDS R3, [R2]"), (4, "STS [R2], R4"))
    assert [one.ptx_line for one in machine_code.changed(launch, hidden)] == [FIRST_LINE + 2]
    monkeypatch.setattr(report, "_code", lambda *of: code)
    made = report.report_of(launch)
    accuracy = {
        m.name.rpartition("mem_shared_")[2]: m.accuracy for m in made.metrics.values() if "wavefronts" in m.name
    }
    assert (accuracy["op_ld.sum"], accuracy["op_st.sum"]) == ("estimate", "exact")


@pytest.mark.parametrize(("tool", "wheel"), [(ptxas, "nvidia-cuda-nvcc"), (sass, "nvidia-cuda-nvdisasm")])
def test_machine_code_does_not_run_without_tools(monkeypatch, tool, wheel):
    monkeypatch.setattr(tool, "find", lambda *of: None)
    kernel = sim.load(TEXT.format(body=f"// without {wheel}", target="sm_90a"), file="k.ptx")["k"]
    with counters.collect(machine_code=True) as launches:
        kernel(np.zeros(4, np.int32), grid=1, block=32)
    ran = launches[0].machine
    assert ran is not None and ran.note.endswith(f"(pip install {wheel})")


def test_without_tools_nothing_is_said(monkeypatch):
    monkeypatch.setattr(ptxas, "find", lambda: None)
    assert machine_code.of(TEXT, "sm_90a", "k") is None


@pytest.mark.skipif(
    ptxas.find() is None or sass.find(sass.TOOLS[:1]) is None, reason="there is no ptxas, or no nvdisasm"
)
def test_of_the_tools():
    text = TEXT.format(body=shared_at(4) + "ld.shared.u32 %r3, [%r2];\nst.global.u32 [%rd0], %r3;", target="sm_90a")
    code = machine_code.of(text, "sm_90a", "k")
    assert code is not None
    assert [one.line for one in code if one.opcode in ("LDS", "STG")] == [FIRST_LINE + 2, FIRST_LINE + 3]
