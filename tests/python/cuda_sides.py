"""Which side torch's functions leave a tensor on: each function runs under the emulated CUDA (test_cuda_emulation.py).

Two devices are emulated. Run as a program, it prints {function: what went wrong, or ""} as JSON.
"""

from __future__ import annotations

import _thread
import copy
import functools
import io
import json
import pickle
import time
import zipfile

import old_threads  # isort: skip  # first of all, since it must see no torch
import numpy as np
import torch
import triton
import triton.language as tl
from cuda_cases import on_cuda, run_all

NOT_CASES = ("double", "refused", "launched", "Own", "Tracing", "main")


@triton.jit
def double(x_ptr, o_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o_ptr + i, 2 * tl.load(x_ptr + i))


class Own(torch.Tensor):
    pass


class Tracing(torch.Tensor):
    """Asks inside of its __torch_function__ where tensors are."""

    seen: list[bool] = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func is torch.add:
            cls.seen.append(args[0].as_subclass(torch.Tensor).is_cuda)
        with torch._C.DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))


def refused(call, kind, words):
    try:
        call()
    except kind as error:
        return words in str(error) or str(error)
    return "nothing was raised"


def launched(x):
    """What the kernel makes of x, beside a tensor that is known to be on the device."""
    o = torch.zeros(4, device="cuda")
    double[(1,)](x, o, 4)
    return o.tolist() == [2, 2, 2, 2]


def data_is_copied_to_the_device():
    one = torch.ones(4, device="cuda")
    for make in (torch.as_tensor, torch.asarray, torch.tensor):
        host = np.zeros(4, np.float32)
        double[(1,)](one, make(host, device="cuda"), 4)
        assert host.tolist() == [0, 0, 0, 0], make
        with torch.device("cuda"):
            double[(1,)](one, make(host), 4)
        assert host.tolist() == [0, 0, 0, 0], make
        x = torch.zeros(4)
        y = make(x, device="cuda")
        double[(1,)](one, y, 4)
        assert on_cuda(y) and x.is_cpu and x.tolist() == [0, 0, 0, 0], make
        back = make(one, device="cpu")
        assert back.is_cpu and back.numpy().sum() == 4 and back.data_ptr() != one.data_ptr() and one.is_cuda, make
        assert make([one[0], one[1]]).is_cpu and on_cuda(make(one)) and make(one, device="cuda:1").get_device() == 1
    assert (
        torch.as_tensor(one) is one is torch.as_tensor(one, device="cuda:0") and torch.as_tensor(x, device="cpu") is x
    )
    shared = np.zeros(4, np.float32)
    torch.as_tensor(shared)[0] = 3
    torch.asarray(shared, device="cpu")[1] = 4
    assert shared.tolist() == [3, 4, 0, 0]
    assert refused(lambda: torch.asarray(x, device="cuda", copy=False), ValueError, "can't alias") is True
    assert torch.asarray(shared, device="cuda", requires_grad=True).is_leaf


def arguments_stay_where_they_are():
    c, one, four = torch.ones(4, device="cuda"), torch.zeros(1), torch.zeros(4)
    for make in (torch.broadcast_tensors, torch.atleast_1d, torch.atleast_2d):
        for host in (one, four):
            made = make(c, host)
            assert on_cuda(made[0]) and made[1].is_cpu and host.is_cpu and host.numpy().sum() == 0, make
            made = make(host, c)
            assert made[0].is_cpu and on_cuda(made[1]) and host.is_cpu, make
    value, _ = torch.func.vjp(lambda t, u: (t * 2, u), c, four)
    assert on_cuda(value[0]) and four.is_cpu and four.expand_as(torch.ones(2, 4, device="cuda")).is_cpu
    assert c.type_as(four).is_cpu and on_cuda(four.type_as(c)) and c.is_cuda and four.is_cpu


