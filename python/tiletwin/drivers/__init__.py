"""Drivers: what answers for the GPU, under the names that Triton has.

Here:      base.py, the interface; interpreter.py, the driver of interpreted kernels; gpu.py, that of GPUs; chosen.py,
           the one in use.
"""
