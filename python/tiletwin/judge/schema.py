"""What a reference says of its inputs and results, beside examples: the dictionary JUDGE of its file.

Here:      the words, their defaults, what is refused.
Not here:  examples (conventions.py), inputs made of them (inputs.py).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

ALL = ("sizes", "values", "strides", "offsets", "dtypes", "aliases", "special", "relations", "scalars")
"""Ways to vary inputs; "special": NaN and infinities; "relations": changes that the reference's results follow;
"scalars": other numbers for arguments that are no tensors."""
DENSE = ("sizes", "values", "special")
"""Of files whose inputs are dense and do not alias."""


class BadProblem(ValueError):
    """The reference, or what it says, cannot be used: nothing is judged."""


@dataclass(frozen=True)
class Schema:
    """JUDGE = {"entry": "softmax", "dtypes": ["float32", "float16"], "gradients": True}

    entry: name of the submission's function; reference: of the reference's; both default to the convention's.
    vary: ways that inputs are varied in. A submission has to be right for all of them.
    dtypes: types of float arguments beside those of the examples.
    gradients: whether gradients of float arguments are compared too.
    sizes: values that a size may have, by its value in the examples: {512: [1, 7, 512]}; [512]: it is fixed.
    bound: bound(expected, *args) -> tensor or number, the reference's own bound; else it is derived.
    atol, rtol: least bound of each element: atol + rtol * |expected|.
    tf32: whether float32 operands of products may be read with 10 bits behind the point.
    numpy: the submission gets NumPy's arrays and may give such; the reference has tensors all the same.
    """

    entry: str = ""
    reference: str = ""
    vary: tuple[str, ...] = ALL
    dtypes: tuple[str, ...] = ()
    gradients: bool = False
    sizes: dict[int, Any] = dataclasses.field(default_factory=dict)
    bound: Callable[..., Any] | None = None
    atol: float = 0.0
    rtol: float = 0.0
    tf32: bool = True
    numpy: bool = False


def schema_of(said: Any, vary: tuple[str, ...]) -> Schema:
    """Of a file's JUDGE. vary: the convention's ways. Errors: BadProblem."""
    if not isinstance(said, dict):
        raise BadProblem(f"JUDGE is a {type(said).__name__}, not a dictionary")
    known = {field.name for field in dataclasses.fields(Schema)}
    if unknown := sorted(set(said) - known):
        raise BadProblem(f"JUDGE has {', '.join(unknown)}; it may have {', '.join(sorted(known))}")
    said = {"vary": vary, **said}
    said["vary"], said["dtypes"] = tuple(said["vary"]), tuple(said.get("dtypes", ()))
    if wrong := sorted(set(said["vary"]) - set(ALL)):
        raise BadProblem(f"JUDGE: vary has {', '.join(wrong)}; it may have {', '.join(ALL)}")
    if said.get("numpy") and (said.get("gradients") or "bfloat16" in said["dtypes"]):
        raise BadProblem("JUDGE: NumPy's arrays have neither gradients nor bfloat16")
    return Schema(**said)
