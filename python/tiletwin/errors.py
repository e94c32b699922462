"""Every exception tiletwin defines.

Here:      the classes and the text they print.
Not here:  who raises them. The C++ side builds them through their constructors, so constructors take plain values only.
Invariant: all derive from `TileTwinError`, which the Triton names (`TritonError`) alias.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence

CONTEXT_LINES = 12


def source_lines(file: str | None, line: int | None, column: int | None, indent: str = "    ") -> Sequence[str]:
    """A line of a source with a caret under the column (counted from 1); none if the file is gone."""
    import linecache

    text = linecache.getline(file, line) if file and line else ""
    if not text.strip():
        return []
    shown = [indent + text.strip()]
    if column:
        shift = len(text) - len(text.lstrip())
        shown.append(indent + " " * max(0, column - 1 - shift) + "^")
    return shown


def shown_file(file: str) -> str:
    """A file as messages name it: a cell of a notebook by its number, as IPython does."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    names = getattr(getattr(shell, "compile", None), "format_code_name", None)
    return " ".join(names(file) or (file,)) if names is not None else file


def quoted_source(file: str, line: int, column: int) -> str:
    """What stands under the message of an error of memory (python/src/RaiseTrap.cpp)."""
    return "".join("\n" + text for text in source_lines(file, line, column))


class TileTwinError(Exception):
    """Base of all errors of this package; also reachable as `TritonError`. Other processes get the text and the
    attributes."""

    def __reduce__(self) -> tuple:
        return _rebuilt, (type(self), str(self), self.__dict__)


def _rebuilt(cls: type[TileTwinError], message: str, state: dict) -> TileTwinError:
    """Unpickles an error."""
    error = cls.__new__(cls)
    error.__dict__.update(state)
    error.args = (message,)
    return error


TritonError = TileTwinError


class InterpreterError(TileTwinError):
    """A kernel failed while it was interpreted. `error_message` holds the text."""

    def __init__(self, error_message: str | None = None) -> None:
        self.error_message = error_message
        super().__init__(error_message or "")


class CompilationError(InterpreterError):
    """A kernel was rejected while it was being compiled.

    It is an InterpreterError too, which is all that Triton's interpreter raises: it compiles nothing.

    Two forms of construction:
      CompilationError(source, node, message)                         the whole function's text and an ast node in it
      CompilationError(message, file, line, column, source_line)      line is 1-based, column 0-based
    `error_message`, `file`, `line`, `column` and `source_line` are attributes; unknown ones are None. `src` and `node`
    are set by the second form. `context` may be given (text before the caret: several lines); it defaults to the
    source line. The text of the error names the place, shows the source with a caret and ends with the message.
    """

    def __init__(
        self,
        src: str | None,
        node: str | ast.AST | None = None,
        error_message: int | str | None = None,
        column: int | None = None,
        source_line: str | None = None,
        *,
        context: str | None = None,
        first_line: int | None = None,
    ) -> None:
        self.src: str | None = None
        self.node: ast.AST | None = None
        if isinstance(node, ast.AST):
            self.src, self.node = src, node
            self.error_message = None if error_message is None else str(error_message)
            self.file = None
            self.line = getattr(node, "lineno", None)
            self.column = getattr(node, "col_offset", None)
            lines = (self.src or "").splitlines()
            self.source_line = None
            if self.line is not None and 0 < self.line <= len(lines):
                self.source_line = lines[self.line - 1]
                context = "\n".join(lines[max(0, self.line - CONTEXT_LINES) : self.line])
        else:
            self.error_message = src
            self.file = node
            self.line = None if error_message is None else int(error_message)
            self.column = column
            self.source_line = source_line
        # Line number within the function, as Triton counts it, when the function's first line is known.
        self.line_in_function = None
        if self.line is not None and first_line is not None:
            self.line_in_function = self.line - first_line + 1
        self.context = context if context is not None else self.source_line
        TileTwinError.__init__(self, self.message)

    @property
    def message(self) -> str:
        """The whole text: place, source lines, caret, message."""
        parts = []
        if self.line is not None:
            column = self.column or 0
            if self.file:
                parts.append(f"{shown_file(self.file)}:{self.line}:{column + 1}:")
            else:
                parts.append(f"at {self.line}:{column}:")
            if self.context:
                parts.append(self.context.rstrip("\n"))
                parts.append(" " * column + "^")
        elif self.file:
            parts.append(f"{shown_file(self.file)}:")
        if self.error_message:
            parts.append(self.error_message)
        return "\n".join(parts)

    def set_message(self, message: str) -> None:
        """Replaces the message part and the text built from it."""
        self.error_message = message
        self.args = (self.message,)

    def __str__(self) -> str:
        return self.message


class CompileTimeAssertionFailure(CompilationError):
    """A `tl.static_assert` did not hold."""


class UnsupportedLanguageConstruct(CompilationError):
    """A Python statement or expression that the kernel language does not have."""


