"""Rewrites a kernel's ast where Python would not do as the language does, and compiles it to a function.

What changes                      becomes (all functions are C functions of _C, reached as constants of the code object)
  def f(x, y: tl.constexpr)       x = parameter(x), y = constant(y) in front of the body: types, functions and numbers
                                  are compile-time values
  x = value, x += value           x = assign(value): numbers become tensors; x: tl.constexpr = value stays constant
  (x := value)                    (x := assign(value))
  if t:                           if truth(t):
  a and b                         end_and(b) if begin_and(a) else take()      (`or` alike)
  not x, x is y, x in y           not_(x), is_(x, y), in_(x, y)
  a < b < c                       chain((LT, LT), a, b, c)
  x if t else y                   end_if(x) if begin_if(t) else end_if(y)
  for i in range(...)             for i in rounds(site, loop(range, ...)): types of what the loop carries must stay
  while t:                        enter_while(site); while again(site) and truth(t):      likewise
  x.type                          type_attribute(x): tuples have a type, too
  x[i]                            subscript(x, i): the language's own indexing; a debugger's x[3] is a look at a value
  f(x), base.f(x)                 callee(f)(x), method(base, "f")(x): a jit function's own rewritten body runs
  return x                        return returned(x, conditions), where several returns depend on conditions
  assert t, message               device_assert(t, message)
  break, continue, ...            refused("Break", line, column): what compiled mode raises
  [a, b], f"{x}"                  tuples; values of constexprs
Invariant: every node keeps the position of the node it replaces; no name is added to locals or globals (but for the
           conditions of returns, whose names start with a dot).
"""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import operator
import types
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from tiletwin import _C, errors
from tiletwin.eager import breaks
from tiletwin.eager.code_objects import MARK, compile_function
from tiletwin.language import values

COMPARISONS: dict[type, int] = {
    row: code
    for code, row in enumerate(
        (ast.Lt, ast.LtE, ast.Eq, ast.NotEq, ast.Gt, ast.GtE, ast.Is, ast.IsNot, ast.In, ast.NotIn)
    )
}
"""What `chain` calls the operators."""
IDENTITY = {ast.Is: "is", ast.IsNot: "is_not", ast.In: "in", ast.NotIn: "not_in"}
UNUSED = "The result of "
"""How the message begins that a function's result must be used."""
LOOPS: dict[Any, str] = {range: "range", values.range: "range", values.static_range: "static_range"}


def helpers() -> dict[str, Any]:
    """What the rewritten code calls, by name."""
    from tiletwin.language import core

    names = (name for name in dir(_C) if name.startswith("eager_"))
    return {name.removeprefix("eager_"): getattr(_C, name) for name in names} | {"device_assert": core.device_assert}


