"""Makes a program that shows a finding as small as it gets, on the typed tree.

Here:      the steps (what may be left out or put in place of something else), and how they are tried.
Not here:  what counts as the same finding (judging.py).
Idea:      every statement is safe for every operand of its type (tree.py), so a statement may be dropped and its
           results replaced by any values of their types. Addresses stay, or become those of the first elements. No
           candidate can be undefined, and none has to be checked for that.
"""

from __future__ import annotations

import copy
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from math import prod
from typing import Any

from tiletwin.fuzz import types
from tiletwin.fuzz.text import kernel_lines
from tiletwin.fuzz.tree import (
    ADDRESSES,
    POINTER,
    For,
    If,
    Leave,
    Let,
    Op,
    Program,
    Value,
    While,
    blocks,
    lists,
    used,
    walk,
)
from tiletwin.fuzz.types import Type

Fails = Callable[[Program], bool]


def _substitute(program: Program, names: dict[str, Value]) -> None:
    """Puts other values in the places of variables, everywhere in the kernel."""
    for statement in walk(program.body):
        if isinstance(statement, Op):
            statement.operands = [names.get(value.text, value) for value in statement.operands]
        elif isinstance(statement, Let):
            statement.source = names.get(statement.source.text, statement.source)
        elif isinstance(statement, (If, Leave)):
            statement.condition = names.get(statement.condition.text, statement.condition)


def pruned(program: Program) -> Program:
    """Without what nobody uses: statements, empty blocks, parameters, helpers."""
    while True:
        before = sum(1 for _ in walk(program.body))
        needed = {value.text for statement in walk(program.body) for value in used(statement)}
        for body in list(lists(program.body)):
            body[:] = [s for s in body if _is_needed(s, needed)]
        if sum(1 for _ in walk(program.body)) == before:
            break
    called = _words(" ".join(s.template for s in walk(program.body) if isinstance(s, Op)))
    program.helpers = [h for h in program.helpers if h.name in called]
    without_parameters = replace(program, buffers=[], descriptors=[], scalars={}, constants={}, extra=[])
    words = _words("\n".join(kernel_lines(without_parameters)))
    program.buffers = [b for b in program.buffers if b.name in words]
    program.descriptors = [d for d in program.descriptors if d.name in words]
    program.scalars = {name: value for name, value in program.scalars.items() if name in words}
    program.constants = {name: value for name, value in program.constants.items() if name in words}
    return program


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def _is_needed(statement: Any, needed: set[str]) -> bool:
    if isinstance(statement, Op):
        return statement.effect or any(value.text in needed for value in statement.results)
    if isinstance(statement, Let):
        return statement.target.text in needed
    return isinstance(statement, Leave) or any(blocks(statement))


# ---- candidates ----


def _places(program: Program) -> Iterator[tuple[int, int, Any]]:
    """Every statement, with the number of the list that it stands in, and its place there."""
    for number, body in enumerate(lists(program.body)):
        for place, statement in enumerate(body):
            yield number, place, statement


def _copied(program: Program, number: int) -> tuple[Program, list[Any]]:
    """A copy, and its list of statements of that number."""
    twin = copy.deepcopy(program)
    return twin, list(lists(twin.body))[number]


def _leaf(value: Value) -> Op:
    """A statement that makes a value of a type out of nothing."""
    element, shape = value.type.element, value.type.shape
    number = {"b": "True", "f": "1.5"}.get(types.kind(element), "3")
    text = f"tl.full({list(shape)}, {number}, tl.{element})"
    if types.kind(element) == "8":  # a bit pattern, which every front end takes for the same
        text = f"tl.full({list(shape)}, 60, tl.uint8).to(tl.{element}, bitcast=True)"
    return Op("leaf", element, text, [], [value])


