"""Graphs that a client builds and edits: nodes, edges, clones, what is ready to run, conditions, memory, user objects.

The rules are those of the "CUDA Driver API", section "Graph Management"; cuda.core's own tests, which pass on an H200,
rely on the same ones.
"""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
import virtual_gpu as gpu
from virtual_gpu import HEAD, call, code_of, context, from_device, function, number, pointers, to_device

KERNELS = (
    HEAD
    + """
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
.visible .entry add(.param .u64 x, .param .u32 amount)
{
  .reg .b64 %d<2>; .reg .b32 %r<3>;
  ld.param.u64 %d1, [x]; ld.param.u32 %r1, [amount]; ld.global.u32 %r2, [%d1]; add.u32 %r2, %r2, %r1;
  st.global.u32 [%d1], %r2; ret;
}
.visible .entry decide(.param .u64 handle, .param .u64 x, .param .u32 limit)
{
  .reg .b64 %d<3>; .reg .b32 %r<4>; .reg .pred %p<2>;
  ld.param.u64 %d1, [handle]; ld.param.u64 %d2, [x]; ld.param.u32 %r1, [limit];
  ld.global.u32 %r2, [%d2]; setp.lt.u32 %p1, %r2, %r1; selp.u32 %r3, 1, 0, %p1;
  { .param .b64 a; .param .b32 b; st.param.b64 [a], %d1; st.param.b32 [b], %r3;
    call.uni cudaGraphSetConditional, (a, b); }
  ret;
}
"""
)


class KernelNode(ctypes.Structure):
    _fields_ = [
        ("function", ctypes.c_uint64), ("grid", ctypes.c_uint32 * 3), ("block", ctypes.c_uint32 * 3),
        ("shared", ctypes.c_uint32), ("parameters", ctypes.c_void_p), ("extra", ctypes.c_void_p),
        ("kernel", ctypes.c_uint64), ("context", ctypes.c_uint64),
    ]  # fmt: skip


class MemsetNode(ctypes.Structure):
    _fields_ = [
        ("to", ctypes.c_uint64), ("pitch", ctypes.c_size_t), ("value", ctypes.c_uint32), ("element", ctypes.c_uint32),
        ("width", ctypes.c_size_t), ("height", ctypes.c_size_t),
    ]  # fmt: skip


class AllocNode(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int), ("handles", ctypes.c_int), ("location", ctypes.c_int * 2),
        ("rest", ctypes.c_uint8 * 72), ("access", ctypes.c_void_p), ("count", ctypes.c_size_t),
        ("bytes", ctypes.c_size_t), ("address", ctypes.c_uint64),
    ]  # fmt: skip


class AnyNode(ctypes.Structure):
    """CUgraphNodeParams of a conditional node."""

    _fields_ = [
        ("type", ctypes.c_int), ("reserved", ctypes.c_int * 3), ("condition", ctypes.c_uint64), ("kind", ctypes.c_int),
        ("count", ctypes.c_uint32), ("graphs", ctypes.POINTER(ctypes.c_uint64)), ("rest", ctypes.c_uint8 * 216),
    ]  # fmt: skip


assert ctypes.sizeof(AllocNode) == 120 and ctypes.sizeof(AnyNode) == 256
KERNEL, MEMSET, EMPTY, CONDITIONAL = 0, 2, 5, 13
SAME, TOPOLOGY, TYPE = 0, 2, 3
UPDATE_FAILURE = 910


def handles(*values: int) -> ctypes.Array | None:
    return (ctypes.c_uint64 * len(values))(*values) if values else None


def kernel_params(of: int, *values: object) -> KernelNode:
    params = KernelNode(of, (1, 1, 1), (1, 1, 1), 0)
    params.list = pointers(values)
    params.parameters = ctypes.cast(params.list, ctypes.c_void_p)
    return params


def add_kernel(graph: int, of: int, *values: object, behind: tuple[int, ...] = ()) -> int:
    params = ctypes.byref(kernel_params(of, *values))
    return number("cuGraphAddKernelNode_v2", graph, handles(*behind), len(behind), params)


def add_fill(graph: int, to: int, value: int, behind: tuple[int, ...] = ()) -> int:
    params = MemsetNode(to, 0, value, 4, 1, 1)
    return number("cuGraphAddMemsetNode", graph, handles(*behind), len(behind), ctypes.byref(params), 0)


def new_graph() -> int:
    return number("cuGraphCreate", 0)


def ready(graph: int, flags: int = 0) -> int:
    return number("cuGraphInstantiateWithFlags", graph, flags)


