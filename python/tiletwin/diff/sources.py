"""The text that a kernel needs to run in another process: its functions at their own lines, and the values they name.

Here:      one text for each file that the kernel's functions stand in: the functions, nothing else of the file.
Not here:  running it (triton_child.py under real Triton; replay.py here).
Idea:      a text keeps every function at its line of the original file, so that errors, debuggers and reports name the
           right places. Line 1 has what the functions take from outside: imports, constants. Decorators go; the
           functions are made jit functions at the end.
"""

from __future__ import annotations

import ast
import inspect
import math
import os
import sys
from types import FunctionType, ModuleType
from typing import Any

from tiletwin import _C
from tiletwin.kernels.callables import ConstexprFunction, JITCallable
from tiletwin.kernels.jit import JITFunction
from tiletwin.kernels.source import outer_names


class _Text:
    """The text of one file while it is put together."""

    def __init__(self, module: str, file: str) -> None:
        self.module = module
        self.file = file
        self.prelude: dict[str, str] = {}
        self.functions: dict[int, tuple[str, list[str]]] = {}
        self.endings: dict[str, str] = {}

    def text(self) -> str:
        head = "; ".join(["import triton, triton.language as _tl", *self.prelude.values()])
        lines: list[str] = []
        for first, (_, body) in sorted(self.functions.items()):
            lines += ["\n"] * (first - 1 - len(lines))
            lines += body
        if lines and not lines[0].strip():
            lines[0] = head + "\n"
        else:  # the first function begins in line 1: everything moves by one
            lines.insert(0, head + "\n")
        ends = [f"{name} = {maker}\n" for name, maker in self.endings.items()]
        if lines and not lines[-1].endswith("\n"):
            lines[-1] += "\n"
        return "".join([*lines, *ends])


class _Collector:
    def __init__(self) -> None:
        self.texts: dict[str, _Text] = {}
        self.done: set[int] = set()
        self.problem = ""

    def text_for(self, file: str) -> _Text:
        if file not in self.texts:
            stem = "".join(c if c.isalnum() else "_" for c in os.path.basename(file).removesuffix(".py"))
            self.texts[file] = _Text(f"kernel_{len(self.texts)}_{stem}", file)
        return self.texts[file]

    def function(self, fn: JITCallable) -> _Text:
        text = self.text_for(fn.file)
        if id(fn.fn) in self.done:
            return text
        self.done.add(id(fn.fn))
        node = fn.ast
        body = [line for line in fn.source_lines[node.lineno - fn.first_line :]]
        indent = body[0][: len(body[0]) - len(body[0].lstrip())]
        if node.lineno in text.functions:
            return text
        text.functions[node.lineno] = (fn.__name__, [line.removeprefix(indent) for line in body])
        if isinstance(fn, ConstexprFunction):
            text.endings[fn.__name__] = f"triton.constexpr_function({fn.__name__})"
        elif isinstance(fn, JITFunction):
            given = {
                name: value
                for name in ("noinline", "debug", "do_not_specialize", "do_not_specialize_on_alignment")
                if (value := getattr(fn, name, None))
            }
            words = "".join(f", {name}={value!r}" for name, value in given.items())
            text.endings[fn.__name__] = f"triton.jit({fn.__name__}{words})"
        self.names(text, fn)
        return text

    def names(self, text: _Text, fn: JITCallable) -> None:
        node, scope = fn.ast, fn.globals
        outer = set(outer_names(inspect.unwrap(fn.fn).__code__))
        header: list[ast.AST] = [node.args] if node.returns is None else [node.args, node.returns]
        inside = [inner.annotation for inner in ast.walk(node) if isinstance(inner, ast.AnnAssign)]
        # Python leaves annotations of local variables alone; who compiles the text reads them.
        for part in (*header, *inside):
            outer |= {inner.id for inner in ast.walk(part) if isinstance(inner, ast.Name)}
        for name in sorted(outer & scope.keys()):
            value = scope[name]
            if isinstance(value, FunctionType) and not isinstance(fn, JITFunction):  # Python runs both
                value = JITCallable(value)
            self.name(text, name, value)
        for part in (*header, *node.body):  # decorators go
            for inner in ast.walk(part):
                if isinstance(inner, ast.Attribute):
                    self.member(inner, scope)

    def member(self, node: ast.Attribute, scope: dict[str, Any]) -> tuple[_Text, Any] | None:
        """What `name.attribute` takes of a module of the user's own stands in a text for that module.

        Returns the text and the module that the expression stands for; None: it is no such module."""
        if isinstance(node.value, ast.Attribute):
            found = self.member(node.value, scope)
        else:
            value = scope.get(node.value.id) if isinstance(node.value, ast.Name) else None
            found = self.module(value)
        if found is None or not hasattr(found[1], node.attr):
            return None
        inside = getattr(found[1], node.attr)
        self.name(found[0], node.attr, inside)
        return self.module(inside)

    def module(self, value: Any) -> tuple[_Text, Any] | None:
        """The text for a module of the user's own, and the module; None: it is something else."""
        file = _users_file(value)
        return (self.text_for(file), value) if file else None

    def name(self, text: _Text, name: str, value: Any) -> None:
        if name in text.prelude or any(name == known for known, _ in text.functions.values()):
            return
        line = self.definition(text, name, value)
        if line is None:
            self.problem = self.problem or f"it uses {name}, a {type(value).__name__}, which no text stands for"
        elif line:
            text.prelude[name] = line

    def imported(self, text: _Text, name: str, fn: JITCallable) -> str:
        """What brings a function into a text; empty: it stands there."""
        other = self.function(fn)
        if other is not text:
            return f"from {other.module} import {fn.__name__} as {name}"
        if name != fn.__name__:
            text.endings[name] = fn.__name__
        return ""

    def argument(self, text: _Text, fn: Any) -> None:
        """A function that is an argument is found by its name in the kernel's text."""
        name = fn.__name__
        line = self.definition(text, name, fn)
        if line is None or (line and text.prelude.get(name, line) != line):
            self.problem = self.problem or f"{name} is an argument, and no text stands for it beside another {name}"
        elif line:
            text.prelude[name] = line

    def definition(self, text: _Text, name: str, value: Any) -> str | None:
        """A statement that gives the name its value; empty: nothing is needed; None: no statement does."""
        from tiletwin.dtypes import dtype

        if isinstance(value, ModuleType):
            own = self.module(value)
            return f"import {own[0].module if own else _triton_name(value.__name__)} as {name}"
        home = getattr(value, "__module__", "") or ""
        if isinstance(value, JITCallable):
            if _is_ours(home):
                return f"from {_triton_name(home)} import {value.__name__} as {name}"
            return self.imported(text, name, value)
        if isinstance(value, _C.constexpr):
            if isinstance(value.value, FunctionType):  # @tl.constexpr above a def
                function = JITCallable(value.value)
                own = function.__name__
                self.function(function).endings[own] = f"_tl.constexpr({own})"
                return self.imported(text, name, function)
            inner = _literal(value.value)
            return None if inner is None else f"{name} = _tl.constexpr({inner})"
        if isinstance(value, dtype):
            return f"{name} = _tl.dtype({value.name!r})"
        if _literal(value) is not None:
            return f"{name} = {_literal(value)}"
        if isinstance(value, _C.builtin) or _is_ours(home):
            own = getattr(value, "__name__", name)
            import tiletwin.language as tl

            if getattr(tl, own, None) is value:
                return f"from triton.language import {own} as {name}"
            return f"from {_triton_name(home)} import {own} as {name}" if _is_ours(home) else None
        import builtins

        if getattr(builtins, name, None) is value:
            return ""
        return None


