"""What compiled code makes on an emulated device.

Here:      tensors that it makes by functions of C++, without a torch function: buffers, views of arguments.
Not here:  operators that it calls: the function mode sees them (torch_cuda/mode.py).
Invariant: a buffer of generated code carries the mark of the device that it was generated for.
"""

from __future__ import annotations

import functools
from typing import Any

from tiletwin.torch_cuda import devices
from tiletwin.torch_cuda.marks import HOST, MARK, mark, mark_as, place_of

_NO_GRAPHS = "CUDA is emulated on the CPU, where there is nothing to record"


def patch(torch: Any) -> None:
    """torch._C._dynamo.guards: generated code takes these functions when it is loaded."""
    functions = torch._C._dynamo.guards
    on_host, view = functions._empty_strided_cpu, functions._reinterpret_tensor

    @functools.wraps(on_host)
    def empty_strided_cpu(size: Any, stride: Any, dtype: Any) -> Any:
        return mark(on_host(size, stride, dtype), HOST)

    def empty_strided_cuda(size: Any, stride: Any, dtype: Any) -> Any:
        return mark(on_host(size, stride, dtype), devices.current())

    @functools.wraps(view)
    def reinterpret_tensor(tensor: Any, *layout: Any) -> Any:
        return mark_as(view(tensor, *layout), tensor)

    stream = torch._C._cuda_getCurrentRawStream
    # Code for tensors of the host asks for the stream of no device where a graph has both.
    torch._C._cuda_getCurrentRawStream = lambda device: 0 if device is None else stream(device)
    functions._empty_strided_cpu = empty_strided_cpu
    functions._empty_strided_cuda = empty_strided_cuda
    functions._reinterpret_tensor = reinterpret_tensor


def patch_views(module: Any) -> None:
    """torch._functorch._aot_autograd.runtime_wrappers: results that are views of arguments; gradients in the strides
    that a backward graph was generated for."""
    view, restride = module.gen_alias_from_base, module.coerce_to_expected_memory_format

    @functools.wraps(view)
    def view_there(base: Any, *args: Any, **kwargs: Any) -> Any:
        return mark_as(view(base, *args, **kwargs), base)

    @functools.wraps(restride)
    def restride_there(x: Any, memory_format: Any) -> Any:
        made = restride(x, memory_format)
        if place_of(x) is None:  # torch would say that it is on the CPU
            vars(made).pop(MARK, None)
        return made

    module.gen_alias_from_base = view_there
    module.coerce_to_expected_memory_format = restride_there


def patch_graphs(module: Any) -> None:
    """torch._inductor.output_code: Inductor is given a reason not to record CUDA graphs, and says it."""
    for name in ("cudagraph_post_compile", "cudagraph_partition_post_compile"):
        record = getattr(module, name)

        @functools.wraps(record)
        def refuse(inputs: Any, graph: Any, *args: Any, record: Any = record) -> None:
            reasons = graph.cudagraph_info.cudagraph_fail_reasons
            if _NO_GRAPHS not in reasons:
                reasons.append(_NO_GRAPHS)
            record(inputs, graph, *args)

        setattr(module, name, refuse)
