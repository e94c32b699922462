"""Generated programs: the same for a seed everywhere, accepted by the front end, judged alike by every judge."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator

import children
import pytest
from tiletwin import fuzz
from tiletwin.fuzz import avoided, generator, running, twins, types
from tiletwin.fuzz.forms import FORMS
from tiletwin.fuzz.tree import For, If, Let, Op, Program, Value, lists, ops
from tiletwin.fuzz.types import Type
from tiletwin.fuzz.work import Settings, Worker

PAIRS = [
    pytest.param(name, element, marks=[pytest.mark.slow] if number else [])
    for name, row in FORMS.items()
    for number, element in enumerate(row.elements)
]


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    before = dict(os.environ)
    made = Worker(Settings(("interp", "twins"), shrink_seconds=0))
    yield made
    made.close()
    os.environ.clear()
    os.environ.update(before)


def test_a_seed_gives_the_same_text_in_another_process() -> None:
    code = "from tiletwin import fuzz\nfor seed in range(20): print(fuzz.kernel_text(fuzz.program(seed)))"
    done = children.run_code(code, PYTHONHASHSEED="77")
    assert done.stdout == "".join(f"{fuzz.kernel_text(fuzz.program(seed))}\n" for seed in range(20))


def test_seeds_give_different_programs() -> None:
    assert len({fuzz.kernel_text(fuzz.program(seed)) for seed in range(50)}) == 50


def say_types(program) -> None:
    """Behind every statement of the kernel: its results have the types that the generator thinks."""
    for body in list(lists(program.body)):
        for place in reversed(range(len(body))):
            for value in body[place].results if isinstance(body[place], Op) else ():
                if value.type.element in types.ELEMENTS:
                    checks = [f"tl.static_assert({value.text}.dtype == {value.type})"]
                    if value.type.shape:
                        checks.append(f"tl.static_assert({value.text}.shape == {list(value.type.shape)})")
                    body[place + 1 : place + 1] = [Op("check", "", check, [], effect=True) for check in checks]


@pytest.mark.parametrize("form, element", PAIRS)
def test_each_form_with_each_type(form: str, element: str) -> None:
    """A program of one form is what it says, its values have the types that it says, and the front end takes it."""
    made = generator.Generator(17, [form])
    made.rows = [(FORMS[form], element)]
    made.weights = [1.0]
    program = made.make(1)
    assert (form, element) in {(op.form, op.element) for op in ops(program)}, fuzz.kernel_text(program)
    say_types(program)
    try:
        assert running.launch_of(program).ttir
    finally:
        running.forget(program)


@pytest.mark.parametrize("seed", range(10))
def test_programs_and_their_twins(seed: int, worker: Worker) -> None:
    record = worker.run(seed)
    assert record["status"] == "ran", record["findings"][0]["message"]
    judged = {judge for judge, _, _, _ in record["verdicts"]}
    assert judged >= {"interp", "twin: opaque lanes"}


@pytest.mark.slow
@pytest.mark.parametrize("start", range(1000, 2000, 100))
def test_many_programs_on_the_simulator(start: int) -> None:
    worker = Worker(Settings(("interp", "eager", "sim:80", "sim:90"), shrink_seconds=30))
    try:
        for seed in range(start, start + 20):
            record = worker.run(seed)
            assert not record["findings"], record["findings"][0]["text"] + record["findings"][0]["message"]
    finally:
        worker.close()


def test_every_twin_is_made() -> None:
    """No change of the table is one that no program allows."""
    made = {name for seed in range(200) for name, change in twins.TWINS.items() if change(generator.program(seed))}
    made |= {name for name, change in twins.CODE_TWINS.items() if change(generator.program(0))}
    made |= {"half blocks"} if any(twins.half_blocks(_lanewise(seed)) for seed in range(10)) else set()
    assert made == {*twins.TWINS, *twins.CODE_TWINS}


def _lanewise(seed: int):
    made = generator.Generator(seed, ["arithmetic", "where", "minimum"])
    made.shapes = [(64,)]
    made.new_shape = lambda rank: (64,)  # type: ignore[method-assign]
    return made.make(3)


def test_every_known_mistake_of_a_judge_occurs() -> None:
    """Each row of the table fits a program, and many programs are for every judge."""
    programs = [generator.program(seed, 12) for seed in range(400)]
    for judge, known in avoided.AVOIDED.items():
        reasons = Counter(avoided.reason(judge, program) for program in programs)
        assert reasons[""] > 150, (judge, reasons)
        unseen = [patterns for patterns, _ in known if not any(avoided.has(program, patterns) for program in programs)]
        for seed in range(400, 4000):
            unseen = [patterns for patterns in unseen if not avoided.has(generator.program(seed, 12), patterns)]
            if not unseen:
                break
        assert not unseen, (judge, unseen)
    assert any(avoided.binds_two_names(program.body) for program in programs)


def _program(*body) -> Program:
    return Program(0, list(body))


def test_patterns_follow_what_statements_make() -> None:
    number, wide = Value("a", Type("int32", (8,))), Value("b", Type("uint64", (8,)))
    between, other = Value("c", Type("uint64", (8,))), Value("d", Type("uint64", (8,)))
    cast = Op("cast", "int32", "{}.to(tl.uint64)", [number], [wide])
    passed = Op("where", "uint64", "tl.where(a > 0, {}, 0)", [wide], [between])
    result = Value("e", Type("float32", (8,)))
    used = Op("cast", "uint64", "{}.to(tl.float32)", [between], [result])
    unrelated = Op("cast", "uint64", "{}.to(tl.float32)", [other], [result])
    patterns = (r"int32 uint64: \{\}\.to\(tl\.uint64", r"uint64 float32: ")
    assert avoided.has(_program(cast, passed, used), patterns)
    assert avoided.has(_program(cast, passed, Let(other, between), unrelated), patterns)
    assert not avoided.has(_program(cast, passed, unrelated), patterns)
    # What a round of a loop leaves reaches the next one.
    loop = For(Value("i", Type("int32")), "k", 0, "range", [unrelated, cast, Let(other, wide)])
    assert avoided.has(_program(loop), patterns)


def test_names_of_one_value_that_a_loop_exchanges() -> None:
    type_ = Type("int32")
    a, b, first, second, sum_ = (Value(name, type_) for name in ("a", "b", "first", "second", "sum"))
    index = Value("i", type_)
    loop = For(index, "k", 0, "range", [Let(a, b), Op("arithmetic", "int32", "{} + 1", [b], [sum_]), Let(b, sum_)])
    assert avoided.binds_two_names([Let(a, first), Let(b, first), loop])
    assert not avoided.binds_two_names([Let(a, first), Let(b, second), loop])
    assert avoided.binds_two_names([If(first, [Let(a, first), Let(b, a), loop], [])])
