"""Writes PTX for one instruction of machine code after the other.

Here:      registers of a kernel as registers of PTX; operands with their signs, results under the guard.
Not here:  what opcodes mean (integers.py, floats.py, halves.py, conversions.py, memory.py, control.py, products.py).
Registers: R5 is %r5, UR5 is %u5, P2 is %p2, UP2 is %v2, all of 32 bits or predicates; %t, %d, %h, %q are for values in
between. Every lane has its own uniform registers: they hold the same.
"""

from __future__ import annotations

import struct
from dataclasses import replace

from tiletwin.machine.listing import Instruction
from tiletwin.machine.operands import ADDRESS, CONSTANT, NUMBER, PREDICATE, REGISTER, ZERO, Operand

_KINDS = {"t": "b32", "d": "b64", "h": "b16", "q": "pred"}
_SIGN, _MAGNITUDE = 0x80000000, 0x7FFFFFFF


class Unknown(Exception):
    """An instruction that has no meaning here yet; the text is what is missing."""


def f32_bits(text: str) -> int:
    """Of a number as nvdisasm prints it, which is enough digits to be exact."""
    value = float(text.replace("QNAN", "nan").replace("INF", "inf"))
    return 0x7FFFFFFF if value != value else struct.unpack("<I", struct.pack("<f", value))[0]


def f16_bits(text: str) -> int:
    """As f32_bits, of a half."""
    value = float(text.replace("QNAN", "nan").replace("INF", "inf"))
    return 0x7FFF if value != value else struct.unpack("<H", struct.pack("<e", value))[0]


def bf16_bits(text: str) -> int:
    return f32_bits(text) >> 16


PARAMETERS = 0x210
"""Where constant bank 0 has a kernel's parameters, from sm_90 on."""
BANK_ALIGNMENT = 64
"""Of what PTX has in place of the bank: the largest one that parameters have."""
_STACK, _PARAMETERS_ADDRESS, _NOTHING = 0x28, (0x198, 0x19C), (0x208, 0x20C)
"""In bank 0: where the stack begins, the address of parameters, what descriptors of global memory begin with."""
_SIZES = {0: "%ntid.x", 4: "%ntid.y", 8: "%ntid.z", 12: "%nctaid.x", 16: "%nctaid.y", 20: "%nctaid.z"}


