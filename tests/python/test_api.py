"""Triton's public names: each is there with the same signature, or is refused with a reason."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tiletwin
from tiletwin import knobs
from tiletwin._refused import MODULES, REFUSED, refused_module
from tiletwin.kernels.options import OPTIONS, parse_options

API = json.loads((Path(__file__).resolve().parents[1] / "data" / "api.json").read_text())
CALLABLE = ("function", "builtin function", "jit function", "constexpr function")
CLASSES = ("class", "exception class", "enum")

# Where a call that is valid in Triton is valid here too, although the signatures differ: why.
DIFFERENT: dict[str, str] = {
    "triton.language.tensor.__init__": "tensors are made in C++",
    "triton.language.tensor.__getitem__": "a slot of the C++ type",
    "triton.language.constexpr.__init__": "made in C++",
    "triton.language.constexpr.__getitem__": "a slot of the C++ type",
    "triton.language.constexpr.__call__": "a slot of the C++ type",
    "triton.language.constexpr.logical_and": "a method of the C++ type",
    "triton.language.constexpr.logical_or": "a method of the C++ type",
    "triton.language.tensor_descriptor.__init__": "descriptors are made in C++",
    "triton.language.core.tensor_descriptor_base.__init__": "descriptors are made in C++",
    "triton.language.dtype.__init__": "one object per type: made in __new__",
    "triton.language.block_type.__init__": "made in __new__",
    "triton.language.pointer_type.__init__": "one object per type: made in __new__",
    "triton.language.tuple.__init__": "made in __new__",
    "triton.language.core.tensor_descriptor_base.gather": "its arguments have names here",
    "triton.language.core.tensor_descriptor_base.scatter": "its arguments have names here",
    "triton.language.core.dataclass_transform": "Python's own function",
    "triton.runtime.Autotuner.run": "a launch without `grid` is an error there too, a later one",
}
# Members of Triton's own classes that are not part of what their users see.
INTERNAL: dict[str, str] = {
    "triton.runtime.jit.DependenciesFinder": "the class is refused as a whole",
}


def ours(module: str) -> Any:
    return importlib.import_module(module.removesuffix(" (not re-exported)").replace("triton", "tiletwin", 1))


def parameters_of_text(text: str) -> list[tuple[str, str, str | None]]:
    """(name, kind, default or None) from the text of a signature."""
    for shown in ("constexpr[0]", "constexpr[10]", "<unset>", "<class 'int'>"):
        text = text.replace(shown, repr(shown))
    text = text.split(") ->")[0].rstrip(")") + ")"
    arguments = ast.parse(f"def f{text}: pass").body[0].args
    positional = arguments.posonlyargs + arguments.args
    defaults = [None] * (len(positional) - len(arguments.defaults)) + arguments.defaults
    found = [(p.arg, "positional", d) for p, d in zip(positional, defaults)]
    found += [(arguments.vararg.arg, "varargs", None)] if arguments.vararg else []
    found += [(p.arg, "keyword", d) for p, d in zip(arguments.kwonlyargs, arguments.kw_defaults)]
    found += [(arguments.kwarg.arg, "kwargs", None)] if arguments.kwarg else []
    return [(name, kind, None if d is None else ast.unparse(d).strip("'\"")) for name, kind, d in found]


KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: "positional",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "positional",
    inspect.Parameter.VAR_POSITIONAL: "varargs",
    inspect.Parameter.KEYWORD_ONLY: "keyword",
    inspect.Parameter.VAR_KEYWORD: "kwargs",
}
# The same default, spelled differently.
SPELLINGS = {
    "CONSTEXPR_0": "constexpr[0]",
    "<PropagateNan.NONE: 0>": "PROPAGATE_NAN.NONE",
    "tiletwin.language.float32": "triton.language.float32",
    "<unset>": "None",
}


def parameters_of(function: Any) -> list[tuple[str, str, str | None]]:
    while not inspect.isfunction(function) and hasattr(function, "fn"):
        function = function.fn
    found = []
    for p in inspect.signature(function).parameters.values():
        default = None if p.default is p.empty else repr(p.default)
        found.append((p.name, KINDS[p.kind], default if default is None else default.strip("'\"")))
    return found


def difference(wanted: list, found: list) -> str | None:
    """Why a call that is valid with the wanted parameters may be invalid with those found; None if none is.

    Names, order, kinds and defaults must agree. More parameters may follow, if they need not be given; a parameter
    that is required there may have a default here; *args and **kwargs take parameters of any name.
    """
    takes_any = any(kind == "varargs" for _, kind, _ in found)
    takes_names = any(kind == "kwargs" for _, kind, _ in found)
    by_name = {name: (kind, default) for name, kind, default in found}
    order = [name for name, kind, _ in found if kind == "positional"]
    for i, (name, _, default) in enumerate([w for w in wanted if w[1] == "positional"]):
        if takes_any and takes_names and name not in by_name:
            continue
        if i >= len(order) or order[i] != name:
            return f"parameter {i} is {name!r} there and {order[i] if i < len(order) else 'missing'!r} here"
        mine = by_name[name][1]
        mine, default = SPELLINGS.get(mine, mine), SPELLINGS.get(default, default)
        if default is not None and mine != default:
            return f"{name} has the default {default} there and {mine} here"
    for name, kind, _ in wanted:
        if kind == "keyword" and not takes_names and name not in by_name:
            return f"keyword {name!r} is missing"
        if kind == "varargs" and not takes_any:
            return f"*{name} is missing"
        if kind == "kwargs" and not takes_names:
            return f"**{name} is missing"
    names = {name for name, _, _ in wanted}
    needed = [
        n for n, kind, default in found if n not in names and default is None and kind in ("positional", "keyword")
    ]
    return f"{needed} must be given here" if needed else None


def rows() -> list[tuple[str, str, dict]]:
    return [(module, name, entry) for module, entries in API["modules"].items() for name, entry in entries.items()]


def check(module: str, name: str, entry: dict) -> list[str]:
    """What is wrong with one name; empty if nothing is."""
    full = f"{module.removesuffix(' (not re-exported)')}.{name}"
    if not hasattr(ours(module), name):
        return [f"{full} is missing"]
    found = getattr(ours(module), name)
    wrong = []
    if entry["kind"] in CALLABLE and full not in DIFFERENT:
        if why := difference(parameters_of_text(entry["signature"]), parameters_of(found)):
            wrong.append(f"{full}: {why}")
    if entry["kind"] in CLASSES and full not in INTERNAL:
        for member, text in entry["members"].items():
            if text is None or f"{full}.{member}" in DIFFERENT:
                continue
            mine = inspect.getattr_static(found, member, None)
            if mine is None and not hasattr(found, member):
                # Attributes of instances, set in __init__, serve as properties too.
                if text != "<property>" or f"self.{member}" not in inspect.getsource(found):
                    wrong.append(f"{full}.{member} is missing")
                continue
            if text.startswith("<") or not callable(getattr(found, member)):
                continue
            wanted, bound = parameters_of_text(text), not isinstance(mine, staticmethod)
            has = parameters_of(mine.__func__ if isinstance(mine, (staticmethod, classmethod)) else mine)
            if bound and wanted and (wanted[0][0] in ("self", "cls") or not inspect.isfunction(mine)):
                wanted = wanted[1:]
            if why := difference(wanted, has[bound:]):
                wrong.append(f"{full}.{member}: {why}")
    if entry["kind"] == "dtype":
        if str(found) != entry["repr"] or getattr(found, "primitive_bitwidth", None) != entry.get(
            "primitive_bitwidth", getattr(found, "primitive_bitwidth", None)
        ):
            wrong.append(f"{full}: {found}")
    if entry["kind"] == "constexpr" and repr(found.value) != entry["value"]:
        wrong.append(f"{full}: {found.value}")
    return wrong


@pytest.mark.parametrize("module", API["modules"])
def test_names_and_signatures(module: str) -> None:
    wrong = [text for m, name, entry in rows() if m == module for text in check(m, name, entry)]
    assert wrong == []


def test_count(record_property: Callable[[str, object], None]) -> None:
    """How many names there are, how many of them do what Triton's do, and how many are refused with a reason."""
    names = [f"{m.removesuffix(' (not re-exported)')}.{n}" for m, n, e in rows()]
    members = [
        f"{m.removesuffix(' (not re-exported)')}.{n}.{member}"
        for m, n, e in rows()
        if e["kind"] in CLASSES
        for member, text in e["members"].items()
        if text is not None
    ]
    methods = [f"triton.language.tensor.{n}" for n in API["tensor"]]
    everything = sorted({*names, *members, *methods})
    refused = [n for n in everything if n in REFUSED]
    wrong = [text for row in rows() for text in check(*row)]
    done = len(everything) - len(refused) - len(wrong)
    record_property(
        "summary",
        f"{len(everything)} names: {done} implemented, {len(refused)} refused with a reason, {len(wrong)} wrong",
    )
    assert wrong == [] and len(everything) > 900


