"""Expressions that a user types: `$r4`, `x`, `acc[3, 4] * 2`, `threadIdx.x == 5 && $p1`.

Here:      names (registers, variables, indices of the thread, symbols of the module), C's operators, addresses with
           their memory: `@shared 0x40`, `part + 8`.
Not here:  how values are shown (values.py, tiles.py).
Invariant: an expression is evaluated in the thread that is looked at; only reading, no calls.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, runtime_checkable

from tiletwin.debugger.connection import Refused
from tiletwin.debugger.values import Register

SPACES = ("generic", "global", "shared", "local", "param")
_REGISTER = "_register_"
_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Mod: operator.mod,
    ast.FloorDiv: operator.floordiv, ast.LShift: operator.lshift, ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
}  # fmt: skip
_COMPARE: dict[type, Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}  # fmt: skip


class Address(NamedTuple):
    """A place in memory; size: bytes of what is there, 0: unknown; kind: the PTX type of its elements, or empty."""

    space: str
    at: int
    size: int = 0
    kind: str = ""
    name: str = ""


@runtime_checkable
class Parted(Protocol):
    """A variable that knows its type (located.py). What its type has not is Refused."""

    @property
    def has_elements(self) -> bool:
        """Whether `v + 1` is the place of the next element, as in C."""
        ...

    @property
    def type_name(self) -> str: ...

    def number(self) -> int | float: ...

    def address(self) -> Address: ...

    def member(self, name: str) -> Parted: ...

    def text(self) -> str: ...

    def __getitem__(self, index: object) -> Parted: ...


class Names(Protocol):
    """What names mean in the thread that is looked at."""

    def register(self, name: str) -> Register | None: ...

    def variable(self, name: str) -> Any:
        """None: there is no such variable here."""

    def symbol(self, name: str) -> Address | None: ...

    @property
    def lane(self) -> int: ...

    @property
    def why_unnamed(self) -> str:
        """Why no variable has a name here, and what to do; empty: some have."""
        ...


def _python(text: str) -> str:
    """The text with Python's operators in place of C's."""
    text = re.sub(r"[$]([A-Za-z_]\w*(?:\.[xyzw])?)", lambda m: _REGISTER + m[1].replace(".", "__"), text)
    text = text.replace("&&", " and ").replace("||", " or ").replace("->", ".")
    text = re.sub(r"(^|[(=<>+\-*/%]\s*)\*\s*([A-Za-z_][\w.]*)", r"\1\2[0]", text)
    return re.sub(r"!(?!=)", " not ", text).strip()


class Evaluation:
    """Expressions in one thread."""

    def __init__(self, names: Names) -> None:
        self._names = names

    def of(self, text: str) -> Any:
        """The value: a number, a Register, an Address, what `variable` gives. Errors: Refused."""
        try:
            tree = ast.parse(_python(text), mode="eval").body
        except SyntaxError:
            raise Refused(f"{text!r} is no expression") from None
        return self._of(tree)

    def number(self, text: str) -> Any:
        """The same, a register as its number in the thread."""
        return self._plain(self.of(text))

    def address(self, text: str) -> Address:
        """`0x7f00`, `$rd4`, `@shared 0x40`, `part + 8`. Errors: Refused."""
        space = "generic"
        if found := re.match(r"\s*@(\w+)\s*", text):
            space, text = found[1], text[found.end() :]
            if space not in SPACES:
                raise Refused(f"@{space} is no memory: there are {', '.join('@' + one for one in SPACES)}")
        value = self.of(text)
        if isinstance(value, Parted):
            value = value.address()
        if isinstance(value, Address):
            return value
        value = self._plain(value)
        if not isinstance(value, int):
            raise Refused(f"{text.strip()!r} is no address")
        return Address(space, value)

    def _plain(self, value: Any) -> Any:
        if isinstance(value, Parted):
            return value.number()
        return value.value(self._names.lane) if isinstance(value, Register) else value

    def _name(self, name: str) -> Any:
        if name.startswith(_REGISTER):
            wanted = name.removeprefix(_REGISTER).replace("__", ".")
            for spelled in (f"%{wanted}", wanted, f"${wanted}"):
                if (register := self._names.register(spelled)) is not None:
                    return register
            raise Refused(f"${wanted}: the function has no such register, or never uses it")
        if (value := self._names.variable(name)) is not None:
            return value
        if (symbol := self._names.symbol(name)) is not None:
            return symbol
        why = self._names.why_unnamed
        raise Refused(f"{name}: no such variable here" + (f": {why}" if why else ""))

    def _attribute(self, node: ast.Attribute) -> Any:
        """`threadIdx.x`, or a member of a structure."""
        if isinstance(node.value, ast.Name):
            value = self._names.variable(f"{node.value.id}.{node.attr}")
            if value is not None:
                return value
        whole = self._of(node.value)
        if isinstance(whole, Parted):
            return whole.member(node.attr)
        raise Refused(f"{ast.unparse(node.value)} has no member {node.attr}")

    def _of(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return node.value
        if isinstance(node, ast.Name):
            return self._name(node.id)
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        if isinstance(node, ast.BoolOp):
            values = (self._plain(self._of(part)) for part in node.values)
            return int(all(values) if isinstance(node.op, ast.And) else any(values))
        if isinstance(node, ast.UnaryOp):
            return self._unary(node)
        if isinstance(node, ast.BinOp):
            return self._binary(node)
        if isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARE and len(node.ops) == 1:
            left, right = self._plain(self._of(node.left)), self._plain(self._of(node.comparators[0]))
            return _COMPARE[type(node.ops[0])](left, right)
        if isinstance(node, ast.Subscript):
            value, index = self._of(node.value), self._index(node.slice)
            try:
                return value[index]
            except (TypeError, IndexError, KeyError) as error:
                raise Refused(f"{ast.unparse(node)}: {error}") from None
        raise Refused(f"{ast.unparse(node)!r} is nothing that can be computed here")

    def _index(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Tuple):
            return tuple(self._index(part) for part in node.elts)
        if isinstance(node, ast.Slice):
            return slice(*(None if part is None else self._index(part) for part in (node.lower, node.upper, node.step)))
        return self._plain(self._of(node))

    def _unary(self, node: ast.UnaryOp) -> Any:
        value = self._plain(self._of(node.operand))
        if isinstance(node.op, ast.Not):
            return int(not value)
        if isinstance(node.op, ast.Invert):
            return ~value
        return -value if isinstance(node.op, ast.USub) else value

    def _binary(self, node: ast.BinOp) -> Any:
        left, right = self._of(node.left), self._plain(self._of(node.right))
        if isinstance(left, Address) and isinstance(node.op, (ast.Add, ast.Sub)) and isinstance(right, int):
            return left._replace(at=_BINARY[type(node.op)](left.at, right), size=0)
        if isinstance(left, Parted) and isinstance(node.op, (ast.Add, ast.Sub)) and left.has_elements:
            return left[right if isinstance(node.op, ast.Add) else -right].address()
        left = self._plain(left)
        try:
            if isinstance(node.op, ast.Div):
                whole = isinstance(left, int) and isinstance(right, int)
                return int(left / right) if whole else left / right
            return _BINARY[type(node.op)](left, right)
        except (KeyError, TypeError, ZeroDivisionError) as error:
            raise Refused(f"{ast.unparse(node)}: {error}") from None
