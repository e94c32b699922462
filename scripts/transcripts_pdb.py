"""Sessions of pdb for the documents: a matrix product, flash attention, a look after an error.

Here:      what is typed, in which order. Not here:  driving the terminal (debug_transcripts.py).
"""

from __future__ import annotations

import sys

from debug_transcripts import Terminal, line_of, session

PROMPT = r"\(Pdb\) |>>> "
ENVIRONMENT = {"TILETWIN_INTERPRET": "1"}


def start(file: str, environment: dict[str, str] = ENVIRONMENT) -> Terminal:
    """pdb at its first prompt."""
    terminal = Terminal([sys.executable, "-m", "pdb", file], PROMPT, environment=environment)
    terminal.wait()
    return terminal


@session("pdb-matmul")
def matmul() -> str:
    """Stops in one program of 4,096, looks at tiles, changes one, goes on."""
    file = "demo/debug_matmul.py"
    terminal = start(file)
    terminal.say(f"b {line_of(file, 'acc = tl.dot')}, pid == 1234 and k == 32")
    terminal.say("c")
    for command in ("w", "p pid, row, col, k", "p a", "p a[0, :4]", "p a_ptr", "p rm[:, None] * K + rk[None, :]", "n"):
        terminal.say(command)
    terminal.say("p acc.numpy().max()")
    terminal.say("!acc = acc * 0")
    terminal.say("c")
    terminal.end("q")
    return terminal.transcript(f"TILETWIN_INTERPRET=1 python -m pdb {file}")


@session("pdb-attention")
def attention() -> str:
    """Steps into a jit function, up to its caller, on to a line, changes a tile, goes on."""
    file = "demo/debug_attention.py"
    terminal = start(file)
    terminal.say(f"b {line_of(file, 'acc, total = rescale')}, block == 5 and head == 17 and n == 64")
    for command in ("c", "p s", "s", "n", "n", "p alpha", "w", "up", "p biggest[:4], now[:4]", "down", "r", "n"):
        terminal.say(command)
    terminal.say(f"until {line_of(file, 'biggest = now')}")
    terminal.say("p p")
    terminal.say("!acc = acc * 0")
    terminal.say("c")
    terminal.end("q")
    return terminal.transcript(f"TILETWIN_INTERPRET=1 python -m pdb {file}")


@session("pdb-post-mortem")
def post_mortem() -> str:
    """A kernel reads outside its buffer; pdb opens where it happened."""
    file = "demo/debug_out_of_bounds.py"
    terminal = Terminal(
        [sys.executable, "-m", "pdb", "-c", "continue", file], PROMPT, None, {**ENVIRONMENT, "TILETWIN_EAGER": "1"}
    )
    terminal.wait()
    for command in ("p offs", "p x_ptr + offs", "p n", "p tl.load(x_ptr + offs, offs < n)", "up"):
        terminal.say(command)
    terminal.child.close(force=True)
    return terminal.transcript(f"TILETWIN_INTERPRET=1 TILETWIN_EAGER=1 python -m pdb -c continue {file}")