def _without_stores(program: Program) -> Iterator[Program]:
    """All but one of the stores of results go."""
    stores = [i for i, s in enumerate(program.body) if isinstance(s, Op) and s.output >= 0]
    for keep in stores if len(stores) > 1 else []:
        twin, body = _copied(program, 0)
        body[:] = [s for i, s in enumerate(body) if i == keep or i not in stores]
        yield twin


def _without_chunks(program: Program) -> Iterator[Program]:
    """Runs of statements go, long ones first; what they made becomes constants."""
    for number, whole in enumerate(lists(program.body)):
        step = len(whole)
        while step >= 1:
            for start in range(0, len(whole), step):
                twin, body = _copied(program, number)
                gone = body[start : start + step]
                made = [v for s in walk(gone) if isinstance(s, Op) for v in s.results]
                made += [s.target for s in walk(gone) if isinstance(s, Let)]
                body[start : start + step] = []
                needed = {v.text for s in walk(twin.body) for v in used(s)}
                addresses = {v.text for s in gone if isinstance(s, Op) and s.form in ADDRESSES for v in s.results}
                addresses |= {v.text for v in made if v.type.element == POINTER}
                if addresses & needed:
                    continue
                seen: set[str] = set()
                for value in made:
                    if value.text in needed and value.text not in seen:
                        seen.add(value.text)
                        body.insert(start, _leaf(value))
                if len(gone) > len(seen) or any(not isinstance(s, Op) or s.form != "leaf" for s in gone):
                    yield twin
            step //= 2


def _flattened(program: Program) -> Iterator[Program]:
    """A branch becomes one of its arms, a loop becomes its body once."""
    for number, place, statement in _places(program):
        for arm in range(len(blocks(statement))):
            twin, there = _copied(program, number)
            old = there[place]
            inner = blocks(old)[arm]
            index = old.index if isinstance(old, For) else old.counter if isinstance(old, While) else None
            if index is not None and index.is_variable:
                inner = [Op("leaf", "int32", "tl.full([], 0, tl.int32)", [], [index]), *inner]
            there[place : place + 1] = inner
            yield twin


def _with_earlier_values(program: Program) -> Iterator[Program]:
    """A statement goes, and its result is an operand of its own, or a value that was there before it."""
    earlier: list[Value] = []
    for number, place, statement in _places(program):
        if not isinstance(statement, Op) or not statement.results or statement.form in ("leaf", *ADDRESSES):
            continue
        names: dict[str, Value] = {}
        for result in statement.results:
            near = [*statement.operands, *(earlier if number == 0 else [])]
            fitting = [v for v in near if v.type == result.type and v.is_variable and (v.exact or not result.exact)]
            if fitting:
                names[result.text] = fitting[0]
        if len(names) == len(statement.results):
            twin, there = _copied(program, number)
            del there[place]
            _substitute(twin, names)
            yield twin
        if number == 0:
            earlier += statement.results


def _without_names(program: Program) -> Iterator[Program]:
    """`c = v` goes where c is bound once."""
    bound = Counter(statement.target.text for statement in walk(program.body) if isinstance(statement, Let))
    for number, place, statement in _places(program):
        if isinstance(statement, Let) and bound[statement.target.text] == 1:
            twin, there = _copied(program, number)
            del there[place]
            _substitute(twin, {statement.target.text: statement.source})
            yield twin


def _inlined(program: Program) -> Iterator[Program]:
    """A call of a helper becomes the helper's statements."""
    for number, place, statement in _places(program):
        if not isinstance(statement, Op) or statement.form != "call":
            continue
        name = statement.template.split("(")[0]
        helper = next((h for h in program.helpers if h.name == name), None)
        if helper is None or helper.lines:
            continue
        twin, there = _copied(program, number)
        call, own = there[place], copy.deepcopy(helper)
        given = dict(zip((p.text for p in own.parameters), call.operands))
        part = Program(0, own.body)
        _substitute(part, given)
        there[place : place + 1] = part.body
        _substitute(twin, dict(zip((v.text for v in call.results), (given.get(v.text, v) for v in own.results))))
        yield twin


