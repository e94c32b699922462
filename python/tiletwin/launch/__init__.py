"""Launches beside the way that `_C.Launcher` takes alone: eager mode, GPUs, the simulator, and tuning before them.

Not here:  kernels (kernels/), their compilation (compiler/), drivers (drivers/).
"""
