"""Dynamo beside the function mode under which device="cuda" means the CPU.

Here:      what Dynamo sees of the stack of function modes, guards on where tensors are.
Not here:  the mode (torch_cuda/mode.py), fake tensors, which Dynamo traces with (torch_cuda/fakes.py).
Invariant: the mode is on wherever Python runs what a script says, compiled code and what stands between two graphs
           included; while Dynamo traces it is off, and fake tensors say where they are themselves.
"""

from __future__ import annotations

import functools
import inspect
from types import FunctionType, ModuleType
from typing import Any

from tiletwin.torch_cuda.marks import HOST, index_of_mark, mark_as, place_of
from tiletwin.torch_cuda.mode import CudaOnCpu, in_mode

_RUN_AS_THEY_ARE = ("torch_cuda", "inductor", "launch", "eager", "compiler")
_EMULATION = "tiletwin.torch_cuda."


def patch(dynamo: ModuleType) -> None:
    """Called when torch._dynamo has been imported."""
    from torch import _C
    from torch._dynamo import guards, output_graph, source, trace_rules, utils
    from torch._dynamo.variables import builder, functions, optimizer, torch_function
    from torch.utils import _device

    for folder in _RUN_AS_THEY_ARE:  # Dynamo sees a frame of each function that a compiled one calls
        trace_rules.add(f"tiletwin.{folder}")

    _hide_mode(guards, utils, torch_function.SymbolicTorchFunctionState)
    _guard_places(guards.GuardBuilder)
    _place_gradients(builder.VariableBuilder)
    _see_originals(builder.VariableBuilder, source.AttrSource, _C.Generator)
    _see_default_device(torch_function, functions.UserMethodVariable, _device.DeviceContext)
    Graph: Any = output_graph.OutputGraph
    Graph.call_user_compiler = in_mode(Graph.call_user_compiler)  # compilers may make real tensors
    State: Any = optimizer.OptimizerVariable
    State.call_method = in_mode(State.call_method)  # the state of an optimizer is made while it is traced


def _hide_mode(guards: Any, utils: Any, State: Any) -> None:
    """Dynamo would trace the mode's handlers. It counts the modes of a stack from below, in guards and in the code that
    it generates: there, too, they are counted without ours."""
    init, put = State.__init__, utils.set_torch_function_mode_stack

    @functools.wraps(init)
    def init_without(self: Any, py_stack: Any, *args: Any, **kwargs: Any) -> None:
        init(self, _without_ours(py_stack), *args, **kwargs)

    @functools.wraps(utils.get_torch_function_mode_stack_at)
    def mode_at(ind: int) -> Any:
        return _without_ours(utils.get_torch_function_mode_stack())[ind]

    @functools.wraps(put)
    def put_above_ours(stack: list[Any]) -> None:
        put([mode for mode in whole() if isinstance(mode, CudaOnCpu)] + stack)

    at = utils.get_torch_function_mode_stack_at

    @functools.wraps(utils.get_torch_function_mode_stack)
    def whole() -> list[Any]:
        return [at(index) for index in range(utils._len_torch_function_stack())]

    State.__init__ = init_without
    utils.get_torch_function_mode_stack = guards.get_torch_function_mode_stack = whole
    utils.get_torch_function_mode_stack_at = guards.get_torch_function_mode_stack_at = mode_at
    utils.set_torch_function_mode_stack = put_above_ours


def _without_ours(stack: Any) -> list[Any]:
    return [mode for mode in stack if not isinstance(mode, CudaOnCpu)]


def _guard_places(Builder: Any) -> None:
    """For torch's C++ all tensors are on the CPU: a guard of our own asks for the mark."""
    match = Builder.TENSOR_MATCH

    @functools.wraps(match)
    def match_place(self: Any, guard: Any, value: Any = None) -> None:
        match(self, guard, value)
        tensor = self.get(guard)
        index = index_of_mark(tensor)
        where = "the host" if index is None else f"cuda:{index}"

        def is_there(x: Any) -> bool:
            place = place_of(x)  # C++ has made a new object for a gradient, which has no mark
            return place is None or place == (HOST if index is None else index)

        self.get_guard_manager(guard).add_lambda_guard(is_there, [f"{guard.name} is on {where}"], guard.user_stack)

    Builder.TENSOR_MATCH = match_place


def _see_originals(Builder: Any, AttrSource: Any, Generator: type) -> None:
    """A function of torch that the emulation has wrapped is traced as torch's own: what it makes is fake, without
    marks. So is a generator of random numbers, whose class is the emulation's."""
    wrap = Builder._wrap

    @functools.wraps(wrap)
    def wrap_original(self: Any, value: Any) -> Any:
        if isinstance(value, Generator):
            return self.wrap_user_defined(value)
        original = getattr(value, "__wrapped__", None) if type(value) is FunctionType else None
        if original is None or not value.__globals__.get("__name__", "").startswith(_EMULATION):
            return wrap(self, value)
        return Builder(self.tx, AttrSource(self.source, "__wrapped__"))(original)

    Builder._wrap = wrap_original


def _see_default_device(torch_function: Any, Method: Any, Context: Any) -> None:
    """The mode of `set_default_device` and `with torch.device(...)` is traced as torch's own, too."""
    find, original = torch_function.get_torch_function_fn, inspect.unwrap(Context.__torch_function__)

    @functools.wraps(find)
    def find_original(tx: Any, vt: Any) -> Any:
        return Method(original, vt) if isinstance(getattr(vt, "value", None), Context) else find(tx, vt)

    torch_function.get_torch_function_fn = find_original


def _place_gradients(Builder: Any) -> None:
    """A gradient comes from C++, and is where its tensor is. In eager mode the function mode sees who asks for it."""
    wrap = Builder.wrap_tensor

    @functools.wraps(wrap)
    def wrap_placed(self: Any, value: Any) -> Any:
        source = self.get_source()
        if getattr(source, "member", "") == "grad" and place_of(value) is None:
            mark_as(value, self.tx.output.resolve_source_value(source.base))
        return wrap(self, value)

    Builder.wrap_tensor = wrap_placed
