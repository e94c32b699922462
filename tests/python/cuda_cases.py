"""What scripts written for a GPU do with torch: each function runs under the emulated CUDA (test_cuda_emulation.py).

Run as a program, it prints {function: what went wrong, or ""} as JSON.
"""

from __future__ import annotations

import copy
import json
import threading
import traceback

import torch
import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, o_ptr, factor, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o_ptr + i, tl.load(x_ptr + i, i < n) * factor, i < n)


def on_cuda(*tensors):
    return all(t.is_cuda and t.device == torch.device("cuda", 0) and not t.is_cpu for t in tensors)


def default_device():
    torch.set_default_device("cuda")
    try:
        layer = torch.nn.Linear(2, 2)
        assert on_cuda(torch.randn(3), torch.arange(3), torch.tensor([1]), layer.weight, layer.bias)
        assert torch.get_default_device().type == "cuda" and torch.zeros(2, device="cpu").is_cpu
    finally:
        torch.set_default_device(None)
    assert torch.ones(1).is_cpu
    with torch.device("cuda"):
        assert on_cuda(torch.ones(2), torch.nn.Parameter(torch.ones(2)))


def generators():
    g = torch.Generator(device="cuda").manual_seed(3)
    first = torch.randn(4, device="cuda", generator=g)
    g.manual_seed(3)
    assert torch.equal(first, torch.randn(4, device="cuda", generator=g)) and g.device.type == "cuda"
    assert isinstance(g, torch.Generator) and isinstance(torch.default_generator, torch.Generator)
    assert torch.Generator().device.type == "cpu" and torch.cuda.default_generators[0].initial_seed() is not None
    with torch.random.fork_rng(devices=[0]):
        torch.randn(2, device="cuda")


def states_of_the_default_generator():
    """Seed and offset, as libraries read them for kernels of their own, who move the offset on."""
    generator = torch.cuda.default_generators[torch.cuda.current_device()]
    torch.manual_seed(7)
    state = generator.get_state()
    assert state.dtype == torch.uint8 and state.view(torch.int64).tolist() == [7, 0]
    state.view(torch.int64)[1] += 12
    generator.set_state(state)
    assert generator.get_state().view(torch.int64).tolist() == [7, 12] and generator.get_offset() == 12
    first = torch.rand(3, device="cuda")
    moved = generator.get_state()
    assert moved.view(torch.int64)[1] > 12 and generator.initial_seed() == 7
    second = torch.rand(3, device="cuda")
    generator.set_state(moved)
    assert torch.equal(second, torch.rand(3, device="cuda"))
    torch.manual_seed(7)
    assert generator.get_state().view(torch.int64).tolist() == [7, 0]
    assert torch.equal(first, torch.rand(3, device="cuda")) and generator.device.type == "cuda"
    before = torch.cuda.get_rng_state()
    third = torch.rand(3, device="cuda")
    torch.cuda.set_rng_state(before)
    assert torch.equal(third, torch.rand(3, device="cuda"))
    generator.manual_seed(-1)
    assert generator.get_state().view(torch.int64).tolist() == [-1, 0]


def constructors():
    x = torch.randn(4, 4, device="cuda:0", dtype=torch.float16, requires_grad=True)
    made = [torch.randn_like(x), torch.randperm(5, device="cuda"), torch.randint(0, 5, (3,), device="cuda")]
    made += [torch.empty_strided((2, 2), (2, 1), device="cuda"), torch.full((2,), 1.0, device="cuda"), x.new_zeros(3)]
    made += [torch.linspace(0, 1, 4, device="cuda"), torch.eye(3, device=0), torch.as_tensor([1.0], device="cuda")]
    assert on_cuda(x, *made)
    assert x.new_empty(3, device="cpu").is_cpu and torch.zeros_like(x, device="cpu").is_cpu


def pinned_memory():
    x = torch.randn(4)
    p = x.pin_memory()
    assert p.is_pinned() and not x.is_pinned() and p.pin_memory() is p and torch.equal(p, x)
    y = p.to("cuda", non_blocking=True)
    host = torch.empty(4, pin_memory=True)
    host.copy_(y, non_blocking=True)
    torch.cuda.synchronize()
    assert torch.equal(host, x) and host.is_cpu and host.is_pinned() and on_cuda(y)
    try:
        y.pin_memory()
    except RuntimeError as error:
        assert "only dense CPU tensors can be pinned" in str(error)
    else:
        raise AssertionError("pinned a tensor of the device")


def data_loaders():
    from torch.utils.data import DataLoader, TensorDataset

    loader = DataLoader(TensorDataset(torch.arange(8.0)), batch_size=4, pin_memory=True)
    assert [b.cuda(non_blocking=True).sum().item() for (b,) in loader] == [6.0, 22.0]


def in_place_stays_where_it_is():
    host, device = torch.zeros(4), torch.ones(4, device="cuda")
    host.copy_(device)
    host[0] = device[0]
    torch.add(device, 1, out=device)
    assert host.is_cpu and on_cuda(device)
    device[1:3] = torch.zeros(2)
    assert on_cuda(device) and device.tolist() == [2, 0, 0, 2]


