"""Record what a GPU's tensor cores make of wgmma.mma_async.sp: matrices and metadata in, sums out, and where B is read.

usage: python tools/record_sparse_wgmma.py OUT.npz                 (a GPU of sm_90a; seconds)
       python tools/record_sparse_wgmma.py --simulate OUT.npz      (runs the same texts on the simulator: what differs)

Keys of OUT.npz: NAME_PLACE_SELECTOR: D as [register, thread of 128] (uint32); PLACE of A is "shared" or "registers".
Inputs are drawn anew from the names, as tools/record_tensor_cores.py draws them; those of "shared" have infinities and
NaNs. layout_SWIZZLE_TRANS_LBO_SBO_BASE_START: for each k and each of 16 columns the 16-bit element of shared memory
that the unit read for B.
"""

from __future__ import annotations

import sys

import numpy as np
from record_sparse import seed_of, valid_metadata
from record_tensor_cores import Gpu, Simulator, codes, descriptor, fragments, wgmma_text

FORMS = [  # name, format of A, B and D, registers of D, selectors
    ("m64n8k32.f32.f16.f16", "f16", "f16", "f32", 4, 2),
    ("m64n8k32.f16.f16.f16", "f16", "f16", "f16", 2, 1),
    ("m64n8k32.f32.bf16.bf16", "bf16", "bf16", "f32", 4, 1),
    ("m64n8k16.f32.tf32.tf32", "tf32", "tf32", "f32", 4, 2),
    ("m64n8k64.f32.e4m3.e5m2", "e4m3", "e5m2", "f32", 4, 1),
    ("m64n8k64.f16.e5m2.e4m3", "e5m2", "e4m3", "f16", 2, 1),
    ("m64n8k64.s32.s8.u8", "i8", "i8", "s32", 4, 1),
    ("m64n8k64.satfinite.s32.s8.s8", "i8", "i8", "s32", 4, 1),
]
B_AT = 16384
LAYOUTS = [
    (swizzle, trans, *offsets)
    for swizzle in range(4)
    for trans in (0, 1)
    for offsets in ((1024, 2048, 0, 0), (2048, 1024, 0, 32), (2048, 1024, 5, 256))
]


def text(name: str, registers: int, tail: str, selector: int, in_registers: bool) -> str:
    """record_tensor_cores.wgmma_text() with metadata behind the registers of D, and A behind those."""
    result = wgmma_text(name, registers, tail)
    result = result.replace("mma_async.sync", "mma_async.sp.sync").replace("%rd4, %p1", f"%rd4, %r50, {selector}, %p1")
    loads = "".join(f"ld.global.b32 %r{50 + i}, [%rd1+{512 * (registers + i)}];\n" for i in range(5))
    if in_registers:
        result = result.replace("%rd3, %rd4", "{%r51, %r52, %r53, %r54}, %rd4")
    return result.replace("shr.u32 %s, %s, 4;", loads + "shr.u32 %s, %s, 4;")


