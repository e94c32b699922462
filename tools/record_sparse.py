"""Record what a GPU's tensor cores make of mma.sp: fragments and metadata in, fragments out.

usage: python tools/record_sparse.py OUT.npz [narrow]            (a GPU of sm_90a; seconds)
       python tools/record_sparse.py --simulate OUT.npz [narrow] (runs the same texts on the simulator: what differs)

Keys of OUT.npz: FORM_SELECTOR: D registers as [case, lane, register] (uint32). Inputs are drawn anew from the names:
numbers as small integers, of like sizes, of sizes far apart, and any bits, infinities and NaNs included; metadata are
the valid ones, at random, in every lane. `narrow`: NARROW in place of FORMS, formats of 8 and 4 bits, with sums at the
limits of their type where they saturate, and ANY_ORDER: metadata of any bits.
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
BYTES, NIBBLES, FP8 = ("s8", "u8"), ("s4", "u4"), ("e4m3", "e5m2")
NARROW = [
    *((f"{a}{b}k64", f"m16n8k64.row.col.f32.{a}.{b}.f32", 4, 4, 1) for a in FP8 for b in FP8),
    *((f"{a}{b}k{k}{sat}", f"m16n8k{k}.row.col{sat}.s32.{a}.{b}.s32", registers, 4, selectors)
      for types in (BYTES, NIBBLES) for a in types for b in types for sat in ("", ".satfinite")
      for k, registers, selectors in ([(32, 2, 1), (64, 4, 1)] if types is BYTES else [(64, 2, 2), (128, 4, 1)])),
]  # fmt: skip
ANY_ORDER = [
    ("any_f16k16", "m16n8k16.row.col.f32.f16.f16.f32", 2, 4, 1),
    ("any_f16k32", "m16n8k32.row.col.f32.f16.f16.f32", 4, 4, 1),
    ("any_tf32k16", "m16n8k16.row.col.f32.tf32.tf32.f32", 4, 4, 1),
    ("any_s8k64", "m16n8k64.row.col.s32.s8.s8.s32", 4, 4, 1),
    ("any_e4m3k64", "m16n8k64.row.col.f32.e4m3.e4m3.f32", 4, 4, 1),
    ("any_s4k128", "m16n8k128.row.col.s32.s4.s4.s32", 4, 4, 1),
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


def seed_of(name: str) -> int:
    seed = 7
    for letter in name:
        seed = (seed * 31 + ord(letter)) % 100003
    return seed


def valid_metadata(rs: np.random.RandomState, form: str) -> np.ndarray:
    """Of each group of four elements two in order; of two of tf32 one."""
    valid = [0x4, 0xE] if form == "tf32" else [low | high << 2 for low in range(4) for high in range(low + 1, 4)]
    groups = rs.choice(np.array(valid, np.uint64), (LANES, 8)) << (4 * np.arange(8, dtype=np.uint64))
    return groups.sum(1).astype(np.uint32)


def inputs(name: str, text: str, case: int) -> np.ndarray:
    """[lane, 13]: four registers each of A, B and C, and the metadata. name: the form's, with the selector."""
    rs = np.random.RandomState(seed_of(name) + case)
    form = next((f for f in ("bf16", "f16", "tf32") if name.startswith(f)), "s8")
    sums = text.split(".")[-1]
    parts = [words(rs, case // 3, which) for which in (form, form, sums)]
    return np.concatenate([*parts, valid_metadata(rs, form)[:, None]], axis=1)


def narrow_inputs(name: str, text: str, case: int) -> np.ndarray:
    """The same for NARROW and ANY_ORDER: edge values; infinities and NaNs in the second half of the cases."""
    rng = np.random.default_rng(seed_of(name) + case)
    *_, a, b, sums = text.split(".")

    def drawn(form: str) -> np.ndarray:
        form = "i8" if form[1:] in ("8", "4") else form
        bytes_of = record_tensor_cores.codes(rng, form, (1,), False).itemsize
        return record_tensor_cores.codes(rng, form, (LANES, 16 // bytes_of), case >= cases(text) // 2).view(np.uint32)

    rs = np.random.RandomState(seed_of(name) + case)
    metadata = rng.integers(0, 1 << 32, LANES, np.uint32) if name.startswith("any_") else valid_metadata(rs, a)
    return np.concatenate([drawn(a), drawn(b), drawn(sums), metadata[:, None]], axis=1)


def cases(text: str) -> int:
    return 8 if text.endswith(".f32") else 2


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


def record(launch, narrow: bool = False) -> dict[str, np.ndarray]:
    out = {}
    for name, text, operands, sums, selectors in [*NARROW, *ANY_ORDER] if narrow else FORMS:
        for selector in range(selectors):
            key, entry, results = f"{name}_{selector}", kernel(text, operands, sums, selector), []
            if name.startswith("any_"):
                entry = entry.replace("mma.sp::ordered_metadata", "mma.sp")
            for case in range(cases(text) if narrow else CASES):
                got = np.zeros((LANES, OUT), np.uint32)
                given = narrow_inputs(key, text, case) if narrow else inputs(key, text, case)
                launch(entry, [given, got], LANES)
                results.append(got)
            out[key] = np.stack(results)
    return out


def differences(path, narrow: bool = False) -> list[str]:
    """A line for each form whose results on the simulator differ from the recorded."""
    recorded = np.load(path)
    lines = []
    for key, got in record(record_tensor_cores.Simulator(), narrow).items():
        differ = got != recorded[key]
        if differ.any():
            lines.append(f"{key}: {differ.sum()} of {differ.size} differ, first {tuple(np.argwhere(differ)[0])}")
    return lines


def main() -> None:
    narrow = sys.argv[-1] == "narrow"
    if sys.argv[1] == "--simulate":
        print(*differences(sys.argv[2], narrow) or ["no result differs"], sep="\n")
    else:
        np.savez_compressed(sys.argv[1], **record(record_tensor_cores.Gpu(), narrow))  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
