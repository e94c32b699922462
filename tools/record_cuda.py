"""Records what a GPU computes for the programs of tests/sim/cuda: run once on a machine with one, nvcc and NumPy.

    python tools/record_cuda.py OUT_FOLDER          # all; writes OUT_FOLDER/cuda_h200.tar.xz and says what it did
    python tools/record_cuda.py OUT_FOLDER NAME...  # some launches only

Each .cu becomes PTX; the driver compiles that PTX and runs it twice, and once more what ptxas makes of the same text.
The archive holds NAME.ptx for each source, arrays.npz (NAME/in/ARGUMENT, NAME/out/ARGUMENT) and meta.json: versions,
launches, printed text, tensor maps of the driver for many parameters. A launch whose runs differ, fail or take too long
is left out, and listed; one that is not what NumPy says is listed.
"""

from __future__ import annotations

import concurrent.futures
import hashlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
from typing import Any

import numpy as np

SIM = pathlib.Path(__file__).resolve().parents[1] / "tests" / "sim"
SOURCES = SIM / "cuda"
sys.path.insert(0, str(SIM))

from cuda_driver import Gpu, captured  # noqa: E402
from cuda_expected import problems  # noqa: E402
from cuda_programs import Program, TensorMap, programs  # noqa: E402

ARCHIVE = "cuda_h200.tar.xz"
SECONDS = 90


