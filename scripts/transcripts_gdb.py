"""Sessions of gdb for the documents: a matrix product, flash attention.

Here:      what is typed, in which order. Not here:  driving the terminal (debug_transcripts.py).
"""

from __future__ import annotations

import re
import sys

from debug_transcripts import ROOT, Terminal, line_of, session

PROMPT = r"\(gdb\) "
ENVIRONMENT = {"TILETWIN_GDB": "1", "TILETWIN_INTERPRET": "1", "DEBUGINFOD_URLS": ""}
NOISE = re.compile(
    r"^(\[Thread debugging|Using host libthread_db|\[New |\[Thread 0x|\[Detaching|Starting program|Function |"
    r"warning: Error disabling|This GDB supports|Make breakpoint pending).*\n",
    re.MULTILINE,
)


def start(file: str, environment: dict[str, str] = ENVIRONMENT) -> Terminal:
    """gdb at its first prompt."""
    settings = ["set pagination off", "set style enabled off", "set breakpoint pending on", "set confirm off"]
    words = ["gdb", "-q", "-nx", "-iex", f"add-auto-load-safe-path {ROOT}"]
    words += [word for setting in settings for word in ("-iex", setting)]
    terminal = Terminal([*words, "--args", sys.executable, file], PROMPT, environment=environment)
    terminal.wait()
    return terminal


def run(file: str, commands: list[str]) -> str:
    """The transcript of a session."""
    terminal = start(file)
    terminal.screen = "(gdb) "
    for command in commands:
        terminal.say(command)
    terminal.end("quit")
    text = terminal.transcript(
        f'TILETWIN_GDB=1 TILETWIN_INTERPRET=1 gdb -q -iex "add-auto-load-safe-path $PWD" --args python {file}'
    )
    text = re.sub(r"\(process \d+\)", "(process 4711)", text)
    return NOISE.sub("", text).removesuffix("(gdb) quit\n")


@session("gdb-matmul")
def matmul() -> str:
    """Stops in one program of 4,096, looks at tiles, watches an element."""
    file = "demo/debug_matmul.py"
    stop = line_of(file, "acc = tl.dot")
    return run(
        file,
        [
            f"break {file.rsplit('/', 1)[1]}:{stop} if pid0==1234 && k==32",
            "run",
            "info args",
            "print rk",
            "print a[0][0]@4",
            "tw show acc",
            "tw where",
            "watch acc[3][4]",
            "continue",
            "tw programs",
            "delete",
            "tw program 4000",
            "next",
            "next",
            "print row",
            "continue",
        ],
    )


@session("gdb-attention")
def attention() -> str:
    """Steps into a jit function and back to its caller."""
    file = "demo/debug_attention.py"
    stop = line_of(file, "acc, total = rescale")
    return run(
        file,
        [
            f"break {file.rsplit('/', 1)[1]}:{stop} if pid1==17 && pid0==5 && n==64",
            "run",
            "step",
            "bt 2",
            "next",
            "tw show alpha",
            "up",
            "tw show s",
            "down",
            "finish",
            "tw next-program",
            "delete",
            "continue",
        ],
    )
