"""Switches tiletwin on in a process that runs already, and says what becomes of torch and NumPy then.

Not here:  the finder (_activate.py), which the start-up file runs without this package.
"""

from __future__ import annotations

from types import ModuleType

from tiletwin import _activate, variables


def prepare(module: ModuleType) -> None:
    """Called when torch, or NumPy where checks want to know of its memory, has been imported, and with torch._C before
    torch.cuda is. Where launches run on a GPU: when torch has been imported."""
    if _activate.on_virtual_gpu() and not _activate.wanted():
        if module.__name__ == _activate.TRITON_DRIVER:
            from tiletwin import gpu_triton

            gpu_triton.prepare(module)
            return
        from tiletwin.torch_cuda import virtual_gpu

        virtual_gpu.prepare(module)
        return
    if not _activate.interprets():
        from tiletwin.inductor import gpu

        gpu.prepare(module)
        return
    from tiletwin import fresh_memory
    from tiletwin.torch_cuda import emulation, hidden

    if module.__name__ == "numpy":
        fresh_memory.watch_numpy(module)
        return
    if module.__name__ == "torch._C":
        hidden.hide(module)
        return
    compiles = variables.is_not_off("TILETWIN_TORCH_COMPILE")
    emulation.prepare(module, compiles)
    if compiles:
        from tiletwin import inductor

        inductor.prepare(module)
    if variables.get("TILETWIN_CHECK"):
        fresh_memory.watch_torch(module)


def activate() -> bool:
    """Whether `import triton` gives tiletwin from now on, as the environment asks. Errors: see _activate.activate."""
    return _activate.activate(prepare)
