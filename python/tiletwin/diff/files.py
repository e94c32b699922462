"""Launches in files: one zip archive with a JSON description and the memory as .npy arrays. Reading one runs no code.

Here:      write, read, and what is wrong with a file that cannot be read.
Not here:  what is in a launch (launches.py), whether its parts fit each other (file_checks.py), when launches are
           written (mode.py). The format: docs/differential.md.
Invariant: a file appears whole or not at all. Readers refuse other formats, wrong sizes and arrays of Python objects,
           and read no member before they know how large it is.
"""

from __future__ import annotations

import hashlib
import io
import re
import time
import zipfile
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import UNSET, Meta, UnsetType

from tiletwin import whole_files
from tiletwin.diff import file_checks
from tiletwin.diff.launches import Address, Array, Constant, Descriptor, Launch
from tiletwin.errors import TileTwinError
from tiletwin.version import TILETWIN_VERSION

FORMAT, VERSION = "tiletwin launch", 1
SUFFIX = ".twlaunch"
_ABSENT = re.compile(r"There is no item named '([^']*)' in the archive")
"""What zipfile says of a file that an archive lacks."""


class LaunchFileError(TileTwinError, ValueError):
    """A file that is no recorded launch, or not a whole one."""


# ---- the description ----


class _Boxed(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True):
    """An argument that JSON has no word for: one of the fields."""

    array: Array | UnsetType = UNSET
    descriptor: Descriptor | UnsetType = UNSET
    tuple: list[_Argument] | UnsetType = UNSET
    float: str | UnsetType = UNSET
    """Hexadecimal."""
    dtype: str | UnsetType = UNSET
    function: str | UnsetType = UNSET


_Argument = None | bool | int | str | _Boxed


class _Head(msgspec.Struct):
    """What is read of a description in whichever version."""

    format: Any = None
    version: Any = None
    versions: Any = None


_Name = Annotated[str, Meta(pattern=r"^[^\W\d]\w*\Z")]
"""Of a kernel or a module. It becomes a file's, in folders that must not be left."""
_Count = Annotated[int, Meta(ge=0)]


class _Description(msgspec.Struct, kw_only=True):
    """launch.json. The names up to `source_problem` are those of Launch."""

    format: str = FORMAT
    version: int = VERSION
    name: _Name
    qualname: str
    file: str
    first_line: int
    number: int
    grid: tuple[_Count, _Count, _Count]
    signature: dict[str, Any]
    options: dict[str, bool | int | float | str | None]
    alignment: list[Annotated[int, Meta(ge=0, le=63)]]
    errors: dict[str, str]
    versions: dict[str, str]
    files: dict[str, str] = {}
    reached: list[Array] = []
    addresses: list[Address] = []
    source_problem: str
    arguments: dict[str, Any]
    """Each an _Argument."""
    storages: list[_Count]
    outputs: list[str]
    modules: list[_Name]


_AS_IN_LAUNCH = _Description.__struct_fields__[2:-4]


def _boxed(value: Any) -> Any:
    if isinstance(value, Array):
        return _Boxed(array=value)
    if isinstance(value, Descriptor):
        return _Boxed(descriptor=value)
    if isinstance(value, Constant):
        return msgspec.convert({value.kind: value.text}, _Boxed)
    if isinstance(value, tuple):
        return _Boxed(tuple=[_boxed(item) for item in value])
    return _Boxed(float=value.hex()) if isinstance(value, float) else value


def _unboxed(value: Any) -> Any:
    if not isinstance(value, _Boxed):
        return value
    found = [(kind, content) for kind in value.__struct_fields__ if (content := getattr(value, kind)) is not UNSET]
    if len(found) != 1:
        raise ValueError(f"an argument is of {len(found)} kinds")
    kind, content = found[0]
    if kind == "tuple":
        return tuple(_unboxed(item) for item in content)
    if kind == "float":
        return float.fromhex(content)
    return content if kind in ("array", "descriptor") else Constant(kind, content)


def _argument(name: str, value: Any) -> Any:
    """Errors: ValueError, it is none."""
    try:
        return _unboxed(msgspec.convert(value, _Argument))
    except ValueError as error:
        raise ValueError(f"argument {name} is damaged: {error}") from None


# ---- files ----


def write(launch: Launch, path: str | Path) -> str:
    """Writes a launch.

    Raises:
        OSError: the file cannot be written.
    """
    path = Path(path)
    description = _Description(
        **{name: getattr(launch, name) for name in _AS_IN_LAUNCH},
        arguments={name: _boxed(value) for name, value in launch.arguments.items()},
        storages=[int(data.size) for data in launch.memory],
        outputs=sorted(launch.outputs),
        modules=list(launch.sources),
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        whole_files.writing(path) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
    ):
        archive.writestr("launch.json", msgspec.json.format(msgspec.json.encode(description), indent=1))
        archive.writestr("kernel.ttir", launch.ttir)
        for module, text in launch.sources.items():
            archive.writestr(f"source/{module}.py", text)
        _write_memory(archive, "before", launch.memory)
        for backend, memory in launch.outputs.items():
            _write_memory(archive, f"after/{backend}", memory)
    return str(path)