def word(address: int) -> int:
    return int(from_device(address, np.zeros(1, np.uint32))[0])


def listed(name: str, of: int) -> list[int]:
    count = ctypes.c_size_t()
    call(name, of, None, *([None] if name.endswith("_v2") else []), ctypes.byref(count))
    found = (ctypes.c_uint64 * (count.value + 1))(*[7] * (count.value + 1))
    count = ctypes.c_size_t(count.value + 1)
    call(name, of, found, *([None] if name.endswith("_v2") else []), ctypes.byref(count))
    assert found[count.value] == 0  # what is left of the list is null
    return list(found)[: count.value]


@pytest.fixture
def work():
    """A word of device memory, and the functions."""
    with context():
        module = gpu.module(KERNELS)
        yield to_device(np.array([5], np.uint32)), function("add", module), function("decide", module)


def add_two(x: int, add: int) -> tuple[int, int, int]:
    """A graph that sets x to 10 and adds 3."""
    graph = new_graph()
    first = add_fill(graph, x, 10)
    second = add_kernel(graph, add, ctypes.c_uint64(x), ctypes.c_uint32(3), behind=(first,))
    return graph, first, second


def test_nodes_tell_and_take_parameters(work):
    x, add, _ = work
    graph, fill, kernel = add_two(x, add)
    told, filled = KernelNode(), MemsetNode()
    call("cuGraphKernelNodeGetParams_v2", kernel, ctypes.byref(told))
    assert told.function == add and list(told.grid) == [1, 1, 1]
    values = ctypes.cast(told.parameters, ctypes.POINTER(ctypes.POINTER(ctypes.c_uint32)))
    assert values[1][0] == 3
    call("cuGraphMemsetNodeGetParams", fill, ctypes.byref(filled))
    assert (filled.to, filled.value, filled.element) == (x, 10, 4)
    assert code_of("cuGraphMemsetNodeGetParams", kernel, ctypes.byref(filled)) == gpu.INVALID_VALUE
    before = ready(graph)
    filled.value = 20
    call("cuGraphMemsetNodeSetParams", fill, ctypes.byref(filled))
    call("cuGraphLaunch", before, 0)
    assert word(x) == 13  # what was ready to run does not change
    call("cuGraphLaunch", ready(graph), 0)
    assert word(x) == 23


def test_edges(work):
    x, add, _ = work
    graph, fill, kernel = add_two(x, add)
    other = number("cuGraphAddEmptyNode", graph, handles(kernel), 1)
    assert listed("cuGraphGetRootNodes", graph) == [fill]
    assert listed("cuGraphNodeGetDependencies_v2", kernel) == [fill]
    assert listed("cuGraphNodeGetDependentNodes_v2", kernel) == [other]
    call("cuGraphAddDependencies_v2", graph, handles(fill), handles(other), None, 1)
    assert code_of("cuGraphAddDependencies_v2", graph, handles(fill), handles(other), None, 1) == gpu.INVALID_VALUE
    assert code_of("cuGraphAddDependencies_v2", graph, handles(fill), handles(fill), None, 1) == gpu.INVALID_VALUE
    call("cuGraphRemoveDependencies_v2", graph, handles(kernel), handles(other), None, 1)
    assert listed("cuGraphNodeGetDependencies_v2", other) == [fill]
    call("cuGraphAddDependencies_v2", graph, handles(other), handles(fill), None, 1)
    assert code_of("cuGraphInstantiateWithFlags", ctypes.byref(ctypes.c_uint64()), graph, 0) == gpu.INVALID_VALUE
    call("cuGraphDestroyNode", other)
    assert listed("cuGraphGetNodes", graph) == [fill, kernel]
    assert code_of("cuGraphNodeGetType", other, ctypes.byref(ctypes.c_int())) == gpu.INVALID_VALUE


def test_clones_have_nodes_of_their_own(work):
    x, add, _ = work
    graph, fill, kernel = add_two(x, add)
    clone = number("cuGraphClone", graph)
    mine = number("cuGraphNodeFindInClone", kernel, clone)
    assert mine not in (fill, kernel) and listed("cuGraphNodeGetDependencies_v2", mine) != [fill]
    call(
        "cuGraphKernelNodeSetParams_v2", mine, ctypes.byref(kernel_params(add, ctypes.c_uint64(x), ctypes.c_uint32(4)))
    )
    parent = new_graph()
    child = number("cuGraphAddChildGraphNode", parent, None, 0, clone)
    call("cuGraphDestroy", clone)
    inner = ctypes.c_uint64()
    call("cuGraphChildGraphNodeGetGraph", child, ctypes.byref(inner))
    assert len(listed("cuGraphGetNodes", inner.value)) == 2
    call("cuGraphLaunch", ready(parent), 0)
    assert word(x) == 14