def run_tool(*words: Any) -> str:
    done = subprocess.run([str(w) for w in words], cwd=SOURCES, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def compile_source(source: str, folder: pathlib.Path) -> None:
    """SOURCE.ptx and SOURCE.cubin in `folder`."""
    ptx = folder / f"{source}.ptx"
    run_tool("nvcc", "-arch=sm_90a", "-ptx", "-lineinfo", "-std=c++17", f"{source}.cu", "-o", ptx)
    text = ptx.read_text()
    lines = [line.replace(f"{SOURCES}/", "") if ".file" in line else line for line in text.splitlines(keepends=True)]
    ptx.write_text("".join(lines))
    run_tool("ptxas", "-arch=sm_90a", ptx, "-o", folder / f"{source}.cubin")


def run_once(gpu: Gpu, program: Program, image: bytes) -> tuple[dict[str, np.ndarray], str]:
    """(every array afterwards, what was printed)"""
    arrays = {k: v for k, v in program.arguments.items() if isinstance(v, np.ndarray) and v.shape}
    addresses = {name: gpu.upload(array) for name, array in arrays.items()}
    parameters = []
    for name, value in program.arguments.items():
        if name in program.hidden:
            continue
        if isinstance(value, TensorMap):
            address = addresses[value.array]
            parameters.append(gpu.tensor_map(address, value.type, value.sizes, value.strides, value.box, value.swizzle))
        elif name in addresses:
            parameters.append(addresses[name].to_bytes(8, "little"))
        else:
            parameters.append(value.tobytes())
    function = gpu.function(image, program.entry, program.shared)
    cluster = program.cluster
    text = captured(
        lambda: gpu.launch(
            function, program.grid, program.block, cluster, program.shared, program.cooperative, parameters
        )
    )
    return {name: gpu.download(addresses[name], array) for name, array in arrays.items()}, text


def one(name: str, folder: pathlib.Path) -> None:
    """In a process of its own: NAME.npz and NAME.json in `folder`."""
    program = programs()[name]
    gpu = Gpu()
    ptx, cubin = ((folder / f"{program.source}.{kind}").read_bytes() for kind in ("ptx", "cubin"))
    first, text = run_once(gpu, program, ptx)
    for what, image in (("a second run", ptx), ("the machine code of ptxas", cubin)):
        again, other = run_once(gpu, program, image)
        for output in program.outputs:
            if first[output].tobytes() != again[output].tobytes():
                raise RuntimeError(f"{what} gives another {output}")
        if other != text:
            raise RuntimeError(f"{what} prints something else:\n{text}\n--- and\n{other}")
    doubts = problems(program, first)
    np.savez(folder / f"{name}.npz", **{output: first[output] for output in program.outputs})
    said = {"printed": text, "gpu": gpu.name, "driver": gpu.version, "doubts": doubts}
    (folder / f"{name}.json").write_text(json.dumps(said))


def tensor_maps(gpu: Gpu) -> list[dict]:
    """The driver's 128 bytes for parameters of which one at a time differs from a plain case."""
    plain: dict[str, Any] = dict(address=0x7F1234560000, kind="float16", sizes=(640, 96), strides=(1280,), box=(32, 16),
                                 swizzle=0, steps=(1, 1), interleave=0, promotion=0, fill=0)  # fmt: skip
    wide = dict(
        kind="uint8", sizes=(256, 3, 5, 7, 9), strides=(256, 1024, 8192, 65536), box=(64, 1, 2, 3, 4), steps=(1,) * 5
    )
    cases = [dict()]
    cases += [dict(address=1 << bit | 1 << 46) for bit in (4, 12, 30, 40, 45)]
    cases += [dict(kind=kind) for kind in ("bfloat16", "uint16")]
    four = dict(sizes=(320, 96), strides=(1280,), box=(16, 16))
    cases += [dict(four, kind=k) for k in "uint32 int32 float32 float32_ftz tfloat32 tfloat32_ftz".split()]
    eight = dict(sizes=(160, 96), strides=(1280,), box=(8, 16))
    cases += [dict(eight, kind=k) for k in "uint64 int64 float64".split()] + [dict(kind="uint8", sizes=(640, 96))]
    cases += [dict(swizzle=s) for s in (32, 64, 128) if s >= 64] + [dict(swizzle=32, box=(16, 16))]
    cases += [dict(promotion=p) for p in (1, 2, 3)] + [dict(fill=1)]
    cases += [dict(steps=s) for s in ((1, 2), (1, 8), (1, 3))]
    cases += [dict(sizes=s) for s in ((641, 96), (640, 97), (1, 1), (640, 1 << 20), (640, 1 << 32))]
    cases += [dict(strides=(s,)) for s in (1296, 1 << 20, (1 << 40) - 16)]
    cases += [dict(box=b) for b in ((8, 16), (256, 16), (32, 1), (32, 256))]
    cases += [dict(sizes=(640,), strides=(), box=(32,), steps=(1,)), wide]
    cases += [dict(wide, sizes=tuple(n + (i == j) for j, n in enumerate(wide["sizes"]))) for i in range(5)]
    cases += [dict(wide, strides=tuple(n + 16 * (i == j) for j, n in enumerate(wide["strides"]))) for i in range(4)]
    cases += [dict(wide, box=tuple(n + 16 * (i == j) for j, n in enumerate(wide["box"]))) for i in range(5)]
    cases += [dict(wide, steps=tuple(1 + (i == j) for j in range(5))) for i in range(1, 5)]
    blocked = dict(kind="float16", sizes=(8, 64, 32, 4), strides=(16, 1024, 32768), box=(8, 16, 4, 1), steps=(1,) * 4)
    cases += [dict(blocked, interleave=1), dict(blocked, interleave=2, swizzle=32, strides=(32, 2048, 65536))]
    rows = []
    for case in cases:
        row = plain | case
        try:
            row["bytes"] = gpu.tensor_map(**row).hex()
        except Exception as error:
            row["error"] = str(error)
        rows.append(row)
    return rows


def describe(program: Program, source_hash: str) -> dict:
    def argument(name: str, value: Any) -> dict:
        if isinstance(value, TensorMap):
            return {"name": name, "map": value._asdict()}
        if value.shape or value.dtype.names:
            return {"name": name, "structure": True} if not value.shape else {"name": name}
        return {"name": name, "number": value.item(), "type": value.dtype.name}

    return {
        "source": program.source, "sha256": source_hash, "entry": program.entry, "grid": program.grid,
        "block": program.block, "cluster": program.cluster, "shared": program.shared,
        "arguments": [argument(k, v) for k, v in program.arguments.items() if k not in program.hidden],
        "hidden": program.hidden, "outputs": program.outputs,
    }  # fmt: skip


def start(name: str, folder: pathlib.Path) -> str:
    """Why a launch cannot be recorded; empty: it was."""
    try:
        words = [sys.executable, __file__, "--one", name, str(folder)]
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"did not end within {SECONDS} s"
    return "" if done.returncode == 0 else (done.stderr.strip() or f"ended with {done.returncode}")[-2500:]


def bytes_of(value: Any) -> np.ndarray:
    """An array as it is stored: structures as their bytes."""
    return np.frombuffer(value.tobytes(), np.uint8) if value.dtype.names else value


def main(out: pathlib.Path, wanted: list[str]) -> int:
    table = {name: p for name, p in programs().items() if not wanted or name in wanted}
    sources = sorted({p.source for p in table.values()})
    hashes = {s: hashlib.sha256((SOURCES / f"{s}.cu").read_bytes()).hexdigest() for s in sources}
    failed: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for source, future in [(s, pool.submit(compile_source, s, folder)) for s in sources]:
                if error := future.exception():
                    failed[f"{source}.cu"] = str(error)[-2500:]
        ready = [name for name, p in table.items() if f"{p.source}.cu" not in failed]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for name, why in zip(ready, pool.map(lambda n: start(n, folder), ready)):
                if why:
                    failed[name] = why
        done = [name for name in ready if name not in failed]
        arrays: dict[str, np.ndarray] = {}
        doubts: list[str] = []
        meta: dict[str, Any] = {"nvcc": run_tool("nvcc", "--version").strip().splitlines()[-1], "programs": {}}
        for name in done:
            program, said = table[name], json.loads((folder / f"{name}.json").read_text())
            meta["gpu"], meta["driver"] = said["gpu"], said["driver"]
            doubts += said["doubts"]
            meta["programs"][name] = describe(program, hashes[program.source]) | {"printed": said["printed"]}
            for argument, value in program.arguments.items():
                if isinstance(value, np.ndarray):
                    arrays[f"{name}/in/{argument}"] = bytes_of(value)
            with np.load(folder / f"{name}.npz") as outputs:
                arrays |= {f"{name}/out/{output}": outputs[output] for output in outputs.files}
        meta["failed"], meta["tensor_maps"] = failed, tensor_maps(Gpu())
        kept = io.BytesIO()
        np.savez(kept, **arrays)
        files = {f"{s}.ptx": (folder / f"{s}.ptx").read_bytes() for s in sources if (folder / f"{s}.ptx").exists()}
        files |= {"meta.json": json.dumps(meta, indent=1).encode(), "arrays.npz": kept.getvalue()}
        out.mkdir(parents=True, exist_ok=True)
        with tarfile.open(out / ARCHIVE, "w:xz", preset=9) as archive:
            for name, data in sorted(files.items()):
                info = tarfile.TarInfo(name)
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
    for name, why in failed.items():
        print(f"FAILED {name}: {why}\n")
    for line in doubts:
        print(f"DOUBT {line}")
    print(f"{len(done)} of {len(table)} launches of {len(sources)} sources recorded on {meta.get('gpu')}, driver "
          f"{meta.get('driver')}, {meta['nvcc']}: {(out / ARCHIVE).stat().st_size} bytes")  # fmt: skip
    return len(failed)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one(sys.argv[2], pathlib.Path(sys.argv[3]))
    elif sys.argv[1:]:
        sys.exit(min(1, main(pathlib.Path(sys.argv[1]), sys.argv[2:])))
    else:
        sys.exit(__doc__)
