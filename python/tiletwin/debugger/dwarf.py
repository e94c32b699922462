"""Debug information of CUDA C++: the sections that `nvcc -G` writes behind PTX.

Here:      sections as bytes, the variables that are in scope at a line of the PTX, their types and where they are kept.
Not here:  their values (located.py), lines (the engine has them).
Idea:      PTX has no addresses, so a label's address is its line in the text, and that of a variable is a number that
           stands for its name. pyelftools reads the rest as it does from an object file.
Source:    DWARF 2; the CUDA debugger's address classes, and registers that are numbered by the letters of their names.
"""

from __future__ import annotations

import functools
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from tiletwin.debugger.connection import Refused

_SYMBOLS = 1 << 48
"""Numbers from here on stand for variables."""
_SPACES = {4: "const", 5: "global", 6: "local", 7: "param", 8: "shared"}
"""Address classes; others are registers and generic addresses."""
_ITEM = re.compile(r"\s*\.b(8|16|32|64)\s+(\S.*)")
_LABEL = re.compile(r"\s*([$\w.]+):")
_SECTION = re.compile(r"\s*\.section\s+(\.debug_\w+)")


@dataclass
class Type:
    """kind: base, pointer, array, struct, enum or void. encoding: of a base type, as DWARF numbers it. target: what a
    pointer points to, what an array holds, what an enumeration is stored as."""

    kind: str
    name: str
    size: int = 0
    encoding: int = 0
    target: Type | None = None
    count: int = 0
    members: dict[str, tuple[int, Type]] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    """Of the values of an enumeration."""


@dataclass(frozen=True)
class Place:
    """Where a variable is: in a register, or `offset` bytes behind a variable of the PTX. space: of that one."""

    register: str = ""
    symbol: str = ""
    offset: int = 0
    space: str = ""


@dataclass(frozen=True)
class Variable:
    """place: None, it is nowhere at this instruction."""

    name: str
    type: Type
    place: Place | None
    is_local: bool = True