def _simpler_loads(program: Program) -> Iterator[Program]:
    """A load reads the first elements of its buffer, without a mask; its result stays in place."""
    for number, place, op in _places(program):
        if not isinstance(op, Op) or not op.template.startswith("tl.load({}") or op.form == "store and load":
            continue
        shape = op.results[0].type.shape
        made = (s.results[0] for s in walk(program.body) if isinstance(s, Op) and s.form == "lanes")
        lanes = next((value for value in made if value.type.shape == shape), None)
        if lanes is None or (op.template == "tl.load({} + {})" and op.operands[1:] == [lanes]):
            continue
        twin, there = _copied(program, number)
        there[place].template, there[place].operands = "tl.load({} + {})", [op.operands[0], lanes]
        yield twin


def _plainer_launches(program: Program) -> Iterator[Program]:
    """One program, usual options, plain numbers in the buffers."""
    if prod(program.grid) > 1:
        twin = copy.deepcopy(program)
        twin.grid = (1,)
        yield twin
    for name, value in (("num_stages", 1), ("num_warps", 4), ("num_warps", 1)):
        if program.options.get(name) not in (value, 1):
            twin = copy.deepcopy(program)
            twin.options[name] = value
            yield twin
    for number, buffer in enumerate(program.buffers):
        for content in ("small", "normal"):
            if buffer.content in ("edge", "normal") and buffer.content != content:
                twin = copy.deepcopy(program)
                twin.buffers[number] = replace(buffer, content=content)
                yield twin


def _stored_inside(program: Program) -> Iterator[Program]:
    """A value of the kernel's own body is stored in place of what is stored now: what came after it can go."""
    stores = [s for s in program.body if isinstance(s, Op) and s.output >= 0]
    if len(stores) != 1:
        return
    (store,) = stores
    made = [v for s in program.body if isinstance(s, Op) and s.form not in ("leaf", "lanes") for v in s.results]
    for value in made:
        if value.type.shape != store.operands[-1].type.shape or value.text == store.operands[-1].text:
            continue
        twin = copy.deepcopy(program)
        op = next(s for s in twin.body if isinstance(s, Op) and s.output >= 0)
        number = next(i for i, b in enumerate(twin.buffers) if b.name == op.operands[0].text)
        twin.buffers[number] = replace(twin.buffers[number], element=value.type.element)
        op.operands = [Value(op.operands[0].text, Type(value.type.element), True, False), *op.operands[1:-1], value]
        op.element = value.type.element
        yield twin


STEPS = (
    _without_stores, _without_chunks, _flattened, _inlined, _stored_inside, _with_earlier_values, _without_names,
    _simpler_loads, _plainer_launches,
)  # fmt: skip


def cost(program: Program) -> tuple[int, ...]:
    """What shrinking makes smaller: lines, then statements that are no plain constants, buffers, programs, edges."""
    real = sum(1 for s in walk(program.body) if not isinstance(s, Op) or s.form != "leaf")
    edges = sum({"edge": 2, "normal": 1}.get(b.content, 0) for b in program.buffers)
    text = kernel_lines(program)
    return len(text), real, prod(program.grid), edges, sum(map(len, text)), sum(program.options.values())


def shrunk(program: Program, fails: Fails, seconds: float = 20.0) -> Program:
    """The smallest program found for which `fails` holds; it holds for `program`. seconds: how long to look."""
    end = time.monotonic() + seconds
    best = program
    progress = True
    while progress and time.monotonic() < end:
        progress = False
        for step in STEPS:
            again = True
            while again and time.monotonic() < end:
                again = False
                for candidate in step(best):
                    if time.monotonic() > end:
                        break
                    candidate = pruned(candidate)
                    if cost(candidate) < cost(best) and fails(candidate):
                        best, again, progress = candidate, True, True
                        break
    return best