def update(exec_: int, graph: int) -> tuple[int, int, int]:
    """What cuGraphExecUpdate returns, its result, and the node that it is about."""
    info = (ctypes.c_uint64 * 3)()
    code = code_of("cuGraphExecUpdate_v2", exec_, graph, info)
    return code, info[0] & 0xFFFFFFFF, info[1]


def test_what_is_ready_to_run_changes_alone(work):
    x, add, _ = work
    graph, fill, kernel = add_two(x, add)
    exec_ = ready(graph)
    params = ctypes.byref(kernel_params(add, ctypes.c_uint64(x), ctypes.c_uint32(7)))
    call("cuGraphExecKernelNodeSetParams_v2", exec_, kernel, params)
    call("cuGraphLaunch", exec_, 0)
    assert word(x) == 17
    call("cuGraphNodeSetEnabled", exec_, fill, 0)
    enabled = ctypes.c_uint32(7)
    call("cuGraphNodeGetEnabled", exec_, fill, ctypes.byref(enabled))
    assert enabled.value == 0
    call("cuGraphLaunch", exec_, 0)
    assert word(x) == 24
    again, _, _ = add_two(x, add)
    assert update(exec_, again) == (0, SAME, 0)
    call("cuGraphNodeSetEnabled", exec_, fill, 1)  # the nodes are still those of the first graph
    call("cuGraphLaunch", exec_, 0)
    assert word(x) == 13
    more = add_kernel(again, add, ctypes.c_uint64(x), ctypes.c_uint32(1))
    assert update(exec_, again)[:2] == (UPDATE_FAILURE, TOPOLOGY)
    call("cuGraphDestroyNode", more)
    turned = new_graph()
    first = add_kernel(turned, add, ctypes.c_uint64(x), ctypes.c_uint32(1))
    add_fill(turned, x, 1, behind=(first,))
    assert update(exec_, turned) == (UPDATE_FAILURE, TYPE, first)
    call("cuGraphLaunch", exec_, 0)
    assert word(x) == 13


def conditional(
    graph: int, condition: int, kind: int, count: int, behind: tuple[int, ...] = ()
) -> tuple[int, list[int]]:
    params = AnyNode(CONDITIONAL, (0, 0, 0), condition, kind, count)
    node = number("cuGraphAddNode_v2", graph, handles(*behind), None, len(behind), ctypes.byref(params))
    return node, [params.graphs[i] for i in range(count)]


def test_while_runs_until_a_kernel_ends_it(work):
    x, add, decide = work
    graph = new_graph()
    condition = number("cuGraphConditionalHandleCreate", graph, 0, 1, 1)
    _, (body,) = conditional(graph, condition, 1, 1)
    step = add_kernel(body, add, ctypes.c_uint64(x), ctypes.c_uint32(4))
    add_kernel(body, decide, *map(ctypes.c_uint64, (condition, x)), ctypes.c_uint32(30), behind=(step,))
    exec_ = ready(graph)
    call("cuGraphLaunch", exec_, 0)
    assert word(x) == 33  # 5 + 7 * 4, the first that is not below 30
    call("cuGraphLaunch", exec_, 0)
    assert word(x) == 37  # the condition begins as 1 again


def test_a_capture_to_a_graph(work):
    """Nodes of a stream go into the client's graph, so nobody has to be told which graph it is."""
    x, add, _ = work
    graph, stream = new_graph(), number("cuStreamCreate", 0)
    call("cuStreamBeginCaptureToGraph", stream, graph, None, None, 0, 2)
    gpu.launch(add, ctypes.c_uint64(x), ctypes.c_uint32(37), stream=stream)
    call("cuStreamEndCapture", stream, None)
    call("cuGraphLaunch", ready(graph), 0)
    assert word(x) == 42
    call("cuStreamBeginCapture_v2", stream, 2)
    assert code_of("cuStreamEndCapture", stream, None) == gpu.INVALID_VALUE


