"""Runs recorded launches under real Triton, in a process of its own. It imports nothing of tiletwin.

Arguments: a descriptor for answers; "interpret", "compile" (on a GPU) or "sim" (for the simulator: nothing runs here).
Reads one JSON object a line from standard input, writes one a line to the descriptor:
{"error": null or text, "kind": name of the exception, "supported": bool, "seconds": s, ...}.
{"launch": file, "out": file}: the memory after the launch goes to `out`, an .npz with one array of bytes a storage.
For the simulator {"launch": file, "sizes": bytes of each storage, "capability": 90}, or {"ttir": file,
"options": {...}, "capability": 90}: the answer has "ptx", "facts" and, of a launch, "arguments" (triton_driver.py); a
pointer is [storage, offset] there, or null.
"""

import gc
import importlib
import inspect
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
COMPILED = (*GIVEN, "enable_fp_fusion", "debug")
"""Options of launches that mean something to a compiler."""


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
    import triton
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
        name = TORCH.get(content["type"], "int8")  # torch has no type for fp8e4b15; it is a view for Triton
        data = storages[content["storage"]]
        dtype = getattr(torch, name)
        size = torch.empty(0, dtype=dtype).element_size()
        if content["offset"] % size or min(content["strides"], default=0) < 0:
            raise Unsupported("an array that is not aligned, or runs backwards")
        whole = data[: data.numel() // size * size].view(dtype)
        first = whole.storage_offset() + content["offset"] // size
        tensor = whole.as_strided(content["shape"], content["strides"], first)
        return tensor if content["type"] in TORCH else triton.reinterpret(tensor, tl.dtype(content["type"]))
    if kind == "descriptor":
        from triton.tools.tensor_descriptor import TensorDescriptor

        base = value({"array": content["base"]}, storages, device)
        return TensorDescriptor(base, content["shape"], content["strides"], content["block_shape"], content["padding"],
                                **({"round_f32_to_tf32": True} if content["round_f32_to_tf32"] else {}))  # fmt: skip
    raise Unsupported(f"an argument of kind {kind}")


class Prepared:
    """A launch that is ready to run. storages: of torch; places: (first byte, size) of each."""

    def __init__(self, path, modules, sizes=None, names=GIVEN):
        """sizes: of storages whose bytes nobody wants."""
        import torch

        self.launch, memory, sources = read(path)
        module = module_of(sources, modules)
        self.kernel = getattr(module, self.launch["name"])
        room, self.storages = [], []
        for number, begin in enumerate(self.launch["alignment"]):
            size = memory[number].size if sizes is None else sizes[number]
            wide = torch.empty(size + 128, dtype=torch.uint8, device=modules["device"])
            shift = (begin - wide.data_ptr()) % 64
            room.append(wide)
            self.storages.append(wide[shift : shift + size])
            if sizes is None:
                self.storages[-1].copy_(torch.from_numpy(memory[number]))
        self.places = [(wide.data_ptr() + (begin - wide.data_ptr()) % 64, storage.numel())
                       for wide, begin, storage in zip(room, self.launch["alignment"], self.storages)]  # fmt: skip
        self.arguments = {}
        for name, item in self.launch["arguments"].items():
            is_function = isinstance(item, dict) and "function" in item
            self.arguments[name] = (
                getattr(module, item["function"]) if is_function else value(item, self.storages, modules["device"])
            )
        given = (name for name in names if name not in self.arguments)  # a kernel may have a parameter of that name
        options = self.launch["options"]
        self.options = {name: options[name] for name in given if options.get(name) is not None}

    def run(self):
        args, rest = as_call(self.kernel.fn, self.arguments)
        self.kernel[tuple(self.launch["grid"])](*args, **rest, **self.options)

    def place(self, address):
        """[number of a storage, offset] of an address that arguments lead to; None: a null pointer."""
        for number, (begin, size) in enumerate(self.places):
            if begin <= address <= begin + size:
                return [number, address - begin]
        if address:
            raise Unsupported("a pointer that belongs to no argument")
        return None


def as_call(function, arguments):
    """Arguments by name as those of a call: what stands for *names can only be given by position."""
    kinds = inspect.Parameter
    parameters = inspect.signature(function).parameters.values()
    if not any(p.kind in (kinds.VAR_POSITIONAL, kinds.POSITIONAL_ONLY) for p in parameters):
        return [], arguments
    args, rest = [], dict(arguments)
    for parameter in parameters:
        if parameter.kind is kinds.VAR_POSITIONAL:
            args += rest.pop(parameter.name, ())
        elif parameter.kind is not kinds.KEYWORD_ONLY:
            args.append(rest.pop(parameter.name))
    return args, rest


def module_of(sources, modules):
    """The module of a kernel's texts, imported once."""
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
    return modules[key]


def run(request, modules):
    import numpy as np
    import torch

    prepared = Prepared(request["launch"], modules)
    prepared.run()
    if modules["device"] != "cpu":
        torch.cuda.synchronize()
    np.savez(request["out"], *[storage.cpu().numpy() for storage in prepared.storages])
    return {}


def compiled(request, modules):
    """What a launch, or TTIR, would give to a GPU."""
    import triton_driver

    driver = modules["driver"]
    driver.set_current_device(request["capability"])
    if "ttir" in request:
        code = triton_driver.code_of(request["ttir"], request["options"], driver)
        return {"ptx": code.ptx, "facts": code.facts}
    prepared = Prepared(request["launch"], modules, request["sizes"], COMPILED)
    launches = triton_driver.Launcher.launches
    launches.clear()
    prepared.run()
    if not launches:
        raise Unsupported("Triton compiled the kernel and did not launch it")
    code = launches[-1]
    for argument in code.arguments:
        if argument[0] == "pointer":
            argument[1] = prepared.place(argument[1] or 0)
        elif argument[0] == "map":
            argument[1]["address"] = prepared.place(argument[1]["address"])
    return {"ptx": code.ptx, "facts": code.facts, "arguments": code.arguments}


def failure(error, mode):
    """What the answer says of an exception."""
    if isinstance(error, Unsupported):
        return {"error": str(error), "kind": "Unsupported", "supported": False}
    cause = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    # Triton's interpreter finds failing assertions; whatever else it raises is what it cannot do. Where nothing is run
    # nothing can go wrong but that.
    missing = isinstance(cause, (NotImplementedError, AttributeError, ImportError)) or mode == "sim"
    missing = missing or (mode == "interpret" and not isinstance(cause, AssertionError))
    return {
        "error": f"{type(cause).__name__}: {cause}", "kind": type(cause).__name__, "supported": not missing,
        "traceback": "".join(traceback.format_exception(error)),
    }  # fmt: skip


def main():
    answers = os.fdopen(int(sys.argv[1]), "w")
    mode = sys.argv[2]
    os.environ["TRITON_INTERPRET"] = "1" if mode == "interpret" else "0"
    import torch
    import triton

    modules: dict[str, object] = {
        "folder": sys.argv[3],  # of the process that asks: this one is ended by a signal, and cleans nothing
        "device": "cuda" if mode == "compile" else "cpu",
    }
    if mode == "sim":
        import triton_driver

        modules["driver"] = triton_driver.install()
    # Modules beside this file have names of Python's own (html).
    sys.path[:] = [folder for folder in sys.path if folder != os.path.dirname(os.path.abspath(__file__))]
    gc.collect()
    gc.freeze()  # what is imported stays; collections need not walk through it
    print(json.dumps({"triton": triton.__version__, "torch": torch.__version__}), file=answers, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        started = time.perf_counter()
        answer = {"error": None, "kind": "", "supported": True}
        try:
            answer.update((compiled if mode == "sim" else run)(request, modules))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            answer.update(failure(error, mode))
        answer["seconds"] = time.perf_counter() - started
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
