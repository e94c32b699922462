"""Record what a GPU's tensor copies of im2col move: columns of pixels at edges, beyond them, and back.

usage: python tools/record_im2col.py OUT.npz        (a GPU of sm_90a, the CUDA driver; seconds)

Keys of OUT.npz: `bytes`, of all cases() one after the other what the copy left: of a load shared memory, of a store or
a reduction the image; `ends`, where each case's bytes end; `refused`, JSON: numbers of cases that the driver or the GPU
refused, which have no bytes, and what it said.

A copy that never ends would hold the GPU, so kernels wait for a while only, and children that run the cases have a
time. A case that the GPU refuses costs a context, so the next child goes on behind it.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import json
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

import cuda_driver
import numpy as np

U8, S32, F16, F32, BF16, TF32 = 0, 3, 6, 7, 9, 11
SECONDS = 24
ENDLESS = "the copy does not end"
DTYPES = {U8: "u1", S32: "i4", F16: "f2", F32: "f4", BF16: "u2", TF32: "f4"}


@dataclasses.dataclass(frozen=True)
class Case:
    shape: tuple[int, ...]  # N, (D, (H,)) W, C
    lower: tuple[int, ...]  # corners, steps and offsets: of W, (H, (D,))
    upper: tuple[int, ...]
    at: tuple[int, ...]  # C, W, (H, (D,)) N
    offsets: tuple[int, ...]
    channels: int
    pixels: int
    steps: tuple[int, ...]
    kind: int = F32
    swizzle: int = 0
    fill: int = 0
    store: str | None = None  # "": a store; "add": that reduction

    @property
    def rank(self) -> int:
        return len(self.shape)

    def image(self) -> np.ndarray:
        count = int(np.prod(self.shape))
        if self.kind in (F32, TF32):  # fractions that tf32 does not keep
            values = (np.arange(1, count + 1) % 1009 * np.float32(1 + 2.0**-12)).astype(np.float32)
        elif self.kind == BF16:
            values = (np.arange(1, count + 1) % 1009).astype(np.float32).view(np.uint32) >> 16
        else:
            values = np.arange(1, count + 1) % 1009 % (256 if self.kind == U8 else 1009)
        return values.astype(DTYPES[self.kind]).reshape(self.shape)

    def copied(self) -> int:
        """Bytes that an mbarrier hears of."""
        return self.pixels * self.channels * np.dtype(DTYPES[self.kind]).itemsize

    def rows(self) -> np.ndarray:
        """Shared memory before the copy. Rows of a swizzle lie a span apart."""
        span = max(16 << self.swizzle if self.swizzle else 0, self.channels * np.dtype(DTYPES[self.kind]).itemsize)
        if self.store is None:
            return np.full(self.pixels * span, 0xA5, np.uint8)
        numbers = np.arange(self.pixels * span // np.dtype(DTYPES[self.kind]).itemsize) % 61 * 8
        if self.kind == BF16:
            numbers = numbers.astype(np.float32).view(np.uint32) >> 16
        return numbers.astype(DTYPES[self.kind]).view(np.uint8)


def text(rank: int, store: str | None = None) -> str:
    """A kernel of one thread that fills shared memory from `out`, copies, and after a load brings it back.

    store: None for a load, "" for a store, or the operation of a reduction. Parameters: the map, an address, a
    structure of coordinates and offsets, the bytes of the copy and those of shared memory, and where a 1 is written
    if the copy has ended, and the mbarrier at 8.
    """
    ints = ", ".join(f"%r{i}" for i in range(10, 10 + rank))
    shorts = ", ".join(f"%h{i}" for i in range(rank - 2))
    reads = "".join(f"  ld.param.s32 %r{10 + i}, [at+{4 * i}];\n" for i in range(rank))
    reads += "".join(f"  ld.param.u16 %h{i}, [at+{20 + 4 * i}];\n" for i in range(rank - 2))
    head = f"""
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 out, .param .align 4 .b8 at[40], .param .u32 bytes,
                  .param .u32 shown, .param .u64 ended)
{{
  .reg .pred %p<3>; .reg .b16 %h<4>; .reg .b32 %r<20>; .reg .b64 %d<6>;
  .shared .align 1024 .b8 tile[32768];
  .shared .align 8 .b64 arrived;
  mov.b64 %d1, map; cvta.param.u64 %d1, %d1;
  ld.param.u64 %d2, [out]; ld.param.u64 %d5, [ended]; ld.param.u32 %r1, [shown];
  mov.u32 %r2, tile; mov.u32 %r3, arrived;
{reads}"""
    loop = """
  mov.u32 %r4, 0;
{name}:
  add.u32 %r5, %r2, %r4; cvt.u64.u32 %d3, %r4; add.u64 %d3, %d2, %d3;
  {move}
  add.u32 %r4, %r4, 4; setp.lt.u32 %p1, %r4, %r1; @%p1 bra {name};
"""
    head += loop.format(name="FILL", move="ld.global.u32 %r6, [%d3]; st.shared.u32 [%r5], %r6;")
    if store is not None:
        name = f"cp.reduce.async.bulk.tensor.{rank}d.global.shared::cta.{store}" if store else ""
        name = name or f"cp.async.bulk.tensor.{rank}d.global.shared::cta"
        return f"""{head}
  fence.proxy.async;
  {name}.im2col_no_offs.bulk_group [%d1, {{{ints}}}], [%r2];
  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
  mov.u32 %r9, 1; st.global.u32 [%d5], %r9;
  ret;
}}
"""
    back = loop.format(name="BACK", move="ld.shared.u32 %r6, [%r5]; st.global.u32 [%d3], %r6;")
    return f"""{head}
  ld.param.u32 %r7, [bytes];
  mbarrier.init.shared::cta.b64 [%r3], 1;
  fence.proxy.async;
  mbarrier.arrive.expect_tx.shared::cta.b64 %d4, [%r3], %r7;
  cp.async.bulk.tensor.{rank}d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes
    [%r2], [%d1, {{{ints}}}], [%r3], {{{shorts}}};
  mov.u32 %r8, 0;
