"""Checks a wheel: its modules, size, exported symbols, what it links, and that every symbol is as old as its tag says.

usage: check_wheel.py manylinux_2_28 dist/NAME.whl        exits 1 with a message on the first violation
"""

import pathlib
import re
import sys
import tempfile
import zipfile

from old_symbols import allowed_versions, run

LIMIT_MB = 48
MODULES = {
    "_C.abi3.so", "_codegen.abi3.so", "_sim.abi3.so", "_cuda.abi3.so",
    "tiletwin_tile_v3.so", "tiletwin_tile_v4.so", "tiletwin_gdb.so", "libcuda.so.1",
    "libcudart.so.13", "ptxas",
}  # fmt: skip
# What every manylinux system has. TBB and LLVM must not be here.
SYSTEM_LIBRARIES = {
    "libc.so.6",
    "libm.so.6",
    "libdl.so.2",
    "libpthread.so.0",
    "librt.so.1",
    "ld-linux-x86-64.so.2",
    "libgcc_s.so.1",
    "libstdc++.so.6",
    "libz.so.1",
}


def main():
    policy, wheel = sys.argv[1], pathlib.Path(sys.argv[2])
    size = wheel.stat().st_size / 1e6
    allowed = allowed_versions(policy)
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
        if not (pathlib.Path(folder) / "tiletwin" / "py.typed").exists():
            sys.exit(f"{wheel.name} lacks tiletwin/py.typed: type checkers would not read its annotations")
        libraries = sorted([*pathlib.Path(folder).rglob("*.so*"), *pathlib.Path(folder).rglob("ptxas")])
        if not libraries:
            sys.exit(f"{wheel.name} holds no shared library")
        names = {p.name for p in libraries}
        if missing := MODULES - names:
            sys.exit(f"{wheel.name} lacks {', '.join(sorted(missing))}")
        for library in libraries:
            dynamic = run("readelf", "-d", library)
            needed = set(re.findall(r"\(NEEDED\).*\[(.+?)\]", dynamic))
            foreign = needed - SYSTEM_LIBRARIES - names
            if foreign:
                sys.exit(f"{library.name} needs {sorted(foreign)}, which the wheel does not hold")
            needs = re.findall(r"\*UND\*.*\((\w+_[\d.]+)\)\s+(\S+)", run("objdump", "-T", library))
            if not needs:
                sys.exit(f"{library.name} needs no version of any symbol: what objdump prints is not understood")
            newer = [f"{symbol} ({version})" for version, symbol in needs if version not in allowed]
            if newer:
                sys.exit(f"{library.name} needs what {policy} has not: {', '.join(newer)}")
            exported = [line.split()[-1] for line in run("nm", "-D", "--defined-only", library).splitlines()]
            leaked = [s for s in exported if "llvm" in s or "mlir" in s]
            if leaked:
                sys.exit(f"{library.name} exports {len(leaked)} LLVM symbols, {leaked[0]} for one")
            entry = f"PyInit_{library.name.partition('.')[0]}"
            if library.name == "libcuda.so.1" and any(not symbol.startswith("cu") for symbol in exported):
                sys.exit("libcuda.so.1 exports more than the CUDA driver's functions")
            if library.name in ("_sim.abi3.so", "_cuda.abi3.so") and exported != [entry]:
                sys.exit(f"{library.name} exports {', '.join(exported)}; {entry} alone is wanted")
    if size > LIMIT_MB:
        sys.exit(f"{wheel.name} has {size:.1f} MB, the limit is {LIMIT_MB}")
    if f"{policy}_x86_64" not in wheel.name or "-abi3-" not in wheel.name:
        sys.exit(f"{wheel.name} is for {policy} and the limited API: its tags say otherwise")
    print(f"{wheel}: {size:.1f} MB, {len(libraries)} libraries, {policy}")


if __name__ == "__main__":
    main()
