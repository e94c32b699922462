"""The code generator: text of one stage in, texts of the later stages out."""

from typing import Any

class Error(Exception):
    """Arguments: message, file, line, column (1-based; 0: unknown)."""

def compile(
    text: str, stage: str, file_name: str, target: dict[str, Any], options: dict[str, Any], last_stage: str = "ptx"
) -> dict[str, Any]:
    """Compiles `text` of `stage` ("ttir", "ttgir", "llir") to PTX.

    target: backend, capability, arch, ptx_version, warp_size. options: num_warps, num_stages, num_ctas, maxnreg,
    enable_fp_fusion, line_info, verify.
    Returns the texts "ttgir", "llir" and "ptx" (of stages that were passed) and "metadata".
    Raises Error; ValueError for a stage that does not exist.
    """