def test_tensor_methods() -> None:
    import tiletwin.language as tl

    missing = [n for n in API["tensor"] if n not in ("__init__", "__not__", "__str__") and not hasattr(tl.tensor, n)]
    assert missing == [n for n in missing if n in ("__req__", "__rne__", "__rlt__", "__rle__", "__rgt__", "__rge__")]


def test_exceptions_derive_as_in_triton() -> None:
    for module, name, entry in rows():
        if entry["kind"] == "exception class":
            assert [b.__name__ for b in getattr(ours(module), name).__mro__][1:-1], name
            for base in entry["bases"]:
                known = {"TritonError": tiletwin.TritonError, "Exception": Exception}
                known["CompilationError"] = tiletwin.CompilationError
                assert issubclass(getattr(ours(module), name), known[base]), name


def test_options() -> None:
    assert set(API["cuda_options"]) == set(OPTIONS)
    for name, default in API["cuda_options"].items():
        mine = OPTIONS[name][0]
        assert ("" if mine is None else repr(mine)) == default, name
    complete = parse_options({})
    assert set(OPTIONS) <= set(complete) and complete["enable_fp_fusion"] is True
    assert complete["max_num_imprecise_acc_default"] == 1 << 30 and "fp8e4nv" in complete["supported_fp8_dtypes"]