def copies_take_a_memory_format():
    x = torch.arange(24.0).view(1, 2, 3, 4)
    c, last = x.cuda(), torch.channels_last
    expected = x.to(memory_format=last).stride()
    for made in (x.cuda(memory_format=last), c.cuda(memory_format=last)):
        assert on_cuda(made) and made.stride() == expected and torch.equal(made, c)
    assert c.cpu(memory_format=last).stride() == expected and c.cpu(memory_format=last).is_cpu
    assert torch.get_device(c) == 0 == c.get_device() and torch.get_device(x) == -1
    assert not x.is_pinned(device="cuda") and x.pin_memory().is_pinned(device="cuda")


def regions_of_autocast_are_cudas():
    host, c = torch.ones(2, 2), torch.ones(2, 2, device="cuda")
    with torch.autocast("cuda", dtype=torch.float16):
        assert (host @ host).dtype == torch.float32 and (c @ c).dtype == torch.float16
        assert torch.is_autocast_enabled("cuda") and not torch.is_autocast_enabled("cpu")
        with torch.autocast("cpu", dtype=torch.bfloat16):
            assert (host @ host).dtype == torch.bfloat16 and (c @ c).dtype == torch.float16
        with torch.autocast("cuda", enabled=False):
            assert (c @ c).dtype == torch.float32
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert (host @ host).dtype == torch.bfloat16 and (c @ c).dtype == torch.float32


def operators_of_libraries():
    c, host = torch.ones(4, device="cuda"), torch.ones(4)

    def body(x: torch.Tensor) -> torch.Tensor:
        assert x.is_cuda and torch.ones(2, device="cuda").is_cuda
        o = torch.empty_like(x)
        double[(1,)](x, o, 4)
        return o

    on_both = torch.library.custom_op("sides::both", mutates_args=())(body)
    on_one = torch.library.custom_op("sides::one", mutates_args=(), device_types="cuda")(body)
    for operator in (on_both, on_one):
        assert on_cuda(operator(c)) and operator(c).tolist() == [2, 2, 2, 2]
    assert refused(lambda: on_one(host), NotImplementedError, "Could not run 'sides::one'") is True
    on_one.register_kernel("cpu", lambda x: x * 3)
    assert on_one(host).tolist() == [3, 3, 3, 3] and on_one(host).is_cpu and on_one(c).tolist() == [2, 2, 2, 2]

    seen = []
    on_one.register_autograd(lambda ctx, g: seen.append(g.is_cuda) or 2 * g)
    x = torch.ones(4, device="cuda", requires_grad=True)
    on_one(x).sum().backward()
    assert seen == [True] and x.grad.tolist() == [2, 2, 2, 2] and on_cuda(x.grad)

    library = torch.library.Library("sides_too", "DEF")
    library.define("f(Tensor a) -> Tensor")
    library.impl("f", lambda a: a * 2, "CUDA")
    library.impl("f", lambda a: a * 5, "CPU")
    f = torch.ops.sides_too.f
    assert f(c).tolist() == [2, 2, 2, 2] and on_cuda(f(c)) and f(host).tolist() == [5, 5, 5, 5] and f(host).is_cpu

    @torch.library.custom_op("sides::make", mutates_args=(), device_types="cuda")
    def make(n: int, device: torch.device) -> torch.Tensor:
        assert device.type == "cuda"
        return torch.ones(n, device=device)

    assert on_cuda(make(3, torch.device("cuda:0")))