class Writer:
    """`lines` is the text so far. guard: of the instruction at hand, as PTX writes it."""

    def __init__(self, parameter_bytes: int, stack: int, symbols: list[str]) -> None:
        self.lines: list[str] = []
        self.guard = ""
        self.one: Instruction
        self.returns: list[int] = []
        """The instructions that calls go on with."""
        self.opcodes: set[str] = set()
        """Of all the code."""
        self._parameter_bytes, self._stack, self._symbols = parameter_bytes, stack, symbols
        self._used = dict.fromkeys(_KINDS, 0)
        self._most = dict.fromkeys(_KINDS, 0)

    def begin(self, one: Instruction) -> None:
        """What is put from here on is this instruction."""
        self.one, self.guard = one, ""
        self._used = dict.fromkeys(_KINDS, 0)
        if one.guard is not None:
            name = self.predicate_name(one.guard)
            if name in self._written():
                kept = self.new("q")
                self.put(f"mov.pred {kept}, {name}")
                name = kept
            self.guard = f"@{'!' if one.guard.inverted else ''}{name} "

    def _written(self) -> set[str]:
        """Predicates that the instruction may write: the first two operands."""
        first = [one for one in self.one.operands[:3] if one.kind == PREDICATE and one.number != ZERO]
        return {self.predicate_name(one) for one in first} | (
            {*map("%p{}".format, range(7))} if self.one.opcode == "R2P" else set()
        )

    def declarations(self) -> str:
        made = [f".reg .{kind} %{name}<{self._most[name] + 1}>;" for name, kind in _KINDS.items()]
        return "\n".join(
            [
                ".reg .b32 %r<256>, %angle<256>, %u<64>, %nowhere, %voted;",
                ".reg .pred %p<8>, %v<8>, %true, %nothing;",
                *made,
            ]
        )

    def put(self, text: str) -> None:
        self.lines.append(f"\t{self.guard}{text};")

    def mark(self) -> None:
        """For an instruction that does nothing that a lane could tell."""
        self.put("mov.b32 %nowhere, 0")

    def new(self, kind: str) -> str:
        number = self._used[kind]
        self._used[kind] += 1
        self._most[kind] = max(self._most[kind], number + 1)
        return f"%{kind}{number}"

    def op(self, text: str, *operands: str, kind: str = "t") -> str:
        """Puts `text` with a new register in front; that register."""
        made = self.new(kind)
        self.put(f"{text} {', '.join((made, *operands))}")
        return made

    # Registers

    def name(self, one: Operand, step: int = 0) -> str:
        """Of a register of 32 bits that is read. RZ is 0."""
        if one.number == ZERO:
            return "0"
        return f"%{'u' if one.uniform else 'r'}{one.number + step}"

    def result(self, one: Operand, step: int = 0) -> str:
        return "%nowhere" if one.number == ZERO else self.name(one, step)

    def angle(self, one: Operand) -> str:
        """What a register's turns were made of (floats.py)."""
        return f"%angle{one.number}" if one.number != ZERO else "%nowhere"

    def predicate_name(self, one: Operand) -> str:
        return "%true" if one.number == ZERO else f"%{'v' if one.uniform else 'p'}{one.number}"

    def predicate(self, one: Operand) -> str:
        """A predicate that is read, as a register without a sign."""
        name = self.predicate_name(one)
        return self.op("not.pred", name, kind="q") if one.inverted else name

    def predicate_result(self, one: Operand) -> str:
        return "%nothing" if one.number == ZERO else self.predicate_name(one)

    def carry(self, one: Operand) -> str:
        """0 or 1."""
        if one.number == ZERO:
            return "0" if one.inverted else "1"
        first, second = ("0", "1") if one.inverted else ("1", "0")
        return self.op("selp.b32", first, second, self.predicate_name(one))

    # Integers

    def plain(self, one: Operand) -> str:
        """32 bits without a sign, in a register or as a number."""
        if one.kind == REGISTER:
            return self.name(one)
        if one.kind == CONSTANT:
            return self.constant(one, 4)[0]
        if one.kind == NUMBER:
            number = one.number
            if "0x" not in one.text:
                number = f32_bits(one.text)
            return f"0x{number & 0xFFFFFFFF:x}"
        raise Unknown(f"operand {one.text}")

    def word(self, one: Operand) -> str:
        """32 bits as an integer: negated, inverted, or of the absolute value."""
        value = self.plain(one)
        if one.absolute:
            value = self.op("abs.s32", value)
        if one.inverted:
            value = self.op("not.b32", value)
        return self.op("neg.s32", value) if one.negative else value

    def pair(self, one: Operand) -> str:
        """64 bits: a register and the next."""
        if one.kind == CONSTANT:
            low, high = self.constant(one, 8)
            return self.op("mov.b64", f"{{{low}, {high}}}", kind="d")
        if one.kind == NUMBER:
            return f"0x{one.number & 0xFFFFFFFFFFFFFFFF:x}"
        if one.number == ZERO:
            return "0"
        value = self.op("mov.b64", f"{{{self.name(one)}, {self.name(one, 1)}}}", kind="d")
        return self.op("neg.s64", value, kind="d") if one.negative else value

    def set_pair(self, one: Operand, value: str) -> None:
        self.put(f"mov.b64 {{{self.result(one)}, {self.result(one, 1)}}}, {value}")

    def move(self, one: Operand, value: str) -> None:
        self.put(f"mov.b32 {self.result(one)}, {value}")

    # Floats

    def float(self, one: Operand) -> str:
        """An f32, its sign as the operand has it."""
        value = self.float_bits(one)
        return value if value[0] == "%" else f"0f{int(value, 0):08x}"

    def float_bits(self, one: Operand) -> str:
        """The same for instructions of PTX that take bits."""
        value = self.plain(one)
        if one.absolute:
            value = self.op("and.b32", value, f"0x{_MAGNITUDE:x}")
        return self.op("xor.b32", value, f"0x{_SIGN:x}") if one.negative else value

    def double(self, one: Operand) -> str:
        """An f64. A NaN keeps its sign."""
        if one.kind == NUMBER:
            value = float(one.text.replace("INF", "inf").replace("QNAN", "nan"))
            return f"0d{struct.unpack('<Q', struct.pack('<d', value))[0]:016x}"
        if one.is_zero:
            return "0d8000000000000000" if one.negative else "0d0000000000000000"
        plain = Operand(one.kind, one.text, one.number, one.uniform, bank=one.bank, offset=one.offset, terms=one.terms)
        value = self.pair(plain)
        if one.absolute:
            value = self.op("abs.f64", value, kind="d")
        return self.op("neg.f64", value, kind="d") if one.negative else value

    def half(self, one: Operand) -> str:
        """An f16 or bf16: the low half of a register, or the one that the operand names."""
        value = self.float_bits(replace(one, negative=False, absolute=False))
        half = self.new("h")
        high = bool({"H1", "H1_H1"} & set(one.words))
        self.put(f"mov.b32 {{{'_' if high else half}, {half if high else '_'}}}, {self.op('mov.b32', value)}")
        if one.absolute:
            half = self.op("and.b16", half, "0x7fff", kind="h")
        return self.op("xor.b16", half, "0x8000", kind="h") if one.negative else half

    # Constants and addresses

    def constant(self, one: Operand, size: int) -> list[str]:
        """`size` bytes of a constant bank, in registers of 32 bits."""
        if one.terms:
            return self._indexed(one, size)
        if one.bank == 4 and size == 8 and one.offset // 8 < len(self._symbols):
            address = self.op("mov.b64", self._symbols[one.offset // 8], kind="d")
            pair = [self.new("t"), self.new("t")]
            self.put(f"mov.b64 {{{', '.join(pair)}}}, {address}")
            return pair
        if one.bank != 0:
            raise Unknown(f"constant bank {one.bank}")
        return [self._constant_word(one.offset + step) for step in range(0, size, 4)]

    def _indexed(self, one: Operand, size: int) -> list[str]:
        """Of parameters, at what a register says."""
        if one.bank != 0 or one.offset < PARAMETERS:
            raise Unknown(f"constants by index, {one.text}")
        place = self.op("mov.b64", "bank", kind="d")
        for uniform, number, _ in one.terms:
            index = self.op("cvt.u64.u32", f"%{'u' if uniform else 'r'}{number}", kind="d")
            place = self.op("add.s64", place, index, kind="d")
        offset = one.offset - PARAMETERS + PARAMETERS % BANK_ALIGNMENT
        return [self.op("ld.param.b32", f"[{place}+{offset + step}]") for step in range(0, size, 4)]

    def _constant_word(self, offset: int) -> str:
        if offset in _SIZES:
            return self.op("mov.u32", _SIZES[offset])
        if offset == _STACK:
            return str(self._stack)
        if offset in _NOTHING:
            return "0"
        if offset in _PARAMETERS_ADDRESS:
            place = self.op("mov.b64", "bank", kind="d")
            base = self.op("cvta.param.u64", place, kind="d")
            address = self.op("add.s64", base, str(PARAMETERS % BANK_ALIGNMENT), kind="d")
            halves = [self.new("t"), self.new("t")]
            self.put(f"mov.b64 {{{', '.join(halves)}}}, {address}")
            return halves[_PARAMETERS_ADDRESS.index(offset)]
        if PARAMETERS <= offset < PARAMETERS + self._parameter_bytes:
            return self.op("ld.param.b32", f"[bank+{offset - PARAMETERS + PARAMETERS % BANK_ALIGNMENT}]")
        raise Unknown(f"constant 0x{offset:x}")

    def address(self, one: Operand, space: str) -> str:
        """What stands in the brackets of PTX, without them. Shared and local: 32 bits, else 64."""
        if one.kind != ADDRESS:
            raise Unknown(f"address {one.text}")
        if space in ("global", ""):
            return self._wide_address(one)
        names = [f"%{'u' if uniform else 'r'}{number}" for uniform, number, _ in one.terms]
        if not names:
            names = [self.op("mov.b32", "0")]
        total = names[0]
        for name in names[1:]:
            total = self.op("add.s32", total, name)
        return f"{total}+{one.offset}" if one.offset else total

    def _wide_address(self, one: Operand) -> str:
        """`[R2.64+UR4+0x10]`: a pair, to which what is of 32 bits is added without a sign. One alone is a pair."""
        wide = one.terms if len(one.terms) == 1 else [term for term in one.terms if term[2]]
        if not wide:
            raise Unknown(f"address {one.text}")
        total = ""
        for uniform, number, _ in wide:
            letter = "u" if uniform else "r"
            value = self.op("mov.b64", f"{{%{letter}{number}, %{letter}{number + 1}}}", kind="d")
            total = self.op("add.s64", total, value, kind="d") if total else value
        for uniform, number, is_wide in one.terms:
            if not is_wide and (uniform, number, is_wide) not in wide:
                value = self.op("cvt.u64.u32", f"%{'u' if uniform else 'r'}{number}", kind="d")
                total = self.op("add.s64", total, value, kind="d") if total else value
        return f"{total}+{one.offset}" if one.offset else total

    def vector(self, one: Operand, words: int, reads: bool) -> str:
        """Registers in a row, in braces where they are several."""
        if one.number == ZERO and reads:
            names = [self.op("mov.b32", "0")] * words
        elif reads:
            names = [self.name(one, step) for step in range(words)]
        else:
            names = [self.result(one, step) for step in range(words)]
        return names[0] if words == 1 else f"{{{', '.join(names)}}}"