def test_knobs_exist_with_their_variables() -> None:
    for group, table in API["knobs_env"].items():
        instance = getattr(knobs, group)
        for name, row in table.items():
            if row["descriptor"] == "plain attribute" and row["env"] is None:
                assert hasattr(instance, name), f"{group}.{name}"
                continue
            descriptor = instance.knob_descriptors[name]
            assert descriptor.key == row["env"], f"{group}.{name}"
            if row["descriptor"] != "plain attribute":
                assert type(descriptor).__name__ == row["descriptor"], f"{group}.{name}"


def test_compiled_kernel_attributes() -> None:
    import kernels

    signature = {"o_ptr": "*fp32", "value": "fp32", "N": "constexpr"}
    compiled = tiletwin.compile(tiletwin.compiler.ASTSource(kernels.fill, signature, {"N": 8}))
    for name in API["compiled_kernel_attributes"]:
        if f"triton.compiler.CompiledKernel.{name}" in REFUSED:
            with pytest.raises(NotImplementedError, match=f"CompiledKernel.{name}"):
                getattr(compiled, name)
        else:
            assert hasattr(type(compiled), name) or hasattr(compiled, name), name
    assert set(API["compiled_kernel_metadata_fields"]) <= set(compiled.metadata._fields)
    assert set(API["compiled_kernel_asm_keys"]) <= set(compiled.asm.stages)


def test_refusals_are_raised_with_their_reason() -> None:
    def reach(name: str) -> Any:
        """The refused thing, and whether reading it is already refused."""
        name = name.replace("triton.backends.driver.utils", "triton.runtime.driver.active.utils")
        parts = name.split(".")
        value: Any = tiletwin
        for part in parts[1:]:
            try:
                value = getattr(value, part)
            except AttributeError:
                value = importlib.import_module(".".join(["tiletwin", *parts[1 : parts.index(part) + 1]]))
        return value

    for name, reason in REFUSED.items():
        assert len(reason.split()) >= 5, name
        if name.startswith(("triton.compiler.CompiledKernel", "triton.compiler.ASTSource", "triton.compiler.IRSource")):
            continue  # with an object: test_package.py, test_compiled_kernel_attributes
        if name.startswith("triton.language.extra.hip"):
            continue  # called in kernels: test_libraries.py
        function = reach(name)
        count = sum(kind == "positional" and default is None for _, kind, default in parameters_of(function))
        with pytest.raises(NotImplementedError) as caught:
            function(*["anything"] * count)
        assert str(caught.value) == f"{name} {reason}"


def test_refused_modules() -> None:
    for name in MODULES:
        assert MODULES[name] in refused_module(name) and MODULES[name] in refused_module(name + ".anything")
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module(f"tiletwin.{name}")
    assert refused_module("language") is None and refused_module("compiler.compiler") is None


@pytest.mark.parametrize("module", ["", ".math", ".extra.cuda.libdevice", ".extra.hip.libdevice"])
def test_builtins_are_where_they_say(module):
    """Pickle, and the process of real Triton, find a function by its module and name."""
    found = importlib.import_module(f"tiletwin.language{module}")
    builtins = [value for name in dir(found) if isinstance(value := getattr(found, name), tiletwin._C.builtin)]
    assert builtins and all(getattr(importlib.import_module(f.__module__), f.__name__) is f for f in builtins)
