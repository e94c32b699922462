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
import json
import re
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from tiletwin import whole_files
from tiletwin.diff import file_checks
from tiletwin.diff.launches import ELEMENTS, Array, Constant, Descriptor, Launch
from tiletwin.errors import TileTwinError
from tiletwin.version import TILETWIN_VERSION

FORMAT, VERSION = "tiletwin launch", 1
SUFFIX = ".twlaunch"
_ABSENT = re.compile(r"There is no item named '([^']*)' in the archive")
"""What zipfile says of a file that an archive lacks."""


class LaunchFileError(TileTwinError, ValueError):
    """A file that is no recorded launch, or not a whole one."""


# ---- values as JSON ----


def _encoded(value: Any) -> Any:
    if isinstance(value, Array):
        return {"array": {"storage": value.storage, "offset": value.offset, "type": value.type,
                          "shape": list(value.shape), "strides": list(value.strides), "kind": value.kind}}  # fmt: skip
    if isinstance(value, Descriptor):
        return {"descriptor": {"base": _encoded(value.base)["array"], "shape": list(value.shape),
                               "strides": list(value.strides), "block_shape": list(value.block_shape),
                               "padding": value.padding, "round_f32_to_tf32": value.round_f32_to_tf32}}  # fmt: skip
    if isinstance(value, Constant):
        return {value.kind: value.text}
    if isinstance(value, tuple):
        return {"tuple": [_encoded(item) for item in value]}
    if isinstance(value, float):
        return {"float": value.hex() if value == value and abs(value) != float("inf") else str(value)}
    return value


def _ints(values: Any) -> tuple[int, ...]:
    if not isinstance(values, list) or not all(isinstance(v, int) for v in values):
        raise TypeError(f"{values!r} is no list of integers")
    return tuple(values)


def _array(row: dict[str, Any]) -> Array:
    if row["type"] not in ELEMENTS:
        raise ValueError(f"{row['type']!r} is no element type")
    array = Array(int(row["storage"]), int(row["offset"]), row["type"], _ints(row["shape"]), _ints(row["strides"]),
                  str(row["kind"]))  # fmt: skip
    if len(array.shape) != len(array.strides) or array.offset < 0 or any(n < 0 for n in array.shape):
        raise ValueError(f"an array of shape {array.shape} and strides {array.strides} at offset {array.offset}")
    return array


def _decoded(value: Any) -> Any:
    if not isinstance(value, dict):
        if value is not None and not isinstance(value, (bool, int, str)):
            raise TypeError(f"{value!r} is no argument")
        return value
    (kind, content), *more = value.items()
    if more:
        raise ValueError(f"{value!r} is no argument")
    if kind == "array":
        return _array(content)
    if kind == "descriptor":
        return Descriptor(_array(content["base"]), _ints(content["shape"]), _ints(content["strides"]),
                          _ints(content["block_shape"]), str(content["padding"]),
                          bool(content["round_f32_to_tf32"]))  # fmt: skip
    if kind == "tuple":
        return tuple(_decoded(item) for item in content)
    if kind == "float":
        return float.fromhex(content)
    if kind in ("dtype", "function"):
        return Constant(kind, str(content))
    raise ValueError(f"{kind!r} is no kind of argument")


# ---- files ----


def write(launch: Launch, path: str | Path) -> str:
    """Writes a launch.

    Raises:
        OSError: the file cannot be written.
    """
    path = Path(path)
    description = {
        "format": FORMAT,
        "version": VERSION,
        "name": launch.name,
        "qualname": launch.qualname,
        "file": launch.file,
        "first_line": launch.first_line,
        "number": launch.number,
        "grid": list(launch.grid),
        "arguments": {name: _encoded(value) for name, value in launch.arguments.items()},
        "signature": launch.signature,
        "options": launch.options,
        "alignment": launch.alignment,
        "storages": [int(data.size) for data in launch.memory],
        "outputs": sorted(launch.outputs),
        "errors": launch.errors,
        "versions": launch.versions,
        "modules": list(launch.sources),
        "files": launch.files,
        "source_problem": launch.source_problem,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        whole_files.writing(path) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
    ):
        archive.writestr("launch.json", json.dumps(description, indent=1))
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
    arguments = {name: _encoded(value) for name, value in launch.arguments.items()}
    words = [launch.ttir, launch.qualname, list(launch.grid), arguments, launch.options, sorted(launch.errors)]
    digest = hashlib.blake2b(json.dumps(words, sort_keys=True).encode(), digest_size=4)
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
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, EOFError) as error:
        raise LaunchFileError(f"{path}: the recorded launch is damaged: {_what_is_wrong(error)}") from None
    except (zipfile.LargeZipFile, NotImplementedError, RuntimeError) as error:
        raise LaunchFileError(f"{path}: the recorded launch cannot be read: {error}") from None
    except Exception as error:  # zlib.error and the like have no common base
        if isinstance(error, OSError):
            raise
        raise LaunchFileError(f"{path}: the recorded launch is damaged: {error}") from None


