"""Runs recorded launches under real Triton, in a process of its own. It imports nothing of tiletwin.

Reads one JSON object a line from standard input ({"launch": file, "out": file}), writes one a line to the descriptor
that its first argument names: {"error": null or text, "kind": name of the exception, "supported": bool, "seconds": s}.
The memory after the launch goes to `out`, an .npz with one array of bytes a storage.
"""

import importlib
import io
import json
import os
import sys
import tempfile
import time
import traceback
import zipfile

TORCH = {
    "u1": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16",
    "u32": "uint32", "u64": "uint64", "fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64",
    "fp8e5": "float8_e5m2", "fp8e4nv": "float8_e4m3fn", "fp8e4b8": "float8_e4m3fnuz", "fp8e5b16": "float8_e5m2fnuz",
}  # fmt: skip
GIVEN = ("num_warps", "num_stages", "num_ctas", "maxnreg")


class Unsupported(Exception):
    pass


def read(path):
    import numpy as np

    with zipfile.ZipFile(path) as archive:
        launch = json.loads(archive.read("launch.json"))
        memory = [
            np.lib.format.read_array(io.BytesIO(archive.read(f"before/{i}.npy")), allow_pickle=False)
            for i in range(len(launch["storages"]))
        ]
        sources = {module: archive.read(f"source/{module}.py").decode() for module in launch["modules"]}
    return launch, memory, sources


def value(item, storages, device):
    import torch
    import triton.language as tl

    if not isinstance(item, dict):
        return item
    (kind, content), *_ = item.items()
    if kind == "float":
        return float.fromhex(content)
    if kind == "tuple":
        return tuple(value(part, storages, device) for part in content)
    if kind == "dtype":
        return tl.dtype(content)
    if kind == "array":
        if content["type"] not in TORCH:
            raise Unsupported(f"torch has no element type for {content['type']}")
        data = storages[content["storage"]]
        dtype = getattr(torch, TORCH[content["type"]])
        size = torch.empty(0, dtype=dtype).element_size()
        if content["offset"] % size or min(content["strides"], default=0) < 0:
            raise Unsupported("an array that is not aligned, or runs backwards")
        whole = data[: data.numel() // size * size].view(dtype)
        first = whole.storage_offset() + content["offset"] // size
        return whole.as_strided(content["shape"], content["strides"], first)
    if kind == "descriptor":
        from triton.tools.tensor_descriptor import TensorDescriptor

        base = value({"array": content["base"]}, storages, device)
        return TensorDescriptor(base, content["shape"], content["strides"], content["block_shape"], content["padding"])
    raise Unsupported(f"an argument of kind {kind}")


def run(path, out, modules):
    import numpy as np
    import torch

    launch, memory, sources = read(path)
    key = json.dumps(sources)
    if key not in modules:
        folder = tempfile.mkdtemp(prefix=f"k{len(modules)}_", dir=modules["folder"])
        for module, text in sources.items():
            with open(os.path.join(folder, f"{module}.py"), "w") as file:
                file.write(text)
            sys.modules.pop(module, None)
        sys.path.insert(0, folder)
        importlib.invalidate_caches()
        try:
            modules[key] = importlib.import_module(next(iter(sources)))
        finally:
            sys.path.remove(folder)
    module = modules[key]
    kernel = getattr(module, launch["name"])
    device = modules["device"]
    room, storages = [], []
    for data, begin in zip(memory, launch["alignment"]):
        wide = torch.empty(data.size + 128, dtype=torch.uint8, device=device)
        shift = (begin - wide.data_ptr()) % 64
        room.append(wide)
        storages.append(wide[shift : shift + data.size])
        storages[-1].copy_(torch.from_numpy(data))
    arguments = {}
    for name, item in launch["arguments"].items():
        arguments[name] = getattr(module, item["function"]) if isinstance(item, dict) and "function" in item else value(
            item, storages, device
        )  # fmt: skip
    given = (name for name in GIVEN if name not in arguments)  # a kernel may have a parameter of that name
    options = {name: launch["options"][name] for name in given if launch["options"].get(name) is not None}
    kernel[tuple(launch["grid"])](**arguments, **options)
    if device != "cpu":
        torch.cuda.synchronize()
    np.savez(out, *[storage.cpu().numpy() for storage in storages])


def main():
    answers = os.fdopen(int(sys.argv[1]), "w")
    mode = sys.argv[2]
    os.environ["TRITON_INTERPRET"] = "1" if mode == "interpret" else "0"
    import torch
    import triton

    device = "cpu" if mode == "interpret" else "cuda"
    modules = {"folder": tempfile.mkdtemp(prefix="tiletwin-triton-"), "device": device}
    print(json.dumps({"triton": triton.__version__, "torch": torch.__version__}), file=answers, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        started = time.perf_counter()
        answer = {"error": None, "kind": "", "supported": True}
        try:
            run(request["launch"], request["out"], modules)
        except Unsupported as error:
            answer.update(error=str(error), kind="Unsupported", supported=False)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            cause = error
            while cause.__cause__ is not None:
                cause = cause.__cause__
            # Triton's interpreter finds failing assertions; whatever else it raises is what it cannot do.
            missing = isinstance(cause, (NotImplementedError, AttributeError, ImportError))
            missing = missing or (mode == "interpret" and not isinstance(cause, AssertionError))
            answer.update(
                error=f"{type(cause).__name__}: {cause}", kind=type(cause).__name__, supported=not missing,
                traceback=traceback.format_exc(),
            )  # fmt: skip
        answer["seconds"] = time.perf_counter() - started
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
