"""`tiletwin debug --dap`, as VS Code talks to it."""

from __future__ import annotations

import base64
import socket
import struct

import children
import pytest
from editor import Editor
from terminal import PROGRAMS, ROOT
from test_command_line import DOT, SUM, line_of


def launched(editor: Editor, program: str, **arguments: object) -> None:
    """Says what to start, as an editor does; breakpoints follow."""
    assert editor.ask("initialize", adapterID="tiletwin")["supportsDataBreakpoints"] is True
    editor.event("initialized")
    editor.ask("launch", program=str(PROGRAMS), args=[program], cwd=str(ROOT), **arguments)


def test_a_session():
    with Editor() as e:
        launched(e, "matmul")
        set_ = e.ask(
            "setBreakpoints",
            source={"path": str(PROGRAMS)},
            breakpoints=[{"line": DOT, "condition": "block==5 && warp==1"}],
        )
        assert set_["breakpoints"] == [
            {"id": 1, "verified": False, "message": "waits for a kernel that has this place"}
        ]
        e.ask("setExceptionBreakpoints", filters=[])
        e.ask("configurationDone")
        verified = e.event("breakpoint")["breakpoint"]
        assert verified == {"id": 1, "verified": True, "line": DOT}
        stop = e.event("stopped")
        assert stop["reason"] == "breakpoint" and stop["hitBreakpointIds"] == [1]
        threads = e.ask("threads")["threads"]
        assert [t["name"] for t in threads] == ["block (1,1,0) warp 0", "block (1,1,0) warp 1"]
        assert stop["threadId"] == threads[1]["id"]
        (frame,) = e.ask("stackTrace", threadId=stop["threadId"])["stackFrames"]
        assert (frame["name"], frame["line"], frame["source"]["path"]) == ("product", DOT, str(PROGRAMS))
        scopes = {s["name"]: s["variablesReference"] for s in e.ask("scopes", frameId=frame["id"])["scopes"]}
        indices = {v["name"]: v["value"] for v in e.ask("variables", variablesReference=scopes["Thread"])["variables"]}
        assert (indices["block"], indices["warp"], indices["threadIdx.x"]) == ("5", "1", "32")
        registers = e.ask("variables", variablesReference=scopes["Registers"])["variables"]
        assert {"b32", "b64"} <= {r["type"] for r in registers}
        assert e.ask("evaluate", expression="threadIdx.x + 1", frameId=frame["id"])["result"] == "33"
        assert "9 of 16" not in e.ask("evaluate", expression="-exec info cuda blocks")["result"]
        with pytest.raises(AssertionError, match="no such register"):
            e.ask("evaluate", expression="$none", frameId=frame["id"])
        e.ask("next", threadId=stop["threadId"])
        assert e.event("stopped")["reason"] == "step"
        e.ask("stepIn", threadId=stop["threadId"], granularity="instruction")
        assert e.event("stopped")["reason"] == "step"
        e.ask("setBreakpoints", source={"path": str(PROGRAMS)}, breakpoints=[])
        e.ask("continue", threadId=stop["threadId"])
        assert e.event("exited")["exitCode"] == 0
        e.event("terminated")
        assert SUM in e.output
        e.ask("disconnect")


def test_data_breakpoints_and_memory():
    with Editor() as e:
        launched(e, "reduction")
        e.ask("setFunctionBreakpoints", breakpoints=[{"name": "block_sum", "condition": "block==1"}])
        e.ask("configurationDone")
        first = e.event("stopped")
        info = e.ask("dataBreakpointInfo", name="@shared 8")
        assert info["dataId"] == "shared,8,4"
        e.ask("setDataBreakpoints", breakpoints=[{"dataId": info["dataId"]}])
        e.ask("continue", threadId=first["threadId"])
        stop = e.event("stopped")
        assert stop["reason"] == "data breakpoint" and "block_sum.cu:6" in stop["description"]
        read = e.ask("readMemory", memoryReference="shared,0", offset=4, count=8)
        assert struct.unpack("<2f", base64.b64decode(read["data"])) == (257, 258)
        e.ask("disconnect")


def test_pause_and_breakpoints_while_a_kernel_runs():
    with Editor() as e:
        launched(e, "endless", stopOnEntry=True)
        e.ask("configurationDone")
        entry = e.event("stopped")
        e.ask("continue", threadId=entry["threadId"])
        e.ask("setBreakpoints", source={"path": "spin.ptx"}, breakpoints=[{"line": 10}])
        assert e.event("stopped")["reason"] == "breakpoint"
        e.ask("setBreakpoints", source={"path": "spin.ptx"}, breakpoints=[])
        e.ask("continue", threadId=entry["threadId"])
        e.ask("pause", threadId=entry["threadId"])
        stop = e.event("stopped")
        assert stop["reason"] == "pause"
        (frame,) = e.ask("stackTrace", threadId=stop["threadId"])["stackFrames"]
        assert "sourceReference" in frame["source"]
        content = e.ask("source", source=frame["source"], sourceReference=1)["content"]
        assert "ld.volatile.global.u32" in content
        e.ask("terminate")
        e.event("terminated")
        e.ask("disconnect")


def test_a_trap_and_a_program_that_is_not_there():
    with Editor() as e:
        launched(e, "wild")
        e.ask("configurationDone")
        stop = e.event("stopped")
        assert stop["reason"] == "exception" and "writes" in stop["text"]
        (frame,) = e.ask("stackTrace", threadId=stop["threadId"])["stackFrames"]
        assert frame["line"] == line_of("tl.store(x_ptr + at, 1.0)")
        e.ask("disconnect")
    with Editor() as e:
        e.ask("initialize")
        with pytest.raises(AssertionError, match="say which `program`"):
            e.ask("launch")
        with pytest.raises(AssertionError, match="is not supported"):
            e.ask("stepBack")
        e.ask("disconnect")


def test_a_port():
    server = children.start("-m", "tiletwin", "debug", "--dap", "--port", "0")
    assert server.stdout is not None
    port = int(server.stdout.readline().rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port)) as link:
        body = b'{"seq": 1, "type": "request", "command": "initialize", "arguments": {}}'
        link.sendall(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        assert link.recv(1 << 14).startswith(b"Content-Length: ")
    assert server.wait(60) == 0
