"""A jit function that goes to another process without its Python function, as Inductor's compile workers send one.

Here:      what of it is pickled once a library has set its `fn` to None, and the function that comes of that.
Not here:  functions that the other process finds by their names (jit.py).
Invariant: what has come tells what it was: name, parameters, text, key. Nobody can compile or launch it.
"""

from __future__ import annotations

import inspect
from typing import Any

from tiletwin.kernels.callables import JITCallable, KernelParam

_KEPT = (
    "__name__", "__qualname__", "__doc__", "__module__", "_fn_name", "_hash", "module", "full_name", "version", "debug",
    "noinline", "do_not_specialize", "do_not_specialize_on_alignment", "launch_metadata", "repr",
)  # fmt: skip


def reduced(function: JITCallable) -> tuple:
    """What pickle and copy make it again of. Its parameters are known: a compilation has asked for them."""
    known = vars(function)
    rows = [
        (p.name, p._param.kind, p.default, p.annotation, p.do_not_specialize, p.do_not_specialize_on_alignment)
        for p in known["params"]
    ]
    text = known.get("_sent_text")
    if text is None and (source := known.get("_source")) is not None:
        text = ("".join(source.lines), source.file, source.first_line)
    return _restored, (type(function), {name: known[name] for name in _KEPT if name in known}, rows, text)


def _restored(kind: type[JITCallable], known: dict[str, Any], rows: list[tuple], text: tuple | None) -> JITCallable:
    function = kind.__new__(kind)
    declared = [inspect.Parameter(name, kind_, default=default, annotation=annotation or inspect.Parameter.empty)
                for name, kind_, default, annotation, _, _ in rows]  # fmt: skip
    params = [KernelParam(num, param, *row[4:]) for num, (param, row) in enumerate(zip(declared, rows))]
    vars(function).update(
        known, fn=None, __globals__=None, params=params, signature=inspect.Signature(declared), _sent_text=text,
        _repr=None, _given=None, _preloaded={}, pre_run_hooks=[], kernel=None,
    )  # fmt: skip
    return function
