"""Special registers and conversions, under the name that Triton's own file has."""

from tiletwin.language.extra.cuda import (
    convert_custom_float8_sm70,
    convert_custom_float8_sm80,
    globaltimer,
    num_threads,
    num_warps,
    smid,
)

__all__ = [
    "convert_custom_float8_sm70", "convert_custom_float8_sm80", "globaltimer", "num_threads", "num_warps", "smid"
]  # fmt: skip
