"""The language is complete: every builtin is declared and implemented, with its signature and docstring."""

from __future__ import annotations

import ast
import importlib
import inspect
from typing import Any

import pytest
import tiletwin
import tiletwin.language as tl
from kernel_cases import load_json
from tiletwin import _C

API = load_json("api.json")["modules"]
TENSOR = load_json("api.json")["tensor"]
FUNCTIONS = ("builtin function", "jit function", "function")
# Python's own, which the module of Triton happens to import.
LEFT_OUT = {"dataclass_transform"}
# Keywords of earlier versions of the language, for block pointers.
MORE_KEYWORDS = {"load": {"boundary_check", "padding_option"}, "store": {"boundary_check"}}
DEFAULTS = {
    "CONSTEXPR_0": "constexpr[0]",
    "<PropagateNan.NONE: 0>": "PROPAGATE_NAN.NONE",
    "tiletwin.language.float32": "triton.language.float32",
    "<unset>": "None",
}


def module_named(name: str) -> Any:
    name = name.removesuffix(" (not re-exported)")
    return importlib.import_module(name.replace("triton", "tiletwin", 1))


def language_modules() -> list[str]:
    return [name for name in API if name.startswith("triton.language")]


def api_parameters(text: str) -> list[tuple[str, str, str]]:
    """(name, kind, default) of each parameter in the text of a signature."""
    text = text.split(") ->")[0].rstrip(")") + ")"
    for shown in ("constexpr[0]", "constexpr[10]", "<unset>"):
        text = text.replace(shown, repr(DEFAULTS.get(shown, shown)))
    arguments = ast.parse(f"def f{text}: pass").body[0].args
    positional = arguments.posonlyargs + arguments.args
    defaults = [None] * (len(positional) - len(arguments.defaults)) + arguments.defaults
    found = [(p.arg, "positional", d) for p, d in zip(positional, defaults)]
    found += [(arguments.vararg.arg, "varargs", None)] if arguments.vararg else []
    found += [(p.arg, "keyword", d) for p, d in zip(arguments.kwonlyargs, arguments.kw_defaults)]
    found += [(arguments.kwarg.arg, "kwargs", None)] if arguments.kwarg else []
    return [(name, kind, "" if d is None else ast.unparse(d).strip("'\"")) for name, kind, d in found]


KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: "positional",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "positional",
    inspect.Parameter.VAR_POSITIONAL: "varargs",
    inspect.Parameter.KEYWORD_ONLY: "keyword",
    inspect.Parameter.VAR_KEYWORD: "kwargs",
}


def own_parameters(function: Any) -> list[tuple[str, str, str]]:
    found = []
    for p in inspect.signature(getattr(function, "fn", function)).parameters.values():
        default = "" if p.default is p.empty else repr(p.default)
        found.append((p.name, KINDS[p.kind], DEFAULTS.get(default, default).strip("'\"")))
    return found


def api_functions() -> list:
    return [
        pytest.param(module, name, id=f"{module.removeprefix('triton.')}.{name}")
        for module in language_modules()
        if not module.endswith("libdevice")
        for name, entry in API[module].items()
        if entry["kind"] in FUNCTIONS and name not in LEFT_OUT
    ]


@pytest.mark.parametrize(("module", "name"), api_functions())
def test_signature_and_docstring(module: str, name: str) -> None:
    function = getattr(module_named(module), name)
    own = [p for p in own_parameters(function) if p[0] not in MORE_KEYWORDS.get(name, ())]
    assert own == api_parameters(API[module][name]["signature"])
    assert len((inspect.getdoc(getattr(function, "fn", function)) or "").split()) >= 3


@pytest.mark.parametrize("module", language_modules())
def test_names_exist(module: str) -> None:
    ours = module_named(module)
    assert [n for n in API[module] if n not in LEFT_OUT and not hasattr(ours, n)] == []
    for name, entry in API[module].items():
        if entry["kind"] == "class" and name not in LEFT_OUT:
            missing = [m for m in entry["members"] if not m.startswith("__") and not hasattr(getattr(ours, name), m)]
            assert (name, missing) == (name, [])


def test_tensor_methods() -> None:
    wanted = [n for n in TENSOR if not (n.startswith("__r") and n.endswith("__")) and n != "__init__"]
    assert [n for n in wanted if not hasattr(tl.tensor, n)] == []


@pytest.mark.parametrize("module", ["triton.language.extra.libdevice", "triton.language.extra.cuda.libdevice"])
def test_libdevice_arguments(module: str) -> None:
    ours = module_named(module)
    for name, entry in API[module].items():
        count = len(api_parameters(entry["signature"]))
        assert [p[0] for p in own_parameters(getattr(ours, name))] == [f"arg{i}" for i in range(count)], name
    assert set(API[module]) <= set(ours.FUNCTIONS)


def test_libdevice_stub_lists_the_functions() -> None:
    source = module_named("triton.language.extra.cuda.libdevice")
    stub = ast.parse(open(source.__file__ + "i").read())
    forms = {f.name: [a.arg for a in f.args.args] for f in stub.body if isinstance(f, ast.FunctionDef)}
    named = [
        (target.id, node.value.id) for node in stub.body if isinstance(node, ast.Assign) for target in node.targets
    ]
    listed = {name: forms[form] for name, form in named}
    assert len(listed) == len(named)
    assert listed == {n: [p[0] for p in own_parameters(getattr(source, n))] for n in source.FUNCTIONS}


def declared() -> dict[str, Any]:
    """Every builtin in the modules of the language, by its name in the table."""
    found: dict[str, Any] = {}
    for module in ("arith_ops", "creation_ops", "debug_ops", "math", "memory_ops", "reduce_ops", "shape_ops", "core"):
        for value in vars(importlib.import_module(f"tiletwin.language.{module}")).values():
            if isinstance(value, _C.builtin):
                found[value.__name__] = value
    for value in vars(tl.extra.cuda).values():
        if isinstance(value, _C.builtin):
            found[value.__name__] = value
    return found


# Declared, but not implemented yet: calling one raises NotImplementedError.
NOT_IMPLEMENTED: set[str] = set()


def test_builtins_and_implementations_match() -> None:
    functions = declared()
    in_cpp = {name for name, function in functions.items() if not function.python}
    assert in_cpp - set(_C.builtin_names()) == NOT_IMPLEMENTED
    assert set(_C.builtin_names()) - in_cpp == set()


def test_errors_have_the_names_of_triton() -> None:
    for module in ("triton.errors", "triton.compiler.errors", "triton.runtime.errors"):
        for name in API[module]:
            assert issubclass(getattr(module_named(module), name), tiletwin.errors.TileTwinError)
