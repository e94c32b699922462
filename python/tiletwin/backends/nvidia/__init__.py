"""The target 'cuda': what Triton's backend for NVIDIA GPUs offers to scripts that look for it."""
