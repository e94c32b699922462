"""What scripts written for a GPU do with torch's modules, gradients, functional transforms and subclasses of tensors:
each function runs under the emulated CUDA (test_cuda_emulation.py)."""

from __future__ import annotations

import copy
import io
import json
import pickle

import torch
import triton
from cuda_cases import on_cuda, run_all, scale


class Scale(torch.autograd.Function):
    """factor * x by the kernel, forward and backward."""

    @staticmethod
    def forward(ctx, x, factor):
        assert x.is_cuda and x.device.type == "cuda"
        ctx.save_for_backward(x)
        ctx.factor = factor
        o = torch.empty_like(x)
        scale[(triton.cdiv(x.numel(), 32),)](x, o, factor, x.numel(), B=32)
        return o

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        assert gradient.is_cuda and x.is_cuda and gradient.device == x.device
        o = torch.empty(x.shape, device="cuda", dtype=x.dtype)
        scale[(triton.cdiv(x.numel(), 32),)](gradient.contiguous(), o, ctx.factor, x.numel(), B=32)
        return o, None


def modules():
    Linear, Norm = torch.nn.Linear, torch.nn.LayerNorm
    model = torch.nn.Sequential(Linear(4, 4), Norm(4), torch.nn.Dropout(0.5)).to("cuda", torch.bfloat16)
    assert on_cuda(*model.parameters()) and {p.dtype for p in model.parameters()} == {torch.bfloat16}
    model.half().cuda(0)
    assert on_cuda(*model.parameters(), *copy.deepcopy(model).parameters())
    model.cpu()
    assert all(p.is_cpu for p in model.parameters())
    state = Linear(2, 2, device="cuda").state_dict()
    host = Linear(2, 2)
    host.load_state_dict(state)
    assert on_cuda(*state.values()) and host.weight.is_cpu and torch.equal(host.weight, state["weight"].cpu())
    assert on_cuda(torch.nn.BatchNorm1d(4).cuda().running_mean, torch.nn.Embedding(4, 4, device="cuda").weight)

    for place in (torch.device("cuda"), torch.device("cuda", 0), "cuda:0", 0, torch.ones(1, device="cuda")):
        assert on_cuda(Linear(2, 2).to(place).weight), place
    assert Linear(2, 2).cuda().to(torch.device("cpu")).weight.is_cpu

    class Own(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.w = torch.nn.Parameter(torch.ones(3, device="cuda"))
            self.register_buffer("b", torch.zeros(3, device="cuda"))

    assert on_cuda(*Own().parameters(), *Own().buffers())


def files():
    file = io.BytesIO()
    torch.save({"a": [torch.ones(2, device="cuda")], "b": torch.ones(1)}, file)
    for where, a, b in (
        (None, "cuda", "cpu"),
        ("cuda", "cuda", "cuda"),
        ("cpu", "cpu", "cpu"),
        ("cuda:0", "cuda", "cuda"),
    ):
        file.seek(0)
        loaded = torch.load(file, map_location=where)
        assert (loaded["a"][0].device.type, loaded["b"].device.type) == (a, b), where
    x = torch.ones(2, device="cuda")
    assert on_cuda(copy.deepcopy(x), pickle.loads(pickle.dumps(x)))


def kernels_in_autograd():
    x = torch.randn(40, device="cuda", requires_grad=True)
    o = Scale.apply(x, 3.0)
    assert on_cuda(o) and torch.allclose(o, 3 * x)
    (2 * o).sum().backward()
    assert on_cuda(x.grad) and (x.grad == 6).all()
    (gradient,) = torch.autograd.grad(Scale.apply(x, 2.0).sum(), x)
    assert on_cuda(gradient) and (gradient == 2).all()
    y = torch.randn(3, dtype=torch.float64, device="cuda", requires_grad=True)
    assert torch.autograd.gradcheck(lambda t: Scale.apply(t, 2.0), (y,))


def hooks_and_checkpoints():
    from torch.utils.checkpoint import checkpoint

    seen = []
    x = torch.randn(4, device="cuda", requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: seen.append(g.is_cuda) or g * torch.ones(4, device="cuda"))
    x.register_post_accumulate_grad_hook(lambda p: seen.append(p.is_cuda))
    y.sum().backward()
    assert seen == [True, True] and on_cuda(x.grad)

    def block(t):
        assert torch.zeros(1, device="cuda").is_cuda
        return Scale.apply(t, 2.0).relu()

    for reentrant in (False, True):
        x.grad = None
        checkpoint(block, x, use_reentrant=reentrant).sum().backward()
        assert on_cuda(x.grad) and torch.equal(x.grad, 2.0 * (x > 0))


def function_transforms():
    x = torch.randn(4, device="cuda")
    gradient, twice = torch.func.grad(lambda t: (t**2).sum())(x), torch.func.vmap(lambda t: 2 * t)(x)
    assert on_cuda(gradient, twice, torch.func.jacrev(lambda t: t**2)(x))
    assert torch.allclose(gradient, 2 * x) and torch.equal(twice, 2 * x)
    value, pull = torch.func.vjp(lambda t: t * 3, x)
    assert on_cuda(value) and torch.equal(value, 3 * x) and (pull(torch.ones_like(x))[0] == 3).all()


class Wrapped(torch.Tensor):
    """A subclass that holds a tensor, as libraries that quantize make them."""

    @staticmethod
    def __new__(cls, held):
        return torch.Tensor._make_wrapper_subclass(cls, held.shape, dtype=held.dtype, device=held.device)

    def __init__(self, held):
        self.held = held

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        if func is torch.ops.aten.detach.default:
            from torch.utils._python_dispatch import return_and_correct_aliasing

            return return_and_correct_aliasing(func, args, kwargs or {}, cls(args[0].held.detach()))
        return func(*[a.held if isinstance(a, cls) else a for a in args], **(kwargs or {}))


def subclasses_that_hold_tensors():
    x = torch.arange(4.0, device="cuda")
    wrapped = Wrapped(x)
    parameter = torch.nn.Parameter(wrapped, requires_grad=False)
    assert on_cuda(wrapped, parameter, wrapped + 1) and isinstance(parameter, Wrapped)
    assert torch.equal(wrapped + 1, x + 1) and Wrapped(x.cpu()).is_cpu


def types_that_name_cuda():
    x = torch.cuda.FloatTensor(2, 3)
    assert on_cuda(x, torch.cuda.LongTensor([1, 2]), torch.ones(2).type(torch.cuda.HalfTensor)) and x.shape == (2, 3)
    assert isinstance(x, torch.cuda.FloatTensor) and not isinstance(x.cpu(), torch.cuda.FloatTensor)
    assert not isinstance(x, torch.cuda.LongTensor) and torch.cuda.HalfTensor.dtype == torch.float16
    torch.set_default_tensor_type("torch.cuda.DoubleTensor")
    try:
        assert on_cuda(torch.zeros(2)) and torch.zeros(2).dtype == torch.float64
    finally:
        torch.set_default_tensor_type(torch.FloatTensor)
    assert torch.zeros(2).is_cpu and torch.zeros(2).dtype == torch.float32
    stream, event = torch.Stream("cuda", priority=-1), torch.Event("cuda", enable_timing=True)
    assert isinstance(stream, torch.Stream) and isinstance(torch.cuda.current_stream(), torch.Stream)
    assert isinstance(stream, torch.cuda.Stream) and isinstance(event, torch.Event) and not isinstance(1, torch.Event)
    event.record(stream)
    with stream:
        assert torch.accelerator.current_stream() == stream
    assert torch.accelerator.current_stream() == torch.cuda.default_stream()


def profilers():
    from torch.profiler import ProfilerActivity, profile

    for activities in ([ProfilerActivity.CPU, ProfilerActivity.CUDA], [ProfilerActivity.CUDA], None):
        with profile(activities=activities) as seen:
            torch.ones(4, device="cuda").sum()
        assert "aten::sum" in seen.key_averages().table()
    with torch.autograd.profiler.profile(use_device="cuda") as seen, torch.autograd.profiler.emit_nvtx(enabled=False):
        torch.ones(4, device="cuda").sum()
    assert "aten::sum" in seen.table()


def gradients_of_copies():
    """A copy to the other side is a step of autograd, as on a GPU."""
    for x, there in (
        (torch.ones(3, device="cuda", requires_grad=True), "cpu"),
        (torch.ones(3).requires_grad_(), "cuda"),
    ):
        (2 * x.to(there)).sum().backward()
        assert x.grad.tolist() == [2, 2, 2] and x.grad.device == x.device


def fake_tensors():
    """Programs are traced without data: fake tensors are where the real ones are."""
    from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
    from torch.fx.experimental.proxy_tensor import make_fx

    mode, x = FakeTensorMode(), torch.ones(4, 4, device="cuda")
    fake, host = mode.from_tensor(x), mode.from_tensor(x.cpu())
    assert on_cuda(fake) and isinstance(fake, FakeTensor) and host.is_cpu and mode.from_tensor(x) is fake
    assert on_cuda(FakeTensor(mode, torch.empty(2, device="meta"), torch.device("cuda")))
    with mode:
        model = torch.nn.Linear(4, 4, device="cuda")
        made = [torch.empty(3, device="cuda"), torch.ones(3).cuda(), fake[:, 0], fake @ fake, model(fake), fake.half()]
        assert on_cuda(*made, model.weight, host.cuda()) and fake.cpu().is_cpu and torch.ones(2).is_cpu
        # Helion asks a real tensor where it is, and makes the fake one itself.
        assert x.device == torch.device("cuda", 0) and x.is_cuda and not x.is_cpu and x.get_device() == 0
        assert on_cuda(torch.empty_strided(x.size(), x.stride(), device=x.device))
        with torch.device("cuda"):
            assert on_cuda(torch.zeros(4) + fake[0])
        model(fake).sum().backward()
        assert on_cuda(model.weight.grad) and model.weight.grad.shape == (4, 4)
        assert torch.empty_like(fake, device="meta").device.type == "meta"
    for kind in ("real", "fake", "symbolic"):
        traced = make_fx(lambda a: (a * 2).relu() + torch.ones(4, device="cuda"), tracing_mode=kind)(x)
        assert on_cuda(traced(x)) and torch.equal(traced(x), x * 2 + 1), kind
    exported = torch.export.export(torch.nn.Linear(4, 4).cuda(), (x,)).module()
    assert on_cuda(exported(x)) and torch.fx.symbolic_trace(torch.nn.ReLU())(x).is_cuda


def strides_of_fake_convolutions():
    """They are those of the real result, which the CPU computes: views of it are traced right."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    for form in (torch.contiguous_format, torch.channels_last):
        for size, groups in ((1, 1), (3, 1), (3, 4)):
            x = torch.randn(2, 8, 9, 9, device="cuda").to(memory_format=form).requires_grad_()
            weight = torch.randn(12, 8 // groups, size, size, device="cuda").to(memory_format=form).requires_grad_()

            def results(x, weight, groups=groups):
                y = torch.nn.functional.conv2d(x, weight, groups=groups)
                return (y, *torch.autograd.grad(y.square().sum(), (x, weight)))

            mode = FakeTensorMode()
            with mode:
                fakes = results(mode.from_tensor(x), mode.from_tensor(weight))
            for real, fake in zip(results(x, weight), fakes, strict=True):
                assert on_cuda(fake) and real.stride() == fake.stride(), (form, size, groups, real.stride())


def gradients_of_moved_tensors():
    x, w = torch.randn(3, requires_grad=True), torch.randn(3, device="cuda", requires_grad=True)
    (alone,) = torch.autograd.grad((2 * x.cuda()).sum(), x)
    first, second, none = torch.autograd.grad((x.cuda() * w).sum(), [x, w, torch.ones(1, requires_grad=True)],
                                              allow_unused=True)  # fmt: skip
    assert on_cuda(second) and none is None
    assert alone.device == first.device == torch.device("cpu")


def primitives_that_name_a_device():
    from torch._inductor import inductor_prims

    here, there = torch.device("cpu"), torch.device("cuda")
    assert on_cuda(inductor_prims.seeds(2, there)) and not inductor_prims.seeds(2, here).is_cuda
    x = torch.ones(3)
    y = torch.ops.prims.device_put(x, there)
    z = torch.ops.prims.device_put(y, here)
    y[0], z[1] = 5, 7
    assert on_cuda(y) and not x.is_cuda and not z.is_cuda
    assert (x.tolist(), y.tolist(), z.tolist()) == ([1, 1, 1], [5, 1, 1], [1, 7, 1])
    assert torch.ops.prims.device_put(y, there) is y


def meta_tensors():
    x = torch.ones(3, device="cuda")
    for meta in (torch.empty(3, device="meta"), torch.empty_like(x, device="meta"), x.to("meta")):
        assert meta.device.type == (meta + 1).device.type == "meta" and not meta.is_cuda
    model = torch.nn.Linear(3, 3, device="meta").to_empty(device="cuda")
    assert on_cuda(model.weight, model.bias)


def mixed_precision():
    model = torch.nn.Linear(4, 4).cuda()
    optimizer, scaler = torch.optim.SGD(model.parameters(), lr=0.1), torch.amp.GradScaler("cuda", init_scale=256)
    x = torch.randn(2, 4, device="cuda")
    before = model.weight.detach().clone()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = model(x).float().sum()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    assert scaler.is_enabled() and not torch.equal(before, model.weight)


HELPERS = {"Scale", "Wrapped"}
CASES = [n for n, v in list(globals().items()) if getattr(v, "__module__", "") == __name__ and n not in HELPERS]

if __name__ == "__main__":
    print(json.dumps(run_all(globals(), CASES)))