def fingerprint(launch: Launch) -> str:
    """Eight letters and digits for the kernel, its arguments and the memory before: the same in every run, so that
    files of repeated runs take each other's place, and no other launch's. Where memory lies does not count."""
    arguments = {name: _boxed(value) for name, value in launch.arguments.items()}
    words = [launch.ttir, launch.qualname, launch.grid, arguments, launch.options, sorted(launch.errors)]
    digest = hashlib.blake2b(msgspec.json.encode(words, order="deterministic"), digest_size=4)
    for data in launch.memory:
        digest.update(np.ascontiguousarray(data).data)
    return digest.hexdigest()


def _write_memory(archive: zipfile.ZipFile, folder: str, memory: list[np.ndarray]) -> None:
    for number, data in enumerate(memory):
        with archive.open(f"{folder}/{number}.npy", "w", force_zip64=True) as out:
            np.lib.format.write_array(out, np.ascontiguousarray(data), allow_pickle=False)


def read(path: str | Path) -> Launch:
    """The launch in a file.

    Raises:
        LaunchFileError: the file is no launch or not a whole one.
        OSError: the file cannot be read.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return _read(archive)
    except LaunchFileError as error:
        raise LaunchFileError(f"{path}: {error}") from None
    except zipfile.BadZipFile as error:
        raise LaunchFileError(f"{path}: this is no recorded launch: {error}") from None
    except KeyError as error:
        absent = _ABSENT.match(str(error.args[0]))
        why = f"it holds no {absent[1]}" if absent else f"{error.args[0]!r} is missing"
        raise LaunchFileError(f"{path}: the recorded launch is damaged: {why}") from None
    except (zipfile.LargeZipFile, NotImplementedError, RuntimeError) as error:
        raise LaunchFileError(f"{path}: the recorded launch cannot be read: {error}") from None
    except Exception as error:  # those of zlib, msgspec and NumPy have no common base
        if isinstance(error, OSError):
            raise
        raise LaunchFileError(f"{path}: the recorded launch is damaged: {error}") from None


def _read(archive: zipfile.ZipFile) -> Launch:
    file_checks.check_sizes(archive, ["launch.json"], {})
    text = archive.read("launch.json")
    head = msgspec.json.decode(text, type=_Head)
    if head.format != FORMAT:
        raise ValueError("launch.json is not the description of a launch")
    if head.version != VERSION:
        made = head.versions
        by = f"; tiletwin {made['tiletwin']} wrote it" if isinstance(made, dict) and "tiletwin" in made else ""
        raise LaunchFileError(
            f"the recorded launch has version {head.version!r} of the format, and this tiletwin reads "
            f"version {VERSION}{by}"
        )
    description = msgspec.json.decode(text, type=_Description)
    sizes = description.storages
    folders = ["before", *(f"after/{backend}" for backend in description.outputs)]
    texts = ["launch.json", "kernel.ttir", *(f"source/{module}.py" for module in description.modules)]
    arrays = {f"{folder}/{number}.npy": size for folder in folders for number, size in enumerate(sizes)}
    file_checks.check_sizes(archive, texts, arrays)
    launch = Launch(
        **{name: getattr(description, name) for name in _AS_IN_LAUNCH},
        arguments={name: _argument(name, value) for name, value in description.arguments.items()},
        memory=_read_memory(archive, "before", sizes),
        ttir=archive.read("kernel.ttir").decode(),
        sources={module: archive.read(f"source/{module}.py").decode() for module in description.modules},
        outputs={backend: _read_memory(archive, f"after/{backend}", sizes) for backend in description.outputs},
    )
    if len(launch.alignment) != len(sizes):
        raise ValueError("alignment and storages have different lengths")
    file_checks.check(launch)
    return launch


def _read_memory(archive: zipfile.ZipFile, folder: str, sizes: list[int]) -> list[np.ndarray]:
    memory = []
    for number, size in enumerate(sizes):
        name = f"{folder}/{number}.npy"
        with archive.open(name) as raw, whole_files.numbers(name):
            data = np.lib.format.read_array(io.BytesIO(raw.read(size + file_checks.HEADER)), allow_pickle=False)
        if data.dtype != np.uint8 or data.shape != (size,):
            raise ValueError(f"{name} holds {data.dtype}{data.shape}, not {size} bytes")
        memory.append(data)
    return memory


def versions() -> dict[str, str]:
    """What a recording says of where it was made."""
    import platform

    return {
        "tiletwin": TILETWIN_VERSION,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "made": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