class Rewriter(ast.NodeTransformer):
    """Rewrites the body of one function. `evaluate(expression)`: what it is outside the function, or None."""

    def __init__(self, evaluate: Callable[[ast.expr], Any]) -> None:
        self.evaluate = evaluate
        self.loops: list[str] = []  # the loops around a statement, outermost first: LOOPS' values, "while", "python"
        self.pending: set[str] = set()  # `x: tl.constexpr` without a value yet
        self.conditions: dict[int, str] = {}  # `if` statement -> name of the local that keeps its condition
        self.sites: dict[str, tuple] = {}  # loops: line, column, (name, line) of variables that their bodies assign

    # Making nodes.

    def call(self, name: str, *args: ast.expr, at: ast.AST) -> ast.Call:
        """A call of a helper; nodes made here take the position of `at`."""
        node = ast.Call(func=ast.Constant(value=MARK + name), args=list(args), keywords=[])
        ast.copy_location(node.func, at)
        return ast.copy_location(node, at)

    def place(self, node: ast.AST, at: ast.AST) -> Any:
        return ast.copy_location(node, at)

    def is_constexpr(self, annotation: ast.expr) -> bool:
        """Whether an annotation means tl.constexpr."""
        value = self.evaluate(annotation)
        return value is _C.constexpr or (isinstance(value, str) and value.split(".")[-1] == "constexpr")

    # Statements.

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        target = node.targets[0]
        self.visit_targets(node.targets)
        value = self.visit(node.value)
        names = [t.id for t in getattr(target, "elts", [target]) if isinstance(t, ast.Name)]
        if isinstance(target, (ast.Tuple, ast.List)) and self.pending.intersection(names):
            kept: Any = tuple(isinstance(t, ast.Name) and t.id in self.pending for t in target.elts)
            node.value = self.call("unpack", value, self.place(ast.Constant(value=kept), node), at=node.value)
        else:
            helper = "constant" if self.pending.intersection(names) else "assign"
            node.value = self.call(helper, value, at=node.value)
        self.pending.difference_update(names)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        constant = self.is_constexpr(node.annotation)
        if node.value is None:
            if constant and isinstance(node.target, ast.Name):
                self.pending.add(node.target.id)
            return self.place(ast.Pass(), node)
        value = self.visit(node.value)
        value = self.call("constant" if constant else "assign", value, at=node.value)
        return self.place(ast.Assign(targets=[node.target], value=value), node)

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        if not isinstance(node.target, ast.Name):
            return self.generic_visit(node)
        old = self.place(ast.Name(id=node.target.id, ctx=ast.Load()), node.target)
        result = self.place(ast.BinOp(left=old, op=node.op, right=self.visit(node.value)), node)
        return self.place(ast.Assign(targets=[node.target], value=self.call("assign", result, at=node)), node)

    def visit_targets(self, targets: list[Any]) -> None:
        """Subscripts and attributes in targets hold expressions too."""
        for i, target in enumerate(targets):
            if isinstance(target, (ast.Subscript, ast.Attribute)):
                targets[i] = self.generic_visit(target)

    def visit_If(self, node: ast.If) -> ast.If:
        test = self.visit(node.test)
        if id(node) in self.conditions:
            name = self.place(ast.Name(id=self.conditions[id(node)], ctx=ast.Store()), node.test)
            test = self.place(ast.NamedExpr(target=name, value=test), node.test)
        node.test = self.call("truth", test, at=node.test)
        node.body = self.visit_block(node.body)
        node.orelse = self.visit_block(node.orelse)
        return node

    def visit_block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """Statements of a body; one may become two."""
        made = []
        for statement in statements:
            result: Any = self.visit(statement)
            made += result if isinstance(result, list) else [result]
        return made

    def refuse(self, node: ast.stmt, what: str) -> ast.Expr:
        """A statement that raises what compiled mode raises for `node`."""
        parts = [self.place(ast.Constant(part), node) for part in (what, node.lineno, node.col_offset)]
        return self.place(ast.Expr(value=self.call("refused", *parts, at=node)), node)

    def visit_Break(self, node: ast.Break | ast.Continue) -> ast.stmt:
        return node if self.loops[-1] == "python" else self.refuse(node, type(node).__name__)

    visit_Continue = visit_Break

    def visit_While(self, node: ast.While) -> Any:
        if node.orelse:
            return self.refuse(node, "While.orelse")
        site = self.site(node, ())
        test = self.call("truth", self.visit(node.test), at=node.test)
        loop = self.visit_loop(node, "while")
        if site is None:
            loop.test = test
            return loop
        again = self.call("again", site, at=node.test)
        loop.test = self.place(ast.BoolOp(op=ast.And(), values=[again, test]), node.test)
        begin = self.place(ast.Expr(value=self.call("enter_while", copy.copy(site), at=node)), node)
        return [begin, loop]

    def site(self, node: ast.For | ast.While, without: tuple[str, ...]) -> ast.Constant | None:
        """A constant that stands for a loop and the variables that its body assigns; None: it assigns none."""
        names = {name: line for name, line in assigned(node.body) if name not in without}
        if not names:
            return None
        key = f"site{len(self.sites)}"
        self.sites[key] = (node.lineno, node.col_offset, tuple(names.items()))
        return self.place(ast.Constant(value=MARK + key), node)

    def visit_loop(self, node: Any, kind: str) -> Any:
        self.loops.append(kind)
        node.body = self.visit_block(node.body)
        self.loops.pop()
        return node

    def visit_For(self, node: ast.For) -> ast.stmt:
        if node.orelse:
            return self.refuse(node, "For.orelse")
        kind = "python"  # compiled mode knows no such loop
        if isinstance(node.iter, ast.Call):
            kind = LOOPS.get(self.evaluate(node.iter.func), kind)
            loop = self.call("loop", self.visit(node.iter.func), *[self.visit(a) for a in node.iter.args], at=node.iter)
            loop.keywords = [self.visit(k) for k in node.iter.keywords]
            target = (node.target.id,) if isinstance(node.target, ast.Name) else ()
            site = self.site(node, target) if kind == "range" else None
            node.iter = loop if site is None else self.call("rounds", site, loop, at=node.iter)
        else:
            node.iter = self.visit(node.iter)
        return self.visit_loop(node, kind)

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        if {"range", "while"}.intersection(self.loops):
            return self.refuse(node, "Return")
        if node.value is None:
            return node
        node.value = self.visit(node.value)
        if self.conditions:
            kept = [self.place(ast.Name(id=n, ctx=ast.Load()), node) for n in self.conditions.values()]
            value: Any = node.value
            node.value = self.call("returned", value, *kept, at=value)
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        if isinstance(node.value, ast.Call):
            wanted = getattr(self.evaluate(node.value.func), "_must_use_result", False)
            if wanted:
                text = f"{UNUSED}{ast.unparse(node.value.func)} is not being used."
                return self.refuse(node, f"{text} {wanted}" if isinstance(wanted, str) else text)
        node.value = self.visit(node.value)
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.Expr:
        message = self.place(ast.Constant(value=""), node) if node.msg is None else self.visit(node.msg)
        return self.place(ast.Expr(value=self.call("device_assert", self.visit(node.test), message, at=node)), node)

    def visit_FunctionDef(self, node: Any) -> Any:
        return node  # a nested function is plain Python

    visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = visit_FunctionDef

    # Expressions.

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.NamedExpr:
        node.value = self.call("assign", self.visit(node.value), at=node.value)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        kind = "and" if isinstance(node.op, ast.And) else "or"
        values = [self.visit(v) for v in node.values]
        result = values[0]
        for value in values[1:]:
            result = self.place(
                ast.IfExp(
                    test=self.call(f"begin_{kind}", result, at=node),
                    body=self.call(f"end_{kind}", value, at=node),
                    orelse=self.call("take", at=node),
                ),
                node,
            )
        return result

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        node.operand = self.visit(node.operand)
        return self.call("not", node.operand, at=node) if isinstance(node.op, ast.Not) else node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        left, others = self.visit(node.left), [self.visit(c) for c in node.comparators]
        if len(others) == 1:
            name = IDENTITY.get(type(node.ops[0]))
            node.left, node.comparators = left, others
            return self.call(name, left, others[0], at=node) if name else node
        codes = ast.Tuple(
            elts=[self.place(ast.Constant(value=COMPARISONS[type(op)]), node) for op in node.ops], ctx=ast.Load()
        )
        return self.call("chain", self.place(codes, node), left, *others, at=node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        node.test = self.call("begin_if", self.visit(node.test), at=node.test)
        node.body = self.call("end_if", self.visit(node.body), at=node.body)
        node.orelse = self.call("end_if", self.visit(node.orelse), at=node.orelse)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if isinstance(node.func, ast.Attribute):
            name = self.place(ast.Constant(value=node.func.attr), node.func)
            node.func = self.call("method", self.visit(node.func.value), name, at=node.func)
        else:
            node.func = self.call("callee", self.visit(node.func), at=node.func)
        node.args = [self.visit(a) for a in node.args]
        node.keywords = [self.visit(k) for k in node.keywords]
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        node.value = self.visit(node.value)
        if node.attr != "type" or not isinstance(node.ctx, ast.Load):
            return node
        return self.call("type_attribute", node.value, at=node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        node.value, node.slice = self.visit(node.value), self.visit(node.slice)
        if not isinstance(node.ctx, ast.Load):
            return node
        return self.call("subscript", node.value, as_value(node.slice), at=node)

    def visit_List(self, node: ast.List) -> ast.expr:
        if not isinstance(node.ctx, ast.Load):
            return node
        return self.place(ast.Tuple(elts=[self.visit(e) for e in node.elts], ctx=ast.Load()), node)

    def visit_ListComp(self, node: ast.ListComp) -> ast.expr:
        self.visit_generators(node.generators)
        node.elt = self.visit(node.elt)
        return self.call("tuple", node, at=node)

    def visit_generators(self, generators: list[ast.comprehension]) -> None:
        for generator in generators:
            generator.iter = self.visit(generator.iter)
            generator.ifs = [self.call("truth", self.visit(test), at=test) for test in generator.ifs]

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.FormattedValue:
        node.value = self.call("plain", self.visit(node.value), at=node.value)
        if node.format_spec is not None:
            node.format_spec = self.visit(node.format_spec)
        return node


def as_value(index: ast.expr) -> ast.expr:
    """An index as an argument of a call: slices become calls of `slice`."""
    if isinstance(index, ast.Tuple):
        index.elts = [as_value(item) for item in index.elts]
    if not isinstance(index, ast.Slice):
        return index
    parts = [part or ast.Constant(value=None) for part in (index.lower, index.upper, index.step)]
    made = ast.Call(func=ast.Constant(value=MARK + "slice"), args=parts, keywords=[])  # no constant: code has a hash
    for node in ast.walk(made):
        if not hasattr(node, "lineno"):
            ast.copy_location(node, index)
    return made


def assigned(body: list[ast.stmt]) -> Iterator[tuple[str, int]]:
    """Names that statements bind, with the line; not those of nested functions."""
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id, node.lineno


def ifs_with_returns(body: list[ast.stmt]) -> list[ast.If]:
    """`if` statements that hold a return, outermost first."""
    found = []
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.If) and any(isinstance(inner, ast.Return) for inner in ast.walk(node)):
                found.append(node)
    return found


def returns_differ(body: list[ast.stmt]) -> bool:
    """Whether the function has several returns that are not all the same literal."""
    values = [n.value for s in body for n in ast.walk(s) if isinstance(n, ast.Return)]
    literals = {ast.dump(v) if isinstance(v, ast.Constant) else None for v in values}
    return len(values) > 1 and (len(literals) > 1 or None in literals)


def rewrite(
    fn: Any,
    note: Callable[..., Any] | None = None,
    body: list[ast.stmt] | None = None,
    file: str | None = None,
) -> types.FunctionType:
    """The function that runs `fn`'s body in eager mode; see the module's text. fn: a JITFunction.

    note: is called behind each statement (trace/instrument.py says how), for recordings.
    body, file: what the function does, and in which file it says to be, in place of `fn`'s own.
    The result shares `fn`'s globals, closure and defaults; its code names the user's file and lines.
    """
    scope = fn.globals

    def evaluate(expression: ast.expr) -> Any:
        try:
            code = compile(ast.Expression(body=copy.deepcopy(expression)), fn.file, "eval", dont_inherit=True)
            return eval(code, scope)  # what Python itself does with annotations
        except Exception:
            return None

    rewriter = Rewriter(evaluate)
    node: Any = copy.deepcopy(fn.ast.body[0] if isinstance(fn.ast, ast.Module) else fn.ast)
    node.decorator_list, node.returns = [], None
    if body is not None:
        node.body = body
    parameters = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    constants = [p.arg for p in parameters if p.annotation is not None and rewriter.is_constexpr(p.annotation)]
    for parameter in [*parameters, node.args.vararg, node.args.kwarg]:
        if parameter is not None:
            parameter.annotation = None
    defaults, kwdefaults = fn.fn.__defaults__, fn.fn.__kwdefaults__
    node.args.defaults = [ast.copy_location(ast.Constant(value=None), d) for d in node.args.defaults]
    node.args.kw_defaults = [
        None if d is None else ast.copy_location(ast.Constant(value=None), d) for d in node.args.kw_defaults
    ]

    others = [p.arg for p in [*parameters, node.args.vararg] if p is not None and p.arg not in constants]
    if returns_differ(node.body):
        rewriter.conditions = {id(n): f".if{i}" for i, n in enumerate(ifs_with_returns(node.body))}
    node.body = rewriter.visit_block(node.body)
    breaks.insert(node, breaks.lines_in(fn), rewriter.call)
    if note is not None:
        from tiletwin.trace.instrument import instrument

        instrument(node, rewriter.call)
    node.body[:0] = prologue(rewriter, node, {"parameter": others, "constant": constants}, shadowing_names(fn))
    ast.fix_missing_locations(node)
    own = {
        "breakpoint_if": _C.breakpoint_if,
        "refused": functools.partial(refuse_statement, fn),
        "outer": functools.partial(operator.getitem, fn.fn.__globals__),
        "record": note,
        "slice": slice,
    }
    for key, (line, column, names) in rewriter.sites.items():
        own[key] = (fn.file, line, column, fn.source_lines[line - fn.first_line], fn.first_line, names)
    code = compile_function(node, fn.fn.__code__, file or fn.file, helpers() | own)
    cells = dict(zip(fn.fn.__code__.co_freevars, fn.fn.__closure__ or ()))
    closure = tuple(cells[name] for name in code.co_freevars)
    function = types.FunctionType(code, fn.fn.__globals__, fn.__name__, defaults, closure)
    function.__kwdefaults__ = kwdefaults
    function.__qualname__, function.__module__, function.__doc__ = fn.__qualname__, fn.__module__, fn.__doc__
    return function


def refuse_statement(fn: Any, what: str, line: int, column: int) -> NoReturn:
    """Raises what compiled mode raises for a statement that kernels lack. what: a row of the front end's table, or the
    message itself, which begins with UNUSED."""
    unused = what.startswith(UNUSED)
    cls = errors.CompilationError if unused or what.endswith(".orelse") else errors.UnsupportedLanguageConstruct
    message = what if unused else _C.statement_advice(what)
    source_line = fn.source_lines[line - fn.first_line]
    raise cls(message, fn.file, line, column, source_line, first_line=fn.first_line)


def shadowing_names(fn: Any) -> list[str]:
    """Local variables of `fn` with a module-level variable of their name: before they are assigned, they mean that."""
    code = fn.fn.__code__
    parameters = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & inspect.CO_VARARGS)
    return [name for name in code.co_varnames[parameters:] if name in fn.fn.__globals__]


def prologue(
    rewriter: Rewriter, node: ast.FunctionDef, parameters: dict[str, list[str]], shadowing: list[str]
) -> list[ast.stmt]:
    """Statements in front of the body, at the place of its first statement that does something: parameters become
    values of the language (helper -> names), names that shadow others start as those, conditions of returns as None."""
    at = node.body[0]
    rows: list[tuple[str, ast.expr]] = []
    for helper, names in parameters.items():
        for name in names:
            rows.append((name, rewriter.call(helper, ast.copy_location(ast.Name(id=name, ctx=ast.Load()), at), at=at)))
    for name in shadowing:
        rows.append((name, rewriter.call("outer", ast.copy_location(ast.Constant(value=name), at), at=at)))
    rows += [(name, ast.copy_location(ast.Constant(value=None), at)) for name in rewriter.conditions.values()]
    statements = []
    for name, value in rows:
        target = ast.copy_location(ast.Name(id=name, ctx=ast.Store()), at)
        statements.append(ast.copy_location(ast.Assign(targets=[target], value=value), at))
    return statements