WAIT:
  mbarrier.try_wait.shared::cta.b64 %p2, [%r3], %d4, 1000;
  add.u32 %r8, %r8, 1; setp.lt.and.u32 %p1, %r8, 1000, !%p2; @%p1 bra WAIT;
{back}  ld.shared.b64 %d4, [%r3]; st.global.b64 [%d5+8], %d4;
  selp.u32 %r9, 1, 0, %p2; st.global.u32 [%d5], %r9;
  ret;
}}
"""


def cases() -> list[Case]:
    """Each found by its number: new ones go to the end."""
    line, plane, volume = (2, 10, 8), (2, 5, 6, 8), (2, 3, 4, 5, 8)
    wide = (2, 5, 6, 16)
    beside = [(-2, 0, 0), (0, -3, 0), (5, 0, 0), (6, 1, 0), (9, 0, 0), (0, 4, 0), (0, 7, 0), (0, 0, -1), (0, 0, 7)]
    spans = [(1, 16), (1, 8), (2, 32), (2, 24), (3, 64), (3, 40)]
    listed = [
        # All pixels, in boxes that begin before the image and end behind it.
        Case(plane, (-1, -1), (-1, -1), (0, -1, -1, 0), (0, 0), 8, 64, (1, 1)),
        Case(plane, (-1, -1), (-1, -1), (0, -1, -1, 0), (2, 1), 8, 64, (1, 1)),
        Case(line, (-2,), (0,), (0, -2, 0), (1,), 8, 32, (1,)),
        Case(volume, (-1, -1, -1), (0, -1, -1), (0, -1, -1, -1, 0), (1, 2, 1), 8, 128, (1, 1, 1)),
        # Steps that divide the box, and that do not.
        *(Case(plane, (-1, -1), (0, 0), (0, -1, -1, 0), (1, 1), 8, 24, steps)
          for steps in ((2, 2), (3, 1), (1, 3), (5, 4), (8, 8))),
        *(Case(line, (0,), (-1,), (0, 0, 0), (1,), 8, 16, (step,)) for step in (2, 4, 8)),
        Case(volume, (-1, -1, -1), (0, 0, 0), (0, -1, -1, -1, 0), (0, 1, 1), 8, 32, (2, 3, 2)),
        # Columns that begin in the midst, and over the last image.
        *(Case(plane, (-1, -1), (-1, -1), (0, x, y, n), (1, 2), 8, 16, (1, 1))
          for x, y, n in ((2, 1, 0), (4, 3, 0), (1, 0, 1), (4, 3, 1), (0, 0, 2))),
        # They begin off the steps' grid, before the box, behind it, in no image.
        *(Case(plane, (0, 0), (0, 0), (0, x, y, n), (0, 0), 8, 16, (2, 2))
          for x, y, n in ((1, 0, 0), (0, 1, 0), (1, 1, 1))),
        *(Case(plane, (-1, -1), (-1, -1), (0, x, y, n), (0, 0), 8, 16, (1, 1)) for x, y, n in beside),
        # Channels from the middle, over the end, before the beginning.
        *(Case(plane, (0, 0), (0, 0), (c, 0, 0, 0), (0, 0), 8, 8, (1, 1)) for c in (4, 7, 8, -8, 12)),
        Case(plane, (0, 0), (0, 0), (0, 0, 0, 0), (0, 0), 4, 8, (1, 1)),
        Case(plane, (0, 0), (0, 0), (0, 0, 0, 0), (0, 0), 16, 8, (1, 1)),
        # NaN outside, and formats.
        *(Case(wide, (-1, -1), (-1, -1), (0, -1, -1, 0), (1, 0), 16, 16, (1, 1), kind, fill=1)
          for kind in (F16, F32, BF16, TF32)),
        *(Case((2, 5, 6, 32), (-1, 0), (-1, 0), (16, -1, 0, 0), (1, 0), 32, 8, (1, 1), kind)
          for kind in (U8, S32, BF16, TF32)),
        # Swizzles; rows of the whole span and of a part.
        *(Case((2, 9, 64), (-1,), (-1,), (0, -1, 0), (1,), channels, 24, (1,), F16, swizzle)
          for swizzle, channels in spans),
        # Far offsets, corners and steps at their limits.
        *(Case(plane, (-128, -128), (127, 127), (0, x, y, 0), (255, 255), 8, 8, (1, 1))
          for x, y in ((-128, -128), (-127, -120), (0, 0))),
        Case(plane, (-128, -1), (127, 0), (0, -128, -1, 0), (130, 1), 8, 16, (1, 1)),
        Case(line, (-32768,), (32767,), (0, -32768, 0), (32770,), 8, 16, (1,)),
        Case(line, (-32768,), (0,), (0, -3, 0), (65535,), 8, 16, (1,)),
        Case(volume, (-8, -8, -8), (7, 7, 7), (0, -8, -8, -8, 0), (31, 31, 31), 8, 8, (1, 1, 1)),
        Case(volume, (-8, -8, -8), (7, 7, 7), (0, -1, -1, -1, 0), (2, 2, 2), 8, 64, (1, 1, 1)),
        Case((2, 3, 4, 4), (0, 0), (0, 0), (0, 0, 0, 0), (0, 0), 4, 1, (1, 1)),
        Case((2, 20, 40, 4), (0, 0), (0, 0), (0, 0, 0, 0), (0, 0), 4, 1024, (1, 1)),
        # A box of one pixel, and of none.
        Case(plane, (2, 2), (-3, -2), (0, 2, 2, 0), (0, 0), 8, 4, (1, 1)),
        Case(plane, (3, 0), (-3, 0), (0, 3, 0, 0), (0, 0), 8, 4, (1, 1)),
        Case(plane, (4, 0), (-4, 0), (0, 4, 0, 0), (0, 0), 8, 4, (1, 1)),
    ]  # fmt: skip
    for store in ("", "add", "min"):
        kind = S32 if store == "min" else F32  # of f32 there is no minimum
        listed += [
            Case(plane, (0, 0), (0, 0), (0, 0, 0, 0), (), 8, 64, (1, 1), kind, store=store),
            Case(plane, (-1, -1), (-1, -1), (0, -1, -1, 0), (), 8, 64, (1, 1), kind, store=store),
            Case(plane, (0, 0), (-1, 0), (4, 1, 1, 0), (), 8, 12, (1, 2), kind, store=store),
            Case(line, (0,), (-1,), (0, 1, 1), (), 8, 8, (2,), F16, store=store),
            Case(volume, (-1, 0, 0), (0, -1, 0), (0, -1, 0, 0, 0), (), 8, 64, (1, 1, 2), S32, store=store),
            Case((2, 9, 64), (-1,), (-1,), (0, -1, 0), (), 32, 16, (1,), BF16, 2, store=store),
        ]
    return [*listed, *drawn(30)]


def drawn(count: int) -> Iterator[Case]:
    rng = np.random.default_rng(0)

    def some(low: int, high: int, n: int) -> tuple[int, ...]:
        return tuple(map(int, rng.integers(low, high + 1, n)))

    for _ in range(count):
        space = int(rng.integers(1, 4))
        steps = tuple(map(int, rng.choice([1, 1, 1, 2, 3], space)))
        lower, upper = some(-2, 1, space), some(-2, 1, space)
        sizes = some(3, 6, space)
        pixels, kind = int(rng.integers(1, 40)), int(rng.choice([F16, F32]))
        at = [int(rng.integers(0, 3)) * 8, *(low + int(rng.integers(0, 3)) * s for low, s in zip(lower, steps)), 0]
        at[-1] = int(rng.integers(0, 2))
        yield Case((2, *sizes[::-1], 16), lower, upper, tuple(at), some(0, 3, space), 8, pixels, steps, kind)


def encode(gpu: cuda_driver.Gpu, case: Case, address: int) -> bytes:
    room = ctypes.create_string_buffer(192)
    start = ctypes.addressof(room) + -ctypes.addressof(room) % 64
    image = case.image()
    gpu.call(
        "cuTensorMapEncodeIm2col",
        ctypes.c_void_p(start), case.kind, case.rank, ctypes.c_void_p(address),
        (ctypes.c_uint64 * 5)(*case.shape[::-1]), (ctypes.c_uint64 * 4)(*image.strides[-2::-1]),
        (ctypes.c_int * 3)(*case.lower), (ctypes.c_int * 3)(*case.upper), case.channels, case.pixels,
        (ctypes.c_uint32 * 5)(1, *case.steps, 1), 0, case.swizzle, 0, case.fill,
    )  # fmt: skip
    return ctypes.string_at(start, 128)


def run(gpu: cuda_driver.Gpu, case: Case) -> np.ndarray:
    """The array that the copy writes, as bytes. GpuError: refused."""
    image, rows = case.image(), case.rows()
    ended = np.zeros(4, np.uint32)
    to = [gpu.upload(array) for array in (image, rows, ended)]
    place = np.zeros(10, np.int32)
    place[: case.rank], place[5 : 5 + len(case.offsets)] = case.at, case.offsets
    sizes = [np.uint32(case.copied()), np.uint32(rows.nbytes)]
    parameters = [encode(gpu, case, to[0]), to[1].to_bytes(8, "little"), place.tobytes()]
    parameters += [*(x.tobytes() for x in sizes), to[2].to_bytes(8, "little")]
    kernel = gpu.function(text(case.rank, case.store).encode(), "k", 0)
    gpu.launch(kernel, (1, 1, 1), (1, 1, 1), (1, 1, 1), 0, False, parameters)
    result = gpu.download(to[1], rows) if case.store is None else gpu.download(to[0], image)
    flag, _, *barrier = gpu.download(to[2], ended)
    if not flag:
        came = "" if case.store else f", {(result != 0xA5).sum()} of {result.size} bytes have come"
        raise cuda_driver.GpuError(f"{ENDLESS}: its mbarrier is {barrier[1]:#x} {barrier[0]:#x}{came}")
    for address in to:
        gpu.free(address)
    return result.reshape(-1).view(np.uint8)


def child(first: int, folder: pathlib.Path) -> None:
    """Cases from a number on, until one fails."""
    gpu = cuda_driver.Gpu()
    for number, case in list(enumerate(cases()))[first:]:
        try:
            np.save(folder / f"{number}.npy", run(gpu, case))
        except cuda_driver.GpuError as error:
            (folder / f"{number}.txt").write_text(str(error).splitlines()[0])
            if not str(error).startswith(("cuTensorMapEncode", ENDLESS)):
                return


def results(folder: pathlib.Path) -> dict[str, np.ndarray]:
    """Runs all cases, by way of files in a folder."""
    at, begin, done = 0, time.monotonic(), {}
    while at < len(cases()) and time.monotonic() < begin + SECONDS:
        words = [sys.executable, __file__, "--child", str(at), str(folder)]
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(words, check=False, timeout=SECONDS / 3)
        done = {int(file.stem): file for file in folder.iterdir()}
        at = max([at + 1, *(number + 1 for number in done)])
    kept, refused = [], {}
    for number in range(len(cases())):
        file = done.get(number, folder / "no result")
        kept.append(np.load(file) if file.suffix == ".npy" else np.zeros(0, np.uint8))
        if file.suffix != ".npy":
            refused[number] = file.read_text() if file.exists() else "no result"
    print(f"{len(kept) - len(refused)} of {len(kept)} cases, refused: {refused}")
    return {
        "bytes": np.concatenate(kept),
        "ends": np.cumsum([len(array) for array in kept]),
        "refused": np.frombuffer(json.dumps(refused).encode(), np.uint8),
    }


def main() -> None:
    if sys.argv[1] == "--child":
        return child(int(sys.argv[2]), pathlib.Path(sys.argv[3]))
    with tempfile.TemporaryDirectory() as name:
        np.savez_compressed(sys.argv[1], **results(pathlib.Path(name)))  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
