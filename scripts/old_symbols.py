"""Makes a folder of libraries to link against, so that what is linked runs on every system of a manylinux policy.

usage: old_symbols.py POLICY FOLDER      POLICY: manylinux_2_28; link with -LFOLDER

The C and C++ libraries of this machine keep each symbol under the versions that it had before. For each of them the
folder has a library without code that offers the symbols in the newest version that the policy allows. What is newer
than the policy comes as code: from old_glibc.c, and for C++ from the static libstdc++.
Not here: what the policy allows (auditwheel's table), and whether the result keeps to it (check_wheel.py).
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections import defaultdict
from importlib import resources
from pathlib import Path

COMPILER = "clang-22"
# Until glibc 2.34 these lay in libraries of their own, which are still there, empty, under their names.
MOVED = {"libpthread.so.0": re.compile(r"_*(pthread|sem)_"), "libdl.so.2": re.compile(r"dl[a-z]")}
ROW = re.compile(
    r"\s*\d+: \S+\s+(\d+|0x\w+) (FUNC|IFUNC|OBJECT|TLS) +(?:GLOBAL|WEAK|UNIQUE) +DEFAULT +(\d+|ABS) (\S+?)@@?(\S+)"
)


SECTIONS = {
    "FUNC": (".text", "function"),
    "IFUNC": (".text", "function"),
    "OBJECT": ('.bss,"aw",@nobits', "object"),
    "TLS": ('.tbss,"awT",@nobits', "tls_object"),
}


def run(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout


def allowed_versions(policy: str) -> set[str]:
    """Names of versions of symbols, "GLIBC_2.28" for one."""
    table = json.loads(resources.files("auditwheel.policy").joinpath("manylinux-policy.json").read_text())
    [found] = [entry for entry in table if entry["name"] == policy]
    return {f"{name}_{number}" for name, numbers in found["symbol_versions"]["x86_64"].items() for number in numbers}


def age(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]


def symbols(library: Path, allowed: set[str]) -> dict[str, tuple[str, str, int, bool]]:
    """name -> (version, kind, size, whether a newer version is the one that programs get today)."""
    versions = defaultdict(list)
    for row in ROW.finditer(run("readelf", "-W", "--dyn-syms", library)):
        size, kind, _, name, version = row.groups()
        versions[name].append((age(version), version, kind, int(size, 0)))
    found = {}
    for name, those in versions.items():
        old = [entry for entry in those if entry[1] in allowed]
        if old:
            newest, version, kind, size = max(old)
            found[name] = (version, kind, size, any(entry[0] > newest for entry in those))
    return found


def write_library(path: Path, soname: str, offered: dict[str, tuple[str, str, int, bool]]) -> None:
    lines = []
    for number, (name, (version, kind, size, _)) in enumerate(sorted(offered.items())):
        section, kind = SECTIONS[kind]
        lines.append(
            f".section {section}\n.globl s{number}\n.type s{number},@{kind}\n.size s{number},{size}\ns{number}:"
        )
        lines.append(".skip 16")  # an address of its own
        lines.append(f".symver s{number}, {name}@@{version}, remove")
    assembly, script = path.with_suffix(".s"), path.with_suffix(".map")
    assembly.write_text("\n".join(lines) + "\n")
    nodes = sorted({version for version, *_ in offered.values()})
    script.write_text("".join(f"{node} {{ local: *; }};\n" for node in nodes))
    run(
        COMPILER, "-shared", "-nostdlib", "-fuse-ld=lld-22", f"-Wl,-soname,{soname}", f"-Wl,--version-script={script}",
        "-o", path, assembly,
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("policy")
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    allowed, folder = allowed_versions(options.policy), options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)

    def file_of(name: str) -> Path:
        return Path(run(COMPILER, f"-print-file-name={name}").strip()).resolve()

    libc = symbols(file_of("libc.so.6"), allowed)
    libc = {name: entry for name, entry in libc.items() if entry[1] != "TLS"}
    for soname, pattern in MOVED.items():
        moved = {name for name, (*_, superseded) in libc.items() if superseded and pattern.match(name)}
        write_library(folder / f"moved-{soname}", soname, {name: libc.pop(name) for name in moved})
    write_library(folder / "old-libc.so", "libc.so.6", libc)
    write_library(folder / "old-libm.so", "libm.so.6", symbols(file_of("libm.so.6"), allowed))
    write_library(folder / "old-libstdc++.so", "libstdc++.so.6", symbols(file_of("libstdc++.so.6"), allowed))

    source = Path(__file__).with_name("old_glibc.c")
    words = "-std=gnu17 -O2 -fPIC -fvisibility=hidden -Wall -Wextra -Werror".split()
    run(COMPILER, *words, "-c", source, "-o", folder / "old_glibc.o")
    (folder / "libold_glibc.a").unlink(missing_ok=True)
    run("llvm-ar-22", "rcs", folder / "libold_glibc.a", folder / "old_glibc.o")
    moved = " ".join(f"moved-{soname}" for soname in MOVED)
    static = f"libold_glibc.a {file_of('libc_nonshared.a')}"
    (folder / "libc.so").write_text(
        f"INPUT(old-libc.so {moved} {static} AS_NEEDED({file_of('ld-linux-x86-64.so.2')}))\n"
    )
    (folder / "libm.so").write_text("INPUT(old-libm.so)\n")
    (folder / "libstdc++.so").write_text(f"INPUT(old-libstdc++.so {file_of('libstdc++.a')})\n")
    for name in ("libpthread.so", "libdl.so"):
        (folder / name).write_text("/* in libc.so */\n")


if __name__ == "__main__":
    main()
