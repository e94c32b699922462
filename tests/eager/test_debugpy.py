"""VS Code's debugger in kernels: debugpy's adapter, spoken to as VS Code does."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from dap_client import Client
from debug_sessions import ATTENTION, MATMUL, line_of

pytest.importorskip("debugpy")
ENVIRONMENT = {"TILETWIN_INTERPRET": "1", "PYDEVD_DISABLE_FILE_VALIDATION": "1"}


@pytest.fixture
def client():
    made = Client()
    yield made
    made.close()


def timed_copy(file: Path, folder: Path) -> Path:
    made = folder / file.name
    text = "import time; _s = time.perf_counter(); import torch; _imported = time.perf_counter() - _s\n"
    launch = "_launched = time.perf_counter()\nmatmul[("
    made.write_text(file.read_text().replace("import torch\n", text, 1).replace("\nmatmul[(", "\n" + launch))
    return made


def test_matmul(client: Client, tmp_path: Path) -> None:
    file = timed_copy(MATMUL, tmp_path)
    dot = line_of(file, "acc = tl.dot")
    start = time.perf_counter()
    client.launch(str(file), {str(file): [{"line": dot, "condition": "pid == 1234 and k == 32"}]}, ENVIRONMENT)
    thread, frames = client.stopped()
    took = time.perf_counter() - start
    assert frames[0]["line"] == dot and frames[0]["name"] == "matmul"
    assert frames[1]["name"] == "<module>" and frames[1]["line"] == line_of(file, "matmul[(")
    found = client.variables(frames[0]["id"])
    assert found["pid"]["value"] == "tensor(1234, int32)"
    assert "fp32[16, 16], min" in found["a"]["value"] and found["a_ptr"]["value"] == "<a_ptr + 0, fp32>"
    assert not [name for name in found if name.startswith(".")]
    listed = client.ask("variables", variablesReference=found["a"]["variablesReference"])["variables"]
    rows = {row["name"]: row for row in listed}
    assert list(rows) == ["dtype", *(f"[{row}]" for row in range(16))] and rows["dtype"]["value"] == "'fp32'"
    assert rows["[3]"]["evaluateName"] == "a[3]" and rows["[3]"]["value"].startswith("tensor([")
    elements = client.ask("variables", variablesReference=rows["[3]"]["variablesReference"])["variables"]
    asked = client.ask("evaluate", expression="a[3, 15]", frameId=frames[0]["id"])["result"]
    assert elements[-1]["name"] == "[15]" and elements[-1]["value"] == asked
    imports = float(client.ask("evaluate", expression="_imported", frameId=frames[1]["id"])["result"])
    launched = float(
        client.ask("evaluate", expression="time.perf_counter() - _launched", frameId=frames[1]["id"])["result"]
    )
    print(
        f"debugpy: {took:.2f} s from starting the adapter to the stop, {imports:.2f} s of it imports, and "
        f"{launched:.2f} s from the launch to the stop"
    )
    looked = client.ask("evaluate", expression="a[0, :4].shape", frameId=frames[0]["id"], context="watch")
    assert looked["result"].startswith("(constexpr[4]")
    client.ask("next", threadId=thread)
    thread, frames = client.stopped()
    client.ask("setVariable", variablesReference=found["acc"]["scope"], name="acc", value="acc * 0")
    assert client.ask("evaluate", expression="float(acc.numpy().max())", frameId=frames[0]["id"])["result"] == "0.0"
    client.ask("setBreakpoints", source={"path": str(file)}, breakpoints=[])
    client.ask("continue", threadId=thread)
    client.event("terminated")
    assert "256 of 1048576 elements differ" in client.output


def test_attention_steps_into_a_jit_function(client: Client, tmp_path: Path) -> None:
    file = timed_copy(ATTENTION, tmp_path)
    call = line_of(file, "acc, total = rescale")
    condition = "block == 5 and head == 17 and n == 64"
    client.launch(str(file), {str(file): [{"line": call, "condition": condition}]}, ENVIRONMENT)
    thread, frames = client.stopped()
    assert frames[0]["line"] == call
    client.ask("stepIn", threadId=thread)
    thread, frames = client.stopped()
    assert frames[0]["name"] == "rescale" and frames[1]["name"] == "attention"
    client.ask("stepOut", threadId=thread)
    thread, frames = client.stopped()
    assert frames[0]["name"] == "attention"
    assert client.variables(frames[0]["id"])["head"]["value"] == "tensor(17, int32)"
    client.ask("continue", threadId=thread)
    client.event("terminated")
    assert "0 of 1048576 elements differ" in client.output