def core_matrices(rows: np.ndarray) -> np.ndarray:
    """[8 * n, 16 * units] as core matrices of 8 x 16 bytes: those along k are neighbours, then the next 8 rows."""
    return rows.reshape(-1, 8, rows.shape[1] // 16, 16).transpose(0, 2, 1, 3).reshape(-1)


def fragments_of(rows: np.ndarray) -> np.ndarray:
    """[64, 32 bytes] as the four registers of each of 128 threads."""
    words = np.ascontiguousarray(rows).view(np.uint32).reshape(4, 2, 8, 2, 4)  # warp, half, row, block, lane of four
    return words.transpose(3, 1, 0, 2, 4).reshape(4, 128)


def run(launch, entry: str, image: np.ndarray, c: np.ndarray, metadata, a: np.ndarray, descriptors) -> np.ndarray:
    given = np.concatenate([c.view(np.uint32), metadata[None], a]).astype(np.uint32)
    d = np.zeros(c.shape, np.uint32)
    launch(entry, [image, given, d, *descriptors], 128)
    return d


def record_forms(launch, out: dict[str, np.ndarray]) -> None:
    for name, fa, fb, fd, registers, selectors in FORMS:
        floats = fd != "s32"
        for place in ("shared", "registers"):
            trans = ", 0" if place == "registers" else ", 0, 0"
            tail = (", 1, 1" if floats else "") + (trans if fa in ("f16", "bf16") else "")
            for selector in range(selectors):
                key = f"{name}_{place}_{selector}"
                rng = np.random.default_rng(seed_of(key))
                specials, each = place == "shared", codes(rng, fa, (1,), False).itemsize
                a = codes(rng, fa, (64, 32 // each), specials).view(np.uint8)
                b = codes(rng, fb, (8, 64 // each), specials).view(np.uint8)
                c = fragments(rng, fd, 1, registers, 128)[0]
                rs = np.random.RandomState(seed_of(key))
                metadata = np.concatenate([valid_metadata(rs, fa) for _ in range(4)])
                image = np.zeros(32768, np.uint8)
                image[:2048], image[B_AT : B_AT + 512] = core_matrices(a), core_matrices(b)
                entry = text(name, registers, tail, selector, place == "registers")
                descriptors = descriptor(0, 128, 256), descriptor(B_AT, 128, 512)
                out[key] = run(launch, entry, image, c, metadata, fragments_of(a), descriptors)


def picks() -> tuple[np.ndarray, np.ndarray]:
    """A and metadata such that row m of the product is row m % 32 of B."""
    a, metadata = np.zeros((64, 16), np.float16), np.zeros((4, 8, 4), np.uint32)
    for row in range(64):
        k = row % 32
        a[row, k // 4 * 2 + k % 2] = 1
        nibbles = 0x4444 if k % 4 < 2 else 0xEEEE
        metadata[row // 16, row % 8, :2] |= np.uint32(nibbles << 16 * (row % 16 // 8))
    return a, metadata.reshape(128)


def record_layouts(launch, out: dict[str, np.ndarray]) -> None:
    elements = np.arange(8192)
    a, metadata = picks()
    for swizzle, trans, lbo, sbo, base, start in LAYOUTS:
        found = np.zeros((2, 32, 16), np.int64)
        entry = text("m64n16k32.f32.f16.f16", 8, f", 1, 1, {trans}", 0, True)
        for part, number in enumerate((elements % 2048, elements // 2048)):
            image = np.zeros(32768, np.uint8)
            image[:16384] = number.astype(np.float16).view(np.uint8)
            descriptors = np.uint64(0), descriptor(start, lbo, sbo, base, swizzle)
            c = np.zeros((8, 128), np.uint32)
            d = run(launch, entry, image, c, metadata, fragments_of(a.view(np.uint8)), descriptors).view(np.float32)
            # register, warp, row, lane of four -> row of D, column
            tile = d.reshape(2, 2, 2, 4, 8, 4).transpose(3, 1, 4, 0, 5, 2).reshape(64, 16)
            found[part] = tile[:32]
        out[f"layout_{swizzle}_{trans}_{lbo}_{sbo}_{base}_{start}"] = (found[0] + 2048 * found[1]).astype(np.uint16)


def record(launch) -> dict[str, np.ndarray]:
    out: dict[str, np.ndarray] = {}
    record_forms(launch, out)
    record_layouts(launch, out)
    return out


def differences(path) -> list[str]:
    """A line for each form whose results on the simulator differ from the recorded."""
    recorded = np.load(path)
    lines = []
    for key, got in record(Simulator()).items():
        differ = got != recorded[key]
        if differ.any():
            lines.append(f"{key}: {differ.sum()} of {differ.size} differ, first {tuple(np.argwhere(differ)[0])}")
    return lines


def main() -> None:
    if sys.argv[1] == "--simulate":
        print(*differences(sys.argv[2]) or ["no result differs"], sep="\n")
    else:
        np.savez_compressed(sys.argv[1], **record(Gpu()))  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