def results_of_cpp_code():
    """Tensors that come back from C++ code are no host tensors: a launch takes them."""
    c = torch.ones(4, device="cuda")
    scripted, traced = torch.jit.script(torch.nn.ReLU()), torch.jit.trace(lambda t: t.abs(), c)
    for x in (scripted(c), traced(c), torch.vmap(lambda a: a.abs())(c), Own(c), torch.Tensor._make_subclass(Own, c)):
        assert on_cuda(x) and launched(x)
    assert on_cuda(torch.Tensor(c), torch.from_dlpack(c)) and launched(torch.Tensor(c)) and Own(c.cpu()).is_cpu
    seen = []
    y = (c.clone().requires_grad_() * 1).abs()
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append(launched(outputs[0].clone())))
    y.backward(c)
    assert seen == [True]
    for host in (torch.ones(4), torch.from_numpy(np.ones(4, np.float32)), c.cpu(), torch.ones(4).abs(), Own(c.cpu())):
        assert refused(functools.partial(launched, host), ValueError, "cpu tensor?") is True
    assert on_cuda(torch.add(c.as_subclass(Tracing), c)) and Tracing.seen == [True]


def lazy_and_packed_modules():
    class Sends(torch.nn.Linear):
        def to(self, device):
            return self.cuda() if "cuda" in str(device) else self.cpu()

    c = torch.ones(1, 4, device="cuda")
    assert on_cuda(Sends(2, 2).to("cuda").weight)
    for lazy in (
        torch.nn.LazyLinear(2, device="cuda"),
        torch.nn.LazyLinear(2).cuda(),
        torch.nn.LazyLinear(2).to("cuda"),
    ):
        assert on_cuda(lazy(c), lazy.weight, lazy.bias)
    rnn = torch.nn.utils.rnn
    packed = rnn.pack_padded_sequence(torch.ones(3, 2, 4, device="cuda"), torch.tensor([3, 2]))
    assert on_cuda(packed.data) and packed.batch_sizes.is_cpu
    lstm = torch.nn.LSTM(4, 4).cuda()
    out, lengths = rnn.pad_packed_sequence(lstm(packed)[0])
    assert on_cuda(out) and lengths.is_cpu and lengths.tolist() == [3, 2]
    for layout in (torch.strided, torch.jagged):
        parts = [torch.ones(3), torch.ones(2)]
        nested = torch.nested.nested_tensor(parts, device="cuda", layout=layout)
        assert on_cuda(nested, torch.nested.as_nested_tensor([p.cuda() for p in parts], layout=layout)), layout
        assert torch.nested.nested_tensor(parts, layout=layout).is_cpu and all(p.is_cpu for p in parts)


def files_say_where_tensors_are():
    def load(data, place=None, **options):
        return torch.load(io.BytesIO(data), map_location=place, **options)["w"].device

    for kind in (torch.Tensor, torch.nn.Parameter):
        file = io.BytesIO()
        torch.save({"w": torch.ones(4, device="cuda:1").as_subclass(torch.Tensor) if kind is torch.Tensor else
                    torch.nn.Parameter(torch.ones(4, device="cuda:1")), "h": torch.ones(2)}, file)  # fmt: skip
        data = file.getvalue()
        pickled = next(n for n in zipfile.ZipFile(io.BytesIO(data)).namelist() if n.endswith("data.pkl"))
        text = zipfile.ZipFile(io.BytesIO(data)).read(pickled)
        assert b"cuda:1" in text and b"tiletwin" not in text
        one = torch.device("cuda:1")
        for place, expected in (
            (None, one), ("cpu", "cpu"), ("cuda:0", "cuda:0"), (torch.device("cuda:1"), one), (lambda s, l: s, "cpu"),
            (lambda s, l: s.cuda(0), "cuda:0"), (lambda s, l: None, one), ({"cuda:1": "cpu"}, "cpu"),
            ({"cuda:1": "cuda:0"}, "cuda:0"), ({"cuda:0": "cpu"}, one),
        ):  # fmt: skip
            for weights_only in (True, False):
                assert load(data, place, weights_only=weights_only) == torch.device(expected), place
        assert torch.load(io.BytesIO(data))["h"].is_cpu
    assert (
        refused(lambda: load(data, {"cuda:1": "cuda:7"}), RuntimeError, "deserialize object on CUDA device 7") is True
    )
    x = torch.ones(2, device="cuda:1")
    for made in (copy.deepcopy(x), pickle.loads(pickle.dumps(x)), copy.copy(x)):
        assert made.device == x.device
    old = io.BytesIO()
    torch.save(x, old, _use_new_zipfile_serialization=False)
    old.seek(0)
    assert torch.load(old).device == x.device


