"""Record what a GPU's lanes exchange: shfl, vote, match, redux, elect, at operands of all sorts.

usage: python tools/record_warps.py OUT.npz                 (a GPU of sm_90a; seconds)
       python tools/record_warps.py --simulate OUT.npz      (runs the same texts on the simulator: what differs)

Keys of OUT.npz: FORM: the two results as [case, result, lane] (uint32); a predicate is 0 or 1. Inputs are drawn anew
from the names. The lanes of a warp are in one to three teams, each lane names its own as members. Of shfl all are in
one, since a lane that reads another team's gets what PTX leaves open.
"""

from __future__ import annotations

import sys

import numpy as np
import record_tensor_cores

CASES, LANES = 12, 32
SMALL, ANY = "small", "any"
FORMS = {  # text: %d, %p are results, %a, %b, %c, %q, %w sources, %m the member mask; values of %a
    **{f"shfl.{mode}": (f"shfl.sync.{mode}.b32 %d|%p, %a, %b, %c, %m;", ANY) for mode in ("up", "down", "bfly", "idx")},
    **{f"vote.{mode}": (f"vote.sync.{mode}.pred %p, %q, %m;", SMALL) for mode in ("all", "any", "uni")},
    "vote.ballot": ("vote.sync.ballot.b32 %d, %q, %m;", SMALL),
    "match.any.b32": ("match.any.sync.b32 %d, %a, %m;", SMALL),
    "match.any.b64": ("match.any.sync.b64 %d, %w, %m;", SMALL),
    "match.all.b32": ("match.all.sync.b32 %d|%p, %a, %m;", SMALL),
    "match.all.b64": ("match.all.sync.b64 %d|%p, %w, %m;", SMALL),
    **{f"redux.{op}.{t}": (f"redux.sync.{op}.{t} %d, %a, %m;", ANY)
       for op in ("add", "min", "max") for t in ("u32", "s32")},
    **{f"redux.{op}.b32": (f"redux.sync.{op}.b32 %d, %a, %m;", ANY) for op in ("and", "or", "xor")},
    "elect": ("elect.sync %d|%p, %m;", SMALL),
}  # fmt: skip


def inputs(name: str, case: int) -> np.ndarray:
    """[5, lane]: a, b, c, q and the member mask."""
    rng = np.random.default_rng([*name.encode(), case])
    teams = rng.integers(0, 1 if name.startswith("shfl") else 1 + case % 3, LANES)
    members = np.array([sum(1 << i for i in range(LANES) if teams[i] == team) for team in teams], np.uint32)
    any_bits = rng.integers(0, 1 << 32, (3, LANES), np.uint32)
    a, b, c = any_bits
    if FORMS[name][1] == SMALL:
        a = a % np.uint32(1 + case % 4) if case % 2 else np.broadcast_to(a[:1], (LANES,)) + (teams == 0)
    if name.startswith("shfl") and case < CASES // 2:  # as compilers write them: widths of powers of two
        width = 1 << int(rng.integers(0, 6))
        clamp = 0 if name.endswith("up") else 31
        b, c = b % np.uint32(34), np.full(LANES, (32 - width) << 8 | clamp, np.uint32)
    q = (any_bits[1] >> 7 & 1) if case % 4 else teams == case // 4 % 2
    return np.stack([np.asarray(x, np.uint32) for x in (a, b, c, q, members)])


def kernel(text: str) -> str:
    loads = "".join(f"  ld.global.b32 %{r}, [%x+{128 * i}];\n" for i, r in enumerate("abcnm"))
    return f""".version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{{
  .reg .b32 %a, %b, %c, %d, %e, %m, %n, %lane;
  .reg .b64 %x, %y, %w, %offset;
  .reg .pred %p, %q;
  ld.param.u64 %x, [in];
  ld.param.u64 %y, [out];
  mov.u32 %lane, %tid.x;
  mul.wide.u32 %offset, %lane, 4;
  add.u64 %x, %x, %offset;
  add.u64 %y, %y, %offset;
{loads}  setp.ne.u32 %q, %n, 0;
  mov.b64 %w, {{%n, %a}};
  mov.u32 %d, 0;
  setp.ne.u32 %p, %n, %n;
  {text}
  selp.b32 %e, 1, 0, %p;
  st.global.b32 [%y], %d;
  st.global.b32 [%y+128], %e;
  ret;
}}
"""


def record(launch) -> dict[str, np.ndarray]:
    out = {}
    for name, (text, _) in FORMS.items():
        out[name] = np.zeros((CASES, 2, LANES), np.uint32)
        for case in range(CASES):
            launch(kernel(text), [inputs(name, case), out[name][case]], LANES)
    return out


def differences(path) -> list[str]:
    """A line for each form whose results on the simulator differ from the recorded."""
    recorded = np.load(path)
    lines = []
    for name, got in record(record_tensor_cores.Simulator()).items():
        differ = got != recorded[name]
        if differ.any():
            lines.append(f"{name}: {differ.sum()} of {differ.size} differ, first {tuple(np.argwhere(differ)[0])}")
    return lines


def main() -> None:
    if sys.argv[1] == "--simulate":
        print(*differences(sys.argv[2]) or ["no result differs"], sep="\n")
    else:
        np.savez_compressed(sys.argv[1], **record(record_tensor_cores.Gpu()))  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