def _what_is_wrong(error: Exception) -> str:
    if not isinstance(error, KeyError) or not error.args:
        return str(error)
    absent = _ABSENT.match(str(error.args[0]))
    return f"it holds no {absent[1]}" if absent else f"{error.args[0]!r} is missing from its description"


def _checked_names(names: list[Any]) -> None:
    """Names become those of files, in folders that must not be left. Errors: ValueError."""
    for name in names:
        if not whole_files.is_name(name):
            raise ValueError(f"{name!r} is no name of a kernel or a module")


def _read(archive: zipfile.ZipFile) -> Launch:
    file_checks.check_sizes(archive, ["launch.json"], {})
    description = json.loads(archive.read("launch.json"))
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        raise ValueError("launch.json is not the description of a launch")
    if description["version"] != VERSION:
        made = description.get("versions")
        by = f"; tiletwin {made['tiletwin']} wrote it" if isinstance(made, dict) and "tiletwin" in made else ""
        raise LaunchFileError(
            f"the recorded launch has version {description['version']!r} of the format, and this tiletwin reads "
            f"version {VERSION}{by}"
        )
    _checked_names([description["name"], *description["modules"]])
    sizes = _ints(description["storages"])
    if min(sizes, default=0) < 0:
        raise ValueError(f"its storages have {min(sizes)} bytes")
    folders = ["before", *(f"after/{backend}" for backend in description["outputs"])]
    texts = ["launch.json", "kernel.ttir", *(f"source/{module}.py" for module in description["modules"])]
    arrays = {f"{folder}/{number}.npy": size for folder in folders for number, size in enumerate(sizes)}
    file_checks.check_sizes(archive, texts, arrays)
    launch = Launch(
        name=str(description["name"]),
        qualname=str(description["qualname"]),
        file=str(description["file"]),
        first_line=int(description["first_line"]),
        number=int(description["number"]),
        grid=_ints(description["grid"]),  # type: ignore[arg-type]
        arguments={str(name): _decoded(value) for name, value in description["arguments"].items()},
        memory=_read_memory(archive, "before", sizes),
        alignment=list(_ints(description["alignment"])),
        signature=dict(description["signature"]),
        options=dict(description["options"]),
        ttir=archive.read("kernel.ttir").decode(),
        sources={m: archive.read(f"source/{m}.py").decode() for m in description["modules"]},
        files={str(module): str(file) for module, file in description.get("files", {}).items()},
        source_problem=str(description["source_problem"]),
        outputs={str(b): _read_memory(archive, f"after/{b}", sizes) for b in description["outputs"]},
        errors={str(b): str(text) for b, text in description["errors"].items()},
        versions=dict(description["versions"]),
    )
    if len(launch.grid) != 3 or min(launch.grid) < 0:
        raise ValueError(f"its grid is {launch.grid}")
    if len(launch.alignment) != len(sizes):
        raise ValueError("alignment and storages have different lengths")
    for name, array in launch.arrays():
        if not 0 <= array.storage < len(sizes) or not _fits(array, sizes[array.storage]):
            raise ValueError(f"argument {name} lies outside of its storage")
    file_checks.check(launch)
    return launch


def _fits(array: Array, size: int) -> bool:
    if any(n == 0 for n in array.shape):
        return array.offset <= size
    reach = [(n - 1) * s * array.item for n, s in zip(array.shape, array.strides)]
    low, high = array.offset + sum(r for r in reach if r < 0), array.offset + sum(r for r in reach if r > 0)
    return low >= 0 and high + array.item <= size


def _read_memory(archive: zipfile.ZipFile, folder: str, sizes: tuple[int, ...]) -> list[np.ndarray]:
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
