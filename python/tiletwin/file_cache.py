"""Files kept between processes.

Here:      managers of named files below a folder (the cache's, dumps, overrides), remote backends, keys.
Not here:  compiled kernels, which this version keeps in memory only: no launch reads or writes these files, except that
           dumps and overrides of TTIR go through the managers (compiler/compiler.py).
Invariant: a file appears under its name only when it is complete.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import json
import os
from abc import ABC, abstractmethod
from functools import lru_cache
from pathlib import Path
from typing import Any

from tiletwin import knobs, whole_files
from tiletwin.version import TILETWIN_VERSION


class CacheManager(ABC):
    """Keeps the files of one key. `TRITON_CACHE_MANAGER=module:Class` names another implementation."""

    @abstractmethod
    def __init__(self, key: str, override: bool = False, dump: bool = False) -> None:
        """Files of one key; `override` and `dump` choose another folder."""

    @abstractmethod
    def get_file(self, filename: str) -> str | None:
        """Path of the file, or None."""

    @abstractmethod
    def put(self, data: Any, filename: str, binary: bool = True) -> str:
        """Stores bytes or text; returns the file's path."""

    @abstractmethod
    def get_group(self, filename: str) -> dict[str, str] | None:
        """{name: path} of a group whose files are all there, or None."""

    @abstractmethod
    def put_group(self, filename: str, group: dict[str, str]) -> Any:
        """Remembers {name: path} as a group."""


class FileCacheManager(CacheManager):
    """Files in a folder of their own, named by the key, below `knobs.cache.dir` (or dump_dir, override_dir)."""

    def __init__(self, key: str, override: bool = False, dump: bool = False) -> None:
        self.key = key
        root = knobs.cache.dump_dir if dump else knobs.cache.override_dir if override else knobs.cache.dir
        if not root:
            raise RuntimeError("there is no cache folder: set TRITON_CACHE_DIR or knobs.cache.dir")
        self.cache_dir = os.path.join(root, key)
        self.lock_path: str | None = None
        """Nothing here locks; classes of libraries that derive from this one look at it."""
        self._writes = dump or not override
        if self._writes:
            os.makedirs(self.cache_dir, exist_ok=True)
            self.lock_path = os.path.join(self.cache_dir, "lock")

    def _make_path(self, filename: str) -> str:
        return os.path.join(self.cache_dir, filename)

    def has_file(self, filename: str) -> bool:
        return os.path.exists(self._make_path(filename))

    def get_file(self, filename: str) -> str | None:
        return self._make_path(filename) if self.has_file(filename) else None

    def put(self, data: Any, filename: str, binary: bool = True) -> str:
        if not self._writes:
            raise RuntimeError("files of the override folder are only read")
        return whole_files.write(self._make_path(filename), data if isinstance(data, bytes) else str(data))

    def get_group(self, filename: str) -> dict[str, str] | None:
        try:
            group = json.loads(Path(self._make_path(f"__grp__{filename}")).read_text())["child_paths"]
        except (OSError, ValueError, KeyError, TypeError):
            return None  # missing or damaged: as if it had never been stored
        return group if all(os.path.exists(path) for path in group.values()) else None

    def put_group(self, filename: str, group: dict[str, str]) -> str:
        return self.put(json.dumps({"child_paths": group}), f"__grp__{filename}", binary=False)


class RemoteCacheBackend:
    """Where a RemoteCacheManager keeps its files; `TRITON_REMOTE_CACHE_BACKEND=module:Class` names one."""

    def __init__(self, key: str) -> None:
        pass

    def get(self, filenames: list[str]) -> dict[str, bytes]:
        """Contents of those files that are there."""
        raise NotImplementedError(f"{type(self).__name__} has no get()")

    def put(self, filename: str, data: bytes) -> Any:
        """Stores a file."""
        raise NotImplementedError(f"{type(self).__name__} has no put()")


class RedisRemoteCacheBackend(RemoteCacheBackend):
    """Files in a Redis server; `knobs.redis` says which. Needs the package redis."""

    def __init__(self, key: str) -> None:
        import redis  # pyright: ignore[reportMissingImports]

        self._key = key
        self._redis = redis.Redis(host=knobs.redis.host, port=knobs.redis.port)

    def _name(self, filename: str) -> str:
        return knobs.redis.key_format.format(key=self._key, filename=filename)

    def get(self, filenames: list[str]) -> dict[str, bytes]:
        found = self._redis.mget([self._name(name) for name in filenames])
        return {name: content for name, content in zip(filenames, found) if content is not None}

    def put(self, filename: str, data: bytes) -> None:
        self._redis.set(self._name(filename), data)


