"""Inputs of a problem: its examples, and what is made of them by varying sizes, values, strides, types and aliases.

Here:      the list of cases, and each case's arguments, from a seed.
Not here:  what an example's numbers say of others (ranges.py), whether a reference takes arguments (oracle.py): a case
           that it refuses is left out.
Idea:      sizes that are equal in the examples are one size, in numbers among the arguments too. What this gets wrong
           the reference refuses.
Invariant: a case's arguments depend on the problem, the submission's block sizes, the seed and the case's number.
"""

from __future__ import annotations

import ast
import itertools
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_map

from tiletwin.judge import scalars, sequences
from tiletwin.judge.frames import TYPES
from tiletwin.judge.problem import Problem
from tiletwin.judge.ranges import Range, like
from tiletwin.judge.relations import Relation, candidates
from tiletwin.judge.text_checks import parsed

MOST_ELEMENTS = 1 << 16
"""Of all arguments of a usual case: larger examples are made smaller for it."""
_MOST_OF_SIZES = 1 << 18
"""Of a case with other sizes: the reference's bounds of attention over 97 heads of 257 rows took 12 s."""
MOST_OF_EXAMPLE = 1 << 20
"""Of the example, up to which it is run as it is."""
_SIZES = (1, 7, 48, 2, 97, 0, 33, 31, 130, 257)
"""48: a multiple of 16, and of no usual block."""
_SMALL = (1, 2, 5, 3)
_VALUES = ("small", "large", "zeros", "equal", "ties", "subnormal", "extreme", "mixed")
NEGATIVE = "negative strides"
"""Of NumPy's arrays; the worker makes them, as tensors have none."""
MIXED = "one transposed, the next sliced, the next as it is"
"""Strides of one argument that are used for another, which has them too as long as all are laid out alike."""
_SPECIAL, MOST_SPECIAL = ("nan", "inf", "-inf"), 4
"""MOST_SPECIAL: arguments that get NaN and infinities."""
_SEEDS = 100_003


@dataclass(frozen=True)
class Case:
    """way: one of schema.ALL, or "example". what: words for a report. sizes: new sizes by those of the examples."""

    number: int
    way: str
    what: str
    seed: int
    sizes: tuple[tuple[Any, int], ...] = ()
    word: str = ""

    @property
    def is_empty(self) -> bool:
        """Some size is 0: means are those of nothing."""
        return any(new == 0 for _, new in self.sizes)

    @property
    def is_example(self) -> bool:
        return self.way == "example"


def blocks_of(text: str) -> list[int]:
    """Powers of two from 8 to 4096 that a submission's text has: sizes of blocks, at whose edges masks are wrong."""
    found = {
        node.value for node in ast.walk(parsed(text)) if isinstance(node, ast.Constant) and isinstance(node.value, int)
    }
    return sorted(n for n in found if 8 <= n <= 4096 and not n & (n - 1))


def tensors_of(args: Any) -> list[torch.Tensor]:
    """All tensors of a tree, in order."""
    found: list[torch.Tensor] = []
    tree_map(lambda v: found.append(v) if isinstance(v, torch.Tensor) else None, args)
    return found


def _symbols(args: list[Any]) -> list[int]:
    """Sizes of the examples, each once, those that most arguments have first."""
    dims = [n for tensor in tensors_of(args) for n in tensor.shape if n > 1]
    return sorted(set(dims), key=lambda n: (-dims.count(n), n))