class PtxError(TileTwinError, ValueError):
    """PTX text that cannot be run: malformed, or with an instruction that the simulator does not know.

    Attributes:
        message: the whole text, with the place, the line and a caret.
        reason: what is wrong.
        file: where the text is from.
        line: from 1.
        column: from 1.
    """

    def __init__(
        self,
        message: str = "this PTX cannot be run",
        reason: str | None = None,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        super().__init__(message)
        self.reason, self.file, self.line, self.column = reason, file, line, column


class OutOfBoundsError(InterpreterError, IndexError):
    """A load, store or atomic reached outside every known buffer; nothing was written by that access.

    message       the whole text, made by the runtime
    file, line, column, variable    place of the access and the Python variable it defines or writes, if known
    program       (x, y, z) program id                 element    flat index in the tile
    index         coordinates of the element in the tile, a tuple
    buffer        name of the nearest buffer           offset     byte offset in it, may be negative
    access_bytes  size of the access                   buffer_bytes    size of the buffer
    view_offset, view_bytes         the same within the view that was passed; None if that is the whole buffer
    """

    # The runtime sets those that it knows (python/src/RaiseTrap.cpp).
    file: str | None = None
    line: int | None = None
    column: int | None = None
    variable: str | None = None
    program: tuple[int, int, int] | None = None
    element: int | None = None
    index: tuple[int, ...] | None = None
    buffer: str | None = None
    offset: int | None = None
    access_bytes: int | None = None
    buffer_bytes: int | None = None
    view_offset: int | None = None
    view_bytes: int | None = None

    def __init__(self, message: str = "access outside every known buffer") -> None:
        super().__init__(message)

    def __str__(self) -> str:
        text = super().__str__()
        return text.replace(self.file, shown_file(self.file)) if self.file else text


class DeadlockError(InterpreterError):
    """Every program that is left waits for another one.

    `waiting` lists (program, file, line) of each, as far as known.
    """

    def __init__(self, message: str = "every program waits for another one", waiting: list | None = None) -> None:
        super().__init__(message)
        self.waiting = list(waiting or [])


class CheckError(TileTwinError):
    """TILETWIN_CHECK, with the word raise, found something in a launch: `findings`, of tiletwin.checks.Finding."""

    def __init__(self, message: str = "a check found something", findings: list | None = None) -> None:
        super().__init__(message)
        self.findings = list(findings or [])


class DifferenceError(TileTwinError):
    """Two backends disagree. `report` is the differential tester's report, if there is one."""

    def __init__(self, message: str = "backends differ", report: object = None) -> None:
        super().__init__(message)
        self.report = report


class OptionError(ValueError, AssertionError):
    """An option of a compilation has a value that no GPU takes. Triton asserts these, so both classes catch it."""


class OutOfResources(TileTwinError):
    """A kernel needs more of a resource (shared memory, registers, threads) than the target has."""

    def __init__(self, required: int, limit: int, name: str) -> None:
        self.required, self.limit, self.name = required, limit, name
        super().__init__(
            f"out of resource: {name}, required: {required}, hardware limit: {limit}; "
            "smaller blocks or fewer stages (num_stages) need less"
        )


class PTXASError(TileTwinError):
    """The PTX assembler failed; `error_message` is what it printed."""

    def __init__(self, error_message: str | None = None) -> None:
        self.error_message = error_message or ""
        super().__init__(f"PTXAS error: {self.error_message}")


class CudaError(TileTwinError, RuntimeError):
    """The CUDA driver is missing, or it refused or reported something.

    Attributes:
        kind: "no driver", "no device", "driver too old", "image" (code that cannot be loaded), "launch" (one that is
            refused), "fault" (a kernel that ran did something wrong: the process cannot use that GPU any more),
            "memory", "argument" or "other".
        code: the driver's number, such as 700; 0 where nobody asked the driver.
        name: the driver's name of it, such as "CUDA_ERROR_ILLEGAL_ADDRESS"; "" where nobody asked.
    """

    def __init__(self, message: str = "CUDA failed", code: int = 0, name: str = "", kind: str = "other") -> None:
        super().__init__(message)
        self.code, self.name, self.kind = code, name, kind


class AutotunerError(TileTwinError):
    """Autotuning could not be done as asked."""

    def __init__(self, error_message: str | None = None) -> None:
        self.error_message = error_message or ""
        super().__init__(f"autotuner error: {self.error_message}")


__all__ = [
    "AutotunerError",
    "CheckError",
    "CompilationError",
    "CompileTimeAssertionFailure",
    "CudaError",
    "DeadlockError",
    "DifferenceError",
    "InterpreterError",
    "OptionError",
    "OutOfBoundsError",
    "OutOfResources",
    "PTXASError",
    "TileTwinError",
    "TritonError",
    "UnsupportedLanguageConstruct",
]