class RemoteCacheManager(CacheManager):
    """Files in a remote backend, with copies in the local folder. Dumps and overrides stay local."""

    def __init__(self, key: str, override: bool = False, dump: bool = False) -> None:
        backend = knobs.cache.remote_manager_class
        if backend is None:
            raise RuntimeError("TRITON_REMOTE_CACHE_BACKEND names no class of a remote cache")
        self._local = FileCacheManager(key, override=override, dump=dump)
        self._backend = None if override or dump else backend(key)

    def get_file(self, filename: str) -> str | None:
        if self._backend is None:
            return self._local.get_file(filename)
        found = self._backend.get([filename])
        return self._local.put(found[filename], filename) if filename in found else None

    def put(self, data: Any, filename: str, binary: bool = True) -> str:
        content = data if isinstance(data, bytes) else str(data).encode()
        if self._backend is not None:
            self._backend.put(filename, content)
        return self._local.put(content, filename)

    def get_group(self, filename: str) -> dict[str, str] | None:
        if self._backend is None:
            return self._local.get_group(filename)
        path = self.get_file(f"__grp__{filename}")
        try:
            names = list(json.loads(Path(path).read_text())["child_paths"]) if path else []
        except (ValueError, KeyError, TypeError):
            return None
        found = self._backend.get(names) if names else {}
        if not names or len(found) < len(names):
            return None
        return {name: self._local.put(content, name) for name, content in found.items()}

    def put_group(self, filename: str, group: dict[str, str]) -> Any:
        if self._backend is None:
            return self._local.put_group(filename, group)
        return self.put(json.dumps({"child_paths": sorted(group)}), f"__grp__{filename}")


def _base32(key: str) -> str:
    """A hexadecimal key in letters and digits that any file system takes."""
    return base64.b32encode(bytes.fromhex(key)).decode().rstrip("=")


def _manager(key: str, **kind: bool) -> CacheManager:
    return (knobs.cache.manager_class or FileCacheManager)(_base32(key), **kind)


def get_cache_manager(key: str) -> CacheManager:
    """Files of a key (hexadecimal) in the cache folder."""
    return _manager(key)


def get_override_manager(key: str) -> CacheManager:
    """Files that replace what compilation makes, by the hash of the source."""
    return _manager(key, override=True)


def get_dump_manager(key: str) -> CacheManager:
    """Files that compilation writes for people to read, by the hash of the source."""
    return _manager(key, dump=True)


def default_cache_dir() -> str:
    return knobs.cache.get_triton_dir("cache")


def default_dump_dir() -> str:
    return knobs.cache.get_triton_dir("dump")


def default_override_dir() -> str:
    return knobs.cache.get_triton_dir("override")


@lru_cache
def triton_key() -> str:
    """What changes whenever this package could compile differently: its version and a hash of the extensions that
    compile."""
    from tiletwin import _C

    content = hashlib.sha256(Path(_C.__file__).read_bytes())
    generator = importlib.util.find_spec("tiletwin._codegen")  # found, not opened
    if generator is not None and generator.origin is not None:
        content.update(Path(generator.origin).read_bytes())
    return f"tiletwin-{TILETWIN_VERSION}-{content.hexdigest()}"


def make_so_cache_key(version_hash: str, signature: dict, constants: dict, ids: Any, **kwargs: Any) -> str:
    """Key of a native launcher; none is built here, scripts use it to name files of their own."""
    types = "".join("ptr" if str(kind).startswith("*") else str(kind) for kind in signature.values())
    text = "-".join(map(str, (version_hash, types, constants, ids, *kwargs.values())))
    return _base32(hashlib.sha256(text.encode()).hexdigest())


def get_cache_key(src: Any, backend: Any, backend_options: Any, env_vars: dict[str, str] | None = None) -> str:
    """Text that two compilations share exactly if they give the same kernel."""
    options = backend_options.hash() if hasattr(backend_options, "hash") else repr(backend_options)
    return f"{triton_key()}-{src.hash()}-{backend.hash()}-{options}-{sorted((env_vars or {}).items())}"
