"""Generated programs: the same for a seed everywhere, accepted by the front end, judged alike by every judge."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator

import pytest
from tiletwin import fuzz
from tiletwin.fuzz import generator, judges, running, twins, types
from tiletwin.fuzz.forms import FORMS
from tiletwin.fuzz.tree import Op, lists, ops
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
    environment = os.environ | {"PYTHONHASHSEED": "77"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
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
    """Each pattern fits a statement, and many programs are for every judge."""
    programs = [generator.program(seed, 12) for seed in range(400)]
    for judge, known in judges.AVOIDED.items():
        reasons = Counter(judges.avoided(judge, program) for program in programs)
        assert reasons[""] > 150, (judge, reasons)
        lines = {judges._line(op) for program in programs for op in ops(program)}
        unseen = [pattern for pattern, _ in known if not any(re.search(pattern, line) for line in lines)]
        assert not unseen, (judge, unseen)
