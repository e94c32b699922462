"""What AMD GPUs have, under the name that Triton's own file has."""

from tiletwin.language.extra.hip import memrealtime, num_threads, num_warps, smid

__all__ = ["memrealtime", "num_threads", "num_warps", "smid"]