def test_a_condition_of_the_graph_around(work):
    """A handle is made for one graph, and used in the graphs of its conditional nodes too, and nowhere else."""
    x, add, _ = work
    graph = new_graph()
    outer, inner = (number("cuGraphConditionalHandleCreate", graph, 0, 1, 1) for _ in range(2))
    _, (body,) = conditional(graph, outer, 0, 1)
    _, (nested,) = conditional(body, inner, 0, 1)
    add_kernel(nested, add, ctypes.c_uint64(x), ctypes.c_uint32(37))
    call("cuGraphLaunch", ready(graph), 0)
    assert word(x) == 42
    of_the_body = number("cuGraphConditionalHandleCreate", body, 0, 1, 1)
    conditional(nested, of_the_body, 0, 1)
    for where, condition in ((graph, 12345), (graph, of_the_body), (new_graph(), outer)):
        with pytest.raises(gpu.DriverError, match=r"returned 1$"):
            conditional(where, condition, 0, 1)


@pytest.mark.parametrize("initial, kind, count, left", [
    (1, 0, 2, 105), (0, 0, 2, 205), (0, 0, 1, 5), (2, 2, 3, 305), (3, 2, 3, 5),
])  # fmt: skip
def test_if_and_switch_choose_a_graph(work, initial, kind, count, left):
    x, add, _ = work
    graph = new_graph()
    condition = number("cuGraphConditionalHandleCreate", graph, 0, initial, 1)
    _, bodies = conditional(graph, condition, kind, count)
    for i, body in enumerate(bodies):
        add_kernel(body, add, ctypes.c_uint64(x), ctypes.c_uint32(100 * (i + 1)))
    call("cuGraphLaunch", ready(graph), 0)
    assert word(x) == left


def test_memory_of_a_graph(work):
    _, add, _ = work
    graph = new_graph()
    params = AllocNode(type=1, location=(1, 0), bytes=4)
    made = number("cuGraphAddMemAllocNode", graph, None, 0, ctypes.byref(params))
    fill = add_fill(graph, params.address, 9, behind=(made,))
    add_kernel(graph, add, ctypes.c_uint64(params.address), ctypes.c_uint32(1), behind=(fill,))
    assert code_of("cuGraphDestroyNode", fill) == gpu.NOT_SUPPORTED
    assert code_of("cuGraphClone", ctypes.byref(ctypes.c_uint64()), graph) == gpu.NOT_SUPPORTED
    exec_, frees = ready(graph), ready(graph, 1)
    call("cuGraphLaunch", exec_, 0)
    assert word(params.address) == 10
    assert code_of("cuGraphLaunch", exec_, 0) == gpu.INVALID_VALUE  # it was not given back
    call("cuGraphLaunch", frees, 0)  # gives it back first
    call("cuMemFreeAsync", params.address, 0)
    call("cuGraphLaunch", exec_, 0)
    for handle in (exec_, frees):
        call("cuGraphExecDestroy", handle)
    call("cuGraphDestroy", graph)
    assert word(params.address) == 10  # what is in use stays
    call("cuMemFree_v2", params.address)
    assert code_of("cuMemFree_v2", params.address) == gpu.INVALID_VALUE


def test_user_objects_end_with_the_last_graph(work):
    x, add, _ = work
    ended = []
    destroy = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(ended.append)
    graph, _, _ = add_two(x, add)
    handle = number("cuUserObjectCreate", ctypes.c_void_p(42), destroy, 1, 1)
    call("cuGraphRetainUserObject", graph, handle, 1, 1)
    exec_, clone = ready(graph), number("cuGraphClone", graph)
    call("cuGraphDestroy", graph)
    call("cuGraphDestroy", clone)
    assert ended == []
    call("cuGraphExecDestroy", exec_)
    assert ended == [42]
    assert code_of("cuUserObjectRelease", handle, 1) == gpu.INVALID_VALUE


def test_a_picture(work, tmp_path):
    x, add, _ = work
    graph, _, _ = add_two(x, add)
    call("cuGraphDebugDotPrint", graph, str(tmp_path / "graph.dot").encode(), 0)
    text = (tmp_path / "graph.dot").read_text()
    assert text.startswith("digraph dot {") and "KERNEL\\nadd" in text and text.count("->") == 1
    assert code_of("cuGraphDebugDotPrint", graph, str(tmp_path / "none" / "graph.dot").encode(), 0) == 304


def test_a_function_keeps_what_old_launches_set(work):
    x, add, _ = work
    call("cuFuncSetBlockShape", add, 1, 1, 1)
    call("cuParamSetv", add, 0, ctypes.byref(ctypes.c_uint64(x)), 8)
    call("cuParamSeti", add, 8, 37)
    assert code_of("cuLaunchGrid", add, 1, 1) == 0 and word(x) == 42
    call("cuParamSetSize", add, 4)
    assert code_of("cuLaunch", add) == gpu.INVALID_VALUE
