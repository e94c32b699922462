"""Record what a GPU's tensor cores make of mma.sp: fragments and metadata in, fragments out.

usage: python tools/record_sparse.py OUT.npz                 (cupy, a GPU of sm_90a; seconds)
       python tools/record_sparse.py --simulate OUT.npz      (runs the same texts on the simulator: what differs)

Keys of OUT.npz: FORM_SELECTOR: D registers as [case, lane, register] (uint32). Inputs are drawn anew from the names:
numbers as small integers, of like sizes, of sizes far apart, and any bits, infinities and NaNs included; metadata are
the valid ones, at random, in every lane.
"""

from __future__ import annotations

import sys

import numpy as np
import record_tensor_cores

FORMS = [  # name, text, registers of A and B, of C and D, values of the selector
    ("f16k16_f32", "m16n8k16.row.col.f32.f16.f16.f32", 2, 4, 4),
    ("f16k16_f16", "m16n8k16.row.col.f16.f16.f16.f16", 2, 2, 1),
    ("f16k32_f32", "m16n8k32.row.col.f32.f16.f16.f32", 4, 4, 2),
    ("f16k32_f16", "m16n8k32.row.col.f16.f16.f16.f16", 4, 2, 1),
    ("bf16k16", "m16n8k16.row.col.f32.bf16.bf16.f32", 2, 4, 1),
    ("bf16k32", "m16n8k32.row.col.f32.bf16.bf16.f32", 4, 4, 2),
    ("tf32k8", "m16n8k8.row.col.f32.tf32.tf32.f32", 2, 4, 4),
    ("tf32k16", "m16n8k16.row.col.f32.tf32.tf32.f32", 4, 4, 2),
    ("s8k32", "m16n8k32.row.col.s32.s8.s8.s32", 2, 4, 2),
    ("s8k64", "m16n8k64.row.col.s32.s8.s8.s32", 4, 4, 1),
    ("u8s8k64", "m16n8k64.row.col.satfinite.s32.u8.s8.s32", 4, 4, 1),
]
CASES, LANES, IN, OUT = 12, 32, 13, 4
SMALL, LIKE, APART, ANY = range(4)


def floats(rs: np.random.RandomState, kind: int, shape: tuple[int, ...]) -> np.ndarray | None:
    """f32; each kind draws what all draw. None: any bits."""
    drawn = [rs.randint(-8, 9, shape), rs.randn(*shape), rs.randn(*shape) * 2.0 ** rs.randint(-30, 30, shape)]
    return None if kind == ANY else drawn[kind].astype(np.float32)


def halves(rs: np.random.RandomState, kind: int, shape: tuple[int, ...]) -> np.ndarray:
    """f16, as it was drawn when the recording was made: a kind draws nothing of the others."""
    if kind == ANY:
        return rs.randint(0, 65536, shape).astype(np.uint16)
    if kind == SMALL:
        return rs.randint(-8, 9, shape).astype(np.float16).view(np.uint16)
    drawn = rs.randn(*shape) if kind == LIKE else rs.randn(*shape) * 2.0 ** rs.randint(-12, 12, shape)
    return drawn.astype(np.float16).view(np.uint16)


def words(rs: np.random.RandomState, kind: int, form: str) -> np.ndarray:
    """[lane, register] of a format: uint32."""
    shape = (LANES, 4)
    if form == "f16":
        return halves(rs, kind, (*shape, 2)).view(np.uint32)[..., 0]
    if form == "bf16":
        drawn = floats(rs, kind, (*shape, 2))
        any_bits = drawn is None
        found = rs.randint(0, 65536, (*shape, 2)) if any_bits else drawn.view(np.uint32) >> 16
        return found.astype(np.uint16).view(np.uint32)[..., 0]
    if form == "s8":
        return rs.randint(0, 256, (*shape, 4)).astype(np.uint8).view(np.uint32)[..., 0]
    if form == "s32" and kind < APART:
        return rs.randint(-1000, 1000, shape).astype(np.int32).view(np.uint32)
    drawn = None if form == "s32" else floats(rs, kind, shape)
    if drawn is None:
        return rs.randint(0, 2**32, shape, dtype=np.uint64).astype(np.uint32)
    return drawn.view(np.uint32)


def inputs(name: str, text: str, case: int) -> np.ndarray:
    """[lane, 13]: four registers each of A, B and C, and the metadata. name: the form's, with the selector."""
    seed = 7
    for letter in name:
        seed = (seed * 31 + ord(letter)) % 100003
    rs = np.random.RandomState(seed + case)
    form = next((f for f in ("bf16", "f16", "tf32") if name.startswith(f)), "s8")
    sums = text.split(".")[-1]
    parts = [words(rs, case // 3, which) for which in (form, form, sums)]
    valid = [0x4, 0xE] if form == "tf32" else [low | high << 2 for low in range(4) for high in range(low + 1, 4)]
    groups = rs.choice(np.array(valid, np.uint64), (LANES, 8)) << (4 * np.arange(8, dtype=np.uint64))
    return np.concatenate([*parts, groups.sum(1).astype(np.uint32)[:, None]], axis=1)


def kernel(text: str, operands: int, sums: int, selector: int) -> str:
    """An entry that takes a lane's registers from memory."""
    counts = {"a": operands, "b": operands, "c": sums, "d": sums}
    listed = {r: "{" + ", ".join(f"%{r}{i}" for i in range(n)) + "}" for r, n in counts.items()}
    operands_of = ", ".join(listed[r] for r in "dabc")
    loads = "".join(
        f"  ld.global.b32 %{r}{i}, [%p+{16 * place + 4 * i}];\n"
        for place, r in enumerate("abc") for i in range(counts[r])
    )  # fmt: skip
    stores = "".join(f"  st.global.b32 [%q+{4 * i}], %d{i};\n" for i in range(sums))
    return f""".version 8.5
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{{
  .reg .b32 %a<4>, %b<4>, %c<4>, %d<4>, %e, %lane;
  .reg .b64 %p, %q, %offset;
  ld.param.u64 %p, [in];
  ld.param.u64 %q, [out];
  mov.u32 %lane, %tid.x;
  mul.wide.u32 %offset, %lane, {4 * IN};
  add.u64 %p, %p, %offset;
  mul.wide.u32 %offset, %lane, {4 * OUT};
  add.u64 %q, %q, %offset;
{loads}  ld.global.b32 %e, [%p+48];
  mma.sp::ordered_metadata.sync.aligned.{text} {operands_of}, %e, {selector};
{stores}  ret;
}}
"""


def record(launch) -> dict[str, np.ndarray]:
    out = {}
    for name, text, operands, sums, selectors in FORMS:
        for selector in range(selectors):
            entry, results = kernel(text, operands, sums, selector), []
            for case in range(CASES):
                got = np.zeros((LANES, OUT), np.uint32)
                launch(entry, [inputs(f"{name}_{selector}", text, case), got], LANES)
                results.append(got)
            out[f"{name}_{selector}"] = np.stack(results)
    return out


def differences(path) -> list[str]:
    """A line for each form whose results on the simulator differ from the recorded."""
    recorded = np.load(path)
    lines = []
    for key, got in record(record_tensor_cores.Simulator()).items():
        differ = got != recorded[key]
        if differ.any():
            lines.append(f"{key}: {differ.sum()} of {differ.size} differ, first {tuple(np.argwhere(differ)[0])}")
    return lines


def main() -> None:
    if sys.argv[1] == "--simulate":
        print(*differences(sys.argv[2]) or ["no result differs"], sep="\n")
    else:
        np.savez_compressed(sys.argv[1], **record(record_tensor_cores.Gpu()))  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