def _sections(lines: list[str]) -> tuple[dict[str, bytes], dict[int, str]]:
    """The sections, and the names that numbers from _SYMBOLS on stand for."""
    labels: dict[str, int] = {}
    items: dict[str, list[tuple[int, str]]] = {}
    section, offset = "", 0
    for number, line in enumerate(lines, 1):
        if found := _SECTION.match(line):
            section, offset = found[1], 0
            labels[section], items[section] = 0, []
        elif section and line.strip() == "}":
            section = ""
        elif found := _LABEL.match(line):
            labels.setdefault(found[1], offset if section else number)
        elif section and (found := _ITEM.match(line)):
            for text in found[2].split(","):
                items[section].append((int(found[1]) // 8, text.strip()))
                offset += int(found[1]) // 8
    symbols: dict[str, int] = {}

    def value(text: str) -> int:
        if re.fullmatch(r"-?(0x)?[\da-fA-F]+", text) and not text.startswith("."):
            return int(text, 0)
        total = 0
        for sign, name in re.findall(r"([-+]?)\s*([^-+\s]+)", text):
            if name.isdigit():
                part = int(name)
            elif name in labels:
                part = labels[name]
            else:
                part = symbols.setdefault(name, _SYMBOLS + (len(symbols) << 32))
            total += -part if sign == "-" else part
        return total

    data = {
        name: b"".join((value(text) % (1 << 8 * size)).to_bytes(size, "little") for size, text in rows)
        for name, rows in items.items()
    }
    return data, {number: name for name, number in symbols.items()}


def _attribute(die: Any, name: str, default: Any = 0) -> Any:
    found = die.attributes.get(f"DW_AT_{name}")
    return default if found is None else found.value


def _name(die: Any) -> str:
    return _attribute(die, "name", b"").decode(errors="replace")


def _last_part(symbol: str) -> str:
    """ "kAdd" for "_ZN3geo4kAddE"; nvcc has such names for the values of enumerations in namespaces."""
    if not (symbol.startswith("_ZN") and symbol.endswith("E")):
        return symbol
    rest, part = symbol[3:-1], ""
    while found := re.match(r"\d+", rest):
        length = int(found[0])
        part, rest = rest[found.end() :][:length], rest[found.end() + length :]
    return symbol if rest or not part else part


class DebugInfo:
    """The debug information of one PTX. lines: of its text.

    Errors: Refused, it cannot be read, or the package that reads it is not installed.
    """

    def __init__(self, lines: list[str]) -> None:
        data, self._symbols = _sections(lines)
        self._types: dict[int, Type] = {}
        self._units: list[Any] = []
        if not data.get(".debug_info") or not data.get(".debug_abbrev"):
            return
        try:
            from elftools.dwarf.dwarf_expr import DWARFExprParser
            from elftools.dwarf.dwarfinfo import DebugSectionDescriptor, DwarfConfig, DWARFInfo
        except ImportError:
            raise Refused(
                "variables of code that `nvcc -G` compiled need pyelftools: pip install 'tiletwin[debug]'"
            ) from None
        names = (
            "info aranges abbrev frame str loc ranges line pubtypes pubnames addr str_offsets line_str loclists "
            "rnglists sup types"
        ).split()
        given = {
            f"debug_{name}_sec": DebugSectionDescriptor(io.BytesIO(bytes_), f".debug_{name}", 0, len(bytes_), 0)
            if (bytes_ := data.get(f".debug_{name}")) is not None
            else None
            for name in names
        }
        self._dwarf: Any = DWARFInfo(
            config=DwarfConfig(True, "x64", 8), eh_frame_sec=None, gnu_debugaltlink_sec=None, **given
        )
        self._expressions = DWARFExprParser
        self._units = list(self._dwarf.iter_CUs())

    @property
    def is_there(self) -> bool:
        return bool(self._units)

    def variables(self, line: int, inlined: int = 0) -> list[Variable]:
        """What is in scope at an instruction, outer blocks first; line: of the PTX. inlined: calls that were inlined
        there and that are left, 0 for the innermost function. Variables of files come first.

        Errors: Refused, the debug information is damaged.
        """
        try:
            return self._variables(line, inlined)
        except Refused:
            raise
        except Exception as error:  # whatever a reader stumbles over
            raise Refused(f"the debug information cannot be read: {type(error).__name__}: {error}") from None

    def _variables(self, line: int, inlined: int) -> list[Variable]:
        found = []
        for unit in self._units:
            top = unit.get_top_DIE()
            functions: list[list[Any]] = []
            for die in top.iter_children():
                if die.tag == "DW_TAG_variable":
                    found.append(self._variable(die, line, is_local=False))
                elif die.tag == "DW_TAG_subprogram" and self._holds(die, line):
                    functions = [[]]
                    self._collect(die, line, functions)
            if functions:
                chosen = functions[max(0, len(functions) - 1 - inlined)]
                found += [self._variable(die, line) for die in chosen]
        return [variable for variable in found if variable.name]

    @staticmethod
    def _holds(die: Any, line: int) -> bool:
        return _attribute(die, "low_pc") <= line < _attribute(die, "high_pc")

    def _collect(self, die: Any, line: int, functions: list[list[Any]]) -> None:
        """Variables of a block and of those inside of it that hold the line; a list for each function."""
        for child in die.iter_children():
            if child.tag in ("DW_TAG_variable", "DW_TAG_formal_parameter"):
                functions[-1].append(child)
        for child in die.iter_children():
            if child.tag in ("DW_TAG_lexical_block", "DW_TAG_inlined_subroutine") and self._holds(child, line):
                if child.tag == "DW_TAG_inlined_subroutine":
                    functions.append([])
                self._collect(child, line, functions)

    def _variable(self, die: Any, line: int, *, is_local: bool = True) -> Variable:
        origin = "DW_AT_abstract_origin"
        named = die.get_DIE_from_attribute(origin) if origin in die.attributes else die
        place = None
        for expression in self._locations(die, line):
            place = self._place(die, expression)
        return Variable(_name(named), self._type_of(named), place, is_local)

    def _locations(self, die: Any, line: int) -> Iterator[Any]:
        """The expression that counts at the line, if there is one."""
        location = die.attributes.get("DW_AT_location")
        if location is None:
            return
        if location.form.startswith("DW_FORM_block") or location.form == "DW_FORM_exprloc":
            yield location.value
            return
        for entry in self._dwarf.location_lists().get_location_list_at_offset(location.value, die):
            if entry.begin_offset <= line < entry.end_offset:
                yield entry.loc_expr
                return

    def _place(self, die: Any, expression: Any) -> Place | None:
        """None: a rule that is not known here."""
        steps = self._expressions(die.cu.structs).parse_expr(expression)
        first = steps[0] if steps else None
        if first is not None and first.op_name == "DW_OP_regx" and len(steps) == 1:
            number = first.args[0]
            return Place(register=number.to_bytes((number.bit_length() + 7) // 8, "big").decode(errors="replace"))
        if first is not None and first.op_name == "DW_OP_addr" and first.args[0] >= _SYMBOLS:
            number = first.args[0]
            base = number - (number - _SYMBOLS) % (1 << 32)
            offset = number - base
            for step in steps[1:]:
                if step.op_name != "DW_OP_plus_uconst":
                    return None
                offset += step.args[0]
            space = _SPACES.get(_attribute(die, "address_class"), "")
            return Place(symbol=self._symbols[base], offset=offset, space=space)
        return None

    # ---- Types -------------------------------------------------------------------------------------------------------

    def _type_of(self, die: Any) -> Type:
        if "DW_AT_type" not in die.attributes:
            return Type("void", "void")
        target = die.get_DIE_from_attribute("DW_AT_type")
        if target.offset not in self._types:
            made = self._types[target.offset] = Type("void", "?")  # a structure may point to itself
            made.__dict__.update(self._make(target).__dict__)
        return self._types[target.offset]

    def _make(self, die: Any) -> Type:
        tag, size = die.tag.removeprefix("DW_TAG_"), _attribute(die, "byte_size")
        if tag == "base_type":
            return Type("base", _name(die), size, _attribute(die, "encoding"))
        if tag in ("pointer_type", "reference_type", "rvalue_reference_type"):
            return Type("pointer", "", size or 8, target=self._type_of(die))
        if tag == "array_type":
            return self._array(die)
        if tag in ("structure_type", "class_type", "union_type"):
            members = {
                _name(one) or f"<base {i}>": (self._offset(one), self._type_of(one))
                for i, one in enumerate(die.iter_children())
                if one.tag in ("DW_TAG_member", "DW_TAG_inheritance") and "DW_AT_type" in one.attributes
                and "DW_AT_external" not in one.attributes
            }  # fmt: skip
            return Type("struct", _name(die), size, members=members)
        if tag == "enumeration_type":
            names = {_attribute(one, "const_value"): _last_part(_name(one)) for one in die.iter_children()}
            return Type("enum", _name(die), size, names=names)
        under = self._type_of(die)  # const, volatile, typedef and the like
        return replace(under, name=_name(die)) if tag == "typedef" else under

    def _array(self, die: Any) -> Type:
        made = self._type_of(die)
        for one in reversed([one for one in die.iter_children() if one.tag == "DW_TAG_subrange_type"]):
            count = _attribute(one, "count", _attribute(one, "upper_bound", -1) + 1)
            made = Type("array", "", made.size * count, target=made, count=count)
        return made

    def _offset(self, member: Any) -> int:
        location = _attribute(member, "data_member_location")
        if isinstance(location, int):
            return location
        (step,) = self._expressions(member.cu.structs).parse_expr(location)
        return step.args[0]


@functools.lru_cache(maxsize=4)
def debug_info(text: str) -> DebugInfo:
    """Of a PTX. Errors: as for DebugInfo."""
    return DebugInfo(text.splitlines())
