"""Modules of Triton's names hand out what others hold: an assignment in one of them reaches the implementation."""

from __future__ import annotations

import importlib

import pytest
import tiletwin as triton
import tiletwin.language as tl
from tiletwin import testing
from tiletwin.kernels.jit import JITFunction

# Facade, and the modules that the implementation of its names lies in.
FACADES = {
    "backends.compiler": ["gpu_target"],
    "backends.driver": ["drivers.base"],
    "compiler.compiler": ["compiler.kernel", "compiler.sources", "kernels.launch_hooks"],
    "compiler.errors": ["errors"],
    "runtime._async_compile": ["kernels.async_compile"],
    "runtime.autotuner": ["launch.autotuner"],
    "runtime.cache": ["file_cache"],
    "runtime.driver": ["drivers.chosen"],
    "runtime.errors": ["errors"],
    "runtime.jit": ["kernels.binding", "kernels.callables", "kernels.jit", "kernels.specialization", "kernels.tensors"],
}


@triton.jit
def doubled(x_ptr):
    tl.store(x_ptr, tl.load(x_ptr) * 2)


def module(name):
    return importlib.import_module(f"tiletwin.{name}")


def handed_out():
    for facade, behind in FACADES.items():
        own = vars(module(facade))
        for place in behind:
            held = vars(module(place))
            for name, value in own.items():
                ours = getattr(value, "__module__", None) or "tiletwin"
                if not name.startswith("_") and held.get(name) is value and ours.startswith("tiletwin"):
                    yield facade, place, name


@pytest.mark.parametrize(("facade", "place", "name"), list(handed_out()))
def test_an_assignment_reaches_the_module_that_holds_the_name(monkeypatch, facade, place, name):
    before, new = getattr(module(place), name), object()
    with monkeypatch.context() as patched:
        patched.setattr(module(facade), name, new)
        assert getattr(module(facade), name) is getattr(module(place), name) is new
    assert getattr(module(place), name) is getattr(module(facade), name) is before


def test_names_that_scripts_replace_are_among_those():
    names = {f"{facade}.{name}" for facade, _, name in handed_out()}
    assert {"runtime.jit.JITFunction", "runtime.autotuner.Autotuner", "runtime.cache.get_cache_manager"} <= names
    assert {"runtime.driver.driver", "compiler.compiler.ASTSource", "runtime.errors.OutOfResources"} <= names


def test_every_name_reaches_something_or_cannot_be_assigned(monkeypatch):
    for facade in FACADES:
        if facade in ("compiler.compiler", "backends.compiler"):  # which read their names themselves
            continue
        for name, value in list(vars(module(facade)).items()):
            if name.startswith("_") or any(name in vars(module(place)) for place in FACADES[facade]):
                continue
            with pytest.raises(AttributeError, match=rf"triton\.{facade}\.{name} cannot be replaced here"):
                setattr(module(facade), name, object())
            assert getattr(module(facade), name) is value


def test_the_driver_of_nvidia_cannot_be_replaced_under_its_name():
    with pytest.raises(AttributeError, match=r"triton\.backends\.nvidia\.driver\.CudaDriver cannot be replaced here"):
        module("backends.nvidia.driver").CudaDriver = object


def test_kernels_are_of_the_class_that_a_script_has_put_in(monkeypatch):
    class Own(JITFunction):
        pass

    monkeypatch.setattr(triton.runtime.jit, "JITFunction", Own)

    assert type(triton.jit(doubled.fn)) is Own


def test_tuners_are_of_the_class_that_a_script_has_put_in(monkeypatch):
    module("runtime.autotuner")

    class Own(triton.runtime.autotuner.Autotuner):
        pass

    monkeypatch.setattr(triton.runtime.autotuner, "Autotuner", Own)
    tuned = triton.autotune(configs=[triton.Config({})], key=[])
    assert type(tuned(doubled)) is Own


def test_tuners_time_with_the_function_that_a_script_has_put_in(monkeypatch):
    monkeypatch.setattr(testing, "do_bench", lambda call, **options: "own")
    assert triton.runtime.driver.active.get_benchmarker()(None) == "own"


def test_a_new_name_is_the_modules_own():
    jit = module("runtime.jit")
    jit.added_by_a_script = 1
    assert jit.added_by_a_script == 1
    del jit.added_by_a_script