def results_are_where_their_operands_are():
    x = torch.zeros(4, device="cuda")
    pairs = [x.chunk(2), x.split(2), x.unbind(), torch.sort(x), x.topk(2), x.max(0), torch.broadcast_tensors(x, x)]
    assert all(on_cuda(*some) for some in pairs) and on_cuda(*x)
    assert on_cuda(
        x.half(), x.type(torch.int32), x.contiguous(), x.detach(), x.clone(), x.data, x[None], x.view(2, 2).T
    )
    assert on_cuda(torch.cat([x, x], out=torch.empty(8, device="cuda")), x.to(torch.ones(1, device="cuda")))

    class Own(torch.Tensor):
        pass

    own = x.as_subclass(Own)
    assert on_cuda(own, own + 1) and isinstance(own + 1, Own)


def names_and_text():
    x = torch.ones(2, device="cuda")
    assert x.type() == "torch.cuda.FloatTensor" and x.cpu().type() == "torch.FloatTensor"
    assert on_cuda(torch.ones(1).type("torch.cuda.HalfTensor")) and x.type("torch.FloatTensor").is_cpu
    assert repr(x) == "tensor([1., 1.], device='cuda:0')" and repr(x.cpu()) == "tensor([1., 1.])"
    assert repr(x.half()) == "tensor([1., 1.], device='cuda:0', dtype=torch.float16)"
    y = torch.nn.Parameter(x)
    assert repr(y) == "Parameter containing:\ntensor([1., 1.], device='cuda:0', requires_grad=True)"
    assert repr(torch.empty(0, 3, device="cuda")) == "tensor([], device='cuda:0', size=(0, 3))"


def numpy_needs_the_cpu():
    import numpy as np

    x = torch.ones(2, device="cuda")
    for convert in (x.numpy, lambda: np.asarray(x)):
        try:
            convert()
        except TypeError as error:
            assert "can't convert cuda:0 device type tensor to numpy" in str(error)
        else:
            raise AssertionError("a tensor of the device became an array")
    assert x.cpu().numpy().sum() == 2 and torch.from_numpy(np.ones(2)).cuda().is_cuda


def streams_and_events():
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    stream = torch.cuda.current_stream()
    start.record(stream)
    end.record()
    end.synchronize()
    assert start.elapsed_time(end) >= 0 and torch.cuda.default_stream() == stream
    stream.wait_event(stream.record_event())
    torch.ones(2, device="cuda").record_stream(stream)
    other = torch.cuda.Stream(priority=-1)
    assert other != stream and isinstance(other, torch.cuda.Stream) and other.priority == -1
    with torch.cuda.stream(other):
        assert torch.cuda.current_stream() == other
        with torch.cuda.stream(None):
            torch.cuda.current_stream().synchronize()
    assert torch.cuda.current_stream() == stream and hash(stream) == hash(torch.cuda.default_stream())
    try:
        torch.cuda.Event().elapsed_time(end)
    except ValueError as error:
        assert "enable_timing=True" in str(error)
    else:
        raise AssertionError("an event without timing has a time")


def memory_and_settings():
    free, total = torch.cuda.mem_get_info()
    assert 0 < free <= total and torch.cuda.memory_stats()["allocated_bytes.all.peak"] == 0
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    assert torch.cuda.max_memory_allocated("cuda:0") == torch.cuda.memory_allocated(0) == 0
    torch.cuda.set_device("cuda:0")
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    torch.set_float32_matmul_precision("high")
    q = torch.randn(1, 2, 8, 16, device="cuda")
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        assert on_cuda(torch.nn.functional.scaled_dot_product_attention(q, q, q, is_causal=True))
    with torch.inference_mode():
        assert on_cuda(torch.ones(2, device="cuda") + 1)


def compiling():
    compiled = torch.compile(lambda x: x + 1, fullgraph=True, dynamic=False, mode="max-autotune")
    assert compiled(torch.ones(1, device="cuda")).item() == 2
    plain = torch.nn.Linear(2, 2)
    module = torch.compile(plain)
    assert module._orig_mod is plain and list(module.state_dict()) == ["_orig_mod.weight", "_orig_mod.bias"]
    assert on_cuda(module.cuda()(torch.ones(1, 2, device="cuda")), copy.deepcopy(module).weight, plain.weight)
    assert module.in_features == 2 and not module.eval().training and torch.compile(plain, disable=True) is plain
    assert isinstance(module, torch._dynamo.eval_frame.OptimizedModule)
    torch._dynamo.reset()
    torch.compiler.reset()
    assert not torch.compiler.is_compiling()


def threads():
    seen = []

    class Own(threading.Thread):
        def run(self):
            seen.append(torch.ones(1, device="cuda").is_cuda)

    workers = [Own(), threading.Thread(target=lambda: seen.append(on_cuda(torch.ones(1).cuda())))]
    for worker in workers:
        worker.start()
        worker.join()
    assert seen == [True, True]


def measuring():
    x = torch.ones(64, device="cuda")
    launch = lambda: scale[(2,)](x, x, 1.0, 64, B=32)
    assert triton.testing.do_bench(launch, warmup=1, rep=2, grad_to_none=[x]) > 0
    low, middle, high = triton.testing.do_bench(launch, warmup=1, rep=2, quantiles=[0.2, 0.5, 0.8])
    assert 0 < low <= middle <= high


HELPERS = {"on_cuda", "scale"}
CASES = [n for n, v in list(globals().items()) if getattr(v, "__module__", "") == __name__ and n not in HELPERS]


def run_all(functions: dict, names: list[str]) -> dict[str, str]:
    results = {}
    for name in names:
        try:
            functions[name]()
            results[name] = ""
        except BaseException:
            results[name] = traceback.format_exc()
    return results


if __name__ == "__main__":
    print(json.dumps(run_all(globals(), CASES)))