def devices_do_not_mix():
    c, other, host, number = (
        torch.ones(4, device="cuda"),
        torch.ones(4, device="cuda:1"),
        torch.ones(4),
        torch.tensor(2.0),
    )
    layer, table = torch.nn.Linear(4, 2), torch.nn.Embedding(4, 2)
    words = "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and "
    indices = torch.tensor([0, 1])
    for call in (
        lambda x: x + c, lambda x: c - x, lambda x: c / x, lambda x: c > x, lambda x: 2 ** (x * c), lambda x: c.mul_(x),
        lambda x: x.div_(c), lambda x: torch.maximum(c, x), lambda x: torch.where(c > 0, c, x), lambda x: c @ x,
        lambda x: torch.cat([x, c]), lambda x: torch.stack((c, x)), lambda x: torch.add(c, c, out=x),
        lambda x: layer.to(x.device)(c), lambda x: table.to(x.device)(indices.cuda()), lambda x: torch.lerp(c, x, 0.5),
        lambda x: c.masked_fill(x > 0, 1.0), lambda x: x.index_select(0, indices.cuda()), lambda x: c.addcmul(x, c),
    ):  # fmt: skip
        for x in (host, other):
            assert refused(functools.partial(call, x), RuntimeError, words + str(x.device)) is True
    assert c.tolist() == host.tolist() == other.tolist() == [1, 1, 1, 1]
    for made in (
        c + number,
        number * c,
        c.masked_fill(c > 0, number),
        torch.where(c > 0, number, c),
        c[indices],
        c**number,
    ):
        assert on_cuda(made)
    assert refused(lambda: host + number.cuda(), RuntimeError, words + "cpu") is True
    c[1:3], c[indices] = host[:2], number
    assert host.copy_(c).is_cpu and host.tolist() == [2, 2, 1, 1] and other.copy_(c).get_device() == 1
    host.fill_(number.cuda())
    assert host.tolist() == [2, 2, 2, 2] and host.is_cpu
    assert host.expand_as(c).is_cpu and torch.result_type(c, host) == torch.float32


def threads_of_other_kinds():
    seen = []
    _thread.start_new_thread(lambda: seen.append(torch.ones(2, device="cuda").is_cuda), ())
    end = time.monotonic() + 60
    while not seen and time.monotonic() < end:
        time.sleep(0.01)
    assert seen == [True]


def threads_older_than_torch():
    """Torch's own functions turn the emulation on in them; what C++ code of torch gets first says what to do."""

    def begins_with_the_device():
        torch.cuda.set_device(1)
        return on_cuda(torch.ones(2, device="cuda:0")) and torch.ones(2).cuda().get_device() == 1

    assert old_threads.answer(begins_with_the_device)
    makes = (functools.partial(torch.ones, 2, device="cuda"), torch.ones(2).cuda)
    for make in makes:
        assert (
            old_threads.answer(functools.partial(refused, make, RuntimeError, "began before torch was imported"))
            is True
        )


def names_of_no_device():
    makes = (functools.partial(torch.ones, 1), torch.ones(1).to, torch.ones(1).cuda)
    for name in ("cuda:x", "cuda:-1"):
        for make in makes:
            ask = functools.partial(make, device=name)
            assert refused(ask, RuntimeError, f"Invalid device string: '{name}'") is True
    assert refused(lambda: torch.ones(1).cuda("cpu"), RuntimeError, "Invalid device, must be cuda device") is True


CASES = [n for n, v in list(globals().items()) if getattr(v, "__module__", "") == __name__ and n not in NOT_CASES]

if __name__ == "__main__":
    print(json.dumps(run_all(globals(), CASES)))