class Inputs:
    """The cases of a problem. smaller: sizes with which examples are small enough for many cases; first: of the example
    itself. values: how numbers are varied."""

    values = _VALUES
    relations: list[Relation] = []
    """That cases are made of (relations.py)."""
    note = ""
    """What the example is smaller by than the file says."""

    def __init__(self, problem: Problem, submission: str, seed: int = 0) -> None:
        self.problem, self.seed = problem, seed
        self.blocks = blocks_of(submission)
        self.original = problem.examples(seed)
        self._ranges: dict[int, Range] = {}
        """Of the original arguments, by their ids."""
        self.base_seed = seed * _SEEDS
        self.smaller = self._smaller()
        try:
            self.resized(dict(self.smaller))
        except ValueError:  # fewer places than distinct indices
            self.smaller = ()
        self.first = () if self._elements({}) <= MOST_OF_EXAMPLE else self.smaller
        example = self.base()
        self.relations = candidates(example, _symbols(example))

    @property
    def of_shapes(self) -> Inputs | None:
        """The ones whose sizes are those of the examples' shapes; None: none are."""
        return self

    def problem_of(self, case: Case) -> Problem:
        """The problem that a case is a case of."""
        del case
        return self.problem

    def _elements(self, sizes: dict[int, int]) -> int:
        """Of all arguments, with other sizes."""
        return sum(math.prod(sizes.get(n, n) for n in tensor.shape) for tensor in tensors_of(self.original))

    def _smaller(self) -> tuple[tuple[int, int], ...]:
        if "sizes" not in self.problem.schema.vary:
            return ()
        sizes = {n: n for n in _symbols(self.original)}
        free = [n for n in sizes if n not in self.problem.schema.sizes]
        while self._elements(sizes) > MOST_ELEMENTS and free and max(sizes[n] for n in free) > 16:
            largest = max(free, key=lambda n: sizes[n])
            sizes[largest] = max(sizes[largest] // 2, 16)
        return tuple((old, new) for old, new in sizes.items() if old != new)

    # ---- the list ----

    def cases(self) -> Iterator[Case]:
        """In the order in which they are run: first one of each way, then the others in turns."""
        number = 0
        groups = [list(group) for group in self._groups()]
        for turn in range(max(map(len, groups))):
            for group in groups:
                if turn < len(group):
                    way, what, sizes, word = group[turn]
                    yield Case(number, way, what, self.seed * _SEEDS + number, sizes, word)
                    number += 1

    def _groups(self) -> Iterator[list[tuple[str, str, tuple[tuple[int, int], ...], str]]]:
        small, first, vary = self.smaller, self.first, self.problem.schema.vary
        yield [("example", "the example" + (", made smaller" if first else ""), first, ""),
               ("example", "other numbers", first, "again")]  # fmt: skip
        if "sizes" in vary:
            yield self._size_cases()
            yield self._tied_sizes()
        if "values" in vary:
            yield [("values", f"{word} numbers", small, word) for word in self.values]
        if "special" in vary:
            yield self._special_cases()
        if "strides" in vary:
            words = [MIXED, "transposed", "sliced", "expanded"]
            words += [NEGATIVE] if self.problem.schema.numpy else []
            yield [("strides", word, small, word) for word in words]
        if "offsets" in vary:
            yield [("offsets", "memory that begins at an odd element", small, "offset")]
        if "dtypes" in vary and self.problem.schema.dtypes:
            yield [("dtypes", name, small, name) for name in self.problem.schema.dtypes]
        if "aliases" in vary:
            yield [("aliases", "two arguments that are one", small, "alias")]
        if "relations" in vary:
            yield [("relations", str(one), first, str(number)) for number, one in enumerate(self.relations)]
        if "sizes" in vary:
            yield self._mixed_sizes()
        if "scalars" in vary:
            given = [*self.original, *self.problem.defaults]
            yield [("scalars", what, first, word) for what, word in scalars.cases(given, _symbols(self.original))]

    def _special_cases(self) -> list:
        """In one argument at a time: of several NaN, what each decides is not known."""
        floats = [number for number, value in enumerate(self.original) if any(map(_is_float, tensors_of([value])))]
        floats = floats[:MOST_SPECIAL]
        turns = itertools.product(range(len(floats)), enumerate(_SPECIAL))
        made = [(word, floats[(turn + place) % len(floats)]) for turn, (place, word) in turns]
        return [("special", f"one {word} in argument {i}", self.smaller, f"{word} {i}") for word, i in made]

    def _choices(self, size: int) -> list[int]:
        """Other numbers for a size of the examples."""
        declared = self.problem.schema.sizes
        if size in declared:
            return [int(n) for n in declared[size] if int(n) != size]
        if size <= 4:
            return [n for n in _SMALL if n != size]
        near = [n + d for n in self.blocks if n <= 2 * max(size, 64) for d in (1, -1)][:8]
        # Kernels may ask for a power of two, and be right for the example's alone.
        near = ([2 * size, size // 2] if not size & (size - 1) else []) + near
        made = [n for pair in zip(_SIZES, near + [5] * len(_SIZES)) for n in pair] + near
        return [n for n in dict.fromkeys(made) if n != size]

    def _size_cases(self) -> list:
        small, rows = dict(self.smaller), []
        for size in _symbols(self.original)[:6]:
            for new in self._choices(size):
                sizes = tuple((small | {size: new}).items())
                if self._elements(dict(sizes)) <= _MOST_OF_SIZES:
                    rows.append(("sizes", f"{size} becomes {new}", sizes, ""))
        random.Random(self.seed).shuffle(rows)
        ones = [row for row in rows if row[1].endswith(" 1")]
        others = [row for row in rows if row not in ones]
        paired = [row for pair in zip(others, ones) for row in pair]  # 1 is an edge of every kernel
        return (paired + ones[len(others) :] + others[len(ones) :])[:40]

    def _tied_sizes(self) -> list:
        """Sizes of which one is a multiple of another, changed together: halves of a row, heads that share keys. So are
        numbers that divide a size, or count what lies in a group; they only become smaller."""
        small, rows = dict(self.smaller), []
        symbols = [n for n in _symbols(self.original)[:6] if n not in self.problem.schema.sizes]
        numbers = [n for n in self._numbers() if n not in self.problem.schema.sizes]
        changes = [
            (part, new, whole, new * (whole // part))
            for part, whole in (*itertools.permutations(symbols, 2), *itertools.product(numbers, symbols))
            for new in self._choices(part)[:6]
            if not whole % part and 0 < new < (part if part in numbers else new + 1)
        ]
        changes += [(n, n // 2, size, 2 * size) for n in numbers if not n % 2 for size in symbols]
        for part, new, whole, then in changes:
            sizes = tuple((small | {part: new, whole: then}).items())
            if self._elements(dict(sizes)) <= _MOST_OF_SIZES:
                rows.append(("sizes", f"{part} becomes {new}, {whole} becomes {then}", sizes, "tied"))
        random.Random(self.seed + 2).shuffle(rows)
        return rows[:16]

    def _numbers(self) -> list[int]:
        """Whole numbers among the arguments that are no sizes."""
        sizes = _symbols(self.original)
        found = [v for v in self.original if type(v) is int and v >= scalars.LEAST_SIZE and v not in sizes]
        return list(dict.fromkeys(found))

    def _mixed_sizes(self) -> list:
        """In every second case multiples stay such."""
        chosen, small, rows = random.Random(self.seed + 1), dict(self.smaller), []
        symbols = sorted(_symbols(self.original))
        for number in range(16):
            new: dict[int, int] = {}
            for n in symbols:
                part = max((m for m in new if not n % m), default=0) if number % 2 else 0
                is_fixed = n in self.problem.schema.sizes
                new[n] = new[part] * (n // part) if part and not is_fixed else chosen.choice(self._choices(n) or [n])
            new = small | {old: max(n, 1) for old, n in new.items()}
            sizes = tuple(new.items())
            what = ", ".join(f"{old} becomes {n}" for old, n in sizes)
            if self._elements(new) <= _MOST_OF_SIZES:
                rows.append(("sizes", what, sizes, ""))
        return rows

    # ---- arguments ----

    def arguments(self, case: Case) -> list[Any]:
        """New ones at every call. Errors: ValueError, the case makes no sense for these arguments."""
        if case.way == "relations":
            return self.relations[int(case.word)].changed(self.base())
        if case.way == "scalars":
            return scalars.changed([*self.base(), *self.problem.defaults], _symbols(self.original), case.word)
        generator = torch.Generator().manual_seed(case.seed)
        args = self._plain(case, generator)
        if case.way == "values":
            args = tree_map(lambda v: _with_values(v, case.word, generator), args)
        elif case.way == "special":
            word, number = case.word.split()
            args[int(number)] = tree_map(lambda v: _with_values(v, word, generator), args[int(number)])
        elif case.way == "dtypes":
            args = tree_map(lambda v: v.to(TYPES[case.word]) if _is_float(v) else v, args)
        elif case.way in ("strides", "offsets"):
            words = itertools.cycle(("transposed", "sliced", "") if case.word == MIXED else (case.word,))
            args = tree_map(lambda v: _laid_out(v, next(words)) if isinstance(v, torch.Tensor) else v, args)
        elif case.way == "aliases":
            args = _aliased(args)
        return args

    def _plain(self, case: Case, generator: torch.Generator) -> list[Any]:
        if not case.sizes and (case.is_example or case.way in ("strides", "offsets", "aliases")):
            return self.problem.examples(case.seed)
        return self._resized(dict(case.sizes), generator)

    def resized(self, sizes: dict[int, int]) -> list[Any]:
        """The example with other sizes."""
        return self._resized(sizes, torch.Generator().manual_seed(self.base_seed))

    def base(self) -> list[Any]:
        """The first case's arguments, which relations change."""
        if not self.first:
            return self.problem.examples(self.base_seed)
        return self.resized(dict(self.first))

    def _resized(self, sizes: dict[int, int], generator: torch.Generator) -> list[Any]:
        """Errors: ValueError, there is no room for distinct indices."""
        limits = self._with_room({n: n for n in _symbols(self.original)} | sizes)
        starts = [id(self.original[i]) for i, _ in sequences.pairs_of(self.original)]  # follow from their lengths

        def one(value: Any) -> Any:
            if isinstance(value, torch.Tensor):
                shape = [limits.get(n, n) for n in value.shape]
                if id(value) in starts:
                    return value.new_zeros(shape)
                return like(value, self._range(value), shape, limits, generator)
            if isinstance(value, int) and not isinstance(value, bool) and value >= scalars.LEAST_SIZE:
                return limits.get(value, value)
            return value

        return sequences.kept(self.original, tree_map(one, self.original), limits)

    def _range(self, value: torch.Tensor) -> Range:
        """Of one of the original arguments."""
        if id(value) not in self._ranges:
            self._ranges[id(value)] = Range.of(value)
        return self._ranges[id(value)]

    def _with_room(self, limits: dict[int, int]) -> dict[int, int]:
        """What distinct indices point into grows with their number, as pages do of which a table names others for each
        row, unless it is to have another size itself."""
        made = dict(limits)
        for value in tensors_of(self.original):
            if value.is_floating_point() or value.dtype == torch.bool:
                continue
            known = self._range(value)
            size, count = known.indexed(limits), math.prod(limits.get(n, n) for n in value.shape)
            if known.are_places and size is not None and limits[size] == size and count + known.low > made[size]:
                made[size] = count + int(known.low)
        if made != limits and self._elements(made) > MOST_OF_EXAMPLE:
            raise ValueError("too many numbers for distinct indices")
        return made


def _is_float(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def _with_values(value: Any, word: str, generator: torch.Generator) -> Any:
    """The same shape and type with other numbers; those that were never negative stay so."""
    if not _is_float(value) or not value.numel():
        return value
    facts = torch.finfo(value.dtype)
    numbers = value.double()
    if word == "zeros":
        made = torch.zeros_like(numbers)
    elif word == "equal":
        made = torch.full_like(numbers, float(numbers.flatten()[0]) or 1.0)
    elif word == "ties":
        made = numbers.round().clamp(-2, 2)
    elif word in ("small", "large"):
        made = numbers * (2.0**-10 if word == "small" else 2.0**6)
    elif word == "signed":
        made = numbers - numbers.mean()
    elif word == "subnormal":
        made = numbers * facts.tiny / 4
    elif word == "extreme":
        made = torch.where(_few(numbers, generator), numbers.sign() * facts.max / 2, numbers)
    elif word == "mixed":
        exponents = torch.randint(-8, 9, numbers.shape, generator=generator)
        made = numbers * 2.0**exponents
    else:
        made = numbers.clone()
        made.view(-1)[int(torch.randint(0, numbers.numel(), (1,), generator=generator))] = float(word)
    return (made.abs() if bool((numbers >= 0).all()) and word != "signed" else made).to(value.dtype)


def _few(value: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    return torch.rand(value.shape, generator=generator) < 4 / max(value.numel(), 4)


def _laid_out(value: torch.Tensor, word: str) -> torch.Tensor:
    """The same numbers elsewhere in memory."""
    if not value.numel() or word in (NEGATIVE, "") or (word != "offset" and value.dim() == 0):
        return value
    if word == "transposed":
        return value.transpose(-1, -2).contiguous().transpose(-1, -2) if value.dim() > 1 else value
    if word == "sliced":
        room = value.new_full((*value.shape[:-1], 2 * value.shape[-1] + 1), 7)
        room[..., 1::2] = value
        return room[..., 1::2]
    if word == "expanded":
        return value[:1].clone().expand(value.shape) if value.dim() > 1 else value
    room = value.new_full((value.numel() + 1,), 7)
    room[1:] = value.reshape(-1)
    return room[1:].view(value.shape)


def _aliased(args: list[Any]) -> list[Any]:
    """The second of two arguments of one shape and type is the first. Errors: ValueError, there are no two."""
    seen: dict[Any, int] = {}
    for number, value in enumerate(args):
        if isinstance(value, torch.Tensor):
            key = (value.shape, value.dtype)
            if key in seen:
                return [args[seen[key]] if i == number else v for i, v in enumerate(args)]
            seen[key] = number
    raise ValueError("no two arguments have one shape and type")
