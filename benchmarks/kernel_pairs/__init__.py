"""What benchmarks/kernels.py times: for each kernel of tests/kernels a call and the same work by torch's operations."""

from kernel_pairs import norms_and_losses, attention, matmuls, data  # isort: skip  # the order of the rows
from kernel_pairs.registry import pairs

__all__ = ["attention", "data", "matmuls", "norms_and_losses", "pairs"]
