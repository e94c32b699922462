"""Tensors on the emulated device in other processes (test_cuda_workers.py).

Run as a program, with the way to start them, or "nccl" and a number of processes. It prints one line of JSON.
"""

from __future__ import annotations

import json
import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def look(queue, done, tensor, parameter, event):
    found = [tensor.device.type, tensor.get_device(), parameter.is_cuda, type(parameter).__name__, tensor.sum().item()]
    queue.put((found, tensor * 2, tensor.cpu()))
    tensor += 1
    event.set()
    done.wait(60)


def start(method: str) -> None:
    context = mp.get_context(method)
    tensor, parameter = torch.ones(3, device="cuda:1"), torch.nn.Parameter(torch.ones(2, device="cuda"))
    queue, done, event = context.Queue(), context.Event(), context.Event()
    child = context.Process(target=look, args=(queue, done, tensor, parameter, event))
    child.start()
    found, twice, host = queue.get(timeout=60)
    event.wait(60)
    print(json.dumps([found, str(twice.device), str(host.device), tensor.tolist()]))
    done.set()
    child.join()


def collect(rank: int, world: int, port: str) -> None:
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
    torch.cuda.set_device(rank)
    device = torch.device("cuda", rank)
    dist.init_process_group("nccl", rank=rank, world_size=world, device_id=device)
    x = torch.full((3,), rank + 1.0, device=rank)
    dist.all_reduce(x)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 3).to(rank), device_ids=[rank])
    model(x).sum().backward()
    gathered = [torch.empty(3, device="cuda") for _ in range(world)]
    dist.all_gather(gathered, x)
    objects = [None] * world
    dist.all_gather_object(objects, rank)
    group = dist.new_group(backend="nccl")
    mean = torch.full((2,), float(rank), device="cuda")
    dist.all_reduce(mean, op=dist.ReduceOp.AVG, group=group)
    dist.barrier(device_ids=[rank])
    devices = {str(t.device) for t in (x, model.module.weight.grad, mean, *gathered)}
    if rank == 0:
        print(json.dumps([x.tolist(), mean.tolist(), objects, sorted(devices), dist.get_backend()]))
    dist.destroy_process_group()
    for backend in (None, "cpu:gloo,cuda:nccl", "NCCL") if world == 1 else ():  # gloo meets again too early, without us
        dist.init_process_group(backend, rank=rank, world_size=world)
        both = [torch.ones(2, device="cuda"), torch.ones(2)]
        for tensor in both:
            dist.all_reduce(tensor)
        assert [t.tolist() for t in both] == [[world, world]] * 2, backend
        dist.destroy_process_group()


if __name__ == "__main__":
    if sys.argv[1] == "nccl":
        world, port = int(sys.argv[2]), sys.argv[3]
        if world == 1:
            collect(0, 1, port)
        else:
            mp.spawn(collect, args=(world, port), nprocs=world)
    else:
        start(sys.argv[1])
