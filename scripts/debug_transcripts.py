"""Transcripts of debugging sessions, made by running them: `python scripts/debug_transcripts.py [--check] [NAME...]`.

A document shows a session as a block of text behind the comment `<!-- transcript: NAME -->`; this script runs the
sessions and writes the blocks anew (--check: says which ones differ, and fails).

Here:      the registry, driving a program at a terminal, what is made the same in every run, the documents.
Not here:  the sessions of each debugger: modules `transcripts_*.py` of this folder, which register them by @session.
Invariant: a transcript holds no path of this machine, no address and no time, so that two runs give the same text.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = ("docs/*.md", "docs/debugging/*.md", "docs/howto/*.md")
SESSIONS: dict[str, Callable[[], str]] = {}
"""Name -> a function without arguments that runs the session and returns its transcript."""

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|\x1b[=>]")
MARK = re.compile(r"<!-- transcript: (\S+) -->\n```[a-z]*\n.*?```", re.DOTALL)


def session(name: str) -> Callable[[Callable[[], str]], Callable[[], str]]:
    """Registers a session under a name: `@session("pdb-matmul")`."""

    def add(function: Callable[[], str]) -> Callable[[], str]:
        if name in SESSIONS:
            raise ValueError(f"two sessions are called {name}")
        SESSIONS[name] = function
        return function

    return add


def normalised(text: str, folder: Path | None = None) -> str:
    """Text of a terminal without what differs from run to run: colours, this machine's paths, addresses."""
    text = ESCAPES.sub("", text).replace("\r\n", "\n").replace("\r", "")
    for place in filter(None, (folder, ROOT)):
        text = text.replace(f"{place}{os.sep}", "")
    text = re.sub(r"/\S*/lib/python3\.\d+/", ".../", text)  # Python's own files
    text = re.sub(r"0x[0-9a-f]{6,}", "0x...", text)
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n") + "\n"


def line_of(file: str, text: str) -> int:
    """Number of the first line of a file below the repository that holds `text`."""
    lines = (ROOT / file).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def clean_environment(*others: str, **values: str) -> dict[str, str]:
    """This process's variables but those of tiletwin and Triton and those that begin with `others`; with `values`.

    pytest cuts long lines to the terminal's width unless it finds the variables of a build server: they go, too.
    """
    ours = ("TILETWIN_", "TRITON_", *others)
    servers = ("CI", "BUILD_NUMBER")
    return {n: value for n, value in os.environ.items() if not n.startswith(ours) and n not in servers} | values


def output_of(words: list[str], folder: Path, environment: dict[str, str], stderr: bool = True, **more: Any) -> str:
    """What a program prints, stdout and (stderr) what goes to stderr, as they come."""
    other = subprocess.STDOUT if stderr else None
    done = subprocess.run(words, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=other, text=True, **more)
    return str(done.stdout)


class Terminal:
    """A program that is talked to as a person would; what appears on the screen is kept.

    command: program and arguments. prompt: a regular expression of what it says when it waits for a command.
    """

    def __init__(
        self,
        command: list[str],
        prompt: str,
        folder: Path | None = None,
        environment: dict[str, str] | None = None,
        timeout: float = 240,
        columns: int = 118,
    ) -> None:
        import pexpect

        self.prompt, self.folder = prompt, folder
        values = {"TERM": "dumb", "PYTHONDONTWRITEBYTECODE": "", "PYTHON_COLORS": "0", "PYTHON_BASIC_REPL": "1"}
        values["TQDM_DISABLE"] = "1"  # no bar, which only slow machines show
        self.child = pexpect.spawn(
            command[0],
            command[1:],
            cwd=str(folder or ROOT),
            env=clean_environment(**values, **(environment or {})),
            timeout=timeout,
            encoding="utf-8",
            codec_errors="replace",
            dimensions=(60, columns),
        )
        self.screen = ""

    def wait(self) -> str:
        """Waits for the prompt; what appeared before it."""
        self.child.expect(self.prompt)
        self.screen += self.child.before + self.child.after
        return str(self.child.before)

    def say(self, line: str) -> str:
        """Types a line and waits for the prompt; what appeared in between, without the echo."""
        self.child.sendline(line)
        text = self.wait()
        return text.split("\n", 1)[1] if "\n" in text else text

    def end(self, line: str | None = None) -> str:
        """Types a last line and waits until the program has ended; what appeared."""
        import pexpect

        if line is not None:
            self.child.sendline(line)
        self.child.expect(pexpect.EOF)
        self.screen += self.child.before
        self.child.close()
        return str(self.child.before)

    def transcript(self, command: str) -> str:
        """All that was on the screen, below the command that a reader types."""
        return normalised(f"$ {command}\n{self.screen}", self.folder)


def load_sessions() -> None:
    """Imports the modules that register sessions."""
    sys.path.insert(0, str(ROOT / "scripts"))
    sys.modules.setdefault("debug_transcripts", sys.modules[__name__])
    for file in sorted((ROOT / "scripts").glob("transcripts_*.py")):
        importlib.import_module(file.stem)


def documents() -> Iterable[Path]:
    return sorted(file for pattern in DOCUMENTS for file in ROOT.glob(pattern))


def updated(text: str, transcripts: dict[str, str]) -> str:
    """A document with its blocks written anew, where `transcripts` has them. Errors: KeyError, no such session."""

    def block(found: re.Match[str]) -> str:
        name = found[1]
        if name not in SESSIONS:
            raise KeyError(f"no session is called {name}; there are {', '.join(SESSIONS)}")
        if name not in transcripts:
            return found[0]
        return f"<!-- transcript: {name} -->\n```text\n{transcripts[name]}```"

    return MARK.sub(block, text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="sessions to run; default: all")
    parser.add_argument("--check", action="store_true", help="change nothing; fail if a document would change")
    parser.add_argument("--print", action="store_true", help="print the transcripts, change nothing")
    options = parser.parse_args()
    load_sessions()
    unknown = set(options.names) - set(SESSIONS)
    if unknown:
        parser.error(f"no session is called {', '.join(sorted(unknown))}; there are {', '.join(SESSIONS)}")
    transcripts = {name: SESSIONS[name]() for name in options.names or SESSIONS}
    if options.print:
        print("\n".join(f"--- {name}\n{text}" for name, text in transcripts.items()))
        return 0
    changed = []
    for document in documents():
        before = document.read_text()
        after = updated(before, transcripts)
        if after != before:
            changed.append(document)
            if not options.check:
                document.write_text(after)
    for document in changed:
        print(f"{document.relative_to(ROOT)}: {'differs' if options.check else 'written'}")
    return int(options.check and bool(changed))


if __name__ == "__main__":
    sys.exit(main())
