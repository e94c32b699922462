"""Kernels with one mistake each (tests/sim/bugs/*.ptx): how they are launched, and what has to be said of them.

In a text, `// BUG` ends the line that has to be reported, `// OTHER` one that may be named beside it. The twin without
the mistake is the same text with each line `// CLEAN: ...` taken as code and each line that ends with `// REMOVED` left
out.
"""

from __future__ import annotations

import pathlib
from typing import NamedTuple

FOLDER = pathlib.Path(__file__).resolve().parent / "bugs"


class Bug(NamedTuple):
    name: str
    check: str
    """Of tiletwin.sim.CHECKS."""
    words: str
    """A regular expression that the report has to match, upper case or not."""
    block: int = 64
    grid: int = 1
    cluster: int = 1
    sizes: tuple[int, ...] = (1024,)
    """Bytes of each argument."""

    @property
    def text(self) -> str:
        return (FOLDER / f"{self.name}.ptx").read_text()

    @property
    def twin(self) -> str:
        lines = [line for line in self.text.splitlines() if not line.endswith("// REMOVED")]
        return "\n".join(line.removeprefix("// CLEAN: ") for line in lines) + "\n"

    def lines(self, mark: str) -> set[int]:
        return {i for i, line in enumerate(self.text.splitlines(), 1) if f"// {mark}" in line}


TWO = (1024, 4096)
BUGS = [
    Bug("missing_barrier", "races", r"shared"),
    Bug("missing_second_barrier", "races", r"shared"),
    Bug("race_write_write", "races", r"shared"),
    Bug("race_in_warp", "races", r"shared", block=32),
    Bug("race_between_ctas", "races", r"global|CTA", block=32, grid=4),
    Bug("race_by_flag", "races", r"global|CTA", block=1, grid=2),
    Bug("wrong_barrier_count", "barriers", r"96.*64|64.*96", block=96),
    Bug("two_counts", "barriers", r"96.*64|64.*96"),
    Bug("divergent_barrier", "barriers", r"barrier"),
    Bug("two_barriers", "barriers", r"barrier"),
    Bug("missing_wait_group", "async", r"cp\.async", block=32, sizes=TWO),
    Bug("wrong_wait_group", "async", r"cp\.async", block=32, sizes=TWO),
    Bug("missing_bulk_wait", "async", r"cp\.async\.bulk", block=32, sizes=TWO),
    Bug("source_written_again", "async", r"cp\.async\.bulk", block=32),
    Bug("bulk_store_at_end", "async", r"on its way when its CTA ends.*reads", block=32),
    Bug("bulk_load_at_end", "async", r"on its way when its CTA ends.*writes", block=32, sizes=TWO),
    Bug("stage_released_early", "races", r"cp\.async\.bulk", sizes=TWO),
    Bug("missing_proxy_fence", "async", r"fence\.proxy\.async"),
    Bug("wgmma_before_wait", "async", r"wgmma", block=128),
    Bug("tcgen05_before_wait", "async", r"tcgen05\.mma", block=128),
    Bug("out_of_bounds_global", "bounds", r"p1", block=32, sizes=(1024, 128)),
    Bug("out_of_bounds_shared", "bounds", r"shared", block=32),
    Bug("out_of_bounds_local", "bounds", r"local", block=32),
    Bug("misaligned_load", "bounds", r"align|multiple of 8", block=32, sizes=TWO),
    Bug("misaligned_ldmatrix", "bounds", r"align|multiple of 16", block=32),
    Bug("uninitialized_shared", "uninitialized", r"shared"),
    Bug("uninitialized_register", "uninitialized", r"%r2", block=32),
    Bug("mbarrier_not_initialized", "barriers", r"mbarrier|initiali", block=32),
    Bug("mbarrier_wrong_count", "barriers", r"mbarrier"),
    Bug("mbarrier_wrong_bytes", "barriers", r"mbarrier", block=32, sizes=TWO),
    Bug("missing_cluster_barrier", "races", r"shared", block=32, grid=2, cluster=2),
]
