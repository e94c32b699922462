"""A driver for real Triton that has no GPU: launches end as data, which a runner of PTX takes. Runs in the process of
triton_child.py, and imports nothing of tiletwin.

Here:      Driver, which Triton's own launches go to; Code, what one of them would have given to a GPU.
Not here:  reading launches and answering (triton_child.py), running the code (triton_sim.py).
Idea:      Triton itself compiles, specialises, and puts the arguments in order; only the last step is another one.
Invariant: what it caches lies in a folder of its own: entries have PTX where Triton's own have machine code.
"""

import triton
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia import compiler as nvidia

SHARED = {80: 166912, 89: 101376, 90: 232448, 100: 232448}
"""Most bytes of shared memory of a block, by compute capability."""


class Code:
    """PTX of a launch and what it is launched with.

    arguments: ["pointer", address], ["number", type, value] and ["map", facts] in the order of the parameters.
    """

    def __init__(self, ptx, metadata, arguments):
        self.ptx = ptx
        self.arguments = arguments
        self.facts = {
            "name": metadata.name, "num_warps": metadata.num_warps, "num_ctas": getattr(metadata, "num_ctas", 1),
            "shared": metadata.shared,
        }  # fmt: skip
        for kind in ("global", "profile"):
            self.facts[f"{kind}_scratch"] = (
                getattr(metadata, f"{kind}_scratch_size", 0) or 0,
                getattr(metadata, f"{kind}_scratch_align", 1) or 1,
            )


class Launcher:
    """In place of Triton's: keeps the launches, until somebody clears the list."""

    launches = []

    def __init__(self, src, metadata):
        self.signature = src.signature
        self.metadata = metadata

    def __call__(self, x, y, z, stream, function, packed, launch_metadata, enter, leave, *values):
        metas = iter(getattr(self.metadata, "tensordesc_meta", None) or ())
        arguments = []
        for kind, value in zip(self.signature.values(), values):
            arguments += flat(kind, value, metas, self.metadata)
        Launcher.launches.append(Code(function, self.metadata, arguments))


def flat(kind, value, metas, metadata):
    """The arguments that one value of a launch becomes."""
    if isinstance(kind, (tuple, list)):
        return [one for part, item in zip(kind, value) for one in flat(part, item, metas, metadata)]
    if kind == "constexpr":
        return []
    if kind.startswith("tensordesc"):
        return descriptor(kind, value, metas, metadata)
    if kind.startswith("*"):
        return [["pointer", value if isinstance(value, int) or value is None else value.data_ptr()]]
    return [["number", kind, value.hex() if isinstance(value, float) else int(value)]]


def descriptor(kind, value, metas, metadata):
    """A tensor descriptor: a tensor map, or its parts, and its extents and strides once more."""
    try:
        from triton.backends import driver as module

        expand, decompose = module.expand_signature, module.decompose_descriptor
    except (ImportError, AttributeError):  # before 3.9
        raise NotImplementedError("this version of Triton passes tensor descriptors in another way") from None
    meta = next(metas, None)
    kinds = expand([kind], getattr(metadata, "tensordesc_meta", None), "map")
    if meta is None:
        return [one for part, item in zip(kinds, decompose(value)) for one in flat(part, item, metas, metadata)]
    if meta.get("is_im2col"):
        raise NotImplementedError("a tensor map in im2col mode")
    shape = list(value.shape)
    if meta["fp4_padded"]:
        shape[-1] *= 2
    facts = {
        "address": value.base.data_ptr(), "element": 11 if value.round_f32_to_tf32 else ELEMENTS.get(
            meta["elem_type"], meta["elem_type"]), "item": meta["elem_size"], "swizzle": meta["swizzle"],
        "box": list(meta["block_size"]), "shape": shape, "strides": list(value.strides), "nan": value.padding == "nan",
    }  # fmt: skip
    rest = [*value.shape, *value.strides]
    return [["map", facts], *(one for k, v in zip(kinds[1:], rest) for one in flat(k, v, metas, metadata))]


ELEMENTS = {8: 10, 9: 8, 10: 9}
"""Numbers of element types that differ between a GPU's own and the driver's (CUtensorMapDataType)."""


class Driver:
    """What Triton asks of a driver. A device is a compute capability: kernels of each are kept apart."""

    launcher_cls = Launcher

    def __init__(self):
        self.capability = 90
        self.utils = self

    def get_current_target(self):
        return GPUTarget("cuda", self.capability, 32)

    def get_current_device(self):
        return self.capability

    def set_current_device(self, device):
        self.capability = device

    def get_current_stream(self, device=None):
        return 0

    def get_device_capability(self, device=None):
        return self.capability // 10, self.capability % 10

    def get_device_properties(self, device):
        return {"max_shared_mem": SHARED[self.capability], "multiprocessor_count": 132, "warpSize": 32}

    def load_binary(self, name, kernel, shared, device):
        return None, kernel.decode(), 0, 0, 1024

    def unload_module(self, module):
        pass


def install():
    """Makes Triton's launches go here. Returns the driver."""
    stages_of = nvidia.CUDABackend.add_stages

    def add_stages(self, stages, *args, **kwargs):
        stages_of(self, stages, *args, **kwargs)
        stages["cubin"] = lambda ptx, metadata: ptx.encode()

    nvidia.CUDABackend.add_stages = add_stages
    driver = Driver()
    triton.runtime.driver.set_active(driver)
    return driver


def code_of(text, options, driver):
    """A kernel's TTIR (a path) compiled. The caller knows its arguments."""
    kernel = triton.compile(text, target=driver.get_current_target(), options=options)
    shared, most = kernel.metadata.shared, SHARED[driver.capability]
    if shared > most:
        raise triton.runtime.errors.OutOfResources(shared, most, "shared memory")
    return Code(kernel.asm["cubin"].decode(), kernel.metadata, None)
