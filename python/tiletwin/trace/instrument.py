"""Puts a call behind each statement of a kernel's rewritten body, for recording.

Here:      where the calls stand and what they say.
Not here:  the rewrite before it (eager/rewriter.py), what the calls do (recorder.py).
Invariant: a call changes no value and no control flow, and has the line of the statement it belongs to, so debuggers
           stop where they did.

  statement                       becomes
  x = ...                         x = ...; note(line, LINE)
  if t: A else: B                 if t: note(line, TRUE); A else: note(line, FALSE); B
  for / while: A                  for / while: note(line, ITERATION); A    and behind it note(line, LOOP_END)
  return x                        return note(line, RETURN, x)
  the body                        note(line of def, CALL); body; note(last line, RETURN)
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from tiletwin.trace.format import CALL, FALSE, ITERATION, LINE, LOOP_END, RETURN, TRUE


class _Noter:
    def __init__(self, call: Callable[..., ast.Call]) -> None:
        self.call = call

    def value(self, at: ast.stmt, kind: int, *more: ast.expr, line: int | None = None) -> ast.Call:
        numbers = [ast.copy_location(ast.Constant(n), at) for n in (line or at.lineno, kind)]
        return self.call("record", *numbers, *more, at=at)

    def statement(self, at: ast.stmt, kind: int, line: int | None = None) -> ast.stmt:
        return ast.copy_location(ast.Expr(value=self.value(at, kind, line=line)), at)

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        return [part for statement in body for part in self.around(statement)]

    def around(self, node: ast.stmt) -> list[ast.stmt]:
        """What stands in the place of one statement."""
        if isinstance(node, ast.If):
            node.body = [self.statement(node, TRUE), *self.block(node.body)]
            node.orelse = [self.statement(node, FALSE), *self.block(node.orelse)]
            return [node]
        if isinstance(node, (ast.For, ast.While)):
            node.body = [self.statement(node, ITERATION), *self.block(node.body)]
            return [node, self.statement(node, LOOP_END)]
        if isinstance(node, ast.Return):
            if node.value is None:
                return [self.statement(node, RETURN), node]
            node.value = self.value(node, RETURN, node.value)
            return [node]
        if isinstance(node, (ast.Break, ast.Continue, ast.Raise)):
            return [self.statement(node, LINE), node]
        if isinstance(node, ast.With):
            node.body = self.block(node.body)
            return [node]
        if isinstance(node, ast.Try):
            node.body, node.orelse, node.finalbody = map(self.block, (node.body, node.orelse, node.finalbody))
            return [node]
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return [node]  # a docstring
        return [node, self.statement(node, LINE)]


def instrument(node: ast.FunctionDef, call: Callable[..., ast.Call]) -> None:
    """Adds the calls to a function's body. call(name, *args, at=node): a node that calls a helper."""
    noter = _Noter(call)
    first, last = node.body[0], node.body[-1]
    end = ast.copy_location(ast.Pass(), last)
    end.lineno = end.end_lineno = last.end_lineno or last.lineno
    body = noter.block(node.body)
    if not isinstance(last, ast.Return):
        body.append(noter.statement(end, RETURN))
    node.body = [noter.statement(first, CALL, line=node.lineno), *body]