def _is_ours(module: str) -> bool:
    return module.split(".")[0] in ("tiletwin", "triton")


def _users_file(value: Any) -> str:
    """The file of a module that another process may not have: neither ours nor an installed one; empty: it has it."""
    if not isinstance(value, ModuleType) or _is_ours(value.__name__):
        return ""
    known = value.__name__.split(".")[0] in {*sys.stdlib_module_names, "torch", "numpy"}
    return "" if known else getattr(value, "__file__", None) or ""


def _triton_name(module: str) -> str:
    return "triton" + module[len("tiletwin") :] if module.split(".")[0] == "tiletwin" else module


def _literal(value: Any) -> str | None:
    if isinstance(value, float) and not math.isfinite(value):
        return f"float({str(value)!r})"
    if value is None or isinstance(value, (bool, int, float, str)):
        return repr(value)
    if isinstance(value, tuple) and all(_literal(item) is not None for item in value):
        return "(" + "".join(f"{_literal(item)}, " for item in value) + ")"
    return None


def collect(fn: Any, arguments: dict[str, Any]) -> tuple[dict[str, str], dict[str, str], str]:
    """Texts by name of module, the kernel's first; the files that they are of, by the same; and why they would not do,
    or nothing."""
    collector = _Collector()
    try:
        first = collector.function(fn)
        for value in arguments.values():
            value = getattr(value, "value", value) if isinstance(value, _C.constexpr) else value
            if isinstance(value, (JITCallable, _C.builtin)):
                collector.argument(first, value)
    except (OSError, TypeError, SyntaxError) as error:
        return {}, {}, f"its source was not found: {error}"
    texts = {first.module: first.text()}
    texts.update({text.module: text.text() for text in collector.texts.values() if text is not first})
    return texts, {text.module: text.file for text in collector.texts.values()}, collector.problem
